//! Messages for runs: told by other runs, heard at the next claim.

use sqlx::{Connection, SqliteConnection, SqlitePool};

use super::errors::{Trouble, failed};
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::store::StoreError;

/// A waiting run becomes claimable at once, as with a request to stop.
pub(super) const TELL: &str = "
UPDATE runs
SET told = told + 1,
    state = CASE state WHEN 'waiting' THEN 'ready' ELSE state END,
    run_at_ms = CASE state WHEN 'waiting' THEN created_ms ELSE run_at_ms END
WHERE id = ?1 AND state IN ('blocked', 'ready', 'running', 'waiting')";

const KEEP: &str = "INSERT INTO messages (run, at_ms, message) VALUES (?1, ?2, ?3)";

pub(super) const MESSAGES: &str = "SELECT message FROM messages WHERE run = ?1 ORDER BY id";

/// See [`crate::engine::store::Store::tell`].
pub(super) async fn tell(
    connection: &mut SqliteConnection,
    run: &RunId,
    message: &str,
    now: Millis,
) -> Result<bool, Trouble> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let told = sqlx::query(TELL)
        .bind(&run.0)
        .execute(&mut *transaction)
        .await?;
    if told.rows_affected() == 0 {
        transaction.rollback().await?;
        return Ok(false);
    }
    sqlx::query(KEEP)
        .bind(&run.0)
        .bind(now.0)
        .bind(message)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(true)
}

/// See [`crate::engine::store::Store::messages`].
pub(super) async fn messages(reader: &SqlitePool, run: &RunId) -> Result<Vec<String>, StoreError> {
    sqlx::query_scalar(MESSAGES)
        .bind(&run.0)
        .fetch_all(reader)
        .await
        .map_err(|error| failed(&error))
}
