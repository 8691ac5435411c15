//! From what was read and how the process ended to what the engine is told.

use std::process::ExitStatus;

use serde_json::Value;

use super::helper::{COMPLAINT, NOT_STARTED};
use super::output::{self, Read};
use crate::adapters::redact::Redactor;
use crate::engine::agent::Task;
use crate::engine::model::agent::{Document, Ending, Limit, Report, Session, Spent, Wrote};
use crate::formats::agent_stream::{ResultEvent, StreamOutcome, Summary, outcome};
use crate::formats::question::marker::without_markers;

/// What Claude Code says when the session to go on with is not there.
const LOST: &str = "No conversation found";
/// `subtype` of its result when `--max-turns` is reached.
const MAX_TURNS: &str = "error_max_turns";
/// `subtype` of its result when `--max-budget-usd` is reached.
const MAX_BUDGET: &str = "error_max_budget_usd";

/// Why reading stopped.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stopped {
    /// The process ended by itself.
    Exited(Option<ExitStatus>),
    /// It was ended after its result.
    AfterResult,
    /// It was ended because of a limit.
    Limited(Limit),
    /// It was ended because somebody asked for it.
    Cancelled,
}

/// All that is known of a turn.
pub(super) struct Turn<'t> {
    pub(super) task: &'t Task,
    pub(super) stopped: Stopped,
    pub(super) read: Read,
    pub(super) stderr: String,
    pub(super) millis: u64,
    /// Files that were there in the end.
    pub(super) files: Vec<Document>,
}

/// A turn in which no program was started.
pub(super) fn without_program(ending: Ending) -> Report {
    Report {
        ending,
        texts: Vec::new(),
        session: None,
        spent: Spent::default(),
        stderr: String::new(),
        redacted: 0,
        files: Vec::new(),
        wrote: Vec::new(),
    }
}

/// What the engine is told: the ending, and texts without secrets.
pub(super) fn report(turn: Turn<'_>, redactor: &Redactor) -> Report {
    let Turn {
        task,
        stopped,
        read,
        stderr,
        millis,
        files,
    } = turn;
    let mut wrote = Vec::new();
    let printed = matches!(read, Read::Text(_));
    let (ending, texts, session, spent) = match read {
        Read::Json(summary) => {
            if !task.wanted.is_empty() {
                wrote = summary.writes().iter().map(said_to_be_written).collect();
            }
            let ending = of_stream(task, stopped, &summary, &stderr);
            let spent = output::spent(&summary, task.cost_before);
            (ending, summary.texts, summary.session, spent)
        }
        Read::Text(text) => {
            let ending = of_text(stopped, text, &stderr);
            // All of it is what the program says: questions too.
            let texts = match &ending {
                Ending::Success { text, .. } => vec![text.clone()],
                _ => Vec::new(),
            };
            (ending, texts, None, Spent::default())
        }
    };
    let mut report = Report {
        ending,
        texts,
        session: session.filter(|id| is_id(id)),
        spent: Spent { millis, ..spent },
        stderr,
        redacted: 0,
        files,
        wrote,
    };
    clean(&mut report, redactor);
    if printed && let Some(file) = task.wanted.first() {
        // What it finds there of an earlier turn is not what it leaves.
        report.files.retain(|one| !task.files.contains(one));
        print_to(file, &mut report);
    }
    report
}

/// What a program prints that has no tools to write with is the file that it was asked for, but for its questions. A file
/// that it left at that place all the same comes first.
fn print_to(file: &str, report: &mut Report) {
    let Ending::Success { text, .. } = &report.ending else {
        return;
    };
    let text = without_markers(text);
    if !text.is_empty() && report.files.iter().all(|one| one.path != file) {
        report.files.push(Document {
            path: file.to_owned(),
            text,
        });
    }
}

fn said_to_be_written(wrote: &crate::formats::agent_stream::FileWrite) -> Wrote {
    Wrote {
        path: wrote.path.clone(),
        text: wrote.content.clone(),
        ok: wrote.ok,
    }
}

fn of_stream(task: &Task, stopped: Stopped, summary: &Summary, stderr: &str) -> Ending {
    let status = match stopped {
        Stopped::Limited(limit) => return Ending::Limited(limit),
        Stopped::Cancelled => return Ending::Cancelled,
        Stopped::AfterResult => None,
        Stopped::Exited(status) => status,
    };
    let resumed = matches!(task.session, Session::Resume(_));
    let ending = match (outcome(summary, status.map(number)), &summary.first) {
        (StreamOutcome::Success, Some(last)) => return success(last),
        (StreamOutcome::AgentError, Some(last)) => agent_error(last, task, summary),
        (StreamOutcome::ProcessError, _) => process_error(status, stderr),
        (StreamOutcome::NoResult | StreamOutcome::Success | StreamOutcome::AgentError, _) => {
            Ending::NoResult
        }
    };
    let lost = match &ending {
        Ending::AgentError { message, .. } => message.contains(LOST),
        Ending::ProcessError { .. } => stderr.contains(LOST),
        _ => false,
    };
    if resumed && lost {
        return Ending::SessionLost;
    }
    ending
}

fn of_text(stopped: Stopped, text: String, stderr: &str) -> Ending {
    match stopped {
        Stopped::Limited(limit) => Ending::Limited(limit),
        Stopped::Cancelled => Ending::Cancelled,
        Stopped::Exited(Some(status)) if !status.success() => process_error(Some(status), stderr),
        Stopped::Exited(None) => process_error(None, stderr),
        Stopped::Exited(Some(_)) | Stopped::AfterResult if text.trim().is_empty() => {
            Ending::NoResult
        }
        Stopped::Exited(Some(_)) | Stopped::AfterResult => Ending::Success {
            text,
            structured: None,
            denials: 0,
        },
    }
}

fn success(last: &ResultEvent) -> Ending {
    Ending::Success {
        text: last.message(),
        structured: last.structured.clone(),
        denials: last.denials,
    }
}

fn agent_error(last: &ResultEvent, task: &Task, summary: &Summary) -> Ending {
    // Everything was done and paid for when a result comes: only a failed one is put down to its cost.
    let cost = output::spent(summary, task.cost_before).cost;
    if task.limits.cost.is_some_and(|most| cost > most) {
        return Ending::Limited(Limit::Cost);
    }
    // The client keeps our limits, too, and it is not its fault when they are reached.
    match last.subtype.as_deref() {
        Some(MAX_TURNS) => return Ending::Limited(Limit::Turns),
        Some(MAX_BUDGET) => return Ending::Limited(Limit::Cost),
        _ => {}
    }
    let subtype = last
        .subtype
        .as_deref()
        .filter(|subtype| *subtype != "success");
    Ending::AgentError {
        subtype: subtype
            .or(last.terminal_reason.as_deref())
            .unwrap_or("error")
            .to_owned(),
        message: last.message(),
        status: last.api_status,
    }
}

fn process_error(status: Option<ExitStatus>, stderr: &str) -> Ending {
    let code = status.and_then(|status| status.code());
    if code == Some(NOT_STARTED.into())
        && let Some(why) = stderr.strip_prefix(COMPLAINT)
    {
        return Ending::NotStarted(why.to_owned());
    }
    Ending::ProcessError {
        code,
        signal: status.and_then(signal),
    }
}

/// An exit code; any other number than zero for a signal.
fn number(status: ExitStatus) -> i32 {
    status.code().unwrap_or(-1)
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// Session ids become arguments again: only what cannot be taken for an option is one.
fn is_id(id: &str) -> bool {
    !id.starts_with('-')
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Takes secrets out of every text; when one of this process's own is in what the agent says, nothing of it is given on.
fn clean(report: &mut Report, redactor: &Redactor) {
    let said = report.texts.iter().map(String::as_str);
    let (text, structured) = match &report.ending {
        Ending::Success {
            text, structured, ..
        } => (Some(text), structured.as_ref()),
        Ending::AgentError { message, .. } => (Some(message), None),
        _ => (None, None),
    };
    let held = said
        .chain(text.map(String::as_str))
        .chain(written(report))
        .find_map(|text| redactor.holds_known(text))
        .or_else(|| structured.and_then(|value| held_in(value, redactor)));
    // It becomes an argument, which everybody can read.
    report.session = report
        .session
        .take()
        .filter(|id| redactor.holds_known(id).is_none());
    // The end of standard error is for the log; a secret in it is taken out, and the texts stay.
    report.stderr = redactor.redact(&report.stderr).into_owned();
    if let Some(kind) = held {
        report.ending = Ending::Leaked {
            kind: kind.to_owned(),
        };
        report.texts.clear();
        report.stderr.clear();
        report.files.clear();
        report.wrote.clear();
        return;
    }
    let mut count = 0;
    for file in &mut report.files {
        count += redact(&mut file.text, redactor) + redact(&mut file.path, redactor);
    }
    for wrote in &mut report.wrote {
        // The same text is on disk, as a rule, and counted there.
        redact(&mut wrote.text, redactor);
        redact(&mut wrote.path, redactor);
    }
    for text in &mut report.texts {
        count += redact(text, redactor);
    }
    match &mut report.ending {
        Ending::Success {
            text, structured, ..
        } => {
            let own = redact(text, redactor);
            // The result is the last text once more.
            if report.texts.last() != Some(text) {
                count += own;
            }
            if let Some(value) = structured {
                count += redact_value(value, redactor);
            }
        }
        Ending::AgentError {
            message, subtype, ..
        } => count += redact(message, redactor) + redact(subtype, redactor),
        Ending::NotStarted(why) => count += redact(why, redactor),
        _ => {}
    }
    report.redacted = count;
}

/// Names and texts of files.
fn written(report: &Report) -> impl Iterator<Item = &str> {
    let files = report
        .files
        .iter()
        .flat_map(|file| [&file.path, &file.text]);
    let wrote = report.wrote.iter().flat_map(|one| [&one.path, &one.text]);
    files.chain(wrote).map(String::as_str)
}

fn redact(text: &mut String, redactor: &Redactor) -> u32 {
    let (clean, count) = redactor.redact_counted(text);
    if count > 0 {
        *text = clean.into_owned();
    }
    count
}

fn held_in(value: &Value, redactor: &Redactor) -> Option<&'static str> {
    match value {
        Value::String(text) => redactor.holds_known(text),
        Value::Array(values) => values.iter().find_map(|value| held_in(value, redactor)),
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            redactor
                .holds_known(name)
                .or_else(|| held_in(value, redactor))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn redact_value(value: &mut Value, redactor: &Redactor) -> u32 {
    match value {
        Value::String(text) => redact(text, redactor),
        Value::Array(values) => values
            .iter_mut()
            .map(|value| redact_value(value, redactor))
            .sum(),
        Value::Object(members) => {
            let mut count = 0;
            let all = std::mem::take(members);
            for (mut name, mut value) in all {
                count += redact(&mut name, redactor) + redact_value(&mut value, redactor);
                members.insert(name, value);
            }
            count
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
