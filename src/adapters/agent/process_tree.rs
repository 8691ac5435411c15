//! Finds and kills processes: the descendants of a process, and those with a mark in their
//! environment.
//!
//! A process is identified by its id and its start time, because the kernel reuses ids. Outside
//! Linux there is no `/proc`, and only the process group is found.
//!
//! The process table alone does not show everything: `hidepid` (`ProtectProc=` of systemd) hides
//! processes that are not dumpable, and a process that keeps forking and exiting is gone before its
//! entry is read. The helper adopts all orphans and so finds both among its own children.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

mod table;
mod usage;

pub(super) use table::Process;
pub(super) use usage::{own_tasks, uses_more_memory};

use super::cgroup::TurnCgroup;

/// Maximum time to wait for killed processes. One that is blocked in the kernel, for example by a
/// dead disk, ends later by itself.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum time that the root may go on killing processes that only it can see, once its standard
/// input is closed and no other process is visible.
const ROOT_TIMEOUT: Duration = Duration::from_secs(1);

/// Time between two looks at what is left.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// A process and everything it has started.
#[derive(Debug, Clone)]
pub(super) struct ProcessTree {
    root: ProcessKey,
    /// `NAME=value` in the environment of all of them, unless they have removed it.
    mark: String,
    /// The cgroup that all of them are in.
    cgroup: Option<Arc<TurnCgroup>>,
}

/// Identifies a process even after its id was reused. The start time, in ticks since boot, is 0 for
/// a process that is not in the table, and so for every process where there is no table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ProcessKey {
    pid: i32,
    start: u64,
}

impl ProcessTree {
    /// Creates the tree of a child that has not been waited for: its id cannot be reused before
    /// that.
    pub(super) fn of_child(pid: u32, mark: String, cgroup: Option<Arc<TurnCgroup>>) -> Self {
        let pid = i32::try_from(pid).unwrap_or_default();
        let start = table::process(pid).map_or(0, |process| process.key.start);
        Self {
            root: ProcessKey { pid, start },
            mark,
            cgroup,
        }
    }

    /// Returns the live processes of the tree, without its root. Unlike when they are killed,
    /// processes are not looked for in other trees: the root adopts those that lose their parents.
    pub(super) fn members(&self) -> Vec<Process> {
        let table = table::processes();
        let root = Some(self.root).filter(|_| !self.is_hidden());
        let found = with_descendants(&table, root, |_| false);
        let members = table.iter().filter(|process| {
            process.alive && process.key != self.root && found.contains(&process.key)
        });
        members.copied().collect()
    }

    /// Stops the processes in the group of the root, except for the root itself, so that they start
    /// no more processes until they are killed.
    pub(super) fn freeze(&self) {
        if self.is_hidden() {
            return;
        }
        self.signal_group(Signal::STOP);
        table::signal(self.root, Signal::CONT);
    }

    /// Sends SIGTERM to everything below the root. The root exits when the agent has exited.
    pub(super) fn terminate(&self) {
        if self.is_hidden() {
            self.signal_group(Signal::TERM);
            return;
        }
        for key in self.descendants(&table::processes(), &BTreeSet::new()) {
            table::signal(key, Signal::TERM);
        }
    }

    /// Kills everything and returns when nothing is left. The standard input of the root must be
    /// closed: the root exits by itself when nothing is left below it. It is killed last, and only
    /// if it takes too long.
    pub(super) fn kill(&self) {
        if let Some(cgroup) = &self.cgroup {
            cgroup.kill();
        }
        if self.is_hidden() {
            self.signal_group(Signal::KILL);
            return;
        }
        let deadline = Instant::now() + ROOT_TIMEOUT;
        kill_until_none(|known| {
            let table = table::processes();
            let mut found = self.descendants(&table, known);
            if found.is_empty() {
                if !table
                    .iter()
                    .any(|process| process.alive && process.key == self.root)
                {
                    return None;
                }
                if Instant::now() >= deadline {
                    found.insert(self.root);
                }
            }
            Some(found)
        });
    }

    fn is_hidden(&self) -> bool {
        self.root.start == 0
    }

    fn signal_group(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.root.pid) {
            // An error means that the group has ended already.
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Returns the live processes of the tree, without its root.
    fn descendants(&self, table: &[Process], known: &BTreeSet<ProcessKey>) -> BTreeSet<ProcessKey> {
        let root = self.root;
        let is_root_listed = table.iter().any(|process| process.key == root);
        let is_seed = |process: &Process| {
            // Once the root is gone, its id may belong to another group.
            let is_in_group =
                is_root_listed && (process.group == root.pid || process.session == root.pid);
            known.contains(&process.key)
                || is_in_group
                || process.key.start >= root.start
                    && table::has_variable(process.key.pid, |entry| entry == self.mark.as_bytes())
        };
        let mut found = with_descendants(table, is_root_listed.then_some(root), is_seed);
        found.remove(&root);
        found
    }
}

/// Kills everything below this process, which adopts orphans, and returns when nothing is left.
pub(super) fn kill_below_self() {
    kill_children();
    let own = std::process::id().cast_signed();
    kill_until_none(|known| {
        let table = table::processes();
        let root = table
            .iter()
            .map(|process| process.key)
            .find(|key| key.pid == own);
        let mut found = with_descendants(&table, root, |process| known.contains(&process.key));
        if let Some(root) = root {
            found.remove(&root);
        }
        Some(found).filter(|found| !found.is_empty())
    });
}

/// Kills the children of this process, and the orphans it adopts meanwhile, until it has none. A
/// process passes its children on before it exits, so when no child is left, no descendant is.
fn kill_children() {
    let deadline = Instant::now() + KILL_TIMEOUT;
    let mut killed = HashSet::new();
    loop {
        let children = table::own_children();
        if children.is_empty() || Instant::now() >= deadline {
            return;
        }
        let mut found_new = false;
        for pid in children {
            // Reaps the child if it has exited. An error means that something else has reaped it.
            let exited = waitid(
                WaitId::Pid(pid),
                WaitIdOptions::EXITED | WaitIdOptions::NOHANG,
            );
            if matches!(exited, Ok(None)) {
                let _ = kill_process(pid, Signal::KILL);
                found_new |= killed.insert(pid);
            }
        }
        // No pause while new ones appear: a process that forks and exits must be caught alive.
        if !found_new {
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// Kills every process that has an environment entry starting with `prefix`, and its descendants.
/// Returns their number.
pub(super) fn kill_marked(prefix: &str) -> usize {
    let mut all: BTreeSet<ProcessKey> = BTreeSet::new();
    kill_until_none(|known| {
        let found = with_descendants(&table::processes(), None, |process| {
            known.contains(&process.key)
                || table::has_variable(process.key.pid, |entry| {
                    entry.starts_with(prefix.as_bytes())
                })
        });
        all.extend(&found);
        Some(found).filter(|found| !found.is_empty())
    });
    all.len()
}

/// Returns `root`, the live processes for which `is_seed` holds, and the live descendants of both,
/// but never this process.
fn with_descendants(
    table: &[Process],
    root: Option<ProcessKey>,
    is_seed: impl Fn(&Process) -> bool,
) -> BTreeSet<ProcessKey> {
    let own = std::process::id().cast_signed();
    let others = || table.iter().filter(|process| process.key.pid != own);
    let seeds = others().filter(|process| process.alive && is_seed(process));
    let mut found: BTreeSet<ProcessKey> = root
        .into_iter()
        .chain(seeds.map(|process| process.key))
        .collect();
    let mut pids: BTreeSet<i32> = found.iter().map(|key| key.pid).collect();
    loop {
        let children: Vec<&Process> = others()
            .filter(|process| pids.contains(&process.parent) && !pids.contains(&process.key.pid))
            .collect();
        if children.is_empty() {
            return found;
        }
        pids.extend(children.iter().map(|process| process.key.pid));
        let alive = children.iter().filter(|process| process.alive);
        found.extend(alive.map(|process| process.key));
    }
}

/// Kills the processes that `find` returns until it returns `None`. `find` is given all processes
/// found so far.
fn kill_until_none(mut find: impl FnMut(&BTreeSet<ProcessKey>) -> Option<BTreeSet<ProcessKey>>) {
    let deadline = Instant::now() + KILL_TIMEOUT;
    let mut known = BTreeSet::new();
    while let Some(found) = find(&known) {
        for key in &found {
            table::signal(*key, Signal::KILL);
        }
        known.extend(found);
        if Instant::now() >= deadline {
            tracing::warn!(
                left = known.len(),
                "processes of an agent did not end after SIGKILL"
            );
            return;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

#[cfg(test)]
mod tests;
