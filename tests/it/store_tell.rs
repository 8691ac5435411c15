//! Workers that park runs while messages arrive: every message is read, because it wakes its run
//! before the end of the park.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use planwright::engine::model::run::RunId;
use planwright::engine::store::{ClaimLimits, Store};

use crate::store_contract::{LEASE, at, delivery, new_run, park};
use crate::store_sqlite::fresh;

const RUNS: usize = 8;
const MESSAGES: usize = 60;
const WORKERS: usize = 4;

/// Tells one run after the other, as fast as it goes.
async fn teller(store: Arc<dyn Store>, run: RunId, left: Arc<AtomicUsize>) {
    for n in 0..MESSAGES {
        assert!(
            store
                .send_message(&run, &n.to_string(), at(2))
                .await
                .unwrap()
        );
        tokio::task::yield_now().await;
    }
    left.fetch_sub(1, Ordering::SeqCst);
}

/// Reads what its run was told and parks it for an hour, until nothing more comes.
async fn worker(
    store: Arc<dyn Store>,
    name: String,
    left: Arc<AtomicUsize>,
    read: Arc<Mutex<HashSet<(RunId, String)>>>,
) {
    loop {
        // In this order: what is told after a fruitless claim is told by somebody who is not done.
        let done = left.load(Ordering::SeqCst) == 0;
        let Some(claimed) = store
            .claim(&name, at(2), LEASE, &ClaimLimits::default())
            .await
            .unwrap()
        else {
            if done {
                return;
            }
            tokio::task::yield_now().await;
            continue;
        };
        let run = &claimed.lease.run;
        let messages = store.messages(run).await.unwrap();
        let messages = messages.into_iter().map(|message| (run.clone(), message));
        read.lock().unwrap().extend(messages);
        let how = park(3_600_000, false);
        store.finish(&claimed.lease, &how, at(2)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_message_told_while_its_run_parks_is_not_slept_over() {
    let (_directory, store) = fresh().await;
    tell(Arc::new(store)).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_message_told_while_its_run_parks_is_not_slept_over_with_postgres() {
    if let Some(store) = crate::support::postgres::fresh().await {
        tell(Arc::new(store)).await;
    }
}

async fn tell(store: Arc<dyn Store>) {
    let left = Arc::new(AtomicUsize::new(RUNS));
    let read = Arc::new(Mutex::new(HashSet::new()));
    let mut tasks = Vec::new();
    for n in 0..RUNS {
        let run = new_run(1, n as u64);
        let id = run.id.clone();
        let accepted = store.accept(delivery(&format!("g{n}"), 0, vec![run]));
        accepted.await.unwrap();
        tasks.push(tokio::spawn(teller(store.clone(), id, left.clone())));
    }
    for n in 0..WORKERS {
        let name = format!("w{n}");
        tasks.push(tokio::spawn(worker(
            store.clone(),
            name,
            left.clone(),
            read.clone(),
        )));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(read.lock().unwrap().len(), RUNS * MESSAGES);
}
