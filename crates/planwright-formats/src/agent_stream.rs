//! Reads the output of a coding agent in Claude Code's `stream-json` form: JSON objects, one per
//! line.
//!
//! The stream is data from a program that strangers may have influenced. It is read for what
//! happened (session, texts, calls, the result), never for what to do. Everything that is kept has
//! a limit, and a result counts as a success only if every field that reports success says so.
//!
//! [`Stream`] reads bytes in chunks of any size, reports each [`Event`] and accumulates a
//! [`Summary`]. [`outcome`] combines the summary with the exit code; [`classify`] tells whether
//! trying again can help.
//!
//! ```
//! use planwright_formats::agent_stream::{Stream, StreamOutcome, outcome};
//!
//! let mut stream = Stream::new();
//! stream.push(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s1\"}\n", &mut |_| {});
//! stream.push(b"{\"is_error\":false,\"subtype\":\"success\",\"result\":\"Done.\",\"type\":\"result\"}\n", &mut |_| {});
//! let summary = stream.finish(&mut |_| {});
//! assert_eq!(summary.session.as_deref(), Some("s1"));
//! assert_eq!(outcome(&summary, Some(0)), StreamOutcome::Success);
//! ```
//!
//! The array that `--output-format json --verbose` prints is read as its elements. The single
//! object that is printed without `--verbose` is a line like any other.

mod classify;
mod event;
mod stream;

pub use crate::jsonl::MAX_LINE_BYTES;
pub use classify::{ErrorCause, ErrorClass, cause, classify};
pub use event::{AssistantEvent, Event, ResultEvent, TokenUsage, ToolCall, WriteCall};
pub use stream::{FileWrite, Stream, StreamOutcome, Summary, outcome};

/// Maximum size of all texts in [`Summary::texts`], in bytes: 16 MiB, some fifty times the longest
/// answer of a model.
pub const MAX_TEXTS_BYTES: usize = 16 * 1024 * 1024;

/// Maximum size of [`ResultEvent::structured`], in bytes of JSON: 4 MiB. In memory it takes several
/// times the space.
pub const MAX_STRUCTURED_BYTES: usize = 4 * 1024 * 1024;

/// Maximum length of a name, an id or an event type, in bytes. A longer id is dropped; other texts
/// are truncated.
pub const MAX_NAME_BYTES: usize = 256;

/// Maximum number of calls kept for one event, and of errors kept for a result. All calls are
/// counted.
pub const MAX_LISTED: usize = 64;

/// Maximum size of all files in [`Summary::writes`], in bytes: 4 MiB. A report has at most 50,000
/// characters.
pub const MAX_WRITTEN_BYTES: usize = 4 * 1024 * 1024;

/// Maximum number of calls of `Write` that are kept.
pub const MAX_WRITES: usize = 64;

#[cfg(test)]
mod tests;
