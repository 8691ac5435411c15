//! A project's folder, written to without ever leaving it and without writing over a file.
//!
//! The project may be a stranger's: a `.planwright` that is a symbolic link to somewhere else is refused by
//! [cap-std](https://docs.rs/cap-std), also when somebody puts it there meanwhile. Paths are relative, with `/`.

use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

mod keeping;

/// The folder of a project.
#[derive(Debug)]
pub struct ProjectFolder {
    root: Dir,
}

/// What could not be done in a project's folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// There is no such folder, or it may not be read.
    #[error("the folder {path} cannot be opened: {why}; make it first, or name another")]
    Open {
        /// As given.
        path: String,
        /// Why.
        why: io::Error,
    },
    /// A symbolic link leads out of the project.
    #[error(
        "{path} is not written: a symbolic link on the way leads out of the project's folder; put a folder in its place"
    )]
    Leaves {
        /// In the project.
        path: String,
    },
    /// A file is where a folder should be.
    #[error("{path} is no folder; move what is there away")]
    NoFolder {
        /// In the project.
        path: String,
    },
    /// A file is there and cannot be read.
    #[error("{path} cannot be read: {why}; see that a text of yours is there")]
    Read {
        /// In the project.
        path: String,
        /// Why.
        why: String,
    },
    /// Anything else.
    #[error("{path} cannot be written: {why}; see that you may write there")]
    Write {
        /// In the project.
        path: String,
        /// Why.
        why: io::Error,
    },
}

fn failed(path: &str, why: io::Error) -> FolderError {
    let path = path.to_owned();
    // The kernel has refused nothing here: only cap-std gives this without a number of the system's.
    if why.kind() == ErrorKind::PermissionDenied && why.raw_os_error().is_none() {
        FolderError::Leaves { path }
    } else if why.kind() == ErrorKind::NotADirectory {
        FolderError::NoFolder { path }
    } else {
        FolderError::Write { path, why }
    }
}

impl ProjectFolder {
    /// Opens the folder `root`; it may itself be a symbolic link.
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

    /// Makes the folder `path` and those above it. `false`: it was there.
    ///
    /// # Errors
    /// It is not there and cannot be made.
    pub fn make_folder(&self, path: &str) -> Result<bool, FolderError> {
        let mut made = false;
        let ends = path.match_indices('/').map(|(at, _)| at);
        for end in ends.chain([path.len()]) {
            let folder = &path[..end];
            made = match self.root.create_dir(folder) {
                Ok(()) => true,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    let about = self.root.metadata(folder);
                    if !about.map_err(|error| failed(folder, error))?.is_dir() {
                        return Err(FolderError::NoFolder {
                            path: folder.to_owned(),
                        });
                    }
                    false
                }
                Err(error) => return Err(failed(folder, error)),
            };
        }
        Ok(made)
    }

    /// Something is at `path`, be it a link that leads nowhere.
    pub fn holds(&self, path: &str) -> bool {
        self.root.symlink_metadata(path).is_ok()
    }

    /// Writes a new file. `false`: something is there already, and stays as it is.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_new(&self, path: &str, text: &str) -> Result<bool, FolderError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut file = match self.root.open_with(path, &options) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(failed(path, error)),
        };
        file.write_all(text.as_bytes())
            .map_err(|error| failed(path, error))?;
        Ok(true)
    }

    /// Writes a file anew. What was there is kept as `path` with `.bak`, or `.bak.2` and so on where that is taken; gives
    /// the path of what was kept.
    ///
    /// # Errors
    /// It cannot be written, or too many are kept already.
    pub fn replace(&self, path: &str, text: &str) -> Result<String, FolderError> {
        let kept = self.set_aside(path)?;
        if self.write_new(path, text)? {
            Ok(kept)
        } else {
            let why = "somebody else is writing it";
            Err(failed(path, io::Error::other(why)))
        }
    }

    /// Gives the file `path` the name that [`Self::replace`] keeps it under.
    ///
    /// # Errors
    /// It is not there, or too many are kept already.
    pub fn set_aside(&self, path: &str) -> Result<String, FolderError> {
        let names = (2..100).map(|number| format!("{path}.bak.{number}"));
        let kept = std::iter::once(format!("{path}.bak"))
            .chain(names)
            .find(|kept| !self.holds(kept))
            .ok_or_else(|| failed(path, io::Error::other("too many .bak files are beside it")))?;
        self.root
            .rename(path, &self.root, &kept)
            .map_err(|error| failed(path, error))?;
        Ok(kept)
    }

    /// Names of what is in the folder `path`, without an order; those that are not UTF-8 left out.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn names(&self, path: &str) -> Result<Vec<String>, FolderError> {
        let entries = self.root.read_dir(path);
        let entries = entries.map_err(|error| failed(path, error))?;
        entries
            .filter_map(|entry| match entry {
                Ok(entry) => entry.file_name().into_string().ok().map(Ok),
                Err(error) => Some(Err(failed(path, error))),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn folder() -> (tempfile::TempDir, ProjectFolder) {
        let root = tempfile::tempdir().unwrap();
        let folder = ProjectFolder::open(root.path()).unwrap();
        (root, folder)
    }

    #[test]
    fn what_is_there_stays_as_it_is() {
        let (root, folder) = folder();
        assert!(folder.make_folder("a/b").unwrap());
        assert!(!folder.make_folder("a/b").unwrap());
        assert!(folder.write_new("a/b/c.md", "first").unwrap());
        assert!(!folder.write_new("a/b/c.md", "second").unwrap());
        assert_eq!(folder.replace("a/b/c.md", "third").unwrap(), "a/b/c.md.bak");
        let read = |path: &str| std::fs::read_to_string(root.path().join(path)).unwrap();
        assert_eq!(
            (read("a/b/c.md.bak"), read("a/b/c.md")),
            ("first".into(), "third".into())
        );
        let mut names = folder.names("a/b").unwrap();
        names.sort();
        assert_eq!(names, ["c.md", "c.md.bak"]);
    }

    #[test]
    fn errors_name_the_path_and_the_remedy() {
        let (_root, folder) = folder();
        folder.write_new("file", "").unwrap();
        for (error, start, end) in [
            (
                folder.write_new("none/x", "").unwrap_err(),
                "none/x cannot be written: ",
                "; see that you may write there",
            ),
            (
                folder.make_folder("file/x").unwrap_err(),
                "file is no folder; ",
                "move what is there away",
            ),
            (
                folder.write_new("file/x", "").unwrap_err(),
                "file/x is no folder; ",
                "move what is there away",
            ),
            (
                folder.write_new("../x", "").unwrap_err(),
                "../x is not written: a symbolic link on the way leads out of the project's folder; ",
                "put a folder in its place",
            ),
            (
                ProjectFolder::open(Path::new("no such folder")).unwrap_err(),
                "the folder no such folder cannot be opened: ",
                "; make it first, or name another",
            ),
        ] {
            let error = error.to_string();
            assert!(error.starts_with(start) && error.ends_with(end), "{error}");
        }
        folder.write_new("file.bak", "").unwrap();
        for number in 2..100 {
            folder.write_new(&format!("file.bak.{number}"), "").unwrap();
        }
        assert_eq!(
            folder.replace("file", "").unwrap_err().to_string(),
            "file cannot be written: too many .bak files are beside it; see that you may write there"
        );
        assert!(folder.holds("file"));
    }
}
