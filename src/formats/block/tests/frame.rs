//! Single rules of the frame, as tables.

use super::super::{neutralise, quiet, restore};
use crate::formats::command;

fn shown(text: &str) -> String {
    text.replace('\u{200b}', "^")
}

#[test]
fn rules_apply_where_they_should() {
    for (text, want) in [
        ("a </details> b", "a </details > b"),
        ("</details >", "</details  >"),
        ("</DETAILS>", "</DETAILS >"),
        ("</details\n>", "</details\n>"),
        ("`</details>`", "`</details >`"),
        ("<!-- erk:plan-content -->", "<!--  erk:plan-content -->"),
        ("<!--  /erk:x -->", "<!--   /erk:x -->"),
        ("<!--erk:x -->", "<!--erk:x -->"),
        ("<!-- planwright-x -->", "<!--  planwright-x -->"),
        ("<!-- other -->", "<!-- other -->"),
        ("hi @bob, @org/team", "hi @^bob, @^org/team"),
        ("me@bob.com @ x", "me@bob.com @ x"),
        ("@\u{200b}bob", "@^^bob"),
        ("`@bob` @bob", "`@bob` @^bob"),
        ("```\n@bob\n```\n@bob", "```\n@bob\n```\n@^bob"),
        (
            "https://medium.com/@bob/x /@bob",
            "https://medium.com/@bob/x /@^bob",
        ),
        ("Fixes #1", "Fixes^ #1"),
        ("closes: a/b#1", "closes^: a/b#1"),
        ("RESOLVED GH-12", "RESOLVED^ GH-12"),
        ("**fix** #1", "**fix^** #1"),
        (
            "fixed https://github.com/a/b/issues/1",
            "fixed^ https://github.com/a/b/issues/1",
        ),
        (
            "close https://github.com/a/b",
            "close https://github.com/a/b",
        ),
        ("prefixes #1", "prefixes #1"),
        ("fixes a/closes#1", "fixes^ a/closes#1"),
        ("`fixes #1`", "`fixes #1`"),
        ("fixes the #1", "fixes the #1"),
        ("```\nx", "```\nx\n```\n<!-- planwright:fence-closed -->"),
        (
            "~~~~ md\nx\n~~~\n",
            "~~~~ md\nx\n~~~\n\n~~~~\n<!-- planwright:fence-closed -->",
        ),
        ("- ```\n  x", "- ```\n  x"),
        ("", ""),
    ] {
        let safe = neutralise(text);
        assert_eq!(shown(&safe), want);
        assert_eq!(restore(&safe), text);
    }
}

#[test]
fn a_text_that_already_ends_like_ours_survives() {
    let text = neutralise("```\nx");
    assert_eq!(restore(&neutralise(&text)), text);
    assert_eq!(restore(&text.replace('\n', "\r\n")), "```\r\nx\r");
}

#[test]
fn quiet_looks_the_same_but_does_nothing() {
    for (text, want) in [
        ("/save-plan now", "^/save-plan now"),
        ("a\n \t/cancel\r\n/x\r/y", "a\n \t^/cancel\r\n^/x\r^/y"),
        ("\u{feff}/save-plan", "\u{feff}^/save-plan"),
        ("> /save-plan", "> /save-plan"),
        ("@bob fixes #1", "@^bob fixes^ #1"),
        ("<!-- planwright:x -->", "<!--  planwright:x -->"),
        ("```\nx", "```\nx\n```"),
    ] {
        let quiet = quiet(text);
        assert_eq!(shown(&quiet), want);
        assert_eq!(command::parse(&quiet), []);
    }
}
