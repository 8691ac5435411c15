//! Claude Code session logs.

pub mod budget;
pub mod chunk;
pub mod content;
pub mod transcript;
