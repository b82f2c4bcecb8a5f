//! A32 and T32 instructions, as far as the checks ask.
//!
//! Encodings: Arm Architecture Reference Manual (DDI 0487), F3 and F4. Floating-point and Advanced SIMD instructions have
//! the same lower 28 bits in both states, so that a T32 one is looked at as the A32 one.

/// Instruction set state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Arm.
    A32,
    /// Thumb.
    T32,
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub address: u32,
    pub state: State,
    /// 16 bits, or 32 with the first halfword of T32 on top.
    pub bits: u32,
    pub wide: bool,
}

/// Decodes a section's bytes; `marks` are sorted: from this address on code of a state, or data.
pub fn decode(start: u32, data: &[u8], marks: &[(u32, Option<State>)], code: &mut Vec<Instruction>) {
    let end = start + data.len() as u32;
    for (n, &(from, state)) in marks.iter().enumerate() {
        let Some(state) = state else { continue };
        let to = marks[n + 1..].iter().map(|m| m.0).find(|&to| to > from).unwrap_or(end).min(end);
        if from < start || from >= end {
            continue;
        }
        let half = |at: u32| {
            let at = (at - start) as usize;
            data.get(at..at + 2).map(|b| u32::from(u16::from_le_bytes([b[0], b[1]])))
        };
        let mut at = from;
        while at < to {
            let Some(first) = half(at) else { break };
            let second = half(at + 2).filter(|_| at + 4 <= to);
            let (bits, wide) = match (state, second) {
                (State::A32, Some(second)) => (second << 16 | first, true),
                (State::T32, Some(second)) if first >> 11 >= 0b11101 => (first << 16 | second, true),
                (State::T32, _) => (first, false),
                (State::A32, None) => break,
            };
            code.push(Instruction { address: at, state, bits, wide });
            at += if wide { 4 } else { 2 };
        }
    }
}

const fn bit(bits: u32, n: u32) -> bool {
    bits >> n & 1 == 1
}

impl Instruction {
    /// The instruction as A32 where the encodings agree: coprocessor space and Advanced SIMD.
    fn as_a32(&self) -> Option<u32> {
        let bits = self.bits;
        match self.state {
            State::A32 => Some(bits),
            State::T32 if !self.wide => None,
            State::T32 => match bits >> 24 {
                // Advanced SIMD data processing: 111U 1111 becomes 1111 001U.
                0xef | 0xff => Some((bits & 0x00ff_ffff) | 0xf200_0000 | (bits >> 28 & 1) << 24),
                // Element and structure loads and stores.
                0xf9 if !bit(bits, 20) => Some((bits & 0x00ff_ffff) | 0xf400_0000),
                0xec..=0xee | 0xfc..=0xfe => Some(bits),
                _ => None,
            },
        }
    }

    fn is_advanced_simd(bits: u32) -> bool {
        // Data processing, and element and structure loads and stores. VSDOT and the like (1111 110) are not in Armv8-R.
        bits >> 25 == 0b111_1001 || (bits >> 24 == 0xf4 && !bit(bits, 20))
    }

    /// Coprocessor space of 10 and 11.
    fn is_vfp(bits: u32) -> bool {
        matches!(bits >> 24 & 0xf, 0xc..=0xe) && bits >> 9 & 7 == 0b101
    }

    /// Any instruction that traps while the FPU is off. VMRS and VMSR of FPEXC do not.
    pub fn is_floating_point(&self) -> bool {
        self.as_a32().is_some_and(|b| Self::is_advanced_simd(b) || (Self::is_vfp(b) && b & 0x0fef_0fff != 0x0ee8_0a10))
    }

    /// VMSR FPEXC, Rt.
    pub fn enables_fpu(&self) -> bool {
        self.as_a32().is_some_and(|b| b & 0x0fff_0fff == 0x0ee8_0a10)
    }

    /// BL or BLX.
    pub fn is_call(&self) -> bool {
        let b = self.bits;
        match self.state {
            State::A32 => {
                (b >> 24 & 0xf == 0xb && b >> 28 != 0xf) || b >> 25 == 0b111_1101 || b & 0x0fff_fff0 == 0x012f_ff30
            }
            State::T32 if self.wide => b >> 27 == 0b1_1110 && b & 0xd000 >= 0xc000,
            State::T32 => b & 0xff87 == 0x4780,
        }
    }

    /// D16-D31, which only 32-register units have, or Advanced SIMD, which goes with them.
    pub fn uses_upper_registers(&self) -> bool {
        let Some(b) = self.as_a32() else { return false };
        if Self::is_advanced_simd(b) {
            return true;
        }
        if !Self::is_vfp(b) {
            return false;
        }
        let double = bit(b, 8);
        let (d, n, m) = (bit(b, 22), bit(b, 7), bit(b, 5));
        let kind = b >> 24 & 0xf;
        if kind != 0xe {
            // Two core registers and one double, or two singles.
            if b & 0x0fe0_0000 == 0x0c40_0000 {
                return double && m;
            }
            if !double {
                return false;
            }
            let first = (b >> 12 & 0xf) + if d { 16 } else { 0 };
            // VLDR and VSTR have P set and W clear; the others move imm8 / 2 doubles.
            let count = if bit(b, 24) && !bit(b, 21) { 1 } else { (b & 0xff) / 2 };
            return first + count > 16;
        }
        if bit(b, 4) {
            // One core register: to or from an element of Dn (11), a single (10), a system register.
            return double && n;
        }
        if b >> 20 & 0xb != 0xb || (b >> 28 == 0xf && !bit(b, 6)) {
            // Three registers of one size.
            return double && (d || n || m);
        }
        // Two registers, or an immediate: the operation is in bits 19:16 and 7:6.
        let operation = b >> 16 & 0xf;
        if b >> 28 != 0xf && !bit(b, 6) {
            // VMOV immediate: Dd.
            return double && d;
        }
        match operation {
            // Half precision: only the other side may be a double, and it is for VCVTB and VCVTT of .F64 only.
            0b0010 => double && d,
            0b0011 => double && m,
            // Between single and double; sz is the source's size.
            0b0111 if bit(b, 7) => {
                if double {
                    m
                } else {
                    d
                }
            }
            // From integer: a single holds the integer, Dd the result.
            0b1000 if b >> 28 != 0xf => double && d,
            // Fixed point: both in Dd.
            0b1010 | 0b1011 | 0b1110 | 0b1111 if b >> 28 != 0xf => double && d,
            // To integer: a single receives it, also with a rounding mode of its own.
            0b1100 | 0b1101 => double && m,
            0b1110 | 0b1111 => double && m,
            _ => double && (d || m),
        }
    }

    /// What of the monitor's a guest would touch with this instruction.
    pub fn of_the_monitor(&self) -> Option<&'static str> {
        if self.state == State::A32 && self.bits == 0xe160_006e {
            return Some("returns from EL2 (ERET)");
        }
        let b = self.as_a32()?;
        if b >> 28 == 0xf || b >> 8 & 0xf != 15 {
            return None;
        }
        let (op1, crn, crm, op2) = (b >> 21 & 7, b >> 16 & 0xf, b & 0xf, b >> 5 & 7);
        if b & 0x0f00_0010 == 0x0e00_0010 {
            let write = !bit(b, 20);
            return match (op1, crn, crm, op2) {
                (4, ..) => Some("accesses a register of EL2"),
                (0, 14, 0, 0) if write => Some("writes CNTFRQ"),
                (0, 9, 1, 0..=2) if write => Some("writes a TCM region register"),
                (0, 15, 0, 0) if write => Some("writes IMP_PERIPHPREGIONR"),
                (1, 9, 1, 0) if write => Some("writes IMP_CSCTLR"),
                _ => None,
            };
        }
        if b & 0x0fe0_0000 == 0x0c40_0000 && matches!(b >> 4 & 0xf, 4 | 6) && matches!(crm, 2 | 14) {
            return Some("accesses a register of EL2");
        }
        None
    }
}
