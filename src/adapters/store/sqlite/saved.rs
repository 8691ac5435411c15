//! Plans that were saved, by place.

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, SqliteConnection, SqlitePool};

use super::errors::{Trouble, column, corrupt, failed, nullable};
use super::queue::held;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::store::{Lease, MAX_SAVED, SavedPlan, StoreError};

pub(super) const RECORD: &str = "
INSERT INTO saved (run, place, at_ms, text, request, complete, issue, url, replaces)
SELECT id, place, ?4, ?5, ?6, ?7, ?8, ?9, ?10 FROM runs WHERE id = ?1 AND lease_owner = ?2 AND fence = ?3
ON CONFLICT (run) DO UPDATE SET
    at_ms = excluded.at_ms, text = excluded.text, request = excluded.request, complete = excluded.complete,
    issue = excluded.issue, url = excluded.url, replaces = excluded.replaces";

pub(super) const FORGET: &str = "
DELETE FROM saved
WHERE seq IN (
    SELECT seq FROM saved WHERE place = (SELECT place FROM runs WHERE id = ?1)
    ORDER BY seq DESC LIMIT -1 OFFSET ?2)";

pub(super) const AT: &str = "
SELECT run, at_ms, text, request, complete, issue, url, replaces FROM saved
WHERE place = ?1 ORDER BY seq DESC LIMIT ?2";

/// See [`crate::engine::store::Store::record_saved`].
pub(super) async fn record(
    connection: &mut SqliteConnection,
    lease: &Lease,
    saved: &SavedPlan,
) -> Result<(), Trouble> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let recorded = sqlx::query(RECORD)
        .bind(&lease.run.0)
        .bind(&lease.owner)
        .bind(lease.fence)
        .bind(saved.at.0)
        .bind(&saved.text)
        .bind(&saved.request)
        .bind(saved.complete)
        .bind(number(saved.issue))
        .bind(&saved.url)
        .bind(saved.replaces.map(number))
        .execute(&mut *transaction)
        .await?;
    held(recorded.rows_affected(), lease)?;
    sqlx::query(FORGET)
        .bind(&lease.run.0)
        .bind(MAX_SAVED)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// See [`crate::engine::store::Store::saved_at`].
pub(super) async fn at(reader: &SqlitePool, place: &str) -> Result<Vec<SavedPlan>, StoreError> {
    let rows = sqlx::query(AT)
        .bind(place)
        .bind(MAX_SAVED)
        .fetch_all(reader)
        .await
        .map_err(|error| failed(&error))?;
    rows.iter().map(plan).collect()
}

fn plan(row: &SqliteRow) -> Result<SavedPlan, StoreError> {
    Ok(SavedPlan {
        run: RunId(column(row, "run")?),
        at: Millis(column(row, "at_ms")?),
        text: column(row, "text")?,
        request: column(row, "request")?,
        complete: column(row, "complete")?,
        issue: issue(column(row, "issue")?)?,
        url: column(row, "url")?,
        replaces: nullable::<i64>(row, "replaces")?.map(issue).transpose()?,
    })
}

/// GitHub counts issues from 1; no repository has more of them than fit.
fn number(issue: u64) -> i64 {
    i64::try_from(issue).unwrap_or(i64::MAX)
}

fn issue(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|_| corrupt("issue", format!("{number} is no issue")))
}
