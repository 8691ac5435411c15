//! Types for reading files through [`Forge`](super::Forge). Files are read in chunks, so that a
//! long session log is never held in memory.

use std::fmt;

use super::{Forge, ForgeError};
use crate::engine::model::trigger::Repo;

/// A callback that receives the next chunk of a file and returns whether to read on.
pub type Take<'a> = dyn FnMut(&[u8]) -> bool + Send + 'a;

/// The version of a file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAt {
    /// The full SHA of the commit.
    pub commit: String,
    /// The permalink of the file at that commit.
    pub url: String,
}

/// An entry of a repository that is not a regular file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAFile {
    /// A directory.
    Directory,
    /// A submodule: a commit of another repository.
    Submodule,
    /// A symbolic link whose target is not a file of the repository. Other links are followed.
    Link,
}

impl fmt::Display for NotAFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Directory => "directory",
            Self::Submodule => "submodule",
            Self::Link => "dangling symbolic link",
        })
    }
}

/// The reason why a file was not read to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// GitHub rejected the request or did not answer.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The branch, tag or commit does not exist, or the repository has no commits.
    #[error("there is no such branch, tag or commit")]
    NoReference,
    /// The commit has no file at this path.
    #[error("there is no such file")]
    NoFile,
    /// The path is not a regular file.
    #[error("it is a {kind}, not a file")]
    NotAFile {
        /// What it is instead.
        kind: NotAFile,
    },
    /// The file is larger than the limit.
    #[error("it is larger than {} MB", most / (1024 * 1024))]
    TooLarge {
        /// The limit, in bytes.
        most: u64,
    },
    /// GitHub denied access to an attachment: it does not exist, or only signed-in people may
    /// download it.
    #[error("GitHub does not let the App read it ({why})")]
    Withheld {
        /// GitHub's response.
        why: String,
    },
    /// The download redirects to a host that the bot does not read from.
    #[error("its download redirects to {to}, which this bot is not allowed to read")]
    Elsewhere {
        /// Scheme, host and port of the redirect target.
        to: String,
    },
}

/// The content of a path at a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A text file, byte for byte.
    Text(String),
    /// A file that is not UTF-8 or contains NUL characters, which is how git detects binary files.
    Binary,
    /// A file larger than the limit.
    TooLarge {
        /// The limit, in bytes.
        most: u64,
    },
    /// Something other than a regular file.
    NotAFile(NotAFile),
    /// The path does not exist.
    Missing,
}

fn text_or_binary(bytes: Vec<u8>) -> Content {
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'))
        .map_or(Content::Binary, Content::Text)
}

/// Returns the content of a file by its [id](super::TreeEntry::id), if it has at most `most` bytes.
///
/// # Errors
/// Returns [`ReadError::Forge`] if the request fails.
pub async fn blob_content(
    forge: &dyn Forge,
    repo: &Repo,
    id: &str,
    most: u64,
) -> Result<Content, ReadError> {
    let mut bytes = Vec::new();
    let mut take = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        true
    };
    match forge.blob(repo, id, most, &mut take).await {
        Ok(()) => Ok(text_or_binary(bytes)),
        Err(ReadError::NoFile) => Ok(Content::Missing),
        Err(ReadError::TooLarge { most }) => Ok(Content::TooLarge { most }),
        Err(error) => Err(error),
    }
}

/// Returns the content of the path at `commit`; text of at most `most` bytes is included.
///
/// # Errors
/// Returns [`ReadError::NoReference`] if the repository has no such commit, and
/// [`ReadError::Forge`] if a request fails.
pub async fn content(
    forge: &dyn Forge,
    repo: &Repo,
    path: &str,
    commit: &str,
    most: u64,
) -> Result<Content, ReadError> {
    let mut bytes = Vec::new();
    let mut take = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        true
    };
    match forge.file(repo, path, Some(commit), most, &mut take).await {
        Ok(_) => Ok(text_or_binary(bytes)),
        Err(ReadError::NoFile) => Ok(Content::Missing),
        Err(ReadError::NotAFile { kind }) => Ok(Content::NotAFile(kind)),
        Err(ReadError::TooLarge { most }) => Ok(Content::TooLarge { most }),
        Err(error) => Err(error),
    }
}
