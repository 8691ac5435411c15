//! The private folders of runs. Their names come from run ids only.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::{RunDirs, files};
use crate::engine::agent::Document;
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

/// Makes the rooms of a part of a run: the home is kept from turn to turn, the others are empty each time.
pub(super) fn prepare(run: &Path, part: u32) -> io::Result<RunDirs> {
    let own = match part {
        0 => run.to_owned(),
        part => run.join(format!("part-{part}")),
    };
    let rooms = RunDirs {
        home: own.join("home"),
        work: own.join("work"),
        scratch: own.join("tmp"),
    };
    remove(&rooms.work)?;
    remove(&rooms.scratch)?;
    // An agent without a sandbox may have put a link there, to a folder that is not its own.
    if !fs::symlink_metadata(&rooms.home).is_ok_and(|found| found.is_dir()) {
        remove(&rooms.home)?;
    }
    for room in [run, &own, &rooms.home, &rooms.work, &rooms.scratch] {
        make_private(room)?;
    }
    Ok(rooms)
}

/// Keeps documents for a run, all of them or none; those of earlier are gone.
pub(super) fn give(run: &Path, documents: &[Document]) -> io::Result<()> {
    let coming = run.join("giving");
    remove(&coming)?;
    make_private(run)?;
    make_private(&coming)?;
    files::write(&coming, documents)?;
    let there = given(run);
    remove(&there)?;
    fs::rename(coming, there)
}

/// Where the documents of a run are kept.
pub(super) fn given(run: &Path) -> PathBuf {
    run.join("given")
}

/// A folder for this user only, also where it was there before.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    open_up(folder)
}

/// Removes a folder with all that is in it. None there is fine. Links are not followed, and folders that an agent has closed
/// for its user are opened again.
///
/// Folders in folders take neither stack nor descriptors, however deep they are: each comes up to the top before its turn.
/// `std::fs::remove_dir_all` ends the whole process where an agent has made some ten thousands.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if !found.is_dir() => return gone(fs::remove_file(folder)),
        Ok(_) => {}
    }
    open_up(folder)?;
    loop {
        let mut empty = true;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            empty = false;
            if entry.file_type()?.is_dir() {
                flatten(&entry.path(), folder)?;
            } else {
                gone(fs::remove_file(entry.path()))?;
            }
        }
        if empty {
            return gone(fs::remove_dir(folder));
        }
    }
}

/// Removes a folder; the folders in it come into `top`.
fn flatten(folder: &Path, top: &Path) -> io::Result<()> {
    open_up(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            // A folder that is closed cannot be moved.
            open_up(&path)?;
            fs::rename(&path, top.join(Uuid::new_v4().simple().to_string()))?;
        } else {
            gone(fs::remove_file(path))?;
        }
    }
    match fs::remove_dir(folder) {
        // Not every file system lists all while entries go; `top` is looked through again.
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
        done => gone(done),
    }
}

/// What is not there need not be removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
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
        let rooms = prepare(&run, 0).unwrap();
        for room in [&run, &rooms.home, &rooms.work, &rooms.scratch] {
            let mode = fs::metadata(room).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", room.display());
            fs::write(room.join("left"), "").unwrap();
        }
        let closed = rooms.work.join("closed");
        fs::create_dir(&closed).unwrap();
        fs::write(closed.join("file"), "").unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        assert_eq!(prepare(&run, 0).unwrap(), rooms);
        assert!(rooms.home.join("left").exists());
        for room in [&rooms.work, &rooms.scratch] {
            assert_eq!(fs::read_dir(room).unwrap().count(), 0);
        }
        remove(&run).unwrap();
        remove(&run).unwrap();
        assert!(!run.exists());
    }

    fn document(path: &str, text: &str) -> Document {
        Document {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn documents_are_kept_all_or_none_and_the_later_ones_take_the_place_of_the_earlier() {
        let place = tempfile::tempdir().unwrap();
        let run = place.path().join("run");
        assert!(!given(&run).exists());
        give(&run, &[document("a.md", "a"), document("in/b.md", "b")]).unwrap();
        let text = |path: &str| fs::read_to_string(given(&run).join(path)).ok();
        assert_eq!(
            (text("a.md"), text("in/b.md")),
            (Some("a".into()), Some("b".into()))
        );
        for path in ["../c.md", "/c.md", "in/../../c.md", "a.md/c.md"] {
            let both = [document("a.md", "new"), document(path, "c")];
            give(&run, &both).unwrap_err();
            assert_eq!(
                (text("a.md"), text("in/b.md")),
                (Some("a".into()), Some("b".into())),
                "{path}"
            );
            assert!(
                !run.join("c.md").exists() && !place.path().join("c.md").exists(),
                "{path}"
            );
        }
        give(&run, &[document("d.md", "d")]).unwrap();
        assert_eq!((text("a.md"), text("d.md")), (None, Some("d".into())));
        // The turns of the run leave them alone.
        prepare(&run, 0).unwrap();
        prepare(&run, 2).unwrap();
        assert_eq!(text("d.md"), Some("d".into()));
        give(&run, &[]).unwrap();
        assert!(given(&run).is_dir());
    }

    #[test]
    fn each_part_of_a_run_has_rooms_of_its_own() {
        let place = tempfile::tempdir().unwrap();
        let run = place.path().join("run");
        let all: Vec<RunDirs> = (0..3).map(|part| prepare(&run, part).unwrap()).collect();
        for (at, rooms) in all.iter().enumerate() {
            for room in [&rooms.home, &rooms.work, &rooms.scratch] {
                fs::write(room.join("own"), at.to_string()).unwrap();
            }
            let others = all.iter().enumerate().filter(|(other, _)| *other != at);
            for (_, other) in others {
                assert!(
                    !rooms.work.starts_with(&other.work) && !rooms.home.starts_with(&other.home)
                );
            }
        }
        // A new turn of one of them empties nothing of the others'.
        prepare(&run, 1).unwrap();
        assert!(!all[1].work.join("own").exists());
        assert!(all[0].work.join("own").exists() && all[2].work.join("own").exists());
    }

    #[cfg(unix)]
    #[test]
    fn folders_in_folders_do_not_exhaust_the_stack_when_they_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let name = |level: u32| place.path().join(level.to_string());
        fs::create_dir(name(0)).unwrap();
        // From the innermost one outwards, or the paths would be too long.
        for level in 1..2_000 {
            fs::create_dir(name(level)).unwrap();
            fs::rename(name(level - 1), name(level).join("in")).unwrap();
        }
        // A small stack in place of more folders: sixteen times as many are as much for one of usual size.
        let last = name(1_999);
        let thread = std::thread::Builder::new().stack_size(128 * 1024);
        let removed = thread.spawn(move || remove(&last)).unwrap();
        removed.join().unwrap().unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn links_that_an_agent_left_lead_nowhere() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let place = tempfile::tempdir().unwrap();
        let outside = place.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "kept").unwrap();
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&outside, open).unwrap();
        let run = place.path().join("run");
        let rooms = prepare(&run, 0).unwrap();
        for room in [&rooms.home, &rooms.work, &rooms.scratch] {
            symlink(&outside, room.join("link")).unwrap();
        }
        fs::create_dir(rooms.work.join("in")).unwrap();
        symlink(&outside, rooms.work.join("in/link")).unwrap();
        prepare(&run, 0).unwrap();
        for room in [&rooms.home, &rooms.work, &rooms.scratch] {
            fs::remove_dir_all(room).unwrap();
            symlink(&outside, room).unwrap();
        }
        prepare(&run, 0).unwrap();
        assert!(fs::symlink_metadata(&rooms.home).unwrap().is_dir());
        fs::remove_dir(&rooms.work).unwrap();
        fs::write(&rooms.work, "a file").unwrap();
        prepare(&run, 0).unwrap();
        remove(&run).unwrap();
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "kept");
        let mode = fs::metadata(&outside).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }
}
