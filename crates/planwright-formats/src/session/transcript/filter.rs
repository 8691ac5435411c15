//! Omits what is of little use to a reader: repetitions, long parameters and results, sessions
//! without content.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use super::entry::{Block, Entry, Role};
use super::stats::{LeftOut, Stats};

/// Maximum length of a command text that may be repeated, in characters.
const MAX_REPEATED_COMMAND_CHARS: usize = 500;
/// Substrings of the text of an expanded slash command.
const COMMAND_MARKERS: [&str; 4] = ["command-message>", "command-name>", "/erk:", "/gt:"];
/// Substrings of a shell command that looks for the session's own log.
const LOG_SEARCHES: [&str; 3] = ["ls ~/.claude", "find ~/.claude", "echo $SESSION_ID"];

/// Maximum length of a tool parameter that is kept whole, in characters.
const MAX_PARAMETER_CHARS: usize = 200;
/// Number of characters that are kept at each end of a longer parameter (erk's figure).
const PARAMETER_END_CHARS: usize = (MAX_PARAMETER_CHARS - 20) / 2;
/// A path has no space within this number of characters.
const PATH_PROBE_CHARS: usize = 100;
/// Maximum number of lines of a tool result that are kept from its beginning.
const MAX_RESULT_LINES: usize = 30;
/// Maximum number of later lines of a tool result that are kept because they report errors.
const MAX_ERROR_LINES: usize = 30;
/// Maximum length of a line of a tool result, in characters; longer ones contain no prose.
const MAX_LINE_CHARS: usize = 2_000;
/// Words that mark a line as an error report.
const ERROR_WORDS: [&str; 6] = [
    "error",
    "exception",
    "failed",
    "failure",
    "fatal",
    "warning",
];

/// Minimum number of entries of a session that is worth reading (erk's rule).
const MIN_ENTRIES: u64 = 3;

/// The filter's memory of earlier entries.
#[derive(Debug, Default)]
pub(super) struct Filter {
    /// Number of occurrences of each command text, by the beginning of its SHA-256.
    commands: HashMap<[u8; 8], u64>,
    /// Ids of tool calls that were left out; their results are left out too.
    hidden_calls: HashSet<String>,
    /// First text of the assistant's previous entry.
    last_text: Option<String>,
}

impl Filter {
    /// Shortens `entry`. An error says why all of it is left out.
    pub(super) fn apply(&mut self, entry: &mut Entry, stats: &mut Stats) -> Result<(), LeftOut> {
        let had_blocks = !entry.blocks.is_empty();
        self.hide_log_searches(entry);
        if had_blocks && entry.blocks.is_empty() {
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
                        if let Some(short) = shorten_parameter(value) {
                            *value = short;
                            stats.cut_parameters += 1;
                        }
                    }
                }
                Block::ToolResult { text, .. } => {
                    if let Some(short) = shorten_result(text) {
                        *text = short;
                        stats.cut_results += 1;
                    }
                }
                Block::Text(_) | Block::Thinking(_) => {}
            }
        }
        Ok(())
    }

    /// Removes Bash calls that look for the session's own log, and their results.
    fn hide_log_searches(&mut self, entry: &mut Entry) {
        let hidden = &mut self.hidden_calls;
        entry.blocks.retain(|block| match block {
            Block::ToolUse { name, id, params } if name == "Bash" => {
                let is_search = params
                    .iter()
                    .any(|(name, value)| name == "command" && is_log_search(value));
                if is_search && !id.is_empty() {
                    hidden.insert(id.clone());
                }
                !is_search
            }
            Block::ToolResult { id, .. } => !hidden.remove(id),
            _ => true,
        });
    }

    /// Replaces the text of a command that has occurred before.
    fn fold_command(&mut self, entry: &mut Entry, stats: &mut Stats) {
        let text = entry.text();
        let is_command = COMMAND_MARKERS.iter().any(|marker| text.contains(marker));
        if !is_command || longer_than(&text, MAX_REPEATED_COMMAND_CHARS).is_none() {
            return;
        }
        let digest = Sha256::digest(text.as_bytes());
        let mut hash = [0; 8];
        hash.copy_from_slice(&digest[..8]);
        let occurrences = self.commands.entry(hash).or_default();
        *occurrences += 1;
        if *occurrences == 1 {
            return;
        }
        stats.repeated_commands += 1;
        let mut note = Some(format!(
            "[Duplicate command documentation block omitted - hash {}, occurrence #{occurrences}]",
            hex::encode(hash)
        ));
        entry.blocks.retain_mut(|block| match block {
            Block::Text(text) => note.take().map(|note| *text = note).is_some(),
            _ => true,
        });
    }

    /// Removes a text beside a tool call that repeats the assistant's previous text.
    fn fold_text(&mut self, entry: &mut Entry, stats: &mut Stats) {
        let text = entry.texts().next().map(str::to_owned);
        if entry.has_tool_use() && text.is_some() && text == self.last_text {
            entry.blocks.retain(
                |block| !matches!(block, Block::Text(again) if Some(again) == text.as_ref()),
            );
            stats.repeated_texts += 1;
        }
        self.last_text = text;
    }
}

/// Whether `command` looks for the log, or only shows where it is. (erk drops every command that
/// contains `pwd`, and so the result of `docker run -v $(pwd):/src …`.)
fn is_log_search(command: &str) -> bool {
    if LOG_SEARCHES.iter().any(|search| command.contains(search)) {
        return true;
    }
    let mut programs = command
        .split(['\n', ';', '&', '|'])
        .filter_map(|simple| simple.split_whitespace().next());
    let mut has_pwd = false;
    programs.all(|program| {
        has_pwd |= program == "pwd";
        matches!(program, "pwd" | "cd" | "ls" | "echo")
    }) && has_pwd
}

/// Shortens a parameter over 200 characters: a path to its first and last two components, any other
/// text to its ends.
fn shorten_parameter(value: &str) -> Option<String> {
    let length = longer_than(value, MAX_PARAMETER_CHARS)?;
    shorten_path(value).or_else(|| Some(keep_ends(value, length, PARAMETER_END_CHARS)))
}

fn shorten_path(value: &str) -> Option<String> {
    let is_path = !value.contains('\n') && !value.chars().take(PATH_PROBE_CHARS).any(|c| c == ' ');
    let parts: Vec<&str> = value.split('/').collect();
    if !is_path || parts.len() <= 3 {
        return None;
    }
    let last = parts.len() - 2;
    let short = format!("{}/.../{}", parts[..2].join("/"), parts[last..].join("/"));
    longer_than(&short, MAX_PARAMETER_CHARS)
        .is_none()
        .then_some(short)
}

/// Shortens a result with more than 30 lines or a very long one. Of the later lines, the first 30
/// that report errors are kept.
fn shorten_result(text: &str) -> Option<String> {
    let count = text.split('\n').count();
    let is_long = |line| longer_than(line, MAX_LINE_CHARS).is_some();
    if count <= MAX_RESULT_LINES && !text.split('\n').any(is_long) {
        return None;
    }
    let mut lines = text.split('\n');
    let mut out: Vec<String> = lines
        .by_ref()
        .take(MAX_RESULT_LINES)
        .map(shorten_line)
        .collect();
    if count > MAX_RESULT_LINES {
        out.push(format!(
            "\n... [{} lines omitted] ...",
            count - MAX_RESULT_LINES
        ));
        let mut errors = lines.filter(|line| reports_error(line)).peekable();
        if errors.peek().is_some() {
            out.push(String::new());
        }
        out.extend(errors.by_ref().take(MAX_ERROR_LINES).map(shorten_line));
        let more = errors.count();
        if more > 0 {
            out.push(format!("... [{more} more lines of this kind omitted] ..."));
        }
    }
    Some(out.join("\n"))
}

fn reports_error(line: &str) -> bool {
    let line = line.to_lowercase();
    ERROR_WORDS.iter().any(|word| line.contains(word))
}

fn shorten_line(line: &str) -> String {
    match longer_than(line, MAX_LINE_CHARS) {
        Some(length) => keep_ends(line, length, MAX_LINE_CHARS / 2),
        None => line.to_owned(),
    }
}

/// Returns the number of characters if it is greater than `max`.
fn longer_than(text: &str, max: usize) -> Option<usize> {
    if text.len() <= max {
        return None;
    }
    let length = text.chars().count();
    (length > max).then_some(length)
}

/// Keeps the first and last `keep` of the `length` characters of `text`.
fn keep_ends(text: &str, length: usize, keep: usize) -> String {
    let byte = |index: usize| text.char_indices().nth(index).map_or(text.len(), |at| at.0);
    let (head, tail) = (&text[..byte(keep)], &text[byte(length - keep)..]);
    format!("{head}...[truncated {} chars]...{tail}", length - 2 * keep)
}

/// Whether a session is worth reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is worth reading.
    Worth,
    /// It has fewer than three entries, or no text of the user, or none of the assistant.
    Empty,
    /// It only loads instructions: the first prompt contains `warmup`, and no tool is used. (erk
    /// checks the word alone and so loses every session about a warm-up.)
    WarmUp,
}

/// Collects what the verdict depends on.
#[derive(Debug, Default)]
pub(super) struct VerdictBuilder {
    entries: u64,
    has_user_text: bool,
    has_assistant_text: bool,
    has_tool_use: bool,
    /// Whether the user's first entry contains `warmup`.
    warm_up: Option<bool>,
}

impl VerdictBuilder {
    pub(super) fn add_entry(&mut self, entry: &Entry) {
        self.entries += 1;
        let text = entry.text();
        let has_text = !text.trim().is_empty();
        match entry.role {
            Role::User => {
                self.has_user_text |= has_text;
                self.warm_up
                    .get_or_insert_with(|| text.to_lowercase().contains("warmup"));
            }
            Role::Assistant => {
                self.has_assistant_text |= has_text;
                self.has_tool_use |= entry.has_tool_use();
            }
            Role::Summary | Role::System { .. } => {}
        }
    }

    /// Returns the verdict on the entries so far. [`Verdict::Worth`] is final.
    pub(super) fn verdict(&self) -> Verdict {
        if self.entries < MIN_ENTRIES || !self.has_user_text || !self.has_assistant_text {
            Verdict::Empty
        } else if self.warm_up == Some(true) && !self.has_tool_use {
            Verdict::WarmUp
        } else {
            Verdict::Worth
        }
    }
}
