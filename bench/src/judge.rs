//! From a log and the guest's end to a verdict and an exit code.

use std::fmt::Write;
use std::path::Path;

use crate::code;
use crate::log::{Closing, Log, Outcome, Problem};
use crate::qemu::End;
use crate::screen::{Failure, complain, show};
use crate::table::{Align, Table};

/// Problems named one by one; a noisy line must not flood the terminal.
pub const NAMED: usize = 20;

/// The last word on one image or log.
#[derive(Debug)]
pub struct Verdict {
    code: u8,
    line: String,
    problems: Vec<Problem>,
    /// Problems beside those.
    unnamed: usize,
    /// What stands before each problem.
    before: String,
}

impl Verdict {
    /// Of a captured log.
    pub fn log(log: &Log) -> Self {
        let (code, line) = match &log.closing {
            Some(Closing::Done { ok: false, detail }) => {
                (code::FAILED, format!("FAILED: self-checks: {}", or(detail, "no detail")))
            }
            Some(Closing::Tests { ok, passed, failed }) if !ok || *failed > 0 => {
                (code::FAILED, format!("FAILED: {failed} of {} tests", passed + failed))
            }
            _ if !log.problems.is_empty() => (code::LOG, "FAILED: the log is not whole".into()),
            Some(Closing::Done { detail, .. }) => {
                (0, format!("ok: {}, self-checks passed{}", count(log.rows.len(), "record"), after(detail)))
            }
            Some(Closing::Tests { passed, .. }) => (0, format!("ok: {} passed", count(*passed, "test"))),
            // `Log::finish` names a missing closing line, so this is not reached with a finished log.
            None => (code::LOG, "FAILED: the log is not closed".into()),
        };
        Self { code, line, problems: log.problems.clone(), unnamed: log.unnamed, before: String::new() }
    }

    /// The same, whose problems name the file that they are in.
    pub fn of_file(self, path: &Path) -> Self {
        Self { before: format!("{}: ", path.display()), ..self }
    }

    /// Of an image that should succeed, by its log if it prints one, else by its exit code; `missing` are expected texts that never came.
    pub fn run(log: &Log, end: &End, missing: &[&str]) -> Self {
        let mut verdict = Self::log(log);
        match end {
            // Somebody's own firmware: nothing in it claims to be one of our logs.
            End::Exited(guest) if log.foreign() => {
                let line = format!("exit code {guest}, no records");
                verdict = Self { code: *guest, line, problems: Vec::new(), unnamed: 0, before: String::new() };
            }
            End::Exited(0) | End::Closed => {}
            // The guest's code is passed on, its own verdict stays readable.
            End::Exited(guest) => {
                if verdict.code != code::FAILED {
                    verdict.line = "FAILED".into();
                }
                let _ = write!(verdict.line, " (the guest exited with {guest})");
                verdict.code = *guest;
            }
            _ => (verdict.code, verdict.line) = stopped(end),
        }
        if !missing.is_empty() && verdict.code == 0 {
            verdict.code = code::FAILED;
            verdict.line = "FAILED: expected text missing".into();
        }
        verdict.problems.extend(missing.iter().map(|t| never(t)));
        verdict
    }

    /// Of an image that should end with `expected`, as a fault test does.
    pub fn expected(end: &End, expected: u8, missing: &[&str]) -> Self {
        let (code, line) = match end {
            End::Exited(guest) if *guest == expected && missing.is_empty() => {
                (0, format!("ok: exit code {expected} and the expected text"))
            }
            End::Exited(guest) if *guest == expected => (code::FAILED, "FAILED: expected text missing".into()),
            End::Exited(guest) => (code::FAILED, format!("FAILED: exit code {guest}, expected {expected}")),
            _ => stopped(end),
        };
        Self { code, line, problems: missing.iter().map(|t| never(t)).collect(), unnamed: 0, before: String::new() }
    }

    /// Prints problems and verdict; the exit code.
    ///
    /// # Errors
    /// Standard output takes no more.
    pub fn print(&self) -> Result<u8, Failure> {
        self.name_problems();
        show(format!("verdict: {}\n", self.line).as_bytes())?;
        Ok(self.code)
    }

    /// Prints both where they do not mix with what standard output is for; the exit code.
    pub fn print_to_stderr(&self) -> u8 {
        self.name_problems();
        complain(&format!("verdict: {}", self.line));
        self.code
    }

    fn name_problems(&self) {
        for problem in self.problems.iter().take(NAMED) {
            complain(&format!("{}{problem}", self.before));
        }
        if let more @ 1.. = self.problems.len().saturating_sub(NAMED) + self.unnamed {
            complain(&format!("{}and {} more", self.before, count(more, "problem")));
        }
    }
}

fn never(text: &str) -> Problem {
    Problem { line: None, what: format!("never printed: {text}") }
}

/// Code and verdict of a guest that did not exit by itself.
pub fn stopped(end: &End) -> (u8, String) {
    match end {
        End::Limit(limit) => (code::LIMIT, format!("FAILED: ended by the limit of {} s (--timeout)", limit.as_secs())),
        End::Killed(signal) => (code::UNUSABLE, format!("FAILED: QEMU was ended by signal {signal}")),
        End::Interrupted => (code::INTERRUPTED, "interrupted".into()),
        End::Gone(why) => {
            (code::UNUSABLE, format!("FAILED: the serial port went away ({why}), what came before is kept"))
        }
        // Only a log with a closing line ends so, and that line is judged.
        End::Closed => (code::LOG, "FAILED: no exit code".into()),
        End::Exited(guest) => (*guest, format!("exit code {guest}")),
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

fn after(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(" ({detail})") }
}

/// The results of several images of on-target tests.
#[derive(Default)]
pub struct Suite {
    rows: Vec<[String; 4]>,
    /// `image: what`, for the list at the end.
    failures: Vec<String>,
    passed: usize,
    failed: usize,
}

impl Suite {
    /// Adds an image. Beside its tests, the image itself fails once if it did not close as it must:
    /// closing line present and true, exit code 0 or 1 accordingly, nothing unreadable.
    pub fn image(&mut self, name: &str, log: &Log, end: &End) {
        let mut failures = Vec::new();
        for test in &log.tests {
            let why = match &test.outcome {
                Outcome::Ok => continue,
                Outcome::Failed(why) => or(why, "no reason given").to_owned(),
                Outcome::Missed(why) => format!("window not hit: {why}"),
                Outcome::Broken => "no outcome".into(),
            };
            failures.push(format!("{}: {why}", test.name));
        }
        let (passed, failed) = (log.tests.len() - failures.len(), failures.len());
        let broken = broken(log, end, failed);
        let result = match &broken {
            Some(_) => "BROKEN",
            None if failed > 0 => "FAILED",
            None => "ok",
        };
        failures.extend(broken);

        self.passed += passed;
        self.failed += failures.len();
        self.rows.push([name.into(), passed.to_string(), failures.len().to_string(), result.into()]);
        self.failures.extend(failures.into_iter().map(|f| format!("{name}: {f}")));
    }

    /// Prints the table, the failures and the closing line; the exit code.
    ///
    /// # Errors
    /// Standard output takes no more.
    pub fn print(&self) -> Result<u8, Failure> {
        use Align::{Left, Right};
        let mut table = Table::new(&[("image", Left), ("passed", Right), ("failed", Right), ("result", Left)]);
        self.rows.iter().for_each(|row| table.push(row.to_vec()));
        let mut text = table.terminal();
        if !self.failures.is_empty() {
            text += "\n\nfailures:";
            for failure in &self.failures {
                let _ = write!(text, "\n    {failure}");
            }
        }
        let _ = writeln!(text, "\n\n{} passed, {} failed", self.passed, self.failed);
        show(text.as_bytes())?;
        Ok(if self.failed > 0 { code::FAILED } else { 0 })
    }
}

/// What is wrong with the image itself, if anything.
fn broken(log: &Log, end: &End, failed: usize) -> Option<String> {
    let mut wrong = Vec::new();
    match end {
        End::Exited(code) => {
            let expected = u8::from(failed > 0);
            if *code != expected {
                wrong.push(format!("exit code {code}, expected {expected}"));
            }
        }
        _ => wrong.push(stopped(end).1.trim_start_matches("FAILED: ").to_owned()),
    }
    if matches!(log.closing, Some(Closing::Done { .. })) {
        wrong.push("closed by DONE: a measurement, not a test image".into());
    }
    wrong.extend(log.problems.iter().take(NAMED).map(ToString::to_string));
    (!wrong.is_empty()).then(|| wrong.join("; "))
}
