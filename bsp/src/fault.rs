//! Faults and panics: a report on the console, then a non-zero exit. Never a silent hang.
//!
//! Every vector but IRQ leads to a stub that records the interrupted state in a static frame, so no
//! stack needs to be intact, and reports from ABT mode on the ABT stack. A second exception while one
//! is being reported does not touch memory beyond one flag: it exits at once with
//! status 105. Traps to Hyp mode are recorded there and reported from
//! EL1, because EL2 has no memory map of its own.

/// The exceptions that end an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vector {
    /// Undefined instruction.
    Undefined,
    /// SVC: neither this board nor the kernel uses it.
    SupervisorCall,
    /// Prefetch abort.
    PrefetchAbort,
    /// Data abort.
    DataAbort,
    /// FIQ: every source is in Group 1, so there should be none.
    Fiq,
    /// Taken from EL1 to Hyp mode.
    HypTrap,
    /// Taken in Hyp mode itself, before the drop to EL1; the vector's offset.
    Hyp(u32),
}

impl Vector {
    /// The vector with this number in the frame: EL1 table offset / 4, Hyp table 16 + offset / 4.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Undefined,
            2 => Self::SupervisorCall,
            3 => Self::PrefetchAbort,
            4 => Self::DataAbort,
            7 => Self::Fiq,
            21 => Self::HypTrap,
            16..=23 => Self::Hyp((number - 16) * 4),
            _ => return None,
        })
    }

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Undefined => "undefined instruction",
            Self::SupervisorCall => "supervisor call",
            Self::PrefetchAbort => "prefetch abort",
            Self::DataAbort => "data abort",
            Self::Fiq => "FIQ",
            Self::HypTrap => "trap to Hyp mode",
            Self::Hyp(_) => "exception in Hyp mode",
        }
    }

    /// Offset in the vector table, in bytes.
    #[must_use]
    pub const fn offset(self) -> u32 {
        match self {
            Self::Undefined => 0x04,
            Self::SupervisorCall => 0x08,
            Self::PrefetchAbort => 0x0c,
            Self::DataAbort => 0x10,
            Self::Fiq => 0x1c,
            Self::HypTrap => 0x14,
            Self::Hyp(offset) => offset,
        }
    }

    /// The instruction that the exception belongs to, from the link register the exception left
    /// (Arm ARM DDI 0487, G1.12: preferred return addresses and their offsets). In Hyp mode ELR_hyp
    /// needs no correction.
    #[must_use]
    pub const fn instruction(self, link: u32, thumb: bool) -> u32 {
        let offset = match self {
            Self::Undefined | Self::SupervisorCall => {
                if thumb {
                    2
                } else {
                    4
                }
            }
            Self::PrefetchAbort | Self::Fiq => 4,
            Self::DataAbort => 8,
            Self::HypTrap | Self::Hyp(_) => 0,
        };
        link.wrapping_sub(offset)
    }
}

/// DFSR or IFSR in words. PMSAv8 has only the long format: status in bits 5:0.
#[must_use]
pub const fn status(fsr: u32) -> &'static str {
    match fsr & 0x3f {
        0b00_0100 => "translation: no MPU region holds the address",
        // QEMU 10 says this also where no region holds the address.
        0b00_1100 => "permission: no MPU region allows the access",
        0b01_0000 => "external abort",
        0b01_0001 => "asynchronous external abort",
        0b01_1000 => "ECC error",
        0b01_1001 => "asynchronous ECC error",
        0b10_0001 => "alignment",
        0b10_0010 => "debug event",
        _ => "unknown status",
    }
}

/// HSR's exception class in words, for the classes a guest at EL1 can cause.
#[must_use]
pub const fn exception_class(hsr: u32) -> &'static str {
    match hsr >> 26 {
        0x00 => "unknown reason",
        0x01 => "WFI or WFE",
        0x03 | 0x04 | 0x05 | 0x06 | 0x0c => "system register access",
        0x07 => "FPU access",
        0x0e => "illegal execution state",
        0x11 => "SVC",
        0x12 => "HVC",
        0x13 => "SMC",
        0x20 | 0x21 => "prefetch abort",
        0x22 => "PC alignment",
        0x24 | 0x25 => "data abort",
        _ => "other class",
    }
}

/// The name of a processor mode (CPSR bits 4:0).
#[must_use]
pub const fn mode(cpsr: u32) -> &'static str {
    match cpsr & 0x1f {
        0x10 => "USR",
        0x11 => "FIQ",
        0x12 => "IRQ",
        0x13 => "SVC",
        0x17 => "ABT",
        0x1a => "HYP",
        0x1b => "UND",
        0x1f => "SYS",
        _ => "unknown mode",
    }
}

#[cfg(start_up = "rust")]
pub(crate) use hardware::park_on_exception;
#[cfg(start_up = "rust")]
pub use hardware::stack_overflow;

#[cfg(start_up = "upstream")]
pub use crate::upstream::stack_overflow;

#[cfg(start_up = "rust")]
mod hardware {
    use super::{Vector, exception_class, mode, status};
    use crate::memory::region_of;
    use crate::{console, exit, interrupt, print, println, stage};
    use aarch32_cpu::register::{Dfar, Dfsr, Ifar, Ifsr, SysRegRead};
    use core::arch::global_asm;
    use core::sync::atomic::{AtomicU32, Ordering};
    use ufmt::uDisplay;

    /// What the stubs record. The layout is theirs.
    #[repr(C)]
    struct Frame {
        r: [u32; 13],
        sp: u32,
        lr: u32,
        link: u32,
        cpsr: u32,
        vector: u32,
        /// CPSR in the handler: the mode the exception was taken to.
        taken: u32,
        hsr: u32,
        hdfar: u32,
        hifar: u32,
    }

    const _: () = {
        assert!(core::mem::offset_of!(Frame, sp) == 52);
        assert!(core::mem::offset_of!(Frame, link) == 60);
        assert!(core::mem::offset_of!(Frame, cpsr) == 64);
        assert!(core::mem::offset_of!(Frame, vector) == 68);
        assert!(core::mem::offset_of!(Frame, taken) == 72);
        assert!(core::mem::offset_of!(Frame, hsr) == 76);
        assert!(core::mem::size_of::<Frame>() == 88);
    };

    /// 0, or what is being reported: a vector number, [`PANICKING`], or [`PARK`].
    #[unsafe(export_name = "bsp_fault_active")]
    static ACTIVE: AtomicU32 = AtomicU32::new(0);
    const PANICKING: u32 = 0x100;
    const PARK: u32 = u32::MAX;

    /// Semihosting's exit with status 105; nothing but registers is touched.
    #[cfg(semihosting)]
    macro_rules! end_of_double_fault {
        () => {
            r#"
    mov     r0, #0x20
    adr     r1, 2f
    svc     #0x123456
    b       1f
2:  .word   0x20026, 105
    "#
        };
    }
    /// The status goes to the boot record, past the data cache.
    #[cfg(not(semihosting))]
    macro_rules! end_of_double_fault {
        () => {
            r#"
    ldr     r0, =bsp_boot_record
    mov     r1, #0x100
    orr     r1, r1, #105
    str     r1, [r0, #20]
    dsb
    mcr     p15, 0, r0, c7, c10, 1
    dsb
    "#
        };
    }

    /// A guest leaves EL2's registers to the monitor.
    #[cfg(feature = "boot-at-el1")]
    macro_rules! hyp_handlers {
        () => {
            ""
        };
    }
    #[cfg(not(feature = "boot-at-el1"))]
    macro_rules! hyp_handlers {
        () => {
            concat!(
                r#"
    .pushsection .text.bsp_fault, "ax", %progbits
    .arm
    .balign 4
    bsp_fault_stub bsp_hyp_0, 16, bsp_hyp_save
    bsp_fault_stub bsp_hyp_1, 17, bsp_hyp_save
    bsp_fault_stub bsp_hyp_2, 18, bsp_hyp_save
    bsp_fault_stub bsp_hyp_3, 19, bsp_hyp_save
    bsp_fault_stub bsp_hyp_4, 20, bsp_hyp_save
    bsp_fault_stub bsp_hyp_5, 21, bsp_hyp_save
    bsp_fault_stub bsp_hyp_6, 22, bsp_hyp_save
    bsp_fault_stub bsp_hyp_7, 23, bsp_hyp_save

bsp_hyp_save:
    bsp_fault_common
    mrs     r3, elr_hyp
    str     r3, [r0, #60]
    mrc     p15, 4, r3, c5, c2, 0
    str     r3, [r0, #76]
    mrc     p15, 4, r3, c6, c0, 0
    str     r3, [r0, #80]
    mrc     p15, 4, r3, c6, c0, 2
    str     r3, [r0, #84]
    add     r1, r0, #32
    stmia   r1, {r8-r12}
    // Hyp mode shares LR with USR and SYS and has its own SP.
    mov     r3, sp
    mov     r4, lr
    and     r2, r2, #0x1f
    cmp     r2, #0x10
    cmpne   r2, #0x1f
    bne     1f
    mrs     r3, sp_usr
    b       9f
1:  cmp     r2, #0x13
    bne     2f
    mrs     r3, sp_svc
    mrs     r4, lr_svc
    b       9f
2:  cmp     r2, #0x17
    bne     3f
    mrs     r3, sp_abt
    mrs     r4, lr_abt
    b       9f
3:  cmp     r2, #0x1b
    bne     4f
    mrs     r3, sp_und
    mrs     r4, lr_und
    b       9f
4:  cmp     r2, #0x12
    bne     9f
    mrs     r3, sp_irq
    mrs     r4, lr_irq
9:  str     r3, [r0, #52]
    str     r4, [r0, #56]
    // Report from EL1, ABT mode, A32, everything masked.
    mov     r1, #0x1d7
    msr     spsr_cxsf, r1
    ldr     r1, =bsp_fault_from_hyp
    msr     elr_hyp, r1
    dsb
    eret

    // EL1 may not have been set up yet: make it fit for Rust. r0 = frame.
bsp_fault_from_hyp:
    "#,
                crate::boot::el1!(),
                r#"
    ldr     sp, =_abt_stack_high_end
    bl      bsp_fault_report
    .ltorg

    .balign 32
    .global _bsp_hyp_vectors
    .type _bsp_hyp_vectors, %function
_bsp_hyp_vectors:
    b       bsp_hyp_0
    b       bsp_hyp_1
    b       bsp_hyp_2
    b       bsp_hyp_3
    b       bsp_hyp_4
    b       bsp_hyp_5
    b       bsp_hyp_6
    b       bsp_hyp_7
    .popsection
    "#
            )
        };
    }

    // r0 and r1 are saved in TPIDRURW and TPIDRURO, which nothing else of the image uses, because at
    // that point neither a stack nor another register may be touched. The frame's offsets are those
    // asserted above. `bsp_fault_frame` is only written here, with `bsp_fault_active` as its lock.
    global_asm!(
        r#"
    .fpu vfp2
    .pushsection .bss.bsp_fault_frame, "aw", %nobits
    .balign 8
bsp_fault_frame:
    .space 88
    .popsection

    .pushsection .text.bsp_fault, "ax", %progbits
    .arm
    .balign 4

    .macro bsp_fault_stub name, number, next
    .global \name
    .type \name, %function
\name:
    mcr     p15, 0, r0, c13, c0, 2
    mcr     p15, 0, r1, c13, c0, 3
    ldr     r0, =bsp_fault_active
    ldr     r1, [r0]
    cmp     r1, #0
    bne     bsp_fault_again
    mov     r1, #\number
    str     r1, [r0]
    b       \next
    .endm

    bsp_fault_stub _asm_undefined_handler, 1, bsp_fault_save
    bsp_fault_stub _asm_svc_handler, 2, bsp_fault_save
    bsp_fault_stub _asm_prefetch_abort_handler, 3, bsp_fault_save
    bsp_fault_stub _asm_data_abort_handler, 4, bsp_fault_save
    bsp_fault_stub _asm_hvc_handler, 21, bsp_fault_save
    bsp_fault_stub _asm_fiq_handler, 7, bsp_fault_save

    // Saves what every mode shares: r0 = frame, r2-r4 free afterwards.
    .macro bsp_fault_common
    ldr     r0, =bsp_fault_frame
    add     r1, r0, #8
    stmia   r1, {r2-r7}
    mrc     p15, 0, r2, c13, c0, 2
    str     r2, [r0]
    mrc     p15, 0, r2, c13, c0, 3
    str     r2, [r0, #4]
    ldr     r2, =bsp_fault_active
    ldr     r2, [r2]
    str     r2, [r0, #68]
    mrs     r2, spsr
    str     r2, [r0, #64]
    mrs     r3, cpsr
    str     r3, [r0, #72]
    .endm

bsp_fault_save:
    bsp_fault_common
    str     lr, [r0, #60]
    // The interrupted mode's own r8-r14; USR has those of SYS.
    and     r2, r2, #0x1f
    cmp     r2, #0x10
    moveq   r2, #0x1f
    orr     r2, r2, #0xc0
    msr     cpsr_c, r2
    add     r1, r0, #32
    stmia   r1, {r8-r12}
    str     sp, [r0, #52]
    str     lr, [r0, #56]
    msr     cpsr_c, #0xd7
    ldr     sp, =_abt_stack_high_end
    bl      bsp_fault_report

bsp_fault_again:
    cmn     r1, #1
    beq     1f
    mvn     r1, #0
    str     r1, [r0]
    "#,
        end_of_double_fault!(),
        r#"
1:  wfi
    b       1b
    .ltorg
    .popsection
    "#,
        hyp_handlers!(),
        options(raw)
    );

    /// Eight hexadecimal digits.
    struct Hex(u32);

    impl uDisplay for Hex {
        fn fmt<W: ufmt::uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
            let mut digits = *b"0x00000000";
            for (i, digit) in digits[2..].iter_mut().enumerate() {
                *digit = b"0123456789abcdef"[((self.0 >> (28 - 4 * i)) & 0xf) as usize];
            }
            f.write_str(core::str::from_utf8(&digits).unwrap_or("0x????????"))
        }
    }

    /// The context, last of all: the kernel's own data may be what is broken, and a fault in here ends
    /// the image with what was printed before.
    fn print_thread() {
        let depth = interrupt::nesting();
        if depth != 0 {
            println!("in an interrupt handler, depth {}", depth);
        }
        print!("thread: ");
        println!("{}", crate::kernel::thread_name());
    }

    #[unsafe(no_mangle)]
    extern "C" fn bsp_fault_report(frame: &Frame) -> ! {
        let vector = Vector::from_number(frame.vector).unwrap_or(Vector::Hyp(0));
        let thumb = frame.cpsr & (1 << 5) != 0;
        let instruction = vector.instruction(frame.link, thumb);
        let (syndrome, address) = match vector {
            Vector::PrefetchAbort => (Ifsr::read_raw(), Ifar::read_raw()),
            Vector::DataAbort => (Dfsr::read_raw(), Dfar::read_raw()),
            Vector::HypTrap | Vector::Hyp(_) => (frame.hsr, frame.hdfar),
            Vector::Undefined | Vector::SupervisorCall | Vector::Fiq => (0, 0),
        };
        stage::fault(frame.vector, instruction, frame.cpsr, syndrome, address);
        println!("\n*** {} (vector {}) ***", vector.name(), Hex(vector.offset()));
        match vector {
            Vector::PrefetchAbort => {
                println!("IFSR {} ({})", Hex(syndrome), status(syndrome));
                println!("IFAR {} ({})", Hex(address), region_of(address as usize));
            }
            Vector::DataAbort => {
                let access = if syndrome & (1 << 11) != 0 { "write" } else { "read" };
                println!("DFSR {} ({}; {})", Hex(syndrome), access, status(syndrome));
                println!("DFAR {} ({})", Hex(address), region_of(address as usize));
            }
            Vector::HypTrap | Vector::Hyp(_) => {
                println!(
                    "HSR {} ({})  HDFAR {}  HIFAR {}",
                    Hex(frame.hsr),
                    exception_class(frame.hsr),
                    Hex(frame.hdfar),
                    Hex(frame.hifar)
                );
            }
            Vector::Undefined | Vector::SupervisorCall | Vector::Fiq => {}
        }
        for (row, values) in frame.r.chunks(4).enumerate() {
            for (column, value) in values.iter().enumerate() {
                let number = 4 * row + column;
                print!("r{}{} {}  ", number, if number < 10 { " " } else { "" }, Hex(*value));
            }
            if row < 3 {
                println!();
            }
        }
        println!(
            "sp  {}\nlr  {}  pc  {}  cpsr {} ({}, {})",
            Hex(frame.sp),
            Hex(frame.lr),
            Hex(instruction),
            Hex(frame.cpsr),
            mode(frame.cpsr),
            if thumb { "T32" } else { "A32" }
        );
        if frame.cpsr & 0x1f == frame.taken & 0x1f && !matches!(vector, Vector::HypTrap) {
            println!("the exception was taken to the mode it interrupted: lr is the exception's, not the program's");
        }
        println!("sp is in {}", region_of(frame.sp as usize));
        print_thread();
        exit(exit::FAULT)
    }

    /// Makes every later exception park the core instead of reporting.
    pub(crate) fn park_on_exception() {
        ACTIVE.store(PARK, Ordering::Relaxed);
    }

    /// Claims the report: from here on an exception ends the image at once. False if one is under way.
    fn claim(what: u32) -> bool {
        interrupt::masked(|| {
            let free = ACTIVE.load(Ordering::Relaxed) == 0;
            if free {
                ACTIVE.store(what, Ordering::Relaxed);
            }
            free
        })
    }

    /// Ends the image because the kernel found the thread's stack overflowed: prints
    /// `stack overflow: thread NAME` and exits with status 104. Callable from every context.
    pub fn stack_overflow(thread: &str) -> ! {
        aarch32_cpu::asm::irq_disable();
        if claim(PANICKING) {
            println!("\nstack overflow: thread {}", thread);
        }
        exit(exit::STACK)
    }

    #[panic_handler]
    fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
        use core::fmt::Write as _;
        aarch32_cpu::asm::irq_disable();
        if !claim(PANICKING) {
            exit(exit::DOUBLE_FAULT);
        }
        // Writing to the console cannot fail.
        let _ = write!(console(), "\n{info}\n");
        print_thread();
        exit(exit::PANIC)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faulting_instruction() {
        assert_eq!(Vector::Undefined.instruction(0x104, false), 0x100);
        assert_eq!(Vector::Undefined.instruction(0x102, true), 0x100);
        assert_eq!(Vector::SupervisorCall.instruction(0x102, true), 0x100);
        assert_eq!(Vector::PrefetchAbort.instruction(0x104, true), 0x100);
        assert_eq!(Vector::DataAbort.instruction(0x108, true), 0x100);
        assert_eq!(Vector::HypTrap.instruction(0x104, false), 0x104);
        assert_eq!(Vector::DataAbort.instruction(0, false), u32::MAX - 7);
    }

    #[test]
    fn numbers_and_offsets_agree() {
        for (number, offset) in [(1, 4), (2, 8), (3, 12), (4, 16), (7, 28), (16, 0), (17, 4), (21, 20), (23, 28)] {
            assert_eq!(Vector::from_number(number).map(Vector::offset), Some(offset));
        }
        for number in [0, 5, 6, 8, 15, 24, 0x100] {
            assert_eq!(Vector::from_number(number), None);
        }
    }

    #[test]
    fn syndromes_in_words() {
        assert_eq!(status(0x804 | 1 << 9), "translation: no MPU region holds the address");
        assert_eq!(status(0xa0c), "permission: no MPU region allows the access");
        assert_eq!(exception_class(0x12 << 26 | 1 << 25), "HVC");
        assert_eq!(mode(0x6000_01d3), "SVC");
    }
}
