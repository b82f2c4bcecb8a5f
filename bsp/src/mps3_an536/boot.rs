//! What start-up needs on this board beyond what every Cortex-R52 needs: nothing. QEMU and the AN536 image enter an
//! image in A32 state.

macro_rules! entry {
    () => {
        r#"
    .pushsection .text.bsp_boot, "ax", %progbits
    .arm
    .balign 4
    .global _start
    .type _start, %function
_start:
    b       bsp_start
    .size _start, . - _start
    .popsection
    "#
    };
}
#[cfg(not(feature = "boot-at-el1"))]
macro_rules! hypervisor {
    () => {
        ""
    };
}
pub(crate) use entry;
#[cfg(not(feature = "boot-at-el1"))]
pub(crate) use hypervisor;
