//! Event flags.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use threadx_sys::{TX_AND, TX_AND_CLEAR, TX_EVENT_FLAGS_GROUP, TX_OR, TX_OR_CLEAR, UINT};

use crate::claim::Claim;
use crate::error::check;
use crate::name::Name;
use crate::performance::EventFlagsCounts;
use crate::{Error, Timeout, service};

/// What [`EventFlags::get`] takes for an answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Match {
    /// One of the requested flags (`TX_OR`).
    Any,
    /// One of the requested flags; all requested flags are cleared then (`TX_OR_CLEAR`).
    AnyClear,
    /// All requested flags (`TX_AND`).
    All,
    /// All requested flags, which are cleared then (`TX_AND_CLEAR`).
    AllClear,
}

impl Match {
    const fn option(self) -> UINT {
        match self {
            Self::Any => TX_OR,
            Self::AnyClear => TX_OR_CLEAR,
            Self::All => TX_AND,
            Self::AllClear => TX_AND_CLEAR,
        }
    }
}

/// 32 flags that threads wait for in any combination (User Guide, chapter 3, "Event Flags").
///
/// A `static`: the kernel links it, so it can neither move nor go away. Until [`EventFlags::create`],
/// and after [`EventFlags::delete`], every method returns [`Error::Group`].
///
/// ```
/// # use core::ops::Range;
/// # struct Btcm;
/// # impl threadx::Region for Btcm {
/// #     const NAME: &'static str = "BTCM";
/// #     fn range() -> Range<usize> { 0..usize::MAX }
/// # }
/// # threadx::stack! { static STACK: Stack<Btcm, 2048>; }
/// use threadx::{Builder, EventFlags, Match, ThreadCell, Timeout};
///
/// const RECEIVED: u32 = 1 << 0;
/// const SENT: u32 = 1 << 1;
/// static UART: EventFlags = EventFlags::new();
/// static WORKER: ThreadCell = ThreadCell::new();
///
/// threadx::host::run(10, |_init| {
///     UART.create("uart").unwrap();
///     let worker = Builder::new("worker").spawn(&WORKER, STACK.take().unwrap(), || {
///         let seen = UART.get(RECEIVED | SENT, Match::AnyClear, Timeout::Forever).unwrap();
///         assert_eq!(seen, RECEIVED);
/// #       threadx::host::finish()
///     });
///     worker.unwrap().detach();
///     UART.set(RECEIVED).unwrap(); // an interrupt handler would
/// });
/// ```
#[repr(C)]
pub struct EventFlags {
    /// First, so that the kernel's pointer to the control block is a pointer to this.
    control: UnsafeCell<TX_EVENT_FLAGS_GROUP>,
    claim: Claim<false>,
    /// A `fn(&'static EventFlags)` or null.
    set_notify: AtomicPtr<()>,
    name: UnsafeCell<Name>,
}

// SAFETY: `control` is touched by the kernel only, under its own lock; `name` is written by the one
// who has claimed the group before it is created, and read afterwards.
unsafe impl Sync for EventFlags {}
// SAFETY: nothing is tied to a context.
unsafe impl Send for EventFlags {}

/// A snapshot of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct EventFlagsInfo {
    /// The flags that are set.
    pub flags: u32,
    /// How many threads wait.
    pub waiting: u32,
}

impl Default for EventFlags {
    fn default() -> Self {
        Self::new()
    }
}

impl EventFlags {
    /// A group that is not created yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            control: UnsafeCell::new(TX_EVENT_FLAGS_GROUP::new()),
            claim: Claim::new(),
            set_notify: AtomicPtr::new(null_mut()),
            name: UnsafeCell::new(Name::empty()),
        }
    }

    /// The control block, with the provenance of the whole so that the way back is allowed.
    fn control(&'static self) -> *mut TX_EVENT_FLAGS_GROUP {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    /// Creates the group with no flag set.
    ///
    /// From initialization and threads.
    ///
    /// # Errors
    ///
    /// [`Error::InUse`] if it exists; [`Error::Caller`] elsewhere and before the kernel is started.
    pub fn create(&'static self, name: &'static str) -> Result<(), Error> {
        // One step for threads, see `Claim`.
        critical_section::with(|_| {
            self.claim.take()?;
            self.set_notify.store(null_mut(), Ordering::Release);
            // SAFETY: claimed and not created: nobody else looks at the name.
            unsafe { *self.name.get() = Name::new(name) };
            // SAFETY: the control block is `'static`, not created, and nobody is inside; the name
            // stays in place until the group is deleted.
            let status = unsafe { threadx_sys::tx_event_flags_create(self.control(), (*self.name.get()).as_c()) };
            self.claim.created(check(status))
        })
    }

    /// Deletes the group: threads that wait get [`Error::Deleted`].
    ///
    /// From threads.
    ///
    /// # Errors
    ///
    /// [`Error::Group`], [`Error::Caller`].
    pub fn delete(&'static self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        self.claim.delete(Error::Group, || check(unsafe { threadx_sys::tx_event_flags_delete(self.control()) }))?;
        self.claim.release();
        Ok(())
    }

    /// Waits for `flags` as `wanted` says, as long as `timeout` says. Returns all flags of the group
    /// as they were when the request was met, before a clear; not just the requested ones.
    ///
    /// From any context with [`Timeout::NoWait`], else from threads.
    ///
    /// # Errors
    ///
    /// * [`Error::NoEvents`]: not in time; at once if `flags` is 0, and inside a critical section.
    /// * [`Error::Wait`]: a wait outside threads.
    /// * [`Error::Deleted`], [`Error::WaitAborted`]: the wait ended early.
    /// * [`Error::Group`].
    #[inline]
    pub fn get(&'static self, flags: u32, wanted: Match, timeout: impl Into<Timeout>) -> Result<u32, Error> {
        let mut seen = MaybeUninit::uninit();
        let (option, wait) = (wanted.option(), timeout.into().option());
        // SAFETY: control block and claim are this group's; `seen` is valid for writing.
        unsafe { service::event_flags_get(self.control(), &self.claim, flags, option, seen.as_mut_ptr(), wait) }?;
        // SAFETY: with success the kernel has written the flags.
        Ok(unsafe { seen.assume_init() })
    }

    /// Sets `flags` and wakes every thread whose request that meets. Threads that clear take their
    /// flags when all are woken: one flag can wake several.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Group`].
    #[inline]
    pub fn set(&'static self, flags: u32) -> Result<(), Error> {
        // SAFETY: control block and claim are this group's.
        unsafe { service::event_flags_set(self.control(), &self.claim, flags, TX_OR) }
    }

    /// Clears `flags`; the service is a set with `TX_AND` and the other flags. Wakes nobody.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Group`].
    #[inline]
    pub fn clear(&'static self, flags: u32) -> Result<(), Error> {
        // SAFETY: control block and claim are this group's.
        unsafe { service::event_flags_set(self.control(), &self.claim, !flags, TX_AND) }
    }

    /// Has `notify` called after each [`EventFlags::set`], in the setter's context, when the waiting
    /// threads have been made ready; `None` ends that. It is forgotten when the group is deleted.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureNotEnabled`], [`Error::Group`].
    pub fn set_set_notify(&'static self, notify: Option<fn(&'static Self)>) -> Result<(), Error> {
        unsafe extern "C-unwind" fn trampoline(control: *mut TX_EVENT_FLAGS_GROUP) {
            // SAFETY: registered for groups in a `'static EventFlags` only, whose first field the
            // control block is.
            let group: &'static EventFlags = unsafe { &*control.cast::<EventFlags>() };
            let notify = group.set_notify.load(Ordering::Acquire);
            if !notify.is_null() {
                // SAFETY: what is stored and not null is such a function.
                let notify = unsafe { core::mem::transmute::<*mut (), fn(&'static EventFlags)>(notify) };
                notify(group);
            }
        }
        // One step for everybody else, so that function and registration belong together.
        critical_section::with(|_| {
            let registered = notify.map(|_| trampoline as threadx_sys::EventFlagsNotify);
            // SAFETY: the service checks the control block; the trampoline stays for ever.
            check(unsafe { threadx_sys::tx_event_flags_set_notify(self.control(), registered) })?;
            self.set_notify.store(notify.map_or(null_mut(), |notify| notify as *mut ()), Ordering::Release);
            Ok(())
        })
    }

    /// A snapshot of flags and waiting threads. From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Group`].
    pub fn info(&'static self) -> Result<EventFlagsInfo, Error> {
        let (mut flags, mut waiting) = (0, 0);
        // SAFETY: the service checks the control block, writes to valid variables, skips nulls.
        check(unsafe {
            threadx_sys::tx_event_flags_info_get(
                self.control(),
                null_mut(),
                &raw mut flags,
                null_mut(),
                &raw mut waiting,
                null_mut(),
            )
        })?;
        Ok(EventFlagsInfo { flags, waiting })
    }

    /// What was counted, see [`performance`](crate::performance). From any context.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureNotEnabled`], [`Error::Group`].
    pub fn performance(&'static self) -> Result<EventFlagsCounts, Error> {
        EventFlagsCounts::of(self.control())
    }
}
