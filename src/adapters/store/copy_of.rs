//! Marks a database that a store is being copied into: nothing may use it before the copy is
//! complete.
//!
//! The mark is a table that exists from the beginning of a copy until the first bot opens the
//! database. It is no part of the schema, and has no migration.

use super::errors::WriteError;
use super::sql::{Connection, Sql, column};
use crate::engine::store::StoreError;

const EXISTS: Sql = Sql {
    sqlite: "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'copy_of'",
    postgres: "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'copy_of'",
};

const CREATE: &str =
    "CREATE TABLE IF NOT EXISTS copy_of (source TEXT NOT NULL, complete INTEGER NOT NULL)";

/// Why a database is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To work with it.
    Use,
    /// To copy it into another database.
    CopyFrom,
    /// To copy another store into it.
    CopyInto,
}

/// What a database is a copy of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopyOf {
    /// The place of the source, without password.
    pub(super) source: String,
    /// Whether the copy was completed and compared.
    pub(super) is_complete: bool,
}

/// Returns what the database is a copy of; `None` if it is none, or a bot has used it since.
pub(super) async fn read(connection: &mut Connection<'_>) -> Result<Option<CopyOf>, WriteError> {
    if connection.scalar::<i64>(EXISTS, &[]).await? == Some(0) {
        return Ok(None);
    }
    let row = connection
        .row("SELECT source, complete FROM copy_of", &[])
        .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    Ok(Some(CopyOf {
        source: column(&row, "source")?,
        is_complete: column(&row, "complete")?,
    }))
}

/// Marks the database.
pub(super) async fn mark(connection: &mut Connection<'_>, mark: &CopyOf) -> Result<(), WriteError> {
    connection.begin().await?;
    connection.execute(CREATE, &[]).await?;
    connection.execute("DELETE FROM copy_of", &[]).await?;
    let values = [(&mark.source).into(), mark.is_complete.into()];
    connection
        .execute(
            "INSERT INTO copy_of (source, complete) VALUES ($1, $2)",
            &values,
        )
        .await?;
    connection.commit().await
}

/// Returns an error if the database, at `place`, holds a copy that is not complete.
pub(super) async fn refuse_incomplete(
    connection: &mut Connection<'_>,
    place: &str,
) -> Result<(), StoreError> {
    match read(connection).await? {
        Some(copy) if !copy.is_complete => Err(StoreError::Failed(format!(
            "{place} holds an unfinished copy of {}: run the same `planwright store copy` again until it succeeds, or \
             use another database",
            copy.source
        ))),
        _ => Ok(()),
    }
}

/// Removes the mark, because the database is used and is a copy no longer.
pub(super) async fn forget(connection: &mut Connection<'_>) -> Result<(), WriteError> {
    if read(connection).await?.is_some() {
        connection.execute("DROP TABLE copy_of", &[]).await?;
    }
    Ok(())
}
