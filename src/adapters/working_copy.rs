//! Reads the files of a working copy that an action plan names, and its [`knowledge()`], without
//! ever leaving its folder.
//!
//! Plans come from strangers. Every path is resolved below the folder, component by component, by
//! [cap-std](https://docs.rs/cap-std): `..` and symbolic links are followed as long as they stay
//! inside. A path or link that leads out is refused, even if it changes while it is being resolved.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

use super::project_folder::{ESCAPE, is_escape};
use crate::formats::action_plan::ProjectPath;
use crate::formats::action_plan::check::{PathState, ProjectFiles};
use crate::regular_file;

mod knowledge;

pub use knowledge::{KnowledgeError, knowledge};

/// Maximum size of a file whose text is loaded, in bytes. Source files are shorter, and a file of
/// this size can still be searched quickly.
pub const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;
/// Maximum number of bytes loaded for one plan. Files beyond it count as too large.
pub const MAX_TOTAL_BYTES: u64 = 256 * 1024 * 1024;

/// The folder of a working copy.
#[derive(Debug)]
pub struct WorkingCopy {
    root: Dir,
}

impl WorkingCopy {
    /// Opens the folder `root`, which may be a symbolic link itself.
    ///
    /// # Errors
    /// The folder does not exist, or cannot be read.
    pub fn open(root: &Path) -> io::Result<Self> {
        let root = Dir::open_ambient_dir(root, ambient_authority())?;
        Ok(Self { root })
    }

    /// Loads the files at `paths`, as far as they are text files.
    pub fn load(&self, paths: &[ProjectPath]) -> LoadedFiles {
        let mut remaining = MAX_TOTAL_BYTES;
        let mut files = HashMap::with_capacity(paths.len());
        for path in paths {
            let file = self.load_file(path, remaining.min(MAX_FILE_BYTES));
            if let LoadedFile::Text(text) = &file {
                remaining = remaining.saturating_sub(text.len() as u64);
            }
            files.insert(path.clone(), file);
        }
        LoadedFiles { files }
    }

    /// Reads the regular file at `path`, which is relative to the folder.
    ///
    /// # Errors
    /// It cannot be read, is not a regular file, is longer than `max_bytes`, or a symbolic link
    /// leads out of the folder.
    pub fn bytes(&self, path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
        let check = |metadata: Metadata| {
            if metadata.is_file() {
                Ok(())
            } else {
                Err(io::Error::other("it is not a regular file"))
            }
        };
        let explain = |error: io::Error| {
            if is_escape(&error) {
                io::Error::other(ESCAPE)
            } else {
                error
            }
        };
        check(self.root.metadata(path).map_err(explain)?)?;
        let file = open(&self.root, path, OFlags::empty()).map_err(explain)?;
        check(file.metadata()?)?;
        regular_file::read_all(file, max_bytes)
    }

    fn load_file(&self, path: &ProjectPath, max_bytes: u64) -> LoadedFile {
        self.try_load_file(path, max_bytes)
            .unwrap_or_else(|error| match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => LoadedFile::Missing,
                _ if is_escape(&error) => LoadedFile::Unreadable(ESCAPE.to_owned()),
                _ => LoadedFile::Unreadable(error.to_string()),
            })
    }

    fn try_load_file(&self, path: &ProjectPath, max_bytes: u64) -> io::Result<LoadedFile> {
        let metadata = self.root.metadata(path.as_str())?;
        if metadata.is_dir() {
            return Ok(LoadedFile::Folder);
        }
        if !metadata.is_file() {
            let reason = "it is neither a file nor a folder".to_owned();
            return Ok(LoadedFile::Unreadable(reason));
        }
        if metadata.len() > max_bytes {
            return Ok(LoadedFile::TooLarge);
        }
        let file = open(&self.root, path.as_str(), OFlags::empty())?;
        let Some(bytes) = read_up_to(file, max_bytes)? else {
            return Ok(LoadedFile::TooLarge);
        };
        // Like git, take a file with a NUL for binary.
        Ok(match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => LoadedFile::Text(text),
            _ => LoadedFile::Binary,
        })
    }
}

/// Opens a file for reading. Does not block if it has become a pipe in the meantime.
fn open(root: &Dir, path: impl AsRef<Path>, flags: OFlags) -> io::Result<File> {
    let flags = (flags | OFlags::NONBLOCK).bits().cast_signed();
    root.open_with(path, OpenOptions::new().read(true).custom_flags(flags))
}

/// Reads a file. `None` if it is longer than `max_bytes`.
fn read_up_to(file: File, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= max_bytes))
}

/// The files that were loaded from a working copy.
#[derive(Debug)]
pub struct LoadedFiles {
    files: HashMap<ProjectPath, LoadedFile>,
}

#[derive(Debug)]
enum LoadedFile {
    Text(String),
    Binary,
    TooLarge,
    Folder,
    Missing,
    Unreadable(String),
}

impl ProjectFiles for LoadedFiles {
    fn get(&self, path: &ProjectPath) -> PathState<'_> {
        match self.files.get(path) {
            Some(LoadedFile::Text(text)) => PathState::File(text),
            Some(LoadedFile::Binary) => PathState::Binary,
            Some(LoadedFile::TooLarge) => PathState::TooLarge,
            Some(LoadedFile::Folder) => PathState::Folder,
            Some(LoadedFile::Missing) => PathState::Missing,
            Some(LoadedFile::Unreadable(reason)) => PathState::Unreadable(reason),
            None => PathState::Unreadable("it was not read"),
        }
    }
}

#[cfg(test)]
mod tests;
