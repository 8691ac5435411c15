//! What is in a repository: trees, commits, branches, and what a pull request changes.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::Repository;
use chrono::{DateTime, Utc};

/// The default branch of every repository here.
pub(crate) const MAIN: &str = "main";

/// What stands at a path of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A file.
    File(Bytes),
    /// A symbolic link to a path, seen from the root of the repository.
    Link(String),
    /// A commit of another repository.
    Submodule(String),
}

impl Entry {
    /// A file with this content.
    pub fn file(content: impl Into<Bytes>) -> Self {
        Self::File(content.into())
    }

    /// What git keeps for it.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::File(content) => content,
            Self::Link(target) => target.as_bytes(),
            Self::Submodule(commit) => commit.as_bytes(),
        }
    }

    /// Forty hex digits like git's, stable for the same content, but not git's.
    pub(crate) fn sha(&self) -> String {
        hash(self.bytes())
    }

    /// As git has it.
    pub(crate) fn mode(&self) -> &'static str {
        match self {
            Self::File(_) => "100644",
            Self::Link(_) => "120000",
            Self::Submodule(_) => "160000",
        }
    }
}

/// Everything in a commit by path; directories are what paths have in common.
pub type Tree = BTreeMap<String, Entry>;

/// What a push does to paths: `None` takes away.
pub type Edits = [(String, Option<Entry>)];

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its name: forty hex digits like git's, but not git's.
    pub sha: String,
    /// The commit before it.
    pub parent: Option<String>,
    /// What is in it.
    pub tree: Tree,
    /// When it was made.
    pub created: DateTime<Utc>,
}

/// What makes an issue a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    /// Id of the repository that it comes from: a fork, or the one that it is proposed to.
    pub head_repository: u64,
    /// Its branch there.
    pub branch: String,
    /// The commit it proposes.
    pub head: String,
    /// The commit that it started from, on the default branch.
    pub base: String,
    /// Not ready for review.
    pub draft: bool,
}

/// A file that a pull request changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed<'a> {
    /// Path at the head; of a removed file, the last one.
    pub(crate) path: &'a str,
    /// Path at the base, where it is another one.
    pub(crate) previous: Option<&'a str>,
    pub(crate) old: Option<&'a Entry>,
    pub(crate) new: Option<&'a Entry>,
}

impl Changed<'_> {
    /// Lines that came and lines that went, whatever their order.
    pub(crate) fn lines(&self) -> (usize, usize) {
        let mut counts: BTreeMap<&[u8], i64> = BTreeMap::new();
        for (entry, step) in [(self.new, 1), (self.old, -1)] {
            let content = entry.map(Entry::bytes).unwrap_or_default();
            for line in content.split_inclusive(|byte| *byte == b'\n') {
                *counts.entry(line).or_default() += step;
            }
        }
        let sum = |sign: i64| {
            let those = counts.values().map(|count| (count * sign).max(0));
            usize::try_from(those.sum::<i64>()).unwrap_or_default()
        };
        (sum(1), sum(-1))
    }
}

fn hash(content: &[u8]) -> String {
    let mut digits = hex::encode(Sha256::digest(content));
    digits.truncate(40);
    digits
}

/// What is directly in a folder of a commit, by name; `None` stands for a folder. The root is an empty path.
pub(crate) fn children<'a>(tree: &'a Tree, folder: &str) -> BTreeMap<&'a str, Option<&'a Entry>> {
    let prefix = prefix(folder);
    let below = tree.range(prefix.clone()..);
    below
        .map_while(|(path, entry)| Some((path.strip_prefix(&prefix)?, entry)))
        .map(|(rest, entry)| match rest.split_once('/') {
            Some((name, _)) => (name, None),
            None => (rest, Some(entry)),
        })
        .collect()
}

/// Forty hex digits like git's for a folder of a commit: the same for the same content, whatever its place.
pub(crate) fn tree_sha(tree: &Tree, folder: &str) -> String {
    let prefix = prefix(folder);
    let below = tree.range(prefix.clone()..);
    let lines: Vec<String> = below
        .map_while(|(path, entry)| Some((path.strip_prefix(&prefix)?, entry)))
        .map(|(rest, entry)| format!("{} {} {rest}", entry.mode(), entry.sha()))
        .collect();
    hash(format!("tree {}", lines.join("\n")).as_bytes())
}

fn prefix(folder: &str) -> String {
    if folder.is_empty() {
        String::new()
    } else {
        format!("{folder}/")
    }
}

impl Repository {
    /// The tree that a commit, a branch or the name of a folder's tree stands for: a commit's, and the folder in it.
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
            let found = folders.into_iter().find(|it| tree_sha(tree, it) == name)?;
            Some((tree, found.to_owned()))
        })
    }

    /// What has this name for its content, in any commit.
    pub(crate) fn blob(&self, sha: &str) -> Option<&Entry> {
        let all = self
            .commits
            .values()
            .flat_map(|commit| commit.tree.values());
        all.filter(|entry| !matches!(entry, Entry::Submodule(_)))
            .find(|entry| entry.sha() == sha)
    }

    /// The commit that a branch, a commit's name, `HEAD` or nothing stands for.
    pub(crate) fn commit(&self, name: Option<&str>) -> Option<&Commit> {
        let name = name.unwrap_or("HEAD");
        let name = name.strip_prefix("refs/").unwrap_or(name);
        let name = name.strip_prefix("heads/").unwrap_or(name);
        let branch = if name == "HEAD" { MAIN } else { name };
        self.commits
            .get(self.branches.get(branch).map_or(name, String::as_str))
    }

    /// Puts a commit behind `parent`, on a branch; gives its name.
    pub(crate) fn add_commit(
        &mut self,
        branch: &str,
        parent: Option<&str>,
        edits: &Edits,
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
        // Two commits are never the same one, even if they hold the same.
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

    /// The files that a pull request changes, by path. A file that moved as it was is renamed, as git sees it.
    pub(crate) fn changed<'a>(&'a self, pull: &Pull) -> Vec<Changed<'a>> {
        let tree = |sha: &str| self.commits.get(sha).map(|commit| &commit.tree);
        let (Some(old), Some(new)) = (tree(&pull.base), tree(&pull.head)) else {
            return Vec::new();
        };
        let mut gone: BTreeMap<&str, &Entry> = old
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
                let moved = gone.iter().find(|(_, other)| **other == entry);
                previous = moved.map(|(path, _)| *path);
                before = previous.and_then(|path| gone.remove(path));
            }
            changed.push(Changed {
                path,
                previous,
                old: before,
                new: Some(entry),
            });
        }
        changed.extend(gone.into_iter().map(|(path, entry)| Changed {
            path,
            previous: None,
            old: Some(entry),
            new: None,
        }));
        changed.sort_by_key(|one| one.path);
        changed
    }

    /// How many commits a pull request proposes.
    pub(crate) fn commits_of(&self, pull: &Pull) -> usize {
        let parent = |sha: &&String| self.commits.get(*sha)?.parent.as_ref();
        std::iter::successors(Some(&pull.head), parent)
            .take_while(|sha| **sha != pull.base)
            .count()
    }
}
