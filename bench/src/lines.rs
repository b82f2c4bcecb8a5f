//! Bytes to numbered lines, whatever the bytes are.

/// Longest line that is kept, in bytes. The longest one an image prints is a raw-samples line, below
/// 16 KiB.
const LONGEST: usize = 1 << 16;

/// One line without its end.
pub struct Line<'a> {
    /// From 1.
    pub number: usize,
    /// The text; what is not UTF-8 is replaced by U+FFFD.
    pub text: &'a str,
    /// Whether the line's end was seen: false only for the last line of a cut log.
    pub ended: bool,
    /// Whether bytes beyond [`LONGEST`] were dropped.
    pub shortened: bool,
}

/// Collects bytes up to line ends: `\n`, `\r\n`, `\n\r`, `\r` alone, as some terminals write, and `\r\r\n` and the like,
/// where a terminal put one before an end that had one. So numbers are those of an editor.
pub struct Lines {
    number: usize,
    partial: Vec<u8>,
    shortened: bool,
    /// The first byte of a line end, of which another one may follow.
    end: Option<u8>,
    /// More of `\r` behind it: of the same end if `\n` follows, else an empty line each.
    held: usize,
}

impl Lines {
    pub fn new() -> Self {
        Self { number: 0, partial: Vec::new(), shortened: false, end: None, held: 0 }
    }

    /// Hands every line that `bytes` complete to `take`.
    pub fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(Line<'_>)) {
        for piece in bytes.split_inclusive(|b| matches!(b, b'\n' | b'\r')) {
            let (text, end) = match piece.split_last() {
                Some((&end @ (b'\n' | b'\r'), text)) => (text, Some(end)),
                _ => (piece, None),
            };
            match (self.end, end) {
                (Some(b'\r'), Some(b'\r')) if text.is_empty() => {
                    self.held += 1;
                    continue;
                }
                // The last byte of an end that has been seen.
                (Some(first), Some(last)) if text.is_empty() && first != last => {
                    (self.end, self.held) = (None, 0);
                    continue;
                }
                _ => self.release(&mut take),
            }
            let room = LONGEST - self.partial.len();
            self.partial.extend(text.iter().take(room));
            self.shortened |= text.len() > room;
            self.end = end;
            if end.is_some() {
                self.emit(true, &mut take);
            }
        }
    }

    /// Hands a last line without end to `take`; whether there was one.
    pub fn finish(mut self, mut take: impl FnMut(Line<'_>)) -> bool {
        self.release(&mut take);
        let cut = !self.partial.is_empty();
        if cut {
            self.emit(false, &mut take);
        }
        cut
    }

    /// Hands over the empty lines that were none of an end.
    fn release(&mut self, take: &mut impl FnMut(Line<'_>)) {
        for _ in 0..std::mem::take(&mut self.held) {
            self.emit(true, take);
        }
    }

    fn emit(&mut self, ended: bool, take: &mut impl FnMut(Line<'_>)) {
        self.number += 1;
        let text = String::from_utf8_lossy(&self.partial);
        // An editor's mark at the start of a file.
        let text = if self.number == 1 { text.trim_start_matches('\u{feff}') } else { &text };
        take(Line { number: self.number, text, ended, shortened: self.shortened });
        self.partial.clear();
        self.shortened = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(chunks: &[&[u8]]) -> Vec<(usize, String, bool, bool)> {
        let mut got = Vec::new();
        let mut lines = Lines::new();
        let mut take = |l: Line<'_>| got.push((l.number, l.text.into(), l.ended, l.shortened));
        for chunk in chunks {
            lines.feed(chunk, &mut take);
        }
        lines.finish(&mut take);
        got
    }

    #[test]
    fn chunks_may_end_anywhere() {
        let whole = b"one\r\n\ntw\xffo\nlast";
        let expected = all(&[whole]);
        assert_eq!(expected.len(), 4);
        assert_eq!(expected[0], (1, "one".into(), true, false));
        assert_eq!(expected[2], (3, "tw\u{fffd}o".into(), true, false));
        assert_eq!(expected[3], (4, "last".into(), false, false));
        for at in 0..whole.len() {
            assert_eq!(all(&[&whole[..at], &whole[at..]]), expected, "cut at {at}");
        }
    }

    #[test]
    fn every_kind_of_line_end_is_one() {
        for (text, lines) in [
            ("a\nb\n", &["a", "b"][..]),
            ("a\r\nb\r\n", &["a", "b"]),
            ("a\rb\r", &["a", "b"]),
            ("a\n\rb\n\r", &["a", "b"]),
            ("a\r\n\r\nb", &["a", "", "b"]),
            ("a\r\rb", &["a", "", "b"]),
            ("a\r\r\nb\r\r\r\n", &["a", "b"]),
            ("a\r\r\n\r\r\nb", &["a", "", "b"]),
            ("a\n\nb\r", &["a", "", "b"]),
            ("\u{feff}a\n\u{feff}b", &["a", "\u{feff}b"]),
        ] {
            for at in 0..text.len() {
                let got = all(&[&text.as_bytes()[..at], &text.as_bytes()[at..]]);
                assert!(got.iter().map(|line| line.1.as_str()).eq(lines.iter().copied()), "{text:?}: {got:?}");
                assert!(got.iter().map(|line| line.0).eq(1..=lines.len()));
            }
        }
    }

    #[test]
    fn an_endless_line_stays_bounded() {
        let long = vec![b'x'; LONGEST + 1];
        let got = all(&[&long, &long, b"\nnext\n"]);
        assert_eq!(got[0].1.len(), LONGEST);
        assert!(got[0].3);
        assert_eq!(got[1], (2, "next".into(), true, false));
        assert!(!all(&[&long[..LONGEST], b"\n"])[0].3);
    }
}
