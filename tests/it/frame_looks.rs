//! Neutralised text looks like the original on GitHub, but mentions nobody and closes nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::Path;

use planwright::formats::block::{neutralise, quiet};
use proptest::prelude::*;

use crate::frame_support::{config, left_open, live, looks, text};

proptest! {
    #![proptest_config(config())]

    /// As Prow, bors and probot's commands read the source of a comment.
    #[test]
    fn no_other_bot_takes_a_line_for_a_command(text in text()) {
        let safe = neutralise(&text);
        for line in safe.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
            let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            let command = ["/close", "/lgtm", "!deploy"].contains(&line) || line.starts_with("bors ");
            let quoted = line == "!deploy" && safe.contains(['`', '~', '\t']) || safe.contains("    !deploy");
            prop_assert!(!command || quoted, "{line:?} in {safe:?}");
        }
    }

    #[test]
    fn look_like_the_original(text in text()) {
        let safe = neutralise(&text);
        let open = left_open(&safe);
        prop_assert_eq!(looks(&safe, open), looks(&text, open), "{}", safe);
    }

    #[test]
    fn do_nothing(text in text()) {
        let safe = neutralise(&text);
        prop_assert_eq!(live(&safe), None, "{:?}", safe);
        prop_assert!(!safe.contains('\0'));
        let quiet = quiet(&text);
        prop_assert_eq!(live(&quiet), None, "{:?}", quiet);
    }
}

/// The plans and threads of the fixtures.
#[test]
fn texts_of_the_fixtures_look_like_the_original_and_do_nothing() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let folders = [fixtures.join("plans"), fixtures.join("threads")];
    let mut seen = 0;
    for folder in folders {
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let safe = neutralise(&text);
            assert_eq!(looks(&safe, false), looks(&text, false));
            assert_eq!(live(&safe), None);
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen}");
}

#[test]
fn the_search_for_live_things_finds_them() {
    for text in [
        "@bob",
        "a _@bob_",
        "\\@bob",
        "&#64;bob",
        "@<!-- -->bob",
        "<p>@bob</p>",
        "fixes #1",
        "**Fixes**: #1",
        "fixes\n#1",
        "closes a/b#1",
        "resolve GH-1",
        "fix https://github.com/a/b/issues/1",
        "f&#105;xes &#35;1",
        "<p>&#64bob</p>",
        "<div>\n&#x40hubot hi\n</div>",
        "<p>&#0000000000064;bob</p>",
        "<p>&#32@bob</p>",
        "<div>\nf&#105x #1\n</div>",
        "<p>&#32fixes #1</p>",
        "<p>&nbspfixes #1</p>",
        "fi<x>xes</x> #1",
        "fi<x>x</x> #1",
        "fi&#120;</x> #1",
    ] {
        assert!(live(text).is_some(), "{text}");
        assert_eq!(live(&neutralise(text)), None, "{text}");
    }
    for text in [
        "`@bob`",
        "a@bob",
        "https://x.co/@bob",
        "prefix #1",
        "fix it #1",
        "&#64bob",
        "<p>`</p>\n\n`@bob`",
        "<code>@bob</code>",
        "<p>&#x40bob</p>",
        "<p>&amp;#64bob</p>",
    ] {
        assert_eq!(live(text), None, "{text}");
    }
}
