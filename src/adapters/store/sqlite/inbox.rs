//! The inbox: deliveries that are acknowledged and whose runs are not queued yet.
//!
//! Storing a delivery and its run touches some fifteen indexes, and the sender waits for none of
//! them. A group commit therefore writes one row: the parameters of the statements that store its
//! deliveries. Every other use of the database executes those statements first, so that nobody sees
//! a database in which an acknowledged delivery is missing.
//!
//! Only deliveries that are new go this way. The process has the database to itself, so that those
//! in the inbox can be recognised by digests in memory, without an index.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};

use sqlx::{Row as _, SqliteConnection};

use super::super::errors::{WriteError, is_about_the_row, sentence};
use super::super::queries::accept::{EncodedDelivery, Name, delivery_rows, run_rows};
use super::super::sql::to_json;
use crate::engine::store::StoreError;

/// Maximum number of deliveries in the inbox, which bounds memory (some 70 bytes each) and the time
/// that the next start takes (some 2 seconds). Half of it is not less: once the inbox is full, runs are
/// stored between the commits, which takes more memory than the digests.
const MAX_DELIVERIES: usize = 65_536;

/// Number of changed rows after which the transaction that empties the inbox is committed, so that
/// deliveries do not wait for long: some 5 ms.
const MAX_CHANGES: u64 = 1_000;

/// Writes the row, if all its deliveries are new. The last three parameters are the GUIDs, what was
/// said where, and the ids of the runs: lists of texts, because a list of rows would be parsed once
/// more for each of its values.
///
/// It is one statement without a result, because the connection's thread wakes this one for
/// everything that it has to tell.
pub(super) const WRITE: &str = "
INSERT INTO inbox (payloads, deliveries, runs, triggers, texts)
SELECT ?1, ?2, ?3, ?4, ?5
WHERE NOT EXISTS (SELECT 1 FROM json_each(?6) AS new CROSS JOIN deliveries WHERE deliveries.guid = new.value)
  AND NOT EXISTS (SELECT 1 FROM json_each(?7) AS new CROSS JOIN deliveries WHERE deliveries.said = new.value)
  AND NOT EXISTS (SELECT 1 FROM json_each(?8) AS new CROSS JOIN runs WHERE runs.id = new.value)";

pub(super) const FIRST: &str = "
SELECT id, payloads, deliveries, runs, triggers, texts FROM inbox WHERE refused IS NULL ORDER BY id LIMIT 1";

/// Stores the deliveries of a row and their runs. The parameters, in the order in which the
/// statements use them: payloads (twice), deliveries, runs, triggers, texts, id.
///
/// Row ids are consecutive, so an inserted row is identified by its distance from the last one.
pub(super) const EXPAND: &str = "
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
DELETE FROM inbox WHERE id = ?";

const REFUSE: &str = "UPDATE inbox SET refused = ?2 WHERE id = ?1";

/// What is known about the inbox without reading it.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    hasher: RandomState,
    rows: VecDeque<Row>,
    /// The digests of all rows.
    digests: HashSet<u64>,
    /// Number of deliveries in all rows.
    deliveries: usize,
    /// Number of rows that were written, so far.
    written: u64,
    /// Whether the table may contain other rows than those.
    unread: bool,
}

/// What is known about a row.
#[derive(Debug)]
struct Row {
    deliveries: usize,
    /// Digests of what must not be accepted again.
    digests: Vec<u64>,
}

impl Inbox {
    /// Creates the knowledge about a database that was just opened.
    pub(super) fn unread() -> Self {
        Self {
            unread: true,
            ..Self::default()
        }
    }

    /// Returns the knowledge that is left after a turn that was not ended.
    pub(super) fn forget(&self) -> Self {
        Self {
            written: self.written,
            ..Self::unread()
        }
    }

    /// Whether the table is empty for certain.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && !self.unread
    }

    /// Number of rows that were written, so far.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Whether the first `count` rows that were written are no longer in the inbox.
    pub(super) fn is_expanded_to(&self, count: u64) -> bool {
        !self.unread && self.written - self.rows.len() as u64 >= count
    }

    /// Whether no more deliveries fit.
    pub(super) fn is_full(&self) -> bool {
        self.deliveries > MAX_DELIVERIES
    }

    /// Returns the digests of `deliveries`. `None` if some are known, late, refused or remove an
    /// installation, so that they cannot be written into the inbox.
    fn digests_of(&self, deliveries: &[EncodedDelivery]) -> Option<Vec<u64>> {
        let mut digests = HashSet::with_capacity(2 * deliveries.len());
        for delivery in deliveries {
            if delivery.is_removal() || delivery.is_late() || !delivery.is_storable() {
                return None;
            }
            for name in delivery.names() {
                let digest = self.hasher.hash_one(name);
                if self.digests.contains(&digest) || !digests.insert(digest) {
                    return None;
                }
            }
        }
        Some(digests.into_iter().collect())
    }

    fn forget_first(&mut self) {
        if let Some(row) = self.rows.pop_front() {
            self.deliveries -= row.deliveries;
            for digest in &row.digests {
                self.digests.remove(digest);
            }
        }
    }

    /// Writes deliveries in a transaction of its own. Returns false, and writes nothing, if one of
    /// them may be known or must be stored at once, or if it is not known what the inbox contains.
    pub(super) async fn write(
        &mut self,
        connection: &mut SqliteConnection,
        deliveries: &[EncodedDelivery],
    ) -> Result<bool, WriteError> {
        if self.unread {
            return Ok(false);
        }
        let Some(digests) = self.digests_of(deliveries) else {
            return Ok(false);
        };
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
        let names = |of: Name| -> Result<String, StoreError> {
            let names = deliveries.iter().flat_map(EncodedDelivery::names);
            let names = names.filter(|(name, _)| *name == of);
            to_json(&names.map(|(_, text)| text).collect::<Vec<_>>())
        };
        let written = sqlx::query(WRITE)
            .bind(payloads.0)
            .bind(to_json(&delivery_rows)?)
            .bind(to_json(&runs.rows)?)
            .bind(runs.triggers.0)
            .bind(to_json(&texts)?)
            .bind(names(Name::Guid)?)
            .bind(names(Name::DedupKey)?)
            .bind(names(Name::Run)?)
            .execute(connection)
            .await?;
        if written.rows_affected() == 0 {
            return Ok(false);
        }
        self.digests.extend(&digests);
        self.rows.push_back(Row {
            deliveries: deliveries.len(),
            digests,
        });
        self.deliveries += deliveries.len();
        self.written += 1;
        Ok(true)
    }

    /// Stores the deliveries of the first rows, in one transaction. A row that is refused is kept
    /// and passed over. Returns the number of changed rows.
    pub(super) async fn expand_some(
        &mut self,
        connection: &mut SqliteConnection,
    ) -> Result<u64, WriteError> {
        let mut changes = 0;
        let mut expanded = 0;
        sqlx::query("BEGIN IMMEDIATE")
            .execute(&mut *connection)
            .await?;
        while changes < MAX_CHANGES {
            let Some(row) = sqlx::query(FIRST).fetch_optional(&mut *connection).await? else {
                break;
            };
            let id: i64 = row.try_get("id")?;
            let payloads: Vec<u8> = row.try_get("payloads")?;
            let done = sqlx::query(EXPAND)
                .bind(payloads.clone())
                .bind(payloads)
                .bind(row.try_get::<String, _>("deliveries")?)
                .bind(row.try_get::<String, _>("runs")?)
                .bind(row.try_get::<Vec<u8>, _>("triggers")?)
                .bind(row.try_get::<String, _>("texts")?)
                .bind(id)
                .execute(&mut *connection)
                .await;
            match done {
                Ok(done) => changes += done.rows_affected(),
                Err(error) if is_about_the_row(&error) => {
                    sqlx::query("ROLLBACK").execute(&mut *connection).await?;
                    self.refuse(connection, id, &error).await?;
                    return Ok(0);
                }
                Err(error) => return Err(error.into()),
            }
            expanded += 1;
        }
        let emptied = changes < MAX_CHANGES;
        sqlx::query("COMMIT").execute(connection).await?;
        if emptied {
            self.unread = false;
            self.deliveries = 0;
            self.rows.clear();
            self.digests.clear();
        } else if !self.unread {
            (0..expanded).for_each(|_| self.forget_first());
        }
        Ok(changes)
    }

    /// Marks a row whose deliveries cannot be stored. GitHub's log brings them again.
    async fn refuse(
        &mut self,
        connection: &mut SqliteConnection,
        id: i64,
        error: &sqlx::Error,
    ) -> Result<(), WriteError> {
        let why = sentence(error);
        tracing::error!(row = id, error = %why, "acknowledged deliveries cannot be stored; they are kept in the table inbox");
        sqlx::query(REFUSE)
            .bind(id)
            .bind(why)
            .execute(connection)
            .await?;
        // The rows before it were rolled back and are still there.
        self.unread = true;
        Ok(())
    }
}
