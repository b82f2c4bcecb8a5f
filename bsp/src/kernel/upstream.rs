//! What the bundled kernel brings itself and upstream's C kernel wants from a board: processor modes
//! and their stacks, and the way of an IRQ.
//!
//! The kernel's contract (the ports' read-me, "Interrupt Handling"): a vector branches to
//! `_tx_thread_context_save` in IRQ mode with every register as it was; that saves what C code may
//! change (but no floating point), counts the nesting and branches to `__tx_irq_processing_return`,
//! still in IRQ mode with IRQ masked; the handler ends with a branch to `_tx_thread_context_restore`,
//! in the same mode with the same stack pointer. For nesting a handler leaves IRQ mode, since an
//! interrupt would overwrite its link register there, for SYS mode. Threads run in SVC mode.

use core::arch::global_asm;

unsafe extern "C" {
    static __tx_free_memory_start: u8;
    static __tx_isr_stack_top: u8;
}

/// Variables that the kernel expects to be filled in before it calls the application.
pub(super) fn set_up() {
    // SAFETY: the kernel's variables, which it reads after this function has returned; nothing else
    // runs. The addresses are those of symbols of the link script, no access is made here.
    unsafe {
        threadx_sys::_tx_initialize_unused_memory = (&raw const __tx_free_memory_start).cast_mut().cast();
        threadx_sys::_tx_thread_system_stack_ptr = (&raw const __tx_isr_stack_top).cast_mut().cast();
    }
}

/// What the kernel counts nesting with has this and more before it is started.
const BEFORE_START: u32 = 0xF0F0_F0F0;

pub(super) fn in_interrupt() -> bool {
    // SAFETY: a variable of the kernel's that it only changes in its interrupt entry and exit, and an interrupt
    // that comes between leaves it as it was.
    let state = unsafe { (&raw const threadx_sys::_tx_thread_system_state).read_volatile() };
    state != 0 && state < BEFORE_START
}

global_asm!(
    ".cpu cortex-r52",
    ".fpu vfpv3-d16",
    ".arm",
    // ---- low-level initialization -------------------------------------------------------------------
    // The C code that calls this goes on in SVC mode, on the stack it had: a mode's stack is a register,
    // so that the caller cannot tell. SYS mode, in which it may have run, gets the ISR stack.
    ".section .text._tx_initialize_low_level,\"ax\",%progbits",
    ".global _tx_initialize_low_level",
    ".type _tx_initialize_low_level, %function",
    "_tx_initialize_low_level:",
    "    cpsid   i",
    "    mov     r0, sp",
    "    mov     r1, lr",
    "    cps     #0x1f",
    "    ldr     sp, =__tx_isr_stack_top",
    "    cps     #0x12",
    "    ldr     sp, =_irq_stack_high_end",
    "    cps     #0x13",
    "    mov     sp, r0",
    "    push    {{r1, r2}}",
    "    bl      bsp_initialize_low_level",
    "    pop     {{r1, r2}}",
    "    bx      r1",
    ".ltorg",
    ".size _tx_initialize_low_level, . - _tx_initialize_low_level",
    // ---- IRQ --------------------------------------------------------------------------------------
    ".section .text._tx_irq_entry,\"ax\",%progbits",
    ".global _tx_irq_entry",
    ".type _tx_irq_entry, %function",
    "_tx_irq_entry:",
    "    b       _tx_thread_context_save",
    ".global __tx_irq_processing_return",
    ".type __tx_irq_processing_return, %function",
    "__tx_irq_processing_return:",
    "    cps     #0x1f",
    "    mov     r0, sp",
    "    bic     sp, sp, #7", // nested: the interrupted handler may have been between two pushes
    "    push    {{r0, lr}}",
    "    vmrs    r1, fpscr",
    "    push    {{r1, r2}}",
    // What the kernel does not save until it switches threads, and a handler may use.
    "    vpush   {{d0-d7}}",
    "    mov     r1, #0",
    "    vmsr    fpscr, r1", // a handler does not inherit the thread's rounding
    "    ldr     r1, =__tx_isr_stack_top",
    "    cmp     r0, r1", // where the outermost interrupt begins
    "    bne     2f",
    "    bl      _tx_irq_dispatch",
    "3:",
    "    vpop    {{d0-d7}}",
    "    pop     {{r1, r2}}",
    "    vmsr    fpscr, r1",
    "    pop     {{r0, lr}}",
    "    mov     sp, r0",
    "    cps     #0x12",
    "    b       _tx_thread_context_restore",
    "2:  bl      _tx_irq_dispatch_nested",
    "    b       3b",
    "    .ltorg",
    ".size _tx_irq_entry, . - _tx_irq_entry",
);
