//! The SQLite store: every rule of the contract, and properties of database files.

use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use planwright::adapters::store::{MAX_WAIT_AFTER_START, SqlStore, SqliteOptions, check_sqlite};
use planwright::engine::model::failure::Code;
use planwright::engine::model::run::State;
use planwright::engine::model::trigger::Origin;
use planwright::engine::store::{Accepted, AuditEntry, ClaimLimits, Claimed, Store, StoreError};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};
use tempfile::TempDir;

use crate::store_contract::{
    self as contract, at, delivery, for_each_history_rule, for_each_rule, new_run,
};

/// A store in a new directory, which lives as long as the handle.
pub(crate) async fn fresh() -> (TempDir, SqlStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory.path().join("planwright.db")).await.unwrap();
    (directory, store)
}

pub(crate) async fn open(path: &Path) -> Result<SqlStore, StoreError> {
    SqlStore::open_sqlite(path, SqliteOptions::default(), at(0)).await
}

macro_rules! rules {
    ($($module:ident::$rule:ident)*) => {$(
        mod $rule {
            #[tokio::test]
            async fn is_kept() {
                let (_directory, store) = super::fresh().await;
                super::contract::$module::$rule(&store).await;
            }
        }
    )*};
}
for_each_rule!(rules);

macro_rules! history_rules {
    ($($module:ident::$rule:ident)*) => {$(
        mod $rule {
            #[tokio::test]
            async fn is_kept() {
                let (_directory, store) = super::fresh().await;
                let store = std::sync::Arc::new(store);
                super::contract::$module::$rule(&*store, &store.history()).await;
            }
        }
    )*};
}
for_each_history_rule!(history_rules);

/// A connection past the store, as a careless operator would have it.
async fn raw(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(path)
        .connect()
        .await
        .unwrap()
}

/// A connection past the store to its database, in which everything accepted is stored.
async fn shell(directory: &TempDir, store: &SqlStore) -> SqliteConnection {
    store.ping().await.unwrap();
    raw(&directory.path().join("planwright.db")).await
}

async fn run_sql(connection: &mut SqliteConnection, sql: &'static str) {
    sqlx::raw_sql(sql).execute(connection).await.unwrap();
}

/// The text of a refusal to open, with the directory taken out.
async fn refusal(path: &Path) -> String {
    let text = open(path).await.unwrap_err().to_string();
    let directory = path.parent().unwrap().display().to_string();
    text.replace(&directory, "DIR")
}

#[tokio::test]
async fn one_process_per_file() {
    let (directory, store) = fresh().await;
    let path = directory.path().join("planwright.db");
    assert_eq!(
        refusal(&path).await,
        "the store failed: another planwright process uses the database DIR/planwright.db: stop \
         that process first, or give this one its own store.path (lock file \
         DIR/planwright.db.lock)"
    );
    store.close().await;
    open(&path).await.unwrap().close().await;
}

#[tokio::test]
async fn refusals_to_open_name_the_place_and_the_remedy() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(
        refusal(&directory.path().join("missing/planwright.db")).await,
        "the store failed: cannot open DIR/planwright.db.lock for writing: No such file or directory (os error 2): \
         make the directory first, or name another database path"
    );

    let text = directory.path().join("notes.txt");
    std::fs::write(
        &text,
        "no database, but more than a hundred bytes of notes\n".repeat(9),
    )
    .unwrap();
    assert_eq!(
        refusal(&text).await,
        "the store failed: cannot open the database DIR/notes.txt: file is not a database: the path names another \
         kind of file; choose another path"
    );

    let other = directory.path().join("other.db");
    run_sql(&mut create(&other).await, "CREATE TABLE theirs (x)").await;
    let before = std::fs::read(&other).unwrap();
    assert_eq!(
        refusal(&other).await,
        "the store failed: DIR/other.db is the database of another program: choose another path"
    );
    assert_eq!(std::fs::read(&other).unwrap(), before, "left as it was");
}

/// Nobody may make files in /sys, not even root.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_directory_that_cannot_be_written_to() {
    let text = open(Path::new("/sys/planwright.db"))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        text.starts_with("the store failed: cannot open /sys/planwright.db.lock for writing: ")
            && text.ends_with(
                "give this user the right to write to the directory, or name another database path"
            ),
        "{text}"
    );
}

async fn create(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .connect()
        .await
        .unwrap()
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_for_this_user_only() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, store) = fresh().await;
    store.accept(delivery("g", 0, vec![])).await.unwrap();
    let mut seen = 0;
    for file in std::fs::read_dir(directory.path()).unwrap() {
        let mode = file.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        seen += 1;
    }
    assert!(seen >= 3, "database, WAL, lock");
}

/// On one thread the writer cannot start before all have asked.
#[tokio::test]
async fn a_full_queue_is_busy() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions {
        queue_depth: 3,
        ..SqliteOptions::default()
    };
    let store = SqlStore::open_sqlite(&directory.path().join("p.db"), options, at(0))
        .await
        .unwrap();
    let guids: Vec<_> = (0..10).map(|n| format!("g{n}")).collect();
    let outcomes = join_all(
        guids
            .iter()
            .map(|guid| store.accept(delivery(guid, 0, vec![]))),
    )
    .await;
    let texts: Vec<_> = outcomes
        .iter()
        .map(|outcome| {
            outcome
                .as_ref()
                .map_or_else(ToString::to_string, |a| format!("{a:?}"))
        })
        .collect();
    assert_eq!(texts[..3], ["New", "New", "New"]);
    for text in &texts[3..] {
        assert_eq!(
            text,
            "the store has too many deliveries waiting to be written"
        );
    }
    assert_eq!(
        store.accept(delivery("g9", 0, vec![])).await.unwrap(),
        Accepted::New
    );
}

#[tokio::test]
async fn a_refused_row_fails_alone() {
    let (_directory, store) = fresh().await;
    let taken = new_run(1, 1);
    contract::add(&store, "taken", 0, taken.clone()).await;
    let mut poison = delivery("poison", 0, vec![taken]);
    poison.runs[0].trigger.guidance = Some("SECRET".into());
    let mut too_large = delivery("too large", 0, vec![new_run(1, 9)]);
    too_large.runs[0].repo_id = u64::MAX;
    let good = |n: u64| delivery(&format!("good{n}"), 0, vec![new_run(1, n)]);
    let batch = [good(2), poison, good(3), too_large, good(4)];
    let outcomes = join_all(batch.into_iter().map(|delivery| store.accept(delivery))).await;
    let texts: Vec<_> = outcomes
        .iter()
        .map(|outcome| {
            outcome
                .as_ref()
                .map_or_else(ToString::to_string, |a| format!("{a:?}"))
        })
        .collect();
    assert_eq!(
        texts,
        [
            "New",
            "the store failed: UNIQUE constraint failed: runs.id",
            "New",
            "the store failed: cannot store REAL value in INTEGER column runs.repo_id",
            "New"
        ]
    );
    // Refused as a whole: the next try is not taken for a duplicate.
    let retry = delivery("poison", 1, vec![new_run(1, 5)]);
    assert_eq!(store.accept(retry).await.unwrap(), Accepted::New);
}

#[tokio::test]
async fn a_locked_database_fails_and_recovers() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("p.db");
    let options = SqliteOptions {
        busy_timeout: Duration::from_millis(20),
        ..SqliteOptions::default()
    };
    let store = SqlStore::open_sqlite(&path, options, at(0)).await.unwrap();
    let mut shell = raw(&path).await;
    run_sql(&mut shell, "BEGIN IMMEDIATE").await;
    let locked = "the store failed: database is locked: another program keeps the database locked; end it (a backup, \
                  a shell?)";
    let refused = store.accept(delivery("g", 0, vec![new_run(1, 1)])).await;
    assert_eq!(refused.unwrap_err().to_string(), locked);
    assert_eq!(store.ping().await.unwrap_err().to_string(), locked);
    run_sql(&mut shell, "COMMIT").await;
    store.ping().await.unwrap();
    let accepted = store.accept(delivery("g", 0, vec![new_run(1, 1)])).await;
    assert_eq!(accepted.unwrap(), Accepted::New);
}

#[tokio::test]
async fn a_start_recovers_everything() {
    let (_directory, store) = fresh().await;
    let store = &store;
    let running = contract::add(store, "a", 0, new_run(1, 1)).await;
    let blocked = contract::add(store, "b", 0, new_run(1, 1)).await;
    let claimed = contract::must_claim(store, 1).await;
    store
        .claim_unacknowledged("ack", at(1), contract::LEASE, at(0))
        .await
        .unwrap()
        .expect("blocked");
    assert_eq!(store.recover_all(at(2)).await.unwrap(), 2);
    assert_eq!(contract::state(store, &running).await, State::Ready);
    assert_eq!(contract::state(store, &blocked).await, State::Blocked);
    assert!(
        store
            .save_progress(&claimed.lease, &contract::progress(1))
            .await
            .is_err()
    );
    assert_eq!(contract::must_claim(store, 3).await.lease.run, running);
}

#[tokio::test]
async fn a_start_ends_waits_of_a_clock_that_was_put_back() {
    const DAY: i64 = 86_400_000;
    let (_directory, store) = fresh().await;
    let store = &store;
    let id = contract::add(store, "a", DAY, new_run(1, 1)).await;
    let claimed = contract::must_claim(store, DAY).await;
    contract::finish(store, &claimed, contract::park(DAY + 5_000, false), DAY).await;
    let longest = i64::try_from(MAX_WAIT_AFTER_START.as_millis()).unwrap();
    store.recover_expired(at(0)).await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), Some(at(DAY + 5_000)));
    store.recover_all(at(0)).await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), Some(at(longest)));
    assert!(contract::claim(store, longest - 1).await.is_none());
    assert_eq!(contract::must_claim(store, longest).await.lease.run, id);
}

#[tokio::test]
async fn a_start_leaves_short_waits_alone() {
    let (_directory, store) = fresh().await;
    let store = &store;
    contract::add(store, "a", 0, new_run(1, 1)).await;
    let claimed = contract::must_claim(store, 0).await;
    contract::finish(store, &claimed, contract::park(5_000, false), 0).await;
    store.recover_all(at(1)).await.unwrap();
    assert_eq!(store.next_due().await.unwrap(), Some(at(5_000)));
}

#[tokio::test]
async fn what_a_fast_clock_spent_is_forgotten_in_time() {
    let (_directory, store) = fresh().await;
    contract::spending::what_a_fast_clock_spent_is_forgotten_in_time(&store).await;
}

#[tokio::test]
async fn opening_takes_back_the_leases_of_an_earlier_process() {
    let (directory, store) = fresh().await;
    let id = contract::add(&store, "g", 0, new_run(1, 1)).await;
    contract::must_claim(&store, 1).await;
    store.close().await;
    let store = open(&directory.path().join("planwright.db")).await.unwrap();
    assert_eq!(contract::state(&store, &id).await, State::Ready);
}

#[tokio::test]
async fn a_run_that_cannot_be_read_fails_once() {
    let (directory, store) = fresh().await;
    let id = contract::add(&store, "g", 0, new_run(1, 1)).await;
    let next = contract::add(&store, "h", 0, new_run(1, 1)).await;
    let mut shell = shell(&directory, &store).await;
    run_sql(&mut shell, "UPDATE texts SET trigger = '{}' WHERE run = 1").await;
    let claimed = store
        .claim("w", at(1), contract::LEASE, &ClaimLimits::default())
        .await;
    assert!(matches!(claimed, Err(StoreError::Corrupt { .. })));
    let view = store.run(&id).await.unwrap().unwrap();
    assert_eq!(
        (view.state, view.code, view.trigger),
        (State::Failed, Some(Code::Internal), None)
    );
    assert_eq!(contract::must_claim(&store, 2).await.lease.run, next);
}

#[tokio::test]
async fn the_text_of_a_comment_is_stored_once_for_all_of_its_runs() {
    let (directory, store) = fresh().await;
    let text = "Words of the comment. ".repeat(500);
    let runs = (1..=2).map(|number| {
        let mut run = new_run(1, number);
        run.trigger.origin = Origin::Comment {
            id: 7,
            text: text.clone(),
            url: String::new(),
        };
        run
    });
    store
        .accept(delivery("g", 0, runs.collect()))
        .await
        .unwrap();
    let mut shell = shell(&directory, &store).await;
    let lengths: (i64, i64) = sqlx::query_as(
        "SELECT (SELECT max(length(trigger)) FROM texts), (SELECT length(text) FROM deliveries)",
    )
    .fetch_one(&mut shell)
    .await
    .unwrap();
    assert!(lengths.0 < 1_000, "{lengths:?}");
    assert_eq!(lengths.1, 11_000);
}

#[tokio::test]
async fn unreadable_rows_are_named_not_fatal() {
    let (directory, store) = fresh().await;
    let id = contract::add(&store, "g", 0, new_run(1, 1)).await;
    let mut shell = shell(&directory, &store).await;
    let cases = [
        (
            "PRAGMA ignore_check_constraints = ON; UPDATE runs SET state = 'dreaming'",
            "the store contains an unreadable column `state` of run ID: `dreaming` is not a state",
        ),
        (
            "UPDATE runs SET state = 'ready', attempt = -1",
            "the store contains an unreadable column `attempt` of run ID: out of range integral type conversion attempted",
        ),
        (
            "UPDATE runs SET attempt = 0; PRAGMA foreign_keys = OFF; DELETE FROM texts",
            "the store contains an unreadable column `trigger` of run ID: it is NULL",
        ),
    ];
    for (damage, text) in cases {
        run_sql(&mut shell, damage).await;
        let error = store.run(&id).await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }));
        assert_eq!(error.to_string().replace(&id.0, "ID"), text);
    }
    let claimed = store
        .claim("w", at(1), contract::LEASE, &ClaimLimits::default())
        .await;
    assert!(matches!(claimed, Err(StoreError::Corrupt { .. })));
}

#[tokio::test]
async fn the_database_itself_keeps_the_rules() {
    let (directory, store) = fresh().await;
    let runs = vec![new_run(1, 1), new_run(1, 1)];
    store.accept(delivery("g", 0, runs)).await.unwrap();
    store
        .audit(AuditEntry {
            at: at(0),
            run: None,
            guid: None,
            actor: String::new(),
            decision: "accepted".into(),
            why: "test".into(),
        })
        .await
        .unwrap();
    let mut shell = shell(&directory, &store).await;
    let cases = [
        (
            "UPDATE runs SET state = 'ready'",
            "UNIQUE constraint failed: runs.serial",
        ),
        ("UPDATE audit SET why = 'other'", "the audit is append-only"),
        ("DELETE FROM runs", "FOREIGN KEY constraint failed"),
    ];
    for (sql, text) in cases {
        let error = sqlx::raw_sql(sql).execute(&mut shell).await.unwrap_err();
        let error = error.into_database_error().unwrap();
        assert_eq!(error.message(), text);
    }
}

/// Accepted is durable, closed is complete: the WAL is gone and everything is in the one file.
#[tokio::test]
async fn close_answers_everything_and_leaves_one_file() {
    let (directory, store) = fresh().await;
    let guids: Vec<_> = (0..50).map(|n| format!("g{n}")).collect();
    let accepts = join_all(
        guids
            .iter()
            .map(|guid| store.accept(delivery(guid, 0, vec![]))),
    );
    let (outcomes, ()) = tokio::join!(accepts, store.close());
    assert!(
        outcomes
            .into_iter()
            .all(|outcome| outcome.unwrap() == Accepted::New)
    );
    let path = directory.path().join("planwright.db");
    assert!(!directory.path().join("planwright.db-wal").exists());
    let store = open(&path).await.unwrap();
    let again = store.accept(delivery("g49", 0, vec![])).await.unwrap();
    assert_eq!(again, Accepted::Duplicate);
}

/// The files that a kill would leave now, copied: the database, and which of its companions `with`
/// names.
fn as_after_a_kill(from: &Path, with: &[&str]) -> (TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("planwright.db");
    std::fs::copy(from, &to).unwrap();
    for end in with {
        let name = |path: &Path| format!("{}{end}", path.display());
        std::fs::copy(name(from), name(&to)).unwrap();
    }
    (directory, to)
}

async fn duplicate(path: &Path, guid: &str) -> bool {
    let store = open(path).await.unwrap();
    let again = store.accept(delivery(guid, 1, vec![])).await.unwrap();
    store.close().await;
    again == Accepted::Duplicate
}

#[tokio::test]
async fn a_wal_that_was_deleted_after_a_kill_is_noticed() {
    let (directory, store) = fresh().await;
    let path = directory.path().join("planwright.db");
    store.accept(delivery("g1", 0, vec![])).await.unwrap();
    let (_whole, whole) = as_after_a_kill(&path, &["-wal", ".changes"]);
    let (_cut, cut) = as_after_a_kill(&path, &[".changes"]);
    assert!(duplicate(&whole, "g1").await);
    assert_eq!(
        refusal(&cut).await,
        "the database has lost changes: DIR/planwright.db holds 0 of the 2 changes that \
         DIR/planwright.db.changes records: put back the -wal file that belongs to it, or restore \
         a newer backup in place of both; to continue without the lost changes, delete \
         DIR/planwright.db.changes first"
    );
    // Nothing was changed: the files can be put together again.
    let wal = format!("{}-wal", cut.display());
    std::fs::copy(format!("{}-wal", path.display()), wal).unwrap();
    assert!(duplicate(&cut, "g1").await);

    // What came after a checkpoint is missed as well, be it one change.
    let mut shell = raw(&path).await;
    run_sql(&mut shell, "PRAGMA wal_checkpoint(PASSIVE)").await;
    store.accept(delivery("g2", 0, vec![])).await.unwrap();
    let (_later, later) = as_after_a_kill(&path, &[".changes"]);
    assert!(
        refusal(&later).await.contains("holds 2 of the 3 changes"),
        "{}",
        refusal(&later).await
    );
    std::fs::remove_file(format!("{}.changes", later.display())).unwrap();
    assert!(
        !duplicate(&later, "g2").await,
        "told to go on without what is lost"
    );
}

async fn claim(store: &SqlStore) -> Claimed {
    let limits = ClaimLimits::default();
    let claimed = store.claim("w", at(1), contract::LEASE, &limits).await;
    claimed.unwrap().unwrap()
}

/// Returns the recorded number of changes.
fn recorded(path: &Path) -> i64 {
    let record = std::fs::read_to_string(format!("{}.changes", path.display())).unwrap();
    record.trim_end().parse().unwrap()
}

#[tokio::test]
async fn a_claim_is_recorded_when_a_later_change_has_been_flushed() {
    let (directory, store) = fresh().await;
    let path = directory.path().join("planwright.db");
    contract::add(&store, "g", 0, new_run(1, 1)).await;
    // The next turn of the writer records what the one before has committed.
    let turn = async || store.recover_expired(at(1)).await.unwrap();
    turn().await;
    let before = recorded(&path);
    let claimed = claim(&store).await;
    turn().await;
    assert_eq!(recorded(&path), before, "a power failure may undo it");
    let progress = contract::progress(1);
    let saved = store.save_progress(&claimed.lease, &progress).await;
    saved.unwrap();
    turn().await;
    assert_eq!(recorded(&path), before + 2, "flushed with the progress");
}

#[tokio::test]
async fn a_claim_is_recorded_when_the_store_is_closed() {
    let (directory, store) = fresh().await;
    let path = directory.path().join("planwright.db");
    contract::add(&store, "g", 0, new_run(1, 1)).await;
    store.recover_expired(at(1)).await.unwrap();
    let before = recorded(&path);
    claim(&store).await;
    store.close().await;
    assert_eq!(recorded(&path), before + 1);
}

#[tokio::test]
async fn every_kind_of_change_is_missed_when_it_is_lost() {
    let (directory, store) = fresh().await;
    let path = directory.path().join("planwright.db");
    let id = contract::add(&store, "g", 0, new_run(1, 1)).await;
    let mut shell = raw(&path).await;
    claim(&store).await;
    // The next turn of the writer records what the one before has committed.
    store.recover_expired(at(1)).await.unwrap();
    let mut before = recorded(&path);
    for change in 0..5 {
        let lease = planwright::engine::store::Lease {
            run: id.clone(),
            owner: "w".into(),
            fence: 1,
        };
        match change {
            0 => store
                .save_progress(&lease, &contract::progress(1))
                .await
                .unwrap(),
            1 => drop(store.begin_effect(&lease, "e", at(2)).await.unwrap()),
            2 => store.end_effect(&lease, "e", "1", at(3)).await.unwrap(),
            3 => drop(store.send_message(&id, "{}", at(4)).await.unwrap()),
            _ => {
                let how = planwright::engine::store::RunOutcome::Succeeded;
                store.finish(&lease, &how, at(5)).await.unwrap();
            }
        }
        store.recover_expired(at(6)).await.unwrap();
        let now = recorded(&path);
        assert!(now > before, "change {change}: {now}");
        before = now;
        let (_cut, cut) = as_after_a_kill(&path, &[".changes"]);
        assert!(
            matches!(open(&cut).await, Err(StoreError::Lost(_))),
            "{change}"
        );
        run_sql(&mut shell, "PRAGMA wal_checkpoint(PASSIVE)").await;
    }
}

#[tokio::test]
async fn a_database_that_is_missing_or_empty_is_not_begun_anew_in_silence() {
    let (directory, store) = fresh().await;
    let path = directory.path().join("planwright.db");
    store.accept(delivery("g1", 0, vec![])).await.unwrap();
    store.close().await;
    let remedy = "and DIR/planwright.db.changes records 2 changes in it: put the database back with its -wal file, or \
                  restore a backup in place of both; to begin with a new database, delete DIR/planwright.db.changes first";
    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        refusal(&path).await,
        format!("the database has lost changes: DIR/planwright.db is missing, {remedy}")
    );
    assert!(!path.exists(), "left as it was");
    std::fs::write(&path, "").unwrap();
    assert_eq!(
        refusal(&path).await,
        format!("the database has lost changes: DIR/planwright.db is empty (0 bytes), {remedy}")
    );
    let told = check_sqlite(&path).unwrap_err();
    assert!(matches!(told, StoreError::Lost(_)), "{told}");
    std::fs::remove_file(directory.path().join("planwright.db.changes")).unwrap();
    check_sqlite(&path).unwrap();
    assert!(!duplicate(&path, "g1").await);
}

#[tokio::test]
async fn an_older_copy_of_the_database_is_not_taken_for_the_present_one() {
    let (directory, store) = fresh().await;
    let path = directory.path().join("planwright.db");
    store.close().await;
    let backup = std::fs::read(&path).unwrap();
    assert!(!duplicate(&path, "g1").await);
    std::fs::write(&path, backup).unwrap();
    assert!(matches!(open(&path).await, Err(StoreError::Lost(_))));
}

#[tokio::test]
async fn nothing_ordinary_is_taken_for_a_loss() {
    // A crash of the very first start, before the database was made.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("planwright.db");
    std::fs::write(&path, "").unwrap();
    let store = open(&path).await.unwrap();
    store.accept(delivery("g1", 0, vec![])).await.unwrap();
    // After a kill somebody looks with a shell, which empties and removes the WAL.
    let (_killed, killed) = as_after_a_kill(&path, &["-wal", ".changes"]);
    let mut shell = raw(&killed).await;
    run_sql(&mut shell, "SELECT count(*) FROM runs").await;
    sqlx::Connection::close(shell).await.unwrap();
    assert!(!Path::new(&format!("{}-wal", killed.display())).exists());
    assert!(duplicate(&killed, "g1").await);
    // A power failure took the record, or what was written to it.
    for record in [None, Some(""), Some("0000000000\0\0\0\0\0\0\0\0\0\0\0")] {
        let (_cut, cut) = as_after_a_kill(&path, &["-wal"]);
        if let Some(record) = record {
            std::fs::write(format!("{}.changes", cut.display()), record).unwrap();
        }
        assert!(duplicate(&cut, "g1").await);
    }
    // A clean stop, again and again.
    store.close().await;
    for _ in 0..3 {
        assert!(duplicate(&path, "g1").await);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn links_and_a_deleted_lock_file_admit_no_second_process() {
    use std::os::unix::fs::symlink;
    let (directory, store) = fresh().await;
    let path = directory.path().join("planwright.db");
    let other = tempfile::tempdir().unwrap();
    let symbolic = other.path().join("symbolic.db");
    symlink(&path, &symbolic).unwrap();
    let hard = other.path().join("hard.db");
    std::fs::hard_link(&path, &hard).unwrap();
    assert!(
        open(&symbolic)
            .await
            .unwrap_err()
            .to_string()
            .starts_with("the store failed: another planwright process uses the database ")
    );
    let elsewhere = "the store failed: another planwright process uses the database DIR/NAME, \
                     under another name or with its lock file deleted: stop that process first, or \
                     give this one its own store.path";
    assert_eq!(refusal(&hard).await, elsewhere.replace("NAME", "hard.db"));
    std::fs::remove_file(directory.path().join("planwright.db.lock")).unwrap();
    assert_eq!(
        refusal(&path).await,
        elsewhere.replace("NAME", "planwright.db")
    );
    // The one that has it goes on, and gives it free when it ends.
    store.accept(delivery("g1", 0, vec![])).await.unwrap();
    store.close().await;
    assert!(duplicate(&symbolic, "g1").await);
    assert!(!other.path().join("symbolic.db.lock").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn a_symbolic_link_to_a_database_that_is_not_there_yet_leads_to_the_same_files() {
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("link.db");
    std::os::unix::fs::symlink("real.db", &link).unwrap();
    let store = open(&link).await.unwrap();
    for name in ["real.db", "real.db.lock", "real.db.changes"] {
        assert!(directory.path().join(name).exists(), "{name}");
    }
    assert!(open(&directory.path().join("real.db")).await.is_err());
    store.close().await;
}
