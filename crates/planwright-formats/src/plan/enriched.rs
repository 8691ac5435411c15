//! Validation of an agent's answer that contains an enriched plan.
//!
//! The answer is parsed as Markdown, so headings in code are ignored. Text before `# Plan:`, a
//! fence around the whole answer and a closing question to the reader are removed. A missing title,
//! section or step, a lost plan and unused guidance are rejected. The statements of the answer
//! about itself are replaced by the facts of the run.
//!
//! Nothing in the text keeps an effect: Planwright's comments are removed here, and blocks,
//! mentions and commands are neutralised where the document is posted (`formats::block`). Images
//! become links, since displaying an image fetches its URL, and a URL can leak what the agent has
//! read.

mod answer;
mod images;
mod problem;
mod sections;
#[cfg(test)]
mod tests;

pub use problem::AnswerProblem;

use super::document::{
    self, CATEGORIES, Enrichment, ErrorDocument, Guidance, Mode, ParsedDocument, PlanDocument,
};
use super::gate::{gate_content, gate_title};
use super::title::title_of;
use sections::PlanSections;

/// Facts about a run that override the statements of the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnrichmentFacts<'a> {
    /// Text after the command, trimmed; `None` if there is none.
    pub guidance: Option<&'a str>,
    /// Number of questions that were asked.
    pub questions: u32,
    /// Topic and answer of each answered question.
    pub clarifications: Vec<(String, String)>,
    /// The plan that was found before the agent was started.
    pub candidate: Option<&'a str>,
}

/// Result of [`check_answer`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckedAnswer {
    /// A plan that may be saved.
    Plan(EnrichedPlan),
    /// The agent states that there is no plan.
    Error(ErrorDocument),
    /// The answer must be written again. There is at least one problem.
    Rejected(Vec<AnswerProblem>),
}

/// The plan in an accepted answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnrichedPlan {
    /// Title on one line.
    pub title: String,
    /// Plan and context: the text after the frame, without Planwright's comments.
    pub body: String,
    /// For each of [`CATEGORIES`], whether it has content under `## Context & Understanding`.
    pub categories: [bool; 8],
    /// Whether the guidance was worked in.
    pub guidance_applied: bool,
    /// Corrected statements of the answer, each as the rest of a sentence that begins with "the
    /// agent".
    pub corrections: Vec<String>,
}

/// Neutralises an agent's document before it is posted, and returns the number of images in it.
///
/// Removes Planwright's comments and a closing question to the reader, restores `@`, escapes
/// commands for other bots, and turns images into links.
pub fn neutralise(text: &str) -> (String, usize) {
    images::as_links(answer::plan(text, None), "")
}

/// Minimum share of the original plan that an answer must keep, in percent of its characters.
pub const MIN_KEPT_PERCENT: usize = 40;

/// Parses and validates an agent's answer.
///
/// All problems are returned together, so that one more attempt can fix them. An answer is an error
/// document only if its first heading says so.
pub fn check_answer(text: &str, facts: &EnrichmentFacts<'_>) -> CheckedAnswer {
    let text = answer::bare(text);
    let (title, claims, body) = match document::parse(text) {
        ParsedDocument::Error(error) => return CheckedAnswer::Error(error),
        ParsedDocument::Plan(read) => (read.title, Some(read.enrichment), read.body),
        ParsedDocument::Neither(_) => {
            let (title, body) = answer::without_frame(text);
            (title.unwrap_or_default(), None, body)
        }
    };
    let mut problems = Vec::new();
    if title.is_empty() {
        problems.push(AnswerProblem::NoTitle);
    } else if let Err(error) = gate_title(&title) {
        problems.push(AnswerProblem::Title(error));
    }
    if claims.is_none() && !answer::has_details(text) {
        problems.push(AnswerProblem::NoDetails);
    }
    let body = answer::plan(&body, facts.candidate);
    let (body, images) = images::as_links(body, facts.candidate.unwrap_or_default());
    let sections = PlanSections::of(&body);
    let guided = facts.guidance.is_some();
    if body.trim().is_empty() {
        problems.push(AnswerProblem::NoBody);
    } else {
        check_body(&title, &body, &sections, facts, &mut problems);
        if sections.details && claims.is_some() {
            problems.push(AnswerProblem::SecondDetails);
        }
        let plan = body[..sections.plan_end].trim();
        let unchanged = |candidate: &str| {
            plan == candidate.trim() || plan == document::plan_body(candidate).trim()
        };
        if guided && facts.candidate.is_some_and(unchanged) {
            problems.push(AnswerProblem::GuidanceWithoutEffect);
        } else if guided && claims.is_some() && answer::denies_guidance(text) {
            problems.push(AnswerProblem::GuidanceNotApplied);
        }
    }
    match claims {
        Some(claims) if problems.is_empty() => CheckedAnswer::Plan(EnrichedPlan {
            title,
            categories: sections.categories,
            guidance_applied: guided,
            corrections: corrections(&claims, &sections, facts, images),
            body,
        }),
        _ => {
            if problems.is_empty() {
                problems.push(AnswerProblem::NoDetails);
            }
            CheckedAnswer::Rejected(problems)
        }
    }
}

/// Adds the problems of a body that is not empty.
fn check_body(
    title: &str,
    body: &str,
    sections: &PlanSections,
    facts: &EnrichmentFacts<'_>,
    problems: &mut Vec<AnswerProblem>,
) {
    if let Err(error) = gate_content(body) {
        problems.push(AnswerProblem::Content(error));
    }
    if !sections.steps {
        problems.push(AnswerProblem::NoSteps);
    }
    match sections.context {
        None => problems.push(AnswerProblem::NoContext),
        Some(false) => problems.push(AnswerProblem::EmptyContext),
        Some(true) => {}
    }
    let candidate = facts.candidate.unwrap_or_default();
    let known = candidate.to_lowercase();
    let placeholder = sections::placeholder(title).or_else(|| sections.placeholder.clone());
    if let Some(text) = placeholder.filter(|text| !known.contains(&text.to_lowercase())) {
        problems.push(AnswerProblem::Placeholder(text));
    }
    if answer::has_question(body) {
        problems.push(AnswerProblem::QuestionLeft);
    }
    if !candidate.trim().is_empty() {
        problems.extend(loss(&body[..sections.plan_end], body, candidate, facts));
    }
}

/// Returns the problem if text or code of the original plan is missing.
fn loss(
    plan: &str,
    body: &str,
    candidate: &str,
    facts: &EnrichmentFacts<'_>,
) -> Option<AnswerProblem> {
    let original = answer::as_prompted(document::plan_body(candidate));
    let length = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let (kept, all) = (length(plan), length(&original));
    if kept * 100 < all * MIN_KEPT_PERCENT {
        let percent = kept * 100 / all.max(1);
        return Some(AnswerProblem::Shrunk { percent });
    }
    let wanted = sections::fences(&original);
    let present = sections::fences(&answer::as_prompted(body));
    // Guidance may change code, but does not justify leaving blocks out.
    if facts.guidance.is_some() && present.len() >= wanted.len() {
        return None;
    }
    let missing = wanted.into_iter().find(|code| !present.contains(code))?;
    let line = missing.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().trim().to_owned();
    Some(AnswerProblem::CodeLost(line))
}

/// Returns the false statements of the answer about itself, each as the rest of a sentence that
/// begins with "the agent".
fn corrections(
    claims: &Enrichment,
    sections: &PlanSections,
    facts: &EnrichmentFacts<'_>,
    images: usize,
) -> Vec<String> {
    let mut found = Vec::new();
    if claims.mode != Mode::Enriched {
        found.push("gave a mode other than “enriched”".to_owned());
    }
    if claims.questions != facts.questions {
        let claimed = counted(claims.questions as usize, "question");
        found.push(format!("counted {claimed}, not {}", facts.questions));
    }
    let claimed_applied = claims.guidance.as_ref().is_some_and(|it| it.applied);
    if claimed_applied && facts.guidance.is_none() {
        found.push("said that it applied guidance, although none was given".to_owned());
    }
    let categories = claims.categories.iter().zip(sections.categories);
    for (name, (claimed, present)) in CATEGORIES.iter().zip(categories) {
        if *claimed && !present {
            found.push(format!("listed “{name}”, on which the plan has no text"));
        } else if present && !claimed {
            found.push(format!("did not list “{name}”, on which the plan has text"));
        }
    }
    let (claimed, actual) = (claims.clarifications.len(), facts.clarifications.len());
    if claimed != actual {
        let claimed = counted(claimed, "clarification");
        found.push(format!("listed {claimed}, not {actual}"));
    }
    if images > 0 {
        found.push(format!(
            "added {}, shown as text here because displaying an image fetches its URL",
            counted(images, "image")
        ));
    }
    found
}

fn counted(number: usize, word: &str) -> String {
    let several = if number == 1 { "" } else { "s" };
    format!("{number} {word}{several}")
}

/// Renders the document to save, with the facts of the run. The caller decides whether `notes`
/// include [`EnrichedPlan::corrections`].
pub fn render_document(
    plan: &EnrichedPlan,
    facts: &EnrichmentFacts<'_>,
    notes: &[String],
) -> String {
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

/// Renders the document to save if no answer was accepted: `body` (the original plan or the agent's
/// text) unchanged, followed by the guidance that was not applied. The first of `notes` should
/// state the reason.
pub fn render_fallback(
    title: &str,
    body: &str,
    facts: &EnrichmentFacts<'_>,
    notes: &[String],
) -> String {
    let enrichment = Enrichment {
        guidance: guidance(facts, false),
        questions: facts.questions,
        clarifications: facts.clarifications.clone(),
        notes: notes.to_vec(),
        ..Enrichment::raw()
    };
    document::wrap(title, &enrichment, document::plan_body(body))
}

/// Returns title and body of a rejected answer that still contains a plan.
///
/// The plan must pass the gates and have steps. Returns `None` for an error document and for a text
/// with a question.
pub fn salvage_plan(text: &str) -> Option<(String, String)> {
    let text = answer::bare(text);
    let (title, body) = match document::parse(text) {
        ParsedDocument::Error(_) => return None,
        ParsedDocument::Plan(read) => (Some(read.title), read.body),
        ParsedDocument::Neither(_) => answer::without_frame(text),
    };
    let (body, _) = neutralise(&body);
    let title = title.or_else(|| title_of(&body))?;
    gate_title(&title).ok()?;
    gate_content(&body).ok()?;
    let sections = PlanSections::of(&body);
    // Enrichment details in the plan would be parsed as those of the frame.
    let accepted = sections.steps && !sections.details && !answer::has_question(&body);
    accepted.then_some((title, body))
}

fn guidance(facts: &EnrichmentFacts<'_>, applied: bool) -> Option<Guidance> {
    facts.guidance.map(|text| Guidance {
        text: text.to_owned(),
        applied,
    })
}
