//! Finding and ending processes: those below one, those that carry a mark in their environment.
//!
//! A process is known by its id and its start time together, because the kernel gives ids out again. Outside Linux
//! there is no `/proc`; there a process group is all that is found.
//!
//! The table alone does not find everything: `hidepid` (`ProtectProc=` of systemd) hides processes that may not be dumped,
//! and one that forks and ends, again and again, is gone before its line has been read. The helper, to whom all orphans
//! come, finds both among its own children.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

#[cfg(target_os = "linux")]
mod table;
#[cfg(not(target_os = "linux"))]
#[path = "tree/no_table.rs"]
mod table;

use table::Process;

/// How long killed processes are waited for. One that the kernel holds back (a dead disk) ends later by itself.
const KILLED_WITHIN: Duration = Duration::from_secs(5);

/// How long a root whose input is closed may go on ending what only it finds, when nothing else is seen any more.
const ENDS_ITSELF: Duration = Duration::from_secs(1);

/// Between two looks at what is left.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// A process and everything that it has started.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    root: Key,
    /// `NAME=value` that all of them have in their environment, unless they took it out.
    mark: String,
}

/// A process for good: ids are used again, start times (ticks since boot) are not. One that the table does not show, as
/// where there is none, has the start time 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    pid: i32,
    start: u64,
}

impl Tree {
    /// The tree of a child that has not been waited for: until then nobody else has its id.
    pub(super) fn of_child(pid: u32, mark: String) -> Self {
        let pid = i32::try_from(pid).unwrap_or_default();
        let start = table::one(pid).map_or(0, |process| process.start);
        Self {
            root: Key { pid, start },
            mark,
        }
    }

    /// Asks everything below the root to end. The root itself ends when the agent has ended.
    pub(super) fn terminate(&self) {
        if self.unseen() {
            signal_group(self.root.pid, Signal::TERM);
            return;
        }
        for key in self.below(&table::all(), &BTreeSet::new()) {
            signal(key, Signal::TERM);
        }
    }

    /// Kills everything and returns when nothing is left. The root, whose standard input must be closed, ends by itself
    /// when nothing is left below it; it is killed last, and only when it takes too long.
    pub(super) fn end(&self) {
        if self.unseen() {
            signal_group(self.root.pid, Signal::KILL);
            return;
        }
        let patience = Instant::now() + ENDS_ITSELF;
        until_none(|known| {
            let table = table::all();
            let mut found = self.below(&table, known);
            let root = |process: &Process| process.alive && process.key() == self.root;
            if found.is_empty() {
                if !table.iter().any(root) {
                    return None;
                }
                if Instant::now() >= patience {
                    found.insert(self.root);
                }
            }
            Some(found)
        });
    }

    fn unseen(&self) -> bool {
        self.root.start == 0
    }

    /// Everything that lives and belongs to the tree, without its root.
    fn below(&self, table: &[Process], known: &BTreeSet<Key>) -> BTreeSet<Key> {
        let root = table
            .iter()
            .any(|process| process.pid == self.root.pid && process.start == self.root.start);
        let seed = |process: &Process| {
            let key = process.key();
            // An id that the root has given back may name somebody else's group.
            let with_root =
                root && (process.group == self.root.pid || process.session == self.root.pid);
            known.contains(&key)
                || with_root
                || process.start >= self.root.start
                    && table::carries(key.pid, |entry| entry == self.mark.as_bytes())
        };
        let mut found = closure(table, root.then_some(self.root), seed);
        found.remove(&self.root);
        found
    }
}

/// Kills everything below this very process, which adopts orphans, and returns when nothing is left.
pub(super) fn end_below_self() {
    end_children();
    let own = std::process::id().cast_signed();
    until_none(|known| {
        let table = table::all();
        let root = table
            .iter()
            .find(|process| process.pid == own)
            .map(Process::key);
        let mut found = closure(&table, root, |process| known.contains(&process.key()));
        if let Some(root) = root {
            found.remove(&root);
        }
        Some(found).filter(|found| !found.is_empty())
    });
}

/// Kills the children of this very process, and the orphans that come to it because of that, until it has none. A process
/// that has ended has given its children away before; so when there is no child, there is nobody below either.
fn end_children() {
    let until = Instant::now() + KILLED_WITHIN;
    let mut killed = HashSet::new();
    loop {
        let children = table::own_children();
        if children.is_empty() || Instant::now() >= until {
            return;
        }
        let mut more = false;
        for pid in children {
            // Takes it off the process table when it has ended; an error says that somebody else has.
            let ended = waitid(
                WaitId::Pid(pid),
                WaitIdOptions::EXITED | WaitIdOptions::NOHANG,
            );
            if matches!(ended, Ok(None)) {
                let _ = kill_process(pid, Signal::KILL);
                more |= killed.insert(pid);
            }
        }
        // At once as long as new ones come: those that fork and end must be met alive.
        if !more {
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

/// Kills whatever has an environment entry that starts with `prefix`. Returns how many there were.
pub(super) fn end_marked(prefix: &str) -> usize {
    let mut all: BTreeSet<Key> = BTreeSet::new();
    until_none(|known| {
        let found = closure(&table::all(), None, |process| {
            known.contains(&process.key())
                || table::carries(process.pid, |entry| entry.starts_with(prefix.as_bytes()))
        });
        all.extend(&found);
        Some(found).filter(|found| !found.is_empty())
    });
    all.len()
}

/// What is seeded, what is below that or below `root`, and never this process itself.
fn closure(table: &[Process], root: Option<Key>, seed: impl Fn(&Process) -> bool) -> BTreeSet<Key> {
    let own = std::process::id().cast_signed();
    let mut found: BTreeSet<Key> = root.into_iter().collect();
    found.extend(
        table
            .iter()
            .filter(|process| process.pid != own && process.alive && seed(process))
            .map(Process::key),
    );
    let mut pids: BTreeSet<i32> = found.iter().map(|key| key.pid).collect();
    loop {
        let more: Vec<&Process> = table
            .iter()
            .filter(|process| {
                process.pid != own && pids.contains(&process.parent) && !pids.contains(&process.pid)
            })
            .collect();
        if more.is_empty() {
            break;
        }
        pids.extend(more.iter().map(|process| process.pid));
        found.extend(
            more.into_iter()
                .filter(|process| process.alive)
                .map(Process::key),
        );
    }
    found
}

/// Kills what `find` finds until it says that nothing is left.
fn until_none(mut find: impl FnMut(&BTreeSet<Key>) -> Option<BTreeSet<Key>>) {
    let until = Instant::now() + KILLED_WITHIN;
    let mut known = BTreeSet::new();
    loop {
        let Some(found) = find(&known) else {
            return;
        };
        for key in &found {
            signal(*key, Signal::KILL);
        }
        known.extend(found);
        if Instant::now() >= until {
            tracing::warn!(
                left = known.len(),
                "processes of an agent do not end although they are killed"
            );
            return;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

fn signal_group(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may be gone: that is what is wanted.
        let _ = rustix::process::kill_process_group(pid, signal);
    }
}

/// Sends to this process and to no other that has its id by now.
fn signal(to: Key, signal: Signal) {
    let Some(pid) = Pid::from_raw(to.pid) else {
        return;
    };
    table::signal(pid, to.start, signal);
}

#[cfg(test)]
mod tests;
