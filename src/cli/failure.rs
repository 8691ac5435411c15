//! Why a subcommand ends with another exit code than 0.

use std::process::ExitCode;

use crate::adapters::project_folder::FolderError;
use crate::config::project::ProjectError;
use crate::config::{ConfigError, Missing};
use crate::formats::specification::NameError;

/// What went wrong, and with it the exit code.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The configuration is wrong: 2.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The configuration is not complete: 2.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The project's settings are wrong: 2.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The arguments are wrong together: 2.
    #[error("{0}")]
    Usage(String),
    /// It was tried and failed: 1.
    #[error("{0}")]
    Failed(String),
    /// People have to answer first: 3.
    #[error("{0}")]
    Waiting(String),
    /// Somebody stopped it (SIGINT, SIGTERM): 130, as shells say it.
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

/// Prints to standard output. A reader that went away (`| head`) is no failure.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    use std::io::{ErrorKind, Write, stdout};
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::failed(format!(
            "standard output cannot be written: {error}"
        ))),
        _ => Ok(()),
    }
}
