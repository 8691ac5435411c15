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
mod writer;
mod xml;

#[cfg(test)]
mod tests;

pub use head::Head;
pub use judge::Verdict;
pub use stats::{LeftOut, Stats};

use super::lines::Lines;
use writer::Writer;

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
    /// Begin another document where one would hold more estimated tokens; see [`super::budget::Budget`].
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
