//! The `critical-section` implementation.
//!
//! Masking interrupts alone would not do: a critical section that calls a service (a `relinquish`
//! is enough, and it is a safe function) would let another thread run with its own interrupt
//! posture, into the same section. So the section also disables preemption; a service that would
//! switch threads inside it returns at once or is refused, and a preemption that became due happens
//! when the outermost section ends.

pub(crate) use critical_section::with;
use critical_section::{Impl, RawRestoreState, set_impl};
#[cfg(feature = "bundled")]
use threadx_sys::direct as kernel;

struct Kernel;
set_impl!(Kernel);

/// Whether the caller is inside a critical section.
pub(crate) fn is_inside() -> bool {
    kernel::preemption_disabled()
}

/// Upstream's kernel, whose own count the application cannot rely on: it is reset when the kernel starts.
#[cfg(not(feature = "bundled"))]
mod kernel {
    use core::sync::atomic::{AtomicU32, Ordering};

    /// How many sections are open.
    static DEPTH: AtomicU32 = AtomicU32::new(0);

    pub(super) fn preemption_disabled() -> bool {
        DEPTH.load(Ordering::Relaxed) != 0
    }

    pub(super) fn preempt_disable_enter() -> u32 {
        // SAFETY: undone by the matching exit, which the caller of `acquire` owes.
        let posture = unsafe { threadx_sys::tx_thread_preempt_disable_enter() };
        // Between the two calls nothing else runs, so no step is lost.
        DEPTH.store(DEPTH.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        posture
    }

    /// # Safety
    ///
    /// `posture` comes from the matching enter.
    pub(super) unsafe fn preempt_disable_exit(posture: u32) {
        DEPTH.store(DEPTH.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { threadx_sys::tx_thread_preempt_disable_exit(posture) }
    }
}

// SAFETY: between the two calls interrupts are masked and the kernel switches to no other thread,
// so on the one processor nothing else runs. Each `release` gets the posture that its `acquire`
// returned, so the sections nest.
unsafe impl Impl for Kernel {
    #[inline]
    unsafe fn acquire() -> RawRestoreState {
        kernel::preempt_disable_enter()
    }

    #[inline]
    unsafe fn release(posture: RawRestoreState) {
        // SAFETY: `posture` comes from the matching `acquire`.
        unsafe { kernel::preempt_disable_exit(posture) }
    }
}
