//! Where there is no `/proc`: nothing is seen.

use rustix::process::{Pid, Signal};

use super::Key;

/// One line of the table, which is empty here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    pub(super) start: u64,
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

/// No process.
pub(super) fn all() -> Vec<Process> {
    Vec::new()
}

/// No process.
pub(super) fn one(_pid: i32) -> Option<Process> {
    None
}

/// No child.
pub(super) fn own_children() -> Vec<Pid> {
    Vec::new()
}

/// Nothing is known of environments.
pub(super) fn carries(_pid: i32, _wanted: impl Fn(&[u8]) -> bool) -> bool {
    false
}

/// Nothing is sent to what is not seen.
pub(super) fn signal(_pid: Pid, _start: u64, _signal: Signal) {}
