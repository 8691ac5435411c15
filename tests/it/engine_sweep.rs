//! Reading GitHub's delivery log: what is fetched, and that no interruption loses or repeats a
//! delivery.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use planwright::adapters::store::{SqlStore, SqliteOptions};
use planwright::engine::clock::Clock;
use planwright::engine::decide::{AppIdentity, AppSlug};
use planwright::engine::forge::ForgeError;
use planwright::engine::intake::{Authentic, Intake};
use planwright::engine::model::intake::{LogState, LoggedAttempt, Source, Verdict};
use planwright::engine::model::time::Millis;
use planwright::engine::settings::{LateSettings, SweepSettings};
use planwright::engine::store::Store;
use planwright::engine::sweep::{DeliveryLog, LogPage, RETENTION, Sweep, SweepError};
use serde_json::{Value, json};
use tempfile::TempDir;

const CREATED: &str = include_str!("../../fixtures/payloads/issue_comment.created.json");
/// Items per page, as the bot requests.
const PAGE: usize = 100;
const REPO: u64 = 4242;

/// The time of the tests.
fn now() -> Millis {
    Millis(1_780_000_000_000)
}

struct Hand(AtomicI64);

#[async_trait]
impl Clock for Hand {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
    async fn sleep(&self, _: Duration) {
        std::future::pending::<()>().await;
    }
}

struct Logged {
    guid: String,
    event: String,
    body: Bytes,
}

impl Authentic for Logged {
    fn source(&self) -> Source {
        Source::DeliveryLog
    }
    fn guid(&self) -> &str {
        &self.guid
    }
    fn event(&self) -> &str {
        &self.event
    }
    fn body(&self) -> &Bytes {
        &self.body
    }
}

/// A log in memory, the newest attempt first.
#[derive(Default)]
struct FakeLog {
    attempts: Mutex<Vec<LoggedAttempt>>,
    payloads: Mutex<HashMap<String, Value>>,
    lists: AtomicU32,
    fetched: Mutex<Vec<String>>,
    /// The page that fails next, counted from the request after this was set.
    fails_after: AtomicU32,
    /// GitHub's time minus the bot's, in milliseconds.
    ahead: AtomicI64,
    clock: Mutex<Option<Arc<Hand>>>,
    /// Errors of payloads.
    errors: Mutex<HashMap<String, ForgeError>>,
}

impl FakeLog {
    fn new() -> Arc<Self> {
        let log = Self::default();
        log.fails_after.store(u32::MAX, Ordering::SeqCst);
        Arc::new(log)
    }

    /// Adds an attempt on top.
    fn add(&self, attempt: LoggedAttempt) {
        self.attempts.lock().unwrap().insert(0, attempt);
    }

    /// Adds a delivery of `/save-plan` on an issue, written and delivered at `at`.
    fn command(&self, comment: u64, issue: u64, at: Millis) -> String {
        let guid = format!("guid-{comment}");
        let mut payload: Value = serde_json::from_str(CREATED).unwrap();
        payload["comment"]["id"] = json!(comment);
        payload["comment"]["body"] = json!("/save-plan");
        payload["comment"]["created_at"] = json!(at.iso());
        payload["comment"]["updated_at"] = json!(at.iso());
        payload["issue"]["number"] = json!(issue);
        payload["repository"]["id"] = json!(REPO);
        self.payloads.lock().unwrap().insert(guid.clone(), payload);
        self.add(attempt(comment, &guid, at));
        guid
    }
}

fn attempt(id: u64, guid: &str, at: Millis) -> LoggedAttempt {
    LoggedAttempt {
        id: 3_804_004_623_172_239_366 + id,
        guid: guid.to_owned(),
        event: "issue_comment".to_owned(),
        action: Some("created".to_owned()),
        delivered: at,
        status_code: 502,
        repo: Some(REPO),
    }
}

fn unavailable() -> ForgeError {
    ForgeError::Unknown {
        what: "the App's delivery log".to_owned(),
        message: "GitHub answered 502".to_owned(),
    }
}

#[async_trait]
impl DeliveryLog for FakeLog {
    type Delivery = Logged;

    fn time(&self) -> Millis {
        let clock = self.clock.lock().unwrap();
        let here = clock.as_ref().map_or(now(), |clock| clock.now());
        Millis(here.0 + self.ahead.load(Ordering::SeqCst))
    }

    async fn page(&self, cursor: Option<&str>) -> Result<LogPage, ForgeError> {
        self.lists.fetch_add(1, Ordering::SeqCst);
        if self.fails_after.fetch_sub(1, Ordering::SeqCst) == 0 {
            return Err(unavailable());
        }
        let attempts = self.attempts.lock().unwrap();
        let start = match cursor {
            None => 0,
            Some(id) => {
                let id: u64 = id.parse().unwrap();
                match attempts.iter().position(|one| one.id == id) {
                    Some(at) => at + 1,
                    None => {
                        return Err(ForgeError::Rejected {
                            what: "the App's delivery log".to_owned(),
                            status: 422,
                            message: "Invalid cursor".to_owned(),
                        });
                    }
                }
            }
        };
        let page: Vec<_> = attempts.iter().skip(start).take(PAGE).cloned().collect();
        let more = attempts.len() > start + page.len();
        Ok(LogPage {
            next: page.last().filter(|_| more).map(|one| one.id.to_string()),
            attempts: page,
        })
    }

    async fn delivery(&self, attempt: &LoggedAttempt) -> Result<Logged, ForgeError> {
        self.fetched.lock().unwrap().push(attempt.guid.clone());
        if let Some(error) = self.errors.lock().unwrap().get(&attempt.guid) {
            return Err(error.clone());
        }
        let payload = self.payloads.lock().unwrap()[&attempt.guid].to_string();
        Ok(Logged {
            guid: attempt.guid.clone(),
            event: attempt.event.clone(),
            body: Bytes::from(payload),
        })
    }
}

/// One process: store, intake and sweep on a database file.
struct Process {
    store: Arc<dyn Store>,
    intake: Arc<Intake>,
    sweep: Sweep<FakeLog>,
}

struct World {
    folder: TempDir,
    log: Arc<FakeLog>,
    clock: Arc<Hand>,
    late: LateSettings,
    settings: SweepSettings,
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(Hand(AtomicI64::new(now().0)));
        let log = FakeLog::new();
        *log.clock.lock().unwrap() = Some(Arc::clone(&clock));
        Self {
            folder: tempfile::tempdir().unwrap(),
            log,
            clock,
            late: LateSettings::default(),
            settings: SweepSettings::default(),
        }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("p.db")
    }

    async fn process(&self) -> Process {
        process(
            &self.path(),
            &self.log,
            &self.clock,
            &self.late,
            &self.settings,
        )
        .await
    }

    /// Waits until the threads of a store that was dropped have given its lock back.
    fn wait_for_lock(&self) {
        let Ok(lock) = std::fs::File::open(self.folder.path().join("p.db.lock")) else {
            return;
        };
        lock.lock().unwrap();
    }

    /// Stores a watermark, as an earlier process would have.
    async fn read_until(&self, watermark: Millis) {
        let process = self.process().await;
        let state = LogState {
            watermark,
            walk: None,
        };
        process.store.save_log_state(&state, &[]).await.unwrap();
        process.end().await;
    }
}

async fn process(
    path: &Path,
    log: &Arc<FakeLog>,
    clock: &Arc<Hand>,
    late: &LateSettings,
    settings: &SweepSettings,
) -> Process {
    let store = SqlStore::open_sqlite(path, SqliteOptions::default(), clock.now());
    let store: Arc<dyn Store> = Arc::new(store.await.unwrap());
    let identity = AppIdentity {
        app_id: 424_242,
        app_slug: AppSlug::new(Some("planwright".to_owned())),
        ..AppIdentity::default()
    };
    let intake = Intake::new(store.clone(), clock.clone(), identity, late.clone(), false);
    let intake = Arc::new(intake);
    Process {
        sweep: Sweep::new(
            log.clone(),
            store.clone(),
            intake.clone(),
            clock.clone(),
            settings.clone(),
        ),
        store,
        intake,
    }
}

impl Process {
    /// Comments of the runs in order of acceptance.
    async fn comments(&self) -> Vec<u64> {
        let mut runs = self.store.recent_runs(10_000).await.unwrap();
        runs.reverse();
        runs.iter()
            .map(|run| match &run.trigger.as_ref().unwrap().origin {
                planwright::engine::model::trigger::Origin::Comment { id, .. } => *id,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    async fn end(self) {
        self.intake.close().await;
        self.store.close().await;
    }
}

fn minutes(count: u64) -> Duration {
    Duration::from_secs(count * 60)
}

/// A log of `all` attempts, one a second up to now, every `nth` of which is a command. Returns the
/// comments.
fn fill(log: &FakeLog, all: u64, nth: u64) -> Vec<u64> {
    let mut attempts = Vec::new();
    let mut comments = Vec::new();
    for index in 0..all {
        let at = now().minus(Duration::from_secs(all - index));
        if index % nth == 0 {
            log.command(index + 1, index % 7 + 1, at);
            comments.push(index + 1);
            attempts.push(log.attempts.lock().unwrap().remove(0));
        } else {
            let mut other = attempt(index + 1, &format!("other-{index}"), at);
            let (event, action) = [
                ("issues", "opened"),
                ("issue_comment", "deleted"),
                ("push", ""),
                ("pull_request", "closed"),
            ][usize::try_from(index % 4).unwrap()];
            event.clone_into(&mut other.event);
            other.action = Some(action.to_owned()).filter(|action| !action.is_empty());
            attempts.push(other);
        }
    }
    attempts.reverse();
    *log.attempts.lock().unwrap() = attempts;
    comments
}

#[tokio::test]
async fn a_long_log_takes_one_request_a_page_and_one_for_each_missed_delivery() {
    let world = World::new();
    let comments = fill(&world.log, 20_000, 67);
    world
        .read_until(now().minus(Duration::from_hours(40)))
        .await;
    let process = world.process().await;
    let swept = process.sweep.run().await.unwrap();
    assert_eq!((swept.received, swept.accepted), (299, 299));
    assert_eq!(world.log.lists.load(Ordering::SeqCst), 200);
    assert_eq!(world.log.fetched.lock().unwrap().len(), 299);
    assert_eq!(process.comments().await, comments, "the oldest first");
    // What is known is not fetched again, and the next walk ends after its first pages.
    let again = process.sweep.run().await.unwrap();
    assert_eq!(again.received, 0);
    assert_eq!(world.log.lists.load(Ordering::SeqCst), 200 + 7);
    assert_eq!(world.log.fetched.lock().unwrap().len(), 299);
}

#[tokio::test]
async fn a_walk_interrupted_at_any_page_goes_on_there() {
    for page in 0..12 {
        let world = World::new();
        let comments = fill(&world.log, 1_150, 23);
        world.read_until(now().minus(Duration::from_hours(2))).await;
        world.log.fails_after.store(page, Ordering::SeqCst);
        let process = world.process().await;
        let error = process.sweep.run().await.unwrap_err();
        assert!(matches!(error, SweepError::Forge(_)), "{error}");
        process.end().await;
        // What comes while the process is down is read as well.
        world.log.command(9_999, 3, now());
        let process = world.process().await;
        process.sweep.run().await.unwrap();
        let mut found = process.comments().await;
        found.sort_unstable();
        let mut wanted = comments;
        wanted.push(9_999);
        assert_eq!(found, wanted, "page {page}");
        assert_eq!(world.log.fetched.lock().unwrap().len(), wanted.len());
        let lists = world.log.lists.load(Ordering::SeqCst);
        assert!(lists <= 12 + 1 + 7, "{lists} lists after a fault at {page}");
    }
}

#[tokio::test]
async fn a_cursor_that_github_no_longer_knows_begins_anew() {
    let world = World::new();
    let comments = fill(&world.log, 250, 50);
    world.read_until(now().minus(Duration::from_hours(2))).await;
    world.log.fails_after.store(2, Ordering::SeqCst);
    let process = world.process().await;
    process.sweep.run().await.unwrap_err();
    // The attempt that the cursor names has expired.
    world.log.attempts.lock().unwrap().remove(199);
    process.sweep.run().await.unwrap();
    let mut found = process.comments().await;
    found.sort_unstable();
    assert_eq!(found, comments);
}

/// Polls `work` at most `polls` times. Returns whether it ended.
async fn poll_times(work: impl Future, polls: u32) -> bool {
    let mut work = std::pin::pin!(work);
    let mut left = polls;
    std::future::poll_fn(|context| {
        if left == 0 {
            return std::task::Poll::Ready(false);
        }
        left -= 1;
        work.as_mut().poll(context).map(|_| true)
    })
    .await
}

#[test]
fn a_kill_at_any_moment_loses_and_repeats_nothing() {
    let world = World::new();
    let comments = fill(&world.log, 210, 30);
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let mut kills = 0;
    for polls in 1.. {
        std::fs::remove_dir_all(world.folder.path()).unwrap();
        std::fs::create_dir(world.folder.path()).unwrap();
        world.log.fetched.lock().unwrap().clear();
        let start = runtime();
        start.block_on(world.read_until(now().minus(Duration::from_hours(2))));
        drop(start);
        // Dropping the runtime drops every task at the point where it waits.
        let killed = runtime();
        let ended = killed.block_on(async {
            let process = world.process().await;
            poll_times(process.sweep.run(), polls).await
        });
        drop(killed);
        world.wait_for_lock();
        let last = runtime();
        let found = last.block_on(async {
            let process = world.process().await;
            process.sweep.run().await.unwrap();
            let found = process.comments().await;
            process.end().await;
            found
        });
        assert_eq!(found, comments, "killed after {polls} polls");
        if ended {
            break;
        }
        kills += 1;
    }
    assert!(kills > 20, "{kills} moments");
}

#[tokio::test]
async fn attempts_of_one_delivery_count_once_whatever_their_status() {
    let world = World::new();
    world.read_until(now().minus(minutes(60))).await;
    let failed = world.log.command(1, 1, now().minus(minutes(50)));
    let mut again = attempt(2, &failed, now().minus(minutes(20)));
    again.status_code = 202;
    world.log.add(again);
    world.log.command(3, 1, now().minus(minutes(30)));
    let process = world.process().await;
    let swept = process.sweep.run().await.unwrap();
    assert_eq!(swept.accepted, 2);
    // The first attempt decides about the order.
    assert_eq!(process.comments().await, [1, 3]);
}

#[tokio::test]
async fn what_arrived_as_a_webhook_is_not_fetched() {
    let world = World::new();
    world.read_until(now().minus(minutes(60))).await;
    let guid = world.log.command(1, 1, now().minus(minutes(5)));
    let talk = world.log.command(2, 1, now().minus(minutes(4)));
    world.log.payloads.lock().unwrap().get_mut(&talk).unwrap()["comment"]["body"] = json!("Hm.");
    let process = world.process().await;
    for guid in [&guid, &talk] {
        let body = world.log.payloads.lock().unwrap()[guid].to_string();
        let arrived = Logged {
            guid: guid.clone(),
            event: "issue_comment".to_owned(),
            body: Bytes::from(body),
        };
        process.intake.accept(&arrived).await;
    }
    let swept = process.sweep.run().await.unwrap();
    assert_eq!(swept.received, 0);
    assert_eq!(world.log.fetched.lock().unwrap().len(), 0);
    assert_eq!(process.comments().await, [1]);
}

#[tokio::test]
async fn a_payload_that_is_gone_is_recorded_and_one_that_fails_holds_up_nothing_for_long() {
    let world = World::new();
    world.read_until(now().minus(minutes(60))).await;
    let gone = world.log.command(1, 1, now().minus(minutes(50)));
    let broken = world.log.command(2, 1, now().minus(minutes(40)));
    world.log.command(3, 1, now().minus(minutes(30)));
    let not_found = ForgeError::NotFound {
        what: "the delivery guid-1".to_owned(),
    };
    let mut errors = HashMap::from([(gone, not_found), (broken.clone(), unavailable())]);
    world.log.errors.lock().unwrap().extend(errors.drain());
    let process = world.process().await;
    for _ in 0..3 {
        process.sweep.run().await.unwrap_err();
        assert!(process.comments().await.is_empty(), "in order");
    }
    let swept = process.sweep.run().await.unwrap();
    assert_eq!(swept.accepted, 1);
    assert_eq!(process.comments().await, [3]);
    world.log.errors.lock().unwrap().clear();
    process.sweep.run().await.unwrap();
    assert_eq!(process.comments().await, [3, 2]);
    assert!(process.store.missed(9).await.unwrap().is_empty());
    let ago = now().minus(minutes(60));
    let known = process
        .store
        .decided(&["guid-1", &broken], ago)
        .await
        .unwrap();
    assert_eq!(known.len(), 2);
}

#[tokio::test]
async fn old_commands_are_recorded_and_not_executed() {
    for answer_old in [false, true] {
        let mut world = World::new();
        world.late.answer_old = answer_old;
        world
            .read_until(now().minus(Duration::from_hours(50)))
            .await;
        world
            .log
            .command(1, 7, now().minus(Duration::from_hours(30)));
        world
            .log
            .command(2, 7, now().minus(Duration::from_hours(23)));
        let process = world.process().await;
        let swept = process.sweep.run().await.unwrap();
        assert_eq!(swept.received, 2);
        let runs = process.store.recent_runs(9).await.unwrap();
        let expired: Vec<bool> = runs
            .iter()
            .map(|run| run.trigger.as_ref().unwrap().expired)
            .collect();
        let decisions = process.store.decisions_at(REPO, 7, 9).await.unwrap();
        if answer_old {
            assert_eq!(expired, [false, true]);
            assert_eq!(decisions.len(), 2);
        } else {
            assert_eq!(expired, [false]);
            let why = "it was found 30 hours after it was written; commands are executed up to 24 hours later \
                       (late.max_age_hours)";
            let ignored = decisions.iter().find(|one| one.subject.comment == Some(1));
            assert_eq!(ignored.unwrap().verdict, Verdict::Ignored(why.to_owned()));
        }
    }
}

#[tokio::test]
async fn the_first_start_leaves_earlier_deliveries_alone() {
    let world = World::new();
    world.log.command(1, 1, now().minus(minutes(60)));
    world.log.command(2, 1, now().minus(minutes(5)));
    let process = world.process().await;
    process.sweep.run().await.unwrap();
    assert_eq!(world.log.lists.load(Ordering::SeqCst), 1);
    assert_eq!(process.comments().await, [2]);
}

#[tokio::test]
async fn requests_have_a_budget_and_go_on_when_the_hour_is_over() {
    let mut world = World::new();
    world.settings.max_requests = 5;
    let comments = fill(&world.log, 300, 50);
    world.read_until(now().minus(Duration::from_hours(2))).await;
    let process = world.process().await;
    let error = process.sweep.run().await.unwrap_err().to_string();
    assert_eq!(
        error,
        "sweep.max_requests_per_hour is reached until 2026-05-28T21:26:40Z"
    );
    let two_hours = i64::try_from(Duration::from_hours(2).as_millis()).unwrap();
    world.clock.0.fetch_add(two_hours, Ordering::SeqCst);
    // The second call finishes what the first one left, and needs a new list for what came since.
    process.sweep.run().await.unwrap_err();
    world.clock.0.fetch_add(two_hours, Ordering::SeqCst);
    process.sweep.run().await.unwrap();
    assert_eq!(process.comments().await, comments);
}

#[tokio::test]
async fn a_period_that_github_no_longer_lists_is_reported() {
    let world = World::new();
    let watermark = now().minus(Duration::from_hours(100));
    world.read_until(watermark).await;
    world.log.command(1, 1, now().minus(minutes(60)));
    let process = world.process().await;
    let swept = process.sweep.run().await.unwrap();
    assert_eq!(swept.beyond, Some((watermark, now().minus(RETENTION))));
    assert_eq!(swept.accepted, 1);
    assert_eq!(process.sweep.run().await.unwrap().beyond, None);
}

#[tokio::test]
async fn the_log_is_read_less_often_while_nothing_comes() {
    let world = World::new();
    world.read_until(now().minus(minutes(60))).await;
    world.log.command(1, 1, now());
    let process = world.process().await;
    process.sweep.run().await.unwrap();
    assert_eq!(process.sweep.pause(false), Duration::from_mins(2));
    for (idle, pause) in [(0, 20), (200, 20), (300, 30), (900, 90), (7200, 120)] {
        let later = now().plus(Duration::from_secs(idle));
        world.clock.0.store(later.0, Ordering::SeqCst);
        process.sweep.run().await.unwrap();
        assert_eq!(process.sweep.pause(true), Duration::from_secs(pause));
    }
    // A delivery of any kind ends the idle time.
    let mut other = attempt(5, "other", world.clock.now());
    other.event = "push".to_owned();
    world.log.add(other);
    process.sweep.run().await.unwrap();
    assert_eq!(process.sweep.pause(true), Duration::from_secs(20));
}

#[tokio::test]
async fn a_clock_that_differs_from_githubs_skips_and_repeats_nothing() {
    for hours in [-5_i64, 5] {
        let world = World::new();
        world.log.ahead.store(hours * 3_600_000, Ordering::SeqCst);
        let process = world.process().await;
        process.sweep.run().await.unwrap();
        // By GitHub's clock, both were delivered after the first start.
        let later = world.log.time().plus(minutes(1));
        world.log.command(1, 1, later);
        let talk = world.log.command(2, 1, later);
        let payloads = &world.log.payloads;
        payloads.lock().unwrap().get_mut(&talk).unwrap()["comment"]["body"] = json!("Hm.");
        world.clock.0.fetch_add(120_000, Ordering::SeqCst);
        for _ in 0..3 {
            process.sweep.run().await.unwrap();
        }
        assert_eq!(process.comments().await, [1], "{hours} hours");
        assert_eq!(world.log.fetched.lock().unwrap().len(), 2, "{hours} hours");
    }
}
