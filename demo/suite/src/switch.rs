//! Round trip between two threads of equal priority: the measuring thread's relinquish, the partner's turn (one look at
//! a flag and its own relinquish), and the switch back.

use core::sync::atomic::{AtomicBool, Ordering};

use bsp::memory::region_of;
use bsp::placement::Copies;
use measure::{Bench, Case};
use threadx::Error;

use crate::factors::{Preparation, Variant};
use crate::report::Report;
use crate::sampler::{Plan, Sampler};
use crate::threads::{Memory, Pair, TURNS};

/// Samples of a series.
pub const SAMPLES: usize = 256;

static STOP: AtomicBool = AtomicBool::new(false);

/// One variant's code: the measuring loop and the partner's.
macro_rules! loops {
    ($measuring:ident, $partner:ident, $relinquish:path) => {
        bsp::placed! {
            /// The measuring loop.
            fn $measuring(sampler: &mut Sampler) {
                while sampler.wants_more() {
                    sampler.before();
                    let start = bsp::cycles();
                    $relinquish();
                    let end = bsp::cycles();
                    sampler.after(start, end);
                }
            }
        }

        fn $partner() {
            while !STOP.load(Ordering::Relaxed) {
                $relinquish();
            }
        }
    };
}
loops!(by_call, partner_by_call, threadx::thread::relinquish);
#[cfg(feature = "bundled")]
loops!(inline, partner_inline, threadx::thread::relinquish_inline);

/// A variant's four measuring loops.
fn measuring_loops(variant: Variant) -> Copies<fn(&mut Sampler)> {
    match variant {
        Variant::Call => by_call(),
        #[cfg(feature = "bundled")]
        Variant::Inline => inline(),
    }
}

/// A variant's partner.
const fn partner_loop(variant: Variant) -> fn() {
    match variant {
        Variant::Call => partner_by_call,
        #[cfg(feature = "bundled")]
        Variant::Inline => partner_inline,
    }
}

fn run_count() -> u32 {
    threadx::thread::current().and_then(|me| me.info().ok()).map_or(0, |info| info.run_count)
}

/// Takes one series; returns it with the number of times that the worker was scheduled.
fn take(
    memory: Memory,
    pair: &Pair,
    plan: Plan,
    measuring: fn(&mut Sampler),
    partner: fn(),
) -> Result<(Sampler, u32), Error> {
    STOP.store(false, Ordering::Relaxed);
    let (mut sampler, mut turns) = (Sampler::new(plan), 0);
    let mut worker = || {
        sampler.note_stack();
        let before = run_count();
        measuring(&mut sampler);
        turns = run_count().wrapping_sub(before);
        STOP.store(true, Ordering::Relaxed);
    };
    memory.run(pair, &mut worker, Some((TURNS, &mut { partner })))?;
    Ok((sampler, turns))
}

/// A series at one placement, with its checks; the figures only if they could be taken.
#[expect(clippy::too_many_arguments, reason = "each is a factor")]
pub fn series_at(
    report: &mut Report,
    memory: Memory,
    pair: &Pair,
    plan: Plan,
    variant: Variant,
    placement: usize,
    detail: &'static str,
    tick: &'static str,
) -> Option<measure::Summary> {
    let copies = measuring_loops(variant);
    let copy = copies.get(placement)?;
    match take(memory, pair, plan, copy.function(), partner_loop(variant)) {
        Ok((sampler, turns)) => {
            report.check("the timed code lies at its offset", copy.is_in_place());
            report.check("each round trip switched to the partner and back, once", turns == sampler.rounds());
            let rounds = plan.samples as u32 + plan.warm_up;
            report.check("m08: as many rounds as samples and warm-up", sampler.rounds() == rounds);
            let case = Case {
                variant: variant.name(),
                placement: Some(copy.offset()),
                code: region_of(copy.address()),
                detail,
                tick,
                ..Report::case(Bench::ContextSwitch, memory, pair, &sampler)
            };
            report.series(&case, memory, &sampler)
        }
        Err(error) => {
            report.fail("context switch", error);
            None
        }
    }
}

/// All placements.
pub fn measure(report: &mut Report, memory: Memory, pair: &Pair, preparation: Preparation, variant: Variant) {
    for placement in 0..4 {
        series_at(report, memory, pair, Plan::new(SAMPLES, preparation), variant, placement, "", "on");
    }
}
