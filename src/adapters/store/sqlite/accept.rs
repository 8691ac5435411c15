//! Stores a batch of new deliveries with one message to the connection's thread.
//!
//! Nearly always every delivery of a batch is new, and this is tried first. A known delivery in the
//! batch violates the unique GUID (or key of what was said); the batch is then rolled back and
//! stored statement by statement.

use sqlx::SqliteConnection;

use super::super::errors::{WriteError, is_about_the_row};
use super::super::queries::accept::{EncodedDelivery, delivery_rows, run_rows};
use super::super::sql::to_json;

/// The parameters, in the order in which the statements use them: payloads and texts of deliveries
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

/// Stores the deliveries if all of them are new and none removes an installation or is late.
/// Otherwise returns false and changes nothing.
pub(super) async fn all_new(
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
        .bind(to_json(&delivery_rows)?)
        .bind(to_json(&runs.rows)?)
        .bind(runs.triggers.0)
        .bind(to_json(&texts)?)
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
