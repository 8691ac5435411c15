//! Leases: claiming runs to acknowledge them, extending, releasing and recovering leases.

use std::collections::HashMap;

use super::super::MAX_WAIT_AFTER_START;
use super::super::errors::{WriteError, corrupt};
use super::super::sql::{Connection, Lock, Row, Sql, column, json, nullable, of_run};
use super::queue::{execute_leased, leased, promote};
use crate::engine::model::progress::Progress;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Trigger;
use crate::engine::store::{Claimed, Lease, LeaseStatus, StoreError};

/// A condition on `runs`: no worker holds its lease at the time `$now`. On PostgreSQL the last
/// heartbeat decides, if there was one.
macro_rules! lease_ended {
    (sqlite, $now:literal) => {
        concat!("(lease_until_ms IS NULL OR lease_until_ms <= ", $now, ")")
    };
    (postgres, $now:literal) => {
        concat!(
            "(lease_owner IS NULL OR ",
            $now,
            " >= coalesce((
              SELECT until_ms FROM heartbeats
              WHERE heartbeats.run = runs.seq AND heartbeats.fence = runs.fence), lease_until_ms))"
        )
    };
}

/// Locks the selected row of `runs`, or skips it if another process is changing it.
macro_rules! skip_locked {
    (sqlite) => {
        ""
    };
    (postgres) => {
        " FOR UPDATE OF runs SKIP LOCKED"
    };
}

/// The `RETURNING` clause of a claim. Where the delivery keeps the comment's text, the trigger gets
/// it back.
macro_rules! claimed_columns {
    () => {
        "
RETURNING id, fence, attempt, round, cancel_requested, created_ms,
    (SELECT guid FROM deliveries WHERE deliveries.id = runs.delivery) AS guid,
    (SELECT text FROM deliveries WHERE deliveries.id = runs.delivery) AS text,
    (SELECT trigger FROM texts WHERE texts.run = runs.seq) AS trigger,
    (SELECT progress FROM texts WHERE texts.run = runs.seq) AS progress"
    };
}

macro_rules! claim_unacknowledged {
    ($database:ident) => {
        concat!(
            "
UPDATE runs
SET fence = fence + 1, lease_owner = $1, lease_until_ms = $3
WHERE seq = (
    SELECT seq FROM runs
    WHERE acknowledged = 0 AND ",
            lease_ended!($database, "$2"),
            " AND seq = (
        SELECT seq FROM (
            SELECT * FROM (
                SELECT created_ms, seq FROM runs
                WHERE acknowledged = 0 AND state IN ('blocked', 'ready') AND state = 'blocked' AND deferred = 0 AND ",
            lease_ended!($database, "$2"),
            "
                ORDER BY created_ms, seq LIMIT 1) AS blocked
            UNION ALL
            SELECT * FROM (
                SELECT created_ms, seq FROM runs
                WHERE acknowledged = 0 AND state IN ('blocked', 'ready') AND state = 'ready' AND deferred = 0
                  AND created_ms < $4 AND ",
            lease_ended!($database, "$2"),
            "
                ORDER BY created_ms, seq LIMIT 1) AS ready) AS either
        ORDER BY created_ms, seq LIMIT 1)",
            skip_locked!($database),
            ")",
            claimed_columns!()
        )
    };
}

pub(crate) const CLAIM_UNACKNOWLEDGED: Sql = Sql {
    sqlite: claim_unacknowledged!(sqlite),
    postgres: claim_unacknowledged!(postgres),
};

pub(crate) const ACKNOWLEDGED: &str = "
UPDATE runs
SET acknowledged = 1,
    lease_owner = CASE state WHEN 'running' THEN lease_owner END,
    lease_until_ms = CASE state WHEN 'running' THEN lease_until_ms END
WHERE id = $1 AND lease_owner = $2 AND fence = $3";

/// On PostgreSQL, heartbeats are rows of their own, so that they do not bloat the queue.
pub(crate) const HEARTBEAT: Sql = Sql {
    sqlite: "
UPDATE runs
SET lease_until_ms = $2, cancel_told = cancel_requested IS NOT NULL
FROM json_each($1) AS lease
WHERE runs.id = lease.value ->> 0 AND runs.lease_owner = lease.value ->> 1 AND runs.fence = lease.value ->> 2
RETURNING runs.id, runs.lease_owner, runs.fence, runs.cancel_requested",
    postgres: "
WITH held AS (
    SELECT DISTINCT runs.seq, runs.id, runs.lease_owner, runs.fence, runs.cancel_requested
    FROM json_array_elements($1::json) AS lease
    JOIN runs ON runs.id = lease.value ->> 0 AND runs.lease_owner = lease.value ->> 1
        AND runs.fence = (lease.value ->> 2)::bigint
),
extended AS (
    INSERT INTO heartbeats (run, fence, until_ms)
    SELECT seq, fence, $2 FROM held ORDER BY seq
    ON CONFLICT (run) DO UPDATE SET fence = excluded.fence, until_ms = excluded.until_ms
    WHERE heartbeats.fence <= excluded.fence
),
told AS (
    UPDATE runs SET cancel_told = 1 FROM held
    WHERE runs.seq = held.seq AND runs.fence = held.fence AND held.cancel_requested IS NOT NULL AND runs.cancel_told = 0
)
SELECT id, lease_owner, fence, cancel_requested FROM held",
};

pub(crate) const RELEASE: &str = "
UPDATE runs
SET attempt = CASE WHEN state = 'running' AND attempt > 0 THEN attempt - 1 ELSE attempt END,
    state = CASE state WHEN 'running' THEN 'ready' ELSE state END,
    lease_owner = NULL, lease_until_ms = NULL
WHERE lease_owner = $1";

/// Leases that ended before `$1`.
pub(crate) const EXPIRED: Sql = Sql {
    sqlite: "SELECT id FROM runs WHERE lease_owner IS NOT NULL AND lease_until_ms <= $1",
    postgres: "
SELECT id FROM runs
WHERE lease_owner IS NOT NULL AND $1 >= coalesce((
    SELECT until_ms FROM heartbeats
    WHERE heartbeats.run = runs.seq AND heartbeats.fence = runs.fence), lease_until_ms)
FOR UPDATE SKIP LOCKED",
};

pub(crate) const RECOVER: Sql = sql_with_list!(
    "
UPDATE runs
SET state = CASE state WHEN 'running' THEN 'ready' ELSE state END, lease_owner = NULL, lease_until_ms = NULL
WHERE id IN (SELECT value FROM ",
    texts,
    " AS expired)"
);

/// Effects that were tried by a process that died: the request may have been on its way until now.
pub(crate) const UNSETTLE: Sql = sql_with_list!(
    "UPDATE effects SET last_ms = $2 WHERE done_ms IS NULL AND run IN (SELECT value FROM ",
    texts,
    " AS expired)"
);

const LEASED: &str = "SELECT id FROM runs WHERE lease_owner IS NOT NULL";

const UNSETTLE_ALL: &str = "
UPDATE effects SET last_ms = $1
WHERE done_ms IS NULL AND run IN (SELECT id FROM runs WHERE finished_ms IS NULL)";

const DUE_SOON: &str = "UPDATE runs SET run_at_ms = $1 WHERE state = 'waiting' AND run_at_ms > $1";

const NOT_SPENT_AHEAD: &str = "UPDATE spending SET at_ms = $1 WHERE at_ms > $1";

/// Places with blocked runs and no active one. They should not exist; they are promoted at the start
/// so that none stays blocked for ever.
const STRANDED_PLACES: &str = "
SELECT DISTINCT serial FROM runs
WHERE state = 'blocked' AND NOT EXISTS (
    SELECT 1 FROM runs AS active
    WHERE active.serial = runs.serial AND active.state IN ('ready', 'running', 'waiting'))";

/// A run that cannot be read is marked acknowledged: it fails when it is claimed to run.
pub(crate) async fn claim_unacknowledged(
    connection: &mut Connection<'_>,
    owner: &str,
    now: Millis,
    until: Millis,
    ready_before: Millis,
) -> Result<Option<Claimed>, WriteError> {
    let values = [owner.into(), now.into(), until.into(), ready_before.into()];
    let Some(row) = connection.row(CLAIM_UNACKNOWLEDGED, &values).await? else {
        return Ok(None);
    };
    match claimed(&row, owner) {
        Ok(claimed) => Ok(Some(claimed)),
        Err(error) => {
            acknowledged(connection, &claimed_lease(&row, owner)?).await?;
            Err(error.into())
        }
    }
}

pub(super) fn claimed_lease(row: &Row, owner: &str) -> Result<Lease, StoreError> {
    Ok(Lease {
        run: RunId(column(row, "id")?),
        owner: owner.to_owned(),
        fence: column(row, "fence")?,
    })
}

pub(super) fn claimed(row: &Row, owner: &str) -> Result<Claimed, StoreError> {
    let read = || {
        let progress: Option<String> = nullable(row, "progress")?;
        Ok(Claimed {
            lease: claimed_lease(row, owner)?,
            trigger: trigger(row)?,
            progress: Progress::read(progress.as_deref())
                .map_err(|error| corrupt("progress", error))?,
            attempt: column(row, "attempt")?,
            round: column(row, "round")?,
            cancel_requested: nullable(row, "cancel_requested")?,
            created: Millis(column(row, "created_ms")?),
            guid: column(row, "guid")?,
        })
    };
    read().map_err(|error| of_run(row, error))
}

/// Reads the trigger of a run, and puts back the text that its delivery keeps for all of its runs.
pub(super) fn trigger(row: &Row) -> Result<Trigger, StoreError> {
    let trigger: String = column(row, "trigger")?;
    let trigger: Trigger =
        serde_json::from_str(&trigger).map_err(|error| corrupt("trigger", error))?;
    Ok(match nullable(row, "text")? {
        Some(text) => trigger.with_text(text),
        None => trigger,
    })
}

pub(crate) async fn acknowledged(
    connection: &mut Connection<'_>,
    lease: &Lease,
) -> Result<(), WriteError> {
    execute_leased(connection, ACKNOWLEDGED, lease, leased(lease, [])).await
}

/// Extends all leases with one statement.
pub(crate) async fn heartbeat(
    connection: &mut Connection<'_>,
    leases: &[Lease],
    until: Millis,
) -> Result<Vec<LeaseStatus>, WriteError> {
    let asked: Vec<_> = leases.iter().map(|l| (&l.run, &l.owner, l.fence)).collect();
    let rows = connection
        .rows(HEARTBEAT, &[json(&asked)?, until.into()])
        .await?;
    let held = rows
        .iter()
        .map(|row| {
            let lease = Lease {
                run: RunId(column(row, "id")?),
                owner: column(row, "lease_owner")?,
                fence: column(row, "fence")?,
            };
            let cancel: Option<String> = nullable(row, "cancel_requested")?;
            Ok((lease, cancel))
        })
        .collect::<Result<HashMap<_, _>, StoreError>>()?;
    let statuses = leases.iter().map(|lease| {
        let status = held.get(lease);
        LeaseStatus {
            run: lease.run.clone(),
            held: status.is_some(),
            cancel_requested: status.cloned().flatten(),
        }
    });
    Ok(statuses.collect())
}

pub(crate) async fn release(
    connection: &mut Connection<'_>,
    owner: &str,
) -> Result<u64, WriteError> {
    connection.execute(RELEASE, &[owner.into()]).await
}

pub(crate) async fn recover_expired(
    connection: &mut Connection<'_>,
    now: Millis,
) -> Result<u64, WriteError> {
    connection.begin().await?;
    let expired: Vec<String> = connection.scalars(EXPIRED, &[now.into()]).await?;
    if expired.is_empty() {
        return Ok(0);
    }
    connection
        .execute(UNSETTLE, &[json(&expired)?, now.into()])
        .await?;
    let recovered = connection.execute(RECOVER, &[json(&expired)?]).await?;
    connection.commit().await?;
    Ok(recovered)
}

/// Takes back every lease. Times ahead of `now` count as set by a clock that has been put back
/// since.
pub(crate) async fn recover_all(
    connection: &mut Connection<'_>,
    now: Millis,
) -> Result<u64, WriteError> {
    connection.begin().await?;
    connection.execute(UNSETTLE_ALL, &[now.into()]).await?;
    let leased: Vec<String> = connection.scalars(LEASED, &[]).await?;
    let recovered = connection.execute(RECOVER, &[json(&leased)?]).await?;
    let soon = now.plus(MAX_WAIT_AFTER_START);
    connection.execute(DUE_SOON, &[soon.into()]).await?;
    connection.execute(NOT_SPENT_AHEAD, &[now.into()]).await?;
    connection.commit().await?;
    promote_stranded(connection).await?;
    Ok(recovered)
}

/// Promotes the next run of each place that has blocked runs and no active one.
pub(crate) async fn promote_stranded(connection: &mut Connection<'_>) -> Result<(), WriteError> {
    let stranded: Vec<String> = connection.scalars(STRANDED_PLACES, &[]).await?;
    let locks: Vec<_> = stranded.iter().map(|key| Lock::Serial(key)).collect();
    connection.lock(&locks).await?;
    promote(connection, &stranded).await?;
    connection.commit().await
}
