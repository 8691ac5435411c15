//! Any program that takes a prompt on standard input and prints its answer: instructions, an empty line, the prompt.
//!
//! Such a program knows no sessions: every turn tells it everything.

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
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables of this process's environment that it may see, with their values.
    pub environment: Vec<(String, SecretString)>,
    /// Files and folders it reads besides its own folder and the system's libraries.
    pub reads: Vec<PathBuf>,
    /// What it prints.
    pub output: OutputFormat,
}

/// The client for it.
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

    fn program(&self, task: &Task, _rooms: &RunDirs) -> Program {
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
