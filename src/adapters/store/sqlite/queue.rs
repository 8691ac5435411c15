//! How runs move between states at their place: ended, parked, cancelled, put back in line.
//!
//! Here and in the other files of this module: a statement that writes outside a transaction and returns rows is read
//! to its end (`fetch_all`), because only the last step commits and reports a failure to do so.

use sqlx::{Connection, SqliteConnection};

use super::accept::json;
use super::errors::{Trouble, column, nullable};
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::store::{Finish, Lease, StoreError};

/// The oldest blocked run of each given place that has no active one.
pub(super) const PROMOTE: &str = "
UPDATE runs SET state = 'ready'
WHERE seq IN (
    SELECT (SELECT next.seq FROM runs AS next
            WHERE next.serial = place.value AND next.state = 'blocked' ORDER BY next.seq LIMIT 1)
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

/// Back in line, as if it had not been claimed.
pub(super) const YIELD: &str = "
UPDATE runs
SET state = 'ready', attempt = max(attempt - 1, 0), lease_owner = NULL, lease_until_ms = NULL
WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3 AND state = 'running'";

/// A request to stop that the worker has not been told of makes the run claimable at once; one that it was told of
/// does not, or a run that cannot report its end for now would spin. The same for messages.
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
  AND seq < (SELECT seq FROM runs WHERE id = ?2)
RETURNING seq, id";

pub(super) const REQUEUE: &str = "
UPDATE runs
SET state = 'blocked', run_at_ms = created_ms, attempt = 0, round = round + 1, cancel_requested = NULL, cancel_told = 0,
    code = NULL, note = NULL, started_ms = NULL, finished_ms = NULL
WHERE seq = (SELECT seq FROM runs WHERE serial = ?1 AND state IN ('failed', 'cancelled')
             AND code IS NOT 'permission_denied' ORDER BY seq DESC LIMIT 1)
RETURNING id";

/// Makes the next run ready at each of `places` that has no active run.
pub(super) async fn promote(
    connection: &mut SqliteConnection,
    places: &[String],
) -> Result<(), Trouble> {
    if !places.is_empty() {
        sqlx::query(PROMOTE)
            .bind(json(&places)?)
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// See [`crate::engine::store::Store::finish`].
pub(super) async fn finish(
    connection: &mut SqliteConnection,
    lease: &Lease,
    how: &Finish,
    now: Millis,
) -> Result<(), Trouble> {
    let (state, code, note) = match how {
        Finish::Succeeded => (State::Succeeded, None, None),
        Finish::Failed { code, message } => (State::Failed, Some(code), Some(message)),
        Finish::Cancelled => (State::Cancelled, None, None),
        Finish::Park {
            until,
            reason,
            counts,
        } => return park(connection, lease, *until, reason, *counts).await,
        Finish::Yield => {
            let yielded = sqlx::query(YIELD)
                .bind(&lease.run.0)
                .bind(&lease.owner)
                .bind(lease.fence)
                .execute(connection)
                .await?;
            return held(yielded.rows_affected(), lease);
        }
    };
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let ended = sqlx::query(END)
        .bind(&lease.run.0)
        .bind(&lease.owner)
        .bind(lease.fence)
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

async fn park(
    connection: &mut SqliteConnection,
    lease: &Lease,
    until: Millis,
    reason: &str,
    counts: bool,
) -> Result<(), Trouble> {
    let parked = sqlx::query(PARK)
        .bind(&lease.run.0)
        .bind(&lease.owner)
        .bind(lease.fence)
        .bind(until.0)
        .bind(reason)
        .bind(i64::from(!counts))
        .execute(connection)
        .await?;
    held(parked.rows_affected(), lease)
}

/// See [`crate::engine::store::Store::request_cancel`].
pub(super) async fn request_cancel(
    connection: &mut SqliteConnection,
    place: &str,
    before: &RunId,
    by: &str,
) -> Result<Vec<RunId>, Trouble> {
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

/// See [`crate::engine::store::Store::requeue_failed`].
pub(super) async fn requeue_failed(
    connection: &mut SqliteConnection,
    place: &str,
) -> Result<Option<RunId>, Trouble> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let row = sqlx::query(REQUEUE)
        .bind(place)
        .fetch_optional(&mut *transaction)
        .await?;
    let id = row.map(|row| column(&row, "id")).transpose()?.map(RunId);
    if id.is_some() {
        promote(&mut transaction, &[place.to_owned()]).await?;
    }
    transaction.commit().await?;
    Ok(id)
}

/// The refusal of a write under a lease that is somebody else's.
pub(super) fn fenced(lease: &Lease) -> Trouble {
    StoreError::Fenced(lease.run.clone()).into()
}

/// Fails unless the write under `lease` touched its row.
pub(super) fn held(rows: u64, lease: &Lease) -> Result<(), Trouble> {
    if rows == 0 {
        Err(fenced(lease))
    } else {
        Ok(())
    }
}
