//! The bundled kernel under the names of this crate.

pub use kernel::c_api::{
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
    _tx_thread_preempt_disable_enter, _tx_thread_preempt_disable_exit, _tx_thread_preemption_change,
    _tx_thread_priority_change, _tx_thread_relinquish, _tx_thread_reset, _tx_thread_resume, _tx_thread_sleep,
    _tx_thread_stack_error_notify, _tx_thread_suspend, _tx_thread_terminate, _tx_thread_time_slice_change,
    _tx_thread_wait_abort, _tx_time_get, _tx_time_set, _tx_timer_activate, _tx_timer_change, _tx_timer_create,
    _tx_timer_deactivate, _tx_timer_delete, _tx_timer_info_get, _tx_timer_interrupt, relinquish_inline,
};
// The documented names are the checked services, where there is a check to make.
pub use kernel::c_api::{
    _tx_initialize_kernel_enter as tx_kernel_enter, _tx_thread_identify as tx_thread_identify,
    _tx_thread_interrupt_control as tx_interrupt_control,
    _tx_thread_preempt_disable_enter as tx_thread_preempt_disable_enter,
    _tx_thread_preempt_disable_exit as tx_thread_preempt_disable_exit, _tx_thread_sleep as tx_thread_sleep,
    _tx_thread_stack_error_notify as tx_thread_stack_error_notify, _tx_time_get as tx_time_get,
    _tx_time_set as tx_time_set, _txe_block_allocate as tx_block_allocate,
    _txe_block_pool_delete as tx_block_pool_delete, _txe_block_pool_info_get as tx_block_pool_info_get,
    _txe_block_pool_prioritize as tx_block_pool_prioritize, _txe_block_release as tx_block_release,
    _txe_byte_allocate as tx_byte_allocate, _txe_byte_pool_delete as tx_byte_pool_delete,
    _txe_byte_pool_info_get as tx_byte_pool_info_get, _txe_byte_pool_prioritize as tx_byte_pool_prioritize,
    _txe_byte_release as tx_byte_release, _txe_event_flags_delete as tx_event_flags_delete,
    _txe_event_flags_get as tx_event_flags_get, _txe_event_flags_info_get as tx_event_flags_info_get,
    _txe_event_flags_set as tx_event_flags_set, _txe_event_flags_set_notify as tx_event_flags_set_notify,
    _txe_mutex_delete as tx_mutex_delete, _txe_mutex_get as tx_mutex_get, _txe_mutex_info_get as tx_mutex_info_get,
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
    _txe_thread_priority_change as tx_thread_priority_change, _txe_thread_relinquish as tx_thread_relinquish,
    _txe_thread_reset as tx_thread_reset, _txe_thread_resume as tx_thread_resume,
    _txe_thread_suspend as tx_thread_suspend, _txe_thread_terminate as tx_thread_terminate,
    _txe_thread_time_slice_change as tx_thread_time_slice_change, _txe_thread_wait_abort as tx_thread_wait_abort,
    _txe_timer_activate as tx_timer_activate, _txe_timer_change as tx_timer_change,
    _txe_timer_deactivate as tx_timer_deactivate, _txe_timer_delete as tx_timer_delete,
    _txe_timer_info_get as tx_timer_info_get,
};
pub use kernel::{
    CHAR, EntryExitNotify, EventFlagsNotify, NAME, QueueNotify, SemaphoreNotify, StackErrorNotify, TX_BLOCK_POOL,
    TX_BYTE_POOL, TX_EVENT_FLAGS_GROUP, TX_MUTEX, TX_QUEUE, TX_SEMAPHORE, TX_THREAD, TX_TIMER, ThreadEntry,
    TimerCallback, UINT, ULONG, VOID,
};
pub use kernel::{
    TX_ACTIVATE_ERROR, TX_AND, TX_AND_CLEAR, TX_AUTO_ACTIVATE, TX_AUTO_START, TX_BLOCK_MEMORY, TX_BYTE_MEMORY,
    TX_BYTE_POOL_MIN, TX_CALLER_ERROR, TX_CEILING_EXCEEDED, TX_COMPLETED, TX_DELETE_ERROR, TX_DELETED, TX_DONT_START,
    TX_EVENT_FLAG, TX_FALSE, TX_FEATURE_NOT_ENABLED, TX_GROUP_ERROR, TX_INHERIT, TX_INHERIT_ERROR, TX_INT_DISABLE,
    TX_INT_ENABLE, TX_INVALID_CEILING, TX_MAX_PRIORITIES, TX_MINIMUM_STACK, TX_MUTEX_ERROR, TX_MUTEX_SUSP,
    TX_NO_ACTIVATE, TX_NO_EVENTS, TX_NO_INHERIT, TX_NO_INSTANCE, TX_NO_MEMORY, TX_NO_TIME_SLICE, TX_NO_WAIT,
    TX_NOT_AVAILABLE, TX_NOT_DONE, TX_NOT_OWNED, TX_OPTION_ERROR, TX_OR, TX_OR_CLEAR, TX_POOL_ERROR, TX_PRIORITY_ERROR,
    TX_PTR_ERROR, TX_QUEUE_EMPTY, TX_QUEUE_ERROR, TX_QUEUE_FULL, TX_QUEUE_SUSP, TX_READY, TX_RESUME_ERROR,
    TX_SEMAPHORE_ERROR, TX_SEMAPHORE_SUSP, TX_SIZE_ERROR, TX_SLEEP, TX_STACK_FILL, TX_START_ERROR, TX_SUCCESS,
    TX_SUSPEND_ERROR, TX_SUSPEND_LIFTED, TX_SUSPENDED, TX_TERMINATED, TX_THREAD_ENTRY, TX_THREAD_ERROR, TX_THREAD_EXIT,
    TX_THRESH_ERROR, TX_TICK_ERROR, TX_TIMER_ERROR, TX_TRUE, TX_WAIT_ABORT_ERROR, TX_WAIT_ABORTED, TX_WAIT_ERROR,
    TX_WAIT_FOREVER,
};

/// Ticks a second that `tx_api.h` assumes; the real rate is the board's.
pub const TX_TIMER_TICKS_PER_SECOND: ULONG = 100;

/// The kernel on a development machine: runs, ticks and interrupts for tests.
#[cfg(not(target_os = "none"))]
pub use kernel::port::host;

use kernel::c_api::{
    _txe_block_pool_create, _txe_byte_pool_create, _txe_event_flags_create, _txe_mutex_create, _txe_queue_create,
    _txe_semaphore_create, _txe_thread_create, _txe_timer_create,
};

/// `tx_thread_create`, checked. The C macro appends the size of the control block, so does this.
///
/// # Safety
///
/// As documented for the service: control block, stack and name stay in place and untouched until the
/// thread is deleted.
#[expect(clippy::too_many_arguments, reason = "the documented signature")]
#[inline]
pub unsafe fn tx_thread_create(
    thread_ptr: *mut TX_THREAD,
    name_ptr: *mut CHAR,
    entry_function: Option<ThreadEntry>,
    entry_input: ULONG,
    stack_start: *mut VOID,
    stack_size: ULONG,
    priority: UINT,
    preempt_threshold: UINT,
    time_slice: ULONG,
    auto_start: UINT,
) -> UINT {
    // SAFETY: the caller's promise.
    unsafe {
        _txe_thread_create(
            thread_ptr,
            name_ptr,
            entry_function,
            entry_input,
            stack_start,
            stack_size,
            priority,
            preempt_threshold,
            time_slice,
            auto_start,
            size_of::<TX_THREAD>() as UINT,
        )
    }
}

/// `tx_timer_create`, checked.
///
/// # Safety
///
/// As documented for the service: control block and name stay in place and untouched until the timer is
/// deleted.
#[inline]
pub unsafe fn tx_timer_create(
    timer_ptr: *mut TX_TIMER,
    name_ptr: *mut CHAR,
    expiration_function: Option<TimerCallback>,
    expiration_input: ULONG,
    initial_ticks: ULONG,
    reschedule_ticks: ULONG,
    auto_activate: UINT,
) -> UINT {
    // SAFETY: the caller's promise.
    unsafe {
        _txe_timer_create(
            timer_ptr,
            name_ptr,
            expiration_function,
            expiration_input,
            initial_ticks,
            reschedule_ticks,
            auto_activate,
            size_of::<TX_TIMER>() as UINT,
        )
    }
}

/// `tx_semaphore_create`, checked.
///
/// # Safety
///
/// As documented for the service: control block and name stay in place and untouched until the semaphore
/// is deleted.
#[inline]
pub unsafe fn tx_semaphore_create(semaphore_ptr: *mut TX_SEMAPHORE, name_ptr: *mut CHAR, initial_count: ULONG) -> UINT {
    // SAFETY: the caller's promise.
    unsafe { _txe_semaphore_create(semaphore_ptr, name_ptr, initial_count, size_of::<TX_SEMAPHORE>() as UINT) }
}

/// `tx_mutex_create`, checked.
///
/// # Safety
///
/// As documented for the service: control block and name stay in place and untouched until the mutex is
/// deleted.
#[inline]
pub unsafe fn tx_mutex_create(mutex_ptr: *mut TX_MUTEX, name_ptr: *mut CHAR, inherit: UINT) -> UINT {
    // SAFETY: the caller's promise.
    unsafe { _txe_mutex_create(mutex_ptr, name_ptr, inherit, size_of::<TX_MUTEX>() as UINT) }
}

/// `tx_event_flags_create`, checked.
///
/// # Safety
///
/// As documented for the service: control block and name stay in place and untouched until the group is
/// deleted.
#[inline]
pub unsafe fn tx_event_flags_create(group_ptr: *mut TX_EVENT_FLAGS_GROUP, name_ptr: *mut CHAR) -> UINT {
    // SAFETY: the caller's promise.
    unsafe { _txe_event_flags_create(group_ptr, name_ptr, size_of::<TX_EVENT_FLAGS_GROUP>() as UINT) }
}

/// `tx_queue_create`, checked.
///
/// # Safety
///
/// As documented for the service: control block and name, and the memory of the messages, stay in place
/// and untouched until the queue is deleted.
#[inline]
pub unsafe fn tx_queue_create(
    queue_ptr: *mut TX_QUEUE,
    name_ptr: *mut CHAR,
    message_size: UINT,
    queue_start: *mut VOID,
    queue_size: ULONG,
) -> UINT {
    // SAFETY: the caller's promise.
    unsafe {
        _txe_queue_create(queue_ptr, name_ptr, message_size, queue_start, queue_size, size_of::<TX_QUEUE>() as UINT)
    }
}

/// `tx_block_pool_create`, checked.
///
/// # Safety
///
/// As documented for the service: control block and name, and the memory of the pool but for allocated
/// blocks, stay in place and untouched until the pool is deleted.
#[inline]
pub unsafe fn tx_block_pool_create(
    pool_ptr: *mut TX_BLOCK_POOL,
    name_ptr: *mut CHAR,
    block_size: ULONG,
    pool_start: *mut VOID,
    pool_size: ULONG,
) -> UINT {
    // SAFETY: the caller's promise.
    unsafe {
        _txe_block_pool_create(
            pool_ptr,
            name_ptr,
            block_size,
            pool_start,
            pool_size,
            size_of::<TX_BLOCK_POOL>() as UINT,
        )
    }
}

/// `tx_byte_pool_create`, checked.
///
/// # Safety
///
/// As documented for the service: control block and name, and the memory of the pool but for what is
/// allocated, stay in place and untouched until the pool is deleted.
#[inline]
pub unsafe fn tx_byte_pool_create(
    pool_ptr: *mut TX_BYTE_POOL,
    name_ptr: *mut CHAR,
    pool_start: *mut VOID,
    pool_size: ULONG,
) -> UINT {
    // SAFETY: the caller's promise.
    unsafe { _txe_byte_pool_create(pool_ptr, name_ptr, pool_start, pool_size, size_of::<TX_BYTE_POOL>() as UINT) }
}
