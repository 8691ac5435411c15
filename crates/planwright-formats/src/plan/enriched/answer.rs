//! Takes off what chat puts around an answer.

use std::borrow::Cow;
use std::ops::Range;

use crate::markdown::{self, Block, Kind};
use crate::plan::document;
use crate::plan::inline;

/// Comments with a meaning to us.
const OURS: &str = "planwright";

/// How a question to people begins in an answer.
const QUESTION: &str = "QUESTION";

/// Words by which an assistant asks whether to go on, in a paragraph of its own at the end.
const CHATTER: [&str; 14] = [
    "would you like",
    "do you want",
    "shall i",
    "should i proceed",
    "should i go ahead",
    "should i start",
    "want me to",
    "let me know if",
    "let me know whether",
    "let me know how",
    "may i proceed",
    "ready to proceed",
    "can i proceed",
    "happy to adjust",
];

/// Longest paragraph that is taken for chatter, in bytes.
const CHATTER_MAX: usize = 400;

/// `text` without a fence around all of it, without words before its first heading when that is the heading of an
/// answer.
pub(super) fn bare(text: &str) -> Cow<'_, str> {
    let unfenced = unfenced(text);
    let blocks = markdown::blocks(unfenced);
    let first = blocks
        .iter()
        .find(|block| matches!(block.kind, Kind::Heading { .. }));
    match first {
        Some(block) if is_answer(block) => Cow::Borrowed(&unfenced[block.span.start..]),
        _ => Cow::Borrowed(unfenced),
    }
}

fn is_answer(block: &Block) -> bool {
    matches!(&block.kind, Kind::Heading { level: 1, text, .. } if text.starts_with("Plan:"))
        || matches!(&block.kind, Kind::Heading { level: 2, text, .. } if text.starts_with("Error:"))
}

/// What is in a fence for Markdown that begins with the heading of an answer. The fence ends at the last line that can
/// end it: code in the plan is fenced as well.
fn unfenced(text: &str) -> &str {
    let blocks = markdown::blocks(text);
    let lead = blocks
        .iter()
        .find(|block| !matches!(block.kind, Kind::Paragraph { .. }));
    let Some(Block {
        kind: Kind::Code {
            info, fenced: true, ..
        },
        span,
        ..
    }) = lead
    else {
        return text;
    };
    if !["", "md", "markdown"].contains(&info.trim().to_ascii_lowercase().as_str()) {
        return text;
    }
    let code = &text[span.start..];
    let Some((open, inside)) = code.split_once('\n') else {
        return text;
    };
    let fence = open.trim();
    let fence = &fence[..fence.find(|c| c != '`' && c != '~').unwrap_or(fence.len())];
    let begins = inside.trim_start();
    if !(begins.starts_with("# Plan:") || begins.starts_with("## Error:")) {
        return text;
    }
    let mut at = inside.len();
    for line in inside.split_inclusive('\n').rev() {
        at -= line.len();
        if line.trim() == fence {
            return &inside[..at];
        }
    }
    inside
}

/// What can be used of an answer whose frame is not complete.
pub(super) struct Loose {
    /// The words behind `# Plan:`.
    pub(super) title: Option<String>,
    /// Everything below.
    pub(super) body: String,
}

/// Title and rest of a text that is no plan document.
pub(super) fn without_frame(text: &str) -> Loose {
    let blocks = markdown::blocks(text);
    let first = blocks
        .iter()
        .position(|block| matches!(block.kind, Kind::Heading { .. }));
    let heading = first.and_then(|at| match &blocks[at].kind {
        Kind::Heading { level: 1, text, .. } => text
            .strip_prefix("Plan:")
            .map(|title| (at, inline::one_line(title))),
        _ => None,
    });
    let Some((at, title)) = heading else {
        return Loose {
            title: None,
            body: text.to_owned(),
        };
    };
    let framed = document::body(text);
    let body = if framed.len() < text.len() {
        framed
    } else {
        &text[blocks[at].span.end..]
    };
    Loose {
        title: Some(title).filter(|title| !title.is_empty()),
        body: body.trim_start_matches('\n').to_owned(),
    }
}

/// There is a section `## Enrichment Details`.
pub(super) fn has_details(text: &str) -> bool {
    markdown::blocks(text).iter().any(is_details)
}

/// The heading of the enrichment part.
pub(super) fn is_details(block: &Block) -> bool {
    matches!(&block.kind, Kind::Heading { level: 1 | 2, text, .. } if text.trim().eq_ignore_ascii_case("Enrichment Details"))
}

/// The head says `Guidance applied: no`.
pub(super) fn says_guidance_no(text: &str) -> bool {
    let head = &text[..text.len() - document::body(text).len()];
    head.lines().any(|line| {
        line.split_once("Guidance applied")
            .is_some_and(|(_, value)| {
                value
                    .trim_matches(|c: char| !c.is_alphabetic())
                    .eq_ignore_ascii_case("no")
            })
    })
}

/// The plan of a body: unwrapped when it is a plan document itself, comments of ours and a last question to the reader
/// taken out, `@` as people write it, no commands.
pub(super) fn plan(body: &str, candidate: Option<&str>) -> String {
    let mut text = body;
    for _ in 0..3 {
        if !document::is_success_document(text) {
            break;
        }
        text = document::body(text);
    }
    let mut plan = without_marks(text);
    if !candidate.is_some_and(|candidate| candidate.contains('＠')) {
        plan = plan.replace('＠', "@");
    }
    let end = chatter(&plan);
    plan.truncate(end);
    without_commands(plan)
}

/// `plan` with a backslash, which people do not see, before what is the first word of a line outside code and begins
/// with `/`: what the bot posts must not command other bots.
fn without_commands(plan: String) -> String {
    let mut at = 0;
    let mut places = Vec::new();
    for line in plan.split_inclusive('\n') {
        let word = line
            .trim_start_matches(|c: char| c.is_whitespace() || "\u{feff}\u{200b}>-*+".contains(c));
        let begins = word
            .strip_prefix('/')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        if begins {
            places.push(at + line.len() - word.len());
        }
        at += line.len();
    }
    if places.is_empty() {
        return plan;
    }
    let code = markdown::in_code(&plan, &places);
    let mut out = String::with_capacity(plan.len() + places.len());
    let mut from = 0;
    for (at, _) in places.into_iter().zip(code).filter(|(_, code)| !code) {
        out.push_str(&plan[from..at]);
        out.push('\\');
        from = at;
    }
    out.push_str(&plan[from..]);
    out
}

/// `text` as an agent is told it and writes it back: without hidden text.
pub(super) fn as_told(text: &str) -> String {
    super::told(text).replace('＠', "@")
}

/// A question marker outside code.
pub(super) fn asks(text: &str) -> bool {
    !comments(text, QUESTION).is_empty()
}

fn without_marks(text: &str) -> String {
    let mut text = text.to_owned();
    // Taking one out can put another one together.
    for _ in 0..4 {
        let marks = comments(&text, OURS);
        if marks.is_empty() {
            return text;
        }
        let mut rest = String::with_capacity(text.len());
        let mut at = 0;
        for mark in marks {
            rest.push_str(&text[at..mark.start]);
            at = mark.end;
        }
        rest.push_str(&text[at..]);
        text = rest;
    }
    without_openings(text)
}

/// `text` with `<! --` for every `<!--` outside code: the plan hides nothing from people.
fn without_openings(mut text: String) -> String {
    // A comment that is shown can open or close code behind it, so the text is gone through again.
    for _ in 0..4 {
        let places: Vec<usize> = text.match_indices("<!--").map(|(at, _)| at).collect();
        let code = markdown::in_code(&text, &places);
        let live: Vec<usize> = places
            .into_iter()
            .zip(code)
            .filter(|(_, code)| !code)
            .map(|(at, _)| at)
            .collect();
        if live.is_empty() {
            return text;
        }
        let mut shown = String::with_capacity(text.len() + live.len());
        let mut from = 0;
        for at in live {
            shown.push_str(&text[from..at]);
            shown.push_str("<! --");
            from = at + 4;
        }
        shown.push_str(&text[from..]);
        text = shown;
    }
    text.replace("<!--", "<! --")
}

/// Comments outside code that begin with `word`, blanks and a `/` before it aside. One without an
/// end on its own lines, before a blank line or a list item, goes on to the end of its line: what
/// follows is the plan.
fn comments(text: &str, word: &str) -> Vec<Range<usize>> {
    let places: Vec<usize> = text.match_indices("<!--").map(|(at, _)| at).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let code = markdown::in_code(text, &places);
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, code) in places.into_iter().zip(code) {
        let inside = &text[at + 4..];
        let begins = inside
            .trim_start()
            .trim_start_matches('/')
            .starts_with(word);
        if code || !begins || found.last().is_some_and(|last| at < last.end) {
            continue;
        }
        let end = match inside.find("-->") {
            Some(end) if !inside[..end].lines().skip(1).any(begins_block) => end + 3,
            _ => inside.find('\n').unwrap_or(inside.len()),
        };
        found.push(at..at + 4 + end);
    }
    found
}

/// Whether a line of a plan begins something new: a blank line, a list item, a heading.
fn begins_block(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = number.len() < line.len() && number.starts_with(['.', ')']);
    line.is_empty() || numbered || line.starts_with(['#', '-', '*', '+', '|', '>', '`', '~'])
}

/// Where the last paragraph begins when it only asks the reader whether to go on; else the text's end.
fn chatter(text: &str) -> usize {
    let blocks = markdown::blocks(text);
    let [.., before, last] = blocks.as_slice() else {
        return text.len();
    };
    let Kind::Paragraph { text: words } = &last.kind else {
        return text.len();
    };
    let lower = words.to_lowercase().replace('’', "'");
    let asks = CHATTER
        .iter()
        .any(|cue| lower.starts_with(cue) || lower.ends_with('?') && lower.contains(cue));
    // Below a heading it is the section's text.
    let own = !matches!(before.kind, Kind::Heading { .. });
    if !(asks && own && words.len() <= CHATTER_MAX) {
        return text.len();
    }
    if before.kind == Kind::Rule {
        before.span.start
    } else {
        last.span.start
    }
}
