//! The private folders of runs. Their names come from run ids only.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::Rooms;
use crate::engine::run::RunId;

/// The folder of a run. Ids are letters and digits; anything else names no folder.
pub(super) fn of(folder: &Path, run: &RunId) -> Option<PathBuf> {
    let name = run.0.as_str();
    let harmless =
        (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    harmless.then(|| folder.join(name))
}

/// The runs that have a folder. Only names that are run ids count: whatever else lies there is not ours.
pub(super) fn list(folder: &Path) -> io::Result<Vec<RunId>> {
    let mut runs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() && ulid::Ulid::from_string(&name).is_ok() {
            runs.push(RunId(name));
        }
    }
    runs.sort();
    Ok(runs)
}

/// Makes a run's rooms: the home is kept from turn to turn, the others are empty each time.
pub(super) fn prepare(run: &Path) -> io::Result<Rooms> {
    let rooms = Rooms {
        home: run.join("home"),
        work: run.join("work"),
        scratch: run.join("tmp"),
    };
    remove(&rooms.work)?;
    remove(&rooms.scratch)?;
    for room in [run, &rooms.home, &rooms.work, &rooms.scratch] {
        make_private(room)?;
    }
    Ok(rooms)
}

/// A folder for this user only, also where it was there before.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    open_up(folder)
}

/// Removes a folder with all that is in it. None there is fine.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    let again = match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            // An agent may take away its own right to change its folders.
            reopen(folder)?;
            fs::remove_dir_all(folder)
        }
        done => done,
    };
    match again {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Gives this user all rights on a folder and the folders in it. Links are not followed.
fn reopen(folder: &Path) -> io::Result<()> {
    open_up(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            reopen(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn open_up(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn open_up(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_run_id_that_is_a_path_names_no_folder() {
        let folder = Path::new("/agents");
        for id in [
            "",
            ".",
            "..",
            "../01ARZ",
            "a/b",
            ".lock",
            "a\0b",
            &"a".repeat(65),
        ] {
            assert_eq!(of(folder, &RunId(id.to_owned())), None, "{id:?}");
        }
        let id = RunId::new();
        assert_eq!(of(folder, &id), Some(folder.join(&id.0)));
    }

    #[test]
    fn only_folders_that_are_named_like_a_run_are_ever_tidied() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunId::new();
        for name in ["projects", ".lock", run.0.as_str()] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join(RunId::new().0), "a file").unwrap();
        assert_eq!(list(folder.path()).unwrap(), [run]);
    }

    #[cfg(unix)]
    #[test]
    fn rooms_are_private_the_home_stays_and_the_others_are_emptied() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let rooms = prepare(&run).unwrap();
        for room in [&run, &rooms.home, &rooms.work, &rooms.scratch] {
            let mode = fs::metadata(room).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", room.display());
            fs::write(room.join("left"), "").unwrap();
        }
        let closed = rooms.work.join("closed");
        fs::create_dir(&closed).unwrap();
        fs::write(closed.join("file"), "").unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        assert_eq!(prepare(&run).unwrap(), rooms);
        assert!(rooms.home.join("left").exists());
        for room in [&rooms.work, &rooms.scratch] {
            assert_eq!(fs::read_dir(room).unwrap().count(), 0);
        }
        remove(&run).unwrap();
        remove(&run).unwrap();
        assert!(!run.exists());
    }
}
