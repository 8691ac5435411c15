//! The ground floor: text ⇄ values. Pure: no I/O, no async, no clock.

pub mod action_plan;
pub mod agent_stream;
pub mod block;
pub mod command;
pub mod erk;
pub mod hidden;
pub mod markdown;
pub mod plan;
pub mod question;
pub mod report;
pub mod session;
pub mod specification;
pub mod thread_file;
pub mod vocabulary;
pub mod yaml;
