//! Decides which commands are answered: one answer per comment, and budgets for people without
//! triage permission.

use super::super::errors::WriteError;
use super::super::sql::{Connection, Lock, Sql, column, nullable, number};
use super::queue::{fenced, leased, lock_place_of, promote};
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
pub(crate) const FIND_DECISION: Sql = sql_with_lease!(
    "
SELECT serial, (SELECT run FROM asks WHERE asks.run = runs.id) AS decided,
       (SELECT ignored FROM asks WHERE asks.run = runs.id) AS ignored
FROM ",
    held,
    ""
);

pub(crate) const OF_COMMENT: &str = "
SELECT count(*) AS asks, coalesce(max(outsider), 0) AS outsider FROM asks WHERE comment = $1";

pub(crate) const OF_ACTOR: &str = "
SELECT count(*) AS asks, count(*) - count(ignored) AS answers, count(*) FILTER (WHERE refused = 1 AND ignored IS NULL) AS refusals
FROM asks WHERE installation = $1 AND actor = $2 AND at_ms > $3 AND (outsider = 1 OR refused = 1)";

pub(crate) const AT_PLACE: &str = "
SELECT count(*) FROM asks WHERE place = $1 AND at_ms > $2 AND outsider = 1 AND ignored IS NULL";

pub(crate) const IN_INSTALLATION: &str = "
SELECT count(*) FROM asks WHERE installation = $1 AND at_ms > $2 AND outsider = 1 AND ignored IS NULL";

const RECORD: &str = "
INSERT INTO asks (run, at_ms, installation, place, actor, comment, outsider, refused, ignored)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

/// Removes the `serial` key: the answer to the run changes nothing at its place.
pub(crate) const DEFER: &str = "
UPDATE runs SET deferred = 1, serial = NULL, state = CASE state WHEN 'blocked' THEN 'ready' ELSE state END
WHERE id = $1";

pub(crate) async fn decide_answer(
    connection: &mut Connection<'_>,
    lease: &Lease,
    request: &CommandRequest,
    standing: Option<ActorStanding>,
    limits: &AnswerLimits,
    now: Millis,
) -> Result<AnswerDecision, WriteError> {
    let decision =
        |ignored: Option<String>| ignored.map_or(AnswerDecision::Answer, AnswerDecision::Ignore);
    lock_place_of(connection, &lease.run).await?;
    connection.begin().await?;
    let known = connection.row(FIND_DECISION, &leased(lease, [])).await?;
    let known = known.ok_or_else(|| fenced(lease))?;
    if nullable::<String>(&known, "decided")?.is_some() {
        return Ok(decision(nullable(&known, "ignored")?));
    }
    connection
        .lock(&[Lock::Answers(request.installation)])
        .await?;
    let (counted, ignored) = if let Some(standing) = standing {
        let ignored = over_budget(connection, request, standing, limits, now).await?;
        (standing, ignored)
    } else if let Some((outsider, why)) = ignored_unseen(connection, request, limits, now).await? {
        let refused = false;
        (ActorStanding { outsider, refused }, Some(why))
    } else {
        return Ok(AnswerDecision::Undecided);
    };
    let values = [
        (&lease.run).into(),
        now.into(),
        number(request.installation)?.into(),
        (&request.place).into(),
        number(request.actor)?.into(),
        request.comment.map(number).transpose()?.into(),
        counted.outsider.into(),
        counted.refused.into(),
        (&ignored).into(),
    ];
    connection.execute(RECORD, &values).await?;
    if ignored.is_none() && counted.outsider && request.comment.is_some() {
        // Behind everything that people with permissions asked for.
        connection.execute(DEFER, &[(&lease.run).into()]).await?;
        let serial: Option<String> = nullable(&known, "serial")?;
        promote(connection, serial.as_slice()).await?;
    }
    connection.commit().await?;
    Ok(decision(ignored))
}

/// Returns why a command is ignored without looking up the actor's role, and whether it counts as
/// an outsider's.
async fn ignored_unseen(
    connection: &mut Connection<'_>,
    request: &CommandRequest,
    limits: &AnswerLimits,
    now: Millis,
) -> Result<Option<(bool, String)>, WriteError> {
    if let Some(comment) = request.comment {
        let row = connection
            .one(OF_COMMENT, &[number(comment)?.into()])
            .await?;
        if column(&row, "outsider")? {
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
    connection: &mut Connection<'_>,
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
    let values = [(&request.place).into(), since.into()];
    let at_place: u64 = connection.scalar(AT_PLACE, &values).await?.unwrap_or(0);
    let values = [number(request.installation)?.into(), since.into()];
    let in_installation: u64 = connection
        .scalar(IN_INSTALLATION, &values)
        .await?
        .unwrap_or(0);
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
    connection: &mut Connection<'_>,
    request: &CommandRequest,
    limits: &AnswerLimits,
    now: Millis,
) -> Result<ActorUsage, WriteError> {
    let values = [
        number(request.installation)?.into(),
        number(request.actor)?.into(),
        now.minus(limits.window).into(),
    ];
    let row = connection.one(OF_ACTOR, &values).await?;
    let count = |name: &'static str| -> Result<u64, StoreError> { column(&row, name) };
    Ok(ActorUsage {
        asks: count("asks")?,
        answers: count("answers")?,
        refusals: count("refusals")?,
    })
}
