//! What a straight piece of A32 code does, read from its instructions: how many there are, how long IRQ is
//! masked, how many words of memory move. For the relinquish of the bundled kernel, in an image and in memory.
//!
//! Encodings: Arm Architecture Reference Manual (DDI 0487), F4.

use core::fmt;

/// The last instruction of the relinquish that is called: BX LR.
pub const CALLED_LAST: u32 = 0xe12f_ff1e;
/// The first instruction of the inlined one: MRC of the running context, TPIDRPRW to R0.
pub const INLINED_FIRST: u32 = 0xee1d_0f90;
/// Its last one: VMSR FPSCR, R12.
pub const INLINED_LAST: u32 = 0xeee1_ca10;

const CPSID_I: u32 = 0xf10c_0080;
/// MSR to CPSR's control byte, whatever other bytes it writes.
const MSR_CPSR_C: u32 = 0xe121_f000;
/// Instructions after which code that does not end is given up.
const LONGEST: usize = 64;

/// What a piece of code does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Instructions, the last one too.
    pub instructions: usize,
    /// Of these, executed with IRQ masked.
    pub masked: usize,
    /// Words of 32 bits read from memory.
    pub loaded: u32,
    /// Words of 32 bits written to memory.
    pub stored: u32,
}

/// Why code says nothing. Numbers count its instructions from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecodable {
    /// A second CPSID.
    MaskedTwice(usize),
    /// A branch, after which a count would be a guess.
    Branch(usize),
    /// The last instruction did not come.
    Endless,
    /// IRQ is not masked and unmasked again before the end.
    Unmasked,
}

impl fmt::Display for Undecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MaskedTwice(at) => write!(f, "IRQ is masked twice, the second time by instruction {at}"),
            Self::Branch(at) => write!(f, "branch at instruction {at}"),
            Self::Endless => write!(f, "no end within {LONGEST} instructions"),
            Self::Unmasked => write!(f, "no CPSID ... MSR before its end"),
        }
    }
}

/// Words that an instruction loads and stores.
fn words(instruction: u32) -> (u32, u32) {
    let load = instruction & (1 << 20) != 0;
    let moved = match instruction >> 25 & 7 {
        // LDM, STM: a register list.
        0b100 => (instruction & 0xffff).count_ones(),
        // VLDM, VSTM of D or S registers: the number of words. One without write-back, up or down, is a
        // single register's VLDR or VSTR.
        0b110 if instruction & 0xe00 == 0xa00 => {
            let single = instruction & (1 << 24) != 0 && instruction & (1 << 21) == 0;
            if single { 1 + (instruction >> 8 & 1) } else { instruction & 0xff }
        }
        // LDR, STR.
        0b010 => 1,
        0b011 if instruction & 0x10 == 0 => 1,
        _ => 0,
    };
    if load { (moved, 0) } else { (0, moved) }
}

/// Reads instructions up to and with the first `last`.
///
/// # Errors
///
/// [`Undecodable`]: the code is not a straight piece that masks IRQ once.
pub fn decode(code: impl IntoIterator<Item = u32>, last: u32) -> Result<Decoded, Undecodable> {
    let (mut masked_at, mut unmasked_at) = (None, None);
    let (mut loaded, mut stored) = (0, 0);
    for (n, instruction) in code.into_iter().take(LONGEST).enumerate() {
        let (l, s) = words(instruction);
        (loaded, stored) = (loaded + l, stored + s);
        if instruction == CPSID_I && masked_at.replace(n).is_some() {
            return Err(Undecodable::MaskedTwice(n));
        }
        if instruction & 0xfff1_fff0 == MSR_CPSR_C {
            unmasked_at = Some(n);
        }
        if instruction == last {
            // CPSID itself executes unmasked; MSR is the last that executes masked.
            let (Some(from), Some(to)) = (masked_at, unmasked_at) else { return Err(Undecodable::Unmasked) };
            let masked = to.checked_sub(from).ok_or(Undecodable::Unmasked)?;
            return Ok(Decoded { instructions: n + 1, masked, loaded, stored });
        }
        if instruction >> 25 & 7 == 0b101 && instruction >> 28 != 0xf {
            return Err(Undecodable::Branch(n));
        }
    }
    Err(Undecodable::Endless)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOP: u32 = 0xe320_f000;
    const MSR: u32 = 0xe123_f003; // MSR CPSR_cx, R3

    #[test]
    fn words_of_every_form() {
        for (instruction, loads, stores) in [
            (0xe980_fffc, 0, 14), // STMIB R0, {R2-R12, SP, LR, PC}
            (0xe991_fffc, 14, 0), // LDMIB R1, the same
            (0xe890_0006, 2, 0),  // LDM R0, {R1, R2}
            (0xed2d_8b10, 0, 16), // VPUSH {D8-D15}
            (0xecbd_8b10, 16, 0), // VPOP {D8-D15}
            (0xed9f_0a01, 1, 0),  // VLDR S0
            (0xed9f_0b01, 2, 0),  // VLDR D0
            (0xe59f_0004, 1, 0),  // LDR R0, [PC, #4]
            (0xe780_1002, 0, 1),  // STR R1, [R0, R2]
            (INLINED_FIRST, 0, 0),
            (INLINED_LAST, 0, 0),
            (CALLED_LAST, 0, 0),
            (CPSID_I, 0, 0),
            (MSR, 0, 0),
        ] {
            assert_eq!(words(instruction), (loads, stores), "{instruction:#x}");
        }
    }

    #[test]
    fn a_straight_piece_is_counted_and_nothing_else() {
        let code = [INLINED_FIRST, CPSID_I, 0xe890_0006, 0xe980_fffc, MSR, INLINED_LAST, NOP];
        let seen = decode(code, INLINED_LAST);
        assert_eq!(seen, Ok(Decoded { instructions: 6, masked: 3, loaded: 2, stored: 14 }));
        let branch = 0xeaff_fffe;
        assert_eq!(decode([CPSID_I, branch, MSR, CALLED_LAST], CALLED_LAST), Err(Undecodable::Branch(1)));
        assert_eq!(decode([CPSID_I, CPSID_I, MSR, CALLED_LAST], CALLED_LAST), Err(Undecodable::MaskedTwice(1)));
        assert_eq!(decode([MSR, CPSID_I, CALLED_LAST], CALLED_LAST), Err(Undecodable::Unmasked));
        assert_eq!(decode([NOP, CALLED_LAST], CALLED_LAST), Err(Undecodable::Unmasked));
        assert_eq!(decode([CPSID_I, MSR], CALLED_LAST), Err(Undecodable::Endless));
        assert_eq!(decode([NOP; 100], CALLED_LAST), Err(Undecodable::Endless));
    }
}
