//! Claiming the next run.
//!
//! Among the first runs of all repositories, the one is claimed whose installation, then repository,
//! has the fewest running, and among those the oldest. Neither a long backlog nor many repositories
//! make that slow: the tables `repository_heads` and `installation_heads`, which triggers maintain,
//! hold the repositories and installations with ready runs in the order of `head_ms`, the time of
//! the first such run. So only installations of which something runs and the first few of the
//! others are looked at.
//!
//! On PostgreSQL, where several processes claim at the same time, `head_ms` may be too early. It is
//! corrected here where that is found.

use std::collections::BTreeSet;

use super::super::errors::WriteError;
use super::super::sql::{Connection, Lock, Row, Sql, Value, column, json, nullable, number};
use super::lease::{claimed, claimed_lease};
use super::queue::finish;
use crate::engine::model::failure::Code;
use crate::engine::model::time::Millis;
use crate::engine::store::{ClaimLimits, Claimed, RunOutcome, StoreError};

/// Maximum number of times that heads are corrected although a run was found that can be claimed:
/// another one may be older.
const MAX_CORRECTIONS: u32 = 16;

/// A condition on `runs`: it is ready, and a process was acknowledging it whose lease has ended. On
/// PostgreSQL, a heartbeat may have made the lease shorter than `lease_until_ms` says.
macro_rules! is_abandoned {
    (sqlite) => {
        "lease_owner IS NOT NULL AND lease_until_ms <= $1 AND state = 'ready'"
    };
    (postgres) => {
        concat!(
            "lease_owner IS NOT NULL AND state = 'ready' AND ",
            lease_ended!(postgres, "$1")
        )
    };
}

macro_rules! pending {
    ($database:ident) => {
        concat!(
            "
SELECT CASE WHEN EXISTS (SELECT 1 FROM runs WHERE state = 'waiting' AND run_at_ms <= $1)
              OR EXISTS (SELECT 1 FROM runs WHERE ",
            is_abandoned!($database),
            ") THEN 1 ELSE 0 END AS is_due,
       CASE WHEN EXISTS (SELECT 1 FROM installation_heads)
              OR EXISTS (SELECT 1 FROM runs WHERE state = 'ready' AND deferred = 1)
            THEN 1 ELSE 0 END AS is_ready"
        )
    };
}

/// Whether runs have to be made claimable (those that have waited until now, and ready ones that a
/// process which died was acknowledging), and whether there are ready ones. Most claims of idle
/// workers end here.
pub(crate) const PENDING: Sql = Sql {
    sqlite: pending!(sqlite),
    postgres: pending!(postgres),
};

/// Makes runs ready that have waited until now, those that are due first. The number is limited
/// because many runs may wait for the same time.
pub(crate) const WAKE: Sql = Sql {
    sqlite: "
UPDATE runs SET state = 'ready'
WHERE seq IN (SELECT seq FROM runs WHERE state = 'waiting' AND run_at_ms <= $1 ORDER BY run_at_ms, seq LIMIT 100)",
    postgres: "
UPDATE runs SET state = 'ready'
WHERE seq = ANY (ARRAY(SELECT seq FROM runs WHERE state = 'waiting' AND run_at_ms <= $1
                       ORDER BY run_at_ms, seq LIMIT 100 FOR UPDATE SKIP LOCKED))",
};

macro_rules! abandon {
    ($database:ident, $skip_locked:literal) => {
        concat!(
            "
UPDATE runs SET lease_owner = NULL, lease_until_ms = NULL
WHERE seq IN (
    SELECT seq FROM runs WHERE ",
            is_abandoned!($database),
            $skip_locked,
            ")"
        )
    };
}

/// Ends the leases of ready runs that have run out: nobody acknowledges them any more.
pub(crate) const ABANDON: Sql = Sql {
    sqlite: abandon!(sqlite, ""),
    postgres: abandon!(postgres, " FOR UPDATE OF runs SKIP LOCKED"),
};

/// Selects the first run of each of some repositories, best first. `$lines` selects the repositories
/// and what they are ordered by; `head_ms` is that of the installation where it decides the order,
/// and `repo_id` is NULL where there turns out to be no repository.
macro_rules! candidates {
    ($lines:expr) => {
        concat!(
            "
WITH running (installation, repo_id, runs) AS (
    SELECT installation, repo_id, count(*) FROM runs WHERE state = 'running' GROUP BY installation, repo_id
),
busy (installation, runs) AS (
    SELECT installation, CAST(sum(runs) AS BIGINT) FROM running GROUP BY installation
),
lines (installation, of_installation, of_repository, head_ms, repo_id) AS (",
            $lines,
            "
),
heads (installation, of_installation, of_repository, repo_id, is_late, head_ms, seq) AS (
    SELECT lines.installation, lines.of_installation, lines.of_repository, lines.repo_id,
           lines.head_ms < repository_heads.head_ms, repository_heads.head_ms,
           (SELECT seq FROM runs
            WHERE installation = lines.installation AND repo_id = lines.repo_id
              AND state = 'ready' AND deferred = 0 AND lease_owner IS NULL
            ORDER BY run_at_ms, seq LIMIT 1)
    FROM lines LEFT JOIN repository_heads
        ON repository_heads.installation = lines.installation AND repository_heads.repo_id = lines.repo_id
    WHERE lines.head_ms IS NOT NULL OR repository_heads.head_ms IS NOT NULL
)
SELECT heads.installation, heads.repo_id, heads.seq,
       CASE WHEN heads.repo_id IS NULL OR is_late OR head.seq IS NULL OR head_ms < head.run_at_ms
            THEN 1 ELSE 0 END AS is_early
FROM heads LEFT JOIN runs AS head ON head.seq = heads.seq
ORDER BY of_installation, of_repository, head.run_at_ms IS NULL, head.run_at_ms, heads.seq"
        )
    };
}

/// The first repositories of the installations of which nothing runs, oldest first.
macro_rules! of_idle_installations {
    () => {
        "
    SELECT idle.installation, 0, 0, idle.head_ms,
           (SELECT repo_id FROM repository_heads WHERE repository_heads.installation = idle.installation
            ORDER BY repository_heads.head_ms, repo_id LIMIT 1)
    FROM (SELECT installation, head_ms FROM installation_heads
          WHERE installation NOT IN (SELECT installation FROM busy)
          ORDER BY head_ms LIMIT 8) AS idle"
    };
}

/// Of the installations of which more may run: the first repository of which nothing runs, and
/// those of which more may run.
macro_rules! of_busy_installations {
    () => {
        "
    SELECT busy.installation, busy.runs, 0, CAST(NULL AS BIGINT),
           (SELECT repo_id FROM repository_heads
            WHERE repository_heads.installation = busy.installation AND NOT EXISTS (
                SELECT 1 FROM running
                WHERE running.installation = busy.installation AND running.repo_id = repository_heads.repo_id)
            ORDER BY repository_heads.head_ms, repo_id LIMIT 1)
    FROM busy WHERE busy.runs < $1
    UNION ALL
    SELECT busy.installation, busy.runs, running.runs, CAST(NULL AS BIGINT), running.repo_id
    FROM busy JOIN running ON running.installation = busy.installation
    WHERE busy.runs < $1 AND running.runs < $2"
    };
}

pub(crate) const IDLE: &str = candidates!(of_idle_installations!());

pub(crate) const BUSY: &str = candidates!(of_busy_installations!());

/// Claims the first of the runs that `$which` selects.
macro_rules! claim {
    ($database:ident, $which:expr) => {
        concat!(
            "
UPDATE runs
SET state = 'running', attempt = attempt + 1, fence = fence + 1, lease_owner = $1, lease_until_ms = $3,
    started_ms = coalesce(started_ms, $2), cancel_told = CASE WHEN cancel_requested IS NULL THEN 0 ELSE 1 END,
    heard = told
WHERE seq = (
    SELECT seq FROM runs
    WHERE state = 'ready' AND lease_owner IS NULL",
            $which,
            "
    ORDER BY run_at_ms, seq LIMIT 1",
            skip_locked!($database),
            ")",
            claimed_columns!()
        )
    };
}

macro_rules! in_repository {
    () => {
        " AND installation = $4 AND repo_id = $5 AND deferred = 0"
    };
}

/// Deferred runs come last, and one at a time in an installation: however many there are, they
/// occupy one worker and one place in the write lane.
macro_rules! deferred {
    () => {
        " AND deferred = 1
      AND NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.deferred = 1 AND other.state = 'running'
                      AND other.installation = runs.installation)
      AND (SELECT count(*) FROM runs AS other
           WHERE other.state = 'running' AND other.installation = runs.installation) < $4
      AND (SELECT count(*) FROM runs AS other
           WHERE other.state = 'running' AND other.installation = runs.installation
             AND other.repo_id = runs.repo_id) < $5"
    };
}

pub(crate) const CLAIM: Sql = Sql {
    sqlite: claim!(sqlite, in_repository!()),
    postgres: claim!(postgres, in_repository!()),
};

pub(crate) const CLAIM_DEFERRED: Sql = Sql {
    sqlite: claim!(sqlite, deferred!()),
    postgres: claim!(postgres, deferred!()),
};

/// Sets `head_ms` of repositories and of their installations to what it is.
const CORRECT: &str = "SELECT correct_heads($1::json)";

/// A repository with ready runs, or an installation without.
type Line = (u64, Option<u64>);

/// What was found in the order of claims.
struct Candidates {
    /// Repositories with a run that can be claimed, best first.
    claimable: Vec<(u64, u64)>,
    /// Those whose `head_ms` is too early.
    early: BTreeSet<Line>,
}

pub(crate) async fn claim(
    connection: &mut Connection<'_>,
    owner: &str,
    now: Millis,
    until: Millis,
    limits: &ClaimLimits,
) -> Result<Option<Claimed>, WriteError> {
    let pending = connection.one(PENDING, &[now.into()]).await?;
    if column(&pending, "is_due")? {
        connection.execute(WAKE, &[now.into()]).await?;
        connection.execute(ABANDON, &[now.into()]).await?;
    } else if !column(&pending, "is_ready")? {
        connection.commit().await?;
        return Ok(None);
    }
    let limit = |limit: Option<u64>| {
        limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
    };
    let (of_installation, of_repository) = (limit(limits.installation), limit(limits.repository));
    if *limits != ClaimLimits::default() {
        // Two claims at the same time would both count the runs before either.
        connection.lock(&[Lock::Claims]).await?;
    }
    let lists: [(&'static str, Vec<Value<'_>>); 2] = [
        (IDLE, Vec::new()),
        (BUSY, vec![of_installation.into(), of_repository.into()]),
    ];
    for (list, values) in lists {
        for place in claimable(connection, list, &values).await? {
            let values = [
                owner.into(),
                now.into(),
                until.into(),
                number(place.0)?.into(),
                number(place.1)?.into(),
            ];
            if let Some(row) = connection.row(CLAIM, &values).await? {
                return read(connection, &row, owner, now).await;
            }
        }
    }
    let values = [
        owner.into(),
        now.into(),
        until.into(),
        of_installation.into(),
        of_repository.into(),
    ];
    if let Some(row) = connection.row(CLAIM_DEFERRED, &values).await? {
        return read(connection, &row, owner, now).await;
    }
    connection.commit().await?;
    Ok(None)
}

/// Commits a claim and reads the run. One that cannot be read fails.
async fn read(
    connection: &mut Connection<'_>,
    row: &Row,
    owner: &str,
    now: Millis,
) -> Result<Option<Claimed>, WriteError> {
    connection.commit().await?;
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

/// Returns the repositories in `list` with a run that can be claimed, best first, and corrects heads
/// until they are in order. Other processes may correct the same ones, and those that are locked
/// stay as they are, so that is not tried for ever.
async fn claimable(
    connection: &mut Connection<'_>,
    list: &'static str,
    values: &[Value<'_>],
) -> Result<Vec<(u64, u64)>, WriteError> {
    let mut corrections = 0;
    let mut before = BTreeSet::new();
    loop {
        let found = candidates(&connection.rows(list, values).await?)?;
        // SQLite's triggers leave none as it was.
        let is_enough = !connection.is_shared()
            || found.early.is_empty()
            || found.early == before
            || (corrections >= MAX_CORRECTIONS && !found.claimable.is_empty());
        if is_enough {
            return Ok(found.claimable);
        }
        connection.rows(CORRECT, &[json(&found.early)?]).await?;
        corrections += 1;
        before = found.early;
    }
}

fn candidates(rows: &[Row]) -> Result<Candidates, StoreError> {
    let mut found = Candidates {
        claimable: Vec::new(),
        early: BTreeSet::new(),
    };
    for row in rows {
        let installation = column(row, "installation")?;
        let repo: Option<u64> = nullable(row, "repo_id")?;
        if column(row, "is_early")? {
            found.early.insert((installation, repo));
        }
        if let (Some(repo), Some(_)) = (repo, nullable::<i64>(row, "seq")?) {
            found.claimable.push((installation, repo));
        }
    }
    Ok(found)
}
