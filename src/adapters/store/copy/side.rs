//! One of the two databases of a copy.

use std::path::Path;

use secrecy::SecretString;

use super::super::copy_of::{self, CopyOf, Purpose};
use super::super::database::Database;
use super::super::errors::WriteError;
use super::super::postgres::{self, Guard};
use super::super::sql::{Connection, Row, Value, column};
use super::super::sql_store::SqlStore;
use super::super::sqlite::{self, Flush, SqliteOptions};
use super::read::{Source, of_table};
use super::rows::Cell;
use super::tables::{TABLES, Table};
use crate::engine::model::time::Millis;
use crate::engine::store::{Store as _, StoreError};

/// A database that no bot uses.
pub(super) struct Side {
    /// Its place, without password.
    pub(super) place: String,
    open: Open,
}

enum Open {
    /// A SQLite store, opened as a bot opens it.
    Store(Box<SqlStore>),
    /// A SQLite database.
    Sqlite(Box<Database>),
    /// A PostgreSQL database, and the transaction that keeps bots out. It is used to read, so that
    /// its loss is noticed.
    Postgres(Box<Database>, Box<Guard>),
}

fn sqlite_place(path: &Path) -> String {
    format!("sqlite:{}", sqlite::real_path(path).display())
}

impl Side {
    /// Opens the SQLite store at `path` to copy it, as the start of a bot does: nothing is leased
    /// afterwards.
    pub(super) async fn sqlite_source(path: &Path, now: Millis) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Failed(format!(
                "there is no database at {}: name that of the bot",
                path.display()
            )));
        }
        let store = SqlStore::open_sqlite(path, SqliteOptions::default(), now).await?;
        Ok(Self {
            place: sqlite_place(path),
            open: Open::Store(Box::new(store)),
        })
    }

    /// Opens or creates the SQLite database at `path` to copy into it.
    pub(super) async fn sqlite_target(path: &Path) -> Result<Self, StoreError> {
        let options = SqliteOptions::default();
        let database = sqlite::open(path, &options, Purpose::CopyInto).await?;
        Ok(Self {
            place: sqlite_place(path),
            open: Open::Sqlite(Box::new(Database::Sqlite(Box::new(database)))),
        })
    }

    /// Connects to the PostgreSQL database at `url`. If it is to be read, nobody can write to it
    /// meanwhile.
    pub(super) async fn postgres(url: &SecretString, purpose: Purpose) -> Result<Self, StoreError> {
        let tables: Vec<_> = TABLES.iter().map(|table| table.name).collect();
        let locked = if purpose == Purpose::CopyFrom {
            &tables[..]
        } else {
            &[]
        };
        let (database, guard, place) = postgres::open_for_copying(url, purpose, locked).await?;
        Ok(Self {
            place: format!("postgres:{place}"),
            open: Open::Postgres(Box::new(Database::Postgres(database)), Box::new(guard)),
        })
    }

    /// Closes the database, and lets bots in.
    pub(super) async fn close(self) {
        match self.open {
            Open::Store(store) => store.close().await,
            Open::Sqlite(database) => database.close().await,
            Open::Postgres(database, guard) => {
                drop(guard);
                database.close().await;
            }
        }
    }

    /// Performs writes in a transaction, while bots are certainly kept out.
    async fn write<T>(
        &mut self,
        writes: impl AsyncFnOnce(&mut Connection<'_>) -> Result<T, WriteError>,
    ) -> Result<T, StoreError> {
        let database = match &mut self.open {
            Open::Store(store) => store.database(),
            Open::Sqlite(database) => database,
            Open::Postgres(database, guard) => {
                check_guard(guard).await?;
                database
            }
        };
        let mut turn = database.writer(Flush::Now).await?;
        let mut connection = turn.connection();
        let result = async {
            connection.begin().await?;
            if connection.is_shared() {
                connection
                    .execute("SET LOCAL statement_timeout = 0", &[])
                    .await?;
            }
            let done = writes(&mut connection).await?;
            connection.commit().await?;
            Ok(done)
        };
        let result = result.await;
        let result = connection.settle(result).await;
        turn.end(result)
    }

    /// Returns an error if bots are no longer kept out.
    pub(super) async fn check_guarded(&mut self) -> Result<(), StoreError> {
        match &mut self.open {
            Open::Store(_) | Open::Sqlite(_) => Ok(()),
            Open::Postgres(_, guard) => check_guard(guard).await,
        }
    }

    /// Returns what the database is marked as a copy of.
    pub(super) async fn mark(&mut self) -> Result<Option<CopyOf>, StoreError> {
        self.write(copy_of::read).await
    }

    /// Marks the database as a copy of `source`.
    pub(super) async fn set_mark(
        &mut self,
        source: &str,
        is_complete: bool,
    ) -> Result<(), StoreError> {
        let mark = CopyOf {
            source: source.to_owned(),
            is_complete,
        };
        self.write(async |connection| copy_of::mark(connection, &mark).await)
            .await
    }

    /// Returns whether no table that is copied has a row.
    pub(super) async fn is_empty(&mut self) -> Result<bool, StoreError> {
        for table in TABLES {
            let any = format!("SELECT 1 FROM {} LIMIT 1", table.name);
            if !self.rows(any, &[]).await?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Inserts rows in one transaction.
    pub(super) async fn insert(
        &mut self,
        table: &Table,
        rows: &[Vec<Cell>],
    ) -> Result<(), StoreError> {
        let sql = table.insert(self.is_postgres(), rows.len());
        let values: Vec<Value<'_>> = rows.iter().flatten().map(Cell::value).collect();
        self.write(async |connection| connection.rows_of(sql, &values).await.map(drop))
            .await
            .map_err(|error| of_table(error, table))
    }

    /// Deletes the rows of a table after a key, or all, and all rows of the tables that follow it.
    pub(super) async fn delete_from(
        &mut self,
        table: &Table,
        after: Option<&[Cell]>,
    ) -> Result<(), StoreError> {
        let is_postgres = self.is_postgres();
        let following = TABLES.iter().skip_while(|one| one.name != table.name);
        let following: Vec<_> = following.skip(1).collect();
        let values: Vec<Value<'_>> = after.unwrap_or_default().iter().map(Cell::value).collect();
        self.write(async |connection| {
            for table in following.into_iter().rev() {
                let all = table.delete(is_postgres, false);
                connection.rows_of(all, &[]).await?;
            }
            let rest = table.delete(is_postgres, after.is_some());
            connection.rows_of(rest, &values).await.map(drop)
        })
        .await
    }

    /// Returns the highest number that was given to a row of a table.
    pub(super) async fn last_number(
        &mut self,
        table: &Table,
        numbered: &str,
    ) -> Result<i64, StoreError> {
        let sql = table.select_last_number(self.is_postgres(), numbered);
        match self.rows(sql, &[]).await?.first() {
            Some(row) => column(row, "number"),
            None => Ok(0),
        }
    }

    /// Continues the numbers of the rows of a table behind `last`.
    pub(super) async fn continue_numbers(
        &mut self,
        table: &Table,
        numbered: &str,
        last: i64,
    ) -> Result<(), StoreError> {
        if last == 0 {
            return Ok(());
        }
        let statements = table.continue_numbers(self.is_postgres(), numbered);
        self.write(async |connection| {
            for sql in statements {
                connection.rows_of(sql, &[last.into()]).await?;
            }
            Ok(())
        })
        .await
    }

    /// Lets PostgreSQL plan with the new rows. SQLite plans without statistics.
    pub(super) async fn analyse(&mut self) -> Result<(), StoreError> {
        if !self.is_postgres() {
            return Ok(());
        }
        let tables: Vec<_> = TABLES.iter().map(|table| table.name).collect();
        let sql = format!("ANALYZE {}", tables.join(", "));
        self.write(async |connection| connection.rows_of(sql, &[]).await.map(drop))
            .await
    }
}

/// Returns an error if the guard's transaction has ended.
async fn check_guard(guard: &mut Guard) -> Result<(), StoreError> {
    let mut connection = Connection::from(guard.connection());
    connection.rows("SELECT 1", &[]).await?;
    Ok(())
}

impl Source for Side {
    fn is_postgres(&self) -> bool {
        matches!(self.open, Open::Postgres(..))
    }

    async fn rows(&mut self, sql: String, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        let database = match &mut self.open {
            Open::Store(store) => store.database(),
            Open::Sqlite(database) => database,
            Open::Postgres(_, guard) => {
                return Source::rows(&mut Connection::from(guard.connection()), sql, values).await;
            }
        };
        let mut turn = database.reader().await?;
        let result = turn.connection().rows_of(sql, values).await;
        turn.end(result)
    }
}
