//! Connecting, checks, and migrations.

use std::str::FromStr as _;
use std::sync::{Arc, Mutex};

use secrecy::{ExposeSecret as _, SecretString};
use sqlx::migrate::MigrateError;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, PgPool};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::super::copy_of::{self, Purpose};
use super::super::errors::{failed, sentence};
use super::super::idle::IdleWorkers;
use super::super::migrations::migrator;
use super::super::sql::{Connection, Lock};
use super::presence::{self, Guard};
use super::{DatabaseClock, PostgresDatabase, PostgresOptions, Refusal, listen};
use crate::engine::store::StoreError;

/// The migrations in order.
///
/// Two versions of this program run side by side while a new one is rolled out. A migration
/// therefore only adds: what the previous release reads or writes is removed one release later, in a
/// migration that also raises `compatibility.oldest`.
const MIGRATIONS: [(&str, &str); 3] = [
    (
        "queue",
        include_str!("../migrations/postgres/0001_queue.sql"),
    ),
    (
        "heads",
        include_str!("../migrations/postgres/0002_heads.sql"),
    ),
    (
        "overview",
        include_str!("../migrations/postgres/0003_overview.sql"),
    ),
];

/// The schema version of this program.
const CURRENT_SCHEMA: usize = MIGRATIONS.len();

/// Settings of every connection.
const SETTINGS: &str = "SET statement_timeout = '60s'";

/// Settings of the transaction that migrates.
const MIGRATING: &str = "
SET LOCAL statement_timeout = 0;
SET LOCAL lock_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = '10s'";

/// Settings of the server without which a crash of its machine may take back what was committed.
const DURABLE: [&str; 2] = ["fsync", "full_page_writes"];

/// What is known about a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedPostgres {
    /// The version of the server, as it tells it.
    pub server: String,
    /// The schema version; `None` if the database is empty.
    pub schema: Option<usize>,
    /// Whether the connection is encrypted.
    pub encrypted: bool,
    /// Maximum number of connections of the server.
    pub max_connections: u32,
    /// Settings of the server that are off, although commits survive a crash of its machine only
    /// with them.
    pub not_durable: Vec<String>,
}

fn connect_options(url: &SecretString) -> Result<PgConnectOptions, StoreError> {
    let options = PgConnectOptions::from_str(url.expose_secret()).map_err(|_| {
        // The parser's message could contain parts of the URL, and so of the password.
        StoreError::Failed(
            "store.url is not the URL of a PostgreSQL database: write postgres://USER:PASSWORD@HOST:5432/DATABASE, \
             with special characters of the password percent-encoded"
                .to_owned(),
        )
    })?;
    // PgBouncer refuses a start-up parameter that it does not know.
    Ok(options
        .application_name("planwright")
        .extra_float_digits(None::<i8>)
        .disable_statement_logging())
}

/// The place of a database for messages, without user and password.
fn place(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or("");
    format!("{}:{}/{database}", options.get_host(), options.get_port())
}

fn cannot_connect(options: &PgConnectOptions, error: &sqlx::Error) -> StoreError {
    let remedy = match error {
        sqlx::Error::Io(error)
            if error
                .get_ref()
                .is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>) =>
        {
            ": name the authority of the server's certificate in sslrootcert, and the host in store.url as the \
             certificate does"
        }
        sqlx::Error::Io(_) => {
            ": check host and port in store.url, and that the server accepts connections"
        }
        sqlx::Error::Tls(_) => {
            ": check sslmode and sslrootcert in store.url, and that the server encrypts connections"
        }
        _ => "",
    };
    StoreError::Failed(format!(
        "cannot connect to the database at {}: {}{remedy}",
        place(options),
        sentence(error)
    ))
}

/// Refuses a standby, and a primary that was demoted, to which connections may stay open. Refuses
/// commits that are reported before they are on disk, too.
async fn prepare(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::raw_sql(SETTINGS).execute(&mut *connection).await?;
    let (read_only, commit, user): (String, String, String) = sqlx::query_as(
        "SELECT current_setting('transaction_read_only'), current_setting('synchronous_commit'),
                quote_ident(current_user)",
    )
    .fetch_one(connection)
    .await?;
    if read_only == "on" {
        return Err(sqlx::Error::Configuration(
            "the server is a standby or was demoted; store.url must lead to the primary".into(),
        ));
    }
    if matches!(&*commit, "off" | "local") {
        let text = format!(
            "synchronous_commit is {commit}, so that deliveries which were acknowledged could be lost: execute ALTER \
             ROLE {user} SET synchronous_commit = on"
        );
        return Err(sqlx::Error::Configuration(text.into()));
    }
    Ok(())
}

/// Returns the settings of [`DURABLE`] that are off.
async fn not_durable(connection: &mut PgConnection) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar(
        "SELECT name FROM pg_settings WHERE name = ANY ($1) AND setting = 'off' ORDER BY name",
    )
    .bind(DURABLE.map(str::to_owned).to_vec())
    .fetch_all(connection)
    .await
}

/// Connects for reading. No task is started: nobody is notified.
pub(crate) async fn open_for_reading(url: &SecretString) -> Result<PostgresDatabase, StoreError> {
    let options = PostgresOptions::default();
    let connect = connect_options(url)?;
    if inspect_postgres(url).await?.schema.is_none() {
        return Err(StoreError::Failed(format!(
            "the database at {} is not one of planwright; store.url must be that of the running bot",
            place(&connect)
        )));
    }
    let refusal = Arc::default();
    let pool = pool(&connect, 1, &options, &refusal);
    without_tasks(&connect, pool, refusal).await
}

/// Creates a database that starts no tasks and is not listed among the processes that use it.
async fn without_tasks(
    connect: &PgConnectOptions,
    pool: PgPool,
    refusal: Arc<Refusal>,
) -> Result<PostgresDatabase, StoreError> {
    let clock = clock(connect, &pool, &refusal).await?;
    Ok(PostgresDatabase {
        pool,
        refusal,
        clock,
        idle: Arc::default(),
        changed: Arc::default(),
        tasks: Mutex::default(),
        name: None,
    })
}

/// Connects for copying, migrates the schema, and keeps bots out of the database until the returned
/// guard is dropped. Also returns its place, without password. Nothing can change `tables` in the
/// meantime.
pub(crate) async fn open_for_copying(
    url: &SecretString,
    purpose: Purpose,
    tables: &[&str],
) -> Result<(PostgresDatabase, Guard, String), StoreError> {
    let options = PostgresOptions::default();
    let connect = connect_options(url)?;
    let place = place(&connect);
    connect_first(&connect, purpose, "").await?;
    let refusal = Arc::default();
    // One for the guard.
    let pool = pool(&connect, 2, &options, &refusal);
    let database = without_tasks(&connect, pool, refusal).await?;
    let guard = match database.turn().await {
        Ok(turn) => Guard::new(turn, &place, tables).await,
        Err(error) => Err(error),
    };
    match guard {
        Ok(guard) => Ok((database, guard, place)),
        Err(error) => {
            database.close().await;
            Err(error)
        }
    }
}

/// Connects once, checks and migrates. `name` is that of this process.
async fn connect_first(
    connect: &PgConnectOptions,
    purpose: Purpose,
    name: &str,
) -> Result<(), StoreError> {
    // A pool would report a server that refuses as a timeout.
    let mut first = connect
        .connect()
        .await
        .map_err(|error| cannot_connect(connect, &error))?;
    prepare(&mut first)
        .await
        .map_err(|error| cannot_connect(connect, &error))?;
    let not_durable = not_durable(&mut first).await.map_err(failed)?;
    if !not_durable.is_empty() {
        tracing::warn!(
            off = not_durable.join(", "),
            "settings of the database server are off without which a crash of its machine may lose what was committed"
        );
    }
    migrate(&place(connect), &mut first, purpose, name).await?;
    first.close().await.map_err(failed)
}

/// Connects, checks and migrates.
pub(crate) async fn open(
    url: &SecretString,
    options: &PostgresOptions,
) -> Result<PostgresDatabase, StoreError> {
    let connect = connect_options(url)?;
    let name = uuid::Uuid::new_v4().to_string();
    connect_first(&connect, Purpose::Use, &name).await?;
    let refusal = Arc::default();
    let pool = pool(&connect, options.max_connections.max(2), options, &refusal);
    let clock = clock(&connect, &pool, &refusal).await?;
    let (idle, changed) = (Arc::new(IdleWorkers::default()), Arc::new(Notify::new()));
    let mut tasks = JoinSet::new();
    tasks.spawn(listen::notify(
        pool.clone(),
        Arc::clone(&changed),
        name.clone(),
    ));
    let listening = {
        let (options, refusal) = (options.clone(), Arc::clone(&refusal));
        move || self::pool(&connect, 1, &options, &refusal)
    };
    tasks.spawn(listen::listen(
        listening,
        pool.clone(),
        Arc::clone(&idle),
        name.clone(),
    ));
    tasks.spawn(listen::correct(pool.clone(), Arc::clone(&clock)));
    tasks.spawn(presence::stay(pool.clone(), name.clone()));
    Ok(PostgresDatabase {
        pool,
        refusal,
        clock,
        idle,
        changed,
        tasks: Mutex::new(tasks),
        name: Some(name),
    })
}

/// Reads the clock of the database through the pool.
async fn clock(
    connect: &PgConnectOptions,
    pool: &PgPool,
    refusal: &Refusal,
) -> Result<Arc<DatabaseClock>, StoreError> {
    match DatabaseClock::new(pool).await {
        Ok(clock) => Ok(Arc::new(clock)),
        Err(error) => {
            let why = refusal
                .text()
                .filter(|_| matches!(error, sqlx::Error::PoolTimedOut));
            let error = why.map_or(error, |why| sqlx::Error::Configuration(why.into()));
            Err(cannot_connect(connect, &error))
        }
    }
}

fn pool(
    connect: &PgConnectOptions,
    connections: u32,
    options: &PostgresOptions,
    refusal: &Arc<Refusal>,
) -> PgPool {
    let refusal = Arc::clone(refusal);
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(options.connect_timeout)
        .after_connect(move |connection, _| {
            let refusal = Arc::clone(&refusal);
            Box::pin(async move {
                let prepared = prepare(connection).await;
                refusal.record(&prepared);
                prepared
            })
        })
        .connect_lazy_with(connect.clone())
}

/// Looks at the database at `url` and changes nothing.
///
/// # Errors
/// Those of connecting, with a remedy, and that of an unfinished copy.
pub async fn inspect_postgres(url: &SecretString) -> Result<InspectedPostgres, StoreError> {
    let connect = connect_options(url)?;
    let look = async {
        let mut connection = connect.connect().await?;
        prepare(&mut connection).await?;
        let server = sqlx::query_scalar("SHOW server_version")
            .fetch_one(&mut connection)
            .await?;
        let limit: String = sqlx::query_scalar("SHOW max_connections")
            .fetch_one(&mut connection)
            .await?;
        let encrypted: Option<bool> =
            sqlx::query_scalar("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
                .fetch_optional(&mut connection)
                .await?;
        let schema = schema(&mut connection).await?;
        let not_durable = not_durable(&mut connection).await?;
        let either = &mut Connection::from(&mut connection);
        let copy = copy_of::refuse_incomplete(either, &of_place(&place(&connect))).await;
        connection.close().await?;
        let found = InspectedPostgres {
            server,
            schema,
            encrypted: encrypted.unwrap_or(false),
            max_connections: limit.parse().unwrap_or(0),
            not_durable,
        };
        Ok::<_, sqlx::Error>(copy.map(|()| found))
    };
    look.await
        .map_err(|error| cannot_connect(&connect, &error))?
}

/// Names the database at a place.
fn of_place(place: &str) -> String {
    format!("the database at {place}")
}

/// Returns the schema version; `None` if there is no schema of ours.
async fn schema(connection: &mut PgConnection) -> sqlx::Result<Option<usize>> {
    let ours: Option<String> =
        sqlx::query_scalar("SELECT to_regclass('compatibility')::text WHERE to_regclass('_sqlx_migrations') IS NOT NULL")
            .fetch_optional(&mut *connection)
            .await?
            .flatten();
    if ours.is_none() {
        return Ok(None);
    }
    let version: Option<i64> = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(connection)
        .await?;
    Ok(version.and_then(|version| usize::try_from(version).ok()))
}

async fn migrate(
    place: &str,
    connection: &mut PgConnection,
    purpose: Purpose,
    name: &str,
) -> Result<(), StoreError> {
    let failed = |what: String| StoreError::Failed(format!("{} {what}", of_place(place)));
    let of_sql = |error: sqlx::Error| failed(format!("cannot be updated: {}", sentence(&error)));
    let mut transaction = connection.begin().await.map_err(of_sql)?;
    sqlx::raw_sql(MIGRATING)
        .execute(&mut *transaction)
        .await
        .map_err(of_sql)?;
    if purpose == Purpose::Use && !presence::is_free(&mut transaction).await.map_err(of_sql)? {
        return Err(failed(
            "is being copied by `planwright store copy`: start again when that has ended"
                .to_owned(),
        ));
    }
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(Lock::Schema.key())
        .execute(&mut *transaction)
        .await
        .map_err(of_sql)?;
    let schema = schema(&mut transaction).await.map_err(of_sql)?;
    // A newer version may have added columns that would not be copied.
    if let Some(newer) = schema.filter(|schema| *schema > CURRENT_SCHEMA)
        && purpose != Purpose::Use
    {
        return Err(failed(format!(
            "was written by a newer planwright (its schema is {newer}, this program knows {CURRENT_SCHEMA}): install the \
             newer version"
        )));
    }
    if schema.is_none() && purpose == Purpose::CopyFrom {
        return Err(failed(
            "is not one of planwright: name that of the bot".to_owned(),
        ));
    }
    if schema.is_none() {
        let tables: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()",
        )
        .fetch_one(&mut *transaction)
        .await
        .map_err(of_sql)?;
        if tables > 0 {
            return Err(failed(
                "belongs to another program: it has tables, and none of planwright; create a database of its own"
                    .to_owned(),
            ));
        }
    } else {
        let oldest: i32 = sqlx::query_scalar("SELECT oldest FROM compatibility")
            .fetch_one(&mut *transaction)
            .await
            .map_err(of_sql)?;
        if usize::try_from(oldest).is_ok_and(|oldest| oldest > CURRENT_SCHEMA) {
            return Err(failed(format!(
                "is used by a newer planwright: programs for schema {oldest} and later can use it, this one is for \
                 {CURRENT_SCHEMA}; install the newer version; nothing was changed"
            )));
        }
    }
    let mut migrator = migrator(&MIGRATIONS);
    // The lock of the migrator belongs to the session, which PgBouncer does not keep together.
    migrator.set_locking(false);
    // A newer version may have added to the schema; `compatibility` tells whether it only added.
    migrator.set_ignore_missing(true);
    migrator
        .run(&mut *transaction)
        .await
        .map_err(|error| match error {
            MigrateError::VersionMismatch(version) => failed(format!(
                "was written by another build of planwright (schema {version} differs): install a released version, \
                 or use another database; nothing was changed"
            )),
            MigrateError::ExecuteMigration(error, version) => failed(format!(
                "cannot be brought to schema {version}: {}; nothing was changed",
                sentence(&error)
            )),
            MigrateError::Execute(error) => of_sql(error),
            other => failed(format!("cannot be updated: {other}")),
        })?;
    let mut either = Connection::from(&mut *transaction);
    if purpose != Purpose::CopyInto {
        copy_of::refuse_incomplete(&mut either, &of_place(place)).await?;
    }
    if purpose == Purpose::Use {
        copy_of::forget(&mut either).await?;
        presence::enter(&mut transaction, name)
            .await
            .map_err(of_sql)?;
    }
    transaction.commit().await.map_err(of_sql)?;
    if schema.is_none() {
        tracing::info!(database = place, "made the tables in a new database");
    }
    Ok(())
}
