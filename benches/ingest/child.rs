//! Child processes: started pinned, looked at through `/proc`, ended by their id.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Outcome;
use crate::server::{FLAG, Mode};

/// Core of the load.
const LOAD_CORE: &str = "0";
/// Core of the servers.
const SERVER_CORE: &str = "1";

/// Clock ticks of `/proc/<pid>/stat` per second: 100 on every Linux that runs on servers.
const TICKS: f64 = 100.0;

/// Pins this thread, and all that it starts, to the load's core. False where that cannot be done: then load and server
/// share the cores, and the figures say less.
pub(crate) fn pin_myself() -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
        && Command::new("taskset")
            .args(["-cp", LOAD_CORE, &std::process::id().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
}

/// A server. It is killed when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    child: Child,
    folder: PathBuf,
}

/// Name of the database in a server's folder.
pub(crate) const DATABASE: &str = "planwright.db";

impl Server {
    /// Starts one with its files in `folder`.
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
            .args([FLAG, &mode.queue_depth()])
            .arg(folder.join(DATABASE))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.join("log"))?)
            .spawn()?;
        let mut line = String::new();
        let said = child.stdout.take().map(BufReader::new);
        // Made first, so that a child that says nothing useful is ended as well.
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

    /// SIGKILL, now.
    pub(crate) fn kill(&mut self) {
        // It fails only when the child has ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Processor seconds used so far, in user and kernel mode.
    pub(crate) fn cpu_seconds(&self) -> Outcome<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name in parentheses may hold anything; field 14 and 15 follow (proc_pid_stat(5)).
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

    /// Resident memory in MiB: at present, and the most so far.
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

    /// Lines in its log.
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
