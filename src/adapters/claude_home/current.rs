//! Finds the id of the running session in the environment.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::regular_file;

/// File with the id of the running session, written by erk, below the root of a repository.
const ID_FILE: &str = ".erk/scratch/current-session-id";
/// Maximum number of bytes read from an id file.
const MAX_ID_FILE_BYTES: u64 = 1024;

/// The running session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentSession {
    /// Session id, not validated.
    pub id: String,
    /// Where the id comes from.
    pub origin: IdOrigin,
}

/// Where a session id comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdOrigin {
    /// An environment variable.
    Variable(&'static str),
    /// A file in the working directory, or above it.
    File(PathBuf),
}

impl std::fmt::Display for IdOrigin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Variable(name) => write!(out, "the environment variable {name}"),
            Self::File(path) => write!(out, "the file {}", path.display()),
        }
    }
}

impl CurrentSession {
    /// Finds the running session: from `SESSION_CONTEXT` of the form `session_id=…`, from
    /// `CLAUDE_SESSION_ID`, or from the file `.erk/scratch/current-session-id` in `directory` or
    /// the nearest directory above it that has one. `variable` looks up an environment variable.
    pub fn find(variable: impl Fn(&str) -> Option<String>, directory: &Path) -> Option<Self> {
        const CONTEXT: &str = "SESSION_CONTEXT";
        const ID: &str = "CLAUDE_SESSION_ID";
        let context = variable(CONTEXT).and_then(|context| {
            let (_, id) = context.split_once("session_id=")?;
            Self::new(id, IdOrigin::Variable(CONTEXT))
        });
        let plain = || variable(ID).and_then(|id| Self::new(&id, IdOrigin::Variable(ID)));
        context.or_else(plain).or_else(|| from_file(directory))
    }

    fn new(id: &str, origin: IdOrigin) -> Option<Self> {
        let id = id.trim();
        (!id.is_empty()).then(|| Self {
            id: id.to_owned(),
            origin,
        })
    }
}

fn from_file(directory: &Path) -> Option<CurrentSession> {
    let directory = std::path::absolute(directory).ok()?;
    directory.ancestors().find_map(|directory| {
        let path = directory.join(ID_FILE);
        let mut id = String::new();
        // A file that cannot be read is ignored, like a missing one.
        regular_file::open(&path)
            .ok()?
            .take(MAX_ID_FILE_BYTES)
            .read_to_string(&mut id)
            .ok()?;
        CurrentSession::new(&id, IdOrigin::File(path))
    })
}

#[cfg(test)]
mod tests;
