//! Decides which commands are answered: one answer per comment, and budgets for people without
//! triage permission.

use sqlx::{Connection, SqliteConnection};

use super::accept::number;
use super::errors::{WriteError, column, nullable};
use super::queue::{fenced, leased, promote};
use crate::engine::model::time::Millis;
use crate::engine::store::{
    ActorStanding, AnswerDecision, AnswerLimits, CommandRequest, Lease, StoreError,
};

/// Maximum number of commands of one comment that are answered, however often it is edited.
const MAX_COMMENT_COMMANDS: u64 = 8;

/// Maximum number of commands of one person without permission per window for which GitHub is asked
/// for that person's role.
const MAX_ROLE_LOOKUPS: u64 = 20;

/// Returns the run's `serial` key and the earlier decision; no row if the lease is not held.
pub(super) const FIND_DECISION: &str = "
SELECT runs.serial, asks.run IS NOT NULL AS decided, asks.ignored
FROM runs LEFT JOIN asks ON asks.run = runs.id
WHERE runs.id = ?1 AND runs.lease_owner = ?2 AND runs.fence = ?3";

pub(super) const OF_COMMENT: &str = "
SELECT count(*) AS asks, coalesce(max(outsider), 0) AS outsider FROM asks WHERE comment = ?1";

pub(super) const OF_ACTOR: &str = "
SELECT count(*) AS asks, count(*) - count(ignored) AS answers, coalesce(sum(refused AND ignored IS NULL), 0) AS refusals
FROM asks WHERE installation = ?1 AND actor = ?2 AND at_ms > ?3 AND (outsider = 1 OR refused = 1)";

pub(super) const AT_PLACE: &str = "
SELECT count(*) FROM asks WHERE place = ?1 AND at_ms > ?2 AND outsider = 1 AND ignored IS NULL";

pub(super) const IN_INSTALLATION: &str = "
SELECT count(*) FROM asks WHERE installation = ?1 AND at_ms > ?2 AND outsider = 1 AND ignored IS NULL";

const RECORD: &str = "
INSERT INTO asks (run, at_ms, installation, place, actor, comment, outsider, refused, ignored)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// Removes the `serial` key: the answer to the run changes nothing at its place.
pub(super) const DEFER: &str = "
UPDATE runs SET deferred = 1, serial = NULL, state = CASE state WHEN 'blocked' THEN 'ready' ELSE state END
WHERE id = ?1";

pub(super) async fn decide_answer(
    connection: &mut SqliteConnection,
    lease: &Lease,
    request: &CommandRequest,
    standing: Option<ActorStanding>,
    limits: &AnswerLimits,
    now: Millis,
) -> Result<AnswerDecision, WriteError> {
    let decision =
        |ignored: Option<String>| ignored.map_or(AnswerDecision::Answer, AnswerDecision::Ignore);
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let known = leased(FIND_DECISION, lease)
        .fetch_optional(&mut *transaction)
        .await?;
    let Some(known) = known else {
        transaction.rollback().await?;
        return Err(fenced(lease));
    };
    if column(&known, "decided")? {
        transaction.rollback().await?;
        return Ok(decision(nullable(&known, "ignored")?));
    }
    let (counted, ignored) = if let Some(standing) = standing {
        let ignored = over_budget(&mut transaction, request, standing, limits, now).await?;
        (standing, ignored)
    } else if let Some((outsider, why)) =
        ignored_unseen(&mut transaction, request, limits, now).await?
    {
        let refused = false;
        (ActorStanding { outsider, refused }, Some(why))
    } else {
        transaction.rollback().await?;
        return Ok(AnswerDecision::Undecided);
    };
    sqlx::query(RECORD)
        .bind(&lease.run.0)
        .bind(now.0)
        .bind(number(request.installation)?)
        .bind(&request.place)
        .bind(number(request.actor)?)
        .bind(request.comment.map(number).transpose()?)
        .bind(counted.outsider)
        .bind(counted.refused)
        .bind(&ignored)
        .execute(&mut *transaction)
        .await?;
    if ignored.is_none() && counted.outsider && request.comment.is_some() {
        // Behind everything that people with permissions asked for.
        sqlx::query(DEFER)
            .bind(&lease.run.0)
            .execute(&mut *transaction)
            .await?;
        let serial: Option<String> = nullable(&known, "serial")?;
        promote(&mut transaction, serial.as_slice()).await?;
    }
    transaction.commit().await?;
    Ok(decision(ignored))
}

/// Returns why a command is ignored without looking up the actor's role, and whether it counts as
/// an outsider's.
async fn ignored_unseen(
    connection: &mut SqliteConnection,
    request: &CommandRequest,
    limits: &AnswerLimits,
    now: Millis,
) -> Result<Option<(bool, String)>, WriteError> {
    if let Some(comment) = request.comment {
        let row = sqlx::query(OF_COMMENT)
            .bind(number(comment)?)
            .fetch_one(&mut *connection)
            .await?;
        if column::<i64>(&row, "outsider")? != 0 {
            return Ok(Some((true, "The comment was answered before.".to_owned())));
        }
        if column::<u64>(&row, "asks")? >= MAX_COMMENT_COMMANDS {
            let why = format!("The comment has asked for {MAX_COMMENT_COMMANDS} commands already.");
            return Ok(Some((false, why)));
        }
    }
    let asks = actor_usage(connection, request, limits, now).await?.asks;
    let why = "This person without permission has given";
    Ok((asks >= MAX_ROLE_LOOKUPS)
        .then(|| (true, format!("{why} {asks} commands within the window."))))
}

/// Returns why a command is ignored, given the actor's standing.
async fn over_budget(
    connection: &mut SqliteConnection,
    request: &CommandRequest,
    standing: ActorStanding,
    limits: &AnswerLimits,
    now: Millis,
) -> Result<Option<String>, WriteError> {
    if !standing.outsider && !standing.refused {
        return Ok(None);
    }
    let actor = actor_usage(connection, request, limits, now).await?;
    if standing.refused && actor.refusals > 0 {
        return Ok(Some(
            "This person was refused within the window.".to_owned(),
        ));
    }
    if !standing.outsider {
        return Ok(None);
    }
    let since = now.minus(limits.window).0;
    let at_place: u64 = sqlx::query_scalar(AT_PLACE)
        .bind(&request.place)
        .bind(since)
        .fetch_one(&mut *connection)
        .await?;
    let in_installation: u64 = sqlx::query_scalar(IN_INSTALLATION)
        .bind(number(request.installation)?)
        .bind(since)
        .fetch_one(connection)
        .await?;
    let budgets = [
        ("This person", actor.answers, limits.person),
        ("This issue or pull request", at_place, limits.place),
        ("The installation", in_installation, limits.installation),
    ];
    let full = budgets.into_iter().find(|(_, used, limit)| used >= limit);
    Ok(full.map(|(what, _, limit)| {
        format!("{what} has had {limit} answers to people without permission within the window.")
    }))
}

/// Commands of one person without permission within the window.
struct ActorUsage {
    asks: u64,
    answers: u64,
    refusals: u64,
}

async fn actor_usage(
    connection: &mut SqliteConnection,
    request: &CommandRequest,
    limits: &AnswerLimits,
    now: Millis,
) -> Result<ActorUsage, WriteError> {
    let row = sqlx::query(OF_ACTOR)
        .bind(number(request.installation)?)
        .bind(number(request.actor)?)
        .bind(now.minus(limits.window).0)
        .fetch_one(connection)
        .await?;
    let count = |name: &'static str| -> Result<u64, StoreError> { column(&row, name) };
    Ok(ActorUsage {
        asks: count("asks")?,
        answers: count("answers")?,
        refusals: count("refusals")?,
    })
}
