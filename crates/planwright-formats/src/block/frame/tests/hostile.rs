//! What hostile texts could get through, and what an edit on the page could change.

use super::super::super::{neutralise, plan_body, plans, quiet, restore};
use super::{becomes, shown};

/// A browser needs no semicolon behind a number, and counts no zeros before it.
#[test]
fn an_entity_in_raw_html_hides_nothing_however_it_is_written() {
    for (text, want) in [
        ("<p>&#64octocat hi</p>", "<p>&#64^octocat hi</p>"),
        (
            "<div>\n&#x40octocat hi\n</div>",
            "<div>\n&#x40^octocat hi\n</div>",
        ),
        (
            "<p>&#0000000000064;octocat</p>",
            "<p>&#0000000000064;^octocat</p>",
        ),
        ("> <p>&#X000040hubot", "> <p>&#X000040^hubot"),
        ("<p>&#64&#98ob</p>", "<p>&#64^&#98ob</p>"),
        ("<div>\nf&#105x #1\n</div>", "<div>\nf&#105^x #1\n</div>"),
        (
            "<p>f&#0000000000105;x #1</p>",
            "<p>f&#0000000000105;^x #1</p>",
        ),
        ("<p>fi&#120 #1</p>", "<p>fi&#120^ #1</p>"),
        ("<p>&#32fixes #1</p>", "<p>&#32fixes^ #1</p>"),
        ("<p>&nbspfixes #1</p>", "<p>&nbspfixes^ #1</p>"),
        ("<p>prefixes #1</p>", "<p>prefixes #1</p>"),
        // Another character; and one too big for any.
        ("<p>&#x40bob &#640bob</p>", "<p>&#x40bob &#640bob</p>"),
        ("<p>&#4294967360bob</p>", "<p>&#4294967360bob</p>"),
        // In Markdown it is no entity without the semicolon.
        ("&#64octocat f&#105x #1", "&#64octocat f&#105x #1"),
    ] {
        becomes(text, want);
    }
    let zeros = "0".repeat(100_000);
    becomes(
        &format!("<p>&#{zeros}64bob &#{zeros}32@bob</p>"),
        &format!("<p>&#{zeros}64^bob &#{zeros}32@^bob</p>"),
    );
    assert_eq!(shown(&quiet("<p>&#64bob</p>")), "<p>&#64^bob</p>");
}

/// GitHub drops tags that it does not know, and what was in pieces is whole.
#[test]
fn a_keyword_in_pieces_before_a_closing_tag_closes_nothing() {
    for (text, want) in [
        ("fi<x>xes</x> #1", "fi<x>^xes</x> #1"),
        ("fi<x>x</x> #1", "fi<x>^x</x> #1"),
        ("fi<x y=\" <b\">x</x> #1", "fi<x y=\" <b\">^x</x> #1"),
        ("fi&#120;</x> #1", "fi&#120;^</x> #1"),
    ] {
        let safe = neutralise(text);
        assert!(shown(&safe).starts_with(want), "{safe:?}");
        assert_eq!(restore(&safe), text);
    }
    becomes(
        "a <b>x</b> and <kbd>d</kbd>, <i>s</i>",
        "a <b>x</b> and <kbd>d</kbd>, <i>s</i>",
    );
}

#[test]
fn a_tag_with_the_name_of_a_keyword_stays_a_tag() {
    for text in ["<fixes> #1", "<fixes > #1", "</fix> #1", "\\<fixes> #1"] {
        becomes(text, text);
    }
}

/// The quotes of the link, or of the code, end the attribute, and what was an address or code is
/// text.
#[test]
fn a_tag_open_at_the_end_of_raw_html_makes_no_link_and_no_code_of_what_follows() {
    for (text, want) in [
        (
            "<!-- x --><i x=\"\nhttps://x.co/@bob ",
            "<!-- x --><i x=\"\nhttps://x.co/@^bob ",
        ),
        (
            "<!-- x --><i x=\"\n```md\n@bob\n```",
            "<!-- x --><i x=\"\n```md\n@^bob\n```",
        ),
    ] {
        let safe = neutralise(text);
        assert!(shown(&safe).starts_with(want), "{safe:?}");
        assert_eq!(restore(&safe), text);
    }
}

/// Each of the many keywords would read up to the end of the text.
#[test]
fn a_name_longer_than_any_is_read_no_further() {
    for unit in ["fix_www.a/", "fix_", "fix a/", "fix_https://a/b/c/d/"] {
        let many = unit.repeat(131_072 / unit.len());
        becomes(&many, &many);
    }
    let host = "a".repeat(253);
    becomes(
        &format!("fix https://{host}/a/b/pull/1"),
        &format!("fix^ https://{host}/a/b/pull/1"),
    );
    becomes(
        &format!("fix https://a{host}/a/b/pull/1"),
        &format!("fix https://a{host}/a/b/pull/1"),
    );
    for behind in ["kind/&amp;", "b/pull/1"] {
        let text = format!("fix https://github.com/a/b/{behind}");
        becomes(&text, &text);
    }
}

/// Without the word in the mark, nobody could tell whose CR it is.
#[test]
fn a_cr_before_the_mark_is_the_page_s_or_the_author_s() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    for text in ["a @bob", "a\n@bob\n", "```\n\0", "@bob\n\n```"] {
        assert_eq!(restore(&crlf(&neutralise(text))), crlf(text));
        let page = crlf(&plan_body(text));
        assert_eq!(plans(&page), [crlf(text)], "{page:?}");
    }
    for text in [
        "@bob\r",
        "@bob\r\r",
        "\r\n@bob\r",
        "```\n@bob\r",
        "<pre>\0\r",
    ] {
        let safe = neutralise(text);
        assert!(safe.contains(" cr"), "{safe:?}");
        assert_eq!(restore(&safe), text);
        assert_eq!(restore(&restore(&neutralise(&safe))), text);
        assert_eq!(plans(&plan_body(text)), [text]);
    }
    // The author's line end and the one before the mark are one on GitHub's page.
    let page = neutralise("@bob\r").replace("\r\n", "\n");
    assert_eq!(restore(&crlf(&page)), "@bob\r");
}
