//! Reset to `kmain`.
//!
//! The entry code runs in whatever mode the loader left, without a stack, and touches no FPU register. From
//! Hyp mode it opens EL1 (Armv8-R supplement DDI 0568, Cortex-R52 TRM chapter 3.3) and drops to it;
//! entered at EL1, by a monitor or a first-stage loader, it leaves every EL2 register alone, and with
//! feature `boot-at-el1` it has no code for one.
//! `aarch32-rt` supplies the vector table, the segment copy, the mode stacks and the jump to `kmain`;
//! its `_default_start` is not used because the board's MPU and console must be up before `kmain`.
//!
//! What a board adds: how `_start` comes to `bsp_start` in A32 state, and its own registers at EL2.

use core::arch::global_asm;

/// Register numbers below, in order of appearance at EL2: HVBAR, HSCTLR (TE is bit 30), HACTLR (the
/// enables of the Cortex-R52's IMPLEMENTATION DEFINED registers, TRM 3.3.36), HCR, HCPTR (TCP10/11 are
/// bits 10/11), HSTR, CNTHCTL (PL1PCTEN, PL1PCEN), CNTVOFF, ICC_HSRE (SRE, Enable), VPIDR, VMPIDR.
#[cfg(not(feature = "boot-at-el1"))]
macro_rules! hypervisor {
    () => {
        concat!(
            r#"
    mrs     r0, cpsr
    and     r0, r0, #0x1f
    cmp     r0, #0x1a
    bne     bsp_el1_entry

    // EL2. HVBAR and TE come first: until both are set an exception decodes rubbish.
    ldr     r0, =_bsp_hyp_vectors
    mcr     p15, 4, r0, c12, c0, 0
    mrc     p15, 4, r0, c1, c0, 0
    ldr     r1, =bsp_boot_record
    str     r0, [r1, #16]
    bic     r0, r0, #(1 << 30)
    mcr     p15, 4, r0, c1, c0, 0
    isb
    ldr     r0, =0x0000b783
    mcr     p15, 4, r0, c1, c0, 1
    mov     r0, #0
    mcr     p15, 4, r0, c1, c1, 0
    mrc     p15, 4, r0, c1, c1, 2
    bic     r0, r0, #(3 << 10)
    mcr     p15, 4, r0, c1, c1, 2
    mov     r0, #0
    mcr     p15, 4, r0, c1, c1, 3
    mov     r0, #3
    mcr     p15, 4, r0, c14, c1, 0
    mov     r0, #0
    mov     r1, #0
    mcrr    p15, 4, r0, r1, c14
    mov     r0, #9
    mcr     p15, 4, r0, c12, c9, 5
    mrc     p15, 0, r0, c0, c0, 0
    mcr     p15, 4, r0, c0, c0, 0
    mrc     p15, 0, r0, c0, c0, 5
    mcr     p15, 4, r0, c0, c0, 5
    "#,
            crate::board::hypervisor!(),
            r#"
    isb
    bsp_stage 2
    // SVC mode, A32, A, I and F masked.
    mov     r0, #0x1d3
    msr     spsr_cxsf, r0
    ldr     r0, =bsp_el1_entry
    msr     elr_hyp, r0
    dsb
    eret
    "#
        )
    };
}
#[cfg(feature = "boot-at-el1")]
macro_rules! hypervisor {
    () => {
        ""
    };
}

/// Makes EL1 fit for Rust: VBAR, SCTLR (V is bit 13, TE bit 30), CPACR (CP10/11 are bits 20-23), FPEXC (EN is bit 30).
/// Changes R1.
macro_rules! el1 {
    () => {
        r#"
    ldr     r1, =_vector_table
    mcr     p15, 0, r1, c12, c0, 0
    mrc     p15, 0, r1, c1, c0, 0
    bic     r1, r1, #(1 << 13)
    bic     r1, r1, #(1 << 30)
    mcr     p15, 0, r1, c1, c0, 0
    mrc     p15, 0, r1, c1, c0, 2
    orr     r1, r1, #0xf00000
    mcr     p15, 0, r1, c1, c0, 2
    isb
    mov     r1, #0x40000000
    vmsr    fpexc, r1
    "#
    };
}
#[cfg(not(feature = "boot-at-el1"))]
pub(crate) use el1; // for the way back from hypervisor mode

// The MPU is off until `bsp_board_init`, so that the boot record is written past the data cache.
global_asm!(
    r#"
    .fpu vfp2
    .macro bsp_stage number
    ldr     r0, =bsp_boot_record
    mov     r1, #\number
    str     r1, [r0, #4]
    .endm
    "#,
    crate::board::entry!(),
    r#"
    .pushsection .text.bsp_boot, "ax", %progbits
    .arm
    .balign 4
    .global bsp_start
    .type bsp_start, %function
bsp_start:
    cpsid   if
    ldr     r0, =bsp_boot_record
    ldr     r1, =0x544f4f42
    str     r1, [r0]
    mrs     r1, cpsr
    str     r1, [r0, #8]
    mrc     p15, 0, r1, c1, c0, 0
    str     r1, [r0, #12]
    mov     r1, #0
    str     r1, [r0, #16]
    str     r1, [r0, #20]
    str     r1, [r0, #24]
    str     r1, [r0, #44]
    bsp_stage 1
    "#,
    hypervisor!(),
    r#"
    .global bsp_el1_entry
    .type bsp_el1_entry, %function
bsp_el1_entry:
    bsp_stage 3
    "#,
    el1!(),
    r#"
    bsp_stage 4
    // TPIDRPRW is unknown at reset; null is what the kernel has before it starts.
    mov     r0, #0
    mcr     p15, 0, r0, c13, c0, 4

    // The bundled kernel wants its initial context here before any code that might call a service;
    // for upstream's the link script provides 0, and the register means nothing.
    ldr     r0, =_tx_initial_context
    mcr     p15, 0, r0, c13, c0, 4

    bl      _asm_init_segments
    // Core 0; returns in SYS mode on its stack. `main` gets that stack in SVC mode, the mode of threads
    // and handlers: a service called before the kernel's start must not come back in another mode.
    mov     r0, #0
    bl      _asm_stack_setup_preallocated
    mov     r0, sp
    cps     #0x13
    mov     sp, r0
    bl      bsp_board_init
    mov     r0, #0
    bl      kmain
    udf     #0
    .ltorg
    .size bsp_start, . - bsp_start
    .popsection
    "#,
    options(raw)
);
