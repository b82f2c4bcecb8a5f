//! One series: prepares the cache, keeps the samples, tells which were disturbed.

use core::hint::black_box;

use measure::{Disturbed, Exclusion, Samples, elapsed};

use crate::factors::Preparation;

/// Most samples of a series.
pub const MOST: usize = 256;

/// How a series is taken.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Samples, at most [`MOST`].
    pub samples: usize,
    /// Rounds before the first sample.
    pub warm_up: u32,
    /// What is done to the cache before every round.
    pub preparation: Preparation,
    /// Interrupts that belong to a sample; any other number excludes it.
    pub interrupts: u32,
}

impl Plan {
    /// So many samples, with no interrupt in them and no round before them.
    pub const fn new(samples: usize, preparation: Preparation) -> Self {
        Self { samples, warm_up: 0, preparation, interrupts: 0 }
    }
}

/// A series in the making.
pub struct Sampler {
    plan: Plan,
    samples: Samples<MOST>,
    rounds: u32,
    ticks: u32,
    interrupts: u32,
    disturbed: Disturbed,
    written: u32,
    /// Samples during which the console was written to.
    pub talked: u32,
    /// Whether every result was right.
    pub right: bool,
    /// Address of a variable on the measuring thread's stack.
    pub stack: usize,
}

impl Sampler {
    /// An empty series; the data cache is clean afterwards.
    pub fn new(plan: Plan) -> Self {
        plan.preparation.begin();
        Self {
            plan,
            samples: Samples::new(),
            rounds: 0,
            ticks: 0,
            interrupts: 0,
            disturbed: Disturbed::new(),
            written: 0,
            talked: 0,
            right: true,
            stack: 0,
        }
    }

    /// Notes where the calling thread's stack is.
    #[inline(never)]
    pub fn note_stack(&mut self) {
        let here = 0u8;
        self.stack = black_box(&raw const here) as usize;
    }

    /// Whether samples are missing.
    pub fn wants_more(&self) -> bool {
        self.samples.len() < self.plan.samples.min(MOST)
    }

    /// Prepares a sample; the next thing is the first timestamp.
    #[inline(never)]
    pub fn before(&mut self) {
        self.plan.preparation.apply();
        self.written = bsp::console().written();
        self.interrupts = bsp::interrupt::count();
        self.ticks = threadx::time::now();
    }

    /// Takes a sample.
    #[inline(never)]
    pub fn after(&mut self, start: u32, end: u32) {
        let ticked = threadx::time::now() != self.ticks;
        let interrupted = bsp::interrupt::count().wrapping_sub(self.interrupts) != self.plan.interrupts;
        let excluded = self.disturbed.mark(Exclusion::seen(ticked, interrupted));
        self.talked += u32::from(bsp::console().written() != self.written);
        self.rounds += 1;
        if self.rounds > self.plan.warm_up && self.samples.push(elapsed(start, end), excluded).is_err() {
            self.right = false;
        }
    }

    /// The plan it follows.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What was taken.
    pub const fn samples(&self) -> &Samples<MOST> {
        &self.samples
    }

    /// Rounds so far, those before the first sample included.
    pub const fn rounds(&self) -> u32 {
        self.rounds
    }
}
