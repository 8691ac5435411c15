//! Databases with a history of finished runs and a backlog, made in bulk with the store's own
//! schema.

use std::collections::HashSet;
use std::path::PathBuf;

use planwright::adapters::store::{PostgresOptions, SqlStore, SqliteOptions};
use planwright::engine::store::Store;
use secrecy::SecretString;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, SqliteConnection};
use tempfile::TempDir;
use url::Url;

use crate::Outcome;
use crate::shape::{Shape, at, trigger};

/// Number of rows that one statement inserts.
const CHUNK: u64 = 10_000;

/// A PostgreSQL server, on which databases of this process are made.
pub(crate) struct Server {
    url: Url,
}

impl Server {
    /// Returns the server that `DATABASE_URL` names, or that of this machine. Reports it if there
    /// is none.
    pub(crate) async fn find() -> Option<Self> {
        let named = std::env::var("DATABASE_URL");
        let named = named.as_deref();
        let url = named.unwrap_or("postgres://postgres@127.0.0.1:5432/postgres");
        let found = async {
            let url = Url::parse(url)?;
            PgConnection::connect(url.as_str()).await?.close().await?;
            Outcome::Ok(Self { url })
        };
        match found.await {
            Ok(server) => Some(server),
            Err(error) => {
                println!("no PostgreSQL server, so it is not measured: {error}");
                None
            }
        }
    }

    async fn execute(&self, sql: String) -> Outcome<()> {
        let mut connection = PgConnection::connect(self.url.as_str()).await?;
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut connection)
            .await?;
        connection.close().await?;
        Ok(())
    }

    /// Makes a database, empty or as a copy of another one.
    async fn database(&self, name: &str, of: Option<&str>) -> Outcome<Url> {
        let name = format!("planwright_bench_{}_{name}", std::process::id());
        let template = of.map_or(String::new(), |of| {
            format!(
                " TEMPLATE planwright_bench_{}_{of} STRATEGY file_copy",
                std::process::id()
            )
        });
        self.execute(format!("CREATE DATABASE {name}{template}"))
            .await?;
        let mut url = self.url.clone();
        url.set_path(&name);
        Ok(url)
    }

    /// Deletes the databases of this process.
    pub(crate) async fn clean(&self) -> Outcome<()> {
        let mut connection = PgConnection::connect(self.url.as_str()).await?;
        let names: Vec<String> =
            sqlx::query_scalar("SELECT datname::text FROM pg_database WHERE datname LIKE $1")
                .bind(format!("planwright\\_bench\\_{}\\_%", std::process::id()))
                .fetch_all(&mut connection)
                .await?;
        connection.close().await?;
        for name in names {
            self.execute(format!("DROP DATABASE {name} WITH (FORCE)"))
                .await?;
        }
        Ok(())
    }
}

/// A database.
pub(crate) enum Database {
    /// A file in a folder, which is deleted with this value.
    Sqlite(TempDir),
    /// A database on a server.
    Postgres(Url),
}

/// A connection past the store.
pub(crate) enum Raw {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Raw {
    pub(crate) async fn execute(&mut self, sql: String) -> Outcome<()> {
        let sql = AssertSqlSafe(sql);
        match self {
            Self::Sqlite(connection) => {
                sqlx::raw_sql(sql).execute(connection).await?;
            }
            Self::Postgres(connection) => {
                sqlx::raw_sql(sql).execute(connection).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn execute_with(&mut self, sql: String, value: &str) -> Outcome<()> {
        let sql = AssertSqlSafe(sql);
        match self {
            Self::Sqlite(connection) => {
                sqlx::query(sql).bind(value).execute(connection).await?;
            }
            Self::Postgres(connection) => {
                sqlx::query(sql).bind(value).execute(connection).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn close(self) -> Outcome<()> {
        match self {
            Self::Sqlite(connection) => connection.close().await?,
            Self::Postgres(connection) => connection.close().await?,
        }
        Ok(())
    }
}

impl Database {
    /// Makes a database with a number of finished runs, on the server if one is given.
    pub(crate) async fn with_history(
        server: Option<&Server>,
        name: &str,
        finished: u64,
    ) -> Outcome<Self> {
        let database = match server {
            // On the disk of the target folder, because `/tmp` is often not on a disk.
            None => Self::Sqlite(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?),
            Some(server) => Self::Postgres(server.database(name, None).await?),
        };
        database.open().await?.close().await;
        if finished == 0 {
            return Ok(database);
        }
        let mut raw = database.raw().await?;
        for sql in database.history(finished)? {
            raw.execute(sql).await?;
        }
        raw.close().await?;
        Ok(database)
    }

    /// Makes a copy of a database that nobody uses; `from` and `to` are their names on the server.
    pub(crate) async fn copy(
        &self,
        server: Option<&Server>,
        from: &str,
        to: &str,
    ) -> Outcome<Self> {
        if let (Self::Postgres(_), Some(server)) = (self, server) {
            Ok(Self::Postgres(server.database(to, Some(from)).await?))
        } else {
            let copy = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
            let path = self.path().ok_or("a SQLite database has a path")?;
            for file in std::fs::read_dir(path.parent().ok_or("a folder")?)? {
                let file = file?;
                std::fs::copy(file.path(), copy.path().join(file.file_name()))?;
            }
            Ok(Self::Sqlite(copy))
        }
    }

    fn path(&self) -> Option<PathBuf> {
        match self {
            Self::Sqlite(folder) => Some(folder.path().join("planwright.db")),
            Self::Postgres(_) => None,
        }
    }

    /// Opens the store with few connections.
    pub(crate) async fn open(&self) -> Outcome<SqlStore> {
        let options = PostgresOptions {
            max_connections: 2,
            ..PostgresOptions::default()
        };
        self.open_with(options).await
    }

    /// Opens the store, with these options if it is on a server.
    pub(crate) async fn open_with(&self, options: PostgresOptions) -> Outcome<SqlStore> {
        Ok(match self {
            Self::Sqlite(folder) => {
                let path = folder.path().join("planwright.db");
                SqlStore::open_sqlite(&path, SqliteOptions::default(), at(0)).await?
            }
            Self::Postgres(url) => {
                SqlStore::open_postgres(&SecretString::from(url.to_string()), options).await?
            }
        })
    }

    /// Connects to the database on the server.
    pub(crate) async fn connect(&self) -> Outcome<PgConnection> {
        match self {
            Self::Sqlite(_) => Err("it is not on a server".into()),
            Self::Postgres(url) => Ok(PgConnection::connect(url.as_str()).await?),
        }
    }

    /// Connects past the store, for bulk changes that need not survive a crash.
    pub(crate) async fn raw(&self) -> Outcome<Raw> {
        Ok(match self {
            Self::Sqlite(folder) => {
                let options = SqliteConnectOptions::new()
                    .filename(folder.path().join("planwright.db"))
                    .foreign_keys(false)
                    .pragma("synchronous", "OFF")
                    .pragma("journal_mode", "MEMORY")
                    .pragma("cache_size", "-400000");
                Raw::Sqlite(options.connect().await?)
            }
            Self::Postgres(_) => {
                let mut connection = self.connect().await?;
                sqlx::raw_sql("SET synchronous_commit = off; SET maintenance_work_mem = '256MB'")
                    .execute(&mut connection)
                    .await?;
                Raw::Postgres(connection)
            }
        })
    }

    /// Returns the process ids of the server's processes that work for stores on this database.
    pub(crate) async fn backends(&self) -> Outcome<Vec<u32>> {
        let Self::Postgres(_) = self else {
            return Ok(Vec::new());
        };
        let mut connection = self.connect().await?;
        let processes: Vec<i32> = sqlx::query_scalar(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
             AND backend_type = 'client backend'",
        )
        .fetch_all(&mut connection)
        .await?;
        connection.close().await?;
        let processes = processes.into_iter().map(u32::try_from);
        Ok(processes.collect::<Result<_, _>>()?)
    }

    /// Returns the statements that insert finished runs.
    fn history(&self, finished: u64) -> Outcome<Vec<String>> {
        let place = Shape::Many.place(1, 100_000);
        let trigger = serde_json::to_string(&trigger(place, at(0)))?;
        let start = at(0).0 - i64::try_from(finished)?;
        let (numbers, guid, id, text) = match self {
            Self::Sqlite(_) => (
                format!(
                    "WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < {finished})"
                ),
                "lower(hex(randomblob(16)))",
                "printf('0000%022d', n)",
                format!("'{trigger}'"),
            ),
            Self::Postgres(_) => (
                format!("WITH numbers (n) AS (SELECT generate_series(1, {finished}))"),
                "gen_random_uuid()::text",
                "'0000' || lpad(n::text, 22, '0')",
                format!("convert_to('{trigger}', 'UTF8')"),
            ),
        };
        // Without the checks of foreign keys.
        let without_checks = match self {
            Self::Sqlite(_) => "SELECT 1",
            Self::Postgres(_) => "SET session_replication_role = replica",
        };
        let mut statements = vec![without_checks.to_owned()];
        statements.push(format!(
            "INSERT INTO deliveries (id, guid, event, action, installation, received_ms, source)
             {numbers} SELECT n, {guid}, 'issues', 'labeled', n % 1000, {start} + n, 'webhook' FROM numbers"
        ));
        statements.push(format!(
            "INSERT INTO runs (seq, id, delivery, idx, command, serial, place, repo_id, installation, state, run_at_ms,
                               attempt, fence, acknowledged, created_ms, started_ms, finished_ms, said_ms)
             {numbers} SELECT n, {id}, n, 0, 'save-plan', n % 10000 || '#' || n % 100000, n % 10000 || '#' || n % 100000,
                    n % 10000, n % 1000, 'succeeded', {start} + n, 1, 1, 1, {start} + n, {start} + n + 10,
                    {start} + n + 1000, {start} + n FROM numbers"
        ));
        statements.push(format!(
            "INSERT INTO texts (run, trigger) {numbers} SELECT n, {text} FROM numbers"
        ));
        statements.extend(self.after_bulk());
        Ok(statements)
    }

    /// Returns what a server does by itself soon after many changes.
    pub(crate) fn after_bulk(&self) -> Vec<String> {
        match self {
            Self::Sqlite(_) => Vec::new(),
            Self::Postgres(_) => vec![
                "SET session_replication_role = origin".to_owned(),
                "SELECT setval('deliveries_id_seq', (SELECT max(id) FROM deliveries)), \
                        setval('runs_seq_seq', (SELECT max(seq) FROM runs))"
                    .to_owned(),
                "VACUUM ANALYZE".to_owned(),
            ],
        }
    }

    /// Adds a backlog of `size` runs.
    pub(crate) async fn add_backlog(&self, shape: Shape, size: u64) -> Outcome<()> {
        let (element, list, text, integer) = match self {
            Self::Sqlite(_) => ("value", "json_each($1)", "value ->> 6", "integer"),
            Self::Postgres(_) => (
                "value",
                "json_array_elements($1::json)",
                "convert_to(value ->> 6, 'UTF8')",
                "bigint",
            ),
        };
        let number = |index: usize| format!("CAST({element} ->> {index} AS {integer})");
        let mut raw = self.raw().await?;
        let mut heads = HashSet::new();
        let mut first = 0;
        while first < size {
            let rows: Vec<_> = (first..size.min(first + CHUNK))
                .map(|n| {
                    let place = shape.place(n, size);
                    let trigger = trigger(place, at(n));
                    let key = trigger.place.key();
                    let is_first = heads.insert(key.clone());
                    let state = if is_first { "ready" } else { "blocked" };
                    (
                        n,
                        key,
                        place.repo,
                        place.installation,
                        state,
                        at(n).0,
                        serde_json::to_string(&trigger).unwrap_or_default(),
                    )
                })
                .collect();
            first += CHUNK;
            let rows = serde_json::to_string(&rows)?;
            let deliveries = format!(
                "INSERT INTO deliveries (guid, event, action, installation, received_ms, source)
                 SELECT 'queued ' || (value ->> 0), 'issues', 'labeled', {}, {}, 'webhook' FROM {list}",
                number(3),
                number(5)
            );
            raw.execute_with(deliveries, &rows).await?;
            let runs = format!(
                "INSERT INTO runs (id, delivery, idx, command, serial, place, repo_id, installation, state, run_at_ms,
                                   created_ms, said_ms)
                 SELECT 'queued ' || (value ->> 0), deliveries.id, 0, 'save-plan', value ->> 1, value ->> 1, {}, {},
                        value ->> 4, {time}, {time}, {time}
                 FROM {list} CROSS JOIN deliveries WHERE deliveries.guid = 'queued ' || (value ->> 0)
                 ORDER BY {}",
                number(2),
                number(3),
                number(0),
                time = number(5),
            );
            raw.execute_with(runs, &rows).await?;
            let texts = format!(
                "INSERT INTO texts (run, trigger)
                 SELECT runs.seq, {text} FROM {list} CROSS JOIN runs WHERE runs.id = 'queued ' || (value ->> 0)"
            );
            raw.execute_with(texts, &rows).await?;
        }
        for sql in self.after_bulk() {
            raw.execute(sql).await?;
        }
        raw.close().await
    }

    /// Deletes all runs behind a history of `finished` ones.
    pub(crate) async fn delete_backlog(&self, finished: u64) -> Outcome<()> {
        let mut raw = self.raw().await?;
        raw.execute(format!(
            "UPDATE runs SET state = 'cancelled', finished_ms = created_ms, lease_owner = NULL, lease_until_ms = NULL
             WHERE seq > {finished} AND finished_ms IS NULL"
        ))
        .await?;
        for (table, column) in [("texts", "run"), ("runs", "seq"), ("deliveries", "id")] {
            let sql = format!("DELETE FROM {table} WHERE {column} > {finished}");
            raw.execute(sql).await?;
        }
        for sql in self.after_bulk() {
            raw.execute(sql).await?;
        }
        raw.close().await
    }
}
