//! NXP's S32Z280-594EVB: core 0 of RTU0, a Cortex-R52 r1p3.
//!
//! Nobody of this project has run it on the board: what it relies on was measured there by the ThreadX maintainers
//! (eclipse-threadx/threadx #606 to #671, #690).

pub mod memory;

#[cfg(start_up = "rust")]
pub(crate) mod boot;
#[cfg(start_up = "upstream")]
pub use crate::upstream::uart;
#[cfg(all(start_up = "rust", not(feature = "qemu-devices")))]
pub mod uart;
#[cfg(all(target_arch = "arm", feature = "qemu-devices"))]
#[path = "../mps3_an536/uart.rs"]
pub mod uart;

#[cfg(start_up = "rust")]
pub(crate) use boot::entry;
#[cfg(all(start_up = "rust", not(feature = "boot-at-el1")))]
pub(crate) use boot::hypervisor;

use crate::tcm::{Store, Tcm};

/// The board's name in records.
#[cfg(not(feature = "qemu-devices"))]
pub const NAME: &str = "s32z280";
/// The board's name in records: not the board.
#[cfg(feature = "qemu-devices")]
pub const NAME: &str = "s32z280-in-qemu";

/// What the counter of the generic timer runs at: the 40 MHz oscillator, divided by 5. Measured 8.02 MHz against a wall
/// clock (eclipse-threadx/threadx #606). CNTFRQ reads 0 from reset until the start-up writes this.
#[cfg(all(start_up = "rust", not(feature = "qemu-devices")))]
macro_rules! counter_hz {
    () => {
        "8000000"
    };
}
/// QEMU's counter, as `txbench` starts it.
#[cfg(all(target_arch = "arm", feature = "qemu-devices"))]
macro_rules! counter_hz {
    () => {
        "1000000000"
    };
}
#[cfg(all(start_up = "rust", not(feature = "boot-at-el1")))]
pub(crate) use counter_hz;

#[cfg(start_up = "rust")]
const fn number(text: &str) -> u32 {
    let (mut n, mut i) = (0, 0);
    while i < text.len() {
        n = 10 * n + (text.as_bytes()[i] - b'0') as u32;
        i += 1;
    }
    n
}

/// The counter's frequency in Hz where nobody wrote CNTFRQ: a monitor may have forgotten it.
#[cfg(start_up = "rust")]
pub const COUNTER_HZ: Option<u32> = Some(number(counter_hz!()));

/// GICD base address (IMP_CBAR).
#[cfg(start_up = "rust")]
pub const GICD: u32 = memory::GIC.range.start as u32;
/// GICR base address of core 0.
#[cfg(start_up = "rust")]
pub const GICR: u32 = GICD + 0x10_0000;
/// Interrupt lines: 32 private ones and the 960 SPIs that the Cortex-R52's controller has at most.
pub const LINES: usize = 992;
/// Lowest interrupt priority step: five priority bits.
pub const PRIORITY_STEP: u8 = 8;

const fn tcm(name: &'static str, index: usize, range: &core::ops::Range<usize>, store: Store) -> Tcm {
    Tcm { name, index, base: range.start as u32, size: (range.end - range.start) as u32, store }
}

/// The tightly coupled memories, in the order of their registers.
pub const TCMS: [Tcm; 3] = [
    tcm("ATCM", 0, &memory::ATCM.range, Store::Double),
    tcm("BTCM", 1, &memory::BTCM.range, Store::Word),
    tcm("CTCM", 2, &memory::CTCM.range, Store::Word),
];

// The entry code writes these bases; sizes and wait states it leaves as they are.
const _: () = assert!(TCMS[0].base == 0x3000_0000 && TCMS[0].region() == 0x3000_001f);
const _: () = assert!(TCMS[1].base == 0x3010_0000 && TCMS[1].region() == 0x3010_0017);
const _: () = assert!(TCMS[2].base == 0x3020_0000 && TCMS[2].region() == 0x3020_0017);

#[cfg(start_up = "rust")]
mod hardware {
    use crate::mpu::MpuOn;
    use crate::tcm::{self, Hardware, TcmError};
    use core::arch::asm;

    /// The real TCMs; the proof says that the memory map has them.
    struct Tcms(#[allow(dead_code)] MpuOn);

    impl Hardware for Tcms {
        fn region(&self, index: usize) -> u32 {
            super::region(index)
        }
        fn store_word(&self, address: u32, value: u32) {
            // SAFETY: an address of a TCM, before any static in it is used: `Memories` is a stage before `main`.
            unsafe { asm!("str {}, [{}]", in(reg) value, in(reg) address, options(nostack, preserves_flags)) };
        }
        fn store_double(&self, address: u32, value: u64) {
            // One STRD, whatever the compiler makes of a 64-bit store.
            // SAFETY: as above.
            unsafe {
                asm!("strd r2, r3, [{}]", in(reg) address, in("r2") value as u32, in("r3") (value >> 32) as u32,
                    options(nostack, preserves_flags));
            }
        }
        fn load_word(&self, address: u32) -> u32 {
            let value;
            // SAFETY: as above; `preload` wrote it.
            unsafe {
                asm!("ldr {}, [{}]", out(reg) value, in(reg) address, options(nostack, readonly, preserves_flags));
            }
            value
        }
    }

    /// Writes every TCM once, with the stores that its ECC needs.
    ///
    /// # Errors
    /// [`TcmError`]. QEMU's region registers read 0; there the memory at these addresses is plain RAM.
    pub(crate) fn memories(proof: MpuOn) -> Result<(), TcmError> {
        let tcms = Tcms(proof);
        for tcm in &super::TCMS {
            if cfg!(feature = "qemu-devices") {
                tcm::write_all(&tcms, tcm);
                tcm::probe(&tcms, tcm)?;
            } else {
                tcm::preload(&tcms, tcm)?;
            }
        }
        Ok(())
    }
}

#[cfg(start_up = "rust")]
pub(crate) use hardware::memories;

/// One of the region registers of the TCMs.
#[cfg(start_up = "rust")]
fn region(index: usize) -> u32 {
    use aarch32_cpu::register::{ImpAtcmregionr, ImpBtcmregionr, ImpCtcmregionr, SysRegRead};
    match index {
        0 => ImpAtcmregionr::read_raw(),
        1 => ImpBtcmregionr::read_raw(),
        _ => ImpCtcmregionr::read_raw(),
    }
}

/// Prints what the first run on a board has to say about itself.
#[cfg(start_up = "rust")]
pub(crate) fn report() {
    use crate::{cache, mpu, println, stage};
    use aarch32_cpu::register::{ImpMemprotctlr, Midr, Mpidr, Mpuir, SysRegRead};
    let [cpsr, sctlr, hsctlr] = stage::entry_state();
    println!("{}: entered with CPSR {:#x}, SCTLR {:#x}, HSCTLR {:#x}", NAME, cpsr, sctlr, hsctlr);
    println!(
        "{}: MIDR {:#x}, MPIDR {:#x}, {} MPU regions, {} in use",
        NAME,
        <Midr as SysRegRead>::read_raw(),
        <Mpidr as SysRegRead>::read_raw(),
        Mpuir::read().dregions(),
        mpu::intended().len()
    );
    println!(
        "{}: CCSIDR data {:#x}, instruction {:#x}; IMP_CSCTLR {:#x}: {}",
        NAME,
        cache::ccsidr(0),
        cache::ccsidr(1),
        cache::ways(),
        cache::CONFIGURATION
    );
    println!(
        "{}: TCM regions {:#x} {:#x} {:#x}, IMP_MEMPROTCTLR {:#x}, every word written once",
        NAME,
        region(0),
        region(1),
        region(2),
        ImpMemprotctlr::read_raw()
    );
    println!("{}: counter {} Hz by CNTFRQ, tick {} Hz", NAME, crate::timer::frequency(), crate::tick_hz());
}
