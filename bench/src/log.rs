//! Lines to records, tests and a closing line; what cannot be read is named by its line.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use measure::line::{CELL, DONE_FAILED, DONE_OK, RECORD, SAMPLES, TEST, TEST_OUTCOME, TEST_RESULT};
use measure::{ExcludedSample, Exclusion, RawSamplesOf, RecordOf, SCHEMA};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Map;

use crate::lines::Line;
use crate::row::{Origin, Row, differs, without_place};
use crate::upstream::Upstream;

type Record = RecordOf<String>;
type RawSamples = RawSamplesOf<String, Vec<u32>, Vec<ExcludedSample>>;

/// How an on-target test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    Failed(String),
    /// The race that the test is about never came up, so that nothing was tested.
    Missed(String),
    /// The line breaks off or goes on with something else: the test never ended.
    Broken,
}

/// One `test NAME ... outcome` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub name: String,
    pub outcome: Outcome,
}

/// The line that an image closes its output with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closing {
    Done { ok: bool, detail: String },
    Tests { ok: bool, passed: usize, failed: usize },
}

/// Something that could not be read, or is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// From 1; none where the log as a whole is meant.
    pub line: Option<usize>,
    pub what: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// Problems that are kept with their names: a foreign file of any length has no more.
const NAMED: usize = 200;
/// Characters of what a problem or a self-check says.
const SAID: usize = 300;
/// How a self-check that failed is told.
pub const FAILED_CHECK: &str = "self-check failed";

fn shortened(what: String) -> String {
    match what.char_indices().nth(SAID) {
        Some((at, _)) => format!("{} ...", &what[..at]),
        None => what,
    }
}

/// What could be read of a log.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The figures, of records and of upstream's demo.
    pub rows: Vec<Row>,
    /// `CELL` lines in their order, with whether the cell's end was seen.
    pub cells: Vec<(String, bool)>,
    /// Self-checks that the image says failed.
    pub failed_checks: Vec<String>,
    /// What the banner says of the image, as name and value.
    pub environment: Vec<(String, String)>,
    pub tests: Vec<Test>,
    pub closing: Option<Closing>,
    /// The first [`NAMED`] problems; the others are counted.
    pub problems: Vec<Problem>,
    /// Problems that have no name any more.
    pub unnamed: usize,
    /// Keys of records that this version does not know: of a later one.
    pub newer: BTreeSet<String>,
    /// Lines, and how many of them are no text or are too long to be kept.
    lines: usize,
    unreadable: usize,
    /// Lines of the records among `rows`.
    at: Vec<usize>,
    /// Lines of records, by their cell and text.
    seen: HashMap<(String, String), usize>,
    /// Whether a line was one of ours, or was on the way to be one when it broke off.
    ours: bool,
    upstream: Upstream,
}

impl Log {
    /// Whether nothing in it is, or was meant to be, a line that `txbench` reads.
    pub fn foreign(&self) -> bool {
        !self.ours && !self.upstream.seen
    }

    /// Whether its last line was there.
    pub fn closed(&self) -> bool {
        self.closing.is_some() || self.upstream.complete
    }

    /// Takes the next line.
    pub fn take(&mut self, line: &Line<'_>) {
        self.lines += 1;
        if let Err(what) = self.read(line) {
            self.problem(Some(line.number), what);
        }
    }

    fn problem(&mut self, line: Option<usize>, what: String) {
        if self.problems.len() < NAMED {
            self.problems.push(Problem { line, what: shortened(what) });
        } else {
            self.unnamed += 1;
        }
    }

    /// Names what only the end of the log shows.
    pub fn finish(&mut self) {
        self.rows.append(&mut self.upstream.rows);
        if self.closing.is_none()
            && let Some((ok, detail)) = self.upstream.verdict()
        {
            self.closing = Some(Closing::Done { ok, detail });
        }
        if self.foreign() && self.unreadable * 2 > self.lines {
            // Another kind of file: one problem, and not one for each line.
            let what = format!("no log of an image: {} of its {} lines are no text", self.unreadable, self.lines);
            (self.problems, self.unnamed) = (vec![Problem { line: None, what }], 0);
            return;
        }
        let what = match self.closing {
            None if self.rows.is_empty() && self.tests.is_empty() => "no RECORD, no test and no closing line: \
                 the image said nothing, or this is not one of its logs"
                .into(),
            None => "no closing line (DONE or test result): \
                     the image stopped early, or the log is cut"
                .into(),
            Some(Closing::Done { .. }) if self.rows.is_empty() => "closed by DONE, but without any RECORD line".into(),
            Some(Closing::Done { .. }) => return,
            Some(Closing::Tests { .. }) if self.tests.is_empty() => "ran no test".into(),
            Some(Closing::Tests { ok, passed, failed }) => {
                let seen = self.passed();
                let counted = (seen, self.tests.len() - seen);
                if (passed, failed) != counted {
                    format!(
                        "closing line says {passed} passed and {failed} failed, \
                         the tests' lines say {} and {}",
                        counted.0, counted.1
                    )
                } else if ok != (failed == 0) {
                    "closing line contradicts its own counts".into()
                } else {
                    return;
                }
            }
        };
        // The one about the log as a whole is never left out.
        self.problems.push(Problem { line: None, what });
    }

    /// Tests that passed.
    pub fn passed(&self) -> usize {
        let ok = |t: &&Test| t.outcome == Outcome::Ok;
        self.tests.iter().filter(ok).count()
    }

    fn read(&mut self, line: &Line<'_>) -> Result<(), String> {
        let text = line.text;
        self.ours |= is_ours(line);
        if line.shortened {
            self.unreadable += 1;
            return Err("line longer than 64 KiB, dropped".into());
        }
        if text.chars().any(|c| c == '\u{fffd}' || (c.is_control() && c != '\t' && c != '\u{1b}')) {
            self.unreadable += 1;
            return Err("not text: noise on the line, or a foreign log".into());
        }
        if let Some((before, json)) = after(text, RECORD) {
            let (record, left, newer) = json_of::<Record>(json, "record", line)?;
            check(&record)?;
            let cell = self.cells.last().map(|cell| cell.0.clone()).unwrap_or_default();
            let row = Row { cell, ..row(record) };
            row.plausible().map_err(|why| format!("malformed record: {why}"))?;
            // A test of the method measures one series again and again.
            if !row.of_self_test() {
                match self.seen.entry((row.cell.clone(), json[..json.len() - left.len()].to_owned())) {
                    Entry::Occupied(first) => {
                        return Err(format!(
                            "the record of line {} again, left out: two runs in one log?",
                            first.get()
                        ));
                    }
                    Entry::Vacant(first) => first.insert(line.number),
                };
            }
            self.newer.extend(newer);
            self.rows.push(row);
            self.at.push(line.number);
            return self.clean(before, left, "record");
        }
        if let Some((before, json)) = after(text, SAMPLES) {
            let (raw, left, newer) = json_of::<RawSamples>(json, "raw samples", line)?;
            let empty =
                empty(&[("kernel", &raw.kernel), ("board", &raw.board), ("stack", &raw.stack), ("unit", &raw.unit)]);
            if let Some(key) = empty {
                return Err(format!("malformed raw samples: {key} is empty"));
            }
            self.newer.extend(newer);
            self.attach(raw)?;
            return self.clean(before, left, "raw samples");
        }
        if let Some(name) = text.strip_prefix(CELL) {
            return self.cell(name);
        }
        if let Some(rest) = text.strip_prefix(TEST_RESULT) {
            return self.close(tests_closing(rest)?);
        }
        if text.starts_with("DONE ") {
            return self.close(done_closing(text)?);
        }
        if let Some((name, outcome)) = text.strip_prefix(TEST).and_then(|rest| rest.split_once(TEST_OUTCOME)) {
            return self.test(name, outcome);
        }
        if self.closing.is_some() && FAULTS.iter().any(|fault| text.starts_with(fault)) {
            return Err(format!("a fault after the closing line: {}", text.trim()));
        }
        if let Some(what) = text.strip_prefix("check FAILED: ") {
            let cell = self.cells.last().map(|cell| format!(" in cell {}", cell.0)).unwrap_or_default();
            if self.failed_checks.len() < NAMED {
                self.failed_checks.push(shortened(format!("{FAILED_CHECK}{cell}: {}", what.trim())));
            } else {
                self.unnamed += 1;
            }
        }
        self.upstream.take(text)?;
        if self.rows.is_empty() {
            self.banner(text);
        }
        // The last thing a crashed or killed image wrote; a marker may be among the missing part.
        if !line.ended && self.closing.is_none() {
            return Err("breaks off in the middle of the line".into());
        }
        Ok(())
    }

    /// A line that was read, but did not stand alone or came too late.
    fn clean(&self, before: &str, left: &str, what: &str) -> Result<(), String> {
        if !before.is_empty() {
            Err(format!("other text before the {what}, which was kept"))
        } else if !left.trim().is_empty() {
            Err(format!("other text after the {what}, which was kept"))
        } else if self.closing.is_some() {
            Err(format!("{what} after the closing line, kept: two runs in one log?"))
        } else {
            Ok(())
        }
    }

    fn close(&mut self, closing: Closing) -> Result<(), String> {
        if self.closing.is_some() {
            return Err("a second closing line, ignored: two runs in one log?".into());
        }
        self.closing = Some(closing);
        if let Some(cell) = self.cells.last_mut() {
            cell.1 = true;
        }
        Ok(())
    }

    fn cell(&mut self, name: &str) -> Result<(), String> {
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_.-".contains(&b)) {
            return Err("malformed CELL line: no name of a cell".into());
        }
        if let Some(cell) = self.cells.last_mut() {
            cell.1 = true;
        }
        let again = self.cells.iter().any(|cell| cell.0 == name);
        self.cells.push((name.into(), false));
        if again { Err(format!("cell {name} a second time: two runs in one log?")) } else { Ok(()) }
    }

    /// The lines before the first result that name what made it.
    fn banner(&mut self, text: &str) {
        const NAMES: [&str; 7] = ["kernel", "board", "built with", "configured", "counter", "cache", "code"];
        for name in NAMES {
            if let Some(value) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(' ')) {
                let pair = (name.to_owned(), value.trim().to_owned());
                if !value.trim().is_empty() && !self.environment.contains(&pair) {
                    self.environment.push(pair);
                }
                return;
            }
        }
    }

    /// Raw samples belong to the row before them that has the same setting, and must have its figures. A pair
    /// that contradicts itself is taken out: one of the two is wrong, and nobody knows which.
    fn attach(&mut self, raw: RawSamples) -> Result<(), String> {
        let of_series = |row: &Row| {
            row.samples.is_empty()
                && (row.bench.as_str(), row.cache.as_str()) == (raw.bench.name(), raw.cache.name())
                && (&row.kernel, &row.board, &row.memory, &row.unit) == (&raw.kernel, &raw.board, &raw.stack, &raw.unit)
                && (&row.variant, &row.code, &row.control, &row.detail, &row.tick)
                    == (&raw.variant, &raw.code, &raw.control, &raw.detail, &raw.tick)
                && (row.pollution_bytes, row.placement) == (raw.pollution_bytes.into(), raw.placement.map(u32::from))
        };
        let Some(at) = self.rows.iter().rposition(of_series) else {
            return Err("raw samples of no record before them, left out".into());
        };
        let row = &mut self.rows[at];
        row.samples = raw.samples.into_iter().map(u64::from).collect();
        row.excluded_at = raw.excluded.iter().map(|sample| sample.at as usize).collect();
        let of_reason = |why| raw.excluded.iter().filter(|sample| sample.why == why).count() as u64;
        let reasons = [
            ("excluded_tick", row.excluded_tick, of_reason(Exclusion::Tick)),
            ("excluded_interrupt", row.excluded_interrupt, of_reason(Exclusion::Interrupt)),
        ];
        let some = if row.samples.is_empty() { Err("there are none".into()) } else { Ok(()) };
        let agreed = some.and_then(|()| row.agrees()).and_then(|()| {
            let other = reasons.iter().find(|(_, says, is)| says.is_some_and(|says| says != *is));
            other.map_or(Ok(()), |(key, says, is)| Err(differs(key, *says, *is)))
        });
        agreed.map_err(|why| {
            self.rows.remove(at);
            format!("raw samples contradict the record in line {}, both left out: {why}", self.at.remove(at))
        })
    }

    fn test(&mut self, name: &str, outcome: &str) -> Result<(), String> {
        let reason = |rest: &str| rest.trim_start_matches(':').trim().to_owned();
        let outcome = if outcome == "ok" {
            Outcome::Ok
        } else if let Some(why) = outcome.strip_prefix("FAILED") {
            Outcome::Failed(reason(why))
        } else if let Some(why) = outcome.strip_prefix("window not hit") {
            Outcome::Missed(reason(why))
        } else {
            Outcome::Broken
        };
        let broken = outcome == Outcome::Broken;
        let again = self.tests.iter().any(|t| t.name == name);
        self.tests.push(Test { name: name.into(), outcome });
        if broken {
            Err(format!("test {name} has no outcome"))
        } else if again {
            Err(format!("test {name} reports a second time"))
        } else if self.closing.is_some() {
            Err(format!("test {name} reports after the closing line"))
        } else {
            Ok(())
        }
    }
}

/// How the board support's reports of an exception, a stack overflow and a panic begin.
const FAULTS: [&str; 3] = ["*** ", "stack overflow: thread ", "panicked at "];

/// Whether the line is one that this module reads, well-formed or not. A line that broke off is if
/// what is there of it fits the start of one.
fn is_ours(line: &Line<'_>) -> bool {
    let text = line.text;
    let cut = |marker: &str| !line.ended && !text.is_empty() && marker.starts_with(text);
    after(text, RECORD).is_some()
        || after(text, SAMPLES).is_some()
        || text.starts_with(TEST_RESULT)
        || text.starts_with(CELL)
        || text.starts_with(DONE_OK)
        || text.starts_with(DONE_FAILED)
        || (text.starts_with(TEST) && text.contains(TEST_OUTCOME))
        || [RECORD, SAMPLES, TEST_RESULT, DONE_OK, DONE_FAILED].into_iter().any(cut)
}

/// Where `marker` and a JSON object stand in `text`: what is before the marker and what follows it.
fn after<'t>(text: &'t str, marker: &str) -> Option<(&'t str, &'t str)> {
    text.match_indices(marker)
        .map(|(at, _)| (&text[..at], &text[at + marker.len()..]))
        .find(|(before, rest)| before.is_empty() || rest.starts_with('{'))
}

/// The object at the start of `text`, which ends its line, what follows it, and those of its keys that this version does not know.
fn json_of<'t, T: DeserializeOwned + Serialize>(
    text: &'t str,
    what: &str,
    Line { text: line, ended, .. }: &Line<'_>,
) -> Result<(T, &'t str, Vec<String>), String> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    let value = match stream.next() {
        Some(Ok(value)) => value,
        Some(Err(e)) if e.is_eof() => {
            let place = if *ended { "" } else { " by the end of the log" };
            return Err(format!("{what} cut off{place}"));
        }
        None => return Err(format!("{what} cut off")),
        Some(Err(e)) => {
            // Its own line 1 is the rest of the log's.
            let column = line.len() - text.len() + e.column();
            return Err(format!("malformed {what}: {} in column {column}", without_place(&e)));
        }
    };
    let left = &text[stream.byte_offset()..];
    match value.get("schema").and_then(serde_json::Value::as_u64) {
        Some(schema) if schema == u64::from(SCHEMA) => {}
        Some(schema) => {
            return Err(format!(
                "{what} of schema {schema}, this txbench reads {SCHEMA}: use the one of the image's version"
            ));
        }
        None => return Err(format!("malformed {what}: no schema number")),
    }
    let keys: Vec<String> = value.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    let read: T = serde_json::from_value(value).map_err(|e| format!("malformed {what}: {e}"))?;
    // What is read is written again with all the keys that there are.
    let known = serde_json::to_value(&read).unwrap_or_default();
    let newer = keys.into_iter().filter(|key| known.get(key).is_none()).collect();
    Ok((read, left, newer))
}

/// The first of the texts that says nothing.
fn empty<'k>(texts: &[(&'k str, &String)]) -> Option<&'k str> {
    texts.iter().find(|(_, text)| text.trim().is_empty()).map(|(key, _)| *key)
}

/// A record as a row.
fn row(record: Record) -> Row {
    Row {
        origin: Origin::of_unit(&record.unit),
        bench: record.bench.name().into(),
        board: record.board,
        kernel: record.kernel,
        language: record.language,
        checks: record.checks,
        memory: record.stack,
        cache: record.cache.name().into(),
        opt: record.opt,
        lto: record.lto,
        unit: record.unit,
        counter: record.counter,
        overhead: Some(record.overhead.into()),
        n: Some(record.n.into()),
        excluded: Some(record.excluded.into()),
        min: Some(record.min.into()),
        mean: Some(record.mean.into()),
        max: Some(record.max.into()),
        first: Some(record.first.into()),
        variant: record.variant,
        code: record.code,
        control: record.control,
        detail: record.detail,
        pollution_bytes: record.pollution_bytes.into(),
        placement: record.placement.map(u32::from),
        sd_hundredths: record.sd_hundredths,
        p50: record.p50.map(u64::from),
        p90: record.p90.map(u64::from),
        p99: record.p99.map(u64::from),
        max_at: record.max_at.map(u64::from),
        excluded_tick: record.excluded_tick.map(u64::from),
        excluded_interrupt: record.excluded_interrupt.map(u64::from),
        text_bytes: record.text_bytes.map(u64::from),
        tick: record.tick,
        options: record.options,
        assertions: record.assertions,
        ..Row::default()
    }
}

fn check(record: &Record) -> Result<(), String> {
    let empty = empty(&[
        ("kernel", &record.kernel),
        ("board", &record.board),
        ("stack", &record.stack),
        ("unit", &record.unit),
        ("opt", &record.opt),
        ("lto", &record.lto),
        ("counter", &record.counter),
    ]);
    if let Some(key) = empty {
        return Err(format!("malformed record: {key} is empty"));
    }
    Ok(())
}

fn done_closing(text: &str) -> Result<Closing, String> {
    for (marker, ok) in [(DONE_OK, true), (DONE_FAILED, false)] {
        let Some(rest) = text.strip_prefix(marker) else {
            continue;
        };
        if rest.is_empty() || rest.starts_with(':') {
            let detail = rest.trim_start_matches(':').trim().to_owned();
            return Ok(Closing::Done { ok, detail });
        }
    }
    Err("malformed closing line: neither `DONE ok` nor `DONE FAILED`".into())
}

/// The rest of a `test result: ` line: `ok. N passed; M failed`, as cargo's; more may follow.
fn tests_closing(rest: &str) -> Result<Closing, String> {
    let read = || {
        let (ok, counts) = match rest.split_once(". ")? {
            ("ok", counts) => (true, counts),
            ("FAILED", counts) => (false, counts),
            _ => return None,
        };
        let mut counts = counts.split(';').map(str::trim);
        let passed = counts.next()?.strip_suffix(" passed")?.parse().ok()?;
        let failed = counts.next()?.strip_suffix(" failed")?.parse().ok()?;
        Some(Closing::Tests { ok, passed, failed })
    };
    read().ok_or_else(|| "malformed closing line: not `test result: ok. N passed; M failed`".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::log_in;

    const GOOD: &str = concat!(
        r#"RECORD {"schema":1,"bench":"context_switch","kernel":"bundled","board":"mps3-an536","#,
        r#""stack":"BTCM","cache":"cold","unit":"instructions","n":256,"excluded":0,"min":40,"#,
        r#""mean":40,"max":40,"first":40,"opt":"3","lto":"fat","counter":"CNTPCT","overhead":3}"#
    );

    fn read(text: &str) -> Log {
        log_in(text.as_bytes())
    }

    fn problems(log: &Log) -> Vec<(Option<usize>, &str)> {
        let pair = |p| {
            let Problem { line, what }: &Problem = p;
            (*line, what.as_str())
        };
        log.problems.iter().map(pair).collect()
    }

    #[test]
    fn a_whole_log_has_no_problems() {
        let log = read(&format!("banner\r\n\x1b[1mbold\x1b[0m\r\n{GOOD}\r\nDONE ok: 5 checks\r\n"));
        assert_eq!(problems(&log), []);
        assert_eq!(log.rows.len(), 1);
        let done = Closing::Done { ok: true, detail: "5 checks".into() };
        assert_eq!(log.closing, Some(done));
    }

    #[test]
    fn a_record_cut_at_any_byte_is_named_and_the_others_kept() {
        for cut in "RECORD {".len()..GOOD.len() {
            let log = read(&format!("{GOOD}\n{}", &GOOD[..cut]));
            assert_eq!(log.rows.len(), 1, "cut at {cut}");
            let got = problems(&log);
            assert_eq!(got[0], (Some(2), "record cut off by the end of the log"));
            assert!(got[1].1.starts_with("no closing line"));
        }
        for cut in 1..="RECORD ".len() {
            let got = read(&format!("{GOOD}\n{}", &GOOD[..cut]));
            assert_eq!(problems(&got)[0].0, Some(2), "cut at {cut}");
        }
    }

    #[test]
    fn a_record_cut_by_another_line_is_named() {
        let log = read(&format!("{}\n{GOOD}\nDONE ok\n", &GOOD[..60]));
        assert_eq!(problems(&log), [(Some(1), "record cut off")]);
        assert_eq!(log.rows.len(), 1);
    }

    #[test]
    fn interleaved_text_is_named_and_the_record_kept() {
        let log = read(&format!("[12:00:01] {GOOD}\n{} tick\nDONE ok\n", GOOD.replace("BTCM", "DRAM0")));
        assert_eq!(
            problems(&log),
            [
                (Some(1), "other text before the record, which was kept"),
                (Some(2), "other text after the record, which was kept"),
            ]
        );
        assert_eq!(log.rows.len(), 2);
    }

    #[test]
    fn prose_about_records_is_prose() {
        let log = read(&format!("each RECORD line below is JSON\n{GOOD}\nDONE ok\n"));
        assert_eq!(problems(&log), []);
    }

    #[test]
    fn malformed_records_say_what_is_wrong() {
        for (from, to, says) in [
            ("\"schema\":1", "\"schema\":2", "schema 2"),
            ("\"schema\":1,", "", "no schema"),
            ("context_switch", "context_swatch", "unknown variant `context_swatch`"),
            ("\"n\":256,", "", "missing field `n`"),
            ("\"n\":256", "\"n\":0", "no samples"),
            ("\"min\":40", "\"min\":-1", "-1"),
            ("\"min\":40", "\"min\":41", "out of order"),
            ("\"mean\":40", "\"mean\":41", "min 40, mean 41, max 40 are out of order"),
            ("\"overhead\"", "\"sd_hundredths\":1,\"overhead\"", "sd 0.01 of 256 samples from min 40 to max 40"),
            ("\"overhead\"", "\"placement\":17,\"overhead\"", "placement is no offset"),
            ("\"overhead\"", "\"p50\":41,\"p90\":40,\"overhead\"", "p50 41 and p90 40 are out of order"),
            ("\"excluded\":0", "\"excluded\":4294967295", "more samples than can be taken"),
            ("\"max\":40", "\"max\":4294967296", "4294967296"),
            ("\"n\":", "\"n\";", "malformed record"),
        ] {
            let log = read(&format!("{}\n{GOOD}\nDONE ok\n", GOOD.replace(from, to)));
            assert_eq!(log.rows.len(), 1, "{says}");
            let got = problems(&log);
            assert_eq!(got.len(), 1, "{got:?}");
            assert!(got[0].0 == Some(1) && got[0].1.contains(says), "{got:?}");
        }
    }

    #[test]
    fn a_record_given_twice_is_used_once() {
        let other = GOOD.replace("BTCM", "DRAM0");
        let log = read(&format!("{GOOD}\n{other}\n{GOOD}\n{GOOD}\nDONE ok\n"));
        assert_eq!(log.rows.len(), 2);
        let says = "the record of line 1 again, left out: two runs in one log?";
        assert_eq!(problems(&log), [(Some(3), says), (Some(4), says)]);
        // Another cell, or a test of the method, may come out the same.
        let log = read(&format!("CELL a\n{GOOD}\nCELL b\n{GOOD}\nCELL selftest/x\n{GOOD}\n{GOOD}\nDONE ok\n"));
        assert_eq!((log.rows.len(), problems(&log).len()), (4, 0));
    }

    #[test]
    fn a_line_is_one_of_the_log_and_nothing_else() {
        let bad = GOOD.replace("\"n\":", "\"n\";");
        let log = read(&format!("\n\n{bad}\n[1] {bad}\nDONE ok\n{GOOD}"));
        let column = bad.find("\"n\";").unwrap() + 4;
        let says = |column| format!("malformed record: expected `:` in column {column}");
        assert_eq!(problems(&log)[..2], [(Some(3), says(column).as_str()), (Some(4), says(column + 4).as_str())]);
    }

    #[test]
    fn a_key_of_a_later_version_is_no_problem() {
        let log = read(&format!("{}\nDONE ok\n", GOOD.replace("\"n\"", "\"placement\":16,\"voltage\":1,\"n\"")));
        assert_eq!(problems(&log), []);
        assert_eq!(log.newer, ["voltage".to_owned()].into());
    }

    #[test]
    fn foreign_logs_are_refused() {
        assert!(problems(&read(""))[0].1.starts_with("no RECORD"));
        assert!(problems(&read("root:x:0:0\n"))[0].1.starts_with("no RECORD"));
        let log = read(&format!("{GOOD}\n\u{1}\u{fffd}\nDONE ok\n"));
        assert_eq!(problems(&log)[0].0, Some(2));
        assert_eq!(log.rows.len(), 1);
    }

    #[test]
    fn two_runs_in_one_log_are_noticed() {
        let run = format!("{GOOD}\nDONE ok\n");
        let log = read(&format!("{run}{run}"));
        assert_eq!(log.rows.len(), 1);
        assert_eq!(problems(&log).iter().map(|p| p.0).collect::<Vec<_>>(), [Some(3), Some(4)]);
        let log = read(&format!("{run}{}", run.replace("\"n\":256", "\"n\":255")));
        assert_eq!((log.rows.len(), problems(&log).len()), (2, 2));
    }

    #[test]
    fn a_fault_after_the_closing_line_is_named() {
        for (report, named) in [
            ("*** data abort (vector 0x00000010) ***\nDFSR 0x5", true),
            ("stack overflow: thread worker", true),
            ("panicked at src/main.rs:1:2:\nno", true),
            ("switching off", false),
        ] {
            let log = read(&format!("{GOOD}\nDONE ok\n\n{report}\n"));
            let lines: Vec<_> = log.problems.iter().map(|p| p.line).collect();
            assert_eq!(lines, if named { vec![Some(4)] } else { vec![] }, "{report}");
        }
        // Tests may provoke a fault and go on.
        assert_eq!(problems(&read(&format!("*** data abort ***\n{GOOD}\nDONE ok\n"))), []);
    }

    #[test]
    fn only_logs_without_any_of_the_lines_are_foreign() {
        for text in ["", "hello\n", "hello", "\u{1}\n", "each RECORD line\n", "test passed\n", "DONE deal\n", "RECORDS"]
        {
            assert!(read(text).foreign(), "{text}");
        }
        for text in [
            GOOD,
            &GOOD[..30],
            "hello\nREC",
            "DONE ok\n",
            "DONE FAILED",
            "test a ... ok\n",
            "test result: \n",
            "SAMPLES {",
        ] {
            assert!(!read(text).foreign(), "{text}");
        }
    }

    #[test]
    fn closing_lines() {
        let failed = read(&format!("{GOOD}\nDONE FAILED: sleeper not resumed\n"));
        let done = Closing::Done { ok: false, detail: "sleeper not resumed".into() };
        assert_eq!(failed.closing, Some(done));
        for bad in ["DONE okay", "DONE", "DONE failed"] {
            let log = read(&format!("{GOOD}\n{bad}\n"));
            assert_eq!(log.closing, None, "{bad}");
            assert!(!log.problems.is_empty());
        }
        assert!(problems(&read("DONE ok\n"))[0].1.contains("without any RECORD"));
    }

    #[test]
    fn raw_samples_are_checked() {
        let good = GOOD.replace("\"n\":256,\"excluded\":0", "\"n\":2,\"excluded\":1").replace(
            "\"overhead\":3",
            "\"overhead\":3,\"excluded_tick\":1,\"excluded_interrupt\":0,\"p50\":40,\"max_at\":0",
        );
        let line = r#"SAMPLES {"schema":1,"bench":"context_switch","kernel":"bundled","board":"mps3-an536","stack":"BTCM","cache":"cold","unit":"instructions","samples":[40,99,40],"excluded":[{"at":1,"why":"tick"}]}"#;
        let log = read(&format!("{good}\n{line}\nDONE ok\n"));
        assert_eq!(problems(&log), []);
        assert_eq!(log.rows[0].kept(), [40, 40]);
        let log = read(&format!("{good}\n{}\nDONE ok\n", &line[..150]));
        assert_eq!(problems(&log), [(Some(2), "raw samples cut off")]);
        // Neither of two that contradict each other is used, and the others are.
        for (from, to, says) in [
            (":1,\"why", ":3,\"why", "number 3 of 3 is marked"),
            ("{\"at\":1,\"why\":\"tick\"}", "", "n is 2, the samples give 3"),
            ("\"why\":\"tick\"", "\"why\":\"interrupt\"", "excluded_tick is 1, the samples give 0"),
            ("[40,99,40]", "[41,99,41]", "min is 40, the samples give 41"),
            ("[40,99,40]", "[40,99,42]", "mean is 40, the samples give 41"),
            ("[40,99,40]", "[]", "there are none"),
            ("{\"at\":1,", "{\"at\":1,\"why\":\"tick\"},{\"at\":1,", "not in order"),
        ] {
            assert!(line.contains(from), "{from}");
            let other = GOOD.replace("BTCM", "DRAM0");
            let log = read(&format!("{other}\n{good}\n{}\nDONE ok\n", line.replacen(from, to, 1)));
            let [(Some(3), what)] = problems(&log)[..] else { panic!("{says}: {:?}", log.problems) };
            assert!(
                what.starts_with("raw samples contradict the record in line 2, both left out") && what.contains(says),
                "{what}"
            );
            assert_eq!(log.rows.iter().map(|row| row.memory.as_str()).collect::<Vec<_>>(), ["DRAM0"]);
        }
        let stray = line.replace("BTCM", "CTCM");
        let log = read(&format!("{good}\n{line}\n{line}\n{stray}\nDONE ok\n"));
        let says = "raw samples of no record before them, left out";
        assert_eq!(problems(&log), [(Some(3), says), (Some(4), says)]);
    }

    #[test]
    fn a_key_that_must_say_something_does() {
        for key in ["kernel", "board", "stack", "unit", "opt", "lto", "counter"] {
            let (before, rest) = GOOD.split_once(&format!("\"{key}\":\"")).unwrap();
            let empty = format!("{before}\"{key}\":\" {}", &rest[rest.find('"').unwrap()..]);
            let log = read(&format!("{GOOD}\n{empty}\nDONE ok\n"));
            assert_eq!(problems(&log), [(Some(2), format!("malformed record: {key} is empty").as_str())]);
            assert_eq!(log.rows.len(), 1);
        }
        let line = r#"SAMPLES {"schema":1,"bench":"context_switch","kernel":"bundled","board":"mps3-an536","stack":"BTCM","cache":"cold","unit":"","samples":[40],"excluded":[]}"#;
        assert_eq!(
            problems(&read(&format!("{GOOD}\n{line}\nDONE ok\n"))),
            [(Some(2), "malformed raw samples: unit is empty")]
        );
    }

    #[test]
    fn a_long_foreign_log_has_few_names() {
        let log = read(&format!("{GOOD}\n{}DONE ok\n", format!("\u{1}{}\n", "x".repeat(1000)).repeat(5000)));
        assert_eq!((log.problems.len(), log.unnamed), (NAMED, 5000 - NAMED));
        let log = read(&format!("test {} ... \n", "x".repeat(5000)));
        assert!(log.problems.iter().all(|problem| problem.what.len() < SAID + 10));
        let log = read(&format!("{GOOD}\n{}DONE ok\n", "check FAILED: x\n".repeat(5000)));
        assert_eq!(log.failed_checks.len(), NAMED);
    }

    #[test]
    fn test_lines() {
        let log = read(concat!(
            "test a::b ... ok\n",
            "test c ... FAILED: left 1, right 2\n",
            "test d ... window not hit: 0 of 1000\n",
            "test e ... data abort at 0x0\n",
            "test a::b ... ok\n",
            "test result: FAILED. 1 passed; 2 failed\n",
        ));
        let outcomes: Vec<_> = log.tests.iter().map(|t| t.outcome.clone()).collect();
        assert_eq!(
            outcomes,
            [
                Outcome::Ok,
                Outcome::Failed("left 1, right 2".into()),
                Outcome::Missed("0 of 1000".into()),
                Outcome::Broken,
                Outcome::Ok,
            ]
        );
        assert_eq!(
            problems(&log),
            [
                (Some(4), "test e has no outcome"),
                (Some(5), "test a::b reports a second time"),
                (None, "closing line says 1 passed and 2 failed, the tests' lines say 2 and 3"),
            ]
        );
        let closing = Closing::Tests { ok: false, passed: 1, failed: 2 };
        assert_eq!(log.closing, Some(closing));
    }

    #[test]
    fn malformed_test_results() {
        for bad in ["ok", "ok. x passed; 0 failed", "ok. 1 passed", "fine. 1 passed; 0 failed"] {
            let log = read(&format!("test a ... ok\ntest result: {bad}\n"));
            assert_eq!(log.closing, None, "{bad}");
            assert_eq!(problems(&log)[0].0, Some(2));
        }
        let log = read("test a ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored\n");
        assert_eq!(problems(&log), []);
    }

    #[test]
    fn upstreams_log_is_read_and_closes_itself() {
        let text = "=== ThreadX Cortex-R52 :: S32Z280-594EVB ===\ncontext switch round trip, cycles\n\
                      \x20 stacks in BTCM : min 1370  mean 1379  max 1402  preempted 6 of 256\n\
                      \x20 stacks in DRAM0: min 1476  mean 14\n\
                    PASS threads, tick and preemption all verified\n=== demo complete ===\n";
        let log = read(text);
        assert_eq!(log.rows.len(), 1);
        assert!(matches!(log.closing, Some(Closing::Done { ok: true, .. })));
        let [(Some(4), what)] = problems(&log)[..] else { panic!("{:?}", log.problems) };
        assert!(what.starts_with("malformed figures"));
        assert!(!log.foreign());
    }

    #[test]
    fn cells_end_where_the_next_line_of_their_kind_comes() {
        let log = read(&format!("CELL a/b\n{GOOD}\nCELL a/c.1\n{GOOD}\n"));
        assert_eq!(log.cells, [("a/b".to_owned(), true), ("a/c.1".to_owned(), false)]);
        assert_eq!(log.rows.iter().map(|r| r.cell.as_str()).collect::<Vec<_>>(), ["a/b", "a/c.1"]);
        let log = read(&format!("CELL a\n{GOOD}\nDONE ok\n"));
        assert_eq!((log.cells, log.problems.len()), (vec![("a".to_owned(), true)], 0));
        let log = read(&format!("CELL a b\nCELL a\nCELL a\n{GOOD}\nDONE ok\n"));
        assert_eq!(problems(&log).iter().map(|p| p.0).collect::<Vec<_>>(), [Some(1), Some(3)]);
    }

    #[test]
    fn raw_samples_go_to_their_series() {
        let line = r#"SAMPLES {"schema":1,"bench":"context_switch","kernel":"bundled","board":"mps3-an536","stack":"BTCM","cache":"cold","unit":"instructions","samples":[40,99],"excluded":[{"at":1,"why":"tick"}]}"#;
        let good = GOOD.replace("\"n\":256,\"excluded\":0", "\"n\":1,\"excluded\":1");
        let log = read(&format!("{good}\n{}\n{line}\nDONE ok\n", GOOD.replace("BTCM", "DRAM0")));
        assert_eq!((log.rows[0].kept(), log.rows[1].kept()), (vec![40], vec![]));
    }

    #[test]
    fn the_banner_is_kept_up_to_the_first_result() {
        let log = read(&format!("kernel     bundled 0.1.0\nkernels are\n{GOOD}\nboard      late\nDONE ok\n"));
        assert_eq!(log.environment, [("kernel".to_owned(), "bundled 0.1.0".to_owned())]);
    }

    mod whatever_the_bytes {
        use proptest::prelude::*;

        use super::*;

        fn piece() -> impl Strategy<Value = String> {
            prop_oneof![
                Just(GOOD.to_owned()),
                (0..GOOD.len()).prop_map(|at| GOOD[..at].to_owned()),
                (0..GOOD.len()).prop_map(|at| GOOD[at..].to_owned()),
                "[ -~]{0,40}",
                Just("\n".to_owned()),
                Just("CELL a/b\n".to_owned()),
                Just("DONE ok\n".to_owned()),
                Just("SAMPLES {\"schema\":1}\n".to_owned()),
                Just("=== ThreadX Cortex-R52 :: S32Z280-594EVB ===\n".to_owned()),
                Just("context switch round trip, cycles\n".to_owned()),
                Just("  stacks in BTCM : min 1  mean 2  max 3  preempted 0 of 4\n".to_owned()),
                Just("  stacks in : min 1 ".to_owned()),
                Just("=== demo complete ===\n".to_owned()),
                Just("test a ... ".to_owned()),
            ]
        }

        proptest! {
            #[test]
            fn it_is_read_or_named(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
                let log = log_in(&bytes);
                prop_assert!(log.closing.is_some() || !log.problems.is_empty());
            }

            #[test]
            fn pieces_of_logs_in_any_order(pieces in proptest::collection::vec(piece(), 0..24)) {
                let text = pieces.concat();
                let log = log_in(text.as_bytes());
                let lines = text.lines().count();
                prop_assert!(log.problems.iter().all(|p| p.line.is_none_or(|line| (1..=lines).contains(&line))));
                for row in &log.rows {
                    prop_assert!(row.n > Some(0) && row.min <= row.mean && row.mean <= row.max);
                }
            }

            #[test]
            fn whole_lines_between_noise_are_kept(noise in proptest::collection::vec("[ -z|}~]{0,60}", 1..8)) {
                let record = |at: usize| GOOD.replace("\"n\":256", &format!("\"n\":{}", 256 + at));
                let text: String =
                    noise.iter().enumerate().map(|(at, noise)| format!("{noise}\n{}\n", record(at))).collect();
                prop_assert_eq!(log_in(text.as_bytes()).rows.len(), noise.len());
            }
        }
    }
}
