//! Records what agents spend and checks it against the budgets.

use std::time::Duration;

use super::super::errors::WriteError;
use super::super::sql::{Connection, Lock, Sql, Value, column, nullable, number};
use super::queue::{fenced, leased};
use crate::engine::model::agent::{Spent, Tokens};
use crate::engine::model::time::Millis;
use crate::engine::store::{Budget, BudgetScope, CommandUsage, Exceeded, Lease, StoreError};

const HOUR: Duration = Duration::from_hours(1);

/// Longest window in which a turn counts. Pruning keeps turns for at least as long.
pub(crate) const DAY: Duration = Duration::from_hours(24);

/// Length of a day, in milliseconds.
pub(crate) const DAY_MS: i64 = 86_400_000;

/// Returns whether the run had turns before, and this one; no row if the lease is not held.
pub(crate) const FIND_TURN: Sql = sql_with_lease!(
    "
SELECT EXISTS (SELECT 1 FROM spending WHERE spending.run = runs.id) AS earlier,
       EXISTS (SELECT 1 FROM spending WHERE spending.run = runs.id AND spending.key = $4) AS again
FROM ",
    held,
    ""
);

const BEGIN: &str = "
INSERT INTO spending (run, key, repo, actor, at_ms, first) VALUES ($1, $2, $3, $4, $5, $6)";

pub(crate) const END: Sql = sql_with_lease!(
    "
UPDATE spending SET cost = $5, turns = $6, tools = $7, input = $8, cached = $9, output = $10
WHERE key = $4 AND run = (SELECT id FROM ",
    held,
    ")"
);

/// Adds the difference between the amounts of a turn and those recorded for it so far to its day.
/// The parameters are those of [`END`], which runs afterwards.
pub(crate) const ADD_USAGE: &str = "
INSERT INTO usage (repo, day, actor, command, runs, turns, cost, input, cached, output)
SELECT spending.repo, spending.at_ms / 86400000, spending.actor, runs.command,
       CASE WHEN spending.first = 1 AND spending.cost IS NULL THEN 1 ELSE 0 END,
       $6 - coalesce(spending.turns, 0), $5 - coalesce(spending.cost, 0), $8 - spending.input,
       $9 - spending.cached, $10 - spending.output
FROM runs JOIN spending ON spending.run = runs.id AND spending.key = $4
WHERE runs.id = $1 AND runs.lease_owner = $2 AND runs.fence = $3
ON CONFLICT (repo, day, actor, command) DO UPDATE SET
    runs = usage.runs + excluded.runs, turns = usage.turns + excluded.turns, cost = usage.cost + excluded.cost,
    input = usage.input + excluded.input, cached = usage.cached + excluded.cached,
    output = usage.output + excluded.output";

/// Returns the usage of a repository since a day, by command.
pub(crate) const USAGE: &str = "
SELECT command, CAST(sum(runs) AS BIGINT) AS runs, CAST(sum(turns) AS BIGINT) AS turns, CAST(sum(cost) AS BIGINT) AS cost,
       CAST(sum(input) AS BIGINT) AS input, CAST(sum(cached) AS BIGINT) AS cached, CAST(sum(output) AS BIGINT) AS output
FROM usage WHERE repo = $1 AND day >= $2
GROUP BY command";

/// Largest amount of one turn, so that sums of it cannot overflow: a billion dollars.
const MAX_AMOUNT: i64 = 1_000_000_000_000_000;

// Each of the following returns the amount used since $1 and the time of the oldest entry. Costs
// are summed as floating-point numbers, which are exact up to billions of dollars and never
// overflow.

pub(crate) const ACTOR_RUNS: &str = "
SELECT count(*) AS used, min(at_ms) AS oldest FROM spending WHERE first = 1 AND at_ms > $1 AND actor = $2";

pub(crate) const REPO_RUNS: &str = "
SELECT count(*) AS used, min(at_ms) AS oldest FROM spending WHERE first = 1 AND at_ms > $1 AND repo = $2";

pub(crate) const RUNS: &str =
    "SELECT count(*) AS used, min(at_ms) AS oldest FROM spending WHERE first = 1 AND at_ms > $1";

pub(crate) const REPO_COST: &str = "
SELECT CAST(coalesce(sum(CAST(cost AS DOUBLE PRECISION)), 0) AS BIGINT) AS used, min(at_ms) AS oldest FROM spending
WHERE at_ms > $1 AND repo = $2 AND cost > 0";

pub(crate) const COST: &str = "
SELECT CAST(coalesce(sum(CAST(cost AS DOUBLE PRECISION)), 0) AS BIGINT) AS used, min(at_ms) AS oldest FROM spending WHERE at_ms > $1 AND cost > 0";

pub(crate) async fn begin_turn(
    connection: &mut Connection<'_>,
    lease: &Lease,
    key: &str,
    scope: BudgetScope,
    budget: &Budget,
    now: Millis,
) -> Result<Result<(), Exceeded>, WriteError> {
    let (repo, actor) = (number(scope.repo)?, number(scope.actor)?);
    connection.lock(&[Lock::Spending]).await?;
    connection.begin().await?;
    let known = connection
        .row(FIND_TURN, &leased(lease, [key.into()]))
        .await?;
    let known = known.ok_or_else(|| fenced(lease))?;
    if column(&known, "again")? {
        return Ok(Ok(()));
    }
    let first = !column::<bool>(&known, "earlier")?;
    if let Some(exceeded) = exceeded(connection, first, repo, actor, budget, now).await? {
        return Ok(Err(exceeded));
    }
    let values = [
        (&lease.run).into(),
        key.into(),
        repo.into(),
        actor.into(),
        now.into(),
        first.into(),
    ];
    connection.execute(BEGIN, &values).await?;
    connection.commit().await?;
    Ok(Ok(()))
}

/// Returns the first limit that is reached. The limits of runs apply to a run's first turn only.
async fn exceeded(
    connection: &mut Connection<'_>,
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
        let since = Value::from(now.minus(window));
        let values: Vec<_> = std::iter::once(since)
            .chain(scope.map(Value::from))
            .collect();
        let row = connection.one(sql, &values).await?;
        if column::<u64>(&row, "used")? >= limit {
            let oldest = nullable::<i64>(&row, "oldest")?.map_or(now, Millis);
            return Ok(Some(exceed(limit, oldest.plus(window))));
        }
    }
    Ok(None)
}

pub(crate) async fn end_turn(
    connection: &mut Connection<'_>,
    lease: &Lease,
    key: &str,
    spent: &Spent,
) -> Result<(), WriteError> {
    let amount = |number: u64| i64::try_from(number).unwrap_or(MAX_AMOUNT).min(MAX_AMOUNT);
    connection.lock(&[Lock::Spending]).await?;
    connection.begin().await?;
    for statement in [ADD_USAGE.into(), END] {
        let values = [
            key.into(),
            amount(spent.cost).into(),
            spent.turns.into(),
            spent.tools.into(),
            amount(spent.tokens.input).into(),
            amount(spent.tokens.cached).into(),
            amount(spent.tokens.output).into(),
        ];
        if connection
            .execute(statement, &leased(lease, values))
            .await?
            > 0
        {
            continue;
        }
        let known = connection
            .row(FIND_TURN, &leased(lease, [key.into()]))
            .await?;
        return match known {
            None => Err(fenced(lease)),
            Some(_) => Err(StoreError::Failed(format!(
                "turn `{key}` of run {} ends but never began; please report this",
                lease.run
            ))
            .into()),
        };
    }
    connection.commit().await
}

pub(crate) async fn usage(
    reader: &mut Connection<'_>,
    repo: u64,
    since: Millis,
) -> Result<Vec<CommandUsage>, WriteError> {
    let repo = number(repo)?;
    let day = since.0.div_euclid(DAY_MS);
    let rows = reader.rows(USAGE, &[repo.into(), day.into()]).await?;
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
