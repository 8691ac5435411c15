//! Claude Code session logs: finds the plan, the plan files and the sessions of a log, and renders
//! it as a transcript.
//!
//! A log is JSON Lines: one entry per line, in chronological order. Real logs reach gigabytes, and
//! lines 50 MB, so nothing here holds a whole log: [`Scanner`] reads bytes in chunks of any size
//! and returns a [`ScanResult`].
//!
//! ```
//! use planwright_formats::session::scan;
//!
//! let log = concat!(
//!     r#"{"sessionId":"s1","timestamp":"2026-01-02T10:00:00.000Z","message":{"role":"assistant","content":["#,
//!     r##"{"type":"tool_use","id":"t1","name":"ExitPlanMode","input":{"plan":"# Add a cache\n"}}]}}"##,
//! );
//! let plan = scan(log.as_bytes(), None).plan.unwrap();
//! assert_eq!(plan.text, "# Add a cache\n");
//! ```
//!
//! [`plan`] defines which text is the plan of a session. [`transcript`] renders a log for an agent
//! to read. [`content`] reads the transcripts that older versions of erk stored in comments.

pub mod content;
mod entry;
mod message;
pub mod paths;
pub mod plan;
mod scan;
pub mod transcript;

pub use crate::jsonl::MAX_LINE_BYTES;
pub use entry::{Entry, Malformed, format_timestamp, parse_timestamp};
pub use plan::{PlanSource, SessionPlan};
pub use scan::{ScanResult, Scanner, scan};
