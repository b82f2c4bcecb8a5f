//! The processor's side of the kernel: registers, masking, interrupt entry, the switch itself.
//!
//! A port provides, under the same names: `Context` and `Executor` (what a switch saves, first in
//! every control block), `Posture`, `mask`, `restore`, `current`, `running`, `switch`,
//! `build`, `request_reschedule` and the small functions beside them.

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

/// Fills a stack with the pattern that the high-water mark and the overflow check look for.
pub(crate) fn fill_stack(start: *mut u8, size: usize) {
    // SAFETY: `Thread::create`'s caller gave these bytes to the thread, which does not run yet.
    unsafe { core::ptr::write_bytes(start, TX_STACK_FILL as u8, size) };
}

/// The lowest whole word of the thread's stack; an intact stack still has the fill pattern there.
#[cfg_attr(not(feature = "stack-checking"), allow(dead_code))]
pub(crate) fn lowest_stack_word(thread: Thread) -> u32 {
    let start = thread.stack_start.get();
    let start = start.wrapping_add(start.align_offset(align_of::<u32>()));
    // SAFETY: inside the thread's stack, which is larger than two words; volatile, because the
    // thread itself may have written it.
    unsafe { start.cast::<u32>().read_volatile() }
}
