//! Threads: cells, the builder, handles, and the services of and for threads.
//!
//! # Why this is sound
//!
//! * The kernel links a thread's control block. It lives in a [`ThreadCell`], which the kernel only
//!   ever gets as `&'static`, so it cannot move or go away; an atomic flag lets one thread at a time
//!   have it, and is cleared only after the kernel's delete service has succeeded.
//! * The closure, and after it the result, lie at the top of the thread's own stack memory. Who may
//!   touch them follows from the cell's `outcome`: until `RETURNED` the thread, then whoever has
//!   the handle; if the handle was dropped first (`DETACHED`), the thread drops the result. In a
//!   scope it is whoever sets `TAKEN` first, the handle or the scope's end.
//! * Terminating a thread abandons its frames without running destructors. Others may borrow from
//!   these frames (scoped threads) or rely on their never being overwritten (`Pin`), so the stack
//!   and the cell of a terminated thread are never used again. Then termination is no different from
//!   a thread that waits for ever, which safe code can do anyway. It is offered for threads whose
//!   closure is `'static` only: a scoped thread may have lent its borrows to threads of its own,
//!   which would outlive the scope if its end did not have to wait for theirs.

mod builder;
mod cell;
mod join;
mod reference;

pub use builder::Builder;
pub use cell::ThreadCell;
pub use join::{JoinError, JoinHandle, ScopedJoinHandle};
pub(crate) use reference::name_of;
pub(crate) use reference::registered;
pub use reference::{Info, Resumed, StackUsage, State, ThreadRef};

use crate::error::check;
use crate::{Error, Ticks};

/// The running thread.
///
/// `None` in initialization, when nothing runs, in timer callbacks, and in threads that C code
/// created. In an interrupt: the interrupted thread, which takes time in proportion to the number of cells
/// that were ever used; on upstream's kernel so it does everywhere. From any context.
#[must_use]
#[inline]
pub fn current() -> Option<ThreadRef> {
    #[cfg(feature = "bundled")]
    {
        let control = threadx_sys::direct::thread_executing();
        if !control.is_null() {
            // SAFETY: the layer's threads, of which this is one, are those that `Builder` has created in cells.
            return Some(ThreadRef::running(unsafe { ThreadCell::of(control) }));
        }
    }
    current_by_service()
}

/// [`current`] in any context.
#[cfg_attr(feature = "bundled", inline(never))]
fn current_by_service() -> Option<ThreadRef> {
    // SAFETY: no precondition.
    let control = unsafe { threadx_sys::tx_thread_identify() };
    if control.is_null() { None } else { registered(control) }
}

/// Lets the other ready threads of the caller's priority run first, and with a preemption-threshold
/// those that it held off. Returns at once if there are none, inside a critical section, and outside
/// threads.
#[inline(always)]
pub fn relinquish() {
    #[cfg(feature = "bundled")]
    use threadx_sys::_tx_thread_relinquish as service;
    #[cfg(not(feature = "bundled"))]
    use threadx_sys::tx_thread_relinquish as service;

    #[allow(unused_unsafe)] // the bundled kernel's is a safe function on the target
    // SAFETY: the checked service may be called in any context, and so may the bundled kernel's
    // unchecked one.
    unsafe {
        service();
    }
}

/// [`relinquish`] without the call, for a place that is executed often: the whole switch becomes part of the
/// calling function, where the compiler saves only what is live.
///
/// On the bundled kernel, in A32 code: 11 instructions against the 15 of a call, 30 words of memory moved
/// against 62, 44 bytes of code at each place against 4. In return a function with such a place saves
/// D8-D15 once at its entry and restores them at its exit, so it is worth it in a loop and not in a function
/// that returns after one turn. In T32 code, on the host and on upstream's kernel it is the same as
/// [`relinquish`].
///
/// From any context, with the same effect; threads that use either may share a priority.
#[inline(always)]
pub fn relinquish_inline() {
    #[cfg(feature = "bundled")]
    threadx_sys::relinquish_inline();
    #[cfg(not(feature = "bundled"))]
    relinquish();
}

/// Sleeps until the `ticks`-th tick from now, which is up to one tick early
/// ([`Ticks::at_least`](crate::Ticks::at_least) makes up for it). Zero returns at once.
///
/// From threads.
///
/// # Errors
///
/// [`Error::Caller`] elsewhere and inside a critical section; [`Error::WaitAborted`].
pub fn sleep(ticks: Ticks) -> Result<(), Error> {
    // SAFETY: the service checks the context itself.
    check(unsafe { threadx_sys::tx_thread_sleep(ticks.get()) })
}
