//! Finding and ending processes: those below one, those that carry a mark in their environment.
//!
//! A process is known by its id and its start time together, because the kernel gives ids out again. Outside Linux
//! there is no `/proc`; there a process group is all that is found.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

#[cfg(target_os = "linux")]
mod table;
#[cfg(not(target_os = "linux"))]
#[path = "tree/no_table.rs"]
mod table;

use table::Process;

/// How long killed processes are waited for. One that the kernel holds back (a dead disk) ends later by itself.
const KILLED_WITHIN: Duration = Duration::from_secs(5);

/// Between two looks at what is left.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// A process and everything that it has started.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    root: Key,
    /// `NAME=value` that all of them have in their environment, unless they took it out.
    mark: String,
}

/// A process for good: ids are used again, start times (ticks since boot) are not.
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
        let table = table::all();
        let found = self.below(&table, &BTreeSet::new());
        if found.is_empty() && !table::SEES {
            signal_group(self.root.pid, Signal::TERM);
        }
        for key in found {
            signal(key, Signal::TERM);
        }
    }

    /// Kills everything and returns when nothing is left. The root goes last, so that what loses its parent meanwhile
    /// is still found below it.
    pub(super) fn end(&self) {
        if !table::SEES {
            signal_group(self.root.pid, Signal::KILL);
            return;
        }
        until_none(|known| {
            let table = table::all();
            let mut found = self.below(&table, known);
            let root = |process: &Process| process.alive && process.key() == self.root;
            if found.is_empty() && table.iter().any(root) {
                found.insert(self.root);
            }
            found
        });
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

/// Kills everything below this very process, and returns when nothing is left.
pub(super) fn end_below_self() {
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
        found
    });
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
        found
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

/// Kills what `find` finds until it finds nothing.
fn until_none(mut find: impl FnMut(&BTreeSet<Key>) -> BTreeSet<Key>) {
    let until = Instant::now() + KILLED_WITHIN;
    let mut known = BTreeSet::new();
    loop {
        let found = find(&known);
        if found.is_empty() {
            return;
        }
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
