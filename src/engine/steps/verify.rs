//! Selection and validation of a plan and rendering of the document to save. Pure, but
//! potentially slow: callers run it on a blocking thread.

use crate::engine::extract::{self, Choice, NoPlan, Search};
use crate::engine::messages::{self, failures, sources, trust, unclear};
use crate::engine::model::candidate::{Candidate, Source, Unconfirmed};
use crate::engine::model::conversation::{Conversation, Post};
use crate::engine::model::failure::Failure;
use crate::engine::model::progress::{Enriched, HiddenText, Logs, Prepared, SearchResult, Unclear};
use crate::engine::model::trigger::{Origin, Trigger};
use crate::formats::command::{Command, Hidden, parse, read_options};
use crate::formats::plan::document::{Enrichment, Guidance, wrap};
use crate::formats::plan::gate::{ContentError, gate_content, gate_title};
use crate::formats::plan::summary::summarise;
use crate::formats::plan::title::{descriptive_title, own_title};
use crate::formats::text::truncate_chars;
use crate::formats::{block, hidden};

/// Maximum length of an issue title, in characters. GitHub allows 256.
pub const MAX_TITLE: usize = 250;

/// Note on a plan that `/save-plan` saved without enrichment.
pub const NO_AGENT: &str =
    "No agent is configured: the plan was saved exactly as found, without enrichment.";

/// Note on a plan that was saved without applying the guidance of the command.
pub const NOT_APPLIED: &str = "The guidance was recorded, but not applied.";

/// Returns the plan of the named session log, or else the best candidate in the conversation.
///
/// # Errors
/// Fails if the post that the command points to cannot be read, and with `validation_failed` if the
/// plan has hidden text and the command does not say whether to keep it.
pub fn find(
    trigger: &Trigger,
    thread: &Conversation,
    search: Search,
    logs: &Logs,
) -> Result<SearchResult, Failure> {
    let mut found = SearchResult {
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
        found.notes.extend(remark_below(thread, candidate));
        found.hidden = settle_hidden(trigger, candidate)?;
    }
    let inline = |candidate: &Candidate| candidate.source == Source::Inline;
    let older = extract::unsearched(thread, trigger);
    if older > 0 && !found.candidate.as_ref().is_some_and(inline) {
        found.notes.push(failures::unsearched(older));
    }
    Ok(found)
}

/// Returns a note on text directly below a plan that was not taken to be part of it.
pub(super) fn remark_below(thread: &Conversation, candidate: &Candidate) -> Option<String> {
    let Source::Section { post, .. } = &candidate.source else {
        return None;
    };
    let post = thread.posts.iter().find(|it| it.id == *post)?;
    extract::remark_below(&post.body, &candidate.text).map(unclear::not_saved)
}

/// Processes text of the plan that is hidden on GitHub: removes it, or keeps it if the command says
/// so. `/save-plan` removes it by default if the visible text stays the same; `/save-raw-plan`,
/// which changes nothing, needs an explicit option.
///
/// # Errors
/// Fails with `validation_failed` if the command must say what to do with the text.
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

/// Returns a note on lines of a pasted plan that look like commands.
fn pasted_commands(plan: &str) -> Option<String> {
    let words: Vec<String> = parse(plan)
        .into_iter()
        .map(|found| messages::code_span(&found.word))
        .collect();
    let first = words.first()?;
    let more = match words.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "The plan contains lines that look like commands ({first}{more}). They are part of the plan and were not run."
    ))
}

/// Validates the plan that was found and renders its document, without an agent.
///
/// # Errors
/// Fails with `no_plan_found`, `guidance_without_plan`, or `validation_failed` with erk's reason
/// and a remedy.
pub fn as_found(trigger: &Trigger, found: SearchResult, prefix: &str) -> Result<Prepared, Failure> {
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

/// Returns the failure of a search without a result.
pub fn none_found(trigger: &Trigger, looked: Vec<String>, unconfirmed: &[Unconfirmed]) -> Failure {
    if !unconfirmed.is_empty() {
        return trust::only_unconfirmed(trigger.command, unconfirmed, looked);
    }
    failures::no_plan_found(trigger, looked)
}

/// Properties of a plan other than its text.
#[derive(Debug, Default)]
struct About {
    notes: Vec<String>,
    log: Option<String>,
    provenance: Option<String>,
    hidden: Option<HiddenText>,
}

/// Describes where the search looked, for an error message.
fn looked(trigger: &Trigger, thread: &Conversation, none: NoPlan) -> Vec<String> {
    let own_comment = match &trigger.origin {
        Origin::Comment { id, .. } => Some(*id),
        Origin::Label { .. }
        | Origin::Push { .. }
        | Origin::Boxes { .. }
        | Origin::Local { .. } => None,
    };
    let read = |post: &&Post| !post.own && (own_comment.is_none() || post.id != own_comment);
    let others = thread.posts.iter().filter(read).count();
    let s = if others == 1 { "" } else { "s" };
    let posts = match own_comment {
        Some(_) => format!("the command's comment and {others} other post{s}"),
        None => format!("{others} post{s}"),
    };
    let mut looked = vec![format!("Searched: {posts} here")];
    let options = read_options(trigger.command, &trigger.options).unwrap_or_default();
    if let Some(author) = options.author {
        looked.push(format!(
            "Only posts by {author} were searched, because of `author=`"
        ));
    }
    if let Some(title) = none.best.as_ref().and_then(|best| best.title.as_ref()) {
        looked.push(format!(
            "Closest match (“{}”): probably not the plan that is meant, or too incomplete; a plan needs a title, steps and what they change",
            failures::shorten(title, 80)
        ));
    }
    looked.extend(
        none.left_out
            .into_iter()
            .filter(|left_out| !left_out.is_own())
            .map(|left_out| format!("Left out: {left_out}")),
    );
    looked
}

/// Validates a candidate and renders the document that would be saved.
///
/// # Errors
/// Fails with `validation_failed`, erk's reason and a remedy.
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

/// Like [`document`], for a plan from a local session. `notes` are shown to its readers.
///
/// # Errors
/// See [`document`].
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

/// Returns the title under which an unchanged candidate is saved: its own, or else that of the
/// place.
///
/// # Errors
/// Fails with `validation_failed`, erk's reason and a remedy if the candidate cannot be saved.
pub(super) fn saved_title(candidate: &Candidate, place_title: &str) -> Result<String, Failure> {
    match gate_content(&candidate.text) {
        // The search recognises more forms of steps than erk's gate.
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
        // Report the fault of the plan's own title, which its author can change.
        (Err(fault), Err(_)) => return Err(failures::title_refused(own, &fault)),
    };
    Ok(truncate_chars(title, MAX_TITLE))
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
    if let Some(guidance) = &trigger.guidance {
        enrichment.guidance = Some(Guidance {
            text: guidance.clone(),
            applied: false,
        });
        notes.push(NOT_APPLIED.to_owned());
    }
    enrichment.notes = about.provenance.into_iter().collect();
    enrichment.notes.extend(notes.iter().cloned());
    let summary = summarise(&candidate.text);
    Ok(Prepared {
        issue_title: truncate_chars(&format!("{prefix}{title}"), MAX_TITLE),
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
        base: None,
        files: None,
    })
}

/// Describes where a candidate was found, as a phrase for users.
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
