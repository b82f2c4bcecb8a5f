//! Upstream's C kernel under the names of this crate.

use core::arch::asm;

/// What bindgen made of upstream's headers.
#[allow(missing_docs, dead_code, non_snake_case, non_upper_case_globals, unsafe_op_in_unsafe_fn)]
#[allow(clippy::all, clippy::missing_safety_doc, clippy::undocumented_unsafe_blocks)]
pub(crate) mod raw {
    include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
}

/// What the kernel's low-level initialization fills in, and what tells the calling context.
pub use raw::{
    _tx_initialize_unused_memory, _tx_thread_current_ptr, _tx_thread_preempt_disable, _tx_thread_system_stack_ptr,
    _tx_thread_system_state,
};
pub use raw::{
    CHAR, TX_BLOCK_POOL, TX_BYTE_POOL, TX_EVENT_FLAGS_GROUP, TX_MUTEX, TX_QUEUE, TX_SEMAPHORE, TX_THREAD, TX_TIMER,
    UINT, ULONG,
};

/// Untyped memory of the API.
pub type VOID = core::ffi::c_void;
/// Entry function of a thread; the argument is the entry input given at creation.
pub type ThreadEntry = unsafe extern "C-unwind" fn(ULONG);
/// Expiration function of an application timer, called in the system timer thread.
pub type TimerCallback = unsafe extern "C-unwind" fn(ULONG);
/// Entry/exit notification of a thread: the thread and [`TX_THREAD_ENTRY`] or [`TX_THREAD_EXIT`].
pub type EntryExitNotify = unsafe extern "C-unwind" fn(*mut TX_THREAD, UINT);
/// Stack-error notification: the thread whose stack is damaged.
pub type StackErrorNotify = unsafe extern "C-unwind" fn(*mut TX_THREAD);
/// Put notification of a semaphore.
pub type SemaphoreNotify = unsafe extern "C-unwind" fn(*mut TX_SEMAPHORE);
/// Set notification of an event flags group.
pub type EventFlagsNotify = unsafe extern "C-unwind" fn(*mut TX_EVENT_FLAGS_GROUP);
/// Send notification of a queue.
pub type QueueNotify = unsafe extern "C-unwind" fn(*mut TX_QUEUE);

/// The kernel, for a banner: version, language, port, compiler.
pub const NAME: &str = env!("THREADX_NAME");
/// What the kernel was configured with, for a banner.
pub const CONFIGURATION: &str = env!("THREADX_CONFIGURATION");

macro_rules! constants {
    ($ty:ty: $($name:ident = $raw:ident, $doc:literal;)*) => {
        $(#[doc = $doc] pub const $name: $ty = raw::$raw;)*
    };
}

constants! { UINT:
    TX_SUCCESS = threadx_sys_TX_SUCCESS, "The service did what was asked.";
    TX_DELETED = threadx_sys_TX_DELETED, "The object was deleted while the thread waited on it.";
    TX_PTR_ERROR = threadx_sys_TX_PTR_ERROR, "A pointer argument is not usable.";
    TX_WAIT_ERROR = threadx_sys_TX_WAIT_ERROR, "A wait was asked for where nothing may wait.";
    TX_SIZE_ERROR = threadx_sys_TX_SIZE_ERROR, "A size argument is out of range.";
    TX_SEMAPHORE_ERROR = threadx_sys_TX_SEMAPHORE_ERROR, "Not a created semaphore.";
    TX_NO_INSTANCE = threadx_sys_TX_NO_INSTANCE, "The semaphore stayed at zero for the time given.";
    TX_THREAD_ERROR = threadx_sys_TX_THREAD_ERROR, "Not a created thread, or one that exists already.";
    TX_PRIORITY_ERROR = threadx_sys_TX_PRIORITY_ERROR, "Priority out of range.";
    TX_START_ERROR = threadx_sys_TX_START_ERROR, "Auto-start option out of range.";
    TX_DELETE_ERROR = threadx_sys_TX_DELETE_ERROR, "The thread is neither completed nor terminated.";
    TX_RESUME_ERROR = threadx_sys_TX_RESUME_ERROR, "The thread is not suspended by `tx_thread_suspend`.";
    TX_CALLER_ERROR = threadx_sys_TX_CALLER_ERROR, "The service may not be called from here.";
    TX_SUSPEND_ERROR = threadx_sys_TX_SUSPEND_ERROR, "The thread cannot be suspended.";
    TX_TIMER_ERROR = threadx_sys_TX_TIMER_ERROR, "Not a created timer.";
    TX_TICK_ERROR = threadx_sys_TX_TICK_ERROR, "Zero initial ticks.";
    TX_ACTIVATE_ERROR = threadx_sys_TX_ACTIVATE_ERROR, "The timer is active already, or an expired one-shot.";
    TX_THRESH_ERROR = threadx_sys_TX_THRESH_ERROR, "Preemption-threshold out of range.";
    TX_SUSPEND_LIFTED = threadx_sys_TX_SUSPEND_LIFTED, "A delayed suspension was lifted: information, not a failure.";
    TX_WAIT_ABORTED = threadx_sys_TX_WAIT_ABORTED, "The wait was ended by `tx_thread_wait_abort`.";
    TX_WAIT_ABORT_ERROR = threadx_sys_TX_WAIT_ABORT_ERROR, "The thread does not wait.";
    TX_NOT_DONE = threadx_sys_TX_NOT_DONE, "The thread is neither completed nor terminated.";
    TX_CEILING_EXCEEDED = threadx_sys_TX_CEILING_EXCEEDED, "The put would lift the count above the ceiling.";
    TX_INVALID_CEILING = threadx_sys_TX_INVALID_CEILING, "A ceiling of zero.";
    TX_FEATURE_NOT_ENABLED = threadx_sys_TX_FEATURE_NOT_ENABLED, "The kernel was built without this.";
    TX_DONT_START = threadx_sys_TX_DONT_START, "Create the thread suspended.";
    TX_AUTO_START = threadx_sys_TX_AUTO_START, "Create the thread ready.";
    TX_NO_ACTIVATE = threadx_sys_TX_NO_ACTIVATE, "Create the timer inactive.";
    TX_AUTO_ACTIVATE = threadx_sys_TX_AUTO_ACTIVATE, "Create the timer active.";
    TX_THREAD_ENTRY = threadx_sys_TX_THREAD_ENTRY, "Notification: the thread is about to run its entry function.";
    TX_THREAD_EXIT = threadx_sys_TX_THREAD_EXIT, "Notification: the thread completed or was terminated.";
    TX_FALSE = threadx_sys_TX_FALSE, "False.";
    TX_TRUE = threadx_sys_TX_TRUE, "True.";
    TX_INT_ENABLE = threadx_sys_TX_INT_ENABLE, "Interrupt posture: IRQ enabled (CPSR.I clear).";
    TX_INT_DISABLE = threadx_sys_TX_INT_DISABLE, "Interrupt posture: IRQ masked (CPSR.I set).";
    TX_MAX_PRIORITIES = threadx_sys_TX_MAX_PRIORITIES, "Number of priorities; 0 is the highest.";
    TX_READY = threadx_sys_TX_READY, "State: ready or running.";
    TX_COMPLETED = threadx_sys_TX_COMPLETED, "State: the entry function returned.";
    TX_TERMINATED = threadx_sys_TX_TERMINATED, "State: terminated.";
    TX_SUSPENDED = threadx_sys_TX_SUSPENDED, "State: suspended by `tx_thread_suspend` or created so.";
    TX_SLEEP = threadx_sys_TX_SLEEP, "State: sleeping.";
    TX_SEMAPHORE_SUSP = threadx_sys_TX_SEMAPHORE_SUSP, "State: waiting on a semaphore.";
    TX_POOL_ERROR = threadx_sys_TX_POOL_ERROR, "Not a created pool.";
    TX_GROUP_ERROR = threadx_sys_TX_GROUP_ERROR, "Not a created event flags group.";
    TX_NO_EVENTS = threadx_sys_TX_NO_EVENTS, "The requested flags did not come in the time given.";
    TX_OPTION_ERROR = threadx_sys_TX_OPTION_ERROR, "Not an option of the event flags services.";
    TX_QUEUE_ERROR = threadx_sys_TX_QUEUE_ERROR, "Not a created queue.";
    TX_QUEUE_EMPTY = threadx_sys_TX_QUEUE_EMPTY, "The queue stayed empty for the time given.";
    TX_QUEUE_FULL = threadx_sys_TX_QUEUE_FULL, "The queue stayed full for the time given.";
    TX_NO_MEMORY = threadx_sys_TX_NO_MEMORY, "The pool had no memory for the time given. The same number as `TX_START_ERROR`.";
    TX_MUTEX_ERROR = threadx_sys_TX_MUTEX_ERROR, "Not a created mutex.";
    TX_NOT_AVAILABLE = threadx_sys_TX_NOT_AVAILABLE, "The mutex stayed with its owner for the time given.";
    TX_NOT_OWNED = threadx_sys_TX_NOT_OWNED, "The mutex is not the caller's.";
    TX_INHERIT_ERROR = threadx_sys_TX_INHERIT_ERROR, "Inheritance option out of range.";
    TX_OR = threadx_sys_TX_OR, "Any of the requested flags; set them.";
    TX_OR_CLEAR = threadx_sys_TX_OR_CLEAR, "Any of the requested flags, which are then cleared.";
    TX_AND = threadx_sys_TX_AND, "All of the requested flags; keep only these.";
    TX_AND_CLEAR = threadx_sys_TX_AND_CLEAR, "All of the requested flags, which are then cleared.";
    TX_NO_INHERIT = threadx_sys_TX_NO_INHERIT, "Mutex without priority inheritance.";
    TX_INHERIT = threadx_sys_TX_INHERIT, "Mutex with priority inheritance.";
    TX_QUEUE_SUSP = threadx_sys_TX_QUEUE_SUSP, "State: waiting on a queue.";
    TX_EVENT_FLAG = threadx_sys_TX_EVENT_FLAG, "State: waiting on an event flags group.";
    TX_BLOCK_MEMORY = threadx_sys_TX_BLOCK_MEMORY, "State: waiting on a block pool.";
    TX_BYTE_MEMORY = threadx_sys_TX_BYTE_MEMORY, "State: waiting on a byte pool.";
    TX_MUTEX_SUSP = threadx_sys_TX_MUTEX_SUSP, "State: waiting on a mutex.";
}

constants! { ULONG:
    TX_NO_WAIT = threadx_sys_TX_NO_WAIT, "Return at once.";
    TX_WAIT_FOREVER = threadx_sys_TX_WAIT_FOREVER, "Wait without limit.";
    TX_NO_TIME_SLICE = threadx_sys_TX_NO_TIME_SLICE, "No time-slice.";
    TX_BYTE_POOL_MIN = threadx_sys_TX_BYTE_POOL_MIN, "Smallest byte pool, in bytes.";
    TX_MINIMUM_STACK = threadx_sys_TX_MINIMUM_STACK, "Smallest stack a thread may be created with, in bytes.";
    TX_STACK_FILL = threadx_sys_TX_STACK_FILL, "Pattern a stack is filled with at creation.";
    TX_TIMER_TICKS_PER_SECOND = threadx_sys_TX_TIMER_TICKS_PER_SECOND, "Ticks a second that the kernel assumes; the real rate is the board's.";
}

// What this crate and `threadx` rest on, and a configuration could change.
const _: () = assert!(TX_INT_DISABLE == 0x80 && size_of::<ULONG>() == 4 && size_of::<UINT>() == 4);

macro_rules! blocks {
    ($($block:ident)*) => {
        $(impl $block {
            /// The control block of an object that does not exist.
            #[must_use]
            pub const fn new() -> Self {
                // SAFETY: control blocks consist of integers, raw pointers and optional function
                // pointers, for all of which zero is a value.
                unsafe { core::mem::zeroed() }
            }
        }

        impl Default for $block {
            fn default() -> Self {
                Self::new()
            }
        })*
    };
}
blocks!(TX_THREAD TX_TIMER TX_SEMAPHORE TX_MUTEX TX_EVENT_FLAGS_GROUP TX_QUEUE TX_BLOCK_POOL TX_BYTE_POOL);

/// `tx_thread_relinquish` for every context: outside threads and inside a critical section it returns at
/// once, as it does where there is nothing to give away.
///
/// The C kernel's own checked service tells threads from the rest, but switches threads even while
/// preemption is disabled: then another thread would run inside the caller's critical section. This
/// is the kernel's unchecked service, compiled a second time with that question in front.
///
/// # Safety
///
/// None needed; the signature is that of the C services.
pub use raw::threadx_sys_relinquish as tx_thread_relinquish;

/// `tx_interrupt_control`: sets the caller's interrupt posture to `TX_INT_ENABLE` or `TX_INT_DISABLE`,
/// returns the old one.
///
/// Not the ports' own service: that one also unmasks FIQ, which it is not configured for, and returns
/// condition flags beside the posture.
///
/// # Safety
///
/// Nothing that relies on the posture it found is left behind by a caller that changes it.
pub unsafe fn tx_interrupt_control(new_posture: UINT) -> UINT {
    let cpsr: u32;
    // SAFETY: masks IRQ; a memory clobber for the compiler.
    unsafe { asm!("mrs {}, cpsr", "cpsid i", out(reg) cpsr, options(nostack, preserves_flags)) };
    if new_posture & TX_INT_DISABLE == 0 {
        // SAFETY: the caller wants interrupts; a memory clobber for the compiler.
        unsafe { asm!("cpsie i", options(nostack, preserves_flags)) };
    }
    cpsr & TX_INT_DISABLE
}

/// The board's tick interrupt calls this once a tick.
///
/// With stack checking it also looks at the stack of the interrupted thread, which the kernel does in
/// services only: a thread that calls none would overrun others' memory unnoticed.
///
/// # Safety
///
/// Called inside the kernel's interrupt entry only.
pub unsafe fn _tx_timer_interrupt() {
    #[cfg(threadx_stack_checking)]
    // SAFETY: as the caller promises, the kernel's variable is null or the interrupted thread, whose
    // stack's lowest word was filled at creation and is the kernel's own mark.
    unsafe {
        let thread = (&raw const _tx_thread_current_ptr).read_volatile();
        if !thread.is_null() {
            let lowest = (*thread).tx_thread_stack_start.cast::<ULONG>();
            if lowest.read_unaligned() != TX_STACK_FILL {
                raw::_tx_thread_stack_error_handler(thread);
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe { raw::_tx_timer_interrupt() }
}

/// Masks interrupts and disables preemption; returns the posture for
/// [`_tx_thread_preempt_disable_exit`]. In between no service switches threads:
/// [`tx_thread_relinquish`] returns at once and services that would have to wait refuse.
///
/// # Safety
///
/// Undone by [`_tx_thread_preempt_disable_exit`] in the same context, the last enter first.
#[inline]
pub unsafe fn _tx_thread_preempt_disable_enter() -> UINT {
    let cpsr: u32;
    // SAFETY: masks IRQ. A memory clobber for the compiler, so nothing moves out of the section.
    unsafe { asm!("mrs {}, cpsr", "cpsid i", out(reg) cpsr, options(nostack, preserves_flags)) };
    let count = &raw mut _tx_thread_preempt_disable;
    // SAFETY: the kernel counts with interrupts masked too, so no step is lost.
    unsafe { count.write_volatile(count.read_volatile().wrapping_add(1)) };
    cpsr
}

/// Undoes [`_tx_thread_preempt_disable_enter`]; a preemption that became due happens here.
///
/// # Safety
///
/// `posture` comes from the matching enter.
#[inline]
pub unsafe fn _tx_thread_preempt_disable_exit(posture: UINT) {
    let count = &raw mut _tx_thread_preempt_disable;
    // SAFETY: interrupts are masked since the matching enter, whose count this takes back.
    unsafe { count.write_volatile(count.read_volatile().wrapping_sub(1)) };
    // SAFETY: mode and mask bits that the matching enter read in this same mode; a memory clobber.
    unsafe { asm!("msr cpsr_c, {}", in(reg) posture, options(nostack, preserves_flags)) };
    // SAFETY: allowed in every context: it switches in threads only, and only with the count at zero.
    unsafe { raw::_tx_thread_system_preempt_check() };
}

pub use _tx_thread_preempt_disable_enter as tx_thread_preempt_disable_enter;
pub use _tx_thread_preempt_disable_exit as tx_thread_preempt_disable_exit;
