//! Which documents are read, and which are left out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::fs;

use super::*;
use crate::engine::knowledge::FOLDERS;

const OURS: &str = ".planwright/knowledge";

fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn load(root: &Path, limits: Limits) -> Knowledge {
    knowledge(root, &FOLDERS, limits).unwrap()
}

fn paths(knowledge: &Knowledge) -> Vec<&str> {
    let documents = knowledge.documents.iter();
    documents.map(|document| document.path.as_str()).collect()
}

fn left_out(knowledge: &Knowledge) -> Vec<(&str, &Why)> {
    let left_out = knowledge.left_out.iter();
    left_out.map(|one| (one.path.as_str(), &one.why)).collect()
}

#[test]
fn documents_are_read_from_both_folders_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, ".spektacular/knowledge/glossary.md", "# Words\n");
    write(root, ".spektacular/knowledge/b.md", "B");
    write(root, ".planwright/knowledge/deep/er/a.md", "A");
    write(root, ".planwright/knowledge/z.md", "B");
    write(root, ".planwright/knowledge/picture.png", b"\x89PNG");
    write(root, ".planwright/knowledge/latin.md", b"caf\xe9");
    write(root, ".planwright/plans/old.md", "no knowledge");
    write(root, "README.md", "no knowledge");
    let found = load(root, Limits::default());
    let expected = [
        ".spektacular/knowledge/glossary.md",
        ".planwright/knowledge/deep/er/a.md",
        ".planwright/knowledge/z.md",
    ];
    assert_eq!(paths(&found), expected);
    assert_eq!(
        (
            found.documents[0].title.as_str(),
            found.documents[0].text.as_str()
        ),
        ("Words", "# Words\n")
    );
    assert_eq!(
        left_out(&found),
        [
            (".planwright/knowledge/latin.md", &Why::NotText),
            (".planwright/knowledge/picture.png", &Why::NotMarkdown),
            (
                ".spektacular/knowledge/b.md",
                &Why::SameAs(".planwright/knowledge/z.md".into())
            ),
        ]
    );
    assert_eq!(found.commit, None);
}

#[test]
fn documents_over_the_limit_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        files: 10,
        file_bytes: 8,
        total_bytes: 15,
    };
    for (name, content) in [
        ("a", "12345678"),
        ("b", "123456789"),
        ("c", "abcdefgh"),
        ("d", "xyz"),
    ] {
        write(folder.path(), &format!("{OURS}/{name}.md"), content);
    }
    let found = load(folder.path(), limits);
    assert_eq!(
        paths(&found),
        [format!("{OURS}/a.md"), format!("{OURS}/d.md")]
    );
    assert_eq!(
        left_out(&found),
        [
            (format!("{OURS}/b.md").as_str(), &Why::TooLarge(8)),
            (format!("{OURS}/c.md").as_str(), &Why::NoRoom),
        ]
    );
}

#[test]
fn a_root_that_is_not_a_folder_is_an_error_with_a_remedy() {
    let error = knowledge(Path::new("/nowhere/at/all"), &FOLDERS, Limits::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the folder /nowhere/at/all cannot be opened: No such file or directory (os error 2); name the folder of a \
         working copy that you may read"
    );
}

#[test]
fn a_file_in_place_of_a_folder_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), ".planwright", "not a folder");
    write(folder.path(), ".spektacular/knowledge", "nor this");
    assert_eq!(load(folder.path(), Limits::default()), Knowledge::default());
}

#[test]
fn documents_changed_since_the_listing_are_reported_as_gone() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.md", "now");
    let root = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
    let listed = |path: &str, content: &[u8]| Listed {
        path: path.to_owned(),
        size: content.len() as u64,
        id: hash(content),
    };
    for (path, content) in [("a.md", "then"), ("a.md", "no"), ("b.md", "then")] {
        let gone = read(&root, &listed(path, content.as_bytes()));
        assert_eq!(gone, Err(LeftOut::new(path, Why::Gone)), "{content}");
    }
    assert!(read(&root, &listed("a.md", b"now")).is_ok());
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_reported_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        write(folder.path(), "secret.md", "outside");
        write(&root, "docs/inside.md", "inside");
        write(&root, ".planwright/knowledge/a.md", "a");
        symlink("../../../secret.md", root.join(OURS).join("out.md")).unwrap();
        symlink("../../docs/inside.md", root.join(OURS).join("in.md")).unwrap();
        symlink("../../docs", root.join(OURS).join("docs")).unwrap();
        symlink("..", root.join(OURS).join("circle")).unwrap();
        fs::create_dir(root.join(".spektacular")).unwrap();
        symlink("../docs", root.join(".spektacular/knowledge")).unwrap();
        let found = load(&root, Limits::default());
        assert_eq!(paths(&found), [".planwright/knowledge/a.md"]);
        let links = ["circle", "docs", "in.md", "out.md"].map(|name| format!("{OURS}/{name}"));
        let mut expected: Vec<_> = links
            .iter()
            .map(|path| (path.as_str(), &Why::Link))
            .collect();
        expected.push((".spektacular/knowledge", &Why::Link));
        assert_eq!(left_out(&found), expected);
    }

    #[test]
    fn a_parent_that_is_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "elsewhere/knowledge/a.md", "a");
        symlink("elsewhere", folder.path().join(".planwright")).unwrap();
        let found = load(folder.path(), Limits::default());
        assert_eq!(left_out(&found), [(".planwright", &Why::Link)]);
        assert!(found.documents.is_empty());
    }

    /// A file can be replaced by a link between the listing and the reading.
    #[test]
    fn a_link_created_after_the_listing_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "inside.md", "inside");
        symlink("inside.md", folder.path().join("a.md")).unwrap();
        let root = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        assert!(contents(&root, "a.md", 100).is_err());
        assert_eq!(
            contents(&root, "inside.md", 100).unwrap(),
            Some(b"inside".to_vec())
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn odd_names_and_pipes_are_reported_without_blocking() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;

        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join(OURS);
        write(folder.path(), ".planwright/knowledge/a\nb.md", "control");
        fs::write(home.join(OsStr::from_bytes(b"caf\xe9.md")), "latin name").unwrap();
        let pipe = home.join("pipe.md");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let found = load(folder.path(), Limits::default());
        let neither = Why::Unreadable("it is neither a file nor a folder".into());
        assert_eq!(
            left_out(&found),
            [
                (".planwright/knowledge/a\u{fffd}b.md", &Why::OddPath),
                (".planwright/knowledge/caf\u{fffd}.md", &Why::OddPath),
                (".planwright/knowledge/pipe.md", &neither),
            ]
        );
    }
}
