//! Private directories, and the files that go into them and come out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::os::unix::fs::symlink;

use super::*;

#[test]
fn a_run_id_that_is_a_path_has_no_directory() {
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
        assert_eq!(run_dir(folder, &RunId(id.to_owned())), None, "{id:?}");
    }
    let id = RunId::new();
    assert_eq!(run_dir(folder, &id), Some(folder.join(&id.0)));
}

#[test]
fn only_directories_named_like_a_run_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunId::new();
    for name in ["projects", ".lock", run.0.as_str()] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join(RunId::new().0), "a file").unwrap();
    assert_eq!(list_runs(folder.path()).unwrap(), [run]);
}

#[test]
fn directories_are_private_and_all_but_the_home_are_emptied() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let dirs = prepare(&run, 0).unwrap();
    for dir in [&run, &dirs.home, &dirs.work, &dirs.scratch] {
        let mode = fs::metadata(dir).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", dir.display());
        fs::write(dir.join("left"), "").unwrap();
    }
    let closed = dirs.work.join("closed");
    fs::create_dir(&closed).unwrap();
    fs::write(closed.join("file"), "").unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(prepare(&run, 0).unwrap(), dirs);
    assert!(dirs.home.join("left").exists());
    for dir in [&dirs.work, &dirs.scratch] {
        assert_eq!(fs::read_dir(dir).unwrap().count(), 0);
    }
    remove(&run).unwrap();
    remove(&run).unwrap();
    assert!(!run.exists());
}

#[test]
fn documents_are_stored_all_or_none_and_replace_earlier_ones() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("run");
    assert!(!documents_dir(&run).exists());
    store_documents(&run, &[document("a.md", "a"), document("in/b.md", "b")]).unwrap();
    let text = |path: &str| fs::read_to_string(documents_dir(&run).join(path)).ok();
    assert_eq!(
        (text("a.md"), text("in/b.md")),
        (Some("a".into()), Some("b".into()))
    );
    for path in ["../c.md", "/c.md", "in/../../c.md", "a.md/c.md"] {
        let both = [document("a.md", "new"), document(path, "c")];
        store_documents(&run, &both).unwrap_err();
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
    store_documents(&run, &[document("d.md", "d")]).unwrap();
    assert_eq!((text("a.md"), text("d.md")), (None, Some("d".into())));
    // Turns of the run do not touch them.
    prepare(&run, 0).unwrap();
    prepare(&run, 2).unwrap();
    assert_eq!(text("d.md"), Some("d".into()));
    store_documents(&run, &[]).unwrap();
    assert!(documents_dir(&run).is_dir());
}

#[test]
fn each_part_of_a_run_has_its_own_directories() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("run");
    let all: Vec<RunDirs> = (0..3).map(|part| prepare(&run, part).unwrap()).collect();
    for (at, dirs) in all.iter().enumerate() {
        for dir in [&dirs.home, &dirs.work, &dirs.scratch] {
            fs::write(dir.join("own"), at.to_string()).unwrap();
        }
        let others = all.iter().enumerate().filter(|(other, _)| *other != at);
        for (_, other) in others {
            assert!(!dirs.work.starts_with(&other.work) && !dirs.home.starts_with(&other.home));
        }
    }
    // A new turn of one part does not empty the directories of the others.
    prepare(&run, 1).unwrap();
    assert!(!all[1].work.join("own").exists());
    assert!(all[0].work.join("own").exists() && all[2].work.join("own").exists());
}

#[test]
fn removing_deeply_nested_directories_does_not_overflow_the_stack() {
    let place = tempfile::tempdir().unwrap();
    let name = |level: u32| place.path().join(level.to_string());
    fs::create_dir(name(0)).unwrap();
    // Built from the innermost outwards: the paths would be too long otherwise.
    for level in 1..2_000 {
        fs::create_dir(name(level)).unwrap();
        fs::rename(name(level - 1), name(level).join("in")).unwrap();
    }
    // A stack of a sixteenth of the usual size stands in for sixteen times the depth.
    let last = name(1_999);
    let thread = std::thread::Builder::new().stack_size(128 * 1024);
    let removed = thread.spawn(move || remove(&last)).unwrap();
    removed.join().unwrap().unwrap();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn links_left_by_an_agent_are_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let outside = place.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "kept").unwrap();
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&outside, open).unwrap();
    let run = place.path().join("run");
    let dirs = prepare(&run, 0).unwrap();
    for dir in [&dirs.home, &dirs.work, &dirs.scratch] {
        symlink(&outside, dir.join("link")).unwrap();
    }
    fs::create_dir(dirs.work.join("in")).unwrap();
    symlink(&outside, dirs.work.join("in/link")).unwrap();
    prepare(&run, 0).unwrap();
    for dir in [&dirs.home, &dirs.work, &dirs.scratch] {
        fs::remove_dir_all(dir).unwrap();
        symlink(&outside, dir).unwrap();
    }
    prepare(&run, 0).unwrap();
    assert!(fs::symlink_metadata(&dirs.home).unwrap().is_dir());
    fs::remove_dir(&dirs.work).unwrap();
    fs::write(&dirs.work, "a file").unwrap();
    prepare(&run, 0).unwrap();
    remove(&run).unwrap();
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "kept");
    let mode = fs::metadata(&outside).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

fn dirs(folder: &Path) -> RunDirs {
    let dirs = RunDirs {
        home: folder.join("home"),
        work: folder.join("work"),
        scratch: folder.join("scratch"),
    };
    for dir in [&dirs.home, &dirs.work, &dirs.scratch] {
        fs::create_dir(dir).unwrap();
    }
    dirs
}

#[test]
fn files_are_private_and_their_parents_are_created() {
    let folder = tempfile::tempdir().unwrap();
    let dirs = dirs(folder.path());
    let one = dirs.scratch.join("system.md");
    let two = dirs.work.join("a/b.txt");
    let files = [
        (one.clone(), b"one".to_vec()),
        (two.clone(), b"two".to_vec()),
    ];
    write_files(&dirs, &files).unwrap();
    assert_eq!(fs::read(&one).unwrap(), b"one");
    assert_eq!(fs::read(&two).unwrap(), b"two");
    let mode = fs::metadata(&one).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn existing_files_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let dirs = dirs(folder.path());
    let file = dirs.scratch.join("system.md");
    fs::write(&file, "before").unwrap();
    let error = write_files(&dirs, &[(file.clone(), b"after".to_vec())]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&file).unwrap(), b"before");
}

#[test]
fn two_threads_can_remove_the_same_directory() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("copy");
    for _ in 0..20 {
        for at in 0..30 {
            let deep = dir.join(format!("{at}/a/b"));
            fs::create_dir_all(&deep).unwrap();
            fs::write(deep.join("file"), "x").unwrap();
        }
        std::thread::scope(|scope| {
            let removals = [scope.spawn(|| remove(&dir)), scope.spawn(|| remove(&dir))];
            for removal in removals {
                removal.join().unwrap().unwrap();
            }
        });
        assert!(!dir.exists());
    }
}

#[test]
fn only_the_emptied_directories_are_written_to() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("run");
    fs::create_dir(&folder).unwrap();
    let dirs = dirs(&folder);
    for path in [
        dirs.home.join("x"),
        folder.join("x"),
        dirs.work.join("../home/x"),
        dirs.scratch.join("../../x"),
    ] {
        let error = write_files(&dirs, &[(path.clone(), Vec::new())]).unwrap_err();
        let want = format!("{} is in no empty folder of the run", path.display());
        assert_eq!(error.to_string(), want);
        assert!(!path.exists());
    }
}

fn document(path: &str, text: &str) -> Document {
    Document {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

fn put(path: &Path, text: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn paths(found: &[Document]) -> Vec<&str> {
    found.iter().map(|one| one.path.as_str()).collect()
}

#[test]
fn the_working_directory_gets_the_documents_and_the_agents_own_files() {
    let folder = tempfile::tempdir().unwrap();
    let dirs = dirs(folder.path());
    let given = folder.path().join("given");
    // A run without documents is not an error.
    fill_work(&given, &dirs, &[]).unwrap();
    put(&given.join("knowledge/001-a.md"), b"given");
    put(&given.join("plan.md"), b"given");
    fill_work(
        &given,
        &dirs,
        &[document("plan.md", "own"), document("docs/x.md", "x")],
    )
    .unwrap();
    let text = |path: &str| fs::read_to_string(dirs.work.join(path)).unwrap();
    assert_eq!(text("knowledge/001-a.md"), "given");
    assert_eq!(text("plan.md"), "own");
    assert_eq!(text("docs/x.md"), "x");
    assert_eq!(fs::read(given.join("plan.md")).unwrap(), b"given");
}

#[test]
fn a_document_never_leaves_its_directory() {
    let folder = tempfile::tempdir().unwrap();
    let dirs = dirs(folder.path());
    for path in [
        "../x.md",
        "a/../../x.md",
        "/tmp/planwright-x.md",
        "a/../b.md",
    ] {
        let error = write_documents(&dirs.work, &[document(path, "x")]).unwrap_err();
        let want = format!("{path:?} is not a path in the agent's folder");
        assert_eq!(error.to_string(), want);
    }
    assert_eq!(fs::read_dir(&dirs.work).unwrap().count(), 0);
    assert!(!folder.path().join("x.md").exists());
}

#[test]
fn markdown_files_are_collected_except_the_runs_own_documents() {
    let folder = tempfile::tempdir().unwrap();
    let dirs = dirs(folder.path());
    let given = folder.path().join("given");
    put(&given.join("knowledge/001-a.md"), b"given");
    fill_work(
        &given,
        &dirs,
        &[document("plan.md", "from the turn before")],
    )
    .unwrap();
    // The run's documents are left out even if the agent has changed them.
    put(&dirs.work.join("knowledge/001-a.md"), b"changed");
    put(&dirs.work.join("knowledge/own.md"), b"own");
    put(&dirs.work.join("notes.txt"), b"no document");
    put(&dirs.work.join("tmp/x.md"), b"in the working directory");
    put(&dirs.scratch.join("x.md"), b"in the scratch folder");
    put(&dirs.scratch.join("deep/y.md"), b"\xff bytes");
    put(
        &dirs
            .scratch
            .join(crate::adapters::agent::claude::SYSTEM_FILE),
        b"ours",
    );
    put(&dirs.home.join("z.md"), b"the client's");
    let found = collect_files(&given, &dirs, &[]).unwrap();
    let want = [
        "knowledge/own.md",
        "plan.md",
        "tmp/deep/y.md",
        "tmp/x.md",
        "tmp/x.md",
    ];
    assert_eq!(paths(&found), want);
    assert_eq!(found[2].text, "\u{fffd} bytes");
    let texts = [found[3].text.as_str(), found[4].text.as_str()];
    assert!(
        texts.contains(&"in the working directory") && texts.contains(&"in the scratch folder")
    );
}

#[test]
fn links_and_pipes_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let dirs = dirs(folder.path());
    let outside = folder.path().join("outside");
    put(&outside.join("secret.md"), b"secret");
    symlink(outside.join("secret.md"), dirs.work.join("link.md")).unwrap();
    symlink(&outside, dirs.work.join("folder")).unwrap();
    symlink(&dirs.work, dirs.work.join("round")).unwrap();
    let pipe = dirs.work.join("pipe.md");
    // Opening it would block for ever.
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    fs::create_dir(dirs.work.join("folder.md")).unwrap();
    put(&dirs.work.join("own.md"), b"own");
    let found = collect_files(&folder.path().join("given"), &dirs, &[]).unwrap();
    assert_eq!(found, [document("own.md", "own")]);
}

#[test]
fn deep_many_and_long_files_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let dirs = dirs(folder.path());
    let given = folder.path().join("given");
    let deepest = "d/".repeat(MAX_DEPTH);
    put(&dirs.work.join(format!("{deepest}in.md")), b"in");
    put(&dirs.work.join(format!("{deepest}d/out.md")), b"out");
    let found = collect_files(&given, &dirs, &[]).unwrap();
    assert_eq!(paths(&found), [format!("{deepest}in.md")]);
    let long = usize::try_from(MAX_FILE_BYTES).unwrap() + 1;
    put(&dirs.work.join("a.md"), &vec![b'x'; long]);
    for at in 0..MAX_FILES {
        put(&dirs.work.join(format!("b{at:02}.md")), b"x");
    }
    let found = collect_files(&given, &dirs, &[]).unwrap();
    // The file that is too long is skipped.
    assert_eq!(found.len(), MAX_FILES);
    assert_eq!(found[0].path, "b00.md");
    // Other files cannot crowd out a wanted one.
    put(&dirs.work.join("z.md"), b"wanted");
    let found = collect_files(&given, &dirs, &["z.md".to_owned()]).unwrap();
    assert_eq!((found.len(), found[0].path.as_str()), (MAX_FILES, "z.md"));
}
