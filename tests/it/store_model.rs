//! Random sequences of operations give the same answers on every store and on an in-memory model.
//!
//! `PLANWRIGHT_SEED` is the first seed and `PLANWRIGHT_CASES` the number of sequences. A failure
//! prints its seed and a minimal sequence.

#[cfg(unix)]
mod copied;
mod generate;
mod model;
mod operations;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use planwright::adapters::store::{SqlStore, SqliteOptions};
use planwright::engine::model::agent::{Spent, Tokens};
use planwright::engine::model::failure::Code;
use planwright::engine::model::intake::{
    DecisionRecord, LogState, LoggedAttempt, ScanPosition, ScanState, Source, Subject, Verdict,
};
use planwright::engine::model::plan_entry::PlanEntry;
use planwright::engine::model::progress::Progress;
use planwright::engine::model::run::{RunId, State};
use planwright::engine::model::time::Millis;
use planwright::engine::model::trigger::{Origin, Trigger};
use planwright::engine::store::{
    Accepted, ActorStanding, AnswerDecision, AnswerLimits, AuditEntry, Budget, BudgetScope,
    ClaimLimits, Claimed, CommandRequest, CommandUsage, EffectState, Lease, LeaseStatus,
    MAX_SAVED_PLANS, NewDelivery, NewRun, QueuePosition, RunOutcome, RunView, SavedPlan, Store,
    StoreError, USAGE_DAYS,
};
use tempfile::TempDir;

use self::model::Model;
use self::operations::{Arrival, Forged, Held, Key, Op, Write, perform};
use crate::store_contract::{at, new_run, progress};
#[cfg(unix)]
use crate::support::postgres;

const DAY: Duration = Duration::from_hours(24);

/// Number of operations of a sequence.
const LENGTH: usize = 60;

/// An operation with its number, by which later ones refer to the lease that it claims.
type Step = (usize, Op);

/// Two answers that differ, and the operation they answer.
struct Difference {
    /// Index of the operation; the length of the sequence if it is an observation after it.
    index: usize,
    op: Op,
    model: String,
    store: String,
}

/// The leases handed out so far, by the number of the operation.
#[derive(Default)]
struct Leases(HashMap<usize, Lease>);

impl Leases {
    /// Returns the leases that an operation is under. One that was never handed out is no run's.
    fn of(&self, op: &Op) -> Vec<Lease> {
        let lease = |held: &Held| {
            let mut lease = self.0.get(&held.claim).cloned().unwrap_or(Lease {
                run: RunId("none".to_owned()),
                owner: generate::OWNERS[0].to_owned(),
                fence: 0,
            });
            match held.forged {
                None => {}
                Some(Forged::Owner) => "w9".clone_into(&mut lease.owner),
                Some(Forged::Fence(by)) => lease.fence += by,
            }
            lease
        };
        match op {
            Op::Leased(held, _) => vec![lease(held)],
            Op::Heartbeat(held, ..) => held.iter().map(lease).collect(),
            _ => Vec::new(),
        }
    }

    /// Performs an operation on the model.
    fn ask(&mut self, model: &mut Model, number: usize, op: &Op) -> (Vec<Lease>, String) {
        let leases = self.of(op);
        let answer = model.answer(op, &leases);
        self.0
            .extend(model.taken.take().map(|lease| (number, lease)));
        (leases, answer)
    }
}

/// Performs a sequence on the model and on a store, and then compares everything that can be
/// observed.
async fn difference(store: &dyn Store, steps: &[Step]) -> Option<Difference> {
    let (mut model, mut leases) = (Model::default(), Leases::default());
    let observations = generate::observations(steps);
    for (index, (number, op)) in steps.iter().chain(&observations).enumerate() {
        let (held, expected) = leases.ask(&mut model, *number, op);
        let answer = perform(store, op, &held).await;
        if answer != expected {
            return Some(Difference {
                index: index.min(steps.len()),
                op: op.clone(),
                model: expected,
                store: answer,
            });
        }
        if *number == usize::MAX && answer == "None" && matches!(op, Op::Claim(..)) {
            break;
        }
    }
    None
}

/// Compares the answers of new stores to sequences of operations with those of the model.
async fn compare<G, S: Store>(seeds: Range<u64>, fresh: impl AsyncFn() -> (G, S)) {
    let differs = async |steps: &[Step]| {
        let (_guard, store) = fresh().await;
        let differs = difference(&store, steps).await;
        store.close().await;
        differs
    };
    for seed in seeds {
        let steps = generate::sequence(seed, LENGTH);
        if let Some(found) = differs(&steps).await {
            let (steps, found) = minimal(steps, found, differs).await;
            let operations = steps.iter().map(|(number, op)| (number.to_string(), op));
            let observed = (found.index == steps.len()).then(|| ("end".to_owned(), &found.op));
            let lines = operations.chain(observed);
            let lines = lines.map(|(number, op)| format!("{number:>4} {}\n", shown(op)));
            panic!(
                "seed {seed}: the answers to the last of these operations differ:\n{}model: {}\nstore: {}\n",
                lines.collect::<String>(),
                shortened(&found.model),
                shortened(&found.store)
            );
        }
    }
}

/// Removes operations as long as some answer differs: first large parts, in the end single ones.
async fn minimal(
    mut steps: Vec<Step>,
    mut found: Difference,
    differs: impl AsyncFn(&[Step]) -> Option<Difference>,
) -> (Vec<Step>, Difference) {
    steps.truncate(found.index + 1);
    let mut size = steps.len().div_ceil(2);
    while size > 0 {
        let mut removed = false;
        let mut start = 0;
        while start < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(start..steps.len().min(start + size));
            if let Some(still) = differs(&fewer).await {
                fewer.truncate(still.index + 1);
                (steps, found, removed) = (fewer, still, true);
            } else {
                start += size;
            }
        }
        if !removed || size > 1 {
            size /= 2;
        }
    }
    (steps, found)
}

/// Returns an operation on one line.
fn shown(op: &Op) -> String {
    shortened(&format!("{op:?}"))
}

/// Writes points in time as milliseconds since the beginning of the sequence.
fn shortened(text: &str) -> String {
    let mut parts = text.split("Millis(");
    let mut short = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once(')').unwrap();
        let number: i64 = number.parse().unwrap();
        short += &format!("{}ms{rest}", number - at(0).0);
    }
    short
}

/// Where new databases are made: in memory if possible, because what is durable is no subject here.
fn directory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let directory = memory.is_dir().then(|| tempfile::tempdir_in(memory));
    directory.unwrap_or_else(tempfile::tempdir).unwrap()
}

async fn open(directory: &TempDir) -> SqlStore {
    let path = directory.path().join("planwright.db");
    let store = SqlStore::open_sqlite(&path, SqliteOptions::default(), at(0)).await;
    store.unwrap()
}

/// Compares SQLite with the model. Every store begins as a copy of an empty one.
async fn compare_sqlite(seeds: Range<u64>) {
    let empty = directory();
    open(&empty).await.close().await;
    let fresh = async || {
        let new = directory();
        for file in std::fs::read_dir(empty.path()).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), new.path().join(file.file_name())).unwrap();
        }
        let store = open(&new).await;
        (new, store)
    };
    compare(seeds, fresh).await;
}

/// Compares PostgreSQL with the model, on one database that is emptied before each sequence.
#[cfg(unix)]
async fn compare_postgres(seeds: Range<u64>) {
    let Some(url) = postgres::database().await else {
        return;
    };
    postgres::open(&url).await.close().await;
    let fresh = async || {
        postgres::empty(&url).await;
        ((), postgres::open(&url).await)
    };
    compare(seeds, fresh).await;
}

/// Returns the seeds to try: from 0, or those that the environment asks for.
fn seeds(count: u64) -> Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("PLANWRIGHT_SEED").unwrap_or(0);
    let default = if number("PLANWRIGHT_SEED").is_some() {
        1
    } else {
        count
    };
    first..first + number("PLANWRIGHT_CASES").unwrap_or(default)
}

#[tokio::test]
async fn sqlite_answers_as_the_model() {
    compare_sqlite(seeds(150)).await;
}

#[tokio::test]
#[ignore = "takes minutes: cargo test --test it store_model -- --ignored"]
async fn sqlite_answers_10_000_sequences_as_the_model() {
    compare_sqlite(seeds(10_000)).await;
}

#[cfg(unix)]
#[tokio::test]
async fn postgres_answers_as_the_model() {
    compare_postgres(seeds(30)).await;
}

#[cfg(unix)]
#[tokio::test]
#[ignore = "takes long: cargo test --test it store_model -- --ignored"]
async fn postgres_answers_10_000_sequences_as_the_model() {
    compare_postgres(seeds(10_000)).await;
}
