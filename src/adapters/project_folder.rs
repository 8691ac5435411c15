//! Writes to the folder of a project without ever leaving it.
//!
//! The project may come from a stranger: if, for example, `.planwright` is a symbolic link to
//! somewhere else, [cap-std](https://docs.rs/cap-std) refuses to follow it, even if it is created
//! in between. Paths are relative, with `/`.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use uuid::Uuid;

/// The folder of a project.
#[derive(Debug)]
pub struct ProjectFolder {
    root: Dir,
}

/// Why an operation in a project's folder failed.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder does not exist, or cannot be read.
    #[error("the folder {path} cannot be opened: {why}; create it first, or choose another")]
    Open {
        /// The path as given.
        path: String,
        /// The cause.
        why: io::Error,
    },
    /// A symbolic link leads out of the project.
    #[error(
        "{path} was not written: a symbolic link in its path leads out of the project's folder; replace it with a folder"
    )]
    Leaves {
        /// Path in the project.
        path: String,
    },
    /// A file is where a folder should be.
    #[error("{path} is not a folder; move it away")]
    NoFolder {
        /// Path in the project.
        path: String,
    },
    /// A file exists but cannot be read.
    #[error("{path} cannot be read: {why}; check that it is a text file that you can read")]
    Read {
        /// Path in the project.
        path: String,
        /// The cause.
        why: String,
    },
    /// Anything else.
    #[error("{path} cannot be written: {why}; check that you have write permission")]
    Write {
        /// Path in the project.
        path: String,
        /// The cause.
        why: io::Error,
    },
}

/// Why a file is not read whose path leaves the project.
pub(super) const ESCAPE: &str = "a symbolic link in its path leads out of the project's folder";

/// Whether a path leaves the folder. cap-std detects that itself, so the error has no error number
/// of the system, unlike one by the kernel.
pub(super) fn is_escape(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// Returns a function that turns an I/O error at `path` into a [`FolderError`].
fn failed(path: &str) -> impl Fn(io::Error) -> FolderError {
    move |why| {
        let path = path.to_owned();
        if is_escape(&why) {
            FolderError::Leaves { path }
        } else if why.kind() == ErrorKind::NotADirectory {
            FolderError::NoFolder { path }
        } else {
            FolderError::Write { path, why }
        }
    }
}

impl ProjectFolder {
    /// Opens the folder `root`, which may be a symbolic link itself.
    ///
    /// # Errors
    /// [`FolderError::Open`].
    pub fn open(root: &Path) -> Result<Self, FolderError> {
        match Dir::open_ambient_dir(root, ambient_authority()) {
            Ok(root) => Ok(Self { root }),
            Err(why) => Err(FolderError::Open {
                path: root.display().to_string(),
                why,
            }),
        }
    }

    /// Creates the folder `path` and its parents. Returns whether it was missing.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn make_folder(&self, path: &str) -> Result<bool, FolderError> {
        let mut is_new = false;
        let ends = path.match_indices('/').map(|(at, _)| at);
        for end in ends.chain([path.len()]) {
            let folder = &path[..end];
            is_new = match self.root.create_dir(folder) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if !self.root.metadata(folder).map_err(failed(folder))?.is_dir() {
                        return Err(FolderError::NoFolder {
                            path: folder.to_owned(),
                        });
                    }
                    false
                }
                created => created.map(|()| true).map_err(failed(folder))?,
            };
        }
        Ok(is_new)
    }

    /// Whether anything is at `path`, including a broken link.
    pub fn exists(&self, path: &str) -> bool {
        self.root.symlink_metadata(path).is_ok()
    }

    /// Lists the names in the folder `path`, unordered. Those that are not UTF-8 are left out.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(&self, path: &str) -> Result<Vec<String>, FolderError> {
        let entries = self.root.read_dir(path).map_err(failed(path))?;
        let names = entries.map(|entry| Ok(entry?.file_name().into_string().ok()));
        let names: io::Result<Vec<_>> = names.filter_map(Result::transpose).collect();
        names.map_err(failed(path))
    }

    /// Reads a text file. `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read, is not a file, is longer than `max_bytes`, or is not UTF-8.
    pub fn read(&self, path: &str, max_bytes: u64) -> Result<Option<String>, FolderError> {
        let why = match self.read_bytes(path, max_bytes).map(String::from_utf8) {
            Ok(Ok(text)) => return Ok(Some(text)),
            Ok(Err(_)) => "it is not UTF-8".to_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) if is_escape(&error) => ESCAPE.to_owned(),
            Err(error) => error.to_string(),
        };
        Err(FolderError::Read {
            path: path.to_owned(),
            why,
        })
    }

    fn read_bytes(&self, path: &str, max_bytes: u64) -> io::Result<Vec<u8>> {
        // Checked before opening: to open a pipe is to wait for its other end.
        if !self.root.metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let mut bytes = Vec::new();
        let file = self.root.open(path)?;
        file.take(max_bytes.saturating_add(1))
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_bytes {
            let why = format!("it is longer than {max_bytes} bytes");
            return Err(io::Error::other(why));
        }
        Ok(bytes)
    }

    /// Writes a new file. Returns `false`, and writes nothing, if something is there already.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_new(&self, path: &str, text: &str) -> Result<bool, FolderError> {
        match self.create_new(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            file => {
                let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
                written.map(|()| true).map_err(failed(path))
            }
        }
    }

    fn create_new(&self, path: &str) -> io::Result<cap_std::fs::File> {
        let mut options = OpenOptions::new();
        self.root
            .open_with(path, options.write(true).create_new(true))
    }

    /// Writes or overwrites a file atomically: a reader finds the complete old or new text, even
    /// after a crash. A link at `path` is replaced, not followed.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn overwrite(&self, path: &str, text: &str) -> Result<(), FolderError> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let slash = if folder.is_empty() { "" } else { "/" };
        let temporary = format!("{folder}{slash}.{name}.{}", Uuid::new_v4().simple());
        let write = || {
            let mut file = self.create_new(&temporary)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            self.root.rename(&temporary, &self.root, path)
        };
        write().map_err(|error| {
            // If this fails, too, the file that remains has a name that nothing reads.
            let _ = self.root.remove_file(&temporary);
            failed(path)(error)
        })
    }

    /// Writes a file in place of an existing one, which is kept as by [`Self::set_aside`]. Returns
    /// the path of the old file.
    ///
    /// # Errors
    /// It cannot be written, or there are too many old files.
    pub fn replace(&self, path: &str, text: &str) -> Result<String, FolderError> {
        let backup = self.set_aside(path)?;
        if !self.write_new(path, text)? {
            let why = "another process is writing it";
            return Err(failed(path)(io::Error::other(why)));
        }
        Ok(backup)
    }

    /// Renames the file `path` to the first free name of `path.bak`, `path.bak.2` and so on.
    /// Returns the new path.
    ///
    /// # Errors
    /// There is no such file, or there are too many old ones.
    pub fn set_aside(&self, path: &str) -> Result<String, FolderError> {
        let numbered = (2..100).map(|number| format!("{path}.bak.{number}"));
        let backup = std::iter::once(format!("{path}.bak"))
            .chain(numbered)
            .find(|backup| !self.exists(backup))
            .ok_or_else(|| io::Error::other("there are too many .bak files"))
            .map_err(failed(path))?;
        let renamed = self.root.rename(path, &self.root, &backup);
        renamed.map(|()| backup).map_err(failed(path))
    }

    /// Locks the file `path`, which is created if missing, until the returned file is dropped.
    /// `None` if it is locked already.
    ///
    /// # Errors
    /// It cannot be created or locked.
    pub fn try_lock(&self, path: &str) -> Result<Option<File>, FolderError> {
        let mut options = OpenOptions::new();
        // A pipe in its place must not block.
        let nonblock = OFlags::NONBLOCK.bits().cast_signed();
        options.write(true).create(true).custom_flags(nonblock);
        let file = self.root.open_with(path, &options);
        let file = file.map_err(failed(path))?.into_std();
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(path)(error)),
        }
    }

    /// Removes a folder and its contents. A missing one is not an error. Links are not followed.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove_folder(&self, path: &str) -> Result<(), FolderError> {
        match self.root.remove_dir_all(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(failed(path)),
        }
    }
}

#[cfg(test)]
mod tests;
