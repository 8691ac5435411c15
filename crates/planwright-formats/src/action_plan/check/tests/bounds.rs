//! Hostile input ends, and says so.

use super::super::near::{MAX_FILE_BYTES, MAX_FIND_BYTES, MAX_FIND_LINES, MAX_SEARCHES, search};
use super::*;

#[test]
fn too_long_texts_are_not_searched() {
    let lines = |count: usize| vec!["a b"; count].join("\n");
    assert!(search(&lines(2000), &(lines(MAX_FIND_LINES - 1) + "\nx")).is_some());
    assert_eq!(search(&lines(2000), &(lines(MAX_FIND_LINES) + "\nx")), None);
    let long = "a".repeat(MAX_FIND_BYTES);
    assert!(search(&format!("{long}b"), &long).is_some());
    assert_eq!(search(&format!("{long}b"), &format!("{long}c")), None);
    let file = "ab\n".repeat(MAX_FILE_BYTES / 3);
    assert!(search(&file, "abc").is_some());
    assert_eq!(search(&(file + "abb\n"), "abc"), None);
}

#[test]
fn only_the_first_findings_have_a_near_miss() {
    let files = Tree::default().with("a", PathState::File("let x = 1;\n"));
    let findings = check(
        &plan(vec![edit("a", &[("let x = 2;", ""); MAX_SEARCHES + 5])]),
        &files,
    );
    assert_eq!(findings.len(), MAX_SEARCHES + 5);
    let near = findings.iter().filter(|it| it.near_miss.is_some());
    assert_eq!(near.count(), MAX_SEARCHES);
}

#[test]
fn a_plan_that_takes_too_long_to_check_is_told_once() {
    let text: &'static str = Box::leak(format!("x{}", " ".repeat(64 << 20)).into_boxed_str());
    let files = Tree::default().with("a", PathState::File(text));
    let there_and_back = [("x", "y"), ("y", "x")].repeat(40);
    let actions = vec![
        edit("a", &there_and_back),
        edit("a", &[("no", "x")]),
        edit("a", &[("", "x")]),
        read("no"),
    ];
    let findings = check(&plan(actions), &files);
    let kinds: Vec<_> = findings.iter().map(|it| (it.action, it.kind)).collect();
    assert_eq!(
        kinds,
        [(1, K::TooMuchToSearch), (3, K::EmptyFind), (4, K::Missing)]
    );
    assert_eq!(findings[0].pair, Some(64));
}
