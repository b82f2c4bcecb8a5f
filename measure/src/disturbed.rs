use crate::Exclusion;

/// Tells, sample by sample in the order taken, which ones a series must do without: every disturbed one, and the
/// one after it. A partner that was interrupted on its way to a switch goes on from there, so that the next sample
/// pays the rest.
///
/// ```
/// use measure::{Disturbed, Exclusion};
///
/// let mut disturbed = Disturbed::new();
/// assert_eq!(disturbed.mark(Exclusion::seen(true, true)), Some(Exclusion::Tick));
/// assert_eq!(disturbed.mark(Exclusion::seen(false, false)), Some(Exclusion::Tick));
/// assert_eq!(disturbed.mark(Exclusion::seen(false, false)), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disturbed {
    before: Option<Exclusion>,
}

impl Disturbed {
    /// For a new series.
    #[must_use]
    pub const fn new() -> Self {
        Self { before: None }
    }

    /// The mark of the next sample, into which fell what was `seen` between its timestamps.
    pub const fn mark(&mut self, seen: Option<Exclusion>) -> Option<Exclusion> {
        match core::mem::replace(&mut self.before, seen) {
            before if seen.is_none() => before,
            _ => seen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use Exclusion::{Interrupt, Tick};

    fn marks<const N: usize>(seen: [Option<Exclusion>; N]) -> [Option<Exclusion>; N] {
        let mut disturbed = Disturbed::new();
        seen.map(|seen| disturbed.mark(seen))
    }

    #[test]
    fn m03_the_sample_after_a_disturbed_one_is_excluded_and_the_next_is_not() {
        let disturbed = [None, Some(Tick), None, None, Some(Interrupt), None, None];
        let marked = [None, Some(Tick), Some(Tick), None, Some(Interrupt), Some(Interrupt), None];
        assert_eq!(marks(disturbed), marked);
    }

    #[test]
    fn m03_a_chain_ends_one_sample_after_its_last_and_each_has_its_own_reason() {
        let disturbed = [None, Some(Tick), Some(Interrupt), Some(Tick), None, None];
        let marked = [None, Some(Tick), Some(Interrupt), Some(Tick), Some(Tick), None];
        assert_eq!(marks(disturbed), marked);
    }

    #[test]
    fn m03_the_first_sample_has_none_before_it() {
        assert_eq!(marks([None, None]), [None, None]);
        assert_eq!(marks([Some(Tick), None, None]), [Some(Tick), Some(Tick), None]);
        // Nothing of one series reaches the next.
        assert_eq!(marks([None, Some(Tick)])[1], Some(Tick));
        assert_eq!(marks([None]), [None]);
    }

    #[test]
    fn a_tick_is_told_from_another_interrupt() {
        assert_eq!(Exclusion::seen(false, false), None);
        assert_eq!(Exclusion::seen(false, true), Some(Interrupt));
        // The tick is an interrupt as well.
        assert_eq!(Exclusion::seen(true, true), Some(Tick));
        assert_eq!(Exclusion::seen(true, false), Some(Tick));
    }
}
