//! The memories and devices this board support claims, and with which attributes.
//!
//! Addresses and sizes: eclipse-threadx/threadx #606, #615 and #621, measured on the board. The second data RAM of half
//! speed is 512 KB; from 0x31880000 on it repeats itself, so nothing may lie there. The TCMs lie where the start-up puts
//! them. Code memory is read through its fetch window only; its data alias is claimed by nothing, so that code cannot be
//! written by accident.

use crate::memory::{Attributes, MemoryRange, region};

/// Code RAM, in the window that instructions are fetched through: entry, vectors, code, constants, initial values of
/// statics. Half the core's clock.
pub const CODE: MemoryRange =
    MemoryRange { name: "CODE", range: 0x7990_0000..0x7a00_0000, attributes: Attributes::Code };
/// Data RAM of full speed: statics, mode stacks, `Dram0` stacks.
pub const DRAM0: MemoryRange =
    MemoryRange { name: "DRAM0", range: 0x3178_0000..0x317c_0000, attributes: Attributes::WriteBack };
/// Data RAM of full speed: `Dram1` stacks.
pub const DRAM1: MemoryRange =
    MemoryRange { name: "DRAM1", range: 0x317c_0000..0x3180_0000, attributes: Attributes::WriteBack };
/// Data RAM of half speed: `Dram2` stacks.
pub const DRAM2: MemoryRange =
    MemoryRange { name: "DRAM2", range: 0x3180_0000..0x3188_0000, attributes: Attributes::WriteBack };
/// Tightly coupled memory A.
pub const ATCM: MemoryRange =
    MemoryRange { name: "ATCM", range: 0x3000_0000..0x3001_0000, attributes: Attributes::NonCacheable };
/// Tightly coupled memory B.
pub const BTCM: MemoryRange =
    MemoryRange { name: "BTCM", range: 0x3010_0000..0x3010_4000, attributes: Attributes::NonCacheable };
/// Tightly coupled memory C.
pub const CTCM: MemoryRange =
    MemoryRange { name: "CTCM", range: 0x3020_0000..0x3020_4000, attributes: Attributes::NonCacheable };
/// Console: LINFlexD_9, at the board's USB connector.
#[cfg(not(feature = "qemu-devices"))]
pub const UART0: MemoryRange =
    MemoryRange { name: "LINFLEXD9", range: 0x4298_0000..0x4298_1000, attributes: Attributes::Device };
/// Console: QEMU's.
#[cfg(feature = "qemu-devices")]
pub const UART0: MemoryRange =
    MemoryRange { name: "UART0", range: 0xe7c0_0000..0xe7c0_1000, attributes: Attributes::Device };
/// Interrupt controller: distributor, and the redistributors at +0x100000.
#[cfg(not(feature = "qemu-devices"))]
pub const GIC: MemoryRange =
    MemoryRange { name: "GIC", range: 0x4780_0000..0x47a0_0000, attributes: Attributes::Device };
/// Interrupt controller: QEMU's.
#[cfg(feature = "qemu-devices")]
pub const GIC: MemoryRange =
    MemoryRange { name: "GIC", range: 0xf000_0000..0xf014_0000, attributes: Attributes::Device };
/// Low-latency peripherals of the RTU.
pub const LLPP: MemoryRange =
    MemoryRange { name: "LLPP", range: 0x7600_0000..0x7640_0000, attributes: Attributes::Device };

/// Everything that may be accessed; an access elsewhere is a data or prefetch abort.
pub const MAP: &[MemoryRange] = &[CODE, DRAM0, DRAM1, DRAM2, ATCM, BTCM, CTCM, UART0, GIC, LLPP];

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
    /// Stacks in the data RAM of full speed that also holds the statics (section `.stacks.Dram0`).
    Dram0, DRAM0
);
region!(
    /// Stacks in the other data RAM of full speed (section `.stacks.Dram1`).
    Dram1, DRAM1
);
region!(
    /// Stacks in the data RAM of half speed (section `.stacks.Dram2`).
    Dram2, DRAM2
);
