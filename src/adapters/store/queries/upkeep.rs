//! Pruning and the readiness check.

use super::super::errors::WriteError;
use super::super::sql::{Connection, Lock, Sql, Value, json};
use super::spending;
use crate::engine::model::time::Millis;
use crate::engine::store::USAGE_DAYS;

/// Maximum number of rows per transaction while pruning: some milliseconds of the writer's time.
const MAX_PRUNED_ROWS: u32 = 200;

pub(crate) const OLD_DELIVERIES: &str = "
SELECT id FROM deliveries
WHERE received_ms < $1 AND NOT EXISTS (
    SELECT 1 FROM runs
    WHERE runs.delivery = deliveries.id AND (runs.finished_ms IS NULL OR runs.finished_ms >= $1))
LIMIT $2";

macro_rules! old_refused {
    ($index:literal) => {
        concat!(
            "SELECT DISTINCT delivery FROM runs",
            $index,
            "
WHERE code = 'permission_denied' AND finished_ms < $1 AND NOT EXISTS (
    SELECT 1 FROM runs AS other
    WHERE other.delivery = runs.delivery
      AND (other.code IS DISTINCT FROM 'permission_denied' OR other.finished_ms IS NULL OR other.finished_ms >= $1))
LIMIT $2"
        )
    };
}

/// Selects deliveries whose runs were all refused. `IS DISTINCT FROM` is also true for runs without
/// a code. The code is a literal so that the partial index is used; it is [`Code::PermissionDenied`].
///
/// [`Code::PermissionDenied`]: crate::engine::model::failure::Code::PermissionDenied
pub(crate) const OLD_REFUSED: Sql = Sql {
    sqlite: old_refused!(" INDEXED BY runs_refused"),
    postgres: old_refused!(""),
};

pub(crate) const DELETE_EFFECTS: Sql = sql_with_list!(
    "
DELETE FROM effects
WHERE run IN (SELECT id FROM runs WHERE delivery IN ",
    ids,
    ")"
);

pub(crate) const DELETE_MESSAGES: Sql = sql_with_list!(
    "
DELETE FROM messages
WHERE run IN (SELECT id FROM runs WHERE delivery IN ",
    ids,
    ")"
);

pub(crate) const DELETE_OUTPUT: Sql = sql_with_list!(
    "
DELETE FROM agent_output
WHERE run IN (SELECT id FROM runs WHERE delivery IN ",
    ids,
    ")"
);

pub(crate) const DELETE_TEXTS: Sql = sql_with_list!(
    "
DELETE FROM texts
WHERE run IN (SELECT seq FROM runs WHERE delivery IN ",
    ids,
    ")"
);

/// A run that was queued again since its delivery was selected stays, and the foreign key then
/// refuses to delete the delivery.
pub(crate) const DELETE_RUNS: Sql = sql_with_list!(
    "DELETE FROM runs WHERE finished_ms IS NOT NULL AND delivery IN ",
    ids,
    ""
);

const DELETE_DELIVERIES: Sql = sql_with_list!("DELETE FROM deliveries WHERE id IN ", ids, "");

/// Deletes audit entries. They outlive their run's row at most until the next pruning, never the
/// other way round.
const DELETE_AUDIT: &str = "
DELETE FROM audit
WHERE id IN (
    SELECT id FROM audit
    WHERE at_ms < $1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = audit.run)
    LIMIT $2)";

/// Deletes decisions, with the others of their row: a row covers less than a second.
const DELETE_DECISIONS: &str = "
DELETE FROM decisions WHERE id IN (SELECT id FROM decisions WHERE last_ms < $1 LIMIT $2)";

/// Deletes spending. A run's first turn stays as long as the run, because it records that the run
/// was counted.
const DELETE_SPENDING: &str = "
DELETE FROM spending
WHERE (run, key) IN (
    SELECT run, key FROM spending
    WHERE at_ms < $1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = spending.run)
    LIMIT $2)";

/// Deletes the usage of days before a day.
const DELETE_USAGE: &str = "
DELETE FROM usage
WHERE (repo, day, actor, command) IN (
    SELECT repo, day, actor, command FROM usage WHERE day < $1 / 86400000 LIMIT $2)";

/// Deletes records of commands. They count for a window, and decide about a comment as long as its
/// run exists.
const DELETE_ASKS: &str = "
DELETE FROM asks
WHERE run IN (
    SELECT run FROM asks
    WHERE at_ms < $1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = asks.run)
    LIMIT $2)";

/// Deletes one portion of the rows that ended before `before`: deliveries that `which` selects,
/// audit entries, spending and records of commands. Returns the number of deliveries, and whether
/// nothing older is left.
pub(crate) async fn prune_some(
    connection: &mut Connection<'_>,
    which: Sql,
    before: Millis,
) -> Result<(u64, bool), WriteError> {
    connection.lock(&[Lock::Pruning]).await?;
    connection.begin().await?;
    let limit = Value::from(MAX_PRUNED_ROWS);
    let old: Vec<i64> = connection
        .scalars(which, &[before.into(), limit.clone()])
        .await?;
    let mut deliveries = 0;
    for delete in [
        DELETE_EFFECTS,
        DELETE_MESSAGES,
        DELETE_OUTPUT,
        DELETE_TEXTS,
        DELETE_RUNS,
        DELETE_DELIVERIES,
    ] {
        deliveries = connection.execute(delete, &[json(&old)?]).await?;
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
        let deleted = connection
            .execute(delete, &[before.into(), limit.clone()])
            .await?;
        is_last &= deleted < u64::from(MAX_PRUNED_ROWS);
    }
    connection.commit().await?;
    Ok((deliveries, is_last))
}

/// Deletes one portion of the decisions made before `before`. Returns whether nothing older is left.
pub(crate) async fn prune_decisions(
    connection: &mut Connection<'_>,
    before: Millis,
) -> Result<bool, WriteError> {
    let values = [before.into(), MAX_PRUNED_ROWS.into()];
    let deleted = connection.execute(DELETE_DECISIONS, &values).await?;
    Ok(deleted < u64::from(MAX_PRUNED_ROWS))
}

/// Writes and commits, to check that it is possible.
pub(crate) async fn ping_writer(connection: &mut Connection<'_>) -> Result<(), WriteError> {
    connection
        .execute("UPDATE pulse SET beats = beats + 1", &[])
        .await?;
    Ok(())
}

/// Reads through the pool of readers.
pub(crate) async fn ping_reader(reader: &mut Connection<'_>) -> Result<(), WriteError> {
    reader.scalar::<i64>("SELECT beats FROM pulse", &[]).await?;
    Ok(())
}
