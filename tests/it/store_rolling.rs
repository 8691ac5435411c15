//! Rolling updates with PostgreSQL: processes of the previous release go on working after this
//! version has changed the schema.
//!
//! `fixtures/postgres/release.json` is what the previous release sends to the server: every
//! statement, and the types of its parameters and columns. Before the first release it is what this
//! version sends. CONTRIBUTING.md says when it is recorded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use planwright::adapters::store::{History, SqlStore, inspect_postgres};
use planwright::engine::model::run::RunId;
use planwright::engine::replicas::{PlannedWrite, Replicas as _};
use planwright::engine::store::Store;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use sqlx::migrate::Migrator;
use sqlx::{
    AssertSqlSafe, Column as _, Either, Executor as _, PgConnection, SqlSafeStr as _,
    Statement as _, TypeInfo as _,
};
use url::Url;

use crate::store_contract::{self as contract, LEASE, at, for_each_rule};
use crate::support::postgres::{Server, database, database_on, open, raw};

const MIGRATIONS: &str = "src/adapters/store/migrations/postgres";

/// What a release sends to the server.
#[derive(Debug, Serialize, Deserialize)]
struct Release {
    /// Its schema version.
    schema: i64,
    statements: Vec<Described>,
}

/// A statement as the server understands it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Described {
    sql: String,
    /// Types.
    parameters: Vec<String>,
    /// Names and types.
    columns: Vec<(String, String)>,
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/postgres/release.json")
}

fn previous_release() -> Release {
    serde_json::from_str(&std::fs::read_to_string(file()).unwrap()).unwrap()
}

/// Lets the server prepare a statement.
async fn describe(connection: &mut PgConnection, sql: &str) -> Result<Described, String> {
    let prepared = connection
        .prepare(AssertSqlSafe(sql.to_owned()).into_sql_str())
        .await
        .map_err(|error| error.to_string())?;
    let parameters = match prepared.parameters() {
        Some(Either::Left(types)) => types.iter().map(|one| one.name().to_owned()).collect(),
        _ => Vec::new(),
    };
    let columns = prepared.columns().iter();
    let columns = columns
        .map(|column| {
            (
                column.name().to_owned(),
                column.type_info().name().to_owned(),
            )
        })
        .collect();
    Ok(Described {
        sql: sql.to_owned(),
        parameters,
        columns,
    })
}

/// What a schema demands of rows: columns that need a value, constraints, unique indexes, triggers.
/// Each begins with its table.
const DEMANDS: &str = "
SELECT c.relname || ': the column ' || a.attname || ' needs a value'
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
  AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''
UNION ALL
SELECT conrelid::regclass || ': ' || pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = current_schema()::regnamespace AND conrelid <> 0
UNION ALL
SELECT indrelid::regclass || ': ' || pg_get_indexdef(indexrelid) FROM pg_index
JOIN pg_class c ON c.oid = indrelid
WHERE c.relnamespace = current_schema()::regnamespace AND indisunique
UNION ALL
SELECT tgrelid::regclass || ': ' || pg_get_triggerdef(pg_trigger.oid) FROM pg_trigger
JOIN pg_class c ON c.oid = tgrelid
WHERE c.relnamespace = current_schema()::regnamespace AND NOT tgisinternal";

async fn demands(url: &Url) -> BTreeSet<String> {
    let mut connection = raw(url).await;
    let demands = sqlx::query_scalar(DEMANDS).fetch_all(&mut connection);
    demands.await.unwrap().into_iter().collect()
}

async fn tables(url: &Url) -> BTreeSet<String> {
    let sql = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()";
    let mut connection = raw(url).await;
    let tables = sqlx::query_scalar(sql).fetch_all(&mut connection);
    tables.await.unwrap().into_iter().collect()
}

/// Migrates the database at `url` as the release did, up to its schema.
async fn migrate_as(release: &Release, url: &Url) {
    let all = Migrator::new(Path::new(MIGRATIONS)).await.unwrap();
    let known = all.iter().filter(|one| one.version <= release.schema);
    let known = Migrator::with_migrations(known.cloned().collect());
    known.run(&mut raw(url).await).await.unwrap();
}

/// Returns why processes of `release`, with the schema at `then`, could not go on working with the
/// schema at `now`.
async fn obstacles(release: &Release, then: &Url, now: &Url) -> Vec<String> {
    let mut obstacles = Vec::new();
    let mut connection = raw(now).await;
    for before in &release.statements {
        match describe(&mut connection, &before.sql).await {
            Ok(after) if after == *before => {}
            Ok(after) => obstacles.push(format!("other types: {after:?}")),
            Err(error) => obstacles.push(format!("{error}: {}", before.sql)),
        }
    }
    let (known, tables) = (demands(then).await, tables(then).await);
    for demand in demands(now).await.difference(&known) {
        if tables
            .iter()
            .any(|table| demand.starts_with(&format!("{table}: ")))
        {
            obstacles.push(format!("a new demand on {demand}"));
        }
    }
    let oldest: i32 = sqlx::query_scalar("SELECT oldest FROM compatibility")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    if i64::from(oldest) > release.schema {
        obstacles.push(format!("only schema {oldest} and later are compatible"));
    }
    obstacles
}

/// Two databases: with the schema of the release, and with that of this version. `None` if there is
/// no server, which is reported.
async fn then_and_now(release: &Release) -> Option<(Url, Url)> {
    let (then, now) = (database().await?, database().await?);
    migrate_as(release, &then).await;
    open(&now).await.close().await;
    Some((then, now))
}

#[tokio::test]
async fn the_previous_release_works_with_the_schema_of_this_version() {
    let release = previous_release();
    assert!(
        release.statements.len() > 60,
        "{}",
        release.statements.len()
    );
    let Some((then, now)) = then_and_now(&release).await else {
        return;
    };
    assert_eq!(obstacles(&release, &then, &now).await, [""; 0]);
}

/// A database of the previous release, with its rows, is updated by opening it.
#[tokio::test]
async fn a_database_of_the_previous_release_is_migrated_while_a_process_of_it_is_connected() {
    let release = previous_release();
    let Some(url) = database().await else { return };
    migrate_as(&release, &url).await;
    let mut old = raw(&url).await;
    // The old process has prepared all of its statements.
    for statement in &release.statements {
        describe(&mut old, &statement.sql).await.unwrap();
    }
    let store = open(&url).await;
    contract::accept::new_then_duplicate(&store).await;
    for statement in &release.statements {
        assert_eq!(
            describe(&mut old, &statement.sql).await.as_ref(),
            Ok(statement)
        );
    }
    store.close().await;
}

/// Shows that the first test notices what would stop the previous release.
#[tokio::test]
async fn changes_that_the_previous_release_does_not_survive_are_noticed() {
    let release = previous_release();
    for (change, noticed) in [
        ("ALTER TABLE runs DROP COLUMN deferred", "deferred"),
        ("ALTER TABLE runs RENAME COLUMN serial TO line", "serial"),
        ("ALTER TABLE tasks RENAME TO duties", "tasks"),
        ("DROP TABLE scans", "scans"),
        (
            "ALTER TABLE saved ALTER COLUMN issue TYPE TEXT",
            "other types",
        ),
        (
            "ALTER TABLE runs ADD COLUMN newer TEXT NOT NULL",
            "a new demand on runs: the column newer needs a value",
        ),
        (
            "ALTER TABLE runs ALTER COLUMN said_ms DROP DEFAULT",
            "a new demand on runs: the column said_ms needs a value",
        ),
        (
            "ALTER TABLE deliveries ALTER COLUMN action SET NOT NULL",
            "a new demand on deliveries: the column action needs a value",
        ),
        (
            "ALTER TABLE effects ADD CHECK (first_ms <= last_ms)",
            "a new demand on effects: CHECK ((first_ms <= last_ms))",
        ),
        (
            "CREATE UNIQUE INDEX one ON messages (run, at_ms)",
            "a new demand on messages: CREATE UNIQUE INDEX one",
        ),
        (
            "CREATE TRIGGER t BEFORE UPDATE ON runs FOR EACH ROW EXECUTE FUNCTION refuse_update()",
            "a new demand on runs: CREATE TRIGGER t",
        ),
        (
            "UPDATE compatibility SET oldest = 99",
            "only schema 99 and later are compatible",
        ),
    ] {
        let Some((then, now)) = then_and_now(&release).await else {
            return;
        };
        sqlx::raw_sql(change)
            .execute(&mut raw(&now).await)
            .await
            .unwrap();
        let found = obstacles(&release, &then, &now).await;
        assert!(
            found.iter().any(|one| one.contains(noticed)),
            "{change}: {found:#?}"
        );
    }
}

/// What a migration may do at any time. No statement reads whatever columns there are.
#[tokio::test]
async fn additions_are_no_obstacle() {
    let release = previous_release();
    let Some((then, now)) = then_and_now(&release).await else {
        return;
    };
    let mut add = String::from(
        "CREATE TABLE newer (id BIGINT PRIMARY KEY, x TEXT NOT NULL UNIQUE);
         CREATE INDEX newer_runs ON runs (created_ms);
         ALTER TABLE runs ADD COLUMN newer_flag SMALLINT NOT NULL DEFAULT 0;",
    );
    for table in tables(&then).await {
        add.push_str(&format!("ALTER TABLE {table} ADD COLUMN newer TEXT;"));
    }
    sqlx::raw_sql(AssertSqlSafe(add))
        .execute(&mut raw(&now).await)
        .await
        .unwrap();
    assert_eq!(obstacles(&release, &then, &now).await, [""; 0]);
}

/// Does everything that can be done with a store: each rule of the contract on a new one, and what
/// only processes that share a database do.
async fn do_everything(server: &Url) {
    macro_rules! rules {
        ($($module:ident::$rule:ident)*) => {$({
            let store = open(&database_on(server).await).await;
            // Together, the rules are too large for the stack.
            Box::pin(contract::$module::$rule(&store)).await;
            store.close().await;
        })*};
    }
    for_each_rule!(rules);
    let url = database_on(server).await;
    let store = open(&url).await;
    let write = PlannedWrite {
        installation: 1,
        gap: Duration::from_secs(1),
        notify_gap: Some(Duration::from_secs(3)),
    };
    store.lead("task", "owner", at(0), LEASE).await.unwrap();
    store.reserve_write(write, at(0)).await.unwrap();
    store.limit_requests(1, at(1)).await.unwrap();
    store.recover_all(at(1)).await.unwrap();
    history(&store, &url).await;
    store.close().await;
}

async fn history(store: &SqlStore, url: &Url) {
    let url = SecretString::from(url.to_string());
    let run = contract::new_run(1, 1);
    let (id, place) = (run.id.clone(), run.place.clone());
    contract::add(store, "g", 0, run).await;
    inspect_postgres(&url).await.unwrap();
    let history = History::open_postgres(&url).await.unwrap();
    history.repository("acme/search").await.unwrap();
    history.decisions_at(1, 1, 9).await.unwrap();
    let of_run: RunId = id;
    history.run(&of_run, &place).await.unwrap();
}

/// A line of the server's log.
#[derive(Deserialize)]
struct Line {
    application_name: Option<String>,
    message: Option<String>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "at a release: cargo test --test it store_rolling::record -- --ignored"]
async fn record() {
    let server = Server::start_with(&[
        ("logging_collector", "on"),
        ("log_destination", "jsonlog"),
        ("log_filename", "statements"),
        ("log_statement", "all"),
    ])
    .expect("PostgreSQL 15 or later is installed");
    do_everything(server.url()).await;
    let log = std::fs::read_to_string(server.data().join("log/statements.json")).unwrap();
    let mut statements = BTreeSet::new();
    for line in log.lines() {
        let line: Line = serde_json::from_str(line).unwrap();
        let message = line.message.unwrap_or_default();
        let executed = message.strip_prefix("execute ");
        let ours = line.application_name.as_deref() == Some("planwright");
        if let Some((_, sql)) = executed
            .filter(|_| ours)
            .and_then(|text| text.split_once(": "))
        {
            statements.insert(sql.to_owned());
        }
    }
    let url = database_on(server.url()).await;
    open(&url).await.close().await;
    let mut connection = raw(&url).await;
    let mut described = Vec::new();
    for sql in statements {
        described.push(describe(&mut connection, &sql).await.unwrap());
    }
    let schema: i64 = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    let release = Release {
        schema,
        statements: described,
    };
    let text = serde_json::to_string_pretty(&release).unwrap() + "\n";
    std::fs::create_dir_all(file().parent().unwrap()).unwrap();
    std::fs::write(file(), text).unwrap();
}
