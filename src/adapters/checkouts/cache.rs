//! The folder of the copies: which exist, which are in use, and which are removed.
//!
//! ```text
//! repository-copies/
//!   <id of the repository>-<commit>/
//!     files/           the copy, read-only
//!     manifest.json    written last, before the folder gets its name
//!   .new-<random>      being unpacked
//!   .old-<random>      being removed
//! ```

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::unpack::{Unpacked, disk};
use crate::adapters::agent::{make_private, remove};
use crate::engine::checkout::{Checkout, CheckoutError, LeftOut};
use crate::regular_file;

/// Version of the manifest and of what [`super::unpack`] makes. Copies of other versions are
/// removed.
const VERSION: u32 = 1;

/// Maximum size of a manifest, in bytes. A hundred left-out paths take far less.
const MAX_MANIFEST: u64 = 1024 * 1024;

const MANIFEST: &str = "manifest.json";
const FILES: &str = "files";

/// The repository and the commit of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    /// Id of the repository.
    pub(super) repository: u64,
    /// Full SHA of the commit.
    pub(super) commit: String,
}

impl Key {
    /// Creates a key. Returns `None` if the commit is not a full SHA.
    pub(super) fn new(repository: u64, commit: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_sha = matches!(commit.len(), 40 | 64) && commit.bytes().all(plain);
        is_sha.then(|| Self {
            repository,
            commit: commit.to_owned(),
        })
    }

    fn name(&self) -> String {
        format!("{}-{}", self.repository, self.commit)
    }

    fn of_name(name: &str) -> Option<Self> {
        let (repository, commit) = name.split_once('-')?;
        let key = Self::new(repository.parse().ok()?, commit)?;
        (key.name() == name).then_some(key)
    }
}

/// What a later process needs to know of a copy.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Manifest {
    version: u32,
    /// The start of the system that wrote the files. After a crash of the system, files may be
    /// empty, because they are not forced to disk one by one.
    boot: String,
    /// The settings that decide what a copy contains.
    rules: String,
    files: u64,
    bytes: u64,
    disk: u64,
    left_out: Vec<LeftOut>,
}

struct Entry {
    manifest: Manifest,
    /// Number of [`Hold`]s.
    holds: usize,
    /// Number of the last use.
    used: u64,
}

#[derive(Default)]
struct State {
    entries: HashMap<Key, Entry>,
    uses: u64,
}

impl State {
    fn disk(&self) -> u64 {
        let sizes = self.entries.values().map(|entry| entry.manifest.disk);
        sizes.fold(0, u64::saturating_add)
    }
}

/// The folder of the copies.
pub(super) struct Cache {
    folder: PathBuf,
    max_disk: u64,
    rules: String,
    boot: String,
    state: Mutex<State>,
}

impl Cache {
    /// Opens the folder, and removes what an earlier process left incomplete, what was made by
    /// other `rules` and what exceeds `max_disk` bytes.
    pub(super) fn open(folder: &Path, max_disk: u64, rules: String) -> io::Result<Arc<Self>> {
        make_private(folder)?;
        let cache = Arc::new(Self {
            folder: folder.canonicalize()?,
            max_disk,
            rules,
            boot: boot(),
            state: Mutex::default(),
        });
        let mut found = Vec::new();
        for entry in fs::read_dir(&cache.folder)? {
            let entry = entry?;
            let key = entry.file_name().to_str().and_then(Key::of_name);
            match key.and_then(|key| Some((cache.manifest(&entry.path())?, key))) {
                Some(((written, manifest), key)) => found.push((written, key, manifest)),
                None => remove(&entry.path())?,
            }
        }
        found.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let mut state = cache.state();
        for (_, key, manifest) in found {
            state.insert(key, manifest);
        }
        let surplus = cache.evict(&mut state);
        drop(state);
        for path in surplus {
            remove(&path)?;
        }
        Ok(cache)
    }

    /// Returns the manifest of a copy that can be used, and when it was written.
    fn manifest(&self, path: &Path) -> Option<(SystemTime, Manifest)> {
        let file = path.join(MANIFEST);
        let written = fs::symlink_metadata(&file).ok()?.modified().ok()?;
        let manifest = regular_file::read(&file, MAX_MANIFEST).ok()?;
        let manifest: Manifest = serde_json::from_slice(&manifest).ok()?;
        let is_current = manifest.version == VERSION
            && manifest.rules == self.rules
            && !manifest.boot.is_empty()
            && manifest.boot == self.boot
            && path.join(FILES).is_dir();
        is_current.then_some((written, manifest))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(key.name())
    }

    /// Returns the copy if it exists.
    pub(super) fn get(self: &Arc<Self>, key: &Key) -> Option<Checkout> {
        let mut state = self.state();
        state.entries.get(key)?;
        if !self.path(key).join(FILES).is_dir() {
            // Somebody has emptied the folder.
            state.entries.remove(key);
            return None;
        }
        Some(self.hold(&mut state, key))
    }

    /// Creates the folder in which a copy is unpacked. It is removed with the result unless
    /// [`Cache::keep`] gets it.
    pub(super) fn begin(self: &Arc<Self>) -> Result<New, CheckoutError> {
        let path = self.unused("new");
        fs::create_dir(&path).map_err(|error| disk(&error))?;
        Ok(New {
            path,
            is_kept: false,
        })
    }

    fn unused(&self, kind: &str) -> PathBuf {
        let random = Uuid::new_v4().simple();
        self.folder.join(format!(".{kind}-{random}"))
    }

    /// Adds an unpacked copy, and removes others if there are too many.
    pub(super) fn keep(
        self: &Arc<Self>,
        key: &Key,
        mut new: New,
        unpacked: Unpacked,
    ) -> Result<Checkout, CheckoutError> {
        let manifest = Manifest {
            version: VERSION,
            boot: self.boot.clone(),
            rules: self.rules.clone(),
            files: unpacked.files,
            bytes: unpacked.bytes,
            disk: unpacked.disk,
            left_out: unpacked.left_out,
        };
        let text = serde_json::to_vec(&manifest)
            .map_err(|error| CheckoutError::Disk(error.to_string()))?;
        fs::write(new.path.join(MANIFEST), text).map_err(|error| disk(&error))?;
        let mut state = self.state();
        if !state.entries.contains_key(key) {
            let mut surplus = Vec::new();
            self.set_aside(key, &mut surplus);
            remove_later(surplus);
            fs::rename(&new.path, self.path(key)).map_err(|error| disk(&error))?;
            new.is_kept = true;
            state.insert(key.clone(), manifest);
        }
        let checkout = self.hold(&mut state, key);
        let surplus = self.evict(&mut state);
        drop(state);
        remove_later(surplus);
        Ok(checkout)
    }

    /// Marks an existing copy as used.
    fn hold(self: &Arc<Self>, state: &mut State, key: &Key) -> Checkout {
        state.uses += 1;
        let uses = state.uses;
        let mut checkout = Checkout {
            path: self.path(key).join(FILES),
            commit: key.commit.clone(),
            files: 0,
            bytes: 0,
            left_out: Vec::new(),
            hold: Box::new(Hold {
                cache: Arc::clone(self),
                key: key.clone(),
            }),
        };
        if let Some(entry) = state.entries.get_mut(key) {
            entry.used = uses;
            entry.holds += 1;
            checkout.files = entry.manifest.files;
            checkout.bytes = entry.manifest.bytes;
            checkout.left_out.clone_from(&entry.manifest.left_out);
        }
        checkout
    }

    fn release(&self, key: &Key) {
        let mut state = self.state();
        if let Some(entry) = state.entries.get_mut(key) {
            entry.holds = entry.holds.saturating_sub(1);
        }
        let surplus = self.evict(&mut state);
        drop(state);
        remove_later(surplus);
    }

    /// Takes copies that are not in use out of the cache, least recently used first, until the rest
    /// fits. Returns the folders to remove.
    fn evict(&self, state: &mut State) -> Vec<PathBuf> {
        let mut surplus = Vec::new();
        while state.disk() > self.max_disk {
            let unused = state.entries.iter().filter(|(_, entry)| entry.holds == 0);
            let oldest = unused.min_by_key(|(_, entry)| entry.used);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else {
                break;
            };
            state.entries.remove(&key);
            self.set_aside(&key, &mut surplus);
        }
        surplus
    }

    /// Renames a folder, so that nothing uses it any more.
    fn set_aside(&self, key: &Key, surplus: &mut Vec<PathBuf>) {
        let old = self.unused("old");
        match fs::rename(self.path(key), &old) {
            Ok(()) => surplus.push(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let copy = key.name();
                tracing::warn!(%error, copy, "a copy of a repository cannot be removed");
            }
        }
    }
}

impl State {
    fn insert(&mut self, key: Key, manifest: Manifest) {
        self.uses += 1;
        let entry = Entry {
            manifest,
            holds: 0,
            used: self.uses,
        };
        self.entries.insert(key, entry);
    }
}

/// A folder in which a copy is unpacked. Dropping it removes the folder.
pub(super) struct New {
    path: PathBuf,
    is_kept: bool,
}

impl New {
    /// Returns the path of the files, which does not exist yet.
    pub(super) fn files(&self) -> PathBuf {
        self.path.join(FILES)
    }
}

impl Drop for New {
    fn drop(&mut self) {
        if !self.is_kept
            && let Err(error) = remove(&self.path)
        {
            tracing::warn!(%error, "an incomplete copy of a repository cannot be removed");
        }
    }
}

/// Keeps a copy from being removed.
#[derive(Clone)]
struct Hold {
    cache: Arc<Cache>,
    key: Key,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.cache.release(&self.key);
    }
}

/// Removes folders on another thread, because a large copy takes seconds. What remains is removed
/// at the next start.
fn remove_later(paths: Vec<PathBuf>) {
    if paths.is_empty() {
        return;
    }
    let removing = move || {
        for path in paths {
            if let Err(error) = remove(&path) {
                tracing::warn!(%error, "a copy of a repository cannot be removed");
            }
        }
    };
    let started = std::thread::Builder::new()
        .name("remove-copies".to_owned())
        .spawn(removing);
    if let Err(error) = started {
        tracing::warn!(%error, "copies of repositories cannot be removed now");
    }
}

/// Returns the id of the start of the system; empty if there is none.
fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.map(|id| id.trim().to_owned()).unwrap_or_default()
}
