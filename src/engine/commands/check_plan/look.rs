//! Files of the repository at one commit, read within a budget of requests.
//!
//! One listing returns the type of every path. Only contents that are compared are requested, each
//! once per run.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::engine::effects::StepError;
use crate::engine::forge::{
    Content, EntryKind, Forge, NotAFile, ReadError, TreeEntry, blob_content, content,
};
use crate::engine::messages::check as sentences;
use crate::engine::model::trigger::Repo;
use crate::formats::action_plan::check::{PathState, ProjectFiles, required_paths};
use crate::formats::action_plan::{ActionPlan, ProjectPath};

/// Revision of the newest commit of the default branch.
pub(super) const DEFAULT: &str = "HEAD";

/// Maximum size of a file that is compared, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// Maximum total size of the contents that a run caches, in bytes, to limit its memory.
const MAX_KEPT: usize = 16 * 1024 * 1024;

/// Number of requests for one listing: the commit and its tree.
const LISTING: usize = 2;
/// Number of requests for a file by path: the commit and the file.
const BY_PATH: usize = 2;

/// Reason why a file was not read.
#[derive(Debug)]
pub(super) enum NotRead {
    /// The request budget of the run is used up.
    Budget,
    /// GitHub does not return it as text, for this reason.
    Unreadable(String),
    /// The run has to stop.
    StepError(StepError),
}

impl From<StepError> for NotRead {
    fn from(stop: StepError) -> Self {
        Self::StepError(stop)
    }
}

/// Files of one commit.
pub(super) struct Repository<'c> {
    forge: &'c dyn Forge,
    repo: &'c Repo,
    commit: String,
    /// Number of requests that the run may still make.
    pub(super) left: usize,
    listing: Option<Listing>,
    /// Cached contents by blob id.
    kept: HashMap<String, Arc<Content>>,
    kept_bytes: usize,
}

/// Entries of a commit's tree.
#[derive(Default)]
struct Listing {
    entries: HashMap<String, TreeEntry>,
    folders: HashSet<String>,
    /// Whether the listing is complete, so that a path not listed does not exist.
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

    /// Returns the content at `path`, if it is a file of up to `most` bytes.
    pub(super) async fn read(&mut self, path: &str, most: u64) -> Result<Arc<Content>, NotRead> {
        if self.listing.is_none() {
            self.list().await?;
        }
        let listing = self.listing.get_or_insert_default();
        let entry = match listing.entries.get(path) {
            Some(entry) if entry.kind == EntryKind::File => entry.clone(),
            // GitHub resolves the link when it is read by path.
            Some(entry) if entry.kind == EntryKind::Link => return self.by_path(path, most).await,
            Some(_) => return Ok(Arc::new(Content::NotAFile(NotAFile::Submodule))),
            None if listing.folders.contains(path) => {
                return Ok(Arc::new(Content::NotAFile(NotAFile::Directory)));
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
        if let Some(tree) = tree.map_err(StepError::from)? {
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
        ReadError::Forge(error) => NotRead::StepError(error.into()),
        error => NotRead::Unreadable(error.to_string()),
    }
}

/// Contents of the paths that a plan needs.
#[derive(Debug, Default)]
pub(super) struct Loaded(HashMap<ProjectPath, Arc<Content>>);

impl ProjectFiles for Loaded {
    fn get(&self, path: &ProjectPath) -> PathState<'_> {
        match self.0.get(path).map(AsRef::as_ref) {
            Some(Content::Text(text)) => PathState::File(text),
            Some(Content::Binary) => PathState::Binary,
            Some(Content::TooLarge { .. }) => PathState::TooLarge,
            Some(Content::NotAFile(NotAFile::Directory)) => PathState::Folder,
            Some(Content::NotAFile(NotAFile::Submodule)) => {
                PathState::Unreadable("it is a submodule")
            }
            Some(Content::NotAFile(NotAFile::Link)) => {
                PathState::Unreadable("it is a dangling symbolic link")
            }
            Some(Content::Missing) => PathState::Missing,
            None => PathState::Unreadable(
                "the plan names more paths than are checked, or GitHub did not return it",
            ),
        }
    }
}

/// Reads up to `most` of the paths that `plan` is checked against. `name` is the plan's name in
/// messages.
///
/// # Errors
/// Returns [`NotRead::Budget`] if the request budget is used up, and [`NotRead::StepError`] if the
/// run has to stop.
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
        match files.read(path.as_str(), MAX_FILE).await {
            Ok(found) => {
                loaded.0.insert(path, found);
            }
            Err(NotRead::Unreadable(_)) => {}
            Err(stopped) => return Err(stopped),
        }
    }
    Ok(loaded)
}
