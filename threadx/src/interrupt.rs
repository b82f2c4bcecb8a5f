//! The caller's interrupt posture.

/// Calls `f` with interrupts masked, then sets the posture that the caller had before.
///
/// `tx_interrupt_control`, in a form that never unmasks what an outer caller has masked. Two instructions in
/// front of `f` and one behind it on the bundled kernel.
///
/// This holds off interrupt handlers and whatever they would do, no more: a service called in `f` may switch
/// threads, and the posture belongs to the thread, so the next one runs with its own. What must not be
/// interleaved with other threads needs [`critical_section::with`], which also holds off preemption.
///
/// From any context. Interrupts that come meanwhile, the tick among them, are taken afterwards.
///
/// ```
/// # use core::cell::Cell;
/// /// Written by a handler as well.
/// fn take(events: &Cell<u32>) -> u32 {
///     threadx::interrupt::masked(|| events.replace(0))
/// }
/// ```
#[inline(always)]
pub fn masked<R>(f: impl FnOnce() -> R) -> R {
    let _posture = Posture(kernel::mask());
    f()
}

/// The posture to go back to, also where `f` unwinds.
struct Posture(u32);

impl Drop for Posture {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `masked` got it from the matching `mask`. What runs in between restores every posture that it
        // changes, so this one is only as open as the one that the caller had.
        unsafe { kernel::restore(self.0) }
    }
}

#[cfg(feature = "bundled")]
use threadx_sys::direct::interrupts as kernel;

#[cfg(not(feature = "bundled"))]
mod kernel {
    #[inline(always)]
    pub(super) fn mask() -> u32 {
        // SAFETY: only masks.
        unsafe { threadx_sys::tx_interrupt_control(threadx_sys::TX_INT_DISABLE) }
    }

    /// # Safety
    ///
    /// `posture` is the caller's before the matching [`mask`].
    #[inline(always)]
    pub(super) unsafe fn restore(posture: u32) {
        // SAFETY: the caller's promise.
        unsafe { threadx_sys::tx_interrupt_control(posture) };
    }
}
