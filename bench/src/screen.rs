//! What the user sees: standard output and standard error, neither of which may fail with a panic.

use std::io::{self, ErrorKind, Write};

/// Why `txbench` itself gives up.
#[derive(Debug)]
pub enum Failure {
    /// One line that says what is wrong and what to do.
    Says(String),
    /// Whoever read the output has gone (`| head`): nobody is left to tell.
    Unread,
}

impl From<String> for Failure {
    fn from(what: String) -> Self {
        Self::Says(what)
    }
}

/// Writes `bytes` to standard output at once.
///
/// # Errors
/// Standard output takes no more.
pub fn show(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|e| match e.kind() {
        ErrorKind::BrokenPipe => Failure::Unread,
        _ => Failure::Says(format!("cannot write to standard output: {e}")),
    })
}

/// One line on standard error, under the program's name. There is nowhere else to say that it failed.
pub fn complain(what: &str) {
    let _ = writeln!(io::stderr().lock(), "txbench: {what}");
}

/// A bar on the terminal that standard error is, if it is one.
pub struct Progress(indicatif::ProgressBar);

impl Progress {
    /// `what` is done in `steps`.
    pub fn new(what: &str, steps: usize) -> Self {
        let bar = indicatif::ProgressBar::new(steps as u64);
        if let Ok(style) = indicatif::ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {msg} {eta}") {
            bar.set_style(style);
        }
        bar.set_prefix(what.to_owned());
        bar.tick();
        Self(bar)
    }

    /// Names what is being done.
    pub fn at(&self, what: &str) {
        self.0.set_message(what.to_owned());
    }

    /// One step is done.
    pub fn step(&self) {
        self.0.inc(1);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
