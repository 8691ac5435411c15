//! Decisions about events, and how far GitHub's delivery log and comments have been read.

use std::collections::{BTreeMap, HashSet};

use serde::de::DeserializeOwned;
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, SqliteConnection, SqlitePool};

use super::accept::{json, number};
use super::errors::{WriteError, column, corrupt, failed, nullable};
use crate::engine::model::intake::{
    DecisionRecord, LogState, LoggedAttempt, ScanState, Source, Subject, Verdict,
};
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::store::StoreError;

/// Decisions that are written together are one row for each place.
const RECORD: &str =
    "INSERT INTO decisions (last_ms, repo, number, records) VALUES (?1, ?2, ?3, ?4)";

/// Selects the decisions about a place. Accepted ones are deliveries, found by what was said
/// (`Trigger::said`): its text begins with a word for the kind and the place.
pub(super) const AT_PLACE: &str = "
SELECT * FROM (
    SELECT value ->> 0 AS at_ms, value ->> 1 AS source, value ->> 2 AS guid, value ->> 3 AS event, value ->> 4 AS action,
           value ->> 5 AS comment, value ->> 6 AS verdict, value ->> 7 AS why, NULL AS runs
    FROM (SELECT records FROM decisions WHERE repo = ?1 AND number = ?2 ORDER BY id DESC LIMIT ?3),
         json_each(records)
    UNION ALL
    SELECT received_ms, source, guid, event, action,
           CASE WHEN said GLOB 'comment *' THEN CAST(substr(said, length(kind.prefix) + 1) AS INTEGER) END,
           'accepted', NULL,
           (SELECT json_group_array(id) FROM runs WHERE runs.delivery = deliveries.id)
    FROM (SELECT 'comment ' || ?1 || '#' || ?2 || ' ' AS prefix
          UNION ALL SELECT 'label ' || ?1 || '#' || ?2 || ' '
          UNION ALL SELECT 'push ' || ?1 || '#' || ?2 || ' ') AS kind
    CROSS JOIN deliveries ON said >= kind.prefix AND said < substr(kind.prefix, 1, length(kind.prefix) - 1) || '!')
ORDER BY at_ms DESC LIMIT ?3";

pub(super) const DECIDED: &str = "
SELECT value FROM json_each(?1)
WHERE EXISTS (SELECT 1 FROM deliveries WHERE deliveries.guid = value)
UNION
SELECT record.value ->> 2 FROM decisions, json_each(records) AS record
WHERE last_ms >= ?2 AND record.value ->> 0 >= ?2 AND record.value ->> 2 IN (SELECT value FROM json_each(?1))";

/// The comments are pairs of the issue's number and the comment's id.
pub(super) const DECIDED_COMMENTS: &str = "
SELECT pair.value ->> 1 FROM json_each(?2) AS pair
WHERE EXISTS (
    SELECT 1 FROM deliveries
    WHERE said >= 'comment ' || ?1 || '#' || (pair.value ->> 0) || ' ' || (pair.value ->> 1) || ' '
      AND said < 'comment ' || ?1 || '#' || (pair.value ->> 0) || ' ' || (pair.value ->> 1) || '!')
   OR EXISTS (
    SELECT 1 FROM decisions, json_each(records) AS record
    WHERE repo = ?1 AND number = pair.value ->> 0
      AND record.value ->> 5 = pair.value ->> 1 AND record.value ->> 4 = 'created')";

/// Times have 13 digits until the year 2286, so that their order is that of the text.
pub(super) const LABEL_ACCEPTED: &str = "
SELECT EXISTS (
    SELECT 1 FROM deliveries
    WHERE said >= 'label ' || ?1 || ' ' || ?3 AND said < 'label ' || ?1 || ' ' || (?4 + 1)
      AND substr(said, length('label ' || ?1 || ' ' || ?3 || ' ') + 1) = ?2)";

const ADD_MISSED: &str = "
INSERT INTO missed (id, guid, event, action, delivered_ms, status, repo)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6
FROM json_each(?1)
WHERE true
ON CONFLICT (guid) DO UPDATE SET delivered_ms = min(delivered_ms, excluded.delivered_ms)";

pub(super) const MISSED: &str = "SELECT id, guid, event, action, delivered_ms, status, repo FROM missed ORDER BY delivered_ms, id LIMIT ?1";

/// An element of `decisions.records`.
type DecisionRow<'a> = (
    i64,
    &'a str,
    &'a str,
    &'a str,
    Option<&'a str>,
    Option<u64>,
    &'a str,
    Option<&'a str>,
);

/// Records decisions, oldest first.
pub(super) async fn record(
    connection: &mut SqliteConnection,
    decisions: &[DecisionRecord],
) -> Result<(), WriteError> {
    let mut places: BTreeMap<_, Vec<DecisionRow<'_>>> = BTreeMap::new();
    for one in decisions {
        let place = (one.subject.repo, one.subject.number);
        places.entry(place).or_default().push((
            one.at.0,
            one.source.name(),
            &*one.guid,
            &*one.event,
            one.subject.action.as_deref(),
            one.subject.comment,
            one.verdict.name(),
            one.verdict.reason(),
        ));
    }
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    for ((repo, issue), records) in &places {
        sqlx::query(RECORD)
            .bind(records.last().map(|newest| newest.0))
            .bind(repo.map(number).transpose()?)
            .bind(issue.map(number).transpose()?)
            .bind(json(records)?)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(())
}

pub(super) async fn at_place(
    reader: &SqlitePool,
    repo: u64,
    issue: u64,
    limit: u32,
) -> Result<Vec<DecisionRecord>, StoreError> {
    let rows = sqlx::query(AT_PLACE)
        .bind(number(repo)?)
        .bind(number(issue)?)
        .bind(limit)
        .fetch_all(reader)
        .await
        .map_err(failed)?;
    rows.iter().map(|row| decision(row, repo, issue)).collect()
}

fn decision(row: &SqliteRow, repo: u64, issue: u64) -> Result<DecisionRecord, StoreError> {
    let source: String = column(row, "source")?;
    let verdict: String = column(row, "verdict")?;
    let why = nullable::<String>(row, "why")?.unwrap_or_default();
    let verdict = match &*verdict {
        "accepted" => {
            let runs: String = column(row, "runs")?;
            let runs: Vec<String> =
                serde_json::from_str(&runs).map_err(|error| corrupt("runs", error))?;
            Verdict::Accepted(runs.into_iter().map(RunId).collect())
        }
        "duplicate" => Verdict::Duplicate,
        "requeued" => Verdict::Requeued,
        "ignored" => Verdict::Ignored(why),
        "refused" => Verdict::Refused(why),
        other => return Err(corrupt("verdict", format!("`{other}` is not a verdict"))),
    };
    Ok(DecisionRecord {
        at: Millis(column(row, "at_ms")?),
        source: Source::from_name(&source)
            .ok_or_else(|| corrupt("source", format!("`{source}` is not a source")))?,
        guid: column(row, "guid")?,
        event: column(row, "event")?,
        subject: Subject {
            action: nullable(row, "action")?,
            repo: Some(repo),
            number: Some(issue),
            comment: id(row, "comment")?,
        },
        verdict,
    })
}

/// Reads an id of GitHub's that may be NULL.
fn id(row: &SqliteRow, name: &str) -> Result<Option<u64>, StoreError> {
    nullable::<i64>(row, name)?
        .map(|id| u64::try_from(id).map_err(|error| corrupt(name, error)))
        .transpose()
}

pub(super) async fn decided(
    reader: &SqlitePool,
    guids: &[&str],
    since: Millis,
) -> Result<HashSet<String>, StoreError> {
    let known: Vec<String> = sqlx::query_scalar(DECIDED)
        .bind(json(&guids)?)
        .bind(since.0)
        .fetch_all(reader)
        .await
        .map_err(failed)?;
    Ok(known.into_iter().collect())
}

pub(super) async fn decided_comments(
    reader: &SqlitePool,
    repo: u64,
    comments: &[(u64, u64)],
) -> Result<HashSet<u64>, StoreError> {
    let known: Vec<i64> = sqlx::query_scalar(DECIDED_COMMENTS)
        .bind(number(repo)?)
        .bind(json(&comments)?)
        .fetch_all(reader)
        .await
        .map_err(failed)?;
    let known = known.into_iter().map(u64::try_from);
    known
        .collect::<Result<_, _>>()
        .map_err(|error| corrupt("comment", error))
}

pub(super) async fn label_accepted(
    reader: &SqlitePool,
    place: &str,
    label: &str,
    (from, to): (Millis, Millis),
) -> Result<bool, StoreError> {
    sqlx::query_scalar(LABEL_ACCEPTED)
        .bind(place)
        .bind(label.to_lowercase())
        .bind(from.0)
        .bind(to.0)
        .fetch_one(reader)
        .await
        .map_err(failed)
}

pub(super) async fn save_log_state(
    connection: &mut SqliteConnection,
    state: &LogState,
    missed: &[LoggedAttempt],
) -> Result<(), WriteError> {
    let rows: Vec<_> = missed
        .iter()
        .map(|one| {
            (
                one.id,
                &*one.guid,
                &*one.event,
                one.action.as_deref(),
                one.delivered.0,
                one.status_code,
                one.repo,
            )
        })
        .collect();
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query(ADD_MISSED)
        .bind(json(&rows)?)
        .execute(&mut *transaction)
        .await?;
    sqlx::query("INSERT OR REPLACE INTO delivery_log (id, state) VALUES (1, ?1)")
        .bind(json(state)?)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}

pub(super) async fn log_state(reader: &SqlitePool) -> Result<Option<LogState>, StoreError> {
    let state = sqlx::query_scalar("SELECT state FROM delivery_log")
        .fetch_optional(reader)
        .await
        .map_err(failed)?;
    read("delivery_log.state", state)
}

pub(super) async fn missed(
    reader: &SqlitePool,
    limit: u32,
) -> Result<Vec<LoggedAttempt>, StoreError> {
    let rows = sqlx::query(MISSED)
        .bind(limit)
        .fetch_all(reader)
        .await
        .map_err(failed)?;
    rows.iter()
        .map(|row| {
            Ok(LoggedAttempt {
                id: id(row, "id")?.unwrap_or_default(),
                guid: column(row, "guid")?,
                event: column(row, "event")?,
                action: nullable(row, "action")?,
                delivered: Millis(column(row, "delivered_ms")?),
                status_code: column(row, "status")?,
                repo: id(row, "repo")?,
            })
        })
        .collect()
}

pub(super) async fn drop_missed(
    connection: &mut SqliteConnection,
    id: u64,
) -> Result<(), WriteError> {
    sqlx::query("DELETE FROM missed WHERE id = ?1")
        .bind(number(id)?)
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) async fn scan_state(
    reader: &SqlitePool,
    repo: u64,
) -> Result<Option<ScanState>, StoreError> {
    let state = sqlx::query_scalar("SELECT state FROM scans WHERE repo = ?1")
        .bind(number(repo)?)
        .fetch_optional(reader)
        .await
        .map_err(failed)?;
    read("scans.state", state)
}

pub(super) async fn save_scan_state(
    connection: &mut SqliteConnection,
    repo: u64,
    state: &ScanState,
) -> Result<(), WriteError> {
    sqlx::query("INSERT OR REPLACE INTO scans (repo, state) VALUES (?1, ?2)")
        .bind(number(repo)?)
        .bind(json(state)?)
        .execute(connection)
        .await?;
    Ok(())
}

fn read<T: DeserializeOwned>(name: &str, text: Option<String>) -> Result<Option<T>, StoreError> {
    text.map(|text| serde_json::from_str(&text).map_err(|error| corrupt(name, error)))
        .transpose()
}
