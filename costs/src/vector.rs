//! When the last IRQ reached its vector: a vector table of this image that reads the counter first and
//! then goes on in the board's.

use core::arch::{asm, global_asm};

/// Instructions between the counter's read and the board's own vector, the read included.
const AFTER_READ: u32 = 5;

// The stamp needs registers and has none of its own: r0 and r1 wait in the user thread ID registers,
// CP15 c13, c0, 2 and 3, which neither kernel uses; the counter goes to CONTEXTIDR, c13, c0, 1, which
// only debuggers look at.
global_asm!(
    ".cpu cortex-r52",
    ".arm",
    ".section .text.costs_vector_table,\"ax\",%progbits",
    ".balign 32",
    ".global costs_vector_table",
    "costs_vector_table:",
    "    ldr     pc, =_vector_table",
    "    ldr     pc, =_vector_table + 4",
    "    ldr     pc, =_vector_table + 8",
    "    ldr     pc, =_vector_table + 12",
    "    ldr     pc, =_vector_table + 16",
    "    ldr     pc, =_vector_table + 20",
    "    b       1f",
    "    ldr     pc, =_vector_table + 28",
    "1:",
    "    mcr     p15, 0, r0, c13, c0, 2",
    "    mcr     p15, 0, r1, c13, c0, 3",
    "    mrrc    p15, 0, r0, r1, c14",
    "    mcr     p15, 0, r0, c13, c0, 1",
    "    mrc     p15, 0, r0, c13, c0, 2",
    "    mrc     p15, 0, r1, c13, c0, 3",
    "    ldr     pc, =_vector_table + 24",
    ".ltorg",
);

unsafe extern "C" {
    static costs_vector_table: u32;
    static _vector_table: u32;
}

fn set(table: *const u32) {
    // SAFETY: both tables lead every exception to the board's handlers.
    unsafe { asm!("mcr p15, 0, {}, c12, c0, 0", "isb", in(reg) table, options(nostack, preserves_flags)) };
}

/// Runs `f` with the stamping vector table.
pub fn stamped<T>(f: impl FnOnce() -> T) -> T {
    set(&raw const costs_vector_table);
    let value = f();
    set(&raw const _vector_table);
    value
}

/// Instructions from the board's IRQ vector, its first instruction included, to `end`, for the last IRQ
/// taken while [`stamped`].
#[must_use]
pub fn since(end: u32) -> u32 {
    let stamp: u32;
    // SAFETY: reads CONTEXTIDR.
    unsafe { asm!("mrc p15, 0, {}, c13, c0, 1", out(reg) stamp, options(nomem, nostack, preserves_flags)) };
    end.wrapping_sub(stamp).wrapping_sub(AFTER_READ)
}

/// Unmasks IRQ with at least one pending; the counter when the thread goes on behind it.
#[must_use]
pub fn unmask() -> u32 {
    let end: u32;
    // SAFETY: unmasks IRQ in a thread that masked it; a memory clobber.
    unsafe {
        asm!("cpsie i", "mrrc p15, 0, {t}, {high}, c14", t = out(reg) end, high = out(reg) _,
            options(nostack, preserves_flags));
    }
    end
}

/// Masks IRQ until [`unmask`].
pub fn mask() {
    // SAFETY: masks IRQ; a memory clobber.
    unsafe { asm!("cpsid i", options(nostack, preserves_flags)) };
}
