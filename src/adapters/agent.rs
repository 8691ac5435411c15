//! Coding agents as processes on this computer: the implementation of the engine's [`Agent`].
//!
//! A [`Client`] describes which program is started and with what; [`LocalAgent`] starts it, feeds
//! it, watches it, reads its output and ends it together with everything it has started. The
//! program gets nothing from this process except what is listed here: an argument array, the prompt
//! on standard input, an environment built from scratch, and private directories.
//!
//! ```text
//! planwright ─stdin (held open)─▶ planwright agent-exec ─▶ the agent ─▶ its tools
//!            ◀────────── stdout, stderr ─────────────────────┘
//! ```
//!
//! The helper in between is this program again (`agent-exec`). It puts the agent into its sandbox,
//! adopts every process that the agent leaves behind, and ends them all when the agent has exited
//! or when its standard input closes. The latter also happens when this process dies for any
//! reason.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::adapters::redact::Redactor;
use crate::engine::agent::{About, Agent, Task, TurnObserver};
use crate::engine::clock::Clock;
use crate::engine::model::agent::{Document, Ending, Report};
use crate::engine::model::run::RunId;
pub use crate::engine::settings::{OutputFormat, ResourceLimits, SandboxMode};

mod cgroup;
pub mod claude;
pub mod command;
mod disk;
pub mod helper;
pub mod limits;
pub mod network;
mod output;
mod process_tree;
mod proxy;
mod read_access;
mod report;
mod run_dirs;
pub mod sandbox;
mod turn;

use self::network::ModelNetwork;
use self::proxy::{Access, Proxy};
use self::sandbox::NetworkPolicy;
pub use read_access::exposed;
pub(in crate::adapters) use run_dirs::{make_private, remove};

/// The program that is started for one turn.
#[derive(Debug, Clone)]
pub struct Program {
    /// Absolute path of the program.
    pub path: PathBuf,
    /// Arguments. Every user of the computer can read them, so they hold no prompt and no secret.
    pub args: Vec<OsString>,
    /// Environment variables in addition to `PATH`, `HOME`, `LANG`, `TMPDIR` and the runner's
    /// marker. A variable given here replaces the runner's own value.
    pub environment: Vec<(String, SecretString)>,
    /// Standard input.
    pub input: Vec<u8>,
    /// Files that the program reads: written with mode 0600 before it starts, below
    /// [`RunDirs::work`] or [`RunDirs::scratch`].
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Format of the standard output.
    pub output: OutputFormat,
}

/// Private directories of one part of a run, mode 0700.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirs {
    /// `HOME`: sessions and the client's own files. Kept for the next turns of the run.
    pub home: PathBuf,
    /// Working directory. Empty at the start of each turn.
    pub work: PathBuf,
    /// `TMPDIR`. Empty at the start of each turn.
    pub scratch: PathBuf,
}

/// Describes how one kind of agent program is called. Implementations have no side effects.
pub trait Client: Send + Sync + 'static {
    /// The name and the abilities of the agent.
    fn about(&self) -> About;
    /// Absolute path of the program.
    fn executable(&self) -> &Path;
    /// Describes the program for one turn.
    fn program(&self, task: &Task, dirs: &RunDirs) -> Program;
    /// Files and directories that the program reads in addition to its installation and the
    /// system's libraries.
    fn reads(&self) -> Vec<PathBuf>;
}

/// Default for [`RunnerSettings::max_output_bytes`]: 256 MiB, four of the longest lines.
pub const MAX_OUTPUT_BYTES: u64 = 256 * 1024 * 1024;

/// How programs are run. The configuration file documents the settings under `[agent]`.
#[derive(Debug, Clone)]
pub struct RunnerSettings {
    /// Parent of the private directories of runs; created if missing. One process at a time uses
    /// it.
    pub folder: PathBuf,
    /// Whether agents run in a sandbox.
    pub sandbox: SandboxMode,
    /// The hosts that agents may reach; `None` if their network is not restricted.
    pub network: Option<ModelNetwork>,
    /// Path of this program, for `agent-exec`.
    pub helper: PathBuf,
    /// Limits on what one agent may use of this computer.
    pub resources: ResourceLimits,
    /// Files of the bot that no agent may read: keys, secrets, the database. They need not exist.
    pub secrets: Vec<PathBuf>,
    /// Maximum number of agents that run at once, at least 1. Further turns wait.
    pub concurrency: usize,
    /// Time between SIGTERM and SIGKILL when an agent is ended.
    pub grace: Duration,
    /// Maximum length of a line of output, in bytes.
    pub max_line_bytes: usize,
    /// Maximum length of the output of one turn, in bytes.
    pub max_output_bytes: u64,
    /// Removes secrets from output, and knows those of this process. Output that holds one of the
    /// latter is withheld.
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
        /// The folder.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// Another process uses the folder.
    #[error(
        "another planwright process runs its agents in {0}: stop it first, or give this one its own agent.folder"
    )]
    InUse(PathBuf),
    /// The program does not exist or cannot be executed.
    #[error("{0}")]
    Program(String),
    /// The agent of one run could read the files of another run.
    #[error(
        "agents can read {read}, which contains the agents' folder {folder}, so runs could read \
         each other's files: name a narrower path in agent.reads, or another agent.folder"
    )]
    TooWide {
        /// The readable path.
        read: PathBuf,
        /// The folder of the runs.
        folder: PathBuf,
    },
    /// Agents could read a secret of the bot.
    #[error(
        "agents can read {read}, which contains {secret}, a file that only planwright may read: \
         name a narrower path in agent.reads, or move that file"
    )]
    Secret {
        /// The readable path.
        read: PathBuf,
        /// The file with the secret.
        secret: PathBuf,
    },
    /// A sandbox is required, but it would let agents read a secret of the bot.
    #[error("agent.sandbox is \"required\", but {0}")]
    Exposed(Exposed),
    /// A sandbox is required, but the system offers none.
    #[error(
        "agent.sandbox is \"required\", but there is no sandbox here: {0}: run on Linux 5.13 or newer with Landlock \
         enabled, or set agent.sandbox to \"auto\""
    )]
    NoSandbox(String),
    /// A sandbox is required, but it would not close the network.
    #[error(
        "agent.sandbox is \"required\", but agents could reach the network past planwright's proxy: {0}: run on Linux \
         6.7 or newer with Landlock and seccomp enabled, or set agent.network to \"open\""
    )]
    OpenNetwork(String),
    /// The proxy for agents cannot be started.
    #[error(
        "the agents' proxy cannot listen on 127.0.0.1: {0}: let planwright use the loopback interface, or set \
         agent.network to \"open\""
    )]
    Proxy(std::io::Error),
}

/// A file of the bot that agents can read in spite of the sandbox, because every program needs the
/// folder that it is in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "agents could read {secret}, a file that only planwright may read, because the sandbox lets \
     every program read {folder}: move that file, e.g. below /etc/planwright or \
     /var/lib/planwright"
)]
pub struct Exposed {
    /// The folder that the sandbox lets every program read.
    pub folder: PathBuf,
    /// The file.
    pub secret: PathBuf,
}

/// Environment variable that identifies the processes of a turn. Its value is an id of the agents'
/// folder, a colon, and a random id of the turn.
const MARK_VARIABLE: &str = "PLANWRIGHT_AGENT";

/// Runs agents as processes of this computer.
pub struct LocalAgent {
    client: Arc<dyn Client>,
    settings: RunnerSettings,
    clock: Arc<dyn Clock>,
    slots: Semaphore,
    /// Files and directories that the program may read.
    reads: Vec<PathBuf>,
    /// The way to the network, if it is restricted.
    network: Option<(Proxy, NetworkPolicy)>,
    /// Where turns get cgroups of their own, if anywhere.
    cgroups: Option<cgroup::Cgroups>,
    /// First half of the value of [`MARK_VARIABLE`].
    folder_id: String,
    /// Locked for the lifetime of this value: two processes that share a folder would take each
    /// other's agents for left-over ones.
    _lock: File,
}

impl LocalAgent {
    /// Checks program, folder and sandbox, and ends the agents that an earlier process left
    /// running.
    pub fn open(
        mut settings: RunnerSettings,
        client: Arc<dyn Client>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        turn::check_program(client.executable()).map_err(OpenError::Program)?;
        sandbox::is_used(settings.sandbox, &sandbox::available()).map_err(OpenError::NoSandbox)?;
        if settings.sandbox == SandboxMode::Required
            && let Some(exposed) = exposed(&settings.secrets)
        {
            return Err(OpenError::Exposed(exposed));
        }
        let network = open_network(&settings, &clock)?;
        let (folder, lock) = open_folder(&settings.folder)?;
        settings.folder = folder;
        let reads = read_access::allowed(client.as_ref(), &settings.folder, &settings.secrets)?;
        let mut folder_id = hex::encode(Sha256::digest(
            settings.folder.as_os_str().as_encoded_bytes(),
        ));
        folder_id.truncate(16);
        let left = process_tree::kill_marked(&format!("{MARK_VARIABLE}={folder_id}:"));
        if left > 0 {
            tracing::info!(left, "ended agents that an earlier process left running");
        }
        let cgroups = cgroup::Cgroups::open(&folder_id);
        tracing::info!(
            agent = client.about().name,
            program = %client.executable().display(),
            sandbox = %sandbox::active(settings.sandbox),
            network = %network::describe(settings.network.as_ref(), settings.sandbox),
            limits = %limits::described(&cgroups),
            "agents are ready"
        );
        Ok(Self {
            slots: Semaphore::new(settings.concurrency.max(1)),
            client,
            settings,
            clock,
            reads,
            network,
            cgroups: cgroups.ok(),
            folder_id,
            _lock: lock,
        })
    }

    fn run_dir(&self, run: &RunId) -> Result<PathBuf, String> {
        run_dirs::run_dir(&self.settings.folder, run)
            .ok_or_else(|| format!("the run id {:?} names no folder", run.0))
    }

    /// Creates the private directories for a turn and the files that its program reads. Returns
    /// the directories, the directory of the run's documents, and the program.
    async fn prepare(&self, task: &Task) -> Result<(RunDirs, PathBuf, Program), String> {
        let run = self.run_dir(&task.run)?;
        let shown = run.display().to_string();
        let documents = run_dirs::documents_dir(&run);
        let (part, own, given) = (task.part, task.files.clone(), documents.clone());
        let writes_files = !task.wanted.is_empty();
        let prepared = blocking(move || {
            let dirs = run_dirs::prepare(&run, part)?;
            if writes_files {
                run_dirs::fill_work(&given, &dirs, &own)?;
            }
            Ok(dirs)
        });
        let dirs = prepared.await.map_err(|error| {
            format!("the agent's folder {shown} cannot be created: {error}: make agent.folder writable for this user")
        })?;
        let mut program = self.client.program(task, &dirs);
        turn::check_program(&program.path)?;
        let (files, own) = (std::mem::take(&mut program.files), dirs.clone());
        blocking(move || run_dirs::write_files(&own, &files))
            .await
            .map_err(|error| {
                format!(
                    "the agent's files cannot be written: {error}: check that the disk of agent.folder is not full"
                )
            })?;
        Ok((dirs, documents, program))
    }

    /// Gives a turn access to the proxy, if the network is restricted.
    fn admit(&self, task: &Task) -> Result<Option<Access>, String> {
        let proxy = self
            .network
            .as_ref()
            .map(|(proxy, _)| proxy.admit(&task.run));
        proxy
            .transpose()
            .map_err(|error| OpenError::Proxy(error).to_string())
    }

    async fn run_task(&self, task: &Task, seen: &TurnObserver, stop: CancellationToken) -> Report {
        let prepared = async { Ok((self.prepare(task).await?, self.admit(task)?)) };
        let ((dirs, documents, mut program), access) = match prepared.await {
            Ok(prepared) => prepared,
            Err(why) => return report::not_run(Ending::NotStarted(why)),
        };
        if let Some(access) = &access {
            network::use_proxy(&mut program.environment, &access.url);
        }
        let context = turn::TurnContext {
            settings: &self.settings,
            clock: self.clock.as_ref(),
            cgroups: self.cgroups.as_ref(),
            reads: &self.reads,
            network: self.network.as_ref().map(|(_, policy)| policy),
            mark: format!("{}:{}", self.folder_id, Uuid::new_v4().simple()),
            dirs,
            documents,
        };
        turn::run(&context, task, &program, seen, stop).await
    }
}

#[async_trait]
impl Agent for LocalAgent {
    fn about(&self) -> About {
        self.client.about()
    }

    fn full(&self) -> bool {
        self.slots.available_permits() == 0
    }

    async fn work(&self, task: &Task, seen: &TurnObserver, stop: CancellationToken) -> Report {
        // The semaphore is never closed, so acquiring cannot fail.
        let _slot = tokio::select! {
            biased;
            () = stop.cancelled() => return report::not_run(Ending::Cancelled),
            slot = self.slots.acquire() => slot,
        };
        let report = self.run_task(task, seen, stop).await;
        log_failure(task, &report);
        report
    }

    async fn give(&self, run: &RunId, documents: Vec<Document>) -> Result<(), String> {
        let dir = self.run_dir(run)?;
        blocking(move || run_dirs::store_documents(&dir, &documents))
            .await
            .map_err(|error| {
                format!(
                    "the agent's documents cannot be written: {error}: check that the disk of agent.folder is not full"
                )
            })
    }

    async fn given(&self, run: &RunId) -> bool {
        let Ok(dir) = self.run_dir(run) else {
            return false;
        };
        let exists = blocking(move || Ok(run_dirs::documents_dir(&dir).is_dir()));
        exists.await.unwrap_or(false)
    }

    async fn forget(&self, run: &RunId) {
        let Ok(dir) = self.run_dir(run) else {
            return;
        };
        if let Err(error) = blocking(move || run_dirs::remove(&dir)).await {
            tracing::warn!(run.id = %run, %error, "the agent's folder of a run cannot be removed");
        }
    }

    async fn kept(&self) -> Vec<RunId> {
        let folder = self.settings.folder.clone();
        let listed = blocking(move || run_dirs::list_runs(&folder)).await;
        listed.unwrap_or_else(|error| {
            tracing::warn!(%error, "the agents' folder cannot be listed");
            Vec::new()
        })
    }
}

/// Maximum length of the end of standard error that is logged, in characters.
const MAX_LOGGED_CHARS: usize = 2_000;

/// Logs why a turn failed. The agent's standard error is shown to the operator only.
fn log_failure(task: &Task, report: &Report) {
    if matches!(report.ending, Ending::Success { .. } | Ending::Cancelled) {
        return;
    }
    let length = report.stderr.chars().count();
    let skipped = length.saturating_sub(MAX_LOGGED_CHARS);
    let stderr: String = report.stderr.chars().skip(skipped).collect();
    tracing::warn!(
        run.id = %task.run,
        ending = ?report.ending,
        stderr = stderr.trim(),
        "an agent's turn failed"
    );
}

/// Opens the proxy of agents whose network is restricted.
fn open_network(
    settings: &RunnerSettings,
    clock: &Arc<dyn Clock>,
) -> Result<Option<(Proxy, NetworkPolicy)>, OpenError> {
    let Some(network) = &settings.network else {
        return Ok(None);
    };
    let gap = sandbox::network_gap(settings.sandbox, &sandbox::available());
    if let (SandboxMode::Required, Some(why)) = (settings.sandbox, gap) {
        return Err(OpenError::OpenNetwork(why));
    }
    let proxy = Proxy::open(network, Arc::clone(clock), settings.redactor.clone());
    let proxy = proxy.map_err(OpenError::Proxy)?;
    let policy = NetworkPolicy {
        port: proxy.port(),
        filter: settings.sandbox != SandboxMode::Off && sandbox::check_filter().is_ok(),
    };
    Ok(Some((proxy, policy)))
}

/// Creates and locks the agents' folder. Returns its canonical path and the lock.
fn open_folder(folder: &Path) -> Result<(PathBuf, File), OpenError> {
    let failed = |error| OpenError::Folder {
        path: folder.to_owned(),
        error,
    };
    run_dirs::make_private(folder).map_err(failed)?;
    let folder = folder.canonicalize().map_err(failed)?;
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.join(".lock"))
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok((folder, file)),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse(folder)),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Runs file system operations on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> std::io::Result<T> {
    let span = tracing::Span::current();
    tokio::task::spawn_blocking(move || span.in_scope(work))
        .await
        .map_err(std::io::Error::other)?
}
