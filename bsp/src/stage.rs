//! How far a start-up got, in memory: what a debugger reads when the console stays silent.
//!
//! The record lies at the start of the data RAM (symbol `bsp_boot_record`) and is cleared by nothing but the
//! entry code, so that it outlives a halt. Every change is cleaned out of the data cache. Layout, in 32-bit words:
//!
//! | word | holds |
//! |---|---|
//! | 0 | [`MAGIC`] |
//! | 1 | the last [`Stage`] that was reached |
//! | 2, 3, 4 | CPSR, SCTLR and (entered at EL2) HSCTLR as the entry code found them |
//! | 5 | 0 while running, else 0x100 + exit status |
//! | 6 | vector number of the exception that ended the image, 0 for none |
//! | 7, 8 | its instruction and the CPSR it interrupted |
//! | 9, 10 | its syndrome (IFSR, DFSR or HSR) and fault address |
//! | 11 | bytes of text that follow from word 16 on: what was printed while there was no console |

/// First word of a record: "BOOT".
pub const MAGIC: u32 = u32::from_le_bytes(*b"BOOT");

/// Bytes of text that the record holds; what does not fit is dropped.
pub const TEXT: usize = 448;

/// The steps of a start-up, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Stage {
    /// In A32 state, nothing set up.
    Entered = 1,
    /// EL2 is set up.
    Hypervisor = 2,
    /// At EL1.
    Guest = 3,
    /// Vectors and floating point are on.
    Vectors = 4,
    /// Statics are initialised, stacks are there.
    Statics = 5,
    /// MPU and caches are on.
    Mpu = 6,
    /// The console works.
    Console = 7,
    /// The memories that need it are written once.
    Memories = 8,
    /// The interrupt controller is set up.
    Interrupts = 9,
    /// `main` is called.
    Main = 10,
    /// The kernel's tick runs.
    Tick = 11,
}

impl Stage {
    /// The stage with this number.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Entered,
            2 => Self::Hypervisor,
            3 => Self::Guest,
            4 => Self::Vectors,
            5 => Self::Statics,
            6 => Self::Mpu,
            7 => Self::Console,
            8 => Self::Memories,
            9 => Self::Interrupts,
            10 => Self::Main,
            11 => Self::Tick,
            _ => return None,
        })
    }
}

#[cfg(start_up = "upstream")]
pub(crate) use hardware::begin;
#[cfg(start_up = "rust")]
pub(crate) use hardware::fault;
#[cfg(all(target_arch = "arm", not(semihosting)))]
pub(crate) use hardware::text;
#[cfg(target_arch = "arm")]
pub(crate) use hardware::{ended, mark};
#[cfg(target_arch = "arm")]
pub use hardware::{entry_state, reached};

#[cfg(target_arch = "arm")]
mod hardware {
    use super::{Stage, TEXT};
    use core::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

    /// The layout is that of the module's documentation; the entry code writes words 0 to 5, 6 and 11.
    #[repr(C, align(64))]
    struct BootRecord {
        words: [AtomicU32; 16],
        text: [AtomicU8; TEXT],
    }

    #[unsafe(export_name = "bsp_boot_record")]
    #[unsafe(link_section = ".boot_record")]
    static RECORD: BootRecord =
        BootRecord { words: [const { AtomicU32::new(0) }; 16], text: [const { AtomicU8::new(0) }; TEXT] };

    const _: () = assert!(core::mem::size_of::<BootRecord>() == 512);

    /// Lets a debugger see what was written.
    fn publish(address: usize) {
        crate::cache::clean_line(address);
    }

    fn set(word: usize, value: u32) {
        RECORD.words[word].store(value, Relaxed);
    }

    /// Notes that this stage is reached.
    pub(crate) fn mark(stage: Stage) {
        set(1, stage as u32);
        publish((&raw const RECORD).addr());
    }

    /// The last stage that was reached.
    #[must_use]
    pub fn reached() -> Option<Stage> {
        Stage::from_number(RECORD.words[1].load(Relaxed))
    }

    /// CPSR, SCTLR and HSCTLR as the entry code found them; HSCTLR is 0 when it was entered at EL1.
    #[must_use]
    pub fn entry_state() -> [u32; 3] {
        [2, 3, 4].map(|word| RECORD.words[word].load(Relaxed))
    }

    /// What the entry code does where it is this project's: an empty record with CPSR as the core was entered and SCTLR.
    #[cfg(start_up = "upstream")]
    pub(crate) fn begin(cpsr: u32, sctlr: u32) {
        for word in 0..16 {
            set(word, 0);
        }
        set(2, cpsr);
        set(3, sctlr);
        set(0, super::MAGIC);
        mark(Stage::Statics);
    }

    /// Notes the exception that ends the image.
    #[cfg(start_up = "rust")]
    pub(crate) fn fault(vector: u32, instruction: u32, cpsr: u32, syndrome: u32, address: u32) {
        for (word, value) in [(6, vector), (7, instruction), (8, cpsr), (9, syndrome), (10, address)] {
            set(word, value);
        }
        publish((&raw const RECORD).addr());
    }

    /// Notes the exit status.
    pub(crate) fn ended(status: u8) {
        set(5, 0x100 | u32::from(status));
        publish((&raw const RECORD).addr());
    }

    /// Keeps one byte of output that no console took.
    // QEMU's console always works.
    #[cfg(not(semihosting))]
    pub(crate) fn text(byte: u8) {
        let at = RECORD.words[11].load(Relaxed);
        if let Some(place) = RECORD.text.get(at as usize) {
            place.store(byte, Relaxed);
            set(11, at + 1);
            publish((&raw const *place).addr());
            publish((&raw const RECORD).addr());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_stages_agree() {
        let known: Vec<u32> = (0..100).filter(|&n| Stage::from_number(n).is_some()).collect();
        assert_eq!(known, (1..=11).collect::<Vec<_>>());
        for n in known {
            assert_eq!(Stage::from_number(n).map(|stage| stage as u32), Some(n));
        }
    }
}
