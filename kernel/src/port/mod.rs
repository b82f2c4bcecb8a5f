//! The processor's side of the kernel: registers, masking, interrupt entry, the switch itself.
//!
//! A port provides, under the same names: `Context` and `Executor` (what a switch saves, first in
//! every control block), `Posture`, `mask`, `restore`, `current`, `running`, `executing_without`,
//! `concerns`, `switch`, `build`, `request_reschedule`, `preempt_later` and the small functions beside them.

#[cfg(target_arch = "arm")]
mod aarch32;
#[cfg(target_arch = "arm")]
pub(crate) use aarch32::*;

#[cfg(not(target_os = "none"))]
pub mod host;
#[cfg(not(target_os = "none"))]
pub(crate) use host::port::*;

use crate::thread::Thread;
use crate::types::TX_STACK_FILL;

/// Who executes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Current {
    /// A thread.
    Thread(Thread),
    /// An interrupt handler.
    Interrupt,
    /// Nobody: the idle loop.
    Idle,
    /// Code before the first thread.
    Initialization,
}

/// Why a context is not a thread to which everything may happen at any time: bits of [`Executor::slow`].
/// A thread with no bit set may be switched away from by the fast path.
pub(crate) mod slow {
    /// One of the kernel's own contexts, of which the host's port has none.
    #[cfg(target_os = "none")]
    pub(crate) const NO_THREAD: u8 = 1;
    /// The context of interrupt handlers.
    #[cfg(target_os = "none")]
    pub(crate) const INTERRUPT: u8 = 16;
    /// The system timer thread: its callbacks may neither wait nor give the processor away.
    pub(crate) const TIMER_THREAD: u8 = 2;
    /// The thread runs with preemption disabled.
    pub(crate) const NO_PREEMPTION: u8 = 4;
    /// The preemption-threshold is not the priority.
    pub(crate) const THRESHOLD: u8 = 8;
}

/// The thread that executes, if it may wait: with preemption enabled and outside a timer's callback.
#[inline(always)]
pub(crate) fn waitable() -> Option<Thread> {
    executing_without(slow::TIMER_THREAD | slow::NO_PREEMPTION)
}

/// The thread that executes, if nothing is special about it.
#[inline(always)]
pub(crate) fn plain() -> Option<Thread> {
    executing_without(u8::MAX)
}

/// The thread that executes, if preemption is enabled.
#[inline(always)]
pub(crate) fn preemptible() -> Option<Thread> {
    executing_without(slow::NO_PREEMPTION)
}

/// Fills a stack with the pattern that the high-water mark and the overflow check look for.
pub(crate) fn fill_stack(start: *mut u8, size: usize) {
    let head = start.align_offset(align_of::<u32>()).min(size);
    let words = (size - head) / size_of::<u32>();
    // SAFETY: `Thread::create`'s caller gave these bytes to the thread, which does not run yet: first what
    // is before the first whole word, then the words, then what is after the last.
    unsafe {
        core::ptr::write_bytes(start, TX_STACK_FILL as u8, head);
        fill_words(start.add(head).cast(), words, TX_STACK_FILL);
        let done = head + words * size_of::<u32>();
        core::ptr::write_bytes(start.add(done), TX_STACK_FILL as u8, size - done);
    }
}

/// The lowest whole word of the thread's stack; an intact stack still has the fill pattern there.
pub(crate) fn lowest_stack_word(thread: Thread) -> u32 {
    let start = thread.stack_floor.get().wrapping_byte_sub(SWITCH_STACK);
    // SAFETY: inside the thread's stack, which is larger than two words; volatile, because the
    // thread itself may have written it.
    unsafe { start.read_volatile() }
}
