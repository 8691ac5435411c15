//! Reading a saved plan back: from the texts of an issue or a pull request to the plan, byte for byte.
//!
//! erk kept plans in five ways, all of which are still out there. They are looked for in this order:
//!
//! | form | where | written by |
//! |---|---|---|
//! | [`Source::PlanBody`] | comment; a long plan goes on in further ones, `part i/n` | erk from December 2025, planwright |
//! | [`Source::PlanContent`] | first comment, between `erk:plan-content` markers | erk, November 2025 |
//! | [`Source::OriginalPlan`] | body of a pull request, `<details>` with the summary `original-plan` | erk from February 2026 |
//! | [`Source::BodyBlock`] | block in the body of the issue | erk's `plan issue body`, November 2025 |
//! | [`Source::BehindHeader`] | body of a pull request, between the first and the last rule | erk, February 2026 |
//! | [`Source::WholeBody`] | the body is the plan | erk before metadata blocks |
//!
//! The comment that the header names comes first whatever its place. A block proves nothing about who wrote it, so a
//! comment of the author is taken before anybody else's, a plan of somebody else is taken with a warning, and a
//! part is only taken from whoever wrote the first part. Nothing is put together by guessing: what does not fit
//! together is a [`NotStored`] that names the comment and the remedy.

mod error;
mod header;
mod held;
mod parts;

use std::fmt;

use serde_json::{Map, Value};

use super::document;
use super::gate::gate_content;
use crate::formats::block;
pub use error::NotStored;
use held::{Held, Plan};

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

/// What a plan was read from.
struct Found {
    document: String,
    source: Source,
    comments: Vec<u64>,
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

fn find(
    page: &Page,
    header: bool,
    named: Option<u64>,
    findings: &mut Findings,
) -> Result<Found, NotStored> {
    let comments: Vec<Held> = page
        .comments
        .iter()
        .map(|comment| held::in_comment(&comment.body))
        .collect();
    let by_name = match named {
        Some(id) => by_name(page, &comments, id, findings)?,
        None => None,
    };
    let chosen = match by_name {
        Some(index) => Some(index),
        None => first_of(page, &comments, true)?,
    };
    if let Some(index) = chosen {
        return from_comment(page, &comments, index, findings);
    }
    match held::in_body(&page.body) {
        Held::Plan(plan) => return Ok(from_body(plan, findings)),
        Held::Broken { line, why } => {
            let place = Place::Body;
            return Err(NotStored::Broken { place, line, why });
        }
        Held::Nothing => {}
    }
    if page.pull_request
        && let Some(text) = header::behind(&page.body)
    {
        return Ok(Found {
            document: text.to_owned(),
            source: Source::BehindHeader,
            comments: Vec::new(),
        });
    }
    if let Some(index) = first_of(page, &comments, false)? {
        return from_comment(page, &comments, index, findings);
    }
    whole_body(page, header, named, findings)
}

/// The comment that the header names, where it holds a plan.
fn by_name(
    page: &Page,
    comments: &[Held],
    id: u64,
    findings: &mut Findings,
) -> Result<Option<usize>, NotStored> {
    let index = page.comments.iter().position(|comment| comment.id == id);
    match index.map(|index| (index, &comments[index])) {
        Some((index, Held::Plan(_))) => return Ok(Some(index)),
        Some((_, Held::Broken { line, why })) => {
            return Err(NotStored::Broken {
                place: Place::Comment(id),
                line: *line,
                why: why.clone(),
            });
        }
        Some((_, Held::Nothing)) => findings.add(
            Place::Comment(id),
            None,
            "the plan-header names this comment, but it holds no plan block any more",
        ),
        None => findings.add(
            Place::Body,
            None,
            format!("the plan-header names comment {id}, which is not there any more"),
        ),
    }
    Ok(None)
}

/// The first comment with a plan, `plan-body` before `plan-content`: of the page's author, or of others.
fn first_of(page: &Page, comments: &[Held], author: bool) -> Result<Option<usize>, NotStored> {
    let mine = |index: &usize| is_author(page, &page.comments[*index]) == author;
    let of = |wanted: Source| {
        (0..comments.len())
            .filter(mine)
            .find(|index| matches!(&comments[*index], Held::Plan(plan) if plan.source == wanted))
    };
    if let Some(index) = of(Source::PlanBody).or_else(|| of(Source::PlanContent)) {
        return Ok(Some(index));
    }
    // Somebody else's broken block is not worth an error: anybody may write one.
    for index in (0..comments.len()).filter(mine).filter(|_| author) {
        if let Held::Broken { line, why } = &comments[index] {
            return Err(NotStored::Broken {
                place: Place::Comment(page.comments[index].id),
                line: *line,
                why: why.clone(),
            });
        }
    }
    Ok(None)
}

fn is_author(page: &Page, comment: &Comment) -> bool {
    same_person(page.author.as_deref(), comment.author.as_deref())
}

/// Logins differ in case only when they are one. Two deleted accounts may be two people.
fn same_person(one: Option<&str>, other: Option<&str>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one.eq_ignore_ascii_case(other))
}

fn by_same_author(page: &Page, one: usize, other: usize) -> bool {
    let author = |index: usize| page.comments[index].author.as_deref();
    one == other || same_person(author(one), author(other))
}

fn name(author: Option<&str>) -> &str {
    author.unwrap_or("a deleted account")
}

fn from_comment(
    page: &Page,
    comments: &[Held],
    first: usize,
    findings: &mut Findings,
) -> Result<Found, NotStored> {
    let (document, used, source) = parts::collect(page, comments, first, findings)?;
    let id = |index: &usize| page.comments[*index].id;
    for index in &used {
        if let Held::Plan(plan) = &comments[*index] {
            note_plan(plan, Place::Comment(id(index)), findings);
        }
    }
    let comment = &page.comments[first];
    if !is_author(page, comment) {
        findings.add(
            Place::Comment(comment.id),
            None,
            format!(
                "the plan is by {}, the {} is by {}: make sure that it is the plan you want",
                name(comment.author.as_deref()),
                if page.pull_request {
                    "pull request"
                } else {
                    "issue"
                },
                name(page.author.as_deref()),
            ),
        );
    }
    for (index, held) in comments.iter().enumerate() {
        if let Held::Plan(plan) = held
            && !used.contains(&index)
            && !(plan.part.is_some() && by_same_author(page, first, index))
        {
            let by = name(page.comments[index].author.as_deref());
            findings.add(
                Place::Comment(id(&index)),
                None,
                format!("holds another plan, by {by}, which was not taken"),
            );
        }
    }
    Ok(Found {
        document,
        source,
        comments: used.iter().map(id).collect(),
    })
}

fn from_body(plan: Plan, findings: &mut Findings) -> Found {
    note_plan(&plan, Place::Body, findings);
    Found {
        document: plan.text,
        source: plan.source,
        comments: Vec::new(),
    }
}

fn note_plan(plan: &Plan, place: Place, findings: &mut Findings) {
    if plan.crlf {
        findings.add(place, None, "its line ends are CRLF, as after an edit in a browser; the plan was read with LF, as it was written");
    }
    if plan.blocks > 1 {
        let message = format!("holds {} plan blocks; the first one was taken", plan.blocks);
        findings.add(place, None, message);
    }
    for (line, why) in &plan.troubles {
        findings.add(place, Some(*line), why.clone());
    }
}

/// The body as the plan, when nothing says otherwise and it looks like one.
fn whole_body(
    page: &Page,
    header: bool,
    named: Option<u64>,
    findings: &mut Findings,
) -> Result<Found, NotStored> {
    if header {
        return Err(match named {
            Some(id) => NotStored::CommentGone { id },
            None => NotStored::HeaderAlone,
        });
    }
    let parsed = block::parse(&page.body);
    if !parsed.blocks.is_empty() || !parsed.diagnostics.is_empty() {
        let why = "the body holds blocks, but none with a plan".to_owned();
        return Err(NotStored::NoPlan { why });
    }
    if let Err(fault) = gate_content(&page.body) {
        let why = format!("the body is no plan by itself: {fault}");
        return Err(NotStored::NoPlan { why });
    }
    findings.add(
        Place::Body,
        None,
        "there is no plan block anywhere: the whole body was taken for the plan, as erk stored plans at first",
    );
    Ok(Found {
        document: page.body.clone(),
        source: Source::WholeBody,
        comments: Vec::new(),
    })
}
