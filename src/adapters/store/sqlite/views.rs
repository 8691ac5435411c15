//! Reads for people and for the scheduler. They see the last commit and hold nobody up.

use sqlx::SqlitePool;
use sqlx::sqlite::SqliteRow;

use super::errors::{column, corrupt, failed, nullable, of_run};
use super::lease::count;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::store::{AuditEntry, QueueCounts, RunView, StoreError};

/// `SELECT` of a [`RunView`] with the rest of the statement. A missing text is an unreadable row, not a missing one.
macro_rules! select_runs {
    ($rest:literal) => {
        concat!(
            "SELECT id, command, state, progress, attempt, code, note, created_ms, finished_ms, \
                    (SELECT CASE WHEN deliveries.text IS NULL THEN texts.trigger \
                                 ELSE json_set(texts.trigger, '$.origin.text', deliveries.text) END \
                     FROM deliveries WHERE deliveries.id = runs.delivery) AS trigger \
             FROM runs LEFT JOIN texts ON texts.run = runs.seq ",
            $rest
        )
    };
}

/// Serial runs of the same place that were accepted earlier and have not ended.
pub(super) const AHEAD: &str = "
SELECT count(*) FROM runs AS this CROSS JOIN runs AS other
WHERE this.id = ?1 AND other.serial = this.serial AND other.seq < this.seq
  AND other.state IN ('blocked', 'ready', 'running', 'waiting')";

/// Each state from an index that holds only such runs.
pub(super) const COUNTS: &str = "
SELECT state, count(*) AS runs FROM runs WHERE state = 'blocked' GROUP BY state
UNION ALL SELECT state, count(*) FROM runs WHERE state = 'ready' GROUP BY state
UNION ALL SELECT state, count(*) FROM runs WHERE state = 'waiting' GROUP BY state
UNION ALL SELECT state, count(*) FROM runs WHERE state = 'running' GROUP BY state
UNION ALL SELECT state, count(*) FROM runs WHERE state IN ('succeeded', 'failed', 'cancelled') GROUP BY state";

pub(super) const OLDEST_READY: &str = "SELECT min(created_ms) FROM runs WHERE state = 'ready'";

fn view(row: &SqliteRow) -> Result<RunView, StoreError> {
    let state: String = column(row, "state")?;
    Ok(RunView {
        id: RunId(column(row, "id")?),
        command: column(row, "command")?,
        state: state_named(&state)?,
        trigger: column(row, "trigger")?,
        progress: nullable(row, "progress")?,
        attempt: count(row, "attempt")?,
        code: nullable(row, "code")?,
        note: nullable(row, "note")?,
        created: Millis(column(row, "created_ms")?),
        finished: nullable::<i64>(row, "finished_ms")?.map(Millis),
    })
}

fn state_named(name: &str) -> Result<State, StoreError> {
    State::from_name(name).ok_or_else(|| corrupt("state", format!("`{name}` is no state")))
}

/// The views of many rows.
fn views(rows: Result<Vec<SqliteRow>, sqlx::Error>) -> Result<Vec<RunView>, StoreError> {
    let rows = rows.map_err(|error| failed(&error))?;
    rows.iter()
        .map(|row| view(row).map_err(|error| of_run(row, error)))
        .collect()
}

/// See [`crate::engine::store::Store::run`].
pub(super) async fn run(reader: &SqlitePool, id: &RunId) -> Result<Option<RunView>, StoreError> {
    let rows = sqlx::query(select_runs!("WHERE id = ?1"))
        .bind(&id.0)
        .fetch_all(reader)
        .await;
    Ok(views(rows)?.pop())
}

/// See [`crate::engine::store::Store::runs_at`].
pub(super) async fn runs_at(
    reader: &SqlitePool,
    place: &str,
    limit: u32,
) -> Result<Vec<RunView>, StoreError> {
    views(
        sqlx::query(select_runs!(
            "WHERE serial = ?1 AND code IS NOT 'permission_denied' ORDER BY seq DESC LIMIT ?2"
        ))
        .bind(place)
        .bind(limit)
        .fetch_all(reader)
        .await,
    )
}

/// See [`crate::engine::store::Store::recent_runs`].
pub(super) async fn recent_runs(
    reader: &SqlitePool,
    limit: u32,
) -> Result<Vec<RunView>, StoreError> {
    views(
        sqlx::query(select_runs!("ORDER BY seq DESC LIMIT ?1"))
            .bind(limit)
            .fetch_all(reader)
            .await,
    )
}

/// See [`crate::engine::store::Store::ahead_of`].
pub(super) async fn ahead_of(reader: &SqlitePool, run: &RunId) -> Result<u64, StoreError> {
    sqlx::query_scalar(AHEAD)
        .bind(&run.0)
        .fetch_one(reader)
        .await
        .map_err(|error| failed(&error))
}

/// A deferred run is not due while another one is running.
pub(super) const NEXT_DUE: &str = "
SELECT min(run_at_ms) FROM runs
WHERE state = 'waiting' AND (deferred = 0 OR NOT EXISTS (
    SELECT 1 FROM runs AS other WHERE other.deferred = 1 AND other.state = 'running'))";

/// See [`crate::engine::store::Store::next_due`].
pub(super) async fn next_due(reader: &SqlitePool) -> Result<Option<Millis>, StoreError> {
    let due: Option<i64> = sqlx::query_scalar(NEXT_DUE)
        .fetch_one(reader)
        .await
        .map_err(|error| failed(&error))?;
    Ok(due.map(Millis))
}

/// See [`crate::engine::store::Store::counts`].
pub(super) async fn counts(reader: &SqlitePool) -> Result<QueueCounts, StoreError> {
    let rows = sqlx::query(COUNTS)
        .fetch_all(reader)
        .await
        .map_err(|error| failed(&error))?;
    let by_state = rows
        .iter()
        .map(|row| {
            let state: String = column(row, "state")?;
            Ok((state_named(&state)?, column(row, "runs")?))
        })
        .collect::<Result<_, StoreError>>()?;
    let oldest: Option<i64> = sqlx::query_scalar(OLDEST_READY)
        .fetch_one(reader)
        .await
        .map_err(|error| failed(&error))?;
    Ok(QueueCounts {
        by_state,
        oldest_ready: oldest.map(Millis),
    })
}

/// See [`crate::engine::store::Store::effects`].
pub(super) async fn effects(
    reader: &SqlitePool,
    run: &RunId,
) -> Result<Vec<(String, String)>, StoreError> {
    let rows = sqlx::query(
        "SELECT key, result FROM effects WHERE run = ?1 AND result IS NOT NULL ORDER BY key",
    )
    .bind(&run.0)
    .fetch_all(reader)
    .await
    .map_err(|error| failed(&error))?;
    rows.iter()
        .map(|row| Ok((column(row, "key")?, column(row, "result")?)))
        .collect()
}

/// See [`crate::engine::store::Store::audit_of`].
pub(super) async fn audit_of(
    reader: &SqlitePool,
    run: &RunId,
) -> Result<Vec<AuditEntry>, StoreError> {
    let rows = sqlx::query(
        "SELECT at_ms, run, guid, actor, decision, why FROM audit WHERE run = ?1 ORDER BY id",
    )
    .bind(&run.0)
    .fetch_all(reader)
    .await
    .map_err(|error| failed(&error))?;
    rows.iter()
        .map(|row| {
            Ok(AuditEntry {
                at: Millis(column(row, "at_ms")?),
                run: nullable::<String>(row, "run")?.map(RunId),
                guid: nullable(row, "guid")?,
                actor: column(row, "actor")?,
                decision: column(row, "decision")?,
                why: column(row, "why")?,
            })
        })
        .collect()
}
