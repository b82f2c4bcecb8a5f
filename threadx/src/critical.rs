//! The `critical-section` implementation.
//!
//! Masking interrupts alone would not do: a critical section that calls a service (a `relinquish`
//! is enough, and it is a safe function) would let another thread run with its own interrupt
//! posture, into the same section. So the section also disables preemption; a service that would
//! switch threads inside it returns at once or is refused, and a preemption that became due happens
//! when the outermost section ends.

use critical_section::{Impl, RawRestoreState, set_impl};

struct Kernel;
set_impl!(Kernel);

// SAFETY: between the two calls interrupts are masked and the kernel switches to no other thread,
// so on the one processor nothing else runs. Each `release` gets the posture that its `acquire`
// returned, so the sections nest.
unsafe impl Impl for Kernel {
    unsafe fn acquire() -> RawRestoreState {
        // SAFETY: undone by the matching `release`, which the caller of `acquire` owes.
        unsafe { threadx_sys::tx_thread_preempt_disable_enter() }
    }

    unsafe fn release(posture: RawRestoreState) {
        // SAFETY: `posture` comes from the matching `acquire`.
        unsafe { threadx_sys::tx_thread_preempt_disable_exit(posture) }
    }
}
