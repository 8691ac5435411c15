//! Contents of a repository: trees, commits, branches, and the files that a pull request changes.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use sha2::{Digest as _, Sha256};

use super::Repository;

/// Default branch of every repository.
pub(crate) const DEFAULT_BRANCH: &str = "main";

/// An entry of a commit's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeEntry {
    /// A regular file with its content.
    File(Bytes),
    /// A symbolic link with its target, relative to the root of the repository.
    Link(String),
    /// A submodule with the SHA of its commit.
    Submodule(String),
}

impl TreeEntry {
    /// Returns a regular file with this content.
    pub fn file(content: impl Into<Bytes>) -> Self {
        Self::File(content.into())
    }

    /// Returns the bytes that git stores for the entry.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::File(content) => content,
            Self::Link(target) => target.as_bytes(),
            Self::Submodule(commit) => commit.as_bytes(),
        }
    }

    /// Returns a stand-in for git's SHA: 40 hexadecimal digits that depend on the content alone.
    pub(crate) fn sha(&self) -> String {
        hash(self.bytes())
    }

    /// Returns git's file mode.
    pub(crate) fn mode(&self) -> &'static str {
        match self {
            Self::File(_) => "100644",
            Self::Link(_) => "120000",
            Self::Submodule(_) => "160000",
        }
    }
}

/// Entries of a commit by path. Directories exist only as prefixes of paths.
pub type Tree = BTreeMap<String, TreeEntry>;

/// Changes to files by path; `None` removes the file.
pub type FileEdits = [(String, Option<TreeEntry>)];

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Stand-in for git's SHA: 40 hexadecimal digits.
    pub sha: String,
    /// SHA of the parent commit.
    pub parent: Option<String>,
    /// Files of the commit.
    pub tree: Tree,
    /// Time of the commit.
    pub created: DateTime<Utc>,
}

/// Permission to download the archive of a commit.
#[derive(Debug, Clone)]
pub(crate) struct ArchiveToken {
    /// Id of the repository.
    pub(crate) repository: u64,
    /// SHA of the commit.
    pub(crate) commit: String,
    /// Time from which it is invalid.
    pub(crate) expires: DateTime<Utc>,
}

/// Branches and commits of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Id of the head repository: a fork, or the repository of the pull request itself.
    pub head_repository: u64,
    /// Branch in the head repository.
    pub branch: String,
    /// SHA of the head commit.
    pub head: String,
    /// SHA of the commit of the default branch that it is based on.
    pub base: String,
    /// Whether it is a draft.
    pub draft: bool,
}

/// A file that a pull request changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangedFile<'a> {
    /// Path at the head, or the last path of a removed file.
    pub(crate) path: &'a str,
    /// Path at the base if the file was renamed.
    pub(crate) previous: Option<&'a str>,
    pub(crate) old: Option<&'a TreeEntry>,
    pub(crate) new: Option<&'a TreeEntry>,
}

impl ChangedFile<'_> {
    /// Returns the number of added and of removed lines, ignoring their order.
    pub(crate) fn line_counts(&self) -> (usize, usize) {
        let mut counts: BTreeMap<&[u8], i64> = BTreeMap::new();
        for (entry, step) in [(self.new, 1), (self.old, -1)] {
            let content = entry.map(TreeEntry::bytes).unwrap_or_default();
            for line in content.split_inclusive(|byte| *byte == b'\n') {
                *counts.entry(line).or_default() += step;
            }
        }
        let sum = |sign: i64| {
            let lines = counts.values().map(|count| (count * sign).max(0));
            usize::try_from(lines.sum::<i64>()).unwrap_or_default()
        };
        (sum(1), sum(-1))
    }
}

fn hash(content: &[u8]) -> String {
    let mut digits = hex::encode(Sha256::digest(content));
    digits.truncate(40);
    digits
}

/// Returns the direct children of a folder by name; the value is `None` for a folder. The path of
/// the root is empty.
pub(crate) fn children<'a>(
    tree: &'a Tree,
    folder: &str,
) -> BTreeMap<&'a str, Option<&'a TreeEntry>> {
    descendants(tree, folder)
        .map(|(rest, entry)| match rest.split_once('/') {
            Some((name, _)) => (name, None),
            None => (rest, Some(entry)),
        })
        .collect()
}

/// Returns a stand-in for git's SHA of a folder, which depends on the folder's content alone.
pub(crate) fn tree_sha(tree: &Tree, folder: &str) -> String {
    let lines: Vec<String> = descendants(tree, folder)
        .map(|(rest, entry)| format!("{} {} {rest}", entry.mode(), entry.sha()))
        .collect();
    hash(format!("tree {}", lines.join("\n")).as_bytes())
}

/// Returns all entries below a folder with their paths relative to it.
fn descendants<'a>(
    tree: &'a Tree,
    folder: &str,
) -> impl Iterator<Item = (&'a str, &'a TreeEntry)> + use<'a> {
    let prefix = join_path(folder, "");
    tree.range(prefix.clone()..)
        .map_while(move |(path, entry)| Some((path.strip_prefix(&prefix)?, entry)))
}

/// Joins a folder, which is empty for the root, and a name in it.
pub(crate) fn join_path(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

impl Repository {
    /// Resolves a commit, a branch or the SHA of a tree to a commit's tree and a folder in it.
    pub(crate) fn tree(&self, name: &str) -> Option<(&Tree, String)> {
        if let Some(commit) = self.commit(Some(name)) {
            return Some((&commit.tree, String::new()));
        }
        self.commits.values().find_map(|commit| {
            let tree = &commit.tree;
            let folders: BTreeSet<&str> = tree
                .keys()
                .flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..at]))
                .chain([""])
                .collect();
            let folder = folders
                .into_iter()
                .find(|folder| tree_sha(tree, folder) == name)?;
            Some((tree, folder.to_owned()))
        })
    }

    /// Returns a file or link of any commit by the SHA of its content.
    pub(crate) fn blob(&self, sha: &str) -> Option<&TreeEntry> {
        self.commits
            .values()
            .flat_map(|commit| commit.tree.values())
            .filter(|entry| !matches!(entry, TreeEntry::Submodule(_)))
            .find(|entry| entry.sha() == sha)
    }

    /// Resolves a branch, a SHA or `HEAD` to a commit; `None` means `HEAD`.
    pub(crate) fn commit(&self, name: Option<&str>) -> Option<&Commit> {
        let name = name.unwrap_or("HEAD");
        let name = name.strip_prefix("refs/").unwrap_or(name);
        let name = name.strip_prefix("heads/").unwrap_or(name);
        let branch = if name == "HEAD" { DEFAULT_BRANCH } else { name };
        self.commits
            .get(self.branches.get(branch).map_or(name, String::as_str))
    }

    /// Adds a commit after `parent`, moves the branch to it, and returns its SHA.
    pub(crate) fn add_commit(
        &mut self,
        branch: &str,
        parent: Option<&str>,
        edits: &FileEdits,
        created: DateTime<Utc>,
    ) -> String {
        let parent = parent.and_then(|sha| self.commits.get(sha));
        let mut tree = parent.map(|commit| commit.tree.clone()).unwrap_or_default();
        for (path, entry) in edits {
            match entry {
                Some(entry) => tree.insert(path.clone(), entry.clone()),
                None => tree.remove(path),
            };
        }
        let parent = parent.map(|commit| commit.sha.clone());
        // Commits with the same content still get different SHAs.
        let sha = hash(format!("{} {} {parent:?}", self.id, self.commits.len()).as_bytes());
        let commit = Commit {
            sha: sha.clone(),
            parent,
            tree,
            created,
        };
        self.commits.insert(sha.clone(), commit);
        self.branches.insert(branch.to_owned(), sha.clone());
        sha
    }

    /// Returns the files that a pull request changes, by path. A file that moved without a change
    /// of its content counts as renamed, as in git.
    pub(crate) fn changed_files<'a>(&'a self, pull: &PullRequest) -> Vec<ChangedFile<'a>> {
        let tree = |sha: &str| self.commits.get(sha).map(|commit| &commit.tree);
        let (Some(old), Some(new)) = (tree(&pull.base), tree(&pull.head)) else {
            return Vec::new();
        };
        let mut removed: BTreeMap<&str, &TreeEntry> = old
            .iter()
            .filter(|(path, _)| !new.contains_key(*path))
            .map(|(path, entry)| (path.as_str(), entry))
            .collect();
        let mut changed = Vec::new();
        for (path, entry) in new {
            let mut before = old.get(path);
            if before == Some(entry) {
                continue;
            }
            let mut previous = None;
            if before.is_none() {
                let moved = removed.iter().find(|(_, other)| **other == entry);
                previous = moved.map(|(path, _)| *path);
                before = previous.and_then(|path| removed.remove(path));
            }
            changed.push(ChangedFile {
                path,
                previous,
                old: before,
                new: Some(entry),
            });
        }
        changed.extend(removed.into_iter().map(|(path, entry)| ChangedFile {
            path,
            previous: None,
            old: Some(entry),
            new: None,
        }));
        changed.sort_by_key(|file| file.path);
        changed
    }

    /// Returns the number of commits of a pull request.
    pub(crate) fn commit_count(&self, pull: &PullRequest) -> usize {
        let parent = |sha: &&String| self.commits.get(*sha)?.parent.as_ref();
        std::iter::successors(Some(&pull.head), parent)
            .take_while(|sha| **sha != pull.base)
            .count()
    }
}
