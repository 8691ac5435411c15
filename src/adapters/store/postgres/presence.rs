//! Which processes use a database, and how a copy keeps them out.
//!
//! All of it is rows and locks of transactions. A lock of a session would end with its process, but
//! PgBouncer in transaction mode gives the session to the next client, with the lock.

use std::time::Duration;

use sqlx::{AssertSqlSafe, PgConnection, PgPool};
use tokio::time::sleep;

use super::super::errors::{failed, is_lock_timeout, sentence};
use super::super::sql::Lock;
use super::Turn;
use crate::engine::store::StoreError;

/// How long a process counts as running without a sign of life, in seconds.
pub(super) const LEASE_SECONDS: u32 = 30;

/// How often a process gives a sign of life.
const EVERY: Duration = Duration::from_secs(10);

/// Parameters: the name of the process, and its lease in seconds.
const STAY: &str = "
INSERT INTO tasks (name, owner, until_ms)
VALUES ('process ' || $1, $1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $2 * 1000)
ON CONFLICT (name) DO UPDATE SET until_ms = excluded.until_ms";

const LEAVE: &str = "DELETE FROM tasks WHERE name = 'process ' || $1";

/// Deletes processes that were killed.
const FORGET: &str = "
DELETE FROM tasks
WHERE name LIKE 'process %' AND until_ms <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const PRESENT: &str = "
SELECT count(*) FROM tasks
WHERE name LIKE 'process %' AND until_ms > (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// Limits of the transaction of a [`Guard`]: how long it waits for locks, and how long the server
/// keeps it for a process that is gone.
const LIMITS: &str = "
SET LOCAL lock_timeout = '5s';
SET LOCAL idle_in_transaction_session_timeout = '1h'";

/// Pauses before the lock of a copy is tried.
const PAUSES: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(100),
    Duration::from_millis(300),
    Duration::from_millis(600),
];

/// Makes sure, until the end of the transaction, that no copy is under way. Returns false if one is.
///
/// The server ends the transaction of a copy that has ended or was killed a moment later, so that is
/// waited for.
pub(super) async fn is_free(transaction: &mut PgConnection) -> sqlx::Result<bool> {
    for pause in PAUSES {
        sleep(pause).await;
        let is_free = sqlx::query_scalar("SELECT pg_try_advisory_xact_lock_shared($1)")
            .bind(Lock::Copying.key())
            .fetch_one(&mut *transaction)
            .await?;
        if is_free {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Records that the process uses the database, for [`LEASE_SECONDS`].
pub(super) async fn enter(connection: &mut PgConnection, name: &str) -> sqlx::Result<()> {
    sqlx::query(FORGET).execute(&mut *connection).await?;
    renew(connection, name).await
}

async fn renew(connection: &mut PgConnection, name: &str) -> sqlx::Result<()> {
    sqlx::query(STAY)
        .bind(name)
        .bind(i64::from(LEASE_SECONDS))
        .execute(connection)
        .await?;
    Ok(())
}

/// Records from time to time that the process still uses the database.
pub(super) async fn stay(pool: PgPool, name: String) {
    loop {
        sleep(EVERY).await;
        let renewed = async { renew(&mut *pool.acquire().await?, &name).await };
        if let Err(error) = renewed.await {
            tracing::debug!(error = %sentence(&error), "cannot record that this process is running");
        }
    }
}

/// Records that the process no longer uses the database.
pub(super) async fn leave(pool: &PgPool, name: &str) {
    if let Err(error) = sqlx::query(LEAVE).bind(name).execute(pool).await {
        tracing::debug!(error = %sentence(&error), "cannot record that this process has ended");
    }
}

/// Keeps other processes out of a database. It is a transaction, which ends when this is dropped.
#[derive(Debug)]
pub(in crate::adapters::store) struct Guard(Turn);

impl Guard {
    /// Keeps other processes out of the database at `place`. Nothing can change `tables` until the
    /// end.
    ///
    /// # Errors
    /// A process uses the database, or another copy is under way.
    pub(super) async fn new(
        mut turn: Turn,
        place: &str,
        tables: &[&str],
    ) -> Result<Self, StoreError> {
        let connection = turn.connection();
        for sql in ["BEGIN ISOLATION LEVEL READ COMMITTED", LIMITS] {
            let done = sqlx::raw_sql(sql).execute(&mut *connection).await;
            done.map_err(failed)?;
        }
        // Waits for processes that are in the middle of opening the database.
        let locked = sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(Lock::Copying.key())
            .execute(&mut *connection)
            .await;
        locked.map_err(|error| {
            if is_lock_timeout(&error) {
                StoreError::Failed(format!(
                    "another `planwright store copy` uses the database at {place}: try again when it has ended"
                ))
            } else {
                failed(error)
            }
        })?;
        let present: i64 = sqlx::query_scalar(PRESENT)
            .fetch_one(&mut *connection)
            .await
            .map_err(failed)?;
        if present > 0 {
            let bots = if present == 1 {
                "a bot uses".to_owned()
            } else {
                format!("{present} bots use")
            };
            return Err(StoreError::Failed(format!(
                "{bots} the database at {place}: stop every bot on it and try again; one that was killed counts for \
                 {LEASE_SECONDS} seconds"
            )));
        }
        if !tables.is_empty() {
            let lock = format!("LOCK TABLE {} IN SHARE MODE", tables.join(", "));
            let locked = sqlx::raw_sql(AssertSqlSafe(lock))
                .execute(&mut *connection)
                .await;
            locked.map_err(failed)?;
        }
        Ok(Self(turn))
    }

    /// Returns the connection, in the transaction.
    pub(in crate::adapters::store) fn connection(&mut self) -> &mut PgConnection {
        self.0.connection()
    }
}
