//! Parses the blocks of a message that concern plans: tool calls and their results.

use std::borrow::Cow;

use super::plan::MAX_PLAN_BYTES;
use crate::jsonl::{elements, json_members, members, string};

/// Maximum length of a call id, in bytes; real ones have some 30. A call with a longer one counts
/// as never answered.
const MAX_ID_BYTES: usize = 256;
/// Maximum number of replacements in one call.
const MAX_EDITS: usize = 10_000;
/// Maximum size of all texts in the replacements of one call, in bytes.
const MAX_EDIT_BYTES: usize = 4 * MAX_PLAN_BYTES;

/// A block of `message.content`.
#[derive(Debug)]
pub(super) enum Block<'a> {
    ToolUse(ToolUse<'a>),
    ToolResult(ToolResult<'a>),
}

/// A `tool_use` block.
#[derive(Debug)]
pub(super) struct ToolUse<'a> {
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Cow<'a, str>,
    /// JSON text.
    pub(super) input: Option<&'a str>,
}

/// A `tool_result` block.
#[derive(Debug)]
pub(super) struct ToolResult<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) is_error: bool,
    /// JSON text: a string or blocks.
    content: Option<&'a str>,
}

impl ToolResult<'_> {
    /// Whether the tool itself failed or does not exist, which says nothing about the user's
    /// decision.
    pub(super) fn is_tool_failure(&self) -> bool {
        let content = self.content.unwrap_or_default();
        self.is_error && content.contains("<tool_use_error>")
    }
}

json_members! {
    BlockMembers {
        kind: "type", id: "id", name: "name", input: "input", tool_use_id: "tool_use_id",
        is_error: "is_error", content: "content",
    }
}

/// Calls `visit` for the tool calls and results of a message, in order; for none if `content` is
/// not a list.
pub(super) fn for_each_block<'a>(message: &'a str, mut visit: impl FnMut(Block<'a>)) {
    if let Ok([Some(content)]) = members(message, &["content"]) {
        elements(content, |element| {
            if let Some(block) = parse_block(element) {
                visit(block);
            }
        });
    }
}

fn parse_block(json: &str) -> Option<Block<'_>> {
    let block = BlockMembers::parse(json).ok()?;
    match string(block.kind?)?.as_ref() {
        "tool_use" => Some(Block::ToolUse(ToolUse {
            id: block
                .id
                .and_then(string)
                .filter(|id| id.len() <= MAX_ID_BYTES),
            name: string(block.name?)?,
            input: block.input,
        })),
        "tool_result" => Some(Block::ToolResult(ToolResult {
            id: string(block.tool_use_id?)?,
            is_error: block.is_error == Some("true"),
            content: block.content,
        })),
        _ => None,
    }
}

/// Returns the non-empty plan in the input or the `toolUseResult` of an `ExitPlanMode` call, and
/// the path of the file that it was saved in.
pub(super) fn parse_plan(json: &str) -> Option<(Cow<'_, str>, Option<Cow<'_, str>>)> {
    let [plan, file] = members(json, &["plan", "filePath"]).ok()?;
    let plan = string(plan?).filter(|plan| !plan.is_empty())?;
    Some((plan, file.and_then(string)))
}

/// The change that a call makes to a file.
#[derive(Debug)]
pub(super) enum FileChange {
    /// The file's whole new text; `None` if it is over [`MAX_PLAN_BYTES`].
    Write(Option<String>),
    /// Successive replacements; `None` if they are over the limits.
    Edits(Option<Vec<Edit>>),
}

/// One replacement.
#[derive(Debug)]
pub(super) struct Edit {
    old: String,
    new: String,
    replace_all: bool,
}

impl Edit {
    fn parse(json: &str) -> Option<Self> {
        let names = ["old_string", "new_string", "replace_all"];
        let [old, new, replace_all] = members(json, &names).ok()?;
        Some(Self {
            old: string(old?)?.into_owned(),
            new: string(new?)?.into_owned(),
            replace_all: replace_all == Some("true"),
        })
    }

    fn bytes(&self) -> usize {
        self.old.len() + self.new.len()
    }

    /// Applies the replacement. `None` if `old` does not occur exactly once (at least once for
    /// `replace_all`), or if the result would be over [`MAX_PLAN_BYTES`].
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        if self.old.is_empty() {
            return None;
        }
        let limit = if self.replace_all { usize::MAX } else { 2 };
        let matches = text.match_indices(&self.old).take(limit).count();
        if matches == 0 || (matches > 1 && !self.replace_all) {
            return None;
        }
        // Checked before anything is written, because each byte of the text may be replaced by a
        // text of any length.
        let kept = text.len() - matches * self.old.len();
        let length = matches.checked_mul(self.new.len())?.checked_add(kept)?;
        (length <= MAX_PLAN_BYTES).then(|| text.replace(&self.old, &self.new))
    }
}

/// Parses the path and the change of a `Write`, `Edit` or `MultiEdit` call.
pub(super) fn parse_change<'a>(name: &str, input: &'a str) -> Option<(Cow<'a, str>, FileChange)> {
    let [path, content, edits] = members(input, &["file_path", "content", "edits"]).ok()?;
    let change = match name {
        "Write" => {
            let content = string(content?)?;
            let fits = content.len() <= MAX_PLAN_BYTES;
            FileChange::Write(fits.then(|| content.into_owned()))
        }
        "Edit" => {
            let edit = Edit::parse(input)?;
            FileChange::Edits((edit.bytes() <= MAX_EDIT_BYTES).then(|| vec![edit]))
        }
        "MultiEdit" => parse_edits(edits?)?,
        _ => return None,
    };
    Some((string(path?)?, change))
}

/// Parses the replacements of a `MultiEdit` call; `None` if they are malformed.
fn parse_edits(json: &str) -> Option<FileChange> {
    let (mut all, mut bytes, mut is_valid) = (Some(Vec::new()), 0, true);
    let is_list = elements(json, |element| {
        let Some(edits) = all.as_mut().filter(|_| is_valid) else {
            return;
        };
        match Edit::parse(element) {
            None => is_valid = false,
            Some(edit) => {
                bytes += edit.bytes();
                edits.push(edit);
                if edits.len() > MAX_EDITS || bytes > MAX_EDIT_BYTES {
                    all = None;
                }
            }
        }
    });
    (is_list && is_valid).then_some(FileChange::Edits(all))
}
