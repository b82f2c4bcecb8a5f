//! What all sources of figures have in common: records of an image, upstream's demo, the host itself,
//! and what others published.

use std::collections::{BTreeMap, BTreeSet};

use measure::{Exclusion, Sample, Summary};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::screen::complain;

use crate::image::Relinquish;

/// Layout of the JSON that `txbench` writes, [`Run`]. A reader refuses another number; a key that is
/// added, with a value that may be missing, does not change it.
pub const SCHEMA: u32 = 1;

/// A JSON file larger than this was not written by `txbench`.
pub const LARGEST: u64 = 256 << 20;

/// What kind of figure this is. No two kinds are ever put into one ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Counted in an emulator; not time.
    #[default]
    Emulated,
    /// Computed by a timing model on top of an emulator.
    Modelled,
    /// Measured on a board.
    Silicon,
    /// Measured on the machine that `txbench` runs on, under its operating system.
    Host,
    /// Somebody else's, second-hand.
    Published,
}

impl Origin {
    /// The word in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Emulated => "emulated",
            Self::Modelled => "modelled",
            Self::Silicon => "silicon",
            Self::Host => "host",
            Self::Published => "published",
        }
    }

    /// Of figures in `unit` that an image printed.
    pub fn of_unit(unit: &str) -> Self {
        match unit {
            "cycles" => Self::Silicon,
            unit if unit.starts_with("modelled") => Self::Modelled,
            _ => Self::Emulated,
        }
    }
}

/// One series of samples as figures, with everything that is known of how it came about. An empty
/// string or a missing number means unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// Kind of figure.
    pub origin: Origin,
    /// File, image or publication.
    pub source: String,
    /// Name of the cell of the matrix that it belongs to.
    pub cell: String,
    /// Which run of that cell, from 1.
    pub repeat: Option<u32>,
    /// What was measured: `context_switch`, ...
    pub bench: String,
    /// Which of several alike: the service, frames and words, `A` or `B` of a control.
    pub detail: String,
    /// Board or processor.
    pub board: String,
    /// Kernel under the measuring code.
    pub kernel: String,
    /// Language of the measuring code.
    pub language: String,
    /// What the called services check.
    pub checks: String,
    /// Relinquish by `call` or `inline`.
    pub variant: String,
    /// Memory that the factor is about: of the stacks, or of the table.
    pub memory: String,
    /// Memory of the timed code.
    pub code: String,
    /// Memory of the control blocks.
    pub control: String,
    /// State of the data cache when a sample starts.
    pub cache: String,
    /// Bytes of the buffer that polluted it.
    pub pollution_bytes: u64,
    /// Offset of the timed body in its 64-byte line.
    pub placement: Option<u32>,
    /// Optimisation level.
    pub opt: String,
    /// Link-time optimisation.
    pub lto: String,
    /// Configuration of the kernel.
    pub options: String,
    /// Debug assertions of the measuring code.
    pub assertions: String,
    /// Compiler, where it is not the image's own.
    pub compiler: String,
    /// Whether the tick ran while samples were taken.
    pub tick: String,
    /// Unit of the figures.
    pub unit: String,
    /// Counter that was read.
    pub counter: String,
    /// Its rate, where it makes a time of the figures.
    pub counter_hz: Option<u64>,
    /// Its own cost, which the figures contain.
    pub overhead: Option<u64>,
    /// Samples in the figures.
    pub n: Option<u64>,
    /// Samples kept out of them.
    pub excluded: Option<u64>,
    /// Of these, because a tick fell into them.
    pub excluded_tick: Option<u64>,
    /// Of these, because another interrupt did.
    pub excluded_interrupt: Option<u64>,
    /// Of these, because the thread to be woken was not asleep; of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded_awake: Option<u64>,
    /// Of these, because the clocks of two processors were not in step; of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded_clock: Option<u64>,
    /// Smallest sample.
    pub min: Option<u64>,
    /// Median.
    pub p50: Option<u64>,
    /// 90 % are at most this.
    pub p90: Option<u64>,
    /// 99 % are at most this.
    pub p99: Option<u64>,
    /// Arithmetic mean.
    pub mean: Option<u64>,
    /// Standard deviation in hundredths of the unit.
    pub sd_hundredths: Option<u64>,
    /// Largest sample.
    pub max: Option<u64>,
    /// Its position.
    pub max_at: Option<u64>,
    /// The sample taken first.
    pub first: Option<u64>,
    /// `.text` of the image in bytes.
    pub text_bytes: Option<u64>,
    /// Raw samples, where the source has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<u64>,
    /// Positions in `samples` of those kept out of the figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded_at: Vec<usize>,
    /// What the reader must know beside it.
    pub note: String,
    /// Keys of a later version, kept as they are.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// That a figure is not what its samples give.
pub fn differs(key: &str, says: Option<u64>, is: u64) -> String {
    format!("{key} is {}, the samples give {is}", says.map_or("unknown".into(), |says| says.to_string()))
}

impl Row {
    /// `max - min`.
    pub fn spread(&self) -> Option<u64> {
        self.max?.checked_sub(self.min?)
    }

    /// The samples that entered the figures.
    pub fn kept(&self) -> Vec<u64> {
        let kept = |(at, value): (usize, &u64)| (!self.excluded_at.contains(&at)).then_some(*value);
        self.samples.iter().enumerate().filter_map(kept).collect()
    }

    /// Whether the raw samples, where there are any, give the figures.
    ///
    /// # Errors
    /// The first of them that they do not give.
    pub fn agrees(&self) -> Result<(), String> {
        if self.samples.is_empty() {
            return if self.excluded_at.is_empty() {
                Ok(())
            } else {
                Err("samples are excluded that are not there".into())
            };
        }
        let taken = self.samples.len();
        if let Some(at) = self.excluded_at.iter().find(|&&at| at >= taken) {
            return Err(format!("number {at} of {taken} is marked as excluded"));
        }
        if !self.excluded_at.is_sorted_by(|a, b| a < b) {
            return Err("the excluded samples are not in order, each once".into());
        }
        let mut samples = Vec::with_capacity(taken);
        for (index, &value) in self.samples.iter().enumerate() {
            let value = u32::try_from(value).map_err(|_| format!("a sample of {value} that no counter gives"))?;
            let excluded = self.excluded_at.binary_search(&index).is_ok().then_some(Exclusion::Interrupt);
            samples.push(Sample { index, value, excluded });
        }
        let of = Summary::of(samples.iter().copied()).map_err(|e| e.to_string())?;
        let given = [
            ("n", self.n, of.n.into()),
            ("excluded", self.excluded, of.excluded.into()),
            ("min", self.min, of.min.into()),
            ("mean", self.mean, of.mean.into()),
            ("max", self.max, of.max.into()),
            ("first", self.first, of.first.into()),
            ("sd_hundredths", self.sd_hundredths, of.sd_hundredths),
            ("p50", self.p50, of.p50.into()),
            ("p90", self.p90, of.p90.into()),
            ("p99", self.p99, of.p99.into()),
            ("max_at", self.max_at, of.max_index.into()),
        ];
        let other = given.iter().find(|(_, says, is)| says.is_some_and(|says| says != *is));
        other.map_or(Ok(()), |(key, says, is)| Err(differs(key, *says, *is)))
    }

    /// Whether one series can have these figures, as far as they are known: see `measure::Summary` for what each is.
    ///
    /// # Errors
    /// What contradicts what.
    pub fn plausible(&self) -> Result<(), String> {
        let figures = [("min", self.min), ("p50", self.p50), ("p90", self.p90), ("p99", self.p99), ("max", self.max)];
        let known: Vec<(&str, u64)> = figures.into_iter().filter_map(|(key, figure)| Some((key, figure?))).collect();
        if self.n == Some(0) && !known.is_empty() {
            return Err("figures of no samples".into());
        }
        // What plots and differences can still be worked out with.
        if let Some((key, figure)) = known.iter().find(|(_, figure)| *figure > u64::MAX / 4) {
            return Err(format!("{key} {figure} is more than any counter gives"));
        }
        // Firmware takes the difference of two readings of 32 bits.
        let of_32_bits = matches!(self.origin, Origin::Emulated | Origin::Silicon);
        if let Some((key, figure)) = known.iter().find(|(_, figure)| of_32_bits && *figure > i32::MAX as u64) {
            return Err(format!(
                "{key} {figure}: more than half of the counter's range, so the end was read before the start"
            ));
        }
        if let Some(pair) = known.windows(2).find(|pair| pair[0].1 > pair[1].1) {
            return Err(format!("{} {} and {} {} are out of order", pair[0].0, pair[0].1, pair[1].0, pair[1].1));
        }
        if self.placement.is_some_and(|placement| placement >= 64 || placement % 4 != 0) {
            return Err("placement is no offset of an instruction in a line of 64 bytes".into());
        }
        let taken = self.n.unwrap_or(0).saturating_add(self.excluded.unwrap_or(0));
        if taken > u32::MAX.into() {
            return Err("n and excluded are more samples than can be taken".into());
        }
        // A board's two reasons, or a host's.
        let reasons = [self.excluded_tick, self.excluded_interrupt, self.excluded_awake, self.excluded_clock];
        let reasons: Vec<u64> = reasons.into_iter().flatten().collect();
        let sum = reasons.iter().fold(0u64, |sum, of| sum.saturating_add(*of));
        if let Some(all) = self.excluded
            && (sum > all || reasons.len() > 1 && sum < all)
        {
            return Err(format!("excluded is {all}, its reasons together {sum}"));
        }
        if let (Some(at), Some(_), Some(_)) = (self.max_at, self.n, self.excluded)
            && at >= taken
        {
            return Err(format!("max_at is {at} of {taken} samples"));
        }
        let (Some(min), Some(max)) = (self.min, self.max) else { return Ok(()) };
        if let Some(mean) = self.mean.filter(|mean| !(min..=max).contains(mean)) {
            return Err(format!("min {min}, mean {mean}, max {max} are out of order"));
        }
        if let Some(first) = self.first {
            let outside = self.excluded == Some(0) && !(min..=max).contains(&first);
            if outside || self.max_at == Some(0) && first != max {
                return Err(format!(
                    "first {first} is none of the samples from min {min} to max {max} that it must be"
                ));
            }
        }
        match self.n {
            Some(n) => self.plausible_for(n, min, max),
            None => Ok(()),
        }
    }

    /// The part that depends on the number of samples, of which one is `min` and one is `max`.
    fn plausible_for(&self, n: u64, min: u64, max: u64) -> Result<(), String> {
        let (samples, range) = (u128::from(n), u128::from(max - min));
        if n == 1 && range > 0 {
            return Err(format!("min {min} and max {max} of one sample"));
        }
        for (key, percent, figure) in [("p50", 50, self.p50), ("p90", 90, self.p90), ("p99", 99, self.p99)] {
            // Nearest rank: the first of them is min, the last is max.
            let rank = (samples * percent).div_ceil(100);
            let must = if rank <= 1 {
                min
            } else if rank == samples {
                max
            } else {
                continue;
            };
            if let Some(figure) = figure.filter(|figure| *figure != must) {
                return Err(format!("{key} of {n} samples is {figure}, not {must}"));
            }
        }
        if let Some(mean) = self.mean.map(u128::from) {
            let others = samples - 1;
            let least = u128::from(min) * others + u128::from(max);
            let most = u128::from(max) * others + u128::from(min);
            // Rounded to the nearest, or cut off, as upstream's demo does.
            if mean < least / samples || mean > most.div_ceil(samples) {
                return Err(format!("mean {mean} of {n} samples from min {min} to max {max}"));
            }
        }
        // Half of the range at most, where half of the samples lie at each end; and what the two ends alone make at
        // least. What was not computed is told so.
        let uncomputed = |sd: &u64| *sd == u64::MAX && n > 1 << 24;
        if let Some(sd) = self.sd_hundredths.filter(|sd| !uncomputed(sd)) {
            let least = 100.0 * range as f64 / (2.0 * n as f64).sqrt();
            if u128::from(sd) > 50 * range || (sd as f64 + 1.0) < 0.999 * least {
                let sd = format!("{}.{:02}", sd / 100, sd % 100);
                return Err(format!("sd {sd} of {n} samples from min {min} to max {max}"));
            }
        }
        Ok(())
    }

    /// Whether it is of a test of the method itself, and no result.
    pub fn of_self_test(&self) -> bool {
        is_self_test(&self.cell)
    }

    /// The cache state with the size of the buffer that polluted it.
    pub fn cache_state(&self) -> String {
        match self.pollution_bytes {
            0 => self.cache.clone(),
            n if n % 1024 == 0 => format!("{} {} KiB", self.cache, n / 1024),
            n => format!("{} {n} B", self.cache),
        }
    }

    /// Figures of `values` in the order taken.
    pub fn summarize(&mut self, values: &[u64]) {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let (Some(&min), Some(&max), n) = (sorted.first(), sorted.last(), sorted.len()) else {
            return;
        };
        // The nearest rank: the smallest value that at least that share of the values does not exceed.
        let rank = |percent: usize| sorted[(n * percent).div_ceil(100).max(1) - 1];
        let sum: u128 = values.iter().map(|&v| u128::from(v)).sum();
        let mean = sum as f64 / n as f64;
        let variance = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum::<f64>() / n as f64;
        self.n = Some(n as u64);
        (self.min, self.max) = (Some(min), Some(max));
        (self.p50, self.p90, self.p99) = (Some(rank(50)), Some(rank(90)), Some(rank(99)));
        self.mean = Some(mean.round() as u64);
        self.sd_hundredths = Some((variance.sqrt() * 100.0).round() as u64);
        self.max_at = values.iter().position(|&v| v == max).map(|at| at as u64);
        self.first = values.first().copied();
    }
}

/// Whether a cell tests the method itself.
pub fn is_self_test(cell: &str) -> bool {
    cell.starts_with("selftest/")
}

/// The rows that verdicts and plots are about: those whose placement is known, where there are such, and what
/// has none by its nature. Figures of a placement that is not known say less than theirs.
pub fn placed(rows: &[Row]) -> Vec<Row> {
    let known = rows.iter().any(|row| row.placement.is_some() && row.origin != Origin::Published);
    let fits = |row: &&Row| !known || row.placement.is_some() || matches!(row.origin, Origin::Host | Origin::Published);
    rows.iter().filter(fits).cloned().collect()
}

/// An image that a matrix ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Checksum of its file, so that no cells of another build get in between.
    pub crc32: u32,
    /// Cells that its list names.
    pub cells: Vec<String>,
    /// Which of its cells were asked for, where not all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// What its banner says, as name and value.
    pub environment: Vec<(String, String)>,
    /// How it relinquishes, decoded from its instructions; nothing for one that could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relinquish: Option<Relinquish>,
    /// Keys of a later version, kept as they are.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// A part of an image's cells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What chose it: `quick` for the core set, or how the names of cells begin.
    pub words: Vec<String>,
    /// The cells that are not in it.
    pub left_out: Vec<String>,
}

/// One file of figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of the `txbench` that wrote it.
    pub txbench: String,
    /// Its command that wrote it; empty in files before it was said.
    #[serde(default)]
    pub command: String,
    /// The figures.
    pub rows: Vec<Row>,
    /// What is known of the surroundings, as name and value, in this order.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
    /// Images that a matrix ran, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, Image>,
    /// Cells of a matrix that are complete: image, cell, and repeat from 1.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub done: BTreeSet<(String, String, u32)>,
    /// What could not be read or did not pass.
    #[serde(default)]
    pub problems: Vec<String>,
    /// Keys of a later version, kept as they are.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
    /// Keys of a later version's records, which a log had.
    #[serde(skip)]
    pub newer: BTreeSet<String>,
}

impl Run {
    /// Of `rows`, by this version.
    pub fn new(rows: Vec<Row>) -> Self {
        let txbench = env!("CARGO_PKG_VERSION").into();
        Self { schema: SCHEMA, txbench, rows, ..Self::default() }
    }

    /// The same, written by `command`.
    pub fn by(self, command: &str) -> Self {
        Self { command: command.into(), ..self }
    }

    /// Whether `command` wrote it. A matrix of before says it by its images alone.
    pub fn is_by(&self, command: &str) -> bool {
        self.command == command || command == "matrix" && self.command.is_empty() && self.has_cells()
    }

    /// Whether it has cells of images.
    pub fn has_cells(&self) -> bool {
        !self.images.is_empty()
    }

    /// As the text of a JSON file, one line for each row.
    pub fn json(&self) -> String {
        // Nothing in it can fail to serialize: its keys are strings and its numbers integers.
        let line = |row: &Row| format!("\n  {}", serde_json::to_string(row).unwrap_or_default());
        let rows: Vec<String> = self.rows.iter().map(line).collect();
        let frame = serde_json::to_string(&Self { rows: Vec::new(), ..self.clone() }).unwrap_or_default();
        frame.replacen("\"rows\":[]", &format!("\"rows\":[{}\n]", rows.join(",")), 1) + "\n"
    }

    /// From the text of a JSON file.
    ///
    /// # Errors
    /// One line that says what is wrong with it.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let cannot = |e: serde_json::Error| format!("line {}: not JSON: {}", e.line(), without_place(&e));
        let value: serde_json::Value = serde_json::from_str(text).map_err(cannot)?;
        match value.get("schema").and_then(serde_json::Value::as_u64) {
            Some(schema) if schema == u64::from(SCHEMA) => {}
            Some(schema) => {
                return Err(format!("schema {schema}, this txbench reads {SCHEMA}: use the one that wrote it"));
            }
            None => return Err("no schema number: not written by txbench".into()),
        }
        let run: Self = serde_json::from_value(value).map_err(|e| format!("malformed: {e}"))?;
        for (at, row) in run.rows.iter().enumerate() {
            if row.bench.is_empty() {
                return Err(format!("rows[{at}]: no bench: what was measured is not known"));
            }
            if row.min.is_some() && row.unit.is_empty() {
                return Err(format!("rows[{at}]: figures without a unit"));
            }
            row.agrees().map_err(|why| format!("rows[{at}]: its figures contradict its samples: {why}"))?;
            row.plausible().map_err(|why| format!("rows[{at}]: {why}"))?;
        }
        Ok(run)
    }

    /// Takes away what is only half there: cells of a matrix that are marked as complete and have no rows, and
    /// rows of cells that are not. A test of the method may have none. What was taken away, one line for each.
    pub fn mend(&mut self) -> Vec<String> {
        let mut lacking = Vec::new();
        let job = |row: &Row| (row.source.clone(), row.cell.clone(), row.repeat.unwrap_or(0));
        let with_rows: BTreeSet<_> = self.rows.iter().map(job).collect();
        let (kept, lost) = std::mem::take(&mut self.done)
            .into_iter()
            .partition::<BTreeSet<_>, _>(|job| with_rows.contains(job) || is_self_test(&job.1));
        self.done = kept;
        lacking.extend(
            lost.iter().map(|job| format!("{} is marked as complete, but has no rows: not counted", cell(job))),
        );
        let images = &self.images;
        let done = &self.done;
        let stray = |row: &Row| row.repeat.is_some() && images.contains_key(&row.source) && !done.contains(&job(row));
        let strays: BTreeSet<_> = self.rows.iter().filter(|row| stray(row)).map(job).collect();
        self.rows.retain(|row| !strays.contains(&job(row)));
        lacking.extend(
            strays.iter().map(|job| format!("{} has rows, but is not marked as complete: left out", cell(job))),
        );
        lacking
    }

    /// One line on standard error about keys of a later version, if the run of this `name` has any.
    pub fn tell_newer(&self, name: &str) {
        let mut keys = self.newer.clone();
        keys.extend(self.more.keys().cloned());
        keys.extend(self.images.values().flat_map(|image| image.more.keys().map(|key| format!("images.{key}"))));
        keys.extend(self.rows.iter().flat_map(|row| row.more.keys().map(|key| format!("rows.{key}"))));
        if !keys.is_empty() {
            let keys: Vec<String> = keys.into_iter().collect();
            complain(&format!(
                "{name} is of a later txbench, whose {} this one does not know: ignored",
                keys.join(", ")
            ));
        }
    }
}

/// What is wrong with JSON, without the line and column that it counted itself.
pub fn without_place(e: &serde_json::Error) -> String {
    let text = e.to_string();
    let place = format!(" at line {} column {}", e.line(), e.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

/// A job of a matrix in words.
fn cell((image, cell, repeat): &(String, String, u32)) -> String {
    let cell = if cell.is_empty() { String::new() } else { format!(" cell {cell}") };
    let repeat = if *repeat > 1 { format!(", repeat {repeat}") } else { String::new() };
    format!("{image}{cell}{repeat}")
}

/// A row of the suite on the emulated board, for tests.
#[cfg(test)]
pub fn example(bench: &str, memory: &str, cache: &str) -> Row {
    Row {
        source: "suite".into(),
        bench: bench.into(),
        memory: memory.into(),
        cache: cache.into(),
        board: "mps3-an536".into(),
        kernel: "bundled".into(),
        language: "rust".into(),
        unit: "instructions".into(),
        min: Some(34),
        mean: Some(34),
        max: Some(34),
        ..Row::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_before_the_start_is_no_sample() {
        let row = |origin, figure| Row { origin, min: Some(figure), max: Some(figure), ..Row::default() };
        let wrapped = u64::from(20u32.wrapping_sub(41));
        for origin in [Origin::Emulated, Origin::Silicon] {
            assert!(row(origin, wrapped).plausible().unwrap_err().contains("the end was read before the start"));
            assert_eq!(row(origin, 1 << 30).plausible(), Ok(()));
        }
        // A host's counter has 64 bits.
        assert_eq!(row(Origin::Host, wrapped).plausible(), Ok(()));
    }

    #[test]
    fn figures_of_values() {
        let mut row = Row::default();
        row.summarize(&[4, 1, 3, 2]);
        assert_eq!((row.n, row.min, row.p50, row.p90, row.max), (Some(4), Some(1), Some(2), Some(4), Some(4)));
        assert_eq!((row.mean, row.sd_hundredths, row.max_at, row.first), (Some(3), Some(112), Some(0), Some(4)));
        let mut hundred = Row::default();
        hundred.summarize(&(1..=100).collect::<Vec<_>>());
        assert_eq!((hundred.p50, hundred.p90, hundred.p99), (Some(50), Some(90), Some(99)));
        let mut none = Row::default();
        none.summarize(&[]);
        assert_eq!(none, Row::default());
        let mut one = Row::default();
        one.summarize(&[u64::MAX]);
        assert_eq!((one.p99, one.sd_hundredths), (Some(u64::MAX), Some(0)));
    }

    #[test]
    fn a_run_survives_its_json_and_other_schemas_are_refused() {
        let mut run = Run::new(vec![Row { bench: "b".into(), samples: vec![1, 2], ..Row::default() }]);
        run.environment.push(("board".into(), "x".into()));
        assert_eq!(Run::from_json(&run.json()), Ok(run.clone()));
        let other = run.json().replacen("\"schema\":1", "\"schema\":2", 1);
        assert!(Run::from_json(&other).unwrap_err().starts_with("schema 2"));
        assert!(Run::from_json("{}").unwrap_err().starts_with("no schema"));
        assert!(Run::from_json("RECORD").unwrap_err().starts_with("line 1: not JSON: expected value"));
        let wrong = run.json().replace("\"bench\"", "\"brench\"");
        assert!(Run::from_json(&wrong).unwrap_err().contains("no bench"));
    }

    #[test]
    fn a_file_says_which_command_wrote_it() {
        let mut run = Run::new(Vec::new());
        assert!(
            !run.is_by("matrix") && run.clone().by("merge").is_by("merge") && !run.clone().by("run").is_by("merge")
        );
        run.images.insert("suite".into(), Image::default());
        assert!(run.is_by("matrix") && !run.is_by("merge"), "of a version that did not say it");
        assert!(!run.clone().by("merge").is_by("matrix") && run.by("matrix").is_by("matrix"));
    }

    #[test]
    fn keys_of_a_later_version_are_kept() {
        let run = Run::new(vec![Row { bench: "b".into(), ..Row::default() }]);
        let later = run.json().replace("{\"origin\"", "{\"voltage\":[1,null],\"origin\"");
        let later = later.replacen("\"schema\"", "\"lab\":\"x\",\"schema\"", 1);
        let read = Run::from_json(&later).unwrap();
        assert!(read.rows[0].more.contains_key("voltage") && read.more.contains_key("lab"), "{read:?}");
        assert_eq!(Run::from_json(&read.json()), Ok(read));
    }

    #[test]
    fn figures_are_those_of_the_samples() {
        let good = Row {
            bench: "b".into(),
            unit: "u".into(),
            n: Some(2),
            excluded: Some(1),
            min: Some(5),
            mean: Some(6),
            max: Some(6),
            first: Some(5),
            max_at: Some(2),
            samples: vec![5, 900, 6],
            excluded_at: vec![1],
            ..Row::default()
        };
        let read = |row: Row| Run::from_json(&Run::new(vec![row]).json());
        assert!(read(good.clone()).is_ok());
        let bad: [fn(&mut Row); 8] = [
            |row| row.n = Some(3),
            |row| row.excluded = Some(0),
            |row| row.min = Some(4),
            |row| row.max = Some(900),
            |row| row.first = Some(6),
            |row| row.max_at = Some(1),
            |row| row.excluded_at = vec![3],
            |row| row.excluded_at = vec![1, 1],
        ];
        for (at, spoil) in bad.into_iter().enumerate() {
            let mut row = good.clone();
            spoil(&mut row);
            assert!(read(row).unwrap_err().contains("contradict its samples"), "{at}");
        }
        assert!(read(Row { unit: String::new(), ..good }).unwrap_err().contains("without a unit"));
    }

    #[test]
    fn figures_that_no_series_has_are_refused() {
        let good = Row {
            bench: "b".into(),
            unit: "u".into(),
            n: Some(200),
            excluded: Some(3),
            excluded_tick: Some(2),
            excluded_interrupt: Some(1),
            min: Some(40),
            p50: Some(41),
            p90: Some(42),
            p99: Some(43),
            mean: Some(41),
            sd_hundredths: Some(150),
            max: Some(50),
            max_at: Some(0),
            first: Some(50),
            placement: Some(48),
            ..Row::default()
        };
        let read = |row: Row| Run::from_json(&Run::new(vec![row]).json());
        assert!(read(good.clone()).is_ok());
        type Spoil = fn(&mut Row);
        let bad: [(&str, Spoil); 19] = [
            ("no samples", |row| row.n = Some(0)),
            ("out of order", |row| row.min = Some(42)),
            ("out of order", |row| row.p50 = Some(43)),
            ("out of order", |row| row.p90 = Some(44)),
            ("out of order", |row| row.p99 = Some(51)),
            ("out of order", |row| row.mean = Some(39)),
            ("out of order", |row| row.mean = Some(51)),
            ("no offset", |row| row.placement = Some(64)),
            ("no offset", |row| row.placement = Some(7)),
            ("more samples", |row| row.excluded = Some(u32::MAX.into())),
            ("excluded is 3", |row| row.excluded_tick = Some(3)),
            ("max_at", |row| row.max_at = Some(203)),
            ("first", |row| row.first = Some(49)),
            ("first", |row| {
                (row.excluded, row.excluded_tick, row.excluded_interrupt) = (Some(0), Some(0), Some(0));
                (row.first, row.max_at) = (Some(51), Some(1));
            }),
            ("one sample", |row| row.n = Some(1)),
            ("p99 of 99", |row| row.n = Some(99)),
            ("mean 41 of", |row| (row.max, row.first) = (Some(5000), Some(5000))),
            ("sd 5.01", |row| row.sd_hundredths = Some(501)),
            ("sd 0.00", |row| row.sd_hundredths = Some(0)),
        ];
        for (at, (says, spoil)) in bad.into_iter().enumerate() {
            let mut row = good.clone();
            spoil(&mut row);
            let error = read(row).unwrap_err();
            assert!(error.starts_with("rows[0]: ") && error.contains(says), "{at}: {error}");
        }
        let mut row = good;
        for figure in [&mut row.min, &mut row.p50, &mut row.p90, &mut row.p99, &mut row.mean, &mut row.max] {
            *figure = Some(50);
        }
        assert!(read(row.clone()).unwrap_err().contains("sd 1.50 of 200 samples from min 50 to max 50"));
        row.sd_hundredths = Some(0);
        assert!(read(row.clone()).is_ok());
        // Not computed, as so many samples are not.
        row.sd_hundredths = Some(u64::MAX);
        assert!(read(row.clone()).is_err());
        row.n = Some((1 << 24) + 1);
        assert!(read(row).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn figures_of_any_samples_are_plausible(
            samples in proptest::collection::vec((0..=u32::MAX, 0..8u8), 1..300),
            step in 1..=u32::MAX,
        ) {
            let values: Vec<u32> = samples.iter().map(|(value, _)| value / step).collect();
            let mut host = Row::default();
            host.summarize(&values.iter().map(|&value| value.into()).collect::<Vec<_>>());
            proptest::prop_assert_eq!(host.plausible(), Ok(()));
            let marked = samples.iter().zip(&values).enumerate().map(|(index, ((_, mark), &value))| Sample {
                index,
                value,
                excluded: match mark { 0 => Some(Exclusion::Tick), 1 => Some(Exclusion::Interrupt), _ => None },
            });
            if let Ok(of) = Summary::of(marked) {
                let row = Row {
                    n: Some(of.n.into()),
                    excluded: Some(of.excluded.into()),
                    excluded_tick: Some(of.excluded_tick.into()),
                    excluded_interrupt: Some(of.excluded_interrupt.into()),
                    min: Some(of.min.into()),
                    mean: Some(of.mean.into()),
                    max: Some(of.max.into()),
                    first: Some(of.first.into()),
                    sd_hundredths: Some(of.sd_hundredths),
                    p50: Some(of.p50.into()),
                    p90: Some(of.p90.into()),
                    p99: Some(of.p99.into()),
                    max_at: Some(of.max_index.into()),
                    ..Row::default()
                };
                proptest::prop_assert_eq!(row.plausible(), Ok(()));
            }
        }
    }

    #[test]
    fn what_is_half_there_is_taken_away() {
        let row = |cell: &str| Row { source: "i".into(), cell: cell.into(), repeat: Some(1), ..Row::default() };
        let job = |cell: &str| ("i".to_owned(), cell.to_owned(), 1);
        let mut run = Run::new(vec![row("a"), row("stray"), row("stray"), Row::default()]);
        run.images.insert("i".into(), Image::default());
        run.done.extend([job("a"), job("empty"), job("selftest/wrap")]);
        let says = run.mend();
        assert_eq!(
            says,
            [
                "i cell empty is marked as complete, but has no rows: not counted",
                "i cell stray has rows, but is not marked as complete: left out"
            ]
        );
        assert!(run.rows == [row("a"), Row::default()] && run.done == [job("a"), job("selftest/wrap")].into());
        assert!(run.mend().is_empty());
    }

    #[test]
    fn a_known_placement_goes_before_an_unknown_one() {
        let row = |placement, origin| Row { placement, origin, ..Row::default() };
        let unknown = row(None, Origin::Emulated);
        let alone = [unknown];
        assert_eq!(placed(&alone), alone);
        let rest = [row(Some(0), Origin::Emulated), row(None, Origin::Host)];
        assert_eq!(placed(&[&rest[..], &alone].concat()), rest);
    }

    #[test]
    fn excluded_samples_stay_out() {
        let row = Row { samples: vec![5, 900, 6], excluded_at: vec![1], ..Row::default() };
        assert_eq!(row.kept(), [5, 6]);
    }
}
