//! The connections of the store to a PostgreSQL server: encryption, limits, notifications, and what
//! the server must promise.

use std::time::Duration;

use futures_util::future::join_all;
use planwright::adapters::store::{InspectedPostgres, PostgresOptions, SqlStore, inspect_postgres};
use planwright::engine::store::{Accepted, Store};
use rustix::process::{Pid, Signal, kill_process};
use secrecy::SecretString;
use sqlx::{Connection as _, PgConnection};
use tokio::time::timeout;
use url::Url;

use crate::store_contract::{add, at, delivery, must_claim, new_run};
use crate::support::postgres::{Server, database, database_on, open, raw, tls_file};

/// Timeout of every wait, far longer than needed.
const PATIENCE: Duration = Duration::from_mins(2);

fn secret(url: &Url) -> SecretString {
    SecretString::from(url.to_string())
}

/// Options with which a failure comes soon.
fn impatient(max_connections: u32) -> PostgresOptions {
    PostgresOptions {
        max_connections,
        connect_timeout: Duration::from_secs(1),
        ..PostgresOptions::default()
    }
}

/// The message of a refusal to open, without the place.
async fn refusal(url: &Url) -> String {
    let opened = SqlStore::open_postgres(&secret(url), impatient(2)).await;
    let text = opened.unwrap_err().to_string();
    let (_, why) = text.split_once(&url.path()[1..]).unwrap();
    why.trim_start_matches(": ").to_owned()
}

async fn execute(connection: &mut PgConnection, sql: &'static str) {
    sqlx::raw_sql(sql).execute(connection).await.unwrap();
}

/// A URL that asks for TLS in this mode, with an authority from `fixtures/tls`.
fn with_tls(url: &Url, mode: &str, authority: Option<&str>) -> Url {
    let mut url = url.clone();
    url.query_pairs_mut().append_pair("sslmode", mode);
    if let Some(name) = authority {
        let file = tls_file(name).display().to_string();
        url.query_pairs_mut().append_pair("sslrootcert", &file);
    }
    url
}

#[tokio::test]
async fn a_certificate_of_a_private_authority_is_verified() {
    let Some(server) = Server::start_with_tls("server.pem") else {
        return;
    };
    let url = database_on(server.url()).await;
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = with_tls(&url, mode, Some("authority.pem"));
        let store = open(&url).await;
        store.ping().await.unwrap();
        store.close().await;
        let found: InspectedPostgres = inspect_postgres(&secret(&url)).await.unwrap();
        assert!(found.encrypted, "{mode}");
    }
    let mut named = with_tls(&url, "verify-full", Some("authority.pem"));
    named.set_host(Some("localhost")).unwrap();
    open(&named).await.close().await;

    for authority in [Some("other.pem"), None] {
        let why = refusal(&with_tls(&url, "verify-full", authority)).await;
        assert!(why.contains("UnknownIssuer"), "{why}");
        assert!(why.ends_with(": name the authority of the server's certificate in sslrootcert, and the host in store.url as the certificate does"), "{why}");
    }
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused() {
    let Some(server) = Server::start_with_tls("elsewhere.pem") else {
        return;
    };
    let url = database_on(server.url()).await;
    let why = refusal(&with_tls(&url, "verify-full", Some("authority.pem"))).await;
    assert!(
        why.contains("certificate not valid for name") && why.contains("as the certificate does"),
        "{why}"
    );
    // This mode verifies the authority alone.
    let url = with_tls(&url, "verify-ca", Some("authority.pem"));
    open(&url).await.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_encrypt_is_refused_where_encryption_is_demanded() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = database_on(server.url()).await;
    for mode in ["require", "verify-full"] {
        let why = refusal(&with_tls(&url, mode, Some("authority.pem"))).await;
        assert!(why.contains("server does not support TLS"), "{why}");
    }
    let plain = inspect_postgres(&secret(&url)).await.unwrap();
    assert!(!plain.encrypted);
}

#[tokio::test]
async fn connections_that_report_commits_before_they_are_on_disk_are_refused() {
    let Some(url) = database().await else { return };
    let mut connection = raw(&url).await;
    for value in ["off", "local"] {
        let mut with = url.clone();
        with.query_pairs_mut()
            .append_pair("options[synchronous_commit]", value);
        assert_eq!(
            refusal(&with).await.replace(url.username(), "USER"),
            format!(
                "synchronous_commit is {value}, so that deliveries which were acknowledged could be lost: execute \
                 ALTER ROLE USER SET synchronous_commit = on"
            )
        );
    }
    for value in ["on", "remote_write", "remote_apply"] {
        let mut with = url.clone();
        with.query_pairs_mut()
            .append_pair("options[synchronous_commit]", value);
        let found = inspect_postgres(&secret(&with)).await;
        assert!(found.is_ok(), "{value}");
    }

    // Also a connection that is made later.
    let store = SqlStore::open_postgres(&secret(&url), impatient(2))
        .await
        .unwrap();
    let name = url.path()[1..].to_owned();
    let sql = format!("ALTER DATABASE {name} SET synchronous_commit = off");
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
        .execute(&mut connection)
        .await
        .unwrap();
    crate::support::postgres::cut_connections(&url).await;
    let mut last = String::new();
    for n in 0..5 {
        let refused = store.accept(delivery(&format!("g{n}"), 0, vec![new_run(1, n)]));
        last = refused.await.unwrap_err().to_string();
    }
    assert!(last.contains("synchronous_commit is off"), "{last}");
    store.close().await;
}

#[tokio::test]
async fn settings_of_the_server_that_endanger_commits_are_reported() {
    let Some(server) = Server::start_with(&[("full_page_writes", "off")]) else {
        return;
    };
    let found = inspect_postgres(&secret(server.url())).await.unwrap();
    assert_eq!(found.not_durable, ["full_page_writes"]);
    drop(server);
    let Some(server) = Server::start_with(&[("fsync", "off"), ("full_page_writes", "off")]) else {
        return;
    };
    let url = database_on(server.url()).await;
    let found = inspect_postgres(&secret(&url)).await.unwrap();
    assert_eq!(found.not_durable, ["fsync", "full_page_writes"]);
    open(&url).await.close().await;
}

#[tokio::test]
async fn a_server_as_it_is_installed_is_durable() {
    let Some(server) = Server::start() else {
        return;
    };
    let found = inspect_postgres(&secret(server.url())).await.unwrap();
    assert_eq!(found.not_durable, [""; 0]);
}

/// Numbers of the connections that the store has to the database.
async fn connections(observer: &mut PgConnection) -> i64 {
    sqlx::query_scalar(
        "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'planwright'",
    )
    .fetch_one(observer)
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_has_as_many_connections_as_configured_and_one_that_listens() {
    let Some(url) = database().await else { return };
    let store = SqlStore::open_postgres(&secret(&url), impatient(3))
        .await
        .unwrap();
    let mut observer = raw(&url).await;
    // Whatever is asked for waits for this lock.
    let mut blocker = raw(&url).await;
    let mut blocking = blocker.begin().await.unwrap();
    sqlx::raw_sql("LOCK TABLE runs, deliveries IN ACCESS EXCLUSIVE MODE")
        .execute(&mut *blocking)
        .await
        .unwrap();
    let asked = (0..20).map(|_| store.recent_runs(1));
    let answers = async { join_all(asked).await };
    let watch = async {
        while connections(&mut observer).await < 4 {
            tokio::task::yield_now().await;
        }
    };
    let (answers, watched) = tokio::join!(
        async {
            let mut answers = std::pin::pin!(answers);
            // Those that wait for a connection give up; then the three that have one are let go.
            tokio::select! {
                answers = &mut answers => return answers,
                () = async {
                    tokio::time::sleep(Duration::from_millis(1_500)).await;
                } => {}
            }
            blocking.rollback().await.unwrap();
            answers.await
        },
        timeout(PATIENCE, watch)
    );
    watched.unwrap();
    let refused: Vec<String> = answers
        .iter()
        .filter_map(|answer| answer.as_ref().err().map(ToString::to_string))
        .collect();
    assert_eq!(refused.len(), 17, "{refused:?}");
    assert_eq!(
        refused[0],
        "the store failed: no connection became free in time: raise store.max_connections, or check that the \
         database server answers"
    );
    assert!(connections(&mut observer).await <= 4);
    store.recent_runs(1).await.unwrap();
    store.close().await;
}

/// Waits for the backend of the store's connection that listens.
async fn listening_backend(observer: &mut PgConnection, other_than: Option<i32>) -> i32 {
    let search = async {
        loop {
            let found: Option<i32> = sqlx::query_scalar(
                "SELECT pid FROM pg_stat_activity
                 WHERE datname = current_database() AND query LIKE 'LISTEN %' AND pid IS DISTINCT FROM $1",
            )
            .bind(other_than)
            .fetch_optional(&mut *observer)
            .await
            .unwrap();
            if let Some(found) = found {
                return found;
            }
            sqlx::query("SELECT pg_sleep(0.05)")
                .execute(&mut *observer)
                .await
                .unwrap();
        }
    };
    timeout(PATIENCE, search).await.unwrap()
}

/// Takes every wake-up that is under way.
async fn drain(store: &SqlStore) {
    let nothing = Duration::from_millis(300);
    while timeout(nothing, store.work_arrived()).await.is_ok() {}
}

/// The connection that listens is lost. What arrives before there is another one wakes no worker,
/// so one is woken then.
#[tokio::test]
async fn a_worker_looks_for_runs_when_the_store_listens_again() {
    let Some(url) = database().await else { return };
    let (store, other) = (open(&url).await, open(&url).await);
    let mut observer = raw(&url).await;
    other.close().await;
    let listening = listening_backend(&mut observer, None).await;
    drain(&store).await;
    sqlx::query("SELECT pg_terminate_backend($1)")
        .bind(listening)
        .execute(&mut observer)
        .await
        .unwrap();
    let other = open(&url).await;
    let id = add(&other, "missed", 0, new_run(1, 1)).await;
    other.close().await;
    timeout(PATIENCE, store.work_arrived()).await.unwrap();
    assert_eq!(must_claim(&store, 1).await.lease.run, id);
    store.close().await;
}

/// A process that is stopped until this is dropped.
struct Stopped(Pid);

impl Stopped {
    fn new(id: i32) -> Self {
        let process = Pid::from_raw(id).unwrap();
        kill_process(process, Signal::STOP).unwrap();
        Self(process)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // It may have ended.
        let _ = kill_process(self.0, Signal::CONT);
    }
}

/// A connection through which nothing arrives any more, as behind a firewall that has forgotten it,
/// is noticed without an error of the network.
#[tokio::test]
async fn a_connection_that_only_looks_alive_is_replaced() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = database_on(server.url()).await;
    let store = open(&url).await;
    let mut observer = raw(&url).await;
    let listening = listening_backend(&mut observer, None).await;
    let _stopped = Stopped::new(listening);
    let next = listening_backend(&mut observer, Some(listening)).await;
    drain(&store).await;
    let other = open(&url).await;
    add(&other, "g", 0, new_run(1, 1)).await;
    timeout(PATIENCE, store.work_arrived()).await.unwrap();
    assert_ne!(next, listening);
    store.close().await;
    other.close().await;
}

/// A primary that is demoted while connections to it are open refuses writes on them.
#[tokio::test]
async fn connections_to_a_demoted_primary_are_given_up() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = database_on(server.url()).await;
    let store = SqlStore::open_postgres(&secret(&url), impatient(4))
        .await
        .unwrap();
    add(&store, "before", 0, new_run(1, 1)).await;
    let mut admin = raw(&url).await;
    let read_only = "the store failed: cannot execute INSERT in a read-only transaction: the server is a standby or was \
                     demoted; store.url must lead to the primary";
    let refused = "the store failed: the server is a standby or was demoted; store.url must lead to the primary";
    execute(
        &mut admin,
        "ALTER SYSTEM SET default_transaction_read_only = on",
    )
    .await;
    execute(&mut admin, "SELECT pg_reload_conf()").await;
    // The connections that were open fail once each; then no new one can be used.
    let mut texts = Vec::new();
    for n in 0..10 {
        let guid = format!("meanwhile-{n}");
        if let Err(error) = store.accept(delivery(&guid, 1, vec![new_run(1, 1)])).await {
            texts.push(error.to_string());
        }
        if texts.last().is_some_and(|text| text == refused) {
            break;
        }
    }
    assert_eq!(texts.last().map(String::as_str), Some(refused), "{texts:?}");
    assert!(texts.iter().any(|text| text == read_only), "{texts:?}");

    // Whoever administers the server must say so, because writing is off by default.
    execute(&mut admin, "SET default_transaction_read_only = off").await;
    execute(
        &mut admin,
        "ALTER SYSTEM RESET default_transaction_read_only",
    )
    .await;
    execute(&mut admin, "SELECT pg_reload_conf()").await;
    let again = async {
        loop {
            let accepted = store.accept(delivery("after", 2, vec![new_run(1, 1)]));
            if let Ok(accepted) = accepted.await {
                return accepted;
            }
        }
    };
    assert_eq!(timeout(PATIENCE, again).await.unwrap(), Accepted::New);
    assert_eq!(must_claim(&store, 3).await.guid, "before");
    store.close().await;
}

/// Every time of the store is given by its caller, also where the server's clock says otherwise.
#[tokio::test]
async fn the_clock_of_the_database_is_offered_and_not_imposed() {
    let Some(url) = database().await else { return };
    let store = open(&url).await;
    let clock = store.clock().expect("PostgreSQL has a clock");
    let told: i64 =
        sqlx::query_scalar("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
            .fetch_one(&mut raw(&url).await)
            .await
            .unwrap();
    let difference = (clock.now().0 - told).abs();
    assert!(difference < 60_000, "{difference} ms");
    add(&store, "g", 0, new_run(1, 1)).await;
    let claimed = must_claim(&store, 1).await;
    assert_eq!(claimed.created, at(0));
    store.close().await;
}
