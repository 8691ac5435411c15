//! Leaves out what tells a reader little.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use super::entry::{Block, Entry, Role};
use super::shorten;
use super::stats::{LeftOut, Stats};

/// Command texts of at most so many characters may repeat.
const SHORT_COMMAND: usize = 500;
/// What the text of an expanded slash command contains.
const COMMAND_MARKS: [&str; 4] = ["command-message>", "command-name>", "/erk:", "/gt:"];
/// What a command contains that looks for the session's own log.
const LOG_SEARCHES: [&str; 3] = ["ls ~/.claude", "find ~/.claude", "echo $SESSION_ID"];

/// What must be remembered from entry to entry.
#[derive(Debug, Default)]
pub(super) struct Filter {
    /// Times that a command text was met, by the first half of its SHA-256.
    commands: HashMap<[u8; 8], u64>,
    /// Tool calls that were left out: their results are too.
    hidden: HashSet<String>,
    /// First text of the assistant's entry before.
    last_text: Option<String>,
}

impl Filter {
    /// Shortens `entry`; an error says why all of it is left out.
    pub(super) fn apply(&mut self, entry: &mut Entry, stats: &mut Stats) -> Result<(), LeftOut> {
        let spoke = !entry.blocks.is_empty();
        self.hide_log_searches(entry);
        if spoke && entry.blocks.is_empty() {
            return Err(LeftOut::LogSearch);
        }
        match entry.role {
            Role::User => {
                entry
                    .blocks
                    .retain(|block| !matches!(block, Block::Text(text) if text.trim().is_empty()));
                self.fold_command(entry, stats);
            }
            Role::Assistant => self.fold_text(entry, stats),
            Role::Summary | Role::System { .. } => {}
        }
        for block in &mut entry.blocks {
            match block {
                Block::ToolUse { params, .. } => {
                    for (_, value) in params {
                        if let Some(short) = shorten::parameter(value) {
                            *value = short;
                            stats.cut_parameters += 1;
                        }
                    }
                }
                Block::ToolResult { text, .. } => {
                    if let Some(short) = shorten::result(text) {
                        *text = short;
                        stats.cut_results += 1;
                    }
                }
                Block::Text(_) | Block::Thinking(_) => {}
            }
        }
        Ok(())
    }

    /// Takes out Bash calls that look for the session's own log, and what they answered.
    fn hide_log_searches(&mut self, entry: &mut Entry) {
        let hidden = &mut self.hidden;
        entry.blocks.retain(|block| match block {
            Block::ToolUse { name, id, params } if name == "Bash" => {
                let search = params
                    .iter()
                    .any(|(name, value)| name == "command" && is_log_search(value));
                if search && !id.is_empty() {
                    hidden.insert(id.clone());
                }
                !search
            }
            Block::ToolResult { id, .. } => !hidden.remove(id),
            _ => true,
        });
    }

    /// Replaces the text of a command that has been written before.
    fn fold_command(&mut self, entry: &mut Entry, stats: &mut Stats) {
        let text = entry.text(" ");
        let marked = COMMAND_MARKS.iter().any(|mark| text.contains(mark));
        if !marked || text.chars().count() <= SHORT_COMMAND {
            return;
        }
        let digest = Sha256::digest(text.as_bytes());
        let mut hash = [0; 8];
        hash.copy_from_slice(&digest[..8]);
        let times = self.commands.entry(hash).or_default();
        *times += 1;
        if *times == 1 {
            return;
        }
        let note = format!(
            "[Duplicate command documentation block omitted - hash {}, occurrence #{times}]",
            hex::encode(hash)
        );
        stats.repeated_commands += 1;
        let mut note = Some(note);
        entry.blocks.retain_mut(|block| match block {
            Block::Text(text) => note.take().map(|note| *text = note).is_some(),
            _ => true,
        });
    }

    /// Takes out a text that is written with a tool call and was written just before without it.
    fn fold_text(&mut self, entry: &mut Entry, stats: &mut Stats) {
        let text = entry.blocks.iter().find_map(|block| match block {
            Block::Text(text) => Some(text.clone()),
            _ => None,
        });
        let tool = entry
            .blocks
            .iter()
            .any(|block| matches!(block, Block::ToolUse { .. }));
        if tool && text.is_some() && text == self.last_text {
            entry.blocks.retain(
                |block| !matches!(block, Block::Text(again) if Some(again) == text.as_ref()),
            );
            stats.repeated_texts += 1;
        }
        self.last_text = text;
    }
}

/// Does `command` look for the log, or only look where it is? (erk drops every command that contains `pwd`, so the
/// result of `docker run -v $(pwd):/src …` too.)
fn is_log_search(command: &str) -> bool {
    if LOG_SEARCHES.iter().any(|search| command.contains(search)) {
        return true;
    }
    let mut words = command
        .split(['\n', ';', '&', '|'])
        .filter_map(|simple| simple.split_whitespace().next())
        .peekable();
    let mut asks = false;
    words.peek().is_some()
        && words.all(|word| {
            asks |= word == "pwd";
            matches!(word, "pwd" | "cd" | "ls" | "echo")
        })
        && asks
}
