//! Order, limits, titles and the note.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::engine::messages::knowledge::left_out as knowledge_note;

fn listed(path: &str, size: u64, id: &str) -> Listed {
    Listed {
        path: path.to_owned(),
        size,
        id: id.to_owned(),
    }
}

/// Small files, each with its own content.
fn all(paths: &[&str]) -> Vec<Listed> {
    paths.iter().map(|path| listed(path, 1, path)).collect()
}

fn paths(chosen: &Chosen) -> Vec<&str> {
    chosen.take.iter().map(|one| one.path.as_str()).collect()
}

#[test]
fn what_applies_to_everything_comes_first_then_folders_then_paths() {
    let sorted = [
        ".planwright/knowledge/conventions/rust.md",
        ".planwright/knowledge/glossary.md",
        ".spektacular/knowledge/conventions.md",
        ".spektacular/knowledge/glossary/a/b.md",
        ".planwright/knowledge/B.md",
        ".planwright/knowledge/a.md",
        ".planwright/knowledge/architecture/conventions/x.md",
        ".planwright/knowledge/architecture/glossary.md",
        ".planwright/knowledge/conventions-old/x.md",
        ".planwright/knowledge/\u{e4}.md",
        ".spektacular/knowledge/a.md",
    ];
    let mut mixed = sorted;
    mixed.reverse();
    let chosen = choose(&FOLDERS, all(&mixed), Limits::default());
    assert_eq!(paths(&chosen), sorted);
    assert_eq!(chosen.left_out, []);
    let always: Vec<bool> = sorted.map(|path| always(&FOLDERS, path)).to_vec();
    assert_eq!(always.iter().filter(|it| **it).count(), 4);
    assert!(!super::always(&FOLDERS, "conventions/rust.md"));
}

#[test]
fn only_names_that_end_in_md_are_documents() {
    let home = ".planwright/knowledge";
    let table = [
        ("a.md", true),
        ("a.b.md", true),
        ("a.MD", false),
        ("a.markdown", false),
        ("a.md.txt", false),
        ("md", false),
        ("a.md/picture", false),
    ];
    for (name, want) in table {
        let path = format!("{home}/{name}");
        let chosen = choose(&FOLDERS, all(&[&path]), Limits::default());
        assert_eq!(chosen.take.len() == 1, want, "{name}");
        let named = chosen.left_out == [LeftOut::new(&path, Why::NotMarkdown)];
        assert_eq!(named, !want, "{name}");
    }
}

#[test]
fn of_the_same_content_the_first_is_taken() {
    let listed = vec![
        listed(".spektacular/knowledge/conventions/a.md", 5, "1"),
        listed(".planwright/knowledge/a.md", 5, "1"),
        listed(".planwright/knowledge/b.md", 5, "2"),
        listed(".planwright/knowledge/c.md", 5, "2"),
    ];
    let chosen = choose(&FOLDERS, listed, Limits::default());
    let (first, second) = (
        ".spektacular/knowledge/conventions/a.md",
        ".planwright/knowledge/b.md",
    );
    assert_eq!(paths(&chosen), [first, second]);
    assert_eq!(
        chosen.left_out,
        [
            LeftOut::new(".planwright/knowledge/a.md", Why::SameAs(first.into())),
            LeftOut::new(".planwright/knowledge/c.md", Why::SameAs(second.into())),
        ]
    );
}

#[test]
fn a_smaller_document_behind_one_without_room_is_taken() {
    let limits = Limits {
        files: 3,
        file_bytes: 6,
        total_bytes: 10,
    };
    let path = |name: &str| format!(".planwright/knowledge/{name}.md");
    let sizes = [("a", 6), ("b", 5), ("c", 7), ("d", 4), ("e", 0), ("f", 0)];
    let listed = sizes.map(|(name, size)| listed(&path(name), size, name));
    let chosen = choose(&FOLDERS, listed.to_vec(), limits);
    assert_eq!(paths(&chosen), [path("a"), path("d"), path("e")]);
    assert_eq!(
        chosen.left_out,
        [
            LeftOut::new(&path("b"), Why::NoRoom),
            LeftOut::new(&path("c"), Why::TooLarge(6)),
            LeftOut::new(&path("f"), Why::NoRoom),
        ]
    );
}

#[test]
fn odd_paths_are_never_read() {
    for name in [
        "../a.md",
        "./a.md",
        "a//b.md",
        "a/../../../b.md",
        "a\nb.md",
        "a\0.md",
        "..",
    ] {
        let path = format!(".planwright/knowledge/{name}");
        let chosen = choose(&FOLDERS, all(&[&path]), Limits::default());
        assert_eq!(chosen.take, [], "{name:?}");
        assert_eq!(chosen.left_out[0].why, Why::OddPath, "{name:?}");
        assert!(
            !chosen.left_out[0].path.contains(char::is_control),
            "{name:?}"
        );
    }
}

#[test]
fn the_title_is_the_first_heading_of_the_tree() {
    for (text, title) in [
        (
            "text\n\n## The **second** `kind`\n\n# Later\n",
            "The second kind",
        ),
        ("Setext\n===\n", "Setext"),
        ("\u{feff}# Mark\n", "Mark"),
        ("---\ntitle: no\n---\n\n# Yes\n", "Yes"),
        ("```\n# code\n```\n", "a.md"),
        ("#\n\n# Second\n", "Second"),
        ("", "a.md"),
    ] {
        let document = Document::read("x/a.md", text.into()).unwrap();
        assert_eq!(document.title, title, "{text:?}");
        assert_eq!(document.text, text);
    }
    for content in [&b"caf\xe9"[..], b"a\0b"] {
        let left_out = Document::read("x/a.md", content.to_vec());
        assert_eq!(left_out, Err(LeftOut::new("x/a.md", Why::NotText)));
    }
}

#[test]
fn the_note_names_the_first_few_of_each_reason() {
    let left_out = |path: &str, why: Why| Err(LeftOut::new(path, why));
    let same = left_out("k/same.md", Why::SameAs("k/a.md".into()));
    let none = Knowledge::new(None, [same.clone()], Vec::new());
    assert_eq!(knowledge_note(&none.left_out), None);
    assert_eq!(knowledge_note(&[]), None);
    let mut read: Vec<_> = ["e", "d", "c", "b", "a"]
        .map(|name| left_out(&format!("k/{name}.md"), Why::NoRoom))
        .into();
    read.extend([
        same,
        left_out("k/pic.png", Why::NotMarkdown),
        left_out("k/large.md", Why::TooLarge(256 * 1024)),
        left_out("k/latin.md", Why::NotText),
        left_out("k/gone.md", Why::Gone),
        left_out("k/shut.md", Why::Unreadable("denied".into())),
        left_out("k/../odd.md", Why::OddPath),
        left_out("k/link.md", Why::Link),
        left_out("k/@ada", Why::Submodule),
        left_out("k", Why::NotListed),
    ]);
    insta::assert_snapshot!(
        knowledge_note(&Knowledge::new(None, read, Vec::new()).left_out).unwrap()
    );
}

#[test]
fn the_note_is_short_whatever_the_paths() {
    let whys = [
        Why::NotMarkdown,
        Why::TooLarge(1),
        Why::NoRoom,
        Why::Link,
        Why::Submodule,
        Why::OddPath,
        Why::NotText,
        Why::Gone,
        Why::Unreadable("x".repeat(9_000)),
        Why::NotListed,
    ];
    let files = (0..1_000).map(|at| {
        let why = whys[at % whys.len()].clone();
        Err(LeftOut::new(
            &format!("k/{at}/{}", "@`📖 ".repeat(1_000)),
            why,
        ))
    });
    let note = knowledge_note(&Knowledge::new(None, files, Vec::new()).left_out).unwrap();
    assert!(note.len() < 10_000, "{}: {note}", note.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing is lost, nothing is over the limits, and the order in which files come does not
    /// matter.
    #[test]
    fn every_file_is_taken_or_named_within_the_limits(
        files in prop::collection::btree_map("[.](planwright|spektacular)/knowledge/(conventions/)?[a-d]{1,2}[.](md|txt)", (0_u64..40, 0_u8..9), 0..30),
        limits in (0_usize..12, 0_u64..40, 0_u64..200),
    ) {
        let limits = Limits { files: limits.0, file_bytes: limits.1, total_bytes: limits.2 };
        let listed: Vec<Listed> = files
            .iter()
            // The same content has the same length.
            .map(|(path, (size, id))| listed(path, *size, &format!("{size}-{id}")))
            .collect();
        let chosen = choose(&FOLDERS, listed.clone(), limits);
        let mut backwards = listed.clone();
        backwards.reverse();
        prop_assert_eq!(&choose(&FOLDERS, backwards, limits), &chosen);
        prop_assert!(chosen.take.len() <= limits.files);
        prop_assert!(chosen.take.iter().map(|one| one.size).sum::<u64>() <= limits.total_bytes);
        let mut named: Vec<String> = chosen.take.into_iter().map(|one| one.path).collect();
        named.extend(chosen.left_out.into_iter().map(|one| one.path));
        named.sort();
        prop_assert_eq!(named, files.into_keys().collect::<Vec<_>>());
    }
}
