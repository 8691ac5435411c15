//! Parsing of plan documents and error documents.

use crate::markdown::{self, Block, BlockKind, Lines};
use crate::plan::inline::{self, Item, Piece};
use crate::text::{one_line, truncate_chars};

use super::{
    CATEGORIES, Enrichment, ErrorDocument, FRAME_MARK, Guidance, Mode, NOTES_MARK, ParsedDocument,
    PlanDocument, json,
};

/// Maximum length of a heading in a message, in code points.
const MAX_HEADING_CHARS: usize = 80;
/// Maximum length of an error code, in bytes.
const MAX_CODE_BYTES: usize = 64;

/// Error codes of extractors and the beginnings of erk's messages for them, which some answers use
/// as the heading.
const MESSAGES: [(&str, &str); 5] = [
    ("no_plan_found", "no implementation plan found"),
    ("session_not_found", "session file not found"),
    (
        "guidance_without_plan",
        "guidance provided but no plan found",
    ),
    ("invalid_input", "expected json input"),
    ("validation_failed", "plan validation failed"),
];

/// Parses a plan document or an error document from its Markdown tree.
///
/// * A plan document has the first heading `# Plan: <title>`, then `## Enrichment Details`, then a
///   rule (`---`). The body is the text after the rule and one blank line, byte for byte.
///   Paragraphs between title and details are put before it. Without the rule, the body begins at
///   the next heading of level 1 or 2, so that no text is lost.
/// * An error document has the first heading `## Error: <code>`, optionally with a message after
///   the code, or with one of erk's messages instead of the code. Such a heading further down or in
///   code belongs to the plan, and so does `## Error: handling`, since a code contains a `_`.
/// * The JSON object that extractors returned before they used Markdown (`success`, `plan_content`,
///   … or `error`, `message`) is accepted alone or in a `json` fence.
///
/// Text before the first heading is ignored.
pub fn parse(text: &str) -> ParsedDocument {
    if let Some(parsed) = json::parse(text) {
        return parsed;
    }
    let blocks = markdown::blocks(text);
    let Some((start, level, heading)) = first_heading(&blocks) else {
        return neither("The text has no heading; it must begin with `# Plan: <title>`.");
    };
    if level == 2
        && let Some((code, message)) = error_heading(heading)
    {
        return ParsedDocument::Error(error(text, &blocks[start + 1..], code, message));
    }
    let Some(title) = plan_title(level, heading) else {
        return neither(&format!(
            "The first heading is \"{}\"; it must be `# Plan: <title>`.",
            truncate_chars(heading, MAX_HEADING_CHARS)
        ));
    };
    if title.is_empty() {
        return neither("The heading `# Plan:` has no title after it.");
    }
    let found = frame(text, &blocks, start).map(|frame| (frame, ""));
    let Some((frame, between)) = found.or_else(|| frame_after_text(text, &blocks, start)) else {
        return neither("The section `## Enrichment Details` is missing below the title.");
    };
    if text[frame.body..].trim().is_empty() {
        return neither("There is no plan after `## Enrichment Details`.");
    }
    let head = inline::pieces(&text[blocks[start].span.start..frame.head_end]);
    ParsedDocument::Plan(PlanDocument {
        title: title_in(&head).unwrap_or(title),
        enrichment: enrichment(&head),
        body: match between {
            "" => text[frame.body..].to_owned(),
            _ => format!("{between}\n\n{}", &text[frame.body..]),
        },
    })
}

/// Returns true if `text` is a plan document that begins with its title.
pub fn is_success_document(text: &str) -> bool {
    leading_frame(text)
        .is_some_and(|(title, frame)| !title.is_empty() && !text[frame.body..].trim().is_empty())
}

/// Returns the plan in a saved document, byte for byte as it was before saving.
///
/// * In a document framed by Planwright, it is the text after the frame.
/// * In a text followed by notes of Planwright, it is the text before the notes.
/// * Any other text, including a plan that already was a plan document, is returned whole.
pub fn plan_text(saved: &str) -> &str {
    match leading_frame(saved) {
        Some((_, frame)) if frame.ours => &saved[frame.body..],
        _ => strip_notes(saved),
    }
}

/// Removes the notes that follow a plan that was not enriched.
pub fn strip_notes(text: &str) -> &str {
    let Some((plan, notes)) = text.rsplit_once(NOTES_MARK) else {
        return text;
    };
    let plan = ["\r\n\r\n", "\n\n"]
        .iter()
        .find_map(|between| plan.strip_suffix(between));
    let mut lines = notes
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty());
    let ours = lines.next() == Some("---") && lines.next() == Some("## Notes");
    plan.filter(|_| ours).unwrap_or(text)
}

/// Returns the plan in `text`: the text after the frame of a plan document, whoever wrote it, else
/// the whole text without notes.
pub fn plan_body(text: &str) -> &str {
    match leading_frame(text) {
        Some((_, frame)) => &text[frame.body..],
        None => strip_notes(text),
    }
}

/// Offsets in a plan document.
struct Frame {
    /// End of the head, before the rule.
    head_end: usize,
    /// Start of the plan.
    body: usize,
    /// Whether the head contains [`FRAME_MARK`].
    ours: bool,
}

/// Returns title and frame of a plan document that begins with its title.
fn leading_frame(text: &str) -> Option<(String, Frame)> {
    let blocks = markdown::blocks(text);
    let (level, heading) = blocks.first()?.heading()?;
    let title = plan_title(level, heading)?;
    Some((title, frame(text, &blocks, 0)?))
}

fn is_details(block: &Block) -> bool {
    matches!(&block.kind, BlockKind::Heading { level: 2, text, .. } if text == "Enrichment Details")
}

/// Returns the frame directly below the title at block `start`. A section of that name further down
/// belongs to the plan.
fn frame(text: &str, blocks: &[Block], start: usize) -> Option<Frame> {
    let (details, below) = blocks[start + 1..].split_first()?;
    is_details(details).then(|| framed(text, below))
}

/// Returns the frame below paragraphs that an agent wrote between title and frame, and the text of
/// these paragraphs.
fn frame_after_text<'t>(text: &'t str, blocks: &[Block], start: usize) -> Option<(Frame, &'t str)> {
    let below = &blocks[start + 1..];
    let at = below.iter().position(is_details)?;
    let (between, details) = below.split_at(at);
    let (first, last) = (between.first()?, between.last()?);
    let frame = framed(text, &details[1..]);
    let prose = between.iter().all(|block| block.paragraph().is_some());
    (prose && !frame.ours).then(|| (frame, &text[first.span.start..last.span.end]))
}

/// Returns the frame whose heading is followed by the blocks `below`.
fn framed(text: &str, below: &[Block]) -> Frame {
    let end = below.iter().find(|block| {
        matches!(
            block.kind,
            BlockKind::Rule | BlockKind::Heading { level: 1 | 2, .. }
        )
    });
    let ours = below
        .iter()
        .take_while(|block| end.is_none_or(|end| block.span.start < end.span.start))
        .any(|block| {
            block.kind == BlockKind::Html && text[block.span.clone()].trim() == FRAME_MARK
        });
    let Some(end) = end else {
        return Frame {
            head_end: text.len(),
            body: text.len(),
            ours,
        };
    };
    let body = if end.kind == BlockKind::Rule {
        let lines = Lines::new(text);
        let behind = lines.start(end.line + 1);
        // One empty line belongs to the frame. A line of spaces would belong to the plan.
        if behind < text.len() && lines.span(end.line + 1).is_empty() {
            lines.start(end.line + 2)
        } else {
            behind
        }
    } else {
        end.span.start
    };
    Frame {
        head_end: end.span.start,
        body,
        ours,
    }
}

fn first_heading(blocks: &[Block]) -> Option<(usize, u8, &str)> {
    let mut headings = blocks.iter().enumerate();
    headings.find_map(|(index, block)| {
        let (level, text) = block.heading()?;
        Some((index, level, text))
    })
}

fn plan_title(level: u8, heading: &str) -> Option<String> {
    let rest = heading.strip_prefix("Plan:").filter(|_| level == 1)?;
    Some(one_line(rest))
}

/// Returns the title as parsed from the head alone, so that link definitions in the plan do not
/// change it.
fn title_in(head: &[Piece]) -> Option<String> {
    match head.first() {
        Some(Piece::Heading(level, text)) => plan_title(*level, text),
        _ => None,
    }
}

/// Returns code and message of a heading `Error: …`.
fn error_heading(heading: &str) -> Option<(&str, &str)> {
    let rest = heading.strip_prefix("Error:")?.trim();
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(rest.len());
    let (word, behind) = rest.split_at(end);
    if is_code(word) {
        let message = behind.trim_start_matches(|c: char| c.is_whitespace() || ":-–—".contains(c));
        return Some((word, message));
    }
    let lower = rest.to_lowercase();
    let known = |(_, begins): &&(&str, &str)| lower.starts_with(begins);
    MESSAGES.iter().find(known).map(|(code, _)| (*code, rest))
}

/// Returns true if a word of a heading is an error code. Codes of extractors contain a `_`.
fn is_code(word: &str) -> bool {
    word.contains('_')
        && word.len() <= MAX_CODE_BYTES
        && word
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn error(text: &str, below: &[Block], code: &str, message: &str) -> ErrorDocument {
    let is_details = |block: &Block| matches!(block.heading(), Some((_, text)) if text.eq_ignore_ascii_case("Details"));
    let source = |part: &[Block]| match (part.first(), part.last()) {
        (Some(first), Some(last)) => text[first.span.start..last.span.end].trim().to_owned(),
        _ => String::new(),
    };
    let cut = below.iter().position(is_details).unwrap_or(below.len());
    let details = below.get(cut + 1..).map(source).filter(|d| !d.is_empty());
    let message = [message.to_owned(), source(&below[..cut])];
    ErrorDocument {
        code: code.to_owned(),
        message: message.join("\n\n").trim().to_owned(),
        details,
    }
}

fn enrichment(head: &[Piece]) -> Enrichment {
    let mut found = Enrichment::raw();
    let mut section = "";
    let mut applied = false;
    let mut text = None;
    for piece in head {
        let items = match piece {
            Piece::Heading(_, title) => {
                section = title.trim();
                continue;
            }
            Piece::List(items) => items,
        };
        match section {
            "Process Summary" => {
                for item in items {
                    let value = item.value();
                    match item.label.as_deref().map(str::trim) {
                        Some("Mode") if value.trim().eq_ignore_ascii_case("enriched") => {
                            found.mode = Mode::Enriched;
                        }
                        Some("Guidance applied") => {
                            applied = value.trim().eq_ignore_ascii_case("yes");
                        }
                        Some("Guidance text") => text = Some(unquote(value)),
                        Some("Questions asked") => {
                            found.questions = value.trim().parse().unwrap_or(0);
                        }
                        _ => {}
                    }
                }
            }
            "Clarifications Made" => found.clarifications.extend(items.iter().map(clarification)),
            "Context Categories Populated" => {
                for (name, set) in CATEGORIES.iter().zip(&mut found.categories) {
                    *set |= items.iter().any(|item| {
                        let label = item.label.as_deref().unwrap_or_default();
                        let has = |part: &str| label.contains(part) || item.text.contains(part);
                        has(name) && !has("❌") && !has("(none found)")
                    });
                }
            }
            "Notes" => found.notes.extend(items.iter().map(|item| {
                let label = item.label.as_deref().unwrap_or_default();
                format!("{label}{}", item.text)
            })),
            _ => {}
        }
    }
    if applied || text.is_some() {
        found.guidance = Some(Guidance {
            text: text.unwrap_or_default(),
            applied,
        });
    }
    found
}

pub(super) fn clarification(item: &Item) -> (String, String) {
    match &item.label {
        Some(label) => (label.clone(), item.value().to_owned()),
        None => match item.text.split_once(": ") {
            Some((topic, answer)) => (topic.to_owned(), answer.to_owned()),
            None => ("Question".to_owned(), item.text.clone()),
        },
    }
}

fn unquote(value: &str) -> String {
    value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(value)
        .to_owned()
}

fn neither(reason: &str) -> ParsedDocument {
    ParsedDocument::Neither(reason.to_owned())
}
