//! Texts about session logs: failures, notes, and the origin of a plan.

use super::code_span;
use crate::engine::forge::ReadError;
use crate::engine::model::failure::{Code, Failure};
use crate::engine::model::progress::LogPlan;
use crate::formats::command::{CommandSpec, OptionError, RepositoryFile};
use crate::formats::session::ScanResult;

/// The command for naming a log.
const NAME_IT: &str = "`/save-plan session=PATH@REF`";

/// A log that the command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// The path or file name.
    pub name: String,
    /// The place where it was searched, as a phrase.
    pub place: String,
    /// The URL at which people can view it.
    pub url: Option<String>,
}

/// Returns where a file of the repository `full_name` is searched.
pub fn place(full_name: &str, file: &RepositoryFile) -> String {
    let at = file.reference.as_ref().map_or_else(
        || "on the default branch".to_owned(),
        |reference| format!("at {}", code_span(reference)),
    );
    format!("{} {at} of {full_name}", code_span(&file.path))
}

/// Returns where an attachment is searched.
pub fn attached(name: &str, full_name: &str) -> String {
    format!(
        "{}, attached to the command's comment in {full_name}",
        code_span(name)
    )
}

/// Returns the failure of a command with an invalid option.
pub fn invalid_option(command: &CommandSpec, error: &OptionError) -> Failure {
    let typed = format!("{}={}", error.given.name, error.given.value);
    Failure {
        code: Code::InvalidInput,
        message: format!(
            "The option {} of `/{}` cannot be used: {}.",
            code_span(&format!("{}=", error.given.name)),
            command.name,
            error.why
        ),
        details: vec![
            format!(
                "Given: {}",
                code_span(&super::failures::shorten(&typed, 200))
            ),
            format!(
                "{}: {}",
                code_span(&error.spec.to_string()),
                error.spec.summary
            ),
        ],
        remedy: format!(
            "Comment the command again with `{}` directly after it, before any guidance; for \
             guidance that begins like an option, put another word first.",
            error.spec
        ),
    }
}

/// Returns the failure if `session-id=` is given without a log.
pub fn session_id_alone() -> Failure {
    Failure {
        code: Code::InvalidInput,
        message: "`session-id=` picks a session of a log, but no session log is named or attached."
            .to_owned(),
        details: Vec::new(),
        remedy: format!(
            "Name the log ({NAME_IT}), attach it to the command's comment, or leave `session-id=` out."
        ),
    }
}

/// Returns the failure if too many logs are attached.
pub fn too_many_attached(found: usize, most: usize) -> Failure {
    Failure {
        code: Code::InvalidInput,
        message: format!(
            "{found} session logs are attached to the command's comment; at most {most} are read."
        ),
        details: Vec::new(),
        remedy: "Attach the one that contains the plan to a new comment with the command."
            .to_owned(),
    }
}

/// Returns the failure if a named log cannot be read.
pub fn unreadable(log: &Log, error: &ReadError) -> Failure {
    let remedy = match error {
        ReadError::NoReference => format!(
            "Push the branch, or name another branch, tag or commit: {NAME_IT}. The last `@` separates path and ref."
        ),
        ReadError::NoFile => format!(
            "Commit the log at this path, or name the right path and branch: {NAME_IT}. Without `@REF` the default branch is read."
        ),
        ReadError::NotAFile { .. } => format!("Name the log itself: {NAME_IT}."),
        ReadError::TooLarge { .. } => format!(
            "Shorten the log to the lines from the plan on and name that file ({NAME_IT}), or post \
             the plan here as a comment. The operator of this bot sets the limit \
             (`source.max_log_mb`; GitHub's own is 100)."
        ),
        ReadError::Withheld { .. } => format!(
            "Attachments of private repositories are available to signed-in users only, never to \
             an App: commit the log to a branch of this repository and comment {NAME_IT}. If the \
             repository is public, attach the log again."
        ),
        ReadError::Elsewhere { .. } => format!(
            "Commit the log to a branch and comment {NAME_IT}, or ask the operator of this bot to add the host to `source.redirect_hosts`."
        ),
        ReadError::Forge(_) => "Comment `/retry` here later.".to_owned(),
    };
    not_found(log, &error.to_string(), remedy)
}

/// Returns the failure if the log's file is a Git LFS pointer.
pub fn pointer(log: &Log) -> Failure {
    not_found(
        log,
        "the repository contains a Git LFS pointer instead",
        format!(
            "Commit the log without Git LFS and comment {NAME_IT}, or attach it to the command's comment."
        ),
    )
}

fn not_found(log: &Log, why: &str, remedy: String) -> Failure {
    Failure {
        code: Code::SessionNotFound,
        message: format!(
            "The session log {} cannot be used: {why}.",
            code_span(&log.name)
        ),
        details: vec![format!("Looked for: {}", looked(log))],
        remedy,
    }
}

fn looked(log: &Log) -> String {
    match &log.url {
        Some(url) => format!("{} ({url})", log.place),
        None => log.place.clone(),
    }
}

/// Returns the failure if the logs contain no plan. `session` is the requested session.
pub fn no_plan(read: &[(Log, ScanResult)], session: Option<&str>) -> Failure {
    let mut details = Vec::new();
    for (log, scanned) in read {
        details.push(format!("Searched: {}", looked(log)));
        details.push(counts(scanned));
        if scanned.entries == 0 && scanned.sessions.is_empty() {
            details.push(
                "It is not a session log of Claude Code: none of its lines is an entry".to_owned(),
            );
            continue;
        }
        if let Some(session) = session.filter(|_| scanned.entries == 0) {
            let known: Vec<String> = scanned
                .sessions
                .iter()
                .take(5)
                .map(|id| code_span(id))
                .collect();
            details.push(format!(
                "None of its entries belongs to the session {}; it contains {}",
                code_span(session),
                known.join(", ")
            ));
            continue;
        }
        details.push(
            "No entry calls `ExitPlanMode` with a plan, and none writes a plan file".to_owned(),
        );
        if let Some(slug) = scanned.slugs.last() {
            details.push(format!(
                "It names the plan file {}, which is not in the log but in `~/.claude/plans` of the user who ran the session",
                code_span(&format!("{slug}.md"))
            ));
        }
        if scanned.too_large_plans > 0 {
            details.push(format!(
                "Texts over 1 MB, which were not considered: {}",
                scanned.too_large_plans
            ));
        }
    }
    if read.is_empty() {
        details.push(
            "Searched: the attachments of the command's comment; none of them is a session log"
                .to_owned(),
        );
    }
    Failure {
        code: Code::NoPlanFound,
        message: "The session log contains no plan.".to_owned(),
        details,
        remedy: format!(
            "Name a log that contains the plan ({NAME_IT}); or put the plan into a comment, below `/save-plan`."
        ),
    }
}

fn counts(scanned: &ScanResult) -> String {
    let mut text = format!("Lines read: {}", scanned.lines);
    if scanned.malformed_count > 0 {
        let first: Vec<String> = scanned
            .malformed
            .iter()
            .take(3)
            .map(u64::to_string)
            .collect();
        text.push_str(&format!(
            "; not JSON objects: {} (line {}{})",
            scanned.malformed_count,
            first.join(", "),
            if scanned.malformed_count > 3 {
                ", …"
            } else {
                ""
            }
        ));
    }
    if scanned.too_long > 0 {
        text.push_str(&format!("; too long to be read: {}", scanned.too_long));
    }
    text
}

/// Returns notes on named logs that were not read.
pub fn unread(names: &[&str], why: &str) -> Vec<String> {
    names
        .iter()
        .map(|name| format!("The session log {} was not read: {why}.", code_span(name)))
        .collect()
}

/// Returns a note on an attachment that may be a log, but cannot be read.
pub fn perhaps_unreadable(name: &str, error: &ReadError) -> String {
    format!(
        "The attachment {} was not searched for a plan: {error}.",
        code_span(name)
    )
}

/// Returns a note on a plan that was not approved in its session.
pub fn not_approved() -> String {
    "The session log says that this plan was not approved when it was shown.".to_owned()
}

/// Returns a note on a plan file with changes that cannot be reconstructed from the log.
pub fn stale(edits: u32) -> String {
    format!(
        "{edits} later {} of the plan file could not be applied, because the log does not contain \
         the text they changed: the file may be newer than the saved plan.",
        if edits == 1 { "change" } else { "changes" }
    )
}

/// Returns the position of a plan in a log, as a phrase with a link.
pub fn origin(plan: &LogPlan) -> String {
    let name = format!("the session log {}", code_span(&plan.name));
    let mut text = match &plan.url {
        Some(url) => format!("[{name}]({url})"),
        None => name,
    };
    text.push_str(&format!(", line {}", plan.line));
    text
}

/// Returns the complete origin of a plan from a log, for the saved plan.
pub fn provenance(plan: &LogPlan) -> String {
    let mut text = format!("The plan comes from the session log {}", plan.name);
    if let Some(commit) = &plan.commit {
        let short = commit.get(..7).unwrap_or(commit);
        text.push_str(&format!(" at commit {short}"));
    }
    text.push_str(&format!(", line {}", plan.line));
    if let Some(file) = &plan.plan_file {
        text.push_str(&format!(", plan file {file}.md"));
    }
    if let Some(session) = &plan.session {
        text.push_str(&format!(", session {session}"));
    }
    if let Some(time) = &plan.timestamp {
        text.push_str(&format!(", {time}"));
    }
    if let Some(url) = &plan.url {
        text.push_str(&format!(": {url}"));
    }
    text
}
