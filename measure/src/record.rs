use serde::{Deserialize, Serialize, Serializer};

use crate::line::{LineError, RECORD, SAMPLES, Writer};
use crate::{Exclusion, Samples, Summary};

/// Number of the record's layout. A reader refuses a number that it does not know; a key that is
/// added, with a value that may be missing, does not change it.
pub const SCHEMA: u32 = 1;

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bench {
    /// Round trip between two threads of equal priority: two switches and the partner's loop.
    ContextSwitch,
    /// Recursion that writes every frame on the way down and reads it on the way up; no switch.
    DeepStack,
}

impl Bench {
    /// The name in records and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ContextSwitch => "context_switch",
            Self::DeepStack => "deep_stack",
        }
    }
}

/// State of the data cache when a sample starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// Cleaned and invalidated before every sample, outside the timestamps.
    Cold,
    /// As the sample before left it.
    Warm,
}

impl Cache {
    /// The name in records and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
        }
    }
}

/// What all records of an image have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting<'a> {
    /// Kernel behind the API, with what tells it from its other builds: `bundled`.
    pub kernel: &'a str,
    /// Board: `mps3-an536`.
    pub board: &'a str,
    /// What the counter counts: `instructions`, `cycles`.
    pub unit: &'a str,
    /// Optimisation level of the image, as rustc names it: `3`.
    pub opt: &'a str,
    /// Link-time optimisation: `off`, `thin`, `fat`.
    pub lto: &'a str,
    /// Counter: `CNTPCT`, `PMCCNTR`.
    pub counter: &'a str,
    /// Smallest difference of two reads of the counter back to back, in `unit`.
    pub overhead: u32,
    /// Language of the measuring code: `rust`, `c`.
    pub language: &'a str,
    /// What the services check that it calls: `types` (what types do not rule out), `on`, `off`.
    pub checks: &'a str,
}

/// One result, as it crosses the UART: the line `RECORD ` and this as JSON, keys in this order.
///
/// `S` is the string type: `&str` in the firmware ([`Record`]), `String` on the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordOf<S> {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What was measured.
    pub bench: Bench,
    /// Kernel behind the API.
    pub kernel: S,
    /// Board that ran it.
    pub board: S,
    /// Memory that holds the stacks: `BTCM`, `ATCM`, `CTCM`, `DRAM0`.
    pub stack: S,
    /// State of the data cache.
    pub cache: Cache,
    /// Unit of every figure below.
    pub unit: S,
    /// Samples in `min`, `mean`, `max`; `n + excluded` were taken.
    pub n: u32,
    /// Samples kept out because a tick or an interrupt fell into them.
    pub excluded: u32,
    /// Smallest kept sample.
    pub min: u32,
    /// Mean of the kept samples, rounded to the nearest integer.
    pub mean: u32,
    /// Largest kept sample.
    pub max: u32,
    /// The sample taken first, kept or not.
    pub first: u32,
    /// Optimisation level of the image.
    pub opt: S,
    /// Link-time optimisation of the image.
    pub lto: S,
    /// Counter that was read.
    pub counter: S,
    /// The counter's own cost, which `first`, `min`, `mean` and `max` contain.
    pub overhead: u32,
    /// Language of the measuring code: `rust`, `c`; empty in records before there was C.
    #[serde(default)]
    pub language: S,
    /// What the services check: `types`, `on`, `off`; empty in records before there was C.
    #[serde(default)]
    pub checks: S,
}

/// A [`RecordOf`] that borrows its strings.
pub type Record<'a> = RecordOf<&'a str>;

impl<'a> Record<'a> {
    /// The record of one series.
    #[must_use]
    pub const fn new(setting: &Setting<'a>, bench: Bench, stack: &'a str, cache: Cache, summary: &Summary) -> Self {
        Self {
            schema: SCHEMA,
            bench,
            kernel: setting.kernel,
            board: setting.board,
            stack,
            cache,
            unit: setting.unit,
            n: summary.n,
            excluded: summary.excluded,
            min: summary.min,
            mean: summary.mean,
            max: summary.max,
            first: summary.first,
            opt: setting.opt,
            lto: setting.lto,
            counter: setting.counter,
            overhead: setting.overhead,
            language: setting.language,
            checks: setting.checks,
        }
    }

    /// The line `RECORD {json}` in `buffer`, without line end. 512 bytes hold it for names as long
    /// as this project's.
    ///
    /// # Errors
    /// [`LineError::BufferTooSmall`].
    pub fn line<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b str, LineError> {
        crate::line::json(RECORD, self, buffer)
    }

    /// Heading of the columns of [`row`](Self::row).
    pub const HEADING: &'static str =
        "bench           stack  cache       n  excl       min      mean       max     first  unit";

    /// The same result as one line of a table for a reader at the terminal, without line end.
    /// 128 bytes hold it.
    ///
    /// # Errors
    /// [`LineError::BufferTooSmall`].
    pub fn row<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b str, LineError> {
        let mut w = Writer::new(buffer);
        w.left(self.bench.name(), 16)?;
        w.left(self.stack, 7)?;
        w.left(self.cache.name(), 5)?;
        w.right(self.n, 8)?;
        w.right(self.excluded, 6)?;
        for figure in [self.min, self.mean, self.max, self.first] {
            w.right(figure, 10)?;
        }
        w.left("  ", 2)?;
        w.left(self.unit, 0)?;
        if self.language == "c" {
            w.left(if self.checks == "off" { "  C, checks off" } else { "  C" }, 0)?;
        }
        Ok(w.finish())
    }
}

/// An excluded sample in [`RawSamplesOf`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedSample {
    /// Position in `samples`, from 0.
    pub at: u32,
    /// The reason.
    pub why: Exclusion,
}

/// The raw samples of one series: the line `SAMPLES ` and this as JSON.
///
/// `S` as in [`RecordOf`]; `V` and `X` are the sequences of values and of excluded samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawSamplesOf<S, V, X> {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What was measured.
    pub bench: Bench,
    /// Kernel behind the API.
    pub kernel: S,
    /// Board that ran it.
    pub board: S,
    /// Memory that holds the stacks.
    pub stack: S,
    /// State of the data cache.
    pub cache: Cache,
    /// Unit of the values.
    pub unit: S,
    /// Values in the order taken, excluded ones included.
    pub samples: V,
    /// Which of them are kept out of the figures, ascending.
    pub excluded: X,
}

/// A [`RawSamplesOf`] that borrows from the series in the firmware.
pub type RawSamples<'a, const N: usize> = RawSamplesOf<&'a str, &'a [u32], Marks<'a, N>>;

/// The excluded samples of a series as a sequence of [`ExcludedSample`].
#[derive(Clone, Copy, Debug)]
pub struct Marks<'a, const N: usize>(&'a Samples<N>);

impl<const N: usize> Serialize for Marks<'_, N> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        use serde::ser::SerializeSeq;

        let mut seq = serializer.serialize_seq(None)?;
        for sample in self.0.iter() {
            if let Some(why) = sample.excluded {
                let at = sample.index as u32;
                seq.serialize_element(&ExcludedSample { at, why })?;
            }
        }
        seq.end()
    }
}

impl<'a, const N: usize> RawSamples<'a, N> {
    /// The raw samples behind one record.
    #[must_use]
    pub fn new(setting: &Setting<'a>, bench: Bench, stack: &'a str, cache: Cache, samples: &'a Samples<N>) -> Self {
        Self {
            schema: SCHEMA,
            bench,
            kernel: setting.kernel,
            board: setting.board,
            stack,
            cache,
            unit: setting.unit,
            samples: samples.values(),
            excluded: Marks(samples),
        }
    }

    /// The line `SAMPLES {json}` in `buffer`, without line end. 256 bytes, 11 for each sample and 31
    /// for each excluded one hold it.
    ///
    /// # Errors
    /// [`LineError::BufferTooSmall`].
    pub fn line<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b str, LineError> {
        crate::line::json(SAMPLES, self, buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    const SETTING: Setting<'static> = Setting {
        kernel: "bundled",
        board: "mps3-an536",
        unit: "instructions",
        opt: "3",
        lto: "fat",
        counter: "CNTPCT",
        overhead: 3,
        language: "rust",
        checks: "types",
    };

    fn samples() -> Samples<4> {
        let mut s = Samples::new();
        s.push(41, None).unwrap();
        s.push(940, Some(Exclusion::Tick)).unwrap();
        s.push(40, None).unwrap();
        s.push(u32::MAX, Some(Exclusion::Interrupt)).unwrap();
        s
    }

    #[test]
    fn record_line_has_the_published_keys() {
        let summary = samples().summary().unwrap();
        let record = Record::new(&SETTING, Bench::ContextSwitch, "BTCM", Cache::Cold, &summary);
        let mut buffer = [0; 512];
        assert_eq!(
            record.line(&mut buffer).unwrap(),
            concat!(
                r#"RECORD {"schema":1,"bench":"context_switch","kernel":"bundled","#,
                r#""board":"mps3-an536","stack":"BTCM","cache":"cold","unit":"instructions","#,
                r#""n":2,"excluded":2,"min":40,"mean":41,"max":41,"first":41,"#,
                r#""opt":"3","lto":"fat","counter":"CNTPCT","overhead":3,"language":"rust","checks":"types"}"#
            )
        );
    }

    #[test]
    fn the_host_reads_what_the_firmware_wrote() {
        let summary = samples().summary().unwrap();
        let odd = Setting { kernel: "a \"quoted\"\tname\\", ..SETTING };
        let record = Record::new(&odd, Bench::DeepStack, "DRAM0", Cache::Warm, &summary);
        let mut buffer = [0; 512];
        let line = record.line(&mut buffer).unwrap();
        let read: RecordOf<String> = serde_json::from_str(line.strip_prefix("RECORD ").unwrap()).unwrap();
        assert_eq!(read.kernel, odd.kernel);
        assert_eq!(read.bench.name(), "deep_stack");
        assert_eq!(read.cache.name(), "warm");
        assert_eq!((read.n, read.min, read.first), (2, 40, 41));
    }

    #[test]
    fn raw_samples_keep_every_value_and_reason() {
        let s = samples();
        let raw = RawSamples::new(&SETTING, Bench::DeepStack, "BTCM", Cache::Cold, &s);
        let mut buffer = [0; 512];
        let line = raw.line(&mut buffer).unwrap();
        let read: RawSamplesOf<String, Vec<u32>, Vec<ExcludedSample>> =
            serde_json::from_str(line.strip_prefix("SAMPLES ").unwrap()).unwrap();
        assert_eq!(read.samples, [41, 940, 40, u32::MAX]);
        assert_eq!(
            read.excluded,
            [ExcludedSample { at: 1, why: Exclusion::Tick }, ExcludedSample { at: 3, why: Exclusion::Interrupt }]
        );
    }

    #[test]
    fn the_documented_buffer_sizes_suffice() {
        let mut s = Samples::<64>::new();
        for _ in 0..64 {
            s.push(u32::MAX, Some(Exclusion::Interrupt)).unwrap();
        }
        let raw = RawSamples::new(&SETTING, Bench::DeepStack, "DRAM0", Cache::Cold, &s);
        let mut buffer = [0; 256 + 64 * (11 + 31)];
        raw.line(&mut buffer).unwrap();

        let top = Summary {
            n: u32::MAX,
            excluded: u32::MAX,
            min: u32::MAX,
            mean: u32::MAX,
            max: u32::MAX,
            max_index: 0,
            first: u32::MAX,
            excluded_range: None,
        };
        let record = Record::new(&SETTING, Bench::ContextSwitch, "DRAM0", Cache::Cold, &top);
        record.line(&mut [0; 512]).unwrap();
        record.row(&mut [0; 128]).unwrap();
    }

    #[test]
    fn a_short_buffer_is_an_error_at_every_length() {
        let summary = samples().summary().unwrap();
        let record = Record::new(&SETTING, Bench::ContextSwitch, "BTCM", Cache::Cold, &summary);
        let whole = record.line(&mut [0; 512]).unwrap().len();
        let row = record.row(&mut [0; 128]).unwrap().len();
        let mut buffer = [0; 512];
        for len in 0..whole {
            assert_eq!(record.line(&mut buffer[..len]), Err(LineError::BufferTooSmall));
        }
        assert!(record.line(&mut buffer[..whole]).is_ok());
        for len in 0..row {
            assert_eq!(record.row(&mut buffer[..len]), Err(LineError::BufferTooSmall));
        }
        assert!(record.row(&mut buffer[..row]).is_ok());
    }

    #[test]
    fn rows_stand_under_their_heading() {
        let summary = samples().summary().unwrap();
        let record = Record::new(&SETTING, Bench::ContextSwitch, "BTCM", Cache::Cold, &summary);
        let mut buffer = [0; 128];
        let row = record.row(&mut buffer).unwrap();
        assert_eq!(
            row,
            "context_switch  BTCM   cold        2     2        40        41        41        41  instructions"
        );
        for (title, value) in [("stack", "BTCM"), ("cache", "cold"), ("unit", "instr")] {
            assert_eq!(Record::HEADING.find(title), row.find(value));
        }
        let end = |s: &str, of: &str| s.find(of).map(|at| at + of.len());
        assert_eq!(end(Record::HEADING, " min"), end(row, " 40"));
    }
}
