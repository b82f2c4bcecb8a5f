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
//! use measure::{Bench, Cache, Case, Exclusion, Record, Samples, Setting, elapsed};
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
//!     options: "stack checking off", assertions: "off", text_bytes: None,
//! };
//! let case = Case::new(Bench::ContextSwitch, "BTCM", Cache::Warm);
//! let record = Record::new(&setting, &case, &summary);
//! let mut line = [0; 1024];
//! assert!(record.line(&mut line).unwrap().starts_with(r#"RECORD {"schema":1,"bench":"context_switch","#));
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod a32;
mod clock;
mod compare;
mod disturbed;
mod histogram;
pub mod line;
mod record;
mod samples;
mod select;
mod summary;

pub use clock::{Wide, elapsed};
pub use compare::{NOISE_RUNS, Noise, NoiseError, Pair, Paired, PairedError, Verdict, noise, paired};
pub use disturbed::Disturbed;
pub use histogram::Histogram;
pub use record::{
    Bench, Cache, Case, ExcludedSample, Marks, RawSamples, RawSamplesOf, Record, RecordOf, SCHEMA, Setting,
};
pub use samples::{Exclusion, Full, Sample, Samples};
pub use select::{Selection, answers};
pub use summary::{Net, Summary, SummaryError, net};
