//! The text formats of implementation plans on GitHub, read and written: slash commands, erk
//! metadata blocks, plan documents, action plans, questions, reports, specifications, session logs
//! and agent streams.
//!
//! Everything here is a pure function of its input: no I/O, no async, no clock. Readers are
//! tolerant, return values and diagnostics, and never panic; what is written reads back.
#![forbid(unsafe_code)]

pub mod action_plan;
pub mod agent_stream;
pub mod block;
pub mod command;
pub mod erk;
pub mod front_matter;
pub mod hidden;
mod jsonl;
pub mod markdown;
pub mod plan;
pub mod question;
pub mod report;
pub mod session;
pub mod specification;
pub mod text;
pub mod thread_file;
pub mod vocabulary;
mod words;
pub mod yaml;
