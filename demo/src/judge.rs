//! Is this a working kernel? A sleeper, a spinner below it, and a judge that looks at both.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use bsp::memory::Dram0;
use threadx::{Builder, Error, Priority, ThreadCell, Ticks};

use crate::SCALE;
use crate::report::Report;

/// Ticks the judge gives the two.
const TRIAL: Ticks = Ticks::new(20);
const NAP: Ticks = Ticks::new(2);

threadx::stack! {
    static SLEEPER_STACK: Stack<Dram0, { 1024 * SCALE }>;
    static SPINNER_STACK: Stack<Dram0, { 1024 * SCALE }>;
}
static SLEEPER: ThreadCell = ThreadCell::new();
static SPINNER: ThreadCell = ThreadCell::new();

static STOP: AtomicBool = AtomicBool::new(false);
static SPINS: AtomicU32 = AtomicU32::new(0);

/// What the sleeper saw.
struct Naps {
    woken: u32,
    /// Wakings that found the spinner further on than the one before: it was preempted at work.
    preemptions: u32,
}

fn sleeper() -> Naps {
    let mut naps = Naps { woken: 0, preemptions: 0 };
    let mut spins = SPINS.load(Ordering::Relaxed);
    while !STOP.load(Ordering::Relaxed) {
        if threadx::thread::sleep(NAP).is_err() {
            break;
        }
        naps.woken += 1;
        let now = SPINS.load(Ordering::Relaxed);
        naps.preemptions += u32::from(now != spins);
        spins = now;
    }
    naps
}

fn spinner() {
    while !STOP.load(Ordering::Relaxed) {
        SPINS.fetch_add(1, Ordering::Relaxed);
    }
}

fn trial() -> Result<(u32, Naps, u32), Error> {
    let before = threadx::time::now();
    let low = Builder::new("spinner").priority(Priority::of::<20>()).spawn(&SPINNER, SPINNER_STACK.take()?, spinner)?;
    let high =
        Builder::new("sleeper").priority(Priority::of::<10>()).spawn(&SLEEPER, SLEEPER_STACK.take()?, sleeper)?;
    threadx::thread::sleep(TRIAL)?;
    let ticks = threadx::time::now().wrapping_sub(before);
    STOP.store(true, Ordering::Relaxed);
    let naps = high.join().map_err(|_| Error::Thread)?;
    low.join().map_err(|_| Error::Thread)?;
    Ok((ticks, naps, SPINS.load(Ordering::Relaxed)))
}

/// Runs the trial and passes judgement.
pub fn judge(report: &mut Report) {
    match trial() {
        Ok((ticks, naps, spins)) => {
            // A sleep of n ticks may be up to one tick short and is one late at most here.
            let expected = TRIAL.get() / NAP.get();
            report.check(
                "the tick advanced as long as the judge slept",
                ticks == TRIAL.get() || ticks + 1 == TRIAL.get(),
            );
            report.check("the sleeper was woken every time", naps.woken >= expected - 1 && naps.woken <= expected + 1);
            report.check("the spinner ran", spins > 0);
            report.check("the sleeper preempted the spinner at every waking", naps.preemptions == naps.woken);
        }
        Err(error) => report.fail("judge", error),
    }
}
