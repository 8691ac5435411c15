//! Several workers that end, fail, park and crash: every run ends once, in order at its place, and
//! no two runs of a place are active at once.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use planwright::engine::model::run::RunId;
use planwright::engine::store::{ClaimLimits, Lease, RunOutcome, Store, StoreError};
use tokio::sync::RwLock;

use crate::store_contract::{LEASE, at, delivery, failed, new_run, park};
use crate::store_sqlite::fresh;
#[cfg(unix)]
use crate::support::postgres;

const RUNS: u64 = 400;
const PLACES: u64 = 20;
const WORKERS: usize = 6;

/// What the test knows of the runs, independently of the store.
#[derive(Default)]
struct Ledger {
    place_of: HashMap<RunId, u64>,
    accepted: HashMap<u64, Vec<RunId>>,
    ended: HashMap<u64, Vec<RunId>>,
    busy: HashSet<u64>,
    crashed: Vec<Lease>,
}

struct Storm {
    stores: Vec<Arc<dyn Store>>,
    ledger: Mutex<Ledger>,
    now: AtomicI64,
    /// Held for reading while a run is worked on: time jumps past leases only when nobody works.
    at_work: RwLock<()>,
}

impl Storm {
    fn tick(&self) -> i64 {
        self.now.fetch_add(1, Ordering::SeqCst)
    }

    async fn worker(&self, number: usize) {
        let store = &self.stores[number % self.stores.len()];
        let name = format!("w{number}");
        loop {
            if self.work(store, &name).await {
                continue;
            }
            let ended: usize = self
                .ledger
                .lock()
                .unwrap()
                .ended
                .values()
                .map(Vec::len)
                .sum();
            if ended as u64 == RUNS {
                return;
            }
            let _nobody = self.at_work.write().await;
            let lease = i64::try_from(LEASE.as_millis()).unwrap();
            let now = self.now.fetch_add(lease, Ordering::SeqCst) + lease;
            store.recover_expired(at(now)).await.unwrap();
        }
    }

    /// Claims a run and does to it what its number and attempt say; false when there is none.
    async fn work(&self, store: &Arc<dyn Store>, name: &str) -> bool {
        let _working = self.at_work.read().await;
        let claimed = store
            .claim(name, at(self.tick()), LEASE, &ClaimLimits::default())
            .await
            .unwrap();
        let Some(claimed) = claimed else { return false };
        let lease = claimed.lease;
        let place = {
            let mut ledger = self.ledger.lock().unwrap();
            let place = ledger.place_of[&lease.run];
            assert!(ledger.busy.insert(place), "two at once at {place}");
            place
        };
        tokio::task::yield_now().await;
        let fate = (lease.run.0.len()
            + claimed.guid.len() * 7
            + claimed.guid.bytes().map(usize::from).sum::<usize>()
            + claimed.attempt as usize * 3)
            % 10;
        let how = match fate {
            0 => None,
            1 => Some(failed()),
            2 => Some(park(self.tick() + 5, true)),
            3 => Some(RunOutcome::Cancelled),
            _ => Some(RunOutcome::Succeeded),
        };
        // Free before the store knows: the next claim at the place may follow at once.
        self.ledger.lock().unwrap().busy.remove(&place);
        let Some(how) = how else {
            self.ledger.lock().unwrap().crashed.push(lease);
            return true;
        };
        if !matches!(how, RunOutcome::Park { .. }) {
            let mut ledger = self.ledger.lock().unwrap();
            ledger
                .ended
                .entry(place)
                .or_default()
                .push(lease.run.clone());
        }
        store.finish(&lease, &how, at(self.tick())).await.unwrap();
        true
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_run_ends_once_and_in_order() {
    let (_directory, store) = fresh().await;
    let store: Arc<dyn Store> = Arc::new(store);
    storm(&[store]).await;
}

/// Each worker uses one of three stores on the same database, as of three processes.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_run_of_three_processes_ends_once_and_in_order() {
    let Some(url) = postgres::database().await else {
        return;
    };
    let mut stores: Vec<Arc<dyn Store>> = Vec::new();
    for _ in 0..3 {
        stores.push(Arc::new(postgres::open(&url).await));
    }
    storm(&stores).await;
}

pub(crate) async fn storm(stores: &[Arc<dyn Store>]) {
    let store = &stores[0];
    let mut ledger = Ledger::default();
    for n in 0..RUNS {
        let place = n % PLACES;
        let run = new_run(place % 7, place);
        ledger.place_of.insert(run.id.clone(), place);
        ledger
            .accepted
            .entry(place)
            .or_default()
            .push(run.id.clone());
        store
            .accept(delivery(&format!("g{n}"), 0, vec![run]))
            .await
            .unwrap();
    }
    let shared = Arc::new(Storm {
        stores: stores.to_vec(),
        ledger: Mutex::new(ledger),
        now: AtomicI64::new(1),
        at_work: RwLock::new(()),
    });
    let workers: Vec<_> = (0..WORKERS)
        .map(|n| {
            let shared = shared.clone();
            tokio::spawn(async move { shared.worker(n).await })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }

    let crashed = std::mem::take(&mut shared.ledger.lock().unwrap().crashed);
    assert!(crashed.len() > 10, "a storm without crashes proves little");
    for lease in crashed {
        let late = store.finish(&lease, &RunOutcome::Succeeded, at(0)).await;
        assert!(matches!(late, Err(StoreError::Fenced(_))), "{late:?}");
    }
    let counts = store.counts().await.unwrap();
    assert!(
        counts.by_state.iter().all(|(state, _)| state.is_terminal()),
        "{counts:?}"
    );
    let ledger = shared.ledger.lock().unwrap();
    assert_eq!(
        ledger.ended, ledger.accepted,
        "each once, in the order of acceptance"
    );
}
