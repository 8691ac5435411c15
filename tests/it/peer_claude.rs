//! Tests of the agent runner with the real Claude Code client in its sandbox and a stub of the
//! model's API: what the flags prevent, how turns end, what a session remembers, and that no
//! process survives.
//!
//! The stub cannot show how a real model behaves. The version of the client is pinned in
//! `tests/peers/claude`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod ends;
mod errors;
mod files;
pub(crate) mod hostile;
mod network;
pub(crate) mod processes;
mod project;
mod rig;
mod sandbox;
mod sessions;
mod turns;
