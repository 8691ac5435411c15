//! Parses, renders and checks action plans, whose format is described below.
//!
#![doc = include_str!("action_plan/format.md")]

mod action;
mod actions;
mod blocks;
pub mod check;
mod diff;
mod error;
mod execute;
pub mod fences;
mod grammar;
mod items;
mod keys;
mod parse;
mod path;
mod render;

use std::borrow::Cow;

use comrak::Arena;

use crate::markdown::{self, Lines};

#[cfg(test)]
mod tests;

pub use action::{
    Action, ActionPlan, Chat, Create, Edit, Execute, Header, Invoke, Prune, Read, Replacement,
    Research, Return, Span, Step,
};
pub use diff::{Actual, Annotation, Diff, Expected, MAX_ERRORS_SHOWN, Mark};
pub use error::{ActionRef, ErrorKind, PlanError, Rejected, Row};
pub use path::{PathError, ProjectPath, Resource};
pub use render::{language, render, table};

/// Maximum size of a plan, in bytes: more than fits in thirty GitHub comments.
pub const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Parses a plan. A byte-order mark is dropped and line breaks become `\n`; nothing else is
/// changed.
///
/// # Errors
///
/// Returns all errors, up to the first one after which the rest of the text cannot be trusted.
pub fn parse(text: &str) -> Result<ActionPlan, Rejected> {
    let text = prepare(text).map_err(|error| Rejected {
        errors: vec![error],
        rows: Vec::new(),
        checked: 0,
    })?;
    let arena = Arena::new();
    let root = markdown::parse(&arena, &text);
    let lines = Lines::new(&text);
    let document = blocks::Document::new(&lines, root);
    parse::plan(&document)
}

/// Normalizes a text for the parser, and rejects one that is too long, empty or has NUL characters.
fn prepare(text: &str) -> Result<Cow<'_, str>, PlanError> {
    if text.len() > MAX_BYTES {
        return Err(PlanError::new(
            ErrorKind::TooLarge,
            format!("a plan of at most {MAX_BYTES} bytes"),
            format!("{} bytes", text.len()),
            Span::line(1),
            "Split the plan into several, or move long contents into files of the project.",
        ));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(PlanError::new(
            ErrorKind::Empty,
            "a plan",
            "no text",
            Span::line(1),
            "Write the plan, beginning with its title: `# …`.",
        ));
    }
    if let Some(at) = memchr::memchr(0, text.as_bytes()) {
        return Err(PlanError::new(
            ErrorKind::Nul,
            "text without NUL characters",
            "one",
            Span::line(Lines::new(text).at(at)),
            "Remove it; neither Markdown nor GitHub allows it.",
        ));
    }
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(text));
    }
    Ok(Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")))
}

/// Whether `text` is meant to be an action plan: it starts with a title, the first of its level 2
/// headings contains `Rationale` and a later one `Action Plan`. [`parse`] may still reject it.
///
/// This only scans lines, without a Markdown parser. Headings in fenced code do not count.
pub fn is_action_plan(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.trim_start_matches(['\n', '\r']);
    if !text.starts_with("# ") {
        return false;
    }
    let mut fence: Option<(u8, usize)> = None;
    let mut has_rationale = false;
    for line in text.lines() {
        let line = line.trim_start_matches(' ');
        let Some(first @ (b'#' | b'`' | b'~')) = line.bytes().next() else {
            continue;
        };
        if first == b'#' {
            if fence.is_none() && line.starts_with("## ") {
                if !has_rationale {
                    if !line.contains("Rationale") {
                        return false;
                    }
                    has_rationale = true;
                } else if line.contains("Action Plan") {
                    return true;
                }
            }
            continue;
        }
        let length = line.bytes().take_while(|byte| *byte == first).count();
        match fence {
            Some((mark, least))
                if first == mark && length >= least && line[length..].trim().is_empty() =>
            {
                fence = None;
            }
            None if length >= 3 => fence = Some((first, length)),
            _ => {}
        }
    }
    false
}
