//! The performance services. This kernel counts nothing for them and says so, as the User Guide wants of a
//! kernel that was built without: every one returns `TX_FEATURE_NOT_ENABLED` and leaves its outputs alone.

use crate::types::*;

services! {
    /// `tx_thread_performance_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_thread_performance_info_get(
        thread_ptr: *mut crate::TX_THREAD, resumptions: *mut ULONG, suspensions: *mut ULONG,
        solicited_preemptions: *mut ULONG, interrupt_preemptions: *mut ULONG, priority_inversions: *mut ULONG,
        time_slices: *mut ULONG, relinquishes: *mut ULONG, timeouts: *mut ULONG, wait_aborts: *mut ULONG,
        last_preempted_by: *mut *mut crate::TX_THREAD,
    ) -> UINT {
        let _ = (thread_ptr, resumptions, suspensions, solicited_preemptions, interrupt_preemptions, priority_inversions);
        let _ = (time_slices, relinquishes, timeouts, wait_aborts, last_preempted_by);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_thread_performance_system_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_thread_performance_system_info_get(
        resumptions: *mut ULONG, suspensions: *mut ULONG, solicited_preemptions: *mut ULONG,
        interrupt_preemptions: *mut ULONG, priority_inversions: *mut ULONG, time_slices: *mut ULONG,
        relinquishes: *mut ULONG, timeouts: *mut ULONG, wait_aborts: *mut ULONG, non_idle_returns: *mut ULONG,
        idle_returns: *mut ULONG,
    ) -> UINT {
        let _ = (resumptions, suspensions, solicited_preemptions, interrupt_preemptions, priority_inversions, time_slices);
        let _ = (relinquishes, timeouts, wait_aborts, non_idle_returns, idle_returns);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_timer_performance_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_timer_performance_info_get(
        timer_ptr: *mut crate::TX_TIMER, activates: *mut ULONG, reactivates: *mut ULONG, deactivates: *mut ULONG,
        expirations: *mut ULONG, expiration_adjusts: *mut ULONG,
    ) -> UINT {
        let _ = (timer_ptr, activates, reactivates, deactivates, expirations, expiration_adjusts);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_timer_performance_system_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_timer_performance_system_info_get(
        activates: *mut ULONG, reactivates: *mut ULONG, deactivates: *mut ULONG, expirations: *mut ULONG,
        expiration_adjusts: *mut ULONG,
    ) -> UINT {
        let _ = (activates, reactivates, deactivates, expirations, expiration_adjusts);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_semaphore_performance_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_semaphore_performance_info_get(
        semaphore_ptr: *mut crate::TX_SEMAPHORE, puts: *mut ULONG, gets: *mut ULONG, suspensions: *mut ULONG,
        timeouts: *mut ULONG,
    ) -> UINT {
        let _ = (semaphore_ptr, puts, gets, suspensions, timeouts);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_semaphore_performance_system_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_semaphore_performance_system_info_get(
        puts: *mut ULONG, gets: *mut ULONG, suspensions: *mut ULONG, timeouts: *mut ULONG,
    ) -> UINT {
        let _ = (puts, gets, suspensions, timeouts);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_mutex_performance_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_mutex_performance_info_get(
        mutex_ptr: *mut crate::TX_MUTEX, puts: *mut ULONG, gets: *mut ULONG, suspensions: *mut ULONG,
        timeouts: *mut ULONG, inversions: *mut ULONG, inheritances: *mut ULONG,
    ) -> UINT {
        let _ = (mutex_ptr, puts, gets, suspensions, timeouts, inversions, inheritances);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_mutex_performance_system_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_mutex_performance_system_info_get(
        puts: *mut ULONG, gets: *mut ULONG, suspensions: *mut ULONG, timeouts: *mut ULONG, inversions: *mut ULONG,
        inheritances: *mut ULONG,
    ) -> UINT {
        let _ = (puts, gets, suspensions, timeouts, inversions, inheritances);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_event_flags_performance_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_event_flags_performance_info_get(
        group_ptr: *mut crate::TX_EVENT_FLAGS_GROUP, sets: *mut ULONG, gets: *mut ULONG, suspensions: *mut ULONG,
        timeouts: *mut ULONG,
    ) -> UINT {
        let _ = (group_ptr, sets, gets, suspensions, timeouts);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_event_flags_performance_system_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_event_flags_performance_system_info_get(
        sets: *mut ULONG, gets: *mut ULONG, suspensions: *mut ULONG, timeouts: *mut ULONG,
    ) -> UINT {
        let _ = (sets, gets, suspensions, timeouts);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_queue_performance_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_queue_performance_info_get(
        queue_ptr: *mut crate::TX_QUEUE, messages_sent: *mut ULONG, messages_received: *mut ULONG,
        empty_suspensions: *mut ULONG, full_suspensions: *mut ULONG, full_errors: *mut ULONG, timeouts: *mut ULONG,
    ) -> UINT {
        let _ = (queue_ptr, messages_sent, messages_received, empty_suspensions, full_suspensions, full_errors);
        let _ = (timeouts,);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_queue_performance_system_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_queue_performance_system_info_get(
        messages_sent: *mut ULONG, messages_received: *mut ULONG, empty_suspensions: *mut ULONG,
        full_suspensions: *mut ULONG, full_errors: *mut ULONG, timeouts: *mut ULONG,
    ) -> UINT {
        let _ = (messages_sent, messages_received, empty_suspensions, full_suspensions, full_errors, timeouts);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_block_pool_performance_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_block_pool_performance_info_get(
        pool_ptr: *mut crate::TX_BLOCK_POOL, allocates: *mut ULONG, releases: *mut ULONG, suspensions: *mut ULONG,
        timeouts: *mut ULONG,
    ) -> UINT {
        let _ = (pool_ptr, allocates, releases, suspensions, timeouts);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_block_pool_performance_system_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_block_pool_performance_system_info_get(
        allocates: *mut ULONG, releases: *mut ULONG, suspensions: *mut ULONG, timeouts: *mut ULONG,
    ) -> UINT {
        let _ = (allocates, releases, suspensions, timeouts);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_byte_pool_performance_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_byte_pool_performance_info_get(
        pool_ptr: *mut crate::TX_BYTE_POOL, allocates: *mut ULONG, releases: *mut ULONG,
        fragments_searched: *mut ULONG, merges: *mut ULONG, splits: *mut ULONG, suspensions: *mut ULONG,
        timeouts: *mut ULONG,
    ) -> UINT {
        let _ = (pool_ptr, allocates, releases, fragments_searched, merges, splits, suspensions, timeouts);
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_byte_pool_performance_system_info_get`: `TX_FEATURE_NOT_ENABLED`.
    fn _tx_byte_pool_performance_system_info_get(
        allocates: *mut ULONG, releases: *mut ULONG, fragments_searched: *mut ULONG, merges: *mut ULONG,
        splits: *mut ULONG, suspensions: *mut ULONG, timeouts: *mut ULONG,
    ) -> UINT {
        let _ = (allocates, releases, fragments_searched, merges, splits, suspensions, timeouts);
        TX_FEATURE_NOT_ENABLED
    }
}
