//! Ticks, timeouts and the tick counter.

use core::time::Duration;
use threadx_sys::{TX_NO_WAIT, TX_WAIT_FOREVER, ULONG};

/// Timer ticks a second that `From<Duration>` assumes: ThreadX's default of 100.
///
/// The real length of a tick is the board's; for a board with another rate use
/// [`Ticks::from_duration_at`].
pub const TICKS_PER_SECOND: u32 = threadx_sys::TX_TIMER_TICKS_PER_SECOND;

/// A number of timer ticks, 0 to [`Ticks::MAX`].
///
/// It cannot hold 0xFFFF_FFFF, which services take for "for ever".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticks(ULONG);

impl Ticks {
    /// No tick.
    pub const ZERO: Self = Self(0);
    /// The longest time, 0xFFFF_FFFE ticks.
    pub const MAX: Self = Self(u32::MAX - 1);

    /// `ticks` ticks, at most [`Ticks::MAX`].
    #[must_use]
    pub const fn new(ticks: u32) -> Self {
        if ticks > Self::MAX.0 { Self::MAX } else { Self(ticks) }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The smallest number of ticks that is not shorter than `duration`, at `ticks_per_second`.
    ///
    /// Zero stays zero, anything longer is at least one tick, what does not fit is
    /// [`Ticks::MAX`]. A wait of *n* ticks ends at the *n*-th tick and so may be up to one tick
    /// short (User Guide, chapter 3, "Timer Accuracy"); see [`Ticks::at_least`].
    #[must_use]
    pub const fn from_duration_at(duration: Duration, ticks_per_second: u32) -> Self {
        // At most 2^64 s * 10^9 * 2^32 < 2^126: no overflow.
        let ticks = (duration.as_nanos() * ticks_per_second as u128).div_ceil(1_000_000_000);
        if ticks > Self::MAX.0 as u128 { Self::MAX } else { Self(ticks as u32) }
    }

    /// [`Ticks::from_duration_at`] at [`TICKS_PER_SECOND`]; the same as `Ticks::from(duration)`.
    #[must_use]
    pub const fn from_duration(duration: Duration) -> Self {
        Self::from_duration_at(duration, TICKS_PER_SECOND)
    }

    /// A number of ticks whose wait lasts at least `duration` wherever in a tick it begins: one
    /// more than [`Ticks::from_duration`].
    #[must_use]
    pub const fn at_least(duration: Duration) -> Self {
        Self::new(Self::from_duration(duration).0 + 1)
    }
}

impl From<Duration> for Ticks {
    fn from(duration: Duration) -> Self {
        Self::from_duration(duration)
    }
}

/// How long a service may wait.
///
/// Outside threads only [`Timeout::NoWait`] is allowed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Timeout {
    /// Answer at once.
    NoWait,
    /// Wait until the *n*-th tick from now; zero ticks is [`Timeout::NoWait`].
    Ticks(Ticks),
    /// Wait without limit.
    Forever,
}

impl Timeout {
    pub(crate) const fn option(self) -> ULONG {
        match self {
            Self::NoWait => TX_NO_WAIT,
            Self::Ticks(ticks) => ticks.0,
            Self::Forever => TX_WAIT_FOREVER,
        }
    }
}

impl From<Ticks> for Timeout {
    fn from(ticks: Ticks) -> Self {
        Self::Ticks(ticks)
    }
}

impl From<Duration> for Timeout {
    /// Rounded up, as [`Ticks::from_duration`].
    fn from(duration: Duration) -> Self {
        Self::Ticks(duration.into())
    }
}

/// The tick counter: ticks since the kernel started or since [`set`]; wraps at 2^32.
///
/// From any context.
#[must_use]
pub fn now() -> u32 {
    // SAFETY: the service reads one word and has no precondition.
    unsafe { threadx_sys::tx_time_get() }
}

/// Sets the tick counter. Sleeps, timeouts and timers are not touched.
///
/// From threads, timer callbacks and interrupts.
pub fn set(ticks: u32) {
    // SAFETY: the service writes one word and has no precondition.
    unsafe { threadx_sys::tx_time_set(ticks) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_round_up_and_saturate() {
        let at = |nanos: u64, rate| Ticks::from_duration_at(Duration::from_nanos(nanos), rate).get();
        for rate in [100, 1000, 3000] {
            assert_eq!(at(0, rate), 0);
            assert_eq!(at(1, rate), 1);
        }
        assert_eq!(at(9_999_999, 100), 1);
        assert_eq!(at(10_000_000, 100), 1);
        assert_eq!(at(10_100_000, 100), 2);
        assert_eq!(at(999_999, 1000), 1);
        assert_eq!(at(1_000_001, 1000), 2);
        assert_eq!(at(333_333, 3000), 1);
        assert_eq!(at(333_334, 3000), 2);
        assert_eq!(at(1_000_000_000, 3000), 3000);
        let long = Duration::from_millis(u64::from(u32::MAX) * 10);
        assert_eq!(Ticks::from_duration_at(long, 100), Ticks::MAX);
        assert_eq!(Ticks::from_duration_at(Duration::MAX, u32::MAX), Ticks::MAX);
        assert_eq!(Ticks::from_duration_at(Duration::MAX, 0), Ticks::ZERO);
    }

    #[test]
    fn at_least_covers_the_tick_that_has_begun() {
        assert_eq!(Ticks::at_least(Duration::from_millis(10)).get(), 2);
        assert_eq!(Ticks::at_least(Duration::MAX), Ticks::MAX);
    }

    #[test]
    fn no_finite_timeout_is_for_ever() {
        assert_eq!(Timeout::from(Duration::MAX).option(), 0xFFFF_FFFE);
        assert_eq!(Timeout::Ticks(Ticks::new(u32::MAX)).option(), 0xFFFF_FFFE);
        assert_eq!(Timeout::Forever.option(), 0xFFFF_FFFF);
        assert_eq!(Timeout::NoWait.option(), 0);
    }
}
