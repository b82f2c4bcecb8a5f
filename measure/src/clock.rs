/// Counts from `start` to `end` of a 32-bit counter that runs upwards and wraps.
///
/// Right as long as less than one whole turn of the counter lies between the two reads: 4.29 s at
/// 1 GHz, 5.3 s at 800 MHz, 536 s at 8 MHz. A longer stretch needs [`Wide`].
#[inline(always)]
#[must_use]
pub const fn elapsed(start: u32, end: u32) -> u32 {
    end.wrapping_sub(start)
}

/// A 64-bit count made of reads of a 32-bit counter.
///
/// Right as long as less than one whole turn of the counter lies between two calls of
/// [`advance`](Self::advance); 2^64 counts are 584 years at 1 GHz.
///
/// ```
/// let mut clock = measure::Wide::new(0xffff_fff0);
/// assert_eq!(clock.advance(0x10), 0x20);
/// assert_eq!(clock.advance(0), 0x1_0000_0010);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide {
    last: u32,
    total: u64,
}

impl Wide {
    /// Starts at 0 with the counter at `now`.
    #[must_use]
    pub const fn new(now: u32) -> Self {
        Self { last: now, total: 0 }
    }

    /// Takes the next read and returns the counts since the start.
    pub const fn advance(&mut self, now: u32) -> u64 {
        self.total = self.total.wrapping_add(elapsed(self.last, now) as u64);
        self.last = now;
        self.total
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Wide, elapsed};

    #[test]
    fn elapsed_crosses_the_wrap() {
        assert_eq!(elapsed(10, 52), 42);
        assert_eq!(elapsed(u32::MAX, 0), 1);
        assert_eq!(elapsed(0xffff_fff0, 0x1a), 42);
        assert_eq!(elapsed(7, 7), 0);
        assert_eq!(elapsed(0, u32::MAX), u32::MAX);
        assert_eq!(elapsed(1, 0), u32::MAX);
    }

    proptest! {
        #[test]
        fn m07_any_start_and_any_number_of_turns(start in any::<u32>(), steps in proptest::collection::vec(any::<u32>(), 0..40)) {
            let mut clock = Wide::new(start);
            let (mut wide, mut total) = (u64::from(start), 0u64);
            for step in steps {
                let before = wide as u32;
                wide += u64::from(step);
                total += u64::from(step);
                prop_assert_eq!(elapsed(before, wide as u32), step);
                prop_assert_eq!(clock.advance(wide as u32), total);
            }
        }
    }
}
