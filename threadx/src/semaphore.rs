//! Counting semaphores.

use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use threadx_sys::TX_SEMAPHORE;

use crate::claim::Claim;
use crate::error::check;
use crate::name::Name;
use crate::performance::SemaphoreCounts;
use crate::{Error, Timeout, service};

/// A counting semaphore with 32-bit count (User Guide, chapter 3, "Counting Semaphores").
///
/// A `static`: the kernel links it, so it can neither move nor go away. Until [`Semaphore::create`],
/// and after [`Semaphore::delete`], every method returns [`Error::Semaphore`].
///
/// ```no_run
/// use threadx::{Semaphore, Timeout};
///
/// static FREE_SLOTS: Semaphore = Semaphore::new();
///
/// threadx::start(|_init| {
///     FREE_SLOTS.create("free slots", 4).unwrap();
///     FREE_SLOTS.get(Timeout::NoWait).unwrap();
///     assert_eq!(FREE_SLOTS.info().unwrap().count, 3);
/// # std::process::exit(0);
/// })
/// ```
#[repr(C)]
pub struct Semaphore {
    /// First, so that the kernel's pointer to the control block is a pointer to this.
    control: UnsafeCell<TX_SEMAPHORE>,
    claim: Claim<false>,
    /// A `fn(&'static Semaphore)` or null.
    put_notify: AtomicPtr<()>,
    name: UnsafeCell<Name>,
}

// SAFETY: `control` is touched by the kernel only, under its own lock; `name` is written by the one
// who has claimed the semaphore before it is created, and read afterwards.
unsafe impl Sync for Semaphore {}
// SAFETY: nothing is tied to a context.
unsafe impl Send for Semaphore {}

/// A snapshot of a semaphore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SemaphoreInfo {
    /// The count.
    pub count: u32,
    /// How many threads wait.
    pub waiting: u32,
}

impl Default for Semaphore {
    fn default() -> Self {
        Self::new()
    }
}

impl Semaphore {
    /// A semaphore that is not created yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            control: UnsafeCell::new(TX_SEMAPHORE::new()),
            claim: Claim::new(),
            put_notify: AtomicPtr::new(null_mut()),
            name: UnsafeCell::new(Name::empty()),
        }
    }

    /// The control block, with the provenance of the whole so that the way back is allowed.
    fn control(&'static self) -> *mut TX_SEMAPHORE {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    /// Creates the semaphore with a count.
    ///
    /// From initialization and threads.
    ///
    /// # Errors
    ///
    /// [`Error::InUse`] if it exists; [`Error::Caller`] elsewhere and before the kernel is started.
    pub fn create(&'static self, name: &'static str, count: u32) -> Result<(), Error> {
        // One step for threads, see `Claim`.
        critical_section::with(|_| {
            self.claim.take()?;
            self.put_notify.store(null_mut(), Ordering::Release);
            // SAFETY: claimed and not created: nobody else looks at the name.
            unsafe { *self.name.get() = Name::new(name) };
            // SAFETY: the control block is `'static`, not created, and nobody is inside; the name stays
            // in place until the semaphore is deleted.
            let status = unsafe { threadx_sys::tx_semaphore_create(self.control(), (*self.name.get()).as_c(), count) };
            self.claim.created(check(status))
        })
    }

    /// Deletes the semaphore: threads that wait get [`Error::Deleted`].
    ///
    /// From threads.
    ///
    /// # Errors
    ///
    /// [`Error::Semaphore`], [`Error::Caller`].
    pub fn delete(&'static self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        self.claim.delete(Error::Semaphore, || check(unsafe { threadx_sys::tx_semaphore_delete(self.control()) }))?;
        self.claim.release();
        Ok(())
    }

    /// Takes one from the count, waiting for it as long as `timeout` says.
    ///
    /// From any context with [`Timeout::NoWait`], else from threads.
    ///
    /// # Errors
    ///
    /// * [`Error::NoInstance`]: the count stayed zero; inside a critical section at once.
    /// * [`Error::Wait`]: a wait outside threads.
    /// * [`Error::Deleted`], [`Error::WaitAborted`]: the wait ended early.
    /// * [`Error::Semaphore`].
    #[inline]
    pub fn get(&'static self, timeout: impl Into<Timeout>) -> Result<(), Error> {
        // SAFETY: control block and claim are this semaphore's.
        unsafe { service::semaphore_get(self.control(), &self.claim, timeout.into().option()) }
    }

    /// Gives one to the first waiting thread, or else adds one to the count, which wraps silently
    /// at 2^32: see [`Semaphore::ceiling_put`].
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Semaphore`].
    #[inline]
    pub fn put(&'static self) -> Result<(), Error> {
        // SAFETY: control block and claim are this semaphore's.
        unsafe { service::semaphore_put(self.control(), &self.claim) }
    }

    /// [`Semaphore::put`] unless that would lift the count above `ceiling`. With a waiting thread
    /// the ceiling is not looked at.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::CeilingExceeded`]; [`Error::InvalidCeiling`] for a ceiling of 0; [`Error::Semaphore`].
    pub fn ceiling_put(&'static self, ceiling: u32) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        self.claim.visit(|| check(unsafe { threadx_sys::tx_semaphore_ceiling_put(self.control(), ceiling) }))
    }

    /// Moves the first of the highest-priority waiting threads to the front, once.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Semaphore`].
    pub fn prioritize(&'static self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        critical_section::with(|_| check(unsafe { threadx_sys::tx_semaphore_prioritize(self.control()) }))
    }

    /// Has `notify` called after each put, in the putter's context, when the waiting thread has been
    /// made ready; `None` ends that. It is forgotten when the semaphore is deleted.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureNotEnabled`], [`Error::Semaphore`].
    pub fn set_put_notify(&'static self, notify: Option<fn(&'static Self)>) -> Result<(), Error> {
        unsafe extern "C-unwind" fn trampoline(control: *mut TX_SEMAPHORE) {
            // SAFETY: registered for semaphores in a `'static Semaphore` only, whose first field
            // the control block is.
            let semaphore: &'static Semaphore = unsafe { &*control.cast::<Semaphore>() };
            let notify = semaphore.put_notify.load(Ordering::Acquire);
            if !notify.is_null() {
                // SAFETY: what is stored and not null is such a function.
                let notify = unsafe { core::mem::transmute::<*mut (), fn(&'static Semaphore)>(notify) };
                notify(semaphore);
            }
        }
        // One step for everybody else, so that function and registration belong together.
        critical_section::with(|_| {
            let registered = notify.map(|_| trampoline as threadx_sys::SemaphoreNotify);
            // SAFETY: the service checks the control block; the trampoline stays for ever.
            check(unsafe { threadx_sys::tx_semaphore_put_notify(self.control(), registered) })?;
            self.put_notify.store(notify.map_or(null_mut(), |notify| notify as *mut ()), Ordering::Release);
            Ok(())
        })
    }

    /// A snapshot of count and waiting threads. From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Semaphore`].
    pub fn info(&'static self) -> Result<SemaphoreInfo, Error> {
        let (mut count, mut waiting) = (0, 0);
        // SAFETY: the service checks the control block, writes to valid variables, skips nulls.
        check(unsafe {
            threadx_sys::tx_semaphore_info_get(
                self.control(),
                null_mut(),
                &raw mut count,
                null_mut(),
                &raw mut waiting,
                null_mut(),
            )
        })?;
        Ok(SemaphoreInfo { count, waiting })
    }

    /// What was counted, see [`performance`](crate::performance). From any context.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureNotEnabled`], [`Error::Semaphore`].
    pub fn performance(&'static self) -> Result<SemaphoreCounts, Error> {
        SemaphoreCounts::of(self.control())
    }
}
