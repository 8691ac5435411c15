//! Leases: claiming, extending, releasing and recovering them.

use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::MAX_WAIT_AFTER_START;
use super::accept::json;
use super::errors::{WriteError, column, corrupt, nullable, of_run};
use super::queue::{execute_leased, finish, leased, promote};
use crate::engine::model::failure::Code;
use crate::engine::model::progress::Progress;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::store::{Claimed, Lease, LeaseStatus, RunOutcome, StoreError};

/// The `RETURNING` clause of a claim. Where the delivery keeps the comment's text, the trigger gets
/// it back.
macro_rules! claiming {
    ($update:literal) => {
        concat!(
            $update,
            "
RETURNING id, fence, attempt, round, cancel_requested, created_ms,
    (SELECT guid FROM deliveries WHERE deliveries.id = runs.delivery) AS guid,
    (SELECT CASE WHEN deliveries.text IS NULL THEN texts.trigger
                 ELSE json_set(texts.trigger, '$.origin.text', deliveries.text) END
     FROM texts CROSS JOIN deliveries ON deliveries.id = runs.delivery
     WHERE texts.run = runs.seq) AS trigger,
    (SELECT progress FROM texts WHERE texts.run = runs.seq) AS progress"
        )
    };
}

/// Takes the first run of each repository that has any (found by jumping from one repository to the
/// next in the index, so that a long backlog costs nothing), and claims the one whose repository
/// has the fewest running. Deferred runs come last, and one at a time in an installation: however
/// many there are, they occupy one worker and one place in the write lane.
pub(super) const CLAIM: &str = claiming!(
    "
WITH RECURSIVE
ready (repo) AS (
    SELECT min(repo_id) FROM runs WHERE state = 'ready'
    UNION ALL
    SELECT (SELECT min(repo_id) FROM runs WHERE state = 'ready' AND repo_id > ready.repo)
    FROM ready WHERE ready.repo IS NOT NULL
),
waiting (repo) AS (
    SELECT min(repo_id) FROM runs WHERE state = 'waiting'
    UNION ALL
    SELECT (SELECT min(repo_id) FROM runs WHERE state = 'waiting' AND repo_id > waiting.repo)
    FROM waiting WHERE waiting.repo IS NOT NULL
),
heads (seq) AS (
    SELECT (SELECT seq FROM runs
            WHERE repo_id = ready.repo AND state = 'ready' AND deferred = 0 AND (lease_until_ms IS NULL OR lease_until_ms <= ?2)
            ORDER BY run_at_ms, seq LIMIT 1) FROM ready
    UNION ALL
    SELECT (SELECT seq FROM runs
            WHERE repo_id = waiting.repo AND state = 'waiting' AND deferred = 0 AND run_at_ms <= ?2
              AND (lease_until_ms IS NULL OR lease_until_ms <= ?2)
            ORDER BY run_at_ms, seq LIMIT 1) FROM waiting
    UNION ALL
    SELECT (SELECT seq FROM runs
            WHERE deferred = 1 AND state = 'ready' AND (lease_until_ms IS NULL OR lease_until_ms <= ?2)
              AND NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.deferred = 1 AND other.state = 'running'
                              AND other.installation = runs.installation)
            ORDER BY run_at_ms, seq LIMIT 1)
    UNION ALL
    SELECT (SELECT seq FROM runs
            WHERE deferred = 1 AND state = 'waiting' AND run_at_ms <= ?2
              AND (lease_until_ms IS NULL OR lease_until_ms <= ?2)
              AND NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.deferred = 1 AND other.state = 'running'
                              AND other.installation = runs.installation)
            ORDER BY run_at_ms, seq LIMIT 1)
)
UPDATE runs
SET state = 'running', attempt = attempt + 1, fence = fence + 1, lease_owner = ?1, lease_until_ms = ?3,
    started_ms = coalesce(started_ms, ?2), cancel_told = cancel_requested IS NOT NULL,
    heard = told
WHERE seq = (
    SELECT head.seq FROM heads CROSS JOIN runs AS head ON head.seq = heads.seq
    ORDER BY head.deferred, (SELECT count(*) FROM runs AS busy WHERE busy.state = 'running' AND busy.repo_id = head.repo_id),
             head.run_at_ms, head.seq
    LIMIT 1)"
);

pub(super) const CLAIM_UNACKNOWLEDGED: &str = claiming!(
    "
UPDATE runs
SET fence = fence + 1, lease_owner = ?1, lease_until_ms = ?3
WHERE seq = (
    SELECT seq FROM (
        SELECT * FROM (
            SELECT created_ms, seq FROM runs
            WHERE acknowledged = 0 AND state IN ('blocked', 'ready') AND state = 'blocked' AND deferred = 0
              AND (lease_until_ms IS NULL OR lease_until_ms <= ?2)
            ORDER BY created_ms, seq LIMIT 1)
        UNION ALL
        SELECT * FROM (
            SELECT created_ms, seq FROM runs
            WHERE acknowledged = 0 AND state IN ('blocked', 'ready') AND state = 'ready' AND deferred = 0
              AND created_ms < ?4
              AND (lease_until_ms IS NULL OR lease_until_ms <= ?2)
            ORDER BY created_ms, seq LIMIT 1))
    ORDER BY created_ms, seq LIMIT 1)"
);

pub(super) const ACKNOWLEDGED: &str = "
UPDATE runs
SET acknowledged = 1,
    lease_owner = CASE state WHEN 'running' THEN lease_owner END,
    lease_until_ms = CASE state WHEN 'running' THEN lease_until_ms END
WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3";

pub(super) const HEARTBEAT: &str = "
UPDATE runs
SET lease_until_ms = ?2, cancel_told = cancel_requested IS NOT NULL
FROM json_each(?1) AS lease
WHERE runs.id = lease.value ->> 0 AND runs.lease_owner = lease.value ->> 1 AND runs.fence = lease.value ->> 2
RETURNING runs.id, runs.fence, runs.cancel_requested";

pub(super) const RELEASE: &str = "
UPDATE runs
SET attempt = CASE state WHEN 'running' THEN max(attempt - 1, 0) ELSE attempt END,
    state = CASE state WHEN 'running' THEN 'ready' ELSE state END,
    lease_owner = NULL, lease_until_ms = NULL
WHERE lease_owner = ?1";

pub(super) const RECOVER: &str = "
UPDATE runs
SET state = CASE state WHEN 'running' THEN 'ready' ELSE state END, lease_owner = NULL, lease_until_ms = NULL
WHERE lease_owner IS NOT NULL AND (?2 OR lease_until_ms <= ?1)";

pub(super) const UNSETTLE: &str = "
UPDATE effects SET last_ms = ?1
WHERE done_ms IS NULL AND run IN (
    SELECT id FROM runs
    WHERE (?2 AND finished_ms IS NULL) OR (lease_owner IS NOT NULL AND lease_until_ms <= ?1))";

const DUE_SOON: &str = "UPDATE runs SET run_at_ms = ?1 WHERE state = 'waiting' AND run_at_ms > ?1";

const NOT_SPENT_AHEAD: &str = "UPDATE spending SET at_ms = ?1 WHERE at_ms > ?1";

/// Places with blocked runs. Those without an active run should not exist; they are promoted at the
/// start so that none stays blocked for ever.
const BLOCKED_PLACES: &str = "SELECT DISTINCT serial FROM runs WHERE state = 'blocked'";

pub(super) async fn claim(
    connection: &mut SqliteConnection,
    owner: &str,
    now: Millis,
    until: Millis,
) -> Result<Option<Claimed>, WriteError> {
    let rows = sqlx::query(CLAIM)
        .bind(owner)
        .bind(now.0)
        .bind(until.0)
        .fetch_all(&mut *connection)
        .await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    match claimed(row, owner) {
        Ok(claimed) => Ok(Some(claimed)),
        Err(error) => {
            let failed = RunOutcome::Failed {
                code: Code::Internal,
                message: error.to_string(),
            };
            finish(connection, &claimed_lease(row, owner)?, &failed, now).await?;
            Err(error.into())
        }
    }
}

/// A run that cannot be read is marked acknowledged: it fails when it is claimed to run.
pub(super) async fn claim_unacknowledged(
    connection: &mut SqliteConnection,
    owner: &str,
    now: Millis,
    until: Millis,
    ready_before: Millis,
) -> Result<Option<Claimed>, WriteError> {
    let rows = sqlx::query(CLAIM_UNACKNOWLEDGED)
        .bind(owner)
        .bind(now.0)
        .bind(until.0)
        .bind(ready_before.0)
        .fetch_all(&mut *connection)
        .await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    match claimed(row, owner) {
        Ok(claimed) => Ok(Some(claimed)),
        Err(error) => {
            acknowledged(connection, &claimed_lease(row, owner)?).await?;
            Err(error.into())
        }
    }
}

fn claimed_lease(row: &SqliteRow, owner: &str) -> Result<Lease, StoreError> {
    Ok(Lease {
        run: RunId(column(row, "id")?),
        owner: owner.to_owned(),
        fence: column(row, "fence")?,
    })
}

fn claimed(row: &SqliteRow, owner: &str) -> Result<Claimed, StoreError> {
    let read = || {
        let trigger: String = column(row, "trigger")?;
        let progress: Option<String> = nullable(row, "progress")?;
        Ok(Claimed {
            lease: claimed_lease(row, owner)?,
            trigger: serde_json::from_str(&trigger).map_err(|error| corrupt("trigger", error))?,
            progress: Progress::read(progress.as_deref())
                .map_err(|error| corrupt("progress", error))?,
            attempt: count(row, "attempt")?,
            round: count(row, "round")?,
            cancel_requested: nullable(row, "cancel_requested")?,
            created: Millis(column(row, "created_ms")?),
            guid: column(row, "guid")?,
        })
    };
    read().map_err(|error| of_run(row, error))
}

/// Reads a counter of attempts or rounds.
pub(super) fn count(row: &SqliteRow, name: &'static str) -> Result<u32, StoreError> {
    u32::try_from(column::<i64>(row, name)?).map_err(|error| corrupt(name, error))
}

pub(super) async fn acknowledged(
    connection: &mut SqliteConnection,
    lease: &Lease,
) -> Result<(), WriteError> {
    execute_leased(leased(ACKNOWLEDGED, lease), connection, lease).await
}

/// Extends all leases with one statement.
pub(super) async fn heartbeat(
    connection: &mut SqliteConnection,
    leases: &[Lease],
    until: Millis,
) -> Result<Vec<LeaseStatus>, WriteError> {
    let asked: Vec<_> = leases.iter().map(|l| (&l.run, &l.owner, l.fence)).collect();
    let rows = sqlx::query(HEARTBEAT)
        .bind(json(&asked)?)
        .bind(until.0)
        .fetch_all(connection)
        .await?;
    let mut held = rows
        .iter()
        .map(|row| {
            let key: (String, i64) = (column(row, "id")?, column(row, "fence")?);
            let cancel: Option<String> = nullable(row, "cancel_requested")?;
            Ok((key, cancel))
        })
        .collect::<Result<std::collections::HashMap<_, _>, StoreError>>()?;
    let statuses = leases.iter().map(|lease| {
        let status = held.remove(&(lease.run.0.clone(), lease.fence));
        LeaseStatus {
            run: lease.run.clone(),
            held: status.is_some(),
            cancel_requested: status.flatten(),
        }
    });
    Ok(statuses.collect())
}

pub(super) async fn release(
    connection: &mut SqliteConnection,
    owner: &str,
) -> Result<u64, WriteError> {
    let released = sqlx::query(RELEASE).bind(owner).execute(connection).await?;
    Ok(released.rows_affected())
}

pub(super) async fn recover_expired(
    connection: &mut SqliteConnection,
    now: Millis,
) -> Result<u64, WriteError> {
    recover(connection, now, false).await
}

/// Takes back every lease. Times ahead of `now` count as set by a clock that has been put back
/// since.
pub(super) async fn recover_all(
    connection: &mut SqliteConnection,
    now: Millis,
) -> Result<u64, WriteError> {
    let recovered = recover(connection, now, true).await?;
    sqlx::query(DUE_SOON)
        .bind(now.plus(MAX_WAIT_AFTER_START).0)
        .execute(&mut *connection)
        .await?;
    sqlx::query(NOT_SPENT_AHEAD)
        .bind(now.0)
        .execute(&mut *connection)
        .await?;
    let blocked = sqlx::query_scalar(BLOCKED_PLACES)
        .fetch_all(&mut *connection)
        .await?;
    promote(connection, &blocked).await?;
    Ok(recovered)
}

async fn recover(
    connection: &mut SqliteConnection,
    now: Millis,
    all: bool,
) -> Result<u64, WriteError> {
    // A write of a process that died may have been on its way until now.
    sqlx::query(UNSETTLE)
        .bind(now.0)
        .bind(all)
        .execute(&mut *connection)
        .await?;
    let recovered = sqlx::query(RECOVER)
        .bind(now.0)
        .bind(all)
        .execute(connection)
        .await?;
    Ok(recovered.rows_affected())
}
