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

/// Collects bytes up to line ends.
pub struct Lines {
    number: usize,
    partial: Vec<u8>,
    shortened: bool,
}

impl Lines {
    pub fn new() -> Self {
        Self { number: 0, partial: Vec::new(), shortened: false }
    }

    /// Hands every line that `bytes` complete to `take`.
    pub fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(Line<'_>)) {
        for piece in bytes.split_inclusive(|&b| b == b'\n') {
            let (text, ended) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            let room = LONGEST - self.partial.len();
            self.partial.extend(text.iter().take(room));
            self.shortened |= text.len() > room;
            if ended {
                self.emit(true, &mut take);
            }
        }
    }

    /// Hands a last line without end to `take`; whether there was one.
    pub fn finish(mut self, mut take: impl FnMut(Line<'_>)) -> bool {
        let cut = !self.partial.is_empty();
        if cut {
            self.emit(false, &mut take);
        }
        cut
    }

    fn emit(&mut self, ended: bool, take: &mut impl FnMut(Line<'_>)) {
        self.number += 1;
        let text = String::from_utf8_lossy(&self.partial);
        take(Line { number: self.number, text: text.trim_end_matches('\r'), ended, shortened: self.shortened });
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
    fn an_endless_line_stays_bounded() {
        let long = vec![b'x'; LONGEST + 1];
        let got = all(&[&long, &long, b"\nnext\n"]);
        assert_eq!(got[0].1.len(), LONGEST);
        assert!(got[0].3);
        assert_eq!(got[1], (2, "next".into(), true, false));
        assert!(!all(&[&long[..LONGEST], b"\n"])[0].3);
    }
}
