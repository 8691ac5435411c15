//! Records what agents spend and checks it against the budgets.

use std::time::Duration;

use sqlx::{Connection, SqliteConnection};

use super::accept::number;
use super::errors::{WriteError, column, nullable};
use super::queue::{fenced, leased};
use crate::engine::model::agent::Spent;
use crate::engine::model::time::Millis;
use crate::engine::store::{Budget, BudgetScope, Exceeded, Lease, StoreError};

const HOUR: Duration = Duration::from_hours(1);

/// Longest window in which a turn counts. Pruning keeps turns for at least as long.
pub(super) const DAY: Duration = Duration::from_hours(24);

/// Returns whether the run had turns before, and this one; no row if the lease is not held.
pub(super) const FIND_TURN: &str = "
SELECT EXISTS (SELECT 1 FROM spending WHERE spending.run = runs.id) AS before,
       EXISTS (SELECT 1 FROM spending WHERE spending.run = runs.id AND spending.key = ?4) AS again
FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3";

const BEGIN: &str = "
INSERT INTO spending (run, key, repo, actor, at_ms, first) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

pub(super) const END: &str = "
UPDATE spending SET cost = ?5, turns = ?6, tools = ?7
WHERE key = ?4 AND run = (SELECT id FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3)";

// Each of the following returns the amount used since ?1 and the time of the oldest entry. Costs
// are summed as floating-point numbers, which are exact up to billions of dollars and never
// overflow.

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

pub(super) async fn begin_turn(
    connection: &mut SqliteConnection,
    lease: &Lease,
    key: &str,
    scope: BudgetScope,
    budget: &Budget,
    now: Millis,
) -> Result<Result<(), Exceeded>, WriteError> {
    let (repo, actor) = (number(scope.repo)?, number(scope.actor)?);
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let known = leased(FIND_TURN, lease)
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
    if let Some(exceeded) = exceeded(&mut transaction, first, repo, actor, budget, now).await? {
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

/// Returns the first limit that is reached. The limits of runs apply to a run's first turn only.
async fn exceeded(
    connection: &mut SqliteConnection,
    first: bool,
    repo: i64,
    actor: i64,
    budget: &Budget,
    now: Millis,
) -> Result<Option<Exceeded>, WriteError> {
    type Exceed = fn(u64, Millis) -> Exceeded;
    let runs = |limit: Option<u64>| limit.filter(|_| first);
    let limits: [(_, _, _, _, Exceed); 5] = [
        (
            runs(budget.actor_hour_runs),
            HOUR,
            ACTOR_RUNS,
            Some(actor),
            |limit, until| Exceeded::ActorHourRuns { limit, until },
        ),
        (
            runs(budget.repo_day_runs),
            DAY,
            REPO_RUNS,
            Some(repo),
            |limit, until| Exceeded::RepoDayRuns { limit, until },
        ),
        (
            budget.repo_day_cost,
            DAY,
            REPO_COST,
            Some(repo),
            |limit, until| Exceeded::RepoDayCost { limit, until },
        ),
        (runs(budget.day_runs), DAY, RUNS, None, |limit, until| {
            Exceeded::DayRuns { limit, until }
        }),
        (budget.day_cost, DAY, COST, None, |limit, until| {
            Exceeded::DayCost { limit, until }
        }),
    ];
    for (limit, window, sql, scope, exceed) in limits {
        let Some(limit) = limit else { continue };
        let mut query = sqlx::query(sql).bind(now.minus(window).0);
        if let Some(scope) = scope {
            query = query.bind(scope);
        }
        let row = query.fetch_one(&mut *connection).await?;
        if column::<u64>(&row, "used")? >= limit {
            let oldest = nullable::<i64>(&row, "oldest")?.map_or(now, Millis);
            return Ok(Some(exceed(limit, oldest.plus(window))));
        }
    }
    Ok(None)
}

pub(super) async fn end_turn(
    connection: &mut SqliteConnection,
    lease: &Lease,
    key: &str,
    spent: &Spent,
) -> Result<(), WriteError> {
    let ended = leased(END, lease)
        .bind(key)
        .bind(i64::try_from(spent.cost).unwrap_or(i64::MAX))
        .bind(spent.turns)
        .bind(spent.tools)
        .execute(&mut *connection)
        .await?;
    if ended.rows_affected() > 0 {
        return Ok(());
    }
    // No other write happens between the two statements, because there is one writing connection.
    let known = leased(FIND_TURN, lease)
        .bind(key)
        .fetch_optional(connection)
        .await?;
    match known {
        None => Err(fenced(lease)),
        Some(_) => Err(StoreError::Failed(format!(
            "turn `{key}` of run {} ends but never began; please report this",
            lease.run
        ))
        .into()),
    }
}
