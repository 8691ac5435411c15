//! Stores a batch of deliveries in one transaction.
//!
//! The number of statements does not depend on the size of the batch: rows are passed as one JSON
//! array, long texts as one string of bytes with offsets, so that nothing is escaped twice.
//!
//! Nearly always every delivery of a batch is new. This is tried first ([`ALL_NEW`]), in one
//! message to the connection's thread. A known delivery in the batch violates the unique GUID (or
//! key of what was said); the batch is then rolled back and stored statement by statement.

use std::collections::HashSet;

use sqlx::{Connection, SqliteConnection};

use super::changes;
use super::errors::{WriteError, column, corrupt, is_about_the_row, nullable};
use super::queue::promote;
use crate::engine::model::intake::Source;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::store::{Accepted, NewDelivery, NewRun, StoreError};

/// Parameters, in the order in which the statements use them: payloads and texts of deliveries
/// (twice), deliveries, runs, triggers, offsets of the triggers.
///
/// Row ids are consecutive, so an inserted row is identified by its distance from the last one.
pub(super) const ALL_NEW: &str = "
BEGIN IMMEDIATE;
INSERT INTO deliveries (guid, event, action, installation, received_ms, payload, said, text, source)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
       CASE WHEN value ->> 5 IS NOT NULL THEN substr(?, value ->> 5, value ->> 6) END, value ->> 7,
       CASE WHEN value ->> 8 IS NOT NULL THEN CAST(substr(?, value ->> 8, value ->> 9) AS TEXT) END,
       value ->> 10
FROM json_each(?);
INSERT INTO runs (delivery, idx, created_ms, run_at_ms, id, command, serial, place, repo_id, installation, said_ms, state)
SELECT (SELECT max(id) FROM deliveries) - (value ->> 0),
       value ->> 1, value ->> 2, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8,
       value ->> 10,
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
INSERT INTO deliveries (guid, event, action, installation, received_ms, payload, said, text, source)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
       CASE WHEN value ->> 5 IS NOT NULL THEN substr(?2, value ->> 5, value ->> 6) END, value ->> 7,
       CASE WHEN value ->> 8 IS NOT NULL THEN CAST(substr(?2, value ->> 8, value ->> 9) AS TEXT) END,
       value ->> 10
FROM json_each(?1)
WHERE true
ON CONFLICT DO NOTHING";

/// Returns the GUIDs in one row: every row costs a wake-up of the caller's thread.
const GUIDS_SINCE: &str = "SELECT json_group_array(guid) FROM deliveries WHERE id > ?1";

/// A run starts as ready if it is not serial, or if it is the first of its place in the batch and
/// the place has no active run. The SELECT is evaluated before the first row is inserted.
pub(super) const INSERT_RUNS: &str = "
INSERT INTO runs (delivery, idx, created_ms, run_at_ms, id, command, serial, place, repo_id, installation, said_ms, state)
SELECT deliveries.id, value ->> 1, value ->> 2, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
       value ->> 7, value ->> 8, value ->> 10,
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

/// Queues the runs of deliveries again whose runs have all failed.
pub(super) const REQUEUE: &str = "
UPDATE runs
SET state = CASE WHEN serial IS NULL THEN 'ready' ELSE 'blocked' END, run_at_ms = created_ms, attempt = 0, round = round + 1,
    cancel_requested = NULL, cancel_told = 0, code = NULL, note = NULL, started_ms = NULL, finished_ms = NULL
WHERE delivery IN (
    SELECT runs.delivery FROM json_each(?1)
    CROSS JOIN deliveries ON deliveries.guid = value CROSS JOIN runs ON runs.delivery = deliveries.id
    GROUP BY runs.delivery HAVING min(runs.state = 'failed') = 1)
RETURNING (SELECT guid FROM deliveries WHERE deliveries.id = runs.delivery) AS guid, serial";

/// Blocks runs that are ready and were never started while one that was requested earlier waits at
/// the same place.
pub(super) const GIVE_WAY: &str = "
UPDATE runs SET state = 'blocked'
WHERE serial IN (SELECT value FROM json_each(?1)) AND state = 'ready' AND started_ms IS NULL AND EXISTS (
    SELECT 1 FROM runs AS earlier
    WHERE earlier.serial = runs.serial AND earlier.state = 'blocked' AND earlier.said_ms < runs.said_ms)";

pub(super) const CANCEL_INSTALLATION: &str = "
UPDATE runs
SET state = 'cancelled', finished_ms = ?2, lease_owner = NULL, lease_until_ms = NULL,
    note = 'the App was uninstalled'
WHERE installation = ?1 AND seq IN (
    SELECT seq FROM runs WHERE state = 'blocked'
    UNION ALL SELECT seq FROM runs WHERE state = 'ready'
    UNION ALL SELECT seq FROM runs WHERE state = 'waiting'
    UNION ALL SELECT seq FROM runs WHERE state = 'running')";

/// A delivery with its triggers serialised, ready to be written.
#[derive(Debug)]
pub(super) struct EncodedDelivery {
    /// The delivery without its runs.
    new: NewDelivery,
    /// The comment's text, if it is not part of the triggers.
    text: Option<String>,
    runs: Vec<EncodedRun>,
}

#[derive(Debug)]
struct EncodedRun {
    id: RunId,
    command: String,
    serial: Option<String>,
    place: String,
    repo_id: u64,
    installation: u64,
    said: Millis,
    trigger: String,
}

impl EncodedDelivery {
    /// Serialises the triggers. A text that all of them share is stored once, with the delivery.
    pub(super) fn new(mut new: NewDelivery) -> Result<Self, StoreError> {
        let runs = std::mem::take(&mut new.runs);
        let mut texts = runs.iter().map(|run| run.trigger.text());
        let text = texts.next().flatten();
        let text = text.filter(|shared| texts.all(|text| text == Some(*shared)));
        let text = text.map(str::to_owned);
        let encode = |run: NewRun| {
            let trigger = match &text {
                Some(_) => json(&run.trigger.without_text()),
                None => json(&run.trigger),
            };
            Ok(EncodedRun {
                id: run.id,
                command: run.command,
                serial: run.serial,
                place: run.place,
                repo_id: run.repo_id,
                installation: run.installation,
                said: run.trigger.at,
                trigger: trigger?,
            })
        };
        let runs = runs
            .into_iter()
            .map(encode)
            .collect::<Result<_, StoreError>>()?;
        Ok(Self { new, text, runs })
    }

    /// Whether it cancels runs, which others in the same batch may add.
    pub(super) fn is_removal(&self) -> bool {
        self.new.installation_gone
    }

    /// Whether its runs may have been requested earlier than others that are ready.
    fn is_late(&self) -> bool {
        self.new.source != Source::Webhook
    }

    /// Number of bytes of payload and triggers.
    pub(super) fn len(&self) -> usize {
        self.new.payload.as_ref().map_or(0, Vec::len)
            + self.runs.iter().map(|run| run.trigger.len()).sum::<usize>()
    }
}

/// Stores the deliveries that are new and returns how each was accepted, in order.
pub(super) async fn accept(
    connection: &mut SqliteConnection,
    deliveries: &[EncodedDelivery],
) -> Result<Vec<Accepted>, WriteError> {
    if all_new(connection, deliveries).await? {
        return Ok(vec![Accepted::New; deliveries.len()]);
    }
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let mut first = HashSet::with_capacity(deliveries.len());
    let is_first: Vec<bool> = deliveries
        .iter()
        .map(|d| first.insert(&*d.new.guid))
        .collect();
    let candidates = || {
        let flagged = deliveries.iter().zip(&is_first);
        flagged.filter(|(_, first)| **first).map(|(d, _)| d)
    };

    let new = insert_deliveries(&mut transaction, candidates()).await?;
    insert_runs(&mut transaction, candidates(), &new).await?;
    give_way(&mut transaction, candidates(), &new).await?;
    let known: Vec<&str> = candidates()
        .map(|d| &*d.new.guid)
        .filter(|guid| !new.contains(*guid))
        .collect();
    let requeued = requeue(&mut transaction, &known).await?;
    for gone in candidates().filter(|d| d.is_removal() && new.contains(&*d.new.guid)) {
        sqlx::query(CANCEL_INSTALLATION)
            .bind(number(gone.new.installation)?)
            .bind(gone.new.received.0)
            .execute(&mut *transaction)
            .await?;
    }
    changes::count_one(&mut transaction).await?;
    transaction.commit().await?;

    let outcomes = deliveries.iter().zip(is_first).map(|(delivery, first)| {
        if !first {
            Accepted::Duplicate
        } else if new.contains(&*delivery.new.guid) {
            Accepted::New
        } else if requeued.contains(&*delivery.new.guid) {
            Accepted::Requeued
        } else {
            Accepted::Duplicate
        }
    });
    Ok(outcomes.collect())
}

/// Stores the deliveries if all of them are new and none removes an installation or is late.
/// Otherwise returns false and changes nothing.
async fn all_new(
    connection: &mut SqliteConnection,
    deliveries: &[EncodedDelivery],
) -> Result<bool, WriteError> {
    if deliveries
        .iter()
        .any(|delivery| delivery.is_removal() || delivery.is_late())
    {
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

/// Concatenated texts, so that one parameter carries them all.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    /// Adds a text and returns its offset (from one, as SQL counts) and length.
    fn add(&mut self, text: &[u8]) -> (usize, usize) {
        let start = self.0.len() + 1;
        self.0.extend_from_slice(text);
        (start, text.len())
    }
}

/// GUID, event, action, installation, time, offset and length of the payload, deduplication key,
/// offset and length of the text, source.
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
    &'a str,
);

/// Returns the payloads and texts, and the rows.
fn delivery_rows<'a>(
    deliveries: impl Iterator<Item = &'a EncodedDelivery>,
) -> (Bytes, Vec<DeliveryRow<'a>>) {
    let mut payloads = Bytes::default();
    let rows = deliveries
        .map(|delivery| {
            let d = &delivery.new;
            let payload = d.payload.as_ref().map(|payload| payloads.add(payload));
            let text = delivery.text.as_ref();
            let text = text.map(|text| payloads.add(text.as_bytes()));
            (
                &*d.guid,
                &*d.event,
                d.action.as_deref(),
                d.installation,
                d.received.0,
                payload.map(|(start, _)| start),
                payload.map(|(_, length)| length),
                d.dedup_key.as_deref(),
                text.map(|(start, _)| start),
                text.map(|(_, length)| length),
                d.source.name(),
            )
        })
        .collect();
    (payloads, rows)
}

/// Delivery, index in it, time, id, command, serial, place, repository, installation, whether it is
/// the first of its place in the batch, and the time of the request.
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
    i64,
);

/// The rows of a batch's runs, and run, offset and length of their triggers.
struct RunRows<'a, D> {
    rows: Vec<RunRow<'a, D>>,
    triggers: Bytes,
    texts: Vec<(&'a RunId, usize, usize)>,
}

/// Collects the runs of `deliveries`, each of which comes with its identifier in the statement.
fn run_rows<'a, D: Copy>(
    deliveries: impl Iterator<Item = (D, &'a EncodedDelivery)>,
) -> RunRows<'a, D> {
    let mut rows = RunRows {
        rows: Vec::new(),
        triggers: Bytes::default(),
        texts: Vec::new(),
    };
    let mut heads = HashSet::new();
    for (identifier, delivery) in deliveries {
        for (index, run) in delivery.runs.iter().enumerate() {
            let serial = run.serial.as_deref();
            rows.rows.push((
                identifier,
                index,
                delivery.new.received.0,
                &run.id,
                &run.command,
                serial,
                &run.place,
                run.repo_id,
                run.installation,
                serial.is_some_and(|serial| heads.insert(serial)),
                run.said.0,
            ));
            let (start, length) = rows.triggers.add(run.trigger.as_bytes());
            rows.texts.push((&run.id, start, length));
        }
    }
    rows
}

/// Inserts the deliveries that are not known and returns their GUIDs.
async fn insert_deliveries(
    connection: &mut SqliteConnection,
    deliveries: impl Iterator<Item = &EncodedDelivery>,
) -> Result<HashSet<String>, WriteError> {
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
    // Row ids are consecutive, so the new ones are the last `count`.
    let before = inserted.last_insert_rowid() - count.cast_signed();
    let new: String = sqlx::query_scalar(GUIDS_SINCE)
        .bind(before)
        .fetch_one(connection)
        .await?;
    Ok(serde_json::from_str(&new).map_err(|error| corrupt("guid", error))?)
}

async fn insert_runs(
    connection: &mut SqliteConnection,
    deliveries: impl Iterator<Item = &EncodedDelivery>,
    new: &HashSet<String>,
) -> Result<(), WriteError> {
    let new = deliveries.filter(|delivery| new.contains(&*delivery.new.guid));
    let runs = run_rows(new.map(|delivery| (&*delivery.new.guid, delivery)));
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

/// Puts the runs of late deliveries before those at the same places that were requested later and
/// were never started.
async fn give_way(
    connection: &mut SqliteConnection,
    deliveries: impl Iterator<Item = &EncodedDelivery>,
    new: &HashSet<String>,
) -> Result<(), WriteError> {
    let late = deliveries.filter(|one| one.is_late() && new.contains(&*one.new.guid));
    let serials: Vec<String> = late
        .flat_map(|one| one.runs.iter().filter_map(|run| run.serial.clone()))
        .collect();
    if serials.is_empty() {
        return Ok(());
    }
    sqlx::query(GIVE_WAY)
        .bind(json(&serials)?)
        .execute(&mut *connection)
        .await?;
    promote(connection, &serials).await
}

/// Queues the runs of deliveries again whose runs have all failed, and returns their GUIDs.
async fn requeue(
    connection: &mut SqliteConnection,
    known: &[&str],
) -> Result<HashSet<String>, WriteError> {
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

/// Serialises parameters as JSON.
pub(super) fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Failed(error.to_string()))
}

/// Converts a number of GitHub's for SQLite.
pub(super) fn number(value: u64) -> Result<i64, StoreError> {
    i64::try_from(value).map_err(|_| StoreError::Failed(format!("the id {value} is out of range")))
}
