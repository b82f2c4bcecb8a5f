//! Mutexes that own what they protect.

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};

use threadx_sys::{TX_INHERIT, TX_MUTEX, TX_NO_INHERIT, ULONG};

use crate::claim::Claim;
use crate::error::check;
use crate::name::Name;
use crate::performance::MutexCounts;
use crate::thread::{ThreadRef, registered};
use crate::{Error, Timeout, start};

/// Somebody has the value.
const HELD: u32 = 1;

/// Whether a mutex lends its owner the priority of threads that wait for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Inheritance {
    /// Waiting threads are served in the order they came; see [`Mutex::prioritize`].
    Off,
    /// The owner runs at the priority of the highest thread that waits, which is also served first.
    #[default]
    On,
}

/// A value that one thread at a time can reach (User Guide, chapter 3, "Mutexes").
///
/// A `static`: the kernel links it, so it can neither move nor go away. Until [`Mutex::create`], and
/// after [`Mutex::delete`], every method returns [`Error::Mutex`].
///
/// ```
/// # use core::ops::Range;
/// # struct Btcm;
/// # impl threadx::Region for Btcm {
/// #     const NAME: &'static str = "BTCM";
/// #     fn range() -> Range<usize> { 0..usize::MAX }
/// # }
/// # threadx::stack! { static STACK: Stack<Btcm, 2048>; }
/// use threadx::{Builder, Inheritance, Mutex, ThreadCell, Timeout};
///
/// static TOTAL: Mutex<u32> = Mutex::new(40);
/// static WORKER: ThreadCell = ThreadCell::new();
///
/// threadx::host::run(10, |_init| {
///     TOTAL.create("total", Inheritance::On).unwrap();
///     let worker = Builder::new("worker").spawn(&WORKER, STACK.take().unwrap(), || {
///         *TOTAL.lock(Timeout::Forever).unwrap() += 2;
///         assert_eq!(*TOTAL.lock(Timeout::NoWait).unwrap(), 42);
/// #       threadx::host::finish()
///     });
///     worker.unwrap().detach();
/// });
/// ```
///
/// # Locking twice
///
/// ThreadX lets an owner get its mutex again. Here that would be a second `&mut T`, so a second lock by
/// the owner is [`Error::Recursion`], whatever the timeout. All timers run in one thread, the system
/// timer thread, and so count as one owner.
///
/// # Poison
///
/// When a thread ends, completed or terminated, the kernel takes its mutexes from it. If the thread
/// still had a guard (a terminated thread, or one that forgot its guard), it may have stopped in the
/// middle of a change, with the value in no valid state, and threads of a
/// [`scope`](crate::scope()) in its frames may still use the borrow. The mutex is poisoned then: each
/// further lock is [`Error::Poisoned`], for ever, and so is a new creation after a deletion. Only the
/// `unsafe` [`Mutex::clear_poison`] ends it.
///
/// # Deletion
///
/// Waiting threads get [`Error::Deleted`]. A guard stays valid, and until it is dropped the mutex
/// cannot be created again.
#[repr(C)]
pub struct Mutex<T> {
    control: UnsafeCell<TX_MUTEX>,
    claim: Claim<false>,
    /// The access to `value`: bit [`HELD`]; above it the number of the creation, which cannot change
    /// while the bit is set. The kernel's mutex only has others wait for it, so whatever happens to that
    /// one (deletion, the end of its owner), nobody reaches a value that somebody else may use.
    access: AtomicU32,
    name: UnsafeCell<Name>,
    value: UnsafeCell<T>,
}

// SAFETY: `control` is touched by the kernel only, under its own lock; `name` is written by the one
// who has claimed the mutex before it is created, and read afterwards; `value` is reached by the one
// who has set `HELD`. Threads that lock one after the other hand the value on, so it must be `Send`.
unsafe impl<T: Send> Sync for Mutex<T> {}
// SAFETY: nothing but the value could be tied to a context.
unsafe impl<T: Send> Send for Mutex<T> {}

/// A snapshot of a mutex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MutexInfo {
    /// Whether somebody owns it.
    pub locked: bool,
    /// The owner, if it is a thread that this crate has created.
    pub owner: Option<ThreadRef>,
    /// How many threads wait.
    pub waiting: u32,
}

/// The kernel's side: gets without a put, and the owner.
struct Ownership {
    count: u32,
    owner: *mut threadx_sys::TX_THREAD,
    waiting: u32,
}

impl<T> Mutex<T> {
    /// A mutex with its value, not created yet.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            control: UnsafeCell::new(TX_MUTEX::new()),
            claim: Claim::new(),
            access: AtomicU32::new(0),
            name: UnsafeCell::new(Name::empty()),
            value: UnsafeCell::new(value),
        }
    }

    fn control(&'static self) -> *mut TX_MUTEX {
        self.control.get()
    }

    /// Creates the mutex, unlocked.
    ///
    /// From initialization and threads.
    ///
    /// # Errors
    ///
    /// [`Error::InUse`] if it exists, or was deleted and a guard of it is still there;
    /// [`Error::Caller`] elsewhere and before the kernel is started.
    pub fn create(&'static self, name: &'static str, inheritance: Inheritance) -> Result<(), Error> {
        let inherit = match inheritance {
            Inheritance::Off => TX_NO_INHERIT,
            Inheritance::On => TX_INHERIT,
        };
        // One step for threads, see `Claim`.
        critical_section::with(|_| {
            self.claim.take()?;
            let access = self.access.load(Ordering::Acquire);
            let created = if access & HELD != 0 {
                Err(Error::InUse)
            } else {
                self.access.store(access.wrapping_add(HELD + 1), Ordering::Release);
                // SAFETY: claimed and not created: nobody else looks at the name.
                unsafe { *self.name.get() = Name::new(name) };
                // SAFETY: the control block is `'static`, not created, and nobody is inside; the name
                // stays in place until the mutex is deleted.
                check(unsafe { threadx_sys::tx_mutex_create(self.control(), (*self.name.get()).as_c(), inherit) })
            };
            self.claim.created(created)
        })
    }

    /// Deletes the mutex: threads that wait get [`Error::Deleted`], the owner keeps its guard and
    /// loses an inherited priority.
    ///
    /// From threads.
    ///
    /// # Errors
    ///
    /// [`Error::Mutex`], [`Error::Caller`].
    pub fn delete(&'static self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        self.claim.delete(Error::Mutex, || check(unsafe { threadx_sys::tx_mutex_delete(self.control()) }))?;
        self.claim.release();
        Ok(())
    }

    /// Waits for the mutex as long as `timeout` says, and gives access to the value until the guard
    /// is dropped.
    ///
    /// From threads; from timer callbacks with [`Timeout::NoWait`]. Not in initialization, where
    /// ThreadX allows it: there is no thread that could own the mutex, so a guard that was forgotten
    /// there would lock it for ever (and upstream's kernel would look for an owner's priority at
    /// address 0).
    ///
    /// # Errors
    ///
    /// * [`Error::NotAvailable`]: not free in time; inside a critical section at once.
    /// * [`Error::Recursion`]: the caller has it already.
    /// * [`Error::Poisoned`]: the last owner ended without giving it back.
    /// * [`Error::Caller`]: in interrupts and initialization.
    /// * [`Error::Wait`]: a wait outside threads.
    /// * [`Error::Deleted`], [`Error::WaitAborted`]: the wait ended early.
    /// * [`Error::Mutex`].
    #[inline(always)]
    pub fn lock(&'static self, timeout: impl Into<Timeout>) -> Result<MutexGuard<T>, Error> {
        let wait = timeout.into().option();
        #[cfg(feature = "bundled")]
        {
            use threadx_sys::direct::{MutexGet, mutex_get};
            // SAFETY: control block and claim are this mutex's. The bit is set in one step with the kernel's
            // mutex, which existed: so it stands for the guard made here and no other, as in `lock_any`.
            match unsafe { mutex_get(self.control(), self.claim.exists(), &self.access, HELD, wait) } {
                MutexGet::Taken => return Ok(MutexGuard { mutex: self, not_send: PhantomData }),
                MutexGet::Granted(access) => return self.access(access & !HELD),
                MutexGet::Refused(status) => return Err(Error::from_code(status)),
                MutexGet::Unfit => {}
            }
        }
        self.lock_any(wait)
    }

    /// The guard of whom the kernel has granted the mutex, unless the value is not free, or belongs to another creation
    /// than that of `free`.
    #[inline(always)]
    fn access(&'static self, free: u32) -> Result<MutexGuard<T>, Error> {
        match self.access.compare_exchange(free, free | HELD, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(MutexGuard { mutex: self, not_send: PhantomData }),
            Err(access) => Err(self.refuse(access & !HELD == free)),
        }
    }

    /// [`Self::lock`] of a mutex that need not be free, or by a caller that need not be a thread.
    #[cfg_attr(feature = "bundled", inline(never))]
    fn lock_any(&'static self, wait: ULONG) -> Result<MutexGuard<T>, Error> {
        if start::initializing() {
            return Err(Error::Caller);
        }
        self.claim.enter();
        let free = self.access.load(Ordering::Relaxed) & !HELD;
        // SAFETY: the service checks the control block and the context.
        let got = check(unsafe { threadx_sys::tx_mutex_get(self.control(), wait) });
        let locked = got.and_then(|()| self.access(free));
        if locked.is_err() {
            self.claim.leave();
        }
        locked
    }

    /// Gives back what the kernel granted while the value is not free, or belongs to another creation,
    /// and says why.
    #[cold]
    fn refuse(&'static self, same: bool) -> Error {
        let ownership = self.ownership();
        // SAFETY: the service checks control block and context. If it refuses, the mutex was deleted
        // meanwhile and there is nothing to give back.
        let _ = unsafe { threadx_sys::tx_mutex_put(self.control()) };
        // SAFETY: no precondition.
        let me = unsafe { threadx_sys::tx_thread_identify() };
        match ownership {
            Ok(Ownership { count, owner, .. }) if same && owner == me => {
                if count == 1 {
                    Error::Poisoned
                } else {
                    Error::Recursion
                }
            }
            Ok(_) | Err(_) => Error::Deleted,
        }
    }

    fn ownership(&'static self) -> Result<Ownership, Error> {
        let (mut count, mut owner, mut waiting) = (0, null_mut(), 0);
        // SAFETY: the service checks the control block, writes to valid variables, skips nulls.
        check(unsafe {
            threadx_sys::tx_mutex_info_get(
                self.control(),
                null_mut(),
                &raw mut count,
                &raw mut owner,
                null_mut(),
                &raw mut waiting,
                null_mut(),
            )
        })?;
        Ok(Ownership { count, owner, waiting })
    }

    /// Whether the last owner ended without giving the mutex back: it is held, but nobody owns it.
    ///
    /// A snapshot. From any context.
    #[must_use]
    pub fn is_poisoned(&'static self) -> bool {
        critical_section::with(|_| {
            self.access.load(Ordering::Acquire) & HELD != 0
                && self.ownership().is_ok_and(|ownership| ownership.count == 0)
        })
    }

    /// Makes a poisoned mutex usable again.
    ///
    /// From any context.
    ///
    /// # Safety
    ///
    /// The value is in a valid state (not in the middle of an assignment, a `mem::swap` or a `Vec`'s
    /// growth), and nothing uses a borrow that came from the ended thread's guard: neither threads of
    /// its scopes nor anybody it has given a leaked guard's `&'static mut T`.
    ///
    /// # Errors
    ///
    /// [`Error::NotAvailable`]: the mutex is owned, so not poisoned (any more). [`Error::Mutex`].
    pub unsafe fn clear_poison(&'static self) -> Result<(), Error> {
        // One step for everybody else: nobody gets the mutex between check and release.
        critical_section::with(|_| {
            if self.ownership()?.count != 0 {
                return Err(Error::NotAvailable);
            }
            if self.access.fetch_and(!HELD, Ordering::AcqRel) & HELD != 0 {
                // The ended owner's `enter`.
                self.claim.leave();
            }
            Ok(())
        })
    }

    /// Moves the first of the highest-priority waiting threads to the front, once.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Mutex`].
    pub fn prioritize(&'static self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        critical_section::with(|_| check(unsafe { threadx_sys::tx_mutex_prioritize(self.control()) }))
    }

    /// A snapshot of owner and waiting threads. From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Mutex`].
    pub fn info(&'static self) -> Result<MutexInfo, Error> {
        let Ownership { count, owner, waiting } = self.ownership()?;
        let owner = if owner.is_null() { None } else { registered(owner) };
        Ok(MutexInfo { locked: count != 0, owner, waiting })
    }

    /// What was counted, see [`performance`](crate::performance). From any context.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureNotEnabled`], [`Error::Mutex`].
    pub fn performance(&'static self) -> Result<MutexCounts, Error> {
        MutexCounts::of(self.control())
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// Access to the value of a locked [`Mutex`]; dropping it unlocks.
///
/// It stays with the thread that locked. Forgetting it leaves the mutex locked, and poisoned when the
/// thread ends.
#[must_use = "the mutex is unlocked at once"]
pub struct MutexGuard<T: 'static> {
    mutex: &'static Mutex<T>,
    /// Only the owner can put a mutex: neither `Send` nor, by this, `Sync`.
    not_send: PhantomData<*mut ()>,
}

// SAFETY: a shared guard gives out `&T` only.
unsafe impl<T: Sync> Sync for MutexGuard<T> {}

impl<T> Deref for MutexGuard<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard stands for `HELD`, which one guard at a time does.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed exclusively.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for MutexGuard<T> {
    #[inline]
    fn drop(&mut self) {
        // On a development machine a terminated thread unwinds through its frames, up to the first
        // service. That must come before the value is free, as on a target no drop runs at all.
        #[cfg(not(target_os = "none"))]
        // SAFETY: no precondition.
        let _ = unsafe { threadx_sys::tx_thread_identify() };
        // First, because the next owner runs as soon as the kernel has the mutex.
        // Not a read-modify-write: while the bit is set nobody else changes the word.
        let access = self.mutex.access.load(Ordering::Relaxed);
        self.mutex.access.store(access & !HELD, Ordering::Release);
        #[cfg(feature = "bundled")]
        use threadx_sys::direct::mutex_put as put;
        #[cfg(not(feature = "bundled"))]
        use threadx_sys::tx_mutex_put as put;
        // Refused if the mutex was deleted: there is nothing to give back then.
        // SAFETY: the checked service checks the control block, and the bundled kernel's refuses whoever is not
        // the owner; the guard stayed with the thread that locked.
        let _ = unsafe { put(self.mutex.control()) };
        self.mutex.claim.leave();
    }
}

impl<T: fmt::Debug> fmt::Debug for MutexGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: fmt::Display> fmt::Display for MutexGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}
