//! Runs under the memory timing model (`model/`), whose plugin writes a log beside the guest's own output.
//!
//! The guest reads instructions from its counter and reports these; the model's log has, for each read of
//! the counter, instructions and modelled cycles, in one order with the lines of the console. A record is
//! joined with the reads that its samples were taken from: the same differences in the same order.
//!
//! With a steered clock the guest reads modelled cycles itself, and does not know what they are. The same
//! join then checks that they are what the model logged, and only the unit is put in.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};
use measure::line::{RECORD, SAMPLES};
use measure::{Exclusion, Sample, Summary};
use serde_json::{Map, Value};

use crate::files;
use crate::judge::Verdict;
use crate::log::Problem;
use crate::qemu::{self, End, Qemu};
use crate::screen::{Failure, complain, show};
use crate::{boot, code, finished, source, table};

/// The unit of every figure that the model makes.
pub const UNIT: &str = "modelled cycles";
/// The version of QEMU that the model was checked with, as it begins.
const CHECKED: &str = "10.0.";

#[derive(Args)]
pub struct Options {
    /// Run under the memory timing model with the figures of this part: a name of model/parts, or a TOML
    /// file. Needs QEMU 10.0 and the plugin (cargo build --release --package r52-model).
    #[arg(long, value_name = "PART", conflicts_with = "serial")]
    pub model: Option<String>,
    /// How it is read. Recorded: the guest's clock counts instructions, and each read of it is joined with the
    /// model's log. Steered: the guest's clock and timers follow the model, by internals of QEMU 10.0.2; if
    /// these are not as expected, the run is recorded and says so.
    #[arg(long, value_enum, default_value_t = Mode::Recorded, requires = "model")]
    mode: Mode,
    /// The model's plugin, if not the one beside this program.
    #[arg(long, value_name = "FILE", requires = "model")]
    plugin: Option<PathBuf>,
    /// Write the guest's output with modelled records to this file, for `txbench parse`.
    #[arg(long, value_name = "FILE", requires = "model")]
    modelled: Option<PathBuf>,
    /// Keep the model's own log in this file: every read of the counter.
    #[arg(long, value_name = "FILE", requires = "model")]
    cycles: Option<PathBuf>,
}

impl Options {
    /// What it reads and writes.
    pub fn plan(&self, plan: &mut files::Plan) {
        if let Some(part) = self.model.as_deref().and_then(|part| part_file(part).ok()) {
            plan.reads(part);
        }
        if let Some(plugin) = &self.plugin {
            plan.reads(plugin);
        }
        for (option, kind, path) in
            [("--modelled", files::Kind::Log, &self.modelled), ("--cycles", files::Kind::Cycles, &self.cycles)]
        {
            if let Some(path) = path {
                plan.writes(option, kind, path);
            }
        }
    }
}

/// How the model is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    Recorded,
    Steered,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Steered => "steered",
        }
    }
}

/// A run with `--model`.
pub struct Run<'a> {
    pub part: &'a str,
    pub options: &'a Options,
    pub elf: &'a Path,
    pub words: &'a [String],
    pub limit: Duration,
    pub expect: &'a [String],
}

impl Run<'_> {
    /// Boots the image under the model; ends with the modelled tables and the verdict.
    ///
    /// # Errors
    /// What is missing, in one line.
    pub fn run(&self, mut qemu: Qemu) -> Result<u8, Failure> {
        qemu::check_image(self.elf)?;
        let Options { mode, plugin, cycles, .. } = self.options;
        let log = follow(&mut qemu, self.part, *mode, plugin.as_deref())?;
        let ran = boot(&qemu, self.elf, self.words, self.limit, self.expect, None)?;
        let mut lost: Vec<String> = cycles.iter().filter_map(|path| log.keep(path).err()).collect();
        if matches!(ran.end, End::Interrupted) {
            complain("interrupted");
            return Ok(code::INTERRUPTED);
        }
        let joined = join(&log.entries(&ran.end)?);
        show(format!("\n{}\n", joined.heading.join("\n")).as_bytes())?;
        for warning in &joined.warnings {
            complain(&format!("model: {warning}"));
        }
        let text: String = joined.lines.iter().map(|line| format!("{line}\n")).collect();
        if let Some(path) = &self.options.modelled {
            lost.extend(files::write(path, text.as_bytes()).err());
        }
        let mut log = source::log_in(text.as_bytes());
        let problems = joined.problems.into_iter().map(|what| Problem { line: None, what });
        log.problems.extend(problems);
        show(table::tables(&log.rows).as_bytes())?;
        show(NOTE.as_bytes())?;
        let missing: Vec<_> =
            self.expect.iter().zip(&ran.seen).filter(|(_, seen)| !**seen).map(|(t, _)| t.as_str()).collect();
        finished(Verdict::run(&log, &ran.end, &missing).print()?, &lost)
    }
}

/// Has every later boot of `qemu` followed by the model, with the figures of `part`, in `mode` if that QEMU
/// allows it. Its log is in a folder that goes with what is returned.
///
/// # Errors
/// What is missing, in one line.
pub fn follow(qemu: &mut Qemu, part: &str, mode: Mode, plugin: Option<&Path>) -> Result<Followed, Failure> {
    if !qemu.version().contains(&format!("version {CHECKED}")) {
        let version = qemu.version();
        return Err(
            format!("--model needs QEMU {CHECKED}x, the version that it was checked with; this is {version}").into()
        );
    }
    let part = part_file(part)?;
    let mut argument = plugin_file(plugin)?.into_os_string();
    let folder = Scratch::new()?;
    let log = folder.0.join("cycles");
    for (key, path) in [(",part=", &part), (",log=", &log)] {
        if path.as_os_str().as_encoded_bytes().contains(&b',') {
            return Err(format!("QEMU takes no comma in a name: {}", path.display()).into());
        }
        argument.push(key);
        argument.push(path);
    }
    argument.push(",mode=");
    argument.push(mode.name());
    qemu.add([OsString::from("-plugin"), argument]);
    Ok(Followed { log, _folder: folder })
}

/// The log of a run that the model followed.
pub struct Followed {
    log: PathBuf,
    _folder: Scratch,
}

impl Followed {
    /// Reads it, after the run, which ended so.
    ///
    /// # Errors
    /// There is none, or it is not of this version.
    pub fn entries(&self, end: &End) -> Result<Vec<Entry>, String> {
        match (fs::read(&self.log), end) {
            (Ok(text), _) => entries(&text),
            // QEMU and the plugin both say what they do not take.
            (Err(_), End::Exited(code @ 1..)) => {
                Err(format!("the model did not start (QEMU ended with {code}): the line above says why"))
            }
            (Err(e), _) => Err(format!("the model left no log: {}", e.kind())),
        }
    }

    /// Puts a copy of it, as far as there is one, to `path`.
    fn keep(&self, path: &Path) -> Result<(), String> {
        if !self.log.is_file() {
            return Ok(());
        }
        let copy = |part: &Path| fs::copy(&self.log, part).map(drop);
        files::replace(path, |part| copy(part).map_err(|e| format!("cannot write {}: {e}", path.display())))
    }
}

fn plugin_file(given: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(path) = given {
        return if path.is_file() {
            Ok(path.into())
        } else {
            Err(format!("--plugin {}: no such file", path.display()))
        };
    }
    let exe = std::env::current_exe().map_err(|e| format!("cannot find myself: {e}"))?;
    let built = exe.ancestors().nth(2).unwrap_or(Path::new(".")).join("release/libr52_model.so");
    if built.is_file() {
        return Ok(built);
    }
    Err(format!(
        "the model's plugin {} is not built: cargo build --release --package r52-model, or give --plugin",
        built.display()
    ))
}

const NOTE: &str = "Directions and ratios hold as far as docs/model.md says, and nothing else does.\n\n";

/// A folder that goes with its owner.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("txbench-model-{}-{n}", std::process::id()));
        fs::create_dir_all(&path).map_err(|e| format!("cannot create {}: {e}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The file of a part: the argument itself, or of that name in the repository.
fn part_file(part: &str) -> Result<PathBuf, String> {
    if Path::new(part).is_file() {
        return Ok(part.into());
    }
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/parts");
    for folder in [Path::new("model/parts"), &known] {
        let file = folder.join(format!("{part}.toml"));
        if file.is_file() {
            return Ok(file);
        }
    }
    Err(format!("--model {part}: neither a file nor a part of model/parts (s32z280, an536)"))
}

/// One read of the counter.
#[derive(Clone, Copy)]
pub struct Read {
    pub pc: u32,
    /// Both counts at that moment.
    pub instructions: u64,
    pub cycles: u64,
}

/// A line of the model's log.
pub enum Entry {
    /// Its first line.
    Model {
        part: String,
        mode: Mode,
        /// Why not steered, where that was asked for.
        why: String,
    },
    /// A memory of the guest's machine and what it plays.
    Map(String),
    Read(Read),
    /// A line of the guest's console.
    Console(String),
    Warning(String),
    End,
}

/// Whether a file's bytes are a log of the model, of whatever version.
pub fn is_log(bytes: &[u8]) -> bool {
    let first = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
    first.strip_prefix(b"model ").is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit))
}

fn entries(log: &[u8]) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    for (number, line) in log.split(|&b| b == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        let (kind, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let mut words = rest.split(' ');
        entries.push(match kind {
            "model" => match (words.next(), words.next(), words.next().and_then(|mode| Mode::from_str(mode, false).ok())) {
                (Some("1"), Some(part), Some(mode)) => {
                    Entry::Model { part: part.into(), mode, why: words.collect::<Vec<_>>().join(" ") }
                }
                _ => {
                    return Err(format!(
                        "the model's log is of another version ({rest}): build txbench and the plugin from one source"
                    ));
                }
            },
            "map" => Entry::Map(rest.into()),
            "C" => {
                let mut read = || {
                    let pc = u32::from_str_radix(words.next()?, 16).ok()?;
                    Some(Read { pc, instructions: words.next()?.parse().ok()?, cycles: words.next()?.parse().ok()? })
                };
                Entry::Read(
                    read().ok_or_else(|| format!("line {} of the model's log is malformed: {line}", number + 1))?,
                )
            }
            "U" => Entry::Console(rest.into()),
            "warning" => Entry::Warning(rest.into()),
            "end" => Entry::End,
            _ => continue,
        });
    }
    Ok(entries)
}

/// The guest's output with modelled records.
#[derive(Default)]
struct Joined {
    /// Part, mode, and which memory plays which.
    heading: Vec<String>,
    lines: Vec<String>,
    warnings: Vec<String>,
    problems: Vec<String>,
}

/// A line of the console, and how many reads came before it.
struct Console {
    text: String,
    reads: usize,
}

fn join(entries: &[Entry]) -> Joined {
    let mut joined = Joined::default();
    let mut reads: Vec<Read> = Vec::new();
    let mut console: Vec<Console> = Vec::new();
    let (mut name, mut mode) = ("", Mode::Recorded);
    for entry in entries {
        match entry {
            Entry::Model { part, mode: made, why } => {
                (name, mode) = (part, *made);
                joined.heading.push(format!(
                    "model      {part}, {}: the guest read {}, the records below are modelled cycles",
                    mode.name(),
                    match mode {
                        Mode::Recorded => "instructions",
                        Mode::Steered => "modelled cycles and its timers followed them",
                    }
                ));
                if !why.is_empty() {
                    joined.heading.push(format!("           {why}"));
                }
            }
            Entry::Map(text) => joined.heading.push(format!("           {text}")),
            Entry::Read(read) => reads.push(*read),
            Entry::Console(text) => console.push(Console { text: text.clone(), reads: reads.len() }),
            Entry::Warning(text) => joined.warnings.push(text.clone()),
            Entry::End => {}
        }
    }
    if !matches!(entries.last(), Some(Entry::End)) {
        joined.problems.push("the model's log has no end: QEMU was stopped".into());
    }
    let overhead =
        reads.windows(2).filter(|w| w[1].pc == w[0].pc.wrapping_add(4)).map(|w| w[1].cycles - w[0].cycles).min();
    let board = format!("mps3-an536 as {name}, {}", mode.name());
    let mut free = 0;
    for (i, line) in console.iter().enumerate() {
        let Some(mut record) = object(&line.text, RECORD) else {
            // A sample line goes with its record, see below.
            if object(&line.text, SAMPLES).is_none() {
                joined.lines.push(line.text.clone());
            }
            continue;
        };
        let unit = record.get("unit").and_then(Value::as_str).unwrap_or("nothing");
        // A guest cannot tell modelled cycles from any other count that is not one an instruction.
        if unit != "instructions" && (mode, unit) != (Mode::Steered, "counts") {
            joined.problems.push(format!("a record of a {} run is in {unit}: not joined", mode.name()));
            continue;
        }
        let raw = raw_of(&console, i, &record);
        match series(&reads[free..line.reads], mode, &record, raw.as_ref()) {
            Ok(found) => {
                free += found.end;
                if let Err(why) = rewrite(&mut record, &found, &board, overhead) {
                    joined.problems.push(format!("{} {}: {why}", text(&record, "bench"), text(&record, "stack")));
                    continue;
                }
                joined.lines.push(format!("{RECORD}{}", Value::Object(record)));
                if let Some(mut raw) = raw {
                    raw.insert("unit".into(), UNIT.into());
                    raw.insert("board".into(), board.clone().into());
                    raw.insert("samples".into(), found.cycles.into());
                    joined.lines.push(format!("{SAMPLES}{}", Value::Object(raw)));
                }
            }
            Err(why) => joined.problems.push(format!(
                "{} {} {}: {why}",
                text(&record, "bench"),
                text(&record, "stack"),
                text(&record, "cache")
            )),
        }
    }
    joined
}

fn object(line: &str, prefix: &str) -> Option<Map<String, Value>> {
    match serde_json::from_str(line.strip_prefix(prefix)?) {
        Ok(Value::Object(map)) => Some(map),
        _ => None,
    }
}

fn text<'a>(map: &'a Map<String, Value>, key: &str) -> &'a str {
    map.get(key).and_then(Value::as_str).unwrap_or("?")
}

fn number(map: &Map<String, Value>, key: &str) -> Result<u64, String> {
    map.get(key).and_then(Value::as_u64).ok_or_else(|| format!("its record has no {key}"))
}

/// The raw samples of the record in line `i`: the sample line between the records before and after it that
/// says the same about itself as the record does.
fn raw_of(console: &[Console], i: usize, record: &Map<String, Value>) -> Option<Map<String, Value>> {
    let is_record = |line: &&Console| object(&line.text, RECORD).is_some();
    let after = console[i + 1..].iter().take_while(|line| !is_record(line));
    let before = console[..i].iter().rev().take_while(|line| !is_record(line));
    let same = |raw: &Map<String, Value>| {
        raw.iter().all(|(key, value)| {
            matches!(key.as_str(), "samples" | "excluded") || record.get(key).is_none_or(|v| v == value)
        })
    };
    after.chain(before).filter_map(|line| object(&line.text, SAMPLES)).find(same)
}

/// The samples of a record in cycles.
struct Found {
    cycles: Vec<u64>,
    /// Whether each is kept.
    kept: Vec<bool>,
    /// Reads up to the last one that was used.
    end: usize,
}

/// The latest reads that the record was made from.
fn series(
    reads: &[Read],
    mode: Mode,
    record: &Map<String, Value>,
    raw: Option<&Map<String, Value>>,
) -> Result<Found, String> {
    let taken = (number(record, "n")? + number(record, "excluded")?) as usize;
    let mut kept = vec![true; taken];
    let values: Option<Vec<u64>> =
        raw.map(|raw| raw["samples"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect());
    match raw {
        Some(raw) => {
            for at in raw["excluded"].as_array().into_iter().flatten().filter_map(|e| e["at"].as_u64()) {
                *kept.get_mut(at as usize).ok_or("its excluded samples do not exist")? = false;
            }
        }
        // Steered samples are in the unit of the record already; which were excluded shows below.
        None if mode == Mode::Recorded && number(record, "excluded")? > 0 => {
            return Err("has excluded samples, but no SAMPLES line that says which".into());
        }
        None => {}
    }
    let mut seen = HashSet::new();
    let mut best: Option<Found> = None;
    for pair in reads.windows(2) {
        let (first, second) = (pair[0].pc, pair[1].pc);
        if !seen.insert((first, second)) {
            continue;
        }
        let own: Vec<(usize, &Read)> =
            reads.iter().enumerate().filter(|(_, r)| r.pc == first || r.pc == second).collect();
        let mut samples = Vec::new();
        let mut at = 0;
        while at + 1 < own.len() {
            let ((_, a), (end, b)) = (own[at], own[at + 1]);
            if a.pc == first && b.pc == second {
                let cycles = b.cycles - a.cycles;
                let counted = match mode {
                    Mode::Recorded => b.instructions - a.instructions,
                    Mode::Steered => cycles,
                };
                samples.push((counted, cycles, end + 1));
                at += 2;
            } else {
                at += 1;
            }
        }
        let disturbed = if raw.is_none() { number(record, "excluded")? as usize } else { 0 };
        let Some(window) = samples.windows(taken.max(1)).rev().find(|window| {
            if disturbed > 0 {
                kept = all_but_largest(window, disturbed);
            }
            fits(window, &kept, record, values.as_deref())
        }) else {
            continue;
        };
        let end = window[taken - 1].2;
        if best.as_ref().is_none_or(|b| b.end < end) {
            best = Some(Found { cycles: window.iter().map(|s| s.1).collect(), kept: kept.clone(), end });
        }
    }
    best.ok_or_else(|| format!("no {taken} reads of the counter in the model's log have its samples' differences"))
}

/// Which samples are left without the `n` largest: those that an interrupt fell into, whose time they contain.
fn all_but_largest(window: &[(u64, u64, usize)], n: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..window.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(window[at].0));
    let mut kept = vec![true; window.len()];
    for at in order.into_iter().take(n) {
        kept[at] = false;
    }
    kept
}

/// Whether samples are those of the record: value by value if the values are known, else by its figures of
/// those kept and the first one taken.
fn fits(window: &[(u64, u64, usize)], kept: &[bool], record: &Map<String, Value>, values: Option<&[u64]>) -> bool {
    let counted = window.iter().map(|s| s.0);
    if let Some(values) = values {
        return counted.eq(values.iter().copied());
    }
    let figures = figures(counted.zip(kept).filter(|(_, kept)| **kept).map(|(value, _)| value));
    [("min", figures.0), ("mean", figures.1), ("max", figures.2), ("first", window[0].0)]
        .iter()
        .all(|(key, value)| record.get(*key).and_then(Value::as_u64) == Some(*value))
}

/// Least, mean (to the nearest, halves upwards) and largest.
fn figures(values: impl Iterator<Item = u64> + Clone) -> (u64, u64, u64) {
    let (n, sum) = values.clone().fold((0, 0), |(n, sum), v| (n + 1, sum + v));
    let n = std::cmp::max(n, 1);
    (values.clone().min().unwrap_or(0), (sum + n / 2) / n, values.max().unwrap_or(0))
}

/// Puts the modelled figures into a record. Figures that it does not have are left out, as older images do.
fn rewrite(record: &mut Map<String, Value>, found: &Found, board: &str, overhead: Option<u64>) -> Result<(), String> {
    let samples = found.cycles.iter().zip(&found.kept).enumerate().map(|(index, (&cycles, &kept))| Sample {
        index,
        value: u32::try_from(cycles).unwrap_or(u32::MAX),
        // Which of the reasons it was stays in the record.
        excluded: (!kept).then_some(Exclusion::Interrupt),
    });
    let summary = Summary::of(samples).map_err(|e| e.to_string())?;
    for (key, value) in [
        ("min", summary.min.into()),
        ("mean", summary.mean.into()),
        ("max", summary.max.into()),
        ("first", summary.first.into()),
        ("sd_hundredths", summary.sd_hundredths),
        ("p50", summary.p50.into()),
        ("p90", summary.p90.into()),
        ("p99", summary.p99.into()),
        ("max_at", u64::from(summary.max_index)),
        ("overhead", overhead.unwrap_or(0)),
    ] {
        if let Some(figure) = record.get_mut(key) {
            *figure = value.into();
        }
    }
    record.insert("unit".into(), UNIT.into());
    record.insert("board".into(), board.into());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(log: &[u8]) -> Result<Joined, String> {
        Ok(super::join(&entries(log)?))
    }

    fn log(samples: &[(u64, u64)], tail: &str) -> String {
        let mut text = String::from("model 1 s32z280 recorded\nmap 0x0 A plays B\n");
        let (mut i, mut c) = (1000, 5000);
        // The self-test: two reads one behind the other.
        text += "C 100 10 20\nC 104 11 24\n";
        for (instructions, cycles) in samples {
            text += &format!("C 200 {i} {c}\n");
            (i, c) = (i + instructions, c + cycles);
            text += &format!("C 300 {i} {c}\n");
            (i, c) = (i + 7, c + 70);
        }
        text + tail
    }

    fn record(n: u64, excluded: u64, [min, mean, max, first]: [u64; 4]) -> String {
        format!(
            r#"U RECORD {{"schema":1,"bench":"deep_stack","kernel":"k","board":"mps3-an536","stack":"BTCM","cache":"cold","unit":"instructions","n":{n},"excluded":{excluded},"min":{min},"mean":{mean},"max":{max},"first":{first},"opt":"3","lto":"fat","counter":"CNTPCT","overhead":1}}"#
        )
    }

    #[test]
    fn a_record_gets_the_cycles_of_its_own_reads() {
        let tail = record(3, 0, [30, 31, 32, 32]) + "\nU DONE ok\nend x\n";
        let joined = join(log(&[(90, 1), (32, 400), (30, 100), (31, 300)], &tail).as_bytes()).unwrap();
        assert!(joined.problems.is_empty(), "{:?}", joined.problems);
        let record = object(&joined.lines[0], RECORD).unwrap();
        for (key, value) in [("min", 100), ("mean", 267), ("max", 400), ("first", 400), ("overhead", 4)] {
            assert_eq!(record[key], value, "{key}");
        }
        assert_eq!((text(&record, "unit"), text(&record, "board")), (UNIT, "mps3-an536 as s32z280, recorded"));
        assert_eq!(joined.lines[1], "DONE ok");
    }

    #[test]
    fn excluded_samples_stay_out() {
        let raw = r#"
U SAMPLES {"schema":1,"bench":"deep_stack","kernel":"k","board":"mps3-an536","stack":"BTCM","cache":"cold","unit":"instructions","samples":[30,90,31],"excluded":[{"at":1,"why":"tick"}]}
end x
"#;
        let joined =
            join(log(&[(30, 100), (90, 900), (31, 110)], &(record(2, 1, [30, 31, 31, 30]) + raw)).as_bytes()).unwrap();
        assert!(joined.problems.is_empty(), "{:?}", joined.problems);
        let made = object(&joined.lines[0], RECORD).unwrap();
        assert_eq!((&made["min"], &made["max"], &made["n"]), (&100.into(), &110.into(), &2.into()));
        let samples = object(&joined.lines[1], SAMPLES).unwrap();
        assert_eq!(samples["samples"], serde_json::json!([100, 900, 110]));
        // Without the line nobody knows which.
        let joined =
            join(log(&[(30, 100), (90, 900), (31, 110)], &(record(2, 1, [30, 31, 31, 30]) + "\nend x\n")).as_bytes())
                .unwrap();
        assert!(joined.problems[0].contains("excluded samples"), "{:?}", joined.problems);
    }

    #[test]
    fn what_does_not_fit_is_named_and_left_out() {
        let joined = join(log(&[(30, 100)], &(record(1, 0, [31, 31, 31, 31]) + "\nend x\n")).as_bytes()).unwrap();
        assert!(joined.lines.is_empty());
        assert!(joined.problems[0].starts_with("deep_stack BTCM cold: no 1 reads"), "{:?}", joined.problems);
        let joined = join(log(&[(30, 100)], &record(1, 0, [30, 30, 30, 30])).as_bytes()).unwrap();
        assert!(joined.problems[0].contains("no end"), "{:?}", joined.problems);
        let foreign = record(1, 0, [30, 30, 30, 30]).replace("instructions", "counts");
        let joined = join(log(&[(30, 100)], &(foreign + "\nend x\n")).as_bytes()).unwrap();
        assert!(joined.problems[0].contains("counts"), "{:?}", joined.problems);
        assert!(join(b"model 2 x recorded\n").is_err());
        assert!(join(b"model 1 x sideways\n").is_err());
        assert!(join(b"model 1 x recorded\nC zz 1 1\n").is_err());
    }

    #[test]
    fn a_steered_record_must_be_what_the_model_logged() {
        let tail = record(2, 0, [100, 200, 300, 300]).replace("instructions", "counts") + "\nend x\n";
        let text = log(&[(30, 300), (30, 100)], &tail).replace("recorded", "steered");
        let joined = join(text.as_bytes()).unwrap();
        assert!(joined.problems.is_empty(), "{:?}", joined.problems);
        let made = object(&joined.lines[0], RECORD).unwrap();
        assert_eq!((super::text(&made, "unit"), super::text(&made, "board")), (UNIT, "mps3-an536 as s32z280, steered"));
        assert_eq!((&made["min"], &made["max"], &made["first"]), (&100.into(), &300.into(), &300.into()));
        // A tick fell into one, and the guest prints no samples.
        let ticked = record(2, 1, [100, 200, 300, 300]).replace("instructions", "counts") + "\nend x\n";
        let ticked = log(&[(30, 300), (99, 900), (30, 100)], &ticked).replace("recorded", "steered");
        let joined = join(ticked.as_bytes()).unwrap();
        assert!(joined.problems.is_empty(), "{:?}", joined.problems);
        assert_eq!(object(&joined.lines[0], RECORD).unwrap()["max"], 300);
        // A clock that did not follow is found.
        let wrong = join(text.replace("\"max\":300", "\"max\":301").as_bytes()).unwrap();
        assert!(wrong.problems[0].contains("no 2 reads"), "{:?}", wrong.problems);
        // In a recorded run the guest reads instructions, and nothing else is believed.
        let wrong = join(text.replace("steered", "recorded").as_bytes()).unwrap();
        assert!(wrong.problems[0].contains("recorded run is in counts"), "{:?}", wrong.problems);
    }

    #[test]
    fn a_run_that_was_not_steered_says_why() {
        let text = log(&[], "end x\n").replace("recorded", "recorded not steered: no such symbol");
        let joined = join(text.as_bytes()).unwrap();
        assert!(joined.heading[0].contains("s32z280, recorded"), "{:?}", joined.heading);
        assert_eq!(joined.heading[1].trim(), "not steered: no such symbol");
    }

    #[test]
    fn equal_series_take_their_reads_in_order() {
        let one = record(2, 0, [34, 34, 34, 34]);
        let mut text = log(&[(34, 100), (34, 100)], &(one.clone() + "\n"));
        text += "C 200 3000 9000\nC 300 3034 9200\nC 200 3100 9300\nC 300 3134 9500\n";
        text += &(one + "\nend x\n");
        let joined = join(text.as_bytes()).unwrap();
        let min = |i: usize| object(&joined.lines[i], RECORD).unwrap()["min"].clone();
        assert_eq!((min(0), min(1)), (100.into(), 200.into()));
    }
}
