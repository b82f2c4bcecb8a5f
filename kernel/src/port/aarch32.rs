//! Armv8-R AArch32, hard-float, one processor.
//!
//! Threads and interrupt handlers run in SVC mode, A32 state. TPIDRPRW (CP15 c13, c0, 4) holds the
//! address of the running [`Context`], from reset on: the board's start-up code writes
//! `_tx_initial_context` to it. What may call what:
//!
//! * `_tx_irq_entry` is the IRQ vector's target. It saves the caller-saved state on the stack of the
//!   interrupted code (24 words), moves to the interrupt stack and calls the board's
//!   `_tx_irq_dispatch`, which may unmask IRQ again for nesting. An interrupt that interrupts a handler
//!   stays on that stack and calls `_tx_irq_dispatch_nested` instead.
//! * The callee-saved state of a thread is saved only when another thread runs next: D8-D15 on its stack
//!   (16 words), the rest in its control block, in one layout.
//!
//! # What is kept for a thread
//!
//! R4-R11, SP, LR, the address to continue at, FPSCR and CPSR by every switch; D8-D15 by one that is a
//! call, on the thread's stack; R0-R3, R12, LR and D0-D7 by an interrupt. A relinquish is a call, or
//! inlined where the compiler knows the registers that it loses, so what is live there has been saved.
//! D16-D31 do not exist for this kernel, see the compile-time check below.
//!
//! # The continuation
//!
//! Every switch ends with one LDM that loads R2-R12, SP, LR and PC of the next context, whatever made
//! that context stop. What is left to do is the business of the code at that PC: it finds IRQ masked,
//! its CPSR in R3 and its FPSCR in R12. So a thread that stopped in an inlined relinquish, one that
//! stopped in a call and one that was interrupted can follow one another in any order, and none pays
//! for what only another one needs. The PC is stored by the STM itself: it is that instruction's
//! address + 8 (Arm Architecture Reference Manual, `PCStoreValue`), the instruction after the LDM. Arm
//! deprecates lists with SP, with LR and PC, and with a stored PC, without changing what they do, and the
//! assembler warns of each in every package that inlines one: hence `.inst`.
//!
//! # Interrupts and the multi-register transfers
//!
//! An interrupt may abandon an LDM or STM and start it again afterwards, and an abandoned LDM leaves
//! the registers of its list unknown, SP among them, onto which the interrupt would push. Every
//! transfer here that has SP in its list or touches the saved state runs with IRQ masked. What may be
//! interrupted are pushes and pops of D8-D15 and the stack filling: an abandoned one has its base register
//! restored, so the interrupt's frame goes below the words of a pop; started again it stores or loads all
//! of them. A sequence that is restarted instead of masked (2 instructions a round trip
//! less) is therefore out of the question.
//!
//! # Exclusives
//!
//! A thread that loses the processor between LDREX and STREX loses it to an interrupt and gets it back
//! through RFE, and an exception return clears the local monitor (Arm Architecture Reference Manual
//! Supplement, Armv8-R AArch32): its STREX fails and is tried again. No CLREX is needed in a switch.

use core::arch::{asm, global_asm};
use core::cell::Cell;
use core::mem::offset_of;
use core::ptr::null;

use super::{Current, slow};
use crate::kernel::{lock, locked};
use crate::performance::COUNTING;
use crate::thread::{self, TX_THREAD, Thread};
use crate::types::*;

#[cfg(any(target_feature = "d32", target_feature = "neon"))]
compile_error!(
    "this kernel saves D0-D15 only: build without the d32 and neon target features (a target-cpu of cortex-r52 switches them on)"
);

/// Saved state of a thread between two of its turns.
///
/// The order is that of one STM of R2-R12, SP, LR, PC behind `next`: R2 is the turn count, R3 the
/// CPSR, R12 the FPSCR.
#[repr(C)]
pub(crate) struct Context {
    next: Cell<*const Context>,
    turns: Cell<u32>,
    cpsr: Cell<u32>,
    r4_r11: [Cell<u32>; 8],
    fpscr: Cell<u32>,
    sp: Cell<*const u8>,
    lr: Cell<u32>,
    pc: Cell<*const ()>,
}

const _: () = {
    assert!(offset_of!(Context, next) == 0);
    assert!(offset_of!(Context, turns) == 4);
    assert!(offset_of!(Context, cpsr) == 8);
    assert!(offset_of!(Context, r4_r11) == 12);
    assert!(offset_of!(Context, fpscr) == 44);
    assert!(offset_of!(Context, sp) == 48);
    assert!(offset_of!(Context, lr) == 52);
    assert!(offset_of!(Context, pc) == 56);
    assert!(size_of::<Context>() == 60);
    assert!(size_of::<Executor>() == 72);
    assert!(offset_of!(TX_THREAD, executor) == 0 && offset_of!(Executor, context) == 0);
};

const MODE_SVC: u32 = 0x13;
const CPSR_F: u32 = 1 << 6;
const CPSR_I: u32 = 1 << 7;

impl Context {
    const fn new() -> Self {
        Self {
            next: Cell::new(null()),
            turns: Cell::new(0),
            cpsr: Cell::new(0),
            r4_r11: [const { Cell::new(0) }; 8],
            fpscr: Cell::new(0),
            sp: Cell::new(null()),
            lr: Cell::new(0),
            pc: Cell::new(null()),
        }
    }

    /// A context of the kernel's own, in which relinquish takes the slow path.
    const fn pseudo(cpsr: u32, sp: *const u8, pc: *const ()) -> Self {
        Self {
            next: Cell::new(&raw const SLOW.context),
            cpsr: Cell::new(cpsr),
            sp: Cell::new(sp),
            pc: Cell::new(pc),
            ..Self::new()
        }
    }

    /// Times the thread gave the processor away itself.
    #[inline(always)]
    pub(crate) fn turns(&self) -> u32 {
        self.turns.get()
    }

    pub(crate) fn count_turn(&self) {
        self.turns.set(self.turns.get().wrapping_add(1));
    }

    /// Where relinquish goes: the next equal, or the slow path.
    pub(crate) fn set_next(&self, next: Option<Thread>) {
        self.next.set(match next {
            Some(thread) => &raw const *thread.context(),
            None => &raw const SLOW.context,
        });
    }

    pub(crate) fn next(&self) -> Option<Thread> {
        thread_of(self.next.get())
    }
}

/// A context and the tag that tells threads from the kernel's own contexts: 18 words, aligned for the
/// processor's 64-bit transfers.
#[repr(C, align(8))]
pub(crate) struct Executor {
    context: Context,
    id: Cell<u32>,
    /// Bits of [`slow`].
    slow: Cell<u8>,
    /// Whoever becomes ready above this priority concerns the context: a thread's preemption-threshold,
    /// in an interrupt handler and in the idle loop weaker than every priority, in initialization stronger.
    threshold: Cell<u8>,
    /// The thread belongs to the layer that [`crate::direct`] serves.
    layer: Cell<bool>,
}

impl Executor {
    pub(crate) const fn new() -> Self {
        Self {
            context: Context::new(),
            id: Cell::new(0),
            slow: Cell::new(0),
            threshold: Cell::new(0),
            layer: Cell::new(false),
        }
    }

    const fn pseudo(threshold: u8, cpsr: u32, sp: *const u8, pc: *const ()) -> Self {
        Self {
            context: Context::pseudo(cpsr, sp, pc),
            id: Cell::new(0),
            slow: Cell::new(slow::NO_THREAD),
            threshold: Cell::new(threshold),
            layer: Cell::new(false),
        }
    }

    /// Bits of [`slow`].
    #[inline(always)]
    pub(crate) fn slow(&self) -> &Cell<u8> {
        &self.slow
    }

    /// The preemption-threshold in force.
    #[inline(always)]
    pub(crate) fn threshold(&self) -> &Cell<u8> {
        &self.threshold
    }

    #[inline(always)]
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Whether the thread belongs to a layer.
    #[inline(always)]
    pub(crate) fn layer(&self) -> &Cell<bool> {
        &self.layer
    }

    #[inline(always)]
    pub(crate) fn id(&self) -> u32 {
        self.id.get()
    }

    pub(crate) fn set_id(&self, id: u32) {
        self.id.set(id);
    }
}

/// [`Executor::slow`] and the threshold above it, read at once: two bytes cost as much as one.
#[derive(Clone, Copy)]
struct Levels(u32);

impl Levels {
    /// # Safety
    ///
    /// `context` is the first field of an executor.
    #[inline(always)]
    unsafe fn of(context: *const Context) -> Self {
        // SAFETY: the executor is there, and the two bytes are one behind the other at an even address.
        Self(unsafe { context.byte_add(offset_of!(Executor, slow)).cast::<u16>().read() }.into())
    }

    /// Whether none of these bits of [`slow`] is set.
    #[inline(always)]
    fn without(self, flags: u8) -> bool {
        self.0 & u32::from(flags) == 0
    }

    /// Whether somebody of this priority who becomes ready concerns the context.
    #[inline(always)]
    fn let_in(self, priority: u8) -> bool {
        u32::from(priority) < self.0 >> 8
    }
}

const _: () =
    assert!(offset_of!(Executor, slow) % 2 == 0 && offset_of!(Executor, threshold) == offset_of!(Executor, slow) + 1);

// SAFETY: reached only with interrupts masked.
unsafe impl Sync for Executor {}

/// Context of an interrupt handler and, in the order of one STM of R0, R1, R3 and R12 below it, what the
/// outermost interrupt's entry keeps of what it interrupted.
#[repr(C)]
struct Interrupt {
    /// Stack pointer after the frame was pushed.
    frame: Cell<u32>,
    /// The context.
    interrupted: Cell<*const Context>,
    /// Who is to run when the outermost interrupt ends: null for what it interrupted, [`ANY`] for whom the
    /// scheduler chooses, else the context of a thread that preempts what was interrupted, a plain thread.
    next: Cell<*const Context>,
    fpscr: Cell<u32>,
    executor: Executor,
}

/// No address of a context.
const ANY: *const Context = core::ptr::without_provenance(1);

const _: () = {
    let above = offset_of!(Interrupt, executor);
    assert!(offset_of!(Interrupt, frame) + 16 == above && offset_of!(Interrupt, interrupted) + 12 == above);
    assert!(offset_of!(Interrupt, next) + 8 == above && offset_of!(Interrupt, fpscr) + 4 == above);
};

// SAFETY: reached only with interrupts masked.
unsafe impl Sync for Interrupt {}

/// Pseudo context of the slow path: never saved into, only "switched to" by relinquish.
static SLOW: Executor =
    Executor::pseudo(0, MODE_SVC | CPSR_F | CPSR_I, null(), _tx_relinquish_slow as unsafe extern "C" fn() as *const ());

static IDLE: Executor = Executor::pseudo(
    u8::MAX,
    MODE_SVC | CPSR_F,
    &raw const __tx_system_stack_top,
    _tx_idle as unsafe extern "C" fn() as *const (),
);

/// Where the board points TPIDRPRW to before any code that might call a service: from then on a
/// service called too early is one called from initialization.
#[unsafe(export_name = "_tx_initial_context")]
static INITIALIZATION: Executor = Executor::pseudo(0, 0, null(), null());

/// The name is for tests that look at what was interrupted.
#[unsafe(export_name = "_tx_interrupt")]
static INTERRUPT: Interrupt = Interrupt {
    frame: Cell::new(0),
    interrupted: Cell::new(&raw const INITIALIZATION.context),
    next: Cell::new(null()),
    fpscr: Cell::new(0),
    executor: Executor {
        slow: Cell::new(slow::NO_THREAD | slow::INTERRUPT),
        ..Executor::pseudo(u8::MAX, 0, null(), null())
    },
};

global_asm!(
    // LLVM forgets the target's FPU for module-level assembly under link-time optimisation
    // (rust-lang/rust#127269).
    ".cpu cortex-r52",
    ".fpu vfpv3-d16",
    ".arm",
    // ---- relinquish -----------------------------------------------------------------------------
    // 14 instructions and the caller's BL; the 6 after CPSID run with IRQ masked. Memory: 30 words
    // stored (16 of D8-D15 and 14), 32 loaded (2 of the caller's context, 14 and 16 of the next).
    ".section .text._tx_thread_relinquish,\"ax\",%progbits",
    ".global _tx_thread_relinquish",
    ".type _tx_thread_relinquish, %function",
    ".balign 32",
    "_tx_thread_relinquish:",
    "    vpush   {{d8-d15}}",
    "    mrc     p15, 0, r0, c13, c0, 4",       // the running context
    "    mrs     r3, cpsr",                     // its posture
    "    vmrs    r12, fpscr",
    "    cpsid   i",
    "    ldmia   r0, {{r1, r2}}",               // next, turns
    "    add     r2, r2, #1",
    "    mcr     p15, 0, r1, c13, c0, 4",       // from here next runs
    "    .inst   0xe980fffc",                   // stmib r0, {r2-r12, sp, lr, pc}: continues after the next
    "    .inst   0xe991fffc",                   // ldmib r1, {r2-r12, sp, lr, pc}
    "    msr     cpsr_cx, r3",                  // with A, which an interrupt that ended here left set
    "    vmsr    fpscr, r12",
    "    vpop    {{d8-d15}}",
    "    bx      lr",
    ".size _tx_thread_relinquish, . - _tx_thread_relinquish",
    // ---- slow path: the pc of SLOW. IRQ masked, r0 = the caller's context, all of it saved ---------
    ".section .text._tx_relinquish_slow,\"ax\",%progbits",
    ".global _tx_relinquish_slow",
    ".type _tx_relinquish_slow, %function",
    "_tx_relinquish_slow:",
    // A thread with nothing special about it and alone at its priority goes on: 16 instructions more than
    // a switch's half. Its turn is not counted, and it gets a fresh time-slice by a turn that no count has.
    "    ldrb    r2, [r0, #{slow_bits}]",
    "    cmp     r2, #0",
    "    ldreq   r1, [r0, #{ready_next}]",
    "    cmpeq   r1, r0",
    "    bne     2f",
    "    ldr     r2, [r0, #{turns}]",
    "    sub     r2, r2, #1",
    "    str     r2, [r0, #{turns}]",
    "    mvn     r2, r2",
    "    str     r2, [r0, #{slice_turn}]",
    "    mcr     p15, 0, r0, c13, c0, 4",
    "    .inst   0xe990fffc",                   // ldmib r0, {r2-r12, sp, lr, pc}
    "2:",
    "    ldr     sp, [r0, #{sp}]",
    "    mcr     p15, 0, r0, c13, c0, 4",
    "    bl      {slow}",
    // resume(r0 = context), IRQ masked
    ".global _tx_resume",
    ".type _tx_resume, %function",
    "_tx_resume:",
    "    mcr     p15, 0, r0, c13, c0, 4",
    "    .inst   0xe990fffc",                   // ldmib r0, {r2-r12, sp, lr, pc}
    ".size _tx_relinquish_slow, . - _tx_relinquish_slow",
    // ---- switch(r0 = from, r1 = to), IRQ masked: saves as a call does ------------------------------
    ".section .text._tx_switch,\"ax\",%progbits",
    ".global _tx_switch",
    ".type _tx_switch, %function",
    "_tx_switch:",
    "    vpush   {{d8-d15}}",
    "    mrs     r3, cpsr",
    "    vmrs    r12, fpscr",
    "    add     r2, r0, #{cpsr}",
    "    mcr     p15, 0, r1, c13, c0, 4",
    "    .inst   0xe882fff8",                   // stmia r2, {r3-r12, sp, lr, pc}: continues after the next
    "    .inst   0xe991fffc",                   // ldmib r1, {r2-r12, sp, lr, pc}
    "    msr     cpsr_cx, r3",
    "    vmsr    fpscr, r12",
    "    vpop    {{d8-d15}}",
    "    bx      lr",
    ".size _tx_switch, . - _tx_switch",
    // ---- suspend(r0 = from, r1 = to, r2 = turn count, r3 = posture), IRQ masked --------------------
    // A switch that goes on as the end of a service: with that posture, returning how the wait ended.
    ".section .text._tx_suspend,\"ax\",%progbits",
    ".global _tx_suspend",
    ".type _tx_suspend, %function",
    "_tx_suspend:",
    "    vpush   {{d8-d15}}",
    "    vmrs    r12, fpscr",
    "    mcr     p15, 0, r1, c13, c0, 4",
    "    .inst   0xe980fffc",                   // stmib r0, {r2-r12, sp, lr, pc}: continues after the next
    "    .inst   0xe991fffc",                   // ldmib r1, {r2-r12, sp, lr, pc}
    "    mrc     p15, 0, r0, c13, c0, 4",
    "    ldrb    r0, [r0, #{status}]",
    "    msr     cpsr_cx, r3",
    "    vmsr    fpscr, r12",
    "    vpop    {{d8-d15}}",
    "    bx      lr",
    ".size _tx_suspend, . - _tx_suspend",
    // ---- first instructions of a thread -----------------------------------------------------------
    ".section .text._tx_thread_first,\"ax\",%progbits",
    ".global _tx_thread_first",
    ".type _tx_thread_first, %function",
    "_tx_thread_first:",
    "    msr     cpsr_cx, r3",
    "    vmsr    fpscr, r12",
    "    bl      {shell}",
    "    udf     #0",
    ".size _tx_thread_first, . - _tx_thread_first",
    // ---- idle -------------------------------------------------------------------------------------
    ".section .text._tx_idle,\"ax\",%progbits",
    ".global _tx_idle",
    ".type _tx_idle, %function",
    "_tx_idle:",
    "    msr     cpsr_cx, r3",
    "2:  wfi",
    "    b       2b",
    ".size _tx_idle, . - _tx_idle",
    // ---- interrupt control: returns bit 7 of CPSR and sets it as r0 has it ---------------------------
    ".section .text._tx_thread_interrupt_control,\"ax\",%progbits",
    ".global _tx_thread_interrupt_control",
    ".type _tx_thread_interrupt_control, %function",
    "_tx_thread_interrupt_control:",
    "    mrs     r1, cpsr",
    "    eor     r2, r0, r1",
    "    and     r2, r2, #0x80",
    "    eor     r2, r2, r1",
    "    and     r0, r1, #0x80",
    "    msr     cpsr_c, r2",
    "    bx      lr",
    ".size _tx_thread_interrupt_control, . - _tx_thread_interrupt_control",
    // ---- IRQ --------------------------------------------------------------------------------------
    ".section .text._tx_irq_entry,\"ax\",%progbits",
    ".global _tx_irq_entry",
    ".type _tx_irq_entry, %function",
    "_tx_irq_entry:",
    "    sub     lr, lr, #4",
    "    srsdb   sp!, #0x13",                   // pc and cpsr onto the SVC stack
    "    cps     #0x13",
    "    push    {{r0-r3, r12, lr}}",
    "    vpush   {{d0-d7}}",
    "    mrc     p15, 0, r1, c13, c0, 4",
    "    ldr     r2, ={interrupt} + {handler}",
    "    vmrs    r12, fpscr",
    "    mov     r0, sp",
    "    mov     r3, #0",
    "    vmsr    fpscr, r3",                    // a handler does not inherit the thread's rounding
    "    cmp     r1, r2",
    "    beq     3f",
    "    ldr     sp, =__tx_isr_stack_top",
    "    stmdb   r2, {{r0, r1, r3, r12}}",      // frame, context, nobody to run next, fpscr
    "    mcr     p15, 0, r2, c13, c0, 4",
    "    bl      _tx_irq_dispatch",
    "    ldr     r2, ={interrupt} + {handler}",
    "    ldmdb   r2, {{r0, r1, r3, r12}}",
    "    mov     sp, r0",
    "    cmp     r3, #{any}",
    "    bhs     _tx_irq_preempt",
    "    mcr     p15, 0, r1, c13, c0, 4",
    "_tx_irq_return:",
    "    vmsr    fpscr, r12",
    "    vpop    {{d0-d7}}",
    "    pop     {{r0-r3, r12, lr}}",
    "    rfeia   sp!",
    // An interrupt in an interrupt.
    "3:  bic     sp, sp, #7",                   // the handler may have been between two pushes
    "    push    {{r0, r12}}",
    "    bl      _tx_irq_dispatch_nested",
    "    pop     {{r0, r12}}",
    "    mov     sp, r0",
    "    b       _tx_irq_return",
    // The outermost interrupt ends and somebody else may have to run: save the rest. LR only fills its
    // place: like R0-R3, R12 and CPSR it is in the frame.
    "_tx_irq_preempt:",
    "    vpush   {{d8-d15}}",
    "    beq     4f",
    // R3 is who preempts.
    "    mcr     p15, 0, r3, c13, c0, 4",
    "    ldr     r0, [r1, #{ready_list}]",
    "    ldr     r2, [r1, #{preemptions}]",
    "    str     r1, [r0]",                     // the front of its list is who runs there next: invariant 2
    "    add     r2, r2, #1",
    "    str     r2, [r1, #{preemptions}]",
    "    add     r2, r1, #{r4}",
    "    .inst   0xe882fff0",                   // stmia r2, {r4-r12, sp, lr, pc}
    "    .inst   0xe993fffc",                   // ldmib r3, {r2-r12, sp, lr, pc}
    "5:  vpop    {{d8-d15}}",                   // continues here, R12 = FPSCR
    "    b       _tx_irq_return",
    // The scheduler chooses.
    "4:  mcr     p15, 0, r1, c13, c0, 4",
    "    add     r2, r1, #{r4}",
    "    .inst   0xe882fff0",                   // stmia r2, {r4-r12, sp, lr, pc}
    "    b       6f",
    "    b       5b",                           // continues here
    "6:  ldr     sp, =__tx_isr_stack_top",
    "    bl      {after_interrupt}",
    "    b       _tx_resume",
    ".ltorg",
    ".size _tx_irq_entry, . - _tx_irq_entry",
    // ---- start ------------------------------------------------------------------------------------
    ".section .text._tx_start,\"ax\",%progbits",
    ".global _tx_start",
    ".type _tx_start, %function",
    "_tx_start:",
    "    cpsid   i",
    "    cps     #0x13",
    "    ldr     sp, =__tx_system_stack_top",
    "    ldr     r0, ={initialization}",
    "    mcr     p15, 0, r0, c13, c0, 4",
    "    bl      {initialize}",                 // -> r0: the first context
    "    b       _tx_resume",
    ".ltorg",
    ".size _tx_start, . - _tx_start",
    sp = const offset_of!(Context, sp),
    cpsr = const offset_of!(Context, cpsr),
    r4 = const offset_of!(Context, r4_r11),
    status = const offset_of!(TX_THREAD, wait_status),
    turns = const offset_of!(Context, turns),
    slow_bits = const offset_of!(Executor, slow),
    ready_next = const thread::READY_NEXT,
    slice_turn = const thread::SLICE_TURN,
    handler = const offset_of!(Interrupt, executor),
    any = const 1,
    ready_list = const thread::READY_LIST,
    preemptions = const thread::PREEMPTIONS,
    interrupt = sym INTERRUPT,
    initialization = sym INITIALIZATION,
    slow = sym relinquish_slow,
    shell = sym shell,
    after_interrupt = sym after_interrupt,
    initialize = sym initialize,
);

unsafe extern "C" {
    fn _tx_switch(from: *const Context, to: *const Context);
    fn _tx_suspend(from: *const Context, to: *const Context, turns: u32, posture: Posture) -> UINT;
    fn _tx_relinquish_slow();
    fn _tx_thread_first();
    fn _tx_idle();
    fn _tx_start() -> !;
    static __tx_system_stack_top: u8;
    static __tx_free_memory_start: u8;
    fn _tx_initialize_low_level();
    fn tx_application_define(first_unused_memory: *mut VOID);
}

/// Saved CPSR, of which bit 7 (I) is the interrupt posture.
pub(crate) type Posture = u32;

/// The same status, of which the compiler knows nothing.
#[inline(always)]
pub(crate) fn unknown(mut status: UINT) -> UINT {
    // SAFETY: no instruction.
    unsafe { asm!("/* {} */", inout(reg) status, options(pure, nomem, nostack, preserves_flags)) };
    status
}

/// Success, whose value the compiler does not know. A service whose result it knows is not called as the last
/// step of another, which then needs a frame.
#[inline(always)]
pub(crate) fn success() -> UINT {
    let status;
    // SAFETY: sets a register.
    unsafe { asm!("mov {}, #{}", out(reg) status, const TX_SUCCESS, options(pure, nomem, nostack, preserves_flags)) };
    status
}

/// A posture for a guard that restores none.
pub(crate) const MASKED: Posture = MODE_SVC | CPSR_F | CPSR_I;

#[inline(always)]
pub(crate) fn mask() -> Posture {
    let cpsr: u32;
    // SAFETY: masks IRQ; as a memory clobber it also keeps the compiler from moving accesses out.
    unsafe { asm!("mrs {}, cpsr", "cpsid i", out(reg) cpsr, options(nostack, preserves_flags)) };
    cpsr
}

#[inline(always)]
pub(crate) fn restore(posture: Posture) {
    // SAFETY: writes back the mode and mask bits that `mask` read in this same mode.
    unsafe { asm!("msr cpsr_c, {}", in(reg) posture, options(nostack, preserves_flags)) };
}

#[inline(always)]
fn current_context() -> *const Context {
    let context: *const Context;
    // SAFETY: reads a register that belongs to the kernel.
    // `pure`: whoever executes finds the same value every time, also after others have run.
    unsafe { asm!("mrc p15, 0, {}, c13, c0, 4", out(reg) context, options(pure, nomem, nostack, preserves_flags)) };
    context
}

#[inline(always)]
fn thread_of(context: *const Context) -> Option<Thread> {
    // SAFETY: TPIDRPRW and every pointer to a context that is read hold one of the statics above or
    // the context of a created thread, which is the first field of an `Executor`; its flag tells
    // whether that one is the first field of a control block.
    unsafe {
        let executor = context.cast::<Executor>();
        if (*executor).slow.get() & slow::NO_THREAD == 0 {
            Some(Thread::new(core::ptr::NonNull::new_unchecked(context.cast::<TX_THREAD>().cast_mut())))
        } else {
            None
        }
    }
}

#[inline(always)]
pub(crate) fn current() -> Current {
    let context = current_context();
    if let Some(thread) = thread_of(context) {
        Current::Thread(thread)
    } else if core::ptr::eq(context, &INTERRUPT.executor.context) {
        Current::Interrupt
    } else if core::ptr::eq(context, &IDLE.context) {
        Current::Idle
    } else {
        Current::Initialization
    }
}

/// For the board: whether the caller is an interrupt handler, 1 or 0.
#[unsafe(no_mangle)]
extern "C" fn _tx_irq_active() -> UINT {
    core::ptr::eq(current_context(), &INTERRUPT.executor.context).into()
}

/// The thread that executes or, in an interrupt, that was interrupted.
#[inline(always)]
pub(crate) fn running() -> Option<Thread> {
    let context = current_context();
    if core::ptr::eq(context, &INTERRUPT.executor.context) {
        thread_of(INTERRUPT.interrupted.get())
    } else {
        thread_of(context)
    }
}

/// Whether `thread` is what [`running`] tells.
#[inline(always)]
pub(crate) fn is_running(thread: Thread) -> bool {
    let (context, thread) = (current_context(), thread.as_ptr().cast_const().cast());
    core::ptr::eq(context, thread)
        || core::ptr::eq(context, &INTERRUPT.executor.context) && core::ptr::eq(INTERRUPT.interrupted.get(), thread)
}

/// The thread that executes, if it has none of the bits `flags` of [`slow`].
#[inline(always)]
pub(crate) fn executing_without(flags: u8) -> Option<Thread> {
    let context = current_context();
    // SAFETY: as in `thread_of`.
    unsafe {
        if Levels::of(context).without(flags | slow::NO_THREAD) {
            Some(Thread::new(core::ptr::NonNull::new_unchecked(context.cast::<TX_THREAD>().cast_mut())))
        } else {
            None
        }
    }
}

/// The thread that executes, if it belongs to a layer.
#[inline(always)]
pub(crate) fn executing_in_layer() -> Option<Thread> {
    let context = current_context();
    // SAFETY: as in `thread_of`; only a thread's flag is ever set.
    unsafe {
        if (*context.cast::<Executor>()).layer.get() {
            Some(Thread::new(core::ptr::NonNull::new_unchecked(context.cast::<TX_THREAD>().cast_mut())))
        } else {
            None
        }
    }
}

/// Whether a thread of this priority that has just become ready may concern who executes: it would
/// preempt this thread, or this is an interrupt handler, which has to find out.
#[inline(always)]
pub(crate) fn concerns(priority: u8) -> bool {
    // SAFETY: as in `thread_of`: TPIDRPRW leads to an executor's first field.
    unsafe { Levels::of(current_context()) }.let_in(priority)
}

/// Whether the caller is `thread` itself, no interrupt handler.
#[inline(always)]
pub(crate) fn executes(thread: Thread) -> bool {
    core::ptr::eq(current_context(), thread.context())
}

/// Lets the scheduler choose at the end of the interrupt. Outside of interrupts nobody looks at it.
pub(crate) fn request_reschedule() {
    INTERRUPT.next.set(ANY);
}

/// In an interrupt handler: sees to it that `thread`, the only ready one of its priority and ready only
/// now, runs when the interrupt ends, if it preempts what was interrupted. False outside of interrupts.
#[inline(always)]
pub(crate) fn preempt_later(thread: Thread, priority: u8) -> bool {
    let context = current_context();
    // SAFETY: as in `thread_of`.
    if unsafe { Levels::of(context) }.without(slow::INTERRUPT) {
        return false;
    }
    // SAFETY: only the executor in `INTERRUPT` has that bit.
    let interrupt = unsafe { &*context.byte_sub(offset_of!(Interrupt, executor)).cast::<Interrupt>() };
    // SAFETY: as in `thread_of`: what was interrupted is an executor's context, too.
    let interrupted = unsafe { Levels::of(interrupt.interrupted.get()) };
    if interrupted.let_in(priority) {
        // A plain thread, and nobody to run next so far; where preemptions are counted the scheduler does it.
        let simple = !COUNTING && interrupt.next.get().addr() as u32 | interrupted.0 << 24 == 0;
        interrupt.next.set(if simple { &raw const *thread.context() } else { ANY });
    }
    true
}

#[inline(always)]
fn context_or_idle(thread: Option<Thread>) -> *const Context {
    match thread {
        Some(thread) => &raw const *thread.context(),
        None => &raw const IDLE.context,
    }
}

/// Runs `to`, or the idle loop; returns when `from` is chosen again. Interrupts are masked.
#[inline(always)]
pub(crate) fn switch(from: Thread, to: Option<Thread>) {
    // SAFETY: `from` is the running thread and `to` one that is not running, so its context is
    // complete; interrupts are masked.
    unsafe { _tx_switch(from.context(), context_or_idle(to)) };
}

/// [`switch`] by a thread that suspends itself: counts its turn. When it is chosen again the kernel is
/// unlocked to `posture`; returns how the wait ended.
#[inline(always)]
pub(crate) fn suspend(from: Thread, to: Option<Thread>, posture: Posture) -> UINT {
    let turns = from.context().turns().wrapping_add(1);
    // SAFETY: as in `switch`; the words stored are the context of `from`, which continues as the end of the
    // assembly function.
    unsafe { _tx_suspend(from.context(), context_or_idle(to), turns, posture) }
}

/// [`switch`] by a thread that made `to` ready. When it is chosen again the kernel is unlocked to
/// `posture`; returns success.
#[inline(always)]
pub(crate) fn give_way(from: Thread, to: Thread, posture: Posture) -> UINT {
    from.wait_status.set(TX_SUCCESS as u8);
    // SAFETY: as in `suspend`.
    unsafe { _tx_suspend(from.context(), to.context(), from.context().turns(), posture) }
}

unsafe extern "C" fn relinquish_slow(context: *const Context) -> *const Context {
    match thread_of(context) {
        Some(running) => {
            // The fast path counted a turn before it was led here.
            let turns = &running.context().turns;
            turns.set(turns.get().wrapping_sub(1));
            context_or_idle(lock().relinquish_slow(running))
        }
        // An interrupt handler or initialization: nothing to give away.
        None => context,
    }
}

unsafe extern "C" fn after_interrupt() -> *const Context {
    // Initialization that unmasked interrupts goes on, whoever is ready: its end lets the first thread in.
    if core::ptr::eq(INTERRUPT.interrupted.get(), &INITIALIZATION.context) {
        return &raw const INITIALIZATION.context;
    }
    // SAFETY: the end of an interrupt runs with IRQ masked up to the switch.
    context_or_idle(unsafe { locked() }.after_interrupt())
}

unsafe extern "C" fn shell() -> ! {
    match current() {
        Current::Thread(thread) => thread::shell(thread),
        _ => unreachable!("a thread's first instruction ran outside a thread"),
    }
}

/// Writes `words` times `word`, four by an instruction.
///
/// # Safety
///
/// `start` is aligned and so many words may be written there.
pub(crate) unsafe fn fill_words(start: *mut u32, words: usize, word: u32) {
    let fours = words / 4;
    // SAFETY: writes 4 * `fours` words from `start` on, which the caller allows.
    unsafe {
        if fours != 0 {
            asm!(
                "2:",
                "stmia   {at}!, {{r0-r3}}",
                "subs    {left}, {left}, #1",
                "bne     2b",
                at = inout(reg) start => _,
                left = inout(reg) fours => _,
                in("r0") word, in("r1") word, in("r2") word, in("r3") word,
                options(nostack)
            );
        }
        for at in fours * 4..words {
            start.add(at).write(word);
        }
    }
}

/// Gives `thread` the context of one that is about to run its first instruction, interrupts enabled.
pub(crate) fn build(thread: Thread) {
    let context = thread.context();
    let top = thread.stack_start.get().wrapping_add(thread.stack_size.get() as usize);
    context.turns.set(0);
    context.set_next(None);
    context.cpsr.set(MODE_SVC | CPSR_F);
    // R4-R10 may be anything at a first instruction; R11 ends the chain of frames for a debugger.
    context.r4_r11[7].set(0);
    context.fpscr.set(0);
    context.sp.set(top.wrapping_sub(top as usize % 8));
    context.lr.set(0);
    context.pc.set(_tx_thread_first as *const ());
}

/// Bytes of a thread's stack that a switch needs: for D8-D15.
pub(crate) const SWITCH_STACK: usize = 64;

/// The lowest stack word is untouched, and below `sp` there is what a switch needs.
#[inline(always)]
fn stack_intact(thread: Thread, sp: u32) -> bool {
    sp >= thread.stack_floor.get() as u32 && super::lowest_stack_word(thread) == thread.stack_fill.get()
}

/// [`stack_intact`] of the thread that executes.
#[inline(always)]
pub(crate) fn own_stack_intact(thread: Thread) -> bool {
    let sp: u32;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, sp", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    stack_intact(thread, sp)
}

/// [`stack_intact`] of the thread that the outermost interrupt interrupted, below that one's frame.
#[inline(always)]
pub(crate) fn interrupted_stack_intact(thread: Thread) -> bool {
    stack_intact(thread, INTERRUPT.frame.get())
}

/// In an interrupt handler: the interrupted thread.
#[inline(always)]
pub(crate) fn interrupted() -> Option<Thread> {
    thread_of(INTERRUPT.interrupted.get())
}

pub(crate) fn abandon(_thread: Thread) {}
pub(crate) fn abandon_running() {}

pub(crate) fn first_unused_memory() -> *mut VOID {
    (&raw const __tx_free_memory_start).cast_mut().cast()
}

unsafe extern "C" fn initialize() -> *const Context {
    // SAFETY: the one call of initialization, on the system stack, IRQ masked; the board and the
    // application define the two functions.
    unsafe {
        crate::initialize::initialize(|| _tx_initialize_low_level(), |memory| tx_application_define(memory));
    }
    // The application may have left interrupts unmasked. From the choice on nothing may come in between.
    mask();
    // SAFETY: masked, up to the first thread's first instruction.
    context_or_idle(unsafe { locked() }.first_thread())
}

/// Starts the kernel.
///
/// # Safety
///
/// Called once, in a privileged mode, by code that does not expect its stack back.
pub(crate) unsafe fn start() -> ! {
    // SAFETY: the caller's promise.
    unsafe { _tx_start() }
}

/// Gives the next ready equal its turn.
#[inline(always)]
pub(crate) fn relinquish() {
    crate::c_api::_tx_thread_relinquish();
}

/// [`relinquish`] without the call: 11 instructions, the 6 after CPSID with IRQ masked. Memory: 14 words
/// stored, 16 loaded.
///
/// The compiler saves what is live of R0-R3, R12 and D0-D15; the sequence itself keeps R4-R11, of which
/// rustc takes neither R6 nor R11 as an operand, and LR.
///
/// T32 has no STM that stores PC. Which of the two a function is compiled for is not known here, but the
/// assembler knows: CPSID has 4 bytes in A32 and 2 in T32, where the sequence goes on with the call.
#[inline(always)]
pub(crate) fn relinquish_inline() {
    // SAFETY: `next` of the running context is a complete context or one that continues in the slow path,
    // as for the call. This thread continues after the LDM with its own R4-R11, SP, LR, FPSCR and CPSR;
    // everything else that another thread may change is an output here. Its memory was reachable
    // for others in between, which the block, as one that may touch all memory, tells the compiler; and
    // without `nostack` SP is aligned for the slow path, which runs on this stack, and for the push.
    unsafe {
        asm!(
            "mrc     p15, 0, r0, c13, c0, 4",
            "mrs     r3, cpsr",
            "vmrs    r12, fpscr",
            "2:",
            "cpsid   i",
            "3:",
            ".if 3b - 2b == 4",
            "ldmia   r0, {{r1, r2}}",
            "add     r2, r2, #1",
            "mcr     p15, 0, r1, c13, c0, 4",
            ".inst   0xe980fffc", // stmib r0, {r2-r12, sp, lr, pc}
            ".inst   0xe991fffc", // ldmib r1, {r2-r12, sp, lr, pc}
            "msr     cpsr_cx, r3",
            "vmsr    fpscr, r12",
            ".else",
            "msr     cpsr_c, r3",
            "push    {{r4, lr}}",
            "bl      {call}",
            "pop     {{r4, lr}}",
            ".endif",
            call = sym crate::c_api::_tx_thread_relinquish,
            out("r0") _, out("r1") _, out("r2") _, out("r3") _, out("r12") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _, out("d10") _, out("d11") _, out("d12") _, out("d13") _, out("d14") _,
            out("d15") _,
        );
    }
}
