//! Renders the head of a document and its entries as XML.

use std::borrow::Cow;
use std::fmt::Write;

use super::entry::{Block, Entry, Role, Usage};

/// The end of a document.
pub(super) const CLOSE: &str = "</session>";

/// The origin of a log, written once at the head of every document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Head {
    source: Option<String>,
    branch: Option<String>,
    model: Option<String>,
}

impl Head {
    /// Creates a head for the log of the agent `source`; `None` for a main log.
    pub(super) fn new(source: Option<String>) -> Self {
        Self {
            source,
            ..Self::default()
        }
    }

    /// Takes branch and model from the first entry that has them.
    pub(super) fn add_entry(&mut self, entry: &Entry) {
        if self.branch.is_none() {
            self.branch.clone_from(&entry.branch);
        }
        if self.model.is_none() {
            self.model.clone_from(&entry.model);
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.branch.is_some() && self.model.is_some()
    }

    /// Returns the `<meta>` lines, each with its line end.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        [
            ("source", &self.source),
            ("branch", &self.branch),
            ("model", &self.model),
        ]
        .into_iter()
        .filter_map(|(name, value)| {
            let value = escape_attribute(value.as_ref()?);
            Some(format!("  <meta {name}=\"{value}\" />\n"))
        })
    }

    /// Returns the beginning of a document: `<session>` and the `<meta>` lines.
    pub(super) fn open(&self) -> String {
        let mut text = String::from("<session>\n");
        text.extend(self.lines());
        text
    }
}

/// Renders the elements of an entry, each with its line end; empty if there is nothing to write.
pub(super) fn entry(entry: &Entry) -> String {
    let mut out = String::new();
    for block in &entry.blocks {
        // Writing to a `String` cannot fail.
        let _ = write_block(&mut out, block, &entry.role);
    }
    out
}

fn write_block(out: &mut String, block: &Block, role: &Role) -> std::fmt::Result {
    match (block, role) {
        (Block::Text(text), Role::User) => write_element(out, "user", text),
        (Block::Text(text) | Block::Thinking(text), _) if text.trim().is_empty() => Ok(()),
        (Block::Text(text), Role::Assistant) => write_element(out, "assistant", text),
        (Block::Text(text), Role::Summary) => write_element(out, "summary", text),
        (Block::Text(text), Role::System { subtype }) => {
            let (subtype, text) = (escape_attribute(subtype), compact(text));
            let text = escape(&text);
            writeln!(out, "  <system subtype=\"{subtype}\">{text}</system>")
        }
        (Block::Thinking(text), _) => write_element(out, "thinking", text),
        (Block::ToolUse { name, id, params }, _) => {
            let (name, id) = (escape_attribute(name), escape_attribute(id));
            writeln!(out, "  <tool_use name=\"{name}\" id=\"{id}\">")?;
            for (name, value) in params {
                let (name, value) = (escape_attribute(name), escape(value));
                writeln!(out, "    <param name=\"{name}\">{value}</param>")?;
            }
            writeln!(out, "  </tool_use>")
        }
        (Block::ToolResult { id, text }, _) => {
            let (id, text) = (escape_attribute(id), escape(text));
            writeln!(
                out,
                "  <tool_result tool=\"{id}\">\n{text}\n  </tool_result>"
            )
        }
    }
}

fn write_element(out: &mut String, name: &str, text: &str) -> std::fmt::Result {
    let text = compact(text);
    let text = escape(&text);
    writeln!(out, "  <{name}>{text}</{name}>")
}

/// Renders the token counts of a message.
pub(super) fn usage(usage: Usage) -> String {
    let Usage { input, output } = usage;
    format!("  <usage input_tokens=\"{input}\" output_tokens=\"{output}\" />\n")
}

/// Reduces consecutive blank lines to one.
fn compact(text: &str) -> Cow<'_, str> {
    if !text.contains("\n\n\n") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut ends = 0;
    for c in text.chars() {
        ends = if c == '\n' { ends + 1 } else { 0 };
        if ends <= 2 {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Escapes text for the content of an element. Characters that XML 1.0 cannot represent are
/// replaced.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    escape_with(text, |_| None)
}

/// Escapes text for an attribute in double quotes. Unescaped line ends and tabs would be read as
/// spaces.
pub(super) fn escape_attribute(text: &str) -> Cow<'_, str> {
    escape_with(text, |c| match c {
        '"' => Some("&quot;"),
        '\n' => Some("&#10;"),
        '\t' => Some("&#9;"),
        _ => None,
    })
}

fn escape_with(text: &str, more: impl Fn(char) -> Option<&'static str>) -> Cow<'_, str> {
    let replacement = |c: char| match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '\n' | '\t' => more(c),
        '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => Some("\u{fffd}"),
        _ => more(c),
    };
    let Some(first) = text.find(|c| replacement(c).is_some()) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        match replacement(c) {
            Some(text) => out.push_str(text),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}
