//! The bundled kernel under the names of this crate.

pub use kernel::c_api::{
    _tx_initialize_kernel_enter, _tx_semaphore_ceiling_put, _tx_semaphore_create, _tx_semaphore_delete,
    _tx_semaphore_get, _tx_semaphore_info_get, _tx_semaphore_prioritize, _tx_semaphore_put, _tx_semaphore_put_notify,
    _tx_thread_create, _tx_thread_delete, _tx_thread_entry_exit_notify, _tx_thread_identify, _tx_thread_info_get,
    _tx_thread_interrupt_control, _tx_thread_preempt_disable_enter, _tx_thread_preempt_disable_exit,
    _tx_thread_preemption_change, _tx_thread_priority_change, _tx_thread_relinquish, _tx_thread_reset,
    _tx_thread_resume, _tx_thread_sleep, _tx_thread_stack_error_notify, _tx_thread_suspend, _tx_thread_terminate,
    _tx_thread_time_slice_change, _tx_thread_wait_abort, _tx_time_get, _tx_time_set, _tx_timer_activate,
    _tx_timer_change, _tx_timer_create, _tx_timer_deactivate, _tx_timer_delete, _tx_timer_info_get,
    _tx_timer_interrupt,
};
// The documented names are the checked services, where there is a check to make.
pub use kernel::c_api::{
    _tx_initialize_kernel_enter as tx_kernel_enter, _tx_thread_identify as tx_thread_identify,
    _tx_thread_interrupt_control as tx_interrupt_control,
    _tx_thread_preempt_disable_enter as tx_thread_preempt_disable_enter,
    _tx_thread_preempt_disable_exit as tx_thread_preempt_disable_exit, _tx_thread_sleep as tx_thread_sleep,
    _tx_thread_stack_error_notify as tx_thread_stack_error_notify, _tx_time_get as tx_time_get,
    _tx_time_set as tx_time_set, _txe_semaphore_ceiling_put as tx_semaphore_ceiling_put,
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
    CHAR, EntryExitNotify, NAME, SemaphoreNotify, StackErrorNotify, TX_SEMAPHORE, TX_THREAD, TX_TIMER, ThreadEntry,
    TimerCallback, UINT, ULONG, VOID,
};
pub use kernel::{
    TX_ACTIVATE_ERROR, TX_AUTO_ACTIVATE, TX_AUTO_START, TX_CALLER_ERROR, TX_CEILING_EXCEEDED, TX_COMPLETED,
    TX_DELETE_ERROR, TX_DELETED, TX_DONT_START, TX_FALSE, TX_FEATURE_NOT_ENABLED, TX_INT_DISABLE, TX_INT_ENABLE,
    TX_INVALID_CEILING, TX_MAX_PRIORITIES, TX_MINIMUM_STACK, TX_NO_ACTIVATE, TX_NO_INSTANCE, TX_NO_TIME_SLICE,
    TX_NO_WAIT, TX_NOT_DONE, TX_PRIORITY_ERROR, TX_PTR_ERROR, TX_READY, TX_RESUME_ERROR, TX_SEMAPHORE_ERROR,
    TX_SEMAPHORE_SUSP, TX_SIZE_ERROR, TX_SLEEP, TX_STACK_FILL, TX_START_ERROR, TX_SUCCESS, TX_SUSPEND_ERROR,
    TX_SUSPEND_LIFTED, TX_SUSPENDED, TX_TERMINATED, TX_THREAD_ENTRY, TX_THREAD_ERROR, TX_THREAD_EXIT, TX_THRESH_ERROR,
    TX_TICK_ERROR, TX_TIMER_ERROR, TX_TRUE, TX_WAIT_ABORT_ERROR, TX_WAIT_ABORTED, TX_WAIT_ERROR, TX_WAIT_FOREVER,
};

/// Ticks a second that `tx_api.h` assumes; the real rate is the board's.
pub const TX_TIMER_TICKS_PER_SECOND: ULONG = 100;

/// The kernel on a development machine: runs, ticks and interrupts for tests.
#[cfg(not(target_os = "none"))]
pub use kernel::port::host;

use kernel::c_api::{_txe_semaphore_create, _txe_thread_create, _txe_timer_create};

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
/// As documented for the service: control block and name stay in place and untouched until the timer
/// is deleted.
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
/// As documented for the service: control block and name stay in place and untouched until the
/// semaphore is deleted.
#[inline]
pub unsafe fn tx_semaphore_create(semaphore_ptr: *mut TX_SEMAPHORE, name_ptr: *mut CHAR, initial_count: ULONG) -> UINT {
    // SAFETY: the caller's promise.
    unsafe { _txe_semaphore_create(semaphore_ptr, name_ptr, initial_count, size_of::<TX_SEMAPHORE>() as UINT) }
}
