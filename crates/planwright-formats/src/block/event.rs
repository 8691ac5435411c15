//! Comments that tell what happened to a plan: a title, a block for programs, a line, and a description for people.
//!
//! The layout is erk's `render_erk_issue_event`; any of the three parts may be missing in what is read.

use serde_json::{Map, Value};

use super::schema::{self, SchemaError};
use super::{Block, Content, neutralise, parse, restore};

mod describe;

#[cfg(test)]
mod tests;

pub use describe::describe;

/// Stands before a title that would begin a fence; it cannot be seen and is no blank.
const ZWSP: char = '\u{200b}';

/// What an event comment says.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// One line; empty when there is none.
    pub title: String,
    /// The first block with fields.
    pub block: Option<Block>,
    /// Markdown.
    pub description: String,
}

/// An event comment of parts that are safe as they are. `block` is a rendered block. Without a description the text
/// ends in `---` and a line end.
pub fn render(title: &str, block: Option<&str>, description: &str) -> String {
    let mut lines = vec![title, ""];
    lines.extend(block.into_iter().flat_map(|block| [block, ""]));
    lines.extend(["---", ""]);
    if !description.is_empty() {
        lines.push(description);
    }
    lines.join("\n")
}

/// An event comment with a block `key`, whose fields are checked by [`schema::write`]. Title and description may be
/// anybody's: they mention nobody, close nothing and hold no markers. [`read`] gives them back as they were, the title
/// on one line.
///
/// # Errors
/// `fields` are not what erk reads.
pub fn write(
    key: &str,
    fields: &Map<String, Value>,
    title: &str,
    description: &str,
) -> Result<String, SchemaError> {
    let block = schema::write(key, fields)?;
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut safe = neutralise(&title);
    // At the start of a text a byte-order mark is none: a fence behind it would count.
    if safe.contains('\n') || title.starts_with([ZWSP, '\u{feff}']) {
        safe = neutralise(&format!("{ZWSP}{title}"));
    }
    Ok(render(
        &unplanned(&safe),
        Some(&block),
        &unplanned(&neutralise(description)),
    ))
}

/// What the summary that makes a `<details>` element a plan begins with, and what its end does.
const PLAN: (&str, &str) = ("original-plan", "</");

/// `text` with one more [`ZWSP`] in each summary that would make it a plan; [`planned`] takes it away.
fn unplanned(text: &str) -> String {
    each_plan(text, |zwsps| zwsps + 1)
}

fn planned(text: &str) -> String {
    each_plan(text, |zwsps| zwsps.saturating_sub(1))
}

fn each_plan(text: &str, change: impl Fn(usize) -> usize) -> String {
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

/// Reads an event comment. `None` when `text` has neither a block with fields nor the line between title and
/// description.
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
        title: restore(&planned(title.strip_prefix(ZWSP).unwrap_or(title))),
        block,
        description: restore(&planned(description)),
    })
}

/// What stands below the `---` line with which `rest` begins, the blank line after it taken off.
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
