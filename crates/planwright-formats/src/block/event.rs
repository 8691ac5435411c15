//! Event comments, which record what happened to a plan: a title, a block for programs, a
//! separator, and a description for people.
//!
//! The layout is that of erk's `render_erk_issue_event`. In what is parsed, any of the three parts
//! may be missing.

use serde_json::{Map, Value};

use super::schema::{self, SchemaError};
use super::{Block, Content, neutralise, parse, restore};

#[cfg(test)]
mod tests;

/// Put before a title that would begin a fence: it is invisible and not a blank.
const ZWSP: char = '\u{200b}';

/// The parts of an event comment.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// One line; empty if there is none.
    pub title: String,
    /// The first block with fields.
    pub block: Option<Block>,
    /// Markdown.
    pub description: String,
}

/// Renders an event comment from parts that are safe as they are. `block` is a rendered block.
/// Without a description the text ends in `---` and a line end.
pub fn render(title: &str, block: Option<&str>, description: &str) -> String {
    let mut lines = vec![title, ""];
    lines.extend(block.into_iter().flat_map(|block| [block, ""]));
    lines.extend(["---", ""]);
    if !description.is_empty() {
        lines.push(description);
    }
    lines.join("\n")
}

/// Renders an event comment with a block `key`, whose fields are checked by [`schema::write`].
///
/// Title and description may be untrusted: rendered, they mention nobody, close nothing and contain
/// no markers. [`read`] returns them unchanged, except that the title is on one line.
///
/// # Errors
/// Fails if erk would not accept `fields`.
pub fn write(
    key: &str,
    fields: &Map<String, Value>,
    title: &str,
    description: &str,
) -> Result<String, SchemaError> {
    let block = schema::write(key, fields)?;
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut safe = neutralise(&title);
    // At the start of a text a byte-order mark is ignored, so a fence after it would count.
    if safe.contains('\n') || title.starts_with([ZWSP, '\u{feff}']) {
        safe = neutralise(&format!("{ZWSP}{title}"));
    }
    Ok(render(
        &escape_plans(&safe),
        Some(&block),
        &escape_plans(&neutralise(description)),
    ))
}

/// The text of the summary that makes a `<details>` element a plan, and what follows it.
const PLAN: (&str, &str) = ("original-plan", "</");

/// Adds a [`ZWSP`] to each summary that would make a `<details>` element of `text` a plan.
fn escape_plans(text: &str) -> String {
    change_plans(text, |zwsps| zwsps + 1)
}

/// Undoes [`escape_plans`].
fn unescape_plans(text: &str) -> String {
    change_plans(text, |zwsps| zwsps.saturating_sub(1))
}

/// Changes the number of [`ZWSP`] in each summary of a plan.
fn change_plans(text: &str, change: impl Fn(usize) -> usize) -> String {
    let mut parts = text.split(PLAN.0);
    let mut changed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        changed.push_str(PLAN.0);
        let rest = part.trim_start_matches(ZWSP);
        let zwsps = (part.len() - rest.len()) / ZWSP.len_utf8();
        let zwsps = if rest.starts_with(PLAN.1) {
            change(zwsps)
        } else {
            zwsps
        };
        changed.extend(std::iter::repeat_n(ZWSP, zwsps));
        changed.push_str(rest);
    }
    changed
}

/// Parses an event comment; `None` if `text` has neither a block with fields nor the separator
/// between title and description.
pub fn read(text: &str) -> Option<Event> {
    let block = parse(text)
        .blocks
        .into_iter()
        .find(|block| matches!(block.content, Content::Yaml(_)));
    let (title, rest) = if let Some(block) = &block {
        (&text[..block.span.start], &text[block.span.end..])
    } else {
        let lines = ["\n\n---", "\r\n\r\n---"];
        text.split_at(lines.iter().find_map(|line| text.find(line))?)
    };
    let (title, description) = match (description(rest), &block) {
        (Some(description), _) => (title, description),
        (None, Some(_)) => (title, rest.trim_start_matches(['\r', '\n'])),
        (None, None) => return None,
    };
    let title = title.trim();
    Some(Event {
        title: restore(&unescape_plans(title.strip_prefix(ZWSP).unwrap_or(title))),
        block,
        description: restore(&unescape_plans(description)),
    })
}

/// Returns what follows the line `---` at the start of `rest`, and the blank line after it.
fn description(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['\r', '\n']).strip_prefix("---")?;
    let rest = rest.trim_start_matches([' ', '\t']);
    if rest.is_empty() {
        return Some(rest);
    }
    let below = after_line_end(rest)?;
    Some(after_line_end(below).unwrap_or(below))
}

fn after_line_end(text: &str) -> Option<&str> {
    text.strip_prefix("\r\n")
        .or_else(|| text.strip_prefix('\n'))
}
