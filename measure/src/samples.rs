use serde::{Deserialize, Serialize};

use crate::summary::{Net, Summary, SummaryError, net};

/// Why a sample is kept out of the figures.
///
/// The reason is observed, not guessed: the tick count or the count of interrupts taken moved between
/// the two timestamps. A threshold on the value alone would hide what it is meant to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exclusion {
    /// The kernel's tick count moved between the timestamps.
    Tick,
    /// An interrupt other than the tick was taken between the timestamps.
    Interrupt,
}

impl Exclusion {
    /// What fell between the timestamps, from whether the tick count and the count of interrupts moved otherwise
    /// than a sample's own part does. A tick is counted as an interrupt as well.
    #[must_use]
    pub const fn seen(ticked: bool, interrupted: bool) -> Option<Self> {
        match (ticked, interrupted) {
            (true, _) => Some(Self::Tick),
            (false, true) => Some(Self::Interrupt),
            (false, false) => None,
        }
    }
}

/// The buffer holds its `N` samples already; the value was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl core::fmt::Display for Full {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("sample buffer is full: make it larger or take fewer samples")
    }
}

impl core::error::Error for Full {}

/// One raw sample with its place in the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Position in the order taken, from 0; excluded samples count.
    pub index: usize,
    /// Counts between the two timestamps, as read.
    pub value: u32,
    /// The reason, if this sample is kept out of the figures.
    pub excluded: Option<Exclusion>,
}

/// Up to `N` raw samples, each with the mark that keeps it in or out of the figures.
///
/// Takes 5 bytes a sample and one word; `new` is `const`, so that a series can live in a `static`.
#[derive(Clone, Debug)]
pub struct Samples<const N: usize> {
    values: [u32; N],
    excluded: [Option<Exclusion>; N],
    len: usize,
}

impl<const N: usize> Samples<N> {
    /// An empty series.
    #[must_use]
    pub const fn new() -> Self {
        Self { values: [0; N], excluded: [None; N], len: 0 }
    }

    /// Stores the next sample; `excluded` says why it must not enter the figures, if so.
    ///
    /// # Errors
    /// [`Full`] once `N` samples are stored.
    pub fn push(&mut self, value: u32, excluded: Option<Exclusion>) -> Result<(), Full> {
        let (Some(slot), Some(mark)) = (self.values.get_mut(self.len), self.excluded.get_mut(self.len)) else {
            return Err(Full);
        };
        *slot = value;
        *mark = excluded;
        self.len += 1;
        Ok(())
    }

    /// Forgets all samples.
    pub const fn clear(&mut self) {
        self.len = 0;
    }

    /// Samples stored, excluded ones included.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is stored.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the next [`push`](Self::push) would fail.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.len >= N
    }

    /// The raw values in the order taken, excluded ones included.
    #[must_use]
    pub fn values(&self) -> &[u32] {
        self.values.get(..self.len).unwrap_or(&[])
    }

    /// The samples in the order taken, with their marks.
    pub fn iter(&self) -> impl Iterator<Item = Sample> + Clone + '_ {
        self.values().iter().zip(&self.excluded).enumerate().map(|(index, (&value, &excluded))| Sample {
            index,
            value,
            excluded,
        })
    }

    /// The figures of the samples as read.
    ///
    /// # Errors
    /// [`SummaryError::Empty`] without samples, [`SummaryError::AllExcluded`] when none may be used.
    pub fn summary(&self) -> Result<Summary, SummaryError> {
        Summary::of(self.iter())
    }

    /// The figures after the counter's own cost is taken off each sample, see [`net`].
    ///
    /// # Errors
    /// As [`summary`](Self::summary).
    pub fn net_summary(&self, overhead: u32) -> Result<Net<Summary>, SummaryError> {
        let below = self.iter().filter(|s| s.excluded.is_none() && net(s.value, overhead).below > 0).count();
        let value = Summary::of(self.iter().map(|s| Sample { value: net(s.value, overhead).value, ..s }))?;
        Ok(Net { value, below: u32::try_from(below).unwrap_or(u32::MAX) })
    }
}

impl<const N: usize> Default for Samples<N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn keeps_raw_values_and_marks_in_order() {
        let mut s = Samples::<3>::new();
        assert!(s.is_empty());
        s.push(5, None).unwrap();
        s.push(u32::MAX, Some(Exclusion::Interrupt)).unwrap();
        s.push(0, Some(Exclusion::Tick)).unwrap();
        assert_eq!(s.values(), [5, u32::MAX, 0]);
        let marks: Vec<_> = s.iter().map(|s| (s.index, s.excluded)).collect();
        assert_eq!(marks, [(0, None), (1, Some(Exclusion::Interrupt)), (2, Some(Exclusion::Tick))]);
    }

    #[test]
    fn a_full_series_refuses_and_keeps_what_it_has() {
        let mut s = Samples::<1>::new();
        s.push(1, None).unwrap();
        assert!(s.is_full());
        assert_eq!(s.push(2, None), Err(Full));
        assert_eq!(s.values(), [1]);
        s.clear();
        assert!(s.is_empty());
        // A mark of the earlier series must not stick to the new value.
        s.push(3, Some(Exclusion::Tick)).unwrap();
        s.clear();
        s.push(4, None).unwrap();
        assert_eq!(s.summary().unwrap().min, 4);
    }

    #[test]
    fn a_series_of_no_room_is_full_at_once() {
        let mut s = Samples::<0>::new();
        assert!(s.is_full());
        assert_eq!(s.push(1, None), Err(Full));
        assert_eq!(s.summary(), Err(SummaryError::Empty));
    }

    #[test]
    fn m06_overhead_larger_than_a_sample_is_flagged_and_never_wraps() {
        let mut s = Samples::<3>::new();
        s.push(40, None).unwrap();
        s.push(2, None).unwrap();
        s.push(1, Some(Exclusion::Tick)).unwrap();
        let net = s.net_summary(3).unwrap();
        assert_eq!((net.value.min, net.value.max, net.below), (0, 37, 1));
        assert_eq!(s.values(), [40, 2, 1], "raw values stay as read");
    }
}
