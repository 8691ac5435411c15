//! Read-only copies of repositories, which agents read. The adapter that makes them is
//! `adapters::checkouts`; tests use a fake.

use std::any::Any;
use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::forge::{Forge, ForgeError};
use crate::engine::model::trigger::Repo;

/// A read-only copy of the files of a repository at one commit. The files exist at least as long as
/// this value.
#[derive(Debug)]
pub struct Checkout {
    /// The absolute path of the directory with the files.
    pub path: PathBuf,
    /// The full SHA of the commit.
    pub commit: String,
    /// The number of files and symbolic links.
    pub files: u64,
    /// The total size of the files, in bytes.
    pub bytes: u64,
    /// What the commit contains and the copy does not. A folder that is left out as a whole is one
    /// entry. Incomplete if there are more than [`MAX_LEFT_OUT`] entries.
    pub left_out: Vec<LeftOut>,
    /// Keeps the files from being removed.
    pub hold: Box<dyn Any + Send + Sync>,
}

/// Maximum number of entries in [`Checkout::left_out`].
pub const MAX_LEFT_OUT: usize = 100;

/// An entry of the repository that is not in the copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The path from the root of the repository, with control characters escaped.
    pub path: String,
    /// The reason.
    pub why: WhyLeftOut,
}

/// The reason why an entry of the repository is not in the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyLeftOut {
    /// It matches a pattern of `agent.repository.exclude`.
    Excluded,
    /// It configures or instructs agents, such as `CLAUDE.md` or `.mcp.json`.
    Instructions,
    /// It is a symbolic link that leads out of the repository.
    Link,
    /// It is neither a file, nor a directory, nor a symbolic link.
    Special,
    /// Its path is absolute, contains `..`, `.git` or control characters, is not UTF-8, or is too
    /// long for the file system.
    Path,
    /// It is a submodule: a commit of another repository.
    Submodule,
    /// It is a pointer to a file that Git LFS stores elsewhere. The pointer itself is in the copy.
    Lfs,
}

impl fmt::Display for WhyLeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Excluded => "excluded by `agent.repository.exclude`",
            Self::Instructions => "instructions for agents",
            Self::Link => "a symbolic link that leads out of the repository",
            Self::Special => "neither a file nor a directory",
            Self::Path => "a path that cannot be stored",
            Self::Submodule => "a submodule",
            Self::Lfs => "stored by Git LFS",
        })
    }
}

/// The reason why there is no copy of a repository.
#[derive(Debug, thiserror::Error)]
pub enum CheckoutError {
    /// GitHub rejected the request or did not answer.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The repository has too many files.
    #[error("it has more than {max} files (`agent.repository.max_files`)")]
    TooManyFiles {
        /// The limit.
        max: u64,
    },
    /// The unpacked files are too large.
    #[error("its files have more than {} MB (`agent.repository.max_bytes`)", max / 1_000_000)]
    TooLarge {
        /// The limit, in bytes.
        max: u64,
    },
    /// The download redirects to a host that the bot does not read from.
    #[error("its download redirects to {to}, which this bot is not allowed to read")]
    Elsewhere {
        /// Scheme, host and port of the redirect target.
        to: String,
    },
    /// The archive is damaged or incomplete.
    #[error("its archive cannot be read: {0}")]
    Archive(String),
    /// The copy cannot be written or read.
    #[error("its files cannot be stored: {0}")]
    Disk(String),
}

/// Makes and keeps read-only copies of repositories.
#[async_trait]
pub trait Checkouts: Send + Sync + 'static {
    /// Returns the copy of `repo` at `commit` (a full SHA). It is downloaded with `forge` unless it
    /// is cached. Dropping the future cancels the download.
    ///
    /// # Errors
    /// Returns an error if there is no complete copy. A copy is never incomplete except for the
    /// entries of [`Checkout::left_out`].
    async fn checkout(
        &self,
        forge: &dyn Forge,
        repo: &Repo,
        commit: &str,
    ) -> Result<Checkout, CheckoutError>;

    /// Returns the paths of all files and symbolic links of the copy, separated by `/`, sorted.
    ///
    /// # Errors
    /// Returns [`CheckoutError::Disk`] if they cannot be listed.
    async fn paths(&self, checkout: &Checkout) -> Result<Vec<String>, CheckoutError>;

    /// Returns the content of a file of the copy; `None` if there is no regular file with this path
    /// or it has more than `max` bytes. Links are not followed.
    ///
    /// # Errors
    /// Returns [`CheckoutError::Disk`] if it cannot be read.
    async fn read(
        &self,
        checkout: &Checkout,
        path: &str,
        max: u64,
    ) -> Result<Option<Vec<u8>>, CheckoutError>;
}
