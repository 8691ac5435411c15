//! Which commands are answered: one answer for each comment, and budgets for people without triage
//! permission.

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, SqliteConnection};

use super::accept::number;
use super::errors::{Trouble, column, nullable};
use super::queue::{fenced, promote};
use crate::engine::model::time::Millis;
use crate::engine::store::{AnswerLimits, Ask, Heard, Lease, Standing, StoreError};

/// Most commands of one comment that count, however often it is edited.
const MAX_OF_COMMENT: u64 = 8;

/// Most commands of one person without permission in a window for which GitHub is asked for that
/// person's role.
const MAX_LOOKED_UP: u64 = 20;

/// No row: the lease is somebody else's. Else the run's place in line, and what was decided about
/// it before.
pub(super) const KNOWN: &str = "
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

/// The run leaves the line of its place: whatever it is answered changes nothing there.
pub(super) const DEFER: &str = "
UPDATE runs SET deferred = 1, serial = NULL, state = CASE state WHEN 'blocked' THEN 'ready' ELSE state END
WHERE id = ?1";

/// See [`crate::engine::store::Store::hear`].
pub(super) async fn hear(
    connection: &mut SqliteConnection,
    lease: &Lease,
    ask: &Ask,
    standing: Option<Standing>,
    limits: &AnswerLimits,
    now: Millis,
) -> Result<Heard, Trouble> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let known = sqlx::query(KNOWN)
        .bind(&lease.run.0)
        .bind(&lease.owner)
        .bind(lease.fence)
        .fetch_optional(&mut *transaction)
        .await?;
    let Some(known) = known else {
        transaction.rollback().await?;
        return Err(fenced(lease));
    };
    if column(&known, "decided")? {
        transaction.rollback().await?;
        let ignored: Option<String> = nullable(&known, "ignored")?;
        return Ok(ignored.map_or(Heard::Answer, Heard::Ignore));
    }
    let (counted, ignored) = if let Some(standing) = standing {
        let ignored = within(&mut transaction, ask, standing, limits, now).await?;
        (standing, ignored)
    } else if let Some((outsider, why)) = before_asking(&mut transaction, ask, limits, now).await? {
        let refused = false;
        (Standing { outsider, refused }, Some(why))
    } else {
        transaction.rollback().await?;
        return Ok(Heard::Undecided);
    };
    sqlx::query(RECORD)
        .bind(&lease.run.0)
        .bind(now.0)
        .bind(number(ask.installation)?)
        .bind(&ask.place)
        .bind(number(ask.actor)?)
        .bind(ask.comment.map(number).transpose()?)
        .bind(counted.outsider)
        .bind(counted.refused)
        .bind(&ignored)
        .execute(&mut *transaction)
        .await?;
    if ignored.is_none() && counted.outsider && ask.comment.is_some() {
        defer(&mut transaction, lease, &known).await?;
    }
    transaction.commit().await?;
    Ok(ignored.map_or(Heard::Answer, Heard::Ignore))
}

/// Puts the run behind everything that people with permissions asked for.
async fn defer(
    connection: &mut SqliteConnection,
    lease: &Lease,
    known: &SqliteRow,
) -> Result<(), Trouble> {
    let serial: Option<String> = nullable(known, "serial")?;
    sqlx::query(DEFER)
        .bind(&lease.run.0)
        .execute(&mut *connection)
        .await?;
    promote(connection, serial.as_slice()).await
}

/// Why a command is ignored without a look at the actor's role, and whether it counts as an
/// outsider's.
async fn before_asking(
    connection: &mut SqliteConnection,
    ask: &Ask,
    limits: &AnswerLimits,
    now: Millis,
) -> Result<Option<(bool, String)>, Trouble> {
    if let Some(comment) = ask.comment {
        let row = sqlx::query(OF_COMMENT)
            .bind(number(comment)?)
            .fetch_one(&mut *connection)
            .await?;
        if column::<i64>(&row, "outsider")? != 0 {
            return Ok(Some((true, "The comment was answered before.".to_owned())));
        }
        if column::<u64>(&row, "asks")? >= MAX_OF_COMMENT {
            let why = format!("The comment has asked for {MAX_OF_COMMENT} commands already.");
            return Ok(Some((false, why)));
        }
    }
    let asks = of_actor(connection, ask, limits, now).await?.asks;
    let why = "This person without permission has given";
    Ok(
        (asks >= MAX_LOOKED_UP)
            .then(|| (true, format!("{why} {asks} commands within the window."))),
    )
}

/// Why a command is ignored, given the actor's standing.
async fn within(
    connection: &mut SqliteConnection,
    ask: &Ask,
    standing: Standing,
    limits: &AnswerLimits,
    now: Millis,
) -> Result<Option<String>, Trouble> {
    if !standing.outsider && !standing.refused {
        return Ok(None);
    }
    let actor = of_actor(connection, ask, limits, now).await?;
    if standing.refused && actor.refusals > 0 {
        return Ok(Some(
            "This person was refused within the window.".to_owned(),
        ));
    }
    if !standing.outsider {
        return Ok(None);
    }
    let since = now.minus(limits.window).0;
    let full = |what: &str, limit: u64| {
        Some(format!(
            "{what} has had {limit} answers to people without permission within the window."
        ))
    };
    if actor.answers >= limits.person {
        return Ok(full("This person", limits.person));
    }
    let here: u64 = sqlx::query_scalar(AT_PLACE)
        .bind(&ask.place)
        .bind(since)
        .fetch_one(&mut *connection)
        .await?;
    if here >= limits.place {
        return Ok(full("This issue or pull request", limits.place));
    }
    let everywhere: u64 = sqlx::query_scalar(IN_INSTALLATION)
        .bind(number(ask.installation)?)
        .bind(since)
        .fetch_one(connection)
        .await?;
    Ok((everywhere >= limits.installation)
        .then(|| full("The installation", limits.installation))
        .flatten())
}

/// What one person without permission has asked for within the window.
struct Actor {
    asks: u64,
    answers: u64,
    refusals: u64,
}

async fn of_actor(
    connection: &mut SqliteConnection,
    ask: &Ask,
    limits: &AnswerLimits,
    now: Millis,
) -> Result<Actor, Trouble> {
    let row = sqlx::query(OF_ACTOR)
        .bind(number(ask.installation)?)
        .bind(number(ask.actor)?)
        .bind(now.minus(limits.window).0)
        .fetch_one(connection)
        .await?;
    let count = |name: &'static str| -> Result<u64, StoreError> { column(&row, name) };
    Ok(Actor {
        asks: count("asks")?,
        answers: count("answers")?,
        refusals: count("refusals")?,
    })
}
