//! Renders a session log as a short XML transcript for an agent to read.
//!
//! ```text
//! <session>
//!   <meta branch="main" />
//!   <user>Why is the export slow?</user>
//!   <assistant>I look at the query first.</assistant>
//!   <tool_use name="Read" id="toolu_01">
//!     <param name="file_path">/src/export.rs</param>
//!   </tool_use>
//!   <tool_result tool="toolu_01">
//! fn export() …
//!   </tool_result>
//! </session>
//! ```
//!
//! The elements are erk's. Attributes are escaped and characters that XML cannot represent are
//! replaced, so every transcript is well-formed. The log is read in chunks, and text is returned as
//! soon as the head of the document is known: memory holds up to `MAX_HELD_BYTES`, one line, and
//! a few bytes for each tool call and command text.

mod entry;
mod filter;
mod stats;
mod xml;

#[cfg(test)]
mod tests;

pub use filter::Verdict;
pub use stats::{LeftOut, Stats};

use crate::jsonl::{Line, Lines, non_blank};
use entry::{Entry, Usage};
use filter::{Filter, VerdictBuilder};
use xml::Head;

/// Maximum size of the transcript that is held back, in bytes, until branch, model and verdict are
/// known. A session whose transcript is longer counts as worth reading.
const MAX_HELD_BYTES: usize = 1024 * 1024;

/// Characters per token (erk's estimate).
const CHARS_PER_TOKEN: usize = 4;

/// Options of a transcript.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Include only entries of this session, and those without a session id.
    pub session_id: Option<String>,
    /// Name of an agent's log, such as `agent-1f2e3d4c`, for the head of the document.
    pub source: Option<String>,
    /// Omit and shorten what is of little use to a reader, as [`Stats`] counts it.
    pub filter: bool,
    /// Maximum size of a document in estimated tokens (a quarter of the characters); a longer
    /// transcript is split between entries.
    ///
    /// The estimates of the entries are each rounded down, as in erk, so a document can exceed the
    /// limit by one token per entry. An entry that alone is over the limit gets a document of its
    /// own.
    pub max_tokens: Option<usize>,
}

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that continues the document.
    Text(String),
    /// The document is complete; the following text belongs to another one.
    NextPart,
}

/// The rest of a transcript, returned at the end of the log.
#[derive(Debug)]
pub struct TranscriptEnd {
    /// The last output. There is no output at all unless the verdict is [`Verdict::Worth`].
    pub pieces: Vec<Piece>,
    /// Whether the session is worth reading. Always [`Verdict::Worth`] without [`Options::filter`].
    pub verdict: Verdict,
    /// Counts.
    pub stats: Stats,
}

/// Converts a log to a transcript.
#[derive(Debug)]
pub struct Transcript {
    lines: Lines,
    writer: Writer,
}

impl Transcript {
    /// Creates a transcript of an empty log.
    pub fn new(options: Options) -> Self {
        Self {
            lines: Lines::default(),
            writer: Writer {
                session_id: options.session_id,
                filter: options
                    .filter
                    .then(|| (Filter::default(), VerdictBuilder::default())),
                head: Head::new(options.source),
                max_tokens: options.max_tokens,
                ..Writer::default()
            },
        }
    }

    /// Reads the next bytes of the log, split anywhere. A line that is not an entry is counted and
    /// skipped.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.writer.stats.bytes_in += chunk.len() as u64;
        self.lines
            .push(chunk, |line| self.writer.add_line(line, &mut pieces));
        pieces
    }

    /// Ends the log, with or without a line end.
    pub fn finish(self) -> TranscriptEnd {
        let Self { lines, mut writer } = self;
        let mut pieces = Vec::new();
        lines.finish(|line| writer.add_line(line, &mut pieces));
        writer.finish(pieces)
    }
}

/// Converts lines to pieces of output.
#[derive(Debug, Default)]
struct Writer {
    session_id: Option<String>,
    filter: Option<(Filter, VerdictBuilder)>,
    head: Head,
    max_tokens: Option<usize>,
    /// Entries that wait for the head.
    held: Vec<String>,
    held_bytes: usize,
    /// Set once the head has been written.
    budget: Option<Budget>,
    /// The last entry, if the token counts of its message may have to follow it.
    pending: Option<PendingEntry>,
    stats: Stats,
}

/// An entry that waits for the next one.
#[derive(Debug)]
struct PendingEntry {
    message: String,
    usage: Usage,
    xml: String,
}

impl Writer {
    fn add_line(&mut self, line: Line<'_>, pieces: &mut Vec<Piece>) {
        self.stats.lines += 1;
        let entry = match line {
            Line::TooLong => Err(LeftOut::TooLong),
            Line::Bytes(bytes) => match non_blank(bytes, self.stats.lines) {
                Some(bytes) => self.parse(bytes),
                None => return,
            },
        };
        self.stats.entries_in += 1;
        match entry {
            Ok((xml, entry)) => self.add_entry(xml, entry, pieces),
            Err(reason) => self.stats.leave_out(reason),
        }
    }

    fn parse(&mut self, line: &[u8]) -> Result<(String, Entry), LeftOut> {
        let mut entry = entry::parse(line, self.session_id.as_deref())?;
        if let Some(pending) = &mut self.pending
            && entry.message.as_ref() == Some(&pending.message)
        {
            pending.usage = entry.usage.unwrap_or(pending.usage);
        }
        if let Some((filter, _)) = &mut self.filter {
            filter.apply(&mut entry, &mut self.stats)?;
        }
        self.head.add_entry(&entry);
        if let Some((_, verdict)) = &mut self.filter {
            verdict.add_entry(&entry);
        }
        let xml = xml::entry(&entry);
        if xml.is_empty() {
            return Err(LeftOut::Blank);
        }
        Ok((xml, entry))
    }

    /// Appends the token counts to the last entry of a message: a message spans several entries,
    /// and its counts grow.
    fn add_entry(&mut self, mut xml: String, entry: Entry, pieces: &mut Vec<Piece>) {
        let mut carried = None;
        if let Some(mut before) = self.pending.take() {
            if entry.message.as_ref() == Some(&before.message) {
                carried = Some(before.usage);
            } else {
                before.xml.push_str(&xml::usage(before.usage));
            }
            self.write_or_hold(before.xml, pieces);
        }
        match (entry.message, entry.usage.or(carried)) {
            (Some(message), Some(usage)) => {
                self.pending = Some(PendingEntry {
                    message,
                    usage,
                    xml,
                });
            }
            (_, usage) => {
                if let Some(usage) = usage {
                    xml.push_str(&xml::usage(usage));
                }
                self.write_or_hold(xml, pieces);
            }
        }
    }

    fn write_or_hold(&mut self, xml: String, pieces: &mut Vec<Piece>) {
        self.stats.entries_out += 1;
        if self.budget.is_some() {
            self.write(xml, pieces);
            return;
        }
        self.held_bytes += xml.len();
        self.held.push(xml);
        let ready = self.verdict() == Verdict::Worth && self.head.is_complete();
        if ready || self.held_bytes > MAX_HELD_BYTES {
            self.release(pieces);
        }
    }

    /// [`Verdict::Worth`] is final, as is the decision to begin writing.
    fn verdict(&self) -> Verdict {
        match &self.filter {
            Some((_, verdict)) if self.budget.is_none() => verdict.verdict(),
            _ => Verdict::Worth,
        }
    }

    fn finish(mut self, mut pieces: Vec<Piece>) -> TranscriptEnd {
        if let Some(mut last) = self.pending.take() {
            last.xml.push_str(&xml::usage(last.usage));
            self.write_or_hold(last.xml, &mut pieces);
        }
        let verdict = self.verdict();
        if verdict == Verdict::Worth {
            if self.budget.is_none() {
                self.release(&mut pieces);
            }
            self.push_text(xml::CLOSE.to_owned(), &mut pieces);
        } else {
            self.stats.leave_out_all();
        }
        TranscriptEnd {
            pieces,
            verdict,
            stats: self.stats,
        }
    }

    /// Writes the head and the entries that waited for it.
    fn release(&mut self, pieces: &mut Vec<Piece>) {
        self.budget = Some(Budget::new(&self.head, self.max_tokens));
        self.push_text(self.head.open(), pieces);
        for xml in std::mem::take(&mut self.held) {
            self.write(xml, pieces);
        }
    }

    fn write(&mut self, xml: String, pieces: &mut Vec<Piece>) {
        if let Some(budget) = &mut self.budget
            && !budget.add_entry(&xml)
        {
            self.push_text(xml::CLOSE.to_owned(), pieces);
            pieces.push(Piece::NextPart);
            self.push_text(self.head.open(), pieces);
        }
        self.push_text(xml, pieces);
    }

    fn push_text(&mut self, text: String, pieces: &mut Vec<Piece>) {
        self.stats.bytes_out += text.len() as u64;
        pieces.push(Piece::Text(text));
    }
}

/// Counts the tokens of the current document; see [`Options::max_tokens`].
#[derive(Debug, Clone)]
struct Budget {
    max_tokens: Option<usize>,
    /// Tokens of a document without entries.
    overhead: usize,
    /// Tokens of the entries of this document; `None` before the first.
    used: Option<usize>,
}

impl Budget {
    fn new(head: &Head, max_tokens: Option<usize>) -> Self {
        let frame = "<session>\n</session>".len() / CHARS_PER_TOKEN;
        Self {
            max_tokens,
            overhead: frame + head.lines().map(|line| estimate(&line)).sum::<usize>(),
            used: None,
        }
    }

    /// Counts an entry. Returns false if it must begin another document.
    fn add_entry(&mut self, entry: &str) -> bool {
        let Some(max_tokens) = self.max_tokens else {
            return true;
        };
        let tokens = estimate(entry.strip_suffix('\n').unwrap_or(entry));
        let after = self.used.map_or(tokens, |used| used + tokens);
        let fits = self.used.is_none() || after + self.overhead <= max_tokens;
        self.used = Some(if fits { after } else { tokens });
        fits
    }
}

/// Estimates the tokens of `text`: a quarter of its characters, rounded down.
fn estimate(text: &str) -> usize {
    text.chars().count() / CHARS_PER_TOKEN
}
