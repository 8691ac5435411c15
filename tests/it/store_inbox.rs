//! Deliveries that SQLite has acknowledged and not stored yet: nothing can be observed of the
//! difference, and nothing of them is lost.

use std::path::Path;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use futures_util::future::join_all;
use planwright::adapters::store::SqlStore;
use planwright::engine::model::run::State;
use planwright::engine::store::{Accepted, ClaimLimits, NewDelivery, RunOutcome, Store};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::runtime::{Builder, Runtime};

use crate::store_contract::{LEASE, at, delivery, must_claim, new_run};
use crate::store_sqlite::{fresh, open};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn one(n: u64) -> NewDelivery {
    let received = i64::try_from(n).unwrap();
    delivery(&format!("g{n}"), received, vec![new_run(1, n % 3)])
}

/// Accepts deliveries in one commit and ends the process before it does anything else.
fn accept_and_end(path: &Path, deliveries: Vec<NewDelivery>) {
    runtime().block_on(async {
        let store = open(path).await.unwrap();
        let accepted = join_all(deliveries.into_iter().map(|new| store.accept(new))).await;
        for accepted in accepted {
            assert_eq!(accepted.unwrap(), Accepted::New);
        }
    });
}

/// Executes a statement past the store, and returns the only number of its result.
async fn number(path: &Path, sql: &'static str) -> i64 {
    let options = SqliteConnectOptions::new().filename(path);
    let mut connection = options.connect().await.unwrap();
    let number = sqlx::query_scalar(sql)
        .fetch_optional(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    number.unwrap_or(0)
}

#[test]
fn what_was_acknowledged_is_stored_at_the_next_start() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("planwright.db");
    accept_and_end(&path, (0..6).map(one).collect());
    runtime().block_on(async {
        assert_eq!(number(&path, "SELECT count(*) FROM inbox").await, 1);
        assert_eq!(number(&path, "SELECT count(*) FROM deliveries").await, 0);

        let store = open(&path).await.unwrap();
        assert_eq!(number(&path, "SELECT count(*) FROM inbox").await, 0);
        let mut runs = store.recent_runs(10).await.unwrap();
        runs.reverse();
        let states: Vec<_> = runs.iter().map(|run| (run.created, run.state)).collect();
        let ready = |n: i64| (at(n), if n < 3 { State::Ready } else { State::Blocked });
        assert_eq!(states, (0..6).map(ready).collect::<Vec<_>>());
        let again = store.accept(one(3)).await.unwrap();
        assert_eq!(again, Accepted::Duplicate);
        store.close().await;
    });
}

#[test]
fn a_row_that_is_refused_is_kept_and_holds_up_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("planwright.db");
    accept_and_end(&path, vec![one(0)]);
    runtime().block_on(async {
        // One before it and one behind it; their deliveries have no event.
        number(
            &path,
            "INSERT INTO inbox (id, payloads, deliveries, runs, triggers, texts)
             SELECT id + step, x'', '[[\"refused\",null]]', '[]', x'', '[]'
             FROM inbox, (SELECT -1 AS step UNION ALL SELECT 1)",
        )
        .await;
        let store = open(&path).await.unwrap();
        assert_eq!(store.recent_runs(10).await.unwrap().len(), 1);
        assert_eq!(store.accept(one(0)).await.unwrap(), Accepted::Duplicate);
        let why = "NOT NULL constraint failed: deliveries.event";
        let refused = "SELECT count(*) FROM inbox WHERE refused = 'NOT NULL constraint failed: deliveries.event'";
        assert_eq!(number(&path, refused).await, 2, "{why}");
        // What GitHub's log brings again is new.
        let again = delivery("refused", 9, vec![new_run(1, 9)]);
        assert_eq!(store.accept(again).await.unwrap(), Accepted::New);
        assert_eq!(store.recent_runs(10).await.unwrap().len(), 2);
        store.close().await;
    });
}

#[tokio::test]
async fn a_delivery_is_recognised_before_and_after_it_is_stored() {
    let (_directory, store) = fresh().await;
    let said = |guid: &str| NewDelivery {
        dedup_key: Some("comment 1#1 7".to_owned()),
        ..delivery(guid, 0, vec![new_run(1, 1)])
    };
    // All in one commit, one after the other, and after a read.
    let at_once = join_all([said("a"), said("b"), said("a")].map(|new| store.accept(new))).await;
    let new = at_once.into_iter().map(Result::unwrap);
    assert_eq!(new.filter(|one| *one == Accepted::New).count(), 1);
    assert_eq!(
        store.accept(said("c")).await.unwrap(),
        Accepted::Duplicate,
        "said in the inbox"
    );
    assert_eq!(store.accept(one(1)).await.unwrap(), Accepted::New);
    assert_eq!(store.accept(one(1)).await.unwrap(), Accepted::Duplicate);
    assert_eq!(store.recent_runs(10).await.unwrap().len(), 2);
    assert_eq!(store.accept(one(1)).await.unwrap(), Accepted::Duplicate);
    assert_eq!(store.accept(said("d")).await.unwrap(), Accepted::Duplicate);
}

/// Number of deliveries that more than one transaction stores.
const MANY: u64 = 3_000;

/// Accepts [`MANY`] deliveries.
async fn accept_many(store: &SqlStore) {
    for portion in 0..MANY / 250 {
        let deliveries = (0..250).map(|n| store.accept(one(portion * 250 + n)));
        for accepted in join_all(deliveries).await {
            assert_eq!(accepted.unwrap(), Accepted::New);
        }
    }
}

/// Once no delivery had come for 5 ms, the next one waited until everything was stored.
#[tokio::test(start_paused = true)]
async fn a_delivery_does_not_wait_until_a_long_inbox_is_empty() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("planwright.db");
    let store = open(&path).await.unwrap();
    accept_many(&store).await;
    tokio::time::sleep(Duration::from_millis(6)).await;
    assert_eq!(store.accept(one(MANY)).await.unwrap(), Accepted::New);
    // Nothing more is stored while this thread waits.
    let count = || runtime().block_on(number(&path, "SELECT count(*) FROM deliveries"));
    let stored = std::thread::scope(|scope| scope.spawn(count).join().unwrap());
    let all = i64::try_from(MANY).unwrap() + 1;
    assert!(
        (1..all - 1).contains(&stored),
        "{stored} of {all} are stored"
    );

    // The rest is stored although nothing needs it.
    for _ in 0..10_000 {
        if number(&path, "SELECT count(*) FROM inbox").await == 0 {
            break;
        }
    }
    assert_eq!(number(&path, "SELECT count(*) FROM deliveries").await, all);
    store.close().await;
}

/// More than one transaction stores.
#[tokio::test]
async fn a_long_inbox_is_seen_as_a_whole_and_in_order() {
    let (_directory, store) = fresh().await;
    accept_many(&store).await;
    let runs = store.recent_runs(10_000).await.unwrap();
    let created: Vec<_> = runs.iter().rev().map(|run| run.created).collect();
    let expected: Vec<_> = (0..i64::try_from(MANY).unwrap()).map(at).collect();
    assert_eq!(created, expected);
    let first = must_claim(&store, 1).await;
    assert_eq!(first.guid, "g0");
}

/// The connection of an operation that is dropped is closed, and what it did is not known.
#[tokio::test]
async fn an_operation_that_is_dropped_half_way_loses_and_repeats_nothing() {
    let (_directory, store) = fresh().await;
    let mut count = 0;
    for polls in 0..60 {
        for _ in 0..3 {
            assert_eq!(store.accept(one(count)).await.unwrap(), Accepted::New);
            count += 1;
        }
        let limits = ClaimLimits::default();
        {
            let mut claim = pin!(store.claim("dropped", at(0), LEASE, &limits));
            let mut context = Context::from_waker(Waker::noop());
            for _ in 0..polls {
                if claim.as_mut().poll(&mut context).is_ready() {
                    break;
                }
                std::thread::yield_now();
            }
        }
        for n in 0..count {
            assert_eq!(store.accept(one(n)).await.unwrap(), Accepted::Duplicate);
        }
    }
    let runs = store.recent_runs(10_000).await.unwrap();
    assert_eq!(runs.len() as u64, count);
    // A claim that took place without anybody knowing ends with its lease.
    store.recover_expired(at(1_000_000)).await.unwrap();
    for _ in 0..count {
        let claimed = must_claim(&store, 2_000_000).await;
        let done = store.finish(&claimed.lease, &RunOutcome::Succeeded, at(2_000_000));
        done.await.unwrap();
    }
}
