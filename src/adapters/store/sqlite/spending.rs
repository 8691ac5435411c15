//! Records what agents spend and checks it against the budgets.

use std::time::Duration;

use sqlx::{Connection, SqliteConnection, SqlitePool};

use super::accept::number;
use super::errors::{WriteError, column, failed, nullable};
use super::queue::{fenced, leased};
use crate::engine::model::agent::{Spent, Tokens};
use crate::engine::model::time::Millis;
use crate::engine::store::{Budget, BudgetScope, CommandUsage, Exceeded, Lease, StoreError};

const HOUR: Duration = Duration::from_hours(1);

/// Longest window in which a turn counts. Pruning keeps turns for at least as long.
pub(super) const DAY: Duration = Duration::from_hours(24);

/// Length of a day, in milliseconds.
pub(super) const DAY_MS: i64 = 86_400_000;

/// Returns whether the run had turns before, and this one; no row if the lease is not held.
pub(super) const FIND_TURN: &str = "
SELECT EXISTS (SELECT 1 FROM spending WHERE spending.run = runs.id) AS before,
       EXISTS (SELECT 1 FROM spending WHERE spending.run = runs.id AND spending.key = ?4) AS again
FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3";

const BEGIN: &str = "
INSERT INTO spending (run, key, repo, actor, at_ms, first) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

pub(super) const END: &str = "
UPDATE spending SET cost = ?5, turns = ?6, tools = ?7, input = ?8, cached = ?9, output = ?10
WHERE key = ?4 AND run = (SELECT id FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3)";

/// Adds the difference between the amounts of a turn and those recorded for it so far to its day.
/// The parameters are those of [`END`], which runs afterwards.
pub(super) const ADD_USAGE: &str = "
INSERT INTO usage (repo, day, actor, command, runs, turns, cost, input, cached, output)
SELECT spending.repo, spending.at_ms / 86400000, spending.actor, runs.command,
       CASE WHEN spending.first = 1 AND spending.cost IS NULL THEN 1 ELSE 0 END,
       ?6 - coalesce(spending.turns, 0), ?5 - coalesce(spending.cost, 0), ?8 - spending.input,
       ?9 - spending.cached, ?10 - spending.output
FROM runs JOIN spending ON spending.run = runs.id AND spending.key = ?4
WHERE runs.id = ?1 AND runs.lease_owner = ?2 AND runs.fence = ?3
ON CONFLICT (repo, day, actor, command) DO UPDATE SET
    runs = runs + excluded.runs, turns = turns + excluded.turns, cost = cost + excluded.cost,
    input = input + excluded.input, cached = cached + excluded.cached, output = output + excluded.output";

/// Returns the usage of a repository since a day, by command.
pub(super) const USAGE: &str = "
SELECT command, sum(runs) AS runs, sum(turns) AS turns, sum(cost) AS cost, sum(input) AS input,
       sum(cached) AS cached, sum(output) AS output
FROM usage WHERE repo = ?1 AND day >= ?2
GROUP BY command";

/// Largest amount of one turn, so that sums of it cannot overflow: a billion dollars.
const MAX_AMOUNT: i64 = 1_000_000_000_000_000;

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
    let amount = |number: u64| i64::try_from(number).unwrap_or(MAX_AMOUNT).min(MAX_AMOUNT);
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    for statement in [ADD_USAGE, END] {
        let ended = leased(statement, lease)
            .bind(key)
            .bind(amount(spent.cost))
            .bind(spent.turns)
            .bind(spent.tools)
            .bind(amount(spent.tokens.input))
            .bind(amount(spent.tokens.cached))
            .bind(amount(spent.tokens.output))
            .execute(&mut *transaction)
            .await?;
        if ended.rows_affected() > 0 {
            continue;
        }
        let known = leased(FIND_TURN, lease)
            .bind(key)
            .fetch_optional(&mut *transaction)
            .await?;
        transaction.rollback().await?;
        return match known {
            None => Err(fenced(lease)),
            Some(_) => Err(StoreError::Failed(format!(
                "turn `{key}` of run {} ends but never began; please report this",
                lease.run
            ))
            .into()),
        };
    }
    transaction.commit().await?;
    Ok(())
}

pub(super) async fn usage(
    reader: &SqlitePool,
    repo: u64,
    since: Millis,
) -> Result<Vec<CommandUsage>, StoreError> {
    let repo = number(repo)?;
    let day = since.0.div_euclid(DAY_MS);
    let rows = sqlx::query(USAGE)
        .bind(repo)
        .bind(day)
        .fetch_all(reader)
        .await
        .map_err(failed)?;
    let mut usage = rows
        .iter()
        .map(|row| {
            Ok(CommandUsage {
                command: column(row, "command")?,
                runs: column(row, "runs")?,
                turns: column(row, "turns")?,
                cost: column(row, "cost")?,
                tokens: Tokens {
                    input: column(row, "input")?,
                    cached: column(row, "cached")?,
                    output: column(row, "output")?,
                },
            })
        })
        .collect::<Result<Vec<CommandUsage>, StoreError>>()?;
    usage.sort_by(|a, b| (b.cost, &a.command).cmp(&(a.cost, &b.command)));
    Ok(usage)
}
