//! What is written, what is kept, and what is refused.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::os::unix::fs::symlink;

use super::*;

fn folder() -> (tempfile::TempDir, ProjectFolder) {
    let root = tempfile::tempdir().unwrap();
    let folder = ProjectFolder::open(root.path()).unwrap();
    (root, folder)
}

#[test]
fn existing_files_are_kept() {
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
            "; check that you have write permission",
        ),
        (
            folder.make_folder("file/x").unwrap_err(),
            "file is not a folder; ",
            "move it away",
        ),
        (
            folder.write_new("file/x", "").unwrap_err(),
            "file/x is not a folder; ",
            "move it away",
        ),
        (
            folder.write_new("../x", "").unwrap_err(),
            "../x was not written: a symbolic link in its path leads out of the project's folder; ",
            "replace it with a folder",
        ),
        (
            ProjectFolder::open(Path::new("no such folder")).unwrap_err(),
            "the folder no such folder cannot be opened: ",
            "; create it first, or choose another",
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
        "file cannot be written: there are too many .bak files; check that you have write permission"
    );
    assert!(folder.exists("file"));
}

#[test]
fn a_file_is_overwritten_without_leaving_temporary_files() {
    let (root, folder) = folder();
    folder.make_folder("a").unwrap();
    assert_eq!(folder.read("a/b", 9).unwrap(), None);
    for text in ["one", "two"] {
        folder.overwrite("a/b", text).unwrap();
        assert_eq!(folder.read("a/b", 3).unwrap().as_deref(), Some(text));
    }
    assert_eq!(folder.names("a").unwrap(), ["b"]);
    std::fs::create_dir(root.path().join("a/c")).unwrap();
    assert!(folder.overwrite("a/c", "x").is_err());
    assert_eq!(folder.names("a").unwrap().len(), 2);
    folder.remove_folder("a").unwrap();
    folder.remove_folder("a").unwrap();
    assert!(!folder.exists("a"));
}

#[test]
fn errors_of_reading_name_the_cause_and_the_remedy() {
    let (root, folder) = folder();
    folder.write_new("long", "1234").unwrap();
    std::fs::write(root.path().join("odd"), [0xff]).unwrap();
    for (path, why) in [
        ("long", "it is longer than 3 bytes"),
        ("odd", "it is not UTF-8"),
        (".", "it is not a file"),
    ] {
        assert_eq!(
            folder.read(path, 3).unwrap_err().to_string(),
            format!("{path} cannot be read: {why}; check that it is a text file that you can read")
        );
    }
}

#[test]
fn a_file_is_locked_only_once() {
    let (_root, folder) = folder();
    let held = folder.try_lock("lock").unwrap();
    assert!(held.is_some());
    assert!(folder.try_lock("lock").unwrap().is_none());
    drop(held);
    assert!(folder.try_lock("lock").unwrap().is_some());
}

#[test]
fn links_that_lead_out_are_neither_read_nor_written_through() {
    let (root, folder) = folder();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "kept").unwrap();
    symlink(&secret, root.path().join("link")).unwrap();
    symlink(outside.path(), root.path().join("away")).unwrap();
    assert_eq!(
        folder.read("link", 9).unwrap_err().to_string(),
        "link cannot be read: a symbolic link in its path leads out of the project's folder; check \
         that it is a text file that you can read"
    );
    for error in [
        folder.overwrite("away/x", "x").unwrap_err(),
        folder.try_lock("away/lock").unwrap_err(),
        folder.remove_folder("away/x").unwrap_err(),
    ] {
        assert!(matches!(error, FolderError::Leaves { .. }), "{error}");
    }
    folder.overwrite("link", "ours").unwrap();
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "kept");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}
