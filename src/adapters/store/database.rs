//! The two databases behind [`SqlStore`](super::SqlStore).

use sqlx::Sqlite;
use sqlx::pool::PoolConnection;
use tokio_util::sync::CancellationToken;

use super::errors::{WriteError, failed};
use super::group_commit::Failure;
use super::queries::accept::EncodedDelivery;
use super::sql::Connection;
use super::sqlite::Flush;
use super::{postgres, sqlite};
use crate::engine::store::{Accepted, StoreError};

/// An open database.
#[derive(Debug)]
pub(super) enum Database {
    Sqlite(Box<sqlite::SqliteDatabase>),
    Postgres(postgres::PostgresDatabase),
}

/// The use of a connection until it is ended or dropped.
pub(super) enum Turn<'a> {
    /// SQLite's writing connection.
    Writer(sqlite::Turn<'a>),
    /// One of SQLite's reading connections.
    Reader(PoolConnection<Sqlite>),
    /// A connection to PostgreSQL.
    Postgres(postgres::Turn),
}

impl Turn<'_> {
    /// Returns the connection.
    pub(super) fn connection(&mut self) -> Connection<'_> {
        match self {
            Self::Writer(turn) => (&mut turn.connection).into(),
            Self::Reader(connection) => (&mut **connection).into(),
            Self::Postgres(turn) => turn.connection().into(),
        }
    }

    /// Ends the turn. The connection is kept unless the database itself failed.
    pub(super) fn end<T>(self, result: Result<T, WriteError>) -> Result<T, StoreError> {
        match self {
            Self::Writer(turn) => turn.end(result),
            Self::Reader(_) => Ok(result?),
            Self::Postgres(turn) => turn.end(result),
        }
    }
}

impl Database {
    /// Waits for a connection for writing. PostgreSQL flushes every commit: other processes, which
    /// know of one that a failure of its server undoes, would continue.
    pub(super) async fn writer(&self, flush: Flush) -> Result<Turn<'_>, StoreError> {
        match self {
            Self::Sqlite(database) => Ok(Turn::Writer(database.writer.turn(flush).await?)),
            Self::Postgres(database) => Ok(Turn::Postgres(database.turn().await?)),
        }
    }

    /// Waits for a connection for reading.
    pub(super) async fn reader(&self) -> Result<Turn<'_>, StoreError> {
        match self {
            Self::Sqlite(database) => {
                database.writer.empty_inbox().await?;
                self.reader_beside_inbox().await
            }
            Self::Postgres(_) => self.reader_beside_inbox().await,
        }
    }

    /// Waits for a connection for reading what deliveries do not change: the inbox is left as it is.
    pub(super) async fn reader_beside_inbox(&self) -> Result<Turn<'_>, StoreError> {
        match self {
            Self::Sqlite(database) => {
                let connection = database.reader.acquire().await.map_err(failed)?;
                Ok(Turn::Reader(connection))
            }
            Self::Postgres(database) => Ok(Turn::Postgres(database.turn().await?)),
        }
    }

    /// Stores deliveries in one transaction and returns one outcome for each, in order.
    pub(super) async fn accept(
        &self,
        deliveries: &[EncodedDelivery],
    ) -> Result<Vec<Accepted>, Failure> {
        match self {
            Self::Sqlite(database) => database.accept(deliveries).await,
            Self::Postgres(database) => database.accept(deliveries).await,
        }
    }

    /// Whether it has deliveries that were accepted and not stored yet.
    pub(super) fn has_inbox(&self) -> bool {
        matches!(self, Self::Sqlite(database) if database.writer.is_inbox_filled())
    }

    /// Stores some of the deliveries that were accepted and not stored yet, if there are any.
    pub(super) async fn store_some_accepted(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(database) => database.writer.expand_some().await,
            Self::Postgres(_) => Ok(()),
        }
    }

    /// Makes checkpoints of SQLite's WAL beside the writes, until `stop`.
    pub(super) async fn make_checkpoints(&self, stop: &CancellationToken) {
        if let Self::Sqlite(database) = self {
            database.make_checkpoints(stop).await;
        }
    }

    /// Wakes a worker after a change that may have made a run claimable, or after a claim, because
    /// there may be more runs: one of this process, or where all are busy, one of each of the others
    /// that share the database.
    pub(super) fn wake(&self) {
        match self {
            Self::Sqlite(database) => {
                database.idle.wake();
            }
            Self::Postgres(database) => {
                if !database.idle.wake() {
                    database.notify_others();
                }
            }
        }
    }

    /// Waits until [`Database::wake`] is called, here or in another process.
    pub(super) async fn work_arrived(&self) {
        match self {
            Self::Sqlite(database) => database.idle.wait().await,
            Self::Postgres(database) => database.idle.wait().await,
        }
    }

    /// Closes all connections.
    pub(super) async fn close(&self) {
        match self {
            Self::Sqlite(database) => {
                if let Err(error) = database.writer.empty_inbox().await {
                    tracing::warn!(%error, "accepted deliveries will be stored at the next start");
                }
                // Readers first: a reader would prevent the last checkpoint from truncating the WAL.
                database.reader.close().await;
                database.writer.close().await;
            }
            Self::Postgres(database) => database.close().await,
        }
    }
}
