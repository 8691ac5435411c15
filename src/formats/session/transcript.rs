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
//! transcript is well-formed. Lines go in one by one and text comes out as soon as the head of the document is known:
//! what is held in memory is [`HELD_BYTES`], one line, and a few bytes for each tool call and command text.

mod entry;
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
use filter::Filter;
use judge::Judge;

/// So many bytes of transcript are held back at most while branch, model and the worth of the session are not known.
/// A session whose transcript is longer counts as worth reading.
pub const HELD_BYTES: usize = 1024 * 1024;

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

/// Turns the lines of a log into a transcript.
#[derive(Debug)]
pub struct Transcript {
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

impl Transcript {
    /// A transcript of nothing so far.
    pub fn new(options: Options) -> Self {
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

    /// Takes the next line of the log, with or without its line end. A line that is no entry is counted and skipped.
    pub fn push(&mut self, line: &[u8]) -> Vec<Piece> {
        self.stats.lines += 1;
        self.stats.bytes_in += line.len() as u64;
        if line.trim_ascii().is_empty() {
            return Vec::new();
        }
        self.stats.entries_in += 1;
        let (xml, ready) = match self.read(line) {
            Ok(xml) => (xml, self.is_ready()),
            Err(why) => {
                self.stats.leave_out(why);
                return Vec::new();
            }
        };
        self.stats.entries_out += 1;
        let mut pieces = Vec::new();
        if self.budget.is_some() {
            self.write(xml, &mut pieces);
        } else {
            self.held_bytes += xml.len();
            self.held.push(xml);
            if ready || self.held_bytes > HELD_BYTES {
                self.release(&mut pieces);
            }
        }
        pieces
    }

    /// Counts a line of `bytes` bytes that the caller did not take in because it is too long.
    pub fn skip_long(&mut self, bytes: u64) {
        self.stats.lines += 1;
        self.stats.bytes_in += bytes;
        self.stats.entries_in += 1;
        self.stats.leave_out(LeftOut::TooLong);
    }

    /// The log has ended.
    pub fn finish(mut self) -> End {
        let mut pieces = Vec::new();
        let verdict = match &self.judge {
            Some(judge) if self.budget.is_none() => judge.verdict(),
            _ => Verdict::Worth,
        };
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

    /// The XML of a line's entry.
    fn read(&mut self, line: &[u8]) -> Result<String, LeftOut> {
        let mut entry = entry::read(line)?;
        if let (Some(wanted), Some(has)) = (&self.session_id, &entry.session)
            && wanted != has
        {
            return Err(LeftOut::OtherSession);
        }
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

    fn is_ready(&self) -> bool {
        let worth = self
            .judge
            .as_ref()
            .is_none_or(|judge| judge.decided() == Some(Verdict::Worth));
        worth && self.head.is_complete()
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
