//! What the agent answered: questions, a plan, an error, or nothing that holds. What happened counts, not what the text
//! claims.

use super::super::super::agent::Report;
use super::super::super::effects::Stop;
use super::super::super::progress::{Enriched, Fault, Found, Prepared};
use super::super::super::say::{agent as sentences, trust, unclear};
use super::super::super::turns;
use super::super::extract::Candidate;
use super::super::planning;
use super::super::verify::{self, TITLE_MAX};
use super::{Context, Step, ask, turn, work};
use crate::formats::command::Command;
use crate::formats::plan::enriched::{self, CheckedAnswer, EnrichmentFacts};
use crate::formats::plan::summary::summarise;
use crate::formats::question::marker::without_markers;
use crate::formats::question::turn::{End, Next as Asked, gather, next, too_late};
use crate::formats::text::truncate_chars;

/// Takes in a turn that ended well: `result` is its final text, where there is one, `came` everything the assistant said
/// and wrote in it. `None` when it said nothing at all.
///
/// # Errors
/// As [`super::enrich`].
pub(super) async fn judge(
    context: &mut Context,
    result: Option<&str>,
    structured: Option<&serde_json::Value>,
    came: &Report,
) -> Result<Option<Step>, Stop> {
    let gathered = gather(&came.texts, structured);
    let (questions, mut lost) = (gathered.questions, gathered.lost);
    let mut late = Vec::new();
    if turns::obeyed(&work(context).canary, came, &questions) {
        // Nothing of this answer is used: whoever wrote the data may have written the answer.
        tracing::warn!(run.id = %context.run(), "the agent obeyed the conversation; the run is held");
        // Nor is anything of its session, whatever is decided: not after a retry either.
        turns::begin_again(work(context));
        let decision = ask::hold(context);
        work(context).rounds.push(decision);
        context.remember().await?;
        return Ok(Some(Step::Again));
    }
    let plan = from_structured(structured);
    let end = match plan.as_deref().or(result) {
        Some(text) => End::Said(text),
        None => End::NoResult,
    };
    let rounds = turn::rounds_left(context);
    let text = match next(end, questions, rounds) {
        Asked::Ask(questions) => {
            turns::not_asked(work(context), lost, rounds);
            work(context).rounds.push(ask::round(questions));
            context.remember().await?;
            return Ok(Some(Step::Again));
        }
        Asked::Done(text) => text,
        // It has asked as often as it may: what else it said is all there is.
        Asked::TooManyRounds(questions) => {
            late.extend(too_late(&questions));
            without_markers(plan.as_deref().or(result).unwrap_or_default())
        }
        // What an agent writes counts, whatever it says beside it.
        Asked::Nothing | Asked::Failed if planning::wrote(context, came) => String::new(),
        Asked::Nothing if !lost.is_empty() => {
            ask_again(context, lost).await?;
            return Ok(Some(Step::Again));
        }
        Asked::Nothing | Asked::Failed => return Ok(None),
    };
    let judged = match context.trigger.command {
        Command::Plan => planning::judge(context, came),
        _ => plan_or_not(context, text)?,
    };
    match judged {
        Judged::Done(mut prepared) => {
            lost.append(&mut late);
            prepared.notes.extend(sentences::unasked(&lost));
            Ok(Some(Step::Done(prepared)))
        }
        Judged::Wrong { draft, faults } => {
            let plan = draft.as_deref().is_some_and(|draft| {
                context.trigger.command == Command::Plan || enriched::salvage_plan(draft).is_some()
            });
            if lost.is_empty() || plan {
                let lost = lost.into_iter().map(Fault::from);
                wrong(context, draft, lost.chain(faults).collect()).await?;
            } else {
                // It asked, and what is wrong with its text follows from that.
                ask_again(context, lost).await?;
            }
            Ok(Some(Step::Again))
        }
    }
}

/// Tells the agent that its questions could not be read.
async fn ask_again(context: &mut Context, lost: Vec<String>) -> Result<(), Stop> {
    tracing::info!(run.id = %context.run(), lost = lost.join(" "), "the agent's questions cannot be read");
    turns::ask_again(work(context), lost);
    context.remember().await
}

/// What an answer that asks nothing comes to.
pub(in crate::engine::steps) enum Judged {
    /// A plan that may be saved.
    Done(Box<Prepared>),
    /// It must be written again.
    Wrong {
        /// What there is of it; nothing where that is of no use.
        draft: Option<String>,
        /// What is wrong.
        faults: Vec<Fault>,
    },
}

/// Checks what the agent gives as the plan.
fn plan_or_not(context: &mut Context, text: String) -> Result<Judged, Stop> {
    let found = work(context).found.clone();
    let facts = facts(context);
    let candidates = found.as_ref().map_or(&[][..], Found::candidates);
    let judge = |wanted: Option<&Candidate>| {
        enriched::check_answer(
            &text,
            &facts.borrowed(wanted.map(|found| found.text.as_str())),
        )
    };
    // Of several the one whose text the agent has kept.
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
            let prepared = document(context, &plan, &facts);
            return Ok(Judged::Done(Box::new(prepared)));
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
            return Err(Stop::Failed(failure));
        }
        // There is a plan: the bot has found it itself.
        CheckedAnswer::Error(error) => vec![sentences::claims_error(&error.code)],
        CheckedAnswer::Rejected(complaints) => complaints.iter().map(Fault::from).collect(),
    };
    Ok(Judged::Wrong {
        draft: Some(text),
        faults,
    })
}

/// Takes the plan that the agent has chosen among several.
fn choose(context: &mut Context, mut candidate: Candidate) -> Result<(), Stop> {
    let hidden = verify::settle_hidden(&context.trigger, &mut candidate).map_err(Stop::Failed)?;
    if let Some(found) = work(context).found.as_mut() {
        found.hidden = hidden;
        found.notes.push(unclear::by_agent(&candidate));
        found.candidate = Some(candidate);
        found.unclear = None;
    }
    Ok(())
}

/// Asks for the plan again, or gives up asking.
async fn wrong(
    context: &mut Context,
    draft: Option<String>,
    faults: Vec<Fault>,
) -> Result<(), Stop> {
    let what: Vec<&str> = faults.iter().map(|fault| fault.what.as_str()).collect();
    tracing::info!(run.id = %context.run(), complaints = what.join("; "), "the agent's answer does not hold");
    turns::complain(work(context), draft, faults);
    context.remember().await
}

/// The plan of structured output.
fn from_structured(structured: Option<&serde_json::Value>) -> Option<String> {
    let plan = structured?.get("plan")?.as_str()?;
    (!plan.trim().is_empty()).then(|| plan.to_owned())
}

/// What happened in this run, whatever the agent's text says of it.
struct Happened {
    guidance: String,
    questions: u32,
    clarifications: Vec<(String, String)>,
}

impl Happened {
    fn borrowed<'a>(&'a self, candidate: Option<&'a str>) -> EnrichmentFacts<'a> {
        EnrichmentFacts {
            guidance: &self.guidance,
            questions: self.questions,
            clarifications: self.clarifications.clone(),
            candidate,
        }
    }
}

fn facts(context: &mut Context) -> Happened {
    let guidance = context.trigger.guidance.trim().to_owned();
    let work = work(context);
    let answered = work.answered();
    let clarifications = answered.iter().flatten().filter_map(|(question, answer)| {
        let topic = match question.header.as_str() {
            "" => question.question.clone(),
            header => header.to_owned(),
        };
        Some((topic, answer.as_ref()?.words(question)))
    });
    Happened {
        guidance,
        questions: work.questions(),
        clarifications: clarifications.collect(),
    }
}

/// The enriched plan as it is saved.
fn document(context: &mut Context, plan: &enriched::EnrichedPlan, facts: &Happened) -> Prepared {
    let mut notes = said_of_the_work(context);
    if !plan.corrections.is_empty() {
        notes.push(sentences::recomputed(&plan.corrections));
    }
    let mut plan = plan.clone();
    let warnings = open_questions(context, &mut plan.body, &mut notes);
    let found = work(context).found.clone();
    let found_hidden = found.as_ref().and_then(|found| found.hidden.clone());
    let prefix = &context.settings.title_prefix;
    let candidate = found.as_ref().and_then(|found| found.candidate.as_ref());
    let mut in_document: Vec<String> = provenance(found.as_ref());
    in_document.extend(notes.iter().cloned());
    let title = truncate_chars(&plan.title, TITLE_MAX);
    let summary = summarise(&plan.body);
    let borrowed = facts.borrowed(candidate.map(|found| found.text.as_str()));
    Prepared {
        issue_title: truncate_chars(&format!("{prefix}{title}"), TITLE_MAX),
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
    }
}

/// Title and text of the plan that was found, where there is one that can be saved as it is.
pub(super) fn as_found(context: &mut Context) -> Option<(String, String)> {
    let found = work(context).found.as_ref()?;
    let candidate = found.candidate.as_ref()?;
    let title = verify::saved_title(candidate, &found.source_title).ok()?;
    Some((title, candidate.text.clone()))
}

/// The plan without the agent's enrichment: what was found, else the agent's own text where that can be a plan.
///
/// # Errors
/// [`Stop::Failed`] when neither can be saved.
pub(super) fn fallback(context: &mut Context, why: &str) -> Result<Prepared, Stop> {
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
            Some((title, body)) => (truncate_chars(&title, TITLE_MAX), body, true),
            None => return Err(Stop::Failed(sentences::nothing_holds(why))),
        },
    };
    let mut notes = vec![sentences::fallback(why, own)];
    if !facts.guidance.is_empty() {
        notes.push(verify::NOT_APPLIED.to_owned());
    }
    notes.extend(said_of_the_work(context));
    let warnings = open_questions(context, &mut body, &mut notes);
    let summary = summarise(&body);
    let prefix = &context.settings.title_prefix;
    let mut reasons = notes.clone();
    reasons.extend(provenance(found.as_ref()));
    let borrowed = facts.borrowed(candidate.map(|found| found.text.as_str()));
    Ok(Prepared {
        issue_title: truncate_chars(&format!("{prefix}{title}"), TITLE_MAX),
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
    })
}

/// What the reader should know of how the plan came about.
pub(in crate::engine::steps) fn said_of_the_work(context: &mut Context) -> Vec<String> {
    let work = work(context);
    let mut notes = work
        .found
        .as_ref()
        .map(|found| found.notes.clone())
        .unwrap_or_default();
    notes.extend(sentences::redacted(work.redacted));
    let mut unasked = work.unasked.clone();
    if work.unanswered {
        // No round came after it.
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

/// Lists questions without an answer in the plan, and says so.
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
        super::super::super::code::Code::QuestionsUnanswered
            .name()
            .to_owned(),
    ]
}

fn provenance(found: Option<&Found>) -> Vec<String> {
    found
        .and_then(|found| found.provenance.clone())
        .into_iter()
        .collect()
}

/// Where the plan was found, one phrase for people.
fn place(found: Option<&Found>) -> String {
    match found {
        Some(Found { log: Some(log), .. }) => {
            format!("found in {}", crate::formats::block::quiet(log))
        }
        Some(Found {
            candidate: Some(candidate),
            ..
        }) => verify::found(candidate),
        _ => "put together from the conversation by the agent".to_owned(),
    }
}
