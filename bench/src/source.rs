//! Where figures come from: a captured log, a JSON file of `txbench`, or the built-in published ones.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::files;
use crate::lines::Lines;
use crate::log::{Closing, FAILED_CHECK, Log};
use crate::published;
use crate::row::{LARGEST, Row, Run};
use crate::screen::complain;

/// Space before the first character that is looked at.
const SPACES: usize = 1 << 12;

/// Reads a whole log.
///
/// # Errors
/// One line if the file cannot be read, or is JSON. What is wrong inside the log is in [`Log::problems`].
pub fn log(path: &Path) -> Result<Log, String> {
    let name = path.display();
    match open(path)?.0 {
        Figures::Log(log) => Ok(*log),
        Figures::Json(_) => {
            Err(format!("{name} is a JSON result of txbench and no log: txbench table, compare and report read it"))
        }
    }
}

/// What could be read of a log's bytes.
pub fn log_in(bytes: &[u8]) -> Log {
    // Bytes in memory can be read to their end.
    log_of(bytes, &mut io::empty()).unwrap_or_default()
}

/// The log that begins with `head` and goes on in `rest`.
fn log_of(head: &[u8], rest: &mut impl Read) -> io::Result<Log> {
    let mut lines = Lines::new();
    let mut log = Log::default();
    lines.feed(head, |line| log.take(&line));
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n = rest.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        lines.feed(&buffer[..n], |line| log.take(&line));
    }
    lines.finish(|line| log.take(&line));
    log.finish();
    Ok(log)
}

/// A file as it is read, with length and checksum of what was.
struct Counted {
    file: File,
    bytes: u64,
    crc: crc32fast::Hasher,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.bytes += n as u64;
        self.crc.update(&buffer[..n]);
        Ok(n)
    }
}

/// Length and checksum of a source; none for the built-in ones.
type Contents = Option<(u64, u32)>;

/// Figures by name: `published:ID`, a JSON file of `txbench` or a captured log, told apart by the first
/// character that is no space. Each problem says whose it is.
///
/// # Errors
/// One line: the file cannot be read, is another program's, or has no figures.
pub fn load(name: &str) -> Result<Run, String> {
    read(name).map(|(run, _)| run)
}

fn read(name: &str) -> Result<(Run, Contents), String> {
    if name.starts_with(published::PREFIX) {
        return Ok((Run::new(published::of(name)?), None));
    }
    let (figures, contents) = open(Path::new(name))?;
    let mut run = match figures {
        Figures::Json(run) => *run,
        Figures::Log(log) => of_log(*log, name),
    };
    let lacking = run.mend();
    run.problems.extend(lacking);
    match (run.rows.is_empty(), run.problems.first()) {
        (false, _) => {}
        (true, Some(problem)) => return Err(format!("{name} has no figures: {problem}")),
        (true, None) => return Err(format!("{name} has no figures")),
    }
    run.problems.iter_mut().for_each(|problem| *problem = format!("{name}: {problem}"));
    Ok((run, contents))
}

/// What a file of figures is.
enum Figures {
    Json(Box<Run>),
    Log(Box<Log>),
}

/// Reads a JSON file of `txbench` or a log. What only begins as JSON, and has lines of an image, is a log with noise.
fn open(path: &Path) -> Result<(Figures, Contents), String> {
    let name = path.display();
    let cannot = |e| format!("cannot read {name}: {e}");
    let file = File::open(path).map_err(|e| format!("cannot open {name}: {e}"))?;
    let mut file = Counted { file, bytes: 0, crc: crc32fast::Hasher::new() };
    let mut head = Vec::new();
    // After an editor's mark, if there is one.
    const MARK: &[u8] = "\u{feff}".as_bytes();
    let begins = |head: &[u8]| {
        let text = if MARK.starts_with(head) { b"" } else { head.strip_prefix(MARK).unwrap_or(head) };
        text.iter().copied().find(|byte| !byte.is_ascii_whitespace())
    };
    while begins(&head).is_none() && head.len() < SPACES {
        let mut byte = [0];
        if file.read(&mut byte).map_err(cannot)? == 0 {
            break;
        }
        head.extend(byte);
    }
    let figures = if begins(&head) == Some(b'{') {
        (&mut file).take(LARGEST).read_to_end(&mut head).map_err(cannot)?;
        let text = str::from_utf8(&head).map_err(|_| String::from("begins as JSON, but is no text"));
        match text.and_then(|text| Run::from_json(text.trim_start_matches('\u{feff}'))) {
            Ok(run) => Figures::Json(Box::new(run)),
            Err(why) => match log_in(&head) {
                log if log.foreign() => return Err(format!("{name}: {why}")),
                log => Figures::Log(Box::new(log)),
            },
        }
    } else {
        Figures::Log(Box::new(log_of(&head, &mut file).map_err(cannot)?))
    };
    Ok((figures, Some((file.bytes, file.crc.finalize()))))
}

/// Figures of several names, each run once: a run that counts twice would look like one that was repeated,
/// with no noise at all. What was left out is told on standard error.
///
/// # Errors
/// As [`load`].
pub fn load_all(names: &[String]) -> Result<Vec<(String, Run)>, String> {
    let (names, twice) = files::distinct(names);
    twice.iter().for_each(|what| complain(what));
    let mut all: Vec<(String, Run, Contents)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let text = |row: &Row| serde_json::to_string(row).unwrap_or_default();
    for name in names {
        let (mut run, contents) = read(name)?;
        run.tell_newer(name);
        if let Some((other, ..)) = all.iter().find(|(.., known)| contents.is_some() && *known == contents) {
            complain(&format!("{name} has the same contents as {other}: counted once"));
            continue;
        }
        let before = run.rows.len();
        let mut others = BTreeSet::new();
        run.rows.retain(|row| {
            let other = known.get(&text(row));
            others.extend(other);
            other.is_none()
        });
        if run.rows.len() < before {
            let others: Vec<&str> = others.iter().map(|&other: &usize| all[other].0.as_str()).collect();
            let n = before - run.rows.len();
            complain(&format!("{n} of {before} rows of {name} are those of {}: counted once", others.join(", ")));
        }
        known.extend(run.rows.iter().map(|row| (text(row), all.len())));
        all.push((name.to_owned(), run, contents));
    }
    Ok(all.into_iter().map(|(name, run, _)| (name, run)).collect())
}

/// What a log has, under its `name`.
pub fn of_log(log: Log, name: &str) -> Run {
    let mut run = Run::new(log.rows);
    for row in &mut run.rows {
        row.source = name.to_owned();
    }
    run.environment = log.environment;
    run.problems = log.failed_checks;
    if let (Some(Closing::Done { ok: false, detail }), true) = (&log.closing, run.problems.is_empty()) {
        run.problems.push(format!("{FAILED_CHECK}: {detail}"));
    }
    run.problems.extend(log.problems.iter().map(ToString::to_string));
    if log.unnamed > 0 {
        run.problems.push(format!("and {} more problems", log.unnamed));
    }
    run.newer = log.newer;
    run
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_run_counts_once_whatever_it_is_called() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        let run = |source: &str| {
            let row =
                Row { source: source.into(), bench: "b".into(), unit: "u".into(), min: Some(1), ..Row::default() };
            Run::new(vec![row.clone(), row])
        };
        fs::write(at("a"), run("x").json()).unwrap();
        fs::write(at("copy"), run("x").json()).unwrap();
        fs::write(at("more"), Run { problems: vec!["p".into()], ..run("x") }.json()).unwrap();
        fs::write(at("other"), run("y").json()).unwrap();
        let count = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| at(name)).collect();
            load_all(&names).unwrap().iter().map(|(_, run)| run.rows.len()).collect::<Vec<_>>()
        };
        assert_eq!(count(&["a", "./a", "copy"]), [2], "two rows of one file are its own matter");
        assert_eq!(count(&["a", "more", "other"]), [2, 0, 2]);
    }

    #[test]
    fn kinds_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let run = Run::new(vec![Row { bench: "b".into(), ..Row::default() }]);
        for before in ["", "\n", " \r\n\t", "\u{feff}", "\u{feff}\n"] {
            let text = format!("{before}{}", run.json());
            assert_eq!(load(&write("run.json", &text)), Ok(run.clone()), "{before:?}");
        }
        let log = "context switch round trip, cycles\n  stacks in BTCM : min 1  mean 2  max 3  preempted 0 of 4\n";
        let read = load(&write("log", log)).unwrap();
        assert_eq!((read.rows.len(), read.problems.len()), (1, 1));
        assert_eq!(load("published:635").unwrap().rows.len(), 4);
        for (name, text, says) in [
            ("empty", "", "has no figures: no RECORD"),
            ("other", "root:x:0:0\n", "has no figures"),
            ("json", "{\"a\":1}", "no schema number"),
            ("cut", "{\"schema\":1", "not JSON"),
            ("none", "{\"schema\":1,\"txbench\":\"0\",\"rows\":[]}", "has no figures"),
        ] {
            let error = load(&write(name, text)).unwrap_err();
            assert!(error.contains(says), "{name}: {error}");
        }
        assert!(load("/nonexistent").unwrap_err().starts_with("cannot open"));
    }
}
