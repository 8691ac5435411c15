//! Starts server processes pinned to a core, reads their statistics from `/proc`, and ends them.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Outcome;
use crate::server::{FLAG, Mode};

/// CPU core of the load generator.
const LOAD_CORE: &str = "0";
/// CPU core of the servers.
const SERVER_CORE: &str = "1";

/// Clock ticks per second in `/proc/<pid>/stat`; 100 on common Linux systems.
const TICKS: f64 = 100.0;

/// Pins this thread and all its children to the core of the load generator. Returns false if that
/// is impossible; load and server then share the cores, and the figures are less reliable.
pub(crate) fn pin_myself() -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
        && Command::new("taskset")
            .args(["-cp", LOAD_CORE, &std::process::id().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
}

/// A server process. It is killed when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    child: Child,
    folder: PathBuf,
}

/// Name of the database in a server's folder.
pub(crate) const DATABASE: &str = "planwright.db";

impl Server {
    /// Starts a server with its files in `folder`.
    pub(crate) fn start(mode: Mode, folder: &Path, pinned: bool) -> Outcome<Self> {
        let program = std::env::current_exe()?;
        let mut command = if pinned {
            let mut command = Command::new("taskset");
            command.args(["-c", SERVER_CORE]).arg(program);
            command
        } else {
            Command::new(program)
        };
        let mut child = command
            .args([FLAG, &mode.argument()])
            .arg(folder.join(DATABASE))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.join("log"))?)
            .spawn()?;
        let mut line = String::new();
        let said = child.stdout.take().map(BufReader::new);
        // Created before the output is read, so that the child is killed if that fails.
        let mut server = Self {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            child,
            folder: folder.to_owned(),
        };
        said.ok_or("the server has no output")?
            .read_line(&mut line)?;
        server.address = line.trim().parse().map_err(|_| {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            format!("the server did not start: {log}")
        })?;
        Ok(server)
    }

    /// Kills the server with SIGKILL and waits for its end.
    pub(crate) fn kill(&mut self) {
        // This fails only if the child has already ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Returns the processor time used so far, in user and kernel mode, in seconds.
    pub(crate) fn cpu_seconds(&self) -> Outcome<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name in parentheses may contain anything, so fields are counted from its end. Fields
        // 14 and 15 are user and kernel time (`proc_pid_stat(5)`).
        let (_, fields) = stat
            .rsplit_once(')')
            .ok_or("/proc/<pid>/stat without a name")?;
        let ticks: Vec<f64> = fields
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        Ok(ticks.iter().sum::<f64>() / TICKS)
    }

    /// Returns the current and the peak resident memory, in MiB.
    pub(crate) fn memory(&self) -> Outcome<(f64, f64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let mebibytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kib: Option<f64> =
                line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            kib.map(|kib| kib / 1024.0)
                .ok_or_else(|| format!("/proc/<pid>/status without {name}"))
        };
        Ok((mebibytes("VmRSS:")?, mebibytes("VmHWM:")?))
    }

    /// Returns the number of lines in the server's log.
    pub(crate) fn log_lines(&self) -> Outcome<usize> {
        Ok(BufReader::new(File::open(self.folder.join("log"))?)
            .lines()
            .count())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
