//! What the plugin writes for `txbench`: one line an event, in the order in which they happened.
//!
//! | line | meaning |
//! |---|---|
//! | `model 1 PART MODE` | first line: version of this format, `steered` or `recorded` (and why not steered) |
//! | `map TEXT` | a memory of the guest's machine and what it plays |
//! | `C PC INSTRUCTIONS CYCLES` | a read of the counter: address (hexadecimal), both counts at that moment |
//! | `U TEXT` | a line that the guest wrote to its console |
//! | `warning TEXT` | something that the reader must know |
//! | `end ...` | last line, with totals |

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The file, and the console's line so far.
#[derive(Debug)]
pub struct Log {
    file: BufWriter<File>,
    console: Vec<u8>,
    broken: bool,
}

impl Log {
    /// Creates the file.
    ///
    /// # Errors
    /// It cannot be created; one line.
    pub fn create(path: &Path) -> Result<Self, String> {
        let file = File::create(path).map_err(|e| format!("cannot create {}: {e}", path.display()))?;
        Ok(Self { file: BufWriter::with_capacity(1 << 16, file), console: Vec::new(), broken: false })
    }

    /// Writes a line. A file that takes no more is named once, on standard error.
    pub fn line(&mut self, text: &str) {
        self.put(text.as_bytes());
    }

    fn put(&mut self, text: &[u8]) {
        let written = self.file.write_all(text).and_then(|()| self.file.write_all(b"\n"));
        if let Err(error) = written
            && !std::mem::replace(&mut self.broken, true)
        {
            eprintln!("r52-model: the log cannot be written, the run's cycles are lost: {error}");
        }
    }

    /// A read of the counter.
    pub fn counter(&mut self, pc: u32, instructions: u64, cycles: u64) {
        self.line(&format!("C {pc:x} {instructions} {cycles}"));
    }

    /// A byte on the console. Whole lines are handed to the system, so that what a guest reported is there
    /// even if QEMU is killed afterwards.
    pub fn console(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                let line = [b"U ", &self.console[..]].concat();
                self.put(line.trim_ascii_end());
                self.console.clear();
                self.flush();
            }
            _ if self.console.len() < 1 << 16 => self.console.push(byte),
            _ => {}
        }
    }

    /// Hands everything to the system.
    pub fn flush(&mut self) {
        let _ = self.file.flush();
    }
}
