//! SQLite's failures in words an operator can act on. Statements and their values never get in.

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

/// True when what was written is at fault, not the database: the connection stays good, and other rows may do.
pub(super) fn is_about_the_row(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(primary_code);
    matches!(code, Some(CONSTRAINT | TOOBIG))
}

/// What SQLite says, and what to do about it.
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

/// A failure of the database.
pub(super) fn failed(error: &sqlx::Error) -> StoreError {
    StoreError::Failed(sentence(error))
}

/// The store was closed, or its writer is gone.
pub(super) fn closed() -> StoreError {
    StoreError::Failed(CLOSED.to_owned())
}

/// Reads a column that must hold something; what cannot be read is named, not shown.
pub(super) fn column<'r, T>(row: &'r SqliteRow, name: &str) -> Result<T, StoreError>
where
    T: Decode<'r, Sqlite> + Type<Sqlite>,
{
    // Asked for a plain value, the driver reads NULL as zero or as the empty text.
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

/// A value that this version cannot read.
pub(super) fn corrupt(what: &str, why: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt {
        what: format!("column `{what}`"),
        why: why.to_string(),
    }
}

/// Says which run the unreadable value belongs to; the row must have its `id`.
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

/// Why a write did not happen: our own refusal, or SQLite's.
#[derive(Debug)]
pub(super) enum Trouble {
    /// A rule of the store.
    Store(StoreError),
    /// The database.
    Sql(sqlx::Error),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<sqlx::Error> for Trouble {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Trouble> for StoreError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Store(error) => error,
            Trouble::Sql(error) => failed(&error),
        }
    }
}
