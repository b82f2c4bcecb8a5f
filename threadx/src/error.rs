//! The one error type.

use core::fmt;
use threadx_sys::UINT;

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $code:expr, $text:literal;)*) => {
        /// Why a service refused.
        ///
        /// Variants with a code are ThreadX's documented return codes (User Guide, appendix
        /// "ThreadX Constants"; per service in chapter 4), the others are found by this crate
        /// before a kernel service is called.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum Error {
            $($(#[$doc])* $name,)*
            /// A return code that the User Guide does not document.
            Undocumented(u32),
        }

        impl Error {
            /// The error as one line of text.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                    Self::Undocumented(_) => "undocumented return code",
                }
            }

            /// The kernel's return code, `None` for an error found by this crate.
            #[must_use]
            pub const fn code(self) -> Option<u32> {
                match self {
                    $(Self::$name => $code,)*
                    Self::Undocumented(code) => Some(code),
                }
            }

            #[cold]
            #[inline(never)]
            pub(crate) const fn from_code(code: UINT) -> Self {
                // 0x10 is START_ERROR in thread create alone, whose auto-start value is always
                // valid here, so NO_MEMORY is the only meaning left.
$(
                    let known: Option<UINT> = $code;
                    if let Some(known) = known && known == code {
                        return Self::$name;
                    }
                )*
                Self::Undocumented(code)
            }
        }
    };
}

errors! {
    /// 0x01 DELETED: the object was deleted while the caller waited for it.
    Deleted = Some(0x01), "the object was deleted during the wait";
    /// 0x02 POOL_ERROR: not a created pool.
    Pool = Some(0x02), "not a created pool";
    /// 0x03 PTR_ERROR: a pointer that the service cannot use, for thread create also a stack that
    /// overlaps another thread's.
    Pointer = Some(0x03), "unusable pointer, or overlapping stack";
    /// 0x04 WAIT_ERROR: a wait was asked for outside a thread.
    Wait = Some(0x04), "waiting is possible in threads only";
    /// 0x05 SIZE_ERROR: thread create, stack below the kernel's minimum; pools and queues, bad size.
    Size = Some(0x05), "size below the kernel's minimum or not usable";
    /// 0x06 GROUP_ERROR: not a created event-flag group.
    Group = Some(0x06), "not a created event-flag group";
    /// 0x07 NO_EVENTS: the event flags did not appear in time.
    NoEvents = Some(0x07), "event flags not set in time";
    /// 0x08 OPTION_ERROR: an invalid option.
    Option = Some(0x08), "invalid option";
    /// 0x09 QUEUE_ERROR: not a created queue.
    Queue = Some(0x09), "not a created queue";
    /// 0x0A QUEUE_EMPTY: no message in time.
    QueueEmpty = Some(0x0A), "queue empty";
    /// 0x0B QUEUE_FULL: no room in time.
    QueueFull = Some(0x0B), "queue full";
    /// 0x0C SEMAPHORE_ERROR: not a created semaphore (never created, or deleted).
    Semaphore = Some(0x0C), "not a created semaphore";
    /// 0x0D NO_INSTANCE: the semaphore stayed at zero for the time given.
    NoInstance = Some(0x0D), "semaphore count stayed zero";
    /// 0x0E THREAD_ERROR: not a created thread, or one that was joined in the meantime.
    Thread = Some(0x0E), "the thread does not exist (any more)";
    /// 0x0F PRIORITY_ERROR: priority out of range.
    Priority = Some(0x0F), "priority out of range";
    /// 0x10 NO_MEMORY: the pool has no room in time.
    NoMemory = Some(0x10), "no memory in time";
    /// 0x11 DELETE_ERROR: thread delete, neither completed nor terminated.
    Delete = Some(0x11), "the thread is neither completed nor terminated";
    /// 0x12 RESUME_ERROR: thread resume, not suspended by suspend or creation.
    Resume = Some(0x12), "the thread is not suspended";
    /// 0x13 CALLER_ERROR: the service is not for this calling context, or the kernel is not started.
    Caller = Some(0x13), "not allowed in this calling context";
    /// 0x14 SUSPEND_ERROR: thread suspend, completed or terminated, or self inside a critical section.
    Suspend = Some(0x14), "the thread cannot be suspended";
    /// 0x15 TIMER_ERROR: not a created timer.
    Timer = Some(0x15), "not a created timer";
    /// 0x16 TICK_ERROR: timer create and change, zero initial ticks.
    Tick = Some(0x16), "a timer needs at least one tick";
    /// 0x17 ACTIVATE_ERROR: timer activate, active already or an expired one-shot.
    Activate = Some(0x17), "the timer is active, or an expired one-shot";
    /// 0x18 THRESH_ERROR: preemption-threshold greater (weaker) than the priority.
    Threshold = Some(0x18), "preemption-threshold greater than the priority";
    /// 0x1A WAIT_ABORTED: another context ended the wait or sleep with wait abort.
    WaitAborted = Some(0x1A), "the wait was aborted";
    /// 0x1B WAIT_ABORT_ERROR: wait abort, the thread neither waits nor sleeps.
    WaitAbort = Some(0x1B), "the thread is not waiting";
    /// 0x1C MUTEX_ERROR: not a created mutex.
    Mutex = Some(0x1C), "not a created mutex";
    /// 0x1D NOT_AVAILABLE: the mutex was not free in time.
    NotAvailable = Some(0x1D), "mutex not free in time";
    /// 0x1E NOT_OWNED: the caller does not own the mutex.
    NotOwned = Some(0x1E), "mutex not owned by the caller";
    /// 0x1F INHERIT_ERROR: invalid priority-inheritance option.
    Inherit = Some(0x1F), "invalid inheritance option";
    /// 0x20 NOT_DONE: thread reset, neither completed nor terminated.
    NotDone = Some(0x20), "the thread is still running";
    /// 0x21 CEILING_EXCEEDED: semaphore ceiling put, the count has reached the ceiling.
    CeilingExceeded = Some(0x21), "semaphore ceiling reached";
    /// 0x22 INVALID_CEILING: semaphore ceiling put, ceiling zero.
    InvalidCeiling = Some(0x22), "semaphore ceiling of zero";
    /// 0xFF FEATURE_NOT_ENABLED: the kernel was built without the service.
    FeatureNotEnabled = Some(0xFF), "the kernel was built without this service";

    /// The `'static` cell belongs to an object that exists: a thread that was not joined, another
    /// object that was not deleted, or was and still has users.
    InUse = None, "the cell is in use";
    /// The stack was taken already and not given back by a join.
    StackTaken = None, "the stack is taken";
    /// The stack does not lie inside the memory that its type names: check the link script.
    StackRegion = None, "the stack lies outside its region";
    /// Beside the thread's closure and result the stack keeps less than the kernel's minimum.
    StackSize = None, "the stack is too small for the thread's closure and result";
    /// The caller holds the mutex already: a second lock would be a second `&mut`.
    Recursion = None, "the mutex is locked by the caller already";
    /// The mutex's last owner ended without unlocking it.
    Poisoned = None, "the mutex's owner ended without unlocking it";
    /// The kernel was started before.
    AlreadyStarted = None, "the kernel is started already";
}

/// `Ok` for SUCCESS, else the error of the code.
#[inline(always)]
pub(crate) const fn check(code: UINT) -> Result<(), Error> {
    if code == threadx_sys::TX_SUCCESS { Ok(()) } else { Err(Error::from_code(code)) }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for Error {}

impl ufmt::uDisplay for Error {
    fn fmt<W: ufmt::uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        f.write_str(self.as_str())
    }
}

impl ufmt::uDebug for Error {
    fn fmt<W: ufmt::uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_documented_ones_and_come_back() {
        assert_eq!(Error::from_code(0x13), Error::Caller);
        assert_eq!(Error::from_code(0x18), Error::Threshold);
        assert_eq!(Error::from_code(0xFF), Error::FeatureNotEnabled);
        assert_eq!(Error::from_code(0x55), Error::Undocumented(0x55));
        for code in 1..=0xFF {
            assert_eq!(Error::from_code(code).code(), Some(code));
        }
    }

    #[test]
    fn only_zero_is_success() {
        assert_eq!(check(0), Ok(()));
        assert_eq!(check(0x0E), Err(Error::Thread));
    }
}
