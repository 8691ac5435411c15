//! What the process with the store does, and what it acknowledges.

use std::cell::Cell;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;

use planwright::adapters::store::SqlStore;
use planwright::engine::model::intake::Source;
use planwright::engine::model::trigger::Origin;
use planwright::engine::store::{ClaimLimits, RunOutcome, Store as _};
use serde::{Deserialize, Serialize};

use crate::store_contract::{LEASE, at, delivery, new_run, progress};
use crate::store_sqlite::open;

/// Names the folder of the database for the child process.
pub(super) const FOLDER: &str = "PLANWRIGHT_TEST_POWER_FOLDER";
/// Names the number of the start for the child process.
pub(super) const START: &str = "PLANWRIGHT_TEST_POWER_START";
/// Number of processes that work on the database, one after the other. All but the last end without
/// closing it.
pub(super) const STARTS: usize = 2;
/// Name of the database.
pub(super) const DATABASE: &str = "planwright.db";
/// Name of the file to which the process writes what it has acknowledged.
pub(super) const ACKNOWLEDGED: &str = "acknowledged";

/// Callers that deliver at the same time, and deliveries of each.
const CALLERS: usize = 4;
const DELIVERIES: usize = 10;
/// Runs that are left unfinished.
const LEFT: usize = 6;

/// One thing that the process acknowledges, as a line.
#[derive(Debug, Serialize, Deserialize)]
enum Line {
    Delivery(String),
    Effect(String, String),
    Ended(String),
}

/// Everything that was acknowledged before a moment.
#[derive(Debug, Clone, Default)]
pub(super) struct Acknowledged {
    /// GUIDs of deliveries.
    pub(super) deliveries: Vec<String>,
    /// Runs and keys of effects that were done.
    pub(super) effects: Vec<(String, String)>,
    /// Runs that had ended.
    pub(super) ended: Vec<String>,
}

impl Acknowledged {
    /// Adds what was written to the file [`ACKNOWLEDGED`] at once.
    pub(super) fn add(&mut self, line: &[u8]) {
        // The creation of the file.
        if line.is_empty() {
            return;
        }
        match serde_json::from_slice(line).unwrap() {
            Line::Delivery(guid) => self.deliveries.push(guid),
            Line::Effect(run, key) => self.effects.push((run, key)),
            Line::Ended(run) => self.ended.push(run),
        }
    }
}

/// The file to which the process writes what it has acknowledged.
struct Log(Mutex<File>);

impl Log {
    /// Writes a line with one call.
    fn say(&self, line: &Line) {
        let line = format!("{}\n", serde_json::to_string(line).unwrap());
        let mut file = self.0.lock().unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}

/// The number at the end of a GUID.
fn number(guid: &str) -> usize {
    guid.rsplit('-').next().unwrap().parse().unwrap()
}

/// Number of runs that a delivery requests.
pub(super) fn runs_of(guid: &str) -> usize {
    1 + usize::from(number(guid) % 5 == 1)
}

/// The text of the comment in a delivery: short, or as long as GitHub permits.
fn text_of(guid: &str) -> String {
    let filling = if number(guid) % 4 == 2 { 40_000 } else { 200 };
    format!("{guid}\n{}\n{guid}", "x".repeat(filling))
}

/// Returns the delivery that has this text.
pub(super) fn delivery_of(text: &str) -> Option<String> {
    let guid = text.lines().next()?;
    (text_of(guid) == text).then(|| guid.to_owned())
}

/// Delivers, one after the other.
async fn call(store: &SqlStore, log: &Log, start: usize, caller: usize, open: &Cell<usize>) {
    for n in 0..DELIVERIES {
        let guid = format!("{start}-{caller}-{n}");
        let place = ((start * CALLERS + caller) * DELIVERIES + n) as u64;
        let runs = (0..runs_of(&guid)).map(|_| {
            let mut run = new_run(place % 7, place);
            run.trigger.origin = Origin::Comment {
                id: place,
                text: text_of(&guid),
                url: String::new(),
            };
            run
        });
        let mut new = delivery(&guid, 0, runs.collect());
        if n % 3 == 2 {
            new.source = Source::DeliveryLog;
        }
        if n % 8 == 3 {
            new.payload = Some(vec![b'y'; 10_000]);
        }
        store.accept(new).await.unwrap();
        log.say(&Line::Delivery(guid));
    }
    open.set(open.get() - 1);
}

/// Executes runs, until nobody delivers and few are left.
async fn execute(store: &SqlStore, log: &Log, open: &Cell<usize>) {
    let mut step = 0;
    loop {
        let counts = store.counts().await.unwrap().by_state;
        let waiting = counts.iter().filter(|(state, _)| !state.is_terminal());
        let waiting: u64 = waiting.map(|(_, runs)| runs).sum();
        if open.get() == 0 && waiting <= LEFT as u64 {
            return;
        }
        let limits = ClaimLimits::default();
        let claimed = store.claim("w", at(1), LEASE, &limits).await;
        let Some(claimed) = claimed.unwrap() else {
            tokio::task::yield_now().await;
            continue;
        };
        let lease = &claimed.lease;
        let run = lease.run.0.clone();
        for key in ["status", "issue"] {
            store.begin_effect(lease, key, at(2)).await.unwrap();
            store.end_effect(lease, key, "result", at(3)).await.unwrap();
            log.say(&Line::Effect(run.clone(), key.to_owned()));
        }
        step += 1;
        store.save_progress(lease, &progress(step)).await.unwrap();
        store
            .finish(lease, &RunOutcome::Succeeded, at(4))
            .await
            .unwrap();
        log.say(&Line::Ended(run));
    }
}

#[test]
#[ignore = "the child process of the tests in store_power"]
fn child() {
    let folder = PathBuf::from(std::env::var(FOLDER).expect("started by its parent"));
    let start: usize = std::env::var(START).unwrap().parse().unwrap();
    let file = File::options()
        .create(true)
        .append(true)
        .open(folder.join(ACKNOWLEDGED));
    let log = Log(Mutex::new(file.unwrap()));
    let path = folder.join(DATABASE);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = open(&path).await.unwrap();
        let busy = Cell::new(CALLERS);
        let callers = (0..CALLERS).map(|caller| call(&store, &log, start, caller, &busy));
        let callers = futures_util::future::join_all(callers);
        tokio::join!(callers, execute(&store, &log, &busy));
        if start + 1 == STARTS {
            store.close().await;
            let store = open(&path).await.unwrap();
            let guid = format!("{start}-last-0");
            let mut run = new_run(1, 1_000_000);
            run.trigger.origin = Origin::Comment {
                id: 1_000_000,
                text: text_of(&guid),
                url: String::new(),
            };
            store.accept(delivery(&guid, 0, vec![run])).await.unwrap();
            log.say(&Line::Delivery(guid));
            store.close().await;
        }
        // Without closing anything, as if it had been killed.
        std::process::exit(0);
    });
}
