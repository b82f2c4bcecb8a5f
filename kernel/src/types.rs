//! The C types and the numbers of the ThreadX API.
//!
//! Source of every value: ThreadX User Guide, appendix "ThreadX Constants".

#![allow(non_camel_case_types)]

use core::ffi::{c_char, c_void};

/// Unsigned integer of the API, 32 bits.
pub type UINT = u32;
/// Unsigned long of the API: 32 bits on every port, 64-bit hosts included.
pub type ULONG = u32;
/// Character of the API.
pub type CHAR = c_char;
/// Untyped memory of the API.
pub type VOID = c_void;

/// Entry function of a thread; the argument is the entry input given at creation.
pub type ThreadEntry = unsafe extern "C-unwind" fn(ULONG);
/// Expiration function of an application timer, called in the system timer thread.
pub type TimerCallback = unsafe extern "C-unwind" fn(ULONG);
/// Entry/exit notification of a thread: the thread and [`TX_THREAD_ENTRY`] or [`TX_THREAD_EXIT`].
pub type EntryExitNotify = unsafe extern "C-unwind" fn(*mut crate::TX_THREAD, UINT);
/// Stack-error notification: the thread whose stack is damaged.
pub type StackErrorNotify = unsafe extern "C-unwind" fn(*mut crate::TX_THREAD);
/// Put notification of a semaphore.
pub type SemaphoreNotify = unsafe extern "C-unwind" fn(*mut crate::TX_SEMAPHORE);
/// Set notification of an event flags group.
pub type EventFlagsNotify = unsafe extern "C-unwind" fn(*mut crate::TX_EVENT_FLAGS_GROUP);
/// Send notification of a queue.
pub type QueueNotify = unsafe extern "C-unwind" fn(*mut crate::TX_QUEUE);
/// Buffer-full notification of the event trace.
pub type TraceBufferNotify = unsafe extern "C-unwind" fn(*mut VOID);

/// A return code as the slow paths of services hand it to their fast paths.
///
/// Some habits keep a fast path short. A slow path takes the kernel's guard last, so that the other
/// arguments stay where the entry point got them. The next step of a path that is taken often returns
/// `UINT`, as its caller does, and becomes a branch; a rare step returns a byte, which its caller widens and
/// so has to call. With exactly one such call in a function, in a place of its own, the compiler sets up a
/// frame there only: with none it sets one up at the entry (the target asks for frame pointers), with more
/// at what they have in common.
pub(crate) type Code = u8;

/// The tag of a kind of control block, by which a created one is known: one instruction compares with it, and
/// it is no small number and no address of the boards' memories.
pub(crate) const fn tag(kind: u8) -> u32 {
    (kind as u32) << 24
}

macro_rules! constants {
    ($ty:ty: $($name:ident = $value:expr, $doc:literal;)*) => {
        $(#[doc = $doc] pub const $name: $ty = $value;)*
    };
}

constants! { UINT:
    TX_SUCCESS = 0x00, "The service did what was asked.";
    TX_DELETED = 0x01, "The object was deleted while the thread waited on it.";
    TX_POOL_ERROR = 0x02, "Not a created pool.";
    TX_PTR_ERROR = 0x03, "A pointer argument is not usable.";
    TX_WAIT_ERROR = 0x04, "A wait was asked for where nothing may wait.";
    TX_SIZE_ERROR = 0x05, "A size argument is out of range.";
    TX_GROUP_ERROR = 0x06, "Not a created event flags group.";
    TX_NO_EVENTS = 0x07, "The requested flags did not come in the time given.";
    TX_OPTION_ERROR = 0x08, "Not an option of the event flags services.";
    TX_QUEUE_ERROR = 0x09, "Not a created queue.";
    TX_QUEUE_EMPTY = 0x0A, "The queue stayed empty for the time given.";
    TX_QUEUE_FULL = 0x0B, "The queue stayed full for the time given.";
    TX_SEMAPHORE_ERROR = 0x0C, "Not a created semaphore.";
    TX_NO_INSTANCE = 0x0D, "The semaphore stayed at zero for the time given.";
    TX_THREAD_ERROR = 0x0E, "Not a created thread, or one that exists already.";
    TX_PRIORITY_ERROR = 0x0F, "Priority out of range.";
    TX_NO_MEMORY = 0x10, "The pool had no memory for the time given. The same number as `TX_START_ERROR`.";
    TX_START_ERROR = 0x10, "Auto-start option out of range.";
    TX_DELETE_ERROR = 0x11, "The thread is neither completed nor terminated.";
    TX_RESUME_ERROR = 0x12, "The thread is not suspended by `tx_thread_suspend`.";
    TX_CALLER_ERROR = 0x13, "The service may not be called from here.";
    TX_SUSPEND_ERROR = 0x14, "The thread cannot be suspended.";
    TX_TIMER_ERROR = 0x15, "Not a created timer.";
    TX_TICK_ERROR = 0x16, "Zero initial ticks.";
    TX_ACTIVATE_ERROR = 0x17, "The timer is active already, or an expired one-shot.";
    TX_THRESH_ERROR = 0x18, "Preemption-threshold out of range.";
    TX_SUSPEND_LIFTED = 0x19, "A delayed suspension was lifted: information, not a failure.";
    TX_WAIT_ABORTED = 0x1A, "The wait was ended by `tx_thread_wait_abort`.";
    TX_WAIT_ABORT_ERROR = 0x1B, "The thread does not wait.";
    TX_MUTEX_ERROR = 0x1C, "Not a created mutex.";
    TX_NOT_AVAILABLE = 0x1D, "The mutex stayed with its owner for the time given.";
    TX_NOT_OWNED = 0x1E, "The mutex is not the caller's.";
    TX_INHERIT_ERROR = 0x1F, "Inheritance option out of range.";
    TX_NOT_DONE = 0x20, "The thread is neither completed nor terminated.";
    TX_CEILING_EXCEEDED = 0x21, "The put would lift the count above the ceiling.";
    TX_INVALID_CEILING = 0x22, "A ceiling of zero.";
    TX_FEATURE_NOT_ENABLED = 0xFF, "The kernel was built without this.";
}

constants! { UINT:
    TX_DONT_START = 0, "Create the thread suspended.";
    TX_AUTO_START = 1, "Create the thread ready.";
    TX_NO_ACTIVATE = 0, "Create the timer inactive.";
    TX_AUTO_ACTIVATE = 1, "Create the timer active.";
    TX_OR = 0, "Any of the requested flags; set them.";
    TX_OR_CLEAR = 1, "Any of the requested flags, which are then cleared.";
    TX_AND = 2, "All of the requested flags; keep only these.";
    TX_AND_CLEAR = 3, "All of the requested flags, which are then cleared.";
    TX_NO_INHERIT = 0, "Mutex without priority inheritance.";
    TX_INHERIT = 1, "Mutex with priority inheritance.";
    TX_THREAD_ENTRY = 0, "Notification: the thread is about to run its entry function.";
    TX_THREAD_EXIT = 1, "Notification: the thread completed or was terminated.";
    TX_FALSE = 0, "False.";
    TX_TRUE = 1, "True.";
    TX_INT_ENABLE = 0x00, "Interrupt posture: IRQ enabled (CPSR.I clear).";
    TX_INT_DISABLE = 0x80, "Interrupt posture: IRQ masked (CPSR.I set).";
    TX_MAX_PRIORITIES = 32, "Number of priorities; 0 is the highest.";
}

constants! { ULONG:
    TX_NO_WAIT = 0, "Return at once.";
    TX_WAIT_FOREVER = 0xFFFF_FFFF, "Wait without limit.";
    TX_NO_TIME_SLICE = 0, "No time-slice.";
    TX_BYTE_POOL_MIN = 100, "Smallest byte pool, in bytes.";
    TX_MINIMUM_STACK = 336, "Smallest stack a thread may be created with, in bytes: a switch (64) that an interrupt (96) meets, whose end preempts (64), and room for calls.";
    TX_STACK_FILL = 0xEFEF_EFEF, "Pattern a stack is filled with at creation.";
}

constants! { UINT:
    TX_READY = 0, "State: ready or running.";
    TX_COMPLETED = 1, "State: the entry function returned.";
    TX_TERMINATED = 2, "State: terminated.";
    TX_SUSPENDED = 3, "State: suspended by `tx_thread_suspend` or created so.";
    TX_SLEEP = 4, "State: sleeping.";
    TX_QUEUE_SUSP = 5, "State: waiting on a queue.";
    TX_SEMAPHORE_SUSP = 6, "State: waiting on a semaphore.";
    TX_EVENT_FLAG = 7, "State: waiting on an event flags group.";
    TX_BLOCK_MEMORY = 8, "State: waiting on a block pool.";
    TX_BYTE_MEMORY = 9, "State: waiting on a byte pool.";
    TX_MUTEX_SUSP = 13, "State: waiting on a mutex.";
}
