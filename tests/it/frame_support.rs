//! Hostile texts for the frame, and a renderer for the page that GitHub would make of a text.

use std::sync::LazyLock;

use ammonia::Builder;
use planwright::formats::markdown;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The configuration of properties: `PLANWRIGHT_CASES` texts, 2,000 by default.
pub(crate) fn config() -> ProptestConfig {
    let cases = std::env::var("PLANWRIGHT_CASES").ok();
    ProptestConfig {
        cases: cases.and_then(|cases| cases.parse().ok()).unwrap_or(2_000),
        failure_persistence: None,
        // The same texts every time: a failure comes from a change, not from luck.
        rng_seed: RngSeed::Fixed(20_261),
        ..ProptestConfig::default()
    }
}

/// Tokens of frames, Markdown, HTML, mentions and closing keywords, whole and in pieces.
const TOKENS: &[&str] = &[
    "\n",
    "\n",
    "\n",
    "\n\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    " ",
    "    ",
    "\t",
    "\u{200b}",
    "\u{200b}\u{200b}",
    "\u{feff}",
    "\u{202e}",
    "\u{2066}",
    "\u{200d}",
    "\u{a0}",
    "\0",
    "\u{fffd}",
    "a",
    "é",
    "日本",
    "word ",
    "_",
    "*",
    "**",
    "~~",
    "\\",
    "@",
    "@bob",
    "@org/team",
    "/close",
    "/lgtm ",
    "!deploy",
    "bors r+",
    "@bob-",
    "a@b.co ",
    "&#64;bob",
    "&commat;",
    "&#64;",
    "&#64",
    "&#64bob",
    "&#x40",
    "&#X0000000000000040;",
    "&#0000000000064",
    "&#32",
    "&#00000000000000000000000000000000000000032",
    "&nbsp",
    "&amp",
    "@<!-- -->bob",
    "https://x.co/@bob ",
    "[a](https://x.co/@bob)",
    "[a](/@bob)",
    "[b]: https://x.co/@bob\n",
    "[b]",
    "fixes",
    "Closes",
    "resolved",
    "fi",
    "xes",
    "fix ",
    ":",
    " #1",
    "#1",
    " \\#1",
    " &#35;1",
    "&nbsp;#1",
    " GH-1",
    " a/b#2",
    " https://github.com/a/b/issues/3 ",
    "f&#105;xes #1",
    "f&#105x #1",
    "f&#x69",
    "&#102i&#000000000000000120",
    "&#35",
    "&#49",
    "fi<!-- -->xes #1",
    "</details>",
    "</details >",
    "</DETAILS  >",
    "</details",
    "<details>",
    "<details open>\n",
    "<summary>x</summary>",
    "</summary>",
    ">",
    "<",
    "<!--",
    "-->",
    "<!-- x",
    "<!-- x -->",
    "<?",
    "?>",
    "<!X",
    "<![CDATA[",
    "]]>",
    "<pre>",
    "</pre>",
    "<script>",
    "</script>",
    "<style>",
    "<textarea>",
    "<b>",
    "</b>",
    "<i x=\"",
    "\"",
    "'",
    "<div title='",
    "<table><tr><td>",
    "</table>",
    "</td>",
    "<a href=\"x\">",
    "</a>",
    "<p>",
    "<p>",
    "<div>",
    "<div>\n",
    "</p>",
    "</div>",
    "<T>",
    "</T>",
    "fi<T>x",
    "<!-- erk:plan-content -->",
    "<!-- /erk:plan-content -->",
    "<!-- erk:metadata-block:plan-body -->",
    "<!-- /erk:metadata-block:plan-body -->",
    "<!-- /erk:metadata-block -->",
    "<!-- planwright:made-safe -->",
    "<!-- planwright:made-safe fence -->",
    "<!-- planwright:cut -->",
    "<!-- WARNING: Machine-generated. Manual edits may break erk tooling. -->\n",
    "```",
    "```\n",
    "````md\n",
    "~~~~\n",
    "`",
    "`` ",
    "- ",
    "1. ",
    "> ",
    "# ",
    "---\n",
    "===\n",
    "|",
    "| a | b |\n|---|---|\n| c |",
    "[",
    "](",
    ")",
    "[^1]",
    "- [ ] ",
];

/// A text of such tokens and some arbitrary characters.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        12 => proptest::sample::select(TOKENS).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[ -~]{0,6}",
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Tags that GitHub shows as text: the extension "Disallowed Raw HTML" of its Markdown.
const SHOWN_AS_TEXT: &[&str] = &[
    "title",
    "textarea",
    "style",
    "xmp",
    "iframe",
    "noembed",
    "noframes",
    "script",
    "plaintext",
];

/// `source` as HTML, before it is cleaned.
pub(crate) fn html(source: &str) -> String {
    let mut options = markdown::options();
    options.parse.leave_footnote_definitions = false;
    options.render.r#unsafe = true;
    let html = comrak::markdown_to_html(source, &options);
    let mut filtered = String::with_capacity(html.len());
    for (index, piece) in html.split('<').enumerate() {
        let name = piece.strip_prefix('/').unwrap_or(piece);
        let shown = SHOWN_AS_TEXT.iter().any(|tag| {
            name.get(..tag.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(tag))
                && name[tag.len()..].starts_with([' ', '\t', '\n', '>', '/'])
        });
        if index > 0 {
            filtered.push_str(if shown { "&lt;" } else { "<" });
        }
        filtered.push_str(piece);
    }
    filtered
}

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::default();
    builder
        .link_rel(None)
        .add_tags(["input", "section"])
        .add_tag_attributes("details", ["open"]);
    builder
});

/// The elements a browser makes of `html`, written as well-formed HTML; comments and what is unsafe are gone.
pub(crate) fn page(html: &str) -> String {
    CLEANER.clean(html).to_string()
}
