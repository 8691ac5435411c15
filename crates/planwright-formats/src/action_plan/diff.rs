//! A refused plan beside the expected structure: as text for people, as JSON for programs, as annotations for check runs.
//!
//! Everything quoted is text of the plan's author. Whoever posts it puts it into a fence ([`super::fences::around`]).

use std::fmt;

use serde::Serialize;

use super::error::{PlanError, Rejected};
use super::grammar::{ACTIONS_BLUEPRINT, SLOTS};

/// Most errors of a plan that texts for people show.
pub const ERRORS_SHOWN: usize = 30;
/// Blocks without an error that the text shows before and behind one with an error; the others are counted.
const AROUND: usize = 6;
/// Most remarks of one plan: twenty requests' worth for a check run, which takes 50 in each
/// (<https://docs.github.com/rest/checks/runs#update-a-check-run>).
pub(super) const ANNOTATIONS: usize = 1_000;

/// What a block is in the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// As expected.
    Ok,
    /// In its place, with an error inside.
    Error,
    /// Not what is expected here.
    Mismatch,
    /// Behind a mismatch: may be right or wrong.
    NotChecked,
}

/// A line of the expected structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// Three digits; followed by `...` when it repeats.
    pub index: String,
    /// What is due.
    pub node: String,
}

/// A block of the refused text, or its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Actual {
    /// From 0.
    pub index: usize,
    /// What it is, such as `List`; `EOF` at the end.
    pub node: String,
    /// Start of its text, on one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub preview: String,
    /// First line, 1-based.
    pub line: usize,
    /// Last line, 1-based.
    pub end_line: usize,
    /// How it compares.
    pub mark: Mark,
    /// Why it is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The comparison. Its text form is for people, its JSON form for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// What is wrong, in the order of the lines.
    pub errors: Vec<PlanError>,
    /// The structure that every plan has.
    pub expected: Vec<Expected>,
    /// The structure that the text has; empty when it was not even read as Markdown.
    pub actual: Vec<Actual>,
}

/// A remark for a GitHub check run, without the path of the file, which the caller knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Annotation {
    /// First line, 1-based.
    pub line: usize,
    /// Last line, 1-based.
    pub end_line: usize,
    /// A few words; never longer than the 255 characters that GitHub takes.
    pub title: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl Rejected {
    /// The comparison with the expected structure.
    pub fn diff(&self) -> Diff {
        let mut actual: Vec<Actual> = self
            .rows
            .iter()
            .enumerate()
            .map(|(index, row)| Actual {
                index,
                node: row.node.clone(),
                preview: row.preview.clone(),
                line: row.span.start,
                end_line: row.span.end,
                mark: if index < self.checked {
                    Mark::Ok
                } else {
                    Mark::NotChecked
                },
                reason: None,
            })
            .collect();
        for error in &self.errors {
            let Some(index) = error.index else { continue };
            if index >= actual.len() {
                actual.push(Actual {
                    index,
                    node: "EOF".to_owned(),
                    preview: String::new(),
                    line: error.span.start,
                    end_line: error.span.end,
                    mark: Mark::NotChecked,
                    reason: None,
                });
            }
            let Some(row) = actual.get_mut(index) else {
                continue;
            };
            if row.reason.is_none() {
                row.reason = Some(format!("expected {}", error.expected));
            }
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

    /// The first errors as remarks for a check run, at most a thousand.
    pub fn annotations(&self) -> Vec<Annotation> {
        let errors = self.errors.iter().take(ANNOTATIONS);
        errors.map(PlanError::annotation).collect()
    }
}

impl PlanError {
    /// The error as a remark at its lines.
    pub fn annotation(&self) -> Annotation {
        Annotation {
            line: self.span.start,
            end_line: self.span.end,
            title: format!("Action plan: {}", self.kind.as_str().replace('-', " ")),
            message: format!("{}\n\n{}", self.message(), self.hints.join("\n")),
        }
    }
}

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
        for (index, error) in self.errors.iter().take(ERRORS_SHOWN).enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{error}")?;
            for hint in &error.hints {
                writeln!(f, "  Hint: {hint}")?;
            }
        }
        if self.errors.len() > ERRORS_SHOWN {
            writeln!(
                f,
                "\n... and {} more errors",
                self.errors.len() - ERRORS_SHOWN
            )?;
        }
        if !self.actual.is_empty() {
            writeln!(f)?;
        }
        self.structure().fmt(f)
    }
}

/// The structures of a [`Diff`] without its errors.
struct Structure<'a>(&'a Diff);

impl fmt::Display for Structure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diff {
            errors,
            expected,
            actual,
        } = self.0;
        if errors.iter().any(|error| error.structural) {
            writeln!(f, "--- Expected Document Structure ---")?;
            for row in expected {
                writeln!(f, "[{}] {}", row.index, row.node)?;
            }
            writeln!(f)?;
        }
        if !actual.is_empty() {
            writeln!(f, "--- Actual Document Structure ---")?;
            self.0.rows(f)?;
        }
        Ok(())
    }
}

impl Diff {
    /// Its text without the errors: the expected structure, when that is what is wrong, and the actual one with marks.
    /// Empty when the text was not even read as Markdown.
    pub fn structure(&self) -> impl fmt::Display {
        Structure(self)
    }

    fn rows(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wrong = |row: &Actual| matches!(row.mark, Mark::Error | Mark::Mismatch);
        let mut near = vec![false; self.actual.len()];
        for (index, _) in self.actual.iter().enumerate().filter(|(_, row)| wrong(row)) {
            let to = (index + AROUND + 1).min(near.len());
            near[index.saturating_sub(AROUND)..to].fill(true);
        }
        // The slots are always shown.
        let slots = near.len().min(SLOTS.len());
        near[..slots].fill(true);
        let mut hidden = 0;
        for (row, near) in self.actual.iter().zip(near) {
            if !near {
                hidden += 1;
                continue;
            }
            tell_hidden(f, &mut hidden)?;
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
        tell_hidden(f, &mut hidden)
    }
}

fn tell_hidden(f: &mut fmt::Formatter<'_>, hidden: &mut usize) -> fmt::Result {
    match std::mem::take(hidden) {
        0 => Ok(()),
        1 => writeln!(f, "... 1 more block"),
        many => writeln!(f, "... {many} more blocks"),
    }
}
