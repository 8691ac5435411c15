//! State changes of runs: ended, parked, cancelled, queued again.
//!
//! A statement of this adapter that writes outside a transaction and returns rows is read to its
//! end (`fetch_all`), because only the last step commits and reports a failure to commit.

use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Connection, Sqlite, SqliteConnection};

use super::accept::json;
use super::errors::{WriteError, column, nullable};
use crate::engine::model::failure::Code;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::store::{Lease, RunOutcome, StoreError};

/// Makes the blocked run that was requested first ready at each given place that has no active one.
pub(super) const PROMOTE: &str = "
UPDATE runs SET state = 'ready'
WHERE seq IN (
    SELECT (SELECT next.seq FROM runs AS next
            WHERE next.serial = place.value AND next.state = 'blocked' ORDER BY next.said_ms, next.seq LIMIT 1)
    FROM json_each(?1) AS place
    WHERE NOT EXISTS (
        SELECT 1 FROM runs AS active
        WHERE active.serial = place.value AND active.serial IS NOT NULL
          AND active.state IN ('ready', 'running', 'waiting')))";

pub(super) const END: &str = "
UPDATE runs
SET state = ?4, finished_ms = ?5, code = ?6, note = ?7, lease_owner = NULL, lease_until_ms = NULL
WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3 AND state = 'running'
RETURNING serial";

/// Makes a run ready again as if it had not been claimed.
pub(super) const YIELD: &str = "
UPDATE runs
SET state = 'ready', attempt = max(attempt - 1, 0), lease_owner = NULL, lease_until_ms = NULL
WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3 AND state = 'running'";

/// A request to cancel that the worker does not know of makes the run claimable at once. One that
/// it knows of does not, or a run that cannot report its end at the moment would be claimed in a
/// loop. The same holds for messages.
pub(super) const PARK: &str = "
UPDATE runs
SET state = CASE WHEN told > heard OR (cancel_requested IS NOT NULL AND cancel_told = 0) THEN 'ready' ELSE 'waiting' END,
    run_at_ms = CASE WHEN told > heard OR (cancel_requested IS NOT NULL AND cancel_told = 0) THEN created_ms ELSE ?4 END,
    note = ?5, attempt = max(attempt - ?6, 0), lease_owner = NULL, lease_until_ms = NULL
WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3 AND state = 'running'";

pub(super) const CANCEL: &str = "
UPDATE runs
SET cancel_told = CASE WHEN cancel_requested IS NULL THEN 0 ELSE cancel_told END,
    cancel_requested = coalesce(cancel_requested, ?3),
    state = CASE state WHEN 'waiting' THEN 'ready' ELSE state END,
    run_at_ms = CASE state WHEN 'waiting' THEN created_ms ELSE run_at_ms END
WHERE serial = ?1 AND state IN ('blocked', 'ready', 'running', 'waiting')
  AND (said_ms, seq) < (SELECT said_ms, seq FROM runs WHERE id = ?2)
RETURNING seq, id";

pub(super) const REQUEUE: &str = "
UPDATE runs
SET state = 'blocked', run_at_ms = created_ms, attempt = 0, round = round + 1, cancel_requested = NULL, cancel_told = 0,
    code = NULL, note = NULL, started_ms = NULL, finished_ms = NULL
WHERE seq = (SELECT seq FROM runs WHERE serial = ?1 AND state IN ('failed', 'cancelled')
             AND code IS NOT ?2 ORDER BY seq DESC LIMIT 1)
RETURNING id";

/// Starts a statement whose first parameters are the lease: run, owner and fence.
pub(super) fn leased<'q>(sql: &'static str, lease: &Lease) -> Query<'q, Sqlite, SqliteArguments> {
    sqlx::query(sql)
        .bind(lease.run.0.clone())
        .bind(lease.owner.clone())
        .bind(lease.fence)
}

/// Executes a statement made by [`leased`]. Fails with [`StoreError::Fenced`] if it changes no row.
pub(super) async fn execute_leased(
    query: Query<'_, Sqlite, SqliteArguments>,
    connection: &mut SqliteConnection,
    lease: &Lease,
) -> Result<(), WriteError> {
    match query.execute(connection).await?.rows_affected() {
        0 => Err(fenced(lease)),
        _ => Ok(()),
    }
}

/// The error of a write under a lease that is no longer held.
pub(super) fn fenced(lease: &Lease) -> WriteError {
    StoreError::Fenced(lease.run.clone()).into()
}

/// Makes the next run ready at each of `places` that has no active run.
pub(super) async fn promote(
    connection: &mut SqliteConnection,
    places: &[String],
) -> Result<(), WriteError> {
    if !places.is_empty() {
        sqlx::query(PROMOTE)
            .bind(json(&places)?)
            .execute(connection)
            .await?;
    }
    Ok(())
}

pub(super) async fn finish(
    connection: &mut SqliteConnection,
    lease: &Lease,
    outcome: &RunOutcome,
    now: Millis,
) -> Result<(), WriteError> {
    let (state, code, note) = match outcome {
        RunOutcome::Succeeded => (State::Succeeded, None, None),
        RunOutcome::Failed { code, message } => (State::Failed, Some(code.name()), Some(message)),
        RunOutcome::Cancelled => (State::Cancelled, None, None),
        RunOutcome::Park {
            until,
            reason,
            counts,
        } => {
            let query = leased(PARK, lease)
                .bind(until.0)
                .bind(reason)
                .bind(i64::from(!counts));
            return execute_leased(query, connection, lease).await;
        }
        RunOutcome::Yield => return execute_leased(leased(YIELD, lease), connection, lease).await,
    };
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let ended = leased(END, lease)
        .bind(state.name())
        .bind(now.0)
        .bind(code)
        .bind(note)
        .fetch_optional(&mut *transaction)
        .await?;
    let Some(row) = ended else {
        transaction.rollback().await?;
        return Err(fenced(lease));
    };
    let place: Option<String> = nullable(&row, "serial")?;
    promote(&mut transaction, place.as_slice()).await?;
    transaction.commit().await?;
    Ok(())
}

pub(super) async fn request_cancel(
    connection: &mut SqliteConnection,
    place: &str,
    before: &RunId,
    by: &str,
) -> Result<Vec<RunId>, WriteError> {
    let rows = sqlx::query(CANCEL)
        .bind(place)
        .bind(&before.0)
        .bind(by)
        .fetch_all(connection)
        .await?;
    let mut asked = rows
        .iter()
        .map(|row| Ok((column::<i64>(row, "seq")?, RunId(column(row, "id")?))))
        .collect::<Result<Vec<_>, StoreError>>()?;
    asked.sort_unstable();
    Ok(asked.into_iter().map(|(_, id)| id).collect())
}

pub(super) async fn requeue_failed(
    connection: &mut SqliteConnection,
    place: &str,
) -> Result<Option<RunId>, WriteError> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let row = sqlx::query(REQUEUE)
        .bind(place)
        .bind(Code::PermissionDenied.name())
        .fetch_optional(&mut *transaction)
        .await?;
    let id = row.map(|row| column(&row, "id")).transpose()?.map(RunId);
    if id.is_some() {
        promote(&mut transaction, &[place.to_owned()]).await?;
    }
    transaction.commit().await?;
    Ok(id)
}
