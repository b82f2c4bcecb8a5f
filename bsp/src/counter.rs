//! The cycle counter, and the test that says what it counts.
//!
//! Which one is chosen when the image is built: silicon, or feature `pmu`, takes PMCCNTR, which counts the
//! Cortex-R52's cycles. QEMU models no PMU (ID_DFR0.PerfMon reads 0 and PMCCNTR stays 0 even when
//! enabled), so without them the board reads the generic timer's counter. Under
//! `-icount shift=0` with a counter of 1 GHz that is exactly one count per instruction; the self-test
//! proves it on the running machine instead of assuming it.

/// What `self_test` found out about the board's counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The register.
    pub name: &'static str,
    /// What one count is: `"instructions"` if a loop of known length counted exactly that, else
    /// `"counts"` of a clock of [`hz`](Self::hz).
    pub unit: &'static str,
    /// CNTFRQ in Hz; 0 if nobody wrote it.
    pub hz: u32,
    /// Least difference of two reads one directly after the other, in counts.
    pub overhead: u32,
    /// Least step that the counter was seen to make in a close loop of reads, in counts: 1 for a coarse
    /// counter, the length of the loop for one that counts instructions.
    pub resolution: u32,
    /// The counter makes less than one count per instruction, so that a switch of some ten
    /// instructions cannot be measured with it.
    pub coarse: bool,
}

/// Why there is no counter to measure with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterError {
    /// Two reads around a loop of 1000 instructions are equal.
    Dead {
        /// The register.
        name: &'static str,
    },
}

impl ufmt::uDisplay for CounterError {
    fn fmt<W: ufmt::uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        let Self::Dead { name } = *self;
        ufmt::uwrite!(f, "the counter {} is dead: it did not move over 1000 instructions", name)
    }
}

/// Instructions from one read of the counter to the next in the probe loop: the read itself, a load
/// of the loop count, and 500 rounds of two.
pub const PROBE: u32 = 1002;

/// Judges three observations: counts over the probe, least difference of back-to-back reads, least
/// step seen, all in counts; `hz` is CNTFRQ.
///
/// # Errors
/// [`CounterError::Dead`] if the probe counted nothing.
pub const fn judge(
    name: &'static str,
    hz: u32,
    probe: u32,
    overhead: u32,
    resolution: u32,
) -> Result<Counter, CounterError> {
    if probe == 0 {
        return Err(CounterError::Dead { name });
    }
    let unit = match name.as_bytes() {
        b"PMCCNTR" => "cycles",
        _ if probe == PROBE && overhead == 1 => "instructions",
        _ => "counts",
    };
    Ok(Counter { name, unit, hz, overhead, resolution, coarse: probe < PROBE })
}

#[cfg(target_arch = "arm")]
pub(crate) use hardware::start;
#[cfg(target_arch = "arm")]
pub use hardware::{cycles, self_test};

#[cfg(target_arch = "arm")]
mod hardware {
    use super::{Counter, CounterError, judge};
    use core::arch::asm;

    #[cfg(not(counter = "pmccntr"))]
    const NAME: &str = "CNTPCT";
    #[cfg(counter = "pmccntr")]
    const NAME: &str = "PMCCNTR";

    /// The instruction that reads the counter's low word into the named operand.
    #[cfg(not(counter = "pmccntr"))]
    macro_rules! read {
        ($to:literal) => {
            concat!("mrrc p15, 0, {", $to, "}, {scratch}, c14")
        };
    }
    #[cfg(counter = "pmccntr")]
    macro_rules! read {
        ($to:literal) => {
            concat!("mrc p15, 0, {", $to, "}, c9, c13, 0 @ {scratch}")
        };
    }

    /// Starts the counter: CNTPCT always runs; PMCCNTR needs PMCR.E and its bit in PMCNTENSET in each
    /// image, else it reads a constant (Arm Architecture Reference Manual Supplement, Armv8-R AArch32, PMU).
    pub(crate) fn start() {
        #[cfg(counter = "pmccntr")]
        // SAFETY: PMCR.E and .C, .D clear (count every cycle), and the cycle counter's enable; neither
        // changes what any code but the readers of the counter sees.
        unsafe {
            asm!(
                "mrc p15, 0, {0}, c9, c12, 0",
                "bic {0}, {0}, #8",
                "orr {0}, {0}, #5",
                "mcr p15, 0, {0}, c9, c12, 0",
                "mov {0}, #0x80000000",
                "mcr p15, 0, {0}, c9, c12, 1",
                "isb",
                out(reg) _,
                options(nostack, preserves_flags)
            );
        }
    }

    /// The low word of the board's counter, CNTPCT or PMCCNTR: one instruction, wraps after 2^32 counts. Differences are to be taken
    /// with `wrapping_sub`. The compiler moves no memory access across it; the processor may, since
    /// no barrier is included.
    #[inline(always)]
    #[must_use]
    pub fn cycles() -> u32 {
        let low: u32;
        // SAFETY: both counters may be read at EL1 (CNTHCTL.PL1PCTEN is set) without side effect.
        unsafe { asm!(read!("low"), low = out(reg) low, scratch = out(reg) _, options(nostack, preserves_flags)) };
        low
    }

    /// Counts over a loop of [`super::PROBE`] instructions.
    fn probe() -> u32 {
        let (before, after): (u32, u32);
        // SAFETY: two reads of the counter around a counted loop; registers only.
        unsafe {
            asm!(
                read!("before"),
                "mov {scratch}, #500",
                "2: subs {scratch}, {scratch}, #1",
                "bne 2b",
                read!("after"),
                before = out(reg) before,
                after = out(reg) after,
                scratch = out(reg) _,
                options(nostack)
            );
        }
        after.wrapping_sub(before)
    }

    /// Difference of two reads with nothing in between.
    fn back_to_back() -> u32 {
        let (before, after): (u32, u32);
        // SAFETY: two reads of the counter; registers only.
        unsafe {
            asm!(
                read!("before"),
                read!("after"),
                before = out(reg) before,
                after = out(reg) after,
                scratch = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
        after.wrapping_sub(before)
    }

    /// The first change of the counter that a close loop of reads sees; a counter that stays still for
    /// a thousand rounds is left at `u32::MAX`.
    fn step() -> u32 {
        let first = cycles();
        (0..1000).map(|_| cycles().wrapping_sub(first)).find(|&step| step != 0).unwrap_or(u32::MAX)
    }

    /// Says what [`cycles`] counts, how finely and at what cost, or that it is dead. Takes the least
    /// of several tries, so a tick in between does not matter. Callable from every context.
    ///
    /// # Errors
    /// [`CounterError::Dead`].
    pub fn self_test() -> Result<Counter, CounterError> {
        let mut length = u32::MAX;
        let mut overhead = u32::MAX;
        for _ in 0..16 {
            length = length.min(probe());
            overhead = overhead.min(back_to_back());
        }
        let mut resolution = length;
        for _ in 0..16 {
            resolution = resolution.min(step());
        }
        judge(NAME, crate::timer::frequency(), length, overhead, resolution)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_counter_is_named() {
        assert_eq!(judge("PMCCNTR", 0, 0, 0, 0), Err(CounterError::Dead { name: "PMCCNTR" }));
        assert_eq!(judge("PMCCNTR", 0, 1400, 2, 2).map(|c| c.unit), Ok("cycles"));
    }

    #[test]
    fn only_an_exact_count_is_called_instructions() {
        let exact = judge("CNTPCT", 1_000_000_000, PROBE, 1, 1).expect("alive");
        assert_eq!((exact.unit, exact.coarse), ("instructions", false));
        let faster = judge("CNTPCT", 2_000_000_000, 2 * PROBE, 2, 2).expect("alive");
        assert_eq!((faster.unit, faster.coarse), ("counts", false));
        let coarse = judge("CNTPCT", 62_500_000, 63, 0, 1).expect("alive");
        assert_eq!((coarse.unit, coarse.coarse), ("counts", true));
    }
}
