//! The memories and devices this board support claims, and with which attributes.
//!
//! Addresses: AN536 application note and QEMU's `mps3-an536`. QEMU maps the TCMs of CPU 0 at these
//! addresses from reset on; its TCM region registers read zero. The first 32 KB of the address space
//! hold another RAM, which is claimed by nothing, so that a null access faults.

use crate::memory::{Attributes, MemoryRange, region};

/// Vectors, code, constants and the initial values of statics: in the BRAM, or with `code-in-ddr` in the DDR.
pub const CODE: MemoryRange = if cfg!(feature = "code-in-ddr") {
    MemoryRange { name: "DDR", range: 0x2010_0000..0x2018_0000, attributes: Attributes::Code }
} else {
    MemoryRange { name: "BRAM", range: 0x1000_0000..0x1008_0000, attributes: Attributes::Code }
};
/// The first megabyte of the DDR, playing the data RAM: statics, mode stacks, `Dram0` stacks.
pub const DRAM0: MemoryRange =
    MemoryRange { name: "DRAM0", range: 0x2000_0000..0x2010_0000, attributes: Attributes::WriteBack };
/// Tightly coupled memory A of CPU 0.
pub const ATCM: MemoryRange =
    MemoryRange { name: "ATCM", range: 0xee00_0000..0xee00_8000, attributes: Attributes::NonCacheable };
/// Tightly coupled memory B of CPU 0.
pub const BTCM: MemoryRange =
    MemoryRange { name: "BTCM", range: 0xee10_0000..0xee10_8000, attributes: Attributes::NonCacheable };
/// Tightly coupled memory C of CPU 0.
pub const CTCM: MemoryRange =
    MemoryRange { name: "CTCM", range: 0xee20_0000..0xee20_8000, attributes: Attributes::NonCacheable };
/// Console.
pub const UART0: MemoryRange =
    MemoryRange { name: "UART0", range: 0xe7c0_0000..0xe7c0_1000, attributes: Attributes::Device };
/// Interrupt controller: distributor, and the redistributors of both cores at +0x100000.
pub const GIC: MemoryRange =
    MemoryRange { name: "GIC", range: 0xf000_0000..0xf014_0000, attributes: Attributes::Device };

/// Everything that may be accessed; an access elsewhere is a data or prefetch abort.
pub const MAP: &[MemoryRange] = &[CODE, DRAM0, ATCM, BTCM, CTCM, UART0, GIC];

region!(
    /// Stacks in tightly coupled memory A (section `.stacks.Atcm`).
    Atcm, ATCM
);
region!(
    /// Stacks in tightly coupled memory B (section `.stacks.Btcm`).
    Btcm, BTCM
);
region!(
    /// Stacks in tightly coupled memory C (section `.stacks.Ctcm`).
    Ctcm, CTCM
);
region!(
    /// Stacks in the main RAM (section `.stacks.Dram0`).
    Dram0, DRAM0
);
