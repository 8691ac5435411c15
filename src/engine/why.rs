//! Explains what became of a comment, or what happened last at an issue: the answer to "why did
//! nothing happen?".
//!
//! The evidence comes from the database and from GitHub; [`explain`] draws the conclusion and does
//! no I/O.

use serde::Serialize;

use super::store::{ClaimLimits, QueuePosition, RunView};
use super::sweep::RETENTION;
use crate::engine::model::failure::Code;
use crate::engine::model::intake::{DecisionRecord, LoggedAttempt, Source, Verdict};
use crate::engine::model::run::State;
use crate::engine::model::time::Millis;
use crate::formats::command;
use crate::formats::markdown;

/// Maximum number of decisions about an issue that are told.
const MAX_TOLD: usize = 10;

/// What is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// `owner/name` of the repository.
    pub repository: String,
    /// Number of the issue or pull request.
    pub number: u64,
    /// Comment id; `None` for everything at the issue.
    pub comment: Option<u64>,
}

/// The installation of the App that has access to the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Installed {
    /// There is one.
    Yes,
    /// There is none, or the repository does not exist.
    No,
    /// It is suspended.
    Suspended,
}

/// A comment, as GitHub shows it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentNow {
    /// Number of its issue or pull request.
    pub number: u64,
    /// Text.
    pub text: String,
    /// Time at which it was written.
    pub created: Millis,
}

/// A run, and the runs at its place that precede it.
#[derive(Debug, Clone)]
pub struct RunEvidence {
    /// The run.
    pub view: RunView,
    /// Time at which a waiting run goes on by itself.
    pub due: Option<Millis>,
    /// What precedes it in the queue.
    pub position: QueuePosition,
    /// The id of the one that is being worked on.
    pub behind: Option<String>,
}

/// What is known. Facts that could not be found out are `Err` with the reason.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// What is asked about.
    pub question: Question,
    /// The present time.
    pub now: Millis,
    /// Whether the App is installed.
    pub installed: Result<Installed, String>,
    /// The comment; `None` if it does not exist.
    pub comment: Result<Option<CommentNow>, String>,
    /// Decisions, newest first.
    pub decisions: Vec<DecisionRecord>,
    /// Runs of the accepted ones.
    pub runs: Vec<RunEvidence>,
    /// Attempts to deliver the comment, the newest first.
    pub attempts: Result<Vec<LoggedAttempt>, String>,
    /// How many runs may be executed at the same time.
    pub limits: ClaimLimits,
}

/// The explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Story {
    /// What became of it, in one sentence.
    pub outcome: String,
    /// What happened, in order.
    pub events: Vec<String>,
    /// What to do.
    pub remedy: Option<String>,
    /// What could not be found out, and why.
    pub unknown: Vec<String>,
}

impl Story {
    fn new(outcome: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            outcome: outcome.into(),
            events: Vec::new(),
            remedy: Some(remedy.into()).filter(|remedy| !remedy.is_empty()),
            unknown: Vec::new(),
        }
    }

    /// Returns the story as lines of text.
    pub fn lines(&self) -> String {
        let mut text = format!("{}\n", self.outcome);
        for event in &self.events {
            text.push_str(&format!("  {event}\n"));
        }
        if let Some(remedy) = &self.remedy {
            text.push_str(&format!("To do: {remedy}\n"));
        }
        for unknown in &self.unknown {
            text.push_str(&format!("Not checked: {unknown}\n"));
        }
        text
    }
}

/// Explains the evidence.
pub fn explain(evidence: &Evidence) -> Story {
    let mut story = match evidence.question.comment {
        Some(comment) => of_comment(evidence, comment),
        None => of_issue(evidence),
    };
    // An installation that is gone now does not explain what happened before.
    if !evidence.decisions.is_empty()
        && let Some(now) = not_installed(evidence)
    {
        story.events.push(format!("Now: {}", now.outcome));
    }
    let unknown = [
        evidence.installed.as_ref().err(),
        evidence.comment.as_ref().err(),
        evidence.attempts.as_ref().err(),
    ];
    for why in unknown.into_iter().flatten() {
        if !story.unknown.contains(why) {
            story.unknown.push(why.clone());
        }
    }
    story
}

fn of_issue(evidence: &Evidence) -> Story {
    let Question {
        repository, number, ..
    } = &evidence.question;
    if evidence.decisions.is_empty() {
        if let Some(story) = not_installed(evidence) {
            return story;
        }
        return Story::new(
            format!("Nothing about {repository}#{number} was received."),
            "name a comment with a command (its address ends with #issuecomment-…) to find out why it was not received",
        );
    }
    let mut story = Story::new(
        format!("The last events at {repository}#{number}:"),
        String::new(),
    );
    let told = evidence.decisions.iter().take(MAX_TOLD).rev();
    for decision in told {
        story.events.push(event(evidence, decision));
    }
    story
}

fn of_comment(evidence: &Evidence, id: u64) -> Story {
    let about = |one: &&DecisionRecord| one.subject.comment == Some(id);
    let decisions: Vec<&DecisionRecord> = evidence.decisions.iter().filter(about).collect();
    let accepted = decisions
        .iter()
        .find(|one| matches!(one.verdict, Verdict::Accepted(_)));
    let mut story = if let Some(decision) = accepted {
        executed(evidence, decision)
    } else if let Some(decision) = decisions.iter().find(|one| is_decisive(one)) {
        not_executed(evidence, decision)
    } else if decisions.iter().any(|one| is_repetition(one)) {
        Story::new(
            "It was received again; what its first delivery led to is no longer in the database.",
            "look at the bot's comments in the conversation",
        )
    } else {
        not_received(evidence)
    };
    let events = decisions.iter().rev().map(|one| event(evidence, one));
    story.events.extend(events);
    story
}

/// Returns whether the decision tells what became of a comment. That about a duplicate does not, nor
/// that about its deletion.
fn is_decisive(decision: &DecisionRecord) -> bool {
    let written = matches!(
        decision.subject.action.as_deref(),
        Some("created" | "edited")
    );
    written && decision.verdict.reason().is_some()
}

/// Returns whether the decision shows that the comment had been received before.
fn is_repetition(decision: &DecisionRecord) -> bool {
    matches!(decision.verdict, Verdict::Duplicate | Verdict::Requeued)
}

/// One line about a decision.
fn event(evidence: &Evidence, decision: &DecisionRecord) -> String {
    let how = match decision.source {
        Source::Webhook => "received as a webhook request",
        Source::DeliveryLog => "picked up from GitHub's delivery log",
        Source::Scan => "found by a scan of the repository",
        Source::Terminal => "given at a terminal",
        Source::Operator => "requested by an operator or maintainer",
    };
    let what = decision.subject.action.as_deref().unwrap_or("-");
    let outcome = match &decision.verdict {
        Verdict::Accepted(runs) => {
            let of = |id: &crate::engine::model::run::RunId| {
                let run = evidence.runs.iter().find(|run| run.view.id == *id);
                run.map_or_else(
                    || format!("run {id}"),
                    |run| run_line(run, &evidence.limits),
                )
            };
            runs.iter().map(of).collect::<Vec<_>>().join("; ")
        }
        Verdict::Duplicate => "known already, so nothing was done".to_owned(),
        Verdict::Requeued => "redelivered: its failed runs were queued again".to_owned(),
        Verdict::Ignored(why) => format!("ignored: {why}"),
        Verdict::Refused(why) => format!("refused: {why}"),
    };
    let comment = decision.subject.comment;
    let comment = comment.map_or_else(String::new, |id| format!(" of comment {id}"));
    format!(
        "{} {} {what}{comment}, {how}: {outcome}",
        decision.at.iso(),
        decision.event
    )
}

/// Returns what a run does, in one clause that names it.
pub fn run_line(run: &RunEvidence, limits: &ClaimLimits) -> String {
    let RunView { command, id, .. } = &run.view;
    format!("/{command} (run {id}) {}", doing(run, limits))
}

/// Returns what a run does, as the end of a sentence about it.
pub fn doing(run: &RunEvidence, limits: &ClaimLimits) -> String {
    let view = &run.view;
    match view.state {
        State::Blocked => match &run.behind {
            Some(behind) => format!(
                "is queued as number {} behind run {behind}",
                run.position.at_place
            ),
            None => "is queued".to_owned(),
        },
        State::Ready => run.position.explain(limits),
        State::Running => "is being worked on".to_owned(),
        State::Waiting => {
            let why = view.note.as_deref().unwrap_or("no reason was recorded");
            let until = run.due.map(|due| format!(" until {}", due.iso()));
            format!("waits{}: {why}", until.unwrap_or_default())
        }
        State::Succeeded => {
            let progress = view.progress.as_ref();
            let saved = progress.and_then(|progress| progress.saved.as_ref());
            let known = progress.and_then(|progress| progress.known.as_ref());
            match (saved, known) {
                (Some(saved), _) => format!("saved the plan as {}", saved.url),
                (None, Some(known)) => {
                    format!("found the plan already saved as {}", known.issue.url)
                }
                (None, None) => "succeeded".to_owned(),
            }
        }
        State::Failed => {
            let code = view.code.map_or("internal", |code| code.name());
            let why = view.note.as_deref().unwrap_or_default();
            format!("failed with {code}: {why}")
        }
        State::Cancelled => format!(
            "was cancelled{}",
            view.note
                .as_ref()
                .map(|note| format!(": {note}"))
                .unwrap_or_default()
        ),
    }
}

fn executed(evidence: &Evidence, decision: &DecisionRecord) -> Story {
    let Verdict::Accepted(ids) = &decision.verdict else {
        return not_executed(evidence, decision);
    };
    let runs: Vec<&RunEvidence> = evidence
        .runs
        .iter()
        .filter(|run| ids.contains(&run.view.id))
        .collect();
    // The first run that is not done says most.
    let telling = runs
        .iter()
        .find(|run| run.view.state != State::Succeeded)
        .or(runs.first());
    let Some(run) = telling else {
        return Story::new(
            "The command was accepted; its run is no longer in the database.",
            "look at the bot's comments in the conversation",
        );
    };
    let at = run.view.trigger.as_ref().map(|trigger| trigger.at);
    let expired = run
        .view
        .trigger
        .as_ref()
        .is_some_and(|trigger| trigger.expired);
    let late = at
        .map(|at| decision.at.since(at).as_secs() / 60)
        .filter(|minutes| *minutes >= 10);
    let late = late.map_or_else(String::new, |minutes| {
        format!(" It was picked up {minutes} minutes after it was written.")
    });
    if expired {
        return Story::new(
            format!("The command was found too late to be executed.{late}"),
            "give the command again",
        );
    }
    let (outcome, remedy) = match (run.view.state, run.view.code) {
        (State::Failed, Some(Code::PermissionDenied)) => (
            "The command was not executed: its author may not give it.",
            "ask somebody with the permission, or for the permission; the reason below says which",
        ),
        (State::Failed, _) => (
            "The command failed.",
            "the bot's comment says how to go on; /retry helps after a temporary fault",
        ),
        (State::Blocked, _) => (
            "The command is waiting for an earlier one at the same place.",
            "wait, or comment /cancel to stop the earlier ones",
        ),
        (State::Ready, _) => ("The command is about to be executed.", ""),
        (State::Running, _) => ("The command is being executed.", ""),
        (State::Waiting, _) => (
            "The command has started and is waiting; the reason is below.",
            "",
        ),
        (State::Cancelled, _) => ("The command was cancelled.", "give the command again"),
        (State::Succeeded, _) => ("The command was executed.", ""),
    };
    Story::new(format!("{outcome}{late}"), remedy)
}

fn not_executed(evidence: &Evidence, decision: &DecisionRecord) -> Story {
    let why = decision.verdict.reason().unwrap_or_default();
    let remedy = if why.contains("github.allowed_bots") {
        "add the account id to github.allowed_bots, or let a person give the command"
    } else if why.contains("no command") {
        return Story::new(
            format!("It was received and ignored: {}.", misplaced(evidence)),
            "write the command at the start of a line, outside of quotes, lists and code",
        );
    } else if why.contains("late.max_age_hours") || why.contains("new comment") {
        "give the command again in a new comment"
    } else if why.contains("edit") || why.contains("ten minutes") {
        "give the command in a new comment"
    } else if why.contains("installation") {
        "install the App, and delete the webhook of the repository"
    } else {
        ""
    };
    let verb = match decision.verdict {
        Verdict::Refused(_) => "refused",
        _ => "ignored",
    };
    Story::new(format!("It was received and {verb}: {why}."), remedy)
}

/// Returns why a comment contains no command.
fn misplaced(evidence: &Evidence) -> String {
    let Ok(Some(comment)) = &evidence.comment else {
        return "it contained no command".to_owned();
    };
    let text = &comment.text;
    if markdown::too_complex(text) {
        return "it nests too deeply to be read".to_owned();
    }
    if !command::parse(text).is_empty() {
        return "it contained no command when it was written".to_owned();
    }
    // Without the marks of quotes, lists and code.
    let marks = |c: char| c.is_whitespace() || c.is_ascii_digit() || ">-*+.)`".contains(c);
    let bare: Vec<&str> = text
        .lines()
        .map(|line| line.trim_start_matches(marks))
        .collect();
    match command::at_line_starts(&bare.join("\n")).first() {
        Some(found) => format!(
            "/{} is in a quote, a list, code or an HTML comment, where commands do not count",
            found.name()
        ),
        None => match bare.iter().find(|line| line.starts_with('/')) {
            Some(line) => {
                let word = line.split_whitespace().next().unwrap_or_default();
                format!("{word} is not a command; comment /plan-help for the list")
            }
            None if text.contains('/') => {
                "no command begins a line; a command is written like /save-plan".to_owned()
            }
            None => "it contains no command".to_owned(),
        },
    }
}

fn not_installed(evidence: &Evidence) -> Option<Story> {
    let repository = &evidence.question.repository;
    match evidence.installed {
        Ok(Installed::No) => Some(Story::new(
            format!("The App is not installed in {repository}, or there is no such repository."),
            "install the App there, on its page under Install App",
        )),
        Ok(Installed::Suspended) => Some(Story::new(
            format!("The installation of the App for {repository} is suspended."),
            "unsuspend it in the settings of the account, under GitHub Apps",
        )),
        Ok(Installed::Yes) | Err(_) => None,
    }
}

fn not_received(evidence: &Evidence) -> Story {
    if let Some(story) = not_installed(evidence) {
        return story;
    }
    let comment = match &evidence.comment {
        Ok(Some(comment)) => comment,
        Ok(None) => {
            return Story::new(
                "The comment does not exist, or it was deleted, and nothing about it was received.",
                "check the address",
            );
        }
        Err(_) => {
            return Story::new(
                "Nothing about this comment was received, as far as the database knows.",
                "try again when GitHub can be reached",
            );
        }
    };
    if let Ok(attempts) = &evidence.attempts
        && let Some(last) = attempts.first()
    {
        return not_delivered(last);
    }
    let age = evidence.now.since(comment.created);
    if command::parse(&comment.text).is_empty() {
        return Story::new(
            format!(
                "Nothing about it was received, and {}.",
                misplaced(evidence)
            ),
            "write the command at the start of a line, outside of quotes, lists and code",
        );
    }
    if age > RETENTION {
        return Story::new(
            format!(
                "It was not received. It was written at {}, and GitHub keeps its delivery log for {} hours only, so that \
                 the reason cannot be told any more.",
                comment.created.iso(),
                RETENTION.as_secs() / 3600
            ),
            "give the command again",
        );
    }
    if evidence.attempts.is_err() {
        return Story::new(
            "It was not received, as far as the database knows.",
            "try again when GitHub's delivery log can be read",
        );
    }
    Story::new(
        "GitHub has created no delivery for it.",
        "wait for the next scan (scan.every_minutes) if it is young; otherwise check that the App is subscribed to the event \
         Issue comment, and that it was installed here before the comment was written",
    )
}

fn not_delivered(last: &LoggedAttempt) -> Story {
    let at = last.delivered.iso();
    let outcome = |what: &str| {
        format!(
            "GitHub tried to deliver it at {at}, and {what} (status {}).",
            last.status_code
        )
    };
    let (what, remedy) = match last.status_code {
        200..=299 => (
            outcome("it was accepted, but the database does not have it"),
            "if that was just now, ask again in a moment; otherwise, check whether the database was restored or another bot uses this App",
        ),
        401 => (
            outcome("the bot refused its signature"),
            "set the same webhook secret in the App's settings and in the bot's configuration",
        ),
        421 => (
            outcome("the bot refused it, because it belongs to another App"),
            "check github.app_id, and the URL of the webhook",
        ),
        502 | 504 => (
            outcome("nobody answered"),
            "check that the bot is running, and that the App's webhook URL reaches it",
        ),
        503 => (
            outcome("the bot, or a proxy in front of it, had no room for it"),
            "check the bot's log and its load",
        ),
        _ => (
            outcome("something in front of the bot answered, because the bot has no record of it"),
            "check the proxy in front of the bot, and the App's webhook URL",
        ),
    };
    let picked = "; the bot picks it up with the next reading of the delivery log (sweep.every_seconds, or \
                  sweep.pull_every_seconds if server.transport is pull or both)";
    Story::new(what, format!("{remedy}{picked}"))
}

#[cfg(test)]
mod tests;
