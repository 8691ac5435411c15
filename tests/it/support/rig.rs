//! The engine with a real store in a temporary folder, a fake GitHub and a manual clock.

use std::sync::Arc;

use planwright::adapters::store::SqlStore;
use planwright::engine::clock::Clock;
use planwright::engine::model::run::{RunId, State};
use planwright::engine::model::trigger::{Actor, IssueRef, Origin, Repo, Trigger};
use planwright::engine::services::Services;
use planwright::engine::settings::Settings;
use planwright::engine::store::{NewDelivery, NewRun, RunView, Store};
use planwright::engine::worker::{Outcome, Worker};
use planwright::formats::command::{Command, Permission};

use super::clock::ManualClock;
use super::fake_forge::FakeForge;

/// A plan that passes the gates.
pub(crate) const PLAN: &str = "# Plan: Cache the search index\n\n## Overview\n\nThe index is rebuilt on every start, which takes \
a minute. Keep it on disk between starts.\n\n## Steps\n\n1. Write the index to a file after building it\n2. Read the file \
at start when it is newer than the data\n3. Delete the file when the format changes\n\n## Testing\n\n- Start twice and \
compare the times\n";

pub(crate) const HERE: u64 = 7;

/// The kind of store of a rig.
pub(crate) enum On {
    /// A new file for each rig.
    Sqlite,
    /// A database that is emptied for each rig.
    #[cfg(unix)]
    Postgres(url::Url),
}

impl On {
    /// Makes a PostgreSQL database; `None` if there is no server, which is reported.
    #[cfg(unix)]
    pub(crate) async fn postgres() -> Option<Self> {
        let url = super::postgres::database().await?;
        super::postgres::open(&url).await.close().await;
        Some(Self::Postgres(url))
    }
}

pub(crate) struct Rig {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) forge: FakeForge,
    pub(crate) store: Arc<SqlStore>,
    pub(crate) parts: Services,
    _folder: tempfile::TempDir,
    deliveries: std::sync::atomic::AtomicU64,
    /// ID of the next comment with a command.
    comments: std::sync::atomic::AtomicU64,
}

impl Rig {
    pub(crate) async fn new() -> Self {
        Self::with(Settings::default()).await
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        let clock = Arc::new(ManualClock::new());
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder.path().join("rig.sqlite"), clock.now()).await;
        Self::on(store, clock, folder, settings)
    }

    /// Creates a rig on an empty store of this kind.
    pub(crate) async fn fresh(on: &On) -> Self {
        match on {
            On::Sqlite => Self::new().await,
            #[cfg(unix)]
            On::Postgres(url) => {
                super::postgres::empty(url).await;
                let store = Arc::new(super::postgres::open(url).await);
                let clock = Arc::new(ManualClock::new());
                let folder = tempfile::tempdir().unwrap();
                Self::on(store, clock, folder, Settings::default())
            }
        }
    }

    fn on(
        store: Arc<SqlStore>,
        clock: Arc<ManualClock>,
        folder: tempfile::TempDir,
        settings: Settings,
    ) -> Self {
        let forge = FakeForge::new(Arc::clone(&clock));
        forge.open(
            HERE,
            "Search is slow to start",
            &["It takes a minute.", PLAN],
        );
        forge.grant("ada", 7, Permission::Write);
        let parts = Services {
            store: store.clone(),
            forge: Arc::new(forge.clone()),
            clock: clock.clone(),
            settings: Arc::new(settings),
            agent: None,
            checkouts: None,
            search_first: false,
        };
        Self {
            clock,
            forge,
            store,
            parts,
            _folder: folder,
            deliveries: 0.into(),
            comments: 99.into(),
        }
    }

    pub(crate) fn place(number: u64) -> IssueRef {
        let repo = Repo {
            installation: 1,
            id: 42,
            owner: "acme".into(),
            name: "search".into(),
        };
        IssueRef {
            repo,
            number,
            pull_request: false,
        }
    }

    pub(crate) fn trigger(&self, command: Command, login: &str, id: u64, number: u64) -> Trigger {
        Trigger {
            command,
            actor: Actor {
                id,
                login: login.to_owned(),
                bot: false,
            },
            place: Self::place(number),
            origin: Origin::Comment {
                id: self.next_comment(),
                text: format!("/{}", command.name()),
                url: "https://github.test/comment".into(),
            },
            options: Vec::new(),
            guidance: None,
            also: Vec::new(),
            expired: false,
            repeated: false,
            inline: None,
            opening: None,
            at: self.clock.now(),
        }
    }

    /// Returns the ID of a new comment with a command.
    pub(crate) fn next_comment(&self) -> u64 {
        self.comments
            .fetch_add(1, std::sync::atomic::Ordering::SeqCst)
    }

    /// Delivers a command by `ada`, who has write permission.
    pub(crate) async fn say(&self, command: Command) -> RunId {
        self.deliver(self.trigger(command, "ada", 7, HERE)).await
    }

    pub(crate) async fn deliver(&self, trigger: Trigger) -> RunId {
        let id = RunId::new();
        let number = self
            .deliveries
            .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let serial = trigger.serial();
        let run = NewRun {
            id: id.clone(),
            command: trigger.command.name().to_owned(),
            serial,
            place: trigger.place.key(),
            repo_id: trigger.place.repo.id,
            installation: 1,
            trigger,
        };
        let delivery = NewDelivery {
            source: planwright::engine::model::intake::Source::Webhook,
            guid: format!("guid-{number}"),
            event: "issue_comment".into(),
            action: Some("created".into()),
            installation: 1,
            dedup_key: None,
            received: self.clock.now(),
            payload: None,
            runs: vec![run],
            installation_gone: false,
        };
        self.store.accept(delivery).await.unwrap();
        id
    }

    pub(crate) fn worker(&self, owner: &str) -> Worker {
        Worker::new(self.parts.clone(), owner)
    }

    /// Makes the runs of a worker that died claimable, as the next start does with SQLite and the
    /// end of the lease with PostgreSQL.
    pub(crate) async fn recover_from_death(&self) {
        if self.store.clock().is_none() {
            self.store.recover_all(self.clock.now()).await.unwrap();
            return;
        }
        let lease = self.parts.settings.worker.lease;
        self.clock.advance_to(self.clock.now().plus(lease));
        self.store.recover_expired(self.clock.now()).await.unwrap();
    }

    /// Performs steps until nothing is left to do, and advances the clock if a run waits. Panics
    /// after 2,000 steps.
    pub(crate) async fn settle(&self) {
        let worker = self.worker("rig");
        for _ in 0..2_000 {
            match worker.step().await.unwrap() {
                Outcome::Did(..) => {}
                Outcome::Idle => return,
                Outcome::Wait(until) => self.clock.advance_to(until),
            }
        }
        panic!("the queue never came to rest");
    }

    pub(crate) async fn view(&self, run: &RunId) -> RunView {
        self.store.run(run).await.unwrap().unwrap()
    }

    pub(crate) async fn state(&self, run: &RunId) -> State {
        self.view(run).await.state
    }
}

/// Opens a store with default settings.
pub(crate) async fn open(
    path: &std::path::Path,
    now: planwright::engine::model::time::Millis,
) -> Arc<SqlStore> {
    let options = planwright::adapters::store::SqliteOptions::default();
    Arc::new(SqlStore::open_sqlite(path, options, now).await.unwrap())
}
