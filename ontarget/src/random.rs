//! Pseudo-random numbers, the same in every run.

use core::sync::atomic::{AtomicU32, Ordering};

/// A xorshift generator (Marsaglia, 13/17/5). Not exact when used from several contexts at once, which
/// costs a repeated number and nothing else.
pub struct Random(AtomicU32);

impl Random {
    /// A generator; `seed` must not be 0.
    #[must_use]
    pub const fn new(seed: u32) -> Self {
        Self(AtomicU32::new(seed))
    }

    /// The next number, never 0.
    pub fn next(&self) -> u32 {
        let mut x = self.0.load(Ordering::Relaxed);
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.0.store(x, Ordering::Relaxed);
        x
    }

    /// The next number below `bound`.
    pub fn below(&self, bound: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(bound)) >> 32) as u32
    }
}
