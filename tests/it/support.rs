//! Shared test support: the engine's test rig, checks against GitHub's published API description,
//! and third-party peers.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

pub(crate) mod clock;
pub(crate) mod commands;
#[cfg(unix)]
pub(crate) mod confined;
pub(crate) mod fake_agent;
pub(crate) mod fake_checkouts;
pub(crate) mod fake_forge;
pub(crate) mod hostile;
pub(crate) mod model;
pub(crate) mod openapi;
pub(crate) mod peers;
#[cfg(unix)]
pub(crate) mod pgbouncer;
#[cfg(unix)]
pub(crate) mod postgres;
#[cfg(target_os = "linux")]
pub(crate) mod preload;
pub(crate) mod program;
pub(crate) mod prometheus;
pub(crate) mod research;
pub(crate) mod rig;
#[cfg(unix)]
pub(crate) mod shop;
pub(crate) mod system;
pub(crate) mod webhook_examples;
