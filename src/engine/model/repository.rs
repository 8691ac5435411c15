//! What a run knows of the files of its repository.

use serde::{Deserialize, Serialize};

/// The commit whose files a run uses. It is determined once, so that all agents of the run see the
/// same files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The name of the pull request's base branch; `None` for the default branch.
    pub branch: Option<String>,
    /// The full SHA of the commit.
    pub commit: String,
}

/// The repository of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RepositoryState {
    /// The base commit, once it is needed.
    pub base: Option<Base>,
    /// Why the agents cannot see the repository's files, as the end of a sentence for people.
    pub unseen: Option<String>,
}

impl RepositoryState {
    /// Returns whether nothing is known yet.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
