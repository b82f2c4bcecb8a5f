//! Which samples were disturbed: told by counts that moved, not by how long the sample took.

use measure::Exclusion;

/// State of the interrupt counts before a sample.
pub struct Undisturbed {
    ticks: u32,
    interrupts: u32,
}

impl Undisturbed {
    /// Remembers the counts. Called before the first timestamp.
    pub fn now() -> Self {
        Self { ticks: threadx::time::now(), interrupts: bsp::interrupt::count() }
    }

    /// What happened since, if anything. Called after the second timestamp.
    pub fn check(&self) -> Option<Exclusion> {
        if threadx::time::now() != self.ticks {
            Some(Exclusion::Tick)
        } else if bsp::interrupt::count() != self.interrupts {
            Some(Exclusion::Interrupt)
        } else {
            None
        }
    }
}
