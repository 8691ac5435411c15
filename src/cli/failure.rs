//! Failures of subcommands and their exit codes.

use std::process::ExitCode;

use crate::adapters::project_folder::FolderError;
use crate::config::project::ProjectError;
use crate::config::{ConfigError, Missing};
use crate::formats::specification::NameError;

/// The failure of a subcommand, which determines the exit code.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The configuration is invalid. Exit code 2.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The configuration is incomplete. Exit code 2.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The project's settings are invalid. Exit code 2.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The arguments or their combination are invalid. Exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The command was tried and failed. Exit code 1.
    #[error("{0}")]
    Failed(String),
    /// Questions must be answered before the command can continue. Exit code 3.
    #[error("{0}")]
    Waiting(String),
    /// The command was stopped by SIGINT or SIGTERM. Exit code 130, as shells report SIGINT.
    #[error("{0}")]
    Stopped(String),
}

impl Failure {
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    pub(super) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Failed(_) => 1,
            Self::Waiting(_) => 3,
            Self::Stopped(_) => 130,
            Self::Config(_) | Self::Missing(_) | Self::Project(_) | Self::Usage(_) => 2,
        })
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::Open { .. } => Self::Usage(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<NameError> for Failure {
    fn from(error: NameError) -> Self {
        Self::Usage(error.to_string())
    }
}

/// Prints to standard output. A closed pipe (`| head`) is not an error.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    use std::io::{ErrorKind, Write, stdout};
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::failed(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}
