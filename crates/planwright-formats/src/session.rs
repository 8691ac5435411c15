//! Claude Code session logs: which session, which plan, which plan file; the log as a transcript.
//!
//! A log is JSON Lines: one entry a line, in the order in which things happened. Real logs reach gigabytes, lines 50 MB.
//! So nothing here holds a log: [`Feed`] takes bytes in any chunks, [`Scan`] takes lines, and both give a [`Scanned`].
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
//! Which text is the plan, and which of several: [`plan`]. What counts as an entry: [`entry`]. What an agent reads of a log:
//! [`transcript`], in parts by [`budget`]; what older erk kept of logs in comments: [`content`].

pub mod budget;
pub mod chunk;
pub mod content;
pub mod entry;
pub mod lines;
pub(crate) mod members;
mod message;
pub mod paths;
pub mod plan;
mod plans;
pub mod scan;
pub mod time;
pub mod transcript;

pub use entry::Entry;
pub use plan::{PlanSource, SessionPlan};
pub use scan::{Feed, Scan, Scanned, scan};
