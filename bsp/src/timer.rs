//! The tick: the EL1 physical timer at the rate that the kernel counts with, 100 Hz unless configured.
//!
//! The compare value moves by exactly one period per tick, so the tick does not drift however late an
//! interrupt is served. Catch-up: while fewer than [`BACKLOG`] periods are due, each is delivered, one
//! interrupt after another; when more are (a debugger halted the core, interrupts were masked for a
//! second), the backlog is dropped and counted, and ticks go on from now.

/// Ticks a second.
pub const TICK_HZ: u32 = threadx::time::TICKS_PER_SECOND;

/// Periods that may be due before the backlog is dropped: one second.
pub const BACKLOG: u32 = TICK_HZ;

/// A period shorter than this cannot give the rate within 1 %.
const SHORTEST: u32 = 100;

/// Why there can be no tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerError {
    /// CNTFRQ reads 0: nobody has said how fast the counter runs. Only the highest exception level
    /// may write it, and this board's counter has no fixed frequency to fall back to.
    FrequencyUnknown,
    /// The counter is too slow for the tick; it runs at so many Hz.
    TooSlow(u32),
}

impl ufmt::uDisplay for TimerError {
    fn fmt<W: ufmt::uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        match *self {
            Self::FrequencyUnknown => ufmt::uwrite!(
                f,
                "CNTFRQ reads 0, so the tick has no time base: let the boot code write the counter's frequency"
            ),
            Self::TooSlow(hz) => {
                ufmt::uwrite!(f, "the counter runs at {} Hz, too slow for a tick of {} Hz", hz, TICK_HZ)
            }
        }
    }
}

/// Counter counts per tick for a counter of `cntfrq` Hz, to the nearest count; the error stays below
/// 1 % because shorter periods than 100 counts are refused.
///
/// # Errors
/// [`TimerError::FrequencyUnknown`] for 0, [`TimerError::TooSlow`] below 10 kHz.
pub const fn period(cntfrq: u32) -> Result<u32, TimerError> {
    if cntfrq == 0 {
        return Err(TimerError::FrequencyUnknown);
    }
    // Rounded without the addition that could overflow.
    let counts = cntfrq / TICK_HZ + (cntfrq % TICK_HZ >= TICK_HZ / 2) as u32;
    if counts < SHORTEST {
        return Err(TimerError::TooSlow(cntfrq));
    }
    Ok(counts)
}

/// The compare value after the tick at `compare`, and how many ticks were dropped to get there.
/// All three are in counter counts; `now` is the counter.
#[must_use]
pub const fn next_compare(compare: u64, period: u32, now: u64) -> (u64, u32) {
    let next = compare.wrapping_add(period as u64);
    let late = now.wrapping_sub(next);
    // Half the range: a compare value still ahead of the counter is not late.
    if late > u64::MAX / 2 || late < period as u64 * BACKLOG as u64 {
        return (next, 0);
    }
    let due = late / period as u64;
    (next.wrapping_add(due * period as u64).wrapping_add(period as u64), due as u32 + 1)
}

#[cfg(start_up = "upstream")]
pub use crate::upstream::frequency;
#[cfg(start_up = "rust")]
pub use hardware::{clear_alarm, dropped, frequency, set_alarm, since_tick, tick_period};
#[cfg(start_up = "rust")]
pub(crate) use hardware::{start, tick};

#[cfg(start_up = "rust")]
mod hardware {
    use super::{TimerError, next_compare, period};
    use aarch32_cpu::asm::isb;
    use aarch32_cpu::register::{CntPct, Cntfrq, CntpCtl, CntpCval, CntvCtl, CntvTval};
    use core::sync::atomic::{AtomicU32, Ordering};

    static PERIOD: AtomicU32 = AtomicU32::new(0);
    static DROPPED: AtomicU32 = AtomicU32::new(0);

    /// What the counter runs at, in Hz: CNTFRQ, which the boot code or the emulator wrote; if nobody did, what the
    /// board's counter is known to run at; 0 if that is unknown.
    #[must_use]
    pub fn frequency() -> u32 {
        match (Cntfrq::read().0, crate::board::COUNTER_HZ) {
            (0, Some(known)) => known,
            (cntfrq, _) => cntfrq,
        }
    }

    /// Ticks dropped because more than [`super::BACKLOG`] were due at once.
    #[must_use]
    pub fn dropped() -> u32 {
        DROPPED.load(Ordering::Relaxed)
    }

    /// Counts of the generic timer's counter from one tick to the next; 0 before the kernel runs.
    #[must_use]
    pub fn tick_period() -> u32 {
        PERIOD.load(Ordering::Relaxed)
    }

    /// Counts of the generic timer's counter since the tick that was due last: the phase of this moment, below
    /// [`tick_period`] unless ticks are late. Callable from every context.
    #[must_use]
    pub fn since_tick() -> u32 {
        // A tick between the two reads would move the one and not the other.
        crate::interrupt::masked(|| {
            let due = CntpCval::read().0.wrapping_sub(u64::from(tick_period()));
            CntPct::read().0.wrapping_sub(due) as u32
        })
    }

    /// Lets the line [`InterruptId::ALARM`](crate::interrupt::InterruptId::ALARM) become pending after so many counts of the generic timer's counter, at most `i32::MAX`; an alarm
    /// set before is forgotten. The line needs a handler, which calls [`clear_alarm`], and must be enabled.
    pub fn set_alarm(counts: u32) {
        CntvTval::write(CntvTval(counts.min(i32::MAX as u32)));
        let mut control = CntvCtl::new_with_raw_value(0);
        control.set_enable(true);
        CntvCtl::write(control);
        isb();
    }

    /// Stops the alarm, which drops its level-sensitive line. Callable from every context.
    pub fn clear_alarm() {
        CntvCtl::write(CntvCtl::new_with_raw_value(0));
        isb();
    }

    /// Arms the timer one period ahead. Its interrupt line must already have a handler.
    pub(crate) fn start() -> Result<(), TimerError> {
        let counts = period(frequency())?;
        PERIOD.store(counts, Ordering::Relaxed);
        CntpCval::write(CntpCval(CntPct::read().0.wrapping_add(u64::from(counts))));
        let mut control = CntpCtl::new_with_raw_value(0);
        control.set_enable(true);
        CntpCtl::write(control);
        isb();
        Ok(())
    }

    /// One tick: moves the compare value, which drops the level-sensitive line before the interrupt
    /// ends, then tells the kernel.
    pub(crate) fn tick() {
        let counts = PERIOD.load(Ordering::Relaxed);
        let next = CntpCval::read().0.wrapping_add(u64::from(counts));
        let ahead = (CntPct::read().0.wrapping_sub(next) as i64) < 0;
        CntpCval::write(CntpCval(if ahead { next } else { late(counts) }));
        isb();
        crate::kernel::timer_interrupt();
    }

    /// The next compare value where that of the next tick has passed, too.
    #[cold]
    #[inline(never)]
    fn late(counts: u32) -> u64 {
        let (next, lost) = next_compare(CntpCval::read().0, counts, CntPct::read().0);
        DROPPED.store(dropped().wrapping_add(lost), Ordering::Relaxed);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn period_of_the_known_counters() {
        assert_eq!(period(62_500_000), Ok(625_000));
        assert_eq!(period(1_000_000_000), Ok(10_000_000));
        assert_eq!(period(8_000_000), Ok(80_000));
        assert_eq!(period(u32::MAX), Ok(42_949_673));
    }

    #[test]
    fn no_frequency_is_an_error_not_a_division() {
        assert_eq!(period(0), Err(TimerError::FrequencyUnknown));
        assert_eq!(period(1), Err(TimerError::TooSlow(1)));
        assert_eq!(period(9_949), Err(TimerError::TooSlow(9_949)));
        assert_eq!(period(9_950), Ok(100));
    }

    #[test]
    fn every_accepted_rate_is_within_one_percent() {
        for hz in (9_950..2_000_000).step_by(37) {
            let counts = period(hz).expect("accepted");
            let error = (f64::from(hz) / f64::from(counts) - 100.0).abs();
            assert!(error < 1.0, "{hz} Hz gives {error} Hz off");
        }
    }

    #[test]
    fn lateness_below_the_backlog_does_not_drift() {
        assert_eq!(next_compare(1000, 100, 1001), (1100, 0));
        assert_eq!(next_compare(1000, 100, 1000 + 100 * 50), (1100, 0));
        assert_eq!(next_compare(u64::MAX - 10, 100, u64::MAX), (89, 0));
    }

    #[test]
    fn a_long_halt_is_dropped_and_counted_in_phase() {
        let (next, lost) = next_compare(1000, 100, 1_000_050);
        assert!(next > 1_000_050 && next <= 1_000_150);
        assert_eq!(next % 100, 0, "the phase is kept");
        assert_eq!(1000 + 100 * (u64::from(lost) + 1), next);
    }
}
