//! Which samples were disturbed: told by counts that moved, not by how long the sample took.

use core::hint::black_box;

use measure::{Disturbed, Exclusion};

/// Tells which samples of a series were disturbed.
pub struct Watch {
    ticks: u32,
    interrupts: u32,
    disturbed: Disturbed,
}

impl Watch {
    /// For a new series.
    pub const fn new() -> Self {
        Self { ticks: 0, interrupts: 0, disturbed: Disturbed::new() }
    }

    /// Remembers the counts. Called before the first timestamp.
    #[inline(always)]
    pub fn begin(&mut self) {
        self.ticks = threadx::time::now();
        self.interrupts = bsp::interrupt::count();
        // In memory now: arithmetic on registers may move past a timestamp, and a sum of the kernel's clock did.
        black_box(self);
    }

    /// The sample's mark. Called after the second timestamp.
    pub fn end(&mut self) -> Option<Exclusion> {
        let ticked = threadx::time::now() != self.ticks;
        let interrupted = bsp::interrupt::count() != self.interrupts;
        self.disturbed.mark(Exclusion::seen(ticked, interrupted))
    }
}
