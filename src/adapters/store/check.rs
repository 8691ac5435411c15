//! Checks a database from beginning to end, also while a bot uses it.

use std::path::Path;

use secrecy::SecretString;
use sqlx::{Connection as _, SqliteConnection};

use super::copy::{Content, CopyOptions, Location, TABLES, Table, read};
use super::errors::{WriteError, failed};
use super::sql::{Connection, column, nullable};
use super::{postgres, sqlite};
use crate::engine::store::StoreError;

/// Maximum number of problems of one kind that are listed.
const MAX_PROBLEMS: u32 = 20;

/// Indexes and constraints that PostgreSQL does not maintain or has not checked.
const NOT_VALID: &str = "
SELECT 'the index ' || indexrelid::regclass::text || ' is not valid: REINDEX it' AS problem
FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
WHERE relnamespace = current_schema()::regnamespace AND NOT indisvalid
UNION ALL
SELECT 'the constraint ' || conname || ' of ' || conrelid::regclass::text || ' is not validated: VALIDATE it'
FROM pg_constraint
WHERE connamespace = current_schema()::regnamespace AND NOT convalidated";

/// What was found in a database.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The schema version.
    pub schema: usize,
    /// Every table that was read, with its content.
    pub tables: Vec<(&'static str, Content)>,
    /// What is wrong.
    pub problems: Vec<String>,
}

/// Reads everything in a database, in one consistent snapshot, and lets the database check itself.
///
/// # Errors
/// It cannot be opened, it is not one of ours, or not of this version.
pub async fn check_store(location: &Location) -> Result<Checked, StoreError> {
    match location {
        Location::Sqlite(path) => check_sqlite(path).await,
        Location::Postgres(url) => check_postgres(url).await,
    }
}

async fn check_sqlite(path: &Path) -> Result<Checked, StoreError> {
    // Also finds changes that were lost.
    sqlite::inspect(path).await?;
    let reader = sqlite::open_for_reading(path).await?;
    let mut connection = reader.acquire().await.map_err(failed)?;
    let mut snapshot = connection.begin().await.map_err(failed)?;
    let mut problems = sqlite::damage(&mut snapshot, MAX_PROBLEMS).await;
    if problems.is_empty() {
        problems = orphans(&mut snapshot).await?;
    }
    let mut checked = Checked {
        schema: sqlite::SCHEMA,
        tables: Vec::new(),
        problems,
    };
    read_all(&mut Connection::from(&mut *snapshot), &mut checked).await;
    Ok(checked)
}

/// Returns the rows that refer to a missing row.
async fn orphans(connection: &mut SqliteConnection) -> Result<Vec<String>, StoreError> {
    let mut connection = Connection::from(connection);
    let rows = connection
        .rows(
            "SELECT \"table\" AS name, rowid AS number, parent FROM pragma_foreign_key_check LIMIT $1",
            &[MAX_PROBLEMS.into()],
        )
        .await?;
    let problem = |row: &_| {
        let (name, parent): (String, String) = (column(row, "name")?, column(row, "parent")?);
        // A table without row ids has no number.
        let number: Option<i64> = nullable(row, "number")?;
        let number = number.map_or(String::new(), |number| format!(" {number}"));
        Ok(format!(
            "the row{number} of {name} refers to a row of {parent} that does not exist"
        ))
    };
    rows.iter().map(problem).collect()
}

async fn check_postgres(url: &SecretString) -> Result<Checked, StoreError> {
    let schema = postgres::inspect_postgres(url).await?.schema;
    let database = postgres::open_for_reading(url).await?;
    let mut turn = database.turn().await?;
    let mut connection = Connection::from(turn.connection());
    let result = async {
        connection
            .execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", &[])
            .await?;
        let problems = connection.scalars(NOT_VALID, &[]).await?;
        let mut checked = Checked {
            schema: schema.unwrap_or(0),
            tables: Vec::new(),
            problems,
        };
        read_all(&mut connection, &mut checked).await;
        Ok::<_, WriteError>(checked)
    };
    let result = result.await;
    // The open transaction ends with the connection.
    drop(turn);
    database.close().await;
    Ok(result?)
}

/// Reads every table. What cannot be read is a problem.
async fn read_all(connection: &mut Connection<'_>, checked: &mut Checked) {
    for table in TABLES {
        match read::content(connection, table, &CopyOptions::default()).await {
            Ok(content) => checked.tables.push((table.name, content)),
            Err(error) => {
                checked.problems.push(of(table, error));
                // An error ends the transaction on PostgreSQL.
                if connection.is_shared() {
                    return;
                }
            }
        }
    }
}

fn of(table: &Table, error: StoreError) -> String {
    match error {
        StoreError::Failed(why) => format!("the table {} cannot be read: {why}", table.name),
        other => other.to_string(),
    }
}
