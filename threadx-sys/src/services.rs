//! The services by their documented names and, without checks, by their internal ones: the same list for
//! both kernels.

#[cfg(feature = "bundled")]
use kernel::c_api as c;

#[cfg(not(feature = "bundled"))]
use crate::upstream::raw as c;
use crate::{
    CHAR, TX_BLOCK_POOL, TX_BYTE_POOL, TX_EVENT_FLAGS_GROUP, TX_MUTEX, TX_QUEUE, TX_SEMAPHORE, TX_THREAD, TX_TIMER,
    ThreadEntry, TimerCallback, UINT, ULONG, VOID,
};

pub use c::{
    _tx_block_allocate, _tx_block_pool_create, _tx_block_pool_delete, _tx_block_pool_info_get,
    _tx_block_pool_prioritize, _tx_block_release, _tx_byte_allocate, _tx_byte_pool_create, _tx_byte_pool_delete,
    _tx_byte_pool_info_get, _tx_byte_pool_prioritize, _tx_byte_release, _tx_event_flags_create, _tx_event_flags_delete,
    _tx_event_flags_get, _tx_event_flags_info_get, _tx_event_flags_set, _tx_event_flags_set_notify,
    _tx_initialize_kernel_enter, _tx_mutex_create, _tx_mutex_delete, _tx_mutex_get, _tx_mutex_info_get,
    _tx_mutex_prioritize, _tx_mutex_put, _tx_queue_create, _tx_queue_delete, _tx_queue_flush, _tx_queue_front_send,
    _tx_queue_info_get, _tx_queue_prioritize, _tx_queue_receive, _tx_queue_send, _tx_queue_send_notify,
    _tx_semaphore_ceiling_put, _tx_semaphore_create, _tx_semaphore_delete, _tx_semaphore_get, _tx_semaphore_info_get,
    _tx_semaphore_prioritize, _tx_semaphore_put, _tx_semaphore_put_notify, _tx_thread_create, _tx_thread_delete,
    _tx_thread_entry_exit_notify, _tx_thread_identify, _tx_thread_info_get, _tx_thread_interrupt_control,
    _tx_thread_preemption_change, _tx_thread_priority_change, _tx_thread_relinquish, _tx_thread_reset,
    _tx_thread_resume, _tx_thread_sleep, _tx_thread_stack_error_notify, _tx_thread_suspend, _tx_thread_terminate,
    _tx_thread_time_slice_change, _tx_thread_wait_abort, _tx_time_get, _tx_time_set, _tx_timer_activate,
    _tx_timer_change, _tx_timer_create, _tx_timer_deactivate, _tx_timer_delete, _tx_timer_info_get,
    _tx_trace_buffer_full_notify, _tx_trace_disable, _tx_trace_enable, _tx_trace_event_filter,
    _tx_trace_event_unfilter, _tx_trace_isr_enter_insert, _tx_trace_isr_exit_insert, _tx_trace_user_event_insert,
};
// The performance services have no checked twins: they look at the object themselves, and without counters say so.
pub use c::{
    _tx_block_pool_performance_info_get, _tx_block_pool_performance_info_get as tx_block_pool_performance_info_get,
    _tx_block_pool_performance_system_info_get,
    _tx_block_pool_performance_system_info_get as tx_block_pool_performance_system_info_get,
    _tx_byte_pool_performance_info_get, _tx_byte_pool_performance_info_get as tx_byte_pool_performance_info_get,
    _tx_byte_pool_performance_system_info_get,
    _tx_byte_pool_performance_system_info_get as tx_byte_pool_performance_system_info_get,
    _tx_event_flags_performance_info_get, _tx_event_flags_performance_info_get as tx_event_flags_performance_info_get,
    _tx_event_flags_performance_system_info_get,
    _tx_event_flags_performance_system_info_get as tx_event_flags_performance_system_info_get,
    _tx_mutex_performance_info_get, _tx_mutex_performance_info_get as tx_mutex_performance_info_get,
    _tx_mutex_performance_system_info_get,
    _tx_mutex_performance_system_info_get as tx_mutex_performance_system_info_get, _tx_queue_performance_info_get,
    _tx_queue_performance_info_get as tx_queue_performance_info_get, _tx_queue_performance_system_info_get,
    _tx_queue_performance_system_info_get as tx_queue_performance_system_info_get, _tx_semaphore_performance_info_get,
    _tx_semaphore_performance_info_get as tx_semaphore_performance_info_get, _tx_semaphore_performance_system_info_get,
    _tx_semaphore_performance_system_info_get as tx_semaphore_performance_system_info_get,
    _tx_thread_performance_info_get, _tx_thread_performance_info_get as tx_thread_performance_info_get,
    _tx_thread_performance_system_info_get,
    _tx_thread_performance_system_info_get as tx_thread_performance_system_info_get, _tx_timer_performance_info_get,
    _tx_timer_performance_info_get as tx_timer_performance_info_get, _tx_timer_performance_system_info_get,
    _tx_timer_performance_system_info_get as tx_timer_performance_system_info_get,
};
// The documented names are the checked services, where there is a check to make.
pub use c::{
    _tx_initialize_kernel_enter as tx_kernel_enter, _tx_thread_identify as tx_thread_identify,
    _tx_thread_sleep as tx_thread_sleep, _tx_thread_stack_error_notify as tx_thread_stack_error_notify,
    _tx_time_get as tx_time_get, _tx_time_set as tx_time_set,
    _tx_trace_buffer_full_notify as tx_trace_buffer_full_notify, _tx_trace_disable as tx_trace_disable,
    _tx_trace_enable as tx_trace_enable, _tx_trace_event_filter as tx_trace_event_filter,
    _tx_trace_event_unfilter as tx_trace_event_unfilter, _tx_trace_isr_enter_insert as tx_trace_isr_enter_insert,
    _tx_trace_isr_exit_insert as tx_trace_isr_exit_insert, _tx_trace_user_event_insert as tx_trace_user_event_insert,
    _txe_block_allocate as tx_block_allocate, _txe_block_pool_delete as tx_block_pool_delete,
    _txe_block_pool_info_get as tx_block_pool_info_get, _txe_block_pool_prioritize as tx_block_pool_prioritize,
    _txe_block_release as tx_block_release, _txe_byte_allocate as tx_byte_allocate,
    _txe_byte_pool_delete as tx_byte_pool_delete, _txe_byte_pool_info_get as tx_byte_pool_info_get,
    _txe_byte_pool_prioritize as tx_byte_pool_prioritize, _txe_byte_release as tx_byte_release,
    _txe_event_flags_delete as tx_event_flags_delete, _txe_event_flags_get as tx_event_flags_get,
    _txe_event_flags_info_get as tx_event_flags_info_get, _txe_event_flags_set as tx_event_flags_set,
    _txe_event_flags_set_notify as tx_event_flags_set_notify, _txe_mutex_delete as tx_mutex_delete,
    _txe_mutex_get as tx_mutex_get, _txe_mutex_info_get as tx_mutex_info_get,
    _txe_mutex_prioritize as tx_mutex_prioritize, _txe_mutex_put as tx_mutex_put, _txe_queue_delete as tx_queue_delete,
    _txe_queue_flush as tx_queue_flush, _txe_queue_front_send as tx_queue_front_send,
    _txe_queue_info_get as tx_queue_info_get, _txe_queue_prioritize as tx_queue_prioritize,
    _txe_queue_receive as tx_queue_receive, _txe_queue_send as tx_queue_send,
    _txe_queue_send_notify as tx_queue_send_notify, _txe_semaphore_ceiling_put as tx_semaphore_ceiling_put,
    _txe_semaphore_delete as tx_semaphore_delete, _txe_semaphore_get as tx_semaphore_get,
    _txe_semaphore_info_get as tx_semaphore_info_get, _txe_semaphore_prioritize as tx_semaphore_prioritize,
    _txe_semaphore_put as tx_semaphore_put, _txe_semaphore_put_notify as tx_semaphore_put_notify,
    _txe_thread_delete as tx_thread_delete, _txe_thread_entry_exit_notify as tx_thread_entry_exit_notify,
    _txe_thread_info_get as tx_thread_info_get, _txe_thread_preemption_change as tx_thread_preemption_change,
    _txe_thread_priority_change as tx_thread_priority_change, _txe_thread_reset as tx_thread_reset,
    _txe_thread_resume as tx_thread_resume, _txe_thread_suspend as tx_thread_suspend,
    _txe_thread_terminate as tx_thread_terminate, _txe_thread_time_slice_change as tx_thread_time_slice_change,
    _txe_thread_wait_abort as tx_thread_wait_abort, _txe_timer_activate as tx_timer_activate,
    _txe_timer_change as tx_timer_change, _txe_timer_deactivate as tx_timer_deactivate,
    _txe_timer_delete as tx_timer_delete, _txe_timer_info_get as tx_timer_info_get,
};

/// Create services, checked, without their last argument: the size of the control block, which the C
/// macros append too.
macro_rules! create {
    ($($(#[$doc:meta])* $name:ident = $checked:ident($($argument:ident: $ty:ty),*) -> $block:ty;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// As documented for the service: control block, name and the memory given (stack, messages, pool)
            /// stay in place, and untouched by others, until the object is deleted; what a pool allocates is
            /// its user's until it is released.
            #[inline]
            pub unsafe fn $name($($argument: $ty),*) -> UINT {
                // SAFETY: the caller's promise.
                unsafe { c::$checked($($argument,)* size_of::<$block>() as UINT) }
            }
        )*
    };
}

create! {
    /// `tx_thread_create`, checked.
    #[expect(clippy::too_many_arguments, reason = "the documented signature")]
    tx_thread_create = _txe_thread_create(
        thread_ptr: *mut TX_THREAD, name_ptr: *mut CHAR, entry_function: Option<ThreadEntry>, entry_input: ULONG,
        stack_start: *mut VOID, stack_size: ULONG, priority: UINT, preempt_threshold: UINT, time_slice: ULONG,
        auto_start: UINT) -> TX_THREAD;
    /// `tx_timer_create`, checked.
    tx_timer_create = _txe_timer_create(
        timer_ptr: *mut TX_TIMER, name_ptr: *mut CHAR, expiration_function: Option<TimerCallback>,
        expiration_input: ULONG, initial_ticks: ULONG, reschedule_ticks: ULONG, auto_activate: UINT) -> TX_TIMER;
    /// `tx_semaphore_create`, checked.
    tx_semaphore_create = _txe_semaphore_create(
        semaphore_ptr: *mut TX_SEMAPHORE, name_ptr: *mut CHAR, initial_count: ULONG) -> TX_SEMAPHORE;
    /// `tx_mutex_create`, checked.
    tx_mutex_create = _txe_mutex_create(mutex_ptr: *mut TX_MUTEX, name_ptr: *mut CHAR, inherit: UINT) -> TX_MUTEX;
    /// `tx_event_flags_create`, checked.
    tx_event_flags_create = _txe_event_flags_create(
        group_ptr: *mut TX_EVENT_FLAGS_GROUP, name_ptr: *mut CHAR) -> TX_EVENT_FLAGS_GROUP;
    /// `tx_queue_create`, checked.
    tx_queue_create = _txe_queue_create(
        queue_ptr: *mut TX_QUEUE, name_ptr: *mut CHAR, message_size: UINT, queue_start: *mut VOID,
        queue_size: ULONG) -> TX_QUEUE;
    /// `tx_block_pool_create`, checked.
    tx_block_pool_create = _txe_block_pool_create(
        pool_ptr: *mut TX_BLOCK_POOL, name_ptr: *mut CHAR, block_size: ULONG, pool_start: *mut VOID,
        pool_size: ULONG) -> TX_BLOCK_POOL;
    /// `tx_byte_pool_create`, checked.
    tx_byte_pool_create = _txe_byte_pool_create(
        pool_ptr: *mut TX_BYTE_POOL, name_ptr: *mut CHAR, pool_start: *mut VOID, pool_size: ULONG) -> TX_BYTE_POOL;
}
