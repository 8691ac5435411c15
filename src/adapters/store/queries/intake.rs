//! Decisions about events, and how far GitHub's delivery log and comments have been read.

use std::collections::{BTreeMap, HashSet};

use super::super::errors::{WriteError, corrupt};
use super::super::sql::{Connection, Row, Sql, column, json, nullable, number};
use crate::engine::model::intake::{
    DecisionRecord, LogState, LoggedAttempt, ScanState, Source, Subject, Verdict,
};
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::store::StoreError;
use serde::de::DeserializeOwned;
use serde_json::json as array;

/// Decisions that are written together are one row for each place.
const RECORD: &str =
    "INSERT INTO decisions (last_ms, repo, number, records) VALUES ($1, $2, $3, $4)";

/// Selects the decisions about a place. Accepted ones are deliveries, found by their deduplication
/// key (`NewDelivery::dedup_key`): it begins with a word for the kind and the place.
pub(crate) const AT_PLACE: Sql = Sql {
    sqlite: "
SELECT * FROM (
    SELECT value ->> 0 AS at_ms, value ->> 1 AS source, value ->> 2 AS guid, value ->> 3 AS event, value ->> 4 AS action,
           value ->> 5 AS comment, value ->> 6 AS verdict, value ->> 7 AS why, NULL AS runs
    FROM (SELECT records FROM decisions WHERE repo = $1 AND number = $2 ORDER BY id DESC LIMIT $3),
         json_each(records)
    UNION ALL
    SELECT received_ms, source, guid, event, action,
           CASE WHEN said GLOB 'comment *' THEN CAST(substr(said, length(kind.prefix) + 1) AS INTEGER) END,
           'accepted', NULL,
           (SELECT json_group_array(id) FROM runs WHERE runs.delivery = deliveries.id)
    FROM (SELECT 'comment ' || $1 || '#' || $2 || ' ' AS prefix
          UNION ALL SELECT 'label ' || $1 || '#' || $2 || ' '
          UNION ALL SELECT 'push ' || $1 || '#' || $2 || ' '
          UNION ALL SELECT 'operator ' || $1 || '#' || $2 || ' ') AS kind
    CROSS JOIN deliveries ON said >= kind.prefix AND said < substr(kind.prefix, 1, length(kind.prefix) - 1) || '!')
ORDER BY at_ms DESC LIMIT $3",
    postgres: "
SELECT * FROM (
    SELECT (value ->> 0)::bigint AS at_ms, value ->> 1 AS source, value ->> 2 AS guid, value ->> 3 AS event,
           value ->> 4 AS action, (value ->> 5)::bigint AS comment, value ->> 6 AS verdict, value ->> 7 AS why, NULL AS runs
    FROM (SELECT records FROM decisions WHERE repo = $1 AND number = $2 ORDER BY id DESC LIMIT $3) AS latest,
         json_array_elements(latest.records::json)
    UNION ALL
    SELECT received_ms, source, guid, event, action,
           CASE WHEN said LIKE 'comment %' THEN split_part(said, ' ', 3)::bigint END,
           'accepted', NULL,
           coalesce((SELECT json_agg(id ORDER BY seq)::text FROM runs WHERE runs.delivery = deliveries.id), '[]')
    FROM (VALUES ('comment '), ('label '), ('push '), ('operator ')) AS kind (word)
    JOIN deliveries ON said >= kind.word || $1 || '#' || $2 || ' ' AND said < kind.word || $1 || '#' || $2 || '!'
) AS decided
ORDER BY at_ms DESC LIMIT $3",
};

/// Selects the last decisions about all places, with the repository and the number where they are
/// known.
const RECENT: Sql = Sql {
    sqlite: "
SELECT * FROM (
    SELECT value ->> 0 AS at_ms, value ->> 1 AS source, value ->> 2 AS guid, value ->> 3 AS event, value ->> 4 AS action,
           value ->> 5 AS comment, value ->> 6 AS verdict, value ->> 7 AS why, NULL AS runs, repo, number
    FROM (SELECT repo, number, records FROM decisions ORDER BY id DESC LIMIT $1), json_each(records)
    UNION ALL
    SELECT received_ms, source, guid, event, action, NULL, 'accepted', NULL,
           (SELECT json_group_array(id) FROM runs WHERE runs.delivery = latest.id),
           (SELECT repo_id FROM runs WHERE runs.delivery = latest.id LIMIT 1),
           (SELECT CAST(substr(place, instr(place, '#') + 1) AS INTEGER) FROM runs WHERE runs.delivery = latest.id LIMIT 1)
    FROM (SELECT id, received_ms, source, guid, event, action FROM deliveries ORDER BY id DESC LIMIT $1) AS latest)
ORDER BY at_ms DESC LIMIT $1",
    postgres: "
SELECT * FROM (
    SELECT (value ->> 0)::bigint AS at_ms, value ->> 1 AS source, value ->> 2 AS guid, value ->> 3 AS event,
           value ->> 4 AS action, (value ->> 5)::bigint AS comment, value ->> 6 AS verdict, value ->> 7 AS why, NULL AS runs,
           repo, number
    FROM (SELECT repo, number, records FROM decisions ORDER BY id DESC LIMIT $1) AS latest,
         json_array_elements(latest.records::json)
    UNION ALL
    SELECT received_ms, source, guid, event, action, NULL, 'accepted', NULL,
           coalesce((SELECT json_agg(id ORDER BY seq)::text FROM runs WHERE runs.delivery = latest.id), '[]'),
           (SELECT repo_id FROM runs WHERE runs.delivery = latest.id LIMIT 1),
           (SELECT split_part(place, '#', 2)::bigint FROM runs WHERE runs.delivery = latest.id LIMIT 1)
    FROM (SELECT id, received_ms, source, guid, event, action FROM deliveries ORDER BY id DESC LIMIT $1) AS latest
) AS decided
ORDER BY at_ms DESC LIMIT $1",
};

pub(crate) const DECIDED: Sql = Sql {
    sqlite: "
SELECT value FROM json_each($1)
WHERE EXISTS (SELECT 1 FROM deliveries WHERE deliveries.guid = value)
UNION
SELECT record.value ->> 2 FROM decisions, json_each(records) AS record
WHERE last_ms >= $2 AND record.value ->> 0 >= $2 AND record.value ->> 2 IN (SELECT value FROM json_each($1))",
    postgres: "
SELECT value FROM json_array_elements_text($1::json)
WHERE EXISTS (SELECT 1 FROM deliveries WHERE deliveries.guid = value)
UNION
SELECT record.value ->> 2 FROM decisions, json_array_elements(records::json) AS record
WHERE last_ms >= $2 AND (record.value ->> 0)::bigint >= $2
  AND record.value ->> 2 IN (SELECT value FROM json_array_elements_text($1::json))",
};

/// The comments are pairs of the issue's number and the comment's id.
pub(crate) const DECIDED_COMMENTS: Sql = Sql {
    sqlite: "
SELECT pair.value ->> 1 FROM json_each($2) AS pair
WHERE EXISTS (
    SELECT 1 FROM deliveries
    WHERE said >= 'comment ' || $1 || '#' || (pair.value ->> 0) || ' ' || (pair.value ->> 1) || ' '
      AND said < 'comment ' || $1 || '#' || (pair.value ->> 0) || ' ' || (pair.value ->> 1) || '!')
   OR EXISTS (
    SELECT 1 FROM decisions, json_each(records) AS record
    WHERE repo = $1 AND number = pair.value ->> 0
      AND record.value ->> 5 = pair.value ->> 1 AND record.value ->> 4 = 'created')",
    postgres: "
SELECT (pair.value ->> 1)::bigint FROM json_array_elements($2::json) AS pair
WHERE EXISTS (
    SELECT 1 FROM deliveries
    WHERE said >= 'comment ' || $1 || '#' || (pair.value ->> 0) || ' ' || (pair.value ->> 1) || ' '
      AND said < 'comment ' || $1 || '#' || (pair.value ->> 0) || ' ' || (pair.value ->> 1) || '!')
   OR EXISTS (
    SELECT 1 FROM decisions, json_array_elements(records::json) AS record
    WHERE repo = $1 AND number = (pair.value ->> 0)::bigint
      AND record.value ->> 5 = pair.value ->> 1 AND record.value ->> 4 = 'created')",
};

/// Times have 13 digits until the year 2286, so that their order is that of the text.
pub(crate) const LABEL_ACCEPTED: &str = "
SELECT EXISTS (
    SELECT 1 FROM deliveries
    WHERE said >= 'label ' || $1 || ' ' || $3 AND said < 'label ' || $1 || ' ' || ($4 + 1)
      AND substr(said, length('label ' || $1 || ' ' || $3 || ' ') + 1) = $2)";

const ADD_MISSED: Sql = Sql {
    sqlite: "
INSERT INTO missed (id, guid, event, action, delivered_ms, status, repo)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6
FROM json_each($1)
WHERE true
ON CONFLICT (guid) DO UPDATE SET delivered_ms = min(delivered_ms, excluded.delivered_ms)",
    postgres: "
INSERT INTO missed (id, guid, event, action, delivered_ms, status, repo)
SELECT DISTINCT ON (value ->> 1)
       (value ->> 0)::bigint, value ->> 1, value ->> 2, value ->> 3,
       min((value ->> 4)::bigint) OVER (PARTITION BY value ->> 1), (value ->> 5)::int, (value ->> 6)::bigint
FROM json_array_elements($1::json) WITH ORDINALITY AS list (value, key)
ORDER BY value ->> 1, key
ON CONFLICT (guid) DO UPDATE SET delivered_ms = least(missed.delivered_ms, excluded.delivered_ms)",
};

const SAVE_LOG_STATE: &str = "
INSERT INTO delivery_log (id, state) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET state = excluded.state";

const SAVE_SCAN_STATE: &str = "
INSERT INTO scans (repo, state) VALUES ($1, $2) ON CONFLICT (repo) DO UPDATE SET state = excluded.state";

pub(crate) const MISSED: &str = "SELECT id, guid, event, action, delivered_ms, status, repo FROM missed ORDER BY delivered_ms, id LIMIT $1";

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
pub(crate) async fn record(
    connection: &mut Connection<'_>,
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
    connection.begin().await?;
    for ((repo, issue), records) in &places {
        let values = [
            records.last().map(|newest| newest.0).into(),
            repo.map(number).transpose()?.into(),
            issue.map(number).transpose()?.into(),
            json(records)?,
        ];
        connection.execute(RECORD, &values).await?;
    }
    connection.commit().await
}

pub(crate) async fn at_place(
    reader: &mut Connection<'_>,
    repo: u64,
    issue: u64,
    limit: u32,
) -> Result<Vec<DecisionRecord>, WriteError> {
    let values = [number(repo)?.into(), number(issue)?.into(), limit.into()];
    let rows = reader.rows(AT_PLACE, &values).await?;
    let decision = |row| Ok(decision(row, Some(repo), Some(issue))?);
    rows.iter().map(decision).collect()
}

pub(crate) async fn recent(
    reader: &mut Connection<'_>,
    limit: u32,
) -> Result<Vec<DecisionRecord>, WriteError> {
    let rows = reader.rows(RECENT, &[limit.into()]).await?;
    let decision = |row| {
        let (repo, number) = (nullable(row, "repo")?, nullable(row, "number")?);
        Ok(decision(row, repo, number)?)
    };
    rows.iter().map(decision).collect()
}

fn decision(
    row: &Row,
    repo: Option<u64>,
    issue: Option<u64>,
) -> Result<DecisionRecord, StoreError> {
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
            repo,
            number: issue,
            comment: nullable(row, "comment")?,
        },
        verdict,
    })
}

pub(crate) async fn decided(
    reader: &mut Connection<'_>,
    guids: &[&str],
    since: Millis,
) -> Result<HashSet<String>, WriteError> {
    let values = [json(&guids)?, since.into()];
    Ok(reader
        .scalars(DECIDED, &values)
        .await?
        .into_iter()
        .collect())
}

pub(crate) async fn decided_comments(
    reader: &mut Connection<'_>,
    repo: u64,
    comments: &[(u64, u64)],
) -> Result<HashSet<u64>, WriteError> {
    let values = [number(repo)?.into(), json(&comments)?];
    let known = reader.scalars(DECIDED_COMMENTS, &values).await?;
    Ok(known.into_iter().collect())
}

pub(crate) async fn label_accepted(
    reader: &mut Connection<'_>,
    place: &str,
    label: &str,
    (from, to): (Millis, Millis),
) -> Result<bool, WriteError> {
    let label = label.to_lowercase();
    let values = [place.into(), (&label).into(), from.into(), to.into()];
    let accepted = reader.scalar(LABEL_ACCEPTED, &values).await?;
    Ok(accepted.unwrap_or(false))
}

pub(crate) async fn save_log_state(
    connection: &mut Connection<'_>,
    state: &LogState,
    missed: &[LoggedAttempt],
) -> Result<(), WriteError> {
    let row = |one: &LoggedAttempt| {
        array!([
            one.id,
            one.guid,
            one.event,
            one.action,
            one.delivered.0,
            one.status_code,
            one.repo,
        ])
    };
    let rows: Vec<_> = missed.iter().map(row).collect();
    connection.begin().await?;
    connection.execute(ADD_MISSED, &[json(&rows)?]).await?;
    connection.execute(SAVE_LOG_STATE, &[json(state)?]).await?;
    connection.commit().await
}

pub(crate) async fn log_state(reader: &mut Connection<'_>) -> Result<Option<LogState>, WriteError> {
    let state = reader.scalar("SELECT state FROM delivery_log", &[]).await?;
    Ok(read("delivery_log.state", state)?)
}

pub(crate) async fn missed(
    reader: &mut Connection<'_>,
    limit: u32,
) -> Result<Vec<LoggedAttempt>, WriteError> {
    let rows = reader.rows(MISSED, &[limit.into()]).await?;
    let attempt = |row| {
        Ok(LoggedAttempt {
            id: column(row, "id")?,
            guid: column(row, "guid")?,
            event: column(row, "event")?,
            action: nullable(row, "action")?,
            delivered: Millis(column(row, "delivered_ms")?),
            status_code: column(row, "status")?,
            repo: nullable(row, "repo")?,
        })
    };
    rows.iter().map(attempt).collect()
}

pub(crate) async fn drop_missed(
    connection: &mut Connection<'_>,
    id: u64,
) -> Result<(), WriteError> {
    let values = [number(id)?.into()];
    connection
        .execute("DELETE FROM missed WHERE id = $1", &values)
        .await?;
    Ok(())
}

pub(crate) async fn scan_state(
    reader: &mut Connection<'_>,
    repo: u64,
) -> Result<Option<ScanState>, WriteError> {
    let values = [number(repo)?.into()];
    let state = reader
        .scalar("SELECT state FROM scans WHERE repo = $1", &values)
        .await?;
    Ok(read("scans.state", state)?)
}

pub(crate) async fn save_scan_state(
    connection: &mut Connection<'_>,
    repo: u64,
    state: &ScanState,
) -> Result<(), WriteError> {
    let values = [number(repo)?.into(), json(state)?];
    connection.execute(SAVE_SCAN_STATE, &values).await?;
    Ok(())
}

fn read<T: DeserializeOwned>(name: &str, text: Option<String>) -> Result<Option<T>, StoreError> {
    text.map(|text| serde_json::from_str(&text).map_err(|error| corrupt(name, error)))
        .transpose()
}
