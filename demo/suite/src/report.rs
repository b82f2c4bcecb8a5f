//! Results as they come, and the verdict at the end.

use bsp::counter::Counter;
use bsp::memory::{kernel_code, region_of};
use measure::{Bench, Case, RawSamples, Record, Samples, Setting, Summary};

use crate::image::{self, Checks};
use crate::sampler::{MOST, Sampler};
use crate::threads::{Memory, Pair};

/// What the figures of one kind of series are compared with: the first of its kind.
#[derive(Clone, Copy)]
struct Baseline {
    bench: Bench,
    variant: &'static str,
    detail: &'static str,
    min: u32,
}

/// Kinds of series: bench, variant and detail.
const KINDS: usize = 64;

/// Collects what was measured and what was found wrong.
pub struct Report {
    setting: Setting<'static>,
    checks: Checks,
    baselines: [Option<Baseline>; KINDS],
}

impl Report {
    /// An empty report for measurements with `counter`.
    pub fn new(counter: &Counter) -> Self {
        let mut report = Self { setting: image::setting(counter), checks: Checks::default(), baselines: [None; KINDS] };
        report.check("the counter is fine enough to measure a switch", !counter.coarse);
        report
    }

    /// Whether the figures are instructions, of which the same code always takes the same number.
    pub fn counts_instructions(&self) -> bool {
        self.setting.unit == "instructions"
    }

    /// [`Checks::check`].
    pub fn check(&mut self, what: &str, ok: bool) {
        self.checks.check(what, ok);
    }

    /// [`Checks::fail`].
    pub fn fail(&mut self, what: &str, error: impl ufmt::uDisplay) {
        self.checks.fail(what, error);
    }

    /// The factors of a series, as far as they follow from how it was taken.
    pub fn case(bench: Bench, memory: Memory, pair: &Pair, sampler: &Sampler) -> Case<'static> {
        let preparation = sampler.plan().preparation;
        Case {
            pollution_bytes: preparation.bytes(),
            control: pair.memory(),
            ..Case::new(bench, memory.name(), preparation.cache())
        }
    }

    /// Prints a series and its raw samples, and checks it.
    #[inline(never)]
    pub fn series(&mut self, case: &Case<'static>, memory: Memory, sampler: &Sampler) -> Option<Summary> {
        self.check("every result was right", sampler.right);
        self.check("the measuring thread's stack lies in its memory", memory.holds(sampler.stack));
        self.check("the kernel's code lies in the memory of the timed code", case.code == region_of(kernel_code()));
        self.check("m04: nothing was printed between two timestamps", sampler.talked == 0);
        let samples = sampler.samples();
        self.check("a series is complete", samples.len() == sampler.plan().samples);
        let Ok(summary) = samples.summary() else {
            self.check("a series has samples that nothing disturbed", false);
            return None;
        };
        self.print_record(case, &summary);
        self.print_samples(case, samples);
        if self.counts_instructions() {
            self.check("undisturbed samples all took the same instructions", summary.min == summary.max);
            self.compare(case, summary.min);
        }
        Some(summary)
    }

    /// Memories, cache states and placements cannot change how many instructions the same code takes.
    fn compare(&mut self, case: &Case<'static>, min: u32) {
        let kind = Baseline { bench: case.bench, variant: case.variant, detail: case.detail, min };
        let same_kind = |b: &Baseline| b.bench == kind.bench && b.variant == kind.variant && b.detail == kind.detail;
        let slot = self.baselines.iter_mut().find(|slot| slot.as_ref().is_none_or(same_kind));
        let same = slot.is_some_and(|slot| slot.get_or_insert(kind).min == min);
        self.check("all memories, cache states and placements took the same instructions", same);
    }

    // Apart, so that their buffers are on the stack one at a time.
    #[inline(never)]
    fn print_record(&mut self, case: &Case<'static>, summary: &Summary) {
        self.checks.print(Record::new(&self.setting, case, summary).line(&mut [0; LINE]));
    }

    #[inline(never)]
    fn print_samples(&mut self, case: &Case<'static>, samples: &Samples<MOST>) {
        self.checks.print(RawSamples::new(&self.setting, case, samples).line(&mut [0; 512 + MOST * 42]));
    }

    /// [`Checks::finish`].
    pub fn finish(self) -> ! {
        self.checks.finish()
    }
}

/// Bytes of a record's line.
const LINE: usize = 1024 + bsp::CONFIGURATION.len();
