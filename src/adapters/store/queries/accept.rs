//! Stores a batch of deliveries in one transaction.
//!
//! The number of statements does not depend on the size of the batch: rows are passed as one JSON
//! array, long texts as one string of bytes with offsets, so that nothing is escaped twice.

use std::collections::HashSet;

use super::super::errors::WriteError;
use super::super::sql::{Connection, Lock, Sql, Value, column, json, nullable, number, to_json};
use super::queue::promote;
use super::records::audit;
use super::views::state;
use crate::engine::model::intake::Source;
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::operate::repetition_prefix;
use crate::engine::store::{Accepted, AuditEntry, Change, NewDelivery, NewRun, StoreError};

/// The GUIDs are sorted on PostgreSQL, so that two processes that store the same ones do not wait
/// for each other.
pub(crate) const INSERT_DELIVERIES: Sql = Sql {
    sqlite: "
INSERT INTO deliveries (guid, event, action, installation, received_ms, payload, said, text, source)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
       CASE WHEN value ->> 5 IS NOT NULL THEN substr($2, value ->> 5, value ->> 6) END, value ->> 7,
       CASE WHEN value ->> 8 IS NOT NULL THEN CAST(substr($2, value ->> 8, value ->> 9) AS TEXT) END,
       value ->> 10
FROM json_each($1)
WHERE true
ON CONFLICT DO NOTHING
RETURNING guid",
    postgres: "
INSERT INTO deliveries (guid, event, action, installation, received_ms, payload, said, text, source)
SELECT value ->> 0, value ->> 1, value ->> 2, (value ->> 3)::bigint, (value ->> 4)::bigint,
       substr($2, (value ->> 5)::int, (value ->> 6)::int), value ->> 7,
       substr($2, (value ->> 8)::int, (value ->> 9)::int), value ->> 10
FROM json_array_elements($1::json)
ORDER BY value ->> 0
ON CONFLICT DO NOTHING
RETURNING guid",
};

/// A run starts as ready if it is not serial, or if it is the first of its place in the batch and
/// the place has no active run. The SELECT is evaluated before the first row is inserted.
pub(crate) const INSERT_RUNS: Sql = Sql {
    sqlite: "
INSERT INTO runs (delivery, idx, created_ms, run_at_ms, id, command, serial, place, repo_id, installation, said_ms, state)
SELECT deliveries.id, value ->> 1, value ->> 2, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
       value ->> 7, value ->> 8, value ->> 10,
       CASE WHEN value ->> 5 IS NULL THEN 'ready'
            WHEN value ->> 9 AND NOT EXISTS (
                SELECT 1 FROM runs AS active
                WHERE active.serial = value ->> 5 AND active.serial IS NOT NULL
                  AND active.state IN ('ready', 'running', 'waiting')) THEN 'ready'
            ELSE 'blocked' END
FROM json_each($1) CROSS JOIN deliveries ON deliveries.guid = value ->> 0
ORDER BY key",
    postgres: "
INSERT INTO runs (delivery, idx, created_ms, run_at_ms, id, command, serial, place, repo_id, installation, said_ms, state)
SELECT deliveries.id, (value ->> 1)::int, (value ->> 2)::bigint, (value ->> 2)::bigint, value ->> 3, value ->> 4,
       value ->> 5, value ->> 6, (value ->> 7)::bigint, (value ->> 8)::bigint, (value ->> 10)::bigint,
       CASE WHEN value ->> 5 IS NULL THEN 'ready'
            WHEN (value ->> 9)::boolean AND NOT EXISTS (
                SELECT 1 FROM runs AS active
                WHERE active.serial = value ->> 5 AND active.state IN ('ready', 'running', 'waiting')) THEN 'ready'
            ELSE 'blocked' END
FROM json_array_elements($1::json) WITH ORDINALITY AS list (value, key)
JOIN deliveries ON deliveries.guid = value ->> 0
ORDER BY key",
};

pub(crate) const INSERT_TEXTS: Sql = Sql {
    sqlite: "
INSERT INTO texts (run, trigger)
SELECT runs.seq, CAST(substr($2, value ->> 1, value ->> 2) AS TEXT)
FROM json_each($1) CROSS JOIN runs ON runs.id = value ->> 0",
    postgres: "
INSERT INTO texts (run, trigger)
SELECT runs.seq, substr($2, (value ->> 1)::int, (value ->> 2)::int)
FROM json_array_elements($1::json) JOIN runs ON runs.id = value ->> 0",
};

macro_rules! requeue {
    ($guids:literal) => {
        concat!(
            "
UPDATE runs
SET state = CASE WHEN serial IS NULL THEN 'ready' ELSE 'blocked' END, run_at_ms = created_ms, attempt = 0, round = round + 1,
    cancel_requested = NULL, cancel_told = 0, code = NULL, note = NULL, started_ms = NULL, finished_ms = NULL
WHERE delivery IN (
    SELECT runs.delivery FROM ",
            $guids,
            " AS known CROSS JOIN deliveries CROSS JOIN runs
    WHERE deliveries.guid = known.value AND runs.delivery = deliveries.id
    GROUP BY runs.delivery HAVING min(CASE state WHEN 'failed' THEN 1 ELSE 0 END) = 1)
RETURNING (SELECT guid FROM deliveries WHERE deliveries.id = runs.delivery) AS guid, serial"
        )
    };
}

/// Queues the runs of deliveries again whose runs have all failed.
pub(crate) const REQUEUE: Sql = Sql {
    sqlite: requeue!("json_each($1)"),
    postgres: requeue!("json_array_elements_text($1::json)"),
};
/// Blocks runs that are ready and were never started while one that was requested earlier waits at
/// the same place.
pub(crate) const GIVE_WAY: Sql = sql_with_list!(
    "
UPDATE runs SET state = 'blocked'
WHERE serial IN (SELECT value FROM ",
    texts,
    " AS late) AND state = 'ready' AND started_ms IS NULL AND EXISTS (
    SELECT 1 FROM runs AS earlier
    WHERE earlier.serial = runs.serial AND earlier.state = 'blocked' AND earlier.said_ms < runs.said_ms)"
);

const STATE_OF: &str = "SELECT state FROM runs WHERE id = $1";

/// The unfinished run of a delivery whose GUID begins with $1, a text that ends with `-`.
const REPETITION: &str = "
SELECT runs.id FROM deliveries CROSS JOIN runs
WHERE guid > $1 AND guid < substr($1, 1, length($1) - 1) || '.' AND runs.delivery = deliveries.id
  AND state IN ('blocked', 'ready', 'running', 'waiting')";

pub(crate) const CANCEL_INSTALLATION: &str = "
UPDATE runs
SET state = 'cancelled', finished_ms = $2, lease_owner = NULL, lease_until_ms = NULL,
    note = 'the App was uninstalled'
WHERE installation = $1 AND seq IN (
    SELECT seq FROM runs WHERE state = 'blocked'
    UNION ALL SELECT seq FROM runs WHERE state = 'ready'
    UNION ALL SELECT seq FROM runs WHERE state = 'waiting'
    UNION ALL SELECT seq FROM runs WHERE state = 'running')
RETURNING serial";

/// A delivery with its triggers serialised, ready to be written.
#[derive(Debug)]
pub(crate) struct EncodedDelivery {
    /// The delivery without its runs.
    new: NewDelivery,
    /// The comment's text, if it is not part of the triggers.
    text: Option<String>,
    runs: Vec<EncodedRun>,
}

/// What a delivery or a run is recognised by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    /// The GUID of the delivery.
    Guid,
    /// The deduplication key of the delivery.
    DedupKey,
    /// The id of a run.
    Run,
}

#[derive(Debug)]
struct EncodedRun {
    id: RunId,
    command: String,
    serial: Option<String>,
    place: String,
    repo_id: u64,
    installation: u64,
    requested_at: Millis,
    trigger: String,
}

impl EncodedDelivery {
    /// Serialises the triggers. A text that all of them share is stored once, with the delivery.
    pub(crate) fn new(mut new: NewDelivery) -> Result<Self, StoreError> {
        let runs = std::mem::take(&mut new.runs);
        let mut texts = runs.iter().map(|run| run.trigger.text());
        let text = texts.next().flatten();
        let text = text.filter(|shared| texts.all(|text| text == Some(*shared)));
        let text = text.map(str::to_owned);
        let encode = |run: NewRun| {
            let trigger = match &text {
                Some(_) => to_json(&run.trigger.without_text()),
                None => to_json(&run.trigger),
            };
            Ok(EncodedRun {
                id: run.id,
                command: run.command,
                serial: run.serial,
                place: run.place,
                repo_id: run.repo_id,
                installation: run.installation,
                requested_at: run.trigger.at,
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
    pub(crate) fn is_removal(&self) -> bool {
        self.new.installation_gone
    }

    /// Whether its runs may have been requested earlier than others that are ready.
    pub(crate) fn is_late(&self) -> bool {
        self.new.source != Source::Webhook
    }

    /// Returns what must be unique.
    pub(crate) fn names(&self) -> impl Iterator<Item = (Name, &str)> {
        let dedup_key = self
            .new
            .dedup_key
            .as_deref()
            .map(|key| (Name::DedupKey, key));
        let runs = self.runs.iter().map(|run| (Name::Run, &*run.id.0));
        [(Name::Guid, &*self.new.guid)]
            .into_iter()
            .chain(dedup_key)
            .chain(runs)
    }

    /// Whether its numbers fit into the columns.
    pub(crate) fn is_storable(&self) -> bool {
        let runs = self.runs.iter();
        let of_runs = runs.flat_map(|run| [run.repo_id, run.installation]);
        let mut numbers = of_runs.chain([self.new.installation]);
        numbers.all(|id| i64::try_from(id).is_ok())
    }

    /// Number of bytes of payload, text and triggers.
    pub(crate) fn len(&self) -> usize {
        self.new.payload.as_ref().map_or(0, Vec::len)
            + self.text.as_ref().map_or(0, String::len)
            + self.runs.iter().map(|run| run.trigger.len()).sum::<usize>()
    }
}

/// Stores the deliveries that are new, and returns how each was accepted, in order. The caller has
/// begun a transaction and commits it.
pub(crate) async fn accept(
    connection: &mut Connection<'_>,
    deliveries: &[EncodedDelivery],
) -> Result<Vec<Accepted>, WriteError> {
    let runs = deliveries.iter().flat_map(|delivery| &delivery.runs);
    let serials = runs.filter_map(|run| run.serial.as_deref());
    let locks: Vec<_> = serials.map(Lock::Serial).collect();
    connection.lock(&locks).await?;
    let mut first = HashSet::with_capacity(deliveries.len());
    let is_first: Vec<bool> = deliveries
        .iter()
        .map(|d| first.insert(&*d.new.guid))
        .collect();
    let candidates = || {
        let flagged = deliveries.iter().zip(&is_first);
        flagged.filter(|(_, first)| **first).map(|(d, _)| d)
    };

    let new = insert_deliveries(connection, candidates()).await?;
    insert_runs(connection, candidates(), &new).await?;
    give_way(connection, candidates(), &new).await?;
    let known: Vec<&str> = candidates()
        .map(|d| &*d.new.guid)
        .filter(|guid| !new.contains(*guid))
        .collect();
    let requeued = requeue(connection, &known).await?;
    for gone in candidates().filter(|d| d.is_removal() && new.contains(&*d.new.guid)) {
        let values = [
            number(gone.new.installation)?.into(),
            gone.new.received.into(),
        ];
        let rows = connection.rows(CANCEL_INSTALLATION, &values).await?;
        // The App may have been installed again, and what it was asked for then waits behind them.
        let serials = rows.iter().map(|row| nullable(row, "serial"));
        let serials: Vec<Option<String>> = serials.collect::<Result<_, _>>()?;
        promote_locked(connection, serials.into_iter().flatten()).await?;
    }

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

/// Stores a delivery that gives the command of an ended run again, unless an earlier one has not
/// ended.
pub(crate) async fn run_again(
    connection: &mut Connection<'_>,
    run: &RunId,
    repetition: &EncodedDelivery,
    entry: &AuditEntry,
) -> Result<(Change, RunId), WriteError> {
    let serials = repetition
        .runs
        .iter()
        .filter_map(|run| run.serial.as_deref());
    let locks: Vec<_> = serials
        .map(Lock::Serial)
        .chain([Lock::Repeating(run)])
        .collect();
    connection.lock(&locks).await?;
    connection.begin().await?;
    let Some(row) = connection.row(STATE_OF, &[run.into()]).await? else {
        return Ok((Change::Unknown, run.clone()));
    };
    let prefix = repetition_prefix(run);
    let earlier = connection.scalar(REPETITION, &[(&prefix).into()]).await?;
    if !state(&row)?.is_terminal() || earlier.is_some() {
        let active = earlier.map_or_else(|| run.clone(), RunId);
        return Ok((Change::NotNow, active));
    }
    accept(connection, std::slice::from_ref(repetition)).await?;
    audit(connection, entry).await?;
    connection.commit().await?;
    let new = repetition.runs.first().map_or(run, |new| &new.id);
    Ok((Change::Done, new.clone()))
}

/// Concatenated texts, so that one parameter carries them all.
#[derive(Default)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

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
pub(crate) type DeliveryRow<'a> = (
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
pub(crate) fn delivery_rows<'a>(
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
pub(crate) type RunRow<'a, D> = (
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
pub(crate) struct RunRows<'a, D> {
    pub(crate) rows: Vec<RunRow<'a, D>>,
    pub(crate) triggers: Bytes,
    pub(crate) texts: Vec<(&'a RunId, usize, usize)>,
}

/// Collects the runs of `deliveries`, each of which comes with its identifier in the statement.
pub(crate) fn run_rows<'a, D: Copy>(
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
                run.requested_at.0,
            ));
            let (start, length) = rows.triggers.add(run.trigger.as_bytes());
            rows.texts.push((&run.id, start, length));
        }
    }
    rows
}

/// Inserts the deliveries that are not known and returns their GUIDs.
async fn insert_deliveries(
    connection: &mut Connection<'_>,
    deliveries: impl Iterator<Item = &EncodedDelivery>,
) -> Result<HashSet<String>, WriteError> {
    let (payloads, rows) = delivery_rows(deliveries);
    let values = [json(&rows)?, Value::Bytes(Some(&payloads.0))];
    let new = connection.scalars(INSERT_DELIVERIES, &values).await?;
    Ok(new.into_iter().collect())
}

async fn insert_runs(
    connection: &mut Connection<'_>,
    deliveries: impl Iterator<Item = &EncodedDelivery>,
    new: &HashSet<String>,
) -> Result<(), WriteError> {
    let new = deliveries.filter(|delivery| new.contains(&*delivery.new.guid));
    let runs = run_rows(new.map(|delivery| (&*delivery.new.guid, delivery)));
    if runs.rows.is_empty() {
        return Ok(());
    }
    connection
        .execute(INSERT_RUNS, &[json(&runs.rows)?])
        .await?;
    let values = [json(&runs.texts)?, Value::Bytes(Some(&runs.triggers.0))];
    connection.execute(INSERT_TEXTS, &values).await?;
    Ok(())
}

/// Puts the runs of late deliveries before those at the same places that were requested later and
/// were never started.
async fn give_way(
    connection: &mut Connection<'_>,
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
    connection.execute(GIVE_WAY, &[json(&serials)?]).await?;
    promote(connection, &serials).await
}

/// Queues the runs of deliveries again whose runs have all failed, and returns their GUIDs.
async fn requeue(
    connection: &mut Connection<'_>,
    known: &[&str],
) -> Result<HashSet<String>, WriteError> {
    if known.is_empty() {
        return Ok(HashSet::new());
    }
    let rows = connection.rows(REQUEUE, &[json(&known)?]).await?;
    let mut serials: Vec<Option<String>> = Vec::new();
    let mut requeued = HashSet::new();
    for row in &rows {
        requeued.insert(column(row, "guid")?);
        serials.push(nullable(row, "serial")?);
    }
    promote_locked(connection, serials.into_iter().flatten()).await?;
    Ok(requeued)
}

/// Promotes the next runs of places whose locks are not held yet.
async fn promote_locked(
    connection: &mut Connection<'_>,
    serials: impl Iterator<Item = String>,
) -> Result<(), WriteError> {
    let serials: Vec<String> = serials.collect();
    let locks: Vec<_> = serials.iter().map(|key| Lock::Serial(key)).collect();
    connection.lock(&locks).await?;
    promote(connection, &serials).await
}
