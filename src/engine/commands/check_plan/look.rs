//! The files of the repository at one commit, read within a budget of requests.
//!
//! One listing says what stands at every path, and only contents that are compared are asked for,
//! each once in a run.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::engine::effects::Stop;
use crate::engine::forge::{
    Content, EntryKind, Forge, Kind, ReadError, TreeEntry, blob_content, content,
};
use crate::engine::model::trigger::Repo;
use crate::engine::say::check as sentences;
use crate::formats::action_plan::check::{PathState, ProjectFiles, required_paths};
use crate::formats::action_plan::{ActionPlan, ProjectPath};

/// The newest commit of the default branch.
pub(super) const DEFAULT: &str = "HEAD";

/// Longest file that is compared, in bytes.
const MOST_FILE: u64 = 1024 * 1024;

/// Most bytes of contents that a run keeps, so that many large files do not fill the memory.
const MAX_KEPT: usize = 16 * 1024 * 1024;

/// Requests that one listing takes: the commit, and its tree.
const LISTING: usize = 2;
/// Requests that a file takes when it is asked for by its path: the commit, and the file.
const BY_PATH: usize = 2;

/// Why a file was not read.
#[derive(Debug)]
pub(super) enum NotRead {
    /// The run may ask GitHub for nothing more.
    Budget,
    /// GitHub gives no text for it; why.
    Unreadable(String),
    /// The run has to stop here.
    Stop(Stop),
}

impl From<Stop> for NotRead {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// The files of one commit.
pub(super) struct Repository<'c> {
    forge: &'c dyn Forge,
    repo: &'c Repo,
    commit: String,
    /// Requests that the run may still make.
    pub(super) left: usize,
    listing: Option<Listing>,
    /// Contents by their ids.
    kept: HashMap<String, Arc<Content>>,
    kept_bytes: usize,
}

/// What stands at the paths of a commit.
#[derive(Default)]
struct Listing {
    entries: HashMap<String, TreeEntry>,
    folders: HashSet<String>,
    /// Nothing stands at a path that is not listed.
    whole: bool,
}

impl<'c> Repository<'c> {
    pub(super) fn new(forge: &'c dyn Forge, repo: &'c Repo, commit: &str, left: usize) -> Self {
        Self {
            forge,
            repo,
            commit: commit.to_owned(),
            left,
            listing: None,
            kept: HashMap::new(),
            kept_bytes: 0,
        }
    }

    /// What stands at `path`, a file up to `most` bytes.
    pub(super) async fn read(&mut self, path: &str, most: u64) -> Result<Arc<Content>, NotRead> {
        if self.listing.is_none() {
            self.list().await?;
        }
        let listing = self.listing.get_or_insert_default();
        let entry = match listing.entries.get(path) {
            Some(entry) if entry.kind == EntryKind::File => entry.clone(),
            // A link is read as the file that it leads to, which GitHub finds.
            Some(entry) if entry.kind == EntryKind::Link => return self.by_path(path, most).await,
            Some(_) => return Ok(Arc::new(Content::NotAFile(Kind::Submodule))),
            None if listing.folders.contains(path) => {
                return Ok(Arc::new(Content::NotAFile(Kind::Directory)));
            }
            None if listing.whole => return Ok(Arc::new(Content::Missing)),
            None => return self.by_path(path, most).await,
        };
        if entry.size > most {
            return Ok(Arc::new(Content::TooLarge { most }));
        }
        if let Some(kept) = self.kept.get(&entry.id) {
            return Ok(Arc::clone(kept));
        }
        self.spend(1)?;
        let read = blob_content(self.forge, self.repo, &entry.id, most).await;
        let found = Arc::new(read.map_err(not_read)?);
        let size = usize::try_from(entry.size).unwrap_or(usize::MAX);
        if self.kept_bytes.saturating_add(size) <= MAX_KEPT {
            self.kept_bytes += size;
            self.kept.insert(entry.id, Arc::clone(&found));
        }
        Ok(found)
    }

    async fn list(&mut self) -> Result<(), NotRead> {
        self.spend(LISTING)?;
        let tree = self.forge.tree(self.repo, &[""], Some(&self.commit)).await;
        let mut listing = Listing {
            whole: true,
            ..Listing::default()
        };
        // A repository without a commit has no files.
        if let Some(tree) = tree.map_err(Stop::from)? {
            listing.whole = tree.cut.is_empty();
            for entry in tree.entries {
                for (at, _) in entry.path.match_indices('/') {
                    if !listing.folders.contains(&entry.path[..at]) {
                        listing.folders.insert(entry.path[..at].to_owned());
                    }
                }
                listing.entries.insert(entry.path.clone(), entry);
            }
        }
        self.listing = Some(listing);
        Ok(())
    }

    async fn by_path(&mut self, path: &str, most: u64) -> Result<Arc<Content>, NotRead> {
        self.spend(BY_PATH)?;
        let read = content(self.forge, self.repo, path, &self.commit, most).await;
        read.map(Arc::new).map_err(not_read)
    }

    fn spend(&mut self, requests: usize) -> Result<(), NotRead> {
        self.left = self.left.checked_sub(requests).ok_or(NotRead::Budget)?;
        Ok(())
    }
}

fn not_read(error: ReadError) -> NotRead {
    match error {
        ReadError::Forge(error) => NotRead::Stop(error.into()),
        error => NotRead::Unreadable(error.to_string()),
    }
}

/// What is at the paths that were asked for.
#[derive(Debug, Default)]
pub(super) struct Loaded(HashMap<ProjectPath, Arc<Content>>);

impl ProjectFiles for Loaded {
    fn get(&self, path: &ProjectPath) -> PathState<'_> {
        match self.0.get(path).map(AsRef::as_ref) {
            Some(Content::Text(text)) => PathState::File(text),
            Some(Content::Binary) => PathState::Binary,
            Some(Content::TooLarge { .. }) => PathState::TooLarge,
            Some(Content::NotAFile(Kind::Directory)) => PathState::Folder,
            Some(Content::NotAFile(Kind::Submodule)) => PathState::Unreadable("it is a submodule"),
            Some(Content::NotAFile(Kind::Link)) => {
                PathState::Unreadable("it is a symbolic link to nowhere")
            }
            Some(Content::Missing) => PathState::Missing,
            None => PathState::Unreadable("it was not looked at"),
        }
    }
}

/// Reads what `plan` will be checked against, `most` paths at most. `name` is the plan as people
/// are shown it.
///
/// # Errors
/// The run may ask GitHub for nothing more, or has to stop.
pub(super) async fn load(
    files: &mut Repository<'_>,
    plan: &ActionPlan,
    most: usize,
    name: &str,
    notes: &mut Vec<String>,
) -> Result<Loaded, NotRead> {
    let paths = required_paths(plan);
    if paths.len() > most {
        notes.push(sentences::not_all_looked_at(name, paths.len(), most));
    }
    let mut loaded = Loaded::default();
    for path in paths.into_iter().take(most) {
        match files.read(path.as_str(), MOST_FILE).await {
            Ok(found) => {
                loaded.0.insert(path, found);
            }
            Err(NotRead::Unreadable(_)) => {}
            Err(stopped) => return Err(stopped),
        }
    }
    Ok(loaded)
}
