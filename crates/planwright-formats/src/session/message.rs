//! The blocks of a message that have to do with plans: calls of tools, and their results.

use std::borrow::Cow;

use super::members::{elements, members, text};
use super::plan::MAX_PLAN_BYTES;

/// The longest id of a call, in bytes, by which its answer is looked for; real ones have some 30. A call with a longer one
/// counts as never answered.
const MAX_ID_BYTES: usize = 256;
/// Replacements of one call.
const MAX_EDITS: usize = 10_000;
/// Bytes of all texts in the replacements of one call.
const MAX_EDIT_BYTES: usize = 4 * MAX_PLAN_BYTES;

/// A block of `message.content`.
#[derive(Debug)]
pub(super) enum Block<'a> {
    Call(Call<'a>),
    Result(Answer<'a>),
}

/// A `tool_use` block.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Cow<'a, str>,
    /// JSON text.
    pub(super) input: Option<&'a str>,
}

/// A `tool_result` block.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) is_error: bool,
    /// JSON text: a string or blocks.
    content: Option<&'a str>,
}

impl Answer<'_> {
    /// The tool itself failed or does not exist, which says nothing about what the person thinks.
    pub(super) fn is_tool_failure(&self) -> bool {
        self.is_error
            && self
                .content
                .is_some_and(|content| content.contains("<tool_use_error>"))
    }
}

/// Gives `see` the calls and results of a message, in order; none where `content` is not a list.
pub(super) fn blocks<'a>(message: &'a str, mut see: impl FnMut(Block<'a>)) {
    if let Ok([Some(content)]) = members(message, &["content"]) {
        elements(content, |element| {
            if let Some(block) = block(element) {
                see(block);
            }
        });
    }
}

fn block(json: &str) -> Option<Block<'_>> {
    const NAMES: [&str; 7] = [
        "type",
        "id",
        "name",
        "input",
        "tool_use_id",
        "is_error",
        "content",
    ];
    let [kind, id, name, input, answered, is_error, content] = members(json, &NAMES).ok()?;
    match text(kind?)?.as_ref() {
        "tool_use" => Some(Block::Call(Call {
            id: id.and_then(text).filter(|id| id.len() <= MAX_ID_BYTES),
            name: text(name?)?,
            input,
        })),
        "tool_result" => {
            let (id, is_error) = (text(answered?)?, is_error == Some("true"));
            Some(Block::Result(Answer {
                id,
                is_error,
                content,
            }))
        }
        _ => None,
    }
}

/// The plan in the input of an `ExitPlanMode` call: a string that is not empty.
pub(super) fn plan_of(input: &str) -> Option<Cow<'_, str>> {
    let [plan] = members(input, &["plan"]).ok()?;
    text(plan?).filter(|plan| !plan.is_empty())
}

/// The plan in the `toolUseResult` of an `ExitPlanMode` call, and the file it was saved in.
pub(super) fn approved_plan(result: &str) -> Option<(Cow<'_, str>, Option<Cow<'_, str>>)> {
    let [plan, file] = members(result, &["plan", "filePath"]).ok()?;
    let plan = text(plan?).filter(|plan| !plan.is_empty())?;
    Some((plan, file.and_then(text)))
}

/// What a call does to a file.
#[derive(Debug)]
pub(super) enum Change {
    /// Its whole text; `None` when that is over [`MAX_PLAN_BYTES`].
    Write(Option<String>),
    /// Replacements, one after the other; `None` when they are more than a plan can want.
    Edits(Option<Vec<Edit>>),
}

/// One replacement.
#[derive(Debug)]
pub(super) struct Edit {
    old: String,
    new: String,
    everywhere: bool,
}

impl Edit {
    fn bytes(&self) -> usize {
        self.old.len() + self.new.len()
    }

    /// The text with the replacement made, where `old` stands exactly once (or at least once, for all of them) and the
    /// text is not longer than [`MAX_PLAN_BYTES`] with it.
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        if self.old.is_empty() {
            return None;
        }
        let most = if self.everywhere { usize::MAX } else { 2 };
        let places = text.match_indices(&self.old).take(most).count();
        if places == 0 || (places > 1 && !self.everywhere) {
            return None;
        }
        // Before anything is written: each byte of the text may become a text of any length.
        let kept = text.len() - places * self.old.len();
        let length = places.checked_mul(self.new.len())?.checked_add(kept)?;
        (length <= MAX_PLAN_BYTES).then(|| text.replace(&self.old, &self.new))
    }
}

/// The path and the change that a `Write`, `Edit` or `MultiEdit` call asks for.
pub(super) fn change<'a>(name: &str, input: &'a str) -> Option<(Cow<'a, str>, Change)> {
    let [path, content, edits] = members(input, &["file_path", "content", "edits"]).ok()?;
    let change = match name {
        "Write" => {
            let content = text(content?)?;
            let is_plan = content.len() <= MAX_PLAN_BYTES;
            Change::Write(is_plan.then(|| content.into_owned()))
        }
        "Edit" => {
            let edit = edit(input)?;
            Change::Edits((edit.bytes() <= MAX_EDIT_BYTES).then(|| vec![edit]))
        }
        "MultiEdit" => multi_edit(edits?)?,
        _ => return None,
    };
    Some((text(path?)?, change))
}

fn multi_edit(json: &str) -> Option<Change> {
    let (mut all, mut bytes, mut is_whole) = (Some(Vec::new()), 0, true);
    let is_list = elements(json, |element| {
        let Some(edits) = all.as_mut().filter(|_| is_whole) else {
            return;
        };
        match edit(element) {
            None => is_whole = false,
            Some(edit) => {
                bytes += edit.bytes();
                edits.push(edit);
                if edits.len() > MAX_EDITS || bytes > MAX_EDIT_BYTES {
                    all = None;
                }
            }
        }
    });
    (is_list && is_whole).then_some(Change::Edits(all))
}

fn edit(json: &str) -> Option<Edit> {
    let [old, new, all] = members(json, &["old_string", "new_string", "replace_all"]).ok()?;
    let (old, new) = (text(old?)?.into_owned(), text(new?)?.into_owned());
    Some(Edit {
        old,
        new,
        everywhere: all == Some("true"),
    })
}
