//! Parses one line of a log into the parts of the conversation that it contains.

use std::borrow::Cow;

use super::stats::LeftOut;
use crate::jsonl::{all_members, elements, json_members, members, string};

/// The conversation in an entry.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) role: Role,
    pub(super) branch: Option<String>,
    pub(super) model: Option<String>,
    /// Id of the message that the entry is a part of.
    pub(super) message: Option<String>,
    /// Token counts of the message up to this entry.
    pub(super) usage: Option<Usage>,
    pub(super) blocks: Vec<Block>,
}

/// Token counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
}

/// The author of an entry.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    /// The user; tool results belong here too.
    #[default]
    User,
    Assistant,
    /// The client's summary of a conversation that became too long.
    Summary,
    /// The client.
    System {
        subtype: String,
    },
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block {
    Text(String),
    Thinking(String),
    ToolUse {
        name: String,
        id: String,
        params: Vec<(String, String)>,
    },
    ToolResult {
        id: String,
        text: String,
    },
}

impl Entry {
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the texts of the entry, joined by spaces.
    pub(super) fn text(&self) -> String {
        self.texts().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn has_tool_use(&self) -> bool {
        let mut blocks = self.blocks.iter();
        blocks.any(|block| matches!(block, Block::ToolUse { .. }))
    }
}

json_members! {
    // A saved `--output-format stream-json` contains `session_id` and `tool_use_result`.
    EntryMembers {
        kind: "type", session: "sessionId", session_id: "session_id", branch: "gitBranch",
        message: "message", result: "toolUseResult", tool_use_result: "tool_use_result",
        summary: "summary", subtype: "subtype", content: "content",
    }
}

json_members! {
    MessageMembers {
        id: "id", model: "model", content: "content", usage: "usage", tool_use_id: "tool_use_id",
    }
}

/// Parses a line. If `requested` is set, entries of other sessions are left out. Bytes that are not
/// UTF-8 are replaced.
pub(super) fn parse(line: &[u8], requested: Option<&str>) -> Result<Entry, LeftOut> {
    let line = String::from_utf8_lossy(line);
    let members = EntryMembers::parse(&line).map_err(|_| LeftOut::Malformed)?;
    let session = owned(members.session.or(members.session_id));
    if requested.is_some() && session.is_some() && session.as_deref() != requested {
        return Err(LeftOut::OtherSession);
    }
    let mut entry = Entry {
        branch: owned(members.branch).filter(|branch| !branch.is_empty()),
        ..Entry::default()
    };
    let message = members
        .message
        .and_then(|json| MessageMembers::parse(json).ok());
    let message = message.unwrap_or_default();
    match owned(members.kind).unwrap_or_default().as_str() {
        "user" => {
            let result = members.result.or(members.tool_use_result);
            entry.blocks = user_blocks(message.content, result);
        }
        "tool_result" => entry.blocks.push(Block::ToolResult {
            id: owned(message.tool_use_id).unwrap_or_default(),
            text: result_text(message.content),
        }),
        "assistant" => {
            entry.role = Role::Assistant;
            // Messages that the client made up name no real model.
            entry.model =
                owned(message.model).filter(|model| !model.is_empty() && model != "<synthetic>");
            entry.message = owned(message.id);
            entry.usage = message.usage.and_then(parse_usage);
            entry.blocks = assistant_blocks(message.content);
        }
        "summary" => {
            entry.role = Role::Summary;
            entry.blocks.extend(text_block(members.summary));
        }
        "system" => {
            entry.role = Role::System {
                subtype: owned(members.subtype).unwrap_or_default(),
            };
            entry.blocks.extend(text_block(members.content));
        }
        "file-history-snapshot" => return Err(LeftOut::Snapshot),
        _ => return Err(LeftOut::OtherKind),
    }
    Ok(entry)
}

fn parse_usage(json: &str) -> Option<Usage> {
    let [input, output] = members(json, &["input_tokens", "output_tokens"]).ok()?;
    Some(Usage {
        input: input?.parse().ok()?,
        output: output?.parse().ok()?,
    })
}

/// Parses the content of a user's message: texts, and results of tools. An empty result is filled
/// from `tool_use_result` if it is the only one.
fn user_blocks(content: Option<&str>, tool_use_result: Option<&str>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let add = |item| {
        let item = ItemMembers::parse_or_text(item);
        if item.kind() == "tool_result" {
            blocks.push(Block::ToolResult {
                id: owned(item.tool_use_id).unwrap_or_default(),
                text: result_text(item.content),
            });
        } else if let Some(more) = item.readable() {
            match blocks.last_mut() {
                Some(Block::Text(text)) => {
                    text.push('\n');
                    text.push_str(&more);
                }
                _ => blocks.push(Block::Text(more)),
            }
        }
    };
    if !content.is_some_and(|content| elements(content, add)) {
        blocks.extend(text_block(content));
        return blocks;
    }
    let mut results = blocks.iter_mut().filter_map(|block| match block {
        Block::ToolResult { text, .. } => Some(text),
        _ => None,
    });
    if let (Some(text), None, Some(result)) = (results.next(), results.next(), tool_use_result)
        && text.trim().is_empty()
    {
        *text = tool_use_result_text(result);
    }
    blocks
}

fn assistant_blocks(content: Option<&str>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let add = |item| blocks.extend(assistant_block(&ItemMembers::parse_or_text(item)));
    if !content.is_some_and(|content| elements(content, add)) {
        blocks.extend(text_block(content));
    }
    blocks
}

fn assistant_block(item: &ItemMembers<'_>) -> Option<Block> {
    match item.kind().as_ref() {
        "text" => text_block(item.text),
        "thinking" => {
            let thinking = string(item.thinking?)?;
            Some(Block::Thinking(normalize_newlines(&thinking)))
        }
        "tool_use" | "server_tool_use" => Some(Block::ToolUse {
            name: owned(item.name).unwrap_or_default(),
            id: owned(item.id).unwrap_or_default(),
            params: item
                .input
                .and_then(all_members)
                .unwrap_or_default()
                .into_iter()
                .map(|(name, json)| {
                    let value = string(json).unwrap_or(json.into());
                    (name, normalize_newlines(&value))
                })
                .collect(),
        }),
        _ => None,
    }
}

json_members! {
    ItemMembers {
        kind: "type", text: "text", thinking: "thinking", id: "id", name: "name", input: "input",
        tool_use_id: "tool_use_id", content: "content",
    }
}

impl<'a> ItemMembers<'a> {
    /// Parses an element of a content list: an object, or a string as the text of one.
    fn parse_or_text(json: &'a str) -> Self {
        Self::parse(json).unwrap_or_else(|_| Self {
            text: Some(json),
            ..Self::default()
        })
    }

    fn kind(&self) -> Cow<'a, str> {
        self.kind.and_then(string).unwrap_or_default()
    }

    /// Returns the element as text, with a placeholder for an element without text.
    fn readable(&self) -> Option<String> {
        match (self.text.and_then(string), self.kind().as_ref()) {
            (Some(text), _) => Some(normalize_newlines(&text)),
            (None, "" | "text") => None,
            (None, kind) => Some(format!("[{kind} omitted]")),
        }
    }
}

fn owned(json: Option<&str>) -> Option<String> {
    Some(string(json?)?.into_owned())
}

fn text_block(json: Option<&str>) -> Option<Block> {
    Some(Block::Text(normalize_newlines(&string(json?)?)))
}

fn result_text(content: Option<&str>) -> String {
    let Some(json) = content else {
        return String::new();
    };
    if let Some(text) = string(json) {
        return normalize_newlines(&text);
    }
    let mut texts = Vec::new();
    elements(json, |item| {
        texts.extend(ItemMembers::parse_or_text(item).readable());
    });
    texts.join("\n")
}

/// Returns the text in the client's own record of a result (`toolUseResult`).
fn tool_use_result_text(json: &str) -> String {
    let Ok(found) = members(json, &["stdout", "stderr", "content"]) else {
        return result_text(Some(json));
    };
    let mut parts = found.map(result_text).to_vec();
    parts.retain(|text| !text.trim().is_empty());
    parts.join("\n")
}

/// Converts line ends as an XML parser does.
fn normalize_newlines(text: &str) -> String {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text.to_owned()
    }
}
