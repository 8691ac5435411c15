//! Files as [`Forge`](super::Forge) reads them: in pieces, so that nobody holds a whole session log.

use super::ForgeError;

/// Takes the next piece of a file and says whether more is wanted.
pub type Take<'a> = dyn FnMut(&[u8]) -> bool + Send + 'a;

/// Which state of a file was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAt {
    /// The commit, in full.
    pub commit: String,
    /// Permalink of the file at that commit.
    pub url: String,
}

/// Why a file was not read to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// GitHub did not do it.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The repository has no such branch, tag or commit, or no commit at all.
    #[error("there is no such branch, tag or commit")]
    NoReference,
    /// The commit has no such file.
    #[error("there is no such file")]
    NoFile,
    /// Something else stands there.
    #[error("it is a {kind}, not a file")]
    NotAFile {
        /// `directory`, `submodule` or `symbolic link to nowhere`.
        kind: &'static str,
    },
    /// Longer than it may be.
    #[error("it is larger than {} MB", most / (1024 * 1024))]
    TooLarge {
        /// The limit in bytes.
        most: u64,
    },
    /// GitHub gives an attachment only to people who are signed in, or has none there.
    #[error("GitHub does not give it to the App ({why})")]
    Withheld {
        /// What GitHub answered.
        why: String,
    },
    /// The download leads to where the bot does not go.
    #[error("its download leads to {to}, where this bot does not read")]
    Elsewhere {
        /// Scheme, host and port of the address.
        to: String,
    },
}
