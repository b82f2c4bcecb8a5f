//! Performance information: what objects and the scheduler did (User Guide, chapter 4, the
//! `tx_*_performance_info_get` and `tx_*_performance_system_info_get` services).
//!
//! `performance()` of an object tells its own counts since its creation, the functions of this module those of
//! all objects of a kind since the start of the kernel, objects that exist no more included. All counts are
//! of 32 bits and wrap, so take differences with [`u32::wrapping_sub`]. Every answer is one snapshot.
//!
//! The kernel counts with the feature `performance-info` only, which makes control blocks larger and services a
//! little slower. Without it every answer is [`Error::FeatureNotEnabled`].
//!
//! Gets, puts, sets, sends, receives and allocations are calls that reached the object, those that failed
//! included. From any context; a call takes no time that depends on anything, but [`threads`], on the bundled
//! kernel, looks at every thread with interrupts masked.
//!
//! ```
//! use threadx::{Error, Semaphore, Timeout, performance};
//!
//! static SLOTS: Semaphore = Semaphore::new();
//!
//! threadx::host::run(1, |_init| {
//!     SLOTS.create("slots", 1).unwrap();
//!     SLOTS.get(Timeout::NoWait).unwrap();
//!     assert_eq!(SLOTS.get(Timeout::NoWait), Err(Error::NoInstance));
//!     match SLOTS.performance() {
//!         Ok(counts) => assert_eq!((counts.gets, counts.puts), (2, 0)),
//!         Err(error) => assert_eq!(error, Error::FeatureNotEnabled),
//!     }
//!     assert_eq!(performance::semaphores().is_ok(), cfg!(feature = "performance-info"));
//! });
//! ```

use core::ptr::null_mut;

use threadx_sys::{TX_PTR_ERROR, TX_THREAD, UINT};

use crate::error::check;
use crate::thread::registered;
use crate::{Error, ThreadRef};

/// Success, or why there are no counts; `missing` if there is no such object.
fn counted(status: UINT, missing: Error) -> Result<(), Error> {
    if status == TX_PTR_ERROR { Err(missing) } else { check(status) }
}

macro_rules! counts {
    ($(
        $(#[$doc:meta])*
        $Counts:ident of $Block:ident, else $missing:ident, by $own:ident;
        $(#[$all_doc:meta])*
        fn $all:ident by $system:ident {
            $($(#[$field_doc:meta])* $field:ident,)*
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        #[non_exhaustive]
        pub struct $Counts {
            $($(#[$field_doc])* pub $field: u32,)*
        }

        impl $Counts {
            pub(crate) fn of(control: *mut threadx_sys::$Block) -> Result<Self, Error> {
                let mut counts = Self::default();
                // SAFETY: the service checks the control block, which is `'static`, and writes to valid variables.
                let status = unsafe { threadx_sys::$own(control, $(&raw mut counts.$field),*) };
                counted(status, Error::$missing)?;
                Ok(counts)
            }
        }

        $(#[$all_doc])*
        ///
        /// # Errors
        ///
        /// [`Error::FeatureNotEnabled`].
        pub fn $all() -> Result<$Counts, Error> {
            let mut counts = $Counts::default();
            // SAFETY: the service writes to valid variables.
            check(unsafe { threadx_sys::$system($(&raw mut counts.$field),*) })?;
            Ok(counts)
        }
    )*};
}

counts! {
    /// What a timer did, or all of them.
    TimerCounts of TX_TIMER, else Timer, by tx_timer_performance_info_get;
    /// What all timers did. Expirations and adjustments of threads' sleeps and timeouts are among them.
    fn timers by tx_timer_performance_system_info_get {
        /// Activations, that of its creation included.
        activates,
        /// Activations by the kernel after an expiration: of periodic timers.
        reactivates,
        /// Calls of deactivate, on inactive timers too.
        deactivates,
        /// Expirations.
        expirations,
        /// Times that the kernel moved it without an expiration, because it was too far in the future for the
        /// kernel's list of 32 ticks.
        expiration_adjusts,
    }

    /// What a semaphore did, or all of them.
    SemaphoreCounts of TX_SEMAPHORE, else Semaphore, by tx_semaphore_performance_info_get;
    /// What all semaphores did. Joins of threads are waits on one.
    fn semaphores by tx_semaphore_performance_system_info_get {
        /// Puts.
        puts,
        /// Gets.
        gets,
        /// Waits that began.
        suspensions,
        /// Waits that ended by time.
        timeouts,
    }

    /// What a mutex did, or all of them.
    MutexCounts of TX_MUTEX, else Mutex, by tx_mutex_performance_info_get;
    /// What all mutexes did.
    fn mutexes by tx_mutex_performance_system_info_get {
        /// Unlocks, those of ending threads included.
        puts,
        /// Locks.
        gets,
        /// Waits that began.
        suspensions,
        /// Waits that ended by time.
        timeouts,
        /// Waits of a thread with a higher priority than the owner's.
        inversions,
        /// Times that such a wait raised the owner.
        inheritances,
    }

    /// What an event flags group did, or all of them.
    EventFlagsCounts of TX_EVENT_FLAGS_GROUP, else Group, by tx_event_flags_performance_info_get;
    /// What all event flags groups did.
    fn event_flags by tx_event_flags_performance_system_info_get {
        /// Sets, clears included.
        sets,
        /// Gets.
        gets,
        /// Waits that began.
        suspensions,
        /// Waits that ended by time.
        timeouts,
    }

    /// What a queue did, or all of them.
    QueueCounts of TX_QUEUE, else Queue, by tx_queue_performance_info_get;
    /// What all queues did. Creation and deletion receive what may be left in a queue.
    fn queues by tx_queue_performance_system_info_get {
        /// Sends, front sends included.
        messages_sent,
        /// Receives.
        messages_received,
        /// Waits that receivers began.
        empty_suspensions,
        /// Waits that senders began; front sends are not counted here.
        full_suspensions,
        /// Sends that were refused at once because the queue was full; front sends are not counted here.
        full_errors,
        /// Waits that ended by time.
        timeouts,
    }

    /// What a block pool did, or all of them.
    BlockPoolCounts of TX_BLOCK_POOL, else Pool, by tx_block_pool_performance_info_get;
    /// What all block pools did.
    fn block_pools by tx_block_pool_performance_system_info_get {
        /// Allocations.
        allocates,
        /// Releases.
        releases,
        /// Waits that began.
        suspensions,
        /// Waits that ended by time.
        timeouts,
    }

    /// What a byte pool did, or all of them.
    BytePoolCounts of TX_BYTE_POOL, else Pool, by tx_byte_pool_performance_info_get;
    /// What all byte pools did.
    fn byte_pools by tx_byte_pool_performance_system_info_get {
        /// Allocations.
        allocates,
        /// Releases.
        releases,
        /// Pieces of memory that searches looked at: what allocations cost. The bundled kernel's searches end earlier
        /// where there is nothing to find.
        fragments_searched,
        /// Neighbouring free pieces made one.
        merges,
        /// Free pieces divided.
        splits,
        /// Waits that began.
        suspensions,
        /// Waits that ended by time.
        timeouts,
    }
}

/// What a thread did, or all of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct ThreadCounts {
    /// Times it was made ready, its start included.
    pub resumptions: u32,
    /// Times it ceased to be ready, its end included. Both also count each change of the priority, an inherited one
    /// included, of a ready thread.
    pub suspensions: u32,
    /// Times a higher thread took the processor because of a service that this thread called.
    pub solicited_preemptions: u32,
    /// Times a higher thread took the processor after an interrupt.
    pub interrupt_preemptions: u32,
    /// Waits on mutexes of threads with a lower priority.
    pub priority_inversions: u32,
    /// Time slices that ended in favour of an equal thread.
    pub time_slices: u32,
    /// Relinquishes that let another thread run.
    pub relinquishes: u32,
    /// Waits that ended by time; sleeps are not among them.
    pub timeouts: u32,
    /// Waits and sleeps that were aborted.
    pub wait_aborts: u32,
}

/// What the scheduler did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct SystemCounts {
    /// What all threads did, the system timer thread included.
    pub threads: ThreadCounts,
    /// Times a thread's call left the processor to another thread.
    pub non_idle_returns: u32,
    /// Times a thread's call left the processor idle.
    pub idle_returns: u32,
}

impl ThreadCounts {
    pub(crate) fn of(control: *mut TX_THREAD) -> Result<(Self, Option<ThreadRef>), Error> {
        let (mut counts, mut by) = (Self::default(), null_mut());
        // SAFETY: the service checks the control block, which is `'static`, and writes to valid variables.
        let status = unsafe {
            threadx_sys::tx_thread_performance_info_get(
                control,
                &raw mut counts.resumptions,
                &raw mut counts.suspensions,
                &raw mut counts.solicited_preemptions,
                &raw mut counts.interrupt_preemptions,
                &raw mut counts.priority_inversions,
                &raw mut counts.time_slices,
                &raw mut counts.relinquishes,
                &raw mut counts.timeouts,
                &raw mut counts.wait_aborts,
                &raw mut by,
            )
        };
        counted(status, Error::Thread)?;
        Ok((counts, if by.is_null() { None } else { registered(by) }))
    }
}

/// What all threads and the scheduler did.
///
/// # Errors
///
/// [`Error::FeatureNotEnabled`].
pub fn threads() -> Result<SystemCounts, Error> {
    let mut counts = SystemCounts::default();
    let threads = &mut counts.threads;
    // SAFETY: the service writes to valid variables.
    check(unsafe {
        threadx_sys::tx_thread_performance_system_info_get(
            &raw mut threads.resumptions,
            &raw mut threads.suspensions,
            &raw mut threads.solicited_preemptions,
            &raw mut threads.interrupt_preemptions,
            &raw mut threads.priority_inversions,
            &raw mut threads.time_slices,
            &raw mut threads.relinquishes,
            &raw mut threads.timeouts,
            &raw mut threads.wait_aborts,
            &raw mut counts.non_idle_returns,
            &raw mut counts.idle_returns,
        )
    })?;
    Ok(counts)
}
