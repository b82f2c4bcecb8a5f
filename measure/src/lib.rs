//! From raw samples to figures, and from figures to the lines that cross the UART.
//!
//! `no_std`, no allocation, no floating point, no `unsafe`. The firmware fills [`Samples`], takes a
//! [`Summary`] and prints [`Record`] lines; the host reads the same lines back into [`RecordOf<String>`].
//!
//! Three rules hold everywhere in this crate:
//!
//! * A raw value is never changed or dropped once it was pushed. A disturbed sample is marked with the
//!   reason ([`Exclusion`]) and stays readable; it enters neither minimum, mean nor maximum.
//! * What cannot be computed is an error, never a zero: no samples, or only excluded ones
//!   ([`SummaryError`]).
//! * Figures are in the unit of the counter and contain the counter's own cost, which travels beside
//!   them ([`RecordOf::overhead`]). Whoever wants it gone uses [`net`], which cannot wrap below zero.
//!
//! ```
//! use measure::{Bench, Cache, Exclusion, Record, Samples, Setting, elapsed};
//!
//! let mut samples = Samples::<4>::new();
//! samples.push(elapsed(0xffff_fff0, 0x18), None).unwrap();
//! samples.push(42, None).unwrap();
//! samples.push(900, Some(Exclusion::Tick)).unwrap();
//!
//! let summary = samples.summary().unwrap();
//! assert_eq!((summary.n, summary.excluded), (2, 1));
//! assert_eq!((summary.min, summary.mean, summary.max), (40, 41, 42));
//!
//! let setting = Setting {
//!     kernel: "bundled", board: "mps3-an536", unit: "instructions",
//!     opt: "3", lto: "fat", counter: "CNTPCT", overhead: 3, language: "rust", checks: "types",
//! };
//! let record = Record::new(&setting, Bench::ContextSwitch, "BTCM", Cache::Warm, &summary);
//! let mut line = [0; 512];
//! assert!(record.line(&mut line).unwrap().starts_with(r#"RECORD {"schema":1,"bench":"context_switch","#));
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod line;
mod record;
mod samples;
mod summary;

pub use record::{Bench, Cache, ExcludedSample, Marks, RawSamples, RawSamplesOf, Record, RecordOf, SCHEMA, Setting};
pub use samples::{Exclusion, Full, Sample, Samples};
pub use summary::{Net, Summary, SummaryError, net};

/// Counts from `start` to `end` of a 32-bit counter that runs upwards and wraps.
///
/// Right as long as less than one whole turn of the counter lies between the two reads: 4.29 s at
/// 1 GHz, 5.3 s at 800 MHz, 536 s at 8 MHz. A longer stretch needs the counter's 64-bit form.
#[inline(always)]
#[must_use]
pub const fn elapsed(start: u32, end: u32) -> u32 {
    end.wrapping_sub(start)
}

#[cfg(test)]
mod tests {
    use super::elapsed;

    #[test]
    fn elapsed_crosses_the_wrap() {
        assert_eq!(elapsed(10, 52), 42);
        assert_eq!(elapsed(u32::MAX, 0), 1);
        assert_eq!(elapsed(0xffff_fff0, 0x1a), 42);
        assert_eq!(elapsed(7, 7), 0);
        assert_eq!(elapsed(0, u32::MAX), u32::MAX);
        assert_eq!(elapsed(1, 0), u32::MAX);
    }
}
