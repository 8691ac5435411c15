//! Turns the output of a program and the way it ended into the report for the engine.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use serde_json::Value;

use super::helper::{MESSAGE_PREFIX, NOT_STARTED};
use super::output::{self, Output};
use crate::adapters::redact::Redactor;
use crate::engine::agent::Task;
use crate::engine::model::agent::{Document, Ending, Limit, Report, Session, Spent, Wrote};
use crate::formats::agent_stream::{ResultEvent, StreamOutcome, Summary, outcome};
use crate::formats::question::marker::without_markers;

/// Part of Claude Code's message when the session to resume does not exist.
const SESSION_NOT_FOUND: &str = "No conversation found";
/// `subtype` of a result of Claude Code when `--max-turns` was reached.
const MAX_TURNS: &str = "error_max_turns";
/// `subtype` of a result of Claude Code when `--max-budget-usd` was reached.
const MAX_BUDGET: &str = "error_max_budget_usd";

/// Why a turn stopped.
#[derive(Debug, Clone, Copy)]
pub(super) enum StopReason {
    /// The process exited by itself. `None` if its status is not known.
    Exited(Option<ExitStatus>),
    /// The process was ended because it did not exit after its result.
    AfterResult,
    /// The process was ended because of a limit.
    Limit(Limit),
    /// The turn was cancelled.
    Cancelled,
}

/// A turn whose processes have all ended.
pub(super) struct FinishedTurn<'t> {
    pub(super) task: &'t Task,
    pub(super) stopped: StopReason,
    pub(super) output: Output,
    pub(super) stderr: String,
    pub(super) millis: u64,
    /// The files that the program left.
    pub(super) files: Vec<Document>,
}

/// Returns the report of a turn in which no program was started.
pub(super) fn not_run(ending: Ending) -> Report {
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

/// Returns the report of a turn, with secrets removed from all texts.
pub(super) fn report(turn: FinishedTurn<'_>, redactor: &Redactor) -> Report {
    let task = turn.task;
    let mut report = Report {
        stderr: turn.stderr,
        files: turn.files,
        ..not_run(Ending::NoResult)
    };
    report.ending = ending(task, turn.stopped, &turn.output, &report.stderr);
    let is_text = matches!(turn.output, Output::Text(_));
    match turn.output {
        Output::Json(summary) => {
            if !task.wanted.is_empty() {
                let wrote = summary.writes().iter().map(|wrote| Wrote {
                    path: wrote.path.clone(),
                    text: wrote.content.clone(),
                    ok: wrote.ok,
                });
                report.wrote = wrote.collect();
            }
            report.spent = output::spent(&summary, task.cost_before);
            report.texts = summary.texts;
            report.session = summary.session.filter(|id| is_session_id(id));
        }
        // The answer is also the only text: questions are looked for in the texts.
        Output::Text(text) => {
            if matches!(report.ending, Ending::Success { .. }) {
                report.texts.push(text);
            }
        }
    }
    report.spent.millis = turn.millis;
    remove_secrets(&mut report, redactor);
    if is_text && let Some(path) = task.wanted.first() {
        // Unchanged files of earlier turns are not results of this one.
        report.files.retain(|file| !task.files.contains(file));
        add_answer_as_file(path, &mut report);
    }
    report
}

/// Adds the answer, without its questions, as the file at `path`, unless the program has written
/// that file. A program without tools for writing prints what it was asked to write.
fn add_answer_as_file(path: &str, report: &mut Report) {
    let Ending::Success { text, .. } = &report.ending else {
        return;
    };
    let text = without_markers(text);
    if !text.is_empty() && report.files.iter().all(|file| file.path != path) {
        report.files.push(Document {
            path: path.to_owned(),
            text,
        });
    }
}

fn ending(task: &Task, stopped: StopReason, output: &Output, stderr: &str) -> Ending {
    let status = match stopped {
        StopReason::Limit(limit) => return Ending::Limited(limit),
        StopReason::Cancelled => return Ending::Cancelled,
        StopReason::AfterResult => None,
        StopReason::Exited(status) => status,
    };
    match output {
        Output::Json(summary) => stream_ending(task, status, summary, stderr),
        Output::Text(_) if !status.is_some_and(|status| status.success()) => {
            process_error(status, stderr)
        }
        Output::Text(text) if text.trim().is_empty() => Ending::NoResult,
        Output::Text(text) => Ending::Success {
            text: text.clone(),
            structured: None,
            denials: 0,
        },
    }
}

fn stream_ending(
    task: &Task,
    status: Option<ExitStatus>,
    summary: &Summary,
    stderr: &str,
) -> Ending {
    // A signal counts as any exit code other than zero.
    let code = status.map(|status| status.code().unwrap_or(-1));
    let ending = match (outcome(summary, code), &summary.first) {
        (StreamOutcome::Success, Some(last)) => {
            return Ending::Success {
                text: last.message(),
                structured: last.structured.clone(),
                denials: last.denials,
            };
        }
        (StreamOutcome::AgentError, Some(last)) => agent_error(last, task, summary),
        (StreamOutcome::ProcessError, _) => process_error(status, stderr),
        (StreamOutcome::NoResult | StreamOutcome::Success | StreamOutcome::AgentError, _) => {
            Ending::NoResult
        }
    };
    let is_lost = match &ending {
        Ending::AgentError { message, .. } => message.contains(SESSION_NOT_FOUND),
        Ending::ProcessError { .. } => stderr.contains(SESSION_NOT_FOUND),
        _ => false,
    };
    if is_lost && matches!(task.session, Session::Resume(_)) {
        return Ending::SessionLost;
    }
    ending
}

fn agent_error(last: &ResultEvent, task: &Task, summary: &Summary) -> Ending {
    // Costs are known only with the result, when everything has been paid for. So only a failed
    // turn is reported as too expensive.
    let cost = output::spent(summary, task.cost_before).cost;
    if task.limits.cost.is_some_and(|max| cost > max) {
        return Ending::Limited(Limit::Cost);
    }
    let subtype = match last.subtype.as_deref() {
        // The client enforces our limits, too. Reaching them is not an error of the client.
        Some(MAX_TURNS) => return Ending::Limited(Limit::Turns),
        Some(MAX_BUDGET) => return Ending::Limited(Limit::Cost),
        Some("success") => None,
        subtype => subtype,
    };
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
        && let Some(why) = stderr.strip_prefix(MESSAGE_PREFIX)
    {
        return Ending::NotStarted(why.to_owned());
    }
    Ending::ProcessError {
        code,
        signal: status.and_then(|status| status.signal()),
    }
}

/// Whether `id` can be passed as an argument without being taken for an option.
fn is_session_id(id: &str) -> bool {
    !id.starts_with('-')
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Redacts every text. If the agent's output contains a secret of this process, all of the output
/// is dropped instead.
fn remove_secrets(report: &mut Report, redactor: &Redactor) {
    // The id becomes an argument, which every user of the computer can read.
    report
        .session
        .take_if(|id| redactor.holds_known(id).is_some());
    let mut held = None;
    visit_texts(report, |text, _| {
        held = held.or_else(|| redactor.holds_known(text));
    });
    if let Some(kind) = held {
        *report = Report {
            session: report.session.take(),
            spent: report.spent,
            ..not_run(Ending::Leaked {
                kind: kind.to_owned(),
            })
        };
        return;
    }
    // Only the log gets standard error, so a secret in it does not cost the rest of the output.
    report.stderr = redactor.redact(&report.stderr).into_owned();
    let mut redacted = 0;
    if let Ending::NotStarted(why) = &mut report.ending {
        redacted += redact(why, redactor);
    }
    visit_texts(report, |text, is_counted| {
        let count = redact(text, redactor);
        if is_counted {
            redacted += count;
        }
    });
    report.redacted = redacted;
}

/// Calls `visit` with every text of the agent except standard error, and with whether redactions in
/// it count: texts that are usually copies of others do not.
fn visit_texts(report: &mut Report, mut visit: impl FnMut(&mut String, bool)) {
    for file in &mut report.files {
        visit(&mut file.text, true);
        visit(&mut file.path, true);
    }
    // The same text is usually in a file.
    for wrote in &mut report.wrote {
        visit(&mut wrote.text, false);
        visit(&mut wrote.path, false);
    }
    let last = report.texts.last().cloned();
    for text in &mut report.texts {
        visit(text, true);
    }
    match &mut report.ending {
        Ending::Success {
            text, structured, ..
        } => {
            let is_last_text = last.as_ref() == Some(text);
            visit(text, !is_last_text);
            if let Some(value) = structured {
                visit_strings(value, &mut |text| visit(text, true));
            }
        }
        Ending::AgentError {
            message, subtype, ..
        } => {
            visit(message, true);
            visit(subtype, true);
        }
        _ => {}
    }
}

/// Calls `visit` with every string in a JSON value, including member names.
fn visit_strings(value: &mut Value, visit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(values) => {
            for value in values {
                visit_strings(value, visit);
            }
        }
        Value::Object(members) => {
            for (mut name, mut value) in std::mem::take(members) {
                visit(&mut name);
                visit_strings(&mut value, visit);
                members.insert(name, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Redacts `text` in place and returns the number of secrets removed.
fn redact(text: &mut String, redactor: &Redactor) -> u32 {
    let (clean, count) = redactor.redact_counted(text);
    if count > 0 {
        *text = clean.into_owned();
    }
    count
}
