//! Neutralised text looks like the original on GitHub, but mentions nobody and closes nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::Path;

use planwright::formats::block::{neutralise, quiet};
use proptest::prelude::*;

use crate::frame_support::{config, html, page, text};
use crate::vectors;

/// What is seen of `source` in the middle of a page, without what has no width: its elements and its text; or, when it
/// leaves elements open, whose end then is in another place, its text alone.
fn looks(source: &str, text_alone: bool) -> String {
    // GitHub's Markdown reads NUL as U+FFFD.
    let source = source.replace('\0', "\u{fffd}");
    let page = page(&html(&format!("\n{source}\n")));
    let page = page.replace('\u{200b}', "").replace("%E2%80%8B", "");
    let shown = if text_alone {
        let pieces = page.split('<');
        let pieces = pieces.map(|piece| piece.split_once('>').map_or(piece, |(_, shown)| shown));
        pieces.collect()
    } else {
        page
    };
    let shown: String = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    // A closing tag in an attribute is a text, and the blank is in it, but it is not on the page.
    let shown = shown.replace(" &gt;", "&gt;");
    shown.replace("> ", ">").replace(" <", "<")
}

/// HTML is open at the end of the text that became `neutralised`.
fn left_open(neutralised: &str) -> bool {
    let mark = neutralised.rfind("<!-- planwright:made-safe");
    mark.is_some_and(|at| {
        let mark = &neutralised[at..];
        mark.contains(" \"'") || !mark.ends_with("-->")
    })
}

/// Elements within a line of text.
const INLINE: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "cite", "del", "dfn", "em", "i", "input", "ins",
    "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "u",
    "var", "wbr",
];

/// The text of the page that GitHub makes of `source`, as a browser reads it, without code, in pieces that GitHub
/// searches one by one: `tight` ends a piece at every tag, as for mentions, and leaves out links.
fn readable(source: &str, tight: bool) -> Vec<String> {
    let unseen: &[&str] = if tight {
        &["code", "pre", "a"]
    } else {
        &["code", "pre"]
    };
    let page = page(&html(&format!("\n{source}\n")));
    let mut pieces = vec![String::new()];
    let mut hidden = 0;
    for (index, part) in page.split('<').enumerate() {
        // The page is well-formed: only tags have these, and every attribute is in quotes.
        let (tag, shown) = match index {
            0 => ("", part),
            _ => part.split_once('>').unwrap(),
        };
        let opens = !tag.starts_with('/');
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        if unseen.contains(&name) {
            hidden += if opens { 1 } else { -1 };
            pieces.push(String::new());
        } else if name == "br" {
            pieces.last_mut().unwrap().push('\n');
        } else if tight || !name.is_empty() && !INLINE.contains(&name) {
            pieces.push(String::new());
        }
        if hidden == 0 {
            pieces.last_mut().unwrap().push_str(&decoded(shown));
        }
    }
    assert_eq!(hidden, 0, "{page}");
    pieces
}

/// The text of a page that [`page`] has written: these are all the entities it writes.
fn decoded(shown: &str) -> String {
    shown
        .replace("&nbsp;", "\u{a0}")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// `@name` where GitHub would notify somebody.
fn mention(piece: &str) -> bool {
    piece.match_indices('@').any(|(at, _)| {
        let before = piece[..at].chars().next_back();
        let after = piece[at + 1..].chars().next();
        !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
            && after.is_some_and(|c| c.is_ascii_alphanumeric())
    })
}

/// `fixes #1` where GitHub would close something.
fn closing(piece: &str) -> bool {
    let lower = piece.to_lowercase();
    let words = [
        "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
    ];
    words.iter().any(|word| {
        lower.match_indices(word).any(|(at, _)| {
            let before = lower[..at].chars().next_back();
            let rest = &lower[at + word.len()..];
            let rest = rest.strip_prefix(':').unwrap_or(rest);
            let target = rest.trim_start();
            !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
                && target.len() < rest.len()
                && issue(target)
        })
    })
}

fn issue(target: &str) -> bool {
    let target = target.split(char::is_whitespace).next().unwrap_or(target);
    let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if let Some((repository, number)) = target.split_once('#') {
        let parts: Vec<&str> = repository.split('/').collect();
        let name = |part: &&str| {
            !part.is_empty()
                && !part.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c))
        };
        return digit(number) && (parts == [""] || parts.len() == 2 && parts.iter().all(name));
    }
    let url = target.starts_with("http") && target.contains("github.com/");
    target.strip_prefix("gh-").is_some_and(digit)
        || url
            && ["/issues/", "/pull/"]
                .iter()
                .any(|kind| target.split_once(kind).is_some_and(|(_, rest)| digit(rest)))
}

/// A mention or a closing keyword that GitHub would act on.
pub(crate) fn live(source: &str) -> Option<String> {
    let named = readable(source, true)
        .into_iter()
        .find(|piece| mention(piece));
    named.or_else(|| {
        readable(source, false)
            .into_iter()
            .find(|piece| closing(piece))
    })
}

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

/// The plans and threads of the fixtures and, where they are at hand, real plans.
#[test]
fn real_texts_look_like_the_original_and_do_nothing() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut folders = vec![fixtures.join("plans"), fixtures.join("threads")];
    folders.extend(vectors::directory().map(|vectors| vectors.join("../seeds")));
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
