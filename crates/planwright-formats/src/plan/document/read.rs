//! Reading a document: plan, error, or neither.

use crate::markdown::{self, Block, Kind, Lines};
use crate::plan::inline::{self, Item, Piece};

use super::{
    CATEGORIES, Enrichment, ErrorDocument, FRAME_MARK, Guidance, Mode, NOTES_MARK, PlanDocument,
    Reading, json,
};

/// Codes of an extractor, and how erk's messages for them begin: some answers have the message in the heading.
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

/// Reads `text` by its tree.
///
/// * Its first heading `# Plan: <title>`, then `## Enrichment Details`, then a rule (`---`): a plan. The body is
///   everything behind the rule and the one blank line after it, byte for byte, and before it whatever sentences stand
///   between title and details. When the rule was forgotten, the body
///   begins at the next heading of level 1 or 2, so that nothing of the plan is lost.
/// * Its first heading `## Error: <code>`, a message behind the code or one of erk's messages in its place: an error.
///   Such a heading further down, or in code, is the plan's own text, and so is `## Error: handling`: a code has a `_`.
/// * An object as extractors answered before they answered in Markdown (`success`, `plan_content`, … or `error`,
///   `message`), alone or in a `json` fence: the same facts.
///
/// Text before the first heading is ignored.
pub fn read(text: &str) -> Reading {
    if let Some(reading) = json::read(text) {
        return reading;
    }
    let blocks = markdown::blocks(text);
    let Some((start, level, heading)) = first_heading(&blocks) else {
        return neither("The text has no heading; it must begin with `# Plan: <title>`.");
    };
    if level == 2
        && let Some((code, message)) = error_heading(heading)
    {
        return Reading::Error(error(text, &blocks[start + 1..], code, message));
    }
    let Some(title) = plan_title(level, heading) else {
        return neither(&format!(
            "The first heading is \"{}\"; it must be `# Plan: <title>`.",
            shorten(heading)
        ));
    };
    if title.is_empty() {
        return neither("The heading `# Plan:` has no title behind it.");
    }
    let found = frame(text, &blocks, start).map(|frame| (frame, ""));
    let Some((frame, between)) = found.or_else(|| frame_below_text(text, &blocks, start)) else {
        return neither("The section `## Enrichment Details` is missing below the title.");
    };
    if text[frame.body..].trim().is_empty() {
        return neither("There is no plan behind `## Enrichment Details`.");
    }
    let head = inline::pieces(&text[blocks[start].span.start..frame.head_end]);
    Reading::Plan(PlanDocument {
        title: title_in(&head).unwrap_or(title),
        enrichment: enrichment(&head),
        body: match between {
            "" => text[frame.body..].to_owned(),
            _ => format!("{between}\n\n{}", &text[frame.body..]),
        },
    })
}

/// True when `text` is a plan document from its first block on.
pub fn is_success_document(text: &str) -> bool {
    let blocks = markdown::blocks(text);
    let Some((0, level, heading)) = first_heading(&blocks) else {
        return false;
    };
    plan_title(level, heading).is_some_and(|title| !title.is_empty())
        && frame(text, &blocks, 0).is_some_and(|frame| !text[frame.body..].trim().is_empty())
}

/// The plan in a saved document, byte for byte as it was found.
///
/// * A document framed by us: the text behind the frame.
/// * A text with notes of ours behind it: the text before the notes.
/// * Any other text, also a plan that already came as a plan document: the whole text.
pub fn plan_text(saved: &str) -> &str {
    let blocks = markdown::blocks(saved);
    let framed = matches!(first_heading(&blocks), Some((0, level, heading)) if plan_title(level, heading).is_some());
    if framed
        && let Some(frame) = frame(saved, &blocks, 0)
        && frame.ours
    {
        return &saved[frame.body..];
    }
    without_notes(saved)
}

/// `text` without the notes that stand behind a plan that was not enriched.
pub fn without_notes(text: &str) -> &str {
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

/// The plan in `text`: what stands behind the frame of a plan document, whoever wrote it, else the whole text; never the
/// notes behind a plan.
pub fn body(text: &str) -> &str {
    let blocks = markdown::blocks(text);
    let framed = matches!(first_heading(&blocks), Some((0, level, heading)) if plan_title(level, heading).is_some());
    if framed && let Some(frame) = frame(text, &blocks, 0) {
        return &text[frame.body..];
    }
    without_notes(text)
}

struct Frame {
    /// End of the head, before the rule.
    head_end: usize,
    /// Where the plan begins.
    body: usize,
    /// The head carries our mark.
    ours: bool,
}

fn is_details(block: &Block) -> bool {
    matches!(&block.kind, Kind::Heading { level: 2, text, .. } if text == "Enrichment Details")
}

/// The frame below the title at block `start`: right below it and nowhere else, as what stands
/// further down belongs to the plan, which would be cut off there.
fn frame(text: &str, blocks: &[Block], start: usize) -> Option<Frame> {
    let (details, below) = blocks[start + 1..].split_first()?;
    is_details(details).then(|| framed(text, below))
}

/// The same where sentences stand between the title and the frame, as agents write them; and these
/// sentences.
fn frame_below_text<'t>(text: &'t str, blocks: &[Block], start: usize) -> Option<(Frame, &'t str)> {
    let below = &blocks[start + 1..];
    let at = below.iter().position(is_details)?;
    let (between, details) = below.split_at(at);
    let sentences = |block: &Block| matches!(block.kind, Kind::Paragraph { .. });
    let (first, last) = (between.first()?, between.last()?);
    let frame = framed(text, &details[1..]);
    let taken = between.iter().all(sentences) && !frame.ours;
    taken.then(|| (frame, &text[first.span.start..last.span.end]))
}

/// The frame whose heading stands above the blocks `below`.
fn framed(text: &str, below: &[Block]) -> Frame {
    let end = below
        .iter()
        .find(|block| matches!(block.kind, Kind::Rule | Kind::Heading { level: 1 | 2, .. }));
    let ours = below
        .iter()
        .take_while(|block| end.is_none_or(|end| block.span.start < end.span.start))
        .any(|block| block.kind == Kind::Html && text[block.span.clone()].trim() == FRAME_MARK);
    let Some(end) = end else {
        return Frame {
            head_end: text.len(),
            body: text.len(),
            ours,
        };
    };
    let body = if end.kind == Kind::Rule {
        let lines = Lines::new(text);
        let behind = lines.start(end.line + 1);
        // One blank line belongs to the frame. Only an empty one: blanks would be the plan's own bytes.
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
    blocks
        .iter()
        .enumerate()
        .find_map(|(index, block)| match &block.kind {
            Kind::Heading { level, text, .. } => Some((index, *level, text.as_str())),
            _ => None,
        })
}

fn plan_title(level: u8, heading: &str) -> Option<String> {
    let rest = heading.strip_prefix("Plan:").filter(|_| level == 1)?;
    Some(inline::one_line(rest))
}

/// The title as the head alone reads it: a link definition in the plan must not change it.
fn title_in(head: &[Piece]) -> Option<String> {
    match head.first() {
        Some(Piece::Heading(level, text)) => plan_title(*level, text),
        _ => None,
    }
}

/// Code and message of a heading `Error: …`.
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

/// A word of a heading is a code when it has a `_`, as every code of an extractor has.
pub(super) fn is_code(word: &str) -> bool {
    word.contains('_')
        && word.len() <= 64
        && word
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn error(text: &str, below: &[Block], code: &str, message: &str) -> ErrorDocument {
    let is_details = |block: &Block| matches!(&block.kind, Kind::Heading { text, .. } if text.eq_ignore_ascii_case("Details"));
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
    let mut section = String::new();
    let mut applied = false;
    let mut text = None;
    for piece in head {
        let items = match piece {
            Piece::Heading(_, title) => {
                title.trim().clone_into(&mut section);
                continue;
            }
            Piece::List(items) => items,
        };
        match section.as_str() {
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

fn neither(why: &str) -> Reading {
    Reading::Neither(why.to_owned())
}

fn shorten(text: &str) -> String {
    super::super::title::cut(text, 80)
}
