//! Waiting for threads and taking their results.

use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::sync::atomic::Ordering;

use super::cell::{DETACHED, RETURNED};
use super::reference::ThreadRef;
use crate::Error;

/// Why [`JoinHandle::join`] has no result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum JoinError {
    /// The thread was terminated before its closure returned.
    Terminated,
    /// The wait was refused or ended early; the thread goes on, detached (or, in a scope, until the
    /// scope's end).
    Failed(Error),
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Terminated => f.write_str("the thread was terminated"),
            Self::Failed(error) => write!(f, "cannot join: {error}"),
        }
    }
}

impl core::error::Error for JoinError {}

/// Owns a thread's result; like `std::thread::JoinHandle`.
///
/// Dropping it detaches the thread: it goes on, drops its result itself, and its cell and stack stay
/// in use for ever.
#[must_use = "dropping the handle detaches the thread: say so with `detach`"]
pub struct JoinHandle<T> {
    pub(super) thread: ThreadRef,
    pub(super) result: PhantomData<*mut T>,
}

// SAFETY: the handle gives out one `T`, in whatever context it is in then.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: a shared handle gives no access to the `T`.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// The thread.
    #[must_use]
    pub fn thread(&self) -> ThreadRef {
        self.thread
    }

    /// Whether the thread has ended, so that [`JoinHandle::join`] would not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.has_ended()
    }

    /// Lets the thread go on without a handle; the same as dropping it.
    pub fn detach(self) {}

    /// Waits for the thread to end and returns its result. Cell and stack are free afterwards.
    ///
    /// From threads.
    ///
    /// # Errors
    ///
    /// * [`JoinError::Terminated`].
    /// * [`JoinError::Failed`] with [`Error::Caller`] outside threads, inside a critical section, or
    ///   from the thread itself; with [`Error::WaitAborted`] if the wait was aborted. The thread is
    ///   detached then.
    pub fn join(self) -> Result<T, JoinError> {
        self.thread.wait().map_err(JoinError::Failed)?;
        match self.try_join() {
            Ok(result) => result,
            Err(_) => Err(JoinError::Failed(Error::Caller)),
        }
    }

    /// The result if the thread has ended, else the handle.
    ///
    /// From threads and timer callbacks; elsewhere the answer is always the handle.
    ///
    /// # Errors
    ///
    /// The handle.
    pub fn try_join(self) -> Result<Result<T, JoinError>, Self> {
        if !self.is_finished() {
            return Err(self);
        }
        match self.thread.cell.remove() {
            // SAFETY: the thread is deleted and its closure returned.
            Ok(true) => Ok(Ok(unsafe { self.take_result() })),
            Ok(false) => {
                core::mem::forget(self);
                Ok(Err(JoinError::Terminated))
            }
            Err(_) => Err(self),
        }
    }

    /// Ends the thread wherever it is; returns the result if its closure had returned already.
    ///
    /// Frames are abandoned and no destructor runs: what the thread holds is leaked. Its cell and
    /// stack are never used again, since others may still borrow from its frames or rely on their
    /// staying as they are; see [`JoinHandle::terminate_and_reclaim`].
    ///
    /// From threads and timer callbacks.
    ///
    /// # Errors
    ///
    /// [`Error::Caller`] elsewhere and from the thread itself; the thread is detached then.
    pub fn terminate(self) -> Result<Option<T>, Error> {
        self.thread.not_self()?;
        if self.thread.cell.remove()? {
            // SAFETY: the thread is deleted and its closure returned.
            return Ok(Some(unsafe { self.take_result() }));
        }
        core::mem::forget(self);
        Ok(None)
    }

    /// [`JoinHandle::terminate`], after which cell and stack are free in any case.
    ///
    /// # Safety
    ///
    /// Nothing on the thread's stack is borrowed by anybody, is pinned, or is linked by the kernel
    /// or anybody else: the memory will be overwritten without a destructor having run. That
    /// excludes a thread inside [`scope`](crate::scope()).
    ///
    /// # Errors
    ///
    /// As [`JoinHandle::terminate`].
    pub unsafe fn terminate_and_reclaim(self) -> Result<Option<T>, Error> {
        self.thread.not_self()?;
        if self.thread.cell.remove()? {
            // SAFETY: the thread is deleted and its closure returned.
            return Ok(Some(unsafe { self.take_result() }));
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: the thread is deleted, and the caller vouches for its frames.
        unsafe { this.thread.cell.free() };
        Ok(None)
    }

    /// # Safety
    ///
    /// The thread is deleted and its closure returned.
    unsafe fn take_result(self) -> T {
        let this = ManuallyDrop::new(self);
        let cell = this.thread.cell;
        // SAFETY: the result is in the slot, and belongs to this handle, which is used up.
        let result = unsafe { cell.record().slot.cast::<T>().read() };
        // SAFETY: the thread is gone, the result moved out.
        unsafe { cell.free() };
        result
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let cell = self.thread.cell;
        if cell.outcome.fetch_or(DETACHED, Ordering::AcqRel) & RETURNED != 0 {
            // SAFETY: the thread left its result to this handle, and the cell is never freed now.
            unsafe { cell.record().slot.cast::<T>().drop_in_place() };
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JoinHandle").field(&self.thread.name()).finish()
    }
}

/// Owns the result of a scoped thread; like `std::thread::ScopedJoinHandle`.
///
/// Dropping it leaves the thread to the end of its scope. There is no way to terminate a scoped
/// thread, because threads may borrow from it that its scope does not know.
#[must_use = "the scope's end drops the result"]
pub struct ScopedJoinHandle<'scope, T> {
    pub(super) thread: ThreadRef,
    pub(super) result: PhantomData<(*mut T, &'scope ())>,
}

// SAFETY: the handle gives out one `T`, in whatever context it is in then.
unsafe impl<T: Send> Send for ScopedJoinHandle<'_, T> {}
// SAFETY: a shared handle gives no access to the `T`.
unsafe impl<T: Send> Sync for ScopedJoinHandle<'_, T> {}

impl<T> ScopedJoinHandle<'_, T> {
    /// The thread.
    #[must_use]
    pub fn thread(&self) -> ThreadRef {
        self.thread
    }

    /// Whether the thread has ended, so that [`ScopedJoinHandle::join`] would not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.has_ended()
    }

    /// Waits for the thread to end and returns its result. Cell and stack are free when the scope
    /// has ended.
    ///
    /// From threads.
    ///
    /// # Errors
    ///
    /// As [`JoinHandle::join`]. Also [`JoinError::Failed`] with [`Error::Thread`] if the scope's end
    /// has dropped the result already, which can only happen while it drops another one that holds
    /// this handle.
    pub fn join(self) -> Result<T, JoinError> {
        self.thread.wait().map_err(JoinError::Failed)?;
        let cell = self.thread.cell;
        if !cell.claim_result() {
            let returned = cell.outcome.load(Ordering::Acquire) & RETURNED != 0;
            return Err(if returned { JoinError::Failed(Error::Thread) } else { JoinError::Terminated });
        }
        // SAFETY: the result is in the slot and was granted to this call; the cell is freed when
        // the scope has ended, which this handle does not outlive.
        Ok(unsafe { cell.record().slot.cast::<T>().read() })
    }
}
