//! State changes of runs: ended, parked, cancelled, queued again.

use super::super::errors::WriteError;
use super::super::sql::{Connection, Lock, Sql, Value, column, json, nullable};
use super::records::audit;
use crate::engine::model::failure::Code;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::store::{AuditEntry, Change, Lease, RunOutcome, StoreError};

/// Makes the blocked run that was requested first ready at each given place that has no active one.
pub(crate) const PROMOTE: Sql = sql_with_list!(
    "
UPDATE runs SET state = 'ready'
WHERE seq IN (
    SELECT (SELECT next.seq FROM runs AS next
            WHERE next.serial = place.value AND next.state = 'blocked' ORDER BY next.said_ms, next.seq LIMIT 1)
    FROM ",
    texts,
    " AS place
    WHERE NOT EXISTS (
        SELECT 1 FROM runs AS active
        WHERE active.serial = place.value AND active.serial IS NOT NULL
          AND active.state IN ('ready', 'running', 'waiting')))"
);

pub(crate) const END: &str = "
UPDATE runs
SET state = $4, finished_ms = $5, code = $6, note = $7, lease_owner = NULL, lease_until_ms = NULL
WHERE id = $1 AND lease_owner = $2 AND fence = $3 AND state = 'running'
RETURNING serial";

/// Makes a run ready again as if it had not been claimed.
pub(crate) const YIELD: &str = "
UPDATE runs
SET state = 'ready', attempt = CASE WHEN attempt > 0 THEN attempt - 1 ELSE 0 END, lease_owner = NULL, lease_until_ms = NULL
WHERE id = $1 AND lease_owner = $2 AND fence = $3 AND state = 'running'";

/// A request to cancel that the worker does not know of makes the run claimable at once. One that
/// it knows of does not, or a run that cannot report its end at the moment would be claimed in a
/// loop. The same holds for messages.
pub(crate) const PARK: &str = "
UPDATE runs
SET state = CASE WHEN told > heard OR (cancel_requested IS NOT NULL AND cancel_told = 0) THEN 'ready' ELSE 'waiting' END,
    run_at_ms = CASE WHEN told > heard OR (cancel_requested IS NOT NULL AND cancel_told = 0) THEN created_ms ELSE $4 END,
    note = $5, attempt = CASE WHEN attempt > $6 THEN attempt - $6 ELSE 0 END, lease_owner = NULL, lease_until_ms = NULL
WHERE id = $1 AND lease_owner = $2 AND fence = $3 AND state = 'running'";

const SERIAL_OF: &str = "SELECT serial FROM runs WHERE id = $1";

/// Requests the cancellation by $2 of the unfinished runs that meet a condition.
macro_rules! cancel {
    ($condition:literal) => {
        concat!(
            "
UPDATE runs
SET cancel_told = CASE WHEN cancel_requested IS NULL THEN 0 ELSE cancel_told END,
    cancel_requested = coalesce(cancel_requested, $2),
    state = CASE state WHEN 'waiting' THEN 'ready' ELSE state END,
    run_at_ms = CASE state WHEN 'waiting' THEN created_ms ELSE run_at_ms END
WHERE state IN ('blocked', 'ready', 'running', 'waiting') AND ",
            $condition,
            "
RETURNING seq, id"
        )
    };
}

pub(crate) const CANCEL: &str =
    cancel!("serial = $1 AND (said_ms, seq) < (SELECT said_ms, seq FROM runs WHERE id = $3)");

const CANCEL_ONE: &str = cancel!("id = $1");

/// Queues the failed or cancelled run that meets a condition again, unless its code is $2.
macro_rules! requeue {
    ($condition:literal) => {
        concat!(
            "
UPDATE runs
SET state = CASE WHEN serial IS NULL THEN 'ready' ELSE 'blocked' END, run_at_ms = created_ms, attempt = 0,
    round = round + 1, cancel_requested = NULL, cancel_told = 0, code = NULL, note = NULL, started_ms = NULL,
    finished_ms = NULL
WHERE seq = (SELECT seq FROM runs WHERE ",
            $condition,
            " AND state IN ('failed', 'cancelled') AND code IS DISTINCT FROM $2 ORDER BY seq DESC LIMIT 1)
RETURNING id, serial"
        )
    };
}

pub(crate) const REQUEUE: &str = requeue!("serial = $1");

const REQUEUE_ONE: &str = requeue!("id = $1");

const EXISTS: &str = "SELECT seq FROM runs WHERE id = $1";

/// Returns the parameters of a statement that begins with those of the lease: run, owner and fence.
pub(super) fn leased<'a, const N: usize>(lease: &'a Lease, more: [Value<'a>; N]) -> Vec<Value<'a>> {
    let lease = [
        (&lease.run).into(),
        (&lease.owner).into(),
        lease.fence.into(),
    ];
    lease.into_iter().chain(more).collect()
}

/// Executes a statement with parameters made by [`leased`]. Fails with [`StoreError::Fenced`] if it
/// changes no row.
pub(super) async fn execute_leased(
    connection: &mut Connection<'_>,
    sql: impl Into<Sql>,
    lease: &Lease,
    values: Vec<Value<'_>>,
) -> Result<(), WriteError> {
    match connection.execute(sql, &values).await? {
        0 => Err(fenced(lease)),
        _ => Ok(()),
    }
}

/// The error of a write under a lease that is no longer held.
pub(super) fn fenced(lease: &Lease) -> WriteError {
    StoreError::Fenced(lease.run.clone()).into()
}

/// Makes the next run ready at each of `places` that has no active run. The caller holds their
/// locks.
pub(super) async fn promote(
    connection: &mut Connection<'_>,
    places: &[String],
) -> Result<(), WriteError> {
    if !places.is_empty() {
        connection.execute(PROMOTE, &[json(&places)?]).await?;
    }
    Ok(())
}

/// Takes the lock of the place of a run.
pub(super) async fn lock_place_of(
    connection: &mut Connection<'_>,
    run: &RunId,
) -> Result<(), WriteError> {
    if connection.is_shared()
        && let Some(serial) = connection
            .scalar::<String>(SERIAL_OF, &[run.into()])
            .await?
    {
        connection.lock(&[Lock::Serial(&serial)]).await?;
    }
    Ok(())
}

pub(crate) async fn finish(
    connection: &mut Connection<'_>,
    lease: &Lease,
    outcome: &RunOutcome,
    now: Millis,
) -> Result<(), WriteError> {
    let (state, code, note) = match outcome {
        RunOutcome::Succeeded => (State::Succeeded, None, None),
        RunOutcome::Failed { code, message } => {
            (State::Failed, Some(code.name()), Some(message.as_str()))
        }
        RunOutcome::Cancelled => (State::Cancelled, None, None),
        RunOutcome::Park {
            until,
            reason,
            counts,
        } => {
            let values = [(*until).into(), reason.into(), (!counts).into()];
            return execute_leased(connection, PARK, lease, leased(lease, values)).await;
        }
        RunOutcome::Yield => {
            return execute_leased(connection, YIELD, lease, leased(lease, [])).await;
        }
    };
    lock_place_of(connection, &lease.run).await?;
    connection.begin().await?;
    let values = [state.into(), now.into(), code.into(), note.into()];
    let ended = connection.row(END, &leased(lease, values)).await?;
    let ended = ended.ok_or_else(|| fenced(lease))?;
    let place: Option<String> = nullable(&ended, "serial")?;
    promote(connection, place.as_slice()).await?;
    connection.commit().await
}

pub(crate) async fn request_cancel(
    connection: &mut Connection<'_>,
    place: &str,
    before: &RunId,
    by: &str,
) -> Result<Vec<RunId>, WriteError> {
    connection.lock(&[Lock::Serial(place)]).await?;
    let values = [place.into(), by.into(), before.into()];
    let rows = connection.rows(CANCEL, &values).await?;
    connection.commit().await?;
    let mut asked = rows
        .iter()
        .map(|row| Ok((column::<i64>(row, "seq")?, RunId(column(row, "id")?))))
        .collect::<Result<Vec<_>, StoreError>>()?;
    asked.sort_unstable();
    Ok(asked.into_iter().map(|(_, id)| id).collect())
}

pub(crate) async fn requeue_failed(
    connection: &mut Connection<'_>,
    place: &str,
) -> Result<Option<RunId>, WriteError> {
    connection.lock(&[Lock::Serial(place)]).await?;
    connection.begin().await?;
    let values = [place.into(), Code::PermissionDenied.into()];
    let id = connection.scalar(REQUEUE, &values).await?.map(RunId);
    if id.is_some() {
        promote(connection, &[place.to_owned()]).await?;
    }
    connection.commit().await?;
    Ok(id)
}

pub(crate) async fn cancel_run(
    connection: &mut Connection<'_>,
    run: &RunId,
    entry: &AuditEntry,
) -> Result<Change, WriteError> {
    lock_place_of(connection, run).await?;
    connection.begin().await?;
    let values = [run.into(), (&entry.actor).into()];
    let asked = connection.row(CANCEL_ONE, &values).await?;
    end_change(connection, run, asked.is_some(), entry).await
}

pub(crate) async fn retry_run(
    connection: &mut Connection<'_>,
    run: &RunId,
    entry: &AuditEntry,
) -> Result<Change, WriteError> {
    lock_place_of(connection, run).await?;
    connection.begin().await?;
    let values = [run.into(), Code::PermissionDenied.into()];
    let queued = connection.row(REQUEUE_ONE, &values).await?;
    if let Some(row) = &queued {
        let place: Option<String> = nullable(row, "serial")?;
        promote(connection, place.as_slice()).await?;
    }
    end_change(connection, run, queued.is_some(), entry).await
}

/// Ends the transaction of a change to one run: records it if it was made, and returns the result.
async fn end_change(
    connection: &mut Connection<'_>,
    run: &RunId,
    is_made: bool,
    entry: &AuditEntry,
) -> Result<Change, WriteError> {
    let change = if is_made {
        audit(connection, entry).await?;
        Change::Done
    } else {
        let seq: Option<i64> = connection.scalar(EXISTS, &[run.into()]).await?;
        seq.map_or(Change::Unknown, |_| Change::NotNow)
    };
    connection.commit().await?;
    Ok(change)
}
