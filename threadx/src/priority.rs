//! Priorities, preemption-thresholds and time slices that cannot hold a refused value.

use threadx_sys::{TX_MAX_PRIORITIES, UINT, ULONG};

/// A thread's priority: 0 is the highest, [`Priority::LOWEST`] the lowest.
///
/// User Guide, chapter 3, "Thread Priorities".
///
/// ```
/// use threadx::Priority;
/// const URGENT: Priority = Priority::of::<1>(); // checked by the compiler
/// assert!(URGENT.is_higher_than(Priority::LOWEST));
/// assert_eq!(Priority::new(32), None);
/// ```
///
/// ```compile_fail,E0080
/// const NO_SUCH: threadx::Priority = threadx::Priority::of::<32>();
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Priority(u8);

impl Priority {
    /// Number 0.
    pub const HIGHEST: Self = Self(0);
    /// Number 31, or more if the kernel was built with more priorities.
    pub const LOWEST: Self = Self((TX_MAX_PRIORITIES - 1) as u8);

    /// The priority with this number, `None` if the kernel has no such priority.
    #[must_use]
    pub const fn new(number: u32) -> Option<Self> {
        if number < TX_MAX_PRIORITIES { Some(Self(number as u8)) } else { None }
    }

    /// The priority `NUMBER`; a number that the kernel does not have fails to compile.
    #[must_use]
    pub const fn of<const NUMBER: u32>() -> Self {
        const { assert!(NUMBER < TX_MAX_PRIORITIES, "the kernel has no such priority") }
        Self(NUMBER as u8)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0 as u32
    }

    /// Whether a thread of this priority preempts one of `other` (the *smaller* number does).
    #[must_use]
    pub const fn is_higher_than(self, other: Self) -> bool {
        self.0 < other.0
    }

    pub(crate) const fn from_kernel(number: UINT) -> Self {
        // The kernel reports what it was given, and was given an in-range number.
        Self(number as u8)
    }
}

// The numbers are stored in a byte.
const _: () = assert!(TX_MAX_PRIORITIES >= 32 && TX_MAX_PRIORITIES <= 256);

/// A preemption-threshold: only threads of a priority *higher* than it preempt the thread.
///
/// Equal to the thread's priority it has no effect, 0 means that nobody preempts. One that is
/// greater than the priority is refused with [`Error::Threshold`](crate::Error::Threshold) by the
/// service it is given to. A threshold in effect switches time-slicing off for the thread.
///
/// User Guide, chapter 3, "Preemption-Threshold".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PreemptionThreshold(u8);

impl PreemptionThreshold {
    /// Nobody preempts the thread.
    pub const NO_PREEMPTION: Self = Self(0);

    /// The threshold with this number, `None` if the kernel has no such priority.
    #[must_use]
    pub const fn new(number: u32) -> Option<Self> {
        match Priority::new(number) {
            Some(priority) => Some(Self::at(priority)),
            None => None,
        }
    }

    /// Threads of a priority higher than `priority` preempt, others do not.
    #[must_use]
    pub const fn at(priority: Priority) -> Self {
        Self(priority.0)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0 as u32
    }

    pub(crate) const fn from_kernel(number: UINT) -> Self {
        Self(number as u8)
    }
}

/// For how many ticks a thread runs before others of its priority get their turn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TimeSlice(ULONG);

impl TimeSlice {
    /// No time-slicing.
    pub const NONE: Self = Self(threadx_sys::TX_NO_TIME_SLICE);

    /// A slice of `ticks` timer ticks; 0 is [`TimeSlice::NONE`].
    #[must_use]
    pub const fn ticks(ticks: u32) -> Self {
        Self(ticks)
    }

    /// The slice in timer ticks, 0 for none.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_ends_at_the_kernels_last_priority() {
        assert_eq!(Priority::new(31).map(Priority::number), Some(31));
        assert_eq!(Priority::new(TX_MAX_PRIORITIES), None);
        assert_eq!(Priority::new(u32::MAX), None);
        assert_eq!(PreemptionThreshold::new(256), None);
    }

    #[test]
    fn smaller_number_is_higher() {
        assert!(Priority::of::<3>().is_higher_than(Priority::of::<4>()));
        assert!(!Priority::of::<4>().is_higher_than(Priority::of::<4>()));
    }
}
