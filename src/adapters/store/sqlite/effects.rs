//! What a run leaves behind while it works: progress, effects, audit entries.

use sqlx::SqliteConnection;

use super::errors::{Trouble, column, nullable};
use super::queue::{fenced, held};
use crate::engine::model::time::Millis;
use crate::engine::store::{AuditEntry, EffectState, Lease};

pub(super) const REMEMBER: &str = "
UPDATE texts SET progress = ?4
WHERE run = (SELECT seq FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3)";

pub(super) const BEGIN: &str = "
INSERT INTO effects (run, key, first_ms, last_ms)
SELECT id, ?4, ?5, ?5 FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3
ON CONFLICT (run, key) DO NOTHING";

pub(super) const LOOK: &str = "
SELECT effects.first_ms, effects.last_ms, effects.result FROM runs JOIN effects ON effects.run = runs.id
WHERE runs.id = ?1 AND runs.lease_owner = ?2 AND runs.fence = ?3 AND effects.key = ?4";

pub(super) const RETRY: &str = "
UPDATE effects SET last_ms = ?5
WHERE key = ?4 AND done_ms IS NULL
  AND run = (SELECT id FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3)";

pub(super) const DROP: &str = "
DELETE FROM effects
WHERE key = ?4 AND done_ms IS NULL
  AND run = (SELECT id FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3)";

pub(super) const END: &str = "
INSERT INTO effects (run, key, first_ms, last_ms, done_ms, result)
SELECT id, ?4, ?5, ?5, ?5, ?6 FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3
ON CONFLICT (run, key) DO UPDATE SET done_ms = excluded.done_ms, result = excluded.result";

const AUDIT: &str =
    "INSERT INTO audit (at_ms, run, guid, actor, decision, why) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

/// See [`crate::engine::store::Store::remember`].
pub(super) async fn remember(
    connection: &mut SqliteConnection,
    lease: &Lease,
    progress: &str,
) -> Result<(), Trouble> {
    let remembered = sqlx::query(REMEMBER)
        .bind(&lease.run.0)
        .bind(&lease.owner)
        .bind(lease.fence)
        .bind(progress)
        .execute(connection)
        .await?;
    held(remembered.rows_affected(), lease)
}

/// See [`crate::engine::store::Store::begin_effect`]. Nobody else writes between the two statements: it is our turn.
pub(super) async fn begin(
    connection: &mut SqliteConnection,
    lease: &Lease,
    key: &str,
    now: Millis,
) -> Result<EffectState, Trouble> {
    let begun = sqlx::query(BEGIN)
        .bind(&lease.run.0)
        .bind(&lease.owner)
        .bind(lease.fence)
        .bind(key)
        .bind(now.0)
        .execute(&mut *connection)
        .await?;
    if begun.rows_affected() > 0 {
        return Ok(EffectState::New);
    }
    let row = sqlx::query(LOOK)
        .bind(&lease.run.0)
        .bind(&lease.owner)
        .bind(lease.fence)
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

/// See [`crate::engine::store::Store::retry_effect`].
pub(super) async fn retry(
    connection: &mut SqliteConnection,
    lease: &Lease,
    key: &str,
    now: Millis,
) -> Result<(), Trouble> {
    let retried = sqlx::query(RETRY)
        .bind(&lease.run.0)
        .bind(&lease.owner)
        .bind(lease.fence)
        .bind(key)
        .bind(now.0)
        .execute(connection)
        .await?;
    held(retried.rows_affected(), lease)
}

/// See [`crate::engine::store::Store::drop_effect`].
pub(super) async fn drop_one(
    connection: &mut SqliteConnection,
    lease: &Lease,
    key: &str,
) -> Result<(), Trouble> {
    let dropped = sqlx::query(DROP)
        .bind(&lease.run.0)
        .bind(&lease.owner)
        .bind(lease.fence)
        .bind(key)
        .execute(connection)
        .await?;
    held(dropped.rows_affected(), lease)
}

/// See [`crate::engine::store::Store::end_effect`]. An effect that was found rather than tried may not have begun.
pub(super) async fn end(
    connection: &mut SqliteConnection,
    lease: &Lease,
    key: &str,
    result: &str,
    now: Millis,
) -> Result<(), Trouble> {
    let ended = sqlx::query(END)
        .bind(&lease.run.0)
        .bind(&lease.owner)
        .bind(lease.fence)
        .bind(key)
        .bind(now.0)
        .bind(result)
        .execute(connection)
        .await?;
    held(ended.rows_affected(), lease)
}

/// See [`crate::engine::store::Store::audit`].
pub(super) async fn audit(
    connection: &mut SqliteConnection,
    entry: &AuditEntry,
) -> Result<(), Trouble> {
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
