//! The store behind PgBouncer in transaction mode, where every transaction may be on another
//! connection to the server.

use std::sync::Arc;

use planwright::engine::model::run::State;
use planwright::engine::store::Store;

use crate::store_contract::{self as contract, add, at, for_each_rule, must_claim, new_run};
use crate::store_storm::storm;
use crate::support::pgbouncer::database;
use crate::support::postgres::{self, open};
use crate::support::rig::PLAN;
use crate::support::system::{Options, System};

macro_rules! rules {
    ($($module:ident::$rule:ident)*) => {$(
        mod $rule {
            #[tokio::test]
            async fn is_kept() {
                let Some(url) = super::database().await else {
                    return;
                };
                let store = super::open(&url).await;
                super::contract::$module::$rule(&store).await;
                planwright::engine::store::Store::close(&store).await;
            }
        }
    )*};
}
for_each_rule!(rules);

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_run_of_three_processes_ends_once_and_in_order() {
    let Some(url) = database().await else { return };
    let mut stores: Vec<Arc<dyn Store>> = Vec::new();
    for _ in 0..3 {
        stores.push(Arc::new(open(&url).await));
    }
    storm(&stores).await;
}

/// A new run is claimed although nobody is notified of it; that is said once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_poll_and_the_missing_notifications_are_logged_once() {
    let Some(url) = database().await else { return };
    let mut system = System::with(Options {
        postgres: Some((url, 2)),
        ..Options::default()
    })
    .await;
    system.repository("acme/search", false);
    let opened = system.sim.open_issue("acme/search", "bob", "Search", PLAN);
    let issue = opened.unwrap();
    for count in 1..=3 {
        let asked = system
            .sim
            .comment("acme/search", issue, "ada", "/save-plan");
        asked.unwrap();
        let runs = system.run_to_rest().await;
        let done = runs.iter().filter(|run| run.state == State::Succeeded);
        assert_eq!(done.count(), count, "{runs:#?}");
    }
    // By each process.
    let said = "store.url leads to a pooler in transaction mode";
    system.logged_times(said, 2).await;
    let log = system.log();
    let lines = log.iter().filter(|line| line.contains(said));
    assert_eq!(lines.count(), 2, "{log:#?}");
    system.kill_one(0).await;
    system.kill_one(1).await;
}

/// Nothing that belongs to a session is left on the connections of the server, where another client
/// would find it.
#[tokio::test]
async fn no_lock_outlives_its_transaction() {
    let Some(url) = database().await else { return };
    let store = open(&url).await;
    for n in 0..20 {
        add(&store, &format!("g{n}"), 0, new_run(1, n)).await;
    }
    let claimed = must_claim(&store, 1).await;
    store.acknowledged(&claimed.lease).await.unwrap();
    let leases = [claimed.lease];
    let heard = store.heartbeat(&leases, at(2), contract::LEASE).await;
    assert!(heard.unwrap()[0].held);
    let locks: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    )
    .fetch_one(&mut postgres::raw(&url).await)
    .await
    .unwrap();
    assert_eq!(locks, 0);
    store.close().await;
}
