//! The integration tests: one binary, one module for each area.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cli_program;
mod config_errors;
mod receiver_limits;
mod receiver_support;
mod receiver_table;
