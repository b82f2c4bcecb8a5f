//! Where figures come from: a captured log, a JSON file of `txbench`, or the built-in published ones.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::lines::Lines;
use crate::log::Log;
use crate::published;
use crate::row::Run;

/// A JSON file larger than this was not written by `txbench`.
const LARGEST: u64 = 256 << 20;

/// Reads a whole log.
///
/// # Errors
/// One line if the file cannot be read. What is wrong inside the log is in [`Log::problems`].
pub fn log(path: &Path) -> Result<Log, String> {
    let mut file = File::open(path).map_err(|e| format!("cannot open {}: {e}", path.display()))?;
    let mut lines = Lines::new();
    let mut log = Log::default();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n = file.read(&mut buffer).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        if n == 0 {
            break;
        }
        lines.feed(&buffer[..n], |line| log.take(&line));
    }
    lines.finish(|line| log.take(&line));
    log.finish();
    Ok(log)
}

/// Figures by name: `published:ID`, a JSON file of `txbench` or a captured log, told apart by its
/// first character.
///
/// # Errors
/// One line: the file cannot be read, is another program's, or has no figures.
pub fn load(name: &str) -> Result<Run, String> {
    if name.starts_with(published::PREFIX) {
        return Ok(Run::new(published::of(name)?));
    }
    let path = Path::new(name);
    let cannot = |e| format!("cannot read {name}: {e}");
    let mut file = File::open(path).map_err(|e| format!("cannot open {name}: {e}"))?;
    let mut first = [0];
    let json = file.read(&mut first).map_err(cannot)? == 1 && first == *b"{";
    let run = if json {
        let mut text = String::from("{");
        file.take(LARGEST).read_to_string(&mut text).map_err(cannot)?;
        Run::from_json(&text).map_err(|e| format!("{name}: {e}"))?
    } else {
        of_log(log(path)?, name)
    };
    match (run.rows.is_empty(), run.problems.first()) {
        (false, _) => Ok(run),
        (true, Some(problem)) => Err(format!("{name} has no figures: {problem}")),
        (true, None) => Err(format!("{name} has no figures")),
    }
}

/// What a log has, under its `name`.
pub fn of_log(log: Log, name: &str) -> Run {
    let mut run = Run::new(log.rows);
    for row in &mut run.rows {
        row.source = name.to_owned();
    }
    run.environment = log.environment;
    run.problems = log.failed_checks;
    run.problems.extend(log.problems.iter().map(ToString::to_string));
    run
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::row::Row;

    #[test]
    fn kinds_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let run = Run::new(vec![Row { bench: "b".into(), ..Row::default() }]);
        assert_eq!(load(&write("run.json", &run.json())), Ok(run));
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
