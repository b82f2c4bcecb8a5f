//! The EL1 memory protection unit (PMSAv8-32).
//!
//! Encoding: Armv8-R AArch32 supplement (DDI 0568), PRBAR and PRLAR; granule 64 bytes, inclusive
//! limit. Two enabled regions that overlap make an access UNPREDICTABLE, so a table is checked before
//! any of it is written: the board's fixed part when the crate is compiled, the whole at start.

use crate::memory::{Attributes, MemoryRange};

/// MAIR attribute of index 0 (normal write-back), 1 (normal non-cacheable), 2 (Device-nGnRnE).
pub const MAIR0: u32 = 0x0000_44ff;

/// Bytes of one granule.
pub const GRANULE: u32 = 64;

/// One region. `limit` is the address of its last byte, so that a region can end at 4 GB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First byte.
    pub base: u32,
    /// Last byte.
    pub limit: u32,
    /// Permissions and memory type.
    pub attributes: Attributes,
}

/// Why the MPU was not, or is not, set up as intended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpuError {
    /// The region's base or end is not on a 64-byte granule, or the end lies before the base.
    Alignment(usize),
    /// The two regions share an address.
    Overlap(usize, usize),
    /// The processor has fewer regions (MPUIR) than the table.
    TooFew {
        /// Regions that the processor has.
        has: usize,
        /// Regions that the table needs.
        needs: usize,
    },
    /// The registers of this region read back something else.
    ReadBack(usize),
    /// SCTLR says that the MPU is off.
    Off,
}

impl ufmt::uDisplay for MpuError {
    fn fmt<W: ufmt::uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        match *self {
            Self::Alignment(n) => ufmt::uwrite!(f, "MPU region {} is not on 64-byte bounds: align its section", n),
            Self::Overlap(a, b) => ufmt::uwrite!(f, "MPU regions {} and {} overlap: correct the memory map", a, b),
            Self::TooFew { has, needs } => {
                ufmt::uwrite!(f, "the MPU has {} regions, the board needs {}: use a part with more", has, needs)
            }
            Self::ReadBack(n) => ufmt::uwrite!(f, "MPU region {} does not read back as written", n),
            Self::Off => ufmt::uwrite!(f, "the MPU is off"),
        }
    }
}

impl Region {
    /// The region of one row of a memory map. The row must lie below 4 GB; `check` refuses what is
    /// not on granules.
    #[must_use]
    pub const fn of(row: &MemoryRange) -> Self {
        Self { base: row.range.start as u32, limit: (row.range.end - 1) as u32, attributes: row.attributes }
    }

    /// PRBAR: BASE\[31:6\], SH\[4:3\] = non-shareable (the core keeps no coherency, so shareable
    /// memory would not be cached), AP\[2:1\], XN\[0\].
    #[must_use]
    pub const fn prbar(&self) -> u32 {
        let (read_only, execute_never) = match self.attributes {
            Attributes::Code => (1, 0),
            Attributes::Constants => (1, 1),
            Attributes::WriteBack | Attributes::NonCacheable | Attributes::Device => (0, 1),
        };
        (self.base & !(GRANULE - 1)) | (read_only << 2) | execute_never
    }

    /// PRLAR: LIMIT\[31:6\], AttrIndx\[3:1\], EN\[0\] = 1.
    #[must_use]
    pub const fn prlar(&self) -> u32 {
        let index = match self.attributes {
            Attributes::Code | Attributes::Constants | Attributes::WriteBack => 0,
            Attributes::NonCacheable => 1,
            Attributes::Device => 2,
        };
        (self.limit & !(GRANULE - 1)) | (index << 1) | 1
    }
}

/// Refuses a table with a region off its granules or with two regions that share an address.
///
/// # Errors
/// [`MpuError::Alignment`] or [`MpuError::Overlap`] with the index of the offender.
pub const fn check(regions: &[Region]) -> Result<(), MpuError> {
    let mut i = 0;
    while i < regions.len() {
        let r = &regions[i];
        if !r.base.is_multiple_of(GRANULE) || r.limit % GRANULE != GRANULE - 1 || r.limit < r.base {
            return Err(MpuError::Alignment(i));
        }
        let mut j = 0;
        while j < i {
            if r.base <= regions[j].limit && regions[j].base <= r.limit {
                return Err(MpuError::Overlap(j, i));
            }
            j += 1;
        }
        i += 1;
    }
    Ok(())
}

/// The registers of the regions.
pub trait Registers {
    /// MPUIR: how many regions there are.
    fn present(&self) -> usize;
    /// PRBAR and PRLAR of a region that is there.
    fn write(&mut self, index: usize, prbar: u32, prlar: u32);
    /// The same, read back.
    fn read(&mut self, index: usize) -> (u32, u32);
}

/// What region `index` is to hold: beyond the table, nothing and off.
fn wanted(regions: &[Region], index: usize) -> (u32, u32) {
    regions.get(index).map_or((0, 0), |r| (r.prbar(), r.prlar()))
}

/// Writes the table to the regions and clears those it leaves. With the MPU off.
///
/// # Errors
/// What [`check`] finds, or [`MpuError::TooFew`]; nothing was written then.
pub fn program(registers: &mut impl Registers, regions: &[Region]) -> Result<(), MpuError> {
    check(regions)?;
    let has = registers.present();
    if has < regions.len() {
        return Err(MpuError::TooFew { has, needs: regions.len() });
    }
    for index in 0..has {
        let (prbar, prlar) = wanted(regions, index);
        registers.write(index, prbar, prlar);
    }
    Ok(())
}

/// Reads every region back, the unused ones included.
///
/// # Errors
/// [`MpuError::ReadBack`] with the first region that differs.
pub fn compare(registers: &mut impl Registers, regions: &[Region]) -> Result<(), MpuError> {
    match (0..registers.present()).find(|&index| registers.read(index) != wanted(regions, index)) {
        Some(index) => Err(MpuError::ReadBack(index)),
        None => Ok(()),
    }
}

/// Regions of the board's memory map, one a row.
pub(crate) const ROWS: usize = crate::memory::MAP.len();

/// The board's fixed table. The code RAM is one region here; at start it is cut in two at the link
/// script's bound between code and constants, which adds no address to it.
pub(crate) const TABLE: [Region; ROWS] = {
    let mut table = [Region { base: 0, limit: GRANULE - 1, attributes: Attributes::Device }; ROWS];
    let mut i = 0;
    while i < ROWS {
        table[i] = Region::of(&crate::memory::MAP[i]);
        i += 1;
    }
    table
};

const _: () = assert!(check(&TABLE).is_ok(), "two rows of the memory map overlap or are not on 64-byte bounds");
const _: () =
    assert!(matches!(TABLE[0].attributes, Attributes::Code), "the first row of the memory map must be the code RAM");

#[cfg(start_up = "rust")]
pub(crate) use hardware::enable;
#[cfg(start_up = "rust")]
pub use hardware::{MpuOn, intended, verify};

#[cfg(start_up = "rust")]
mod hardware {
    use super::{MAIR0, MpuError, ROWS, Region, Registers, TABLE, compare, program};
    use crate::memory::Attributes;
    use aarch32_cpu::asm::{dsb, isb};
    use aarch32_cpu::register::{
        Iciallu, Mair, Mair0, Mair1, Mpuir, Prbar, Prlar, Prselr, Sctlr, SysRegRead, SysRegWrite,
    };

    /// Proof that the board's regions are in force. Device drivers ask for it, so that no device
    /// register can be touched through memory of the wrong type.
    #[derive(Clone, Copy, Debug)]
    pub struct MpuOn(());

    impl MpuOn {
        /// The proof, when SCTLR says that the MPU is on. Only [`enable`] turns it on.
        pub(crate) fn now() -> Option<Self> {
            Sctlr::read().m().then_some(Self(()))
        }
    }

    /// The regions of this image: the board's table with the code RAM cut at the end of the code.
    #[must_use]
    pub fn intended() -> [Region; ROWS + 1] {
        unsafe extern "C" {
            static __etext: u8;
        }
        let cut = &raw const __etext as usize as u32;
        let mut regions = [TABLE[0]; ROWS + 1];
        regions[0].limit = cut.wrapping_sub(1);
        regions[1].base = cut;
        regions[1].attributes = Attributes::Constants;
        regions[2..].copy_from_slice(&TABLE[1..]);
        regions
    }

    /// PRSELR and the two registers it leads to, for every region that MPUIR states; the short forms for single regions
    /// end at 15 in QEMU.
    struct Selected;

    impl Registers for Selected {
        fn present(&self) -> usize {
            usize::from(Mpuir::read().dregions())
        }
        fn write(&mut self, index: usize, prbar: u32, prlar: u32) {
            Prselr::write(Prselr(index as u32));
            isb();
            // SAFETY: `index` is below the count that MPUIR states, and the MPU is off.
            unsafe {
                <Prbar as SysRegWrite>::write_raw(prbar);
                <Prlar as SysRegWrite>::write_raw(prlar);
            }
        }
        fn read(&mut self, index: usize) -> (u32, u32) {
            Prselr::write(Prselr(index as u32));
            isb();
            (<Prbar as SysRegRead>::read_raw(), <Prlar as SysRegRead>::read_raw())
        }
    }

    /// Programs every region, clears the rest, then turns on MPU and caches. No background region:
    /// what the table does not name faults.
    ///
    /// # Safety
    /// At EL1, once, with interrupts masked, before anything depends on the contents of a cache; the
    /// table must cover the running code, its statics and its stack.
    pub(crate) unsafe fn enable() -> Result<MpuOn, MpuError> {
        Sctlr::modify(|s| {
            s.set_m(false);
            s.set_br(false);
        });
        dsb();
        isb();
        // SAFETY: the MPU is off, so attributes take effect on nothing yet; indices 3 to 7 are named
        // by no region.
        unsafe {
            Mair0::write(Mair::new_with_raw_value(MAIR0));
            Mair1::write(Mair::new_with_raw_value(0));
        }
        program(&mut Selected, &intended())?;
        dsb();
        isb();
        if Sctlr::read().c() {
            crate::cache::clean_invalidate_data();
        } else {
            // SAFETY: the data cache is off: what was written since is in memory, and a line that is left from before
            // reset must not be written over it.
            unsafe { crate::cache::discard_data() };
        }
        Iciallu::write();
        dsb();
        isb();
        Sctlr::modify(|s| {
            s.set_m(true);
            s.set_c(true);
            s.set_i(true);
        });
        dsb();
        isb();
        MpuOn::now().ok_or(MpuError::Off)
    }

    /// Reads every region register back and compares it with the intended table, the unused ones
    /// included. Returns the number of regions in force. Callable from any context with interrupts
    /// masked or from a single thread: it moves PRSELR.
    ///
    /// # Errors
    /// [`MpuError::Off`], or [`MpuError::ReadBack`] with the first region that differs.
    pub fn verify() -> Result<usize, MpuError> {
        MpuOn::now().ok_or(MpuError::Off)?;
        let regions = intended();
        compare(&mut Selected, &regions)?;
        Ok(regions.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn region(base: u32, limit: u32, attributes: Attributes) -> Region {
        Region { base, limit, attributes }
    }

    /// As many regions as a part has; a write beyond them is a mistake.
    struct Part(Vec<(u32, u32)>);

    impl Registers for Part {
        fn present(&self) -> usize {
            self.0.len()
        }
        fn write(&mut self, index: usize, prbar: u32, prlar: u32) {
            // Bit 5 of both, and bit 4 of PRLAR, do not exist.
            self.0[index] = (prbar & !0x20, prlar & !0x30);
        }
        fn read(&mut self, index: usize) -> (u32, u32) {
            self.0[index]
        }
    }

    #[test]
    fn p05_p11_the_table_reads_back_on_parts_of_16_and_20_regions() {
        for present in [16, 20] {
            // As a boot ROM may leave them: everything open.
            let mut part = Part(vec![(0x2, 0xffff_ffc1); present]);
            assert_eq!(program(&mut part, &TABLE), Ok(()));
            assert_eq!(compare(&mut part, &TABLE), Ok(()));
            for (index, &(prbar, prlar)) in part.0.iter().enumerate() {
                let Some(region) = TABLE.get(index) else {
                    assert_eq!(prlar & 1, 0, "region {index} is on");
                    continue;
                };
                // Decoded here from the architecture's fields: base, SH, AP, XN; limit, index, EN.
                assert_eq!((prbar & !0x3f, prbar >> 3 & 3, prbar >> 1 & 1), (region.base, 0, 0));
                assert_eq!((prlar | 0x3f, prlar & 1), (region.limit, 1));
                let (read_only, never, attribute) = match region.attributes {
                    Attributes::Code => (1, 0, 0xff),
                    Attributes::Constants => (1, 1, 0xff),
                    Attributes::WriteBack => (0, 1, 0xff),
                    Attributes::NonCacheable => (0, 1, 0x44),
                    Attributes::Device => (0, 1, 0x00),
                };
                assert_eq!((prbar >> 2 & 1, prbar & 1), (read_only, never), "region {index}");
                assert_eq!(MAIR0 >> (8 * (prlar >> 1 & 7)) & 0xff, attribute, "region {index}");
            }
            part.0[3].0 ^= 1 << 2;
            assert_eq!(compare(&mut part, &TABLE), Err(MpuError::ReadBack(3)));
        }
    }

    #[test]
    fn p11_a_part_with_too_few_regions_is_refused_untouched() {
        let mut part = Part(vec![(7, 7); ROWS - 1]);
        assert_eq!(program(&mut part, &TABLE), Err(MpuError::TooFew { has: ROWS - 1, needs: ROWS }));
        assert!(part.0.iter().all(|&r| r == (7, 7)));
    }

    #[test]
    fn fields_are_where_the_architecture_has_them() {
        let code = region(0x1000_0000, 0x1000_ffff, Attributes::Code);
        assert_eq!(code.prbar(), 0x1000_0004, "read-only is AP bit 2; XN bit 0 clear");
        assert_eq!(code.prlar(), 0x1000_ffc1, "limit without its low six bits, index 0, enabled");
        let device = region(0xf000_0000, 0xf01f_ffff, Attributes::Device);
        assert_eq!(device.prbar(), 0xf000_0001);
        assert_eq!(device.prlar(), 0xf01f_ffc5);
        let tcm = region(0xee10_0000, 0xee10_7fff, Attributes::NonCacheable);
        assert_eq!((tcm.prbar(), tcm.prlar()), (0xee10_0001, 0xee10_7fc3));
        let constants = region(0x1001_0000, 0x1001_ffff, Attributes::Constants);
        assert_eq!(constants.prbar(), 0x1001_0005);
    }

    #[test]
    fn smallest_and_largest_regions() {
        let one = region(0x40, 0x7f, Attributes::WriteBack);
        assert_eq!(check(&[one]), Ok(()));
        assert_eq!((one.prbar(), one.prlar()), (0x41, 0x41));
        let all = region(0, u32::MAX, Attributes::WriteBack);
        assert_eq!(check(&[all]), Ok(()));
        assert_eq!((all.prbar(), all.prlar()), (1, 0xffff_ffc1));
        let kilobyte = region(0x400, 0x7ff, Attributes::WriteBack);
        assert_eq!(kilobyte.prlar(), 0x7c1);
    }

    #[test]
    fn what_is_off_its_granule_is_refused() {
        assert_eq!(check(&[region(0x20, 0x7f, Attributes::Code)]), Err(MpuError::Alignment(0)));
        assert_eq!(check(&[region(0x40, 0x80, Attributes::Code)]), Err(MpuError::Alignment(0)));
        let fine = region(0, 0x3f, Attributes::Code);
        assert_eq!(check(&[fine, region(0x80, 0x7f, Attributes::Code)]), Err(MpuError::Alignment(1)));
    }

    #[test]
    fn any_overlap_is_refused_and_neighbours_are_not() {
        let low = region(0x1000, 0x1fff, Attributes::Code);
        let next = region(0x2000, 0x2fff, Attributes::WriteBack);
        assert_eq!(check(&[low, next]), Ok(()));
        for other in [
            region(0x1fc0, 0x2fff, Attributes::WriteBack),
            region(0x0, 0x103f, Attributes::WriteBack),
            region(0x1040, 0x107f, Attributes::WriteBack),
            region(0x0, u32::MAX, Attributes::WriteBack),
        ] {
            assert_eq!(check(&[next, low, other]).map_err(|e| matches!(e, MpuError::Overlap(_, 2))), Err(true));
        }
    }
}
