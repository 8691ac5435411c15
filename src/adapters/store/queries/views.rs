//! Reads for people and for the scheduler, which see the last commit and never block a write.

use super::super::errors::{WriteError, corrupt};
use super::super::sql::{Connection, Row, Value, column, nullable, of_run};
use super::lease::trigger;
use crate::engine::model::failure::Code;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::store::{QueueCounts, QueuePosition, RunView, StoreError};

/// The `SELECT` of a [`RunView`]. A missing text makes the row unreadable, not absent.
macro_rules! select_runs {
    ($rest:literal) => {
        concat!(
            "SELECT id, command, state, progress, attempt, code, note, created_ms, finished_ms, \
                    trigger, (SELECT text FROM deliveries WHERE deliveries.id = runs.delivery) AS text \
             FROM runs LEFT JOIN texts ON texts.run = runs.seq ",
            $rest
        )
    };
}

/// Counts what precedes a run: unfinished runs with the same `serial` key, and, if it is ready,
/// other ready ones of its repository. Counts what runs, too.
pub(crate) const POSITION: &str = "
SELECT (SELECT count(*) FROM runs AS other
        WHERE other.serial = this.serial
          AND (other.said_ms < this.said_ms OR (other.said_ms = this.said_ms AND other.seq < this.seq))
          AND other.state IN ('blocked', 'ready', 'running', 'waiting')) AS at_place,
       CASE WHEN this.state = 'ready' AND this.deferred = 0 THEN (
           SELECT count(*) FROM runs AS other
           WHERE other.installation = this.installation AND other.repo_id = this.repo_id
             AND other.state = 'ready' AND other.deferred = 0
             AND (other.run_at_ms, other.seq) < (this.run_at_ms, this.seq)) ELSE 0 END AS in_repository,
       (SELECT count(*) FROM runs AS other
        WHERE other.installation = this.installation AND other.repo_id = this.repo_id
          AND other.state = 'running') AS running_in_repository,
       (SELECT count(*) FROM runs AS other
        WHERE other.installation = this.installation AND other.state = 'running') AS running_in_installation
FROM runs AS this WHERE this.id = $1";

/// Counts each state from an index that holds only such runs.
pub(crate) const COUNTS: &str = "
SELECT state, count(*) AS runs FROM runs WHERE state = 'blocked' GROUP BY state
UNION ALL SELECT state, count(*) FROM runs WHERE state = 'ready' GROUP BY state
UNION ALL SELECT state, count(*) FROM runs WHERE state = 'waiting' GROUP BY state
UNION ALL SELECT state, count(*) FROM runs WHERE state = 'running' GROUP BY state
UNION ALL SELECT state, count(*) FROM runs WHERE state IN ('succeeded', 'failed', 'cancelled') GROUP BY state";

pub(crate) const OLDEST_READY: &str = "SELECT min(created_ms) FROM runs WHERE state = 'ready'";

/// A deferred run is not due while another one is running.
pub(crate) const NEXT_DUE: &str = "
SELECT min(run_at_ms) FROM runs
WHERE state = 'waiting' AND (deferred = 0 OR NOT EXISTS (
    SELECT 1 FROM runs AS other WHERE other.deferred = 1 AND other.state = 'running'
      AND other.installation = runs.installation))";

fn view(row: &Row) -> Result<RunView, StoreError> {
    let progress: Option<String> = nullable(row, "progress")?;
    let code: Option<String> = nullable(row, "code")?;
    // A missing text makes the row unreadable, one of a newer version does not.
    column::<String>(row, "trigger")?;
    Ok(RunView {
        id: RunId(column(row, "id")?),
        command: column(row, "command")?,
        state: state(row)?,
        trigger: trigger(row).ok(),
        progress: progress.and_then(|progress| serde_json::from_str(&progress).ok()),
        attempt: column(row, "attempt")?,
        // A code of a newer version is still a failure.
        code: code.map(|code| Code::from_name(&code).unwrap_or(Code::Internal)),
        note: nullable(row, "note")?,
        created: Millis(column(row, "created_ms")?),
        finished: nullable::<i64>(row, "finished_ms")?.map(Millis),
    })
}

pub(super) fn state(row: &Row) -> Result<State, StoreError> {
    let name: String = column(row, "state")?;
    State::from_name(&name).ok_or_else(|| corrupt("state", format!("`{name}` is not a state")))
}

async fn views(
    reader: &mut Connection<'_>,
    sql: &'static str,
    values: &[Value<'_>],
) -> Result<Vec<RunView>, WriteError> {
    let rows = reader.rows(sql, values).await?;
    let view = |row| view(row).map_err(|error| of_run(row, error));
    Ok(rows.iter().map(view).collect::<Result<_, _>>()?)
}

pub(crate) async fn run(
    reader: &mut Connection<'_>,
    id: &RunId,
) -> Result<Option<RunView>, WriteError> {
    let runs = views(reader, select_runs!("WHERE id = $1"), &[id.into()]).await?;
    Ok(runs.into_iter().next())
}

pub(crate) async fn runs_at(
    reader: &mut Connection<'_>,
    place: &str,
    limit: u32,
) -> Result<Vec<RunView>, WriteError> {
    let sql =
        select_runs!("WHERE serial = $1 AND code IS DISTINCT FROM $3 ORDER BY seq DESC LIMIT $2");
    let values = [place.into(), limit.into(), Code::PermissionDenied.into()];
    views(reader, sql, &values).await
}

pub(crate) async fn recent_runs(
    reader: &mut Connection<'_>,
    limit: u32,
) -> Result<Vec<RunView>, WriteError> {
    let sql = select_runs!("ORDER BY seq DESC LIMIT $1");
    views(reader, sql, &[limit.into()]).await
}

pub(crate) async fn queue_position(
    reader: &mut Connection<'_>,
    run: &RunId,
) -> Result<QueuePosition, WriteError> {
    let Some(row) = reader.row(POSITION, &[run.into()]).await? else {
        return Ok(QueuePosition::default());
    };
    Ok(QueuePosition {
        at_place: column(&row, "at_place")?,
        in_repository: column(&row, "in_repository")?,
        running_in_repository: column(&row, "running_in_repository")?,
        running_in_installation: column(&row, "running_in_installation")?,
    })
}

pub(crate) async fn next_due(reader: &mut Connection<'_>) -> Result<Option<Millis>, WriteError> {
    Ok(reader.scalar::<i64>(NEXT_DUE, &[]).await?.map(Millis))
}

pub(crate) async fn counts(reader: &mut Connection<'_>) -> Result<QueueCounts, WriteError> {
    let rows = reader.rows(COUNTS, &[]).await?;
    let count = |row| Ok((state(row)?, column(row, "runs")?));
    let oldest: Option<i64> = reader.scalar(OLDEST_READY, &[]).await?;
    Ok(QueueCounts {
        by_state: rows.iter().map(count).collect::<Result<_, StoreError>>()?,
        oldest_ready: oldest.map(Millis),
    })
}
