//! `planwright agent-exec`: the process between the bot and an agent. It is started by the bot and
//! hidden from the help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::adapters::agent::SandboxMode;
use crate::adapters::agent::helper::{Job, supervise};
use crate::adapters::agent::sandbox::Policy;

/// Run an agent in its sandbox and end everything that it leaves behind
#[derive(Debug, Args)]
pub(super) struct AgentExec {
    /// Whether there is a sandbox
    #[arg(long, value_enum)]
    sandbox: Wanted,
    /// The agent may read and execute this
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// The agent may read and write this
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// How many bytes of standard input are the agent's
    #[arg(long, value_name = "BYTES")]
    input: u64,
    /// The agent
    program: PathBuf,
    /// Its arguments
    #[arg(last = true)]
    args: Vec<OsString>,
}

/// [`SandboxMode`] on a command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Wanted {
    Auto,
    Required,
    Off,
}

impl AgentExec {
    pub(super) fn run(self) -> ExitCode {
        supervise(&Job {
            sandbox: match self.sandbox {
                Wanted::Auto => SandboxMode::Auto,
                Wanted::Required => SandboxMode::Required,
                Wanted::Off => SandboxMode::Off,
            },
            policy: Policy {
                reads: self.read,
                writes: self.write,
            },
            input: self.input,
            program: self.program,
            args: self.args,
        })
    }
}
