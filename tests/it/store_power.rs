//! The power fails while the SQLite store works. Whatever had been acknowledged is there afterwards.
//!
//! A process with a store records what it does to its files, and what it acknowledges, in one order
//! (`trace.c`). From the record, this process makes what a disk may hold after a power failure:
//! everything that was synced, and of the rest any part, torn and in any order. The store must open
//! on each and have what was acknowledged before the failure.

mod disk;
mod work;

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use futures_util::{StreamExt as _, stream};
use planwright::engine::model::run::RunId;
use planwright::engine::store::{Accepted, Store as _};
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tempfile::TempDir;

use self::disk::{Disk, Operation, Survival};
use self::work::{ACKNOWLEDGED, Acknowledged, DATABASE, FOLDER, STARTS, delivery_of, runs_of};
use crate::store_contract::delivery;
use crate::store_sqlite::open;
use crate::support::preload;

/// Random failures among all operations, for each seed.
const AT_RANDOM: usize = 150;
/// Failures after the first acknowledgement that are usually tried; all of them are thousands.
const SAMPLE: usize = 400;
/// Stores that are checked at the same time.
const TOGETHER: usize = 4;
const SEED: u64 = 0x0050_3e7f;

/// A folder in memory if possible: here, only the record tells what is durable.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let folder = memory.is_dir().then(|| tempfile::tempdir_in(memory));
    folder.unwrap_or_else(tempfile::tempdir).unwrap()
}

/// Lets processes work on a new database, one after the other, and returns what they did.
fn record() -> Vec<Operation> {
    let beside = tempfile::tempdir().unwrap();
    let library = preload::library(beside.path(), include_str!("store_power/trace.c"));
    let trace = beside.path().join("trace");
    let place = folder();
    let place = place.path().canonicalize().unwrap();
    for start in 0..STARTS {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "store_power::work::child",
                "--ignored",
                "--nocapture",
            ])
            .env(FOLDER, &place)
            .env(work::START, start.to_string())
            .env("PLANWRIGHT_TRACED", &place)
            .env("PLANWRIGHT_TRACE", &trace)
            .env("LD_PRELOAD", &library)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    disk::read(&std::fs::read(trace).unwrap())
}

/// A moment at which the power fails: before this operation.
type Moment = usize;

/// A power failure, and what the disk holds of what was not synced.
#[derive(Debug, Clone)]
struct Failure {
    moment: Moment,
    survival: Survival,
    seed: u64,
}

/// Every moment before and after a sync and after an acknowledgement, and random ones, in order.
fn failures(operations: &[Operation], random: &mut StdRng) -> Vec<Failure> {
    let mut moments: Vec<Moment> = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        if operation.is_sync() {
            moments.push(index);
        }
        if operation.is_sync() || operation.name() == ACKNOWLEDGED {
            moments.push(index + 1);
        }
    }
    moments.dedup();
    let all = [Survival::Nothing, Survival::Everything, Survival::Random];
    let mut failures: Vec<_> = moments
        .into_iter()
        .flat_map(|moment| all.map(|survival| (moment, survival)))
        .collect();
    for _ in 0..AT_RANDOM {
        failures.push((random.random_range(0..operations.len()), Survival::Random));
    }
    failures.sort_by_key(|(moment, _)| *moment);
    let failure = |(moment, survival)| Failure {
        moment,
        survival,
        seed: random.random(),
    };
    failures.into_iter().map(failure).collect()
}

/// Makes the disk after each failure, and returns what is wrong with the store there.
async fn examine(operations: &[Operation], failures: Vec<Failure>) -> Vec<String> {
    let mut disk = Disk::default();
    let mut done = 0;
    let mut acknowledged = Acknowledged::default();
    let cases = failures.into_iter().map(|failure| {
        for operation in &operations[done..failure.moment] {
            if operation.name() == ACKNOWLEDGED {
                acknowledged.add(operation.data());
            } else {
                disk.perform(operation);
            }
        }
        done = failure.moment;
        let place = folder();
        let mut random = StdRng::seed_from_u64(failure.seed);
        disk.fail(place.path(), failure.survival, &mut random);
        let acknowledged = acknowledged.clone();
        async move {
            let wrong = check(place.path(), &acknowledged).await.err()?;
            Some(format!("{failure:?}: {wrong}"))
        }
    });
    let wrong = stream::iter(cases).buffer_unordered(TOGETHER);
    wrong.filter_map(async |wrong| wrong).collect().await
}

/// Opens the store and looks for everything that was acknowledged.
async fn check(folder: &Path, acknowledged: &Acknowledged) -> Result<(), String> {
    let path = folder.join(DATABASE);
    let store = open(&path).await;
    let store = store.map_err(|error| format!("it does not open: {error}"))?;
    let again = acknowledged.deliveries.iter().map(|guid| {
        let again = store.accept(delivery(guid, 9, Vec::new()));
        async move { (guid, again.await) }
    });
    for (guid, again) in futures_util::future::join_all(again).await {
        match again {
            Ok(Accepted::Duplicate) => {}
            other => return Err(format!("the delivery {guid} is lost: {other:?}")),
        }
    }
    let views = store.recent_runs(100_000).await;
    let views = views.map_err(|error| format!("runs cannot be read: {error}"))?;
    let mut runs: HashMap<String, Vec<&str>> = HashMap::new();
    for view in &views {
        let text = view.trigger.as_ref().and_then(|trigger| trigger.text());
        let text = text.ok_or_else(|| format!("{view:?} has no text"))?;
        let guid = delivery_of(text).ok_or_else(|| format!("{view:?} has another text"))?;
        runs.entry(guid).or_default().push(&view.id.0);
    }
    for guid in &acknowledged.deliveries {
        if !runs.contains_key(guid) {
            return Err(format!("the runs of {guid} are lost"));
        }
    }
    for (guid, ids) in &runs {
        if ids.len() != runs_of(guid) {
            return Err(format!("{guid} has {} runs", ids.len()));
        }
    }
    for id in &acknowledged.ended {
        let state = views.iter().find(|view| view.id.0 == *id);
        let state = state.map(|view| view.state);
        if state.is_none_or(|state| !state.is_terminal()) {
            return Err(format!("the end of {id} is lost: {state:?}"));
        }
    }
    for (id, key) in &acknowledged.effects {
        let effects = store.effects(&RunId(id.clone())).await;
        let effects = effects.map_err(|error| format!("effects cannot be read: {error}"))?;
        if !effects.iter().any(|(other, _)| other == key) {
            return Err(format!("the effect {key} of {id} is lost"));
        }
    }
    store.close().await;
    let options = SqliteConnectOptions::new().filename(&path).read_only(true);
    let connection = options.connect().await;
    let mut connection = connection.map_err(|error| error.to_string())?;
    let whole: String = sqlx::query_scalar("PRAGMA integrity_check")
        .fetch_one(&mut connection)
        .await
        .map_err(|error| error.to_string())?;
    connection
        .close()
        .await
        .map_err(|error| error.to_string())?;
    if whole == "ok" { Ok(()) } else { Err(whole) }
}

/// Returns the seed, which `PLANWRIGHT_SEED` changes. It is printed, so that a failure shows it.
fn seed() -> u64 {
    let named = std::env::var("PLANWRIGHT_SEED").ok();
    let seed = named.and_then(|text| text.parse().ok()).unwrap_or(SEED);
    println!("PLANWRIGHT_SEED={seed}");
    seed
}

/// Examines all failures before the first acknowledgement, which are those of a new database, and a
/// `sample` of the others.
async fn survive(sample: Option<usize>) {
    let mut random = StdRng::seed_from_u64(seed());
    let operations = record();
    let acknowledges = |one: &Operation| one.name() == ACKNOWLEDGED && !one.data().is_empty();
    let first = operations.iter().position(acknowledges);
    let mut failures = failures(&operations, &mut random);
    let begins = failures.partition_point(|failure| Some(failure.moment) <= first);
    if let Some(sample) = sample {
        let mut later = failures.split_off(begins);
        later.shuffle(&mut random);
        later.truncate(sample);
        later.sort_by_key(|failure| failure.moment);
        failures.extend(later);
    }
    let count = failures.len();
    let wrong = examine(&operations, failures).await;
    assert!(
        wrong.is_empty(),
        "{} of {count} failures:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(10)].join("\n")
    );
    let syncs = operations.iter().filter(|one| one.is_sync()).count();
    println!(
        "{count} power failures, {begins} of them before the first acknowledgement; {} operations on files, \
         {syncs} syncs",
        operations.len()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_a_power_failure() {
    survive(Some(SAMPLE)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo test --test it store_power -- --ignored --skip child --nocapture"]
async fn what_was_acknowledged_survives_a_power_failure_at_every_sync() {
    survive(None).await;
}

/// Shows that the tests above would notice a commit that is acknowledged before it is synced.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_ignores_syncs_of_the_wal_loses_what_was_acknowledged() {
    let mut random = StdRng::seed_from_u64(seed());
    let mut operations = record();
    operations.retain(|one| !(one.is_sync() && one.name().ends_with("-wal")));
    let mut failures = failures(&operations, &mut random);
    failures.retain(|failure| matches!(failure.survival, Survival::Nothing));
    failures.shuffle(&mut random);
    failures.truncate(SAMPLE / 4);
    failures.sort_by_key(|failure| failure.moment);
    let wrong = examine(&operations, failures).await;
    let lost = wrong.iter().filter(|wrong| wrong.contains("lost")).count();
    assert!(lost > SAMPLE / 20, "{wrong:#?}");
}
