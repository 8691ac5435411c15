//! Files that a client gives its program, written into the private folders of a run.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use super::Rooms;

/// Writes `files`, mode 0600, into the rooms that are empty at the start of a turn. Anywhere else, or where something is
/// already, is an error: an agent of an earlier turn could have left a link there.
pub(super) fn place(rooms: &Rooms, files: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
    for (path, content) in files {
        if !inside(&rooms.work, path) && !inside(&rooms.scratch, path) {
            let text = format!("{} is in no empty folder of the run", path.display());
            return Err(io::Error::other(text));
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)?.write_all(content)?;
    }
    Ok(())
}

fn inside(room: &Path, path: &Path) -> bool {
    let rest = path.strip_prefix(room);
    rest.is_ok_and(|rest| {
        rest.components()
            .all(|part| matches!(part, Component::Normal(_)))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

    use super::*;

    fn rooms(folder: &Path) -> Rooms {
        let rooms = Rooms {
            home: folder.join("home"),
            work: folder.join("work"),
            scratch: folder.join("scratch"),
        };
        for room in [&rooms.home, &rooms.work, &rooms.scratch] {
            fs::create_dir(room).unwrap();
        }
        rooms
    }

    #[test]
    fn files_are_private_and_their_folders_are_made() {
        let folder = tempfile::tempdir().unwrap();
        let rooms = rooms(folder.path());
        let one = rooms.scratch.join("system.md");
        let two = rooms.work.join("a/b.txt");
        let files = [
            (one.clone(), b"one".to_vec()),
            (two.clone(), b"two".to_vec()),
        ];
        place(&rooms, &files).unwrap();
        assert_eq!(fs::read(&one).unwrap(), b"one");
        assert_eq!(fs::read(&two).unwrap(), b"two");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&one).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn what_is_there_already_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let rooms = rooms(folder.path());
        let file = rooms.scratch.join("system.md");
        fs::write(&file, "before").unwrap();
        let error = place(&rooms, &[(file.clone(), b"after".to_vec())]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&file).unwrap(), b"before");
    }

    #[test]
    fn only_the_empty_folders_of_the_run_are_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let rooms = rooms(folder.path());
        for path in [
            rooms.home.join("x"),
            folder.path().join("x"),
            rooms.work.join("../home/x"),
            rooms.scratch.join("../../x"),
        ] {
            let error = place(&rooms, &[(path.clone(), Vec::new())]).unwrap_err();
            let want = format!("{} is in no empty folder of the run", path.display());
            assert_eq!(error.to_string(), want);
            assert!(!path.exists());
        }
    }
}
