//! An agent's answer, checked: what it claims counts for nothing where the text or the run shows something else.
//!
//! Everything is read from the tree, so a heading in code is no heading. Tolerated and taken off: words before
//! `# Plan:`, a fence around the whole answer, a question to the reader behind it. Never tolerated: a missing title,
//! section or step, a lost plan, guidance that was not worked in. The numbers of the document are those of the run.
//!
//! Nothing in the text has power: comments of ours in it are taken out, and blocks, mentions and commands are made
//! harmless where the document is posted (`formats::block`). Pictures become links: everybody who looks at one fetches
//! its address, and an address can carry away what an agent has read.

mod answer;
mod complaint;
mod parts;
mod pictures;
#[cfg(test)]
mod tests;

pub use complaint::Complaint;

use super::document::{
    self, CATEGORIES, Enrichment, ErrorDocument, Guidance, Mode, PlanDocument, Reading,
};
use super::gate::gate_content;
use super::title::{gate_title, title_of};
use crate::hidden;
use parts::Parts;

/// What the run knows, whatever the answer says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Text behind the command; empty when there is none.
    pub guidance: &'a str,
    /// How many questions were really asked.
    pub questions: u32,
    /// Topic and answer of each question that was answered.
    pub clarifications: Vec<(String, String)>,
    /// The plan that was found before the agent was asked.
    pub candidate: Option<&'a str>,
}

/// What an answer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// A plan that may be saved.
    Plan(Enriched),
    /// The agent says that there is no plan.
    Error(ErrorDocument),
    /// It must be written again: why, at least one.
    Wrong(Vec<Complaint>),
}

/// An answer that passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enriched {
    /// Its title, on one line.
    pub title: String,
    /// The plan with its context: everything behind the rule of the frame, without marks of ours.
    pub body: String,
    /// Which of `document::CATEGORIES` have content under `## Context & Understanding`.
    pub categories: [bool; 8],
    /// The guidance was worked in.
    pub guidance_applied: bool,
    /// What the text claimed wrongly and was put right, one sentence each, for people.
    pub recomputed: Vec<String>,
}

/// A document of an agent without anything that has power where it is posted: comments of ours and a last question to the
/// reader taken out, `@` as people write it, no commands for other bots, pictures made into links. And how many pictures
/// there were.
pub fn harmless(text: &str) -> (String, usize) {
    pictures::as_links(answer::plan(text, None), "")
}

/// The least part of the plan that was found, in percent of its characters, that the answer must keep.
pub const LEAST_KEPT: usize = 40;

/// Reads and checks an agent's answer.
///
/// An error document is one only when its heading is the first one. Several complaints come together, so that one more
/// try can put all of it right.
pub fn check(text: &str, facts: &Facts<'_>) -> Checked {
    let text = answer::bare(text);
    let (title, claims, body) = match document::read(&text) {
        Reading::Error(error) => return Checked::Error(error),
        Reading::Plan(read) => (read.title, Some(read.enrichment), read.body),
        Reading::Neither(_) => {
            let found = answer::without_frame(&text);
            (found.title.unwrap_or_default(), None, found.body)
        }
    };
    let mut complaints = Vec::new();
    if title.is_empty() {
        complaints.push(Complaint::NoTitle);
    } else if let Err(fault) = gate_title(&title) {
        complaints.push(Complaint::Title(fault));
    }
    if claims.is_none() && !answer::has_details(&text) {
        complaints.push(Complaint::NoDetails);
    }
    let body = answer::plan(&body, facts.candidate);
    let (body, pictures) = pictures::as_links(body, facts.candidate.unwrap_or_default());
    let parts = Parts::of(&body);
    if body.trim().is_empty() {
        complaints.push(Complaint::NoBody);
    } else {
        complain(&title, &body, &parts, facts, &mut complaints);
        if parts.details && claims.is_some() {
            complaints.push(Complaint::SecondDetails);
        }
    }
    let said_no = claims.is_some() && answer::says_guidance_no(&text);
    if !facts.guidance.trim().is_empty() && !body.trim().is_empty() {
        let same = |candidate: &&str| {
            let plan = body[..parts.plan_end].trim();
            plan == candidate.trim() || plan == document::body(candidate).trim()
        };
        if facts.candidate.as_ref().is_some_and(same) {
            complaints.push(Complaint::GuidanceWithoutEffect);
        } else if said_no {
            complaints.push(Complaint::GuidanceNotApplied);
        }
    }
    match claims {
        Some(claims) if complaints.is_empty() => Checked::Plan(Enriched {
            title,
            categories: parts.categories,
            guidance_applied: !facts.guidance.trim().is_empty(),
            recomputed: recomputed(&claims, &parts, facts, pictures),
            body,
        }),
        _ => {
            if complaints.is_empty() {
                complaints.push(Complaint::NoDetails);
            }
            Checked::Wrong(complaints)
        }
    }
}

/// What is wrong with a body that is there.
fn complain(
    title: &str,
    body: &str,
    parts: &Parts,
    facts: &Facts<'_>,
    complaints: &mut Vec<Complaint>,
) {
    if let Err(fault) = gate_content(body) {
        complaints.push(Complaint::Content(fault));
    }
    if !parts.steps {
        complaints.push(Complaint::NoSteps);
    }
    match parts.context {
        None => complaints.push(Complaint::NoContext),
        Some(false) => complaints.push(Complaint::EmptyContext),
        Some(true) => {}
    }
    let candidate = facts.candidate.unwrap_or_default();
    let known = candidate.to_lowercase();
    let left = parts::placeholder(title).or_else(|| parts.placeholder.clone());
    if let Some(left) = left.filter(|left| !known.contains(&left.to_lowercase())) {
        complaints.push(Complaint::Placeholder(left));
    }
    if answer::asks(body) {
        complaints.push(Complaint::QuestionLeft);
    }
    if !candidate.trim().is_empty() {
        lost(&body[..parts.plan_end], body, candidate, facts, complaints);
    }
}

/// What of the plan that was found is not there any more.
fn lost(
    plan: &str,
    body: &str,
    candidate: &str,
    facts: &Facts<'_>,
    complaints: &mut Vec<Complaint>,
) {
    let found = answer::as_told(document::body(candidate));
    let length = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let (kept, all) = (length(plan), length(&found));
    if kept * 100 < all * LEAST_KEPT {
        complaints.push(Complaint::Shrunk {
            percent: kept * 100 / all.max(1),
        });
        return;
    }
    let wanted = parts::fences(&found);
    let there = parts::fences(&answer::as_told(body));
    // Guidance may change code, but it is no reason to leave some out.
    let missing = if facts.guidance.trim().is_empty() {
        wanted.into_iter().find(|code| !there.contains(code))
    } else {
        (there.len() < wanted.len())
            .then(|| wanted.into_iter().find(|code| !there.contains(code)))
            .flatten()
    };
    if let Some(code) = missing {
        let line = code.lines().find(|line| !line.trim().is_empty());
        complaints.push(Complaint::CodeLost(
            line.unwrap_or_default().trim().to_owned(),
        ));
    }
}

/// What the answer says of itself and is not so, each as the rest of a sentence that begins with
/// "the agent".
fn recomputed(
    claims: &Enrichment,
    parts: &Parts,
    facts: &Facts<'_>,
    pictures: usize,
) -> Vec<String> {
    let mut said = Vec::new();
    if claims.mode != Mode::Enriched {
        said.push("named another mode than enriched".to_owned());
    }
    if claims.questions != facts.questions {
        said.push(format!(
            "counted {}, not {}",
            counted(claims.questions as usize, "question"),
            facts.questions
        ));
    }
    let claimed_applied = claims.guidance.as_ref().is_some_and(|it| it.applied);
    if claimed_applied && facts.guidance.trim().is_empty() {
        said.push("said that it applied guidance, although none was given".to_owned());
    }
    for (name, (claimed, there)) in CATEGORIES
        .iter()
        .zip(claims.categories.iter().zip(parts.categories))
    {
        if *claimed && !there {
            said.push(format!("listed “{name}”, on which the plan has no text"));
        } else if there && !claimed {
            said.push(format!("did not list “{name}”, on which the plan has text"));
        }
    }
    if claims.clarifications.len() != facts.clarifications.len() {
        said.push(format!(
            "listed {}, not {}",
            counted(claims.clarifications.len(), "clarification"),
            facts.clarifications.len()
        ));
    }
    if pictures > 0 {
        said.push(format!(
            "added {}, shown as text here because whoever looks at a picture fetches its address",
            counted(pictures, "picture")
        ));
    }
    said
}

fn counted(number: usize, word: &str) -> String {
    let several = if number == 1 { "" } else { "s" };
    format!("{number} {word}{several}")
}

/// The document to save, with the numbers of the run. `notes` are for the reader, [`Enriched::recomputed`] only where
/// the caller puts it among them.
pub fn document(plan: &Enriched, facts: &Facts<'_>, notes: &[String]) -> String {
    PlanDocument {
        title: plan.title.clone(),
        enrichment: Enrichment {
            mode: Mode::Enriched,
            guidance: guidance(facts, plan.guidance_applied),
            questions: facts.questions,
            categories: plan.categories,
            clarifications: facts.clarifications.clone(),
            notes: notes.to_vec(),
        },
        body: plan.body.clone(),
    }
    .render()
}

/// The document to save when no answer passed: `body` (the plan that was found, or the agent's own text) as it is, with
/// guidance that is not applied behind it. The first of `notes` says why, and that this is a fallback.
pub fn fallback(title: &str, body: &str, facts: &Facts<'_>, notes: &[String]) -> String {
    let enrichment = Enrichment {
        guidance: guidance(facts, false),
        questions: facts.questions,
        clarifications: facts.clarifications.clone(),
        notes: notes.to_vec(),
        ..Enrichment::raw()
    };
    document::wrap(title, &enrichment, document::body(body))
}

/// Title and body of an answer that did not pass but holds a plan: the gates are passed and there are steps. `None` for
/// an error document, for a text with a question in it, and for anything that only talks about a plan.
pub fn own_text_as_plan(text: &str) -> Option<(String, String)> {
    let text = answer::bare(text);
    let (title, body) = match document::read(&text) {
        Reading::Error(_) => return None,
        Reading::Plan(read) => (Some(read.title), read.body),
        Reading::Neither(_) => {
            let found = answer::without_frame(&text);
            (found.title, found.body)
        }
    };
    let (body, _) = pictures::as_links(answer::plan(&body, None), "");
    let title = title.or_else(|| title_of(&body))?;
    gate_title(&title).ok()?;
    gate_content(&body).ok()?;
    let parts = Parts::of(&body);
    // Details in a plan are read as if they were ours.
    let passes = parts.steps && !parts.details && !answer::asks(&body);
    passes.then_some((title, body))
}

fn guidance(facts: &Facts<'_>, applied: bool) -> Option<Guidance> {
    let text = facts.guidance.trim();
    (!text.is_empty()).then(|| Guidance {
        text: text.to_owned(),
        applied,
    })
}

/// `text` as an agent is told it.
fn told(text: &str) -> String {
    hidden::visible(text).text
}
