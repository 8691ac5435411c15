//! A repository's knowledge: the Markdown documents that are kept for agents below [`FOLDERS`], and
//! the selection of documents within the limits. This module does no I/O; the documents are read by
//! `steps::knowledge` (from GitHub) and `adapters::working_copy`.
//!
//! Documents have a fixed order. Those that apply to everything ([`always`]) come first, so that
//! they are always included; within both groups, documents are sorted by folder and then bytewise
//! by path. A document that does not fit is skipped, and later, smaller ones may still be included.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::formats::front_matter;
use crate::formats::markdown::{self, BlockKind};

/// The folders with documents, from the root of the repository. Folders with old plans and
/// specifications are not included, because these describe past intentions, not the current state.
pub const FOLDERS: [&str; 2] = [".planwright/knowledge", ".spektacular/knowledge"];

/// The names of folders and documents directly below one of [`FOLDERS`] that apply to everything.
const ALWAYS: [&str; 2] = ["conventions", "glossary"];

/// A file below one of the folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The path from the root of the repository.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// An id that is equal for files with equal content only: the git object id, or a hash.
    pub id: String,
}

/// Limits on the documents that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of documents. Each needs a request, and an installation may send only 5,000
    /// requests per hour
    /// (<https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api>).
    pub files: usize,
    /// Maximum size of a document, in bytes. Documents written by people are shorter; longer ones
    /// are usually generated.
    pub file_bytes: u64,
    /// Maximum size of all documents, in bytes. The default is about half a million tokens, more
    /// than agents can read at once.
    pub total_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            files: 500,
            file_bytes: 256 * 1024,
            total_bytes: 2 * 1024 * 1024,
        }
    }
}

/// The reason why a file is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The name is not that of a document (see [`is_markdown`]).
    NotMarkdown,
    /// The file is larger than this number of bytes.
    TooLarge(u64),
    /// The preceding documents already use up the number of files or the total size.
    NoRoom,
    /// The content is the same as that of this document, which is included.
    SameAs(String),
    /// The file is a symbolic link, and these are not followed.
    Link,
    /// The path is a submodule: a commit of another repository.
    Submodule,
    /// The path contains `..`, a control character or the like.
    OddPath,
    /// The file is not UTF-8 or contains NUL characters.
    NotText,
    /// The file was changed or removed while the documents were read.
    Gone,
    /// The file cannot be read, for this reason.
    Unreadable(String),
    /// The path is a folder with more files than are listed.
    NotListed,
}

/// A file that is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The path from the root of the repository, with each control character replaced by `U+FFFD`.
    pub path: String,
    /// The reason.
    pub why: Why,
}

impl LeftOut {
    /// Creates an entry for the file at `path`.
    pub fn new(path: &str, why: Why) -> Self {
        let path = path.replace(char::is_control, "\u{fffd}");
        Self { path, why }
    }
}

/// The result of selecting documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The selected documents, in order.
    pub take: Vec<Listed>,
    /// The files that are left out.
    pub left_out: Vec<LeftOut>,
}

/// A knowledge document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The path from the root of the repository.
    pub path: String,
    /// The text, byte for byte.
    pub text: String,
    /// The first heading without markup, or the file name if there is none.
    pub title: String,
}

impl Document {
    /// Creates a document from the content of a file.
    ///
    /// # Errors
    /// Returns [`Why::NotText`] if the content is binary.
    pub fn read(path: &str, content: Vec<u8>) -> Result<Self, LeftOut> {
        match String::from_utf8(content) {
            // Like git, treat a file with a NUL as binary.
            Ok(text) if !text.contains('\0') => Ok(Self {
                path: path.to_owned(),
                title: title(path, &text),
                text,
            }),
            _ => Err(LeftOut::new(path, Why::NotText)),
        }
    }
}

/// The knowledge of a repository; empty if it has none, which is not an error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knowledge {
    /// The full SHA of the commit that was read; `None` for a local folder and for a repository
    /// without commits.
    pub commit: Option<String>,
    /// The documents, in order.
    pub documents: Vec<Document>,
    /// The other files below the folders, by path.
    pub left_out: Vec<LeftOut>,
}

impl Knowledge {
    /// Collects the documents that were read. Files that could not be read are added to `left_out`.
    pub fn new(
        commit: Option<String>,
        read: impl IntoIterator<Item = Result<Document, LeftOut>>,
        mut left_out: Vec<LeftOut>,
    ) -> Self {
        let mut documents = Vec::new();
        for one in read {
            match one {
                Ok(document) => documents.push(document),
                Err(other) => left_out.push(other),
            }
        }
        left_out.sort_by(|a, b| a.path.cmp(&b.path));
        Self {
            commit,
            documents,
            left_out,
        }
    }
}

/// Returns whether the document at `path` below one of `folders` applies to everything (conventions
/// and glossary).
pub fn always<F: AsRef<str>>(folders: &[F], path: &str) -> bool {
    let below = folders.iter().find_map(|folder| below(folder, path));
    below.is_some_and(|path| {
        let first = path.split('/').next().unwrap_or_default();
        ALWAYS.contains(&first.strip_suffix(".md").unwrap_or(first))
    })
}

/// Selects documents among the files below `folders`, in the order that the module documentation
/// describes. Of files with the same content, only the first is selected.
pub fn choose<F: AsRef<str>>(folders: &[F], mut listed: Vec<Listed>, limits: Limits) -> Chosen {
    let folder = |path: &str| folders.iter().position(|it| below(it, path).is_some());
    listed.sort_by_cached_key(|one| {
        let later = !always(folders, &one.path);
        let folder = folder(&one.path).unwrap_or(folders.len());
        (later, folder, one.path.clone())
    });
    listed.dedup_by(|a, b| a.path == b.path);
    let mut take: Vec<Listed> = Vec::new();
    let mut left_out = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut room = limits.total_bytes;
    for one in listed {
        let why = if is_odd(&one.path) {
            Why::OddPath
        } else if !is_markdown(&one.path) {
            Why::NotMarkdown
        } else if one.size > limits.file_bytes {
            Why::TooLarge(limits.file_bytes)
        } else if let Some(first) = known.get(&one.id) {
            Why::SameAs(take[*first].path.clone())
        } else if take.len() == limits.files || one.size > room {
            Why::NoRoom
        } else {
            room -= one.size;
            known.insert(one.id.clone(), take.len());
            take.push(one);
            continue;
        };
        left_out.push(LeftOut::new(&one.path, why));
    }
    Chosen { take, left_out }
}

/// Returns the part of `path` below `folder`.
fn below<'p, F: AsRef<str>>(folder: &F, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(folder.as_ref())?.strip_prefix('/')
}

/// Returns whether the path is unsafe or malformed. Of these, git itself allows only control
/// characters, but a server might return the others.
fn is_odd(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "" | "." | "..")) || path.contains(char::is_control)
}

/// Returns whether a file is a document, i.e. its name ends in `.md`. Case-sensitive, like git.
pub fn is_markdown(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, end)| end == "md")
}

fn title(path: &str, text: &str) -> String {
    markdown::blocks(front_matter::body(text))
        .into_iter()
        .find_map(|block| match block.kind {
            BlockKind::Heading { text, .. } if !text.is_empty() => Some(text),
            _ => None,
        })
        .unwrap_or_else(|| path.rsplit('/').next().unwrap_or(path).to_owned())
}

#[cfg(test)]
mod tests;
