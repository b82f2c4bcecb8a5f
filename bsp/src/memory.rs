//! Memory map: names, ranges and attributes, and the types that stacks name a memory by.

use core::ops::Range;

pub use crate::board::memory::{Atcm, Btcm, Ctcm, Dram0, MAP};
#[cfg(feature = "s32z280")]
pub use crate::board::memory::{Dram1, Dram2};

/// How a range is mapped. Each variant is one combination of MPU permissions and memory type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attributes {
    /// Normal write-back, read-only, executable.
    Code,
    /// Normal write-back, read-only, never executed.
    Constants,
    /// Normal write-back, read and write, never executed.
    WriteBack,
    /// Normal non-cacheable, read and write, never executed: what a TCM always is on a Cortex-R52.
    NonCacheable,
    /// Device-nGnRnE, read and write, never executed.
    Device,
}

impl Attributes {
    /// The attributes in words, for a banner.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Attributes::Code => "normal write-back, read-only, executable",
            Attributes::Constants => "normal write-back, read-only, execute-never",
            Attributes::WriteBack => "normal write-back, read-write, execute-never",
            Attributes::NonCacheable => "normal non-cacheable, read-write, execute-never",
            Attributes::Device => "device nGnRnE, read-write, execute-never",
        }
    }
}

/// One row of the memory map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRange {
    /// The name that records and reports print.
    pub name: &'static str,
    /// Addresses in bytes, end exclusive.
    pub range: Range<usize>,
    /// How the MPU maps it.
    pub attributes: Attributes,
}

/// The type that stacks name a row of a board's map by.
macro_rules! region {
    ($(#[$doc:meta])* $name:ident, $range:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {}

        impl threadx::Region for $name {
            const NAME: &'static str = $range.name;
            fn range() -> core::ops::Range<usize> {
                $range.range
            }
        }
    };
}
pub(crate) use region;

/// The name of the memory that holds `addr`, or `"unmapped"`. Callable from everywhere.
#[must_use]
pub fn region_of(addr: usize) -> &'static str {
    MAP.iter().find(|row| row.range.contains(&addr)).map_or("unmapped", |row| row.name)
}

/// Bytes of code in this image, from the link script's symbols: vectors and functions, without the
/// padding at the end and without constants.
#[cfg(target_arch = "arm")]
#[must_use]
pub fn text_bytes() -> u32 {
    unsafe extern "C" {
        safe static __stext: u8;
        safe static __etext_used: u8;
    }
    (&raw const __etext_used as usize - &raw const __stext as usize) as u32
}

/// Address of the kernel's code: of its interrupt entry, which both kernels have. All code of an image lies in one memory.
#[cfg(start_up = "rust")]
#[must_use]
pub fn kernel_code() -> usize {
    unsafe extern "C" {
        safe static _tx_irq_entry: u8;
    }
    &raw const _tx_irq_entry as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadx::Region;

    #[test]
    fn both_ends_of_every_row_belong_to_it() {
        for row in MAP {
            assert_eq!(region_of(row.range.start), row.name);
            assert_eq!(region_of(row.range.end - 1), row.name);
            assert_ne!(region_of(row.range.end), row.name);
            assert_ne!(region_of(row.range.start.wrapping_sub(1)), row.name);
        }
        assert_eq!(region_of(0), "unmapped");
        assert_eq!(region_of(usize::MAX), "unmapped");
    }

    #[test]
    fn region_types_name_the_memory_they_lie_in() {
        fn same<R: Region>() {
            assert_eq!(region_of(R::range().start), R::NAME);
        }
        same::<Atcm>();
        same::<Btcm>();
        same::<Ctcm>();
        same::<Dram0>();
        #[cfg(feature = "s32z280")]
        same::<Dram1>();
        #[cfg(feature = "s32z280")]
        same::<Dram2>();
    }

    /// The link script states the ranges a second time, because a linker reads no Rust.
    #[test]
    fn the_link_script_has_the_same_ranges() {
        let script = match crate::NAME {
            "mps3-an536" => include_str!("mps3_an536/link.ld"),
            _ => include_str!("s32z280/link.ld"),
        };
        for row in MAP.iter().filter(|row| row.attributes != Attributes::Device) {
            let (name, range) = (row.name, &row.range);
            let size = range.end - range.start;
            let length = if size.is_multiple_of(0x10_0000) {
                format!("{}M", size / 0x10_0000)
            } else {
                format!("{}K", size / 1024)
            };
            let line = format!("{name:5} : ORIGIN = {:#010x}, LENGTH = {length}", range.start);
            assert!(script.contains(&line), "link.ld lacks: {line}");
            assert!(script.contains(&format!("<= {:#010x}", range.end)), "no ASSERT on the end of {name}");
        }
    }
}
