//! `planwright agent-exec`: the process between the bot and an agent. It is started by the bot and
//! hidden from the help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::adapters::agent::SandboxMode;
use crate::adapters::agent::helper::{Job, supervise};
use crate::adapters::agent::limits::InheritedLimits;
use crate::adapters::agent::sandbox::{NetworkPolicy, Policy};

/// Run an agent in its sandbox, and end every process that it leaves behind
#[derive(Debug, Args)]
pub(super) struct AgentExec {
    /// Whether to use a sandbox
    #[arg(long, value_enum)]
    sandbox: SandboxArg,
    /// Path that the agent may read and execute
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// Path that the agent may read and write
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// The only TCP port that the agent may connect to
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Deny all sockets but those of TCP
    #[arg(long, requires = "port")]
    filter: bool,
    /// Maximum number of open files of a process
    #[arg(long, value_name = "COUNT")]
    open_files: Option<u64>,
    /// Maximum size of a file, in bytes
    #[arg(long, value_name = "BYTES")]
    file_size: Option<u64>,
    /// Number of processes that the user may start in addition to the present ones
    #[arg(long, value_name = "COUNT")]
    processes: Option<u64>,
    /// Directory of the cgroup to enter
    #[arg(long, value_name = "PATH")]
    cgroup: Option<PathBuf>,
    /// Number of bytes of standard input that are passed to the agent
    #[arg(long, value_name = "BYTES")]
    input: u64,
    /// Program of the agent
    program: PathBuf,
    /// Arguments of the program
    #[arg(last = true)]
    args: Vec<OsString>,
}

/// [`SandboxMode`] on a command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SandboxArg {
    Auto,
    Required,
    Off,
}

impl AgentExec {
    pub(super) fn run(self) -> ExitCode {
        supervise(&Job {
            sandbox: match self.sandbox {
                SandboxArg::Auto => SandboxMode::Auto,
                SandboxArg::Required => SandboxMode::Required,
                SandboxArg::Off => SandboxMode::Off,
            },
            policy: Policy {
                reads: self.read,
                writes: self.write,
                network: self.port.map(|port| NetworkPolicy {
                    port,
                    filter: self.filter,
                }),
            },
            limits: InheritedLimits {
                open_files: self.open_files,
                file_size: self.file_size,
                processes: self.processes,
                cgroup: self.cgroup,
            },
            input: self.input,
            program: self.program,
            args: self.args,
        })
    }
}
