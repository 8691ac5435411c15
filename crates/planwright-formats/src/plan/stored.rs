//! Reading of saved plans from the texts of an issue or a pull request, byte for byte.
//!
//! erk has stored plans in several forms. They are searched in this order:
//!
//! | form | where | written by |
//! |---|---|---|
//! | [`StoredForm::PlanBody`] | comment; a long plan continues in further ones, `part i/n` | erk from December 2025, planwright |
//! | [`StoredForm::PlanContent`] | comment, between `erk:plan-content` markers | erk, November 2025 |
//! | [`StoredForm::OriginalPlan`] | body of a pull request, `<details>` with the summary `original-plan` | erk from February 2026 |
//! | [`StoredForm::BodyBlock`] | block in the body of the issue | erk's `plan issue body`, November 2025 |
//! | [`StoredForm::BehindHeader`] | body of a pull request, between the first and the last rule | erk, February 2026 |
//! | [`StoredForm::WholeBody`] | the body is the plan | erk before metadata blocks |
//!
//! The comment that the header names has priority wherever it is. Since anybody can write a block,
//! comments of the author are preferred, a plan of another author is used with a warning,
//! and all parts must be by the author of the first one. Parts are joined by their numbers and
//! markers, and always include the comment in which the plan was found. Parts that do not fit
//! together are a [`StoredPlanError`] that names the comment and the remedy. So is a broken block
//! above a valid one of its kind, since either could be the plan.

mod blocks;
mod find;
mod parts;

use std::fmt;

use serde_json::{Map, Value};

use super::document;
use find::{Found, find};

/// An issue or a pull request with all its comments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredPage {
    /// Title.
    pub title: String,
    /// Login of the author; `None` for a deleted account.
    pub author: Option<String>,
    /// Opening text.
    pub body: String,
    /// Whether it is a pull request.
    pub pull_request: bool,
    /// All comments, oldest first.
    pub comments: Vec<StoredComment>,
}

/// A comment of a [`StoredPage`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredComment {
    /// Id.
    pub id: u64,
    /// Login of the author; `None` for a deleted account.
    pub author: Option<String>,
    /// Text.
    pub body: String,
}

/// Result of [`read`].
#[derive(Debug, Clone, PartialEq)]
pub struct StoredPlan {
    /// Title of the issue.
    pub title: String,
    /// Fields of the `plan-header` block; `None` if there is no valid one.
    pub header: Option<Map<String, Value>>,
    /// The document as it was saved.
    pub document: String,
    /// The original plan: the document without Planwright's frame and notes.
    pub plan: String,
    /// The form in which it was stored.
    pub form: StoredForm,
    /// Ids of the comments that contain it, in the order of its parts; empty if it is in the body.
    pub comments: Vec<u64>,
    /// Oddities, none of which affects the completeness of the plan.
    pub findings: Vec<StoredFinding>,
}

/// Form in which a plan is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredForm {
    /// `plan-body` blocks in comments.
    PlanBody,
    /// `erk:plan-content` markers in a comment.
    PlanContent,
    /// `original-plan` in the body of a pull request.
    OriginalPlan,
    /// A plan block in the body of an issue.
    BodyBlock,
    /// Text between header and footer in the body of a pull request.
    BehindHeader,
    /// The whole body.
    WholeBody,
}

impl StoredForm {
    /// Returns the stable name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::PlanBody => "plan-body",
            Self::PlanContent => "plan-content",
            Self::OriginalPlan => "original-plan",
            Self::BodyBlock => "body-block",
            Self::BehindHeader => "behind-header",
            Self::WholeBody => "whole-body",
        }
    }

    /// Describes place and writer for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::PlanBody => "`plan-body` block in a comment (erk from December 2025, planwright)",
            Self::PlanContent => "`erk:plan-content` markers in a comment (erk, November 2025)",
            Self::OriginalPlan => {
                "`original-plan` in the body of a pull request (erk from February 2026)"
            }
            Self::BodyBlock => "plan block in the body of the issue (erk, November 2025)",
            Self::BehindHeader => {
                "text after the header in the body of a pull request (erk, February 2026)"
            }
            Self::WholeBody => "the whole body (erk before metadata blocks)",
        }
    }
}

/// Location of a text on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// The opening text.
    Body,
    /// The comment with this id.
    Comment(u64),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => f.write_str("the body"),
            Self::Comment(id) => write!(f, "comment {id}"),
        }
    }
}

/// An oddity that does not prevent the plan from being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFinding {
    /// Location.
    pub location: Location,
    /// 1-based line number, if the finding is about one line.
    pub line: Option<usize>,
    /// Message for people. May contain text of users.
    pub message: String,
}

impl fmt::Display for StoredFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.location)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Collects findings.
#[derive(Default)]
struct Findings(Vec<StoredFinding>);

impl Findings {
    fn add(&mut self, location: Location, line: Option<usize>, message: impl Into<String>) {
        self.0.push(StoredFinding {
            location,
            line,
            message: message.into(),
        });
    }
}

/// The `plan-header` block of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredHeader {
    /// Fields; `None` if there is no valid header.
    pub fields: Option<Map<String, Value>>,
    /// Oddities of the header.
    pub findings: Vec<StoredFinding>,
}

/// Reads the `plan-header` in the body of an issue or pull request without its comments, for lists
/// of plans.
pub fn header(body: &str) -> StoredHeader {
    let mut findings = Findings::default();
    StoredHeader {
        fields: blocks::header(body, &mut findings),
        findings: findings.0,
    }
}

/// Reads the plan that is stored in `page`, in time linear in the size of its texts.
///
/// # Errors
/// There is no complete plan.
pub fn read(page: &StoredPage) -> Result<StoredPlan, StoredPlanError> {
    let mut findings = Findings::default();
    let header = blocks::header(&page.body, &mut findings);
    let named = header
        .as_ref()
        .and_then(|fields| blocks::named_comment(fields, &mut findings));
    let Found {
        document,
        form,
        comments,
    } = find(page, header.is_some(), named, &mut findings)?;
    Ok(StoredPlan {
        title: page.title.clone(),
        header,
        plan: document::plan_text(&document).to_owned(),
        document,
        form,
        comments,
        findings: findings.0,
    })
}

/// Reason why no plan can be read, with its remedy. Messages may contain a few words of users.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoredPlanError {
    /// The page contains no plan.
    #[error(
        "there is no plan here: neither the body nor any comment contains a plan block, and {why}; `planwright plan list OWNER/REPO` shows where plans are"
    )]
    NoPlan {
        /// Reason why the body itself is not used as the plan.
        why: String,
    },
    /// There is a header that names no comment, but no plan.
    #[error(
        "there is a plan-header but no plan: the save was interrupted; comment `/retry` where the plan was requested, or save it again"
    )]
    HeaderAlone,
    /// The comment that the header names contains no plan, and neither does another one.
    #[error(
        "the plan-header names comment {id} as the plan, but that comment is gone or empty, and no other one contains a plan: save the plan again"
    )]
    CommentGone {
        /// Id of the comment.
        id: u64,
    },
    /// Parts of a long plan are missing.
    #[error(
        "the plan has {of} parts, and {} missing{}: restore the comments from their edit history, or save the plan again",
        missing_parts(missing),
        parenthesised(hints)
    )]
    PartsMissing {
        /// 1-based numbers of the first six missing parts.
        missing: Vec<usize>,
        /// Number of all parts.
        of: usize,
        /// Comments that may have been the missing parts.
        hints: Vec<String>,
    },
    /// Several different comments have the same part number.
    #[error(
        "comments {} all say that they are part {part} of {of}, and they differ: delete the wrong ones",
        list(comments)
    )]
    PartTwice {
        /// 1-based number of the part.
        part: usize,
        /// Number of all parts.
        of: usize,
        /// Ids of the comments.
        comments: Vec<u64>,
    },
    /// The comment in which the plan begins is a part without a number, although all numbered parts
    /// exist without it.
    #[error(
        "comment {comment} contains a part of a longer plan without a line `part i/n` above it, and all {of} numbered parts exist already: restore that line from the comment's edit history, or save the plan again"
    )]
    PartUnnumbered {
        /// Id of the comment.
        comment: u64,
        /// Number of the numbered parts.
        of: usize,
    },
    /// A part lacks the marker that connects it to its neighbour.
    #[error(
        "part {part} of {of} (comment {comment}) was edited by hand: its {end} line is not the marker that links it to part {neighbour}; restore the text from the comment's edit history"
    )]
    PartEdited {
        /// 1-based number of the part.
        part: usize,
        /// Number of all parts.
        of: usize,
        /// Id of the comment.
        comment: u64,
        /// `first` or `last` line.
        end: &'static str,
        /// Number of the neighbour.
        neighbour: usize,
    },
    /// The plan block was broken by an edit.
    #[error(
        "the plan block in {location} is broken: line {line}: {why}, or restore the text from the edit history"
    )]
    Broken {
        /// Location of the block.
        location: Location,
        /// 1-based line number.
        line: usize,
        /// Description of the error.
        why: String,
    },
}

fn list<T: ToString>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(", ")
}

fn missing_parts(numbers: &[usize]) -> String {
    match numbers {
        [number] => format!("part {number} is"),
        _ => format!("parts {} are", list(numbers)),
    }
}

fn parenthesised(hints: &[String]) -> String {
    if hints.is_empty() {
        return String::new();
    }
    format!(" ({})", hints.join("; "))
}
