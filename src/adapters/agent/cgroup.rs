//! Control groups (cgroup v2) for the processes of agents, where one is delegated to this process.
//!
//! The kernel then enforces the limits on memory and on the number of processes for all processes
//! of a turn together. A process may only divide a cgroup that its manager leaves to it: one of a
//! systemd unit with `Delegate=`, or that of a container in which it is writable. All others are
//! left alone, and so is the root of a host. See <https://systemd.io/CGROUP_DELEGATION> and
//! <https://docs.kernel.org/admin-guide/cgroup-v2.html>.
//!
//! ```text
//! the delegated cgroup ─┬─ planwright             the bot
//!                       └─ planwright-agent-ID…   one for each turn: the helper and the agent
//! ```

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use super::ResourceLimits;
use crate::engine::model::agent::Limit;

/// Name of the cgroup that this process moves into. Processes and controllers of children cannot be
/// in the same cgroup ("no internal processes").
const OWN: &str = "planwright";

/// Start of the names of the cgroups of turns.
const TURN: &str = "planwright-agent-";

/// The controllers that the limits need.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];

/// Number of the helper's own threads, which are in the cgroup of the turn.
const HELPER_THREADS: u64 = 8;

/// Maximum time to wait until the killed processes of a cgroup are gone.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(2);

/// Time between two tries to remove a cgroup.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// A delegated cgroup that can be divided among agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cgroups {
    base: PathBuf,
}

impl Cgroups {
    /// Finds the cgroup that is delegated to this process, and changes nothing.
    ///
    /// # Errors
    /// The reason why there is none, as a clause.
    pub(super) fn find() -> Result<Self, String> {
        let read = |path: &str| match fs::read(path) {
            // Names of mounts can be any bytes.
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => Err(format!("{path} cannot be read: {error}")),
        };
        if !cfg!(target_os = "linux") {
            return Err("this system has no cgroups".to_owned());
        }
        let (own, mounts) = (read("/proc/self/cgroup")?, read("/proc/self/mountinfo")?);
        let own = own_path(&own).ok_or("this system has no cgroup v2")?;
        let dir = locate(&mounts, own).ok_or("cgroup v2 is not mounted")?;
        let is_own_leaf = dir.file_name().is_some_and(|name| name == OWN);
        let base = match dir.parent() {
            Some(parent) if is_own_leaf => parent.to_owned(),
            _ => dir,
        };
        // The root of the hierarchy has no such file.
        let Ok(kind) = fs::read_to_string(base.join("cgroup.type")) else {
            return Err("this process is in the root cgroup of the computer".to_owned());
        };
        let shown = base.display();
        let is_root_of_container = own == "/" || is_own_leaf && own == format!("/{OWN}");
        if !is_root_of_container && !is_marked_as_delegated(&base) {
            return Err(format!(
                "the cgroup {shown} is not delegated to this process; in a systemd unit, \
                 Delegate=memory pids does that"
            ));
        }
        if kind.trim_end() != "domain" {
            return Err(format!("the cgroup {shown} is for threads"));
        }
        let controllers = fs::read_to_string(base.join("cgroup.controllers")).unwrap_or_default();
        let has = |name: &str| {
            controllers
                .split_ascii_whitespace()
                .any(|word| word == name)
        };
        if let Some(missing) = CONTROLLERS.into_iter().find(|name| !has(name)) {
            return Err(format!("the cgroup {shown} has no {missing} controller"));
        }
        for file in ["cgroup.procs", "cgroup.subtree_control"] {
            let path = base.join(file);
            rustix::fs::access(&path, rustix::fs::Access::WRITE_OK)
                .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        }
        Ok(Self { base })
    }

    /// Prepares the delegated cgroup for agents: moves this process into a child and hands the
    /// controllers to the children. Removes what earlier processes with the same `folder_id` left.
    ///
    /// # Errors
    /// The reason why that is not possible, as a clause. Everything is as it was before.
    pub(super) fn open(folder_id: &str) -> Result<Self, String> {
        let found = Self::find()?;
        found.divide().map_err(|error| {
            let shown = found.base.display();
            match error.kind() {
                ErrorKind::ResourceBusy => format!("other processes are in the cgroup {shown}"),
                _ => format!("the cgroup {shown} cannot be divided: {error}"),
            }
        })?;
        found.remove_left_over(folder_id);
        Ok(found)
    }

    fn divide(&self) -> io::Result<()> {
        let own = self.base.join(OWN);
        match fs::create_dir(&own) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        move_self(&own)?;
        let wanted = CONTROLLERS.map(|name| format!("+{name}")).join(" ");
        let enabled = fs::write(self.base.join("cgroup.subtree_control"), wanted);
        if enabled.is_err() {
            let _ = move_self(&self.base);
            let _ = fs::remove_dir(&own);
        }
        enabled
    }

    fn remove_left_over(&self, folder_id: &str) {
        let prefix = format!("{TURN}{folder_id}-");
        let Ok(entries) = fs::read_dir(&self.base) else {
            return;
        };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                // Dropping it ends it.
                drop(TurnCgroup {
                    dir: entry.path(),
                    limits: ResourceLimits::default(),
                });
            }
        }
    }

    /// Creates the cgroup of a turn. `mark` is the turn's id: the id of the folder, a colon, and an
    /// id of its own.
    ///
    /// # Errors
    /// The kernel refuses; nothing is left.
    pub(super) fn turn(&self, mark: &str, limits: &ResourceLimits) -> io::Result<TurnCgroup> {
        let dir = self.base.join(format!("{TURN}{}", mark.replace(':', "-")));
        fs::create_dir(&dir)?;
        let turn = TurnCgroup {
            dir,
            limits: limits.clone(),
        };
        if let Some(most) = limits.memory {
            turn.set("memory.max", most)?;
            // Missing where the kernel does not account for swap.
            if let Err(error) = turn.set("memory.swap.max", 0)
                && error.kind() != ErrorKind::NotFound
            {
                return Err(error);
            }
        }
        if let Some(most) = limits.processes {
            turn.set("pids.max", most.saturating_add(HELPER_THREADS))?;
        }
        // Without a part of its processes the agent would be in an unknown state. Only for
        // cgroups with memory.max; since Linux 4.19.
        let _ = turn.set("memory.oom.group", 1);
        Ok(turn)
    }
}

/// The cgroup of one turn. Dropping it kills what is in it and removes it.
#[derive(Debug)]
pub(super) struct TurnCgroup {
    dir: PathBuf,
    limits: ResourceLimits,
}

impl TurnCgroup {
    /// Returns the directory of the cgroup.
    pub(super) fn path(&self) -> &Path {
        &self.dir
    }

    /// Returns the limit that the kernel has enforced, if any.
    pub(super) fn exceeded(&self) -> Option<Limit> {
        let count = |file: &str, name| {
            let text = fs::read_to_string(self.dir.join(file)).unwrap_or_default();
            counter(&text, name)
        };
        // Processes are also killed when a cgroup above has no memory left: that is not "oom" here.
        if let Some(most) = self.limits.memory
            && count("memory.events", "oom_kill") > 0
            && count("memory.events", "oom") > 0
        {
            return Some(Limit::Memory(most));
        }
        let most = self.limits.processes?;
        (count("pids.events", "max") > 0).then_some(Limit::Processes(most))
    }

    /// Kills all processes in the cgroup at once, those that are just being started included.
    pub(super) fn kill(&self) {
        // Missing before Linux 5.14, where the processes are found one by one.
        let _ = self.set("cgroup.kill", 1);
    }

    fn set(&self, file: &str, value: u64) -> io::Result<()> {
        // A file that does not exist cannot be created here: the error is "permission denied".
        let path = self.dir.join(file);
        if !path.exists() {
            return Err(ErrorKind::NotFound.into());
        }
        fs::write(path, value.to_string())
    }
}

impl Drop for TurnCgroup {
    fn drop(&mut self) {
        self.kill();
        let deadline = Instant::now() + REMOVE_TIMEOUT;
        loop {
            match fs::remove_dir(&self.dir) {
                // The killed processes have not exited yet.
                Err(error)
                    if error.kind() == ErrorKind::ResourceBusy && Instant::now() < deadline =>
                {
                    std::thread::sleep(POLL_INTERVAL);
                }
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    let path = self.dir.display();
                    tracing::warn!(%path, %error, "the cgroup of an agent cannot be removed");
                    return;
                }
                _ => return,
            }
        }
    }
}

/// Moves this process into a cgroup.
///
/// # Errors
/// The kernel refuses.
pub(super) fn move_self(dir: &Path) -> io::Result<()> {
    fs::write(dir.join("cgroup.procs"), std::process::id().to_string())
}

/// Whether the manager has marked the cgroup as delegated. systemd does so.
#[cfg(target_os = "linux")]
fn is_marked_as_delegated(dir: &Path) -> bool {
    ["user.delegate", "trusted.delegate"].iter().any(|name| {
        let mut value = [0; 8];
        rustix::fs::getxattr(dir, *name, &mut value)
            .is_ok_and(|length| value.get(..length) == Some(b"1".as_slice()))
    })
}

#[cfg(not(target_os = "linux"))]
fn is_marked_as_delegated(_dir: &Path) -> bool {
    false
}

/// Returns the path of the process's cgroup in the v2 hierarchy, from `/proc/self/cgroup`.
fn own_path(cgroup: &str) -> Option<&str> {
    cgroup.lines().find_map(|line| line.strip_prefix("0::"))
}

/// Returns the directory of the cgroup `path`, from `/proc/self/mountinfo`: see proc(5). `None` if
/// it is outside of what is mounted.
fn locate(mountinfo: &str, path: &str) -> Option<PathBuf> {
    mountinfo.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        if after.split(' ').next() != Some("cgroup2") {
            return None;
        }
        let mut fields = before.split(' ').skip(3);
        let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
        let below = Path::new(path).strip_prefix(root).ok()?;
        let mut parts = below.components();
        let is_plain = parts.all(|part| matches!(part, Component::Normal(_)));
        // `join` with an empty path would add a slash.
        let dir = below
            .components()
            .fold(PathBuf::from(point), |dir, part| dir.join(part));
        is_plain.then_some(dir)
    })
}

/// Decodes the octal escapes of mountinfo.
fn unescape(field: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(field.to_owned(), |text, (code, plain)| {
        text.replace(code, plain)
    })
}

/// Returns a value of a file of `name value` lines; 0 if it is missing.
fn counter(text: &str, name: &str) -> u64 {
    let mut values = text.lines().filter_map(|line| line.split_once(' '));
    let value = values.find(|(key, _)| *key == name);
    value.map_or(0, |(_, value)| value.trim().parse().unwrap_or(0))
}

#[cfg(test)]
mod tests;
