//! A store is copied between SQLite and PostgreSQL: what is copied, interruptions at any point,
//! refusals, and what is found by the comparison at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use planwright::adapters::store::{
    Copied, CopyOptions, Kind, Location, NOT_COPIED, PostgresOptions, Progress, SqlStore,
    SqliteOptions, TABLES, copy, inspect, inspect_postgres,
};
use planwright::engine::model::agent::Spent;
use planwright::engine::model::failure::Code;
use planwright::engine::model::intake::{
    DecisionRecord, LogState, LoggedAttempt, ScanState, Source, Subject, Verdict,
};
use planwright::engine::model::plan_entry::PlanEntry;
use planwright::engine::model::run::{RunId, State};
use planwright::engine::model::trigger::{Origin, Repo};
use planwright::engine::store::{
    ActorStanding, AnswerLimits, AuditEntry, BudgetScope, ClaimLimits, CommandRequest, NewRun,
    RunOutcome, SavedPlan, Store, StoreError,
};
use secrecy::SecretString;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, SqliteConnection};
use tempfile::TempDir;
use tokio::sync::Notify;
use url::Url;

use crate::store_contract::spending::ANYTHING;
use crate::store_contract::{add, at, delivery, must_claim, new_run, park, progress, state};
use crate::support::postgres::{self, database, raw};

/// A copy in small transactions, so that there are many.
const SMALL: CopyOptions = CopyOptions {
    max_rows: 4,
    max_bytes: 600 << 10,
};

/// Lengths of what people said, in bytes. GitHub's limit of a comment is 256 KiB.
const SHORT: usize = 1 << 10;
const LONG: usize = 256 << 10;

/// A new SQLite path and a new PostgreSQL database.
pub(crate) struct Places {
    pub(crate) folder: TempDir,
    pub(crate) url: Url,
}

impl Places {
    /// The SQLite file is in memory if possible, because a crash of the machine is no subject here.
    pub(crate) async fn new() -> Option<Self> {
        let url = database().await?;
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        Some(Self {
            url,
            folder: folder.unwrap(),
        })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn sqlite(&self, name: &str) -> Location {
        Location::Sqlite(self.path(name))
    }

    pub(crate) fn postgres(&self) -> Location {
        Location::Postgres(SecretString::from(self.url.to_string()))
    }

    /// An error text, with what differs between tests taken out.
    fn shown(&self, text: &str) -> String {
        let folder = self.folder.path().canonicalize().unwrap();
        let host = self.url.host_str().unwrap();
        let place = format!(
            "{host}:{}{}",
            self.url.port().unwrap_or(5432),
            self.url.path()
        );
        text.replace(folder.to_str().unwrap(), "DIR")
            .replace(&place, "HOST/DATABASE")
    }
}

fn quiet(_: Progress) {}

/// Copies at [`at`]`(0)`.
pub(crate) async fn copied(from: &Location, to: &Location) -> Copied {
    let copied = copy(from, to, at(0), &SMALL, &mut quiet).await.unwrap();
    assert!(copied.is_complete(), "{copied:?}");
    copied
}

/// The digests of all tables of a source.
fn digests(copied: &Copied) -> Vec<(&'static str, u64, String)> {
    let tables = copied.tables.iter();
    tables
        .map(|one| (one.table, one.source.rows, one.source.digest()))
        .collect()
}

/// Copies until `count` steps have been reported, and then stops, as a killed process does. Returns
/// false if the copy ended before.
async fn copies_until(from: &Location, to: &Location, count: usize) -> bool {
    let (mut seen, reached) = (0, Notify::new());
    let mut progress = |_| {
        seen += 1;
        if seen == count {
            reached.notify_one();
        }
    };
    tokio::select! {
        biased;
        () = reached.notified() => true,
        copied = copy(from, to, at(0), &SMALL, &mut progress) => {
            assert!(copied.unwrap().is_complete());
            false
        }
    }
}

/// Waits until a copy that was stopped has let go of the SQLite database.
async fn unlocked(path: &Path) {
    let lock = std::fs::File::open(format!("{}.lock", path.display())).unwrap();
    while lock.try_lock_shared().is_err() {
        tokio::task::yield_now().await;
    }
}

async fn open_sqlite(path: &Path) -> Result<SqlStore, StoreError> {
    SqlStore::open_sqlite(path, SqliteOptions::default(), at(0)).await
}

async fn open_postgres(url: &Url) -> Result<SqlStore, StoreError> {
    let url = SecretString::from(url.to_string());
    SqlStore::open_postgres(&url, PostgresOptions::default()).await
}

async fn raw_sqlite(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path);
    options.connect().await.unwrap()
}

/// A text with everything that is easily lost, of so many bytes at least.
fn hostile(bytes: usize) -> String {
    let piece = "said\0 \u{1f680} \u{fffd} \\u0000 \\\\u0000 \u{202e} 'x' \"y\" $1 ?\r\n\u{feff}";
    piece.repeat(bytes / piece.len() + 1)
}

fn hostile_run(number: u64, bytes: usize) -> NewRun {
    let mut run = new_run(1, number);
    run.trigger.origin = Origin::Comment {
        id: number,
        text: hostile(bytes),
        url: String::new(),
    };
    run.trigger.guidance = Some("nul \0 here".to_owned());
    run
}

/// Fills a store: every table has several rows, there is a run in every state, one of them is
/// leased, and the outcome of some writes is unknown. What people said has `bytes`.
async fn fill(store: &dyn Store, bytes: usize) {
    for number in 1..=6 {
        let mut new = delivery(&format!("g{number}"), 0, vec![hostile_run(number, bytes)]);
        new.payload = (number % 2 == 0).then(|| vec![0, 0xff, b'{', 0]);
        new.dedup_key = Some(format!("said {number}"));
        if number > 3 {
            // Blocked behind the other.
            new.runs.push(new_run(1, number));
        }
        store.accept(new).await.unwrap();
    }
    let scope = BudgetScope { repo: 1, actor: 7 };
    let answers = AnswerLimits {
        person: 9,
        place: 9,
        installation: 9,
        window: Duration::from_hours(1),
    };
    for number in 1..=5_u64 {
        let lease = &must_claim(store, 10).await.lease;
        let request = CommandRequest {
            installation: 1,
            place: format!("1#{number}"),
            actor: 7,
            comment: Some(number),
        };
        let standing = ActorStanding {
            outsider: false,
            refused: false,
        };
        let decided = store.decide_answer(lease, &request, Some(standing), &answers, at(11));
        decided.await.unwrap();
        store.save_progress(lease, &progress(3)).await.unwrap();
        store.begin_effect(lease, "done", at(12)).await.unwrap();
        let result = "\"\\u0000 \u{1f680}\"";
        store
            .end_effect(lease, "done", result, at(13))
            .await
            .unwrap();
        store.begin_effect(lease, "unknown", at(14)).await.unwrap();
        for key in ["t1", "t2"] {
            let begun = store.begin_turn(lease, key, scope, &ANYTHING, at(15)).await;
            begun.unwrap().unwrap();
        }
        let spent = Spent {
            turns: 2,
            cost: 30,
            ..Spent::default()
        };
        store.end_turn(lease, "t1", &spent).await.unwrap();
        // It would wake the one that waits.
        if number != 4 {
            let message = "\"m \\u0000\"";
            let told = store.send_message(&lease.run, message, at(17));
            told.await.unwrap();
        }
        let saved = SavedPlan {
            run: lease.run.clone(),
            at: at(18),
            text: "t".to_owned(),
            request: "r".to_owned(),
            complete: number % 2 == 0,
            issue: number,
            url: "https://github.com/o/r/issues/1".to_owned(),
            replaces: (number == 3).then_some(1),
        };
        store
            .record_saved(
                lease,
                &saved,
                &PlanEntry::new("ann", "Plan \u{1f680}", "nul \0 here"),
            )
            .await
            .unwrap();
        let repo = Repo {
            installation: 5,
            id: number,
            owner: "acme".to_owned(),
            name: format!("search-{number}"),
        };
        store.record_repository(&repo).await.unwrap();
        let output = store.append_output(&lease.run, "printed \u{1f680}\n", at(19));
        output.await.unwrap();
        let outcome = match number {
            1 => RunOutcome::Succeeded,
            2 => RunOutcome::Failed {
                code: Code::Internal,
                message: "nul \0 here".to_owned(),
            },
            3 => RunOutcome::Cancelled,
            4 => park(60_000, true),
            // Stays running.
            _ => continue,
        };
        store.finish(lease, &outcome, at(20)).await.unwrap();
    }
    for number in 1..=3 {
        let entry = AuditEntry {
            at: at(number),
            run: Some(RunId("r".to_owned())),
            guid: None,
            actor: "ann \0".to_owned(),
            decision: "refused".to_owned(),
            why: "because \u{1f680}".to_owned(),
        };
        store.audit(entry).await.unwrap();
    }
    let decision = |number: u64| DecisionRecord {
        at: at(0),
        source: Source::Webhook,
        guid: format!("d{number}"),
        event: "issue_comment".to_owned(),
        subject: Subject {
            action: Some("created".to_owned()),
            repo: Some(number),
            number: Some(1),
            comment: None,
        },
        verdict: Verdict::Ignored("no \0 command".to_owned()),
    };
    let decisions: Vec<_> = (1..=3).map(decision).collect();
    store.record_decisions(&decisions).await.unwrap();
    let missed = |id: u64| LoggedAttempt {
        id,
        guid: format!("m{id}"),
        event: "push".to_owned(),
        action: None,
        delivered: at(1),
        status_code: 502,
        repo: (id == 1).then_some(1),
    };
    let missed: Vec<_> = (1..=3).map(missed).collect();
    let log = LogState {
        watermark: at(1),
        walk: None,
    };
    store.save_log_state(&log, &missed).await.unwrap();
    for repo in 1..=3 {
        let state = ScanState::default();
        store.save_scan_state(repo, &state).await.unwrap();
    }
}

/// Fills the SQLite store `a.db`.
async fn filled(places: &Places, bytes: usize) -> PathBuf {
    let path = places.path("a.db");
    let store = open_sqlite(&path).await.unwrap();
    fill(&store, bytes).await;
    store.close().await;
    path
}

/// Table, column, type and position in the primary key (0: not part of it).
type Catalog = Vec<(String, String, String, i64)>;

async fn sqlite_catalog(connection: &mut SqliteConnection) -> Catalog {
    let sql = "SELECT tables.name, columns.name, columns.type, columns.pk
               FROM sqlite_schema AS tables CROSS JOIN pragma_table_info(tables.name) AS columns
               WHERE tables.type = 'table'";
    sqlx::query_as(sql).fetch_all(connection).await.unwrap()
}

async fn postgres_catalog(url: &Url) -> Catalog {
    let sql = "SELECT table_name::text, column_name::text, data_type::text,
                      coalesce((SELECT ordinal_position::bigint FROM information_schema.key_column_usage AS used
                                JOIN information_schema.table_constraints AS key USING (constraint_schema, constraint_name)
                                WHERE key.constraint_type = 'PRIMARY KEY' AND used.table_name = columns.table_name
                                  AND used.column_name = columns.column_name), 0)
               FROM information_schema.columns AS columns WHERE table_schema = current_schema()";
    let mut connection = raw(url).await;
    sqlx::query_as(sql)
        .fetch_all(&mut connection)
        .await
        .unwrap()
}

/// What the list of tables says otherwise than a catalog.
fn differences(catalog: &Catalog, types: impl Fn(Kind) -> &'static [&'static str]) -> Vec<String> {
    let mut wrong = Vec::new();
    let not_copied: BTreeSet<_> = NOT_COPIED.iter().map(|(name, _)| *name).collect();
    let mut keys: BTreeMap<&str, BTreeMap<i64, &str>> = BTreeMap::new();
    let mut there = BTreeSet::new();
    for (table, column, kind, position) in catalog {
        if not_copied.contains(&**table) {
            continue;
        }
        there.insert((&**table, &**column));
        if *position > 0 {
            keys.entry(table).or_default().insert(*position, column);
        }
        let Some(listed) = TABLES.iter().find(|one| one.name == table) else {
            wrong.push(format!("the table {table} is not listed"));
            continue;
        };
        match listed.columns.iter().find(|one| one.name == column) {
            None => wrong.push(format!("{table}.{column} is not listed")),
            Some(one) if !types(one.kind).contains(&&**kind) => {
                wrong.push(format!("{table}.{column} is {kind}, not {:?}", one.kind));
            }
            Some(_) => {}
        }
    }
    for table in TABLES {
        for column in table.columns {
            if !there.contains(&(table.name, column.name)) {
                wrong.push(format!("{}.{} does not exist", table.name, column.name));
            }
        }
        let key: Vec<_> = keys.get(table.name).into_iter().flatten().collect();
        let key: Vec<_> = key.into_iter().map(|(_, column)| *column).collect();
        if key != table.key {
            wrong.push(format!("the key of {} is {key:?}", table.name));
        }
    }
    wrong.sort();
    wrong.dedup();
    wrong
}

fn sqlite_types(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Int => &["INTEGER"],
        Kind::Text | Kind::Long => &["TEXT"],
        Kind::Bytes => &["BLOB"],
    }
}

fn postgres_types(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Int => &["bigint", "integer", "smallint"],
        Kind::Text => &["text"],
        Kind::Long | Kind::Bytes => &["bytea"],
    }
}

const NONE: [String; 0] = [];

/// A migration that adds a table or a column has to add it to the list, too.
#[tokio::test]
async fn every_table_and_column_of_both_databases_is_listed() {
    let Some(places) = Places::new().await else {
        return;
    };
    let path = places.path("a.db");
    open_sqlite(&path).await.unwrap().close().await;
    postgres::open(&places.url).await.close().await;
    let mut sqlite = raw_sqlite(&path).await;
    assert_eq!(
        differences(&sqlite_catalog(&mut sqlite).await, sqlite_types),
        NONE
    );
    let catalog = postgres_catalog(&places.url).await;
    assert_eq!(differences(&catalog, postgres_types), NONE);

    let newer =
        "ALTER TABLE runs ADD COLUMN newer TEXT; CREATE TABLE newer (id INTEGER PRIMARY KEY)";
    sqlx::raw_sql(newer).execute(&mut sqlite).await.unwrap();
    let mut connection = raw(&places.url).await;
    sqlx::raw_sql(newer).execute(&mut connection).await.unwrap();
    let added = ["runs.newer is not listed", "the table newer is not listed"];
    assert_eq!(
        differences(&sqlite_catalog(&mut sqlite).await, sqlite_types),
        added
    );
    let catalog = postgres_catalog(&places.url).await;
    assert_eq!(differences(&catalog, postgres_types), added);
}

#[tokio::test]
async fn tables_follow_those_they_refer_to_and_numbered_columns_are_known() {
    let Some(places) = Places::new().await else {
        return;
    };
    postgres::open(&places.url).await.close().await;
    let mut connection = raw(&places.url).await;
    let references: Vec<(String, String)> = sqlx::query_as(
        "SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint WHERE contype = 'f'",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    let place = |name: &str| TABLES.iter().position(|table| table.name == name);
    let mut checked = 0;
    for (table, refers_to) in &references {
        if let Some(at) = place(table) {
            assert!(place(refers_to) < Some(at), "{table} refers to {refers_to}");
            checked += 1;
        }
    }
    assert!(checked >= 4, "{references:?}");
    let mut numbered: Vec<(String, String)> = sqlx::query_as(
        "SELECT table_name::text, column_name::text FROM information_schema.columns
         WHERE table_schema = current_schema() AND is_identity = 'YES'",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    let listed = TABLES.iter().filter_map(|table| {
        let column = table.numbered?;
        Some((table.name.to_owned(), column.to_owned()))
    });
    let mut listed: Vec<_> = listed.collect();
    listed.sort();
    numbered.sort();
    assert_eq!(listed, numbered);
}

#[tokio::test]
async fn hostile_texts_and_every_table_survive_both_ways() {
    let Some(places) = Places::new().await else {
        return;
    };
    filled(&places, LONG).await;
    let there = copied(&places.sqlite("a.db"), &places.postgres()).await;
    let empty: Vec<_> = there
        .tables
        .iter()
        .filter(|one| one.source.rows == 0)
        .collect();
    assert!(empty.is_empty(), "{empty:?}");
    let back = copied(&places.postgres(), &places.sqlite("b.db")).await;
    assert_eq!(digests(&there), digests(&back));
    assert_eq!(there.tables.len(), TABLES.len());
    assert_eq!(places.shown(&there.from), "sqlite:DIR/a.db");
    assert_eq!(places.shown(&there.to), "postgres:HOST/DATABASE");

    let stores = [
        postgres::open(&places.url).await,
        open_sqlite(&places.path("b.db")).await.unwrap(),
    ];
    for store in &stores {
        let triggers: Vec<_> = (1..=2).map(|n| must_claim(store, n)).collect();
        let mut found = Vec::new();
        for trigger in triggers {
            let claimed = trigger.await;
            found.push((claimed.guid.clone(), claimed.trigger, claimed.attempt));
        }
        // The one that was running, and one that nobody has claimed.
        for ((guid, trigger, attempt), (number, attempts)) in
            found.into_iter().zip([(5, 2), (6, 1)])
        {
            assert_eq!((guid, attempt), (format!("g{number}"), attempts));
            assert_eq!(trigger.origin, hostile_run(number, LONG).trigger.origin);
            assert_eq!(trigger.guidance.as_deref(), Some("nul \0 here"));
        }
        // PostgreSQL cannot store NUL in a short text.
        let audit = store.audit_of(&RunId("r".to_owned())).await.unwrap();
        assert_eq!(audit.len(), 3);
        assert_eq!(audit[0].actor, "ann \u{fffd}");
        let failed = store.recent_runs(100).await.unwrap();
        let failed = failed
            .iter()
            .find(|run| run.state == State::Failed)
            .unwrap();
        assert_eq!(failed.note.as_deref(), Some("nul \u{fffd} here"));
        store.close().await;
    }
}

/// PostgreSQL's opening takes no lease back, because other processes may hold it.
#[tokio::test]
async fn a_run_that_was_running_is_claimed_again_on_the_other_side() {
    let Some(places) = Places::new().await else {
        return;
    };
    let lease = Duration::from_hours(1);
    let limits = ClaimLimits::default();
    let store = open_sqlite(&places.path("a.db")).await.unwrap();
    let id = add(&store, "g", 0, new_run(1, 1)).await;
    let first = store
        .claim("w", at(1), lease, &limits)
        .await
        .unwrap()
        .unwrap();
    store.close().await;
    copied(&places.sqlite("a.db"), &places.postgres()).await;

    let store = postgres::open(&places.url).await;
    assert_eq!(state(&store, &id).await, State::Ready);
    let second = store
        .claim("w", at(2), lease, &limits)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((&second.lease.run, second.attempt), (&id, 2));
    assert_eq!(second.lease.fence, first.lease.fence + 1);
    let beat = [second.lease.clone()];
    assert!(store.heartbeat(&beat, at(2), lease).await.unwrap()[0].held);
    store.close().await;
    copied(&places.postgres(), &places.sqlite("b.db")).await;

    let store = open_sqlite(&places.path("b.db")).await.unwrap();
    let third = store
        .claim("w", at(3), lease, &limits)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((&third.lease.run, third.attempt), (&id, 3));
    assert_eq!(third.lease.fence, first.lease.fence + 2);
    store.close().await;
}

#[tokio::test]
async fn numbers_continue_behind_the_highest_that_was_given() {
    let Some(places) = Places::new().await else {
        return;
    };
    let path = places.path("a.db");
    let store = open_sqlite(&path).await.unwrap();
    for number in 1..=3 {
        add(&store, &format!("g{number}"), 0, new_run(1, number)).await;
        let claimed = must_claim(&store, 1).await;
        let done = store.finish(&claimed.lease, &RunOutcome::Succeeded, at(2));
        done.await.unwrap();
    }
    assert_eq!(store.prune(at(3)).await.unwrap(), 3);
    store.close().await;
    copied(&places.sqlite("a.db"), &places.postgres()).await;
    let store = postgres::open(&places.url).await;
    add(&store, "h", 5, new_run(1, 4)).await;
    store.close().await;
    let numbers = "SELECT seq FROM runs ORDER BY seq";
    let seqs: Vec<i64> = sqlx::query_scalar(numbers)
        .fetch_all(&mut raw(&places.url).await)
        .await
        .unwrap();
    assert_eq!(seqs, [4]);
    copied(&places.postgres(), &places.sqlite("b.db")).await;
    let store = open_sqlite(&places.path("b.db")).await.unwrap();
    add(&store, "i", 6, new_run(1, 5)).await;
    store.close().await;
    let mut sqlite = raw_sqlite(&places.path("b.db")).await;
    let seqs: Vec<i64> = sqlx::query_scalar(numbers)
        .fetch_all(&mut sqlite)
        .await
        .unwrap();
    assert_eq!(seqs, [4, 5]);
}

const UNFINISHED: &str =
    "run the same `planwright store copy` again until it succeeds, or use another database";

/// Forgets everything in the PostgreSQL database.
async fn emptied(url: &Url) {
    postgres::empty(url).await;
    let mut connection = raw(url).await;
    let drop = "DROP TABLE IF EXISTS copy_of";
    sqlx::raw_sql(drop).execute(&mut connection).await.unwrap();
}

#[tokio::test]
async fn a_copy_to_postgres_that_is_killed_anywhere_is_continued() {
    let Some(places) = Places::new().await else {
        return;
    };
    let path = filled(&places, SHORT).await;
    let (from, to) = (places.sqlite("a.db"), places.postgres());
    let whole = digests(&copied(&from, &to).await);
    let mut interrupted = 0;
    loop {
        emptied(&places.url).await;
        if !copies_until(&from, &to, interrupted + 1).await {
            break;
        }
        interrupted += 1;
        unlocked(&path).await;
        let url = SecretString::from(places.url.to_string());
        let refused = inspect_postgres(&url).await.unwrap_err().to_string();
        assert_eq!(
            places.shown(&refused),
            format!(
                "the store failed: the database at HOST/DATABASE holds an unfinished copy of sqlite:DIR/a.db: {UNFINISHED}"
            )
        );
        let opened = open_postgres(&places.url).await.unwrap_err();
        assert_eq!(opened.to_string(), refused, "for a bot as well");
        let again = digests(&copied(&from, &to).await);
        assert_eq!(again, whole, "interrupted after step {interrupted}");
    }
    assert!(interrupted > 2 * TABLES.len(), "{interrupted}");
}

#[tokio::test]
async fn a_copy_to_sqlite_that_is_killed_anywhere_is_continued() {
    let Some(places) = Places::new().await else {
        return;
    };
    let store = postgres::open(&places.url).await;
    fill(&store, SHORT).await;
    store.close().await;
    let from = places.postgres();
    let whole = digests(&copied(&from, &places.sqlite("whole.db")).await);
    let mut interrupted = 0;
    loop {
        let name = format!("{interrupted}.db");
        let (path, to) = (places.path(&name), places.sqlite(&name));
        if !copies_until(&from, &to, interrupted + 1).await {
            break;
        }
        interrupted += 1;
        unlocked(&path).await;
        let refused = open_sqlite(&path).await.unwrap_err().to_string();
        assert_eq!(
            places.shown(&refused).replace(&name, "b.db"),
            format!(
                "the store failed: DIR/b.db holds an unfinished copy of postgres:HOST/DATABASE: {UNFINISHED}"
            )
        );
        let looked = inspect(&path).await.unwrap_err();
        assert_eq!(looked.to_string(), refused, "for `doctor` as well");
        let again = digests(&copied(&from, &to).await);
        assert_eq!(again, whole, "interrupted after step {interrupted}");
        open_sqlite(&path).await.unwrap().close().await;
    }
    assert!(interrupted > 2 * TABLES.len(), "{interrupted}");
}

/// The first rows of a table with the transactions that wrote them.
async fn written_by(url: &Url, table: &str) -> Vec<String> {
    let sql = format!("SELECT xmin::text FROM {table} ORDER BY 1");
    let written = sqlx::query_scalar(AssertSqlSafe(sql));
    written.fetch_all(&mut raw(url).await).await.unwrap()
}

#[tokio::test]
async fn what_is_equal_is_not_copied_again_and_what_has_changed_is() {
    let Some(places) = Places::new().await else {
        return;
    };
    let path = filled(&places, SHORT).await;
    let (from, to) = (places.sqlite("a.db"), places.postgres());
    assert!(copies_until(&from, &to, 12).await);
    unlocked(&path).await;
    let first = written_by(&places.url, "deliveries").await;
    assert_eq!(first.len(), 6);
    copied(&from, &to).await;
    assert_eq!(written_by(&places.url, "deliveries").await, first, "kept");
    // Opening the source later changes only the times of writes whose outcome is unknown.
    let later = copy(&from, &to, at(5_000), &SMALL, &mut quiet)
        .await
        .unwrap();
    assert!(later.is_complete());
    assert_eq!(written_by(&places.url, "deliveries").await, first, "kept");
    let times =
        "SELECT DISTINCT last_ms FROM effects WHERE key = 'unknown' ORDER BY last_ms DESC LIMIT 1";
    let last: i64 = sqlx::query_scalar(times)
        .fetch_one(&mut raw(&places.url).await)
        .await
        .unwrap();
    assert_eq!(last, at(5_000).0);
    // The bot goes on with the source: rows are added, changed and deleted.
    let store = open_sqlite(&path).await.unwrap();
    let claimed = must_claim(&store, 100).await;
    let finish = store.finish(&claimed.lease, &RunOutcome::Succeeded, at(101));
    finish.await.unwrap();
    add(&store, "later", 102, new_run(9, 9)).await;
    assert!(store.prune(at(50)).await.unwrap() > 0);
    store.close().await;
    let again = copied(&from, &to).await;
    assert_eq!(digests(&copied(&from, &to).await), digests(&again));
    let store = postgres::open(&places.url).await;
    assert_eq!(state(&store, &claimed.lease.run).await, State::Succeeded);
    store.close().await;
    // A bot has used it: it is a copy no longer.
    let refused = copy(&from, &to, at(0), &SMALL, &mut quiet)
        .await
        .unwrap_err();
    assert_eq!(
        places.shown(&refused.to_string()),
        "the store failed: postgres:HOST/DATABASE holds data that is not an unfinished copy: name a new database; \
         nothing was changed"
    );
}

#[tokio::test]
async fn a_target_with_anything_else_in_it_is_refused_and_left_alone() {
    let Some(places) = Places::new().await else {
        return;
    };
    filled(&places, SHORT).await;
    let refusal = async |from: &Location, to: &Location| {
        let refused = copy(from, to, at(0), &SMALL, &mut quiet).await.unwrap_err();
        places.shown(&refused.to_string())
    };
    let store = open_sqlite(&places.path("used.db")).await.unwrap();
    store
        .save_scan_state(1, &ScanState::default())
        .await
        .unwrap();
    store.close().await;
    let store = postgres::open(&places.url).await;
    add(&store, "theirs", 0, new_run(1, 1)).await;
    store.close().await;
    assert_eq!(
        refusal(&places.postgres(), &places.sqlite("used.db")).await,
        "the store failed: sqlite:DIR/used.db holds data that is not an unfinished copy: name a new database; nothing \
         was changed"
    );
    assert_eq!(
        refusal(&places.sqlite("a.db"), &places.postgres()).await,
        "the store failed: postgres:HOST/DATABASE holds data that is not an unfinished copy: name a new database; \
         nothing was changed"
    );
    let store = postgres::open(&places.url).await;
    assert_eq!(must_claim(&store, 1).await.guid, "theirs");
    store.close().await;

    emptied(&places.url).await;
    assert!(copies_until(&places.sqlite("a.db"), &places.postgres(), 9).await);
    open_sqlite(&places.path("other.db"))
        .await
        .unwrap()
        .close()
        .await;
    assert_eq!(
        refusal(&places.sqlite("other.db"), &places.postgres()).await,
        "the store failed: postgres:HOST/DATABASE holds a copy of sqlite:DIR/a.db: name a new database; nothing was \
         changed"
    );
    // Half a copy is no source either.
    assert_eq!(
        refusal(&places.postgres(), &places.sqlite("b.db")).await,
        format!(
            "the store failed: the database at HOST/DATABASE holds an unfinished copy of sqlite:DIR/a.db: {UNFINISHED}"
        )
    );
    assert!(!places.path("b.db").exists());
}

#[tokio::test]
async fn sources_that_are_none_are_refused() {
    let Some(places) = Places::new().await else {
        return;
    };
    let refusal = async |from: &Location, to: &Location| {
        let refused = copy(from, to, at(0), &SMALL, &mut quiet).await.unwrap_err();
        let folder = places.folder.path().to_str().unwrap();
        places.shown(&refused.to_string()).replace(folder, "DIR")
    };
    assert_eq!(
        refusal(&places.sqlite("none.db"), &places.postgres()).await,
        "the store failed: there is no database at DIR/none.db: name that of the bot"
    );
    assert_eq!(
        refusal(&places.postgres(), &places.sqlite("b.db")).await,
        "the store failed: the database at HOST/DATABASE is not one of planwright: name that of the bot"
    );
    assert_eq!(
        refusal(&places.sqlite("a.db"), &places.sqlite("b.db")).await,
        "the store failed: both databases are SQLite files: copy the file with `planwright store backup`"
    );
    assert_eq!(
        refusal(&places.postgres(), &places.postgres()).await,
        "the store failed: both databases are PostgreSQL: copy with pg_dump and pg_restore"
    );
    assert_eq!(std::fs::read_dir(places.folder.path()).unwrap().count(), 0);
    let tables: i64 =
        sqlx::query_scalar("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()")
            .fetch_one(&mut raw(&places.url).await)
            .await
            .unwrap();
    assert_eq!(tables, 0);

    postgres::open(&places.url).await.close().await;
    let newer =
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                 VALUES (99, 'newer', true, '\\x00', 0)";
    let mut connection = raw(&places.url).await;
    sqlx::raw_sql(newer).execute(&mut connection).await.unwrap();
    let refused = refusal(&places.postgres(), &places.sqlite("b.db")).await;
    assert!(
        refused.starts_with(
            "the store failed: the database at HOST/DATABASE was written by a newer planwright (its schema is 99, this program \
             knows "
        ) && refused.ends_with("): install the newer version"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_copy_is_refused_while_a_bot_uses_either_database() {
    let Some(places) = Places::new().await else {
        return;
    };
    filled(&places, SHORT).await;
    let refusal = async |from: &Location, to: &Location| {
        let refused = copy(from, to, at(0), &SMALL, &mut quiet).await.unwrap_err();
        places.shown(&refused.to_string())
    };
    let used = |name: &str| {
        format!(
            "the store failed: another planwright process uses the database DIR/{name}: stop that process first, or give \
             this one its own store.path (lock file DIR/{name}.lock)"
        )
    };
    let bot = open_sqlite(&places.path("a.db")).await.unwrap();
    assert_eq!(
        refusal(&places.sqlite("a.db"), &places.postgres()).await,
        used("a.db")
    );
    bot.close().await;
    let bot = postgres::open(&places.url).await;
    let rest = "on it and try again; one that was killed counts for 30 seconds";
    let one = format!(
        "the store failed: a bot uses the database at HOST/DATABASE: stop every bot {rest}"
    );
    assert_eq!(
        refusal(&places.sqlite("a.db"), &places.postgres()).await,
        one
    );
    assert_eq!(
        refusal(&places.postgres(), &places.sqlite("b.db")).await,
        one
    );
    assert!(!places.path("b.db").exists());
    let other = postgres::open(&places.url).await;
    assert_eq!(
        refusal(&places.postgres(), &places.sqlite("b.db")).await,
        format!(
            "the store failed: 2 bots use the database at HOST/DATABASE: stop every bot {rest}"
        )
    );
    other.close().await;
    // One that was killed: half a minute later.
    std::mem::forget(bot);
    let mut connection = raw(&places.url).await;
    let later = "UPDATE tasks SET until_ms = until_ms - 30000";
    sqlx::raw_sql(later).execute(&mut connection).await.unwrap();
    let bot = open_sqlite(&places.path("b.db")).await.unwrap();
    assert_eq!(
        refusal(&places.postgres(), &places.sqlite("b.db")).await,
        used("b.db")
    );
    bot.close().await;
    copied(&places.postgres(), &places.sqlite("b.db")).await;
}

/// Copies until `count` steps have been reported, performs `meanwhile`, and completes the copy.
async fn meanwhile(
    from: &Location,
    to: &Location,
    count: usize,
    meanwhile: impl Future<Output = ()>,
) {
    let (mut seen, reached) = (0, Notify::new());
    let mut progress = |_| {
        seen += 1;
        if seen == count {
            reached.notify_one();
        }
    };
    let mut copying = Box::pin(copy(from, to, at(0), &SMALL, &mut progress));
    tokio::select! {
        biased;
        () = reached.notified() => {}
        ended = &mut copying => panic!("{ended:?}"),
    }
    meanwhile.await;
    assert!(copying.await.unwrap().is_complete());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bots_that_start_during_a_copy_are_refused() {
    let Some(places) = Places::new().await else {
        return;
    };
    let path = filled(&places, SHORT).await;
    let said = |error: StoreError| places.shown(&error.to_string());
    let (sqlite, target) = (places.sqlite("a.db"), places.postgres());
    let copying = "the store failed: the database at HOST/DATABASE is being copied by `planwright store copy`: start again \
                   when that has ended";
    let locked = "another planwright process uses the database DIR/";
    meanwhile(&sqlite, &target, 12, async {
        let refused = said(open_sqlite(&path).await.unwrap_err());
        assert!(refused.contains(locked), "{refused}");
        assert_eq!(said(open_postgres(&places.url).await.unwrap_err()), copying);
        let other = copy(&sqlite, &target, at(0), &SMALL, &mut quiet).await;
        let refused = said(other.unwrap_err());
        assert!(refused.contains(locked), "{refused}");
    })
    .await;
    meanwhile(&target, &places.sqlite("b.db"), 12, async {
        assert_eq!(said(open_postgres(&places.url).await.unwrap_err()), copying);
        let refused = said(open_sqlite(&places.path("b.db")).await.unwrap_err());
        assert!(refused.contains(locked), "{refused}");
        let other = copy(&target, &places.sqlite("c.db"), at(0), &SMALL, &mut quiet).await;
        assert_eq!(
            said(other.unwrap_err()),
            "the store failed: another `planwright store copy` uses the database at HOST/DATABASE: try again when it has \
             ended"
        );
        // A process that was stopped and continues cannot write.
        let mut stale = raw(&places.url).await;
        let write = "SET lock_timeout = '50ms'; UPDATE runs SET note = 'late'";
        let refused = sqlx::raw_sql(write).execute(&mut stale).await.unwrap_err();
        assert!(refused.to_string().contains("lock timeout"), "{refused}");
    })
    .await;
    open_postgres(&places.url).await.unwrap().close().await;
}

/// Changes what is written to the table of runs.
const CORRUPT_SQLITE: &str = "
CREATE TRIGGER corrupt AFTER INSERT ON runs WHEN new.note IS NULL
BEGIN UPDATE runs SET note = 'x' WHERE seq = new.seq; END";

/// The same on PostgreSQL.
pub(crate) const CORRUPT_POSTGRES: &str = "
CREATE FUNCTION corrupt() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.note = 'x'; RETURN new; END $$;
CREATE TRIGGER corrupt BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION corrupt()";

#[tokio::test]
async fn a_row_that_is_not_what_was_written_is_found_and_written_again() {
    let Some(places) = Places::new().await else {
        return;
    };
    filled(&places, SHORT).await;
    let differing = async |from: &Location, to: &Location| {
        let copied = copy(from, to, at(0), &SMALL, &mut quiet).await.unwrap();
        assert!(!copied.is_complete());
        let tables = copied.tables.into_iter().filter(|one| !one.is_equal());
        let tables = tables.map(|one| (one.table, one.source.rows == one.target.rows));
        tables.collect::<Vec<_>>()
    };
    postgres::open(&places.url).await.close().await;
    let mut connection = raw(&places.url).await;
    sqlx::raw_sql(CORRUPT_POSTGRES)
        .execute(&mut connection)
        .await
        .unwrap();
    let (sqlite, target) = (places.sqlite("a.db"), places.postgres());
    assert_eq!(differing(&sqlite, &target).await, [("runs", true)]);
    let refused = open_postgres(&places.url).await.unwrap_err().to_string();
    assert!(refused.contains("holds an unfinished copy of"), "{refused}");
    let repair = "DROP TRIGGER corrupt ON runs";
    sqlx::raw_sql(repair)
        .execute(&mut connection)
        .await
        .unwrap();
    copied(&sqlite, &target).await;

    let path = places.path("b.db");
    open_sqlite(&path).await.unwrap().close().await;
    let mut connection = raw_sqlite(&path).await;
    sqlx::raw_sql(CORRUPT_SQLITE)
        .execute(&mut connection)
        .await
        .unwrap();
    let back = places.sqlite("b.db");
    assert_eq!(differing(&target, &back).await, [("runs", true)]);
    let refused = open_sqlite(&path).await.unwrap_err().to_string();
    assert!(refused.contains("holds an unfinished copy of"), "{refused}");
    let repair = "DROP TRIGGER corrupt";
    sqlx::raw_sql(repair)
        .execute(&mut connection)
        .await
        .unwrap();
    copied(&target, &back).await;
    // What is already there is compared as well.
    let lose = "DELETE FROM audit WHERE id = 2";
    sqlx::raw_sql(lose).execute(&mut connection).await.unwrap();
    copied(&target, &back).await;
    open_sqlite(&path).await.unwrap().close().await;
}
