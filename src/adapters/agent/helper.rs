//! The process between the bot and an agent: starts the agent in its sandbox, adopts what the agent leaves behind,
//! and ends all of it when the agent has ended or when nobody holds its standard input any more.
//!
//! It is a process of its own because only a parent that outlives the agent finds processes that made a session of
//! their own, lost their parents and cleared their environment; and because it still ends them when the bot is killed.
//! Orphans come to it, so it finds what is hidden from the process table, too.
//! The agent cannot end it: signals out of the sandbox are refused where the kernel knows how.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus};

use super::sandbox::{self, Policy};
use super::{SandboxMode, tree};

/// Before the sentence that the helper itself writes to standard error.
pub(super) const COMPLAINT: &str = "planwright agent-exec: ";

/// Exit code when the agent was not started; the sentence on standard error says why.
pub(super) const NOT_STARTED: u8 = 125;

/// What the helper is told to do.
#[derive(Debug)]
pub struct Job {
    /// Whether there is a sandbox.
    pub sandbox: SandboxMode,
    /// What the agent may reach in it.
    pub policy: Policy,
    /// How many bytes of standard input are the agent's. What follows is never sent: the end of the stream is the sign
    /// to end everything.
    pub input: u64,
    /// The agent.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

/// Runs the agent and ends as it ended, when nothing is left of it.
pub fn supervise(job: &Job) -> ExitCode {
    match start(job) {
        Ok(agent) => {
            feed(agent.input, job.input);
            let status = wait(agent.pid);
            tree::end_below_self();
            end_as(status)
        }
        Err(why) => {
            eprintln!("{COMPLAINT}{why}");
            ExitCode::from(NOT_STARTED)
        }
    }
}

/// An agent that runs.
struct Started {
    pid: Pid,
    input: Option<std::process::ChildStdin>,
}

fn start(job: &Job) -> Result<Started, String> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| format!("the system refuses to give it orphans: {error}"))?;
    // A dump of memory would hold what the agent was told, and be left in its folder.
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    rustix::process::setrlimit(Resource::Core, none)
        .map_err(|error| format!("the system refuses to go without core dumps: {error}"))?;
    // The sandbox is the thread's and its children's: the agent's, but not the helper's, so that the agent is inside and
    // the helper out of its reach.
    std::thread::scope(|scope| {
        scope
            .spawn(|| start_inside(job))
            .join()
            .unwrap_or_else(|_| Err("the thread that starts the agent panicked".to_owned()))
    })
}

fn start_inside(job: &Job) -> Result<Started, String> {
    let program = job.program.display();
    sandbox::drop_privileges().map_err(|error| {
        format!("{program} is not started with privileges, and they cannot be dropped: {error}")
    })?;
    sandbox::wanted(job.sandbox, &sandbox::offered())
        .and_then(|wanted| {
            if wanted {
                sandbox::enter(&job.policy)
            } else {
                Ok(())
            }
        })
        .map_err(|why| format!("{program} is not started without a sandbox: {why}"))?;
    let mut child = Command::new(&job.program)
        .args(&job.args)
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| {
            let check = match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    "check that this user may execute it, and name the folder of its interpreter in agent.reads"
                }
                _ => "check that it is a program for this computer",
            };
            format!("{program} cannot be started: {error}: {check}")
        })?;
    let pid = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or("the system gave the agent no process id")?;
    Ok(Started {
        pid,
        input: child.stdin.take(),
    })
}

/// Passes on what is for the agent, then watches for the end of the stream.
fn feed(agent: Option<std::process::ChildStdin>, length: u64) {
    std::thread::spawn(move || {
        let mut from = io::stdin().lock();
        if let Some(mut to) = agent {
            pass(&mut from, &mut to, length);
        }
        // Nothing more is ever sent.
        let _ = io::copy(&mut from, &mut io::sink());
        tree::end_below_self();
    });
}

/// Passes `length` bytes on. An agent that does not read them all is no fault; the rest is taken off the stream.
fn pass(from: &mut impl Read, to: &mut impl Write, length: u64) {
    let mut from = from.take(length);
    if io::copy(&mut from, to).is_err() {
        let _ = io::copy(&mut from, &mut io::sink());
    }
}

/// Waits for the agent; orphans that end meanwhile are taken off the process table.
fn wait(agent: Pid) -> Option<WaitStatus> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == agent => return Some(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Ends with the agent's exit code, or by the signal that ended the agent.
fn end_as(status: Option<WaitStatus>) -> ExitCode {
    let code = status.and_then(WaitStatus::exit_status);
    let signal = status.and_then(WaitStatus::terminating_signal);
    if let Some(signal) = signal.and_then(Signal::from_named_raw) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
    }
    // 128 and the signal, as shells say it, for a signal that does not end this process.
    let code = code.or(signal.map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
