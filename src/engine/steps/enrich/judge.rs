//! Evaluation of the agent's text: a plan, an error, or a rejected answer. Facts about the run come
//! from its state, not from the text.

use super::{Context, work};
use crate::engine::effects::StepError;
use crate::engine::messages::{agent as sentences, repository, trust, unclear};
use crate::engine::model::candidate::Candidate;
use crate::engine::model::progress::{Enriched, Fault, Prepared, SearchResult};
use crate::engine::planner::Rejected;
use crate::engine::steps::verify::{self, MAX_TITLE};
use crate::formats::plan::enriched::{self, CheckedAnswer, EnrichmentFacts};
use crate::formats::plan::summary::summarise;
use crate::formats::text::truncate_chars;

/// Checks the plan that the agent wrote.
///
/// # Errors
/// Returns [`StepError::Failed`] if neither the bot nor the agent found a plan, or if hidden text
/// in the chosen plan needs a decision.
pub(super) fn check(
    context: &mut Context,
    text: String,
) -> Result<Result<Prepared, Rejected>, StepError> {
    let found = work(context).found.clone();
    let facts = facts(context);
    let candidates = found.as_ref().map_or(&[][..], SearchResult::candidates);
    let judge = |wanted: Option<&Candidate>| {
        enriched::check_answer(
            &text,
            &facts.borrowed(wanted.map(|found| found.text.as_str())),
        )
    };
    // Of several candidates, take the one whose text the agent has kept.
    let kept = candidates
        .iter()
        .find(|candidate| matches!(judge(Some(candidate)), CheckedAnswer::Plan(_)));
    let wanted = kept.or(candidates.first());
    let checked = judge(wanted);
    if let (Some(kept), true) = (kept, candidates.len() > 1) {
        choose(context, kept.clone())?;
    }
    let faults: Vec<Fault> = match checked {
        CheckedAnswer::Plan(plan) => {
            return Ok(Ok(document(context, &plan, &facts)));
        }
        CheckedAnswer::Error(error) if wanted.is_none() => {
            let (looked, unconfirmed) = found
                .map(|found| ([found.looked, found.notes].concat(), found.unconfirmed))
                .unwrap_or_default();
            let mut failure = sentences::no_plan(&context.trigger, &error, looked);
            if !unconfirmed.is_empty() {
                let command = context.trigger.command;
                failure = trust::only_unconfirmed(command, &unconfirmed, failure.details);
            }
            return Err(StepError::Failed(failure));
        }
        // The agent reports an error, but the bot itself has found a plan.
        CheckedAnswer::Error(error) => vec![sentences::claims_error(&error.code)],
        CheckedAnswer::Rejected(complaints) => complaints.iter().map(Fault::from).collect(),
    };
    Ok(Err(Rejected {
        draft: Some(text),
        faults,
    }))
}

/// Records the plan that the agent chose among several.
fn choose(context: &mut Context, mut candidate: Candidate) -> Result<(), StepError> {
    let hidden =
        verify::settle_hidden(&context.trigger, &mut candidate).map_err(StepError::Failed)?;
    if let Some(found) = work(context).found.as_mut() {
        found.hidden = hidden;
        found.notes.push(unclear::by_agent(&candidate));
        found.candidate = Some(candidate);
        found.unclear = None;
    }
    Ok(())
}

/// Facts about the run that the document states, independent of the agent's text.
struct RunFacts {
    guidance: Option<String>,
    questions: u32,
    clarifications: Vec<(String, String)>,
}

impl RunFacts {
    fn borrowed<'a>(&'a self, candidate: Option<&'a str>) -> EnrichmentFacts<'a> {
        EnrichmentFacts {
            guidance: self.guidance.as_deref(),
            questions: self.questions,
            clarifications: self.clarifications.clone(),
            candidate,
        }
    }
}

fn facts(context: &mut Context) -> RunFacts {
    let guidance = context.trigger.guidance.clone();
    let work = work(context);
    let answered = work.answered();
    let clarifications = answered.iter().flatten().filter_map(|(question, answer)| {
        let topic = match question.header.as_str() {
            "" => question.question.clone(),
            header => header.to_owned(),
        };
        Some((topic, answer.as_ref()?.words(question)))
    });
    RunFacts {
        guidance,
        questions: work.questions(),
        clarifications: clarifications.collect(),
    }
}

/// Builds the plan to save from the enriched plan.
fn document(context: &mut Context, plan: &enriched::EnrichedPlan, facts: &RunFacts) -> Prepared {
    let mut notes = notes_on_work(context);
    if !plan.corrections.is_empty() {
        notes.push(sentences::recomputed(&plan.corrections));
    }
    let mut plan = plan.clone();
    let warnings = open_questions(context, &mut plan.body, &mut notes);
    let found = work(context).found.clone();
    let found_hidden = found.as_ref().and_then(|found| found.hidden.clone());
    let prefix = &context.settings.publish.title_prefix;
    let candidate = found.as_ref().and_then(|found| found.candidate.as_ref());
    let mut in_document: Vec<String> = provenance(found.as_ref());
    in_document.extend(notes.iter().cloned());
    let title = truncate_chars(&plan.title, MAX_TITLE);
    let summary = summarise(&plan.body);
    let borrowed = facts.borrowed(candidate.map(|found| found.text.as_str()));
    Prepared {
        issue_title: truncate_chars(&format!("{prefix}{title}"), MAX_TITLE),
        document: enriched::render_document(&plan, &borrowed, &in_document),
        found: place(found.as_ref()),
        title,
        sentence: summary.sentence,
        steps: summary.steps,
        notes,
        source_title: found
            .as_ref()
            .map_or_else(String::new, |found| found.source_title.clone()),
        log: found.and_then(|found| found.log),
        enriched: Enriched::Yes,
        warnings,
        attached: Vec::new(),
        hidden: found_hidden,
        replaces: None,
        base: None,
        files: None,
    }
}

/// Returns title and text of the plan that was found, if it can be saved unchanged.
pub(super) fn as_found(context: &mut Context) -> Option<(String, String)> {
    let found = work(context).found.as_ref()?;
    let candidate = found.candidate.as_ref()?;
    let title = verify::saved_title(candidate, &found.source_title).ok()?;
    Some((title, candidate.text.clone()))
}

/// Returns the plan without enrichment: the one that was found, or else the agent's own text if
/// that can be a plan.
///
/// # Errors
/// Returns [`StepError::Failed`] if neither can be saved.
pub(super) fn fallback(context: &mut Context, why: &str) -> Result<Prepared, StepError> {
    let found = work(context).found.clone();
    let found_hidden = found.as_ref().and_then(|found| found.hidden.clone());
    let draft = work(context).draft.clone();
    let facts = facts(context);
    let candidate = found.as_ref().and_then(|found| found.candidate.as_ref());
    let fallback_title = found
        .as_ref()
        .map_or("", |found| found.source_title.as_str());
    let as_found = as_found(context);
    let (title, mut body, own) = match as_found {
        Some((title, body)) => (title, body, false),
        None => match draft.as_deref().and_then(enriched::salvage_plan) {
            Some((title, body)) => (truncate_chars(&title, MAX_TITLE), body, true),
            None => return Err(StepError::Failed(sentences::no_valid_answer(why))),
        },
    };
    let mut notes = vec![sentences::fallback(why, own)];
    if facts.guidance.is_some() {
        notes.push(verify::NOT_APPLIED.to_owned());
    }
    notes.extend(notes_on_work(context));
    let warnings = open_questions(context, &mut body, &mut notes);
    let summary = summarise(&body);
    let prefix = &context.settings.publish.title_prefix;
    let mut reasons = notes.clone();
    reasons.extend(provenance(found.as_ref()));
    let borrowed = facts.borrowed(candidate.map(|found| found.text.as_str()));
    Ok(Prepared {
        issue_title: truncate_chars(&format!("{prefix}{title}"), MAX_TITLE),
        document: enriched::render_fallback(&title, &body, &borrowed, &reasons),
        found: if own {
            "the agent's own text".to_owned()
        } else {
            place(found.as_ref())
        },
        title,
        sentence: summary.sentence,
        steps: summary.steps,
        notes,
        source_title: fallback_title.to_owned(),
        log: found.and_then(|found| found.log),
        enriched: Enriched::Fallback,
        warnings,
        attached: Vec::new(),
        hidden: if own { None } else { found_hidden },
        replaces: None,
        base: None,
        files: None,
    })
}

/// Returns notes for readers on how the plan was made.
pub(in crate::engine::steps) fn notes_on_work(context: &mut Context) -> Vec<String> {
    let unseen = context.progress.repository.unseen.as_deref();
    let unseen = unseen.map(repository::unseen);
    let work = work(context);
    let mut notes = work
        .found
        .as_ref()
        .map(|found| found.notes.clone())
        .unwrap_or_default();
    notes.extend(unseen);
    notes.extend(sentences::redacted(work.redacted));
    let mut unasked = work.unasked.clone();
    if work.unanswered {
        // No round followed in which these could be asked.
        unasked.extend(
            work.lost
                .iter()
                .filter(|one| !work.unasked.contains(one))
                .cloned(),
        );
    }
    notes.extend(sentences::unasked(&unasked));
    notes
}

/// Appends the unanswered questions to the plan, adds notes on them, and returns warning codes.
pub(in crate::engine::steps) fn open_questions(
    context: &mut Context,
    body: &mut String,
    notes: &mut Vec<String>,
) -> Vec<String> {
    let held = context.settings.agent.answer_within;
    let work = work(context);
    let open = work.without_answer();
    let left = open.iter().filter(|(_, left)| *left).count();
    let unanswered = open.len() - left;
    if !open.is_empty() {
        body.push_str(&sentences::open_questions(&open));
    }
    if left > 0 {
        notes.push(sentences::left_to_agent(left));
    }
    if unanswered == 0 {
        return Vec::new();
    }
    notes.push(sentences::unanswered(unanswered, held));
    vec![
        crate::engine::model::failure::Code::QuestionsUnanswered
            .name()
            .to_owned(),
    ]
}

fn provenance(found: Option<&SearchResult>) -> Vec<String> {
    found
        .and_then(|found| found.provenance.clone())
        .into_iter()
        .collect()
}

/// Describes where the plan was found, as a phrase for users.
fn place(found: Option<&SearchResult>) -> String {
    match found {
        Some(SearchResult { log: Some(log), .. }) => {
            format!("found in {}", crate::formats::block::quiet(log))
        }
        Some(SearchResult {
            candidate: Some(candidate),
            ..
        }) => verify::found(candidate),
        _ => "assembled from the conversation by the agent".to_owned(),
    }
}
