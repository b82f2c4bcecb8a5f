//! Tightly coupled memories with ECC: where they are, and the first write of every word.
//!
//! Cortex-R52 TRM, chapter 3.3 (region registers) and eclipse-threadx/threadx #615: with ECC on, a location must be
//! written before it is read, and by stores as wide as its check bits cover: 64 bits aligned in ATCM, 32 bits in BTCM and
//! CTCM. A narrower store reads the rest first, which is the read that faults. Until then no stack may lie there.

/// How wide a store covers whole check bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// 32 bits.
    Word,
    /// 64 bits, aligned.
    Double,
}

/// One TCM as the image expects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcm {
    /// Its name in reports.
    pub name: &'static str,
    /// 0, 1 or 2: which of the region registers is its own.
    pub index: usize,
    /// First address, a multiple of the size.
    pub base: u32,
    /// Bytes.
    pub size: u32,
    /// Store of the preload.
    pub store: Store,
}

/// A region register without its wait states: BASE\[31:13\], SIZE\[6:2\] (4 is 8 KB, each step doubles), EN_EL2 1, EN_EL10
/// 0\.
pub const BOTH_ENABLES: u32 = 3;

impl Tcm {
    /// Base and size as the region register has them, enabled for EL2 and EL1/0, no wait states.
    ///
    /// # Panics
    /// If the size is no power of two from 8 KB on, or the base not a multiple of it; in a `const` the build fails.
    #[must_use]
    pub const fn region(&self) -> u32 {
        assert!(self.size.is_power_of_two() && self.size >= 8192, "the size of a TCM is a power of two from 8 KB on");
        assert!(self.base.is_multiple_of(self.size), "the base of a TCM is a multiple of its size");
        self.base | (self.size.trailing_zeros() - 9) << 2 | BOTH_ENABLES
    }
}

/// Base of a region register.
#[must_use]
pub const fn base(register: u32) -> u32 {
    register & !0x1fff
}

/// Bytes that a region register states; 0 for none.
#[must_use]
pub const fn size(register: u32) -> u32 {
    match (register >> 2) & 0x1f {
        0 => 0,
        n @ 4..=15 => 512 << n,
        _ => 0,
    }
}

/// What the preload touches.
pub trait Hardware {
    /// IMP_ATCMREGIONR, IMP_BTCMREGIONR or IMP_CTCMREGIONR.
    fn region(&self, index: usize) -> u32;
    /// One aligned 32-bit store.
    fn store_word(&self, address: u32, value: u32);
    /// One aligned 64-bit store.
    fn store_double(&self, address: u32, value: u64);
    /// One aligned 32-bit load.
    fn load_word(&self, address: u32) -> u32;
}

/// Why a TCM cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcmError {
    /// The region register says something else than the image was linked for.
    Elsewhere {
        /// Which TCM.
        name: &'static str,
        /// The register.
        register: u32,
        /// What was expected, wait states aside.
        expected: u32,
    },
    /// A word did not keep what was written.
    Forgets {
        /// Which TCM.
        name: &'static str,
        /// The word's address.
        address: u32,
    },
}

impl ufmt::uDisplay for TcmError {
    fn fmt<W: ufmt::uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        match *self {
            Self::Elsewhere { name, register, expected } => ufmt::uwrite!(
                f,
                "the region register of {} reads {:#x}, not {:#x}: no word of it is used",
                name,
                register,
                expected
            ),
            Self::Forgets { name, address } => {
                ufmt::uwrite!(f, "{} at {:#x} does not keep what is written", name, address)
            }
        }
    }
}

/// Checks where the TCM is, without which its address would go to the bus, writes every word of it once with 0, and looks
/// whether its first, middle and last word are different memory.
///
/// # Errors
/// [`TcmError`]; after [`TcmError::Elsewhere`] nothing was written.
pub fn preload(hardware: &impl Hardware, tcm: &Tcm) -> Result<(), TcmError> {
    const WAIT_STATES: u32 = 1 << 8;
    let (register, expected) = (hardware.region(tcm.index), tcm.region());
    if register & !WAIT_STATES != expected {
        return Err(TcmError::Elsewhere { name: tcm.name, register, expected });
    }
    write_all(hardware, tcm);
    probe(hardware, tcm)
}

/// The first write of every word.
pub fn write_all(hardware: &impl Hardware, tcm: &Tcm) {
    let (end, mut at) = (tcm.base + tcm.size, tcm.base);
    while at < end {
        match tcm.store {
            Store::Word => {
                hardware.store_word(at, 0);
                at += 4;
            }
            Store::Double => {
                hardware.store_double(at, 0);
                at += 8;
            }
        }
    }
}

/// Writes three distinct words, reads them back and leaves zeros.
///
/// # Errors
/// [`TcmError::Forgets`].
pub fn probe(hardware: &impl Hardware, tcm: &Tcm) -> Result<(), TcmError> {
    let places = [tcm.base, tcm.base + tcm.size / 2, tcm.base + tcm.size - 4];
    for (n, &address) in (1_u32..).zip(&places) {
        hardware.store_word(address, n * 0x0101_0101);
    }
    for (n, &address) in (1_u32..).zip(&places) {
        if hardware.load_word(address) != n * 0x0101_0101 {
            return Err(TcmError::Forgets { name: tcm.name, address });
        }
    }
    for &address in &places {
        hardware.store_word(address, 0);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::{BTreeMap, BTreeSet};

    const ATCM: Tcm = Tcm { name: "ATCM", index: 0, base: 0x3000_0000, size: 0x1_0000, store: Store::Double };
    const BTCM: Tcm = Tcm { name: "BTCM", index: 1, base: 0x3010_0000, size: 0x4000, store: Store::Word };

    /// Three TCMs with ECC: a read of what was never written, or a store narrower than the check bits cover, panics.
    struct Chip {
        regions: [u32; 3],
        /// Check-bit granules that are valid.
        valid: RefCell<BTreeSet<u32>>,
        words: RefCell<BTreeMap<u32, u32>>,
        /// Address bits that the memory decodes.
        decodes: u32,
    }

    impl Chip {
        fn new() -> Self {
            Self {
                regions: [0x3000_011f, 0x3010_0017, 0x3020_0117],
                valid: RefCell::default(),
                words: RefCell::default(),
                decodes: u32::MAX,
            }
        }
        fn granule(&self, address: u32) -> u32 {
            for (index, &region) in self.regions.iter().enumerate() {
                if region & 1 == 1 && (base(region)..base(region) + size(region)).contains(&address) {
                    return if index == 0 { address & !7 } else { address & !3 };
                }
            }
            panic!("{address:#x} goes to the bus");
        }
    }

    impl Hardware for Chip {
        fn region(&self, index: usize) -> u32 {
            self.regions[index]
        }
        fn store_word(&self, address: u32, value: u32) {
            assert_eq!(address % 4, 0);
            let granule = self.granule(address);
            if granule & 7 != 0 || base(self.regions[0]) != granule & !0xffff {
                self.valid.borrow_mut().insert(granule);
            } else {
                assert!(self.valid.borrow().contains(&granule), "a narrow store reads {granule:#x} first");
            }
            self.words.borrow_mut().insert(address & self.decodes, value);
        }
        fn store_double(&self, address: u32, value: u64) {
            assert_eq!(address % 8, 0);
            assert_eq!(self.granule(address), address, "64-bit stores are ATCM's");
            self.valid.borrow_mut().insert(address);
            self.words.borrow_mut().insert(address & self.decodes, value as u32);
            self.words.borrow_mut().insert((address + 4) & self.decodes, (value >> 32) as u32);
        }
        fn load_word(&self, address: u32) -> u32 {
            assert!(self.valid.borrow().contains(&self.granule(address)), "{address:#x} is read before it is written");
            self.words.borrow()[&(address & self.decodes)]
        }
    }

    #[test]
    fn region_registers_of_the_board() {
        // Reset values: ATCM 64 KB, one wait state, on; BTCM 16 KB, off; CTCM 16 KB, one wait state, off.
        assert_eq!([size(0x11f), size(0x14), size(0x114)], [0x1_0000, 0x4000, 0x4000]);
        assert_eq!([base(0x11f), size(0), size(0x7c)], [0, 0, 0]);
        assert_eq!(ATCM.region(), 0x3000_001f);
        assert_eq!(BTCM.region(), 0x3010_0017);
    }

    #[test]
    fn p12_every_word_is_written_before_it_is_read() {
        let chip = Chip::new();
        assert_eq!(preload(&chip, &ATCM), Ok(()));
        assert_eq!(preload(&chip, &BTCM), Ok(()));
        for tcm in [ATCM, BTCM] {
            for address in (tcm.base..tcm.base + tcm.size).step_by(4) {
                assert_eq!(chip.load_word(address), 0);
            }
        }
    }

    #[test]
    #[should_panic(expected = "reads 0x30000000 first")]
    fn p12_the_model_faults_on_narrow_stores() {
        write_all(&Chip::new(), &Tcm { store: Store::Word, ..ATCM });
    }

    #[test]
    fn p12_a_tcm_that_is_off_or_elsewhere_is_not_touched() {
        for register in [0, 0x14, 0x0000_0017, 0x3010_0016, 0x3010_001b] {
            let mut chip = Chip::new();
            chip.regions[1] = register;
            let expected = TcmError::Elsewhere { name: "BTCM", register, expected: 0x3010_0017 };
            assert_eq!(preload(&chip, &BTCM), Err(expected));
            assert!(chip.words.borrow().is_empty());
        }
    }

    #[test]
    fn p12_memory_that_repeats_itself_is_found() {
        let chip = Chip { decodes: !0x2000, ..Chip::new() };
        assert_eq!(preload(&chip, &BTCM), Err(TcmError::Forgets { name: "BTCM", address: BTCM.base }));
    }
}
