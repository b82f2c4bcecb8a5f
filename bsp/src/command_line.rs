//! What the image was started with.

/// Why there is no command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandLineError {
    /// It does not fit into the buffer, or the host has none to give.
    Unavailable,
    /// It is not UTF-8.
    NotText,
}

impl ufmt::uDisplay for CommandLineError {
    fn fmt<W: ufmt::uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        f.write_str(match self {
            Self::Unavailable => "the command line is too long, or the host does not give it",
            Self::NotText => "the command line is not UTF-8",
        })
    }
}

/// The command line, in `buffer`: the program's name and what QEMU's `-semihosting-config arg=` or `-append` add, joined
/// by spaces. Empty on a board, where nobody could be asked without halting. Callable from every context.
///
/// # Errors
/// [`CommandLineError`].
#[cfg(semihosting)]
pub fn command_line(buffer: &mut [u8]) -> Result<&str, CommandLineError> {
    let mut block = [buffer.as_mut_ptr() as u32, buffer.len() as u32];
    let result: u32;
    // Semihosting for AArch32, operation 0x15 (SYS_GET_CMDLINE): buffer and its length; the host writes a text with a
    // zero at its end, and its length without that.
    // SAFETY: the host writes at most the length it is told into the buffer, which is borrowed exclusively, and two
    // words into the block; the operand names both by address, and without `nomem` the compiler keeps them in memory.
    unsafe {
        core::arch::asm!(
            "svc #0x123456",
            inout("r0") 0x15u32 => result,
            in("r1") block.as_mut_ptr(),
            // The SVC of a mode that banks LR writes it where no host takes the call.
            out("lr") _,
            options(nostack)
        );
    }
    if result != 0 {
        return Err(CommandLineError::Unavailable);
    }
    let text = buffer.get(..block[1] as usize).ok_or(CommandLineError::Unavailable)?;
    core::str::from_utf8(text).map_err(|_| CommandLineError::NotText)
}

/// The command line: empty on a board, where nobody could be asked without halting.
///
/// # Errors
/// None here; [`CommandLineError`] where a host answers.
#[cfg(not(semihosting))]
pub fn command_line(_buffer: &mut [u8]) -> Result<&str, CommandLineError> {
    Ok("")
}
