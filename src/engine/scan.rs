//! Looks for commands for which GitHub never created a delivery: in the comments of the
//! repositories with the App, and in the labels of open issues and pull requests.
//!
//! Both lists are ordered by the time of the last update, and read from the position at which the
//! last scan ended. The position moves only when everything before it was received. While nothing
//! changes, the address of a list stays the same, so that GitHub answers with 304, which does not
//! count against the rate limit
//! (<https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api>).
//!
//! A comment that was edited is not executed: nobody can tell which text was written when, and by
//! whom.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::clock::Clock;
use super::forge::ForgeError;
use super::intake::{Authentic, Intake, Outcome};
use super::metrics;
use super::settings::ScanSettings;
use super::store::{Store, StoreError};
use super::sweep::OVERLAP;
use crate::engine::model::intake::{ScanPosition, ScanState, Source, Subject};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{IssueRef, Repo};
use crate::formats::command::{self, for_label};

/// Time before the newest item that is read again, because lists lag behind writes.
const LAG: Duration = Duration::from_mins(2);

/// Maximum difference between the time of a label in an event of its issue and in a delivery.
const CLOCKS: Duration = Duration::from_secs(5);

/// Maximum time by which GitHub's clock may be ahead of the bot's, by which decisions are dated.
const MAX_SKEW: Duration = Duration::from_hours(24);

/// Maximum number of pages of one list that are read in one scan; the next scan goes on.
const MAX_PAGES: u32 = 20;

/// Time after which a command is too old even to be recorded, in addition to its maximum age.
const OLD: Duration = Duration::from_hours(1);

/// Why an edited comment is not executed.
const EDITED: &str = "GitHub created no delivery for this comment, and it was edited since, so that it is not known who wrote \
the command; give it in a new comment";

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundComment {
    /// Comment id.
    pub id: u64,
    /// Number of the issue or pull request.
    pub number: u64,
    /// Text.
    pub text: String,
    /// Time at which it was written.
    pub created: Millis,
    /// Time of the last edit.
    pub updated: Millis,
    /// Id of the App that wrote it, if an App did.
    pub app: Option<u64>,
}

/// An open issue or pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundIssue {
    /// Number.
    pub number: u64,
    /// Names of its labels.
    pub labels: Vec<String>,
    /// Time of the last change.
    pub updated: Millis,
}

/// A page of a list that is ordered by the time of the last update, the oldest first.
#[derive(Debug, Clone)]
pub struct ListPage<T> {
    /// Items.
    pub items: Vec<T>,
    /// The page after it.
    pub next: Option<String>,
    /// `ETag` of the page.
    pub etag: Option<String>,
}

/// A label that was set, as an event.
#[derive(Debug)]
pub struct FoundLabel<E> {
    /// The event, as its delivery would have been.
    pub event: E,
    /// Time at which it was set.
    pub at: Millis,
}

/// What happens in the repositories with the App.
#[async_trait]
pub trait Activity: Send + Sync + 'static {
    /// An event that is made up of what GitHub's API returned, with the payload that its delivery
    /// would have had.
    type Event: Authentic + Send;

    /// Returns the time by GitHub's clock, which the times of items are compared with.
    fn time(&self) -> Millis;

    /// Returns the repositories with the App whose installations are not suspended, at most
    /// `limit`.
    async fn repositories(&self, limit: usize) -> Result<Vec<Repo>, ForgeError>;

    /// Returns the comments of a repository since `position`, or the page `next` of that list;
    /// `None` if nothing has changed.
    async fn comments(
        &self,
        repo: &Repo,
        position: &ScanPosition,
        next: Option<&str>,
    ) -> Result<Option<ListPage<FoundComment>>, ForgeError>;

    /// Returns the open issues and pull requests of a repository, like [`Activity::comments`].
    async fn issues(
        &self,
        repo: &Repo,
        position: &ScanPosition,
        next: Option<&str>,
    ) -> Result<Option<ListPage<FoundIssue>>, ForgeError>;

    /// Returns the event of a new comment; `None` if it was edited since or its author was deleted.
    async fn commented(&self, repo: &Repo, comment: u64)
    -> Result<Option<Self::Event>, ForgeError>;

    /// Returns the event of a label that is set on an issue; `None` if it was taken off, or whoever
    /// set it was deleted.
    async fn labeled(
        &self,
        repo: &Repo,
        number: u64,
        label: &str,
    ) -> Result<Option<FoundLabel<Self::Event>>, ForgeError>;
}

/// The reason why a scan was interrupted. What it did not get to is read by the next one.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// GitHub did not respond as expected.
    #[error("{0}")]
    Forge(#[from] ForgeError),
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// An event could not be stored at the moment.
    #[error("a command cannot be stored: {0}")]
    Busy(String),
}

/// Scans repositories.
pub struct Scan<A> {
    activity: Arc<A>,
    store: Arc<dyn Store>,
    intake: Arc<Intake>,
    clock: Arc<dyn Clock>,
    settings: ScanSettings,
    /// Whether it was logged that there are too many repositories.
    warned: AtomicBool,
}

impl<A: Activity> Scan<A> {
    /// Creates a scan of what `activity` returns.
    pub fn new(
        activity: Arc<A>,
        store: Arc<dyn Store>,
        intake: Arc<Intake>,
        clock: Arc<dyn Clock>,
        settings: ScanSettings,
    ) -> Self {
        Self {
            activity,
            store,
            intake,
            clock,
            settings,
            warned: AtomicBool::new(false),
        }
    }

    /// Scans again and again, after a pause each time, until `stop` is cancelled.
    pub async fn drive(&self, stop: &CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.clock.sleep(self.settings.every) => {}
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.round() => {}
            }
        }
    }

    /// Scans all repositories once and logs the result.
    pub async fn round(&self) {
        match self.run().await {
            Ok(_) => {
                metrics::happened(&metrics::SCAN_COMPLETED, self.clock.now());
                tracing::debug!("repositories scanned");
            }
            Err(error) => tracing::warn!(%error, "the scan for commands was interrupted"),
        }
    }

    /// Scans all repositories once. Returns the number of events that started runs.
    ///
    /// # Errors
    /// Returns the reason why it was interrupted. What a single repository refuses is skipped.
    pub async fn run(&self) -> Result<usize, ScanError> {
        let limit = self.settings.max_repositories;
        if limit == 0 {
            return Ok(0);
        }
        let repositories = self.activity.repositories(limit + 1).await?;
        if repositories.len() > limit {
            if !self.warned.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    limit,
                    "the App is installed in more repositories than scan.max_repositories: commands without a delivery are not looked for"
                );
            }
            return Ok(0);
        }
        let mut found = 0;
        let mut interrupted = Ok(());
        let mut limited = HashSet::new();
        for repo in &repositories {
            if limited.contains(&repo.installation) {
                continue;
            }
            match self.repository(repo).await {
                Ok(events) => found += events,
                Err(ScanError::Forge(error)) if error.is_refusal() => {
                    tracing::debug!(repository = repo.full_name(), %error, "not scanned");
                }
                // A fault of one repository or installation does not hold up the others.
                Err(ScanError::Forge(error)) => {
                    if matches!(error, ForgeError::Limited { .. }) {
                        limited.insert(repo.installation);
                    }
                    interrupted = Err(error.into());
                }
                Err(error) => {
                    interrupted = Err(error);
                    break;
                }
            }
        }
        if found > 0 {
            tracing::warn!(
                commands = found,
                "found commands for which GitHub created no delivery"
            );
        }
        interrupted.map(|()| found)
    }

    async fn repository(&self, repo: &Repo) -> Result<usize, ScanError> {
        let now = self.activity.time();
        let known = self.store.scan_state(repo.id).await?;
        let mut state = known.unwrap_or_else(|| {
            // What is older may have been handled by another database.
            let position = ScanPosition {
                since: now.minus(OVERLAP),
                etag: None,
            };
            ScanState {
                comments: position.clone(),
                issues: position,
            }
        });
        let comments = self.comments(repo, &mut state).await?;
        let labels = self.issues(repo, &mut state).await?;
        Ok(comments + labels)
    }

    async fn comments(&self, repo: &Repo, state: &mut ScanState) -> Result<usize, ScanError> {
        let mut found = 0;
        let mut reading = Reading::new(&state.comments);
        let app = self.intake.identity().app_id;
        let oldest = self.oldest();
        for _ in 0..MAX_PAGES {
            let (start, next) = (&reading.start, reading.next.as_deref());
            let page = self.activity.comments(repo, start, next).await?;
            let Some(page) = page else { return Ok(found) };
            let mut reached = Reached::new(start, self.settled());
            let commands: Vec<&FoundComment> = page
                .items
                .iter()
                .filter(|one| reached.includes(one.updated))
                .filter(|one| one.created >= oldest && one.app != Some(app))
                .filter(|one| !command::at_line_starts(&one.text).is_empty())
                .collect();
            found += self.receive_comments(repo, &commands).await?;
            let ended = reading.advance(page.next, &reached);
            reached.save(&mut state.comments, reading.etag(page.etag));
            self.save(repo, state).await?;
            if ended {
                break;
            }
        }
        Ok(found)
    }

    async fn receive_comments(
        &self,
        repo: &Repo,
        commands: &[&FoundComment],
    ) -> Result<usize, ScanError> {
        if commands.is_empty() {
            return Ok(0);
        }
        let ids: Vec<(u64, u64)> = commands.iter().map(|one| (one.number, one.id)).collect();
        self.intake.flush().await;
        let decided = self.store.decided_comments(repo.id, &ids).await?;
        let mut found = 0;
        for comment in commands.iter().filter(|one| !decided.contains(&one.id)) {
            if comment.updated != comment.created {
                if command::parse(&comment.text).is_empty() {
                    continue;
                }
                let guid = format!("comment-{}", comment.id);
                let subject = Subject {
                    action: Some("created".to_owned()),
                    repo: Some(repo.id),
                    number: Some(comment.number),
                    comment: Some(comment.id),
                };
                self.intake
                    .give_up(Source::Scan, &guid, "issue_comment", subject, EDITED)
                    .await;
                continue;
            }
            let event = match self.activity.commented(repo, comment.id).await {
                Ok(event) => event,
                // It was deleted since.
                Err(error) if error.is_absence() => None,
                Err(error) => return Err(error.into()),
            };
            if let Some(event) = event {
                found += self.receive(&event).await?;
            }
        }
        Ok(found)
    }

    async fn issues(&self, repo: &Repo, state: &mut ScanState) -> Result<usize, ScanError> {
        let mut found = 0;
        let mut reading = Reading::new(&state.issues);
        let labels = &self.intake.identity().labels;
        for _ in 0..MAX_PAGES {
            let (start, next) = (&reading.start, reading.next.as_deref());
            let page = self.activity.issues(repo, start, next).await?;
            let Some(page) = page else { return Ok(found) };
            let mut reached = Reached::new(start, self.settled());
            for issue in &page.items {
                if !reached.includes(issue.updated) {
                    continue;
                }
                for label in &issue.labels {
                    if for_label(label, labels).is_some() {
                        found += self.receive_label(repo, issue.number, label).await?;
                    }
                }
            }
            let ended = reading.advance(page.next, &reached);
            reached.save(&mut state.issues, reading.etag(page.etag));
            self.save(repo, state).await?;
            if ended {
                break;
            }
        }
        Ok(found)
    }

    async fn receive_label(
        &self,
        repo: &Repo,
        number: u64,
        label: &str,
    ) -> Result<usize, ScanError> {
        let found = match self.activity.labeled(repo, number, label).await {
            Ok(found) => found,
            Err(error) if error.is_absence() => None,
            Err(error) => return Err(error.into()),
        };
        let oldest = self.oldest();
        let Some(found) = found.filter(|found| found.at >= oldest) else {
            return Ok(0);
        };
        let place = IssueRef {
            repo: repo.clone(),
            number,
            pull_request: false,
        };
        let period = (found.at.minus(CLOCKS), found.at.plus(CLOCKS));
        self.intake.flush().await;
        if self
            .store
            .label_accepted(&place.key(), label, period)
            .await?
            || !self
                .store
                .decided(&[found.event.guid()], found.at.minus(MAX_SKEW))
                .await?
                .is_empty()
        {
            return Ok(0);
        }
        self.receive(&found.event).await
    }

    /// Items that were updated later are left to the next scan.
    fn settled(&self) -> Millis {
        self.activity.time().minus(self.settings.settle)
    }

    /// What was written earlier is too old to be executed, and need not be recorded either.
    fn oldest(&self) -> Millis {
        let now = self.activity.time();
        now.minus(self.intake.max_age()).minus(OLD)
    }

    async fn receive(&self, event: &A::Event) -> Result<usize, ScanError> {
        match self.intake.accept(event).await {
            Outcome::Busy(message) => Err(ScanError::Busy(message)),
            Outcome::Accepted(_) => Ok(1),
            _ => Ok(0),
        }
    }

    async fn save(&self, repo: &Repo, state: &ScanState) -> Result<(), StoreError> {
        // Decisions first: nothing before the position is looked at again.
        self.intake.flush().await;
        if self.store.scan_state(repo.id).await?.as_ref() == Some(state) {
            return Ok(());
        }
        self.store.save_scan_state(repo.id, state).await
    }
}

/// The page of a list that is read next.
///
/// Lists are read by time rather than by page where possible: an item that is updated or deleted
/// meanwhile moves the others to other pages.
struct Reading {
    start: ScanPosition,
    next: Option<String>,
    /// Whether the list had one page.
    is_whole: bool,
}

impl Reading {
    fn new(position: &ScanPosition) -> Self {
        Self {
            start: position.clone(),
            next: None,
            is_whole: true,
        }
    }

    /// Moves on to what follows a page, whose items were updated up to `reached.newest`. Returns
    /// whether the list ends here for now.
    fn advance(&mut self, next: Option<String>, reached: &Reached) -> bool {
        let Some(next) = next.filter(|_| !reached.held) else {
            return true;
        };
        self.is_whole = false;
        if reached.newest > self.start.since {
            self.start = ScanPosition {
                since: reached.newest,
                etag: None,
            };
            self.next = None;
        } else {
            self.next = Some(next);
        }
        false
    }

    /// Returns the `ETag` of the list if it had one page.
    fn etag(&self, etag: Option<String>) -> Option<String> {
        etag.filter(|_| self.is_whole)
    }
}

/// How far a list was read.
struct Reached {
    /// Items that were updated later are left to the next scan: their delivery may be on its way.
    settled: Millis,
    newest: Millis,
    /// Whether there are such items.
    held: bool,
}

impl Reached {
    fn new(start: &ScanPosition, settled: Millis) -> Self {
        Self {
            settled,
            newest: start.since,
            held: false,
        }
    }

    /// Notes an item and returns whether it is received now.
    fn includes(&mut self, updated: Millis) -> bool {
        if updated > self.settled {
            self.held = true;
            return false;
        }
        self.newest = self.newest.max(updated);
        true
    }

    /// Moves the position. The `ETag` of the whole list is kept only if the next scan asks for the
    /// same list and would find nothing new in it.
    fn save(&self, position: &mut ScanPosition, etag: Option<String>) {
        let since = self.newest.minus(LAG).max(position.since);
        let same = since == position.since && !self.held;
        *position = ScanPosition {
            since,
            etag: etag.filter(|_| same),
        };
    }
}
