//! Counts what was written and left out, and formats the counts as one line.

use std::collections::BTreeMap;
use std::fmt;

/// Why an entry is not in the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// The line is not JSON, or not an object.
    Malformed,
    /// The line is over the limit.
    TooLong,
    /// The entry belongs to a session that was not requested.
    OtherSession,
    /// A backup of files (`file-history-snapshot`).
    Snapshot,
    /// Bookkeeping: its `type` is not part of the conversation.
    OtherKind,
    /// The entry only looks for the session's own log.
    LogSearch,
    /// The entry has no text, no tool call and no result.
    Blank,
    /// The whole session is left out; see [`Verdict`](super::Verdict).
    Session,
}

impl LeftOut {
    fn description(self) -> &'static str {
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

/// Counts of a transcript. The last four count what the filter shortened in entries that were kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// Lines read, including blank ones.
    pub lines: u64,
    /// Lines that are not blank.
    pub entries_in: u64,
    /// Entries written.
    pub entries_out: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written, including the heads of all parts.
    pub bytes_out: u64,
    /// Entries that were left out, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// Number (from 1) of the first line that is malformed or too long.
    pub first_unreadable: Option<u64>,
    /// Command texts that repeat an earlier one.
    pub repeated_commands: u64,
    /// Texts of the assistant that repeat the previous one.
    pub repeated_texts: u64,
    /// Tool parameters that were shortened.
    pub cut_parameters: u64,
    /// Tool results that were shortened.
    pub cut_results: u64,
}

impl Stats {
    pub(super) fn leave_out(&mut self, reason: LeftOut) {
        *self.left_out.entry(reason).or_default() += 1;
        if matches!(reason, LeftOut::Malformed | LeftOut::TooLong) {
            self.first_unreadable.get_or_insert(self.lines);
        }
    }

    /// Marks the whole session as left out: none of its entries was written or shortened.
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

    /// Returns the number of lines that are malformed or too long.
    pub fn unreadable(&self) -> u64 {
        [LeftOut::Malformed, LeftOut::TooLong]
            .iter()
            .filter_map(|reason| self.left_out.get(reason))
            .sum()
    }
}

/// Formats one line: `9 entries read, 7 written; left out: not JSON 1, bookkeeping 1; cut:
/// parameters 3; 900 → 90 bytes, 90.0 % less`.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (read, written) = (self.entries_in, self.entries_out);
        let entries = if read == 1 { "entry" } else { "entries" };
        write!(f, "{read} {entries} read, {written} written")?;
        let left_out: Vec<_> = self
            .left_out
            .iter()
            .map(|(reason, count)| (reason.description(), *count))
            .collect();
        write_counts(f, "left out", &left_out)?;
        let repeated = [
            ("command texts", self.repeated_commands),
            ("texts", self.repeated_texts),
        ];
        write_counts(f, "repeated", &repeated)?;
        let cut = [
            ("parameters", self.cut_parameters),
            ("tool results", self.cut_results),
        ];
        write_counts(f, "cut", &cut)?;
        write!(f, "; {} → {} bytes", self.bytes_in, self.bytes_out)?;
        if self.bytes_out < self.bytes_in {
            let permille = (self.bytes_in - self.bytes_out).saturating_mul(1000) / self.bytes_in;
            write!(f, ", {}.{} % less", permille / 10, permille % 10)?;
        }
        Ok(())
    }
}

/// Writes `; name: what 1, what 2` for the counts that are not 0.
fn write_counts(f: &mut fmt::Formatter<'_>, name: &str, counts: &[(&str, u64)]) -> fmt::Result {
    let mut before = format!("; {name}: ");
    for (what, count) in counts.iter().filter(|(_, count)| *count > 0) {
        write!(f, "{before}{what} {count}")?;
        ", ".clone_into(&mut before);
    }
    Ok(())
}
