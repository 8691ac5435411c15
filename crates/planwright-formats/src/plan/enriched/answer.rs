//! Removal of everything that chat adds to the plan in an agent's answer.

use std::ops::Range;

use crate::hidden;
use crate::markdown::{self, Block, BlockKind};
use crate::plan::document;
use crate::text::one_line;
use crate::words::WORDS;

/// Beginning of the comments that Planwright interprets.
const MARK_COMMENT: &str = "planwright";

/// Beginning of the comments in which agents ask questions.
const QUESTION_COMMENT: &str = "QUESTION";

/// Number of passes over a text in which each removal can form another match.
const MAX_PASSES: usize = 4;

/// Number of nested plan documents that are unwrapped.
const MAX_NESTED_DOCUMENTS: usize = 3;

/// Maximum length of a closing question, in bytes.
const MAX_CLOSING_BYTES: usize = 400;

/// Removes a fence around the whole answer, and the text before its first heading if that begins a
/// plan or an error.
pub(super) fn bare(text: &str) -> &str {
    let unfenced = unfenced(text);
    let blocks = markdown::blocks(unfenced);
    let first = blocks.iter().find(|block| block.heading().is_some());
    match first.map(|block| (block, block.heading())) {
        Some((block, Some((1, title)))) if title.starts_with("Plan:") => {
            &unfenced[block.span.start..]
        }
        Some((block, Some((2, title)))) if title.starts_with("Error:") => {
            &unfenced[block.span.start..]
        }
        _ => unfenced,
    }
}

/// Returns the content of a Markdown fence that begins with the heading of an answer. Since code in
/// the plan may be fenced as well, the fence ends at the last line that can close it.
fn unfenced(text: &str) -> &str {
    let blocks = markdown::blocks(text);
    let lead = blocks
        .iter()
        .find(|block| !matches!(block.kind, BlockKind::Paragraph { .. }));
    let Some(Block {
        kind: BlockKind::Code {
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

/// Returns title and body of a text that is no complete plan document.
pub(super) fn without_frame(text: &str) -> (Option<String>, String) {
    let blocks = markdown::blocks(text);
    let first = blocks.iter().find(|block| block.heading().is_some());
    let heading = first.and_then(|block| match block.heading()? {
        (1, title) => Some((block.span.end, one_line(title.strip_prefix("Plan:")?))),
        _ => None,
    });
    let Some((end, title)) = heading else {
        return (None, text.to_owned());
    };
    let framed = document::plan_body(text);
    let body = if framed.len() < text.len() {
        framed
    } else {
        &text[end..]
    };
    let body = body.trim_start_matches('\n').to_owned();
    (Some(title).filter(|title| !title.is_empty()), body)
}

/// Returns true if there is a section `## Enrichment Details`.
pub(super) fn has_details(text: &str) -> bool {
    markdown::blocks(text).iter().any(is_details)
}

/// Returns true for the heading `## Enrichment Details`.
pub(super) fn is_details(block: &Block) -> bool {
    matches!(block.heading(), Some((1 | 2, text)) if text.trim().eq_ignore_ascii_case("Enrichment Details"))
}

/// Returns true if the head of the document contains `Guidance applied: no`.
pub(super) fn denies_guidance(text: &str) -> bool {
    let head = &text[..text.len() - document::plan_body(text).len()];
    let mut values = head
        .lines()
        .filter_map(|line| line.split_once("Guidance applied"));
    values.any(|(_, value)| {
        let value = value.trim_matches(|c: char| !c.is_alphabetic());
        value.eq_ignore_ascii_case("no")
    })
}

/// Cleans the body of an answer.
///
/// Unwraps nested plan documents, removes Planwright's comments and a closing question to the
/// reader, restores `@`, and escapes commands.
pub(super) fn plan(body: &str, candidate: Option<&str>) -> String {
    let mut text = body;
    for _ in 0..MAX_NESTED_DOCUMENTS {
        if !document::is_success_document(text) {
            break;
        }
        text = document::plan_body(text);
    }
    let mut plan = without_marks(text);
    if !candidate.is_some_and(|candidate| candidate.contains('＠')) {
        plan = plan.replace('＠', "@");
    }
    let end = closing_question(&plan);
    plan.truncate(end);
    escape_commands(&plan)
}

/// Inserts a backslash, which is not rendered, before `/` at the beginning of lines outside code,
/// so that posting the plan triggers no other bots.
fn escape_commands(plan: &str) -> String {
    let mut at = 0;
    let mut offsets = Vec::new();
    for line in plan.split_inclusive('\n') {
        let word = line
            .trim_start_matches(|c: char| c.is_whitespace() || "\u{feff}\u{200b}>-*+".contains(c));
        let begins = word
            .strip_prefix('/')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        if begins {
            offsets.push(at + line.len() - word.len());
        }
        at += line.len();
    }
    let offsets = outside_code(plan, offsets);
    replace(plan, offsets.into_iter().map(|at| at..at), "\\")
}

/// Returns the offsets that are not in code.
fn outside_code(text: &str, offsets: Vec<usize>) -> Vec<usize> {
    if offsets.is_empty() {
        return offsets;
    }
    let code = markdown::in_code(text, &offsets);
    let live = offsets.into_iter().zip(code).filter(|(_, code)| !code);
    live.map(|(at, _)| at).collect()
}

/// Replaces disjoint ranges of `text`, which must be in ascending order.
fn replace(text: &str, ranges: impl Iterator<Item = Range<usize>>, with: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        out.push_str(&text[from..range.start]);
        out.push_str(with);
        from = range.end;
    }
    out.push_str(&text[from..]);
    out
}

/// Returns `text` as an agent receives it and writes it back: without hidden text.
pub(super) fn as_prompted(text: &str) -> String {
    hidden::visible(text).text.replace('＠', "@")
}

/// Returns true if there is a question marker outside code.
pub(super) fn has_question(text: &str) -> bool {
    !comments(text, QUESTION_COMMENT).is_empty()
}

fn without_marks(text: &str) -> String {
    let mut text = text.to_owned();
    // A removal can join the parts of another mark.
    for _ in 0..MAX_PASSES {
        let marks = comments(&text, MARK_COMMENT);
        if marks.is_empty() {
            return text;
        }
        text = replace(&text, marks.into_iter(), "");
    }
    expose_comments(text)
}

/// Replaces every `<!--` outside code by `<! --`, so that the plan hides nothing from people.
fn expose_comments(mut text: String) -> String {
    // An exposed comment can open or close code, so that the positions of code change.
    for _ in 0..MAX_PASSES {
        let offsets = outside_code(&text, comment_offsets(&text));
        if offsets.is_empty() {
            return text;
        }
        text = replace(&text, offsets.into_iter().map(|at| at..at + 4), "<! --");
    }
    text.replace("<!--", "<! --")
}

fn comment_offsets(text: &str) -> Vec<usize> {
    text.match_indices("<!--").map(|(at, _)| at).collect()
}

/// Returns the comments outside code that begin with `word`, after optional spaces and `/`.
///
/// A comment that is not closed before the next blank line, list item or heading extends to the end
/// of its line only, since the text after it belongs to the plan.
fn comments(text: &str, word: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in outside_code(text, comment_offsets(text)) {
        let inside = &text[at + 4..];
        let begins = inside
            .trim_start()
            .trim_start_matches('/')
            .starts_with(word);
        if !begins || found.last().is_some_and(|last| at < last.end) {
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

/// Returns true for a blank line and for lines that begin a Markdown block such as a list item or
/// heading.
fn begins_block(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = number.len() < line.len() && number.starts_with(['.', ')']);
    line.is_empty() || numbered || line.starts_with(['#', '-', '*', '+', '|', '>', '`', '~'])
}

/// Returns the offset of a last paragraph that asks the reader whether to go on; the end of the
/// text if there is none.
fn closing_question(text: &str) -> usize {
    let blocks = markdown::blocks(text);
    let [.., before, last] = blocks.as_slice() else {
        return text.len();
    };
    let words = last.paragraph().unwrap_or_default();
    let lower = words.to_lowercase().replace('’', "'");
    let asks = WORDS.closing_questions.begins(&lower)
        || lower.ends_with('?') && WORDS.closing_questions.occurs_in(&lower);
    // Directly below a heading, the paragraph is the text of that section.
    if !asks || before.heading().is_some() || words.len() > MAX_CLOSING_BYTES {
        return text.len();
    }
    if before.kind == BlockKind::Rule {
        before.span.start
    } else {
        last.span.start
    }
}
