//! Data cache maintenance by set and way, with the geometry that the processor states.
//!
//! CLIDR and CCSIDR: Arm ARM (DDI 0487) G8; Cortex-R52 TRM chapter 3.3. The Cortex-R52's
//! IMP_DCIALL is not used: it discards dirty lines, and QEMU 10 traps it.

/// One data or unified cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// 1 for the level nearest the core.
    pub level: u8,
    /// Bytes of a line.
    pub line: u32,
    /// Number of sets.
    pub sets: u32,
    /// Number of ways.
    pub ways: u32,
}

impl Cache {
    /// Decodes CCSIDR of the level: line length is two to the LineSize + 4, sets and ways are stored
    /// less one.
    #[must_use]
    pub const fn decode(level: u8, ccsidr: u32) -> Self {
        Self { level, line: 16 << (ccsidr & 7), sets: ((ccsidr >> 13) & 0x7fff) + 1, ways: ((ccsidr >> 3) & 0x3ff) + 1 }
    }

    /// Size in bytes.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.line * self.sets * self.ways
    }

    /// The operand of a set/way operation: way in the top bits, set above the line's offset, level
    /// less one in bits 3:1.
    #[must_use]
    pub const fn operand(&self, set: u32, way: u32) -> u32 {
        let way_bits = self.ways.next_power_of_two().trailing_zeros();
        // A shift by 32 does not exist; a direct-mapped cache has way 0 only.
        let way = if way_bits == 0 { 0 } else { way << (32 - way_bits) };
        way | (set << self.line.trailing_zeros()) | ((self.level as u32 - 1) << 1)
    }
}

/// Whether the level that CLIDR describes has a data or unified cache (Ctype 2, 3 or 4).
#[must_use]
pub const fn has_data(clidr: u32, level: u8) -> bool {
    matches!((clidr >> (3 * (level as u32 - 1))) & 7, 2..=4)
}

/// Levels up to the point of coherency (CLIDR.LoC).
#[must_use]
pub const fn levels(clidr: u32) -> u8 {
    ((clidr >> 24) & 7) as u8
}

/// What the image does about the ways of the instruction cache: part of every figure's setting.
pub const CONFIGURATION: &str = if cfg!(feature = "upstream-bsp") {
    "board files: upstream, caches and their ways as these leave them"
} else if cfg!(feature = "flash-cache") {
    "instruction cache for the flash port"
} else {
    "instruction-cache ways as reset leaves them"
};

#[cfg(start_up = "rust")]
pub(crate) use hardware::discard_data;
#[cfg(target_arch = "arm")]
pub use hardware::{ccsidr, clean_invalidate_data, clean_line, geometry, ways};

#[cfg(target_arch = "arm")]
mod hardware {
    use super::{Cache, has_data, levels};
    use aarch32_cpu::asm::{dsb, isb};
    #[cfg(start_up = "rust")]
    use aarch32_cpu::register::Dcisw;
    use aarch32_cpu::register::{Ccsidr, Clidr, Csselr, Dccisw, ImpCsctlr, SysRegRead, SysRegWrite};

    /// The data caches of the core, nearest first; empty where there is none.
    ///
    /// Callable from every context: an interrupt that does the same in between moves CSSELR, so the
    /// selection and its answer are read with interrupts masked.
    pub fn geometry() -> impl Iterator<Item = Cache> {
        let clidr = <Clidr as SysRegRead>::read_raw();
        (1..=levels(clidr))
            .filter(move |&level| has_data(clidr, level))
            .map(|level| Cache::decode(level, ccsidr((u32::from(level) - 1) << 1)))
    }

    /// CCSIDR of the cache that CSSELR holds this for: level less one in bits 3:1, bit 0 set for an instruction cache.
    /// Unknown for a cache that the processor lacks. Callable from every context.
    #[must_use]
    pub fn ccsidr(selection: u32) -> u32 {
        crate::interrupt::masked(|| {
            // SAFETY: selects what the next instruction reads; nothing else selects one meanwhile.
            unsafe { <Csselr as SysRegWrite>::write_raw(selection) };
            isb();
            <Ccsidr as SysRegRead>::read_raw()
        })
    }

    /// IMP_CSCTLR (Cortex-R52 TRM, chapter 3.3): ways of the instruction cache (bits 10:8) and of the data cache (bits
    /// 2:0) that belong to the flash port. Callable from every context.
    #[must_use]
    pub fn ways() -> u32 {
        <ImpCsctlr as SysRegRead>::read_raw()
    }

    /// Cleans the line of the data cache that holds `address`, so that a debugger or another bus master sees it.
    /// Callable from every context.
    pub fn clean_line(address: usize) {
        // SAFETY: cleaning writes a dirty line back; memory as the program sees it stays the same.
        unsafe {
            core::arch::asm!(
                "dsb",
                "mcr p15, 0, {}, c7, c10, 1",
                "dsb",
                in(reg) address,
                options(nostack, preserves_flags)
            );
        }
    }

    /// Cleans and invalidates every line of every data cache up to the point of coherency.
    /// Callable from every context; takes sets times ways operations.
    pub fn clean_invalidate_data() {
        // SAFETY: set and way exist. Cleaning writes dirty lines back before it invalidates, so memory as the program
        // sees it stays the same.
        each_line(|operand| unsafe { Dccisw::write(Dccisw(operand)) });
    }

    /// Invalidates every line of every data cache without writing it back.
    ///
    /// # Safety
    /// No line may hold what the program wrote and memory lacks: the caches are off, or hold nothing dirty.
    #[cfg(start_up = "rust")]
    pub(crate) unsafe fn discard_data() {
        // SAFETY: set and way exist; that nothing is lost is the caller's promise.
        each_line(|operand| unsafe { Dcisw::write(Dcisw(operand)) });
    }

    /// Calls `f` with the operand of every line of every data cache.
    #[inline(always)]
    fn each_line(f: impl Fn(u32)) {
        dsb();
        for cache in geometry() {
            for set in 0..cache.sets {
                for way in 0..cache.ways {
                    f(cache.operand(set, way));
                }
            }
        }
        dsb();
        isb();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometry_that_the_registers_state() {
        let qemu = Cache::decode(1, 0x700f_e01a);
        assert_eq!(qemu, Cache { level: 1, line: 64, sets: 128, ways: 4 });
        assert_eq!(qemu.size(), 32 * 1024);
        let smallest = Cache::decode(2, 0);
        assert_eq!(smallest, Cache { level: 2, line: 16, sets: 1, ways: 1 });
    }

    #[test]
    fn operand_fields() {
        let four_ways = Cache { level: 1, line: 64, sets: 128, ways: 4 };
        assert_eq!(four_ways.operand(0, 0), 0);
        assert_eq!(four_ways.operand(127, 3), 0xc000_1fc0);
        let three_ways = Cache { level: 2, line: 32, sets: 8, ways: 3 };
        assert_eq!(three_ways.operand(1, 2), 0x8000_0022);
        let direct = Cache { level: 1, line: 32, sets: 256, ways: 1 };
        assert_eq!(direct.operand(255, 0), 255 << 5);
    }

    #[test]
    fn every_line_has_an_operand_of_its_own() {
        let cache = Cache { level: 1, line: 64, sets: 64, ways: 4 };
        let mut seen = std::collections::BTreeSet::new();
        for set in 0..cache.sets {
            for way in 0..cache.ways {
                assert!(seen.insert(cache.operand(set, way)));
            }
        }
        assert_eq!(seen.len(), 256);
    }

    #[test]
    fn levels_of_clidr() {
        // L1 separate instruction and data, coherent beyond it.
        let clidr = 0x0920_0003;
        assert_eq!(levels(clidr), 1);
        assert!(has_data(clidr, 1));
        assert!(!has_data(clidr, 2));
        assert!(!has_data(0x0920_0001, 1), "instruction cache only");
    }
}
