//! Lists the processes of this computer, from `/proc`.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal};

/// One process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) session: i32,
    pub(crate) program: Option<PathBuf>,
    pub(crate) line: String,
}

/// All processes with one of `marks` in their arguments or their environment, this one left out.
/// Those that have ended and wait for their parent have neither.
pub(crate) fn with(marks: &[&str]) -> Vec<Process> {
    let own = i32::try_from(std::process::id()).unwrap();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| *pid != own)
        .filter_map(|pid| {
            let folder = Path::new("/proc").join(i32::to_string(&pid));
            let read = |name: &str| fs::read(folder.join(name)).unwrap_or_default();
            let line = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
            let environment = String::from_utf8_lossy(&read("environ")).into_owned();
            let mine = |mark: &&str| line.contains(*mark) || environment.contains(*mark);
            marks.iter().any(mine).then(|| Process {
                pid,
                session: session(&String::from_utf8_lossy(&read("stat"))),
                program: fs::read_link(folder.join("exe")).ok(),
                line,
            })
        })
        .collect()
}

/// Sixth field of `/proc/PID/stat`, proc(5); the second one is in brackets and can hold anything.
fn session(stat: &str) -> i32 {
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let field = behind.split_whitespace().nth(3);
    field.and_then(|text| text.parse().ok()).unwrap_or_default()
}

impl Process {
    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_raw(self.pid).unwrap(), signal).unwrap();
    }
}
