//! Translates the errors of databases into messages an operator can act on. Statements and values
//! are left out.

use sqlx::error::DatabaseError;
use sqlx::postgres::PgDatabaseError;

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

// Codes of PostgreSQL: https://www.postgresql.org/docs/current/errcodes-appendix.html
const SERIALIZATION_FAILURE: &str = "40001";
const DEADLOCK_DETECTED: &str = "40P01";
const READ_ONLY_TRANSACTION: &str = "25006";
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// The primary result code of SQLite: extended codes keep it in the low byte.
fn primary_code(error: &dyn DatabaseError) -> Option<i32> {
    if error.try_downcast_ref::<PgDatabaseError>().is_some() {
        return None;
    }
    let code: i32 = error.code()?.parse().ok()?;
    Some(code & 0xff)
}

/// The code of PostgreSQL.
fn sql_state(error: &sqlx::Error) -> Option<&str> {
    let error = error.as_database_error()?;
    Some(error.try_downcast_ref::<PgDatabaseError>()?.code())
}

/// Whether the written row caused the error rather than the database: the connection stays usable,
/// and other rows may be accepted.
pub(super) fn is_about_the_row(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(primary_code);
    // Data exceptions and violated constraints.
    let class = sql_state(error).and_then(|state| state.get(..2));
    matches!(code, Some(CONSTRAINT | TOOBIG)) || matches!(class, Some("22" | "23"))
}

/// Whether the transaction was rolled back because of others at the same time, so that it may
/// succeed if it is executed again.
pub(super) fn is_conflict(error: &sqlx::Error) -> bool {
    matches!(
        sql_state(error),
        Some(SERIALIZATION_FAILURE | DEADLOCK_DETECTED)
    )
}

/// Whether the wait for a lock timed out.
pub(super) fn is_lock_timeout(error: &sqlx::Error) -> bool {
    sql_state(error) == Some(LOCK_NOT_AVAILABLE)
}

/// Returns the database's message with a remedy.
pub(super) fn sentence(error: &sqlx::Error) -> String {
    let database = match error {
        sqlx::Error::Database(database) => database.as_ref(),
        sqlx::Error::PoolClosed => return CLOSED.to_owned(),
        sqlx::Error::PoolTimedOut => {
            return "no connection became free in time: raise store.max_connections, or check that \
                    the database server answers"
                .to_owned();
        }
        sqlx::Error::Configuration(why) => return why.to_string(),
        other => return other.to_string(),
    };
    if let Some(state) = sql_state(error) {
        return format!("{}{}", database.message(), postgres_remedy(state));
    }
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

fn postgres_remedy(state: &str) -> &'static str {
    match state {
        READ_ONLY_TRANSACTION => {
            ": the server is a standby or was demoted; store.url must lead to the primary"
        }
        "28P01" | "28000" => ": check user and password in store.url",
        "3D000" => ": create the database, or name another one in store.url",
        "42501" => ": grant the user of store.url all privileges on the schema",
        LOCK_NOT_AVAILABLE => ": another session locks the tables; end it (a backup, a shell?)",
        "53300" => ": lower store.max_connections, or raise the server's max_connections",
        "53100" => ": make room on the server's disk",
        // A prepared statement is missing, or exists already.
        "26000" | "42P05" => {
            ": PgBouncer in transaction mode needs version 1.21 or later with max_prepared_statements above 0"
        }
        "57P03" => ": the server is starting or stopping; it is tried again",
        _ => "",
    }
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

/// The error of a value that this version cannot read.
pub(super) fn corrupt(what: &str, why: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt {
        what: format!("column `{what}`"),
        why: why.to_string(),
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

    /// See [`is_conflict`].
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Sql(error) if is_conflict(error))
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

#[cfg(test)]
#[test]
fn a_pooler_without_prepared_statements_is_named() {
    for state in ["26000", "42P05"] {
        assert_eq!(
            postgres_remedy(state),
            ": PgBouncer in transaction mode needs version 1.21 or later with max_prepared_statements above 0"
        );
    }
}
