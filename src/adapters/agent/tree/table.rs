//! The process table of Linux, read from `/proc`.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal};

use super::Key;

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// Ticks since boot.
    pub(super) start: u64,
    /// Not a zombie: it can still do something.
    pub(super) alive: bool,
}

impl Process {
    pub(super) fn key(&self) -> Key {
        Key {
            pid: self.pid,
            start: self.start,
        }
    }
}

/// All processes. Those that end meanwhile may be missing.
pub(super) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| one(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// One process.
pub(super) fn one(pid: i32) -> Option<Process> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The children of this very process, also those that `hidepid` hides. Each thread has its own; those of a thread that has
/// ended belong to another one. Empty, too, on a kernel without `CONFIG_PROC_CHILDREN`.
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

/// Whether an entry of the process's environment, as it was at its start, is one that is looked for. Processes of other
/// users and kernel threads have none that can be read.
pub(super) fn carries(pid: i32, wanted: impl Fn(&[u8]) -> bool) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(wanted))
}

/// Sends through a descriptor, which holds on to the process while its start time is compared.
pub(super) fn signal(pid: Pid, start: u64, signal: Signal) {
    let descriptor = rustix::process::pidfd_open(pid, PidfdFlags::empty());
    if one(pid.as_raw_nonzero().get()).is_none_or(|process| process.start != start) {
        return;
    }
    // It may be gone by now: that is what is wanted.
    let _ = match descriptor {
        Ok(descriptor) => rustix::process::pidfd_send_signal(descriptor, signal),
        // Linux before 5.3.
        Err(_) => rustix::process::kill_process(pid, signal),
    };
}

/// `pid (name) state ppid pgrp session …`, proc(5). The name may hold anything, also `)` and line ends.
pub(super) fn parse(pid: i32, line: &[u8]) -> Option<Process> {
    let behind_name = memchr::memrchr(b')', line)? + 1;
    let rest = str::from_utf8(line.get(behind_name..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse().ok();
    Some(Process {
        pid,
        alive: !matches!(*fields.first()?, "Z" | "X"),
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        // Field 22 of the line; the state is field 3.
        start: fields.get(19)?.parse().ok()?,
    })
}
