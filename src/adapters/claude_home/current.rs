//! Which session is running, when nobody says it.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::regular_file;

/// Where erk leaves the id of the session that runs in a repository, below its top folder.
const ID_FILE: &str = ".erk/scratch/current-session-id";
/// An id file is not read further than this, in bytes.
const MAX_ID_FILE: u64 = 1024;

/// The session that is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Current {
    /// Its id, not checked.
    pub id: String,
    /// Who says so.
    pub origin: Origin,
}

/// Where a session id comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// An environment variable.
    Variable(&'static str),
    /// A file in the working directory, or above it.
    File(PathBuf),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Variable(name) => write!(out, "the environment variable {name}"),
            Self::File(path) => write!(out, "the file {}", path.display()),
        }
    }
}

impl Current {
    /// `SESSION_CONTEXT` of the form `session_id=…`, else `CLAUDE_SESSION_ID`, else the file
    /// `.erk/scratch/current-session-id` in `directory` or the nearest folder above it that has one. `variable` gives an
    /// environment variable.
    pub fn find(variable: impl Fn(&str) -> Option<String>, directory: &Path) -> Option<Self> {
        const CONTEXT: &str = "SESSION_CONTEXT";
        const ID: &str = "CLAUDE_SESSION_ID";
        let context = variable(CONTEXT).and_then(|context| {
            let (_, id) = context.split_once("session_id=")?;
            Self::new(id, Origin::Variable(CONTEXT))
        });
        let plain = || variable(ID).and_then(|id| Self::new(&id, Origin::Variable(ID)));
        context.or_else(plain).or_else(|| in_file(directory))
    }

    fn new(id: &str, origin: Origin) -> Option<Self> {
        let id = id.trim();
        (!id.is_empty()).then(|| Self {
            id: id.to_owned(),
            origin,
        })
    }
}

fn in_file(directory: &Path) -> Option<Current> {
    let directory = std::path::absolute(directory).ok()?;
    directory.ancestors().find_map(|directory| {
        let path = directory.join(ID_FILE);
        let mut id = String::new();
        // A file that cannot be read says as little as none.
        regular_file::open(&path)
            .ok()?
            .take(MAX_ID_FILE)
            .read_to_string(&mut id)
            .ok()?;
        Current::new(&id, Origin::File(path))
    })
}

#[cfg(test)]
mod tests;
