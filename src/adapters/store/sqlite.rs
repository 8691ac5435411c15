//! SQLite: one connection writes, a small pool reads.
//!
//! Writes wait for the single writing connection (first come, first served), so that no two writes
//! meet in the database. Reads see the last commit, and wait only where deliveries are in the inbox.

mod backup;
mod changes;
mod checkpoints;
mod inbox;
mod inspect;
mod open;
mod writer;

use std::path::Path;
use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::sqlite::SqliteConnectOptions;
use tokio_util::sync::CancellationToken;

use self::writer::Writer;
use super::errors::WriteError;
use super::group_commit::Failure;
use super::idle::IdleWorkers;
use super::queries;
use super::queries::accept::EncodedDelivery;
use super::sql::Connection;
use crate::engine::store::{Accepted, StoreError};

pub(super) use backup::damage;
pub use backup::{Restored, backup_sqlite, restore_sqlite};
pub use inspect::{Inspected, SCHEMA, inspect};
pub(super) use open::{open, open_for_reading, real_path};
pub(super) use writer::{Flush, Turn};

/// Options of a SQLite store.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// Maximum number of deliveries that wait to be written before
    /// [`Store::accept`](crate::engine::store::Store::accept) returns [`StoreError::Busy`]; at least
    /// 1.
    pub queue_depth: usize,
    /// Maximum time to wait for another program that holds the database's lock (a backup, a shell).
    pub busy_timeout: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            queue_depth: 1024,
            busy_timeout: Duration::from_secs(5),
        }
    }
}

/// An open SQLite file.
#[derive(Debug)]
pub(super) struct SqliteDatabase {
    pub(super) writer: Writer,
    pub(super) reader: SqlitePool,
    pub(super) idle: IdleWorkers,
    /// Of the connection that makes checkpoints.
    checkpointing: SqliteConnectOptions,
}

/// Checks whether [`SqlStore::open_sqlite`](super::SqlStore::open_sqlite) could use `path`. Opens
/// and changes nothing.
///
/// # Errors
/// Those of opening that can be detected without opening the database.
pub fn check_sqlite(path: &Path) -> Result<(), StoreError> {
    open::check(path)
}

impl SqliteDatabase {
    /// Makes a checkpoint whenever one is due, until `stop`.
    pub(super) async fn make_checkpoints(&self, stop: &CancellationToken) {
        checkpoints::run(&self.writer, &self.checkpointing, stop).await;
    }

    /// Stores deliveries in one transaction and returns one outcome for each, in order.
    pub(super) async fn accept(
        &self,
        deliveries: &[EncodedDelivery],
    ) -> Result<Vec<Accepted>, Failure> {
        let writer = &self.writer;
        let mut turn = writer.turn_to_accept().await.map_err(Failure::database)?;
        let result = accept(&mut turn, deliveries).await;
        let about_the_row = matches!(&result, Err(error) if error.is_about_the_row());
        turn.end(result)
            .map_err(|error| Failure::new(error, about_the_row))
    }
}

async fn accept(
    turn: &mut Turn<'_>,
    deliveries: &[EncodedDelivery],
) -> Result<Vec<Accepted>, WriteError> {
    if turn.write_to_inbox(deliveries).await? {
        return Ok(vec![Accepted::New; deliveries.len()]);
    }
    turn.empty_inbox().await?;
    let mut connection = Connection::from(&mut turn.connection);
    let result = store(&mut connection, deliveries).await;
    let outcomes = connection.settle(result).await?;
    // If this fails, they are stored although the caller gets an error: a redelivery is a duplicate.
    turn.record_changes().await?;
    Ok(outcomes)
}

async fn store(
    connection: &mut Connection<'_>,
    deliveries: &[EncodedDelivery],
) -> Result<Vec<Accepted>, WriteError> {
    connection.begin().await?;
    let outcomes = queries::accept::accept(connection, deliveries).await?;
    connection.execute(changes::COUNT_ONE, &[]).await?;
    connection.commit().await?;
    Ok(outcomes)
}

#[cfg(test)]
mod tests;
