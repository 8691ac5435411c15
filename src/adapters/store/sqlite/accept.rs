//! One transaction for a batch of deliveries. The number of statements does not depend on the size of the batch: rows
//! go in as one JSON array, long texts as one string of bytes with offsets, so that nothing is escaped twice.

use std::collections::HashSet;

use sqlx::{Connection, SqliteConnection};

use super::errors::{Trouble, column, corrupt, nullable};
use super::queue::promote;
use crate::engine::store::{Accepted, NewDelivery, NewRun, StoreError};

pub(super) const INSERT_DELIVERIES: &str = "
INSERT INTO deliveries (guid, event, action, installation, received_ms, payload)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
       CASE WHEN value ->> 5 IS NOT NULL THEN substr(?2, value ->> 5, value ->> 6) END
FROM json_each(?1)
WHERE true
ON CONFLICT (guid) DO NOTHING";

/// The GUIDs in one row: every row that comes back costs a wake-up of the caller's thread.
const SINCE: &str = "SELECT json_group_array(guid) FROM deliveries WHERE id > ?1";

/// A run starts as ready when it is not serial, or first of its place in the batch with no active run there. The
/// SELECT is evaluated before the first row is inserted.
pub(super) const INSERT_RUNS: &str = "
INSERT INTO runs (delivery, idx, created_ms, run_at_ms, id, command, serial, place, repo_id, installation, state)
SELECT deliveries.id, value ->> 1, value ->> 2, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
       value ->> 7, value ->> 8,
       CASE WHEN value ->> 5 IS NULL THEN 'ready'
            WHEN value ->> 9 AND NOT EXISTS (
                SELECT 1 FROM runs AS active
                WHERE active.serial = value ->> 5 AND active.serial IS NOT NULL
                  AND active.state IN ('ready', 'running', 'waiting')) THEN 'ready'
            ELSE 'blocked' END
FROM json_each(?1) CROSS JOIN deliveries ON deliveries.guid = value ->> 0
ORDER BY key";

pub(super) const INSERT_TEXTS: &str = "
INSERT INTO texts (run, trigger)
SELECT runs.seq, CAST(substr(?2, value ->> 1, value ->> 2) AS TEXT)
FROM json_each(?1) CROSS JOIN runs ON runs.id = value ->> 0";

/// Deliveries with at least one run, all of them failed: their runs go back in line.
pub(super) const REQUEUE: &str = "
UPDATE runs
SET state = CASE WHEN serial IS NULL THEN 'ready' ELSE 'blocked' END, run_at_ms = created_ms, attempt = 0, round = round + 1,
    cancel_requested = NULL, cancel_told = 0, code = NULL, note = NULL, started_ms = NULL, finished_ms = NULL
WHERE delivery IN (
    SELECT runs.delivery FROM json_each(?1)
    CROSS JOIN deliveries ON deliveries.guid = value CROSS JOIN runs ON runs.delivery = deliveries.id
    GROUP BY runs.delivery HAVING min(runs.state = 'failed') = 1)
RETURNING (SELECT guid FROM deliveries WHERE deliveries.id = runs.delivery) AS guid, serial";

pub(super) const CANCEL_INSTALLATION: &str = "
UPDATE runs
SET state = 'cancelled', finished_ms = ?2, lease_owner = NULL, lease_until_ms = NULL,
    note = 'the App was uninstalled or suspended'
WHERE installation = ?1 AND seq IN (
    SELECT seq FROM runs WHERE state = 'blocked'
    UNION ALL SELECT seq FROM runs WHERE state = 'ready'
    UNION ALL SELECT seq FROM runs WHERE state = 'waiting'
    UNION ALL SELECT seq FROM runs WHERE state = 'running')";

/// Stores the deliveries that are new and says what became of each, in order.
pub(super) async fn accept(
    connection: &mut SqliteConnection,
    deliveries: &[NewDelivery],
) -> Result<Vec<Accepted>, Trouble> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let mut first = HashSet::with_capacity(deliveries.len());
    let is_first: Vec<bool> = deliveries.iter().map(|d| first.insert(&*d.guid)).collect();
    let candidates = || {
        let flagged = deliveries.iter().zip(&is_first);
        flagged.filter(|(_, first)| **first).map(|(d, _)| d)
    };

    let new = insert_deliveries(&mut transaction, candidates()).await?;
    insert_runs(&mut transaction, candidates(), &new).await?;
    let known: Vec<&str> = candidates()
        .map(|d| &*d.guid)
        .filter(|guid| !new.contains(*guid))
        .collect();
    let requeued = requeue(&mut transaction, &known).await?;
    for gone in candidates().filter(|d| d.installation_gone && new.contains(&*d.guid)) {
        sqlx::query(CANCEL_INSTALLATION)
            .bind(number(gone.installation)?)
            .bind(gone.received.0)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;

    let outcomes = deliveries.iter().zip(is_first).map(|(delivery, first)| {
        if !first {
            Accepted::Duplicate
        } else if new.contains(&*delivery.guid) {
            Accepted::New
        } else if requeued.contains(&*delivery.guid) {
            Accepted::Requeued
        } else {
            Accepted::Duplicate
        }
    });
    Ok(outcomes.collect())
}

/// Texts side by side in one buffer, so that one parameter carries them all.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    /// Adds a text; its first position (SQL counts from one) and its length.
    fn add(&mut self, text: &[u8]) -> (usize, usize) {
        let start = self.0.len() + 1;
        self.0.extend_from_slice(text);
        (start, text.len())
    }
}

/// Inserts what is not known yet; the GUIDs of that.
async fn insert_deliveries(
    connection: &mut SqliteConnection,
    deliveries: impl Iterator<Item = &NewDelivery>,
) -> Result<HashSet<String>, Trouble> {
    let mut payloads = Bytes::default();
    let rows: Vec<_> = deliveries
        .map(|d| {
            let payload = d.payload.as_ref().map(|payload| payloads.add(payload));
            (
                &*d.guid,
                &*d.event,
                d.action.as_deref(),
                d.installation,
                d.received.0,
                payload.map(|(start, _)| start),
                payload.map(|(_, length)| length),
            )
        })
        .collect();
    let inserted = sqlx::query(INSERT_DELIVERIES)
        .bind(json(&rows)?)
        .bind(payloads.0)
        .execute(&mut *connection)
        .await?;
    let count = inserted.rows_affected();
    if count == 0 {
        return Ok(HashSet::new());
    }
    if count == rows.len() as u64 {
        return Ok(rows.iter().map(|row| row.0.to_owned()).collect());
    }
    // Row ids are given out one after another, so the new ones are the last `count`.
    let before = inserted.last_insert_rowid() - count.cast_signed();
    let new: String = sqlx::query_scalar(SINCE)
        .bind(before)
        .fetch_one(connection)
        .await?;
    Ok(serde_json::from_str(&new).map_err(|error| corrupt("guid", error))?)
}

async fn insert_runs(
    connection: &mut SqliteConnection,
    deliveries: impl Iterator<Item = &NewDelivery>,
    new: &HashSet<String>,
) -> Result<(), Trouble> {
    let mut triggers = Bytes::default();
    let mut heads = HashSet::new();
    let (mut rows, mut texts) = (Vec::new(), Vec::new());
    for delivery in deliveries {
        if !new.contains(&*delivery.guid) {
            continue;
        }
        for (index, run) in delivery.runs.iter().enumerate() {
            let NewRun {
                command,
                serial,
                place,
                repo_id,
                installation,
                ..
            } = run;
            let head = serial.as_ref().is_some_and(|serial| heads.insert(serial));
            let received = delivery.received.0;
            rows.push((
                &delivery.guid,
                index,
                received,
                &run.id,
                command,
                serial,
                place,
                repo_id,
                installation,
                head,
            ));
            let (start, length) = triggers.add(run.trigger.as_bytes());
            texts.push((&run.id, start, length));
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    sqlx::query(INSERT_RUNS)
        .bind(json(&rows)?)
        .execute(&mut *connection)
        .await?;
    sqlx::query(INSERT_TEXTS)
        .bind(json(&texts)?)
        .bind(triggers.0)
        .execute(connection)
        .await?;
    Ok(())
}

/// Puts the runs of those deliveries that failed as a whole back in line; their GUIDs.
async fn requeue(
    connection: &mut SqliteConnection,
    known: &[&str],
) -> Result<HashSet<String>, Trouble> {
    if known.is_empty() {
        return Ok(HashSet::new());
    }
    let rows = sqlx::query(REQUEUE)
        .bind(json(&known)?)
        .fetch_all(&mut *connection)
        .await?;
    let mut serials = Vec::new();
    let mut requeued = HashSet::new();
    for row in &rows {
        requeued.insert(column(row, "guid")?);
        serials.extend(nullable::<String>(row, "serial")?);
    }
    promote(connection, &serials).await?;
    Ok(requeued)
}

/// Parameters as JSON.
pub(super) fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Failed(error.to_string()))
}

/// GitHub's numbers fit SQLite's.
fn number(value: u64) -> Result<i64, StoreError> {
    i64::try_from(value).map_err(|_| StoreError::Failed(format!("the id {value} is out of range")))
}
