//! erk's metadata blocks: reading them wherever they come from, writing one form, replacing one in place.
//!
//! A block is a pair of HTML comments around a `<details>` element with YAML or text inside; the data is visible, so
//! that it survives readers that drop comments. What is read is tolerant (every era's closing marker, `<code>` or
//! not, open or not, CRLF, stacked warnings), what is written is one form that all of erk's readers accept. A block in
//! code is text. A block proves nothing about its author: the caller checks who wrote the text.

use std::ops::Range;

use serde_json::{Map, Value};

mod body;
pub mod event;
mod frame;
mod parse;
mod quiet;
mod render;
pub mod schema;

#[cfg(test)]
mod tests;

pub use frame::{neutralise, restore};
pub use parse::parse;
pub use quiet::quiet;
pub use render::{plan_body, render_content, render_yaml};

/// The line erk writes above every block.
pub const WARNING: &str =
    "<!-- WARNING: Machine-generated. Manual edits may break erk tooling. -->";

/// Keys whose blocks hold text and are never read as YAML.
pub const TEXT_KEYS: &[&str] = &[
    "plan-body",
    "objective-body",
    "planning-session-prompts",
    "session-content",
];

/// A block in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Its key, such as `plan-header`.
    pub key: String,
    /// Byte range from the first of its warning lines to the end of its closing marker.
    pub span: Range<usize>,
    /// What is in it.
    pub content: Content,
}

/// What a block holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Fields, in the order in which they are written.
    Yaml(Map<String, Value>),
    /// Text as it was before it was put into the frame ([`restore`] has been applied).
    Text(String),
    /// Markers are there but what they enclose is neither; verbatim. A [`Diagnostic`] says why.
    Raw(String),
}

/// Something that looks like a block, or part of one, and cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The key in the marker; empty when there is none.
    pub key: String,
    /// Line of the marker, 1-based.
    pub line: usize,
    /// What is wrong, for people.
    pub message: String,
}

/// The blocks of a text and what could not be read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// In order, never overlapping.
    pub blocks: Vec<Block>,
    /// In order of their lines.
    pub diagnostics: Vec<Diagnostic>,
}

/// The first block with `key`.
pub fn find<'a>(parsed: &'a Parsed, key: &str) -> Option<&'a Block> {
    parsed.blocks.iter().find(|block| block.key == key)
}

/// `text` with its first block of `key`, warning lines included, replaced by `rendered`; `None` when there is none.
/// No other byte changes.
pub fn replace(text: &str, key: &str, rendered: &str) -> Option<String> {
    let parsed = parse(text);
    let span = find(&parsed, key)?.span.clone();
    Some([&text[..span.start], rendered, &text[span.end..]].concat())
}
