//! The bundled kernel under the names of this crate.

pub use kernel::c_api::{
    _tx_thread_interrupt_control as tx_interrupt_control, _tx_thread_preempt_disable_enter,
    _tx_thread_preempt_disable_enter as tx_thread_preempt_disable_enter, _tx_thread_preempt_disable_exit,
    _tx_thread_preempt_disable_exit as tx_thread_preempt_disable_exit, _tx_timer_interrupt,
    _txe_thread_relinquish as tx_thread_relinquish, relinquish_inline,
};
/// Entries for a safe layer, inlined into it.
pub use kernel::direct;
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
