//! From the conversation to a plan that may be saved: extract, gate, document. Pure, but for the thread it runs on.

use super::super::code::Failure;
use super::super::progress::{Enriched, Found, Logs, Prepared};
use super::super::say::{self, failures, sources};
use super::super::thread::{Post, Thread};
use super::super::trigger::{Origin, Trigger};
use super::extract::{self, Candidate, MIN_SCORE, NoPlan, OWN, Readers, Source};
use crate::formats::block;
use crate::formats::command::{Command, parse, without_commands};
use crate::formats::plan::document::{Enrichment, Guidance, wrap};
use crate::formats::plan::gate::gate_content;
use crate::formats::plan::summary::summarise;
use crate::formats::plan::title::{cut, gate_title};

/// Longest issue title, in characters. GitHub takes 256.
pub const TITLE_MAX: usize = 250;

const NO_AGENT: &str =
    "No agent is configured: the plan was saved exactly as found, without enrichment.";

/// How the search reads comments: commands are no plan text, plan blocks hold plans.
pub const READERS: Readers<'static> = Readers {
    without_commands: &without_commands,
    plans_in_blocks: &block::plans,
};

/// Checks and documents the plan, as it is found: of the session log that was named, else of the conversation.
///
/// # Errors
/// The decided failure: no plan, or a gate that it does not pass.
pub fn prepare_now(
    trigger: &Trigger,
    thread: &Thread,
    logs: &Logs,
    prefix: &str,
) -> Result<Prepared, Failure> {
    let mut found = find(trigger, thread, logs);
    if trigger.command == Command::SavePlan && found.candidate.is_some() {
        found.notes.push(NO_AGENT.to_owned());
    }
    as_found(trigger, found, prefix)
}

/// What there is to make a plan of: the session log that was named, else the best of the conversation.
pub fn find(trigger: &Trigger, thread: &Thread, logs: &Logs) -> Found {
    let mut found = Found {
        candidate: None,
        looked: Vec::new(),
        notes: logs.notes.clone(),
        log: None,
        provenance: None,
        source_title: thread.title.clone(),
    };
    if let Some(plan) = &logs.plan {
        found.log = Some(sources::origin(plan));
        found.provenance = Some(sources::provenance(plan));
        found.candidate = Some(extract::from_log(&plan.text));
        return found;
    }
    match extract::choose(thread, trigger, READERS) {
        Ok(candidate) => {
            if candidate.source == Source::Inline {
                found.notes.extend(pasted_commands(&candidate.text));
            }
            found.candidate = Some(candidate);
        }
        Err(none) => found.looked = looked(trigger, thread, none),
    }
    found
}

/// What the reader should know of lines of a pasted plan that look like commands.
fn pasted_commands(plan: &str) -> Option<String> {
    let words: Vec<String> = parse(plan)
        .into_iter()
        .map(|found| say::code_span(&found.word))
        .collect();
    let first = words.first()?;
    let more = match words.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "The plan holds lines that look like commands ({first}{more}). They are part of the plan and were not run."
    ))
}

/// Checks and documents what was found, without an agent.
///
/// # Errors
/// `no_plan_found`, `guidance_without_plan`, or `validation_failed` with erk's reason and what to change.
pub fn as_found(trigger: &Trigger, found: Found, prefix: &str) -> Result<Prepared, Failure> {
    let Some(candidate) = &found.candidate else {
        let mut failure = none_found(trigger, found.looked);
        failure.details.extend(found.notes);
        return Err(failure);
    };
    let about = About {
        notes: found.notes,
        log: found.log,
        provenance: found.provenance,
    };
    prepared(trigger, candidate, about, &found.source_title, prefix)
}

/// The failure of a search that found nothing.
pub fn none_found(trigger: &Trigger, looked: Vec<String>) -> Failure {
    if trigger.guidance.trim().is_empty() {
        return failures::no_plan_found(looked);
    }
    failures::guidance_without_plan(&trigger.guidance, looked)
}

/// What is known of a plan besides its text.
#[derive(Debug, Default)]
struct About {
    notes: Vec<String>,
    log: Option<String>,
    provenance: Option<String>,
}

/// Where the search looked, for an error message.
fn looked(trigger: &Trigger, thread: &Thread, none: NoPlan) -> Vec<String> {
    let own_comment = match &trigger.origin {
        Origin::Comment { id, .. } => Some(*id),
        Origin::Label { .. }
        | Origin::Push { .. }
        | Origin::Boxes { .. }
        | Origin::Local { .. } => None,
    };
    let read = |post: &&Post| !post.own && (own_comment.is_none() || post.id != own_comment);
    let others = thread.posts.iter().filter(read).count();
    let others = match others {
        1 => "1 other post".to_owned(),
        many => format!("{many} other posts"),
    };
    let mut looked = vec![format!(
        "Looked at: the command's comment and {others} here"
    )];
    if let Some(best) = &none.best {
        let title = best.title.as_deref().unwrap_or("untitled");
        looked.push(format!(
            "The best text ({}) has {} of the {MIN_SCORE} points a plan needs",
            failures::shorten(title, 80),
            best.score
        ));
    }
    looked.extend(
        none.left_out
            .into_iter()
            .filter(|why| !why.ends_with(OWN))
            .map(|why| format!("Left out: {why}")),
    );
    looked
}

/// Checks a candidate and makes the document that would be saved.
///
/// # Errors
/// `validation_failed` with erk's reason and what to change.
pub fn document(
    trigger: &Trigger,
    candidate: &Candidate,
    fallback_title: &str,
    prefix: &str,
) -> Result<Prepared, Failure> {
    let about = About {
        notes: match trigger.command {
            Command::SavePlan => vec![NO_AGENT.to_owned()],
            _ => Vec::new(),
        },
        ..About::default()
    };
    prepared(trigger, candidate, about, fallback_title, prefix)
}

/// The same for a plan of a session on somebody's computer; `notes` say what the reader should know of it.
///
/// # Errors
/// As [`document`].
pub fn local(
    trigger: &Trigger,
    candidate: &Candidate,
    notes: Vec<String>,
    fallback_title: &str,
    prefix: &str,
) -> Result<Prepared, Failure> {
    let about = About {
        notes,
        ..About::default()
    };
    prepared(trigger, candidate, about, fallback_title, prefix)
}

fn prepared(
    trigger: &Trigger,
    candidate: &Candidate,
    about: About,
    fallback_title: &str,
    prefix: &str,
) -> Result<Prepared, Failure> {
    gate_content(&candidate.text)
        .map_err(|fault| failures::validation_failed(&fault.to_string(), fault.feedback()))?;
    let own = candidate.title.as_deref().unwrap_or_default();
    let title = match (gate_title(own), gate_title(fallback_title)) {
        (Ok(()), _) => own,
        (Err(_), Ok(())) => fallback_title,
        // The plan's own title is what its author can change; without one, that is what is missing.
        (Err(fault), Err(_)) => return Err(failures::title_refused(own, &fault)),
    };
    let title = cut(title, TITLE_MAX);
    let mut notes = about.notes;
    let mut enrichment = Enrichment::raw();
    let guidance = trigger.guidance.trim();
    if !guidance.is_empty() {
        enrichment.guidance = Some(Guidance {
            text: guidance.to_owned(),
            applied: false,
        });
        notes.push("The guidance was recorded, but not applied.".to_owned());
    }
    enrichment.notes = about.provenance.into_iter().collect();
    enrichment.notes.extend(notes.iter().cloned());
    let summary = summarise(&title, &candidate.text);
    Ok(Prepared {
        issue_title: cut(&format!("{prefix}{title}"), TITLE_MAX),
        document: wrap(&title, &enrichment, &candidate.text),
        title,
        found: match &about.log {
            Some(log) => format!("found in {}", block::quiet(log)),
            None => found(candidate),
        },
        sentence: summary.sentence,
        bullets: summary.bullets.into(),
        notes,
        source_title: fallback_title.to_owned(),
        log: about.log,
        enriched: Enriched::No,
        warnings: Vec::new(),
        attached: Vec::new(),
    })
}

/// Where a candidate was found, one phrase for people.
pub fn found(candidate: &Candidate) -> String {
    let post = |post: &Option<u64>| match post {
        Some(_) => "a comment",
        None => "the opening text",
    };
    let place = match &candidate.source {
        Source::Inline => "the command's own comment".to_owned(),
        Source::Block { post: at } => format!("a plan block in {}", post(at)),
        Source::Section { post: at, .. } => format!("part of {}", post(at)),
        Source::Whole { post: at } => post(at).to_owned(),
        Source::Log => "a session log".to_owned(),
    };
    let place = match &candidate.url {
        Some(url) if !url.is_empty() => format!("[{place}]({url})"),
        _ => place,
    };
    match &candidate.author {
        Some(author) => format!("found in {place} by {}", block::quiet(author)),
        None => format!("found in {place}"),
    }
}
