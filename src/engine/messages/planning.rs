//! Texts about specifications and the plans for them.

use super::code_span;
use super::failures::{public, shorten};
use crate::engine::model::failure::{Code, Failure};
use crate::formats::block::quiet;
use crate::formats::command::Command;
use crate::formats::question::boxes::shown;
use crate::formats::specification::{Specification, template};

/// The remedy if the operator has to act.
pub const OPERATOR: &str = "Ask the operator of this bot to check its log and the disk of its host, then comment `/retry` here.";

/// Returns the failure of an empty specification.
pub fn empty_specification(read: &Specification) -> Failure {
    let mut details = Vec::new();
    if !read.placeholders.is_empty() {
        details.push(format!(
            "These parts contain only template text, which counts as empty: {}",
            listed(&read.placeholders, 3)
        ));
    }
    let fence = template(&read.title);
    Failure {
        code: Code::InvalidInput,
        message: "The text of the issue is the specification, and it is empty.".to_owned(),
        details,
        remedy: format!(
            "Describe in the issue what you want, then comment `/plan` again. Plain words are \
             enough; a template:\n\n\
             ```markdown\n{}\n```",
            fence.trim_end()
        ),
    }
}

/// Returns the failure if the specification was changed after the command.
pub fn changed_since() -> Failure {
    Failure {
        code: Code::InvalidInput,
        message:
            "The text of the issue was changed after the command, so no plan was written for it."
                .to_owned(),
        details: Vec::new(),
        remedy: "Check the current text, then comment `/plan` again.".to_owned(),
    }
}

/// Returns the failure of a command that needs an agent if none is configured.
pub fn needs_agent(command: Command) -> Failure {
    Failure {
        code: Code::AgentUnavailable,
        message: format!(
            "`/{}` needs a coding agent; none is configured.",
            command.name()
        ),
        details: vec!["Commands that only save and check plans work without one".to_owned()],
        remedy: "Ask the operator of this bot to set `agent.kind`, then comment `/retry` here."
            .to_owned(),
    }
}

/// Returns a note on parts of the template that were not filled in.
pub fn placeholders(found: &[String]) -> Option<String> {
    (!found.is_empty()).then(|| {
        format!(
            "Parts of the specification contain only template text and were ignored: {}.",
            listed(found, 3)
        )
    })
}

fn listed(texts: &[String], most: usize) -> String {
    let shown: Vec<String> = texts
        .iter()
        .take(most)
        .map(|text| format!("“{}”", shown(&shorten(text, 60))))
        .collect();
    let more = texts.len().saturating_sub(most);
    if more == 0 {
        shown.join(", ")
    } else {
        format!("{} and {more} more", shown.join(", "))
    }
}

/// The message if the documents cannot be put into the agent's working directory. The reason is
/// only logged, because it concerns the bot's host.
pub const NOT_GIVEN: &str = "The documents could not be provided to the agent.";

/// Returns the complaint that a different file was written than requested.
pub fn wrote_another(path: &str) -> String {
    format!(
        "The file `plan.md` does not exist; the file that the agent reported as written, {}, is not a plan or does not exist.",
        code_span(&shorten(public(path), 200))
    )
}

/// Returns the complaint that the write of the file failed.
pub fn write_failed(path: &str) -> String {
    format!(
        "The file `plan.md` does not exist: writing {} failed.",
        code_span(&shorten(public(path), 200))
    )
}

/// The complaint that no file was written.
pub const NOT_WRITTEN: &str =
    "The file `plan.md` does not exist: the text of the answer does not count as the plan.";

/// The complaint that the plan is too short.
pub const TOO_SHORT: &str = "The plan is too short to be carried out: it needs phases with steps.";

/// Returns the complaint that the title is invalid.
pub fn title(fault: &str) -> String {
    format!("The title is refused: {}.", fault.trim_end_matches('.'))
}

/// Returns a note that a file was found at an unexpected path.
pub fn elsewhere(name: &str, path: &str) -> String {
    format!(
        "The agent wrote {name} to {} instead of the requested path.",
        code_span(&shorten(public(path), 200))
    )
}

/// Returns the heading of a document that accompanies a plan.
pub fn attached(name: &str) -> String {
    match name {
        "context" => "**Context**: background for implementing the plan".to_owned(),
        "research" => "**Research**: what the plan is based on".to_owned(),
        other => format!("**{}**", super::one_line(&quiet(other))),
    }
}

/// Returns a note on images that were replaced by links.
pub fn pictures(count: usize) -> Option<String> {
    (count > 0).then(|| {
        format!("Images in the agent's text were replaced with links ({count}), because displaying an image fetches its URL.")
    })
}

/// Returns the failure if the agent wrote no plan that can be saved.
pub fn no_plan_written(why: &str) -> Failure {
    Failure {
        code: Code::AgentFailed,
        message: format!("The agent produced no plan: {why}."),
        details: Vec::new(),
        remedy: "Comment `/retry` here to ask the agent again; more detail in the issue helps."
            .to_owned(),
    }
}

/// Returns a note that the plan did not pass its checks.
pub fn incomplete(why: &str) -> String {
    format!("Fallback: this plan may be incomplete, because {why}.")
}

/// Returns a note that the turn was stopped after the plan was written.
pub fn cut_short(why: &str) -> String {
    format!(
        "Fallback: the agent was stopped after it had written this plan. {}",
        quiet(why)
    )
}

/// Returns a note that a document was left out because it does not fit.
pub fn no_room(name: &str, most: usize) -> String {
    format!(
        "The planner's {name} document was left out: the plan and its documents are limited to {most} comments together."
    )
}
