//! Which samples were disturbed: told by counts that moved, not by how long the sample took.

use core::hint::black_box;

use measure::Exclusion;

/// Tells which samples of a series were disturbed.
pub struct Watch {
    ticks: u32,
    interrupts: u32,
    /// What fell into the sample before.
    disturbed: Option<Exclusion>,
}

impl Watch {
    /// For a new series.
    pub const fn new() -> Self {
        Self { ticks: 0, interrupts: 0, disturbed: None }
    }

    /// Remembers the counts. Called before the first timestamp.
    #[inline(always)]
    pub fn begin(&mut self) {
        self.ticks = threadx::time::now();
        self.interrupts = bsp::interrupt::count();
        // In memory now: arithmetic on registers may move past a timestamp, and a sum of the kernel's clock did.
        black_box(self);
    }

    /// What happened since, if anything. Called after the second timestamp. A sample after a disturbed one is
    /// disturbed as well: a partner that was interrupted on its way to a switch goes on from there.
    pub fn end(&mut self) -> Option<Exclusion> {
        let disturbed = if threadx::time::now() != self.ticks {
            Some(Exclusion::Tick)
        } else if bsp::interrupt::count() != self.interrupts {
            Some(Exclusion::Interrupt)
        } else {
            None
        };
        let before = core::mem::replace(&mut self.disturbed, disturbed);
        disturbed.or(before)
    }
}
