//! What a coding agent prints while it works, in Claude Code's `stream-json` form: JSON objects, one a line.
//!
//! The stream is data from a program that a conversation with strangers has influenced. It is read for what happened
//! (session, texts, calls, the result), never for what to do. Everything that is kept has a limit, and nothing is taken
//! for success that does not say so in every place where it could.
//!
//! [`Stream`] takes bytes in any chunks, reports each [`Event`], and adds up a [`Summary`]. With the exit code,
//! [`outcome`] says what the whole amounts to, and [`classify`] whether trying again can help.
//!
//! ```
//! use planwright_formats::agent_stream::{Outcome, Stream, outcome};
//!
//! let mut stream = Stream::new();
//! stream.push(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s1\"}\n", &mut |_| {});
//! stream.push(b"{\"is_error\":false,\"subtype\":\"success\",\"result\":\"Done.\",\"type\":\"result\"}\n", &mut |_| {});
//! let summary = stream.finish(&mut |_| {});
//! assert_eq!(summary.session.as_deref(), Some("s1"));
//! assert_eq!(outcome(&summary, Some(0)), Outcome::Success);
//! ```
//!
//! The array that `--output-format json --verbose` prints is read as its elements, and the one object that it prints
//! without `--verbose` is a line like any other.

mod classify;
mod event;
mod reader;
mod summary;
mod writes;

pub use classify::{Cause, Class, cause, classify};
pub use event::{Event, Final, Said, Tool};
pub use reader::Stream;
pub use summary::{Outcome, Summary, outcome};
pub use writes::{WriteCall, Wrote};

/// The longest line that is read, in bytes: 64 MiB. Longer ones are counted and passed over, in memory too. A line holds
/// what a tool answered, twice, so a file of a repository can make it long; the client itself takes input of 10 MB.
pub const LINE_MAX: usize = super::session::lines::MAX_LINE_BYTES;

/// Bytes of all texts in [`Summary::texts`]: 16 MiB, some fifty times the longest answer of a model.
pub const TEXTS_MAX: usize = 16 * 1024 * 1024;

/// Bytes of JSON of [`Final::structured`]: 4 MiB. More is not built in memory, where it takes many times the room.
pub const STRUCTURED_MAX: usize = 4 * 1024 * 1024;

/// Bytes of a name, an id or a kind. A longer id is none; of other words the beginning is kept.
pub const NAME_MAX: usize = 256;

/// How many calls of one event, and how many errors of a result, are kept; all calls are counted.
pub const LISTED_MAX: usize = 64;

/// Bytes of all files in [`Summary::writes`]: 4 MiB. The longest report that is taken has 50,000 characters.
pub const WRITTEN_MAX: usize = 4 * 1024 * 1024;

/// How many calls of `Write` are kept.
pub const WRITES_MAX: usize = 64;

#[cfg(test)]
mod tests;
