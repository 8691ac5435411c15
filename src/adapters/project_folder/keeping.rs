//! Files that are read again and written over: what a program keeps for itself in a project.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};

use cap_std::fs::OpenOptions;
use uuid::Uuid;

use super::{FolderError, ProjectFolder, failed};

impl ProjectFolder {
    /// The text of a file; `None` when it is not there.
    ///
    /// # Errors
    /// It cannot be read, is no file, is longer than `most` bytes, or is not UTF-8.
    pub fn read(&self, path: &str, most: u64) -> Result<Option<String>, FolderError> {
        match self.bytes(path, most) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(read_failed(path, "it is not UTF-8")),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            // The kernel has refused nothing here: only cap-std gives this without a number of the system's.
            Err(error)
                if error.kind() == ErrorKind::PermissionDenied
                    && error.raw_os_error().is_none() =>
            {
                let why = "a symbolic link on the way leads out of the project's folder";
                Err(read_failed(path, why))
            }
            Err(error) => Err(read_failed(path, &error.to_string())),
        }
    }

    fn bytes(&self, path: &str, most: u64) -> io::Result<Vec<u8>> {
        // Asked first: opening a pipe waits for its other end.
        if !self.root.metadata(path)?.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let mut bytes = Vec::new();
        let file = self.root.open(path)?;
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(io::Error::other(format!("it is longer than {most} bytes")));
        }
        Ok(bytes)
    }

    /// Writes a file, over what is there, in one step: whoever reads it, also after a crash, finds the old text or the new
    /// one, whole. A link at `path` is replaced, not followed.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_over(&self, path: &str, text: &str) -> Result<(), FolderError> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let slash = if folder.is_empty() { "" } else { "/" };
        let beside = format!("{folder}{slash}.{name}.{}", Uuid::new_v4().simple());
        let written = self.place(&beside, path, text);
        if written.is_err() {
            // What is left there has a name that nothing reads.
            let _ = self.root.remove_file(&beside);
        }
        written.map_err(|error| failed(path, error))
    }

    fn place(&self, beside: &str, path: &str, text: &str) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut file = self.root.open_with(beside, &options)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        self.root.rename(beside, &self.root, path)
    }

    /// Holds the file `path`, made where it is missing, as long as what this gives lives. `None`: another process holds it.
    ///
    /// # Errors
    /// It cannot be made or held.
    pub fn hold(&self, path: &str) -> Result<Option<File>, FolderError> {
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        // A pipe in its place must not be waited for.
        #[cfg(unix)]
        {
            let nonblock = rustix::fs::OFlags::NONBLOCK.bits();
            cap_std::fs::OpenOptionsExt::custom_flags(&mut options, nonblock.cast_signed());
        }
        let file = self.root.open_with(path, &options);
        let file = file.map_err(|error| failed(path, error))?.into_std();
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(path, error)),
        }
    }

    /// Removes a folder with all that is in it; links are not followed. None there is fine.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove_folder(&self, path: &str) -> Result<(), FolderError> {
        match self.root.remove_dir_all(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(path, error)),
            _ => Ok(()),
        }
    }
}

fn read_failed(path: &str, why: &str) -> FolderError {
    FolderError::Read {
        path: path.to_owned(),
        why: why.to_owned(),
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
    fn a_file_is_written_over_in_one_step_and_nothing_is_left_beside_it() {
        let (root, folder) = folder();
        folder.make_folder("a").unwrap();
        assert_eq!(folder.read("a/b", 9).unwrap(), None);
        for text in ["one", "two"] {
            folder.write_over("a/b", text).unwrap();
            assert_eq!(folder.read("a/b", 3).unwrap().as_deref(), Some(text));
        }
        assert_eq!(folder.names("a").unwrap(), ["b"]);
        std::fs::create_dir(root.path().join("a/c")).unwrap();
        assert!(folder.write_over("a/c", "x").is_err());
        assert_eq!(folder.names("a").unwrap().len(), 2);
        folder.remove_folder("a").unwrap();
        folder.remove_folder("a").unwrap();
        assert!(!folder.holds("a"));
    }

    #[test]
    fn what_cannot_be_read_is_said_with_the_remedy() {
        let (root, folder) = folder();
        folder.write_new("long", "1234").unwrap();
        std::fs::write(root.path().join("odd"), [0xff]).unwrap();
        for (path, why) in [
            ("long", "it is longer than 3 bytes"),
            ("odd", "it is not UTF-8"),
            (".", "it is no file"),
        ] {
            assert_eq!(
                folder.read(path, 3).unwrap_err().to_string(),
                format!("{path} cannot be read: {why}; see that a text of yours is there")
            );
        }
    }

    #[test]
    fn a_file_is_held_by_one_at_a_time() {
        let (_root, folder) = folder();
        let held = folder.hold("lock").unwrap();
        assert!(held.is_some());
        assert!(folder.hold("lock").unwrap().is_none());
        drop(held);
        assert!(folder.hold("lock").unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_is_neither_read_nor_written_through() {
        use std::os::unix::fs::symlink;
        let (root, folder) = folder();
        let outside = tempfile::tempdir().unwrap();
        let secret = outside.path().join("secret");
        std::fs::write(&secret, "kept").unwrap();
        symlink(&secret, root.path().join("link")).unwrap();
        symlink(outside.path(), root.path().join("away")).unwrap();
        assert_eq!(
            folder.read("link", 9).unwrap_err().to_string(),
            "link cannot be read: a symbolic link on the way leads out of the project's folder; see that a text of yours is \
             there"
        );
        for error in [
            folder.write_over("away/x", "x").unwrap_err(),
            folder.hold("away/lock").unwrap_err(),
            folder.remove_folder("away/x").unwrap_err(),
        ] {
            assert!(matches!(error, FolderError::Leaves { .. }), "{error}");
        }
        folder.write_over("link", "ours").unwrap();
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "kept");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    }
}
