//! Every rule of the frame, as a table: what it defends against, the text, and what becomes of it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::super::{neutralise, quiet, restore};
use super::html::open_at_end;
use super::tail;
use crate::command;

mod hostile;

/// Zero width spaces made visible.
fn shown(text: &str) -> String {
    text.replace('\u{200b}', "^")
}

/// `want` is the neutralised text without the mark; the same as `text` when nothing is to be done.
#[track_caller]
fn becomes(text: &str, want: &str) {
    let safe = neutralise(text);
    let without = tail::strip(&safe).map_or(safe.clone(), |(text, _)| text.into_owned());
    assert_eq!(shown(&without), want, "{text:?}");
    assert_eq!(safe == without, text == without, "{text:?}: {safe:?}");
    assert_eq!(restore(&safe), text);
}

#[test]
fn a_closing_tag_does_not_end_the_frame_for_erk() {
    becomes("a </details> b", "a </details > b");
    becomes("</details >", "</details  >");
    becomes("</DETAILS>", "</DETAILS >");
    becomes("</details\n>", "</details\n>");
    becomes("</detailsx>", "</detailsx>");
}

#[test]
fn a_command_of_another_bot_is_no_command() {
    for (text, want) in [
        ("/close", "^/close"),
        ("a\n/lgtm cancel\n", "a\n^/lgtm cancel\n"),
        ("a\r\n  /ok-to-test\r\nb", "a\r\n  ^/ok-to-test\r\nb"),
        ("a\u{2028}/CLOSE", "a\u{2028}^/CLOSE"),
        ("\u{feff}/close", "\u{feff}^/close"),
        ("/close\u{feff}", "^/close\u{feff}"),
        ("/whatever: x\n/do_it.", "^/whatever: x\n^/do_it."),
        ("!deploy prod\n!Deploy", "^!deploy prod\n^!Deploy"),
        ("bors r+\nBors: try", "^bors r+\n^Bors: try"),
        (
            "```\n/close\n/lgtm\nbors r+\n```",
            "```\n^/close\n^/lgtm\n^bors r+\n```",
        ),
        ("- a\n\n      /retest\n", "- a\n\n      ^/retest\n"),
        ("\u{200b}/close", "^^/close"),
        ("<div>\n/lgtm\n</div>", "<div>\n^/lgtm\n</div>"),
    ] {
        becomes(text, want);
    }
    // No command to anybody.
    for text in [
        "say /close",
        "/src/main.rs\n/file.txt\n/",
        "```\n/health\n!important\n/etc/close\n/close-all\n```",
        "# /close\n- /close\n> /close\n`/close`",
        "a borscht\nbors\n![a](b)\n!= b",
    ] {
        becomes(text, text);
    }
}

#[test]
fn a_token_in_code_looks_as_it_was() {
    becomes("`</details>`", "`</details^>`");
    becomes("```\n</details>\n```", "```\n</details^>\n```");
    becomes("`<!-- erk:x -->`", "`<!--^ erk:x -->`");
    becomes("\\</details>", "\\</details^>");
    becomes("<p>\\</details>", "<p>\\</details >");
    becomes("</details\u{200b}>", "</details^^>");
    becomes("`<!--\u{200b} erk:x -->`", "`<!--^^ erk:x -->`");
}

#[test]
fn a_marker_is_no_marker() {
    becomes("<!-- erk:plan-content -->", "<!--  erk:plan-content -->");
    becomes("<!--  /erk:x -->", "<!--   /erk:x -->");
    becomes("<!-- planwright-x -->", "<!--  planwright-x -->");
    becomes(
        "<!-- WARNING: Machine-generated. Manual edits may break erk tooling. -->",
        "<!--  WARNING: Machine-generated. Manual edits may break erk tooling. -->",
    );
    becomes("<!--erk:x -->", "<!--erk:x -->");
    becomes("<!-- other -->", "<!-- other -->");
}

#[test]
fn a_mention_notifies_nobody() {
    becomes("hi @bob, @org/team", "hi @^bob, @^org/team");
    becomes("(@bob) -@bob\n@bob", "(@^bob) -@^bob\n@^bob");
    becomes("_@bob_ **@bob**", "_@^bob_ **@^bob**");
    becomes("你@bob", "你@^bob");
    becomes(
        "\\@bob &#64;bob &#x0040;bob &commat;bob",
        "\\@^bob &#64;^bob &#x0040;^bob &commat;^bob",
    );
    becomes(
        "@<!-- -->bob @&#98;ob @<x>bob",
        "@^<!-- -->bob @^&#98;ob @^<x>bob",
    );
    becomes("<p>&nbsp@bob</p>", "<p>&nbsp@^bob</p>");
    becomes("me@bob.com @ x @-", "me@bob.com @ x @-");
    becomes("fixes&#64;bob", "fixes^&#64;^bob");
    becomes("@\u{200b}bob", "@^^bob");
}

#[test]
fn a_name_that_does_nothing_stays() {
    becomes("`@bob` @bob", "`@bob` @^bob");
    becomes("```\n@bob\n```\n@bob", "```\n@bob\n```\n@^bob");
    becomes(
        "https://medium.com/@bob/x /@bob",
        "https://medium.com/@bob/x /@^bob",
    );
    becomes(
        "[x](https://medium.com/@bob) [y](src/@types/x.ts) <https://medium.com/@bob>",
        "[x](https://medium.com/@bob) [y](src/@types/x.ts) <https://medium.com/@bob>",
    );
    becomes(
        "[`@a/b`]\n\n[`@a/b`]: https://medium.com/@bob",
        "[`@a/b`]\n\n[`@a/b`]: https://medium.com/@bob",
    );
    becomes("xhttps://medium.com/@bob", "xhttps://medium.com/@^bob");
    becomes("text\n[x]: @bob", "text\n[x]: @^bob");
}

#[test]
fn a_keyword_closes_nothing() {
    for (text, want) in [
        ("Fixes #1", "Fixes^ #1"),
        ("closes: a/b#1", "closes^: a/b#1"),
        ("RESOLVED GH-12", "RESOLVED^ GH-12"),
        ("fixes\n#1", "fixes^\n#1"),
        ("> fixes\n> #1", "> fixes^\n> #1"),
        ("fixes\u{a0}#1", "fixes^\u{a0}#1"),
        ("**fix** #1", "**fix^** #1"),
        ("_fixes #1_", "_fixes^ #1_"),
        ("fixes [#1](x)", "fixes^ [#1](x)"),
        ("fixes \\#1", "fixes^ \\#1"),
        ("fixes &#35;1", "fixes^ &#35;1"),
        ("fixes&nbsp;#1", "fixes^&nbsp;#1"),
        ("fixes #&#49;", "fixes^ #&#49;"),
        ("fixes GH&#45;1", "fixes^ GH&#45;1"),
        ("fixes a/b\\#1", "fixes^ a/b\\#1"),
        ("fixes <!-- --> #1", "fixes^ <!-- --> #1"),
        ("f&#105;xes #1", "f&#105;^xes #1"),
        ("fi<!-- -->xes #1", "fi<!-- -->^xes #1"),
        ("a&amp; #1", "a&amp; #1"),
        ("fixe&#115; #1", "fixe&#115;^ #1"),
        (
            "fixed https://github.com/a/b/issues/1",
            "fixed^ https://github.com/a/b/issues/1",
        ),
        (
            "fixed <https://github.com/a/b/pull/1>",
            "fixed^ <https://github.com/a/b/pull/1>",
        ),
        (
            "close https://github.com/a/b",
            "close https://github.com/a/b",
        ),
        ("prefixes #1", "prefixes #1"),
        ("fixes a/closes#1", "fixes^ a/closes#1"),
        ("`fixes #1`", "`fixes #1`"),
        ("fixes the #1", "fixes the #1"),
        ("fix\u{200b}", "fix^^"),
        ("#1 and GH-1", "#1 and GH-1"),
    ] {
        becomes(text, want);
    }
}

#[test]
fn nul_is_what_github_shows_for_it() {
    becomes("a\0b", "a\u{fffd}b");
    becomes("\u{fffd}", "\u{fffd}");
    becomes("\u{fffd}\u{200b}", "\u{fffd}^^");
    becomes("\0\u{200b}\0", "\u{fffd}^^\u{fffd}");
    becomes("`\0`", "`\u{fffd}`");
    let mixed = "\0\0\u{fffd}\0\u{fffd}\u{fffd}\0\0\0";
    assert!(neutralise(mixed).ends_with("made-safe nul:0-1,3,6-8 -->"));
    becomes(mixed, &"\u{fffd}".repeat(9));
    for list in ["", "x", "1-0", "0,", "+1", "99999999999999999999999"] {
        let text = format!("\u{fffd}\n<!-- planwright:made-safe nul:{list} -->");
        let want = if list.is_empty() {
            "\u{fffd}"
        } else {
            text.as_str()
        };
        assert_eq!(restore(&text), want, "{list}");
    }
}

#[test]
fn what_is_the_author_s_stays() {
    for text in [
        "",
        "\u{202e}x\u{202c} \u{2066}\u{feff}",
        "a\rb\r\nc\n\r",
        "---\ntitle: x\n---\n\n# A",
        "\u{feff}# A",
        "[a]: b\n[^1]: c",
        "<details>\n<summary>x</summary>\n\ny\n",
        "\u{1b}[0m \u{7f}",
    ] {
        assert_eq!(restore(&neutralise(text)), text);
    }
    becomes(
        "a\u{200b}\u{200b}b\u{200c}\u{200d}",
        "a^^^b\u{200c}\u{200d}",
    );
}

/// What is put behind a text that leaves something open.
#[track_caller]
fn closed_by(text: &str, want: &str) {
    let safe = neutralise(text);
    assert_eq!(safe.strip_prefix(text), Some(want), "{text:?}: {safe:?}");
    assert_eq!(restore(&safe), text);
}

#[test]
fn what_is_open_at_the_end_is_closed() {
    for (text, want) in [
        ("```\nx", "\n```\n<!-- planwright:made-safe fence -->"),
        (
            "~~~~ md\nx\n~~~\n",
            "\n~~~~\n<!-- planwright:made-safe fence -->",
        ),
        ("- ```\n  x", ""),
        ("<!-- x", "\n<!-- planwright:made-safe \"' -->"),
        ("> <!-- x", "\n<!-- planwright:made-safe \"' -->"),
        ("a <!-- x", ""),
        ("<!X", "\n<!-- planwright:made-safe \"' -->"),
        ("<?x", "\n<!-- planwright:made-safe \"' ?><!-- -->"),
        ("<?x a > b", "\n<!-- planwright:made-safe \"' ?><!-- -->"),
        ("<![CDATA[ x", "\n<!-- planwright:made-safe \"' ]]><!-- -->"),
        (
            "<script>\nx",
            "\n<!-- planwright:made-safe \"' </pre><!-- -->",
        ),
        ("<pre>x", "\n<!-- planwright:made-safe \"' </pre><!-- -->"),
        ("<pre>x</pre>", ""),
        ("<div title=\"x\n\ny", "\n<!-- planwright:made-safe \"' -->"),
        (
            "<details>\n\nx",
            "\n<!-- planwright:made-safe --></details >",
        ),
        (
            "<table><tr><td>\n\nx",
            "\n<!-- planwright:made-safe --></table>",
        ),
        ("x <b>y <i>z", "\n<!-- planwright:made-safe --></b></i>"),
        (
            "<b>\n\n<details>",
            "\n<!-- planwright:made-safe --></details ></b>",
        ),
        ("x <b>y</b> `<i>` \\<i> Vec<T>", ""),
    ] {
        closed_by(text, want);
    }
}

#[test]
fn what_a_browser_has_open() {
    for (html, unsettled, open) in [
        ("<p>a &lt;b</p>", false, ""),
        ("<!-->x", false, ""),
        ("<!-- a --!>x<!-- b", true, ""),
        ("<div a=\"x>", true, ""),
        ("<div a='x>", true, ""),
        ("<div \"x>", false, ""),
        ("<div =\"x>", false, ""),
        ("<div a = 'x>", true, ""),
        ("<div a=x'>", false, ""),
        ("</x", true, ""),
        ("<", false, ""),
        ("<ul><li><details></li></ul>", false, ""),
        ("<details><table><tr><td></details>", false, "table details"),
        ("<table><tr><td><details></td></tr></table>", false, ""),
        ("<p><details></p>", false, "details"),
        ("<a><a><b><b><b><b><br>", false, "a b b b"),
        ("<a><table><tr><td></a>", false, "table a"),
        ("<tr><td><b>", false, "b"),
        ("<object><b></object><i>", false, "i"),
        ("<DETAILS><div></Details>", false, ""),
        ("<script><details>", false, "details"),
        ("<é><détails></détails>", false, ""),
    ] {
        let found = open_at_end(html);
        assert_eq!(
            (found.in_markup, found.names.join(" ")),
            (unsettled, open.to_owned()),
            "{html}"
        );
    }
}

#[test]
fn a_text_that_was_never_neutralised_is_left_alone() {
    for text in [
        "@\u{200b}bob </details > <!--  erk:x --> \u{fffd}\u{200b}",
        "x <!-- planwright:made-safe -->",
        "x\n<!-- planwright:made-safe",
        "x\n<!-- planwright:made-safe --> y",
        "x\n<!-- planwright:made-safe fence -->",
        "x\n<!-- planwright:made-safe --></b",
        "x\n<!--  planwright:made-safe -->",
    ] {
        assert_eq!(restore(text), text);
    }
}

#[test]
fn a_text_edited_on_the_page_is_restored() {
    let text = neutralise("```\n@bob </details>\u{200b}");
    assert_eq!(restore(&neutralise(&text)), text);
    assert_eq!(
        restore(&text.replace('\n', "\r\n")),
        "```\r\n@bob </details>\u{200b}"
    );
    let more = format!("{}\n\nmore", neutralise("hi @bob"));
    assert_eq!(restore(&more), "hi @bob\n\nmore");
    assert_eq!(restore(&more.replace('\n', "\r\n")), "hi @bob\r\n\r\nmore");
}

#[test]
fn quiet_looks_the_same_but_does_nothing() {
    for (text, want) in [
        ("/save-plan now", "^/save-plan now"),
        ("a\n \t/cancel\r\n/x\r/y", "a\n \t^/cancel\r\n^/x\r^/y"),
        ("\u{feff}/save-plan", "^\u{feff}^/save-plan"),
        ("> /save-plan", "> /save-plan"),
        ("@bob fixes #1", "@^bob fixes^ #1"),
        ("<!-- planwright:x -->", "<!--  planwright:x -->"),
        ("```\nx", "```\nx\n```"),
        ("<b>x</b>", "<b>x</b>"),
        ("<b>x", "<^^b>x"),
        ("\u{feff}```", "^\u{feff}```"),
        ("~~~", "^^~~~"),
        ("``` rust", "^^``` rust"),
        ("~~~ a ```", "^^~~~ a ```"),
        ("```a```", "```a```"),
        ("a ~~~", "a ~~~"),
        ("<pre>x", "<^^pre>x"),
        ("x <!-- y", "x <^^!-- y"),
        (
            "<details><summary>original-plan</summary>y</details>",
            "<details><summary>original-plan^</summary>y</details >",
        ),
    ] {
        let quiet = quiet(text);
        assert_eq!(crate::block::parse(&quiet).blocks, []);
        assert_eq!(shown(&quiet), want);
        assert_eq!(command::parse(&quiet), []);
    }
}

#[test]
fn a_text_of_others_that_quotes_our_mark_is_given_back_as_it_is() {
    for text in [
        "```html\n<!-- planwright:made-safe -->\n```\n\n</details > and \u{200b}",
        "1. a\n\n   ```\n   x\n   <!-- planwright:made-safe -->\n   ```",
        "~~~\n<!-- planwright:made-safe nul:0 -->\nb\n",
        "The mark `<!-- planwright:made-safe -->` says so.\u{200b}",
    ] {
        assert_eq!(restore(text), text);
        assert_eq!(restore(&neutralise(text)), text);
    }
}
