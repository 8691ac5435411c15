//! PostgreSQL, which several processes share.
//!
//! Transactions are READ COMMITTED, and what must not happen at the same time is excluded by
//! advisory locks that end with the transaction ([`super::sql::Lock`]). No transaction is open
//! while a run is worked on. Waiting workers are woken by NOTIFY, which is sent after the commit and
//! at most every few milliseconds, because it takes a lock of the whole server; they also poll.

mod clock;
mod listen;
mod open;
mod presence;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::errors::{WriteError, failed, sentence};
use super::group_commit::Failure;
use super::idle::IdleWorkers;
use super::queries;
use super::queries::accept::EncodedDelivery;
use super::sql::Connection;
use crate::engine::store::{Accepted, StoreError};

pub(super) use clock::DatabaseClock;
pub use open::{InspectedPostgres, inspect_postgres};
pub(super) use open::{open, open_for_copying, open_for_reading};
pub(super) use presence::Guard;

/// Options of a PostgreSQL store.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// Maximum number of deliveries that wait to be written before
    /// [`Store::accept`](crate::engine::store::Store::accept) returns [`StoreError::Busy`]; at least
    /// 1.
    pub queue_depth: usize,
    /// Maximum number of connections, without the one that listens; at least 2.
    pub max_connections: u32,
    /// Maximum time to wait for a connection.
    pub connect_timeout: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            queue_depth: 1024,
            max_connections: 10,
            connect_timeout: Duration::from_secs(5),
        }
    }
}

/// Connections to a PostgreSQL database.
#[derive(Debug)]
pub(super) struct PostgresDatabase {
    pool: PgPool,
    /// Why the last new connection could not be used.
    refusal: Arc<Refusal>,
    /// The time of the database.
    pub(super) clock: Arc<DatabaseClock>,
    pub(super) idle: Arc<IdleWorkers>,
    /// Set when other processes are to be woken.
    changed: Arc<Notify>,
    /// Tasks that listen, notify, read the server's clock and record that this process is running.
    tasks: Mutex<JoinSet<()>>,
    /// The name of this process; `None` if it only looks or copies.
    name: Option<String>,
}

/// Why the last new connection could not be used, if that is so.
#[derive(Debug, Default)]
struct Refusal(Mutex<Option<String>>);

impl Refusal {
    fn record(&self, result: &sqlx::Result<()>) {
        let text = result.as_ref().err().map(sentence);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    fn text(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The use of a connection. It is closed unless the turn is ended, because an operation that is
/// dropped half-way leaves a transaction open.
#[derive(Debug)]
pub(super) struct Turn {
    connection: PoolConnection<Postgres>,
    ended: bool,
}

impl Turn {
    /// Returns the connection.
    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Ends the turn. The connection is kept unless the database itself failed, which a demoted
    /// primary also does for every write.
    pub(super) fn end<T>(mut self, result: Result<T, WriteError>) -> Result<T, StoreError> {
        self.ended = match &result {
            Err(WriteError::Sql(sqlx::Error::RowNotFound)) => true,
            Err(error @ WriteError::Sql(_)) => error.is_about_the_row() || error.is_conflict(),
            _ => true,
        };
        Ok(result?)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.ended {
            self.connection.close_on_drop();
        }
    }
}

impl PostgresDatabase {
    /// Waits for a connection.
    pub(super) async fn turn(&self) -> Result<Turn, StoreError> {
        let connection = self.pool.acquire().await.map_err(|error| match error {
            // The pool tries again and tells only that it was in vain.
            sqlx::Error::PoolTimedOut => match self.refusal.text() {
                Some(why) => StoreError::Failed(why),
                None => failed(error),
            },
            error => failed(error),
        })?;
        Ok(Turn {
            connection,
            ended: false,
        })
    }

    /// Stores deliveries in one transaction and returns one outcome for each, in order.
    pub(super) async fn accept(
        &self,
        deliveries: &[EncodedDelivery],
    ) -> Result<Vec<Accepted>, Failure> {
        let mut conflicts = 0;
        loop {
            let mut turn = self.turn().await.map_err(Failure::database)?;
            let mut connection = Connection::from(turn.connection());
            let result = store(&mut connection, deliveries).await;
            let result = connection.settle(result).await;
            conflicts += 1;
            if conflicts <= super::MAX_CONFLICTS
                && matches!(&result, Err(error) if error.is_conflict())
            {
                continue;
            }
            let about_the_row = matches!(&result, Err(error) if error.is_about_the_row());
            return turn
                .end(result)
                .map_err(|error| Failure::new(error, about_the_row));
        }
    }

    /// Wakes the workers of the other processes soon.
    pub(super) fn notify_others(&self) {
        self.changed.notify_one();
    }

    /// Closes all connections.
    pub(super) async fn close(&self) {
        let mut tasks = {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        tasks.shutdown().await;
        if let Some(name) = &self.name
            && !self.pool.is_closed()
        {
            presence::leave(&self.pool, name).await;
        }
        self.pool.close().await;
    }
}

async fn store(
    connection: &mut Connection<'_>,
    deliveries: &[EncodedDelivery],
) -> Result<Vec<Accepted>, WriteError> {
    connection.begin().await?;
    let outcomes = queries::accept::accept(connection, deliveries).await?;
    connection.commit().await?;
    Ok(outcomes)
}
