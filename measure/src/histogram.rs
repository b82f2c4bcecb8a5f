/// Counts of values in `B` bins of equal width; what falls outside is counted, too.
///
/// ```
/// let mut phases = measure::Histogram::<4>::new(0, 25);
/// for value in [0, 24, 25, 99, 100] {
///     phases.add(value);
/// }
/// assert_eq!((phases.bins(), phases.above()), (&[2, 1, 0, 1], 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram<const B: usize> {
    low: u32,
    width: u64,
    bins: [u32; B],
    below: u32,
    above: u32,
}

impl<const B: usize> Histogram<B> {
    /// Empty bins of `width` values each (0 counts as 1), the first of which starts at `low`.
    #[must_use]
    pub const fn new(low: u32, width: u32) -> Self {
        const { assert!(B > 0, "a histogram has at least one bin") };
        Self { low, width: if width == 0 { 1 } else { width as u64 }, bins: [0; B], below: 0, above: 0 }
    }

    /// Bins that reach from the smallest to the largest of `values`, filled with them. Without values
    /// all bins are empty.
    #[must_use]
    pub fn spanning(values: impl Iterator<Item = u32> + Clone) -> Self {
        let low = values.clone().min().unwrap_or(0);
        let span = u64::from(values.clone().max().unwrap_or(0) - low) + 1;
        let mut histogram = Self { width: span.div_ceil(B as u64), ..Self::new(low, 1) };
        values.for_each(|value| histogram.add(value));
        histogram
    }

    /// Counts `value` in its bin, or below or above all bins.
    pub fn add(&mut self, value: u32) {
        let Some(offset) = value.checked_sub(self.low) else {
            self.below = self.below.saturating_add(1);
            return;
        };
        let bin = usize::try_from(u64::from(offset) / self.width).ok().and_then(|bin| self.bins.get_mut(bin));
        let count = bin.unwrap_or(&mut self.above);
        *count = count.saturating_add(1);
    }

    /// Counts by bin, lowest first.
    #[must_use]
    pub const fn bins(&self) -> &[u32; B] {
        &self.bins
    }

    /// Smallest value of the first bin.
    #[must_use]
    pub const fn low(&self) -> u32 {
        self.low
    }

    /// Values a bin is wide; at least 1.
    #[must_use]
    pub const fn width(&self) -> u64 {
        self.width
    }

    /// Values smaller than the first bin's.
    #[must_use]
    pub const fn below(&self) -> u32 {
        self.below
    }

    /// Values larger than the last bin's.
    #[must_use]
    pub const fn above(&self) -> u32 {
        self.above
    }

    /// Whether no bin holds more than `factor` times what another holds, and every value found a bin.
    /// False for empty bins: what was not sampled is not flat.
    #[must_use]
    pub fn flat_within(&self, factor: u32) -> bool {
        let least = self.bins.iter().min().copied().unwrap_or(0);
        let most = self.bins.iter().max().copied().unwrap_or(0);
        let inside = self.below == 0 && self.above == 0;
        inside && least > 0 && u64::from(most) <= u64::from(least) * u64::from(factor)
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::Histogram;

    #[test]
    fn m11_one_phase_for_ever_is_not_flat() {
        let mut resonant = Histogram::<8>::new(0, 1250);
        (0..2000).for_each(|_| resonant.add(4321));
        assert!(!resonant.flat_within(2));
        assert!(!Histogram::<8>::new(0, 1250).flat_within(2), "nothing was sampled");

        let mut even = Histogram::<8>::new(0, 1250);
        (0..2000).for_each(|i| even.add(i * 5));
        assert!(even.flat_within(1));
        even.add(10_000);
        assert!(!even.flat_within(2), "a value outside");
    }

    #[test]
    fn flat_means_at_most_the_factor() {
        let mut twice = Histogram::<2>::new(0, 1);
        [0, 0, 1].into_iter().for_each(|value| twice.add(value));
        assert!(twice.flat_within(2));
        twice.add(0);
        assert!(!twice.flat_within(2));
    }

    #[test]
    fn the_whole_range_fits() {
        let all = Histogram::<1>::spanning([0, u32::MAX].into_iter());
        assert_eq!((all.bins(), all.width()), (&[2], 1 << 32));
        let all = Histogram::<3>::spanning([0, u32::MAX].into_iter());
        assert_eq!((all.bins(), all.above()), (&[1, 0, 1], 0));
    }

    proptest! {
        #[test]
        fn every_value_is_counted_once_where_it_belongs(
            values in proptest::collection::vec(prop_oneof![0u32..1000, 0u32..u32::MAX], 0..60),
            low in 0u32..500,
            width in 0u32..400,
        ) {
            let mut histogram = Histogram::<5>::new(low, width);
            values.iter().for_each(|&value| histogram.add(value));
            let width = u64::from(width.max(1));
            let count = |from: u64, to: u64| {
                values.iter().filter(|&&v| (from..to).contains(&u64::from(v))).count() as u32
            };
            let low = u64::from(low);
            let expected: Vec<_> = (0..5).map(|bin| count(low + bin * width, low + (bin + 1) * width)).collect();
            prop_assert_eq!(&histogram.bins()[..], &expected[..]);
            prop_assert_eq!(histogram.below(), count(0, low));
            prop_assert_eq!(histogram.above(), count(low + 5 * width, 1 << 32));

            let spanning = Histogram::<5>::spanning(values.iter().copied());
            prop_assert_eq!(spanning.bins().iter().sum::<u32>() as usize, values.len());
        }
    }
}
