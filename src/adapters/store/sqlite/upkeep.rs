//! Pruning and the readiness check.

use sqlx::{Connection, SqliteConnection, SqlitePool};

use super::accept::json;
use super::errors::{self, Trouble};
use super::spending;
use crate::engine::model::time::Millis;
use crate::engine::store::StoreError;

/// Rows per transaction while pruning: some milliseconds of the writer's time.
const PORTION: u32 = 200;

pub(super) const OLD_DELIVERIES: &str = "
SELECT id FROM deliveries
WHERE received_ms < ?1 AND NOT EXISTS (
    SELECT 1 FROM runs
    WHERE runs.delivery = deliveries.id AND (runs.finished_ms IS NULL OR runs.finished_ms >= ?1))
LIMIT ?2";

/// All their runs were refused. `IS NOT` counts runs without a code, too.
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

/// Entries outlive their run's row at most until the next pruning, never the other way round.
const DELETE_AUDIT: &str = "
DELETE FROM audit
WHERE id IN (
    SELECT id FROM audit
    WHERE at_ms < ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = audit.run)
    LIMIT ?2)";

/// The same for what was spent. A run's first turn stays as long as the run: it says that the run was counted.
const DELETE_SPENDING: &str = "
DELETE FROM spending
WHERE rowid IN (
    SELECT rowid FROM spending
    WHERE at_ms < ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = spending.run)
    LIMIT ?2)";

/// The same for what was asked for: it counts for a window, and decides over a comment as long as
/// its run is there.
const DELETE_ASKS: &str = "
DELETE FROM asks
WHERE rowid IN (
    SELECT rowid FROM asks
    WHERE at_ms < ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = asks.run)
    LIMIT ?2)";

/// What one portion deleted.
pub(super) struct Pruned {
    /// Deliveries.
    pub(super) deliveries: u64,
    /// Audit entries.
    entries: u64,
    /// Agents' turns.
    turns: u64,
    /// Records of commands.
    asks: u64,
}

impl Pruned {
    /// Nothing older is left.
    pub(super) fn is_last(&self) -> bool {
        let full = u64::from(PORTION);
        self.deliveries < full && self.entries < full && self.turns < full && self.asks < full
    }
}

/// Deletes one portion of what ended before `before`: deliveries that `which` selects, audit entries and spending.
pub(super) async fn prune_some(
    connection: &mut SqliteConnection,
    which: &'static str,
    before: Millis,
) -> Result<Pruned, Trouble> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let old: Vec<i64> = sqlx::query_scalar(which)
        .bind(before.0)
        .bind(PORTION)
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
    let audit = sqlx::query(DELETE_AUDIT)
        .bind(before.0)
        .bind(PORTION)
        .execute(&mut *transaction)
        .await?;
    let turns = sqlx::query(DELETE_SPENDING)
        .bind(before.minus(spending::DAY).0)
        .bind(PORTION)
        .execute(&mut *transaction)
        .await?;
    let asks = sqlx::query(DELETE_ASKS)
        .bind(before.minus(spending::DAY).0)
        .bind(PORTION)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(Pruned {
        deliveries,
        entries: audit.rows_affected(),
        turns: turns.rows_affected(),
        asks: asks.rows_affected(),
    })
}

/// A write that costs a commit, to know that one is possible.
pub(super) async fn beat(connection: &mut SqliteConnection) -> Result<(), Trouble> {
    sqlx::query("UPDATE pulse SET beats = beats + 1")
        .execute(connection)
        .await?;
    Ok(())
}

/// A read through the pool that reads.
pub(super) async fn read_beats(reader: &SqlitePool) -> Result<(), StoreError> {
    sqlx::query_scalar::<_, i64>("SELECT beats FROM pulse")
        .fetch_one(reader)
        .await
        .map(drop)
        .map_err(|error| errors::failed(&error))
}
