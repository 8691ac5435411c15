//! What agents spend, and whether they may spend more.

use std::time::Duration;

use sqlx::{Connection, SqliteConnection};

use super::accept::number;
use super::errors::{Trouble, column, nullable};
use super::queue::fenced;
use crate::engine::model::agent::Spent;
use crate::engine::model::time::Millis;
use crate::engine::store::{Budget, Exceeded, Lease, Payer, StoreError};

const HOUR: Duration = Duration::from_hours(1);

/// The longest time for which a turn counts. Pruning keeps turns for at least as long.
pub(super) const DAY: Duration = Duration::from_hours(24);

/// No row: the lease is somebody else's. Else whether the run had turns before, and this one.
pub(super) const KNOWN: &str = "
SELECT EXISTS (SELECT 1 FROM spending WHERE spending.run = runs.id) AS before,
       EXISTS (SELECT 1 FROM spending WHERE spending.run = runs.id AND spending.key = ?4) AS again
FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3";

const BEGIN: &str = "
INSERT INTO spending (run, key, repo, actor, at_ms, first) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

pub(super) const END: &str = "
UPDATE spending SET cost = ?5, turns = ?6, tools = ?7
WHERE key = ?4 AND run = (SELECT id FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3)";

// What counts since ?1, and since when the oldest of it does. Costs are summed as floating-point numbers, which are
// exact up to some billions of dollars and never overflow.

pub(super) const ACTOR_RUNS: &str = "
SELECT count(*) AS used, min(at_ms) AS oldest FROM spending WHERE first = 1 AND at_ms > ?1 AND actor = ?2";

pub(super) const REPO_RUNS: &str = "
SELECT count(*) AS used, min(at_ms) AS oldest FROM spending WHERE first = 1 AND at_ms > ?1 AND repo = ?2";

pub(super) const RUNS: &str =
    "SELECT count(*) AS used, min(at_ms) AS oldest FROM spending WHERE first = 1 AND at_ms > ?1";

pub(super) const REPO_COST: &str = "
SELECT CAST(total(cost) AS INTEGER) AS used, min(at_ms) AS oldest FROM spending
WHERE at_ms > ?1 AND repo = ?2 AND cost > 0";

pub(super) const COST: &str = "
SELECT CAST(total(cost) AS INTEGER) AS used, min(at_ms) AS oldest FROM spending WHERE at_ms > ?1 AND cost > 0";

/// See [`crate::engine::store::Store::begin_turn`].
pub(super) async fn begin(
    connection: &mut SqliteConnection,
    lease: &Lease,
    key: &str,
    payer: Payer,
    budget: &Budget,
    now: Millis,
) -> Result<Result<(), Exceeded>, Trouble> {
    let (repo, actor) = (number(payer.repo)?, number(payer.actor)?);
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let known = sqlx::query(KNOWN)
        .bind(&lease.run.0)
        .bind(&lease.owner)
        .bind(lease.fence)
        .bind(key)
        .fetch_optional(&mut *transaction)
        .await?;
    let Some(known) = known else {
        transaction.rollback().await?;
        return Err(fenced(lease));
    };
    if column(&known, "again")? {
        transaction.rollback().await?;
        return Ok(Ok(()));
    }
    let first = !column::<bool>(&known, "before")?;
    if let Some(exceeded) = judge(&mut transaction, first, repo, actor, budget, now).await? {
        transaction.rollback().await?;
        return Ok(Err(exceeded));
    }
    sqlx::query(BEGIN)
        .bind(&lease.run.0)
        .bind(key)
        .bind(repo)
        .bind(actor)
        .bind(now.0)
        .bind(first)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(Ok(()))
}

/// The first limit that is reached. The limits of runs are for a run's first turn.
async fn judge(
    connection: &mut SqliteConnection,
    first: bool,
    repo: i64,
    actor: i64,
    budget: &Budget,
    now: Millis,
) -> Result<Option<Exceeded>, Trouble> {
    let runs = |limit: Option<u64>| limit.filter(|_| first);
    if let Some(limit) = runs(budget.actor_hour_runs) {
        let window = Window::new(HOUR, now);
        if let Some(until) = window.full(connection, ACTOR_RUNS, actor, limit).await? {
            return Ok(Some(Exceeded::ActorHourRuns { limit, until }));
        }
    }
    let day = Window::new(DAY, now);
    if let Some(limit) = runs(budget.repo_day_runs)
        && let Some(until) = day.full(connection, REPO_RUNS, repo, limit).await?
    {
        return Ok(Some(Exceeded::RepoDayRuns { limit, until }));
    }
    if let Some(limit) = budget.repo_day_cost
        && let Some(until) = day.full(connection, REPO_COST, repo, limit).await?
    {
        return Ok(Some(Exceeded::RepoDayCost { limit, until }));
    }
    if let Some(limit) = runs(budget.day_runs)
        && let Some(until) = day.full(connection, RUNS, None, limit).await?
    {
        return Ok(Some(Exceeded::DayRuns { limit, until }));
    }
    if let Some(limit) = budget.day_cost
        && let Some(until) = day.full(connection, COST, None, limit).await?
    {
        return Ok(Some(Exceeded::DayCost { limit, until }));
    }
    Ok(None)
}

/// The time up to now in which things count.
struct Window {
    length: Duration,
    now: Millis,
}

impl Window {
    fn new(length: Duration, now: Millis) -> Self {
        Self { length, now }
    }

    /// `None` while what `sql` counts is under the limit; else when the oldest of it no longer counts.
    async fn full(
        &self,
        connection: &mut SqliteConnection,
        sql: &'static str,
        whose: impl Into<Option<i64>>,
        limit: u64,
    ) -> Result<Option<Millis>, Trouble> {
        let mut query = sqlx::query(sql).bind(self.now.minus(self.length).0);
        if let Some(whose) = whose.into() {
            query = query.bind(whose);
        }
        let row = query.fetch_one(connection).await?;
        let used: u64 = column(&row, "used")?;
        if used < limit {
            return Ok(None);
        }
        let oldest = nullable::<i64>(&row, "oldest")?.map_or(self.now, Millis);
        Ok(Some(oldest.plus(self.length)))
    }
}

/// See [`crate::engine::store::Store::end_turn`].
pub(super) async fn end(
    connection: &mut SqliteConnection,
    lease: &Lease,
    key: &str,
    spent: &Spent,
) -> Result<(), Trouble> {
    let ended = sqlx::query(END)
        .bind(&lease.run.0)
        .bind(&lease.owner)
        .bind(lease.fence)
        .bind(key)
        .bind(i64::try_from(spent.cost).unwrap_or(i64::MAX))
        .bind(spent.turns)
        .bind(spent.tools)
        .execute(&mut *connection)
        .await?;
    if ended.rows_affected() > 0 {
        return Ok(());
    }
    // Nobody else writes between the two statements: it is our turn.
    let held = sqlx::query(KNOWN)
        .bind(&lease.run.0)
        .bind(&lease.owner)
        .bind(lease.fence)
        .bind(key)
        .fetch_optional(connection)
        .await?;
    match held {
        None => Err(fenced(lease)),
        Some(_) => Err(StoreError::Failed(format!(
            "turn `{key}` of run {} ends but never began; please report this",
            lease.run
        ))
        .into()),
    }
}
