//! What a run leaves behind: progress, effects, messages, saved plans and audit entries.

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, SqliteConnection, SqlitePool};

use super::accept::number;
use super::errors::{WriteError, column, corrupt, failed, nullable};
use super::queue::{execute_leased, fenced, leased};
use crate::engine::model::progress::Progress;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::store::{
    AuditEntry, EffectState, Lease, MAX_SAVED_PLANS, SavedPlan, StoreError,
};

pub(super) const SAVE_PROGRESS: &str = "
UPDATE texts SET progress = ?4
WHERE run = (SELECT seq FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3)";

pub(super) const BEGIN_EFFECT: &str = "
INSERT INTO effects (run, key, first_ms, last_ms)
SELECT id, ?4, ?5, ?5 FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3
ON CONFLICT (run, key) DO NOTHING";

pub(super) const FIND_EFFECT: &str = "
SELECT effects.first_ms, effects.last_ms, effects.result FROM runs JOIN effects ON effects.run = runs.id
WHERE runs.id = ?1 AND runs.lease_owner = ?2 AND runs.fence = ?3 AND effects.key = ?4";

pub(super) const RETRY_EFFECT: &str = "
UPDATE effects SET last_ms = ?5
WHERE key = ?4 AND done_ms IS NULL
  AND run = (SELECT id FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3)";

pub(super) const DROP_EFFECT: &str = "
DELETE FROM effects
WHERE key = ?4 AND done_ms IS NULL
  AND run = (SELECT id FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3)";

pub(super) const END_EFFECT: &str = "
INSERT INTO effects (run, key, first_ms, last_ms, done_ms, result)
SELECT id, ?4, ?5, ?5, ?5, ?6 FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3
ON CONFLICT (run, key) DO UPDATE SET done_ms = excluded.done_ms, result = excluded.result";

const AUDIT: &str =
    "INSERT INTO audit (at_ms, run, guid, actor, decision, why) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

/// A waiting run becomes claimable at once, as with a request to cancel.
pub(super) const COUNT_MESSAGE: &str = "
UPDATE runs
SET told = told + 1,
    state = CASE state WHEN 'waiting' THEN 'ready' ELSE state END,
    run_at_ms = CASE state WHEN 'waiting' THEN created_ms ELSE run_at_ms END
WHERE id = ?1 AND state IN ('blocked', 'ready', 'running', 'waiting')";

const INSERT_MESSAGE: &str = "INSERT INTO messages (run, at_ms, message) VALUES (?1, ?2, ?3)";

pub(super) const MESSAGES: &str = "SELECT message FROM messages WHERE run = ?1 ORDER BY id";

pub(super) const RECORD_SAVED: &str = "
INSERT INTO saved (run, place, at_ms, text, request, complete, issue, url, replaces)
SELECT id, place, ?4, ?5, ?6, ?7, ?8, ?9, ?10 FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3
ON CONFLICT (run) DO UPDATE SET
    at_ms = excluded.at_ms, text = excluded.text, request = excluded.request, complete = excluded.complete,
    issue = excluded.issue, url = excluded.url, replaces = excluded.replaces";

pub(super) const PRUNE_SAVED: &str = "
DELETE FROM saved
WHERE seq IN (
    SELECT seq FROM saved WHERE place = (SELECT place FROM runs WHERE id = ?1)
    ORDER BY seq DESC LIMIT -1 OFFSET ?2)";

pub(super) const SAVED_AT: &str = "
SELECT run, at_ms, text, request, complete, issue, url, replaces FROM saved
WHERE place = ?1 ORDER BY seq DESC LIMIT ?2";

pub(super) async fn save_progress(
    connection: &mut SqliteConnection,
    lease: &Lease,
    progress: &Progress,
) -> Result<(), WriteError> {
    let query = leased(SAVE_PROGRESS, lease).bind(progress.write());
    execute_leased(query, connection, lease).await
}

/// No other write happens between the two statements, because there is one writing connection.
pub(super) async fn begin_effect(
    connection: &mut SqliteConnection,
    lease: &Lease,
    key: &str,
    now: Millis,
) -> Result<EffectState, WriteError> {
    let begun = leased(BEGIN_EFFECT, lease)
        .bind(key)
        .bind(now.0)
        .execute(&mut *connection)
        .await?;
    if begun.rows_affected() > 0 {
        return Ok(EffectState::New);
    }
    let row = leased(FIND_EFFECT, lease)
        .bind(key)
        .fetch_optional(connection)
        .await?
        .ok_or_else(|| fenced(lease))?;
    Ok(match nullable(&row, "result")? {
        Some(result) => EffectState::Done(result),
        None => EffectState::Tried {
            since: Millis(column(&row, "first_ms")?),
            last: Millis(column(&row, "last_ms")?),
        },
    })
}

pub(super) async fn retry_effect(
    connection: &mut SqliteConnection,
    lease: &Lease,
    key: &str,
    now: Millis,
) -> Result<(), WriteError> {
    let query = leased(RETRY_EFFECT, lease).bind(key).bind(now.0);
    execute_leased(query, connection, lease).await
}

pub(super) async fn drop_effect(
    connection: &mut SqliteConnection,
    lease: &Lease,
    key: &str,
) -> Result<(), WriteError> {
    execute_leased(leased(DROP_EFFECT, lease).bind(key), connection, lease).await
}

/// An effect that was found rather than tried need not have begun.
pub(super) async fn end_effect(
    connection: &mut SqliteConnection,
    lease: &Lease,
    key: &str,
    result: &str,
    now: Millis,
) -> Result<(), WriteError> {
    let query = leased(END_EFFECT, lease).bind(key).bind(now.0).bind(result);
    execute_leased(query, connection, lease).await
}

pub(super) async fn effects(
    reader: &SqlitePool,
    run: &RunId,
) -> Result<Vec<(String, String)>, StoreError> {
    sqlx::query_as(
        "SELECT key, result FROM effects WHERE run = ?1 AND result IS NOT NULL ORDER BY key",
    )
    .bind(&run.0)
    .fetch_all(reader)
    .await
    .map_err(failed)
}

pub(super) async fn audit(
    connection: &mut SqliteConnection,
    entry: &AuditEntry,
) -> Result<(), WriteError> {
    sqlx::query(AUDIT)
        .bind(entry.at.0)
        .bind(entry.run.as_ref().map(|run| &run.0))
        .bind(&entry.guid)
        .bind(&entry.actor)
        .bind(&entry.decision)
        .bind(&entry.why)
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) async fn audit_of(
    reader: &SqlitePool,
    run: &RunId,
) -> Result<Vec<AuditEntry>, StoreError> {
    let rows = sqlx::query(
        "SELECT at_ms, run, guid, actor, decision, why FROM audit WHERE run = ?1 ORDER BY id",
    )
    .bind(&run.0)
    .fetch_all(reader)
    .await
    .map_err(failed)?;
    rows.iter()
        .map(|row| {
            Ok(AuditEntry {
                at: Millis(column(row, "at_ms")?),
                run: nullable::<String>(row, "run")?.map(RunId),
                guid: nullable(row, "guid")?,
                actor: column(row, "actor")?,
                decision: column(row, "decision")?,
                why: column(row, "why")?,
            })
        })
        .collect()
}

pub(super) async fn send_message(
    connection: &mut SqliteConnection,
    run: &RunId,
    message: &str,
    now: Millis,
) -> Result<bool, WriteError> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let counted = sqlx::query(COUNT_MESSAGE)
        .bind(&run.0)
        .execute(&mut *transaction)
        .await?;
    if counted.rows_affected() == 0 {
        transaction.rollback().await?;
        return Ok(false);
    }
    sqlx::query(INSERT_MESSAGE)
        .bind(&run.0)
        .bind(now.0)
        .bind(message)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(true)
}

pub(super) async fn messages(reader: &SqlitePool, run: &RunId) -> Result<Vec<String>, StoreError> {
    sqlx::query_scalar(MESSAGES)
        .bind(&run.0)
        .fetch_all(reader)
        .await
        .map_err(failed)
}

pub(super) async fn record_saved(
    connection: &mut SqliteConnection,
    lease: &Lease,
    saved: &SavedPlan,
) -> Result<(), WriteError> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let query = leased(RECORD_SAVED, lease)
        .bind(saved.at.0)
        .bind(&saved.text)
        .bind(&saved.request)
        .bind(saved.complete)
        .bind(number(saved.issue)?)
        .bind(&saved.url)
        .bind(saved.replaces.map(number).transpose()?);
    execute_leased(query, &mut transaction, lease).await?;
    sqlx::query(PRUNE_SAVED)
        .bind(&lease.run.0)
        .bind(MAX_SAVED_PLANS)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}

pub(super) async fn saved_at(
    reader: &SqlitePool,
    place: &str,
) -> Result<Vec<SavedPlan>, StoreError> {
    let rows = sqlx::query(SAVED_AT)
        .bind(place)
        .bind(MAX_SAVED_PLANS)
        .fetch_all(reader)
        .await
        .map_err(failed)?;
    rows.iter().map(saved_plan).collect()
}

fn saved_plan(row: &SqliteRow) -> Result<SavedPlan, StoreError> {
    let issue = |number: i64| {
        u64::try_from(number).map_err(|_| corrupt("issue", format!("{number} is not an issue")))
    };
    Ok(SavedPlan {
        run: RunId(column(row, "run")?),
        at: Millis(column(row, "at_ms")?),
        text: column(row, "text")?,
        request: column(row, "request")?,
        complete: column(row, "complete")?,
        issue: issue(column(row, "issue")?)?,
        url: column(row, "url")?,
        replaces: nullable(row, "replaces")?.map(issue).transpose()?,
    })
}
