//! Slash commands: one registry, and the parser that finds commands in a comment.
//!
//! The registry is the only list of commands there is: parser, help text, documentation and label matching read it.

use serde::{Deserialize, Serialize};

mod options;
mod parse;
mod split;

#[cfg(test)]
mod tests;

pub use options::{
    Given, Hidden, OptionError, OptionSpec, Options, Pointer, RepositoryFile, read as read_options,
};
pub(crate) use parse::slash;
pub use parse::{Invocation, at_line_starts, parse, without_commands};

/// What a user can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Extract, enrich, save.
    SavePlan,
    /// Extract and save exactly as found.
    SaveRawPlan,
    /// Write a plan for the specification here.
    Plan,
    /// Research agents side by side.
    Research,
    /// Check the action plan here.
    CheckPlan,
    /// Answer the bot's questions.
    Answer,
    /// Stop the runs here.
    Cancel,
    /// Run again from the step that failed.
    Retry,
    /// What is running here.
    Status,
    /// What can be said.
    Help,
}

/// GitHub repository roles in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// May read.
    Read,
    /// May manage issues.
    Triage,
    /// May push.
    Write,
    /// May manage the repository.
    Maintain,
    /// May do everything.
    Admin,
}

/// Everything there is to know about one command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandSpec {
    /// The command.
    pub command: Command,
    /// What is typed behind the slash.
    pub name: &'static str,
    /// Other names for the same, also typed behind a slash.
    pub aliases: &'static [&'static str],
    /// The least role that may ask for it.
    pub permission: Permission,
    /// What may stand between the command and its free text, as `name=value`.
    pub options: &'static [OptionSpec],
    /// Name of the free text behind the command, for help; `None` when it takes none.
    pub argument: Option<&'static str>,
    /// One line for help: what it does.
    pub summary: &'static str,
    /// A line somebody could type.
    pub example: &'static str,
    /// Default name of the label that means the same; `None` when no label does.
    pub label: Option<&'static str>,
    /// A plan may follow in the command's own comment.
    pub takes_plan: bool,
    /// Waits its turn behind other runs at the same place.
    pub serial: bool,
}

/// All commands, in the order in which help lists them.
pub const REGISTRY: &[CommandSpec] = &[
    CommandSpec {
        command: Command::SavePlan,
        name: "save-plan",
        aliases: &["erk:save-plan"],
        permission: Permission::Write,
        options: options::SOURCES,
        argument: Some("guidance"),
        summary: "Find the plan here, check it, and save it as an issue. Guidance is recorded with it.",
        example: "/save-plan keep the old endpoint until the next release",
        label: Some("save-plan"),
        takes_plan: true,
        serial: true,
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
        serial: true,
    },
    CommandSpec {
        command: Command::Plan,
        name: "plan",
        aliases: &[],
        permission: Permission::Write,
        options: options::RESEARCH,
        argument: Some("guidance"),
        summary: "Take this issue as the specification, and write a plan for it with the repository's knowledge.",
        example: "/plan research=\"how retries work; which queue fits\" keep the public interface as it is",
        label: Some("plan"),
        takes_plan: false,
        serial: true,
    },
    CommandSpec {
        command: Command::Research,
        name: "research",
        aliases: &[],
        permission: Permission::Write,
        options: &[],
        argument: Some("topic; topic; …"),
        summary: "Let research agents look into topics side by side, and post a report for each.",
        example: "/research how retries work; which queue fits",
        label: None,
        takes_plan: false,
        serial: true,
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
        serial: true,
    },
    CommandSpec {
        command: Command::Answer,
        name: "answer",
        aliases: &[],
        // Who asked for the run may answer, too; the step judges that.
        permission: Permission::Read,
        options: &[],
        argument: Some("answers"),
        summary: "Answer the bot's questions by number; ticking boxes in its comment does the same.",
        example: "/answer 1: a 2: keep the old endpoint",
        label: None,
        takes_plan: false,
        serial: false,
    },
    CommandSpec {
        command: Command::Cancel,
        name: "cancel",
        aliases: &[],
        permission: Permission::Write,
        options: &[],
        argument: None,
        summary: "Stop what is running here.",
        example: "/cancel",
        label: None,
        takes_plan: false,
        serial: false,
    },
    CommandSpec {
        command: Command::Retry,
        name: "retry",
        aliases: &[],
        permission: Permission::Write,
        options: &[],
        argument: None,
        summary: "Run again what failed here, from the step that failed.",
        example: "/retry",
        label: None,
        takes_plan: false,
        serial: false,
    },
    CommandSpec {
        command: Command::Status,
        name: "plan-status",
        aliases: &[],
        permission: Permission::Read,
        options: &[],
        argument: None,
        summary: "Show what is running here.",
        example: "/plan-status",
        label: None,
        takes_plan: false,
        serial: false,
    },
    CommandSpec {
        command: Command::Help,
        name: "plan-help",
        aliases: &[],
        permission: Permission::Read,
        options: &[],
        argument: None,
        summary: "Show what can be said.",
        example: "/plan-help",
        label: None,
        takes_plan: false,
        serial: false,
    },
];

impl Command {
    /// The command's entry in the registry.
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

    /// What is typed behind the slash.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The command called `name` (no slash), by name or alias, in any ASCII case: telephones capitalise.
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

/// Returns the command that `label` stands for under the configured `names`. GitHub keeps the case of
/// a label's name, but does not tell labels apart by it.
pub fn for_label(label: &str, names: &[(Command, String)]) -> Option<Command> {
    names
        .iter()
        .find(|(_, name)| name.to_lowercase() == label.to_lowercase())
        .map(|(command, _)| *command)
}
