//! The texts that the bot posts. This module does no I/O: it formats values as Markdown.
//!
//! Two rules apply to all functions: text written by users or returned by GitHub is quoted only
//! through [`quiet`], because it could mention people, close issues or contain a command; and no
//! line begins with an active command of the bot.

pub mod agent;
pub mod check;
pub mod failures;
pub mod grounding;
pub mod knowledge;
pub mod known;
pub mod late;
pub mod planning;
pub mod replies;
pub mod repository;
pub mod research;
pub mod sources;
mod steps;
pub mod trust;
pub mod unclear;

use serde_json::{Map, Value, json};

use super::forge::ForgeError;
use crate::engine::model::agent::Spent;
use crate::engine::model::failure::Failure;
use crate::engine::model::progress::{Enriched, Prepared, Saved};
use crate::engine::model::run::RunId;
use crate::engine::model::trigger::{IssueRef, Origin, Repo, Trigger, digest};
use crate::formats::block::{quiet, render_yaml};
use crate::formats::command::Command;
use crate::formats::question::boxes::shown;

pub use steps::next_steps;

/// The key of the block that describes the result of a run for programs.
pub const RESULT_BLOCK: &str = "planwright-result";
/// The key of the block in a plan issue that describes the origin of the plan for programs.
pub const SOURCE_BLOCK: &str = "planwright-source";
/// The key of the block that describes the failure of a run for programs.
pub const ERROR_BLOCK: &str = "planwright-error";

/// Returns how the command was given, e.g. "`/save-plan`" or "label `save-plan`".
pub fn asked(trigger: &Trigger) -> String {
    match &trigger.origin {
        Origin::Comment { .. } => format!("`/{}`", trigger.command.name()),
        Origin::Label { name } => format!("label {}", code_span(name)),
        Origin::Push { head } => format!("new commits up to {}", code_span(short(head))),
        Origin::Boxes { .. } => "the boxes".to_owned(),
        Origin::Local { .. } => code_span("planwright save"),
    }
}

/// Returns the abbreviated SHA of a commit, as GitHub shows it.
fn short(commit: &str) -> &str {
    &commit[..commit.floor_char_boundary(7)]
}

/// Returns the last line of every status comment.
fn footer(run: &RunId) -> String {
    format!("<sub>planwright · run `{run}`</sub>")
}

/// Returns the status of a run that waits for `ahead` earlier commands on the same place. `waits`
/// is the question to people that the first of them waits for.
pub fn queued(trigger: &Trigger, run: &RunId, ahead: u64, waits: Option<&str>) -> String {
    let waits = waits.map(|what| format!(" ({})", quiet(what)));
    let waits = waits.unwrap_or_default();
    let before = match ahead {
        0 => "It is next.".to_owned(),
        1 => format!("One command here comes first{waits}."),
        n => format!("{n} commands here come first{waits}."),
    };
    format!(
        "⏳ Queued: {} for {}. {before}\n\n{}",
        asked(trigger),
        person(trigger),
        footer(run)
    )
}

/// Returns the status of a running run.
pub fn working(trigger: &Trigger, run: &RunId, step: &str) -> String {
    format!(
        "👀 Working on {} for {}: {step}.\n\n{}",
        asked(trigger),
        person(trigger),
        footer(run)
    )
}

/// Returns the status of a run that continues in the next process.
pub fn paused(run: &RunId) -> String {
    format!(
        "⏸️ Paused while the bot restarts; it continues by itself.\n\n{}",
        footer(run)
    )
}

/// Returns the final status of a saved plan: its link, its summary, notes and the [`next_steps`].
pub fn saved(
    trigger: &Trigger,
    run: &RunId,
    prepared: &Prepared,
    saved: &Saved,
    next_steps: &str,
    seconds: f64,
    used: Used<'_>,
) -> String {
    let raw = trigger.command == Command::SaveRawPlan;
    let planned = trigger.command == Command::Plan;
    let what = match (prepared.enriched, raw) {
        (Enriched::Fallback, _) if planned => "⚠️ Plan saved, **with problems**:",
        (Enriched::Fallback, _) => "⚠️ Plan saved, **not enriched**:",
        (_, true) => "✅ Plan saved exactly as found:",
        (_, false) => "✅ Plan saved:",
    };
    // A title is plain text, so images in it are not rendered.
    let title = quiet(&shown(&prepared.title));
    let mut text = format!("{what} [{title} #{}]({})\n\n", saved.number, saved.url);
    if !prepared.sentence.is_empty() {
        text.push_str(&format!("{}\n\n", quiet(&prepared.sentence)));
    }
    for step in &prepared.steps {
        text.push_str(&format!("- {}\n", quiet(step)));
    }
    if !prepared.steps.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("**Source:** {}\n\n", prepared.found));
    if let Some(files) = &prepared.files {
        text.push_str(&format!("**Files:** {files}\n\n"));
    }
    if let Some(old) = &prepared.replaces {
        text.push_str(&format!("{}\n\n", known::replaces(old)));
    }
    let actions = check::actions(&prepared.document);
    let actions = actions.and_then(Result::err);
    for note in prepared.notes.iter().chain(&actions) {
        text.push_str(&format!(
            "> [!NOTE]\n> {}\n\n",
            quiet(note).replace('\n', "\n> ")
        ));
    }
    if let Some(hidden) = &prepared.hidden {
        text.push_str(&trust::hidden_text(hidden));
    }
    text.push_str(&steps::folded(next_steps));
    text.push_str(&agent::turns(used.turns));
    let mut fields = Map::new();
    let status = match prepared.enriched {
        Enriched::Fallback => "partial",
        Enriched::Yes | Enriched::No => "succeeded",
    };
    fields.insert("status".into(), json!(status));
    fields.insert("run".into(), json!(run.0));
    fields.insert("command".into(), json!(trigger.command.name()));
    fields.insert("plan_issue".into(), json!(saved.number));
    fields.insert("plan_url".into(), json!(saved.url));
    fields.insert("plan_comments".into(), Value::from(saved.comments.clone()));
    let enriched = match prepared.enriched {
        Enriched::No => None,
        Enriched::Yes => Some("yes"),
        Enriched::Fallback => Some("fallback"),
    };
    if let Some(enriched) = enriched {
        fields.insert("enriched".into(), json!(enriched));
    }
    if let Some(old) = &prepared.replaces {
        fields.insert("replaces".into(), json!(old.number));
    }
    if !prepared.warnings.is_empty() {
        fields.insert("warnings".into(), json!(prepared.warnings));
    }
    text.push_str(&render_yaml(RESULT_BLOCK, &fields));
    text.push_str(&format!(
        "\n\n<sub>planwright · run `{run}` · {seconds:.1} s{}</sub>",
        agent_used(used)
    ));
    text
}

/// The resources used by the agents of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Used<'a> {
    /// All together; `None` if no agent was used.
    pub total: Option<&'a Spent>,
    /// Those of each turn that worked on the plan.
    pub turns: &'a [Spent],
}

/// Returns the agents' usage for the last line.
fn agent_used(used: Used<'_>) -> String {
    match used.total.map(agent::spent).filter(|used| !used.is_empty()) {
        Some(used) => format!(" · agent: {used}"),
        None => String::new(),
    }
}

/// Returns the reason why the bot cannot comment at the place of the command, as the end of a
/// sentence.
pub fn cannot_comment(error: &ForgeError) -> String {
    match error {
        ForgeError::Locked { .. } => "the conversation is locked".to_owned(),
        ForgeError::Deleted { .. } => "the issue was deleted".to_owned(),
        ForgeError::Archived { .. } => "the repository is archived".to_owned(),
        ForgeError::Gone { .. } => "issues are disabled in the repository".to_owned(),
        error => quiet(&one_line(&error.to_string())),
    }
}

/// Returns a report that is posted on the plan issue because it cannot be posted at the place of
/// the command.
pub fn elsewhere(place: &IssueRef, why: &str, report: &str) -> String {
    let reference = quiet(&format!("{}#{}", place.repo.full_name(), place.number));
    format!("This report could not be posted in {reference}: {why}.\n\n{report}")
}

/// Returns the body of a duplicate plan issue.
pub fn duplicate(repo: &Repo, run: &RunId, kept: u64) -> String {
    let repo = repo.full_name();
    format!(
        "Duplicate of {repo}#{kept}. GitHub's answer to the request that created this issue was lost, and the plan was \
         saved again.\n\n{}",
        footer(run)
    )
}

/// The posts that a failed run has left on GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exists {
    /// No plan issue.
    Nothing,
    /// Possibly a plan issue: the outcome of its creation is unknown.
    Perhaps,
    /// This plan issue, which may be incomplete.
    Issue(Saved),
    /// No plan issue, but research reports; the text says how many and where.
    Reports(String),
}

/// Returns the final status of a failed run, for people and programs.
pub fn failed(
    trigger: &Trigger,
    run: &RunId,
    failure: &Failure,
    exists: &Exists,
    used: Used<'_>,
) -> String {
    let left = match exists {
        Exists::Issue(saved) => {
            format!(" The plan issue exists, perhaps incomplete: {}", saved.url)
        }
        Exists::Perhaps => {
            " An unfinished plan issue of this run may exist; a retry finds and completes it."
                .to_owned()
        }
        Exists::Reports(reports) => format!(" {reports}."),
        Exists::Nothing if trigger.command == Command::CheckPlan => String::new(),
        Exists::Nothing => " Nothing was saved.".to_owned(),
    };
    let mut text = format!(
        "## Error: {}\n\n{}{left}\n\n**What to do:** {}\n\n<details>\n<summary>Details</summary>\n\n- Asked for: {} by \
         {}\n",
        failure.code.name(),
        quiet(&failures::with_full_stop(failure.message.clone())),
        failure.remedy,
        asked(trigger),
        person(trigger)
    );
    for detail in &failure.details {
        text.push_str(&format!("- {}\n", quiet(detail).replace('\n', "\n  ")));
    }
    text.push_str("\n</details>\n\n");
    text.push_str(&agent::turns(used.turns));
    let mut fields = Map::new();
    fields.insert("code".into(), json!(failure.code.name()));
    fields.insert("message".into(), json!(one_line(&quiet(&failure.message))));
    fields.insert("run".into(), json!(run.0));
    fields.insert("command".into(), json!(trigger.command.name()));
    fields.insert(
        "plan_issue".into(),
        match exists {
            Exists::Issue(saved) => json!(saved.number),
            Exists::Perhaps | Exists::Reports(_) | Exists::Nothing => Value::Null,
        },
    );
    text.push_str(&render_yaml(ERROR_BLOCK, &fields));
    text.push_str(&format!(
        "\n\n<sub>planwright · run `{run}`{}</sub>",
        agent_used(used)
    ));
    text
}

/// Returns the body of the plan issue while its comments are being written: the header block and a
/// link to the source.
pub fn plan_issue_begun(
    trigger: &Trigger,
    run: &RunId,
    prepared: &Prepared,
    header: &str,
) -> String {
    plan_issue(
        trigger,
        run,
        prepared,
        header,
        " The plan is being written.",
        "",
    )
}

/// Returns the body of the completed plan issue, with the [`next_steps`].
pub fn plan_issue_done(
    trigger: &Trigger,
    run: &RunId,
    prepared: &Prepared,
    header: &str,
    saved: &Saved,
    next_steps: &str,
) -> String {
    let place = match saved.comments.len() {
        0 | 1 => String::new(),
        parts => format!(
            "\n\nThe plan is in the first {parts} comments. erk reads only the first of them; \
             `planwright plan get {}#{}` prints the whole plan.",
            trigger.place.repo.full_name(),
            saved.number
        ),
    };
    plan_issue(trigger, run, prepared, header, &place, next_steps)
}

fn plan_issue(
    trigger: &Trigger,
    run: &RunId,
    prepared: &Prepared,
    header: &str,
    place: &str,
    next_steps: &str,
) -> String {
    let mut text = format!("{header}\n\n{}{place}", came_from(trigger, prepared));
    if let Some(old) = &prepared.replaces {
        text.push_str(&format!(" {}", known::replaces(old)));
    }
    text.push_str("\n\n");
    if let Some(files) = &prepared.files {
        text.push_str(&format!("**Files:** {files}\n\n"));
    }
    if let Some(Ok(table)) = check::actions(&prepared.document) {
        text.push_str(&format!("**Actions:**\n\n{table}\n"));
    }
    text.push_str(&steps::folded(next_steps));
    text.push_str(&format!("{}\n\n", source(trigger, prepared)));
    text.push_str(&footer(run));
    text
}

/// Returns the block with the origin of a saved plan.
fn source(trigger: &Trigger, prepared: &Prepared) -> String {
    let place = &trigger.place;
    let comment = match &trigger.origin {
        Origin::Comment { url, .. } | Origin::Boxes { url, .. } => Some(url),
        Origin::Label { .. } | Origin::Push { .. } | Origin::Local { .. } => None,
    };
    let base = prepared.base.as_ref();
    let branch = base.and_then(|base| base.branch.as_ref());
    let number = (place.number > 0).then_some(place.number);
    let mut fields = Map::new();
    fields.insert("repository".into(), json!(place.repo.full_name()));
    fields.insert("ref".into(), json!(branch));
    fields.insert("commit".into(), json!(base.map(|base| &base.commit)));
    fields.insert("issue".into(), json!(number));
    fields.insert("comment".into(), json!(comment));
    fields.insert("plan_sha256".into(), json!(digest(&prepared.document)));
    render_yaml(SOURCE_BLOCK, &fields)
}

/// Returns the origin of a saved plan in one line.
fn came_from(trigger: &Trigger, prepared: &Prepared) -> String {
    let place = &trigger.place;
    let reference = format!("{}#{}", place.repo.full_name(), place.number);
    let by = person(trigger);
    let log = prepared.log.as_ref();
    let log = log.map(|log| format!(" ({})", quiet(log)));
    let log = log.unwrap_or_default();
    match &trigger.origin {
        Origin::Comment { url, .. } | Origin::Boxes { url, .. } => {
            format!("From {reference}{log}, saved for {by} ([comment]({url})).")
        }
        Origin::Label { .. } | Origin::Push { .. } => {
            format!(
                "From {reference}{log}, saved for {by} ({}).",
                asked(trigger)
            )
        }
        Origin::Local { session } => {
            let session = session.as_ref().map_or_else(
                || "a local file".to_owned(),
                |id| format!("the local session {}", code_span(id)),
            );
            let about = match place.number {
                0 => String::new(),
                _ => format!(" for {reference}"),
            };
            format!(
                "From {session}{about}, saved by {by} with {}.",
                asked(trigger)
            )
        }
    }
}

/// Returns the login of the requester without mentioning them.
pub fn person(trigger: &Trigger) -> String {
    quiet(&trigger.actor.login)
}

/// Makes a text of the bot that contains quotations safe to post.
pub fn plain(text: &str) -> String {
    quiet(text)
}

/// Formats text as an inline code span; it may contain backticks.
pub fn code_span(text: &str) -> String {
    crate::formats::text::code_span(&one_line(text))
}

/// Replaces each run of white space by a single blank.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
