//! Tests of the validator: a table for each rule, its texts, its bounds.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::action_plan::Span;
use FindingKind as K;
use plans::{Tree, create, edit, execute, hand_back, invoke, path, plan, prune, read};

mod bounds;
mod near_misses;
mod plans;
mod properties;
mod say;

fn tree() -> Tree {
    Tree::default()
        .with(
            "src/a.rs",
            PathState::File("fn a() {\n    one();\n    two();\n}\n"),
        )
        .with("src/dos.rs", PathState::File("one\r\ntwo\r\nthree\r\n"))
        .with("dup.txt", PathState::File("dup\nother\ndup\n"))
        .with("logo.png", PathState::Binary)
        .with("huge.json", PathState::TooLarge)
        .with("secret", PathState::Unreadable("permission denied"))
}

/// Number of the action and what is wrong with it.
fn wrong(actions: Vec<Action>) -> Vec<(usize, FindingKind)> {
    let findings = check(&plan(actions), &tree());
    findings.iter().map(|it| (it.action, it.kind)).collect()
}

#[test]
fn create_needs_a_free_place() {
    let table: [(&str, &[FindingKind]); 9] = [
        ("new.txt", &[]),
        ("new/deep/er.txt", &[]),
        ("src/b.rs", &[]),
        ("src/a.rs", &[K::TargetExists]),
        ("src", &[K::TargetExists]),
        ("logo.png", &[K::TargetExists]),
        ("huge.json", &[K::TargetExists]),
        ("secret", &[K::Unreadable]),
        ("src/a.rs/b/c", &[K::ParentIsFile]),
    ];
    for (at, want) in table {
        let kinds: Vec<_> = wrong(vec![create(at, "x")]).iter().map(|it| it.1).collect();
        assert_eq!(kinds, want, "{at}");
    }
}

#[test]
fn create_sees_what_earlier_actions_create() {
    assert_eq!(
        wrong(vec![create("n", "1"), create("n", "2")]),
        [(2, K::TargetExists)]
    );
    assert_eq!(
        wrong(vec![create("n/x", "1"), create("n", "2")]),
        [(2, K::TargetExists)],
        "a folder now"
    );
    assert_eq!(
        wrong(vec![create("n", "1"), create("n/x/y", "2")]),
        [(2, K::ParentIsFile)]
    );
    assert_eq!(
        wrong(vec![
            create("n/x/y", "1"),
            create("n/x/z", "2"),
            create("n/w", "3")
        ]),
        []
    );
}

#[test]
fn edit_needs_a_text_file_by_then() {
    let pair: &[(&str, &str)] = &[("one", "1")];
    let table: [(&str, &[FindingKind]); 6] = [
        ("src/a.rs", &[]),
        ("nope.rs", &[K::Missing]),
        ("src", &[K::IsFolder]),
        ("logo.png", &[K::NotText]),
        ("huge.json", &[K::TooLarge]),
        ("secret", &[K::Unreadable]),
    ];
    for (at, want) in table {
        let kinds: Vec<_> = wrong(vec![edit(at, pair)]).iter().map(|it| it.1).collect();
        assert_eq!(kinds, want, "{at}");
    }
    assert_eq!(wrong(vec![create("n", "one"), edit("n", pair)]), []);
    assert_eq!(
        wrong(vec![edit("n", pair), create("n", "one")]),
        [(1, K::Missing)],
        "too early"
    );
}

#[test]
fn what_is_read_or_handed_on_has_to_be_there() {
    for ok in [
        "src/a.rs",
        "src",
        "logo.png",
        "huge.json",
        "https://example.com/no",
    ] {
        assert_eq!(
            wrong(vec![read(ok), invoke(&[ok]), hand_back(&[ok])]),
            [],
            "{ok}"
        );
    }
    assert_eq!(
        wrong(vec![read("no"), invoke(&["src", "no"]), hand_back(&["no"])]),
        [(1, K::Missing), (2, K::Missing), (3, K::Missing)]
    );
    assert_eq!(wrong(vec![read("secret")]), [(1, K::Unreadable)]);
    assert_eq!(wrong(vec![create("n/x", ""), read("n/x"), read("n")]), []);
}

#[test]
fn prune_forgets_and_removes_nothing() {
    assert_eq!(
        wrong(vec![
            prune("src/a.rs"),
            read("src/a.rs"),
            prune("no"),
            prune("https://example.com/x")
        ]),
        []
    );
    assert_eq!(
        wrong(vec![prune("src/a.rs"), create("src/a.rs", "")]),
        [(2, K::TargetExists)]
    );
}

#[test]
fn commands_run_in_folders() {
    let table: [(&str, Option<&str>, &[FindingKind]); 7] = [
        ("ls", None, &[]),
        ("ls", Some("src"), &[]),
        ("ls", Some("secret"), &[]),
        ("ls", Some("no"), &[K::Missing]),
        ("ls", Some("src/a.rs"), &[K::NotAFolder]),
        (" \n\t", None, &[K::EmptyCommand]),
        ("", Some("no"), &[K::EmptyCommand, K::Missing]),
    ];
    for (command, cwd, want) in table {
        let kinds: Vec<_> = wrong(vec![execute(command, cwd)])
            .iter()
            .map(|it| it.1)
            .collect();
        assert_eq!(kinds, want, "{command:?} in {cwd:?}");
    }
    assert_eq!(wrong(vec![create("n/x", ""), execute("ls", Some("n"))]), []);
}

#[test]
fn find_is_there_exactly_once() {
    let table: [(&str, &str, &str, &[FindingKind]); 13] = [
        ("src/a.rs", "one();", "1", &[]),
        ("src/a.rs", "one();\n    two();", "1", &[]),
        ("src/a.rs", "one();\ntwo();", "1", &[K::FindMissing]),
        ("src/a.rs", "One();", "1", &[K::FindMissing]),
        ("src/a.rs", "one(); ", "1", &[K::FindMissing]),
        ("src/a.rs", "();", "1", &[K::FindAmbiguous]),
        ("dup.txt", "dup", "x", &[K::FindAmbiguous]),
        ("dup.txt", "dup\nother", "x", &[]),
        ("src/a.rs", "", "x", &[K::EmptyFind]),
        ("src/a.rs", "one();", "one();", &[K::SameReplace]),
        ("src/a.rs", "not there", "not there", &[K::SameReplace]),
        ("src/dos.rs", "one\ntwo", "x", &[]),
        ("src/dos.rs", "one\r\ntwo", "x", &[]),
    ];
    for (at, find, replace, want) in table {
        let kinds: Vec<_> = wrong(vec![edit(at, &[(find, replace)])])
            .iter()
            .map(|it| it.1)
            .collect();
        assert_eq!(kinds, want, "{find:?} in {at}");
    }
}

#[test]
fn matches_that_overlap_are_ambiguous() {
    let files = Tree::default().with("a", PathState::File("aaa"));
    let findings = check(&plan(vec![edit("a", &[("aa", "b")])]), &files);
    assert_eq!(findings[0].kind, K::FindAmbiguous);
}

#[test]
fn pairs_see_what_earlier_pairs_and_actions_leave() {
    assert_eq!(
        wrong(vec![
            edit("src/a.rs", &[("one", "three"), ("three", "four")]),
            edit("src/a.rs", &[("four();\n    two", "five")]),
        ]),
        []
    );
    assert_eq!(
        wrong(vec![edit("src/a.rs", &[("one", "1"), ("one", "2")])]),
        [(1, K::FindMissing)],
        "the first pair takes it away"
    );
    assert_eq!(
        wrong(vec![edit("src/a.rs", &[("one", "two"), ("two", "2")])]),
        [(1, K::FindAmbiguous)],
        "the first pair makes a second one"
    );
}

#[test]
fn everything_wrong_is_told() {
    assert_eq!(
        wrong(vec![
            create("src/a.rs", ""),
            edit("src/a.rs", &[("no", "x"), ("one", "1"), ("neither", "y")]),
            read("no"),
        ]),
        [
            (1, K::TargetExists),
            (2, K::FindMissing),
            (2, K::FindMissing),
            (3, K::Missing)
        ]
    );
}

#[test]
fn findings_name_their_lines() {
    let findings = check(
        &plan(vec![
            read("no"),
            edit(
                "src/a.rs",
                &[("one", "1"), ("nowhere at all", "x"), ("two", "two")],
            ),
            execute("", None),
        ]),
        &tree(),
    );
    let places: Vec<_> = findings.iter().map(|it| (it.pair, it.span)).collect();
    assert_eq!(
        places,
        [
            (None, Span::line(10)),
            (Some(2), Span::new(200, 202)),
            (Some(3), Span::new(304, 306)),
            (None, Span::new(13, 15)),
        ]
    );
}

#[test]
fn wanted_names_everything_that_is_looked_at() {
    struct Watched(std::cell::RefCell<Vec<ProjectPath>>);
    impl ProjectFiles for Watched {
        fn get(&self, path: &ProjectPath) -> PathState<'_> {
            self.0.borrow_mut().push(path.clone());
            PathState::Missing
        }
    }
    let plan = plan(vec![
        create("a/b/c", ""),
        edit("d", &[("x", "y")]),
        read("e"),
        read("https://example.com"),
        prune("never"),
        execute("ls", Some("f/g")),
        invoke(&["h", "e"]),
        hand_back(&["i"]),
    ]);
    let wanted = required_paths(&plan);
    let names: Vec<_> = wanted.iter().map(ProjectPath::as_str).collect();
    assert_eq!(names, ["a/b/c", "a/b", "a", "d", "e", "f/g", "h", "i"]);
    let files = Watched(std::cell::RefCell::default());
    check(&plan, &files);
    let looked = files.0.into_inner();
    assert!(
        looked.iter().all(|path| wanted.contains(path)),
        "{looked:?}"
    );
    assert!(
        wanted.iter().all(|path| looked.contains(path)),
        "{looked:?}"
    );
}
