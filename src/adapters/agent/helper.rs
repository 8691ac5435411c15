//! The process between the bot and an agent: starts the agent in its sandbox, adopts what the agent
//! leaves behind, and ends all of it when the agent exits or when standard input closes.
//!
//! It is a separate process because only a parent that outlives the agent finds processes that
//! started their own session, lost their parents and cleared their environment, and because it ends
//! them even if the bot is killed. Orphans are passed to it, so it also finds those that are hidden
//! from the process table. The agent cannot end it: the sandbox refuses signals to the outside
//! where the kernel supports that.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver};

use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus};

use super::limits::InheritedLimits;
use super::sandbox::{self, Policy};
use super::{SandboxMode, process_tree};

/// Start of messages that the helper itself writes to standard error.
pub(super) const MESSAGE_PREFIX: &str = "planwright agent-exec: ";

/// Exit code if the agent was not started. The message on standard error says why.
pub(super) const NOT_STARTED: u8 = 125;

/// An agent to be started and supervised.
#[derive(Debug)]
pub struct Job {
    /// Whether the agent runs in a sandbox.
    pub sandbox: SandboxMode,
    /// What the agent may access in the sandbox.
    pub policy: Policy,
    /// Limits on what the agent may use.
    pub limits: InheritedLimits,
    /// Length of the agent's part of standard input, in bytes. Nothing follows it except the end of
    /// the stream, upon which everything is ended.
    pub input: u64,
    /// Path of the agent's program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

/// Runs the agent until nothing is left of it, and exits with its exit code or signal.
pub fn supervise(job: &Job) -> ExitCode {
    // Before the agent starts: it may use up all threads that its user may have.
    let (agent_input, input) = mpsc::channel();
    feed(input, job.input);
    match start(job) {
        Ok((pid, input)) => {
            let _ = agent_input.send(input);
            let status = wait(pid);
            process_tree::kill_below_self();
            exit_like(status)
        }
        Err(why) => {
            eprintln!("{MESSAGE_PREFIX}{why}");
            ExitCode::from(NOT_STARTED)
        }
    }
}

fn start(job: &Job) -> Result<(Pid, Option<ChildStdin>), String> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| format!("cannot become a child subreaper: {error}"))?;
    // A core dump would contain the prompt and remain in the agent's directory.
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    rustix::process::setrlimit(Resource::Core, none)
        .map_err(|error| format!("cannot disable core dumps: {error}"))?;
    job.limits.enter()?;
    // A sandbox applies to a thread and its children. Entered on a thread of its own, it holds the
    // agent but not the helper, which stays out of the agent's reach.
    std::thread::scope(|scope| {
        scope
            .spawn(|| start_in_sandbox(job))
            .join()
            .unwrap_or_else(|_| Err("the thread that starts the agent panicked".to_owned()))
    })
}

fn start_in_sandbox(job: &Job) -> Result<(Pid, Option<ChildStdin>), String> {
    let program = job.program.display();
    sandbox::drop_privileges().map_err(|error| {
        format!("{program} was not started: its privileges cannot be dropped: {error}")
    })?;
    sandbox::is_used(job.sandbox, &sandbox::available())
        .and_then(|used| {
            if used {
                sandbox::enter(&job.policy)
            } else {
                Ok(())
            }
        })
        .map_err(|why| format!("{program} was not started, because there is no sandbox: {why}"))?;
    if job
        .policy
        .network
        .as_ref()
        .is_some_and(|network| network.filter)
    {
        sandbox::enter_filter().map_err(|why| {
            format!("{program} was not started, because its system calls cannot be filtered: {why}")
        })?;
    }
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
    Ok((pid, child.stdin.take()))
}

/// Forwards `length` bytes of standard input to the agent, then kills everything at its end. Begins
/// when it is sent the agent's end of the pipe.
fn feed(agent: Receiver<Option<ChildStdin>>, length: u64) {
    std::thread::spawn(move || {
        let Ok(agent) = agent.recv() else {
            return;
        };
        let mut from = io::stdin().lock();
        if let Some(mut to) = agent {
            forward(&mut from, &mut to, length);
        }
        // Nothing more is sent: this waits for the end of the stream.
        let _ = io::copy(&mut from, &mut io::sink());
        process_tree::kill_below_self();
    });
}

/// Forwards `length` bytes. If the agent does not read all of them, the rest is discarded.
fn forward(from: &mut impl Read, to: &mut impl Write, length: u64) {
    let mut from = from.take(length);
    if io::copy(&mut from, to).is_err() {
        let _ = io::copy(&mut from, &mut io::sink());
    }
}

/// Waits for the agent, and reaps orphans that exit meanwhile.
fn wait(agent: Pid) -> Option<WaitStatus> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == agent => return Some(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Exits with the agent's exit code, or by the signal that ended the agent.
fn exit_like(status: Option<WaitStatus>) -> ExitCode {
    let code = status.and_then(WaitStatus::exit_status);
    let signal = status.and_then(WaitStatus::terminating_signal);
    if let Some(signal) = signal.and_then(Signal::from_named_raw) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
    }
    // For a signal that does not end this process: 128 plus the signal, as in shells.
    let code = code.or(signal.map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
