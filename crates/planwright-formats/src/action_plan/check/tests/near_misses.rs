//! What is shown when a text is not there.

use super::super::near::search;
use super::*;

#[test]
fn the_most_similar_lines_are_found() {
    // text, what is looked for, first and last line, score, differs in white space only
    let table = [
        (
            "The quick brown fox",
            "The quick brown fix",
            1,
            1,
            95,
            false,
        ),
        ("Hello World\n", "hello world", 1, 1, 82, false),
        (
            "x\ndef hello():\n    pass\n",
            "def helloo():",
            2,
            2,
            96,
            false,
        ),
        (
            "import os\n\ndef f():\n    return 2\n",
            "def f():\n    return 1",
            3,
            4,
            95,
            false,
        ),
        (
            "class A:\n    def f():\n        return 1\n",
            "def f():\n    return 1",
            2,
            3,
            83,
            true,
        ),
        ("a = 1\n", "b = 1", 1, 1, 80, false),
        ("a = 1  \nb = 2\t\n", "a = 1\nb = 2", 1, 2, 87, true),
        ("l1\nl2\n", "l1\nl2\nl3", 1, 2, 80, false),
        (
            "let total = compute(a, b);\nlet rest = 0;",
            "compute(a, c)",
            1,
            1,
            92,
            false,
        ),
        // White space alone, however much of it there is.
        ("p\nq r\n    p\n\n    q\n", "p\n\nq", 3, 5, 33, true),
        // The first of equals.
        ("let x = 1;\nlet x = 2;\n", "let x = 3;", 1, 1, 90, false),
    ];
    for (text, find, line, end_line, score, only_spaces) in table {
        let near = search(text, find).unwrap_or_else(|| panic!("{find:?} in {text:?}"));
        let got = (
            near.line,
            near.end_line,
            near.score.hundredths(),
            near.only_spaces,
        );
        assert_eq!(
            got,
            (line, end_line, score, only_spaces),
            "{find:?} in {text:?}"
        );
    }
}

#[test]
fn what_is_not_similar_is_not_shown() {
    for (text, find) in [
        ("alpha\nbeta\n", "zzz qqq"),
        ("", "a"),
        ("\n\n\n", "a"),
        ("Some content", "Bad1"),
        (
            "fn main() {\n    run();\n}\n",
            "SELECT name FROM users WHERE id = 3",
        ),
    ] {
        assert_eq!(search(text, find), None, "{find:?} in {text:?}");
    }
}

#[test]
fn one_is_never_the_score_of_a_near_miss() {
    let text = "x".repeat(900);
    let near = search(&format!("{text}y"), &format!("{text}z")).unwrap();
    assert_eq!(near.score.to_string(), "0.99");
    assert_eq!(serde_json::to_string(&near.score).unwrap(), "0.99");
}

#[test]
fn the_difference_is_shown_in_context() {
    let file: Vec<String> = (1..=20)
        .map(|number| format!("line number {number}"))
        .collect();
    let mut find = file[4..16].to_vec();
    find[6] = "line nomber 11".to_owned();
    let near = search(&file.join("\n"), &find.join("\n")).unwrap();
    assert_eq!((near.line, near.end_line), (5, 16));
    insta::assert_snapshot!(near.diff, @r"
    ...
      line number 9
      line number 10
    - line nomber 11
    + line number 11
      line number 12
      line number 13
    ...
    ");
}

#[test]
fn a_long_line_is_shown_where_it_differs() {
    let text = "word ".repeat(100);
    let near = search(
        &format!("{text}right\u{1b}[1m{text}"),
        &format!("{text}wrong{text}"),
    )
    .unwrap();
    let shown: Vec<_> = near.diff.lines().collect();
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(
        shown.iter().all(|line| line.chars().count() < 170),
        "{shown:?}"
    );
    assert!(
        shown[0].starts_with("- …") && shown[0].contains("wrong"),
        "{shown:?}"
    );
    assert!(
        shown[1].starts_with("+ …") && shown[1].contains("right␛[1m"),
        "{shown:?}"
    );
}

#[test]
fn a_near_miss_is_never_applied() {
    let files = Tree::default().with("a", PathState::File("This is the original content"));
    let actions = vec![
        edit("a", &[("This is the orignal content", "New")]),
        edit("a", &[("New", "Newer")]),
        edit("a", &[("original", "first")]),
    ];
    let findings = check(&plan(actions), &files);
    let kinds: Vec<_> = findings.iter().map(|it| (it.action, it.kind)).collect();
    assert_eq!(kinds, [(1, K::FindMissing), (2, K::FindMissing)]);
    assert!(findings[0].near_miss.is_some());
}

#[test]
fn lines_of_the_near_miss_are_those_that_earlier_pairs_leave() {
    let files = Tree::default().with("a", PathState::File("top\nlet answer = 42;\n"));
    let pairs = [("top", "top\nnew\nnewer"), ("let answer = 43;", "x")];
    let findings = check(&plan(vec![edit("a", &pairs)]), &files);
    assert_eq!(findings[0].near_miss.as_ref().unwrap().line, 4);
}
