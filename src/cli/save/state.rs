//! The local database of saved plans, which belongs to the user and is used by one process at a
//! time.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::adapters::clock::SystemClock;
use crate::adapters::store::{SqlStore, SqliteOptions};
use crate::cli::Failure;
use crate::engine::clock::Clock as _;
use crate::engine::store::{Store, StoreError};

/// The open database, which is locked until it is dropped.
pub(super) struct SaveState {
    store: Arc<SqlStore>,
    _lock: File,
}

impl SaveState {
    /// Opens the database below `$XDG_STATE_HOME`, or `~/.local/state`
    /// (<https://specifications.freedesktop.org/basedir-spec/latest/>).
    pub(super) async fn open() -> Result<Self, Failure> {
        let folder = of_user()?;
        let failed = |path: &Path, error: &dyn std::fmt::Display| {
            Failure::failed(format!(
                "{}: {error}; set XDG_STATE_HOME to a writable folder",
                path.display()
            ))
        };
        make(&folder).map_err(|error| failed(&folder, &error))?;
        let path = folder.join("saved.lock");
        let lock = File::create(&path).map_err(|error| failed(&path, &error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::failed(
                    "another `planwright save` is running on this computer; wait until it has finished",
                ));
            }
            Err(TryLockError::Error(error)) => return Err(failed(&path, &error)),
        }
        let path = folder.join("saved.db");
        let store = SqlStore::open_sqlite(&path, SqliteOptions::default(), SystemClock.now())
            .await
            .map_err(|error| match error {
                // This message contains its own remedy.
                StoreError::Lost(_) => Failure::failed(error.to_string()),
                error => failed(&path, &error),
            })?;
        Ok(Self {
            store: Arc::new(store),
            _lock: lock,
        })
    }

    /// Returns the database.
    pub(super) fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// Writes pending changes and closes the database.
    pub(super) async fn close(self) {
        self.store.close().await;
    }
}

/// Returns the program's directory below `$XDG_STATE_HOME` or `~/.local/state`.
pub(in crate::cli) fn of_user() -> Result<PathBuf, Failure> {
    folder(
        std::env::var_os("XDG_STATE_HOME").map(PathBuf::from),
        std::env::home_dir(),
    )
}

fn folder(state: Option<PathBuf>, home: Option<PathBuf>) -> Result<PathBuf, Failure> {
    // The specification requires relative paths to be ignored.
    let state = state.filter(|state| state.is_absolute());
    let below = state.or_else(|| home.map(|home| home.join(".local").join("state")));
    below.map(|state| state.join("planwright")).ok_or_else(|| {
        Failure::Usage(
            "there is no home directory in which to record saved plans; set XDG_STATE_HOME"
                .to_owned(),
        )
    })
}

/// Creates the directory for its owner only, because it contains plans.
pub(in crate::cli) fn make(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_folder_is_the_user_s() {
        let path = |text: &str| Some(PathBuf::from(text));
        let of = |state, home| folder(state, home).unwrap();
        assert_eq!(of(path("/s"), path("/h")), Path::new("/s/planwright"));
        assert_eq!(
            of(path("s"), path("/h")),
            Path::new("/h/.local/state/planwright")
        );
        assert_eq!(
            folder(None, None).unwrap_err().to_string(),
            "there is no home directory in which to record saved plans; set XDG_STATE_HOME"
        );
    }
}
