//! The console of a board at a serial port, under a limit.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read};
use rustix::termios::{ControlModes, OptionalActions, tcgetattr, tcsetattr};

use crate::qemu::End;
use crate::screen::Failure;

/// Longest wait for output before the clock and the signals are looked at.
const STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// After the closing line: what a board says within it is part of the log, a fault for example.
const QUIET: Duration = Duration::from_millis(500);

/// A port that is open, raw, with 8 data bits, no parity and one stop bit.
pub struct Port(OwnedFd);

impl Port {
    /// Opens and sets up `path`.
    ///
    /// # Errors
    /// One line that says what is wrong and what to do.
    pub fn open(path: &Path, baud: u32) -> Result<Self, String> {
        let name = path.display();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = open(path, flags, Mode::empty()).map_err(|e| match e {
            Errno::NOENT => {
                format!("there is no serial port {name}: is the board's cable in? (ls /dev/tty* shows the ports)")
            }
            Errno::ACCESS => format!("no permission for {name}: join the group that owns it (ls -l {name})"),
            e => format!("cannot open {name}: {e}"),
        })?;
        let mut settings = tcgetattr(&fd).map_err(|_| format!("{name} is no serial port"))?;
        settings.make_raw();
        settings.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
        settings.control_modes -= ControlModes::CSTOPB | ControlModes::PARENB | ControlModes::CRTSCTS;
        settings.set_speed(baud).map_err(|_| format!("{name} has no speed of {baud} baud"))?;
        tcsetattr(&fd, OptionalActions::Now, &settings)
            .map_err(|e| format!("cannot set {name} to {baud} baud: {e}"))?;
        Ok(Self(fd))
    }

    /// Hands the board's bytes to `sink` as they come, until `sink` says that the log is closed and the
    /// board is quiet, the limit is over or the port goes away.
    ///
    /// # Errors
    /// What `sink` said.
    pub fn listen(
        &self,
        limit: Duration,
        interrupted: &AtomicBool,
        mut sink: impl FnMut(&[u8]) -> Result<bool, Failure>,
    ) -> Result<End, Failure> {
        let start = Instant::now();
        let mut last = None;
        let mut buffer = [0; 4096];
        // What came before stays worth something; a board may be switched off once its log is closed.
        let gone = |last: Option<Instant>, why: &str| match last {
            Some(_) => End::Closed,
            None => End::Gone(why.to_owned()),
        };
        loop {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(End::Interrupted);
            }
            if last.is_some_and(|last: Instant| last.elapsed() >= QUIET) {
                return Ok(End::Closed);
            }
            if start.elapsed() >= limit {
                return Ok(if last.is_some() { End::Closed } else { End::Limit(limit) });
            }
            match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&STEP)) {
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(e) => return Ok(gone(last, &e.to_string())),
            }
            match read(&self.0, &mut buffer) {
                Ok(0) => return Ok(gone(last, "end of file")),
                Ok(n) => {
                    if sink(&buffer[..n])? {
                        last = Some(Instant::now());
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(e) => return Ok(gone(last, &e.to_string())),
            }
        }
    }
}
