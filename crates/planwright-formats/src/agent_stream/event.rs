//! One event of the stream: a JSON object, read leniently. A member of another type than expected is no member; a line
//! is lost only when it is no JSON object.

use std::borrow::Cow;

use serde_json::Value;

use super::writes::{self, Answered, WriteCall};
use super::{LISTED_MAX, NAME_MAX, STRUCTURED_MAX};
use crate::session::members::{elements, members, text};

/// One event, as far as anybody asks for it.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A session (or a turn of it) begins. Not always the first event.
    Init {
        /// Its id.
        session: Option<String>,
    },
    /// The assistant says or calls something.
    Assistant(Said),
    /// The client asks the model again after an error.
    Retry {
        /// Which attempt this is, from 1.
        attempt: Option<u64>,
        /// HTTP status of the error.
        status: Option<u16>,
    },
    /// A call was refused for want of permission.
    Denied {
        /// Name of the tool.
        tool: String,
    },
    /// The end of a turn.
    Result(Box<Final>),
    /// Any other object: what tools answered, states, partial messages, kinds nobody knows yet.
    Other {
        /// Its `type`; `unknown` where it has none.
        kind: String,
    },
    /// A line, or an element of an array, that is no JSON object.
    Malformed,
    /// A line over the limit. Its bytes were not kept.
    TooLong,
}

/// What one event of the assistant holds: usually one block of a message, so several events share a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// Its text blocks, joined by line ends. Thinking is not among them.
    pub text: Option<String>,
    /// Calls of tools, the first [`LISTED_MAX`].
    pub tools: Vec<Tool>,
    /// How many calls there are.
    pub calls: u64,
    /// Id of the message.
    pub message: Option<String>,
    /// A message that the events before did not belong to, from the model and not from a sub-agent: counts as a turn.
    pub new_turn: bool,
    /// From an agent that the agent has started (`parent_tool_use_id` is there).
    pub sub_agent: bool,
    /// Not the model's words: the client puts errors and answers to its own commands into messages of a model
    /// `<synthetic>`.
    pub synthetic: bool,
}

/// A call of a tool. What it is given is read for files that it writes only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Name of the tool.
    pub name: String,
    /// Id of the call.
    pub id: String,
    /// The file that it writes. Moved into [`super::Summary::writes`] when the event is added up.
    pub write: Option<WriteCall>,
}

/// A `result` event: what the client says at the end of a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Final {
    /// Whether it says that it failed; `None` where it says neither `true` nor `false`, which is no success.
    pub is_error: Option<bool>,
    /// `success`, or the kind of failure. Something other than a string is kept as its JSON text: it is not `success`.
    pub subtype: Option<String>,
    /// The final text. Failures with a kind have none.
    pub text: Option<String>,
    /// Structured output, up to [`STRUCTURED_MAX`].
    pub structured: Option<Value>,
    /// What went wrong, the first [`LISTED_MAX`].
    pub errors: Vec<String>,
    /// Turns, as the client counts them.
    pub turns: Option<u64>,
    /// US dollars, of the whole session: resumed sessions go on counting.
    pub cost_usd: Option<f64>,
    /// Milliseconds of this turn.
    pub duration_ms: Option<u64>,
    /// How many calls were refused for want of permission.
    pub denials: u32,
    /// Id of the session.
    pub session: Option<String>,
    /// Why it ended: `completed`, `api_error`, `max_turns`, `aborted_streaming` and others.
    pub terminal_reason: Option<String>,
    /// HTTP status of the model's API, where that was the reason.
    pub api_status: Option<u16>,
}

impl Final {
    /// It does not say success in every place: `is_error` is anything but `false`, or `subtype` is there and anything but
    /// `success`. One alone is not enough: an API that never answers gives `success` with `is_error`.
    pub fn failed(&self) -> bool {
        self.is_error != Some(false)
            || self
                .subtype
                .as_deref()
                .is_some_and(|subtype| subtype != "success")
    }

    /// What it says for people: the text, else the errors, else nothing.
    pub fn message(&self) -> String {
        match &self.text {
            Some(text) if !text.trim().is_empty() => text.clone(),
            _ => self.errors.join("\n"),
        }
    }
}

/// An event and what is told beside it.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) event: Event,
    pub(super) session: Option<String>,
    /// The `type` is none of those that clients are known to print.
    pub(super) unknown: bool,
    /// Results of calls, where they are asked for.
    pub(super) answers: Vec<Answered>,
}

/// Reads one JSON object; `None` for anything else. Results of calls are long and seldom asked for: read only where they
/// are `wanted`.
pub(super) fn read(json: &str, wanted: bool) -> Option<Read> {
    const NAMES: [&str; 18] = [
        "type",
        "subtype",
        "session_id",
        "message",
        "parent_tool_use_id",
        "is_error",
        "result",
        "structured_output",
        "errors",
        "num_turns",
        "total_cost_usd",
        "duration_ms",
        "permission_denials",
        "terminal_reason",
        "api_error_status",
        "attempt",
        "error_status",
        "tool_name",
    ];
    let [
        kind,
        subtype,
        session,
        message,
        parent,
        is_error,
        result,
        structured,
        errors,
        turns,
        cost,
        duration,
        denials,
        terminal_reason,
        api_status,
        attempt,
        error_status,
        tool,
    ] = members(json, &NAMES).ok()?;
    let kind = kind.and_then(text).unwrap_or(Cow::Borrowed("unknown"));
    let subtype = subtype.map(word);
    let session = session.and_then(id);
    let answers = match message {
        Some(message) if wanted && kind == "user" => writes::answers(message),
        _ => Vec::new(),
    };
    let (event, unknown) = match (kind.as_ref(), subtype.as_deref()) {
        ("system", Some("init")) => {
            let session = session.clone();
            (Event::Init { session }, false)
        }
        ("system", Some("api_retry")) => {
            let (attempt, status) = (attempt.and_then(value), error_status.and_then(value));
            (Event::Retry { attempt, status }, false)
        }
        ("system", Some("permission_denied")) => {
            let tool = tool.map(word).unwrap_or_default();
            (Event::Denied { tool }, false)
        }
        ("assistant", _) => {
            let mut said = message.map(said).unwrap_or_default();
            said.sub_agent = parent.is_some();
            (Event::Assistant(said), false)
        }
        ("result", _) => {
            let last = Final {
                is_error: is_error.and_then(value),
                subtype,
                text: result.and_then(text).map(Cow::into_owned),
                structured: structured
                    .filter(|json| json.len() <= STRUCTURED_MAX)
                    .and_then(value),
                errors: errors.map(texts).unwrap_or_default(),
                turns: turns.and_then(value),
                cost_usd: cost.and_then(value),
                duration_ms: duration.and_then(value),
                denials: denials.map(count).unwrap_or_default(),
                session: session.clone(),
                terminal_reason: terminal_reason.map(word),
                api_status: api_status.and_then(value),
            };
            (Event::Result(Box::new(last)), false)
        }
        (other, _) => {
            let unknown = !matches!(
                other,
                "system"
                    | "user"
                    | "stream_event"
                    | "control_request"
                    | "control_response"
                    | "control_cancel_request"
                    | "conversation_reset"
                    | "rate_limit_event"
                    | "keep_alive"
            );
            let kind = beginning(other).to_owned();
            (Event::Other { kind }, unknown)
        }
    };
    Some(Read {
        event,
        session,
        unknown,
        answers,
    })
}

/// Reads `message` of an assistant event. Its content is a list of blocks, or a text.
fn said(message: &str) -> Said {
    let mut said = Said::default();
    let Ok([message, model, content]) = members(message, &["id", "model", "content"]) else {
        return said;
    };
    said.message = message.and_then(id);
    said.synthetic = model.and_then(text).as_deref() == Some("<synthetic>");
    let Some(content) = content else {
        return said;
    };
    if let Some(text) = text(content) {
        said.text = Some(text.into_owned());
        return said;
    }
    // Nearly always there is one block, and long: found without a pass over the list.
    let only = content
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .and_then(|block| members(block, &BLOCK).ok());
    match only {
        Some(block) => said.block(block),
        None => {
            elements(content, |json| {
                if let Ok(block) = members(json, &BLOCK) {
                    said.block(block);
                }
            });
        }
    }
    said
}

/// Members of a block that are read.
const BLOCK: [&str; 5] = ["type", "text", "name", "id", "input"];

impl Said {
    /// Adds a block, given by the JSON texts of its members.
    fn block(&mut self, [kind, words, name, call, input]: [Option<&str>; 5]) {
        match kind.and_then(text).as_deref() {
            Some("text") => match (&mut self.text, words.and_then(text)) {
                (_, None) => {}
                (Some(text), Some(words)) => {
                    text.push('\n');
                    text.push_str(&words);
                }
                (none, words) => *none = words.map(Cow::into_owned),
            },
            Some("tool_use") => {
                self.calls += 1;
                if self.tools.len() < LISTED_MAX {
                    let name = name.map(word).unwrap_or_default();
                    self.tools.push(Tool {
                        write: writes::call(&name, input),
                        id: call.and_then(id).unwrap_or_default(),
                        name,
                    });
                }
            }
            _ => {}
        }
    }
}

/// An id: a string that is not empty and not too long to be one.
fn id(json: &str) -> Option<String> {
    text(json)
        .filter(|id| !id.is_empty() && id.len() <= NAME_MAX)
        .map(Cow::into_owned)
}

/// The beginning of a string, or of the JSON text of anything else.
fn word(json: &str) -> String {
    let text = text(json).unwrap_or(Cow::Borrowed(json));
    beginning(&text).to_owned()
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(NAME_MAX)]
}

/// A number, a truth value, or a value of any kind; `None` where it is not what is asked for.
fn value<T: serde::de::DeserializeOwned>(json: &str) -> Option<T> {
    serde_json::from_str(json).ok()
}

/// How many elements a list has.
fn count(json: &str) -> u32 {
    let mut count = 0;
    elements(json, |_| count += 1);
    count
}

/// The strings of a list.
fn texts(json: &str) -> Vec<String> {
    let mut found = Vec::new();
    elements(json, |element| {
        if let Some(text) = text(element).filter(|_| found.len() < LISTED_MAX) {
            found.push(text.into_owned());
        }
    });
    found
}
