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
    /// Several passes of reading and writing over a table in the memory that holds the stack; no switch.
    TableSweep,
    /// Two threads that wake each other through event flags: two services of setting, two of waiting,
    /// two switches.
    EventHandoff,
    /// The same through counting semaphores.
    SemaphoreHandoff,
    /// From the request of a software interrupt to the first instruction of its handler's body.
    InterruptToHandler,
    /// From the request of a software interrupt to the thread that its handler wakes.
    InterruptToThread,
    /// One kernel service, or a pair that undoes itself; `detail` names it.
    Service,
}

impl Bench {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::ContextSwitch,
        Self::DeepStack,
        Self::TableSweep,
        Self::EventHandoff,
        Self::SemaphoreHandoff,
        Self::InterruptToHandler,
        Self::InterruptToThread,
        Self::Service,
    ];

    /// The name in records and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ContextSwitch => "context_switch",
            Self::DeepStack => "deep_stack",
            Self::TableSweep => "table_sweep",
            Self::EventHandoff => "event_handoff",
            Self::SemaphoreHandoff => "semaphore_handoff",
            Self::InterruptToHandler => "interrupt_to_handler",
            Self::InterruptToThread => "interrupt_to_thread",
            Self::Service => "service",
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
    /// Filled before every sample, outside the timestamps, by reading a buffer of one level's size: no
    /// line of it has to be written back.
    PollutedClean,
    /// Filled before every sample, outside the timestamps, by writing to a buffer of one level's size:
    /// every line that makes room has to be written back (in a write-back cache).
    PollutedDirty,
}

impl Cache {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Cold, Self::Warm, Self::PollutedClean, Self::PollutedDirty];

    /// The name in records and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
            Self::PollutedClean => "polluted_clean",
            Self::PollutedDirty => "polluted_dirty",
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
    /// What the kernel was configured with, in its own words. Figures of unequal texts do not compare
    /// (zephyr#117503).
    pub options: &'a str,
    /// Debug assertions and overflow checks of the image: `on`, `off`.
    pub assertions: &'a str,
    /// Bytes of code in the image, from the symbols of the link; `None` where the board has none.
    pub text_bytes: Option<u32>,
}

/// What one series has to itself: the combination of factors it was measured under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case<'a> {
    /// What is measured.
    pub bench: Bench,
    /// Memory that holds the stacks.
    pub stack: &'a str,
    /// State of the data cache at the start of each sample.
    pub cache: Cache,
    /// Size of the polluting buffer in bytes; 0 where there is no pollution.
    pub pollution_bytes: u32,
    /// How the switch is called: `call`, `inline`; empty where the measured code has no relinquish.
    pub variant: &'a str,
    /// Offset of the timed function in its 64-byte line, in bytes; `None` where it is not controlled.
    pub placement: Option<u8>,
    /// Memory of the timed code; empty where it was not looked up.
    pub code: &'a str,
    /// Memory of the measured threads' control blocks; empty where it was not looked up.
    pub control: &'a str,
    /// The sub-case: frames and words (`24x16`), the service's name, side of a control (`A`).
    pub detail: &'a str,
    /// Whether the kernel's tick ran: `on`, `off`.
    pub tick: &'a str,
}

impl<'a> Case<'a> {
    /// A series without pollution, placement and sub-case, with the tick on.
    #[must_use]
    pub const fn new(bench: Bench, stack: &'a str, cache: Cache) -> Self {
        Self {
            bench,
            stack,
            cache,
            pollution_bytes: 0,
            variant: "",
            placement: None,
            code: "",
            control: "",
            detail: "",
            tick: "on",
        }
    }
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
    /// [`Case::pollution_bytes`].
    #[serde(default)]
    pub pollution_bytes: u32,
    /// [`Case::variant`].
    #[serde(default)]
    pub variant: S,
    /// [`Case::placement`].
    #[serde(default)]
    pub placement: Option<u8>,
    /// [`Case::code`].
    #[serde(default)]
    pub code: S,
    /// [`Case::control`].
    #[serde(default)]
    pub control: S,
    /// [`Case::detail`].
    #[serde(default)]
    pub detail: S,
    /// [`Summary::sd_hundredths`]; this and the next figures are `None` in records before they existed.
    #[serde(default)]
    pub sd_hundredths: Option<u64>,
    /// [`Summary::p50`].
    #[serde(default)]
    pub p50: Option<u32>,
    /// [`Summary::p90`].
    #[serde(default)]
    pub p90: Option<u32>,
    /// [`Summary::p99`].
    #[serde(default)]
    pub p99: Option<u32>,
    /// [`Summary::max_index`].
    #[serde(default)]
    pub max_at: Option<u32>,
    /// [`Summary::excluded_tick`].
    #[serde(default)]
    pub excluded_tick: Option<u32>,
    /// [`Summary::excluded_interrupt`].
    #[serde(default)]
    pub excluded_interrupt: Option<u32>,
    /// [`Setting::text_bytes`].
    #[serde(default)]
    pub text_bytes: Option<u32>,
    /// [`Case::tick`]; empty in records before it existed.
    #[serde(default)]
    pub tick: S,
    /// [`Setting::options`]; empty in records before it existed.
    #[serde(default)]
    pub options: S,
    /// [`Setting::assertions`]; empty in records before it existed.
    #[serde(default)]
    pub assertions: S,
}

/// A [`RecordOf`] that borrows its strings.
pub type Record<'a> = RecordOf<&'a str>;

impl<'a> Record<'a> {
    /// The record of one series.
    #[must_use]
    pub const fn new(setting: &Setting<'a>, case: &Case<'a>, summary: &Summary) -> Self {
        Self {
            schema: SCHEMA,
            bench: case.bench,
            kernel: setting.kernel,
            board: setting.board,
            stack: case.stack,
            cache: case.cache,
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
            pollution_bytes: case.pollution_bytes,
            variant: case.variant,
            placement: case.placement,
            code: case.code,
            control: case.control,
            detail: case.detail,
            sd_hundredths: Some(summary.sd_hundredths),
            p50: Some(summary.p50),
            p90: Some(summary.p90),
            p99: Some(summary.p99),
            max_at: Some(summary.max_index),
            excluded_tick: Some(summary.excluded_tick),
            excluded_interrupt: Some(summary.excluded_interrupt),
            text_bytes: setting.text_bytes,
            tick: case.tick,
            options: setting.options,
            assertions: setting.assertions,
        }
    }

    /// The line `RECORD {json}` in `buffer`, without line end. 1024 bytes, and the length of `options`,
    /// hold it for names as long as this project's.
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
    /// 160 bytes hold it. What not every series has stands behind the unit.
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
        if !self.detail.is_empty() {
            w.left("  ", 2)?;
            w.left(self.detail, 0)?;
        }
        if let Some(placement) = self.placement {
            w.left("  @", 0)?;
            w.right(u32::from(placement), 2)?;
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
    /// [`Case::pollution_bytes`].
    #[serde(default)]
    pub pollution_bytes: u32,
    /// [`Case::variant`].
    #[serde(default)]
    pub variant: S,
    /// [`Case::placement`].
    #[serde(default)]
    pub placement: Option<u8>,
    /// [`Case::code`].
    #[serde(default)]
    pub code: S,
    /// [`Case::control`].
    #[serde(default)]
    pub control: S,
    /// [`Case::detail`].
    #[serde(default)]
    pub detail: S,
    /// [`Case::tick`].
    #[serde(default)]
    pub tick: S,
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
    pub fn new(setting: &Setting<'a>, case: &Case<'a>, samples: &'a Samples<N>) -> Self {
        Self {
            schema: SCHEMA,
            bench: case.bench,
            kernel: setting.kernel,
            board: setting.board,
            stack: case.stack,
            cache: case.cache,
            unit: setting.unit,
            samples: samples.values(),
            excluded: Marks(samples),
            pollution_bytes: case.pollution_bytes,
            variant: case.variant,
            placement: case.placement,
            code: case.code,
            control: case.control,
            detail: case.detail,
            tick: case.tick,
        }
    }

    /// The line `SAMPLES {json}` in `buffer`, without line end. 512 bytes, 11 for each sample and 31
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
        options: "stack checking off",
        assertions: "off",
        text_bytes: Some(23_456),
    };

    const CASE: Case<'static> = Case {
        variant: "call",
        placement: Some(48),
        code: "BRAM",
        control: "DRAM0",
        detail: "A",
        ..Case::new(Bench::ContextSwitch, "BTCM", Cache::Cold)
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
        let record = Record::new(&SETTING, &CASE, &summary);
        let mut buffer = [0; 1024];
        assert_eq!(
            record.line(&mut buffer).unwrap(),
            concat!(
                r#"RECORD {"schema":1,"bench":"context_switch","kernel":"bundled","#,
                r#""board":"mps3-an536","stack":"BTCM","cache":"cold","unit":"instructions","#,
                r#""n":2,"excluded":2,"min":40,"mean":41,"max":41,"first":41,"#,
                r#""opt":"3","lto":"fat","counter":"CNTPCT","overhead":3,"language":"rust","checks":"types","#,
                r#""pollution_bytes":0,"variant":"call","placement":48,"code":"BRAM","control":"DRAM0","detail":"A","#,
                r#""sd_hundredths":50,"p50":40,"p90":41,"p99":41,"max_at":0,"#,
                r#""excluded_tick":1,"excluded_interrupt":1,"text_bytes":23456,"tick":"on","#,
                r#""options":"stack checking off","assertions":"off"}"#
            )
        );
    }

    #[test]
    fn the_host_reads_what_the_firmware_wrote() {
        let summary = samples().summary().unwrap();
        let odd = Setting { kernel: "a \"quoted\"\tname\\", ..SETTING };
        let case = Case { placement: None, ..Case::new(Bench::DeepStack, "DRAM0", Cache::Warm) };
        let record = Record::new(&odd, &case, &summary);
        let mut buffer = [0; 1024];
        let line = record.line(&mut buffer).unwrap();
        let read: RecordOf<String> = serde_json::from_str(line.strip_prefix("RECORD ").unwrap()).unwrap();
        assert_eq!(read.kernel, odd.kernel);
        assert_eq!(read.bench.name(), "deep_stack");
        assert_eq!(read.cache.name(), "warm");
        assert_eq!((read.n, read.min, read.first), (2, 40, 41));
        assert_eq!((read.placement, read.sd_hundredths, read.excluded_tick), (None, Some(50), Some(1)));
    }

    #[test]
    fn a_record_of_before_reads_with_nothing_in_the_new_keys() {
        let old = concat!(
            r#"{"schema":1,"bench":"context_switch","kernel":"bundled","board":"mps3-an536","stack":"BTCM","#,
            r#""cache":"cold","unit":"instructions","n":2,"excluded":2,"min":40,"mean":41,"max":41,"first":41,"#,
            r#""opt":"3","lto":"fat","counter":"CNTPCT","overhead":3}"#
        );
        let read: RecordOf<String> = serde_json::from_str(old).unwrap();
        assert_eq!((read.p50, read.sd_hundredths, read.max_at, read.text_bytes), (None, None, None, None));
        assert_eq!((read.variant.as_str(), read.options.as_str(), read.tick.as_str()), ("", "", ""));
        assert_eq!((read.pollution_bytes, read.placement), (0, None));
    }

    #[test]
    fn names_are_those_that_serde_writes() {
        for bench in Bench::ALL {
            assert_eq!(serde_json::to_string(&bench).unwrap(), std::format!("\"{}\"", bench.name()));
        }
        for cache in Cache::ALL {
            assert_eq!(serde_json::to_string(&cache).unwrap(), std::format!("\"{}\"", cache.name()));
        }
    }

    #[test]
    fn m10_every_record_carries_the_options_of_its_image() {
        let summary = samples().summary().unwrap();
        let read = |setting: &Setting<'_>| -> RecordOf<String> {
            let mut buffer = [0; 1024];
            let line = Record::new(setting, &CASE, &summary);
            serde_json::from_str(line.line(&mut buffer).unwrap().strip_prefix("RECORD ").unwrap()).unwrap()
        };
        let plain = read(&SETTING);
        for changed in [
            Setting { opt: "1", ..SETTING },
            Setting { lto: "off", ..SETTING },
            Setting { checks: "on", ..SETTING },
            Setting { kernel: "ThreadX 6.4.2", ..SETTING },
            Setting { options: "stack checking on", ..SETTING },
            Setting { assertions: "on", ..SETTING },
        ] {
            assert_ne!(read(&changed), plain, "{changed:?}");
        }
    }

    #[test]
    fn raw_samples_keep_every_value_and_reason() {
        let s = samples();
        let raw = RawSamples::new(&SETTING, &CASE, &s);
        let mut buffer = [0; 1024];
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
        let case = Case {
            bench: Bench::InterruptToHandler,
            cache: Cache::PollutedDirty,
            pollution_bytes: u32::MAX,
            variant: "inline",
            stack: "DRAM0",
            detail: "semaphore_put_get_and_more",
            tick: "off",
            ..CASE
        };
        let raw = RawSamples::new(&SETTING, &case, &s);
        let mut buffer = [0; 512 + 64 * (11 + 31)];
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
            excluded_tick: u32::MAX,
            excluded_interrupt: u32::MAX,
            sd_hundredths: u64::MAX,
            p50: u32::MAX,
            p90: u32::MAX,
            p99: u32::MAX,
        };
        let setting = Setting { text_bytes: Some(u32::MAX), overhead: u32::MAX, ..SETTING };
        let record = Record::new(&setting, &case, &top);
        record.line(&mut [0; 1024]).unwrap();
        record.row(&mut [0; 160]).unwrap();
    }

    #[test]
    fn a_short_buffer_is_an_error_at_every_length() {
        let summary = samples().summary().unwrap();
        let record = Record::new(&SETTING, &CASE, &summary);
        let whole = record.line(&mut [0; 1024]).unwrap().len();
        let row = record.row(&mut [0; 160]).unwrap().len();
        let mut buffer = [0; 1024];
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
        let plain = Case::new(Bench::ContextSwitch, "BTCM", Cache::Cold);
        let record = Record::new(&SETTING, &plain, &summary);
        let mut buffer = [0; 160];
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
        let placed = Record::new(&SETTING, &CASE, &summary);
        assert!(placed.row(&mut [0; 160]).unwrap().ends_with("instructions  A  @ 48"));
    }
}
