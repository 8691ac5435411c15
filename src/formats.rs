//! The ground floor: text ⇄ values. Pure: no I/O, no async, no clock.

pub mod block;
pub mod command;
pub mod markdown;
pub mod plan;
pub mod session;
pub mod thread_file;
pub mod yaml;
