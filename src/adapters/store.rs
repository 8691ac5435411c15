//! Adapters of [`crate::engine::store::Store`].
//!
//! SQLite is the embedded default: one file, one process, nothing to install. Every write is on
//! disk (WAL, `synchronous=FULL`) before the call returns; deliveries that arrive together share
//! one commit.

mod sqlite;
pub mod volume;

pub use sqlite::{
    History, Inspected, MAX_WAIT_AFTER_START, SCHEMA, SqliteOptions, SqliteStore, inspect,
};
