//! Files as [`Forge`](super::Forge) reads them: in pieces, so that nobody holds a whole session log.

use std::fmt;

use super::{Forge, ForgeError};
use crate::engine::model::trigger::Repo;

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

/// What can stand at a path in the place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A commit of another repository.
    Submodule,
    /// A symbolic link that leads to no file of the repository; one that does is read as that file.
    Link,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Directory => "directory",
            Self::Submodule => "submodule",
            Self::Link => "symbolic link to nowhere",
        })
    }
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
        /// What it is.
        kind: Kind,
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

/// What stands at a path of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A file with this text, byte for byte.
    Text(String),
    /// A file that is not UTF-8, or has NUL characters in it, by which git knows binary files.
    Binary,
    /// A file longer than it may be.
    TooLarge {
        /// The limit in bytes.
        most: u64,
    },
    /// Something else.
    NotAFile(Kind),
    /// Nothing.
    Missing,
}

fn text_or_binary(bytes: Vec<u8>) -> Content {
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'))
        .map_or(Content::Binary, Content::Text)
}

/// The text of a file by the [id](super::TreeEntry::id) of its content, up to `most` bytes.
///
/// # Errors
/// [`ReadError::Forge`] when GitHub did not do it.
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

/// The text of a file at `commit`, up to `most` bytes; or what stands there in its place.
///
/// # Errors
/// [`ReadError::NoReference`] when the repository has no such commit; [`ReadError::Forge`] when GitHub did not do it.
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
