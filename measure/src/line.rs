//! The lines that an image prints and the host looks for.
//!
//! | line | meaning |
//! |---|---|
//! | `RECORD {json}` | one result, [`RecordOf`](crate::RecordOf) |
//! | `SAMPLES {json}` | the raw samples of one result, [`RawSamplesOf`](crate::RawSamplesOf) |
//! | `CELL name` | the records up to the next `CELL` or `DONE` belong to this cell, see [`Selection`](crate::Selection) |
//! | `DONE ok` or `DONE FAILED`, then optionally `: text` | closes a measurement; the verdict of its self-checks |
//! | `test NAME ... ok` | an on-target test passed |
//! | `test NAME ... FAILED: why` | it failed |
//! | `test NAME ... window not hit: why` | the race it is about never came up: nothing was tested, counted as failed |
//! | `test result: ok. N passed; M failed` (`FAILED.` when M is not 0) | closes an image of on-target tests |
//!
//! Each starts its line; everything else is text for the reader. Lines end in `\n` or `\r\n`.

use serde::Serialize;

/// Start of a record's line.
pub const RECORD: &str = "RECORD ";
/// Start of a raw-samples line.
pub const SAMPLES: &str = "SAMPLES ";
/// Start of the line that names the cell whose records follow; a cell is complete when the next such
/// line or the closing line has come.
pub const CELL: &str = "CELL ";
/// Start of the line that closes a measurement when all self-checks passed.
pub const DONE_OK: &str = "DONE ok";
/// Start of the line that closes a measurement when a self-check failed.
pub const DONE_FAILED: &str = "DONE FAILED";
/// Start of an on-target test's line.
pub const TEST: &str = "test ";
/// Between an on-target test's name and its outcome.
pub const TEST_OUTCOME: &str = " ... ";
/// Start of the line that closes an image of on-target tests.
pub const TEST_RESULT: &str = "test result: ";

/// Why a line could not be formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineError {
    /// The caller's buffer cannot hold the line.
    BufferTooSmall,
}

impl core::fmt::Display for LineError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("line buffer is too small for the record: make it larger")
    }
}

impl core::error::Error for LineError {}

pub(crate) fn json<'b>(prefix: &str, value: &impl Serialize, buffer: &'b mut [u8]) -> Result<&'b str, LineError> {
    let (head, tail) = buffer.split_at_mut_checked(prefix.len()).ok_or(LineError::BufferTooSmall)?;
    head.copy_from_slice(prefix.as_bytes());
    let len = serde_json_core::to_slice(value, tail).map_err(|_| LineError::BufferTooSmall)? + head.len();
    let written = buffer.get(..len).ok_or(LineError::BufferTooSmall)?;
    str::from_utf8(written).map_err(|_| LineError::BufferTooSmall)
}

/// Columns in a caller's buffer.
pub(crate) struct Writer<'b> {
    buffer: &'b mut [u8],
    len: usize,
}

impl<'b> Writer<'b> {
    pub(crate) fn new(buffer: &'b mut [u8]) -> Self {
        Self { buffer, len: 0 }
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), LineError> {
        let end = self.len + bytes.len();
        self.buffer.get_mut(self.len..end).ok_or(LineError::BufferTooSmall)?.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    fn spaces(&mut self, n: usize) -> Result<(), LineError> {
        (0..n).try_for_each(|_| self.bytes(b" "))
    }

    /// `text`, then spaces up to `width`; a longer text is written whole.
    pub(crate) fn left(&mut self, text: &str, width: usize) -> Result<(), LineError> {
        self.bytes(text.as_bytes())?;
        self.spaces(width.saturating_sub(text.len()))
    }

    /// Spaces up to `width`, then `value`; at least one space.
    pub(crate) fn right(&mut self, value: u32, width: usize) -> Result<(), LineError> {
        let mut digits = [b'0'; 10];
        let mut rest = value;
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let digits = &digits[at..];
        self.spaces(width.saturating_sub(digits.len()).max(1))?;
        self.bytes(digits)
    }

    pub(crate) fn finish(self) -> &'b str {
        let Self { buffer, len } = self;
        // Only whole `str`s and digits were written.
        buffer.get(..len).and_then(|b| str::from_utf8(b).ok()).unwrap_or("")
    }
}
