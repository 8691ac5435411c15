//! What processes that share a PostgreSQL database agree on, and what a server of its own adds:
//! restarts, standbys, other clocks.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use planwright::adapters::store::{PostgresOptions, SqlStore};
use planwright::engine::model::plan_entry::PlanEntry;
use planwright::engine::model::run::State;
use planwright::engine::replicas::{PlannedWrite, Replicas, Slot};
use planwright::engine::store::{Accepted, ClaimLimits, RunOutcome, SavedPlan, Store, StoreError};
use secrecy::SecretString;
use sqlx::Connection as _;
use url::Url;

use crate::store_contract::spending::{ANYTHING, scope, spent};
use crate::store_contract::{LEASE, add, at, delivery, must_claim, new_run, progress, state};
use crate::support::postgres::{Server, cut_connections, database, database_on, open, raw};

/// Two stores on one new database, as of two processes.
async fn two() -> Option<(SqlStore, SqlStore)> {
    let url = database().await?;
    Some((open(&url).await, open(&url).await))
}

#[tokio::test]
async fn one_process_leads_until_its_lease_ends() {
    let Some((a, b)) = two().await else { return };
    let lead =
        async |store: &SqlStore, owner, ms| store.lead("t", owner, at(ms), LEASE).await.unwrap();
    assert!(lead(&a, "a", 0).await);
    assert!(!lead(&b, "b", 999).await);
    assert!(lead(&a, "a", 999).await, "extended");
    assert!(!lead(&b, "b", 1_998).await);
    assert!(lead(&b, "b", 1_999).await, "a did not extend it again");
    assert!(!lead(&a, "a", 2_000).await);
    let other = b.lead("another task", "a", at(2_000), LEASE);
    assert!(other.await.unwrap());
}

#[tokio::test]
async fn writes_of_all_processes_keep_their_distance() {
    let Some((a, b)) = two().await else { return };
    let write = |installation, notifies: bool| PlannedWrite {
        installation,
        gap: Duration::from_secs(1),
        notify_gap: notifies.then_some(Duration::from_secs(3)),
    };
    // Twenty at the same time, from both.
    let plans = (0..20).map(|n| if n % 2 == 0 { &a } else { &b });
    let slots = join_all(plans.map(|store| store.reserve_write(write(1, false), at(0)))).await;
    let mut starts: Vec<_> = slots.into_iter().map(Result::unwrap).collect();
    starts.sort_by_key(|slot| match slot {
        Slot::At(start) => start.0,
        Slot::LimitedUntil(_) => panic!("{slot:?}"),
    });
    let expected: Vec<_> = (0..20).map(|n| Slot::At(at(n * 1_000))).collect();
    assert_eq!(starts, expected);
    // Writes that notify are farther apart from each other, not from the rest.
    assert_eq!(
        a.reserve_write(write(2, true), at(0)).await.unwrap(),
        Slot::At(at(0))
    );
    assert_eq!(
        b.reserve_write(write(2, false), at(0)).await.unwrap(),
        Slot::At(at(1_000))
    );
    assert_eq!(
        b.reserve_write(write(2, true), at(0)).await.unwrap(),
        Slot::At(at(3_000))
    );
    // A limit that one of them met holds for the other, and never becomes shorter.
    b.limit_requests(2, at(60_000)).await.unwrap();
    a.limit_requests(2, at(50_000)).await.unwrap();
    let limited = a.reserve_write(write(2, false), at(59_999)).await.unwrap();
    assert_eq!(limited, Slot::LimitedUntil(at(60_000)));
    assert_eq!(
        a.reserve_write(write(2, false), at(60_000)).await.unwrap(),
        Slot::At(at(60_000))
    );
}

#[tokio::test]
async fn a_delivery_to_two_processes_at_once_makes_one_run() {
    let Some((a, b)) = two().await else { return };
    for n in 0..20 {
        let guid = format!("g{n}");
        let one = || delivery(&guid, n, vec![new_run(1, n.unsigned_abs() % 3)]);
        let (first, second) = tokio::join!(a.accept(one()), b.accept(one()));
        let both = [first.unwrap(), second.unwrap()];
        let new = both.iter().filter(|one| **one == Accepted::New).count();
        assert_eq!(new, 1, "{both:?}");
    }
    assert_eq!(a.recent_runs(100).await.unwrap().len(), 20);
}

/// Both processes add runs at one place and end them at the same time: whichever comes first, one
/// run of the place is active as long as any is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_run_is_stranded_behind_one_that_ends_meanwhile() {
    let Some((a, b)) = two().await else { return };
    let (a, b) = (Arc::new(a), Arc::new(b));
    for n in 0..50 {
        add(&*a, &format!("first{n}"), n, new_run(1, 1)).await;
        let claimed = must_claim(&*a, n).await;
        let guid = format!("second{n}");
        let accept = b.accept(delivery(&guid, n, vec![new_run(1, 1)]));
        let finish = a.finish(&claimed.lease, &RunOutcome::Succeeded, at(n));
        let (accepted, finished) = tokio::join!(accept, finish);
        assert_eq!((accepted.unwrap(), finished.is_ok()), (Accepted::New, true));
        let next = must_claim(&*b, n).await;
        assert_eq!(next.guid, guid);
        b.finish(&next.lease, &RunOutcome::Succeeded, at(n))
            .await
            .unwrap();
    }
}

/// Another process claims a run while its former worker writes about it: the writes wait for the
/// claim, which has read the run without them, and are refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn late_writes_wait_for_a_claim_under_way_and_are_refused() {
    let Some(url) = database().await else { return };
    let store = open(&url).await;
    let id = add(&store, "g", 0, new_run(1, 1)).await;
    let late = must_claim(&store, 1).await.lease;
    for key in ["retry", "drop", "end"] {
        store.begin_effect(&late, key, at(2)).await.unwrap();
    }
    let begun = store.begin_turn(&late, "turn", scope(1, 7), &ANYTHING, at(2));
    begun.await.unwrap().unwrap();

    let mut other = raw(&url).await;
    let mut claim = other.begin().await.unwrap();
    sqlx::query("UPDATE runs SET fence = fence + 1, lease_owner = 'b' WHERE id = $1")
        .bind(&id.0)
        .execute(&mut *claim)
        .await
        .unwrap();
    let store = &store;
    let entry = PlanEntry::default();
    let saved = SavedPlan {
        run: id.clone(),
        at: at(3),
        text: "text".into(),
        request: "request".into(),
        complete: true,
        issue: 1,
        url: "https://github.com/o/r/issues/1".into(),
        replaces: None,
    };
    let (progress, spent, done) = (progress(1), spent(1), RunOutcome::Succeeded);
    let writes: Vec<BoxFuture<'_, Result<(), StoreError>>> = vec![
        store.save_progress(&late, &progress),
        Box::pin(async { store.begin_effect(&late, "new", at(3)).await.map(drop) }),
        store.retry_effect(&late, "retry", at(3)),
        store.drop_effect(&late, "drop"),
        store.end_effect(&late, "end", "result", at(3)),
        store.record_saved(&late, &saved, &entry),
        store.end_turn(&late, "turn", &spent),
        store.finish(&late, &done, at(3)),
    ];
    let count = i64::try_from(writes.len()).unwrap();
    let commit = async {
        let mut observer = raw(&url).await;
        let waiting = "SELECT count(*) FROM pg_stat_activity
                       WHERE datname = current_database() AND wait_event_type = 'Lock'";
        loop {
            let waiting: i64 = sqlx::query_scalar(waiting)
                .fetch_one(&mut observer)
                .await
                .unwrap();
            if waiting == count {
                break;
            }
        }
        claim.commit().await.unwrap();
    };
    let commit = tokio::time::timeout(Duration::from_mins(1), commit);
    let (results, committed) = tokio::join!(join_all(writes), commit);
    committed.expect("every write waits for the claim");
    for result in results {
        assert!(matches!(result, Err(StoreError::Fenced(_))), "{result:?}");
    }
    assert_eq!(store.run(&id).await.unwrap().unwrap().progress, None);
    assert_eq!(store.effects(&id).await.unwrap(), []);
    assert_eq!(store.saved_at("1#1").await.unwrap(), []);
}

#[tokio::test]
async fn a_worker_is_woken_by_another_process() {
    let Some((a, b)) = two().await else { return };
    // Whatever wakes a worker at the start has been.
    let nothing = Duration::from_millis(300);
    while tokio::time::timeout(nothing, b.work_arrived())
        .await
        .is_ok()
    {}
    let id = add(&a, "g", 0, new_run(1, 1)).await;
    let woken = tokio::time::timeout(Duration::from_secs(20), b.work_arrived()).await;
    assert!(woken.is_ok(), "no notification arrived");
    assert_eq!(must_claim(&b, 1).await.lease.run, id);
}

/// The text of a refusal to open, with what differs between servers taken out.
async fn refusal(url: &Url) -> String {
    let secret = SecretString::from(url.to_string());
    let opened = SqlStore::open_postgres(&secret, PostgresOptions::default()).await;
    let text = opened.unwrap_err().to_string();
    let place = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432));
    text.replace(&place, "HOST:PORT")
        .replace(url.path().trim_start_matches('/'), "DATABASE")
}

#[tokio::test]
async fn refusals_to_open_name_the_place_and_the_remedy() {
    let Some(url) = database().await else { return };
    let mut wrong = url.clone();
    wrong.set_path("missing_database");
    assert_eq!(
        refusal(&wrong).await,
        "the store failed: cannot connect to the database at HOST:PORT/DATABASE: database \"DATABASE\" does not exist: \
         create the database, or name another one in store.url"
    );
    let mut closed = url.clone();
    closed.set_port(Some(9)).unwrap();
    let text = refusal(&closed).await;
    assert!(
        text.starts_with(
            "the store failed: cannot connect to the database at HOST:PORT/DATABASE: "
        ) && text.ends_with(
            ": check host and port in store.url, and that the server accepts connections"
        ),
        "{text}"
    );
    let no_url = SecretString::from("postgres://user:secret@host:99999/db");
    let opened = SqlStore::open_postgres(&no_url, PostgresOptions::default()).await;
    assert_eq!(
        opened.unwrap_err().to_string(),
        "the store failed: store.url is not the URL of a PostgreSQL database: write \
         postgres://USER:PASSWORD@HOST:5432/DATABASE, with special characters of the password percent-encoded"
    );

    let mut connection = raw(&url).await;
    sqlx::raw_sql("CREATE TABLE theirs (x int)")
        .execute(&mut connection)
        .await
        .unwrap();
    assert_eq!(
        refusal(&url).await,
        "the store failed: the database at HOST:PORT/DATABASE belongs to another program: it has tables, and none of \
         planwright; create a database of its own"
    );
    sqlx::raw_sql("DROP TABLE theirs")
        .execute(&mut connection)
        .await
        .unwrap();

    open(&url).await.close().await;
    sqlx::raw_sql("UPDATE compatibility SET oldest = 9")
        .execute(&mut connection)
        .await
        .unwrap();
    assert_eq!(
        refusal(&url).await,
        "the store failed: the database at HOST:PORT/DATABASE is used by a newer planwright: programs for schema 9 and \
         later can use it, this one is for 3; install the newer version; nothing was changed"
    );
}

/// While a new version is rolled out, the schema may be newer than a process of the old version.
#[tokio::test]
async fn a_schema_to_which_a_newer_version_has_added_is_used() {
    let Some(url) = database().await else { return };
    open(&url).await.close().await;
    let mut connection = raw(&url).await;
    let add = "ALTER TABLE runs ADD COLUMN newer TEXT;
               INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
               SELECT max(version) + 1, 'newer', true, '\\x00', 0 FROM _sqlx_migrations";
    sqlx::raw_sql(add).execute(&mut connection).await.unwrap();
    let store = open(&url).await;
    let id = add_and_finish(&store).await;
    assert_eq!(state(&store, &id).await, State::Succeeded);
}

async fn add_and_finish(store: &SqlStore) -> planwright::engine::model::run::RunId {
    let id = add(store, "g", 0, new_run(1, 1)).await;
    let claimed = must_claim(store, 1).await;
    store
        .finish(&claimed.lease, &RunOutcome::Succeeded, at(2))
        .await
        .unwrap();
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_restarts_or_becomes_a_standby_is_used_again_afterwards() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let url = database_on(server.url()).await;
    let store = open(&url).await;
    add(&store, "before", 0, new_run(1, 1)).await;
    server.crash_and_resume();
    let claimed = must_claim(&store, 1).await;
    assert_eq!(claimed.guid, "before", "acknowledged before the crash");
    store
        .finish(&claimed.lease, &RunOutcome::Succeeded, at(2))
        .await
        .unwrap();

    server.become_standby(true);
    let refused = store
        .accept(delivery("standby", 3, vec![new_run(1, 1)]))
        .await;
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the store failed: the server is a standby or was demoted; store.url must lead to the primary"
    );
    server.become_standby(false);
    let accepted = store
        .accept(delivery("after", 4, vec![new_run(1, 1)]))
        .await;
    assert_eq!(accepted.unwrap(), Accepted::New);
    let claimed = must_claim(&store, 5).await;
    assert_eq!(claimed.guid, "after");
    store.close().await;
}

/// The operations under way when connections are cut fail, and later ones do not.
#[tokio::test]
async fn connections_that_are_cut_are_replaced() {
    let Some(url) = database().await else { return };
    let store = open(&url).await;
    add(&store, "g", 0, new_run(1, 1)).await;
    cut_connections(&url).await;
    let claimed = store
        .claim("w", at(1), LEASE, &ClaimLimits::default())
        .await;
    let claimed = match claimed {
        Ok(claimed) => claimed,
        Err(StoreError::Failed(_)) => store
            .claim("w", at(1), LEASE, &ClaimLimits::default())
            .await
            .unwrap(),
        Err(error) => panic!("{error}"),
    };
    assert_eq!(claimed.unwrap().guid, "g");
}
