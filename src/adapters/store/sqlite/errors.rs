//! Translates SQLite's errors into messages an operator can act on. Statements and values are left
//! out.

use sqlx::error::DatabaseError;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Row, Sqlite, Type};

use crate::engine::store::StoreError;

// Primary result codes: https://www.sqlite.org/rescode.html
const BUSY: i32 = 5;
const READONLY: i32 = 8;
const IOERR: i32 = 10;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANTOPEN: i32 = 14;
const TOOBIG: i32 = 18;
const CONSTRAINT: i32 = 19;
const NOTADB: i32 = 26;

const CLOSED: &str = "it is closed";

/// The primary result code: extended codes keep it in the low byte.
fn primary_code(error: &dyn DatabaseError) -> Option<i32> {
    let code: i32 = error.code()?.parse().ok()?;
    Some(code & 0xff)
}

/// Whether the written row caused the error rather than the database: the connection stays usable,
/// and other rows may be accepted.
pub(super) fn is_about_the_row(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(primary_code);
    matches!(code, Some(CONSTRAINT | TOOBIG))
}

/// Returns SQLite's message with a remedy.
pub(super) fn sentence(error: &sqlx::Error) -> String {
    let database = match error {
        sqlx::Error::Database(database) => database.as_ref(),
        sqlx::Error::PoolClosed => return CLOSED.to_owned(),
        other => return other.to_string(),
    };
    let remedy = match primary_code(database) {
        Some(BUSY) => ": another program keeps the database locked; end it (a backup, a shell?)",
        Some(READONLY) => ": give this user the right to write the file and its directory",
        Some(IOERR) => ": check the disk and the kernel log",
        Some(CORRUPT) => ": restore the file from a backup",
        Some(FULL) => ": make room on the disk",
        Some(CANTOPEN) => ": check that the directory exists and that this user may write to it",
        Some(NOTADB) => ": the path names another kind of file; choose another path",
        _ => "",
    };
    format!("{}{remedy}", database.message())
}

/// Converts a failure of the database.
#[allow(clippy::needless_pass_by_value, reason = "a function for `map_err`")]
pub(super) fn failed(error: sqlx::Error) -> StoreError {
    StoreError::Failed(sentence(&error))
}

/// The error of a store that was closed or whose writer is gone.
pub(super) fn closed() -> StoreError {
    StoreError::Failed(CLOSED.to_owned())
}

/// Reads a column that must not be NULL. The error names the column, not its value.
pub(super) fn column<'r, T>(row: &'r SqliteRow, name: &str) -> Result<T, StoreError>
where
    T: Decode<'r, Sqlite> + Type<Sqlite>,
{
    // Without the `Option` the driver reads NULL as zero or the empty text.
    nullable(row, name)?.ok_or_else(|| corrupt(name, "it is NULL"))
}

/// Reads a column that may be NULL.
pub(super) fn nullable<'r, T>(row: &'r SqliteRow, name: &str) -> Result<Option<T>, StoreError>
where
    T: Decode<'r, Sqlite> + Type<Sqlite>,
{
    row.try_get(name).map_err(|error| match error {
        sqlx::Error::ColumnDecode { source, .. } => corrupt(name, source),
        other => corrupt(name, other),
    })
}

/// The error of a value that this version cannot read.
pub(super) fn corrupt(what: &str, why: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt {
        what: format!("column `{what}`"),
        why: why.to_string(),
    }
}

/// Adds the run to the error of an unreadable value; the row must have its `id`.
pub(super) fn of_run(row: &SqliteRow, error: StoreError) -> StoreError {
    match error {
        StoreError::Corrupt { what, why } => {
            let id: String = row.try_get("id").unwrap_or_default();
            StoreError::Corrupt {
                what: format!("{what} of run {id}"),
                why,
            }
        }
        other => other,
    }
}

/// An error of a write: a rule of the store, or SQLite's.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteError {
    /// A rule of the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The database.
    #[error(transparent)]
    Sql(#[from] sqlx::Error),
}

impl WriteError {
    /// See [`is_about_the_row`].
    pub(super) fn is_about_the_row(&self) -> bool {
        matches!(self, Self::Sql(error) if is_about_the_row(error))
    }
}

impl From<WriteError> for StoreError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Store(error) => error,
            WriteError::Sql(error) => failed(error),
        }
    }
}
