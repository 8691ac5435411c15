//! A run with its own folders, its own stub of the model's API, and the real client.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use planwright::adapters::agent::claude::{Claude, ClaudeSettings};
use planwright::adapters::agent::network::ModelNetwork;
use planwright::adapters::agent::sandbox::{Protection, active};
use planwright::adapters::agent::{
    Client, LocalAgent, Program, ResourceLimits, RunDirs, RunnerSettings, SandboxMode,
};
use planwright::adapters::clock::SystemClock;
use planwright::adapters::redact::Redactor;
use planwright::engine::agent::TurnObserver;
use planwright::engine::agent::{About, Agent, Task};
use planwright::engine::model::agent::{Document, Ending, Limits, Report, Session, Spent};
use planwright::engine::model::run::RunId;
use planwright::engine::settings::hosts::AllowedHost;
use tempfile::TempDir;
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::processes;
use crate::support::model::Model;
use crate::support::peers;

/// Each client takes 200 MB: a few at once, however many tests run.
static PLACES: Semaphore = Semaphore::const_new(3);
/// Longest a turn may take that is not limited itself.
const PATIENCE: Duration = Duration::from_mins(1);
/// What the stub takes for a key. It is nobody's.
pub(super) const KEY: &str = "key-of-the-stub-1f6b0c";
/// Instructions of a first turn.
pub(super) const SYSTEM: &str = "You write plans. These are the instructions of turn one.";

/// The real client, and what a test changes about it.
#[derive(Debug, Clone)]
pub(super) struct Changed {
    /// How it is called.
    pub(super) settings: ClaudeSettings,
    /// Files in its work folder.
    pub(super) planted: Vec<(&'static str, String)>,
    /// Shell text that runs in its place; `"$0" "$@"` is the client with its arguments.
    pub(super) shell: Option<&'static str>,
    /// Options that are left out, with their values.
    pub(super) without: &'static [&'static str],
    /// Options without a value that are left out.
    pub(super) without_flags: &'static [&'static str],
    /// Whether it runs in a sandbox.
    pub(super) sandbox: SandboxMode,
    /// Whether it may reach nothing but the stub.
    pub(super) confined: bool,
}

impl Client for Changed {
    fn about(&self) -> About {
        Claude(self.settings.clone()).about()
    }

    fn executable(&self) -> &Path {
        match self.shell {
            Some(_) => Path::new("/bin/sh"),
            None => &self.settings.path,
        }
    }

    fn program(&self, task: &Task, dirs: &RunDirs) -> Program {
        let mut program = Claude(self.settings.clone()).program(task, dirs);
        let with_value = self.without.iter().map(|option| (option, 2));
        let alone = self.without_flags.iter().map(|option| (option, 1));
        for (option, length) in with_value.chain(alone) {
            let at = program.args.iter().position(|arg| arg == option).unwrap();
            program.args.drain(at..at + length);
        }
        for (name, content) in &self.planted {
            let file = dirs.work.join(name);
            program.files.push((file, content.clone().into_bytes()));
        }
        if let Some(text) = self.shell {
            let client = std::mem::replace(&mut program.path, "/bin/sh".into());
            let before = ["-c".into(), text.into(), client.into_os_string()];
            program.args.splice(0..0, before);
        }
        program
    }

    fn reads(&self) -> Vec<PathBuf> {
        let mut reads = Claude(self.settings.clone()).reads();
        reads.push(self.settings.path.parent().unwrap().to_owned());
        reads
    }
}

/// See the module.
pub(super) struct Rig {
    pub(super) model: Arc<Model>,
    pub(super) folder: TempDir,
    agent: Arc<LocalAgent>,
    run: RunId,
    session: String,
    begun: Instant,
    _place: SemaphorePermit<'static>,
}

/// A turn that is being worked on.
pub(super) struct Working {
    /// Ends it.
    pub(super) stop: CancellationToken,
    /// What it has used so far.
    pub(super) seen: watch::Receiver<Spent>,
    report: JoinHandle<Report>,
}

impl Rig {
    /// The usual client in front of `model`; `None`, after saying so, where there is no client.
    pub(super) async fn new(model: Model) -> Option<Self> {
        Self::with(model, |_| {}).await
    }

    /// With what `change` makes of the client.
    pub(super) async fn with(model: Model, change: impl FnOnce(&mut Changed)) -> Option<Self> {
        let path = peers::claude()?.to_owned();
        let place = PLACES.acquire().await.unwrap();
        let mut client = Changed {
            settings: ClaudeSettings {
                path,
                key: Some(KEY.into()),
                api_url: Some(model.url()),
                retries: 1,
                ..ClaudeSettings::default()
            },
            planted: Vec::new(),
            shell: None,
            without: &[],
            without_flags: &[],
            sandbox: sandbox(),
            confined: false,
        };
        change(&mut client);
        let folder = tempfile::tempdir().unwrap();
        let settings = RunnerSettings {
            folder: folder.path().join("agents"),
            sandbox: client.sandbox,
            network: client.confined.then(|| {
                let api = client.settings.api_url.as_ref().unwrap();
                let host = AllowedHost::of_url(&api.parse().unwrap()).unwrap();
                ModelNetwork::new(vec![host], &[]).unwrap()
            }),
            helper: env!("CARGO_BIN_EXE_planwright").into(),
            resources: ResourceLimits::default(),
            secrets: Vec::new(),
            concurrency: 2,
            grace: Duration::from_millis(1_500),
            max_line_bytes: 8 * 1024 * 1024,
            max_output_bytes: 64 * 1024 * 1024,
            redactor: Redactor::default(),
        };
        let agent = LocalAgent::open(settings, Arc::new(client), Arc::new(SystemClock)).unwrap();
        Some(Self {
            model: Arc::new(model),
            folder,
            agent: Arc::new(agent),
            run: RunId::new(),
            session: uuid::Uuid::new_v4().to_string(),
            begun: Instant::now(),
            _place: place,
        })
    }

    /// A first turn.
    pub(super) fn task(&self, prompt: &str) -> Task {
        Task {
            part: 0,
            wanted: Vec::new(),
            files: Vec::new(),
            model: None,
            repository: None,
            run: self.run.clone(),
            system: SYSTEM.to_owned(),
            prompt: prompt.to_owned(),
            session: Session::New(self.session.clone()),
            cost_before: 0,
            limits: Limits {
                deadline: PATIENCE,
                silence: PATIENCE,
                turns: 10,
                cost: None,
            },
        }
    }

    /// A turn that goes on with what `before` did.
    pub(super) fn going_on(&self, prompt: &str, before: &Report) -> Task {
        Task {
            session: Session::Resume(before.session.clone().unwrap()),
            cost_before: before.spent.session_cost,
            ..self.task(prompt)
        }
    }

    /// Works on it and leaves nothing behind: no process, and no request to anything but the
    /// messages of the model.
    pub(super) async fn work(&self, task: Task) -> Report {
        self.start(task).report(self).await
    }

    /// Begins to work on it.
    pub(super) fn start(&self, task: Task) -> Working {
        let agent = Arc::clone(&self.agent);
        let stop = CancellationToken::new();
        let token = stop.clone();
        let (sender, seen) = TurnObserver::new();
        let report = tokio::spawn(async move { agent.work(&task, &sender, token).await });
        Working { stop, seen, report }
    }

    /// Keeps documents for the run.
    pub(super) async fn give(&self, documents: Vec<Document>) {
        self.agent.give(&self.run, documents).await.unwrap();
    }

    /// The run's own folder.
    pub(super) fn own(&self) -> PathBuf {
        self.folder.path().join("agents").join(&self.run.0)
    }

    /// The home of its client.
    pub(super) fn home(&self) -> PathBuf {
        self.own().join("home")
    }

    /// What its processes can be known by: a folder of this run's own is in their environment.
    pub(super) fn mark(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }
}

impl Working {
    /// What came of it, while others are at work.
    pub(super) async fn outcome(self) -> Report {
        let report = tokio::time::timeout(PATIENCE * 2, self.report).await;
        report.expect("a turn ends in time").unwrap()
    }

    /// What came of it.
    pub(super) async fn report(self, rig: &Rig) -> Report {
        let report = self.outcome().await;
        let left = processes::with(&[rig.mark()]);
        assert!(left.is_empty(), "left: {left:?}\n{report:?}");
        for asked in rig.model.asked() {
            assert_eq!(asked.line, "POST /v1/messages?beta=true");
            assert_eq!(asked.headers["x-api-key"], KEY);
        }
        report
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        static BEGUN: OnceLock<Instant> = OnceLock::new();
        static DONE: AtomicUsize = AtomicUsize::new(0);
        let all = BEGUN.get_or_init(|| self.begun).elapsed();
        let done = DONE.fetch_add(1, Ordering::SeqCst) + 1;
        let own = self.begun.elapsed();
        println!("this one {own:.1?}; {done} with the real client in {all:.1?}");
    }
}

/// A sandbox wherever the kernel has one: nothing here may depend on its absence.
pub(super) fn sandbox() -> SandboxMode {
    match active(SandboxMode::Auto) {
        Protection::Landlock { .. } => SandboxMode::Required,
        Protection::None { why } => {
            println!("without a sandbox: {why}");
            SandboxMode::Off
        }
    }
}

/// The text of a success; anything else fails the test.
pub(super) fn success(report: &Report) -> &str {
    match &report.ending {
        Ending::Success { text, .. } => text,
        other => panic!("{other:?}\n{report:?}"),
    }
}
