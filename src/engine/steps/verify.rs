//! From the conversation to a plan that may be saved: extract, gate, document. Pure, but for the thread it runs on.

use crate::engine::extract::{self, Choice, NoPlan, OWN, Search};
use crate::engine::model::candidate::{Candidate, Source, Unconfirmed};
use crate::engine::model::conversation::{Post, Thread};
use crate::engine::model::failure::Failure;
use crate::engine::model::progress::{Enriched, Found, HiddenText, Logs, Prepared, Unclear};
use crate::engine::model::trigger::{Origin, Trigger};
use crate::engine::say::{self, failures, sources, trust, unclear};
use crate::formats::command::{Command, Hidden, parse, read_options};
use crate::formats::plan::document::{Enrichment, Guidance, wrap};
use crate::formats::plan::gate::{ContentError, gate_content, gate_title};
use crate::formats::plan::summary::summarise;
use crate::formats::plan::title::{descriptive_title, own_title};
use crate::formats::text::truncate_chars;
use crate::formats::{block, hidden};

/// Longest issue title, in characters. GitHub takes 256.
pub const TITLE_MAX: usize = 250;

/// Note on a plan that `/save-plan` saved without enrichment.
pub const NO_AGENT: &str =
    "No agent is configured: the plan was saved exactly as found, without enrichment.";

/// Note on a plan that was saved without the guidance that the command gives.
pub const NOT_APPLIED: &str = "The guidance was recorded, but not applied.";

/// What there is to make a plan of: the session log that was named, else the best of the
/// conversation.
///
/// # Errors
/// `validation_failed` when the plan holds text that people do not see, and the command does not say what becomes of it.
pub fn find(
    trigger: &Trigger,
    thread: &Thread,
    search: Search,
    logs: &Logs,
) -> Result<Found, Failure> {
    let mut found = Found {
        candidate: None,
        looked: Vec::new(),
        notes: logs.notes.clone(),
        log: None,
        provenance: None,
        source_title: thread.title.clone(),
        unconfirmed: Vec::new(),
        hidden: None,
        unclear: None,
    };
    if let Some(plan) = &logs.plan {
        found.log = Some(sources::origin(plan));
        found.provenance = Some(sources::provenance(plan));
        found.candidate = Some(extract::from_log(&plan.text));
    } else {
        found.unconfirmed.clone_from(&search.unconfirmed);
        found
            .notes
            .extend(trust::not_considered(&search.unconfirmed));
        found.notes.extend(unclear::later(&search.amended));
        match extract::choose(search, trigger) {
            Ok(Choice::Plan(candidate)) => found.candidate = Some(*candidate),
            Ok(Choice::Unclear(among, why)) => found.unclear = Some(Unclear { among, why }),
            Err(NoPlan {
                unreadable: Some(why),
                ..
            }) => return Err(unclear::unreadable(trigger.command, &why)),
            Err(none) => found.looked = looked(trigger, thread, none),
        }
    }
    if let Some(candidate) = &mut found.candidate {
        if candidate.source == Source::Inline {
            found.notes.extend(pasted_commands(&candidate.text));
        }
        found.hidden = settle_hidden(trigger, candidate)?;
    }
    let inline = |candidate: &Candidate| candidate.source == Source::Inline;
    let older = extract::unsearched(thread, trigger);
    if older > 0 && !found.candidate.as_ref().is_some_and(inline) {
        found.notes.push(failures::unsearched(older));
    }
    Ok(found)
}

/// Text of the plan that people do not see: taken out, or kept where the command says so.
/// `/save-plan` takes it out by itself where people read the same afterwards; `/save-raw-plan`,
/// which changes nothing, has to be told.
///
/// # Errors
/// `validation_failed`: somebody has to decide.
pub fn settle_hidden(
    trigger: &Trigger,
    candidate: &mut Candidate,
) -> Result<Option<HiddenText>, Failure> {
    let parts = hidden::in_plan(&candidate.text);
    if parts.is_empty() {
        return Ok(None);
    }
    let options = read_options(trigger.command, &trigger.options).unwrap_or_default();
    if options.hidden == Some(Hidden::Keep) {
        return Ok(Some(HiddenText { parts, kept: true }));
    }
    let visible = hidden::visible(&candidate.text).text;
    let same = hidden::reads_the_same(&candidate.text, &visible);
    let raw = trigger.command == Command::SaveRawPlan;
    if options.hidden != Some(Hidden::Remove) && (raw || !same) {
        return Err(trust::hidden(trigger.command, &parts, raw));
    }
    candidate.title = own_title(&visible);
    candidate.text = visible;
    Ok(Some(HiddenText { parts, kept: false }))
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
        let mut failure = none_found(trigger, found.looked, &found.unconfirmed);
        failure.details.extend(found.notes);
        return Err(failure);
    };
    let about = About {
        notes: found.notes,
        log: found.log,
        provenance: found.provenance,
        hidden: found.hidden,
    };
    prepared(trigger, candidate, about, &found.source_title, prefix)
}

/// The failure of a search that found nothing.
pub fn none_found(trigger: &Trigger, looked: Vec<String>, unconfirmed: &[Unconfirmed]) -> Failure {
    if !unconfirmed.is_empty() {
        return trust::only_unconfirmed(trigger.command, unconfirmed, looked);
    }
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
    hidden: Option<HiddenText>,
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
    let options = read_options(trigger.command, &trigger.options).unwrap_or_default();
    if let Some(author) = options.author {
        looked.push(format!(
            "Only posts by {author} were looked at, as `author=` asks"
        ));
    }
    if let Some(title) = none.best.as_ref().and_then(|best| best.title.as_ref()) {
        looked.push(format!(
            "The text that comes closest (“{}”) has too little of what makes a plan: a title, steps, what is changed",
            failures::shorten(title, 80)
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
    hidden: Option<HiddenText>,
    fallback_title: &str,
    prefix: &str,
) -> Result<Prepared, Failure> {
    let about = About {
        notes: match trigger.command {
            Command::SavePlan => vec![NO_AGENT.to_owned()],
            _ => Vec::new(),
        },
        hidden,
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

/// The title under which a candidate is saved as it was found: its own, else that of the place.
///
/// # Errors
/// `validation_failed` where it cannot be saved, with erk's reason and what to change.
pub(super) fn saved_title(candidate: &Candidate, place_title: &str) -> Result<String, Failure> {
    match gate_content(&candidate.text) {
        // What the search takes for a plan has steps, in whatever form: more than erk's gate knows.
        Ok(()) | Err(ContentError::NoStructure) => {}
        Err(fault) => {
            return Err(failures::validation_failed(
                &fault.to_string(),
                fault.feedback(),
            ));
        }
    }
    let own = candidate.title.as_deref().unwrap_or_default();
    let said = descriptive_title(place_title);
    let place_title = said.as_deref().unwrap_or(place_title);
    let title = match (gate_title(own), gate_title(place_title)) {
        (Ok(()), _) => own,
        (Err(_), Ok(())) => place_title,
        // The plan's own title is what its author can change; without one, that is what is missing.
        (Err(fault), Err(_)) => return Err(failures::title_refused(own, &fault)),
    };
    Ok(truncate_chars(title, TITLE_MAX))
}

fn prepared(
    trigger: &Trigger,
    candidate: &Candidate,
    about: About,
    fallback_title: &str,
    prefix: &str,
) -> Result<Prepared, Failure> {
    let title = saved_title(candidate, fallback_title)?;
    let mut notes = about.notes;
    let mut enrichment = Enrichment::raw();
    let guidance = trigger.guidance.trim();
    if !guidance.is_empty() {
        enrichment.guidance = Some(Guidance {
            text: guidance.to_owned(),
            applied: false,
        });
        notes.push(NOT_APPLIED.to_owned());
    }
    enrichment.notes = about.provenance.into_iter().collect();
    enrichment.notes.extend(notes.iter().cloned());
    let summary = summarise(&candidate.text);
    Ok(Prepared {
        issue_title: truncate_chars(&format!("{prefix}{title}"), TITLE_MAX),
        document: wrap(&title, &enrichment, &candidate.text),
        title,
        found: match &about.log {
            Some(log) => format!("found in {}", block::quiet(log)),
            None => found(candidate),
        },
        sentence: summary.sentence,
        steps: summary.steps,
        notes,
        source_title: fallback_title.to_owned(),
        log: about.log,
        enriched: Enriched::No,
        warnings: Vec::new(),
        attached: Vec::new(),
        hidden: about.hidden,
        replaces: None,
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
        Source::Parts { posts } => format!("{} comments", posts.len()),
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
