//! Reading a saved plan back: from the texts of an issue or a pull request to the plan, byte for byte.
//!
//! erk kept plans in five ways, all of which are still out there. They are looked for in this order:
//!
//! | form | where | written by |
//! |---|---|---|
//! | [`Source::PlanBody`] | comment; a long plan goes on in further ones, `part i/n` | erk from December 2025, planwright |
//! | [`Source::PlanContent`] | comment, between `erk:plan-content` markers | erk, November 2025 |
//! | [`Source::OriginalPlan`] | body of a pull request, `<details>` with the summary `original-plan` | erk from February 2026 |
//! | [`Source::BodyBlock`] | block in the body of the issue | erk's `plan issue body`, November 2025 |
//! | [`Source::BehindHeader`] | body of a pull request, between the first and the last rule | erk, February 2026 |
//! | [`Source::WholeBody`] | the body is the plan | erk before metadata blocks |
//!
//! The comment that the header names comes first whatever its place. A block proves nothing about who wrote it, so a
//! comment of the author is taken before anybody else's, a plan of somebody else is taken with a warning, and a
//! part is only taken from whoever wrote the first part. What is put together always holds the comment that the plan was
//! found in, by the numbers that the parts say and the markers that tie them: what does not fit together is a
//! [`NotStored`] that names the comment and the remedy. So is a broken block above a good one of its kind, as nobody
//! knows which of them was the plan.

mod error;
mod find;
mod header;
mod held;
mod parts;

use std::fmt;

use serde_json::{Map, Value};

use super::document;
pub use error::NotStored;
use find::{Found, find};

/// An issue or a pull request with all its comments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// Login of its author; `None` for a deleted account.
    pub author: Option<String>,
    /// Its opening text.
    pub body: String,
    /// It is a pull request.
    pub pull_request: bool,
    /// Every comment, oldest first.
    pub comments: Vec<Comment>,
}

/// A comment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comment {
    /// Id.
    pub id: u64,
    /// Login of its author; `None` for a deleted account.
    pub author: Option<String>,
    /// Its text.
    pub body: String,
}

/// A plan that was read back.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredPlan {
    /// Title of the issue.
    pub title: String,
    /// Fields of the `plan-header` block; `None` when there is none that can be read.
    pub header: Option<Map<String, Value>>,
    /// The document as it was saved.
    pub document: String,
    /// The plan that was found before it was saved: the document without planwright's frame. The document itself where
    /// it has no such frame.
    pub plan: String,
    /// The form it was stored in.
    pub source: Source,
    /// The comments it was read from, first part first; empty when it is in the body.
    pub comments: Vec<u64>,
    /// What is odd about it. The plan is complete all the same.
    pub findings: Vec<Finding>,
}

/// The form a plan is stored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `plan-body` blocks in comments.
    PlanBody,
    /// `erk:plan-content` markers in a comment.
    PlanContent,
    /// `original-plan` in the body of a pull request.
    OriginalPlan,
    /// A plan block in the body of an issue.
    BodyBlock,
    /// The text between header and footer in the body of a pull request.
    BehindHeader,
    /// The body as it is.
    WholeBody,
}

impl Source {
    /// Stable name for programs.
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

    /// Where that is and who wrote it so, for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::PlanBody => "`plan-body` block in a comment (erk from December 2025, planwright)",
            Self::PlanContent => "`erk:plan-content` markers in a comment (erk, November 2025)",
            Self::OriginalPlan => {
                "`original-plan` in the body of a pull request (erk from February 2026)"
            }
            Self::BodyBlock => "plan block in the body of the issue (erk, November 2025)",
            Self::BehindHeader => {
                "text behind the header in the body of a pull request (erk, February 2026)"
            }
            Self::WholeBody => "the whole body (erk before metadata blocks)",
        }
    }
}

/// Where something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The opening text.
    Body,
    /// The comment with this id.
    Comment(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => f.write_str("the body"),
            Self::Comment(id) => write!(f, "comment {id}"),
        }
    }
}

/// Something odd that did not keep the plan from being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where.
    pub place: Place,
    /// Line there, 1-based, when it is one line's trouble.
    pub line: Option<usize>,
    /// What, for people. May hold text of users.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// What is odd, as it is found.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, place: Place, line: Option<usize>, message: impl Into<String>) {
        self.0.push(Finding {
            place,
            line,
            message: message.into(),
        });
    }
}

/// The `plan-header` of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// Its fields; `None` when there is none that can be read.
    pub fields: Option<Map<String, Value>>,
    /// What is odd about it.
    pub findings: Vec<Finding>,
}

/// The `plan-header` of an issue's or pull request's body, for lists: the comments are not looked at.
pub fn header(body: &str) -> Header {
    let mut findings = Findings::default();
    Header {
        fields: header::read(body, &mut findings),
        findings: findings.0,
    }
}

/// Reads the plan that is stored in `page`. Linear in the size of its texts.
///
/// # Errors
/// There is no plan, or not all of it: see [`NotStored`].
pub fn read(page: &Page) -> Result<StoredPlan, NotStored> {
    let mut findings = Findings::default();
    let header = header::read(&page.body, &mut findings);
    let named = header
        .as_ref()
        .and_then(|fields| header::comment(fields, &mut findings));
    let Found {
        document,
        source,
        comments,
    } = find(page, header.is_some(), named, &mut findings)?;
    Ok(StoredPlan {
        title: page.title.clone(),
        header,
        plan: document::plan_text(&document).to_owned(),
        document,
        source,
        comments,
        findings: findings.0,
    })
}
