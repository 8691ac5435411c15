//! Slash commands: one registry, and the parser that finds commands in a comment.

use serde::{Deserialize, Serialize};

/// What a user can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Extract, enrich, save.
    SavePlan,
    /// Extract and save exactly as found.
    SaveRawPlan,
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

/// One command found in a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// What is asked for.
    pub command: Command,
    /// The word as it was typed.
    pub word: String,
    /// 1-based line of the comment.
    pub line: usize,
    /// Free text behind the command.
    pub guidance: String,
    /// A plan that follows in the same comment, verbatim.
    pub inline: Option<String>,
}

impl Command {
    /// The word after the slash.
    pub fn word(self) -> &'static str {
        match self {
            Self::SavePlan => "save-plan",
            Self::SaveRawPlan => "save-raw-plan",
            Self::Cancel => "cancel",
            Self::Retry => "retry",
            Self::Status => "plan-status",
            Self::Help => "plan-help",
        }
    }
}

/// The commands of a comment in the order in which they stand.
pub fn parse(comment: &str) -> Vec<Invocation> {
    use super::markdown::{Kind, blocks};
    let all = [
        Command::SavePlan,
        Command::SaveRawPlan,
        Command::Cancel,
        Command::Retry,
        Command::Status,
        Command::Help,
    ];
    if !comment.contains('/') {
        return Vec::new();
    }
    let mut found = Vec::new();
    for block in blocks(comment) {
        if !matches!(block.kind, Kind::Paragraph { .. }) {
            continue;
        }
        for (index, line) in comment[block.span.clone()].lines().enumerate() {
            let Some(rest) = line.trim_start().strip_prefix('/') else {
                continue;
            };
            let (word, guidance) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            if let Some(command) = all.into_iter().find(|command| command.word() == word) {
                let after = comment[block.span.end..].trim();
                found.push(Invocation {
                    command,
                    word: word.to_owned(),
                    line: block.line + index,
                    guidance: guidance.trim().to_owned(),
                    inline: (!after.is_empty()).then(|| after.to_owned()),
                });
            }
        }
    }
    found
}
