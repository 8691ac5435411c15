//! Failures of runs with an agent, and their remedies.

use super::{QUOTED, dollars, quoted, spent};
use crate::engine::messages::failures::{no_plan_found, with_full_stop};
use crate::engine::model::agent::{Ending, Limit, Micros, Report, Spent};
use crate::engine::model::failure::{Code, Failure};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Trigger;
use crate::engine::store::Exceeded;
use crate::formats::agent_stream::{ErrorCause, cause};
use crate::formats::command::Command;
use crate::formats::plan::document::ErrorDocument;

/// Returns the failure if a budget of the actor, the repository or the day is used up. Nothing was
/// spent.
pub fn exceeded(command: Command, which: &Exceeded, repo: &str) -> Failure {
    let (what, until) = budget(which, repo);
    Failure {
        code: Code::AgentLimit,
        message: format!("A limit is reached: {what}."),
        details: vec![format!("Available again from {}", until.iso())],
        remedy: or_post(
            command,
            &format!("Comment `/retry` here after {}", until.iso()),
        ),
    }
}

/// Describes the budget that is used up as a clause, and returns the time at which it allows
/// another run.
fn budget(which: &Exceeded, repo: &str) -> (String, Millis) {
    let (what, until) = match which {
        Exceeded::ActorHourRuns { limit, until } => (
            format!(
                "one person can start {} with an agent per hour",
                runs(*limit)
            ),
            until,
        ),
        Exceeded::RepoDayRuns { limit, until } => (
            format!(
                "{repo} can start {} with an agent in 24 hours",
                runs(*limit)
            ),
            until,
        ),
        Exceeded::RepoDayCost { limit, until } => (
            format!("{repo} can spend {} on agents in 24 hours", dollars(*limit)),
            until,
        ),
        Exceeded::DayRuns { limit, until } => (
            format!(
                "this bot can start {} with an agent in 24 hours",
                runs(*limit)
            ),
            until,
        ),
        Exceeded::DayCost { limit, until } => (
            format!(
                "this bot can spend {} on agents in 24 hours",
                dollars(*limit)
            ),
            until,
        ),
    };
    (what, *until)
}

fn runs(limit: u64) -> String {
    match limit {
        1 => "1 run".to_owned(),
        many => format!("{many} runs"),
    }
}

/// Returns why a plan is saved without the agent if a budget of the actor, the repository or the
/// day is used up.
pub fn why_exceeded(which: &Exceeded, repo: &str) -> String {
    let (what, until) = budget(which, repo);
    format!(
        "the budget for agents is used up ({what}; available again from {})",
        until.iso()
    )
}

/// Returns why a plan is saved without the agent if the run has reached its cost limit.
pub fn why_run_cost(most: Micros) -> String {
    format!(
        "the agent reached the cost limit of a run ({})",
        dollars(most)
    )
}

/// Returns why a plan is saved without the agent after a turn that ended like this.
pub fn why_ended(ending: &Ending) -> String {
    match ending {
        Ending::NotStarted(_) => {
            "the agent is not installed where the bot runs, or cannot be started there"
        }
        Ending::AgentError {
            message,
            status,
            subtype,
        } => match (subtype.as_str(), cause(message, *status)) {
            ("error_max_turns", _) => "the agent reached its limit of turns",
            ("error_max_budget_usd", _) => "the agent reached its cost limit",
            (_, ErrorCause::Credentials) => {
                "the agent's credentials were rejected by the model's service"
            }
            (_, ErrorCause::Credit) => "the agent's account has no credit left",
            (_, ErrorCause::Network) => {
                "the agent could not reach the model's service over the network"
            }
            (_, ErrorCause::Overload) => "the model's service was overloaded in every attempt",
            (_, ErrorCause::Other) => {
                return format!("the agent failed ({})", quoted(message, QUOTED));
            }
        },
        Ending::ProcessError { .. } => {
            "the agent's process ended without a result in every attempt"
        }
        Ending::NoResult | Ending::Success { .. } => "the agent gave no answer in any attempt",
        Ending::Limited(Limit::Deadline) => "the agent reached its time limit",
        Ending::Limited(Limit::Silence) => {
            "the agent produced no output within its time limit in any attempt"
        }
        Ending::Limited(Limit::Turns) => "the agent reached its limit of turns",
        Ending::Limited(Limit::Cost) => "the agent reached the cost limit of a run",
        Ending::Limited(Limit::Output) => "the agent exceeded its output limit",
        Ending::Limited(Limit::Memory(most)) => {
            return format!("the agent reached its memory limit ({})", size(*most));
        }
        Ending::Limited(Limit::Processes(most)) => {
            return format!("the agent reached its limit of processes and threads ({most})");
        }
        Ending::Limited(Limit::OpenFiles(most)) => {
            return format!("the agent reached its limit of open files ({most})");
        }
        Ending::Limited(Limit::FileSize(most)) => {
            return format!(
                "the agent reached its limit on the size of a file ({})",
                size(*most)
            );
        }
        Ending::Limited(Limit::Disk(most)) => {
            return format!(
                "the agent reached its limit of disk space ({})",
                size(*most)
            );
        }
        Ending::Leaked { .. } => {
            "the agent's answer contained a secret of this bot and was discarded"
        }
        Ending::SessionLost | Ending::Cancelled => "the agent's session was lost",
    }
    .to_owned()
}

/// Returns the failure of a run that has reached its cost limit.
pub fn run_cost(command: Command, most: Micros) -> Failure {
    Failure {
        code: Code::AgentLimit,
        message: format!("The run has reached its cost limit ({}).", dollars(most)),
        details: Vec::new(),
        remedy: remedy(command, Remedy::Anew),
    }
}

/// The kind of remedy for a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Remedy {
    /// The requester can retry the run.
    Again,
    /// The requester can start a new run. A retry would continue the same run, which has reached
    /// its cost limit.
    Anew,
    /// The requester can retry the run. If the limit is too low, the operator has to raise this
    /// setting.
    Raise(&'static str),
    /// The operator has to act.
    Operator,
    /// The conversation may ask agents for secrets: it has to be checked, and the operator has to
    /// replace the secret.
    Secret,
}

/// Returns the failure of the agent after which no further try is made. The message is public, so
/// the agent's standard error and details of the bot's host are only logged.
pub fn failed(command: Command, report: &Report, used: &Spent) -> Failure {
    let (code, message) = ended(&report.ending);
    let remedy = remedy(command, remedy_kind(&report.ending));
    let mut details = Vec::new();
    let used = spent(used);
    if !used.is_empty() {
        details.push(format!("Used: {used}"));
    }
    Failure {
        code,
        message,
        details,
        remedy,
    }
}

fn remedy_kind(ending: &Ending) -> Remedy {
    match ending {
        Ending::NotStarted(_) => Remedy::Operator,
        Ending::AgentError {
            message, status, ..
        } if matches!(
            cause(message, *status),
            ErrorCause::Credentials | ErrorCause::Credit
        ) =>
        {
            Remedy::Operator
        }
        Ending::Limited(Limit::Cost) => Remedy::Anew,
        Ending::Limited(Limit::Turns) => Remedy::Raise("agent.max_turns"),
        Ending::Limited(Limit::Deadline) => Remedy::Raise("agent.deadline_seconds"),
        Ending::Limited(Limit::Silence) => Remedy::Raise("agent.silence_seconds"),
        Ending::Limited(Limit::Memory(_)) => Remedy::Raise("agent.max_memory_mb"),
        Ending::Limited(Limit::Processes(_)) => Remedy::Raise("agent.max_processes"),
        Ending::Limited(Limit::OpenFiles(_)) => Remedy::Raise("agent.max_open_files"),
        Ending::Limited(Limit::FileSize(_)) => Remedy::Raise("agent.max_file_mb"),
        Ending::Limited(Limit::Disk(_)) => Remedy::Raise("agent.max_disk_mb"),
        Ending::Leaked { .. } => Remedy::Secret,
        _ => Remedy::Again,
    }
}

/// Appends the alternative of posting a plan, if the command is `/save-plan`. It fails because of
/// its agent only if it found no plan.
fn or_post(command: Command, text: &str) -> String {
    if command == Command::SavePlan {
        format!("{text}; or post the plan as a comment here, then comment `/save-plan` again.")
    } else {
        format!("{text}.")
    }
}

fn remedy(command: Command, who: Remedy) -> String {
    let name = command.name();
    match who {
        Remedy::Again => or_post(command, "Comment `/retry` here to ask the agent again"),
        Remedy::Anew => or_post(
            command,
            &match command {
                Command::Research => {
                    "Comment `/research` with the missing topics to start a new run".to_owned()
                }
                _ => format!("Comment `/{name}` here to start a new run"),
            },
        ),
        Remedy::Raise(setting) => or_post(
            command,
            &format!(
                "Comment `/retry` here to ask the agent again; if it reaches the limit again, ask \
                 the operator of this bot to raise `{setting}`"
            ),
        ),
        Remedy::Operator => or_post(
            command,
            "Ask the operator of this bot to check the bot's log and the agent's settings, then comment `/retry` here",
        ),
        Remedy::Secret => {
            "Check the conversation for text that asks agents for secrets, and ask the operator of this bot to replace the secret."
                .to_owned()
        }
    }
}

/// Adds to a failure that no plan was found that could be saved without the agent.
pub fn and_no_plan(mut failure: Failure, looked: Vec<String>) -> Failure {
    failure.message = format!(
        "{} No plan was found here that could be saved without the agent.",
        with_full_stop(failure.message)
    );
    failure.details.extend(looked);
    failure
}

/// Returns the error code and one sentence for a turn that did not succeed.
pub fn ended(ending: &Ending) -> (Code, String) {
    match ending {
        // The reason contains paths of the host, so it is not shown.
        Ending::NotStarted(_) => (
            Code::AgentUnavailable,
            "The agent could not be started.".to_owned(),
        ),
        Ending::AgentError {
            message,
            status,
            subtype,
        } => {
            let said = quoted(message, QUOTED);
            match (status, subtype.as_str()) {
                (_, "error_max_turns" | "error_max_budget_usd") => (
                    Code::AgentLimit,
                    format!("The agent stopped at one of its own limits: {said}"),
                ),
                _ if cause(message, *status) == ErrorCause::Credentials => (
                    Code::AgentUnavailable,
                    format!("The agent's credentials were rejected: {said}"),
                ),
                (Some(status), _) => (
                    Code::AgentFailed,
                    format!("The model's service answered {status}: {said}"),
                ),
                (None, _) => (Code::AgentFailed, format!("The agent failed: {said}")),
            }
        }
        Ending::ProcessError { code, signal } => (
            Code::AgentFailed,
            match (code, signal) {
                (Some(code), _) => {
                    format!("The agent's process ended with code {code} and without a result.")
                }
                (None, Some(signal)) => {
                    format!("The agent's process was ended by signal {signal}.")
                }
                (None, None) => "The agent's process ended without a result.".to_owned(),
            },
        ),
        Ending::Leaked { kind } => (
            Code::AgentFailed,
            format!("The agent's answer was withheld: it contains a secret of this bot ({kind})."),
        ),
        Ending::Limited(limit) => of_limit(*limit),
        Ending::NoResult | Ending::Success { .. } => (
            Code::AgentFailed,
            "The agent's process ended, but its output contains no result.".to_owned(),
        ),
        Ending::SessionLost | Ending::Cancelled => {
            (Code::AgentFailed, "The agent's session is lost.".to_owned())
        }
    }
}

fn of_limit(limit: Limit) -> (Code, String) {
    let ended = "The agent was ended because";
    match limit {
        Limit::Deadline => (
            Code::AgentTimeout,
            "The agent exceeded its time limit.".to_owned(),
        ),
        Limit::Silence => (
            Code::AgentTimeout,
            "The agent stopped producing output in every attempt.".to_owned(),
        ),
        Limit::Turns => (
            Code::AgentLimit,
            "The agent exceeded its turn limit.".to_owned(),
        ),
        Limit::Cost => (
            Code::AgentLimit,
            "The agent exceeded the cost limit of a run.".to_owned(),
        ),
        Limit::Output => (
            Code::AgentFailed,
            "The agent exceeded its output limit.".to_owned(),
        ),
        Limit::Memory(most) => (
            Code::AgentLimit,
            format!(
                "{ended} its processes used more than {} of memory.",
                size(most)
            ),
        ),
        Limit::Processes(most) => (
            Code::AgentLimit,
            format!("{ended} it had more than {most} processes and threads."),
        ),
        Limit::OpenFiles(most) => (
            Code::AgentLimit,
            format!("{ended} one of its processes had as many files open as it may ({most})."),
        ),
        Limit::FileSize(most) => (
            Code::AgentLimit,
            format!(
                "{ended} one of its files reached the maximum size of {}.",
                size(most)
            ),
        ),
        Limit::Disk(most) => (
            Code::AgentLimit,
            format!(
                "{ended} its files took more than {} of disk space.",
                size(most)
            ),
        ),
    }
}

/// Formats a limit in bytes. The settings are whole megabytes.
fn size(bytes: u64) -> String {
    const MB: u64 = 1024 * 1024;
    match bytes.div_ceil(MB) {
        megabytes if megabytes % 1024 == 0 => format!("{} GB", megabytes / 1024),
        megabytes => format!("{megabytes} MB"),
    }
}

/// Returns the failure if neither the agent nor the bot found a plan.
pub fn no_plan(trigger: &Trigger, error: &ErrorDocument, mut looked: Vec<String>) -> Failure {
    let message = quoted(&error.message, QUOTED);
    let code = quoted(&error.code, 40);
    looked.push(if message.is_empty() {
        format!("The agent found none either ({code})")
    } else {
        format!("The agent found none either ({code}): {message}")
    });
    no_plan_found(trigger, looked)
}

/// Returns the failure if the agent's answer is not a valid plan after all corrections, and no
/// other plan was found.
pub fn no_valid_answer(why: &str) -> Failure {
    Failure {
        code: Code::ValidationFailed,
        message:
            "The agent's answer is not a plan that can be saved, and no other plan was found here."
                .to_owned(),
        details: vec![why.to_owned()],
        remedy: "Post the plan as a comment here, then comment `/save-plan` again.".to_owned(),
    }
}

/// Returns the failure of a held run that nobody decided about.
pub fn held_for_good(command: Command, url: &str) -> Failure {
    Failure {
        code: Code::QuestionsUnanswered,
        message:
            "The agent followed an instruction in this conversation, and nobody decided what to do."
                .to_owned(),
        details: vec![format!("Asked in {url}")],
        remedy: match command {
            Command::SavePlan => {
                "Check the conversation for text that steers agents. `/save-raw-plan` saves a plan without the agent."
            }
            _ => "Check the conversation for text that steers agents.",
        }
        .to_owned(),
    }
}
