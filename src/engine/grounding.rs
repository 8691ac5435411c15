//! Judges the files that a plan or a report names against the files of a commit. Pure.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::formats::plan::files::{Intent, Named, NamedFile};

mod near;
mod symbols;
#[cfg(test)]
mod tests;

pub use symbols::{MissingSymbol, missing_symbols};

/// Maximum number of similar paths that are suggested for a file that does not exist.
pub const MAX_NEAREST: usize = 3;

/// Maximum number of missing files for which similar paths are searched.
pub const MAX_SEARCHED: usize = 20;

/// The result of a check: one entry for each file that a text names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounding {
    /// The full SHA of the commit.
    pub commit: String,
    /// The named files in the order of their first mention.
    pub files: Vec<Grounded>,
}

/// A named file and what is known about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounded {
    /// The path as named, without a leading `./` and a trailing `/`.
    pub path: String,
    /// The verdict.
    pub verdict: Verdict,
}

/// Whether a named file exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// There is such a file.
    Exists {
        /// The complete path.
        path: String,
    },
    /// There is such a directory.
    Directory {
        /// The complete path.
        path: String,
    },
    /// The path is the end of several complete paths.
    Ambiguous {
        /// The number of complete paths.
        count: usize,
    },
    /// It does not exist, and the text says that it is to be created.
    ToBeCreated,
    /// The text says that it is to be created, but it exists already.
    AlreadyExists {
        /// The complete path.
        path: String,
    },
    /// It is not known, because the copy of the repository does not contain it.
    Unknown,
    /// It does not exist, and nothing says that it is to be created.
    NotFound {
        /// Similar paths that exist, the most similar first; at most [`MAX_NEAREST`].
        nearest: Vec<String>,
    },
}

/// Number of files with each verdict. A file that is named in several ways counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files that exist, those that were to be created included.
    pub exist: usize,
    /// Files that exist although they are to be created.
    pub already_exist: usize,
    /// Files that are to be created.
    pub to_be_created: usize,
    /// Files that do not exist.
    pub not_found: usize,
}

impl Counts {
    /// Returns the number of all files.
    pub fn all(self) -> usize {
        self.exist + self.to_be_created + self.not_found
    }
}

impl Grounding {
    /// Returns the number of different files with each verdict. Unknown files do not count.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        let mut seen = HashSet::new();
        for file in &self.files {
            let full = match &file.verdict {
                Verdict::Exists { path }
                | Verdict::Directory { path }
                | Verdict::AlreadyExists { path } => path,
                _ => &file.path,
            };
            if !seen.insert(full) {
                continue;
            }
            match &file.verdict {
                Verdict::Exists { .. } | Verdict::Directory { .. } | Verdict::Ambiguous { .. } => {
                    counts.exist += 1;
                }
                Verdict::AlreadyExists { .. } => {
                    counts.exist += 1;
                    counts.already_exist += 1;
                }
                Verdict::ToBeCreated => counts.to_be_created += 1,
                Verdict::NotFound { .. } => counts.not_found += 1,
                Verdict::Unknown => {}
            }
        }
        counts
    }

    /// Returns the files that do not exist, with similar paths.
    pub fn not_found(&self) -> impl Iterator<Item = (&Grounded, &[String])> {
        self.files.iter().filter_map(|file| match &file.verdict {
            Verdict::NotFound { nearest } => Some((file, nearest.as_slice())),
            _ => None,
        })
    }
}

/// The files of a commit, prepared for many look-ups.
pub struct CommitFiles<'a> {
    /// Complete paths, sorted.
    paths: &'a [String],
    /// Files by their name in lower case.
    by_name: HashMap<String, Vec<&'a str>>,
    /// Directories by their last component in lower case.
    directories: HashMap<String, Vec<&'a str>>,
    all_directories: HashSet<&'a str>,
    /// Paths of what the copy does not contain.
    left_out: &'a [&'a str],
}

impl<'a> CommitFiles<'a> {
    /// Prepares `paths`, all files of a commit, sorted. `left_out` are the paths of entries that
    /// exist in the commit and are not in `paths`, such as submodules; nothing is known about what
    /// is in them.
    pub fn new(paths: &'a [String], left_out: &'a [&'a str]) -> Self {
        let mut by_name: HashMap<String, Vec<&str>> = HashMap::new();
        let mut directories: HashMap<String, Vec<&str>> = HashMap::new();
        let mut all_directories = HashSet::new();
        for path in paths {
            let mut folder = path.as_str();
            let name = path.rsplit('/').next().unwrap_or(path);
            by_name.entry(name.to_lowercase()).or_default().push(path);
            while let Some((parent, _)) = folder.rsplit_once('/') {
                if !all_directories.insert(parent) {
                    break;
                }
                let last = parent.rsplit('/').next().unwrap_or(parent);
                let same_name = directories.entry(last.to_lowercase()).or_default();
                same_name.push(parent);
                folder = parent;
            }
        }
        Self {
            paths,
            by_name,
            directories,
            all_directories,
            left_out,
        }
    }

    fn has(&self, path: &str) -> bool {
        let found = self
            .paths
            .binary_search_by(|other| other.as_str().cmp(path));
        found.is_ok()
    }

    fn has_directory(&self, path: &str) -> bool {
        self.all_directories.contains(path)
    }

    /// Returns the files whose paths end with `path`.
    fn ends(&self, path: &str) -> Vec<&'a str> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let same_name = self.by_name.get(&name.to_lowercase());
        let all = same_name.into_iter().flatten().copied();
        all.filter(|file| ends_with(file, path)).collect()
    }

    /// Returns the directories whose paths end with `path`.
    fn directory_ends(&self, path: &str) -> Vec<&'a str> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let same_name = self.directories.get(&name.to_lowercase());
        let all = same_name.into_iter().flatten().copied();
        all.filter(|folder| ends_with(folder, path)).collect()
    }

    /// Whether there is a file with this path in another case.
    fn differs_in_case(&self, path: &str) -> bool {
        let lower = path.to_lowercase();
        let name = lower.rsplit('/').next().unwrap_or(&lower);
        let same_name = self.by_name.get(name).into_iter().flatten();
        same_name
            .take(1_000)
            .any(|other| ends_with(&other.to_lowercase(), &lower))
    }

    fn is_left_out(&self, path: &str) -> bool {
        self.left_out.iter().any(|left_out| {
            path.strip_prefix(left_out)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                || ends_with(left_out, path)
        })
    }
}

/// Whether the last components of `whole` are `end`.
fn ends_with(whole: &str, end: &str) -> bool {
    whole
        .strip_suffix(end)
        .is_some_and(|start| start.is_empty() || start.ends_with('/'))
}

/// Judges the files of `named` against `files`, those of `commit` (a full SHA). Words that are
/// perhaps paths, and files of which the text says that they do not exist, are left out unless they
/// exist.
pub fn judge(named: &Named, files: &CommitFiles<'_>, commit: &str) -> Grounding {
    let created = Created::new(&named.files);
    let mut searched = 0;
    let mut grounded = Vec::new();
    for file in &named.files {
        let Some(mut verdict) = verdict(file, files, &created) else {
            continue;
        };
        if let Verdict::NotFound { nearest } = &mut verdict
            && searched < MAX_SEARCHED
        {
            searched += 1;
            let among = if file.directory {
                &files.directories
            } else {
                &files.by_name
            };
            *nearest = near::nearest(&file.path, among);
        }
        grounded.push(Grounded {
            path: file.path.clone(),
            verdict,
        });
    }
    Grounding {
        commit: commit.to_owned(),
        files: grounded,
    }
}

/// What the text says is to be created.
struct Created<'a> {
    /// Files and directories.
    paths: HashSet<&'a str>,
    /// The same by their last component.
    by_name: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Created<'a> {
    fn new(files: &'a [NamedFile]) -> Self {
        let mut created = Self {
            paths: HashSet::new(),
            by_name: HashMap::new(),
        };
        for file in files.iter().filter(|file| is_created(file)) {
            created.paths.insert(&file.path);
            let name = file.path.rsplit('/').next().unwrap_or(&file.path);
            created.by_name.entry(name).or_default().push(&file.path);
        }
        created
    }

    /// Whether `path` is one of the files, in one of the directories, or the end of one of them.
    fn contains(&self, path: &str) -> bool {
        let slashes = path.match_indices('/').map(|(at, _)| &path[..at]);
        let mut folders = slashes.chain([path]);
        let name = path.rsplit('/').next().unwrap_or(path);
        let same_name = self.by_name.get(name).into_iter().flatten();
        folders.any(|folder| self.paths.contains(folder))
            || same_name.take(100).any(|other| ends_with(other, path))
    }

    /// Whether a file to create is in the directory `path`.
    fn is_above(&self, path: &str) -> bool {
        let start = format!("{path}/");
        self.paths.iter().any(|other| other.starts_with(&start))
    }
}

fn is_created(file: &NamedFile) -> bool {
    let intent = file.intent;
    let says = matches!(
        intent,
        Some(Intent::Create | Intent::MayCreate | Intent::RenameTarget)
    );
    says && (file.certain || file.marked && intent == Some(Intent::Create))
}

/// Returns the verdict on a file; `None` if it is no file.
fn verdict(file: &NamedFile, files: &CommitFiles<'_>, created: &Created<'_>) -> Option<Verdict> {
    let path = file.path.as_str();
    let firm = file.certain || file.marked;
    let is_new = firm && file.intent == Some(Intent::Create);
    if files.has(path) && !file.directory {
        let path = path.to_owned();
        return Some(if is_new {
            Verdict::AlreadyExists { path }
        } else {
            Verdict::Exists { path }
        });
    }
    if files.has_directory(path) {
        return Some(Verdict::Directory {
            path: path.to_owned(),
        });
    }
    let nested = path.contains('/');
    // A part of a path in prose is more often something else, and a new file may be called as one
    // in another directory.
    let may_be_part = firm || is_file_name(path);
    if may_be_part && (nested || !is_new) {
        let ends = files.ends(path);
        match ends.as_slice() {
            [] => {}
            [_] if file.directory => {}
            [only] if is_new => {
                let path = (*only).to_owned();
                return Some(Verdict::AlreadyExists { path });
            }
            [only] => {
                let path = (*only).to_owned();
                return Some(Verdict::Exists { path });
            }
            many => return Some(Verdict::Ambiguous { count: many.len() }),
        }
        let ends = files.directory_ends(path);
        match ends.as_slice() {
            [only] if nested || file.directory => {
                let path = (*only).to_owned();
                return Some(Verdict::Directory { path });
            }
            [_, _, ..] if nested || file.directory => {
                return Some(Verdict::Ambiguous { count: ends.len() });
            }
            _ => {}
        }
    }
    if files.is_left_out(path) {
        return Some(Verdict::Unknown);
    }
    if firm && created.contains(path) {
        return Some(Verdict::ToBeCreated);
    }
    let miswritten = || file.marked && files.differs_in_case(path);
    if file.intent == Some(Intent::Absent) || !file.certain && !miswritten() {
        return None;
    }
    if created.is_above(path) {
        return Some(Verdict::ToBeCreated);
    }
    Some(Verdict::NotFound {
        nearest: Vec::new(),
    })
}

/// Whether the last component of a path has an extension.
fn is_file_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.')
        .is_some_and(|(stem, _)| !stem.is_empty())
}
