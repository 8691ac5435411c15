//! Where on a page the plan is: by name, by author, by form.

use super::held::{self, Held, Plan};
use super::{Comment, Findings, NotStored, Page, Place, Source, header, parts};
use crate::block;
use crate::plan::gate::gate_content;

/// What a plan was read from.
pub(super) struct Found {
    pub(super) document: String,
    pub(super) source: Source,
    pub(super) comments: Vec<u64>,
}

/// The plan of `page`. `header` says that there is a header, `named` which comment it names.
pub(super) fn find(
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
        && let (body, crlf) = held::unix(&page.body)
        && let Some(text) = header::behind(&body)
    {
        if crlf {
            findings.add(Place::Body, None, CRLF);
        }
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

/// Whether two comments are by one person.
pub(super) fn by_same_author(page: &Page, one: usize, other: usize) -> bool {
    let author = |index: usize| page.comments[index].author.as_deref();
    one == other || same_person(author(one), author(other))
}

/// An author for messages.
pub(super) fn name(author: Option<&str>) -> &str {
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
            // Of a plan in parts, the others of its author have been told.
            && !(used.len() > 1 && plan.part.is_some() && by_same_author(page, first, index))
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

const CRLF: &str = "its line ends are CRLF, as after an edit in a browser; the plan was read with LF, as it was written";

fn note_plan(plan: &Plan, place: Place, findings: &mut Findings) {
    if plan.crlf {
        findings.add(place, None, CRLF);
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
