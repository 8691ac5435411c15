//! Pruning and the readiness check.

use sqlx::{Connection, SqliteConnection, SqlitePool};

use super::accept::json;
use super::errors::{WriteError, failed};
use super::spending;
use crate::engine::model::time::Millis;
use crate::engine::store::{StoreError, USAGE_DAYS};

/// Maximum number of rows per transaction while pruning: some milliseconds of the writer's time.
const MAX_PRUNED_ROWS: u32 = 200;

pub(super) const OLD_DELIVERIES: &str = "
SELECT id FROM deliveries
WHERE received_ms < ?1 AND NOT EXISTS (
    SELECT 1 FROM runs
    WHERE runs.delivery = deliveries.id AND (runs.finished_ms IS NULL OR runs.finished_ms >= ?1))
LIMIT ?2";

/// Selects deliveries whose runs were all refused. `IS NOT` is also true for runs without a code.
/// The code is a literal so that the partial index is used; it is [`Code::PermissionDenied`].
///
/// [`Code::PermissionDenied`]: crate::engine::model::failure::Code::PermissionDenied
pub(super) const OLD_REFUSED: &str = "
SELECT DISTINCT delivery FROM runs INDEXED BY runs_refused
WHERE code = 'permission_denied' AND finished_ms < ?1 AND NOT EXISTS (
    SELECT 1 FROM runs AS other
    WHERE other.delivery = runs.delivery
      AND (other.code IS NOT 'permission_denied' OR other.finished_ms IS NULL OR other.finished_ms >= ?1))
LIMIT ?2";

pub(super) const DELETE_EFFECTS: &str = "
DELETE FROM effects
WHERE run IN (SELECT id FROM runs WHERE delivery IN (SELECT value FROM json_each(?1)))";

pub(super) const DELETE_MESSAGES: &str = "
DELETE FROM messages
WHERE run IN (SELECT id FROM runs WHERE delivery IN (SELECT value FROM json_each(?1)))";

pub(super) const DELETE_TEXTS: &str = "
DELETE FROM texts
WHERE run IN (SELECT seq FROM runs WHERE delivery IN (SELECT value FROM json_each(?1)))";

pub(super) const DELETE_RUNS: &str =
    "DELETE FROM runs WHERE delivery IN (SELECT value FROM json_each(?1))";

const DELETE_DELIVERIES: &str =
    "DELETE FROM deliveries WHERE id IN (SELECT value FROM json_each(?1))";

/// Deletes audit entries. They outlive their run's row at most until the next pruning, never the
/// other way round.
const DELETE_AUDIT: &str = "
DELETE FROM audit
WHERE id IN (
    SELECT id FROM audit
    WHERE at_ms < ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = audit.run)
    LIMIT ?2)";

/// Deletes decisions, with the others of their row: a row covers less than a second.
const DELETE_DECISIONS: &str = "
DELETE FROM decisions WHERE id IN (SELECT id FROM decisions WHERE last_ms < ?1 LIMIT ?2)";

/// Deletes spending. A run's first turn stays as long as the run, because it records that the run
/// was counted.
const DELETE_SPENDING: &str = "
DELETE FROM spending
WHERE rowid IN (
    SELECT rowid FROM spending
    WHERE at_ms < ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = spending.run)
    LIMIT ?2)";

/// Deletes the usage of days before a day.
const DELETE_USAGE: &str = "
DELETE FROM usage
WHERE (repo, day, actor, command) IN (
    SELECT repo, day, actor, command FROM usage WHERE day < ?1 / 86400000 LIMIT ?2)";

/// Deletes records of commands. They count for a window, and decide about a comment as long as its
/// run exists.
const DELETE_ASKS: &str = "
DELETE FROM asks
WHERE rowid IN (
    SELECT rowid FROM asks
    WHERE at_ms < ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = asks.run)
    LIMIT ?2)";

/// Deletes one portion of the rows that ended before `before`: deliveries that `which` selects,
/// audit entries, spending and records of commands. Returns the number of deliveries, and whether
/// nothing older is left.
pub(super) async fn prune_some(
    connection: &mut SqliteConnection,
    which: &'static str,
    before: Millis,
) -> Result<(u64, bool), WriteError> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let old: Vec<i64> = sqlx::query_scalar(which)
        .bind(before.0)
        .bind(MAX_PRUNED_ROWS)
        .fetch_all(&mut *transaction)
        .await?;
    let old = json(&old)?;
    let mut deliveries = 0;
    for delete in [
        DELETE_EFFECTS,
        DELETE_MESSAGES,
        DELETE_TEXTS,
        DELETE_RUNS,
        DELETE_DELIVERIES,
    ] {
        let deleted = sqlx::query(delete)
            .bind(&old)
            .execute(&mut *transaction)
            .await?;
        deliveries = deleted.rows_affected();
    }
    let mut is_last = deliveries < u64::from(MAX_PRUNED_ROWS);
    let day_before = before.minus(spending::DAY);
    let usage_before = before.minus(spending::DAY * USAGE_DAYS);
    for (delete, before) in [
        (DELETE_AUDIT, before),
        (DELETE_SPENDING, day_before),
        (DELETE_USAGE, usage_before),
        (DELETE_ASKS, day_before),
    ] {
        let deleted = sqlx::query(delete)
            .bind(before.0)
            .bind(MAX_PRUNED_ROWS)
            .execute(&mut *transaction)
            .await?;
        is_last &= deleted.rows_affected() < u64::from(MAX_PRUNED_ROWS);
    }
    transaction.commit().await?;
    Ok((deliveries, is_last))
}

/// Deletes one portion of the decisions made before `before`. Returns whether nothing older is left.
pub(super) async fn prune_decisions(
    connection: &mut SqliteConnection,
    before: Millis,
) -> Result<bool, WriteError> {
    let deleted = sqlx::query(DELETE_DECISIONS)
        .bind(before.0)
        .bind(MAX_PRUNED_ROWS)
        .execute(connection)
        .await?;
    Ok(deleted.rows_affected() < u64::from(MAX_PRUNED_ROWS))
}

/// Writes and commits, to check that it is possible.
pub(super) async fn ping_writer(connection: &mut SqliteConnection) -> Result<(), WriteError> {
    sqlx::query("UPDATE pulse SET beats = beats + 1")
        .execute(connection)
        .await?;
    Ok(())
}

/// Reads through the pool of readers.
pub(super) async fn ping_reader(reader: &SqlitePool) -> Result<(), StoreError> {
    sqlx::query_scalar::<_, i64>("SELECT beats FROM pulse")
        .fetch_one(reader)
        .await
        .map(drop)
        .map_err(failed)
}
