//! The one connection that writes, and the locks that keep other processes away.

use std::fs::File;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tokio::sync::{Mutex, MutexGuard};

use super::changes::{self, Changes};
use super::errors::{self, Trouble};
use crate::engine::store::StoreError;

/// The writing connection behind a fair lock.
#[derive(Debug)]
pub(super) struct Writer {
    options: SqliteConnectOptions,
    slot: Mutex<Slot>,
}

#[derive(Debug)]
struct Slot {
    /// Taken out during a turn. Gone after a failure of the database or a turn that was dropped half-way: the next
    /// turn connects anew, which also rolls back whatever was left open.
    connection: Option<SqliteConnection>,
    /// Held from open to close; `None` once closed.
    held: Option<Held>,
}

/// What belongs to the process that has the store open. Declared after the connection, and so dropped after it.
#[derive(Debug)]
pub(super) struct Held {
    /// The record of changes.
    pub(super) changes: Changes,
    /// The lock file and the database file, locked.
    pub(super) _locks: [File; 2],
}

/// The right to write, until it is ended or dropped.
pub(super) struct Turn<'a> {
    /// The connection.
    pub(super) connection: SqliteConnection,
    slot: MutexGuard<'a, Slot>,
}

impl Writer {
    /// A writer that starts with `connection` and connects anew with `options`.
    pub(super) fn new(
        options: SqliteConnectOptions,
        connection: SqliteConnection,
        held: Held,
    ) -> Self {
        Self {
            options,
            slot: Mutex::new(Slot {
                connection: Some(connection),
                held: Some(held),
            }),
        }
    }

    /// Waits for the right to write.
    pub(super) async fn turn(&self) -> Result<Turn<'_>, StoreError> {
        let mut slot = self.slot.lock().await;
        if slot.held.is_none() {
            return Err(errors::closed());
        }
        let connection = match slot.connection.take() {
            Some(connection) => connection,
            None => self
                .connect()
                .await
                .map_err(|error| errors::failed(&error))?,
        };
        let mut turn = Turn { connection, slot };
        // What the turn before has committed.
        turn.record_changes()
            .await
            .map_err(|error| errors::failed(&error))?;
        Ok(turn)
    }

    async fn connect(&self) -> sqlx::Result<SqliteConnection> {
        let mut connection = self.options.connect().await?;
        changes::count_from_now_on(&mut connection).await?;
        Ok(connection)
    }

    /// Moves everything from the WAL into the database file, closes it and gives the locks up.
    pub(super) async fn close(&self) {
        let mut slot = self.slot.lock().await;
        if let Some(mut connection) = slot.connection.take() {
            if let (Some(held), Ok(count)) =
                (&mut slot.held, changes::counted(&mut connection).await)
            {
                held.changes.note(count);
            }
            let result = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
                .execute(&mut connection)
                .await;
            let result = match result {
                Ok(_) => connection.close().await,
                Err(error) => Err(error),
            };
            if let Err(error) = result {
                // Nothing is lost: the WAL is read at the next start.
                tracing::warn!(error = %errors::sentence(&error), "the database was not closed cleanly");
            }
        }
        slot.held = None;
    }
}

impl Turn<'_> {
    /// Records the changes that are durable by now. Only between transactions.
    pub(super) async fn record_changes(&mut self) -> sqlx::Result<()> {
        let count = changes::counted(&mut self.connection).await?;
        if let Some(held) = &mut self.slot.held {
            held.changes.note(count);
        }
        Ok(())
    }

    /// Ends the turn. The connection is kept unless the database itself failed.
    pub(super) fn end<T>(mut self, result: Result<T, Trouble>) -> Result<T, StoreError> {
        let usable = match &result {
            Err(Trouble::Sql(error)) => errors::is_about_the_row(error),
            _ => true,
        };
        if usable {
            self.slot.connection = Some(self.connection);
        }
        Ok(result?)
    }
}
