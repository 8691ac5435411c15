//! Executes the same statements on SQLite and PostgreSQL.
//!
//! Both read `$1`, `$2`, … as parameters, and most statements are the same text on both. Those that
//! differ are a [`Sql`] with a text for each.

use std::borrow::Cow;

use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{
    AssertSqlSafe, Column as _, Postgres, Row as _, SqlSafeStr as _, SqlStr, Sqlite,
    SqliteConnection, TypeInfo as _, ValueRef as _,
};

use super::errors::{WriteError, corrupt};
use crate::engine::model::failure::Code;
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::store::StoreError;

/// Begins a transaction on PostgreSQL. The transaction of a process that stops half-way holds locks
/// until the server ends it. This is set for each transaction, because behind PgBouncer a connection
/// is another one afterwards.
const BEGIN_POSTGRES: &str = "
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL idle_in_transaction_session_timeout = '10s'";

/// A statement in the dialects of both databases.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sql {
    pub(super) sqlite: &'static str,
    pub(super) postgres: &'static str,
}

impl From<&'static str> for Sql {
    fn from(both: &'static str) -> Self {
        Self {
            sqlite: both,
            postgres: both,
        }
    }
}

/// A parameter of a statement.
#[derive(Debug, Clone)]
pub(super) enum Value<'a> {
    /// An integer, a time or a flag (0 or 1).
    Int(Option<i64>),
    /// A text. PostgreSQL cannot store the character NUL in a text: it becomes U+FFFD there.
    Text(Option<Cow<'a, str>>),
    /// A text that PostgreSQL stores as bytes, so that it may contain NUL.
    Long(Option<&'a str>),
    /// Bytes.
    Bytes(Option<&'a [u8]>),
}

/// Converts an id of GitHub's for the database.
pub(super) fn number(value: u64) -> Result<i64, StoreError> {
    i64::try_from(value).map_err(|_| StoreError::Failed(format!("the id {value} is out of range")))
}

/// Serialises a parameter as JSON.
pub(super) fn json(value: &impl serde::Serialize) -> Result<Value<'static>, StoreError> {
    to_json(value).map(|text| Value::Text(Some(text.into())))
}

/// Serialises a value as JSON.
pub(super) fn to_json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Failed(error.to_string()))
}

macro_rules! value_from {
    ($($from:ty, $value:ident => $make:expr;)*) => {$(
        impl<'a> From<$from> for Value<'a> {
            fn from($value: $from) -> Self {
                $make
            }
        }
    )*};
}
value_from! {
    i64, value => Self::Int(Some(value));
    Option<i64>, value => Self::Int(value);
    u32, value => Self::Int(Some(value.into()));
    bool, value => Self::Int(Some(value.into()));
    Millis, value => Self::Int(Some(value.0));
    &'a str, value => Self::Text(Some(value.into()));
    Option<&'a str>, value => Self::Text(value.map(Into::into));
    &'a String, value => Self::Text(Some(value.into()));
    &'a Option<String>, value => Self::Text(value.as_deref().map(Into::into));
    &'a RunId, value => Self::Text(Some((&*value.0).into()));
    State, value => Self::Text(Some(value.name().into()));
    Code, value => Self::Text(Some(value.name().into()));
}

impl Value<'_> {
    fn bind_sqlite<'q>(
        &self,
        query: Query<'q, Sqlite, SqliteArguments>,
    ) -> Query<'q, Sqlite, SqliteArguments> {
        match self {
            Self::Int(value) => query.bind(*value),
            Self::Text(value) => query.bind(value.as_deref().map(str::to_owned)),
            Self::Long(value) => query.bind(value.map(str::to_owned)),
            Self::Bytes(value) => query.bind(value.map(<[u8]>::to_vec)),
        }
    }

    fn bind_postgres<'q>(
        &self,
        query: Query<'q, Postgres, PgArguments>,
    ) -> Query<'q, Postgres, PgArguments> {
        match self {
            Self::Int(value) => query.bind(*value),
            Self::Text(value) => query.bind(value.as_deref().map(without_nul)),
            Self::Long(value) => query.bind(value.map(|text| text.as_bytes().to_vec())),
            Self::Bytes(value) => query.bind(value.map(<[u8]>::to_vec)),
        }
    }
}

/// Replaces NUL, and its escape sequence in JSON, which PostgreSQL can neither store as text nor
/// read as JSON.
pub(super) fn without_nul(text: &str) -> String {
    let text = text.replace('\0', "\u{fffd}");
    if !text.contains("\\u0000") {
        return text;
    }
    let mut parts = text.split('\\');
    let mut clean = parts.next().unwrap_or_default().to_owned();
    // Whether the previous part was empty because a backslash was escaped with a backslash.
    let mut escaped = false;
    for part in parts {
        clean.push('\\');
        match part.strip_prefix("u0000").filter(|_| !escaped) {
            Some(rest) => {
                clean.push_str("ufffd");
                clean.push_str(rest);
            }
            None => clean.push_str(part),
        }
        escaped = part.is_empty() && !escaped;
    }
    clean
}

#[cfg(test)]
#[test]
fn nul_is_replaced_as_a_character_and_as_an_escape_in_json() {
    let cases = [
        ("plain \\ text", "plain \\ text"),
        ("a\0b", "a\u{fffd}b"),
        (r#"["a\u0000b"]"#, r#"["a\ufffdb"]"#),
        // An escaped backslash, and digits behind it.
        (r#"["a\\u0000b"]"#, r#"["a\\u0000b"]"#),
        (r#"["a\\\u0000\u0000"]"#, r#"["a\\\ufffd\ufffd"]"#),
        (r#"["\n\u0000\""]"#, r#"["\n\ufffd\""]"#),
    ];
    for (text, clean) in cases {
        assert_eq!(without_nul(text), clean, "{text}");
    }
}

/// A row of a result.
pub(super) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// A type that columns are read as.
pub(super) trait Column: Sized {
    /// Reads a column that may be NULL.
    fn read(row: &Row, name: &str) -> Result<Option<Self>, sqlx::Error>;
}

impl Column for i64 {
    fn read(row: &Row, name: &str) -> Result<Option<Self>, sqlx::Error> {
        match row {
            Row::Sqlite(row) => row.try_get(name),
            Row::Postgres(row) => match row.try_get_raw(name)?.type_info().name() {
                "INT2" => Ok(row.try_get::<Option<i16>, _>(name)?.map(Into::into)),
                "INT4" => Ok(row.try_get::<Option<i32>, _>(name)?.map(Into::into)),
                "BOOL" => Ok(row.try_get::<Option<bool>, _>(name)?.map(Into::into)),
                _ => row.try_get(name),
            },
        }
    }
}

impl Column for String {
    fn read(row: &Row, name: &str) -> Result<Option<Self>, sqlx::Error> {
        match row {
            Row::Sqlite(row) => row.try_get(name),
            Row::Postgres(row) if row.try_get_raw(name)?.type_info().name() == "BYTEA" => {
                let bytes: Option<Vec<u8>> = row.try_get(name)?;
                let text = bytes.map(Self::from_utf8).transpose();
                text.map_err(|error| unreadable(name, error))
            }
            Row::Postgres(row) => row.try_get(name),
        }
    }
}

impl Column for Vec<u8> {
    fn read(row: &Row, name: &str) -> Result<Option<Self>, sqlx::Error> {
        match row {
            Row::Sqlite(row) => row.try_get(name),
            Row::Postgres(row) => row.try_get(name),
        }
    }
}

fn unreadable(name: &str, error: impl std::error::Error + Send + Sync + 'static) -> sqlx::Error {
    sqlx::Error::ColumnDecode {
        index: name.to_owned(),
        source: Box::new(error),
    }
}

macro_rules! integer_columns {
    ($($type:ty)*) => {$(
        impl Column for $type {
            fn read(row: &Row, name: &str) -> Result<Option<Self>, sqlx::Error> {
                let value = i64::read(row, name)?.map(Self::try_from).transpose();
                value.map_err(|error| unreadable(name, error))
            }
        }
    )*};
}
integer_columns!(u64 u32 u16);

impl Column for bool {
    fn read(row: &Row, name: &str) -> Result<Option<Self>, sqlx::Error> {
        Ok(i64::read(row, name)?.map(|value| value != 0))
    }
}

impl Row {
    /// Returns the name of the only column.
    fn only(&self) -> String {
        let name = match self {
            Self::Sqlite(row) => row.columns().first().map(|column| column.name().to_owned()),
            Self::Postgres(row) => row.columns().first().map(|column| column.name().to_owned()),
        };
        name.unwrap_or_default()
    }
}

/// Reads a column that must not be NULL. The error names the column, not its value.
pub(super) fn column<T: Column>(row: &Row, name: &str) -> Result<T, StoreError> {
    nullable(row, name)?.ok_or_else(|| corrupt(name, "it is NULL"))
}

/// Reads a column that may be NULL.
pub(super) fn nullable<T: Column>(row: &Row, name: &str) -> Result<Option<T>, StoreError> {
    T::read(row, name).map_err(|error| match error {
        sqlx::Error::ColumnDecode { source, .. } => corrupt(name, source),
        other => corrupt(name, other),
    })
}

/// Adds the run to the error of an unreadable value; the row must have its `id`.
pub(super) fn of_run(row: &Row, error: StoreError) -> StoreError {
    match error {
        StoreError::Corrupt { what, why } => {
            let id = String::read(row, "id").ok().flatten().unwrap_or_default();
            StoreError::Corrupt {
                what: format!("{what} of run {id}"),
                why,
            }
        }
        other => other,
    }
}

/// A connection to either database, and whether a transaction is open on it.
pub(super) struct Connection<'a> {
    inner: Inner<'a>,
    in_transaction: bool,
}

enum Inner<'a> {
    Sqlite(&'a mut SqliteConnection),
    Postgres(&'a mut PgConnection),
}

impl<'a> From<&'a mut SqliteConnection> for Connection<'a> {
    fn from(connection: &'a mut SqliteConnection) -> Self {
        Self {
            inner: Inner::Sqlite(connection),
            in_transaction: false,
        }
    }
}

impl<'a> From<&'a mut PgConnection> for Connection<'a> {
    fn from(connection: &'a mut PgConnection) -> Self {
        Self {
            inner: Inner::Postgres(connection),
            in_transaction: false,
        }
    }
}

impl Connection<'_> {
    /// Executes a statement and returns the number of rows that it changed.
    pub(super) async fn execute(
        &mut self,
        sql: impl Into<Sql>,
        values: &[Value<'_>],
    ) -> Result<u64, WriteError> {
        let sql = sql.into();
        Ok(match &mut self.inner {
            Inner::Sqlite(connection) => {
                let query = values.iter().fold(sqlx::query(sql.sqlite), |query, value| {
                    value.bind_sqlite(query)
                });
                query.execute(&mut **connection).await?.rows_affected()
            }
            Inner::Postgres(connection) => {
                let query = values
                    .iter()
                    .fold(sqlx::query(sql.postgres), |query, value| {
                        value.bind_postgres(query)
                    });
                query.execute(&mut **connection).await?.rows_affected()
            }
        })
    }

    /// Executes a statement and returns its rows.
    ///
    /// The result is read to its end: on SQLite, a statement outside a transaction commits with its
    /// last step, and only then reports a failure to commit.
    pub(super) async fn rows(
        &mut self,
        sql: impl Into<Sql>,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, WriteError> {
        let text = self.dialect(sql.into());
        self.fetch(text.into_sql_str(), values, true).await
    }

    /// Same as [`Connection::rows`], for a statement whose best plan depends on the values. After some
    /// executions of a prepared statement, PostgreSQL uses one plan for all of them.
    pub(super) async fn rows_planned_for(
        &mut self,
        sql: impl Into<Sql>,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, WriteError> {
        let text = self.dialect(sql.into());
        self.fetch(text.into_sql_str(), values, false).await
    }

    fn dialect(&self, sql: Sql) -> &'static str {
        if self.is_shared() {
            sql.postgres
        } else {
            sql.sqlite
        }
    }

    /// Executes a statement that was put together from names in the schema and placeholders, and
    /// returns its rows. Values are parameters only.
    pub(super) async fn rows_of(
        &mut self,
        sql: String,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, WriteError> {
        self.fetch(AssertSqlSafe(sql).into_sql_str(), values, true)
            .await
    }

    async fn fetch(
        &mut self,
        sql: SqlStr,
        values: &[Value<'_>],
        keep_prepared: bool,
    ) -> Result<Vec<Row>, WriteError> {
        Ok(match &mut self.inner {
            Inner::Sqlite(connection) => {
                let query = sqlx::query(sql).persistent(keep_prepared);
                let query = values
                    .iter()
                    .fold(query, |query, value| value.bind_sqlite(query));
                let rows = query.fetch_all(&mut **connection).await?;
                rows.into_iter().map(Row::Sqlite).collect()
            }
            Inner::Postgres(connection) => {
                let query = sqlx::query(sql).persistent(keep_prepared);
                let query = values
                    .iter()
                    .fold(query, |query, value| value.bind_postgres(query));
                let rows = query.fetch_all(&mut **connection).await?;
                rows.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    /// Executes a statement and returns its first row.
    pub(super) async fn row(
        &mut self,
        sql: impl Into<Sql>,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, WriteError> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// Executes a statement that returns one row at least, and returns the first.
    pub(super) async fn one(
        &mut self,
        sql: impl Into<Sql>,
        values: &[Value<'_>],
    ) -> Result<Row, WriteError> {
        Ok(self
            .row(sql, values)
            .await?
            .ok_or(sqlx::Error::RowNotFound)?)
    }

    /// Executes a statement and returns the only column of its first row; `None` if there is no row
    /// or it is NULL.
    pub(super) async fn scalar<T: Column>(
        &mut self,
        sql: impl Into<Sql>,
        values: &[Value<'_>],
    ) -> Result<Option<T>, WriteError> {
        let Some(row) = self.row(sql, values).await? else {
            return Ok(None);
        };
        Ok(nullable(&row, &row.only())?)
    }

    /// Executes a statement and returns the only column of every row.
    pub(super) async fn scalars<T: Column>(
        &mut self,
        sql: impl Into<Sql>,
        values: &[Value<'_>],
    ) -> Result<Vec<T>, WriteError> {
        let rows = self.rows(sql, values).await?;
        let read = |row: &Row| column(row, &row.only());
        Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
    }

    /// Begins a transaction unless one is open.
    pub(super) async fn begin(&mut self) -> Result<(), WriteError> {
        if !self.in_transaction {
            self.in_transaction = true;
            match &mut self.inner {
                Inner::Sqlite(connection) => {
                    sqlx::query("BEGIN IMMEDIATE")
                        .execute(&mut **connection)
                        .await?;
                }
                Inner::Postgres(connection) => {
                    sqlx::raw_sql(BEGIN_POSTGRES)
                        .execute(&mut **connection)
                        .await?;
                }
            }
        }
        Ok(())
    }

    /// On PostgreSQL, begins a transaction unless one is open, and takes locks that are held until
    /// its end. On SQLite this does nothing, because there is one writing connection.
    ///
    /// A transaction takes its locks before it changes anything, that of a place first. Everything
    /// that changes which runs of a place are active holds the lock of its `serial` key, so that no
    /// blocked run is left without an active one before it.
    pub(super) async fn lock(&mut self, locks: &[Lock<'_>]) -> Result<(), WriteError> {
        if matches!(self.inner, Inner::Sqlite(_)) || locks.is_empty() {
            return Ok(());
        }
        self.begin().await?;
        let Inner::Postgres(connection) = &mut self.inner else {
            return Ok(());
        };
        let mut keys: Vec<i64> = locks.iter().map(Lock::key).collect();
        // The same order in every transaction, so that two cannot wait for each other.
        keys.sort_unstable();
        keys.dedup();
        sqlx::query("SELECT pg_advisory_xact_lock(key) FROM unnest($1::bigint[]) AS key")
            .bind(keys)
            .execute(&mut **connection)
            .await?;
        Ok(())
    }

    /// Whether this is PostgreSQL, where other processes write at the same time.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.inner, Inner::Postgres(_))
    }

    /// Commits the open transaction, if there is one.
    pub(super) async fn commit(&mut self) -> Result<(), WriteError> {
        self.end("COMMIT").await
    }

    /// Rolls back the open transaction, if there is one.
    pub(super) async fn rollback(&mut self) -> Result<(), WriteError> {
        self.end("ROLLBACK").await
    }

    async fn end(&mut self, how: &'static str) -> Result<(), WriteError> {
        if !self.in_transaction {
            return Ok(());
        }
        match &mut self.inner {
            Inner::Sqlite(connection) => {
                sqlx::query(how).execute(&mut **connection).await?;
            }
            Inner::Postgres(connection) => {
                sqlx::raw_sql(how).execute(&mut **connection).await?;
            }
        }
        self.in_transaction = false;
        Ok(())
    }

    /// Ends an operation: rolls back what it left open. Returns the result, or the error of the
    /// database if that fails.
    pub(super) async fn settle<T>(
        mut self,
        result: Result<T, WriteError>,
    ) -> Result<T, WriteError> {
        match (self.rollback().await, result) {
            (Err(error), Ok(_)) => Err(error),
            (_, result) => result,
        }
    }
}

/// What a transaction excludes others from on PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock<'a> {
    /// Changing which runs with this `serial` key are active.
    Serial(&'a str),
    /// Giving the command of this run again.
    Repeating(&'a RunId),
    /// Counting and recording answers in an installation.
    Answers(u64),
    /// Counting and recording what agents spend.
    Spending,
    /// Counting running runs and claiming one.
    Claims,
    /// Adding to the output of this run.
    Output(&'a RunId),
    /// Deleting what is old.
    Pruning,
    /// Changing the schema.
    Schema,
    /// Using the database while it is copied.
    Copying,
}

impl Lock<'_> {
    /// Returns the key of the lock. Two locks with the same key by chance only wait for each other.
    pub(super) fn key(&self) -> i64 {
        use sha2::Digest as _;
        let name = match self {
            Self::Serial(key) => format!("planwright serial {key}"),
            Self::Answers(installation) => format!("planwright answers {installation}"),
            Self::Repeating(run) => format!("planwright repeating {run}"),
            Self::Spending => "planwright spending".to_owned(),
            Self::Output(run) => format!("planwright output {run}"),
            Self::Claims => "planwright claims".to_owned(),
            Self::Pruning => "planwright pruning".to_owned(),
            Self::Schema => "planwright schema".to_owned(),
            Self::Copying => "planwright copying".to_owned(),
        };
        let digest = sha2::Sha256::digest(name.as_bytes());
        let mut key = [0; 8];
        key.copy_from_slice(&digest[..8]);
        i64::from_be_bytes(key)
    }
}
