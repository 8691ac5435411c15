//! Coding agents as processes on this computer: the one way in which the engine's [`Agent`] reaches a program.
//!
//! A [`Client`] says which program is started and with what; [`LocalAgent`] starts it, feeds it, watches it, reads what
//! it says and ends it with everything that it has started. Nothing of this process reaches the program but what is
//! named here: an argument array, the prompt on standard input, an environment made from nothing, private folders.
//!
//! ```text
//! planwright ─stdin (held open)─▶ planwright agent-exec ─▶ the agent ─▶ its tools
//!            ◀────────── stdout, stderr ─────────────────────┘
//! ```
//!
//! The helper in the middle is this program again (`agent-exec`). It gives the agent its sandbox, adopts every
//! process that the agent leaves behind, and ends them all when the agent has ended or when its standard input closes,
//! which is also what happens when this process dies, however it dies.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::adapters::redact::Redactor;
use crate::engine::agent::{About, Agent, Document, Ending, Report, Spent, Task};
use crate::engine::clock::Clock;
use crate::engine::run::RunId;
pub use crate::engine::settings::{OutputFormat, SandboxMode};

pub mod claude;
pub mod command;
mod files;
pub mod helper;
mod output;
mod reads;
mod report;
mod rooms;
pub mod sandbox;
mod tree;
mod turn;

/// What is started for one turn.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program, an absolute path.
    pub path: PathBuf,
    /// Its arguments. Everybody on the computer can read them: no prompt, no secret.
    pub args: Vec<OsString>,
    /// What it finds in its environment besides `PATH`, `HOME`, `LANG`, `TMPDIR` and the runner's marker. A name given
    /// here replaces the runner's own value.
    pub environment: Vec<(String, SecretString)>,
    /// What it reads from standard input.
    pub input: Vec<u8>,
    /// Files that it reads: written with mode 0600 before it starts, below [`RunDirs::work`] or [`RunDirs::scratch`].
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// How its output is read.
    pub output: OutputFormat,
}

/// Private folders of one run, mode 0700, below the agents' folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirs {
    /// `HOME`: sessions and the client's own files; kept for the run's next turns.
    pub home: PathBuf,
    /// Working directory: empty at the start of each turn.
    pub work: PathBuf,
    /// `TMPDIR`: empty at the start of each turn.
    pub scratch: PathBuf,
}

/// Knows one kind of program: how it is called and what it needs.
pub trait Client: Send + Sync + 'static {
    /// Who it is.
    fn about(&self) -> About;
    /// The program that is started, an absolute path.
    fn executable(&self) -> &Path;
    /// What is started for this turn. Decides only; touches nothing.
    fn program(&self, task: &Task, rooms: &RunDirs) -> Program;
    /// Files and folders that the program reads besides its own folder and the system's libraries.
    fn reads(&self) -> Vec<PathBuf>;
}

/// Longest output of one turn that is read, in bytes: four of the longest lines.
pub const MAX_OUTPUT_BYTES: u64 = 256 * 1024 * 1024;

/// How programs are run; the configuration file documents each under `[agent]`.
#[derive(Debug, Clone)]
pub struct RunnerSettings {
    /// Where runs have their private folders; made where it is missing. One process at a time uses it.
    pub folder: PathBuf,
    /// Whether agents run in a sandbox.
    pub sandbox: SandboxMode,
    /// This program, for `agent-exec`.
    pub helper: PathBuf,
    /// Files of the bot that no agent may read: keys, secrets, the database. Those that are not there do no harm.
    pub secrets: Vec<PathBuf>,
    /// Most agents that run at once; at least 1. Further turns wait.
    pub concurrency: usize,
    /// How long an agent that is told to end (TERM) has before it is killed.
    pub grace: Duration,
    /// Longest line of output that is read, in bytes.
    pub max_line_bytes: usize,
    /// Most output of one turn that is read, in bytes.
    pub max_output_bytes: u64,
    /// Knows this process's own secrets. A text that holds one is not given on.
    pub redactor: Redactor,
}

/// Why agents cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder cannot be used.
    #[error(
        "the agents' folder {path} cannot be used: {error}: make it writable for this user, or name another agent.folder"
    )]
    Folder {
        /// Which folder.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// Another process works in the folder.
    #[error(
        "another planwright process runs its agents in {0}: stop it first, or give this one an agent.folder of its own"
    )]
    InUse(PathBuf),
    /// The program is not there or cannot be run.
    #[error("{0}")]
    Program(String),
    /// The agent of one run could read what another one keeps.
    #[error(
        "{read} is among what agents may read, and the agents' folder {folder} is in it: runs could read each other's \
         files: name a narrower path in agent.reads, or another agent.folder"
    )]
    TooWide {
        /// What may be read.
        read: PathBuf,
        /// Where the runs are.
        folder: PathBuf,
    },
    /// Agents could read a secret of the bot.
    #[error(
        "{read} is among what agents may read, and {secret} is in it, which is for this program alone: name a narrower \
         path in agent.reads, or put that file elsewhere"
    )]
    Secret {
        /// What may be read.
        read: PathBuf,
        /// Which file.
        secret: PathBuf,
    },
    /// A sandbox is asked for, and it lets agents read a secret of the bot.
    #[error("agent.sandbox is \"required\", but {0}")]
    Exposed(Exposed),
    /// A sandbox is asked for and there is none.
    #[error(
        "agent.sandbox is \"required\", but there is no sandbox here: {0}: run on Linux 5.13 or newer with Landlock \
         enabled, or set agent.sandbox to \"auto\""
    )]
    NoSandbox(String),
}

/// A file of the bot that agents can read in spite of the sandbox, because every program needs the folder that it is in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "agents could read {secret}, which is for this program alone: the sandbox lets every program read {folder}: put that \
     file elsewhere, e.g. below /etc/planwright or /var/lib/planwright"
)]
pub struct Exposed {
    /// What the sandbox lets every program read.
    pub folder: PathBuf,
    /// Which file.
    pub secret: PathBuf,
}

/// The first of `secrets` that agents can read although they run in a sandbox.
pub fn exposed(secrets: &[PathBuf]) -> Option<Exposed> {
    reads::exposed(secrets)
}

/// The variable in which every process of a turn carries the folder's mark and an unguessable one of its turn.
const MARK: &str = "PLANWRIGHT_AGENT";

/// Agents as processes of this computer.
pub struct LocalAgent {
    client: Arc<dyn Client>,
    settings: RunnerSettings,
    clock: Arc<dyn Clock>,
    places: Semaphore,
    /// Files and folders that the program may read.
    reads: Vec<PathBuf>,
    /// The mark of the folder.
    mark: String,
    /// Held as long as this lives: two processes in one folder would take each other's agents for left behind.
    _lock: File,
}

impl LocalAgent {
    /// Checks program, folder and sandbox, and ends what an earlier process of the bot has left running.
    pub fn open(
        mut settings: RunnerSettings,
        client: Arc<dyn Client>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        if let Some(why) = turn::complaint(client.executable()) {
            return Err(OpenError::Program(why));
        }
        sandbox::wanted(settings.sandbox, &sandbox::offered()).map_err(OpenError::NoSandbox)?;
        if settings.sandbox == SandboxMode::Required
            && let Some(exposed) = exposed(&settings.secrets)
        {
            return Err(OpenError::Exposed(exposed));
        }
        settings.folder = folder(&settings.folder)?;
        let lock = lock(&settings.folder)?;
        let reads = reads::allowed(client.as_ref(), &settings.folder, &settings.secrets)?;
        let hash = hex::encode(Sha256::digest(
            settings.folder.as_os_str().as_encoded_bytes(),
        ));
        let mark = hash.get(..16).unwrap_or(&hash).to_owned();
        let left = tree::end_marked(&format!("{MARK}={mark}:"));
        if left > 0 {
            tracing::warn!(
                left,
                "ended agents that an earlier process has left running"
            );
        }
        tracing::info!(
            agent = client.about().name,
            program = %client.executable().display(),
            sandbox = %sandbox::active(settings.sandbox),
            "agents are ready"
        );
        Ok(Self {
            places: Semaphore::new(settings.concurrency.max(1)),
            client,
            settings,
            clock,
            reads,
            mark,
            _lock: lock,
        })
    }

    /// The private folders of a run, and what is started there.
    async fn prepare(&self, task: &Task) -> Result<(RunDirs, Program), String> {
        let folder = &self.settings.folder;
        let run = rooms::of(folder, &task.run)
            .ok_or_else(|| format!("the run id {:?} names no folder", task.run.0))?;
        let shown = run.display().to_string();
        let (part, own) = (task.part, task.files.clone());
        let furnished = !task.wanted.is_empty();
        let prepare = move || {
            let rooms = rooms::prepare(&run, part)?;
            if furnished {
                files::furnish(&rooms::given(&run), &rooms, &own)?;
            }
            Ok(rooms)
        };
        let rooms = blocking(prepare).await.map_err(|error| {
            format!("the agent's folder {shown} cannot be made: {error}: make agent.folder writable for this user")
        })?;
        let mut program = self.client.program(task, &rooms);
        if let Some(why) = turn::complaint(&program.path) {
            return Err(why);
        }
        let (files, own) = (std::mem::take(&mut program.files), rooms.clone());
        blocking(move || files::place(&own, &files))
            .await
            .map_err(|error| {
                format!(
                    "the agent's files cannot be written: {error}: see to it that the disk of agent.folder is not full"
                )
            })?;
        Ok((rooms, program))
    }
}

#[async_trait]
impl Agent for LocalAgent {
    fn about(&self) -> About {
        self.client.about()
    }

    fn full(&self) -> bool {
        self.places.available_permits() == 0
    }

    async fn work(
        &self,
        task: &Task,
        seen: &watch::Sender<Spent>,
        stop: CancellationToken,
    ) -> Report {
        let place = tokio::select! {
            biased;
            () = stop.cancelled() => Err(Ending::Cancelled),
            // The semaphore is never closed.
            place = self.places.acquire() => Ok(place),
        };
        let _place = match place {
            Ok(place) => place,
            Err(ending) => return report::without_program(ending),
        };
        let (rooms, program) = match self.prepare(task).await {
            Ok(ready) => ready,
            Err(why) => {
                let report = report::without_program(Ending::NotStarted(why));
                log(task, &report);
                return report;
            }
        };
        let given = turn::Given {
            settings: &self.settings,
            clock: self.clock.as_ref(),
            reads: &self.reads,
            mark: (MARK, format!("{}:{}", self.mark, Uuid::new_v4().simple())),
            // The run id named a folder a moment ago.
            documents: rooms::of(&self.settings.folder, &task.run)
                .map(|run| rooms::given(&run))
                .unwrap_or_default(),
        };
        let report = turn::work(&given, task, program, &rooms, seen, stop).await;
        log(task, &report);
        report
    }

    async fn give(&self, run: &RunId, documents: Vec<Document>) -> Result<(), String> {
        let folder = rooms::of(&self.settings.folder, run)
            .ok_or_else(|| format!("the run id {:?} names no folder", run.0))?;
        blocking(move || rooms::give(&folder, &documents))
            .await
            .map_err(|error| {
                format!(
                    "the agent's documents cannot be written: {error}: see to it that the disk of agent.folder is not full"
                )
            })
    }

    async fn given(&self, run: &RunId) -> bool {
        let Some(folder) = rooms::of(&self.settings.folder, run) else {
            return false;
        };
        blocking(move || Ok(rooms::given(&folder).is_dir()))
            .await
            .unwrap_or(false)
    }

    async fn forget(&self, run: &RunId) {
        let Some(folder) = rooms::of(&self.settings.folder, run) else {
            return;
        };
        if let Err(error) = blocking(move || rooms::remove(&folder)).await {
            tracing::warn!(%run, %error, "the agent's folder of a run cannot be removed");
        }
    }

    async fn kept(&self) -> Vec<RunId> {
        let folder = self.settings.folder.clone();
        let listed = blocking(move || rooms::list(&folder)).await;
        listed.unwrap_or_else(|error| {
            tracing::warn!(%error, "the agents' folder cannot be listed");
            Vec::new()
        })
    }
}

/// Most characters of standard error that the log gets, from its end.
const MAX_LOGGED_CHARS: usize = 2_000;

/// Tells the operator why a turn did not end well: nobody else is told what the agent printed to standard error.
fn log(task: &Task, report: &Report) {
    if matches!(report.ending, Ending::Success { .. } | Ending::Cancelled) {
        return;
    }
    let skipped = report
        .stderr
        .chars()
        .count()
        .saturating_sub(MAX_LOGGED_CHARS);
    let stderr: String = report.stderr.chars().skip(skipped).collect();
    tracing::warn!(
        run.id = %task.run,
        ending = ?report.ending,
        stderr = stderr.trim(),
        "an agent's turn did not end well"
    );
}

/// Makes the agents' folder, for this user only, and says where it really is.
fn folder(folder: &Path) -> Result<PathBuf, OpenError> {
    rooms::make_private(folder)
        .and_then(|()| folder.canonicalize())
        .map_err(|error| OpenError::Folder {
            path: folder.to_owned(),
            error,
        })
}

fn lock(folder: &Path) -> Result<File, OpenError> {
    let failed = |error| OpenError::Folder {
        path: folder.to_owned(),
        error,
    };
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.join(".lock"))
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse(folder.to_owned())),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Runs file system work where it may wait.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> std::io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(std::io::Error::other)?
}
