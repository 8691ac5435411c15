//! Parses the events of the stream leniently.
//!
//! A member of an unexpected type counts as absent; only a line that is not a JSON object is lost.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::{MAX_LISTED, MAX_NAME_BYTES, MAX_STRUCTURED_BYTES, MAX_WRITES, MAX_WRITTEN_BYTES};
use crate::jsonl::{elements, json_members, members, string};
use crate::text::truncate_bytes;

/// One event of the stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A session, or a turn of it, begins. This is not always the first event.
    Init {
        /// Id of the session.
        session: Option<String>,
    },
    /// The assistant writes text or calls tools.
    Assistant(AssistantEvent),
    /// The client repeats a request to the model after an error.
    Retry {
        /// Number of the attempt, from 1.
        attempt: Option<u64>,
        /// HTTP status of the error.
        status: Option<u16>,
    },
    /// A tool call was denied for lack of permission.
    Denied {
        /// Name of the tool.
        tool: String,
    },
    /// The end of a turn.
    Result(Box<ResultEvent>),
    /// Any other object: tool results, states, partial messages, unknown types.
    Other {
        /// The event's `type`; `unknown` if it has none.
        kind: String,
    },
    /// A line, or an element of an array, that is not a JSON object.
    Malformed,
    /// A line over the limit; its bytes were dropped.
    TooLong,
}

/// An event of the assistant: usually one block of a message, so several events share a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssistantEvent {
    /// The text blocks, joined by line ends; without thinking.
    pub text: Option<String>,
    /// Tool calls, the first [`MAX_LISTED`].
    pub tools: Vec<ToolCall>,
    /// Number of tool calls.
    pub calls: u64,
    /// Id of the message.
    pub message: Option<String>,
    /// Whether the event begins a message of the model (not of a sub-agent), which counts as a
    /// turn.
    pub new_turn: bool,
    /// Whether the event comes from a sub-agent (`parent_tool_use_id` is present).
    pub sub_agent: bool,
    /// Whether the client wrote the message: it puts errors and the output of its own commands into
    /// messages of a model named `<synthetic>`.
    pub synthetic: bool,
}

/// A call of a tool. Of its input only file writes are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Name of the tool.
    pub name: String,
    /// Id of the call.
    pub id: String,
    /// The input of a `Write` call. It moves to [`super::Summary::writes`] when the event is added
    /// to the summary.
    pub write: Option<WriteCall>,
}

/// The input of a `Write` call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteCall {
    /// The path, as the agent wrote it.
    pub path: String,
    /// The whole text.
    pub content: String,
}

/// A `result` event: the client's report at the end of a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultEvent {
    /// Whether the turn failed. `None`, for anything but `true` and `false`, is not a success.
    pub is_error: Option<bool>,
    /// `success`, or the kind of failure. A value that is not a string is kept as its JSON text,
    /// which is not `success`.
    pub subtype: Option<String>,
    /// The final text. Failures with a subtype of their own have none.
    pub text: Option<String>,
    /// Structured output, up to [`MAX_STRUCTURED_BYTES`].
    pub structured: Option<Value>,
    /// Error messages, the first [`MAX_LISTED`].
    pub errors: Vec<String>,
    /// Number of turns, as the client counts them.
    pub turns: Option<u64>,
    /// Cost of the whole session in US dollars; resumed sessions continue the count.
    pub cost_usd: Option<f64>,
    /// Tokens of this turn.
    pub tokens: TokenUsage,
    /// Duration of this turn, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Number of tool calls that were denied for lack of permission.
    pub denials: u32,
    /// Id of the session.
    pub session: Option<String>,
    /// Why the turn ended: `completed`, `api_error`, `max_turns`, `aborted_streaming` and others.
    pub terminal_reason: Option<String>,
    /// HTTP status of the model's API, if that was the reason.
    pub api_status: Option<u16>,
}

/// Tokens that a turn has used. Unlike the cost, they are those of the turn, not of the session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    /// Input that was neither read from the cache nor written to it.
    #[serde(rename = "input_tokens")]
    pub input: u64,
    /// Output.
    #[serde(rename = "output_tokens")]
    pub output: u64,
    /// Input read from the cache.
    #[serde(rename = "cache_read_input_tokens")]
    pub cache_read: u64,
    /// Input written to the cache.
    #[serde(rename = "cache_creation_input_tokens")]
    pub cache_write: u64,
}

impl ResultEvent {
    /// Whether any field reports a failure: `is_error` is anything but `false`, or `subtype` is
    /// present and anything but `success`. Both are needed: an API that never answers gives
    /// `success` together with `is_error`.
    pub fn failed(&self) -> bool {
        let subtype = self.subtype.as_deref();
        self.is_error != Some(false) || subtype.is_some_and(|subtype| subtype != "success")
    }

    /// Returns the message for people: the text, or the errors if the text is blank.
    pub fn message(&self) -> String {
        match &self.text {
            Some(text) if !text.trim().is_empty() => text.clone(),
            _ => self.errors.join("\n"),
        }
    }
}

/// An event together with what its line says about other events.
#[derive(Debug)]
pub(super) struct ParsedEvent {
    pub(super) event: Event,
    pub(super) session: Option<String>,
    /// The `type` is not one that clients are known to print.
    pub(super) unknown: bool,
    /// Results of tool calls, if they were requested.
    pub(super) tool_results: Vec<ToolResult>,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolResult {
    pub(super) id: String,
    pub(super) is_error: bool,
}

json_members! {
    EventMembers {
        kind: "type", subtype: "subtype", session: "session_id", message: "message",
        parent: "parent_tool_use_id", is_error: "is_error", result: "result",
        structured: "structured_output", errors: "errors", turns: "num_turns",
        cost: "total_cost_usd", tokens: "usage", duration: "duration_ms", denials: "permission_denials",
        terminal_reason: "terminal_reason", api_status: "api_error_status", attempt: "attempt",
        error_status: "error_status", tool: "tool_name",
    }
}

/// Parses one JSON object; `None` if `json` is anything else. Tool results are long and rarely
/// needed, so they are read only if `with_tool_results` is set.
pub(super) fn parse(json: &str, with_tool_results: bool) -> Option<ParsedEvent> {
    let members = EventMembers::parse(json).ok()?;
    let kind = members
        .kind
        .and_then(string)
        .unwrap_or(Cow::Borrowed("unknown"));
    let subtype = members.subtype.map(name);
    let session = members.session.and_then(id);
    let tool_results = match members.message {
        Some(message) if with_tool_results && kind == "user" => tool_results(message),
        _ => Vec::new(),
    };
    let mut unknown = false;
    let event = match (kind.as_ref(), subtype.as_deref()) {
        ("system", Some("init")) => Event::Init {
            session: session.clone(),
        },
        ("system", Some("api_retry")) => Event::Retry {
            attempt: members.attempt.and_then(value),
            status: members.error_status.and_then(value),
        },
        ("system", Some("permission_denied")) => Event::Denied {
            tool: members.tool.map(name).unwrap_or_default(),
        },
        ("assistant", _) => {
            let mut event = members.message.map(assistant_event).unwrap_or_default();
            event.sub_agent = members.parent.is_some();
            Event::Assistant(event)
        }
        ("result", _) => Event::Result(Box::new(ResultEvent {
            is_error: members.is_error.and_then(value),
            subtype,
            text: members.result.and_then(string).map(Cow::into_owned),
            structured: members
                .structured
                .filter(|json| json.len() <= MAX_STRUCTURED_BYTES)
                .and_then(value),
            errors: members.errors.map(strings).unwrap_or_default(),
            turns: members.turns.and_then(value),
            cost_usd: members.cost.and_then(value),
            tokens: members.tokens.and_then(value).unwrap_or_default(),
            duration_ms: members.duration.and_then(value),
            denials: members.denials.map(count).unwrap_or_default(),
            session: session.clone(),
            terminal_reason: members.terminal_reason.map(name),
            api_status: members.api_status.and_then(value),
        })),
        (other, _) => {
            unknown = !KNOWN_TYPES.contains(&other);
            Event::Other {
                kind: truncate_bytes(other, MAX_NAME_BYTES).to_owned(),
            }
        }
    };
    Some(ParsedEvent {
        event,
        session,
        unknown,
        tool_results,
    })
}

/// Types of events that clients are known to print and that have no variant of [`Event`].
const KNOWN_TYPES: [&str; 9] = [
    "system",
    "user",
    "stream_event",
    "control_request",
    "control_response",
    "control_cancel_request",
    "conversation_reset",
    "rate_limit_event",
    "keep_alive",
];

json_members! {
    BlockMembers { kind: "type", text: "text", name: "name", id: "id", input: "input" }
}

/// Parses the `message` of an assistant event. Its content is a list of blocks, or a string.
fn assistant_event(message: &str) -> AssistantEvent {
    let mut event = AssistantEvent::default();
    let Ok([message, model, content]) = members(message, &["id", "model", "content"]) else {
        return event;
    };
    event.message = message.and_then(id);
    event.synthetic = model.and_then(string).as_deref() == Some("<synthetic>");
    let Some(content) = content else {
        return event;
    };
    if let Some(text) = string(content) {
        event.text = Some(text.into_owned());
        return event;
    }
    // Nearly always there is a single, long block: parsing it directly saves a pass over the list.
    let only_block = content
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .and_then(|block| BlockMembers::parse(block).ok());
    match only_block {
        Some(block) => event.add_block(&block),
        None => {
            elements(content, |json| {
                if let Ok(block) = BlockMembers::parse(json) {
                    event.add_block(&block);
                }
            });
        }
    }
    event
}

impl AssistantEvent {
    fn add_block(&mut self, block: &BlockMembers<'_>) {
        match block.kind.and_then(string).as_deref() {
            Some("text") => match (&mut self.text, block.text.and_then(string)) {
                (_, None) => {}
                (Some(text), Some(more)) => {
                    text.push('\n');
                    text.push_str(&more);
                }
                (none, text) => *none = text.map(Cow::into_owned),
            },
            Some("tool_use") => {
                self.calls += 1;
                if self.tools.len() < MAX_LISTED {
                    let name = block.name.map(name).unwrap_or_default();
                    self.tools.push(ToolCall {
                        write: block.input.filter(|_| name == "Write").and_then(write_call),
                        id: block.id.and_then(id).unwrap_or_default(),
                        name,
                    });
                }
            }
            _ => {}
        }
    }
}

/// Parses the input of a `Write` call; `None` if it is malformed or over the limits.
fn write_call(input: &str) -> Option<WriteCall> {
    let [path, content] = members(input, &["file_path", "content"]).ok()?;
    let (path, content) = (string(path?)?, string(content?)?);
    let fits = path.len() <= 16 * MAX_NAME_BYTES && content.len() <= MAX_WRITTEN_BYTES;
    fits.then(|| WriteCall {
        path: path.into_owned(),
        content: content.into_owned(),
    })
}

/// Parses the tool results in the `message` of a `user` event.
fn tool_results(message: &str) -> Vec<ToolResult> {
    let mut found = Vec::new();
    let Ok([Some(content)]) = members(message, &["content"]) else {
        return found;
    };
    elements(content, |json| {
        if let Ok([kind, id, is_error]) = members(json, &["type", "tool_use_id", "is_error"])
            && kind.and_then(string).as_deref() == Some("tool_result")
            && found.len() < MAX_WRITES
            && let Some(id) = id.and_then(string)
            && id.len() <= MAX_NAME_BYTES
        {
            found.push(ToolResult {
                id: id.into_owned(),
                // Anything but `false` is not a success.
                is_error: is_error.is_some_and(|is_error| is_error != "false"),
            });
        }
    });
    found
}

/// Parses an id: a string that is neither empty nor too long.
fn id(json: &str) -> Option<String> {
    string(json)
        .filter(|id| !id.is_empty() && id.len() <= MAX_NAME_BYTES)
        .map(Cow::into_owned)
}

/// Returns the beginning of a string, or of the JSON text of any other value.
fn name(json: &str) -> String {
    let name = string(json).unwrap_or(Cow::Borrowed(json));
    truncate_bytes(&name, MAX_NAME_BYTES).to_owned()
}

/// Parses a value of type `T`; `None` if `json` is of another type.
fn value<T: serde::de::DeserializeOwned>(json: &str) -> Option<T> {
    serde_json::from_str(json).ok()
}

fn count(list: &str) -> u32 {
    let mut count = 0;
    elements(list, |_| count += 1);
    count
}

fn strings(list: &str) -> Vec<String> {
    let mut found = Vec::new();
    elements(list, |element| {
        if found.len() < MAX_LISTED {
            found.extend(string(element).map(Cow::into_owned));
        }
    });
    found
}
