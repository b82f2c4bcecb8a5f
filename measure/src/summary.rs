use crate::samples::{Exclusion, Sample};

/// The figures of a series, in the unit of the counter.
///
/// `min`, `mean` and `max` are those of the `n` samples kept; the `excluded` ones have their own
/// extremes. `n + excluded` samples were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Samples that entered `min`, `mean` and `max`; at least 1.
    pub n: u32,
    /// Samples kept out of them.
    pub excluded: u32,
    /// Smallest kept value.
    pub min: u32,
    /// Arithmetic mean of the kept values, rounded to the nearest integer, halves upwards.
    pub mean: u32,
    /// Largest kept value.
    pub max: u32,
    /// Position of the first kept sample that has the value `max`, in the order taken, from 0,
    /// excluded samples counted.
    pub max_index: u32,
    /// The sample taken first, kept or not: it alone ran with everything cold.
    pub first: u32,
    /// Smallest and largest excluded value, if any was excluded.
    pub excluded_range: Option<(u32, u32)>,
    /// Of the excluded samples, those with [`Exclusion::Tick`].
    pub excluded_tick: u32,
    /// Of the excluded samples, those with [`Exclusion::Interrupt`].
    pub excluded_interrupt: u32,
    /// Standard deviation of the kept values about their exact mean (that of a population: divided by
    /// `n`), in hundredths, rounded to the nearest. Exact for up to 2^24 samples; for longer series it
    /// may be `u64::MAX`, which means that it could not be computed.
    pub sd_hundredths: u64,
    /// Median: the smallest kept value that half of the kept values or more do not exceed (nearest
    /// rank; never a value that was not measured).
    pub p50: u32,
    /// The smallest kept value that 90 % of the kept values or more do not exceed.
    pub p90: u32,
    /// The smallest kept value that 99 % of the kept values or more do not exceed.
    pub p99: u32,
}

/// Why a series has no figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryError {
    /// No sample was taken.
    Empty,
    /// Every sample was excluded, so that nothing undisturbed is left to report.
    AllExcluded {
        /// Samples taken.
        excluded: u32,
        /// Smallest of them.
        min: u32,
        /// Largest of them.
        max: u32,
    },
}

impl core::fmt::Display for SummaryError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Empty => f.write_str("no samples were taken"),
            Self::AllExcluded { excluded, min, max } => write!(
                f,
                "all {excluded} samples were disturbed (values {min} to {max}): \
                 shorten the sample or lengthen the tick"
            ),
        }
    }
}

impl core::error::Error for SummaryError {}

impl Summary {
    /// The figures of `values`, none of which is excluded, in the order taken. At most `u32::MAX`
    /// values.
    ///
    /// ```
    /// let summary = measure::Summary::of_values(&[42, 40, 41]).unwrap();
    /// assert_eq!((summary.first, summary.min, summary.p50, summary.sd_hundredths), (42, 40, 41, 82));
    /// ```
    ///
    /// # Errors
    /// [`SummaryError::Empty`].
    pub fn of_values(values: &[u32]) -> Result<Self, SummaryError> {
        Self::of(values.iter().enumerate().map(|(index, &value)| Sample { index, value, excluded: None }))
    }

    /// The figures of `samples`, which come in the order taken. At most `u32::MAX` samples.
    ///
    /// Walks over them some hundred times, since it has no memory to sort them in.
    ///
    /// # Errors
    /// [`SummaryError::Empty`] without samples, [`SummaryError::AllExcluded`] when none may be used.
    pub fn of(samples: impl Iterator<Item = Sample> + Clone) -> Result<Self, SummaryError> {
        let kept = samples.clone().filter(|sample| sample.excluded.is_none()).map(|sample| sample.value);
        let mut summary = Self::single_pass(samples)?;
        let rank = |percent: u64| (u64::from(summary.n) * percent).div_ceil(100);
        let quantile = |percent| at_rank(kept.clone(), summary.min, summary.max, rank(percent));
        (summary.p50, summary.p90, summary.p99) = (quantile(50), quantile(90), quantile(99));
        summary.sd_hundredths = deviation(kept, summary.min, u128::from(summary.n));
        Ok(summary)
    }

    /// Everything that takes one look at each sample; quantiles and deviation are left 0.
    fn single_pass(samples: impl Iterator<Item = Sample>) -> Result<Self, SummaryError> {
        let mut first = None;
        let mut kept: Option<Self> = None;
        let mut sum = 0u64;
        let mut excluded = 0u32;
        let mut excluded_tick = 0u32;
        let mut excluded_range: Option<(u32, u32)> = None;

        for Sample { index, value, excluded: mark } in samples {
            let first = *first.get_or_insert(value);
            if let Some(reason) = mark {
                excluded += 1;
                excluded_tick += u32::from(reason == Exclusion::Tick);
                let (min, max) = excluded_range.unwrap_or((value, value));
                excluded_range = Some((min.min(value), max.max(value)));
                continue;
            }
            // 2^32 samples of 2^32 stay below 2^64.
            sum += u64::from(value);
            let s = kept.get_or_insert(Self {
                n: 0,
                excluded: 0,
                min: value,
                mean: 0,
                max: value,
                max_index: index as u32,
                first,
                excluded_range: None,
                excluded_tick: 0,
                excluded_interrupt: 0,
                sd_hundredths: 0,
                p50: value,
                p90: value,
                p99: value,
            });
            s.n += 1;
            s.min = s.min.min(value);
            if value > s.max {
                s.max = value;
                s.max_index = index as u32;
            }
        }

        match (kept, excluded_range) {
            (Some(s), _) => {
                let n = u64::from(s.n);
                Ok(Self {
                    // At most the largest value, hence 32 bits.
                    mean: ((sum + n / 2) / n) as u32,
                    excluded,
                    excluded_range,
                    excluded_tick,
                    excluded_interrupt: excluded - excluded_tick,
                    ..s
                })
            }
            (None, Some((min, max))) => Err(SummaryError::AllExcluded { excluded, min, max }),
            (None, None) => Err(SummaryError::Empty),
        }
    }
}

/// The smallest value that at least `rank` of the `values` do not exceed; all lie in `min..=max`.
///
/// Halves the range of possible values, so that nothing needs to be sorted or stored. The result is a
/// value of the series: the count of those not above it changes there.
fn at_rank(values: impl Iterator<Item = u32> + Clone, min: u32, max: u32, rank: u64) -> u32 {
    let (mut low, mut high) = (min, max);
    while low < high {
        let middle = low + (high - low) / 2;
        if values.clone().filter(|&value| value <= middle).count() as u64 >= rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// A hundred standard deviations of `n` values, none below `min`; `u64::MAX` if 128 bits do not hold
/// the sums.
fn deviation(values: impl Iterator<Item = u32>, min: u32, n: u128) -> u64 {
    // n sd^2 = sum(d^2) - sum(d)^2 / n with d counted from the minimum, all times n to stay whole.
    let (mut sum, mut squares) = (0u128, 0u128);
    for value in values {
        let d = u128::from(value - min);
        sum += d;
        squares += d * d;
    }
    let hundredths = || {
        let scaled = n.checked_mul(squares)?.checked_sub(sum.checked_mul(sum)?)?.checked_mul(200 * 200)?;
        // Twice the hundredths, so that halves can be told from what is below them.
        u64::try_from((scaled.isqrt() / n).div_ceil(2)).ok()
    };
    hundredths().unwrap_or(u64::MAX)
}

/// A value after subtraction of the counter's own cost, with the mark that it would have gone below
/// zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Net<T> {
    /// The result; 0 where the overhead was the larger one.
    pub value: T,
    /// How many values were smaller than the overhead. Anything but 0 says that the overhead was
    /// measured wrong or that the sample is too short for this counter: print it, claim nothing.
    pub below: u32,
}

/// `value` less the counter's own cost, never below zero and never wrapped.
#[must_use]
pub const fn net(value: u32, overhead: u32) -> Net<u32> {
    Net { value: value.saturating_sub(overhead), below: (value < overhead) as u32 }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::{Exclusion, Samples};

    fn series<const N: usize>(of: &[(u32, Option<Exclusion>)]) -> Samples<N> {
        let mut s = Samples::new();
        for &(value, mark) in of {
            s.push(value, mark).unwrap();
        }
        s
    }

    #[test]
    fn m03_a_tick_in_a_sample_moves_no_figure() {
        let s =
            series::<4>(&[(1402, None), (1370, None), (9000, Some(Exclusion::Tick)), (1, Some(Exclusion::Interrupt))]);
        let s = s.summary().unwrap();
        assert_eq!(
            s,
            Summary {
                n: 2,
                excluded: 2,
                min: 1370,
                mean: 1386,
                max: 1402,
                max_index: 0,
                first: 1402,
                excluded_range: Some((1, 9000)),
                excluded_tick: 1,
                excluded_interrupt: 1,
                sd_hundredths: 1600,
                p50: 1370,
                p90: 1402,
                p99: 1402,
            }
        );
    }

    #[test]
    fn nothing_left_is_an_error_not_zeros() {
        assert_eq!(series::<1>(&[]).summary(), Err(SummaryError::Empty));
        let all = series::<2>(&[(7, Some(Exclusion::Tick)), (9, Some(Exclusion::Tick))]);
        let error = SummaryError::AllExcluded { excluded: 2, min: 7, max: 9 };
        assert_eq!(all.summary(), Err(error));
        assert_eq!(all.net_summary(1).map(|n| n.value.n), {
            Err(SummaryError::AllExcluded { excluded: 2, min: 6, max: 8 })
        });
    }

    #[test]
    fn m08_the_first_sample_is_reported_even_when_excluded() {
        let s = series::<2>(&[(500, Some(Exclusion::Tick)), (40, None)]);
        let s = s.summary().unwrap();
        assert_eq!((s.first, s.max, s.max_index), (500, 40, 1));
    }

    #[test]
    fn mean_rounds_halves_up_and_does_not_overflow() {
        assert_eq!(series::<2>(&[(40, None), (41, None)]).summary().unwrap().mean, 41);
        assert_eq!(series::<3>(&[(40, None), (40, None), (41, None)]).summary().unwrap().mean, 40);
        let s = series::<3>(&[(u32::MAX, None); 3]).summary().unwrap();
        assert_eq!((s.min, s.mean, s.max), (u32::MAX, u32::MAX, u32::MAX));
    }

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let of = |values: &[u32]| Summary::of_values(values).map(|s| (s.p50, s.p90, s.p99)).unwrap();
        assert_eq!(of(&[7]), (7, 7, 7));
        assert_eq!(of(&[10, 20]), (10, 20, 20));
        let hundred: Vec<u32> = (1..=100).rev().collect();
        assert_eq!(of(&hundred), (50, 90, 99));
        assert_eq!(of(&[0, u32::MAX, u32::MAX]), (u32::MAX, u32::MAX, u32::MAX));
    }

    #[test]
    fn deviation_is_exact_to_the_hundredth() {
        let of = |values: &[u32]| Summary::of_values(values).unwrap().sd_hundredths;
        assert_eq!(of(&[5]), 0);
        assert_eq!(of(&[4, 6]), 100);
        assert_eq!(of(&[2, 4, 4, 4, 5, 5, 7, 9]), 200);
        assert_eq!(of(&[0, 0, 1]), 47, "0.4714");
        assert_eq!(of(&[0, u32::MAX]), 214_748_364_750);
    }

    proptest! {
        #[test]
        fn agrees_with_sorting_and_adding(
            of in proptest::collection::vec(
                (
                    prop_oneof![0u32..100, any::<u32>(), (u32::MAX - 100)..=u32::MAX],
                    prop_oneof![
                        3 => Just(None),
                        1 => Just(Some(Exclusion::Tick)),
                        1 => Just(Some(Exclusion::Interrupt)),
                    ],
                ),
                0..64,
            ),
            overhead in 0u32..200,
        ) {
            let s = series::<64>(&of);
            let keep = |values: &[(u32, Option<Exclusion>)]| -> Vec<u32> {
                values.iter().filter(|v| v.1.is_none()).map(|v| v.0).collect()
            };
            let kept = keep(&of);
            match s.summary() {
                Err(SummaryError::Empty) => prop_assert!(of.is_empty()),
                Err(SummaryError::AllExcluded { excluded, min, max }) => {
                    prop_assert!(kept.is_empty());
                    prop_assert_eq!(excluded as usize, of.len());
                    prop_assert_eq!(min, of.iter().map(|v| v.0).min().unwrap());
                    prop_assert_eq!(max, of.iter().map(|v| v.0).max().unwrap());
                }
                Ok(sum) => {
                    let mut sorted = kept.clone();
                    sorted.sort_unstable();
                    let total: u128 = kept.iter().map(|&v| u128::from(v)).sum();
                    let n = kept.len() as u128;
                    prop_assert_eq!(sum.n as usize, kept.len());
                    prop_assert_eq!(sum.excluded as usize, of.len() - kept.len());
                    prop_assert_eq!(sum.min, sorted[0]);
                    prop_assert_eq!(sum.max, *sorted.last().unwrap());
                    prop_assert_eq!(u128::from(sum.mean), (2 * total + n) / (2 * n));
                    let at = of.iter().position(|v| v.1.is_none() && v.0 == sum.max).unwrap();
                    prop_assert_eq!(sum.max_index as usize, at);
                    prop_assert_eq!(sum.first, of[0].0);
                    let ticks = of.iter().filter(|v| v.1 == Some(Exclusion::Tick)).count();
                    prop_assert_eq!(sum.excluded_tick as usize, ticks);
                    prop_assert_eq!(sum.excluded_tick + sum.excluded_interrupt, sum.excluded);
                    let nearest_rank = |percent: usize| sorted[(kept.len() * percent).div_ceil(100) - 1];
                    prop_assert_eq!((sum.p50, sum.p90, sum.p99), (nearest_rank(50), nearest_rank(90), nearest_rank(99)));
                    let mean = total as f64 / n as f64;
                    let squares: f64 = kept.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum();
                    let sd = 100.0 * (squares / n as f64).sqrt();
                    prop_assert!((sum.sd_hundredths as f64 - sd).abs() <= 0.51 + sd * 1e-9, "{} {sd}", sum.sd_hundredths);

                    let net = s.net_summary(overhead).unwrap();
                    let floor: Vec<_> = of
                        .iter()
                        .map(|&(v, m)| ((i64::from(v) - i64::from(overhead)).max(0) as u32, m))
                        .collect();
                    prop_assert_eq!(net.value, series::<64>(&floor).summary().unwrap());
                    prop_assert_eq!(
                        net.below as usize,
                        kept.iter().filter(|&&v| v < overhead).count()
                    );
                }
            }
            prop_assert_eq!(s.values().len(), of.len());
        }
    }
}
