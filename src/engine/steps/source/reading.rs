//! Incremental scan of one log, abandoned as soon as the file turns out not to be a log.

use serde_json::{Map, Value};

use crate::formats::session::{ScanResult, Scanner};

/// First bytes of a Git LFS pointer file
/// (<https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>).
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1";

/// Maximum size of a first line that is parsed, in bytes. A longer line is judged by its first
/// character.
const MAX_FIRST_LINE: usize = 1024 * 1024;

/// What is known about a file before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// The file was explicitly given as a session log.
    Log,
    /// The file may be a session log: its first non-blank line must be a JSON object with a `type`.
    Perhaps,
}

/// A log that is being read.
pub(super) struct Reading {
    feed: Scanner,
    what: What,
    /// Start of the first non-blank line, until it is judged.
    first: Vec<u8>,
    /// Whether the first line is an entry of a session log; `None` until it is judged.
    entry: Option<bool>,
    pointer: bool,
}

impl Reading {
    /// Creates a scan for the entries of `session`, or of all sessions.
    pub(super) fn new(session: Option<&str>, what: What) -> Self {
        Self {
            feed: Scanner::new(session),
            what,
            first: Vec::new(),
            entry: None,
            pointer: false,
        }
    }

    /// Processes the next chunk. Returns false once the file is known not to be a log.
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

    /// Returns whether the file is a Git LFS pointer.
    pub(super) fn is_pointer(&self) -> bool {
        self.pointer
    }

    /// Returns the result of the scan and whether the file is a session log.
    pub(super) fn finish(mut self) -> (ScanResult, bool) {
        if self.entry.is_none() {
            self.judge();
        }
        let scanned = self.feed.finish();
        let is_log = match self.what {
            What::Log => true,
            // Other programs also write JSON lines with a `type`.
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
            let room = MAX_FIRST_LINE - self.first.len();
            self.first.extend_from_slice(&line[..line.len().min(room)]);
            if line.ends_with(b"\n") || self.first.len() == MAX_FIRST_LINE {
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
        let entry = if self.first.len() == MAX_FIRST_LINE {
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
            "x".repeat(MAX_FIRST_LINE)
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
            ("x".repeat(MAX_FIRST_LINE + 5), false),
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
