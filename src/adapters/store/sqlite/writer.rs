//! The single writing connection, and the locks that exclude other processes.

use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tokio::sync::{Mutex, MutexGuard, Notify};

use super::super::errors::{self, WriteError};
use super::super::queries::accept::EncodedDelivery;
use super::changes::{self, Changes};
use super::inbox::Inbox;
use super::open::PAGE_SIZE;
use crate::engine::store::StoreError;

/// Number of pages in the WAL after which a checkpoint is due, which slows down the writes beside
/// it. Roughly as many as fit into the first block of SQLite's index of the WAL: 4,062
/// (<https://sqlite.org/walformat.html>).
const CHECKPOINT_PAGES: usize = 4_000;

/// Number of pages that a turn writes, beside the texts in the inbox.
const PAGES_OF_TURN: usize = 10;

/// When commits are written to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    /// Each one before it returns.
    Now,
    /// With the next one that is flushed. Until then they survive the process, but a power failure
    /// may undo them, the last ones first (`synchronous=NORMAL`,
    /// <https://sqlite.org/pragma.html#pragma_synchronous>).
    Later,
}

impl Flush {
    fn pragma(self) -> &'static str {
        match self {
            Self::Now => "PRAGMA synchronous = FULL",
            Self::Later => "PRAGMA synchronous = NORMAL",
        }
    }
}

/// The writing connection behind a fair lock.
#[derive(Debug)]
pub(crate) struct Writer {
    options: SqliteConnectOptions,
    slot: Mutex<Slot>,
    /// Whether the inbox may contain deliveries. Set before they are acknowledged.
    filled: AtomicBool,
    /// Number of pages written since the last checkpoint, roughly.
    pages: AtomicUsize,
    checkpoint_due: Notify,
}

#[derive(Debug)]
struct Slot {
    /// Taken out during a turn. `None` after a failure of the database or a turn that was dropped
    /// half-way: the next turn reconnects, which also rolls back an open transaction.
    connection: Option<SqliteConnection>,
    /// What is set on the connection.
    flush: Flush,
    /// Number of changes in the database when that was set, or when it was last looked at.
    changes: i64,
    /// Held from open to close; `None` once closed.
    resources: Option<Resources>,
    inbox: Inbox,
}

/// Files that the process holds while the store is open. Declared after the connection and
/// therefore dropped after it.
#[derive(Debug)]
pub(super) struct Resources {
    /// The record of changes.
    pub(super) changes: Changes,
    /// The lock file and the database file, locked.
    pub(super) _locks: [File; 2],
}

/// Exclusive use of the writing connection until it is ended or dropped.
pub(crate) struct Turn<'a> {
    /// The connection.
    pub(crate) connection: SqliteConnection,
    slot: MutexGuard<'a, Slot>,
    writer: &'a Writer,
}

impl Writer {
    /// Creates a writer that starts with `connection` and reconnects with `options`.
    pub(super) fn new(
        options: SqliteConnectOptions,
        connection: SqliteConnection,
        resources: Resources,
    ) -> Self {
        Self {
            options,
            slot: Mutex::new(Slot {
                connection: Some(connection),
                flush: Flush::Now,
                changes: resources.changes.recorded(),
                resources: Some(resources),
                inbox: Inbox::unread(),
            }),
            filled: AtomicBool::new(true),
            pages: AtomicUsize::new(0),
            checkpoint_due: Notify::new(),
        }
    }

    /// Waits for the writing connection, whose commits are flushed as `flush` says. What was accepted
    /// before is stored then; if that is much, other turns take place in between.
    pub(crate) async fn turn(&self, flush: Flush) -> Result<Turn<'_>, StoreError> {
        let mut accepted = None;
        loop {
            let mut turn = self.lock().await?;
            // The changes that the previous turn committed.
            turn.record_changes().await.map_err(errors::failed)?;
            let accepted = *accepted.get_or_insert(turn.slot.inbox.written());
            if !turn.slot.inbox.is_expanded_to(accepted)
                && let Err(error) = turn.expand_some().await
            {
                return turn.end(Err(error));
            }
            if turn.slot.inbox.is_expanded_to(accepted) {
                turn.set_flush(flush).await.map_err(errors::failed)?;
                return Ok(turn);
            }
            turn.end(Ok(()))?;
        }
    }

    /// Waits for the writing connection, with deliveries in the inbox.
    pub(super) async fn turn_to_accept(&self) -> Result<Turn<'_>, StoreError> {
        let mut turn = self.lock().await?;
        if turn.slot.inbox.is_full()
            && let Err(error) = turn.expand_some().await
        {
            return turn.end(Err(error));
        }
        turn.set_flush(Flush::Now).await.map_err(errors::failed)?;
        Ok(turn)
    }

    /// Whether the inbox may contain deliveries.
    pub(crate) fn is_inbox_filled(&self) -> bool {
        self.filled.load(Ordering::Acquire)
    }

    /// Stores what is in the inbox, if anything is.
    pub(crate) async fn empty_inbox(&self) -> Result<(), StoreError> {
        if !self.is_inbox_filled() {
            return Ok(());
        }
        self.turn(Flush::Later).await?.end(Ok(()))
    }

    /// Stores a part of what is in the inbox, if anything is.
    pub(crate) async fn expand_some(&self) -> Result<(), StoreError> {
        if !self.is_inbox_filled() {
            return Ok(());
        }
        let mut turn = self.lock().await?;
        // Another turn may have emptied it meanwhile.
        let expanded = if self.is_inbox_filled() {
            turn.expand_some().await
        } else {
            Ok(())
        };
        turn.end(expanded)
    }

    async fn lock(&self) -> Result<Turn<'_>, StoreError> {
        let mut slot = self.slot.lock().await;
        if slot.resources.is_none() {
            return Err(errors::closed());
        }
        let connection = if let Some(connection) = slot.connection.take() {
            connection
        } else {
            // It is not known what the last turn did.
            self.filled.store(true, Ordering::Release);
            slot.inbox = slot.inbox.forget();
            let (connection, count) = self.connect().await.map_err(errors::failed)?;
            (slot.flush, slot.changes) = (Flush::Now, count);
            connection
        };
        Ok(Turn {
            connection,
            slot,
            writer: self,
        })
    }

    /// Connects, and returns the number of changes in the database.
    async fn connect(&self) -> sqlx::Result<(SqliteConnection, i64)> {
        let mut connection = self.options.connect().await?;
        changes::count_from_now_on(&mut connection).await?;
        let count = changes::counted(&mut connection).await?;
        Ok((connection, count))
    }

    fn add_pages(&self, pages: usize) {
        let before = self.pages.fetch_add(pages, Ordering::Relaxed);
        if before < CHECKPOINT_PAGES && before + pages >= CHECKPOINT_PAGES {
            self.checkpoint_due.notify_one();
        }
    }

    /// Waits until a checkpoint is due.
    pub(super) async fn checkpoint_due(&self) {
        self.checkpoint_due.notified().await;
        self.pages.store(0, Ordering::Relaxed);
    }

    /// Makes a checkpoint, unless the store is closed.
    pub(super) async fn checkpoint(&self, how: &'static str) -> sqlx::Result<()> {
        if let Some(connection) = &mut self.slot.lock().await.connection {
            sqlx::query(how).execute(connection).await?;
        }
        Ok(())
    }

    /// Moves everything from the WAL into the database file, closes it and releases the locks.
    pub(crate) async fn close(&self) {
        let mut slot = self.slot.lock().await;
        if let Some(mut connection) = slot.connection.take() {
            let result = match slot.flush_all(&mut connection).await {
                Ok(()) => connection.close().await,
                Err(error) => Err(error),
            };
            if let Err(error) = result {
                // Nothing is lost: the WAL is read at the next start.
                tracing::warn!(error = %errors::sentence(&error), "the database was not closed cleanly");
            }
        }
        slot.resources = None;
    }
}

impl Slot {
    /// Moves everything from the WAL into the database file, and records the number of changes.
    async fn flush_all(&mut self, connection: &mut SqliteConnection) -> sqlx::Result<()> {
        let is_busy: bool = sqlx::query_scalar("PRAGMA wal_checkpoint(TRUNCATE)")
            .fetch_one(&mut *connection)
            .await?;
        let count = changes::counted(connection).await?;
        if let Some(resources) = self.resources.as_mut().filter(|_| !is_busy) {
            resources.changes.note(count);
        }
        Ok(())
    }
}

impl Turn<'_> {
    /// Records the number of changes that are durable. Call it between transactions only.
    pub(super) async fn record_changes(&mut self) -> sqlx::Result<()> {
        let count = changes::counted(&mut self.connection).await?;
        let slot = &mut *self.slot;
        // One that was flushed has flushed those before it.
        if slot.flush == Flush::Now
            && count > slot.changes
            && let Some(resources) = &mut slot.resources
        {
            resources.changes.note(count);
        }
        slot.changes = count;
        Ok(())
    }

    /// Sets when the following commits are flushed.
    async fn set_flush(&mut self, flush: Flush) -> sqlx::Result<()> {
        if self.slot.flush == flush {
            return Ok(());
        }
        self.record_changes().await?;
        // Not as a prepared statement: it takes effect when it is compiled.
        sqlx::raw_sql(flush.pragma())
            .execute(&mut self.connection)
            .await?;
        self.slot.flush = flush;
        Ok(())
    }

    /// Writes deliveries into the inbox. Returns false, and writes nothing, if they must be stored
    /// in another way.
    pub(super) async fn write_to_inbox(
        &mut self,
        deliveries: &[EncodedDelivery],
    ) -> Result<bool, WriteError> {
        // Also while it is written: a reader may come before this returns.
        self.writer.filled.store(true, Ordering::Release);
        let slot = &mut *self.slot;
        let written = slot.inbox.write(&mut self.connection, deliveries).await?;
        if let (true, Some(resources)) = (written, &mut slot.resources) {
            resources.changes.note_one();
            let bytes = deliveries.iter().map(EncodedDelivery::len).sum::<usize>();
            self.writer.add_pages(bytes / PAGE_SIZE as usize);
        }
        if slot.inbox.is_empty() {
            self.writer.filled.store(false, Ordering::Release);
        }
        Ok(written)
    }

    /// Stores everything that is in the inbox.
    pub(super) async fn empty_inbox(&mut self) -> Result<(), WriteError> {
        while !self.slot.inbox.is_empty() {
            self.expand_some().await?;
        }
        self.set_flush(Flush::Now).await?;
        Ok(())
    }

    /// Stores a part of what is in the inbox. If a power failure undoes that, it is still there.
    async fn expand_some(&mut self) -> Result<(), WriteError> {
        self.set_flush(Flush::Later).await?;
        let changes = self.slot.inbox.expand_some(&mut self.connection).await?;
        // A changed row touches a page of the table or of an index, more or less.
        self.writer
            .add_pages(usize::try_from(changes).unwrap_or(usize::MAX));
        if self.slot.inbox.is_empty() {
            self.writer.filled.store(false, Ordering::Release);
        }
        Ok(())
    }

    /// Ends the turn. The connection is kept unless the database itself failed.
    pub(crate) fn end<T>(mut self, result: Result<T, WriteError>) -> Result<T, StoreError> {
        let broken =
            matches!(&result, Err(error @ WriteError::Sql(_)) if !error.is_about_the_row());
        if !broken {
            self.slot.connection = Some(self.connection);
        }
        self.writer.add_pages(PAGES_OF_TURN);
        Ok(result?)
    }
}
