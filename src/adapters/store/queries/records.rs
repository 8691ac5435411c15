//! What a run leaves behind: progress, effects, messages, saved plans and audit entries.

use super::super::errors::WriteError;
use super::super::sql::{Connection, Lock, Row, Sql, Value, column, nullable, number};
use super::queue::{execute_leased, fenced, leased};
use crate::engine::model::plan_entry::PlanEntry;
use crate::engine::model::progress::Progress;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::store::{
    AuditEntry, EffectState, Lease, MAX_OUTPUT, MAX_SAVED_PLANS, OUTPUT_ENDS, SavedPlan, StoreError,
};

pub(crate) const SAVE_PROGRESS: Sql = sql_with_lease!(
    "UPDATE texts SET progress = $4 WHERE run = (SELECT seq FROM ",
    held,
    ")"
);

pub(crate) const BEGIN_EFFECT: Sql = sql_with_lease!(
    "INSERT INTO effects (run, key, first_ms, last_ms) SELECT id, $4, $5, $5 FROM ",
    held,
    " ON CONFLICT (run, key) DO NOTHING"
);

pub(crate) const FIND_EFFECT: &str = "
SELECT effects.first_ms, effects.last_ms, effects.result FROM runs JOIN effects ON effects.run = runs.id
WHERE runs.id = $1 AND runs.lease_owner = $2 AND runs.fence = $3 AND effects.key = $4";

pub(crate) const RETRY_EFFECT: Sql = sql_with_lease!(
    "UPDATE effects SET last_ms = $5 WHERE key = $4 AND done_ms IS NULL AND run = (SELECT id FROM ",
    held,
    ")"
);

pub(crate) const DROP_EFFECT: Sql = sql_with_lease!(
    "DELETE FROM effects WHERE key = $4 AND done_ms IS NULL AND run = (SELECT id FROM ",
    held,
    ")"
);

pub(crate) const END_EFFECT: Sql = sql_with_lease!(
    "INSERT INTO effects (run, key, first_ms, last_ms, done_ms, result) SELECT id, $4, $5, $5, $5, $6 FROM ",
    held,
    " ON CONFLICT (run, key) DO UPDATE SET done_ms = excluded.done_ms, result = excluded.result"
);

const EFFECTS: &str =
    "SELECT key, result FROM effects WHERE run = $1 AND result IS NOT NULL ORDER BY key";

const AUDIT_OF: &str =
    "SELECT at_ms, run, guid, actor, decision, why FROM audit WHERE run = $1 ORDER BY id";

const AUDIT: &str =
    "INSERT INTO audit (at_ms, run, guid, actor, decision, why) VALUES ($1, $2, $3, $4, $5, $6)";

/// A waiting run becomes claimable at once, as with a request to cancel.
pub(crate) const COUNT_MESSAGE: &str = "
UPDATE runs
SET told = told + 1,
    state = CASE state WHEN 'waiting' THEN 'ready' ELSE state END,
    run_at_ms = CASE state WHEN 'waiting' THEN created_ms ELSE run_at_ms END
WHERE id = $1 AND state IN ('blocked', 'ready', 'running', 'waiting')";

const INSERT_MESSAGE: &str = "INSERT INTO messages (run, at_ms, message) VALUES ($1, $2, $3)";

pub(crate) const MESSAGES: &str = "SELECT message FROM messages WHERE run = $1 ORDER BY id";

pub(crate) const RECORD_SAVED: Sql = sql_with_lease!(
    "
INSERT INTO saved (run, place, at_ms, text, request, complete, issue, url, replaces, actor, title, words)
SELECT id, place, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 FROM ",
    held,
    "
ON CONFLICT (run) DO UPDATE SET
    at_ms = excluded.at_ms, text = excluded.text, request = excluded.request, complete = excluded.complete,
    issue = excluded.issue, url = excluded.url, replaces = excluded.replaces, actor = excluded.actor,
    title = excluded.title, words = excluded.words"
);

/// Appends a portion, with $5 if the size of the output reaches $4.
pub(crate) const APPEND_OUTPUT: &str = "
INSERT INTO agent_output (run, at_ms, text)
SELECT id, $2,
       CASE WHEN bytes + octet_length(CAST($3 AS TEXT)) >= $4
            THEN CAST($3 AS TEXT) || CAST($5 AS TEXT) ELSE CAST($3 AS TEXT) END
FROM (SELECT id, (SELECT coalesce(sum(octet_length(text)), 0) FROM agent_output WHERE run = runs.id) AS bytes
      FROM runs WHERE id = $1) AS output
WHERE bytes < $4";

pub(crate) const PRUNE_SAVED: &str = "
DELETE FROM saved
WHERE place = (SELECT place FROM runs WHERE id = $1) AND seq NOT IN (
    SELECT seq FROM saved WHERE place = (SELECT place FROM runs WHERE id = $1)
    ORDER BY seq DESC LIMIT $2)";

pub(crate) const SAVED_AT: &str = "
SELECT run, at_ms, text, request, complete, issue, url, replaces FROM saved
WHERE place = $1 ORDER BY seq DESC LIMIT $2";

pub(crate) async fn save_progress(
    connection: &mut Connection<'_>,
    lease: &Lease,
    progress: &Progress,
) -> Result<(), WriteError> {
    let progress = progress.write();
    let values = leased(lease, [Value::Long(Some(&progress))]);
    execute_leased(connection, SAVE_PROGRESS, lease, values).await
}

/// Nobody else writes effects of the run between the two statements, because the lease is held.
pub(crate) async fn begin_effect(
    connection: &mut Connection<'_>,
    lease: &Lease,
    key: &str,
    now: Millis,
) -> Result<EffectState, WriteError> {
    let values = leased(lease, [key.into(), now.into()]);
    if connection.execute(BEGIN_EFFECT, &values).await? > 0 {
        return Ok(EffectState::New);
    }
    let values = leased(lease, [key.into()]);
    let row = connection.row(FIND_EFFECT, &values).await?;
    let row = row.ok_or_else(|| fenced(lease))?;
    Ok(match nullable(&row, "result")? {
        Some(result) => EffectState::Done(result),
        None => EffectState::Tried {
            since: Millis(column(&row, "first_ms")?),
            last: Millis(column(&row, "last_ms")?),
        },
    })
}

pub(crate) async fn retry_effect(
    connection: &mut Connection<'_>,
    lease: &Lease,
    key: &str,
    now: Millis,
) -> Result<(), WriteError> {
    let values = leased(lease, [key.into(), now.into()]);
    execute_leased(connection, RETRY_EFFECT, lease, values).await
}

pub(crate) async fn drop_effect(
    connection: &mut Connection<'_>,
    lease: &Lease,
    key: &str,
) -> Result<(), WriteError> {
    execute_leased(connection, DROP_EFFECT, lease, leased(lease, [key.into()])).await
}

/// An effect that was found rather than tried need not have begun.
pub(crate) async fn end_effect(
    connection: &mut Connection<'_>,
    lease: &Lease,
    key: &str,
    result: &str,
    now: Millis,
) -> Result<(), WriteError> {
    let values = [key.into(), now.into(), Value::Long(Some(result))];
    execute_leased(connection, END_EFFECT, lease, leased(lease, values)).await
}

pub(crate) async fn effects(
    reader: &mut Connection<'_>,
    run: &RunId,
) -> Result<Vec<(String, String)>, WriteError> {
    let rows = reader.rows(EFFECTS, &[run.into()]).await?;
    let effect = |row| Ok((column(row, "key")?, column(row, "result")?));
    rows.iter().map(effect).collect()
}

pub(crate) async fn audit(
    connection: &mut Connection<'_>,
    entry: &AuditEntry,
) -> Result<(), WriteError> {
    let values = [
        entry.at.into(),
        entry.run.as_ref().map(|run| &*run.0).into(),
        (&entry.guid).into(),
        (&entry.actor).into(),
        (&entry.decision).into(),
        (&entry.why).into(),
    ];
    connection.execute(AUDIT, &values).await?;
    Ok(())
}

pub(crate) async fn audit_of(
    reader: &mut Connection<'_>,
    run: &RunId,
) -> Result<Vec<AuditEntry>, WriteError> {
    let rows = reader.rows(AUDIT_OF, &[run.into()]).await?;
    rows.iter().map(|row| Ok(audit_entry(row)?)).collect()
}

pub(super) fn audit_entry(row: &Row) -> Result<AuditEntry, StoreError> {
    Ok(AuditEntry {
        at: Millis(column(row, "at_ms")?),
        run: nullable::<String>(row, "run")?.map(RunId),
        guid: nullable(row, "guid")?,
        actor: column(row, "actor")?,
        decision: column(row, "decision")?,
        why: column(row, "why")?,
    })
}

pub(crate) async fn send_message(
    connection: &mut Connection<'_>,
    run: &RunId,
    message: &str,
    now: Millis,
) -> Result<bool, WriteError> {
    connection.begin().await?;
    if connection.execute(COUNT_MESSAGE, &[run.into()]).await? == 0 {
        return Ok(false);
    }
    let values = [run.into(), now.into(), Value::Long(Some(message))];
    connection.execute(INSERT_MESSAGE, &values).await?;
    connection.commit().await?;
    Ok(true)
}

pub(crate) async fn messages(
    reader: &mut Connection<'_>,
    run: &RunId,
) -> Result<Vec<String>, WriteError> {
    reader.scalars(MESSAGES, &[run.into()]).await
}

pub(crate) async fn record_saved(
    connection: &mut Connection<'_>,
    lease: &Lease,
    saved: &SavedPlan,
    entry: &PlanEntry,
) -> Result<(), WriteError> {
    let values = [
        saved.at.into(),
        (&saved.text).into(),
        (&saved.request).into(),
        saved.complete.into(),
        number(saved.issue)?.into(),
        (&saved.url).into(),
        saved.replaces.map(number).transpose()?.into(),
        (&entry.actor).into(),
        (&entry.title).into(),
        (&entry.words).into(),
    ];
    connection.begin().await?;
    execute_leased(connection, RECORD_SAVED, lease, leased(lease, values)).await?;
    let values = [(&lease.run).into(), MAX_SAVED_PLANS.into()];
    connection.execute(PRUNE_SAVED, &values).await?;
    connection.commit().await
}

pub(crate) async fn append_output(
    connection: &mut Connection<'_>,
    run: &RunId,
    text: &str,
    now: Millis,
) -> Result<(), WriteError> {
    let values = [
        run.into(),
        now.into(),
        text.into(),
        MAX_OUTPUT.into(),
        OUTPUT_ENDS.into(),
    ];
    // Portions must be committed in the order of their ids, because readers ask for those behind the
    // last that they have.
    connection.begin().await?;
    connection.lock(&[Lock::Output(run)]).await?;
    connection.execute(APPEND_OUTPUT, &values).await?;
    connection.commit().await
}

pub(crate) async fn saved_at(
    reader: &mut Connection<'_>,
    place: &str,
) -> Result<Vec<SavedPlan>, WriteError> {
    let values = [place.into(), MAX_SAVED_PLANS.into()];
    let rows = reader.rows(SAVED_AT, &values).await?;
    rows.iter().map(|row| Ok(saved_plan(row)?)).collect()
}

fn saved_plan(row: &Row) -> Result<SavedPlan, StoreError> {
    Ok(SavedPlan {
        run: RunId(column(row, "run")?),
        at: Millis(column(row, "at_ms")?),
        text: column(row, "text")?,
        request: column(row, "request")?,
        complete: column(row, "complete")?,
        issue: column(row, "issue")?,
        url: column(row, "url")?,
        replaces: nullable(row, "replaces")?,
    })
}
