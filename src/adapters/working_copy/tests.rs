//! Which files are loaded, and which are refused.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::fs;
use std::path::Path;

use super::*;

fn path(text: &str) -> ProjectPath {
    ProjectPath::parse(text).unwrap()
}

/// Loads each of `names` in the folder `root`.
fn load(root: &Path, names: &[&str]) -> LoadedFiles {
    let paths: Vec<ProjectPath> = names.iter().map(|name| path(name)).collect();
    WorkingCopy::open(root).unwrap().load(&paths)
}

#[test]
fn files_folders_and_missing_paths_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("docs")).unwrap();
    fs::write(root.join("docs/a.md"), "one\r\ntwo\n").unwrap();
    fs::write(root.join("latin"), b"caf\xe9").unwrap();
    fs::write(root.join("nul"), b"a\0b").unwrap();
    fs::write(root.join("empty"), b"").unwrap();
    let found = [
        ("docs/a.md", PathState::File("one\r\ntwo\n")),
        ("empty", PathState::File("")),
        ("docs", PathState::Folder),
        ("latin", PathState::Binary),
        ("nul", PathState::Binary),
        ("none", PathState::Missing),
        ("none/deep", PathState::Missing),
        ("docs/a.md/deep", PathState::Missing),
    ];
    let loaded = load(root, &found.map(|(name, _)| name));
    for (name, there) in found {
        assert_eq!(loaded.get(&path(name)), there, "{name}");
    }
    assert_eq!(
        loaded.get(&path("docs/b.md")),
        PathState::Unreadable("it was not read")
    );
}

#[test]
fn a_file_is_read_up_to_the_limit_and_not_beyond() {
    let folder = tempfile::tempdir().unwrap();
    for (name, length) in [("fits", MAX_FILE_BYTES), ("over", MAX_FILE_BYTES + 1)] {
        let file = fs::File::create(folder.path().join(name)).unwrap();
        let text = " ".repeat(usize::try_from(length).unwrap());
        io::Write::write_all(&mut &file, text.as_bytes()).unwrap();
    }
    let loaded = load(folder.path(), &["fits", "over"]);
    assert!(matches!(loaded.get(&path("fits")), PathState::File(_)));
    assert_eq!(loaded.get(&path("over")), PathState::TooLarge);
    let copy = WorkingCopy::open(folder.path()).unwrap();
    assert!(matches!(
        copy.load_file(&path("fits"), MAX_FILE_BYTES - 1),
        LoadedFile::TooLarge
    ));
}

#[test]
fn a_root_that_is_not_a_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(WorkingCopy::open(&folder.path().join("none")).is_err());
    assert!(WorkingCopy::open(&folder.path().join("file")).is_err());
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    const OUT: PathState<'_> =
        PathState::Unreadable("a symbolic link in its path leads out of the project's folder");

    #[test]
    fn links_are_followed_inside_and_refused_when_they_lead_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir_all(root.join("docs")).unwrap();
        fs::write(root.join("docs/a.md"), "inside").unwrap();
        fs::write(folder.path().join("secret"), "outside").unwrap();
        let inside = root.join("docs/a.md");
        symlink("docs/a.md", root.join("good")).unwrap();
        symlink("../docs", root.join("docs/again")).unwrap();
        symlink("../secret", root.join("file")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("file", root.join("second")).unwrap();
        symlink(folder.path().join("secret"), root.join("absolute")).unwrap();
        symlink(&inside, root.join("absolute-inside")).unwrap();
        symlink("../nothing", root.join("dangling-out")).unwrap();
        symlink("nothing", root.join("dangling")).unwrap();
        symlink("circle", root.join("circle")).unwrap();
        let found = [
            ("good", PathState::File("inside")),
            ("docs/again/a.md", PathState::File("inside")),
            ("dangling", PathState::Missing),
            ("file", OUT),
            ("up", OUT),
            ("up/secret", OUT),
            ("up/project/docs/a.md", OUT),
            ("second", OUT),
            ("absolute", OUT),
            ("absolute-inside", OUT),
            ("dangling-out", OUT),
        ];
        let loaded = load(&root, &found.map(|(name, _)| name));
        for (name, there) in found {
            assert_eq!(loaded.get(&path(name)), there, "{name}");
        }
        let circle = load(&root, &["circle"]);
        let PathState::Unreadable(reason) = circle.get(&path("circle")) else {
            panic!("{circle:?}");
        };
        assert!(reason.contains("symbolic links"), "{reason}");
    }

    #[test]
    fn the_root_may_be_a_link() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("real")).unwrap();
        fs::write(folder.path().join("real/a"), "text").unwrap();
        symlink("real", folder.path().join("link")).unwrap();
        let loaded = load(&folder.path().join("link"), &["a"]);
        assert_eq!(loaded.get(&path("a")), PathState::File("text"));
    }

    /// Opening a pipe without a writer would block for ever.
    #[cfg(target_os = "linux")]
    #[test]
    fn sockets_and_pipes_are_refused_without_blocking() {
        let folder = tempfile::tempdir().unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        let there = load(folder.path(), &["socket"]);
        assert_eq!(
            there.get(&path("socket")),
            PathState::Unreadable("it is neither a file nor a folder")
        );
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let copy = WorkingCopy::open(folder.path()).unwrap();
        assert!(open(&copy.root, "pipe", OFlags::empty()).is_ok());
        let there = load(folder.path(), &["pipe"]);
        assert_eq!(
            there.get(&path("pipe")),
            PathState::Unreadable("it is neither a file nor a folder")
        );
    }
}
