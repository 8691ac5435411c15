//! One transaction for a batch of deliveries. The number of statements does not depend on the size of the batch: rows
//! go in as one JSON array, long texts as one string of bytes with offsets, so that nothing is escaped twice.
//!
//! Nearly always every delivery of a batch is new. So that is what is tried first, as [`ALL_NEW`], in one message to
//! the thread of the connection; a batch with a known delivery in it is refused by the unique GUID (or by what was said), rolled back and
//! taken statement by statement.

use std::collections::HashSet;

use sqlx::{Connection, SqliteConnection};

use super::changes;
use super::errors::{Trouble, column, corrupt, is_about_the_row, nullable};
use super::queue::promote;
use crate::engine::model::run::RunId;
use crate::engine::store::{Accepted, NewDelivery, StoreError};

/// The parameters are taken in turn, whichever statement they stand in: payloads and texts of deliveries, twice, deliveries, runs, triggers, texts.
///
/// Row ids are given out one after another, so a row just inserted is named by its distance from the last one.
pub(super) const ALL_NEW: &str = "
BEGIN IMMEDIATE;
INSERT INTO deliveries (guid, event, action, installation, received_ms, payload, said, text)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
       CASE WHEN value ->> 5 IS NOT NULL THEN substr(?, value ->> 5, value ->> 6) END, value ->> 7,
       CASE WHEN value ->> 8 IS NOT NULL THEN CAST(substr(?, value ->> 8, value ->> 9) AS TEXT) END
FROM json_each(?);
INSERT INTO runs (delivery, idx, created_ms, run_at_ms, id, command, serial, place, repo_id, installation, state)
SELECT (SELECT max(id) FROM deliveries) - (value ->> 0),
       value ->> 1, value ->> 2, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8,
       CASE WHEN value ->> 5 IS NULL THEN 'ready'
            WHEN value ->> 9 AND NOT EXISTS (
                SELECT 1 FROM runs AS active
                WHERE active.serial = value ->> 5 AND active.serial IS NOT NULL
                  AND active.state IN ('ready', 'running', 'waiting')) THEN 'ready'
            ELSE 'blocked' END
FROM json_each(?)
ORDER BY key;
INSERT INTO texts (run, trigger)
SELECT (SELECT max(seq) FROM runs) - (value ->> 0), CAST(substr(?, value ->> 1, value ->> 2) AS TEXT)
FROM json_each(?);
UPDATE pulse SET beats = beats + 1 WHERE id = 1;
COMMIT";

pub(super) const INSERT_DELIVERIES: &str = "
INSERT INTO deliveries (guid, event, action, installation, received_ms, payload, said, text)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
       CASE WHEN value ->> 5 IS NOT NULL THEN substr(?2, value ->> 5, value ->> 6) END, value ->> 7,
       CASE WHEN value ->> 8 IS NOT NULL THEN CAST(substr(?2, value ->> 8, value ->> 9) AS TEXT) END
FROM json_each(?1)
WHERE true
ON CONFLICT DO NOTHING";

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
    note = 'the App was uninstalled'
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
    if all_new(connection, deliveries).await? {
        return Ok(vec![Accepted::New; deliveries.len()]);
    }
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
    changes::count_one(&mut transaction).await?;
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

/// Stores the deliveries if all of them are new and say nothing but what to run. False: nothing was changed.
async fn all_new(
    connection: &mut SqliteConnection,
    deliveries: &[NewDelivery],
) -> Result<bool, Trouble> {
    if deliveries.iter().any(|delivery| delivery.installation_gone) {
        return Ok(false);
    }
    let (payloads, delivery_rows) = delivery_rows(deliveries.iter());
    let last = deliveries.len().saturating_sub(1);
    let runs = run_rows(deliveries.iter().enumerate().map(|(n, d)| (last - n, d)));
    let count = runs.texts.len();
    let texts: Vec<_> = runs
        .texts
        .iter()
        .enumerate()
        .map(|(n, (_, start, length))| (count - 1 - n, start, length))
        .collect();
    let done = sqlx::query(ALL_NEW)
        .bind(payloads.0.clone())
        .bind(payloads.0)
        .bind(json(&delivery_rows)?)
        .bind(json(&runs.rows)?)
        .bind(runs.triggers.0)
        .bind(json(&texts)?)
        .execute(&mut *connection)
        .await;
    match done {
        Ok(_) => Ok(true),
        Err(error) if is_about_the_row(&error) => {
            sqlx::query("ROLLBACK").execute(connection).await?;
            Ok(false)
        }
        // The connection is given up, which rolls back as well.
        Err(error) => Err(error.into()),
    }
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

/// GUID, event, action, installation, time, where the payload stands, what was said, and where the text stands.
type DeliveryRow<'a> = (
    &'a str,
    &'a str,
    Option<&'a str>,
    u64,
    i64,
    Option<usize>,
    Option<usize>,
    Option<&'a str>,
    Option<usize>,
    Option<usize>,
);

/// The payloads and texts, and the rows.
fn delivery_rows<'a>(
    deliveries: impl Iterator<Item = &'a NewDelivery>,
) -> (Bytes, Vec<DeliveryRow<'a>>) {
    let mut payloads = Bytes::default();
    let rows = deliveries
        .map(|d| {
            let payload = d.payload.as_ref().map(|payload| payloads.add(payload));
            let text = d.text.as_ref().map(|text| payloads.add(text.as_bytes()));
            (
                &*d.guid,
                &*d.event,
                d.action.as_deref(),
                d.installation,
                d.received.0,
                payload.map(|(start, _)| start),
                payload.map(|(_, length)| length),
                d.said.as_deref(),
                text.map(|(start, _)| start),
                text.map(|(_, length)| length),
            )
        })
        .collect();
    (payloads, rows)
}

/// Delivery, index in it, time, id, command, serial, place, repository, installation, and whether it is the first of
/// its place in the batch.
type RunRow<'a, D> = (
    D,
    usize,
    i64,
    &'a RunId,
    &'a str,
    Option<&'a str>,
    &'a str,
    u64,
    u64,
    bool,
);

/// The rows of a batch's runs, and where their texts stand.
struct RunRows<'a, D> {
    rows: Vec<RunRow<'a, D>>,
    triggers: Bytes,
    texts: Vec<(&'a RunId, usize, usize)>,
}

/// The runs of `deliveries`; each comes with what names it to the statement.
fn run_rows<'a, D: Copy>(deliveries: impl Iterator<Item = (D, &'a NewDelivery)>) -> RunRows<'a, D> {
    let mut found = RunRows {
        rows: Vec::new(),
        triggers: Bytes::default(),
        texts: Vec::new(),
    };
    let mut heads = HashSet::new();
    for (named, delivery) in deliveries {
        for (index, run) in delivery.runs.iter().enumerate() {
            let serial = run.serial.as_deref();
            found.rows.push((
                named,
                index,
                delivery.received.0,
                &run.id,
                &run.command,
                serial,
                &run.place,
                run.repo_id,
                run.installation,
                serial.is_some_and(|serial| heads.insert(serial)),
            ));
            let (start, length) = found.triggers.add(run.trigger.as_bytes());
            found.texts.push((&run.id, start, length));
        }
    }
    found
}

/// Inserts what is not known yet; the GUIDs of that.
async fn insert_deliveries(
    connection: &mut SqliteConnection,
    deliveries: impl Iterator<Item = &NewDelivery>,
) -> Result<HashSet<String>, Trouble> {
    let (payloads, rows) = delivery_rows(deliveries);
    let inserted = sqlx::query(INSERT_DELIVERIES)
        .bind(json(&rows)?)
        .bind(payloads.0)
        .execute(&mut *connection)
        .await?;
    let count = inserted.rows_affected();
    if count == 0 {
        return Ok(HashSet::new());
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
    let new = deliveries.filter(|delivery| new.contains(&*delivery.guid));
    let runs = run_rows(new.map(|delivery| (&*delivery.guid, delivery)));
    if runs.rows.is_empty() {
        return Ok(());
    }
    sqlx::query(INSERT_RUNS)
        .bind(json(&runs.rows)?)
        .execute(&mut *connection)
        .await?;
    sqlx::query(INSERT_TEXTS)
        .bind(json(&runs.texts)?)
        .bind(runs.triggers.0)
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
pub(super) fn number(value: u64) -> Result<i64, StoreError> {
    i64::try_from(value).map_err(|_| StoreError::Failed(format!("the id {value} is out of range")))
}
