//! Reads one line of a log: the conversation in it, whatever else the line holds.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::stats::LeftOut;

/// What an entry says.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) role: Role,
    pub(super) session: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) model: Option<String>,
    /// Id of the message that the entry is a part of.
    pub(super) message: Option<String>,
    /// Input and output tokens of the whole message.
    pub(super) usage: Option<(u64, u64)>,
    pub(super) blocks: Vec<Block>,
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

/// Reads a line. Bytes that are not UTF-8 are replaced.
pub(super) fn read(line: &[u8]) -> Result<Entry, LeftOut> {
    let line = String::from_utf8_lossy(line);
    let parsed = serde_json::from_str(&line)
        .or_else(|error| mend(&line).map_or(Err(error), |line| serde_json::from_str(&line)));
    let Ok(Value::Object(fields)) = parsed else {
        return Err(LeftOut::Malformed);
    };
    let kind = fields.get("type").and_then(Value::as_str);
    let role = match kind.unwrap_or_default() {
        "user" | "tool_result" => Role::User,
        "assistant" => Role::Assistant,
        "summary" => Role::Summary,
        "system" => Role::System {
            subtype: string(fields.get("subtype")).unwrap_or_default(),
        },
        "file-history-snapshot" => return Err(LeftOut::Snapshot),
        _ => return Err(LeftOut::OtherKind),
    };
    let nothing = Map::new();
    let message = fields
        .get("message")
        .and_then(Value::as_object)
        .unwrap_or(&nothing);
    let content = message.get("content");
    let mut entry = Entry {
        session: string(fields.get("sessionId")),
        branch: string(fields.get("gitBranch")).filter(|branch| !branch.is_empty()),
        ..Entry::default()
    };
    match &role {
        Role::User if kind == Some("tool_result") => old_result(&mut entry, message),
        Role::User => user(&mut entry, content, fields.get("toolUseResult")),
        Role::Assistant => {
            // Entries that the host made up name no real model.
            entry.model = string(message.get("model"))
                .filter(|model| !model.is_empty() && model != "<synthetic>");
            entry.message = string(message.get("id"));
            entry.usage = usage(message);
            assistant(&mut entry, content);
        }
        Role::Summary => entry.blocks.extend(text(fields.get("summary"))),
        Role::System { .. } => entry.blocks.extend(text(fields.get("content"))),
    }
    entry.role = role;
    Ok(entry)
}

fn usage(message: &Map<String, Value>) -> Option<(u64, u64)> {
    let usage = message.get("usage")?;
    Some((
        usage.get("input_tokens")?.as_u64()?,
        usage.get("output_tokens")?.as_u64()?,
    ))
}

fn user(entry: &mut Entry, content: Option<&Value>, other: Option<&Value>) {
    let Some(Value::Array(items)) = content else {
        entry.blocks.extend(text(content));
        return;
    };
    let results = items.iter().filter(|item| kind(item) == "tool_result");
    let other = other.filter(|_| results.count() == 1);
    for item in items {
        if kind(item) == "tool_result" {
            let mut text = result_text(item.get("content"));
            if text.trim().is_empty() {
                text = other.map(other_text).unwrap_or_default();
            }
            let id = string(item.get("tool_use_id")).unwrap_or_default();
            entry.blocks.push(Block::ToolResult { id, text });
        } else if let Some(more) = readable(item) {
            match entry.blocks.last_mut() {
                Some(Block::Text(text)) => {
                    text.push('\n');
                    text.push_str(&more);
                }
                _ => entry.blocks.push(Block::Text(more)),
            }
        }
    }
}

/// A result as the first logs had it: an entry of its own.
fn old_result(entry: &mut Entry, message: &Map<String, Value>) {
    entry.blocks.push(Block::ToolResult {
        id: string(message.get("tool_use_id")).unwrap_or_default(),
        text: result_text(message.get("content")),
    });
}

fn assistant(entry: &mut Entry, content: Option<&Value>) {
    let Some(Value::Array(items)) = content else {
        entry.blocks.extend(text(content));
        return;
    };
    for item in items {
        match kind(item) {
            "text" => entry.blocks.extend(text(item.get("text"))),
            "thinking" => {
                if let Some(text) = string(item.get("thinking")) {
                    entry.blocks.push(Block::Thinking(newlines(&text)));
                }
            }
            "tool_use" | "server_tool_use" => {
                let params = match item.get("input") {
                    Some(Value::Object(fields)) => fields
                        .iter()
                        .map(|(name, value)| (name.clone(), plain(value)))
                        .collect(),
                    _ => Vec::new(),
                };
                entry.blocks.push(Block::ToolUse {
                    name: string(item.get("name")).unwrap_or_default(),
                    id: string(item.get("id")).unwrap_or_default(),
                    params,
                });
            }
            _ => {}
        }
    }
}

fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn string(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}

fn text(value: Option<&Value>) -> Option<Block> {
    let text = value.and_then(Value::as_str)?;
    Some(Block::Text(newlines(text)))
}

/// A string as it is, anything else as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => newlines(text),
        other => other.to_string(),
    }
}

/// A content item as text; what cannot be text is named.
fn readable(item: &Value) -> Option<String> {
    if let Some(text) = item.as_str().or_else(|| item.get("text")?.as_str()) {
        return Some(newlines(text));
    }
    match kind(item) {
        "" | "text" => None,
        other => Some(format!("[{other} omitted]")),
    }
}

fn result_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => newlines(text),
        Some(Value::Array(items)) => {
            let texts: Vec<String> = items.iter().filter_map(readable).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// What the host noted about a result, for a result block that is empty.
fn other_text(note: &Value) -> String {
    let Value::Object(fields) = note else {
        return match note {
            Value::Null => String::new(),
            other => result_text(Some(other)),
        };
    };
    let parts: Vec<String> = ["stdout", "stderr", "content"]
        .iter()
        .map(|name| result_text(fields.get(*name)))
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

/// The line with each half of a surrogate pair that stands alone replaced: hosts cut texts between the two. `None` when
/// there is none.
fn mend(line: &str) -> Option<Cow<'_, str>> {
    let unit = |at: usize| {
        let digits = line.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut out = String::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(found) = line[at..].find('\\') {
        at += found;
        match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                out.push_str(&line[copied..at]);
                out.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            _ => at += 1 + line[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    (copied > 0).then(|| {
        out.push_str(&line[copied..]);
        Cow::Owned(out)
    })
}
