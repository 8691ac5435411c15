//! Action plans: reading, writing and explaining them. The page about the format follows.
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
mod kinds;
mod parse;
mod path;
mod recognise;
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
pub use diff::{Actual, Annotation, Diff, ERRORS_SHOWN, Expected, Mark};
pub use error::{ErrorKind, InAction, PlanError, Rejected, Row};
pub use path::{PathError, ProjectPath, Resource};
pub use recognise::is_action_plan;
pub use render::{language, render, table};

/// Longest plan that is read, in bytes: more than thirty comments of GitHub hold.
pub const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Reads a plan. A byte-order mark is dropped and line ends count as `\n`; nothing else is changed.
///
/// # Errors
///
/// Everything that is wrong, up to the first error after which the rest of the text cannot be trusted.
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

/// The text that is parsed; refuses what is not worth parsing.
fn prepare(text: &str) -> Result<Cow<'_, str>, PlanError> {
    let refuse = |kind, expected: String, found: String, line, hint: &str| {
        let span = Span::line(line);
        Err(PlanError::new(kind, expected, found, span, hint))
    };
    if text.len() > MAX_BYTES {
        return refuse(
            ErrorKind::TooLarge,
            format!("a plan of at most {MAX_BYTES} bytes"),
            format!("{} bytes", text.len()),
            1,
            "Split the plan into several, or move long contents into files of the project.",
        );
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return refuse(
            ErrorKind::Empty,
            "a plan".to_owned(),
            "no text".to_owned(),
            1,
            "Write the plan, beginning with its title: `# …`.",
        );
    }
    if let Some(at) = memchr::memchr(0, text.as_bytes()) {
        return refuse(
            ErrorKind::Nul,
            "text without NUL characters".to_owned(),
            "one".to_owned(),
            Lines::new(text).at(at),
            "Remove it; neither Markdown nor GitHub can hold it.",
        );
    }
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(text));
    }
    Ok(Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")))
}
