//! Compares a rejected plan with the expected structure: as text for people, as JSON for programs,
//! as annotations for check runs.
//!
//! The output quotes the plan, which is untrusted. To post it, enclose it in a fence
//! ([`super::fences::around`]).

use std::fmt;

use serde::Serialize;

use super::error::{PlanError, Rejected, Row};
use super::grammar::{ACTIONS_BLUEPRINT, SLOTS};

/// Maximum number of errors of a plan in texts for people.
pub const MAX_ERRORS_SHOWN: usize = 30;
/// Number of blocks shown before and after one with an error; the others are only counted.
const CONTEXT_BLOCKS: usize = 6;
/// Maximum number of annotations of one plan: twenty requests, as a check run takes 50 in each
/// (<https://docs.github.com/rest/checks/runs#update-a-check-run>).
pub(super) const MAX_ANNOTATIONS: usize = 1_000;

/// Result of the comparison for one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The block is as expected.
    Ok,
    /// The block is in its place and contains an error.
    Error,
    /// Another block is expected here.
    Mismatch,
    /// The block comes after a mismatch and may be right or wrong.
    NotChecked,
}

/// A line of the expected structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// Three digits, followed by `...` if the line may repeat.
    pub index: String,
    /// The expected block.
    pub node: String,
}

/// A block of the rejected text, or its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Actual {
    /// Index of the block, 0-based.
    pub index: usize,
    /// Type of the block, such as `List`; `EOF` at the end.
    pub node: String,
    /// Start of its text, on one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub preview: String,
    /// First line, 1-based.
    pub line: usize,
    /// Last line, 1-based.
    pub end_line: usize,
    /// Result of the comparison.
    pub mark: Mark,
    /// What was expected, if there is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The comparison of a rejected plan with the expected structure. `Display` is for people, JSON for
/// programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// All errors, in the order of their lines.
    pub errors: Vec<PlanError>,
    /// The structure of every plan.
    pub expected: Vec<Expected>,
    /// The structure of the text; empty if it was not parsed as Markdown.
    pub actual: Vec<Actual>,
}

/// An annotation for a GitHub check run, without the path of the file, which the caller knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Annotation {
    /// First line, 1-based.
    pub line: usize,
    /// Last line, 1-based.
    pub end_line: usize,
    /// A short title, within GitHub's limit of 255 characters.
    pub title: String,
    /// The error and how to fix it, as plain text.
    pub message: String,
}

impl Actual {
    fn new(index: usize, row: &Row, checked: bool) -> Self {
        Self {
            index,
            node: row.node.clone(),
            preview: row.preview.clone(),
            line: row.span.start,
            end_line: row.span.end,
            mark: if checked { Mark::Ok } else { Mark::NotChecked },
            reason: None,
        }
    }
}

impl Rejected {
    /// Compares the text with the expected structure.
    pub fn diff(&self) -> Diff {
        let rows = self.rows.iter().enumerate();
        let mut actual: Vec<Actual> = rows
            .map(|(index, row)| Actual::new(index, row, index < self.checked))
            .collect();
        for error in &self.errors {
            let Some(index) = error.index else { continue };
            if index >= actual.len() {
                let end = Row {
                    node: "EOF".to_owned(),
                    preview: String::new(),
                    span: error.span,
                };
                actual.push(Actual::new(index, &end, false));
            }
            let Some(row) = actual.get_mut(index) else {
                continue;
            };
            row.reason
                .get_or_insert_with(|| format!("expected {}", error.expected));
            if error.structural {
                row.mark = Mark::Mismatch;
            } else if row.mark != Mark::Mismatch {
                row.mark = Mark::Error;
            }
        }
        Diff {
            errors: self.errors.clone(),
            expected: blueprint(),
            actual,
        }
    }

    /// Returns the first errors as annotations for a check run, at most a thousand.
    pub fn annotations(&self) -> Vec<Annotation> {
        let errors = self.errors.iter().take(MAX_ANNOTATIONS);
        errors.map(PlanError::annotation).collect()
    }
}

impl PlanError {
    /// Returns the error as an annotation of its lines.
    pub fn annotation(&self) -> Annotation {
        Annotation {
            line: self.span.start,
            end_line: self.span.end,
            title: format!("Action plan: {}", self.kind.as_str().replace('-', " ")),
            message: format!("{}\n\n{}", self.message(), self.hints.join("\n")),
        }
    }
}

/// Returns the structure of every plan.
fn blueprint() -> Vec<Expected> {
    let slots = SLOTS.iter().enumerate().map(|(index, slot)| Expected {
        index: format!("{index:03}"),
        node: slot.blueprint.to_owned(),
    });
    let actions = ACTIONS_BLUEPRINT.iter().enumerate();
    let actions = actions.map(|(index, node)| Expected {
        index: format!("{:03}...", SLOTS.len() + index),
        node: (*node).to_owned(),
    });
    slots.chain(actions).collect()
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().take(MAX_ERRORS_SHOWN).enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{error}")?;
            for hint in &error.hints {
                writeln!(f, "  Hint: {hint}")?;
            }
        }
        if let Some(more @ 1..) = self.errors.len().checked_sub(MAX_ERRORS_SHOWN) {
            writeln!(f, "\n... and {more} more errors")?;
        }
        if !self.actual.is_empty() {
            writeln!(f)?;
        }
        self.structure().fmt(f)
    }
}

impl Diff {
    /// Returns the text of the comparison without the errors: the expected structure, if a block is
    /// out of place, and the actual one with marks. Empty if the text was not parsed as Markdown.
    pub fn structure(&self) -> impl fmt::Display {
        fmt::from_fn(|f| {
            if self.errors.iter().any(|error| error.structural) {
                writeln!(f, "--- Expected Document Structure ---")?;
                for row in &self.expected {
                    writeln!(f, "[{}] {}", row.index, row.node)?;
                }
                writeln!(f)?;
            }
            if self.actual.is_empty() {
                return Ok(());
            }
            writeln!(f, "--- Actual Document Structure ---")?;
            self.write_rows(f)
        })
    }

    fn write_rows(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = vec![false; self.actual.len()];
        for (index, row) in self.actual.iter().enumerate() {
            if matches!(row.mark, Mark::Error | Mark::Mismatch) {
                let to = (index + CONTEXT_BLOCKS + 1).min(shown.len());
                shown[index.saturating_sub(CONTEXT_BLOCKS)..to].fill(true);
            }
            // The slots are always shown.
            shown[index] |= index < SLOTS.len();
        }
        let mut hidden = 0;
        for (row, shown) in self.actual.iter().zip(shown) {
            if !shown {
                hidden += 1;
                continue;
            }
            write_hidden(f, std::mem::take(&mut hidden))?;
            write!(f, "[{:03}] {}", row.index, row.node)?;
            if !row.preview.is_empty() {
                write!(f, ": \"{}\"", row.preview)?;
            }
            let reason = row.reason.as_deref().unwrap_or_default();
            match row.mark {
                Mark::Ok => writeln!(f, "  (line {})", row.line)?,
                Mark::NotChecked => writeln!(f, "  (line {}, not checked)", row.line)?,
                Mark::Error => writeln!(f, "  <-- ERROR (line {}): {reason}", row.line)?,
                Mark::Mismatch => writeln!(f, "  <-- MISMATCH (line {}): {reason}", row.line)?,
            }
        }
        write_hidden(f, hidden)
    }
}

fn write_hidden(f: &mut fmt::Formatter<'_>, hidden: usize) -> fmt::Result {
    match hidden {
        0 => Ok(()),
        1 => writeln!(f, "... 1 more block"),
        many => writeln!(f, "... {many} more blocks"),
    }
}
