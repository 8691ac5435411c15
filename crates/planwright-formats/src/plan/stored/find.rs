//! Search for the plan on a page by the named comment, by author and by form.

use super::blocks::{self, PlanBlock, PlanPart};
use super::{Findings, Location, StoredComment, StoredForm, StoredPage, StoredPlanError, parts};
use crate::block;
use crate::plan::gate::gate_content;

/// A plan and its origin.
pub(super) struct Found {
    pub(super) document: String,
    pub(super) form: StoredForm,
    pub(super) comments: Vec<u64>,
}

/// Finds the plan of `page`. `header` states whether there is a header, `named` which comment it
/// names.
pub(super) fn find(
    page: &StoredPage,
    header: bool,
    named: Option<u64>,
    findings: &mut Findings,
) -> Result<Found, StoredPlanError> {
    let comments: Vec<PlanBlock> = page
        .comments
        .iter()
        .map(|comment| blocks::in_comment(&comment.body))
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
    match blocks::in_body(&page.body) {
        PlanBlock::Plan(plan) => return Ok(from_body(plan, findings)),
        PlanBlock::Broken { line, reason } => return Err(broken(Location::Body, line, &reason)),
        PlanBlock::Missing => {}
    }
    if page.pull_request
        && let (body, crlf) = blocks::original_line_ends(&page.body)
        && let Some(text) = blocks::text_after_header(&body)
    {
        if crlf {
            findings.add(Location::Body, None, CRLF);
        }
        return Ok(Found {
            document: text.to_owned(),
            form: StoredForm::BehindHeader,
            comments: Vec::new(),
        });
    }
    if let Some(index) = first_of(page, &comments, false)? {
        return from_comment(page, &comments, index, findings);
    }
    whole_body(page, header, named, findings)
}

/// Returns the index of the comment that the header names if it contains a plan.
fn by_name(
    page: &StoredPage,
    comments: &[PlanBlock],
    id: u64,
    findings: &mut Findings,
) -> Result<Option<usize>, StoredPlanError> {
    let index = page.comments.iter().position(|comment| comment.id == id);
    match index.map(|index| (index, &comments[index])) {
        Some((index, PlanBlock::Plan(_))) => return Ok(Some(index)),
        Some((_, PlanBlock::Broken { line, reason })) => {
            return Err(broken(Location::Comment(id), *line, reason));
        }
        Some((_, PlanBlock::Missing)) => findings.add(
            Location::Comment(id),
            None,
            "the plan-header names this comment, but it no longer contains a plan block",
        ),
        None => findings.add(
            Location::Body,
            None,
            format!("the plan-header names comment {id}, which no longer exists"),
        ),
    }
    Ok(None)
}

fn broken(location: Location, line: usize, reason: &str) -> StoredPlanError {
    StoredPlanError::Broken {
        location,
        line,
        why: reason.to_owned(),
    }
}

/// Returns the index of the first comment with a plan, by the page's author or by others.
/// `plan-body` has priority over `plan-content`.
fn first_of(
    page: &StoredPage,
    comments: &[PlanBlock],
    author: bool,
) -> Result<Option<usize>, StoredPlanError> {
    let selected = |index: &usize| is_author(page, &page.comments[*index]) == author;
    let with_form = |wanted: StoredForm| {
        (0..comments.len())
            .filter(selected)
            .find(|index| matches!(&comments[*index], PlanBlock::Plan(plan) if plan.form == wanted))
    };
    let found = with_form(StoredForm::PlanBody).or_else(|| with_form(StoredForm::PlanContent));
    // A broken block of another author is ignored, since anybody can write one.
    if found.is_none() && author {
        for index in (0..comments.len()).filter(selected) {
            if let PlanBlock::Broken { line, reason } = &comments[index] {
                let location = Location::Comment(page.comments[index].id);
                return Err(broken(location, *line, reason));
            }
        }
    }
    Ok(found)
}

fn is_author(page: &StoredPage, comment: &StoredComment) -> bool {
    same_person(page.author.as_deref(), comment.author.as_deref())
}

/// Compares logins, which are case-insensitive. Two deleted accounts may be different people.
fn same_person(one: Option<&str>, other: Option<&str>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one.eq_ignore_ascii_case(other))
}

/// Returns true if two comments are by the same person.
pub(super) fn by_same_author(page: &StoredPage, one: usize, other: usize) -> bool {
    let author = |index: usize| page.comments[index].author.as_deref();
    one == other || same_person(author(one), author(other))
}

/// Returns the name of an author for messages.
pub(super) fn author_name(author: Option<&str>) -> &str {
    author.unwrap_or("a deleted account")
}

fn from_comment(
    page: &StoredPage,
    comments: &[PlanBlock],
    first: usize,
    findings: &mut Findings,
) -> Result<Found, StoredPlanError> {
    let (document, used, form) = parts::collect(page, comments, first, findings)?;
    let id = |index: &usize| page.comments[*index].id;
    for index in &used {
        if let PlanBlock::Plan(plan) = &comments[*index] {
            note_plan(plan, Location::Comment(id(index)), findings);
        }
    }
    let comment = &page.comments[first];
    if !is_author(page, comment) {
        findings.add(
            Location::Comment(comment.id),
            None,
            format!(
                "the plan is by {}, the {} is by {}: check that this is the right plan",
                author_name(comment.author.as_deref()),
                if page.pull_request {
                    "pull request"
                } else {
                    "issue"
                },
                author_name(page.author.as_deref()),
            ),
        );
    }
    for (index, held) in comments.iter().enumerate() {
        if let PlanBlock::Plan(plan) = held
            && !used.contains(&index)
            // Other parts by the author of a plan in parts have been reported.
            && !(used.len() > 1 && plan.part.is_some() && by_same_author(page, first, index))
        {
            let by = author_name(page.comments[index].author.as_deref());
            findings.add(
                Location::Comment(id(&index)),
                None,
                format!("contains another plan, by {by}, which was ignored"),
            );
        }
    }
    Ok(Found {
        document,
        form,
        comments: used.iter().map(id).collect(),
    })
}

fn from_body(plan: PlanPart, findings: &mut Findings) -> Found {
    note_plan(&plan, Location::Body, findings);
    Found {
        document: plan.text,
        form: plan.form,
        comments: Vec::new(),
    }
}

const CRLF: &str =
    "its line endings are CRLF, as after an edit in a browser; the plan was read with LF";

/// Reports the oddities of a plan block.
fn note_plan(plan: &PlanPart, location: Location, findings: &mut Findings) {
    if plan.crlf {
        findings.add(location, None, CRLF);
    }
    if plan.blocks > 1 {
        let message = format!(
            "contains {} plan blocks; the first one was used",
            plan.blocks
        );
        findings.add(location, None, message);
    }
    for (line, message) in &plan.diagnostics {
        findings.add(location, Some(*line), message.clone());
    }
}

/// Returns the whole body as the plan if it has no blocks and passes the gate.
fn whole_body(
    page: &StoredPage,
    header: bool,
    named: Option<u64>,
    findings: &mut Findings,
) -> Result<Found, StoredPlanError> {
    if header {
        return Err(match named {
            Some(id) => StoredPlanError::CommentGone { id },
            None => StoredPlanError::HeaderAlone,
        });
    }
    let parsed = block::parse(&page.body);
    if !parsed.blocks.is_empty() || !parsed.diagnostics.is_empty() {
        let why = "the body contains blocks, but none with a plan".to_owned();
        return Err(StoredPlanError::NoPlan { why });
    }
    if let Err(error) = gate_content(&page.body) {
        let why = format!("the body is not a plan by itself: {error}");
        return Err(StoredPlanError::NoPlan { why });
    }
    findings.add(
        Location::Body,
        None,
        "there is no plan block: the whole body was used as the plan, as the first erk releases stored it",
    );
    Ok(Found {
        document: page.body.clone(),
        form: StoredForm::WholeBody,
        comments: Vec::new(),
    })
}
