//! A32 instructions as far as timing needs them: class, registers read and written, flags.
//!
//! Encodings: Arm Architecture Reference Manual, Armv8 (DDI 0487), F4.1. Not told apart: multiply, divide
//! and floating-point arithmetic from other arithmetic.

/// What an instruction does to the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Arithmetic, and whatever has no class of its own.
    Alu,
    /// One or more words are read.
    Load,
    /// One or more words are written.
    Store,
    /// A direct branch that is always taken.
    Branch,
    /// A direct branch under a condition.
    CondBranch,
    /// A branch to an address in a register.
    Indirect,
    /// CPS, or MSR to the status word.
    ModeChange,
    /// ISB.
    Isb,
    /// DSB or DMB: waits for the store buffer.
    Barrier,
    /// Read of the status word or of a system register.
    SystemRead,
    /// Write of a system register.
    SystemWrite,
}

/// The instruction writes the condition flags.
pub const SETS_FLAGS: u8 = 1;
/// Its effect depends on them.
pub const USES_FLAGS: u8 = 2;
/// It leaves the return address in LR.
pub const LINK: u8 = 4;
/// It is how a function returns.
pub const RETURN: u8 = 8;
/// It may change the PC.
pub const JUMPS: u8 = 16;
/// The base register is written back, and is ready before what is loaded.
pub const WRITE_BACK: u8 = 32;

/// A decoded instruction at its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Address.
    pub pc: u32,
    /// Core registers read, one bit each; the PC is left out.
    pub reads: u16,
    /// Core registers written; the PC is left out.
    pub writes: u16,
    /// Class.
    pub kind: Kind,
    /// [`SETS_FLAGS`] and the others.
    pub flags: u8,
    /// Base register of a load or store.
    pub base: u8,
}

impl Op {
    /// Whether a flag is set.
    pub const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Decodes the A32 instruction `x` at `pc`.
pub const fn decode(pc: u32, x: u32) -> Op {
    let mut op = Op { pc, reads: 0, writes: 0, kind: Kind::Alu, flags: 0, base: 0 };
    let condition = x >> 28;
    if condition == 15 {
        unconditional(x, &mut op);
    } else {
        if condition < 14 {
            op.flags |= USES_FLAGS;
        }
        match x >> 25 & 7 {
            0 if x & 0x90 == 0x90 => multiply_or_extra_load(x, &mut op),
            0 if x >> 23 & 3 == 2 && x >> 20 & 1 == 0 => miscellaneous(x, &mut op),
            1 if x >> 23 & 3 == 2 && x >> 20 & 1 == 0 => wide_immediate(x, &mut op),
            0 | 1 => data_processing(x, &mut op),
            3 if x & 0x10 != 0 => media(x, &mut op),
            2 | 3 => load_store(x, &mut op),
            4 => load_store_multiple(x, &mut op),
            5 => {
                op.kind = if condition < 14 { Kind::CondBranch } else { Kind::Branch };
                op.flags |= JUMPS;
                if x >> 24 & 1 == 1 {
                    op.flags |= LINK;
                    op.writes = 1 << 14;
                }
            }
            _ => coprocessor(x, &mut op),
        }
    }
    if op.writes >> 15 == 1 {
        op.flags |= JUMPS;
        if !matches!(op.kind, Kind::Load) {
            op.kind = Kind::Indirect;
        }
    }
    op.reads &= 0x7fff;
    op.writes &= 0x7fff;
    op
}

const fn r(x: u32, at: u32) -> u16 {
    1 << (x >> at & 15)
}

const fn unconditional(x: u32, op: &mut Op) {
    if x & 0xfff1_0020 == 0xf100_0000 {
        op.kind = Kind::ModeChange;
    } else if x & 0xffff_fff0 == 0xf57f_f060 {
        op.kind = Kind::Isb;
    } else if x & 0xffff_ffe0 == 0xf57f_f040 {
        op.kind = Kind::Barrier;
    } else if x & 0xfe50_ffff == 0xf810_0a00 {
        // RFE: reads the PC and the status word.
        op.kind = Kind::Load;
        op.reads = r(x, 16);
        op.base = (x >> 16 & 15) as u8;
        op.flags |= JUMPS;
    } else if x & 0xfe5f_ffe0 == 0xf84d_0500 {
        op.kind = Kind::Store;
        op.reads = 1 << 13;
        op.base = 13;
    } else if x & 0xfe00_0000 == 0xfa00_0000 {
        op.kind = Kind::Branch;
        op.flags |= JUMPS | LINK;
        op.writes = 1 << 14;
    } else if x & 0xff10_0000 == 0xf400_0000 {
        op.kind = if x >> 21 & 1 == 1 { Kind::Load } else { Kind::Store };
        op.reads = r(x, 16);
        op.base = (x >> 16 & 15) as u8;
    }
}

const fn data_processing(x: u32, op: &mut Op) {
    let code = x >> 21 & 15;
    // MOV and MVN have no first operand.
    if code != 13 && code != 15 {
        op.reads |= r(x, 16);
    }
    if x >> 25 & 1 == 0 {
        op.reads |= r(x, 0);
        if x & 0x10 != 0 {
            op.reads |= r(x, 8);
        }
    }
    if x >> 20 & 1 == 1 {
        op.flags |= SETS_FLAGS;
    }
    // TST, TEQ, CMP and CMN write flags only.
    if !(code >= 8 && code <= 11) {
        op.writes = r(x, 12);
        if op.writes >> 15 == 1 && code == 13 && x & 0x0200_000f == 14 {
            op.flags |= RETURN;
        }
    }
    // ADC, SBC, RSC use the carry.
    if code >= 5 && code <= 7 {
        op.flags |= USES_FLAGS;
    }
}

const fn wide_immediate(x: u32, op: &mut Op) {
    match x >> 21 & 3 {
        0 => op.writes = r(x, 12),
        2 => {
            op.writes = r(x, 12);
            op.reads = r(x, 12);
        }
        // MSR with a mask; without one it is a hint.
        _ => {
            if x >> 16 & 15 != 0 {
                op.kind = Kind::ModeChange;
            }
        }
    }
}

const fn miscellaneous(x: u32, op: &mut Op) {
    if x & 0x80 != 0 {
        // Halfword multiplies: the result lies at 16, an addend at 12.
        op.reads = r(x, 0) | r(x, 8) | r(x, 12);
        op.writes = r(x, 16);
        return;
    }
    match (x >> 4 & 7, x >> 21 & 3) {
        (0, 1 | 3) => {
            op.kind = Kind::ModeChange;
            op.reads = r(x, 0);
        }
        (0, _) => {
            op.kind = Kind::SystemRead;
            op.writes = r(x, 12);
        }
        (1, 1) | (2, 1) => {
            op.kind = Kind::Indirect;
            op.reads = r(x, 0);
            op.flags |= JUMPS;
            if x & 15 == 14 {
                op.flags |= RETURN;
            }
        }
        (3, 1) => {
            op.kind = Kind::Indirect;
            op.reads = r(x, 0);
            op.writes = 1 << 14;
            op.flags |= JUMPS | LINK;
        }
        (1, 3) => {
            op.reads = r(x, 0);
            op.writes = r(x, 12);
        }
        // ERET.
        (6, 3) => {
            op.kind = Kind::Indirect;
            op.flags |= JUMPS;
        }
        (4 | 5, _) => {
            op.reads = r(x, 0) | r(x, 16);
            op.writes = r(x, 12);
        }
        _ => {}
    }
}

const fn multiply_or_extra_load(x: u32, op: &mut Op) {
    let load = x >> 20 & 1 == 1;
    if x & 0x60 == 0 {
        if x >> 24 & 1 == 0 {
            op.reads = r(x, 0) | r(x, 8);
            op.writes = r(x, 16);
            if x >> 23 & 1 == 1 {
                op.writes |= r(x, 12);
                if x >> 21 & 1 == 1 {
                    op.reads |= r(x, 12) | r(x, 16);
                }
            } else if x >> 21 & 1 == 1 {
                op.reads |= r(x, 12);
            }
            if load {
                op.flags |= SETS_FLAGS;
            }
        } else {
            // Exclusive and ordered accesses: the doubleword forms name the first of two registers.
            op.base = (x >> 16 & 15) as u8;
            op.reads = r(x, 16);
            let double = x >> 21 & 3 == 1;
            if load {
                op.kind = Kind::Load;
                op.writes = r(x, 12) | if double { r(x, 12) << 1 } else { 0 };
            } else {
                op.kind = Kind::Store;
                op.reads |= r(x, 0) | if double { r(x, 0) << 1 } else { 0 };
                // The status of an exclusive store; the ordered stores have none.
                if x >> 8 & 3 != 0 && x >> 12 & 15 != 15 {
                    op.writes = r(x, 12);
                }
            }
        }
        return;
    }
    let double = !load && x >> 6 & 1 == 1;
    let loads = load || (double && x >> 5 & 1 == 0);
    let words = r(x, 12) | if double { r(x, 12) << 1 } else { 0 };
    op.base = (x >> 16 & 15) as u8;
    op.reads = r(x, 16);
    if x >> 22 & 1 == 0 {
        op.reads |= r(x, 0);
    }
    if loads {
        op.kind = Kind::Load;
        op.writes = words;
    } else {
        op.kind = Kind::Store;
        op.reads |= words;
    }
    if x >> 24 & 1 == 0 || x >> 21 & 1 == 1 {
        op.writes |= r(x, 16);
        op.flags |= WRITE_BACK;
    }
}

const fn media(x: u32, op: &mut Op) {
    op.reads = r(x, 0);
    if x >> 20 & 31 >= 16 && x >> 20 & 31 < 26 {
        // Multiplies, divides and sums of differences: the result lies at 16.
        op.reads |= r(x, 8);
        if x >> 12 & 15 != 15 {
            op.reads |= r(x, 12);
        }
        op.writes = r(x, 16);
    } else {
        if x >> 16 & 15 != 15 && x >> 23 & 3 != 3 {
            op.reads |= r(x, 16);
        }
        op.writes = r(x, 12);
        // BFI keeps the rest of its register.
        if x >> 21 & 15 == 14 {
            op.reads |= r(x, 12);
        }
    }
}

const fn load_store(x: u32, op: &mut Op) {
    op.base = (x >> 16 & 15) as u8;
    op.reads = r(x, 16);
    if x >> 25 & 1 == 1 {
        op.reads |= r(x, 0);
    }
    if x >> 20 & 1 == 1 {
        op.kind = Kind::Load;
        op.writes = r(x, 12);
        if op.writes >> 15 == 1 && op.base == 13 {
            op.flags |= RETURN;
        }
    } else {
        op.kind = Kind::Store;
        op.reads |= r(x, 12);
    }
    if x >> 24 & 1 == 0 || x >> 21 & 1 == 1 {
        op.writes |= r(x, 16);
        op.flags |= WRITE_BACK;
    }
}

const fn load_store_multiple(x: u32, op: &mut Op) {
    let list = (x & 0xffff) as u16;
    op.base = (x >> 16 & 15) as u8;
    op.reads = r(x, 16);
    if x >> 20 & 1 == 1 {
        op.kind = Kind::Load;
        op.writes = list;
        if list >> 15 == 1 && op.base == 13 {
            op.flags |= RETURN;
        }
    } else {
        op.kind = Kind::Store;
        op.reads |= list;
    }
    if x >> 21 & 1 == 1 {
        op.writes |= r(x, 16);
        op.flags |= WRITE_BACK;
    }
}

const fn coprocessor(x: u32, op: &mut Op) {
    let floating = x >> 9 & 7 == 5;
    if x >> 24 & 15 == 15 {
        // SVC: what follows is an exception.
        op.flags |= JUMPS;
    } else if x >> 24 & 15 == 14 {
        if x & 0x10 != 0 {
            // Single register transfer.
            if x >> 20 & 1 == 1 {
                op.kind = if floating { Kind::Alu } else { Kind::SystemRead };
                if x >> 12 & 15 == 15 {
                    op.flags |= SETS_FLAGS;
                } else {
                    op.writes = r(x, 12);
                }
            } else {
                op.kind = if floating { Kind::Alu } else { Kind::SystemWrite };
                op.reads = r(x, 12);
            }
        }
    } else if x & 0x0fe0_0000 == 0x0c40_0000 {
        // Double register transfer.
        if x >> 20 & 1 == 1 {
            op.kind = if floating { Kind::Alu } else { Kind::SystemRead };
            op.writes = r(x, 12) | r(x, 16);
        } else {
            op.kind = if floating { Kind::Alu } else { Kind::SystemWrite };
            op.reads = r(x, 12) | r(x, 16);
        }
    } else {
        op.kind = if x >> 20 & 1 == 1 { Kind::Load } else { Kind::Store };
        op.base = (x >> 16 & 15) as u8;
        op.reads = r(x, 16);
        if x >> 21 & 1 == 1 {
            op.writes = r(x, 16);
            op.flags |= WRITE_BACK;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(x: u32) -> (Kind, u16, u16, u8) {
        let op = decode(0, x);
        (op.kind, op.reads, op.writes, op.flags)
    }

    #[test]
    fn classes_registers_and_flags() {
        for (x, expected) in [
            // add r0, r1, r2, lsl r3
            (0xe081_0312, (Kind::Alu, 0b1110, 1, 0)),
            // adcs r0, r0, #1
            (0xe2b0_0001, (Kind::Alu, 1, 1, SETS_FLAGS | USES_FLAGS)),
            // cmp r1, r2
            (0xe151_0002, (Kind::Alu, 0b110, 0, SETS_FLAGS)),
            // moveq r0, r1
            (0x01a0_0001, (Kind::Alu, 0b10, 1, USES_FLAGS)),
            // mov pc, lr
            (0xe1a0_f00e, (Kind::Indirect, 1 << 14, 0, RETURN | JUMPS)),
            // bx lr, bx r3, blx r3
            (0xe12f_ff1e, (Kind::Indirect, 1 << 14, 0, RETURN | JUMPS)),
            (0xe12f_ff13, (Kind::Indirect, 8, 0, JUMPS)),
            (0xe12f_ff33, (Kind::Indirect, 8, 1 << 14, JUMPS | LINK)),
            // movw r3, movt r3
            (0xe300_3001, (Kind::Alu, 0, 8, 0)),
            (0xe340_3001, (Kind::Alu, 8, 8, 0)),
            // nop
            (0xe320_f000, (Kind::Alu, 0, 0, 0)),
            // msr cpsr_c, r0; mrs r0, cpsr; cpsid i
            (0xe121_f000, (Kind::ModeChange, 1, 0, 0)),
            (0xe10f_0000, (Kind::SystemRead, 0, 1, 0)),
            (0xf10c_0080, (Kind::ModeChange, 0, 0, 0)),
            // clz r0, r1
            (0xe16f_0f11, (Kind::Alu, 2, 1, 0)),
            // mul r0, r1, r2; umull r0, r1, r2, r3; mla r0, r1, r2, r3
            (0xe000_0291, (Kind::Alu, 0b110, 1, 0)),
            (0xe081_0392, (Kind::Alu, 0b1100, 0b11, 0)),
            (0xe020_3291, (Kind::Alu, 0b1110, 1, 0)),
            // udiv r0, r1, r2; ubfx r0, r1, #0, #8; uxtb r0, r1
            (0xe730_f211, (Kind::Alu, 0b110, 1, 0)),
            (0xe7e7_0051, (Kind::Alu, 2, 1, 0)),
            (0xe6ef_0071, (Kind::Alu, 2, 1, 0)),
            // ldrd r2, r3, [r1]; strd r2, r3, [r1]; ldrh r2, [r1]; strh r2, [r1]
            (0xe1c1_20d0, (Kind::Load, 2, 0b1100, 0)),
            (0xe1c1_20f0, (Kind::Store, 0b1110, 0, 0)),
            (0xe1d1_20b0, (Kind::Load, 2, 4, 0)),
            (0xe1c1_20b0, (Kind::Store, 0b110, 0, 0)),
            // ldrex r0, [r1]; strex r0, r2, [r1]; stl r0, [r1]
            (0xe191_0f9f, (Kind::Load, 2, 1, 0)),
            (0xe181_0f92, (Kind::Store, 0b110, 1, 0)),
            (0xe181_fc90, (Kind::Store, 0b11, 0, 0)),
            // ldr r0, [r1, r2]; str r0, [r1], #4; ldr pc, [sp], #4
            (0xe791_0002, (Kind::Load, 0b110, 1, 0)),
            (0xe481_0004, (Kind::Store, 0b11, 2, WRITE_BACK)),
            (0xe49d_f004, (Kind::Load, 1 << 13, 1 << 13, RETURN | JUMPS | WRITE_BACK)),
            // push {r4, lr}; pop {r4, pc}
            (0xe92d_4010, (Kind::Store, 1 << 13 | 1 << 14 | 1 << 4, 1 << 13, WRITE_BACK)),
            (0xe8bd_8010, (Kind::Load, 1 << 13, 1 << 13 | 1 << 4, RETURN | JUMPS | WRITE_BACK)),
            // vpush {d8-d15}; vldmia r0, {d0-d1}; vadd.f32 s0, s1, s2
            (0xed2d_8b10, (Kind::Store, 1 << 13, 1 << 13, WRITE_BACK)),
            (0xec90_0b04, (Kind::Load, 1, 0, 0)),
            (0xee30_0a81, (Kind::Alu, 0, 0, 0)),
            // vmrs r0, fpscr; vmrs APSR_nzcv, fpscr
            (0xeef1_0a10, (Kind::Alu, 0, 1, 0)),
            (0xeef1_fa10, (Kind::Alu, 0, 0, SETS_FLAGS)),
            // mrrc p15, 0, r0, r1, c14; mcr p15, 0, r0, c7, c14, 2; mrc p15, 0, r0, c9, c13, 0
            (0xec51_0f0e, (Kind::SystemRead, 0, 0b11, 0)),
            (0xee07_0f5e, (Kind::SystemWrite, 1, 0, 0)),
            (0xee19_0f1d, (Kind::SystemRead, 0, 1, 0)),
            // bl, beq, b
            (0xeb00_0000, (Kind::Branch, 0, 1 << 14, JUMPS | LINK)),
            (0x0a00_0000, (Kind::CondBranch, 0, 0, USES_FLAGS | JUMPS)),
            (0xeaff_fffe, (Kind::Branch, 0, 0, JUMPS)),
            // isb, dsb, dmb, rfeia sp!, srsdb sp!, #31, svc
            (0xf57f_f06f, (Kind::Isb, 0, 0, 0)),
            (0xf57f_f04f, (Kind::Barrier, 0, 0, 0)),
            (0xf57f_f05f, (Kind::Barrier, 0, 0, 0)),
            (0xf8bd_0a00, (Kind::Load, 1 << 13, 0, JUMPS)),
            (0xf96d_051f, (Kind::Store, 1 << 13, 0, 0)),
            (0xef12_3456, (Kind::Alu, 0, 0, JUMPS)),
        ] {
            assert_eq!(op(x), expected, "{x:#010x}");
        }
    }
}
