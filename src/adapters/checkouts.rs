//! Read-only copies of repositories below the agents' folder: the implementation of the engine's
//! [`Checkouts`].
//!
//! A copy is complete or absent. It is unpacked while it is downloaded (`unpack`), under a
//! temporary name (`cache`), and shared by all runs that want the same commit.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;

use self::cache::{Cache, Key};
use self::feed::feed;
use self::select::Rules;
use self::unpack::{create_file, disk, max_read, unpack};
use crate::engine::checkout::{Checkout, CheckoutError, Checkouts};
use crate::engine::forge::{Forge, ForgeError, ReadError};
use crate::engine::model::trigger::Repo;
use crate::engine::settings::RepositorySettings;
use crate::regular_file;

mod cache;
mod feed;
mod links;
mod select;
mod unpack;

/// Name of the folder of the copies below the agents' folder. No run has an id with a hyphen.
const FOLDER: &str = "repository-copies";

/// The reason why copies cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder cannot be used.
    #[error(
        "the folder of repository copies {path} cannot be used: {error}: make it writable for this \
         user, or name another agent.folder"
    )]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// A pattern cannot be used.
    #[error("agent.repository.exclude cannot be used: {0}: remove the pattern, or correct it")]
    Exclude(String),
}

/// The download of a copy, which only one task does at a time.
type Turn = tokio::sync::Mutex<()>;

/// Makes and keeps copies of repositories.
pub struct RepositoryCopies {
    cache: Arc<Cache>,
    rules: Arc<Rules>,
    turns: Mutex<HashMap<Key, Weak<Turn>>>,
}

impl RepositoryCopies {
    /// Opens the copies below `agent_folder`. That folder must belong to this process alone: open
    /// the [`LocalAgent`](super::agent::LocalAgent), which locks it, before.
    ///
    /// # Errors
    /// The folder or a setting cannot be used.
    pub fn open(agent_folder: &Path, settings: &RepositorySettings) -> Result<Self, OpenError> {
        let rules = Rules::new(settings).map_err(|error| OpenError::Exclude(error.to_string()))?;
        let folder = agent_folder.join(FOLDER);
        let fingerprint = format!(
            "{:?} {:?} {} {}",
            settings.exclude, settings.instructions, settings.max_files, settings.max_bytes
        );
        let cache = Cache::open(&folder, settings.cache_bytes, fingerprint);
        let cache = cache.map_err(|error| OpenError::Folder {
            path: folder,
            error,
        })?;
        Ok(Self {
            cache,
            rules: Arc::new(rules),
            turns: Mutex::default(),
        })
    }

    fn turn(&self, key: &Key) -> Arc<Turn> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(key).and_then(Weak::upgrade) {
            return turn;
        }
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        turns.insert(key.clone(), Arc::downgrade(&turn));
        turn
    }

    /// Downloads and unpacks a copy.
    async fn download(
        &self,
        forge: &dyn Forge,
        repo: &Repo,
        key: Key,
    ) -> Result<Checkout, CheckoutError> {
        let (pieces, feed) = feed(max_read(&self.rules));
        let (cache, rules) = (Arc::clone(&self.cache), Arc::clone(&self.rules));
        let commit = key.commit.clone();
        let unpacking = tokio::task::spawn_blocking(move || {
            let new = cache.begin()?;
            let unpacked = unpack(feed, &new.files(), &rules, &create_file)?;
            cache.keep(&key, new, unpacked)
        });
        let mut take = |piece: &[u8]| pieces.send(piece);
        let read = forge.archive(repo, &commit, &mut take).await;
        match read {
            // If unpacking has failed, its result says why.
            Ok(()) => pieces.end(),
            Err(_) => drop(pieces),
        }
        let unpacked = unpacking
            .await
            .unwrap_or_else(|error| Err(disk(&io::Error::other(error))));
        match read {
            Ok(()) => unpacked,
            Err(error) => Err(self.not_read(error, repo, &commit)),
        }
    }

    fn not_read(&self, error: ReadError, repo: &Repo, commit: &str) -> CheckoutError {
        let what = format!("the files of {} at {commit}", repo.full_name());
        match error {
            ReadError::Forge(error) => CheckoutError::Forge(error),
            ReadError::Elsewhere { to } => CheckoutError::Elsewhere { to },
            ReadError::TooLarge { .. } => CheckoutError::TooLarge {
                max: self.rules.max_bytes,
            },
            ReadError::NoReference | ReadError::NoFile | ReadError::NotAFile { .. } => {
                CheckoutError::Forge(ForgeError::NotFound { what })
            }
            ReadError::Withheld { why } => {
                CheckoutError::Forge(ForgeError::Unreadable { what, message: why })
            }
        }
    }
}

#[async_trait]
impl Checkouts for RepositoryCopies {
    async fn checkout(
        &self,
        forge: &dyn Forge,
        repo: &Repo,
        commit: &str,
    ) -> Result<Checkout, CheckoutError> {
        let key = Key::new(repo.id, commit).ok_or_else(|| {
            let what = format!("the files of {} at {commit:?}", repo.full_name());
            CheckoutError::Forge(ForgeError::NotFound { what })
        })?;
        if let Some(checkout) = self.cache.get(&key) {
            return Ok(checkout);
        }
        let turn = self.turn(&key);
        let _turn = turn.lock().await;
        // Another task may have made it in the meantime.
        if let Some(checkout) = self.cache.get(&key) {
            return Ok(checkout);
        }
        let started = std::time::Instant::now();
        let checkout = self.download(forge, repo, key).await?;
        tracing::info!(
            repository = repo.full_name(),
            commit,
            files = checkout.files,
            bytes = checkout.bytes,
            duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "copied a repository for agents"
        );
        Ok(checkout)
    }

    async fn paths(&self, checkout: &Checkout) -> Result<Vec<String>, CheckoutError> {
        let root = checkout.path.clone();
        blocking(move || list(&root).map_err(|error| disk(&error))).await
    }

    async fn read(
        &self,
        checkout: &Checkout,
        path: &str,
        max: u64,
    ) -> Result<Option<Vec<u8>>, CheckoutError> {
        let (root, path) = (checkout.path.clone(), path.to_owned());
        blocking(move || read_file(&root, &path, max).map_err(|error| disk(&error))).await
    }
}

/// Runs file system operations on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CheckoutError> + Send + 'static,
) -> Result<T, CheckoutError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(disk(&io::Error::other(error))))
}

/// Returns the paths of all files and links below `root`, sorted.
fn list(root: &Path) -> io::Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut pending = vec![String::new()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            // Paths of a copy are UTF-8.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let path = match folder.as_str() {
                "" => name,
                folder => format!("{folder}/{name}"),
            };
            if entry.file_type()?.is_dir() {
                pending.push(path);
            } else {
                paths.push(path);
            }
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

/// Reads a regular file below `root` with at most `max` bytes, without following links.
fn read_file(root: &Path, path: &str, max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut full = root.to_owned();
    let mut names = path.split('/').peekable();
    while let Some(name) = names.next() {
        if matches!(name, "" | "." | "..") || name.contains('\0') {
            return Ok(None);
        }
        full.push(name);
        let found = match fs::symlink_metadata(&full) {
            Ok(found) => found,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let is_last = names.peek().is_none();
        if (is_last && (!found.is_file() || found.len() > max)) || (!is_last && !found.is_dir()) {
            return Ok(None);
        }
    }
    regular_file::read(&full, max).map(Some)
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
    )
}
