//! What became of the lines of a log, for one line of report.

use std::collections::BTreeMap;
use std::fmt;

/// Why an entry is not in the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// The line is not JSON, or not an object.
    Malformed,
    /// The line was too long to be read.
    TooLong,
    /// It belongs to another session than the wanted one.
    OtherSession,
    /// A backup of files (`file-history-snapshot`).
    Snapshot,
    /// Bookkeeping: its `type` is not part of the conversation.
    OtherKind,
    /// Only a look for the session's own log.
    LogSearch,
    /// Nothing in it can be read: no text, no tool call, no result.
    Blank,
    /// All of the session is left out: see [`Verdict`](super::Verdict).
    Session,
}

impl LeftOut {
    fn words(self) -> &'static str {
        match self {
            Self::Malformed => "not JSON",
            Self::TooLong => "too long",
            Self::OtherSession => "other sessions",
            Self::Snapshot => "file snapshots",
            Self::OtherKind => "bookkeeping",
            Self::LogSearch => "looking for logs",
            Self::Blank => "without content",
            Self::Session => "of a session not worth reading",
        }
    }
}

/// Counts of a transcript. The last four are what filtering shortened inside entries that were kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// Lines read, blank ones too.
    pub lines: u64,
    /// Lines that are not blank.
    pub entries_in: u64,
    /// Entries written.
    pub entries_out: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written, the heads of all parts included.
    pub bytes_out: u64,
    /// Entries that were not written, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// 1-based number of the first line that could not be read.
    pub first_unreadable: Option<u64>,
    /// Command texts that stand in the transcript already.
    pub repeated_commands: u64,
    /// Texts of the assistant that repeat the one before.
    pub repeated_texts: u64,
    /// Tool parameters cut to length.
    pub cut_parameters: u64,
    /// Tool results cut to length.
    pub cut_results: u64,
}

impl Stats {
    pub(super) fn leave_out(&mut self, why: LeftOut) {
        *self.left_out.entry(why).or_default() += 1;
        if matches!(why, LeftOut::Malformed | LeftOut::TooLong) {
            self.first_unreadable.get_or_insert(self.lines);
        }
    }

    /// The session is not worth reading: none of its entries is written, repeated or cut.
    pub(super) fn leave_out_all(&mut self) {
        let written = std::mem::take(&mut self.entries_out);
        if written > 0 {
            *self.left_out.entry(LeftOut::Session).or_default() += written;
        }
        self.repeated_commands = 0;
        self.repeated_texts = 0;
        self.cut_parameters = 0;
        self.cut_results = 0;
    }

    /// Lines that could not be read.
    pub fn unreadable(&self) -> u64 {
        [LeftOut::Malformed, LeftOut::TooLong]
            .iter()
            .filter_map(|why| self.left_out.get(why))
            .sum()
    }
}

/// One line: `9 entries read, 7 written; left out: not JSON 1, bookkeeping 1; cut: parameters 3; 900 → 90 bytes, 90.0 %
/// less`.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (read, written) = (self.entries_in, self.entries_out);
        let entries = if read == 1 { "entry" } else { "entries" };
        write!(f, "{read} {entries} read, {written} written")?;
        let left_out: Vec<_> = self
            .left_out
            .iter()
            .map(|(why, count)| (why.words(), *count))
            .collect();
        list(f, "left out", &left_out)?;
        let repeated = [
            ("command texts", self.repeated_commands),
            ("texts", self.repeated_texts),
        ];
        list(f, "repeated", &repeated)?;
        let cut = [
            ("parameters", self.cut_parameters),
            ("tool results", self.cut_results),
        ];
        list(f, "cut", &cut)?;
        write!(f, "; {} → {} bytes", self.bytes_in, self.bytes_out)?;
        if self.bytes_out < self.bytes_in {
            let permille = (self.bytes_in - self.bytes_out).saturating_mul(1000) / self.bytes_in;
            write!(f, ", {}.{} % less", permille / 10, permille % 10)?;
        }
        Ok(())
    }
}

/// `; name: what 1, what 2`, without what did not happen.
fn list(f: &mut fmt::Formatter<'_>, name: &str, counts: &[(&str, u64)]) -> fmt::Result {
    let mut before = format!("; {name}: ");
    for (what, count) in counts.iter().filter(|(_, count)| *count > 0) {
        write!(f, "{before}{what} {count}")?;
        ", ".clone_into(&mut before);
    }
    Ok(())
}
