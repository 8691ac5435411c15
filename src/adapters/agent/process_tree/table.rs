//! The process table, read from `/proc`. Systems other than Linux have none, and it appears empty.

use std::fs;

use rustix::process::{Pid, Signal};

use super::ProcessKey;

/// An entry of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::adapters::agent) struct Process {
    pub(super) key: ProcessKey,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// Whether it can still run: it is not a zombie.
    pub(super) alive: bool,
    /// Number of its threads.
    pub(in crate::adapters::agent) threads: u64,
    /// Memory that it has in use, in pages, including what it shares with others.
    pub(super) resident: u64,
}

/// Returns all processes. Those that exit meanwhile may be missing.
pub(super) fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| process(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// Returns the process with this id.
pub(super) fn process(pid: i32) -> Option<Process> {
    parse_stat(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Returns the children of this process, including those hidden by `hidepid`. Every thread has its
/// own; children of an exited thread pass to another one. Empty on a kernel without
/// `CONFIG_PROC_CHILDREN`.
pub(super) fn own_children() -> Vec<Pid> {
    let Ok(threads) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let lists = threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_ascii_whitespace()
                .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Whether an entry of the process's initial environment matches. The environment of other users'
/// processes and of kernel threads cannot be read.
pub(super) fn has_variable(pid: i32, matches: impl Fn(&[u8]) -> bool) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(matches))
}

/// Sends a signal to this very process, and not to another one that has been given its id.
#[cfg(target_os = "linux")]
pub(super) fn signal(key: ProcessKey, signal: Signal) {
    use rustix::process::{PidfdFlags, kill_process, pidfd_open, pidfd_send_signal};
    let Some(pid) = Pid::from_raw(key.pid) else {
        return;
    };
    // The descriptor refers to the same process while its start time is compared.
    let descriptor = pidfd_open(pid, PidfdFlags::empty());
    if process(key.pid).is_none_or(|process| process.key != key) {
        return;
    }
    // An error means that it has exited already.
    let _ = match descriptor {
        Ok(descriptor) => pidfd_send_signal(descriptor, signal),
        // Linux before 5.3.
        Err(_) => kill_process(pid, signal),
    };
}

/// Does nothing: without a table there is no process to send to.
#[cfg(not(target_os = "linux"))]
pub(super) fn signal(_key: ProcessKey, _signal: Signal) {}

/// Parses `pid (name) state ppid pgrp session …`, see proc(5). The name may contain any byte,
/// including `)` and line feeds.
pub(super) fn parse_stat(pid: i32, line: &[u8]) -> Option<Process> {
    let after_name = memchr::memrchr(b')', line)? + 1;
    let rest = str::from_utf8(line.get(after_name..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse().ok();
    Some(Process {
        alive: !matches!(*fields.first()?, "Z" | "X"),
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        // Fields 20 and 24.
        threads: fields.get(17)?.parse().ok()?,
        resident: fields.get(21)?.parse().ok()?,
        key: ProcessKey {
            pid,
            // Field 22 of the line; the state is field 3.
            start: fields.get(19)?.parse().ok()?,
        },
    })
}
