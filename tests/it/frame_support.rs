//! Hostile texts for the frame, a renderer for the page that GitHub would make of a text, and what
//! readers find on that page.

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

/// The elements a browser makes of `html`, written as well-formed HTML; comments and what is unsafe
/// are gone.
pub(crate) fn page(html: &str) -> String {
    CLEANER.clean(html).to_string()
}

/// What is seen of `source` in the middle of a page, without what has no width: its elements and
/// its text; or, when it leaves elements open, whose end then is in another place, its text alone.
pub(crate) fn looks(source: &str, text_alone: bool) -> String {
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
pub(crate) fn left_open(neutralised: &str) -> bool {
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

/// The text of the page that GitHub makes of `source`, as a browser reads it, without code, in
/// pieces that GitHub searches one by one: `tight` ends a piece at every tag, as for mentions, and
/// leaves out links.
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

/// What erk's current code reads as the plan in a comment: from the first opening marker to the
/// first closing marker of the key, then from the first `</summary>` to the first `</details>`,
/// stripped.
pub(crate) fn erk_reads_block(comment: &str) -> Option<&str> {
    let (_, rest) = comment.split_once("<!-- erk:metadata-block:plan-body -->")?;
    let end = [
        "<!-- /erk:metadata-block -->",
        "<!-- /erk:metadata-block:plan-body -->",
    ]
    .iter()
    .filter_map(|closing| rest.find(closing))
    .min()?;
    let rest = rest[..end].trim();
    let at = ["<details>", "<details open>"]
        .iter()
        .find_map(|tag| rest.strip_prefix(tag))?;
    let (_, rest) = at
        .trim_start()
        .strip_prefix("<summary>")?
        .split_once("</summary>")?;
    rest.split_once("</details>").map(|(plan, _)| plan.trim())
}
