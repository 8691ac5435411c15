//! Any program that reads a prompt from standard input and prints its answer. The input is the
//! instructions, an empty line, and the prompt.
//!
//! Such a program has no sessions, so every turn repeats everything.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::{Client, OutputFormat, Program, RunDirs};
use crate::engine::agent::{About, Task};

/// How the program is called.
#[derive(Debug, Clone)]
pub struct CommandSettings {
    /// The program, an absolute path.
    pub path: PathBuf,
    /// Arguments.
    pub args: Vec<OsString>,
    /// Variables to pass on from this process's environment.
    pub environment: Vec<(String, SecretString)>,
    /// Files and directories that it reads in addition to its installation and the system's
    /// libraries.
    pub reads: Vec<PathBuf>,
    /// Format of its standard output.
    pub output: OutputFormat,
}

/// The client for such a program.
#[derive(Debug, Clone)]
pub struct Command(pub CommandSettings);

impl Client for Command {
    fn about(&self) -> About {
        let path = &self.0.path;
        About {
            name: path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy()
                .into_owned(),
            resumes: false,
            writes: self.0.output == OutputFormat::StreamJson,
        }
    }

    fn executable(&self) -> &Path {
        &self.0.path
    }

    fn program(&self, task: &Task, _dirs: &RunDirs) -> Program {
        let settings = &self.0;
        Program {
            path: settings.path.clone(),
            args: settings.args.clone(),
            environment: settings.environment.clone(),
            input: format!("{}\n\n{}", task.system, task.prompt).into_bytes(),
            files: Vec::new(),
            output: settings.output,
        }
    }

    fn reads(&self) -> Vec<PathBuf> {
        self.0.reads.clone()
    }
}
