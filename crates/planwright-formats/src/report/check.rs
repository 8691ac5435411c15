//! Checks whether a document that an agent wrote is a complete report or plan.

use std::fmt;

use comrak::Arena;
use comrak::nodes::{AstNode, ListType, NodeValue};

use super::placeholder::placeholders;
use super::structure::{PlanHeadingKind, items, phase_heading, section_name};
use crate::plan::title::strip_prefix;
use crate::words::WORDS;
use crate::{front_matter, hidden, markdown};

/// Minimum size of a report, in bytes (the limit of benbrastmckie/.config's research-specialist).
pub const MIN_REPORT_BYTES: usize = 500;
/// Minimum size of a plan, in bytes (the limit of the same project's validator).
pub const MIN_PLAN_BYTES: usize = 500;
/// Maximum size of a report, in code points, so that it fits into a comment on GitHub (65,536)
/// together with its frame.
pub const MAX_REPORT_CHARS: usize = 50_000;
/// Maximum number of placeholders that are reported.
const MAX_PLACEHOLDERS: usize = 10;

/// Sections of level 2 of which a report needs at least one.
const FINDINGS: [&str; 3] = ["findings", "executive summary", "analysis"];

/// A problem in a report or plan that an agent wrote. `Display` addresses the agent: description
/// and remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentProblem {
    /// The document contains only white space and comments.
    Empty,
    /// The document is too short.
    TooSmall {
        /// Bytes without comments and without white space at both ends.
        bytes: usize,
        /// Minimum.
        min: usize,
    },
    /// The document is too long.
    TooLarge {
        /// Code points.
        chars: usize,
        /// Maximum.
        max: usize,
    },
    /// There is no heading of level 1.
    NoTitle,
    /// A report has no section with findings.
    NoFindings,
    /// A plan has no steps.
    NoSteps,
    /// A placeholder of a template was not filled in.
    Placeholder {
        /// 1-based line number.
        line: usize,
        /// The placeholder, on one line.
        text: String,
    },
}

impl DocumentProblem {
    /// Describes the problem for people.
    pub fn description(&self) -> String {
        self.explain().0
    }

    /// Returns the description and the remedy.
    fn explain(&self) -> (String, &'static str) {
        let (description, remedy) = match self {
            Self::Empty => ("the document is empty", "write all of it into the file"),
            Self::TooSmall { bytes, min } => {
                return (
                    format!("the document has {bytes} bytes without its comments and needs {min}"),
                    "say more, with places and reasons",
                );
            }
            Self::TooLarge { chars, max } => {
                return (
                    format!("the document has {chars} characters and may have {max}"),
                    "leave out long listings and name their places",
                );
            }
            Self::NoTitle => (
                "the document has no heading of level 1",
                "begin it with a line `# Title`, outside of code",
            ),
            Self::NoFindings => (
                "the document has no findings section",
                "write it below `## Findings`, `## Executive Summary` or `## Analysis`, outside of code",
            ),
            Self::NoSteps => (
                "the document has no steps",
                "write phases (`## Phase 1: …`), a numbered list or a section `## Implementation Steps`, outside of code",
            ),
            Self::Placeholder { line, text } => {
                // A backtick would end the code span.
                let text = text.replace('`', "'");
                return (
                    format!("line {line}: `{text}` is left over from a template"),
                    "replace it with content, or remove it",
                );
            }
        };
        (description.to_owned(), remedy)
    }
}

impl fmt::Display for DocumentProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (description, remedy) = self.explain();
        write!(f, "{description}; {remedy}")
    }
}

/// Returns the problems of a report. Comments do not count towards its size, and code is ignored.
pub fn check_report(text: &str) -> Vec<DocumentProblem> {
    let mut problems = check(text, MIN_REPORT_BYTES, |headings, _| {
        (!has_findings(headings)).then_some(DocumentProblem::NoFindings)
    });
    let chars = text.chars().count();
    if chars > MAX_REPORT_CHARS {
        let max = MAX_REPORT_CHARS;
        problems.push(DocumentProblem::TooLarge { chars, max });
    }
    problems
}

/// Returns the problems of a plan. Comments do not count towards its size, and code is ignored.
pub fn check_plan(text: &str) -> Vec<DocumentProblem> {
    check(text, MIN_PLAN_BYTES, |headings, root| {
        let phases = headings
            .iter()
            .any(|(level, text)| phase_heading(*level, text).is_some());
        (!phases && !has_steps(root)).then_some(DocumentProblem::NoSteps)
    })
}

/// Guesses whether a document is a plan rather than a report.
///
/// A plan has phases or milestones, or it has no section of a report and either `Plan` in its title
/// or task boxes.
pub fn looks_like_plan(text: &str) -> bool {
    let arena = Arena::new();
    let root = markdown::parse(&arena, front_matter::body(text));
    let headings = headings(root);
    let phases = headings.iter().any(|(level, text)| {
        phase_heading(*level, text).is_some_and(|found| found.kind != PlanHeadingKind::Step)
    });
    let titled = || {
        let title = headings.iter().find(|(level, _)| *level == 1);
        title.is_some_and(|(_, text)| {
            strip_prefix(text).len() < text.trim().len()
                || text.to_lowercase().split_whitespace().next_back() == Some("plan")
        })
    };
    let boxes = || {
        root.descendants()
            .any(|node| matches!(node.data().value, NodeValue::TaskItem(_)))
    };
    phases || !has_findings(&headings) && (titled() || boxes())
}

fn check(
    text: &str,
    min: usize,
    structure: impl for<'a> Fn(&[(u8, String)], &'a AstNode<'a>) -> Option<DocumentProblem>,
) -> Vec<DocumentProblem> {
    let bytes = hidden::visible(text).text.trim().len();
    if bytes == 0 {
        return vec![DocumentProblem::Empty];
    }
    let mut problems = Vec::new();
    if bytes < min {
        problems.push(DocumentProblem::TooSmall { bytes, min });
    }
    let body = front_matter::body(text);
    let arena = Arena::new();
    let root = markdown::parse(&arena, body);
    let headings = headings(root);
    let titled = headings
        .iter()
        .any(|(level, text)| *level == 1 && !text.trim().is_empty());
    if !titled {
        problems.push(DocumentProblem::NoTitle);
    }
    problems.extend(structure(&headings, root));
    let above = &text.as_bytes()[..text.len() - body.len()];
    let above = memchr::memchr_iter(b'\n', above).count();
    let placeholders = placeholders(root).into_iter().take(MAX_PLACEHOLDERS);
    problems.extend(
        placeholders.map(|(line, text)| DocumentProblem::Placeholder {
            line: line + above,
            text,
        }),
    );
    problems
}

/// Returns level and text of every top-level heading.
fn headings<'a>(root: &'a AstNode<'a>) -> Vec<(u8, String)> {
    root.children()
        .filter_map(|node| match &node.data().value {
            NodeValue::Heading(heading) => Some((heading.level, node.collect_text())),
            _ => None,
        })
        .collect()
}

fn has_findings(headings: &[(u8, String)]) -> bool {
    headings
        .iter()
        .any(|(level, text)| *level == 2 && FINDINGS.contains(&section_name(text).as_str()))
}

/// Returns true for a numbered list or a task list of at least two items, or a non-empty section
/// for steps.
fn has_steps<'a>(root: &'a AstNode<'a>) -> bool {
    root.children().any(|node| match &node.data().value {
        NodeValue::List(list) => {
            let boxes = items(node)
                .filter(|item| matches!(item.data().value, NodeValue::TaskItem(_)))
                .count();
            boxes >= 2 || list.list_type == ListType::Ordered && items(node).nth(1).is_some()
        }
        NodeValue::Heading(heading) => {
            let filled = node.next_sibling().is_some_and(|next| {
                !matches!(&next.data().value, NodeValue::Heading(next) if next.level <= heading.level)
            });
            let name = section_name(&node.collect_text());
            filled && WORDS.document_step_sections.contains(&name)
        }
        _ => false,
    })
}
