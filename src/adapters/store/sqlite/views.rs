//! Reads for people and for the scheduler, which see the last commit and never block a write.

use sqlx::SqlitePool;
use sqlx::sqlite::SqliteRow;

use super::errors::{column, corrupt, failed, nullable, of_run};
use super::lease::count;
use crate::engine::model::failure::Code;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::store::{QueueCounts, RunView, StoreError};

/// The `SELECT` of a [`RunView`]. A missing text makes the row unreadable, not absent.
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

/// Counts the unfinished runs with the same `serial` key that precede a run.
pub(super) const AHEAD: &str = "
SELECT count(*) FROM runs AS this CROSS JOIN runs AS other
WHERE this.id = ?1 AND other.serial = this.serial
  AND (other.said_ms < this.said_ms OR (other.said_ms = this.said_ms AND other.seq < this.seq))
  AND other.state IN ('blocked', 'ready', 'running', 'waiting')";

/// Counts each state from an index that holds only such runs.
pub(super) const COUNTS: &str = "
SELECT state, count(*) AS runs FROM runs WHERE state = 'blocked' GROUP BY state
UNION ALL SELECT state, count(*) FROM runs WHERE state = 'ready' GROUP BY state
UNION ALL SELECT state, count(*) FROM runs WHERE state = 'waiting' GROUP BY state
UNION ALL SELECT state, count(*) FROM runs WHERE state = 'running' GROUP BY state
UNION ALL SELECT state, count(*) FROM runs WHERE state IN ('succeeded', 'failed', 'cancelled') GROUP BY state";

pub(super) const OLDEST_READY: &str = "SELECT min(created_ms) FROM runs WHERE state = 'ready'";

/// A deferred run is not due while another one is running.
pub(super) const NEXT_DUE: &str = "
SELECT min(run_at_ms) FROM runs
WHERE state = 'waiting' AND (deferred = 0 OR NOT EXISTS (
    SELECT 1 FROM runs AS other WHERE other.deferred = 1 AND other.state = 'running'))";

fn view(row: &SqliteRow) -> Result<RunView, StoreError> {
    let trigger: String = column(row, "trigger")?;
    let progress: Option<String> = nullable(row, "progress")?;
    let code: Option<String> = nullable(row, "code")?;
    Ok(RunView {
        id: RunId(column(row, "id")?),
        command: column(row, "command")?,
        state: state(row)?,
        trigger: serde_json::from_str(&trigger).ok(),
        progress: progress.and_then(|progress| serde_json::from_str(&progress).ok()),
        attempt: count(row, "attempt")?,
        // A code of a newer version is still a failure.
        code: code.map(|code| Code::from_name(&code).unwrap_or(Code::Internal)),
        note: nullable(row, "note")?,
        created: Millis(column(row, "created_ms")?),
        finished: nullable::<i64>(row, "finished_ms")?.map(Millis),
    })
}

fn state(row: &SqliteRow) -> Result<State, StoreError> {
    let name: String = column(row, "state")?;
    State::from_name(&name).ok_or_else(|| corrupt("state", format!("`{name}` is not a state")))
}

fn views(rows: Result<Vec<SqliteRow>, sqlx::Error>) -> Result<Vec<RunView>, StoreError> {
    rows.map_err(failed)?
        .iter()
        .map(|row| view(row).map_err(|error| of_run(row, error)))
        .collect()
}

pub(super) async fn run(reader: &SqlitePool, id: &RunId) -> Result<Option<RunView>, StoreError> {
    let query = sqlx::query(select_runs!("WHERE id = ?1")).bind(&id.0);
    Ok(views(query.fetch_all(reader).await)?.pop())
}

pub(super) async fn runs_at(
    reader: &SqlitePool,
    place: &str,
    limit: u32,
) -> Result<Vec<RunView>, StoreError> {
    let query = sqlx::query(select_runs!(
        "WHERE serial = ?1 AND code IS NOT ?3 ORDER BY seq DESC LIMIT ?2"
    ));
    let query = query.bind(place).bind(limit);
    let query = query.bind(Code::PermissionDenied.name());
    views(query.fetch_all(reader).await)
}

pub(super) async fn recent_runs(
    reader: &SqlitePool,
    limit: u32,
) -> Result<Vec<RunView>, StoreError> {
    let query = sqlx::query(select_runs!("ORDER BY seq DESC LIMIT ?1")).bind(limit);
    views(query.fetch_all(reader).await)
}

pub(super) async fn ahead_of(reader: &SqlitePool, run: &RunId) -> Result<u64, StoreError> {
    sqlx::query_scalar(AHEAD)
        .bind(&run.0)
        .fetch_one(reader)
        .await
        .map_err(failed)
}

pub(super) async fn next_due(reader: &SqlitePool) -> Result<Option<Millis>, StoreError> {
    let due: Option<i64> = sqlx::query_scalar(NEXT_DUE)
        .fetch_one(reader)
        .await
        .map_err(failed)?;
    Ok(due.map(Millis))
}

pub(super) async fn counts(reader: &SqlitePool) -> Result<QueueCounts, StoreError> {
    let rows = sqlx::query(COUNTS)
        .fetch_all(reader)
        .await
        .map_err(failed)?;
    let by_state = rows
        .iter()
        .map(|row| Ok((state(row)?, column(row, "runs")?)))
        .collect::<Result<_, StoreError>>()?;
    let oldest: Option<i64> = sqlx::query_scalar(OLDEST_READY)
        .fetch_one(reader)
        .await
        .map_err(failed)?;
    Ok(QueueCounts {
        by_state,
        oldest_ready: oldest.map(Millis),
    })
}
