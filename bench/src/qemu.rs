//! QEMU as a child in a process group of its own, under a limit.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::image::Board;
use crate::screen::Failure;

const MACHINE: &str = "mps3-an536";
/// The first major version with the machine as the board support expects it; the figures of this
/// project were counted with it.
const OLDEST: u32 = 10;
const NEEDED: &str = "QEMU 10 or newer is needed, scripts/setup.sh installs it";
/// For QEMU to answer a question about itself.
const QUESTION: Duration = Duration::from_secs(20);
/// Between asking a process to end and ending it.
const GRACE: Duration = Duration::from_secs(2);
/// Longest wait for output before the clock and the signals are looked at.
const STEP: Duration = Duration::from_millis(20);

/// How a guest ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exited(u8),
    /// By the limit.
    Limit(Duration),
    /// QEMU itself died of this signal.
    Killed(i32),
    /// `txbench` was told to stop.
    Interrupted,
    /// Not at all: the log is closed, and a board stays on.
    Closed,
    /// The serial port is no longer there, and why.
    Gone(String),
}

/// A flag that a signal sets.
///
/// # Errors
/// The signals cannot be handled.
pub fn interrupted() -> Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    // The child has a process group of its own, so that the terminal's signals reach only us.
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))
            .map_err(|e| format!("cannot handle signal {signal}: {e}"))?;
    }
    Ok(interrupted)
}

/// A QEMU that knows the machine.
pub struct Qemu {
    path: PathBuf,
    /// What it answers when asked for its version.
    version: String,
    /// Arguments beside those that every image gets.
    more: Vec<OsString>,
    interrupted: Arc<AtomicBool>,
}

impl Qemu {
    /// Checks that `path` is a QEMU of the version needed which has the machine.
    ///
    /// # Errors
    /// One line that says what is missing and what to do.
    pub fn find(path: &Path) -> Result<Self, Failure> {
        let mut qemu =
            Self { path: path.into(), version: String::new(), more: Vec::new(), interrupted: interrupted()? };
        let version = qemu.ask("--version")?;
        let version = version.lines().next().unwrap_or("").trim();
        qemu.version = version.into();
        match major(version) {
            Some(major) if major >= OLDEST => {}
            Some(_) => return Err(format!("{} is too old ({version}): {NEEDED}", path.display()).into()),
            None => return Err(format!("{} does not tell its version: {NEEDED}", path.display()).into()),
        }
        let machines = qemu.ask("-machine")?;
        if !machines.lines().any(|l| l.split_whitespace().next() == Some(MACHINE)) {
            return Err(format!("{} ({version}) has no machine {MACHINE}: {NEEDED}", path.display()).into());
        }
        Ok(qemu)
    }

    /// The line that it says its version in.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Adds arguments to every later boot.
    pub fn add(&mut self, arguments: impl IntoIterator<Item = OsString>) {
        self.more.extend(arguments);
    }

    fn ask(&self, what: &str) -> Result<String, Failure> {
        let mut command = Command::new(&self.path);
        command.arg(what);
        if what == "-machine" {
            command.arg("help");
        }
        let mut answer = Vec::new();
        let end = self.supervise(command, QUESTION, |bytes| {
            answer.extend_from_slice(bytes);
            Ok(())
        })?;
        match end {
            End::Exited(0) => Ok(String::from_utf8_lossy(&answer).into_owned()),
            End::Interrupted => Err(String::from("interrupted").into()),
            _ => Err(format!("{} does not answer {what}: {NEEDED}", self.path.display()).into()),
        }
    }

    /// Boots `elf` with `words` as its command line and hands the UART's bytes to `sink` as they come, until the guest exits, the
    /// limit is over or `sink` fails. No process of the group is left behind.
    ///
    /// # Errors
    /// QEMU cannot be started, or what `sink` said.
    pub fn boot(
        &self,
        elf: &Path,
        words: &[String],
        limit: Duration,
        sink: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<End, Failure> {
        let mut command = Command::new(&self.path);
        command
            .args(["-M", MACHINE, "-smp", "1", "-nographic"])
            .args(["-icount", "shift=0,sleep=off"])
            .args(["-global", "cortex-r52-arm-cpu.cntfrq=1000000000"])
            .args(["-semihosting-config", &semihosting(words)])
            .args(&self.more)
            .arg("-kernel")
            .arg(elf);
        self.supervise(command, limit, sink)
    }

    fn supervise(
        &self,
        mut command: Command,
        limit: Duration,
        mut sink: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<End, Failure> {
        let start = Instant::now();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0).spawn().map_err(|e| {
            match e.kind() {
                ErrorKind::NotFound => format!("{} not found: {NEEDED}", self.path.display()),
                _ => format!("cannot start {}: {e}", self.path.display()),
            }
        })?;
        let output = reader(&mut child);

        let mut ended: Option<(Instant, ExitStatus)> = None;
        let mut open = true;
        let stop = loop {
            if open {
                match output.recv_timeout(STEP) {
                    Ok(bytes) => {
                        if let Err(e) = sink(&bytes) {
                            end_group(&mut child);
                            return Err(e);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => open = false,
                }
            } else {
                thread::sleep(STEP);
            }
            if ended.is_none() {
                let status = child.try_wait().map_err(|e| format!("cannot wait: {e}"))?;
                ended = status.map(|status| (Instant::now(), status));
            }
            match ended {
                Some((_, status)) if !open => break Ok(status),
                // A grandchild holds the pipe: what it prints is no guest's.
                Some((since, status)) if since.elapsed() > GRACE => break Ok(status),
                _ => {}
            }
            if self.interrupted.load(Ordering::Relaxed) {
                break Err(End::Interrupted);
            }
            if start.elapsed() >= limit {
                break Err(End::Limit(limit));
            }
        };
        if stop.is_err() || open {
            end_group(&mut child);
        }
        // What was printed before the end is part of the log. The group is gone, so this ends; a
        // process that left the group and still prints is cut off.
        let late = Instant::now();
        while late.elapsed() < GRACE
            && let Ok(bytes) = output.recv_timeout(STEP)
        {
            sink(&bytes)?;
        }
        Ok(match stop {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => End::Exited(u8::try_from(code).unwrap_or(u8::MAX)),
                (None, signal) => End::Killed(signal.unwrap_or(0)),
            },
            Err(end) => end,
        })
    }
}

/// QEMU's option for a guest with this command line. The first word of one is the program's name.
fn semihosting(words: &[String]) -> String {
    let mut option = String::from("enable=on,target=native");
    if !words.is_empty() {
        option += ",arg=image";
    }
    for word in words {
        // A comma ends an argument, two are one in it.
        option += ",arg=";
        option += &word.replace(',', ",,");
    }
    option
}

/// The major version in QEMU's answer, `QEMU emulator version 10.0.2 (...)`.
fn major(answer: &str) -> Option<u32> {
    let (_, version) = answer.split_once("version ")?;
    version.split('.').next()?.parse().ok()
}

/// The child's output in pieces; the channel closes at its end. Bounded, so that an image which
/// floods the terminal waits for it.
fn reader(child: &mut Child) -> Receiver<Vec<u8>> {
    let (send, receive) = sync_channel(64);
    if let Some(mut pipe) = child.stdout.take() {
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(n) => {
                        if send.send(buffer[..n].to_vec()).is_err() {
                            break;
                        }
                    }
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        });
    }
    receive
}

/// Asks the child's process group to end, and ends it if it does not.
fn end_group(child: &mut Child) {
    let group = Pid::from_child(child);
    // An error says that nobody is left.
    if kill_process_group(group, Signal::TERM).is_ok() {
        let asked = Instant::now();
        while asked.elapsed() < GRACE && matches!(child.try_wait(), Ok(None)) {
            thread::sleep(STEP);
        }
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

/// Checks that `path` is an image for the machine, so that QEMU does not boot it as raw bytes, nor one that was
/// linked for another board: it would run nowhere until the limit.
///
/// # Errors
/// One line that says what the file is not.
pub fn check_image(path: &Path) -> Result<(), String> {
    let mut head = [0; 20];
    File::open(path).and_then(|mut f| f.read_exact(&mut head)).map_err(|e| match e.kind() {
        ErrorKind::UnexpectedEof => format!("{} is not an ELF file", path.display()),
        _ => format!("cannot read {}: {e}", path.display()),
    })?;
    // ELF, 32 bits, least significant byte first, e_machine 40 (EM_ARM).
    if head[..6] != *b"\x7fELF\x01\x01" || head[18..] != [40, 0] {
        return Err(format!("{} is not an ELF file for 32-bit Arm", path.display()));
    }
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    match Board::of(&bytes) {
        Some(board) if board.name() != MACHINE => Err(format!(
            "{} is linked for {}, QEMU has {MACHINE} only: build it for that (scripts/build.sh), or run it on its board \
             (scripts/flash.sh)",
            path.display(),
            board.name()
        )),
        _ => Ok(()),
    }
}
