//! The performance services: what objects and the scheduler did, where the kernel was built with the feature
//! `performance-info` ([`crate::performance`] says what counts what).
//!
//! Null result pointers are skipped. What is no existing object is refused with `TX_PTR_ERROR`. Without the feature
//! every service returns `TX_FEATURE_NOT_ENABLED`, as the User Guide wants, and leaves its outputs alone.

use super::objects::{
    block_pool, byte_pool, event_flags, is_block_pool, is_byte_pool, is_event_flags, is_mutex, is_queue, mutex, queue,
};
use super::{is_semaphore, is_thread, is_timer, lock, put, semaphore, thread, timer};
use crate::performance::{COUNTING, TOTALS};
use crate::types::*;

/// The body of a service: refusals, then with the kernel locked each output's value.
macro_rules! tell {
    ($exists:expr, let $source:pat = $value:expr; $($to:ident: $count:expr,)*) => {
        if !COUNTING {
            TX_FEATURE_NOT_ENABLED
        } else if !$exists {
            TX_PTR_ERROR
        } else {
            let _k = lock();
            let $source = $value;
            $(put($to, $count);)*
            TX_SUCCESS
        }
    };
}

services! {
    /// `tx_thread_performance_info_get`: what the thread did.
    fn _tx_thread_performance_info_get(
        thread_ptr: *mut crate::TX_THREAD, resumptions: *mut ULONG, suspensions: *mut ULONG,
        solicited_preemptions: *mut ULONG, interrupt_preemptions: *mut ULONG, priority_inversions: *mut ULONG,
        time_slices: *mut ULONG, relinquishes: *mut ULONG, timeouts: *mut ULONG, wait_aborts: *mut ULONG,
        last_preempted_by: *mut *mut crate::TX_THREAD,
    ) -> UINT {
        tell! { is_thread(thread_ptr), let own = thread(thread_ptr);
            resumptions: own.performance.resumptions.get(),
            suspensions: own.performance.suspensions.get(),
            solicited_preemptions: own.performance.solicited_preemptions.get(),
            interrupt_preemptions: own.performance.interrupt_preemptions.get(),
            priority_inversions: own.performance.inversions.get(),
            time_slices: own.performance.time_slices.get(),
            relinquishes: own.relinquishes(),
            timeouts: own.performance.timeouts.get(),
            wait_aborts: own.performance.wait_aborts.get(),
            last_preempted_by: own.last_preempted_by.get(),
        }
    }

    /// `tx_thread_performance_system_info_get`: what all threads did, those that exist no more included. Looks at
    /// every thread with interrupts masked.
    fn _tx_thread_performance_system_info_get(
        resumptions: *mut ULONG, suspensions: *mut ULONG, solicited_preemptions: *mut ULONG,
        interrupt_preemptions: *mut ULONG, priority_inversions: *mut ULONG, time_slices: *mut ULONG,
        relinquishes: *mut ULONG, timeouts: *mut ULONG, wait_aborts: *mut ULONG, non_idle_returns: *mut ULONG,
        idle_returns: *mut ULONG,
    ) -> UINT {
        if !COUNTING {
            return TX_FEATURE_NOT_ENABLED;
        }
        let k = lock();
        let all = &TOTALS.threads;
        let mut relinquished = all.relinquishes.get();
        k.threads.for_each(|t| relinquished = relinquished.wrapping_add(t.relinquishes()));
        put(resumptions, all.resumptions.get());
        put(suspensions, all.suspensions.get());
        put(solicited_preemptions, all.solicited_preemptions.get());
        put(interrupt_preemptions, all.interrupt_preemptions.get());
        put(priority_inversions, all.inversions.get());
        put(time_slices, all.time_slices.get());
        put(relinquishes, relinquished);
        put(timeouts, all.timeouts.get());
        put(wait_aborts, all.wait_aborts.get());
        // A relinquish that is counted has left the processor to a thread.
        put(non_idle_returns, TOTALS.returns.non_idle.get().wrapping_add(relinquished));
        put(idle_returns, TOTALS.returns.idle.get());
        TX_SUCCESS
    }

    /// `tx_timer_performance_info_get`: what the timer did.
    fn _tx_timer_performance_info_get(
        timer_ptr: *mut crate::TX_TIMER, activates: *mut ULONG, reactivates: *mut ULONG, deactivates: *mut ULONG,
        expirations: *mut ULONG, expiration_adjusts: *mut ULONG,
    ) -> UINT {
        tell! { is_timer(timer_ptr), let own = timer(timer_ptr);
            activates: own.internal.performance.activates.get(),
            reactivates: own.internal.performance.reactivates.get(),
            deactivates: own.internal.performance.deactivates.get(),
            expirations: own.internal.performance.expirations.get(),
            expiration_adjusts: own.internal.performance.adjusts.get(),
        }
    }

    /// `tx_timer_performance_system_info_get`: the same of all timers together.
    fn _tx_timer_performance_system_info_get(
        activates: *mut ULONG, reactivates: *mut ULONG, deactivates: *mut ULONG, expirations: *mut ULONG,
        expiration_adjusts: *mut ULONG,
    ) -> UINT {
        tell! { true, let all = &TOTALS.timers;
            activates: all.activates.get(),
            reactivates: all.reactivates.get(),
            deactivates: all.deactivates.get(),
            expirations: all.expirations.get(),
            expiration_adjusts: all.adjusts.get(),
        }
    }

    /// `tx_semaphore_performance_info_get`: what the semaphore did.
    fn _tx_semaphore_performance_info_get(
        semaphore_ptr: *mut crate::TX_SEMAPHORE, puts: *mut ULONG, gets: *mut ULONG, suspensions: *mut ULONG,
        timeouts: *mut ULONG,
    ) -> UINT {
        tell! { is_semaphore(semaphore_ptr), let own = semaphore(semaphore_ptr);
            puts: own.performance.puts.get(),
            gets: own.performance.gets.get(),
            suspensions: own.waiters.performance.suspensions.get(),
            timeouts: own.waiters.performance.timeouts.get(),
        }
    }

    /// `tx_semaphore_performance_system_info_get`: the same of all semaphores together.
    fn _tx_semaphore_performance_system_info_get(
        puts: *mut ULONG, gets: *mut ULONG, suspensions: *mut ULONG, timeouts: *mut ULONG,
    ) -> UINT {
        tell! { true, let (all, waits) = (&TOTALS.semaphores, TOTALS.waits(TX_SEMAPHORE_SUSP));
            puts: all.puts.get(),
            gets: all.gets.get(),
            suspensions: waits.suspensions.get(),
            timeouts: waits.timeouts.get(),
        }
    }

    /// `tx_mutex_performance_info_get`: what the mutex did.
    fn _tx_mutex_performance_info_get(
        mutex_ptr: *mut crate::TX_MUTEX, puts: *mut ULONG, gets: *mut ULONG, suspensions: *mut ULONG,
        timeouts: *mut ULONG, inversions: *mut ULONG, inheritances: *mut ULONG,
    ) -> UINT {
        tell! { is_mutex(mutex_ptr), let own = mutex(mutex_ptr);
            puts: own.performance.puts.get(),
            gets: own.performance.gets.get(),
            suspensions: own.waiters.performance.suspensions.get(),
            timeouts: own.waiters.performance.timeouts.get(),
            inversions: own.performance.inversions.get(),
            inheritances: own.performance.inheritances.get(),
        }
    }

    /// `tx_mutex_performance_system_info_get`: the same of all mutexes together.
    fn _tx_mutex_performance_system_info_get(
        puts: *mut ULONG, gets: *mut ULONG, suspensions: *mut ULONG, timeouts: *mut ULONG, inversions: *mut ULONG,
        inheritances: *mut ULONG,
    ) -> UINT {
        tell! { true, let (all, waits) = (&TOTALS.mutexes, TOTALS.waits(TX_MUTEX_SUSP));
            puts: all.puts.get(),
            gets: all.gets.get(),
            suspensions: waits.suspensions.get(),
            timeouts: waits.timeouts.get(),
            inversions: all.inversions.get(),
            inheritances: all.inheritances.get(),
        }
    }

    /// `tx_event_flags_performance_info_get`: what the group did.
    fn _tx_event_flags_performance_info_get(
        group_ptr: *mut crate::TX_EVENT_FLAGS_GROUP, sets: *mut ULONG, gets: *mut ULONG, suspensions: *mut ULONG,
        timeouts: *mut ULONG,
    ) -> UINT {
        tell! { is_event_flags(group_ptr), let own = event_flags(group_ptr);
            sets: own.performance.sets.get(),
            gets: own.performance.gets.get(),
            suspensions: own.waiters.performance.suspensions.get(),
            timeouts: own.waiters.performance.timeouts.get(),
        }
    }

    /// `tx_event_flags_performance_system_info_get`: the same of all groups together.
    fn _tx_event_flags_performance_system_info_get(
        sets: *mut ULONG, gets: *mut ULONG, suspensions: *mut ULONG, timeouts: *mut ULONG,
    ) -> UINT {
        tell! { true, let (all, waits) = (&TOTALS.event_flags, TOTALS.waits(TX_EVENT_FLAG));
            sets: all.sets.get(),
            gets: all.gets.get(),
            suspensions: waits.suspensions.get(),
            timeouts: waits.timeouts.get(),
        }
    }

    /// `tx_queue_performance_info_get`: what the queue did.
    fn _tx_queue_performance_info_get(
        queue_ptr: *mut crate::TX_QUEUE, messages_sent: *mut ULONG, messages_received: *mut ULONG,
        empty_suspensions: *mut ULONG, full_suspensions: *mut ULONG, full_errors: *mut ULONG, timeouts: *mut ULONG,
    ) -> UINT {
        tell! { is_queue(queue_ptr), let own = queue(queue_ptr);
            messages_sent: own.performance.sent.get(),
            messages_received: own.performance.received.get(),
            empty_suspensions: own.waiters.performance.suspensions.get(),
            full_suspensions: own.waiters.performance.full_suspensions.get(),
            full_errors: own.performance.full_errors.get(),
            timeouts: own.waiters.performance.timeouts.get(),
        }
    }

    /// `tx_queue_performance_system_info_get`: the same of all queues together.
    fn _tx_queue_performance_system_info_get(
        messages_sent: *mut ULONG, messages_received: *mut ULONG, empty_suspensions: *mut ULONG,
        full_suspensions: *mut ULONG, full_errors: *mut ULONG, timeouts: *mut ULONG,
    ) -> UINT {
        tell! { true, let (all, waits) = (&TOTALS.queues, TOTALS.waits(TX_QUEUE_SUSP));
            messages_sent: all.sent.get(),
            messages_received: all.received.get(),
            empty_suspensions: waits.suspensions.get(),
            full_suspensions: waits.full_suspensions.get(),
            full_errors: all.full_errors.get(),
            timeouts: waits.timeouts.get(),
        }
    }

    /// `tx_block_pool_performance_info_get`: what the pool did.
    fn _tx_block_pool_performance_info_get(
        pool_ptr: *mut crate::TX_BLOCK_POOL, allocates: *mut ULONG, releases: *mut ULONG, suspensions: *mut ULONG,
        timeouts: *mut ULONG,
    ) -> UINT {
        tell! { is_block_pool(pool_ptr), let own = block_pool(pool_ptr);
            allocates: own.performance.allocates.get(),
            releases: own.performance.releases.get(),
            suspensions: own.waiters.performance.suspensions.get(),
            timeouts: own.waiters.performance.timeouts.get(),
        }
    }

    /// `tx_block_pool_performance_system_info_get`: the same of all block pools together.
    fn _tx_block_pool_performance_system_info_get(
        allocates: *mut ULONG, releases: *mut ULONG, suspensions: *mut ULONG, timeouts: *mut ULONG,
    ) -> UINT {
        tell! { true, let (all, waits) = (&TOTALS.block_pools, TOTALS.waits(TX_BLOCK_MEMORY));
            allocates: all.allocates.get(),
            releases: all.releases.get(),
            suspensions: waits.suspensions.get(),
            timeouts: waits.timeouts.get(),
        }
    }

    /// `tx_byte_pool_performance_info_get`: what the pool did.
    fn _tx_byte_pool_performance_info_get(
        pool_ptr: *mut crate::TX_BYTE_POOL, allocates: *mut ULONG, releases: *mut ULONG,
        fragments_searched: *mut ULONG, merges: *mut ULONG, splits: *mut ULONG, suspensions: *mut ULONG,
        timeouts: *mut ULONG,
    ) -> UINT {
        tell! { is_byte_pool(pool_ptr), let own = byte_pool(pool_ptr);
            allocates: own.performance.allocates.get(),
            releases: own.performance.releases.get(),
            fragments_searched: own.performance.searched.get(),
            merges: own.performance.merges.get(),
            splits: own.performance.splits.get(),
            suspensions: own.waiters.performance.suspensions.get(),
            timeouts: own.waiters.performance.timeouts.get(),
        }
    }

    /// `tx_byte_pool_performance_system_info_get`: the same of all byte pools together.
    fn _tx_byte_pool_performance_system_info_get(
        allocates: *mut ULONG, releases: *mut ULONG, fragments_searched: *mut ULONG, merges: *mut ULONG,
        splits: *mut ULONG, suspensions: *mut ULONG, timeouts: *mut ULONG,
    ) -> UINT {
        tell! { true, let (all, waits) = (&TOTALS.byte_pools, TOTALS.waits(TX_BYTE_MEMORY));
            allocates: all.allocates.get(),
            releases: all.releases.get(),
            fragments_searched: all.searched.get(),
            merges: all.merges.get(),
            splits: all.splits.get(),
            suspensions: waits.suspensions.get(),
            timeouts: waits.timeouts.get(),
        }
    }
}
