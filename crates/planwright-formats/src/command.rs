//! Slash commands: the registry, and the parser that finds commands in a comment.
//!
//! The registry is the only list of commands; the parser, the help text, the documentation and the
//! labels are derived from it.

use serde::{Deserialize, Serialize};

mod options;
mod parse;
mod split;

#[cfg(test)]
mod tests;

pub use options::{
    Hidden, OptionError, OptionSpec, Options, Pointer, RawOption, RepositoryFile, read_options,
};
pub use parse::{Invocation, at_line_starts, parse, without_commands};

/// A command that a user can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Extracts, enriches and saves a plan.
    SavePlan,
    /// Extracts a plan and saves it exactly as found.
    SaveRawPlan,
    /// Writes a plan for the specification in this issue.
    Plan,
    /// Runs research agents in parallel.
    Research,
    /// Checks the action plan here.
    CheckPlan,
    /// Answers the bot's questions.
    Answer,
    /// Stops the runs here.
    Cancel,
    /// Runs again from the step that failed.
    Retry,
    /// Shows what is running here.
    Status,
    /// Lists the commands.
    Help,
}

/// GitHub repository roles in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Can read.
    Read,
    /// Can manage issues.
    Triage,
    /// Can push.
    Write,
    /// Can manage the repository.
    Maintain,
    /// Can do everything.
    Admin,
}

/// The definition of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandSpec {
    /// The command.
    pub command: Command,
    /// The word after the slash.
    pub name: &'static str,
    /// Other names for the same command, also after a slash.
    pub aliases: &'static [&'static str],
    /// The minimum role that it requires.
    pub permission: Permission,
    /// The options that may follow the command, as `name=value`, before its free text.
    pub options: &'static [OptionSpec],
    /// Name of the free text after the command, for help, in brackets if it may be left out; `None`
    /// if it takes none.
    pub argument: Option<&'static str>,
    /// One line for help: what it does.
    pub summary: &'static str,
    /// An example of its use.
    pub example: &'static str,
    /// Default name of the label with the same meaning; `None` if there is none.
    pub label: Option<&'static str>,
    /// Whether a plan may follow in the command's own comment.
    pub takes_plan: bool,
    /// When it is executed.
    pub execution: Execution,
}

/// When a command is executed, and what it results in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// After the earlier runs at the same location.
    Queued,
    /// At once.
    Immediate,
    /// At once; its result is a text. The texts of adjacent commands in a comment are posted
    /// together.
    Reply,
}

/// All commands, in the order of the help text.
pub const REGISTRY: &[CommandSpec] = &[
    CommandSpec {
        command: Command::SavePlan,
        name: "save-plan",
        aliases: &["erk:save-plan"],
        permission: Permission::Write,
        options: options::SOURCES,
        argument: Some("[guidance]"),
        summary: "Find the plan here, check it, and save it as an issue. An agent completes it and applies the guidance; without one, guidance is only recorded.",
        example: "/save-plan keep the old endpoint until the next release",
        label: Some("save-plan"),
        takes_plan: true,
        execution: Execution::Queued,
    },
    CommandSpec {
        command: Command::SaveRawPlan,
        name: "save-raw-plan",
        aliases: &["erk:save-raw-plan"],
        permission: Permission::Write,
        options: options::SOURCES,
        argument: None,
        summary: "Find the plan here and save it as an issue exactly as it is.",
        example: "/save-raw-plan",
        label: Some("save-raw-plan"),
        takes_plan: true,
        execution: Execution::Queued,
    },
    CommandSpec {
        command: Command::Plan,
        name: "plan",
        aliases: &[],
        permission: Permission::Write,
        options: options::RESEARCH,
        argument: Some("[guidance]"),
        summary: "Write a plan for the specification in this issue, using the repository's knowledge.",
        example: "/plan research=\"how retries work; which queue fits\" keep the public interface as it is",
        label: Some("plan"),
        takes_plan: false,
        execution: Execution::Queued,
    },
    CommandSpec {
        command: Command::Research,
        name: "research",
        aliases: &[],
        permission: Permission::Write,
        options: &[],
        argument: Some("topic; topic; …"),
        summary: "Research topics in parallel, and post a report for each.",
        example: "/research how retries work; which queue fits",
        label: None,
        takes_plan: false,
        execution: Execution::Queued,
    },
    CommandSpec {
        command: Command::CheckPlan,
        name: "check-plan",
        aliases: &[],
        permission: Permission::Triage,
        options: &[],
        argument: None,
        summary: "Check the executable plan here, or the plan files of this pull request, line by line.",
        example: "/check-plan",
        label: Some("check-plan"),
        takes_plan: true,
        execution: Execution::Queued,
    },
    CommandSpec {
        command: Command::Answer,
        name: "answer",
        aliases: &[],
        // The requester of the run may answer too; the step checks that.
        permission: Permission::Read,
        options: &[],
        argument: Some("ANSWERS"),
        summary: "Answer the bot's questions by number; ticking boxes in its comment does the same.",
        example: "/answer 1: a 2: keep the old endpoint",
        label: None,
        takes_plan: false,
        execution: Execution::Immediate,
    },
    CommandSpec {
        command: Command::Cancel,
        name: "cancel",
        aliases: &[],
        permission: Permission::Write,
        options: &[],
        argument: None,
        summary: "Stop what runs or waits here.",
        example: "/cancel",
        label: None,
        takes_plan: false,
        execution: Execution::Reply,
    },
    CommandSpec {
        command: Command::Retry,
        name: "retry",
        aliases: &[],
        permission: Permission::Write,
        options: &[],
        argument: None,
        summary: "Run the last failed or cancelled command again, from the step that failed.",
        example: "/retry",
        label: None,
        takes_plan: false,
        execution: Execution::Reply,
    },
    CommandSpec {
        command: Command::Status,
        name: "plan-status",
        aliases: &[],
        permission: Permission::Read,
        options: &[],
        argument: None,
        summary: "Show the newest runs here, and which commands had no effect.",
        example: "/plan-status",
        label: None,
        takes_plan: false,
        execution: Execution::Reply,
    },
    CommandSpec {
        command: Command::Help,
        name: "plan-help",
        aliases: &[],
        permission: Permission::Read,
        options: &[],
        argument: None,
        summary: "List the commands.",
        example: "/plan-help",
        label: None,
        takes_plan: false,
        execution: Execution::Reply,
    },
];

impl Command {
    /// Returns the command's definition in the registry.
    #[expect(clippy::missing_panics_doc, reason = "cannot panic, see below")]
    pub fn spec(self) -> &'static CommandSpec {
        #[expect(
            clippy::expect_used,
            reason = "a test walks every variant; the registry is a constant"
        )]
        REGISTRY
            .iter()
            .find(|spec| spec.command == self)
            .expect("every command is registered")
    }

    /// Returns the word after the slash.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns the command with this name or alias (without slash). ASCII case does not matter:
    /// phones capitalise.
    pub fn named(name: &str) -> Option<Self> {
        REGISTRY
            .iter()
            .find(|spec| {
                spec.name.eq_ignore_ascii_case(name)
                    || spec
                        .aliases
                        .iter()
                        .any(|alias| alias.eq_ignore_ascii_case(name))
            })
            .map(|spec| spec.command)
    }
}

/// Returns the command for `label` under the configured `names`. GitHub keeps the case of
/// a label's name, but does not tell labels apart by it.
pub fn for_label(label: &str, names: &[(Command, String)]) -> Option<Command> {
    names
        .iter()
        .find(|(_, name)| name.to_lowercase() == label.to_lowercase())
        .map(|(command, _)| *command)
}
