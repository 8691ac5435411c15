//! Files that go into the folders of a run, and those that come out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;

fn rooms(folder: &Path) -> RunDirs {
    let rooms = RunDirs {
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
fn the_working_directory_is_furnished_with_what_is_given_and_the_agents_own() {
    let folder = tempfile::tempdir().unwrap();
    let rooms = rooms(folder.path());
    let given = folder.path().join("given");
    // Where nothing is given there is nothing to put there.
    furnish(&given, &rooms, &[]).unwrap();
    put(&given.join("knowledge/001-a.md"), b"given");
    put(&given.join("plan.md"), b"given");
    furnish(
        &given,
        &rooms,
        &[document("plan.md", "own"), document("docs/x.md", "x")],
    )
    .unwrap();
    let text = |path: &str| fs::read_to_string(rooms.work.join(path)).unwrap();
    assert_eq!(text("knowledge/001-a.md"), "given");
    assert_eq!(text("plan.md"), "own");
    assert_eq!(text("docs/x.md"), "x");
    assert_eq!(fs::read(given.join("plan.md")).unwrap(), b"given");
}

#[test]
fn a_document_never_leaves_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let rooms = rooms(folder.path());
    for path in [
        "../x.md",
        "a/../../x.md",
        "/tmp/planwright-x.md",
        "a/../b.md",
    ] {
        let error = write(&rooms.work, &[document(path, "x")]).unwrap_err();
        let want = format!("{path:?} is no path in the agent's folder");
        assert_eq!(error.to_string(), want);
    }
    assert_eq!(fs::read_dir(&rooms.work).unwrap().count(), 0);
    assert!(!folder.path().join("x.md").exists());
}

#[test]
fn markdown_files_come_back_but_for_those_that_were_given() {
    let folder = tempfile::tempdir().unwrap();
    let rooms = rooms(folder.path());
    let given = folder.path().join("given");
    put(&given.join("knowledge/001-a.md"), b"given");
    furnish(
        &given,
        &rooms,
        &[document("plan.md", "from the turn before")],
    )
    .unwrap();
    // What was given is not the agent's, also where it has changed it.
    put(&rooms.work.join("knowledge/001-a.md"), b"changed");
    put(&rooms.work.join("knowledge/own.md"), b"own");
    put(&rooms.work.join("notes.txt"), b"no document");
    put(&rooms.work.join("tmp/x.md"), b"in the working directory");
    put(&rooms.scratch.join("x.md"), b"in the scratch folder");
    put(&rooms.scratch.join("deep/y.md"), b"\xff bytes");
    put(
        &rooms
            .scratch
            .join(crate::adapters::agent::claude::SYSTEM_FILE),
        b"ours",
    );
    put(&rooms.home.join("z.md"), b"the client's");
    let found = left(&given, &rooms, &[]).unwrap();
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

#[cfg(unix)]
#[test]
fn links_and_pipes_are_not_read() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let rooms = rooms(folder.path());
    let outside = folder.path().join("outside");
    put(&outside.join("secret.md"), b"secret");
    symlink(outside.join("secret.md"), rooms.work.join("link.md")).unwrap();
    symlink(&outside, rooms.work.join("folder")).unwrap();
    symlink(&rooms.work, rooms.work.join("round")).unwrap();
    let pipe = rooms.work.join("pipe.md");
    // Opened, it would never end.
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    fs::create_dir(rooms.work.join("folder.md")).unwrap();
    put(&rooms.work.join("own.md"), b"own");
    let found = left(&folder.path().join("given"), &rooms, &[]).unwrap();
    assert_eq!(found, [document("own.md", "own")]);
}

#[test]
fn deep_many_and_long_files_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let rooms = rooms(folder.path());
    let given = folder.path().join("given");
    let deepest = "d/".repeat(DEPTH);
    put(&rooms.work.join(format!("{deepest}in.md")), b"in");
    put(&rooms.work.join(format!("{deepest}d/out.md")), b"out");
    let found = left(&given, &rooms, &[]).unwrap();
    assert_eq!(paths(&found), [format!("{deepest}in.md")]);
    let long = usize::try_from(MOST_BYTES).unwrap() + 1;
    put(&rooms.work.join("a.md"), &vec![b'x'; long]);
    for at in 0..MOST_LEFT {
        put(&rooms.work.join(format!("b{at:02}.md")), b"x");
    }
    let found = left(&given, &rooms, &[]).unwrap();
    // A part of a document is none.
    assert_eq!(found.len(), MOST_LEFT);
    assert_eq!(found[0].path, "b00.md");
    // Whoever writes many others does not hide the one that is asked for.
    put(&rooms.work.join("z.md"), b"wanted");
    let found = left(&given, &rooms, &["z.md".to_owned()]).unwrap();
    assert_eq!((found.len(), found[0].path.as_str()), (MOST_LEFT, "z.md"));
}
