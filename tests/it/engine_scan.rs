//! The scan for commands without a delivery, over lists in memory.

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
use planwright::engine::model::intake::{ScanPosition, Source, Verdict};
use planwright::engine::model::time::Millis;
use planwright::engine::model::trigger::{Origin, Repo};
use planwright::engine::scan::{Activity, FoundComment, FoundIssue, FoundLabel, ListPage, Scan};
use planwright::engine::settings::{LateSettings, ScanSettings};
use planwright::engine::store::Store;
use planwright::formats::command::Command;
use serde_json::{Value, json};

const CREATED: &str = include_str!("../../fixtures/payloads/issue_comment.created.json");
const LABELED: &str = include_str!("../../fixtures/payloads/issues.labeled.json");
const ISSUE: u64 = 7;
/// Items per page; GitHub's pages are longer.
const PAGE: usize = 3;

fn now() -> Millis {
    Millis(1_780_000_000_000)
}

fn ago(minutes: u64) -> Millis {
    now().minus(Duration::from_mins(minutes))
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

struct Event {
    source: Source,
    guid: String,
    name: &'static str,
    body: Bytes,
}

impl Authentic for Event {
    fn source(&self) -> Source {
        self.source
    }
    fn guid(&self) -> &str {
        &self.guid
    }
    fn event(&self) -> &str {
        self.name
    }
    fn body(&self) -> &Bytes {
        &self.body
    }
}

fn repo(id: u64) -> Repo {
    Repo {
        installation: 1,
        id,
        owner: "acme".to_owned(),
        name: format!("r{id}"),
    }
}

fn commented(source: Source, guid: String, comment: &FoundComment) -> Event {
    let mut payload: Value = serde_json::from_str(CREATED).unwrap();
    payload["comment"]["id"] = json!(comment.id);
    payload["comment"]["body"] = json!(comment.text);
    payload["comment"]["created_at"] = json!(comment.created.iso());
    payload["comment"]["updated_at"] = json!(comment.updated.iso());
    payload["issue"]["number"] = json!(comment.number);
    payload["repository"]["id"] = json!(1);
    Event {
        source,
        guid,
        name: "issue_comment",
        body: Bytes::from(payload.to_string()),
    }
}

fn labeled(source: Source, guid: &str, at: Millis) -> Event {
    let mut payload: Value = serde_json::from_str(LABELED).unwrap();
    payload["issue"]["number"] = json!(ISSUE);
    payload["issue"]["updated_at"] = json!(at.iso());
    payload["label"]["name"] = json!("save-plan");
    payload["repository"]["id"] = json!(1);
    Event {
        source,
        guid: guid.to_owned(),
        name: "issues",
        body: Bytes::from(payload.to_string()),
    }
}

/// Comments and one labelled issue, in memory.
#[derive(Default)]
struct Lists {
    repositories: Mutex<Vec<Repo>>,
    comments: Mutex<Vec<FoundComment>>,
    /// When the label was set.
    label: Mutex<Option<Millis>>,
    /// GitHub's clock.
    time: AtomicI64,
    requests: AtomicU32,
    unchanged: AtomicU32,
    fetched: Mutex<Vec<u64>>,
    /// Repository that refuses to be read.
    refuses: Mutex<Option<u64>>,
    /// Repository that cannot be read.
    fails: Mutex<Option<u64>>,
    /// Comment that is deleted when it is fetched.
    deletes: Mutex<Option<u64>>,
}

impl Lists {
    fn comment(&self, id: u64, text: &str, at: Millis) -> FoundComment {
        let comment = FoundComment {
            id,
            number: ISSUE,
            text: text.to_owned(),
            created: at,
            updated: at,
            app: None,
        };
        self.comments.lock().unwrap().push(comment.clone());
        comment
    }

    /// Returns a page of `items`, or `None` if the client has the same list.
    fn page<T: Clone>(
        &self,
        items: Vec<T>,
        state: &str,
        position: &ScanPosition,
        next: Option<&str>,
    ) -> Option<ListPage<T>> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let etag = format!("{state} {}", position.since.0);
        if position.etag.as_ref() == Some(&etag) {
            self.unchanged.fetch_add(1, Ordering::SeqCst);
            return None;
        }
        let start: usize = next.map_or(0, |next| next.parse().unwrap());
        let more = items.len() > start + PAGE;
        Some(ListPage {
            items: items.into_iter().skip(start).take(PAGE).collect(),
            next: more.then(|| (start + PAGE).to_string()),
            etag: Some(etag),
        })
    }
}

#[async_trait]
impl Activity for Lists {
    type Event = Event;

    fn time(&self) -> Millis {
        Millis(self.time.load(Ordering::SeqCst))
    }

    async fn repositories(&self, limit: usize) -> Result<Vec<Repo>, ForgeError> {
        let all = self.repositories.lock().unwrap();
        Ok(all.iter().take(limit).cloned().collect())
    }

    async fn comments(
        &self,
        repo: &Repo,
        position: &ScanPosition,
        next: Option<&str>,
    ) -> Result<Option<ListPage<FoundComment>>, ForgeError> {
        if *self.refuses.lock().unwrap() == Some(repo.id) {
            return Err(ForgeError::NotFound {
                what: repo.full_name(),
            });
        }
        if *self.fails.lock().unwrap() == Some(repo.id) {
            return Err(ForgeError::Unknown {
                what: repo.full_name(),
                message: "GitHub answered 502".to_owned(),
            });
        }
        let mut all = self.comments.lock().unwrap().clone();
        all.retain(|one| repo.id == 1 && one.updated >= position.since);
        all.sort_by_key(|one| one.updated);
        let state = format!("{all:?}");
        Ok(self.page(all, &state, position, next))
    }

    async fn issues(
        &self,
        repo: &Repo,
        position: &ScanPosition,
        next: Option<&str>,
    ) -> Result<Option<ListPage<FoundIssue>>, ForgeError> {
        let set = *self.label.lock().unwrap();
        let issue = set.filter(|at| repo.id == 1 && *at >= position.since);
        let issues = issue.map(|at| FoundIssue {
            number: ISSUE,
            labels: vec!["bug".to_owned(), "Save-Plan".to_owned()],
            updated: at,
        });
        let state = format!("{issues:?}");
        Ok(self.page(issues.into_iter().collect(), &state, position, next))
    }

    async fn commented(&self, _: &Repo, comment: u64) -> Result<Option<Event>, ForgeError> {
        self.fetched.lock().unwrap().push(comment);
        let mut comments = self.comments.lock().unwrap();
        if *self.deletes.lock().unwrap() == Some(comment) {
            comments.retain(|one| one.id != comment);
        }
        let found = comments.iter().find(|one| one.id == comment);
        let guid = format!("comment-{comment}");
        Ok(found.map(|found| commented(Source::Scan, guid, found)))
    }

    async fn labeled(
        &self,
        _: &Repo,
        _: u64,
        _: &str,
    ) -> Result<Option<FoundLabel<Event>>, ForgeError> {
        let set = *self.label.lock().unwrap();
        Ok(set.map(|at| FoundLabel {
            event: labeled(Source::Scan, "label-1", at),
            at,
        }))
    }
}

struct World {
    lists: Arc<Lists>,
    clock: Arc<Hand>,
    store: Arc<dyn Store>,
    intake: Arc<Intake>,
    scan: Scan<Lists>,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        Self::with(ScanSettings::default()).await
    }

    async fn with(settings: ScanSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(Hand(AtomicI64::new(ago(60).0)));
        let path = folder.path().join("p.db");
        let store = SqlStore::open_sqlite(&path, SqliteOptions::default(), clock.now());
        let store: Arc<dyn Store> = Arc::new(store.await.unwrap());
        let identity = AppIdentity {
            app_id: 424_242,
            app_slug: AppSlug::new(Some("planwright".to_owned())),
            labels: vec![(Command::SavePlan, "save-plan".to_owned())],
            allowed_bots: Vec::new(),
        };
        let late = LateSettings::default();
        let intake = Intake::new(store.clone(), clock.clone(), identity, late, false);
        let intake = Arc::new(intake);
        let lists = Arc::new(Lists::default());
        lists.repositories.lock().unwrap().push(repo(1));
        lists.time.store(ago(60).0, Ordering::SeqCst);
        let scan = Scan::new(
            lists.clone(),
            store.clone(),
            intake.clone(),
            clock.clone(),
            settings,
        );
        // The first scan, an hour ago, sets the position.
        scan.run().await.unwrap();
        clock.0.store(now().0, Ordering::SeqCst);
        lists.time.store(now().0, Ordering::SeqCst);
        Self {
            lists,
            clock,
            store,
            intake,
            scan,
            _folder: folder,
        }
    }

    /// Comments of the runs in order; 0 for the label.
    async fn found(&self) -> Vec<u64> {
        let mut runs = self.store.recent_runs(100).await.unwrap();
        runs.reverse();
        let comment = |origin: &Origin| match origin {
            Origin::Comment { id, .. } => *id,
            _ => 0,
        };
        runs.iter()
            .map(|run| comment(&run.trigger.as_ref().unwrap().origin))
            .collect()
    }
}

#[tokio::test]
async fn commands_on_all_pages_are_found_once() {
    let world = World::new().await;
    let mut wanted = Vec::new();
    for id in 1..=8 {
        let text = if id % 2 == 0 { "/save-plan" } else { "on/off" };
        world.lists.comment(id, text, ago(50 - id));
        if id % 2 == 0 {
            wanted.push(id);
        }
    }
    assert_eq!(world.scan.run().await.unwrap(), 4);
    assert_eq!(world.scan.run().await.unwrap(), 0);
    assert_eq!(world.found().await, wanted);
    assert_eq!(*world.lists.fetched.lock().unwrap(), wanted);
}

#[tokio::test]
async fn a_list_that_has_not_changed_is_not_read_again() {
    let world = World::new().await;
    world.lists.comment(1, "/save-plan", ago(30));
    world.scan.run().await.unwrap();
    // The position has moved; the list from there on becomes known now.
    world.scan.run().await.unwrap();
    let before = world.lists.unchanged.load(Ordering::SeqCst);
    world.scan.run().await.unwrap();
    assert_eq!(world.lists.unchanged.load(Ordering::SeqCst), before + 2);
    world.lists.comment(2, "/save-plan", ago(5));
    assert_eq!(world.scan.run().await.unwrap(), 1);
    assert_eq!(world.found().await, [1, 2]);
}

#[tokio::test]
async fn what_arrived_as_a_webhook_is_left_alone() {
    let world = World::new().await;
    let comment = world.lists.comment(1, "/save-plan", ago(30));
    let ignored = world.lists.comment(2, "```\n/save-plan\n```", ago(29));
    *world.lists.label.lock().unwrap() = Some(ago(28));
    for arrived in [
        commented(Source::Webhook, "g1".to_owned(), &comment),
        commented(Source::Webhook, "g2".to_owned(), &ignored),
        // GitHub's two times may differ a little.
        labeled(Source::Webhook, "g3", ago(28).plus(Duration::from_secs(1))),
    ] {
        world.intake.accept(&arrived).await;
    }
    assert_eq!(world.scan.run().await.unwrap(), 0);
    assert_eq!(world.found().await, [1, 0]);
    assert!(world.lists.fetched.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_webhook_that_comes_after_the_scan_is_a_duplicate() {
    let world = World::new().await;
    let comment = world.lists.comment(1, "/save-plan", ago(30));
    *world.lists.label.lock().unwrap() = Some(ago(28));
    assert_eq!(world.scan.run().await.unwrap(), 2);
    for arrived in [
        commented(Source::Webhook, "g1".to_owned(), &comment),
        labeled(Source::Webhook, "g3", ago(28)),
    ] {
        world.intake.accept(&arrived).await;
    }
    assert_eq!(world.found().await, [1, 0]);
}

#[tokio::test]
async fn a_label_that_was_set_again_counts_again() {
    let world = World::new().await;
    for at in [40, 30] {
        *world.lists.label.lock().unwrap() = Some(ago(at));
        let arrived = labeled(Source::Webhook, "g", ago(40));
        world.intake.accept(&arrived).await;
        world.scan.run().await.unwrap();
    }
    assert_eq!(world.found().await, [0, 0]);
}

#[tokio::test]
async fn young_comments_are_left_to_their_deliveries_first() {
    let world = World::new().await;
    world.lists.comment(1, "/save-plan", ago(10));
    world
        .lists
        .comment(2, "/save-plan", now().minus(Duration::from_secs(59)));
    world.lists.comment(3, "/save-plan", now());
    assert_eq!(world.scan.run().await.unwrap(), 1);
    assert_eq!(world.found().await, [1]);
    for clock in [&world.clock.0, &world.lists.time] {
        clock.fetch_add(61_000, Ordering::SeqCst);
    }
    assert_eq!(world.scan.run().await.unwrap(), 2);
    assert_eq!(world.found().await, [1, 2, 3]);
}

#[tokio::test]
async fn an_edited_comment_is_recorded_and_not_executed() {
    let world = World::new().await;
    world.lists.comment(1, "/save-plan", ago(30));
    world.lists.comments.lock().unwrap()[0].updated = ago(20);
    assert_eq!(world.scan.run().await.unwrap(), 0);
    assert_eq!(world.scan.run().await.unwrap(), 0);
    let decisions = world.store.decisions_at(1, ISSUE, 9).await.unwrap();
    assert_eq!(decisions.len(), 1, "{decisions:?}");
    let why = "GitHub created no delivery for this comment, and it was edited since, so that it is not known who \
               wrote the command; give it in a new comment";
    assert_eq!(decisions[0].verdict, Verdict::Ignored(why.to_owned()));
    assert_eq!(decisions[0].subject.comment, Some(1));
}

#[tokio::test]
async fn repositories_that_refuse_are_skipped_and_too_many_are_not_scanned() {
    let world = World::new().await;
    world.lists.repositories.lock().unwrap().insert(0, repo(2));
    *world.lists.refuses.lock().unwrap() = Some(2);
    world.lists.comment(1, "/save-plan", ago(30));
    assert_eq!(world.scan.run().await.unwrap(), 1);

    for max_repositories in [0, 1] {
        let settings = ScanSettings {
            max_repositories,
            ..ScanSettings::default()
        };
        let world = World::with(settings).await;
        world.lists.repositories.lock().unwrap().push(repo(2));
        world.lists.comment(1, "/save-plan", ago(30));
        let before = world.lists.requests.load(Ordering::SeqCst);
        assert_eq!(world.scan.run().await.unwrap(), 0);
        assert_eq!(world.lists.requests.load(Ordering::SeqCst), before);
    }
}

#[tokio::test]
async fn the_first_scan_leaves_earlier_comments_alone() {
    let world = World::new().await;
    world.lists.repositories.lock().unwrap()[0] = repo(1);
    // Before the first scan, which was an hour ago.
    world.lists.comment(1, "/save-plan", ago(75));
    world.lists.comment(2, "/save-plan", ago(65));
    world.scan.run().await.unwrap();
    assert_eq!(world.found().await, [2]);
}

#[tokio::test]
async fn one_repository_that_fails_does_not_hold_up_the_others() {
    let world = World::new().await;
    world.lists.repositories.lock().unwrap().insert(0, repo(2));
    *world.lists.fails.lock().unwrap() = Some(2);
    world.lists.comment(1, "/save-plan", ago(30));
    let error = world.scan.run().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the outcome of acme/r2 is unknown: GitHub answered 502"
    );
    assert_eq!(world.found().await, [1]);
}

#[tokio::test]
async fn old_and_own_comments_that_were_edited_leave_no_decision() {
    let world = World::new().await;
    let hours = |hours| now().minus(Duration::from_hours(hours));
    for (id, created, app) in [(1, hours(30), None), (2, ago(30), Some(424_242))] {
        world.lists.comment(id, "/save-plan", created);
        let mut comments = world.lists.comments.lock().unwrap();
        let last = comments.last_mut().unwrap();
        (last.updated, last.app) = (ago(20), app);
    }
    // A command in code is none.
    world.lists.comment(3, "```\n/save-plan\n```", ago(30));
    world.lists.comments.lock().unwrap()[2].updated = ago(20);
    assert_eq!(world.scan.run().await.unwrap(), 0);
    assert!(
        world
            .store
            .decisions_at(1, ISSUE, 9)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn an_item_that_changes_pages_while_they_are_read_is_not_skipped() {
    let world = World::new().await;
    for id in 1..=7 {
        world.lists.comment(id, "/save-plan", ago(50 - id));
    }
    // The first comment of the first page is deleted when it is fetched.
    *world.lists.deletes.lock().unwrap() = Some(1);
    world.scan.run().await.unwrap();
    assert_eq!(world.found().await, [2, 3, 4, 5, 6, 7]);
}
