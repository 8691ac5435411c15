//! The agent runner against the real Claude Code client, in its sandbox, with a stub of the model's API behind it: what
//! the flags hold back, what a turn ends as, what a session remembers, and that no process is left.
//!
//! What the stub cannot show is how a real model behaves. The client is pinned in `tests/peers/claude`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod ends;
mod errors;
mod files;
mod hostile;
pub(crate) mod processes;
mod project;
mod rig;
mod sandbox;
mod sessions;
mod turns;
