//! How an image ends: in QEMU by semihosting's SYS_EXIT_EXTENDED, which becomes its exit status; on a board by a line on
//! the console and a halt. The boot record has the status either way.

/// A Rust panic.
pub const PANIC: u8 = 101;
/// The board could not be brought up, or the kernel's tick not be started.
pub const BOARD: u8 = 102;
/// A processor exception.
pub const FAULT: u8 = 103;
/// A thread's stack overflowed.
pub const STACK: u8 = 104;
/// A fault or panic while one was being reported.
pub const DOUBLE_FAULT: u8 = 105;

/// Ends the image with this exit status, after the console has drained. Callable from every context.
///
/// Without a host the core parks with interrupts masked and the data caches clean, so that a debugger reads what the
/// program wrote.
#[cfg(all(target_arch = "arm", not(semihosting)))]
pub fn exit(code: u8) -> ! {
    // SAFETY: masks IRQ and FIQ; nothing runs after this.
    unsafe { core::arch::asm!("cpsid if", options(nostack, preserves_flags)) };
    crate::println!("exit status {}", code);
    crate::board::uart::drain();
    crate::stage::ended(code);
    crate::cache::clean_invalidate_data();
    #[cfg(start_up = "rust")]
    crate::fault::park_on_exception();
    loop {
        // SAFETY: waits; a pending interrupt that is masked ends the wait and changes nothing.
        unsafe { core::arch::asm!("wfi", options(nomem, nostack, preserves_flags)) };
    }
}

/// Ends the image with this exit status, after the console has drained. Callable from every context.
///
/// Without a semihosting host the core parks with interrupts masked: there is nobody to exit to.
#[cfg(all(target_arch = "arm", semihosting))]
pub fn exit(code: u8) -> ! {
    crate::board::uart::drain();
    crate::stage::ended(code);
    // Semihosting for AArch32 (Arm IHI: "Semihosting for AArch32 and AArch64"): operation 0x20 with
    // ADP_Stopped_ApplicationExit.
    let block: [u32; 2] = [0x2_0026, u32::from(code)];
    // SAFETY: the host reads two words at r1 and does not return; without a host the SVC is an
    // exception, which parks because the flag below is set.
    unsafe {
        core::arch::asm!("cpsid if", options(nostack, preserves_flags));
        crate::fault::park_on_exception();
        core::arch::asm!(
            "svc #0x123456",
            "2: wfi",
            "b 2b",
            in("r0") 0x20,
            in("r1") block.as_ptr(),
            options(noreturn)
        );
    }
}
