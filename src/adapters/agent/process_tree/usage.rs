//! What processes use of the computer, read from `/proc`.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use super::table::{self, Process};

/// Number of the initial namespace of process ids: `PROC_PID_INIT_INO` of the kernel.
const INITIAL_NAMESPACE: &str = "pid:[4026531836]";

impl Process {
    /// Returns the number of files that it has open; 0 if they cannot be seen.
    pub(in crate::adapters::agent) fn open_files(&self) -> u64 {
        let dir = format!("/proc/{}/fd", self.key.pid);
        // Linux 6.2 and newer says the number as the size of the directory.
        match fs::metadata(&dir).map_or(0, |found| found.size()) {
            0 => fs::read_dir(dir).map_or(0, |files| files.count() as u64),
            count => count,
        }
    }

    /// Returns the memory that it has in use in bytes, with its share of what it has in common with
    /// other processes. `None` if it cannot be seen.
    fn proportional(&self) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.key.pid)).ok()?;
        parse_rollup(&text)
    }
}

/// Whether the processes together use more than `most` bytes of memory.
pub(in crate::adapters::agent) fn uses_more_memory(processes: &[Process], most: u64) -> bool {
    let page = rustix::param::page_size() as u64;
    let resident = |process: &Process| process.resident.saturating_mul(page);
    if total(processes.iter().map(resident)) <= most {
        return false;
    }
    // Shared memory is in that sum several times. The precise number is expensive to get.
    let precise = processes.iter().map(|process| {
        // One that has exited meanwhile uses nothing.
        let now = || table::process(process.key.pid).filter(|now| now.key == process.key);
        process
            .proportional()
            .or_else(|| now().as_ref().map(resident))
            .unwrap_or_default()
    });
    total(precise) > most
}

fn total(values: impl Iterator<Item = u64>) -> u64 {
    values.fold(0, u64::saturating_add)
}

/// Parses the line `Pss:  123 kB` of `smaps_rollup`, see proc(5).
fn parse_rollup(text: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kilobytes: u64 = value.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(kilobytes.saturating_mul(1024))
}

/// Returns the number of processes and threads of this user. `None` where that is not what the
/// kernel counts: in a container it also counts those of other containers.
pub(in crate::adapters::agent) fn own_tasks() -> Option<u64> {
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    if namespace.as_os_str() != INITIAL_NAMESPACE {
        return None;
    }
    let user = rustix::process::getuid().as_raw();
    let own = table::processes().into_iter().filter(|process| {
        fs::metadata(format!("/proc/{}", process.key.pid)).is_ok_and(|found| found.uid() == user)
    });
    Some(total(own.map(|process| process.threads)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proportional_share_is_read() {
        let text =
            "55d0-7ffc ---p 0 00:00 0  [rollup]\nRss:  2048 kB\nPss:   1024 kB\nPss_Anon: 1 kB\n";
        for (text, bytes) in [
            (text, Some(1024 * 1024)),
            ("Pss: 7 MB\n", None),
            ("Pss:\n", None),
            ("Rss: 1 kB\n", None),
            ("", None),
        ] {
            assert_eq!(parse_rollup(text), bytes, "{text:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_uses_memory_and_files() {
        let own = table::process(std::process::id().cast_signed());
        let own = own.into_iter().collect::<Vec<_>>();
        assert!(uses_more_memory(&own, 1 << 20) && !uses_more_memory(&own, 1 << 40));
        let before: u64 = own.iter().map(Process::open_files).sum();
        let _files: Vec<_> = (0..200).map(|_| fs::File::open("/dev/null")).collect();
        let after: u64 = own.iter().map(Process::open_files).sum();
        assert!(before > 0 && after >= 200, "{before} {after}");
    }
}
