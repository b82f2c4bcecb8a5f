//! What a careless first-stage loader may leave behind, for the boot tests.
//!
//! `build.rs` makes one of these the entry of an image; in all others the linker drops them. QEMU
//! enters the image in Hyp mode and A32 state, where all these registers may be written
//! (Cortex-R52 TRM, chapter 3.3).

use core::arch::global_asm;

use aarch32_cpu::register::Tpidrurw;

/// What the rough first stage leaves in TPIDRURW, which nothing else writes before a fault.
const MARK: u32 = 0x0f12_57a6;

/// Whether this image was started by the rough first stage.
#[must_use]
pub fn was_rough() -> bool {
    Tpidrurw::read().0 == MARK
}

// SAFETY (of the assembly): runs before anything else, uses r0 only and jumps to `_start`, which
// assumes nothing about the registers written here.
global_asm!(
    ".fpu vfp2",
    ".arm",
    // The state that a real Cortex-R52 with CFGTHUMBEXCEPTIONS leaves reset with: exceptions are taken
    // in T32 state (TE, bit 30 of HSCTLR and SCTLR), the vectors at EL1 are high (V), and FPU accesses
    // trap to Hyp mode (HCPTR.TCP10/11), are denied at EL1 (CPACR) and disabled (FPEXC).
    ".section .text.first_stage_rough,\"ax\",%progbits",
    ".global first_stage_rough",
    ".type first_stage_rough, %function",
    "first_stage_rough:",
    "    cpsid   aif",
    "    mov     r0, #0",
    "    vmsr    fpexc, r0",
    "    mcr     p15, 0, r0, c1, c0, 2",
    "    mrc     p15, 4, r0, c1, c1, 2",
    "    orr     r0, r0, #(3 << 10)",
    "    mcr     p15, 4, r0, c1, c1, 2",
    "    mrc     p15, 4, r0, c1, c0, 0",
    "    orr     r0, r0, #(1 << 30)",
    "    mcr     p15, 4, r0, c1, c0, 0",
    "    mrc     p15, 0, r0, c1, c0, 0",
    "    orr     r0, r0, #(1 << 30)",
    "    orr     r0, r0, #(1 << 13)",
    "    mcr     p15, 0, r0, c1, c0, 0",
    "    ldr     r0, ={mark}",
    "    mcr     p15, 0, r0, c13, c0, 2",
    "    isb",
    "    ldr     r0, =_start", // T32 or A32, as the board has it
    "    bx      r0",
    "    .ltorg",
    ".size first_stage_rough, . - first_stage_rough",
    // Nobody has told the counter's frequency.
    ".section .text.first_stage_no_frequency,\"ax\",%progbits",
    ".global first_stage_no_frequency",
    ".type first_stage_no_frequency, %function",
    "first_stage_no_frequency:",
    "    mov     r0, #0",
    "    mcr     p15, 0, r0, c14, c0, 0",
    "    isb",
    "    ldr     r0, =_start",
    "    bx      r0",
    "    .ltorg",
    ".size first_stage_no_frequency, . - first_stage_no_frequency",
    mark = const MARK,
);
