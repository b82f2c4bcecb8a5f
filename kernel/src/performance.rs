//! Performance information: what objects and the scheduler did, counted with the feature `performance-info`.
//!
//! Without the feature a [`Counter`] has no bytes and [`Counter::bump`] no instructions, so that the places that
//! count need no condition. Counters wrap; they are changed with interrupts masked only, so that no step is lost.
//!
//! # What counts what
//!
//! Where the User Guide's chapter 4 leaves it open, as in upstream's code:
//!
//! * Gets, puts, sets, sends, receives and allocations count calls, those that fail included; releases of memory
//!   of a byte pool only those that succeed.
//! * Suspensions on a full queue and its full errors are those of `tx_queue_send`, not of `tx_queue_front_send`.
//! * A ready thread whose priority is changed counts as suspended and resumed.
//! * A preemption is counted when the processor is taken; upstream's kernel counts the decision, which interrupts
//!   and disabled preemption can change again.
//! * Relinquishes have no counter of their own. The turn count of a thread, which every relinquish moves, less the
//!   turns it ended by suspending itself, is what it relinquished: the fast path stays as it is.

#[cfg(feature = "performance-info")]
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::kernel::Locked;
use crate::thread::Thread;
use crate::types::*;
use crate::wait::Caller;

/// Whether anything is counted.
pub(crate) const COUNTING: bool = cfg!(feature = "performance-info");

/// One count, modulo 2^32. An atomic for safe statics only: loads and stores, no exclusive access.
pub(crate) struct Counter {
    #[cfg(feature = "performance-info")]
    value: AtomicU32,
}

impl Counter {
    pub(crate) const fn new() -> Self {
        Self {
            #[cfg(feature = "performance-info")]
            value: AtomicU32::new(0),
        }
    }

    /// Zero without the feature.
    #[inline(always)]
    pub(crate) fn get(&self) -> ULONG {
        #[cfg(feature = "performance-info")]
        return self.value.load(Relaxed);
        #[cfg(not(feature = "performance-info"))]
        0
    }

    #[inline(always)]
    fn set(&self, value: ULONG) {
        #[cfg(feature = "performance-info")]
        self.value.store(value, Relaxed);
        #[cfg(not(feature = "performance-info"))]
        let _ = value;
    }

    #[inline(always)]
    pub(crate) fn add(&self, count: ULONG) {
        self.set(self.get().wrapping_add(count));
    }

    #[inline(always)]
    pub(crate) fn bump(&self) {
        self.add(1);
    }
}

macro_rules! groups {
    ($($(#[$doc:meta])* $Group:ident { $($counter:ident),* })*) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub(crate) struct $Group {
            $(pub(crate) $counter: Counter),*
        }

        impl $Group {
            pub(crate) const fn new() -> Self {
                Self { $($counter: Counter::new()),* }
            }

            #[cfg(not(target_os = "none"))]
            fn reset(&self) {
                $(self.$counter.set(0);)*
            }
        }
    )*};
}

groups! {
    /// Of a queue of waiting threads, or of all objects of a kind.
    WaitCounters { suspensions, full_suspensions, timeouts }
    /// Of a semaphore, or of all.
    SemaphoreCounters { puts, gets }
    /// Of a mutex, or of all.
    MutexCounters { puts, gets, inversions, inheritances }
    /// Of an event flags group, or of all.
    EventFlagsCounters { sets, gets }
    /// Of a queue, or of all.
    QueueCounters { sent, received, full_errors }
    /// Of a block pool, or of all.
    BlockPoolCounters { allocates, releases }
    /// Of a byte pool, or of all.
    BytePoolCounters { allocates, releases, searched, merges, splits }
    /// Of a timer, or of all, sleeps and timeouts of threads included.
    TimerCounters { activates, reactivates, deactivates, expirations, adjusts }
    /// Of a thread, or of all. `relinquishes`, modulo 2^32, is that of a thread less the turn count of its context:
    /// of all it is the sum of those that exist no more.
    ThreadCounters {
        resumptions, suspensions, solicited_preemptions, interrupt_preemptions, inversions, time_slices, relinquishes,
        timeouts, wait_aborts
    }
    /// Of the scheduler: where calls of threads left the processor to. Relinquishes are not among them.
    ReturnCounters { non_idle, idle }
}

/// Sums over all objects, those that exist no more included.
pub(crate) struct Totals {
    pub(crate) threads: ThreadCounters,
    pub(crate) returns: ReturnCounters,
    pub(crate) timers: TimerCounters,
    pub(crate) semaphores: SemaphoreCounters,
    pub(crate) mutexes: MutexCounters,
    pub(crate) event_flags: EventFlagsCounters,
    pub(crate) queues: QueueCounters,
    pub(crate) block_pools: BlockPoolCounters,
    pub(crate) byte_pools: BytePoolCounters,
    /// By the state of the threads that wait so.
    waits: [WaitCounters; WAIT_STATES],
}

const WAIT_STATES: usize = TX_MUTEX_SUSP as usize + 1;

pub(crate) static TOTALS: Totals = Totals {
    threads: ThreadCounters::new(),
    returns: ReturnCounters::new(),
    timers: TimerCounters::new(),
    semaphores: SemaphoreCounters::new(),
    mutexes: MutexCounters::new(),
    event_flags: EventFlagsCounters::new(),
    queues: QueueCounters::new(),
    block_pools: BlockPoolCounters::new(),
    byte_pools: BytePoolCounters::new(),
    waits: [const { WaitCounters::new() }; WAIT_STATES],
};

impl Totals {
    /// Of all objects on which threads wait in this state.
    #[inline(always)]
    pub(crate) fn waits(&self, state: UINT) -> &WaitCounters {
        &self.waits[state as usize % WAIT_STATES]
    }

    #[cfg(not(target_os = "none"))]
    pub(crate) fn reset(&self) {
        self.threads.reset();
        self.returns.reset();
        self.timers.reset();
        self.semaphores.reset();
        self.mutexes.reset();
        self.event_flags.reset();
        self.queues.reset();
        self.block_pools.reset();
        self.byte_pools.reset();
        self.waits.iter().for_each(WaitCounters::reset);
    }
}

/// Counts once for the object and once for all of its kind.
#[inline(always)]
pub(crate) fn bump(one: &Counter, all: &Counter) {
    one.bump();
    all.bump();
}

/// [`bump`] for a call that takes effect or may wait, not for one that is refused.
#[inline(always)]
pub(crate) fn count_call(one: &Counter, all: &Counter, caller: impl Caller) {
    if COUNTING && caller.admit() {
        bump(one, all);
    }
}

/// The thread that last took the processor from another: its address, which outlives it.
pub(crate) struct Preemptor {
    #[cfg(feature = "performance-info")]
    thread: core::cell::Cell<*mut crate::TX_THREAD>,
}

impl Preemptor {
    pub(crate) const fn new() -> Self {
        Self {
            #[cfg(feature = "performance-info")]
            thread: core::cell::Cell::new(core::ptr::null_mut()),
        }
    }

    /// Null if there was none, and without the feature.
    pub(crate) fn get(&self) -> *mut crate::TX_THREAD {
        #[cfg(feature = "performance-info")]
        return self.thread.get();
        #[cfg(not(feature = "performance-info"))]
        core::ptr::null_mut()
    }

    #[inline(always)]
    fn set(&self, thread: Thread) {
        #[cfg(feature = "performance-info")]
        self.thread.set(thread.as_ptr());
        #[cfg(not(feature = "performance-info"))]
        let _ = thread;
    }
}

/// A thread's call is about to leave the processor to `to`.
#[inline(always)]
pub(crate) fn count_return(to: Option<Thread>) {
    match to {
        Some(_) => TOTALS.returns.non_idle.bump(),
        None => TOTALS.returns.idle.bump(),
    }
}

impl Locked {
    /// Checks that every thread was made ready as often as it ceased to be, and once more if it is.
    pub(crate) fn check_performance(&self) -> Result<(), &'static str> {
        let mut result = Ok(());
        self.threads.for_each(|t| {
            let counts = &t.performance;
            let made_ready = counts.resumptions.get().wrapping_sub(counts.suspensions.get());
            if COUNTING && made_ready != ULONG::from(t.is_ready()) {
                result = Err("a thread's resumptions, its suspensions and its state disagree");
            }
        });
        result
    }
}

impl Thread {
    #[inline(always)]
    pub(crate) fn count_resumption(self) {
        bump(&self.performance.resumptions, &TOTALS.threads.resumptions);
    }

    #[inline(always)]
    pub(crate) fn count_suspension(self) {
        bump(&self.performance.suspensions, &TOTALS.threads.suspensions);
    }

    /// The thread suspends itself, which counts as a turn of its context but not as a relinquish.
    #[inline(always)]
    pub(crate) fn count_own_suspension(self) {
        self.count_suspension();
        self.performance.relinquishes.add(ULONG::MAX);
    }

    /// A tick has ended the thread's time-slice in favour of an equal.
    #[inline(always)]
    pub(crate) fn count_time_slice(self) {
        bump(&self.performance.time_slices, &TOTALS.threads.time_slices);
    }

    /// Whether `next` runs instead of this thread because it is the higher one: a preemption.
    #[inline(always)]
    fn preempted_by(self, next: Option<Thread>) -> Option<Thread> {
        next.filter(|next| COUNTING && self.is_ready() && next.priority.get() < self.priority.get())
    }

    /// `next` runs instead of this thread as a result of a call; counted if it preempts.
    #[inline(always)]
    pub(crate) fn count_solicited_preemption(self, next: Option<Thread>) {
        if let Some(next) = self.preempted_by(next) {
            bump(&self.performance.solicited_preemptions, &TOTALS.threads.solicited_preemptions);
            self.last_preempted_by.set(next);
        }
    }

    /// `next` runs after the interrupt that came while this thread ran; counted if it preempts.
    #[inline(always)]
    pub(crate) fn count_interrupt_preemption(self, next: Option<Thread>) {
        if let Some(next) = self.preempted_by(next) {
            bump(&self.performance.interrupt_preemptions, &TOTALS.threads.interrupt_preemptions);
            self.last_preempted_by.set(next);
        }
    }

    /// The thread's sleep or wait is over by time.
    #[inline(always)]
    pub(crate) fn count_timeout(self) {
        let state = self.state.get().into();
        if !COUNTING || state == TX_SLEEP {
            return;
        }
        bump(&self.performance.timeouts, &TOTALS.threads.timeouts);
        if let Some(queue) = self.wait_queue.get() {
            bump(&queue.performance.timeouts, &TOTALS.waits(state).timeouts);
        }
    }

    /// How often the thread has relinquished the processor to another.
    pub(crate) fn relinquishes(self) -> ULONG {
        self.performance.relinquishes.get().wrapping_add(self.context().turns())
    }

    /// The turn count of the context is about to begin anew.
    #[inline(always)]
    pub(crate) fn keep_relinquishes(self) {
        self.performance.relinquishes.add(self.context().turns());
    }

    /// The thread is deleted: what it relinquished remains part of the sum.
    #[inline(always)]
    pub(crate) fn bequeath_relinquishes(self) {
        TOTALS.threads.relinquishes.add(self.relinquishes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_wrap_and_without_the_feature_take_no_memory() {
        let (one, all) = (Counter::new(), Counter::new());
        one.set(ULONG::MAX - 1);
        bump(&one, &all);
        bump(&one, &all);
        bump(&one, &all);
        let expected = if COUNTING { (1, 3, size_of::<ULONG>()) } else { (0, 0, 0) };
        assert_eq!((one.get(), all.get(), size_of::<Counter>()), expected);
    }
}
