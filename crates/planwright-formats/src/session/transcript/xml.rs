//! Writes one entry as XML.

use std::borrow::Cow;
use std::fmt::Write;

use super::entry::{Block, Entry, Role, Usage};

/// How a document ends.
pub(super) const CLOSE: &str = "</session>";

/// The elements of an entry, each with its line end; empty when there is nothing to write.
pub(super) fn entry(entry: &Entry) -> String {
    let mut out = String::new();
    for block in &entry.blocks {
        match (block, &entry.role) {
            (Block::Text(text), Role::User) => element(&mut out, "user", text),
            (Block::Text(text), _) if text.trim().is_empty() => {}
            (Block::Text(text), Role::Assistant) => element(&mut out, "assistant", text),
            (Block::Text(text), Role::Summary) => element(&mut out, "summary", text),
            (Block::Text(text), Role::System { subtype }) => {
                let subtype = escape_attribute(subtype);
                let text = escape(&compact(text)).into_owned();
                line(
                    &mut out,
                    format_args!("  <system subtype=\"{subtype}\">{text}</system>"),
                );
            }
            (Block::Thinking(text), _) if text.trim().is_empty() => {}
            (Block::Thinking(text), _) => element(&mut out, "thinking", text),
            (Block::ToolUse { name, id, params }, _) => {
                let (name, id) = (escape_attribute(name), escape_attribute(id));
                line(
                    &mut out,
                    format_args!("  <tool_use name=\"{name}\" id=\"{id}\">"),
                );
                for (name, value) in params {
                    let (name, value) = (escape_attribute(name), escape(value));
                    line(
                        &mut out,
                        format_args!("    <param name=\"{name}\">{value}</param>"),
                    );
                }
                line(&mut out, format_args!("  </tool_use>"));
            }
            (Block::ToolResult { id, text }, _) => {
                let (id, text) = (escape_attribute(id), escape(text));
                line(
                    &mut out,
                    format_args!("  <tool_result tool=\"{id}\">\n{text}\n  </tool_result>"),
                );
            }
        }
    }
    out
}

/// The element of a message's token counts.
pub(super) fn usage(usage: Usage) -> String {
    let Usage { input, output } = usage;
    format!("  <usage input_tokens=\"{input}\" output_tokens=\"{output}\" />\n")
}

fn element(out: &mut String, name: &str, text: &str) {
    let text = compact(text);
    let text = escape(&text);
    line(out, format_args!("  <{name}>{text}</{name}>"));
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(out, "{text}");
}

/// `text` with at most one blank line in a row.
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

/// Text for the inside of an element: `&`, `<`, `>` escaped, characters that XML 1.0 cannot hold replaced.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    escape_with(text, |_| None)
}

/// Text for an attribute in double quotes. Line ends and tabs would be read as spaces if they were not escaped.
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
