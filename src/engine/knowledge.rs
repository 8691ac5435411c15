//! A repository's knowledge: the Markdown documents that its people keep for agents, below [`FOLDERS`], and which of them
//! are taken when not all can be. Pure: who reads them is `steps::knowledge` (from GitHub) and `adapters::working_copy`.
//!
//! Documents come in one order, always: those that apply to everything ([`always`]) first, so that they have room; among
//! each of both, folder by folder and by path, byte by byte. A document that has no room does not end the list: a smaller
//! one behind it may still fit, and never takes room from one before it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::formats::front_matter;
use crate::formats::markdown::{self, Kind};

/// Where the documents are, from the root of the repository. Plans and specifications of the past are elsewhere: they say
/// how something was meant once, not how it is.
pub const FOLDERS: [&str; 2] = [".planwright/knowledge", ".spektacular/knowledge"];

/// What applies to everything: a folder of this name directly below one of [`FOLDERS`], or a document of this name there.
const ALWAYS: [&str; 2] = ["conventions", "glossary"];

/// A file below one of the folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Path from the root of the repository.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// The same for files of the same content, and for no others: git's name of the blob, or a hash.
    pub id: String,
}

/// How much is taken at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Documents. Each is a request, and an installation has no more than 5,000 of them in an hour
    /// (<https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api>).
    pub files: usize,
    /// Bytes of one document. What people write for people is shorter; what is longer was made by a program.
    pub file_bytes: u64,
    /// Bytes of all documents: some half a million tokens, more than agents read at once.
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

/// Why a file is not among the documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Not a document by its name, see [`is_markdown`].
    NotMarkdown,
    /// Longer than so many bytes.
    TooLarge(u64),
    /// The documents before it are as many, or as long together, as may be.
    NoRoom,
    /// It has the content of this document, which is taken.
    SameAs(String),
    /// A symbolic link; they are not followed.
    Link,
    /// A commit of another repository.
    Submodule,
    /// Its path holds `..`, a control character or the like.
    OddPath,
    /// It is not UTF-8, or has NUL characters in it.
    NotText,
    /// It changed or went away while it was read.
    Gone,
    /// It cannot be read; the reason in words.
    Unreadable(String),
    /// A folder with more files than are listed.
    NotListed,
}

/// A file that is not among the documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Path from the root of the repository, with `U+FFFD` for each control character.
    pub path: String,
    /// Why.
    pub why: Why,
}

impl LeftOut {
    /// The file at `path` is left out.
    pub fn new(path: &str, why: Why) -> Self {
        let path = path.replace(char::is_control, "\u{fffd}");
        Self { path, why }
    }
}

/// Which files to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Documents, in their order.
    pub take: Vec<Listed>,
    /// The others.
    pub left_out: Vec<LeftOut>,
}

/// A document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Path from the root of the repository.
    pub path: String,
    /// The text, byte for byte.
    pub text: String,
    /// Its first heading without markup, or the name of the file.
    pub title: String,
}

impl Document {
    /// The document at `path` with this content.
    ///
    /// # Errors
    /// [`Why::NotText`].
    pub fn read(path: &str, content: Vec<u8>) -> Result<Self, LeftOut> {
        match String::from_utf8(content) {
            // As git has it: a NUL makes a file binary.
            Ok(text) if !text.contains('\0') => Ok(Self {
                path: path.to_owned(),
                title: title(path, &text),
                text,
            }),
            _ => Err(LeftOut::new(path, Why::NotText)),
        }
    }
}

/// What a repository knows. Not there: nothing, which is no fault.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knowledge {
    /// The commit it was read at, in full; `None` from a folder, and from a repository without a commit.
    pub commit: Option<String>,
    /// Documents, in their order.
    pub documents: Vec<Document>,
    /// Files below the folders that are none of them, by path.
    pub left_out: Vec<LeftOut>,
}

impl Knowledge {
    /// What was read, and what was not.
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

/// Whether the document at `path` below one of `folders` applies to everything: conventions and the glossary.
pub fn always<F: AsRef<str>>(folders: &[F], path: &str) -> bool {
    let below = folders.iter().find_map(|folder| below(folder, path));
    below.is_some_and(|path| {
        let first = path.split('/').next().unwrap_or_default();
        ALWAYS.contains(&first.strip_suffix(".md").unwrap_or(first))
    })
}

/// Chooses among the files below `folders`, in the order of the module. Of files with the same content the first is taken.
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

/// What of `path` is below `folder`.
fn below<'p, F: AsRef<str>>(folder: &F, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(folder.as_ref())?.strip_prefix('/')
}

/// Git takes none of these but the control characters; a server might.
fn is_odd(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "" | "." | "..")) || path.contains(char::is_control)
}

/// Whether a file is a document, by its name: it ends in `.md`. Case counts, as in git.
pub fn is_markdown(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, end)| end == "md")
}

fn title(path: &str, text: &str) -> String {
    markdown::blocks(front_matter::body(text))
        .into_iter()
        .find_map(|block| match block.kind {
            Kind::Heading { text, .. } if !text.is_empty() => Some(text),
            _ => None,
        })
        .unwrap_or_else(|| path.rsplit('/').next().unwrap_or(path).to_owned())
}

#[cfg(test)]
mod tests;
