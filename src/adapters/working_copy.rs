//! The files of a working copy that an action plan names, and its [`knowledge()`], read without ever leaving its folder.
//!
//! A plan is a stranger's text. Every path is resolved below the folder, step by step, by
//! [cap-std](https://docs.rs/cap-std): `..` and symbolic links are followed as long as they stay inside; one that leads
//! out, or that holds an absolute path, is refused, also when somebody changes it while it is followed.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};

use crate::formats::action_plan::ProjectPath;
use crate::formats::action_plan::check::{Files, Found};
use crate::regular_file;

mod knowledge;

pub use knowledge::{KnowledgeError, MOST_LISTED, knowledge};

/// Longest file whose text is loaded, in bytes: longer than sources are, and quickly searched.
pub const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;
/// Most bytes that are loaded for one plan. What would be more counts as too large.
pub const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The folder of a working copy.
#[derive(Debug)]
pub struct WorkingCopy {
    root: Dir,
}

impl WorkingCopy {
    /// Opens the folder `root`; it may itself be a symbolic link.
    ///
    /// # Errors
    /// There is no such folder, or it may not be read.
    pub fn open(root: &Path) -> io::Result<Self> {
        let root = Dir::open_ambient_dir(root, ambient_authority())?;
        Ok(Self { root })
    }

    /// Looks at `paths` and loads the files among them.
    pub fn load(&self, paths: &[ProjectPath]) -> Loaded {
        let mut left = MAX_BYTES;
        let mut found = HashMap::with_capacity(paths.len());
        for path in paths {
            let there = self.look(path, left.min(MAX_FILE_BYTES));
            if let There::Text(text) = &there {
                left = left.saturating_sub(text.len() as u64);
            }
            found.insert(path.clone(), there);
        }
        Loaded { found }
    }

    /// The bytes of the regular file at `path`, which is relative to the folder.
    ///
    /// # Errors
    /// It cannot be read, is something else, is longer than `most` bytes, or a symbolic link leads out of the folder.
    pub fn bytes(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let regular = |about: cap_std::fs::Metadata| {
            if about.is_file() {
                Ok(())
            } else {
                Err(io::Error::other("it is not a regular file"))
            }
        };
        let escape = |error: io::Error| {
            if is_escape(&error) {
                io::Error::other(ESCAPE)
            } else {
                error
            }
        };
        regular(self.root.metadata(path).map_err(escape)?)?;
        let file = open(&self.root, path, Follow::Inside).map_err(escape)?;
        regular(file.metadata()?)?;
        regular_file::read_all(file, most)
    }

    fn look(&self, path: &ProjectPath, most: u64) -> There {
        self.read(path, most)
            .unwrap_or_else(|error| match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => There::Missing,
                _ if is_escape(&error) => There::Unreadable(ESCAPE.to_owned()),
                _ => There::Unreadable(error.to_string()),
            })
    }

    fn read(&self, path: &ProjectPath, most: u64) -> io::Result<There> {
        let about = self.root.metadata(path.as_str())?;
        if about.is_dir() {
            return Ok(There::Folder);
        }
        if !about.is_file() {
            let reason = "it is neither a file nor a folder".to_owned();
            return Ok(There::Unreadable(reason));
        }
        if about.len() > most {
            return Ok(There::TooLarge);
        }
        let mut bytes = Vec::new();
        let file = open(&self.root, path.as_str(), Follow::Inside)?;
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Ok(There::TooLarge);
        }
        // As git has it: a NUL makes a file binary.
        Ok(match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => There::Text(text),
            _ => There::Binary,
        })
    }
}

/// Why a file is not read whose path leaves the folder.
const ESCAPE: &str = "a symbolic link on the way leads out of the project's folder";

/// The kernel has refused nothing here: only cap-std gives this without a number of the system's.
fn is_escape(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// Opens without waiting, should the file have become a pipe meanwhile; and without following a link at its end, where
/// that is wanted.
fn open(root: &Dir, path: impl AsRef<Path>, follow: Follow) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let mut flags = rustix::fs::OFlags::NONBLOCK;
        if follow == Follow::Never {
            flags |= rustix::fs::OFlags::NOFOLLOW;
        }
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    let _ = follow;
    root.open_with(path, &options)
}

/// What to do with a link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follow {
    /// Follow it as long as it stays below the root.
    Inside,
    /// Refuse it.
    Never,
}

/// What was found in a working copy.
#[derive(Debug)]
pub struct Loaded {
    found: HashMap<ProjectPath, There>,
}

#[derive(Debug)]
enum There {
    Text(String),
    Binary,
    TooLarge,
    Folder,
    Missing,
    Unreadable(String),
}

impl Files for Loaded {
    fn look(&self, path: &ProjectPath) -> Found<'_> {
        match self.found.get(path) {
            Some(There::Text(text)) => Found::File(text),
            Some(There::Binary) => Found::Binary,
            Some(There::TooLarge) => Found::TooLarge,
            Some(There::Folder) => Found::Folder,
            Some(There::Missing) => Found::Missing,
            Some(There::Unreadable(reason)) => Found::Unreadable(reason),
            None => Found::Unreadable("it was not looked at"),
        }
    }
}

#[cfg(test)]
mod tests;
