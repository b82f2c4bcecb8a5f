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

/// What the monitor leaves in TPIDRURW.
const GUEST: u32 = 0x0f12_57a7;

/// Whether this image was started by the monitor.
#[must_use]
pub fn was_monitored() -> bool {
    Tpidrurw::read().0 == GUEST
}

/// Asks the monitor for its registers: HVBAR, HTPIDR, HCR and CNTHCTL.
#[must_use]
pub fn ask_monitor() -> [u32; 4] {
    let (hvbar, htpidr, hcr, cnthctl): (u32, u32, u32, u32);
    // SAFETY: the monitor answers in these registers and returns; it touches no memory.
    unsafe {
        core::arch::asm!(
            ".inst 0xe1400070", // HVC #0
            out("r0") hvbar, out("r1") htpidr, out("r2") hcr, out("r3") cnthctl,
            options(nomem, nostack, preserves_flags)
        );
    }
    // HCR bit 31 belongs to AArch64 and reads 1 in QEMU whatever is written.
    [hvbar, htpidr, hcr & !(1 << 31), cnthctl]
}

/// Those registers as the monitor set them, in the same order.
#[must_use]
pub fn monitor() -> [u32; 4] {
    unsafe extern "C" {
        static first_stage_monitor_vectors: u8;
    }
    [(&raw const first_stage_monitor_vectors).addr() as u32, GUEST, 0, 3]
}

// SAFETY (of the assembly): runs before anything else, uses registers only and leaves EL2 for `_start`.
global_asm!(
    // A monitor that starts one guest: opens EL1 as the architecture wants it, leaves the guest's exceptions to T32 state
    // and its FPU denied, and enters it by ERET in SVC mode and A32 state. It answers HVC with its own registers.
    ".fpu vfp2",
    ".arm",
    ".section .text.first_stage_monitor,\"ax\",%progbits",
    ".balign 32",
    ".global first_stage_monitor_vectors",
    "first_stage_monitor_vectors:",
    "    b       .", // reset
    "    b       .", // undefined
    "    b       .", // HVC in Hyp mode
    "    b       .", // prefetch abort
    "    b       .", // data abort
    "    b       2f", // HVC and traps
    "    b       .", // IRQ
    "    b       .", // FIQ
    "2:  mrc     p15, 4, r0, c12, c0, 0",
    "    mrc     p15, 4, r1, c13, c0, 2",
    "    mrc     p15, 4, r2, c1, c1, 0",
    "    mrc     p15, 4, r3, c14, c1, 0",
    "    eret",
    ".global first_stage_monitor",
    ".type first_stage_monitor, %function",
    "first_stage_monitor:",
    "    cpsid   aif",
    "    ldr     r0, =first_stage_monitor_vectors",
    "    mcr     p15, 4, r0, c12, c0, 0",
    "    ldr     r0, ={guest}",
    "    mcr     p15, 4, r0, c13, c0, 2",
    "    mcr     p15, 0, r0, c13, c0, 2",
    "    mov     r0, #0",
    "    mcr     p15, 4, r0, c1, c1, 0",
    "    mcr     p15, 0, r0, c1, c0, 2",
    "    mov     r0, #3",
    "    mcr     p15, 4, r0, c14, c1, 0",
    "    mov     r0, #9",
    "    mcr     p15, 4, r0, c12, c9, 5",
    "    mrc     p15, 4, r0, c1, c1, 2",
    "    bic     r0, r0, #(3 << 10)",
    "    mcr     p15, 4, r0, c1, c1, 2",
    "    mrc     p15, 0, r0, c1, c0, 0",
    "    orr     r0, r0, #(1 << 30)",
    "    mcr     p15, 0, r0, c1, c0, 0",
    "    isb",
    "    mov     r0, #0x1d3",
    "    msr     spsr_cxsf, r0",
    "    ldr     r0, =_start",
    "    msr     elr_hyp, r0",
    "    eret",
    "    .ltorg",
    ".size first_stage_monitor, . - first_stage_monitor",
    guest = const GUEST,
);
