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
