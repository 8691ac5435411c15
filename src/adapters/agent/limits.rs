//! Limits on what the processes of one turn may use of this computer, and how they are enforced.
//!
//! | limit | enforced by |
//! |---|---|
//! | memory, number of processes | a cgroup where one is delegated, otherwise by polling the process table |
//! | open files, size of a file | `setrlimit(2)`, for each process; polled to name the limit |
//! | disk space | measuring the private directories |
//!
//! Between two polls, an agent can exceed a limit that nothing else enforces. `RLIMIT_AS` and `RLIMIT_DATA` are no substitute: they count for each process, and
//! Claude Code reserves 5 GB of address space of which it uses 0.2 GB.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};

use super::cgroup::{self, Cgroups, TurnCgroup};
use super::disk::{self, FileLimits};
use super::process_tree::{self, Process, ProcessTree};
use super::{ResourceLimits, RunDirs};
use crate::engine::clock::Clock;
use crate::engine::model::agent::Limit;

/// Time between two polls of the processes of a turn. A process fills about 100 MB in it.
const PROCESS_INTERVAL: Duration = Duration::from_millis(200);

/// Time between two measurements of the private directories.
const DISK_INTERVAL: Duration = Duration::from_millis(500);

/// Least ratio of the time between two polls to the processor time of a poll. It bounds the share of
/// one processor that each kind of polling takes to 10 %.
const MIN_REST: u32 = 10;

/// Number of processes by which the limit of the user exceeds what agents may have. Where processes
/// are polled, an agent that starts many is ended before it reaches this limit; at it, no other
/// agent and no other program of the user could start a process either.
const ROOM: u64 = 4096;

/// How the limits on memory and processes are enforced on this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enforcement {
    /// By the kernel, for all processes of a turn together.
    Cgroup,
    /// By polling the processes of a turn several times a second.
    Watched {
        /// Why there is no cgroup, as a clause.
        why: String,
    },
    /// Not at all: the system has no process table.
    None,
}

impl fmt::Display for Enforcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cgroup => f.write_str("memory and processes are limited by the kernel (cgroup)"),
            Self::Watched { why } => write!(
                f,
                "memory and processes are checked {} times a second, and more can be used \
                 in between ({why})",
                Duration::from_secs(1).as_millis() / PROCESS_INTERVAL.as_millis()
            ),
            Self::None => {
                f.write_str("memory and processes are not limited (this system has no /proc)")
            }
        }
    }
}

/// Returns how the limits on memory and processes would be enforced on this computer. Changes
/// nothing.
pub fn enforcement() -> Enforcement {
    described(&Cgroups::find())
}

/// Describes what was found.
pub(super) fn described(cgroups: &Result<Cgroups, String>) -> Enforcement {
    match cgroups {
        Ok(_) => Enforcement::Cgroup,
        Err(_) if !Path::new("/proc/self/stat").exists() => Enforcement::None,
        Err(why) => Enforcement::Watched { why: why.clone() },
    }
}

/// The limits that the helper sets for itself and so for the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InheritedLimits {
    /// Maximum number of open files of a process.
    pub open_files: Option<u64>,
    /// Maximum size of a file that is written, in bytes.
    pub file_size: Option<u64>,
    /// Number of processes and threads that the user may start in addition to those that run
    /// already. A second line of defence: the kernel counts all processes of the user, and does not
    /// limit root.
    pub processes: Option<u64>,
    /// Directory of the cgroup.
    pub cgroup: Option<PathBuf>,
}

impl InheritedLimits {
    /// Applies the limits to this process and everything that it starts.
    ///
    /// # Errors
    /// The limit that cannot be set, and why.
    pub(super) fn enter(&self) -> Result<(), String> {
        if let Some(dir) = &self.cgroup {
            cgroup::move_self(dir).map_err(|error| {
                format!("the cgroup {} cannot be entered: {error}", dir.display())
            })?;
        }
        let processes = self
            .processes
            .filter(|_| !rustix::process::geteuid().is_root())
            .and_then(|more| Some(process_tree::own_tasks()?.saturating_add(more)));
        for (resource, most, name) in [
            (Resource::Nofile, self.open_files, "of open files"),
            (Resource::Fsize, self.file_size, "of the size of a file"),
            (Resource::Nproc, processes, "of processes"),
        ] {
            let Some(most) = most else {
                continue;
            };
            let most = getrlimit(resource)
                .maximum
                .map_or(most, |allowed| allowed.min(most));
            let limit = Rlimit {
                current: Some(most),
                maximum: Some(most),
            };
            setrlimit(resource, limit)
                .map_err(|error| format!("the limit {name} cannot be set: {error}"))?;
        }
        Ok(())
    }
}

/// The resource limits of one turn.
pub(super) struct TurnLimits {
    limits: ResourceLimits,
    cgroup: Option<Arc<TurnCgroup>>,
    dirs: [PathBuf; 3],
}

impl TurnLimits {
    /// Prepares the limits of a turn, with a cgroup of its own if possible. `mark` is the turn's
    /// id.
    pub(super) fn new(
        limits: &ResourceLimits,
        cgroups: Option<&Cgroups>,
        mark: &str,
        dirs: &RunDirs,
    ) -> Self {
        let cgroup = cgroups.and_then(|cgroups| match cgroups.turn(mark, limits) {
            Ok(cgroup) => Some(Arc::new(cgroup)),
            Err(error) => {
                tracing::warn!(%error, "an agent gets no cgroup, and is watched instead");
                None
            }
        });
        Self {
            limits: limits.clone(),
            cgroup,
            dirs: [dirs.home.clone(), dirs.work.clone(), dirs.scratch.clone()],
        }
    }

    /// Returns the limits that the helper sets. `concurrency` is the number of agents that may run
    /// at once, which all need room in the limit of processes of their user.
    pub(super) fn inherited(&self, concurrency: usize) -> InheritedLimits {
        let agents = u64::try_from(concurrency).unwrap_or(u64::MAX);
        let processes = self.limits.processes.filter(|_| self.cgroup.is_none());
        InheritedLimits {
            open_files: self.limits.open_files,
            file_size: self.limits.file_size,
            processes: processes.map(|most| most.saturating_mul(agents).saturating_add(ROOM)),
            cgroup: self.cgroup.as_ref().map(|cgroup| cgroup.path().to_owned()),
        }
    }

    /// Returns the cgroup of the turn.
    pub(super) fn cgroup(&self) -> Option<Arc<TurnCgroup>> {
        self.cgroup.clone()
    }

    /// Watches a running turn. Returns the first limit that is exceeded, and does not return
    /// before. Stops polling when it is dropped.
    pub(super) async fn exceeded(&self, tree: &Arc<ProcessTree>, clock: &dyn Clock) -> Limit {
        let stop = StopOnDrop(Arc::default());
        let (limits, cgroup, tree) = (self.limits.clone(), self.cgroup.clone(), Arc::clone(tree));
        let processes = move || {
            let by_kernel = cgroup.as_ref().and_then(|cgroup| cgroup.exceeded());
            by_kernel.or_else(|| processes_exceed(&tree, &limits, cgroup.is_some()))
        };
        let (files, dirs, stopped) = (self.files(), self.dirs.clone(), Arc::clone(&stop.0));
        let space = move || disk_exceeds(&dirs, files, &stopped);
        tokio::select! {
            limit = watch(clock, PROCESS_INTERVAL, processes) => limit,
            limit = watch(clock, DISK_INTERVAL, space) => limit,
        }
    }

    /// Returns the limit that a turn has exceeded whose processes have ended by themselves with
    /// `status`, or after their result if there is none.
    pub(super) async fn exceeded_at_end(&self, status: Option<ExitStatus>) -> Option<Limit> {
        let (files, dirs) = (self.files(), self.dirs.clone());
        let span = tracing::Span::current();
        let measure = move || span.in_scope(|| disk_exceeds(&dirs, files, &AtomicBool::new(false)));
        let found = tokio::task::spawn_blocking(measure).await;
        if let Ok(Some(limit)) = found {
            return Some(limit);
        }
        let failed = status.filter(|status| !status.success())?;
        let signal = Signal::XFSZ.as_raw();
        // Shells exit with 128 plus the signal that ended their last command.
        if failed.signal() == Some(signal) || failed.code() == Some(128 + signal) {
            return self.limits.file_size.map(Limit::FileSize);
        }
        self.cgroup.as_ref()?.exceeded()
    }

    fn files(&self) -> FileLimits {
        FileLimits {
            disk: self.limits.disk,
            file_size: self.limits.file_size,
        }
    }
}

/// Makes a measurement that nobody waits for any more stop.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Calls `check` on a thread that may block, every `interval` or less often if it takes long, until
/// it returns a limit.
async fn watch(
    clock: &dyn Clock,
    interval: Duration,
    check: impl Fn() -> Option<Limit> + Send + Sync + 'static,
) -> Limit {
    let check = Arc::new(check);
    let mut pause = interval;
    loop {
        clock.sleep(pause).await;
        let (check, span) = (Arc::clone(&check), tracing::Span::current());
        let checked = tokio::task::spawn_blocking(move || {
            let before = processor_time();
            let found = span.in_scope(|| check());
            (found, processor_time().saturating_sub(before))
        });
        match checked.await {
            Ok((Some(limit), _)) => return limit,
            Ok((None, took)) => pause = interval.max(took * MIN_REST),
            // The runtime is shutting down and starts no more threads.
            Err(_) => return std::future::pending().await,
        }
    }
}

/// Returns the processor time that this thread has used. Unlike the time that passed, it does not
/// depend on what else runs.
fn processor_time() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

/// Returns the limit that the processes of a turn exceed, from the process table. Those that the
/// kernel enforces are left to it.
fn processes_exceed(
    tree: &ProcessTree,
    limits: &ResourceLimits,
    is_in_cgroup: bool,
) -> Option<Limit> {
    let processes = limits.processes.filter(|_| !is_in_cgroup);
    let memory = limits.memory.filter(|_| !is_in_cgroup);
    if processes.is_none() && memory.is_none() && limits.open_files.is_none() {
        return None;
    }
    let members = tree.members();
    let threads: u64 = members.iter().map(|process| process.threads).sum();
    // A program that meets the limit of open files gets an error, which it may not report.
    let most_open = || members.iter().map(Process::open_files).max();
    if let Some(most) = processes.filter(|most| threads > *most) {
        Some(Limit::Processes(most))
    } else if let Some(most) = memory.filter(|most| process_tree::uses_more_memory(&members, *most))
    {
        Some(Limit::Memory(most))
    } else {
        let reached = |most: &u64| most_open().is_some_and(|open| open >= *most);
        limits.open_files.filter(reached).map(Limit::OpenFiles)
    }
}

fn disk_exceeds(dirs: &[PathBuf], limits: FileLimits, stop: &AtomicBool) -> Option<Limit> {
    if limits.disk.is_none() && limits.file_size.is_none() {
        return None;
    }
    disk::exceeded(dirs, limits, stop).unwrap_or_else(|error| {
        tracing::warn!(%error, "the private folder of an agent cannot be measured");
        None
    })
}

#[cfg(test)]
mod tests;
