//! Refusals that hand a value back.

use core::fmt;

use crate::Error;

/// A service did not take the value it was given; here it is again.
///
/// Turns into its [`Error`] with `?`, which drops the value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rejected<T> {
    /// Why.
    pub error: Error,
    /// What was to be taken.
    pub value: T,
}

impl<T> From<Rejected<T>> for Error {
    fn from(rejected: Rejected<T>) -> Self {
        rejected.error
    }
}

impl<T> fmt::Debug for Rejected<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for Rejected<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl<T> core::error::Error for Rejected<T> {}
