//! Adapters of [`crate::engine::store::Store`].
//!
//! SQLite is the embedded default: one file, one process, nothing to install. Every write is on
//! disk (WAL, `synchronous=FULL`) before the call returns, except claims and heartbeats, of which
//! nothing has to survive a power failure; deliveries that arrive together share one commit.
//! PostgreSQL is for several processes that share the work. Both execute the same statements.

mod check;
mod copy;
mod copy_of;
mod database;
mod errors;
mod group_commit;
mod history;
mod idle;
mod migrations;
mod postgres;
mod queries;
mod sql;
mod sql_store;
mod sqlite;
pub mod volume;

use std::time::Duration;

pub use check::{Checked, check_store};
pub use copy::{
    Column, Compared, Content, Copied, CopyOptions, Kind, Location, NOT_COPIED, Progress, TABLES,
    Table, copy,
};
pub use history::History;
pub use postgres::{InspectedPostgres, PostgresOptions, inspect_postgres};
pub use sql_store::SqlStore;
pub use sqlite::{
    Inspected, Restored, SCHEMA, SqliteOptions, backup_sqlite, check_sqlite, inspect,
    restore_sqlite,
};

/// Longest time that a waiting run waits after the start of a SQLite store before it is looked at:
/// the longest default pause after a fault. A run that has to wait longer, for people or a limit,
/// then waits again.
pub const MAX_WAIT_AFTER_START: Duration = Duration::from_mins(5);

/// Number of times that an operation is executed again after a conflict with other processes.
const MAX_CONFLICTS: u32 = 5;
