//! Round trip between two threads of equal priority, by the memory that holds their stacks.
//!
//! A sample is the measuring thread's relinquish, the partner's turn (one look at a flag and its own
//! relinquish), and the switch back: two switches. Cold samples clean and invalidate the data cache
//! before the first timestamp.

use core::hint::black_box;
use core::sync::atomic::{AtomicBool, Ordering};

use bsp::memory::{Btcm, Dram0};
use measure::{Bench, Cache, Samples, elapsed};
#[cfg(not(feature = "inline"))]
use threadx::thread::relinquish;
#[cfg(feature = "inline")]
use threadx::thread::relinquish_inline as relinquish;
use threadx::{Builder, Error, Region, Stack, ThreadCell};

use crate::SCALE;
use crate::report::Report;
use crate::sample::Watch;

/// How the loops below relinquish; upstream's kernel has the call only.
pub const VARIANT: &str = if cfg!(all(feature = "inline", feature = "bundled")) { "inline" } else { "call" };

/// Samples of a series.
pub const ROUNDS: usize = 256;

threadx::stack! {
    pub static MEASURING_BTCM: Stack<Btcm, { 4608 + (SCALE - 1) * 3584 }>;
    pub static PARTNER_BTCM: Stack<Btcm, { 1024 * SCALE }>;
    pub static MEASURING_DRAM0: Stack<Dram0, { 4608 + (SCALE - 1) * 3584 }>;
    pub static PARTNER_DRAM0: Stack<Dram0, { 1024 * SCALE }>;
}

pub static MEASURING: ThreadCell = ThreadCell::new();
pub static PARTNER: ThreadCell = ThreadCell::new();
static STOP: AtomicBool = AtomicBool::new(false);

/// What the measuring thread brings back.
struct Series {
    samples: Samples<ROUNDS>,
    /// Times the measuring thread was scheduled during the series.
    turns: u32,
    /// Address of a variable on its stack.
    stack: usize,
}

/// The one measuring loop.
#[inline(never)]
pub fn round_trips(cache: Cache) -> Samples<ROUNDS> {
    let mut samples = Samples::new();
    let mut watch = Watch::new();
    relinquish(); // the partner gets into its loop
    while !samples.is_full() {
        // Opaque, so that the loop is not split into a cold and a warm copy at two placements.
        if black_box(cache) == Cache::Cold {
            bsp::cache::clean_invalidate_data();
        }
        watch.begin();
        let start = bsp::cycles();
        relinquish();
        let end = bsp::cycles();
        let excluded = watch.end();
        if samples.push(elapsed(start, end), excluded).is_err() {
            break;
        }
    }
    samples
}

fn partner() {
    while !STOP.load(Ordering::Relaxed) {
        relinquish();
    }
}

fn run_count() -> u32 {
    threadx::thread::current().and_then(|me| me.info().ok()).map_or(0, |info| info.run_count)
}

// Inlined into the thread's entry, which has a place for the series: its stack holds two of them, not three.
#[inline(always)]
fn measuring(cache: Cache) -> Series {
    let before = run_count();
    let samples = round_trips(cache);
    let turns = run_count().wrapping_sub(before);
    STOP.store(true, Ordering::Relaxed);
    let here = 0u8;
    Series { samples, turns, stack: &raw const here as usize }
}

fn pair<R: Region, const M: usize, const P: usize>(
    measuring_stack: &'static Stack<R, M>,
    partner_stack: &'static Stack<R, P>,
    cache: Cache,
) -> Result<Series, Error> {
    STOP.store(false, Ordering::Relaxed);
    // Both start when this thread, which has a higher priority, waits for the first of them.
    let first = Builder::new("measuring").spawn(&MEASURING, measuring_stack.take()?, move || measuring(cache))?;
    let second = Builder::new("partner").spawn(&PARTNER, partner_stack.take()?, partner)?;
    let series = first.join().map_err(|_| Error::Thread)?;
    second.join().map_err(|_| Error::Thread)?;
    Ok(series)
}

fn one<R: Region, const M: usize, const P: usize>(
    report: &mut Report,
    measuring_stack: &'static Stack<R, M>,
    partner_stack: &'static Stack<R, P>,
    cache: Cache,
) {
    match pair(measuring_stack, partner_stack, cache) {
        Ok(series) => {
            report.check("round trips switched to the partner every time", series.turns >= ROUNDS as u32);
            report.check("the measuring thread's stack lies in its memory", R::range().contains(&series.stack));
            report.series(Bench::ContextSwitch, R::NAME, cache, &series.samples);
        }
        Err(error) => report.fail("context switch", error),
    }
}

/// Measures both memories, cold and warm.
pub fn measure(report: &mut Report) {
    for cache in [Cache::Cold, Cache::Warm] {
        one(report, &MEASURING_BTCM, &PARTNER_BTCM, cache);
        one(report, &MEASURING_DRAM0, &PARTNER_DRAM0, cache);
    }
}
