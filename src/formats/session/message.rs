//! The blocks of a message that have to do with plans: calls of tools, and their results.

use std::borrow::Cow;

use super::members::{elements, members, text};

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

/// The calls and results of a message; none where `content` is not a list.
pub(super) fn blocks(message: &str) -> Vec<Block<'_>> {
    let content = members(message, &["content"])
        .ok()
        .and_then(|[content]| content);
    let list = content.and_then(elements).unwrap_or_default();
    list.into_iter().filter_map(block).collect()
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
            id: id.and_then(text),
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
    Write(String),
    Edits(Vec<Edit>),
}

/// One replacement.
#[derive(Debug)]
pub(super) struct Edit {
    old: String,
    new: String,
    everywhere: bool,
}

impl Edit {
    /// The text with the replacement made, where `old` stands exactly once (or at least once, for all of them).
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        let mut places = text.match_indices(&self.old);
        let found = !self.old.is_empty() && places.next().is_some();
        (found && (self.everywhere || places.next().is_none()))
            .then(|| text.replace(&self.old, &self.new))
    }
}

/// The path and the change that a `Write`, `Edit` or `MultiEdit` call asks for.
pub(super) fn change<'a>(name: &str, input: &'a str) -> Option<(Cow<'a, str>, Change)> {
    let [path, content, edits] = members(input, &["file_path", "content", "edits"]).ok()?;
    let change = match name {
        "Write" => Change::Write(text(content?)?.into_owned()),
        "Edit" => Change::Edits(vec![edit(input)?]),
        "MultiEdit" => Change::Edits(
            elements(edits?)?
                .into_iter()
                .map(edit)
                .collect::<Option<_>>()?,
        ),
        _ => return None,
    };
    Some((text(path?)?, change))
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
