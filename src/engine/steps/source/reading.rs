//! One log while it comes in: scanned piece by piece, and left off as soon as it turns out to be something else.

use serde_json::{Map, Value};

use crate::formats::session::{ScanResult, Scanner};

/// How a file begins that Git LFS keeps elsewhere (<https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>).
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1";

/// A first line longer than this is judged by its first character, in bytes.
const FIRST_MOST: usize = 1024 * 1024;

/// What is known of the file from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Somebody said that it is a session log.
    Log,
    /// It is one when its first line that is not blank is a JSON object with a `type`.
    Perhaps,
}

/// A log that is being read.
pub(super) struct Reading {
    feed: Scanner,
    what: What,
    /// The first line that is not blank, as far as it has come; its verdict is not known.
    first: Vec<u8>,
    /// Whether the first line is an entry of a session log.
    entry: Option<bool>,
    pointer: bool,
}

impl Reading {
    /// Reads the entries of `session`, or all.
    pub(super) fn new(session: Option<&str>, what: What) -> Self {
        Self {
            feed: Scanner::new(session),
            what,
            first: Vec::new(),
            entry: None,
            pointer: false,
        }
    }

    /// Takes the next piece; false when it is clear that nothing will come of it.
    pub(super) fn push(&mut self, piece: &[u8]) -> bool {
        if self.entry.is_none() {
            self.begin(piece);
        }
        let other = self.what == What::Perhaps && self.entry == Some(false);
        if self.pointer || other {
            return false;
        }
        self.feed.push(piece);
        true
    }

    /// A pointer of Git LFS stands in the place of the file.
    pub(super) fn is_pointer(&self) -> bool {
        self.pointer
    }

    /// What the log says, and whether it is one.
    pub(super) fn finish(mut self) -> (ScanResult, bool) {
        if self.entry.is_none() {
            self.judge();
        }
        let scanned = self.feed.finish();
        let is_log = match self.what {
            What::Log => true,
            // Other programs, too, write lines of JSON with a `type`.
            What::Perhaps => {
                self.entry == Some(true) && (scanned.plan.is_some() || !scanned.sessions.is_empty())
            }
        };
        (scanned, is_log)
    }

    fn begin(&mut self, piece: &[u8]) {
        for line in piece.split_inclusive(|byte| *byte == b'\n') {
            let blank = self.first.is_empty() && line.trim_ascii().is_empty();
            if blank {
                continue;
            }
            let room = FIRST_MOST - self.first.len();
            self.first.extend_from_slice(&line[..line.len().min(room)]);
            if line.ends_with(b"\n") || self.first.len() == FIRST_MOST {
                self.judge();
                return;
            }
        }
    }

    fn judge(&mut self) {
        let line = self
            .first
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(&self.first);
        self.pointer = line.starts_with(POINTER);
        let entry = if self.first.len() == FIRST_MOST {
            line.starts_with(b"{")
        } else {
            serde_json::from_slice::<Map<String, Value>>(line)
                .is_ok_and(|entry| entry.contains_key("type"))
        };
        self.entry = Some(entry);
        self.first = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = r#"{"type":"user","sessionId":"s1"}"#;

    fn read(text: &str, what: What, size: usize) -> (bool, bool, u64) {
        let mut reading = Reading::new(None, what);
        for piece in text.as_bytes().chunks(size) {
            if !reading.push(piece) {
                break;
            }
        }
        let pointer = reading.is_pointer();
        let (scanned, is_log) = reading.finish();
        (pointer, is_log, scanned.lines)
    }

    #[test]
    fn a_name_that_says_little_makes_the_first_line_decide() {
        let long = format!(
            "{{\"type\":\"user\",\"x\":\"{}\",\"sessionId\":\"s1\"}}\n{ENTRY}",
            "x".repeat(FIRST_MOST)
        );
        for (text, log) in [
            (ENTRY.to_owned(), true),
            (format!("\n \r\n{ENTRY}\n{ENTRY}\n"), true),
            (format!("\u{feff}{ENTRY}\n"), true),
            (long, true),
            ("{\"type\":\"error\"}\n".to_owned(), false),
            ("{\"sessionId\":\"s1\"}\n".to_owned(), false),
            ("[1]\n".to_owned(), false),
            ("error: it does not build\n".to_owned(), false),
            ("x".repeat(FIRST_MOST + 5), false),
            (String::new(), false),
            ("\n\n".to_owned(), false),
        ] {
            for size in [1, 7, 4096] {
                if size == 1 && text.len() > 4096 {
                    continue;
                }
                let start: String = text.chars().take(40).collect();
                assert_eq!(
                    read(&text, What::Perhaps, size).1,
                    log,
                    "{start:?} by {size}"
                );
                assert!(read(&text, What::Log, size).1, "{start:?} by {size}");
            }
        }
        let text = format!("error\n{ENTRY}\n");
        assert_eq!(read(&text, What::Perhaps, 6).2, 0, "left off");
        assert_eq!(read(&text, What::Log, 6).2, 2);
    }

    #[test]
    fn a_pointer_of_lfs_is_seen_in_any_pieces() {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        for size in [1, 10, 4096] {
            assert!(read(pointer, What::Log, size).0);
            assert!(!read(ENTRY, What::Log, size).0);
        }
    }
}
