//! Reads one line of a log: the conversation in it, whatever else the line holds.

use crate::session::members::{elements, members, text};

use super::fields::fields;
use super::stats::LeftOut;

/// What an entry says.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) role: Role,
    pub(super) branch: Option<String>,
    pub(super) model: Option<String>,
    /// Id of the message that the entry is a part of.
    pub(super) message: Option<String>,
    /// Of the message as far as it had come.
    pub(super) usage: Option<Usage>,
    pub(super) blocks: Vec<Block>,
}

/// Token counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
}

/// Who speaks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    /// The user; tools answer here too.
    #[default]
    User,
    Assistant,
    /// What the host kept of a conversation that grew too long.
    Summary,
    /// The host.
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
    /// The texts of the entry in one.
    pub(super) fn text(&self, between: &str) -> String {
        let texts: Vec<&str> = self
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.join(between)
    }
}

/// Reads a line; of a log with several sessions only what belongs to `wanted` or names no session. Bytes that are not
/// UTF-8 are replaced.
pub(super) fn read(line: &[u8], wanted: Option<&str>) -> Result<Entry, LeftOut> {
    // A saved `--output-format stream-json` writes `session_id` and `tool_use_result`.
    const NAMES: [&str; 10] = [
        "type",
        "sessionId",
        "session_id",
        "gitBranch",
        "message",
        "toolUseResult",
        "tool_use_result",
        "summary",
        "subtype",
        "content",
    ];
    let line = String::from_utf8_lossy(line);
    let found = members(&line, &NAMES).map_err(|_| LeftOut::Malformed)?;
    let [
        kind,
        session,
        session_id,
        branch,
        message,
        result,
        tool_use_result,
        ..,
    ] = found;
    let [.., summary, subtype, content] = found;
    let session = string(session.or(session_id));
    if wanted.is_some() && session.is_some() && session.as_deref() != wanted {
        return Err(LeftOut::OtherSession);
    }
    let kind = string(kind).unwrap_or_default();
    let mut entry = Entry {
        branch: string(branch).filter(|branch| !branch.is_empty()),
        ..Entry::default()
    };
    let message = Message::read(message);
    match kind.as_str() {
        "user" => user(&mut entry, message.content, result.or(tool_use_result)),
        "tool_result" => entry.blocks.push(Block::ToolResult {
            id: string(message.tool_use_id).unwrap_or_default(),
            text: result_text(message.content),
        }),
        "assistant" => {
            entry.role = Role::Assistant;
            // Entries that the host made up name no real model.
            entry.model =
                string(message.model).filter(|model| !model.is_empty() && model != "<synthetic>");
            entry.message = string(message.id);
            entry.usage = message.usage.and_then(usage);
            assistant(&mut entry, message.content);
        }
        "summary" => {
            entry.role = Role::Summary;
            entry.blocks.extend(text_block(summary));
        }
        "system" => {
            entry.role = Role::System {
                subtype: string(subtype).unwrap_or_default(),
            };
            entry.blocks.extend(text_block(content));
        }
        "file-history-snapshot" => return Err(LeftOut::Snapshot),
        _ => return Err(LeftOut::OtherKind),
    }
    Ok(entry)
}

/// The members of `message`, as JSON text.
#[derive(Default)]
struct Message<'a> {
    id: Option<&'a str>,
    model: Option<&'a str>,
    content: Option<&'a str>,
    usage: Option<&'a str>,
    tool_use_id: Option<&'a str>,
}

impl<'a> Message<'a> {
    fn read(json: Option<&'a str>) -> Self {
        let names = ["id", "model", "content", "usage", "tool_use_id"];
        let Some(Ok(found)) = json.map(|json| members(json, &names)) else {
            return Self::default();
        };
        let [id, model, content, usage, tool_use_id] = found;
        Self {
            id,
            model,
            content,
            usage,
            tool_use_id,
        }
    }
}

fn usage(json: &str) -> Option<Usage> {
    let [input, output] = members(json, &["input_tokens", "output_tokens"]).ok()?;
    Some(Usage {
        input: input?.parse().ok()?,
        output: output?.parse().ok()?,
    })
}

fn user(entry: &mut Entry, content: Option<&str>, note: Option<&str>) {
    let blocks = &mut entry.blocks;
    let is_list = content.is_some_and(|content| {
        elements(content, |item| {
            let item = Item::read(item);
            if item.kind == "tool_result" {
                blocks.push(Block::ToolResult {
                    id: string(item.tool_use_id).unwrap_or_default(),
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
        })
    });
    if !is_list {
        entry.blocks.extend(text_block(content));
        return;
    }
    let mut results = entry.blocks.iter_mut().filter_map(|block| match block {
        Block::ToolResult { text, .. } => Some(text),
        _ => None,
    });
    if let (Some(text), None, Some(note)) = (results.next(), results.next(), note)
        && text.trim().is_empty()
    {
        *text = noted_text(note);
    }
}

fn assistant(entry: &mut Entry, content: Option<&str>) {
    let blocks = &mut entry.blocks;
    let is_list = content
        .is_some_and(|content| elements(content, |item| blocks.extend(said(&Item::read(item)))));
    if !is_list {
        entry.blocks.extend(text_block(content));
    }
}

/// The block of an assistant's message that an element is.
fn said(item: &Item<'_>) -> Option<Block> {
    match item.kind.as_str() {
        "text" => text_block(item.text),
        "thinking" => {
            let thought = item.thinking.and_then(text)?;
            Some(Block::Thinking(newlines(&thought)))
        }
        "tool_use" | "server_tool_use" => {
            let params = item.input.and_then(fields).unwrap_or_default();
            Some(Block::ToolUse {
                name: string(item.name).unwrap_or_default(),
                id: string(item.id).unwrap_or_default(),
                params: params
                    .into_iter()
                    .map(|(name, value)| {
                        let value = text(value).unwrap_or(value.into());
                        (name, newlines(&value))
                    })
                    .collect(),
            })
        }
        _ => None,
    }
}

/// An element of a content list; what it holds is JSON text.
#[derive(Default)]
struct Item<'a> {
    kind: String,
    /// The element is a string, or has one.
    text: Option<&'a str>,
    thinking: Option<&'a str>,
    id: Option<&'a str>,
    name: Option<&'a str>,
    input: Option<&'a str>,
    tool_use_id: Option<&'a str>,
    content: Option<&'a str>,
}

impl<'a> Item<'a> {
    fn read(json: &'a str) -> Self {
        const NAMES: [&str; 8] = [
            "type",
            "text",
            "thinking",
            "id",
            "name",
            "input",
            "tool_use_id",
            "content",
        ];
        let Ok(found) = members(json, &NAMES) else {
            return Self {
                text: Some(json),
                ..Self::default()
            };
        };
        let [kind, text, thinking, id, name, input, tool_use_id, content] = found;
        Self {
            kind: string(kind).unwrap_or_default(),
            text,
            thinking,
            id,
            name,
            input,
            tool_use_id,
            content,
        }
    }

    /// The element as text; what cannot be text is named.
    fn readable(&self) -> Option<String> {
        match (self.text.and_then(text), self.kind.as_str()) {
            (Some(text), _) => Some(newlines(&text)),
            (None, "" | "text") => None,
            (None, kind) => Some(format!("[{kind} omitted]")),
        }
    }
}

fn string(json: Option<&str>) -> Option<String> {
    Some(text(json?)?.into_owned())
}

fn text_block(json: Option<&str>) -> Option<Block> {
    Some(Block::Text(newlines(&text(json?)?)))
}

fn result_text(content: Option<&str>) -> String {
    let Some(json) = content else {
        return String::new();
    };
    if let Some(text) = text(json) {
        return newlines(&text);
    }
    let mut texts = Vec::new();
    elements(json, |item| texts.extend(Item::read(item).readable()));
    texts.join("\n")
}

/// What the host noted about a result, for a result block that is empty.
fn noted_text(note: &str) -> String {
    let Ok(found) = members(note, &["stdout", "stderr", "content"]) else {
        return result_text(Some(note));
    };
    let parts: Vec<String> = found
        .into_iter()
        .map(result_text)
        .filter(|text| !text.trim().is_empty())
        .collect();
    parts.join("\n")
}

/// Line ends as an XML reader would see them.
fn newlines(text: &str) -> String {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text.to_owned()
    }
}
