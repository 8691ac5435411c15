//! Tests of `hidden`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;

use super::{in_plan, reads_the_same, visible};

fn seen(text: &str) -> String {
    visible(text).text
}

#[test]
fn what_people_do_not_see_goes() {
    for (source, want) in [
        ("a <!-- x --> b", "a  b"),
        ("a<!-- x -->b", "a b"),
        ("a\n\n<!-- x\ny -->\n\nb", "a\n\n\n\nb"),
        ("<!-- x", ""),
        ("a\n\n<!-- x\n\ny\n\nz", "a\n\n"),
        ("> <!-- x\n\nb", "> "),
        ("<!-->b", "b"),
        ("a <? x ?> b", "a  b"),
        ("a <!X y> b", "a  b"),
        ("a <![CDATA[ y ]]> b", "a  b"),
        ("<div><!--\n\na --> x\n\n-->\n\nb", "<div>"),
        ("<div title=\"\n\nx\n\n\">\n\nb", ""),
        ("<div x y z\n\nb", "\n\nb"),
        ("![x y](u)", "![](u)"),
        ("![x [y] z](u \"t\")", "![](u)"),
        ("![x][r]\n\n[r]: u 't'", "![][r]\n\n[r]: u"),
        ("![r]\n\n[r]: u", "![]\n\n"),
        ("[a](u \"t\")", "[a](u)"),
        ("[a](<u> 't')", "[a](<u>)"),
        ("[a](u (t))", "[a](u)"),
        ("[a](u\n\"t\")", "[a](u)"),
        ("[![x](i)](u \"t\")", "[![](i)](u)"),
        ("[//]: # (x)", ""),
        ("[//]: # \"x\"\nb", "\nb"),
        ("[x y]: u\n\nb", "\n\nb"),
        ("[a]\n\n[a]: u\n[a]: x", "[a]\n\n[a]: u\n"),
        ("> [a]\n>\n> [a]: u\n> \"x\"", "> [a]\n>\n> [a]: u"),
        ("a[^1]\n\n[^1]: b\n[^2]: x", "a[^1]\n\n[^1]: b\n"),
        ("<img alt=\"x\" src=\"u\" title='y'>", "<img src=\"u\">"),
        ("<img alt=x>", "<img>"),
        ("a <b data-x=\"y\" aria-label=z hidden>b</b>", "a <b>b</b>"),
        ("<p style=\"display:none\">a</p>", "<p>a</p>"),
        ("<input placeholder=\"x\" disabled>", "<input disabled>"),
        (
            "<details open title=\"x\">\n\na\n\n</details x y>",
            "<details open>\n\na\n\n</details>",
        ),
        ("a <x do this and that> b", "a <x> b"),
        ("a <do-this-and-that> b", "a  b"),
        ("> <b\n> title=\"x\">b</b>", "> <b>b</b>"),
        (
            "a&#8203;b&#x200B;c&shy;d&ZeroWidthSpace;e&#x000e0041;f",
            "abcdef",
        ),
        (
            "a\u{200b}b\u{202e}c\u{ad}d\u{e0041}\u{e0042}e\0f\u{85}g\u{7}h",
            "abcdefgh",
        ),
        ("```rust do this\nx\n```", "```rust\nx\n```"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\u{feff}# a", "# a"),
        ("`a\u{200b}b`", "`ab`"),
    ] {
        assert_eq!(seen(source), want, "{source:?}");
    }
}

#[test]
fn what_people_see_stays() {
    for text in [
        "",
        "# A\n\n- b\n- [ ] c\n",
        "`<!-- a -->` and `` <b x=y> ` ``",
        "```html\n<!-- a -->\n<img alt=\"x\">\n![a](b \"c\")\n&#8203;\n```",
        "    <!-- a -->\n",
        "~~~\nVec<String> -> Option<'a>\n~~~",
        "\\<!-- a --> b",
        "a < b and c > d, a <b, c> d",
        "a <!-- b\n\nc",
        "Vec<String> and <https://a.test/b> and <a@b.test>",
        "[a](https://a.test/b) [c] [d][e] [x]\n\n[e]: https://e.test",
        "- [ ] a\n- [x] b",
        "👩‍👩‍👧‍👦 ❤️ 1️⃣ 🏳️‍🌈",
        "a[^1]\n\n[^1]: b",
        "a <b>b</b><br/> <a href=\"https://a.test\">c</a>",
        "&lt;b&gt; &amp; &#64;",
        "日本語 العربية",
        "fn a<'b>(c: &'b str) -> d",
    ] {
        let cleaned = visible(text);
        assert_eq!(
            (cleaned.text.as_str(), cleaned.removed),
            (text, 0),
            "{text:?}"
        );
    }
}

#[test]
fn parts_are_counted() {
    assert_eq!(visible("a\u{200b}\u{200b}b <!-- x --> ![y](z)").removed, 3);
}

/// One layer comes to light when another is taken off.
#[test]
fn layers_hide_nothing() {
    for text in [
        "<!-\u{200b}- x -->",
        "&#82&#8203;03;x",
        "<!-- a -->```\nfoo\n<!-- b -->\n```\n<!-- c -->\n",
        "<x\u{200b} y>",
        "<!-- a --><!-- b --><!-- c --><!-- d",
        "&#8&#8&#8&#8&#8&#8203;203;203;203;203;203;",
    ] {
        let once = seen(text);
        assert_eq!(seen(&once), once, "{text:?}");
        assert!(!once.contains("<!--") || once.contains('`'), "{once:?}");
    }
}

/// Sizes that a text of GitHub has, repeated starts of things that never end.
#[test]
fn hostile_texts_take_no_time() {
    let begun = std::time::Instant::now();
    for unit in [
        "<!--",
        "<a ",
        "<a x=\"",
        "<a x='",
        "[](",
        "[](<",
        "](a \"",
        "![",
        "[",
        "`",
        "\\",
        "&#8203",
        "&",
        "<?",
        "<![CDATA[",
        "[a]: b\n",
        "[^a]: b\n",
        "> ",
        "<div><!--\n\n",
        "-->",
        "<div title=\"\n\n",
        "\u{200d}",
        "![a][b]",
        "```a b\n",
    ] {
        let text = unit.repeat(65_536 / unit.len());
        let once = seen(&text);
        assert!(once.len() <= text.len() * 3, "{unit:?}");
    }
    assert!(begun.elapsed().as_secs() < 60);
}

const TOKENS: &[&str] = &[
    "<!--",
    "-->",
    "<!-- a -->",
    "<",
    ">",
    "<b ",
    "title=\"",
    "\"",
    "'",
    "<div>\n",
    "<div",
    "</div>",
    "<x",
    "<?",
    "?>",
    "<!A",
    "]]>",
    "![",
    "[",
    "]",
    "](",
    ")",
    "(u \"t\")",
    // With a line behind it, as the parser takes the words of a next line for the title of this,
    // and shows them too.
    "[a]: u\n\n",
    "[a]: u \"t\"\n\n",
    "[a]",
    "[^a]",
    "[^a]: ",
    "\n",
    "\n",
    "\n\n",
    "\n\n",
    " ",
    "    ",
    "> ",
    "- ",
    "`",
    "``",
    "```",
    "```\n",
    "~~~\n",
    "a",
    "b c",
    "\\",
    "&#8203;",
    "&#",
    "82",
    "03;",
    "&shy;",
    "\u{200b}",
    "\u{200d}",
    "\u{fe0f}",
    "👩",
    "❤",
    "\u{e0041}",
    "\0",
    "\r",
    "#",
    "---\n",
    "é",
    "=",
    "/",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        12 => proptest::sample::select(TOKENS).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if std::env::var_os("CI").is_some() { 50_000 } else { 2_000 },
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_262),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_second_time_changes_nothing(text in text()) {
        let once = visible(&text);
        let twice = visible(&once.text);
        prop_assert_eq!(twice.removed, 0, "{:?}", once.text);
        prop_assert_eq!(twice.text, once.text);
    }

    /// What the page shows has no comment, no title and nothing without a width.
    #[test]
    fn no_page_of_it_has_hidden_text(text in text()) {
        let once = visible(&text).text;
        let mut options = crate::markdown::options();
        options.render.r#unsafe = true;
        let page = comrak::markdown_to_html(&once, &options);
        prop_assert!(!page.contains("<!--"), "{:?} from {:?}", page, once);
        for tag in page.split('<').skip(1).filter_map(|piece| piece.split_once('>')) {
            for attribute in [" title=\"", " alt=\""] {
                let value = tag.0.split_once(attribute).and_then(|(_, rest)| rest.split_once('"'));
                let hidden = value.is_some_and(|(value, _)| !value.is_empty());
                prop_assert!(!hidden, "{:?} from {:?}", page, once);
            }
        }
        let unseen = once
            .chars()
            .any(|c| super::invisible::is_invisible(c) && c != '\u{200d}' && c != '\u{fe0f}');
        prop_assert!(!unseen, "{:?}", once);
    }
}

#[test]
fn the_hidden_parts_of_a_plan_are_shown_and_markers_of_blocks_are_none() {
    for (plan, want) in [
        ("# Plan\n\n1. Do it", &[][..]),
        ("a <!-- run x --> b", &["<!-- run x -->"]),
        ("a\u{200b}b\u{202e}", &["<U+200B>", "<U+202E>"]),
        // Tag characters spell ASCII.
        ("a\u{e0072}\u{e006d}", &["rm"]),
        ("`<!-- code -->`\n\n```html\n<!-- code -->\n```", &[]),
        ("    <!-- code -->", &[]),
        (
            "<!-- erk:metadata-block:plan-body -->\n\na\n\n<!-- /erk:metadata-block:plan-body -->",
            &[],
        ),
        (
            "<!-- WARNING: Machine-generated. Manual edits may break erk tooling. -->",
            &[],
        ),
        ("<!-- planwright:part 1/2 -->", &[]),
        (
            "<!-- planwright: run this first -->",
            &["<!-- planwright: run this first -->"],
        ),
        (
            "<!-- erk:plan-content do as I say -->",
            &["<!-- erk:plan-content do as I say -->"],
        ),
        ("![run it](x.png)", &["run it"]),
        ("[//]: # (run it)", &["[//]: # (run it)"]),
    ] {
        assert_eq!(in_plan(plan), want, "{plan:?}");
    }
}

#[test]
fn a_text_reads_the_same_without_what_people_do_not_see() {
    for (a, b, same) in [
        ("# A\n\n<!-- x -->\n\nb", "# A\n\n\n\nb", true),
        ("a <!-- x --> b", "a  b", true),
        ("<!-- x --> b", " b", true),
        ("a\u{200b}b", "ab", true),
        ("![alt](x)", "![](x)", true),
        ("a [b](c \"t\")", "a [b](c)", true),
        ("```rust do\nx\n```", "```rust\nx\n```", true),
        ("<div>\nseen<!-- x -->\n</div>", "<div>\nseen\n</div>", true),
        ("a b", "a", false),
        ("# a", "a", false),
        ("# a", "## a", false),
        ("```\na\n```", "a", false),
    ] {
        assert_eq!(reads_the_same(a, b), same, "{a:?} {b:?}");
    }
}

proptest! {
    #[test]
    fn what_is_shown_of_hidden_text_can_be_seen(text in ".{0,200}") {
        for part in in_plan(&text) {
            prop_assert_eq!(super::without_invisible(&part), part.as_str());
        }
    }
}
