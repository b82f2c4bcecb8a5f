//! The `critical-section` implementation.
//!
//! Masking interrupts alone would not do: a critical section that calls a service (a `relinquish`
//! is enough, and it is a safe function) would let another thread run with its own interrupt
//! posture, into the same section. So the section also disables preemption; a service that would
//! switch threads inside it returns at once or is refused, and a preemption that became due happens
//! when the outermost section ends.

use core::sync::atomic::{AtomicU32, Ordering};

pub(crate) use critical_section::with;
use critical_section::{Impl, RawRestoreState, set_impl};

struct Kernel;
set_impl!(Kernel);

/// How many sections are open. The kernel's own count is not to be had from both kernels.
static DEPTH: AtomicU32 = AtomicU32::new(0);

/// Whether the caller is inside a critical section.
pub(crate) fn is_inside() -> bool {
    DEPTH.load(Ordering::Relaxed) != 0
}

// SAFETY: between the two calls interrupts are masked and the kernel switches to no other thread,
// so on the one processor nothing else runs. Each `release` gets the posture that its `acquire`
// returned, so the sections nest.
unsafe impl Impl for Kernel {
    unsafe fn acquire() -> RawRestoreState {
        // SAFETY: undone by the matching `release`, which the caller of `acquire` owes.
        let posture = unsafe { threadx_sys::tx_thread_preempt_disable_enter() };
        // Between the two calls nothing else runs, so no step is lost.
        DEPTH.store(DEPTH.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        posture
    }

    unsafe fn release(posture: RawRestoreState) {
        DEPTH.store(DEPTH.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Relaxed);
        // SAFETY: `posture` comes from the matching `acquire`.
        unsafe { threadx_sys::tx_thread_preempt_disable_exit(posture) }
    }
}
