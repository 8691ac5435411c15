//! The record of changes: a file beside the database with the number of changes the database holds.
//!
//! A database that has lost changes can look healthy: without its WAL it has the state of the last
//! checkpoint, and an empty file is a new database. `pulse.beats` counts changes in the same
//! transactions as the changes themselves, and the record is written once such a transaction is
//! durable. After a crash the record is therefore never ahead of the database, and a record that is
//! ahead proves a loss.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use sqlx::SqliteConnection;

use super::open::{private, with_suffix};

/// Size of a record, in bytes: twenty digits and a line end.
const RECORD_BYTES: u64 = 21;

/// Triggers that count the changes of this connection. Heartbeats are not counted, because nothing
/// of them has to survive. A row of the inbox is a batch of deliveries; those that do not go that way
/// count themselves, a batch as one change, because a trigger would run for each row.
const COUNT: &str = "
CREATE TEMP TRIGGER count_inbox AFTER INSERT ON main.inbox
    BEGIN UPDATE pulse SET beats = beats + 1 WHERE id = 1; END;
CREATE TEMP TRIGGER count_states AFTER UPDATE OF state ON main.runs
    BEGIN UPDATE pulse SET beats = beats + 1 WHERE id = 1; END;
CREATE TEMP TRIGGER count_progress AFTER UPDATE ON main.texts
    BEGIN UPDATE pulse SET beats = beats + 1 WHERE id = 1; END;
CREATE TEMP TRIGGER count_new_effects AFTER INSERT ON main.effects
    BEGIN UPDATE pulse SET beats = beats + 1 WHERE id = 1; END;
CREATE TEMP TRIGGER count_effects AFTER UPDATE ON main.effects
    BEGIN UPDATE pulse SET beats = beats + 1 WHERE id = 1; END;
CREATE TEMP TRIGGER count_messages AFTER INSERT ON main.messages
    BEGIN UPDATE pulse SET beats = beats + 1 WHERE id = 1; END;
CREATE TEMP TRIGGER count_audit AFTER INSERT ON main.audit
    BEGIN UPDATE pulse SET beats = beats + 1 WHERE id = 1; END;
CREATE TEMP TRIGGER count_new_turns AFTER INSERT ON main.spending
    BEGIN UPDATE pulse SET beats = beats + 1 WHERE id = 1; END;
CREATE TEMP TRIGGER count_turns AFTER UPDATE ON main.spending
    BEGIN UPDATE pulse SET beats = beats + 1 WHERE id = 1; END;";

/// Counts every later change through this connection.
pub(super) async fn count_from_now_on(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    sqlx::raw_sql(COUNT).execute(connection).await?;
    Ok(())
}

/// Counts one change.
pub(super) const COUNT_ONE: &str = "UPDATE pulse SET beats = beats + 1 WHERE id = 1";

/// Counts one change.
pub(super) async fn count_one(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    sqlx::query(COUNT_ONE).execute(connection).await?;
    Ok(())
}

/// Returns the number of changes that the database holds.
pub(super) async fn counted(connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar("SELECT beats FROM pulse WHERE id = 1")
        .fetch_one(connection)
        .await
}

/// What the name of the record adds to that of the database.
pub(super) const SUFFIX: &str = ".changes";

/// Returns the path of the record for the database at `database`.
pub(super) fn path(database: &Path) -> PathBuf {
    with_suffix(database, SUFFIX)
}

/// Returns the recorded number of changes; `None` if there is no record, or one that a power
/// failure left unwritten.
pub(super) fn recorded(record: &Path) -> io::Result<Option<i64>> {
    let file = match File::open(record) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(RECORD_BYTES + 1).read_to_end(&mut bytes)?;
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    let count = text.strip_suffix('\n').and_then(|text| text.parse().ok());
    if count.is_none() {
        tracing::warn!(
            path = %record.display(),
            "the record of changes cannot be read and will be rewritten; changes lost before this start go unnoticed"
        );
    }
    Ok(count)
}

/// The record, open for writing.
#[derive(Debug)]
pub(super) struct Changes {
    file: File,
    recorded: i64,
}

impl Changes {
    /// Opens or creates the record and writes `count`, which is durable in the database. The record
    /// is durable when this returns.
    pub(super) fn open(record: &Path, count: i64) -> io::Result<Self> {
        let mut file = private().open(record)?;
        write(&mut file, count)?;
        file.set_len(RECORD_BYTES)?;
        file.sync_all()?;
        #[cfg(unix)]
        if let Some(folder) = record.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(Self {
            file,
            recorded: count,
        })
    }

    /// The recorded number of changes.
    pub(super) fn recorded(&self) -> i64 {
        self.recorded
    }

    /// Records that one more change is durable in the database, which may hold others that are not
    /// recorded yet.
    pub(super) fn note_one(&mut self) {
        self.note(self.recorded + 1);
    }

    /// Records that `count` changes are durable in the database. Not synchronised: after a power
    /// failure the record may be behind, which is harmless.
    pub(super) fn note(&mut self, count: i64) {
        if count <= self.recorded {
            return;
        }
        match write(&mut self.file, count) {
            Ok(()) => self.recorded = count,
            Err(error) => tracing::warn!(%error, "the record of changes cannot be written"),
        }
    }
}

/// Writes the count. All counts have the same length, so that a single write replaces the old one.
fn write(file: &mut File, count: i64) -> io::Result<()> {
    file.rewind()?;
    file.write_all(format!("{count:020}\n").as_bytes())
}
