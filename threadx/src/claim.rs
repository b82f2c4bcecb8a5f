//! Who may create an object, and when a deleted one may be created again.
//!
//! A checked service looks at the object before it locks the kernel. In between the caller may be
//! preempted, and find the object deleted, or deleted and created again, when it goes on. With the
//! object's memory in place for ever that is harmless on the bundled kernel for most services: those that
//! are called often look under its lock at the flag kept here, the others take every step under one lock,
//! refuse to wait on what was deleted, and find either the deleted object or a whole new one, because
//! creation is one step for threads. What is left is counted: callers who are inside such a service, and
//! whoever holds memory that a creation would hand out a second time. While there is such a guest, a deleted
//! object stays deleted. A guest that never leaves (terminated, or its memory leaked) keeps it so for good.

use crate::Error;
use crate::critical;
use crate::start::check_ready;
use crate::sync::{AtomicBool, AtomicU32, Ordering};

/// The claim on an object's cell. Guests of it count always if `COUNTED`, otherwise on kernels only
/// that do not refuse a wait on a deleted object under their lock: upstream's.
pub(crate) struct Claim<const COUNTED: bool> {
    claimed: AtomicBool,
    /// The kernel has created the object and not deleted it. The bundled kernel reads it with its lock held.
    exists: AtomicBool,
    guests: AtomicU32,
}

impl<const COUNTED: bool> Claim<COUNTED> {
    const COUNTS: bool = COUNTED || !cfg!(feature = "bundled");

    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self { claimed: AtomicBool::new(false), exists: AtomicBool::new(false), guests: AtomicU32::new(0) }
    }

    /// Loom's atomics are not `const`.
    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self { claimed: AtomicBool::new(false), exists: AtomicBool::new(false), guests: AtomicU32::new(0) }
    }

    /// Gives the cell to the caller, who creates the object or calls [`Self::release`].
    pub(crate) fn take(&self) -> Result<(), Error> {
        check_ready()?;
        critical::with(|_| {
            if self.guests.load(Ordering::Acquire) != 0 || self.claimed.swap(true, Ordering::AcqRel) {
                Err(Error::InUse)
            } else {
                Ok(())
            }
        })
    }

    /// Says how the creation, which the caller has claimed, went; a failed one ends the claim.
    pub(crate) fn created(&self, result: Result<(), Error>) -> Result<(), Error> {
        match result {
            Ok(()) => self.exists.store(true, Ordering::Release),
            Err(_) => self.release(),
        }
        result
    }

    /// Calls the delete service in one step for everybody else, so that exactly one delete of each creation
    /// succeeds and nobody meets an object that is half gone. The claim is to be released later.
    ///
    /// # Errors
    ///
    /// `missing` also of an object that the kernel has created and its creator, interrupted, has not announced
    /// ([`Self::created`]): announced after the deletion it would exist for whoever asks the flag.
    pub(crate) fn delete(&self, missing: Error, service: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        critical::with(|_| {
            if !self.exists.load(Ordering::Acquire) {
                return Err(missing);
            }
            service()?;
            self.exists.store(false, Ordering::Release);
            Ok(())
        })
    }

    /// Where the bundled kernel finds whether the object exists.
    #[cfg(all(feature = "bundled", not(loom)))]
    #[inline(always)]
    pub(crate) fn exists(&self) -> &AtomicBool {
        &self.exists
    }

    /// The number of guests, for the bundled kernel, which changes it with its lock held: in one step for all who
    /// use it by an atomic one.
    #[cfg(all(feature = "bundled", not(loom)))]
    #[inline(always)]
    pub(crate) fn guests(&self) -> &AtomicU32 {
        &self.guests
    }

    /// Ends the claim: the object was not created, or is deleted.
    pub(crate) fn release(&self) {
        self.claimed.store(false, Ordering::Release);
    }

    /// Begins what must not meet a creation.
    #[inline(always)]
    pub(crate) fn enter(&self) {
        if Self::COUNTS {
            // Cannot overflow: each guest is a thread, or memory of the object.
            self.guests.fetch_add(1, Ordering::Acquire);
        }
    }

    /// Ends what [`Self::enter`] began.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        if Self::COUNTS {
            self.guests.fetch_sub(1, Ordering::Release);
        }
    }

    /// Calls a service as a guest. If the calling thread is terminated in it, it remains one.
    #[inline(always)]
    pub(crate) fn visit<R>(&self, service: impl FnOnce() -> R) -> R {
        self.enter();
        let result = service();
        self.leave();
        result
    }
}
