//! A session log as a short XML transcript that an agent can read.
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
//! The elements are erk's; attributes are escaped and characters that XML cannot hold are replaced, so that every
//! transcript is well-formed. Bytes go in as they come and text comes out as soon as the head of the document is known:
//! what is held in memory is [`HELD_BYTES`], one line, and a few bytes for each tool call and command text.

mod entry;
mod fields;
mod filter;
mod head;
mod judge;
mod shorten;
mod stats;
mod xml;

#[cfg(test)]
mod tests;

pub use head::Head;
pub use judge::Verdict;
pub use stats::{LeftOut, Stats};

use super::budget::Budget;
use super::lines::{Line, Lines};
use filter::Filter;
use judge::Judge;

/// So many bytes of transcript are held back at most while branch, model and the worth of the session are not known.
/// A session whose transcript is longer counts as worth reading.
pub const HELD_BYTES: usize = 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What a transcript is made of.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Only entries of this session, and entries that name none.
    pub session_id: Option<String>,
    /// Name of an agent's log, such as `agent-1f2e3d4c`, for the head of the document.
    pub source: Option<String>,
    /// Leave out and shorten what tells a reader little; see the `filter` steps in [`Stats`].
    pub filter: bool,
    /// Begin another document where one would hold more estimated tokens; see [`Budget`].
    pub max_tokens: Option<usize>,
}

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that follows what came before.
    Text(String),
    /// The document is complete; what follows is another one.
    NextPart,
}

/// What is left when the log has ended.
#[derive(Debug)]
pub struct End {
    /// The last output. Where [`End::verdict`] is not [`Verdict::Worth`] there is no output at all.
    pub pieces: Vec<Piece>,
    /// Whether the session is worth reading. Always [`Verdict::Worth`] without [`Options::filter`].
    pub verdict: Verdict,
    /// Counts.
    pub stats: Stats,
}

/// Turns the bytes of a log into a transcript.
#[derive(Debug)]
pub struct Transcript {
    lines: Lines,
    writer: Writer,
}

impl Transcript {
    /// A transcript of nothing so far.
    pub fn new(options: Options) -> Self {
        Self {
            lines: Lines::default(),
            writer: Writer::new(options),
        }
    }

    /// Takes the next bytes of the log, cut anywhere. A line that is no entry is counted and skipped.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.writer.stats.bytes_in += chunk.len() as u64;
        self.lines
            .push(chunk, |line| self.writer.line(line, &mut pieces));
        pieces
    }

    /// The log has ended, with or without a line end.
    pub fn finish(self) -> End {
        let Self { lines, mut writer } = self;
        let mut pieces = Vec::new();
        lines.finish(|line| writer.line(line, &mut pieces));
        writer.finish(pieces)
    }
}

/// Turns lines into pieces.
#[derive(Debug)]
struct Writer {
    session_id: Option<String>,
    filter: Option<Filter>,
    judge: Option<Judge>,
    head: Head,
    max_tokens: Option<usize>,
    /// Entries that wait for the head.
    held: Vec<String>,
    held_bytes: usize,
    /// There once the head has been written.
    budget: Option<Budget>,
    /// The message whose token counts were written last; a message fills several entries that repeat them.
    counted: Option<String>,
    stats: Stats,
}

impl Writer {
    fn new(options: Options) -> Self {
        Self {
            session_id: options.session_id,
            filter: options.filter.then(Filter::default),
            judge: options.filter.then(Judge::default),
            head: Head::new(options.source),
            max_tokens: options.max_tokens,
            held: Vec::new(),
            held_bytes: 0,
            budget: None,
            counted: None,
            stats: Stats::default(),
        }
    }

    fn line(&mut self, line: Line<'_>, pieces: &mut Vec<Piece>) {
        self.stats.lines += 1;
        let read = match line {
            Line::TooLong => Err(LeftOut::TooLong),
            Line::Bytes(bytes) => {
                let bytes = match bytes.strip_prefix(BYTE_ORDER_MARK) {
                    Some(rest) if self.stats.lines == 1 => rest,
                    _ => bytes,
                };
                if bytes.trim_ascii().is_empty() {
                    return;
                }
                self.read(bytes)
            }
        };
        self.stats.entries_in += 1;
        match read {
            Ok(xml) => self.take(xml, pieces),
            Err(why) => self.stats.leave_out(why),
        }
    }

    /// The XML of a line's entry.
    fn read(&mut self, line: &[u8]) -> Result<String, LeftOut> {
        let mut entry = entry::read(line, self.session_id.as_deref())?;
        if entry.message.is_some() && entry.message == self.counted {
            entry.usage = None;
        } else if entry.usage.is_some() {
            self.counted.clone_from(&entry.message);
        }
        if let Some(filter) = &mut self.filter {
            filter.apply(&mut entry, &mut self.stats)?;
        }
        self.head.note(&entry);
        if let Some(judge) = &mut self.judge {
            judge.note(&entry);
        }
        let xml = xml::entry(&entry);
        if xml.is_empty() {
            return Err(LeftOut::Blank);
        }
        Ok(xml)
    }

    /// Writes an entry, or holds it back until the head can be written.
    fn take(&mut self, xml: String, pieces: &mut Vec<Piece>) {
        self.stats.entries_out += 1;
        if self.budget.is_some() {
            self.write(xml, pieces);
            return;
        }
        self.held_bytes += xml.len();
        self.held.push(xml);
        let ready = self.verdict() == Verdict::Worth && self.head.is_complete();
        if ready || self.held_bytes > HELD_BYTES {
            self.release(pieces);
        }
    }

    /// [`Verdict::Worth`] is final, as is whatever has begun to be written.
    fn verdict(&self) -> Verdict {
        match &self.judge {
            Some(judge) if self.budget.is_none() => judge.verdict(),
            _ => Verdict::Worth,
        }
    }

    fn finish(mut self, mut pieces: Vec<Piece>) -> End {
        let verdict = self.verdict();
        if verdict == Verdict::Worth {
            if self.budget.is_none() {
                self.release(&mut pieces);
            }
            self.text(xml::CLOSE.to_owned(), &mut pieces);
        } else {
            self.stats.entries_out = 0;
        }
        End {
            pieces,
            verdict,
            stats: self.stats,
        }
    }

    /// Writes the head and what waited for it.
    fn release(&mut self, pieces: &mut Vec<Piece>) {
        self.budget = Some(Budget::new(&self.head, self.max_tokens));
        self.text(self.head.open(), pieces);
        for xml in std::mem::take(&mut self.held) {
            self.write(xml, pieces);
        }
    }

    fn write(&mut self, xml: String, pieces: &mut Vec<Piece>) {
        let another = self
            .budget
            .as_mut()
            .is_some_and(|budget| !budget.takes(&xml));
        if another {
            self.text(xml::CLOSE.to_owned(), pieces);
            pieces.push(Piece::NextPart);
            self.text(self.head.open(), pieces);
        }
        self.text(xml, pieces);
    }

    fn text(&mut self, text: String, pieces: &mut Vec<Piece>) {
        self.stats.bytes_out += text.len() as u64;
        pieces.push(Piece::Text(text));
    }
}
