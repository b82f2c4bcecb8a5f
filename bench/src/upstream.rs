//! The log of upstream's own demo for the S32Z280 board, as far as it has figures.
//!
//! Headings name the measurement, lines below them one memory each:
//! `  stacks in BTCM : min 1370  mean 1379  max 1402  preempted 0 of 256`. It has no unit but the word
//! "cycles", whatever its board counts, and no verdict but lines that begin with `PASS` or `FAIL`.

use crate::row::{Origin, Row};

/// What the demo says last; after it, it only sleeps.
pub const LAST: &str = "=== demo complete ===";
const BANNER: &str = "=== ThreadX Cortex-R52 :: S32Z280";

/// What was read so far.
#[derive(Clone, Debug, Default)]
pub struct Upstream {
    /// Whether its banner, a heading or its last line was there.
    pub seen: bool,
    /// Whether its last line was there.
    pub complete: bool,
    pub rows: Vec<Row>,
    passed: bool,
    failed: Vec<String>,
    section: Option<&'static str>,
    kernel: String,
    board: String,
}

impl Upstream {
    /// Takes the next line.
    ///
    /// # Errors
    /// What is wrong with one of its lines.
    pub fn take(&mut self, text: &str) -> Result<(), String> {
        // The board's own image does not say these two; this repository's build of the demo does.
        if let Some(kernel) = text.strip_prefix("kernel     ") {
            self.kernel = kernel.trim().into();
        } else if let Some(board) = text.strip_prefix("board      ") {
            self.board = board.split(',').next().unwrap_or("").trim().into();
        } else if text.starts_with(BANNER) {
            self.seen = true;
        } else if text.starts_with("stack-heavy work, cycles") {
            self.heading("deep_stack");
        } else if text.starts_with("context switch round trip, cycles") {
            self.heading("context_switch");
        } else if text == LAST && (self.seen || !self.rows.is_empty()) {
            self.complete = true;
            self.section = None;
        } else if self.seen && text.starts_with("PASS ") {
            self.passed = true;
        } else if let (true, Some(why)) = (self.seen, text.strip_prefix("FAIL ")) {
            self.failed.push(why.into());
        } else if let (Some(bench), true) = (self.section, is_figures(text)) {
            let row = self.figures(bench, text)?;
            if self.rows.iter().any(|r| r.bench == row.bench && r.memory == row.memory) {
                return Err(format!(
                    "upstream's demo reports {} in {} a second time: two runs in one log?",
                    bench, row.memory
                ));
            }
            self.rows.push(row);
        }
        Ok(())
    }

    /// The demo's own verdict and why, once it is complete.
    pub fn verdict(&self) -> Option<(bool, String)> {
        let why = || match &self.failed[..] {
            [] if self.passed => "upstream's demo passed its own checks".into(),
            [] => "upstream's demo says neither PASS nor FAIL".into(),
            failed => format!("upstream's demo: {}", failed.join("; ")),
        };
        self.complete.then(|| (self.passed && self.failed.is_empty(), why()))
    }

    fn heading(&mut self, bench: &'static str) {
        self.seen = true;
        self.section = Some(bench);
    }

    fn figures(&self, bench: &str, text: &str) -> Result<Row, String> {
        const WHAT: &str = "figures of upstream's demo";
        let malformed = || format!("malformed {WHAT}: not `in MEMORY: min N  mean N  max N  ... N of N`");
        let (memory, rest) =
            text.split_once(" in ").and_then(|(_, rest)| rest.split_once(':')).ok_or_else(malformed)?;
        let memory = memory.trim();
        if rest.trim() == "did not finish" {
            return Err(format!("upstream's demo: {bench} in {memory} did not finish"));
        }
        let words: Vec<&str> = rest.split_whitespace().collect();
        let number = |word: &str| word.parse::<u32>().map(u64::from).map_err(|_| malformed());
        let ["min", min, "mean", mean, "max", max, "preempted" | "interrupted", out, "of", all] = words[..] else {
            return Err(malformed());
        };
        let [min, mean, max, out, all] = [number(min)?, number(mean)?, number(max)?, number(out)?, number(all)?];
        if memory.is_empty() || all == 0 || out > all {
            return Err(malformed());
        }
        if out == all {
            return Err(format!("upstream's demo: {bench} in {memory}: all {all} samples were left out, no figures"));
        }
        if max == 0 {
            return Err(format!("upstream's demo: {bench} in {memory}: only zeros, the cycle counter does not count"));
        }
        if !(min <= mean && mean <= max) {
            return Err(format!("malformed {WHAT}: min {min}, mean {mean}, max {max} are out of order"));
        }
        // Without a board's name the log is from the board that the demo is written for.
        let emulated = self.board.starts_with("mps3");
        Ok(Row {
            origin: if emulated { Origin::Emulated } else { Origin::Silicon },
            bench: bench.into(),
            detail: if bench == "deep_stack" { "24x16".into() } else { String::new() },
            board: if self.board.is_empty() { "s32z280".into() } else { self.board.clone() },
            kernel: if self.kernel.is_empty() { "ThreadX (C)".into() } else { self.kernel.clone() },
            language: "c".into(),
            variant: "call".into(),
            memory: memory.into(),
            cache: "cold".into(),
            unit: if emulated { "instructions" } else { "cycles" }.into(),
            n: Some(all - out),
            excluded: Some(out),
            min: Some(min),
            mean: Some(mean),
            max: Some(max),
            note: "upstream's demo; its log names neither optimisation level nor placement".into(),
            ..Row::default()
        })
    }
}

/// Whether a line below a heading has, or should have, figures.
fn is_figures(text: &str) -> bool {
    let text = text.trim_start();
    (text.starts_with("stack in ") || text.starts_with("stacks in ")) && text.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "=== ThreadX Cortex-R52 :: S32Z280-594EVB ===";
    const SWITCH: &str = "context switch round trip, cycles";

    fn read(lines: &[&str]) -> (Upstream, Vec<String>) {
        let mut upstream = Upstream::default();
        let problems = lines.iter().filter_map(|line| upstream.take(line).err()).collect();
        (upstream, problems)
    }

    #[test]
    fn a_log_of_the_board_is_cycles_of_silicon() {
        let (read, problems) = read(&[
            HEAD,
            "stack-heavy work, cycles (24 frames, cold cache)",
            "  stack in BTCM : min 42868  mean 43031  max 44890  interrupted 2 of 64",
            SWITCH,
            "  stacks in DRAM0: min 1476  mean 1480  max 1508  preempted 6 of 256",
            "PASS threads, tick and preemption all verified",
            LAST,
        ]);
        assert_eq!(problems, [] as [String; 0]);
        let [deep, switch] = &read.rows[..] else { panic!("{read:?}") };
        assert_eq!(
            (deep.bench.as_str(), deep.memory.as_str(), deep.n, deep.excluded),
            ("deep_stack", "BTCM", Some(62), Some(2))
        );
        assert_eq!((switch.min, switch.mean, switch.max, switch.n), (Some(1476), Some(1480), Some(1508), Some(250)));
        assert_eq!(
            (switch.origin, switch.unit.as_str(), switch.board.as_str()),
            (Origin::Silicon, "cycles", "s32z280")
        );
        assert_eq!(read.verdict(), Some((true, "upstream's demo passed its own checks".into())));
    }

    #[test]
    fn on_the_emulator_its_cycles_are_instructions() {
        let (read, _) = read(&[
            "kernel     bundled 0.1.0",
            "board      mps3-an536",
            HEAD,
            SWITCH,
            "  stacks in BTCM : min 42  mean 42  max 42  preempted 0 of 256",
        ]);
        assert_eq!((read.rows[0].unit.as_str(), read.rows[0].kernel.as_str()), ("instructions", "bundled 0.1.0"));
        assert_eq!(read.verdict(), None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, says) in [
            ("  stacks in BTCM : did not finish", "did not finish"),
            ("  stacks in BTCM : min 0  mean 0  max 0  preempted 0 of 256", "does not count"),
            ("  stacks in BTCM : min 4294967295  mean 0  max 0  preempted 256 of 256", "all 256 samples were left out"),
            ("  stacks in BTCM : min 9  mean 8  max 10  preempted 0 of 256", "out of order"),
            ("  stacks in BTCM : min 9  mean 9  max 10  preempted 300 of 256", "malformed"),
            ("  stacks in BTCM : min 9  mean 9  ma", "malformed"),
            ("  stacks in BTCM : min 9  mean 9  max 99999999999  preempted 0 of 256", "malformed"),
        ] {
            let (read, problems) = read(&[HEAD, SWITCH, line]);
            assert!(read.rows.is_empty());
            assert!(problems.len() == 1 && problems[0].contains(says), "{line}: {problems:?}");
        }
    }

    #[test]
    fn its_failures_are_its_verdict() {
        let (failed, _) = read(&[HEAD, SWITCH, "FAIL no preemption observed", LAST]);
        assert_eq!(failed.verdict(), Some((false, "upstream's demo: no preemption observed".into())));
        let (silent, _) = read(&[HEAD, SWITCH, LAST]);
        assert_eq!(silent.verdict().map(|v| v.0), Some(false));
        let (other, _) = read(&["PASS of another program", LAST]);
        assert!(!other.seen && !other.complete);
    }
}
