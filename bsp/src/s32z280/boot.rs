//! What start-up needs on this board: the way out of T32 state, and the registers at EL2 that reset leaves unusable.
//!
//! Facts: eclipse-threadx/threadx #606 (reset state, LLPP, counter), #615 (TCM), #690 (guest); Cortex-R52 TRM, chapter
//! 3.3 (IMP_ registers).

/// Reset enters `_start` in Hyp mode and T32 state: the RTU's boot instruction is a T32 branch. A debugger cannot write
/// CPSR over its link, so `_start` must be T32 for it, too. BX with bit 0 clear goes to A32.
#[cfg(not(feature = "boot-at-el1"))]
macro_rules! entry_code {
    () => {
        r#"
    .pushsection .text.bsp_entry, "ax", %progbits
    .thumb
    .balign 64
    .global _start
    .type _start, %function
    .thumb_func
_start:
    cpsid   aif
    ldr     r0, =bsp_start
    bx      r0
    .balign 4
    .ltorg
    .size _start, . - _start
    .arm
    .popsection
    "#
    };
}
/// A monitor's ERET enters in A32 state.
#[cfg(feature = "boot-at-el1")]
macro_rules! entry_code {
    () => {
        r#"
    .pushsection .text.bsp_entry, "ax", %progbits
    .arm
    .balign 64
    .global _start
    .type _start, %function
_start:
    cpsid   aif
    ldr     r0, =bsp_start
    bx      r0
    .ltorg
    .size _start, . - _start
    .popsection
    "#
    };
}
pub(crate) use entry_code;

/// A mark for the host's tools, which see from the addresses only that the image is for this board: it uses the devices of
/// QEMU's machine in their places and runs nowhere else.
#[cfg(feature = "qemu-devices")]
macro_rules! devices {
    () => {
        "    .global bsp_devices_of_qemu\n    .equ bsp_devices_of_qemu, 1\n"
    };
}
#[cfg(not(feature = "qemu-devices"))]
macro_rules! devices {
    () => {
        ""
    };
}
pub(crate) use devices;

macro_rules! entry {
    () => {
        concat!(crate::board::boot::devices!(), crate::board::boot::entry_code!())
    };
}
pub(crate) use entry;

/// In order: CNTFRQ, writable at EL2 only and 0 from reset; HDCR without the traps of the performance monitors;
/// IMP_PERIPHPREGIONR, both enables, without which an access to the low-latency peripherals stalls the core;
/// IMP_ATCMREGIONR, IMP_BTCMREGIONR and IMP_CTCMREGIONR: new base, size and wait states as they are, enabled for EL2 and
/// for EL1/0 (from EL1 a write of the former is ignored). ATCM leaves address 0, so that null accesses fault.
#[cfg(not(feature = "boot-at-el1"))]
macro_rules! hypervisor {
    () => {
        concat!(
            "    ldr     r0, =",
            crate::board::counter_hz!(),
            r#"
    mcr     p15, 0, r0, c14, c0, 0
    mrc     p15, 4, r0, c1, c1, 1
    bic     r0, r0, #0x60
    mcr     p15, 4, r0, c1, c1, 1
    mrc     p15, 0, r0, c15, c0, 0
    orr     r0, r0, #3
    mcr     p15, 0, r0, c15, c0, 0
    ldr     r2, =0x17c
    mrc     p15, 0, r0, c9, c1, 0
    and     r0, r0, r2
    orr     r0, r0, #0x30000000
    orr     r0, r0, #3
    mcr     p15, 0, r0, c9, c1, 0
    mrc     p15, 0, r0, c9, c1, 1
    and     r0, r0, r2
    orr     r0, r0, #0x30000000
    orr     r0, r0, #0x00100000
    orr     r0, r0, #3
    mcr     p15, 0, r0, c9, c1, 1
    mrc     p15, 0, r0, c9, c1, 2
    and     r0, r0, r2
    orr     r0, r0, #0x30000000
    orr     r0, r0, #0x00200000
    orr     r0, r0, #3
    mcr     p15, 0, r0, c9, c1, 2
    "#,
            crate::board::boot::cache_ways!()
        )
    };
}
#[cfg(not(feature = "boot-at-el1"))]
pub(crate) use hypervisor;

/// IMP_CSCTLR.IFLW = 4: all ways of the instruction cache for the flash port. The caches have not been on yet; later
/// writes are ignored.
#[cfg(all(not(feature = "boot-at-el1"), feature = "flash-cache"))]
macro_rules! cache_ways {
    () => {
        r#"
    mov     r0, #0x400
    mcr     p15, 1, r0, c9, c1, 0
    "#
    };
}
#[cfg(all(not(feature = "boot-at-el1"), not(feature = "flash-cache")))]
macro_rules! cache_ways {
    () => {
        ""
    };
}
#[cfg(not(feature = "boot-at-el1"))]
pub(crate) use cache_ways;
