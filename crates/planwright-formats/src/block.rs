//! erk's metadata blocks: reading them wherever they come from, writing them, replacing one in
//! place.
//!
//! A block is a pair of HTML comments around a `<details>` element with YAML or text inside; the
//! data is visible, so that it survives readers that drop comments. What is read is tolerant (every
//! era's closing marker, `<code>` or not, open or not, CRLF, stacked warnings), what is written is
//! the form that the team's version of erk accepts ([`PlanForm`]). A block in code is text. A block
//! proves nothing about its author: the caller checks who wrote the text.

use std::fmt;
use std::ops::Range;

use serde_json::{Map, Value};

mod body;
mod edit;
pub mod event;
mod frame;
mod marker;
mod pair;
mod parse;
mod quiet;
mod render;
pub mod schema;

#[cfg(test)]
mod tests;

pub use edit::{EditError, add, replace, update};
pub use frame::{neutralise, restore};
pub use parse::parse;
pub use quiet::quiet;
pub use render::{PlanForm, plan_body, plan_comment, render_content, render_yaml};

/// The line erk writes above every block.
pub const WARNING: &str =
    "<!-- WARNING: Machine-generated. Manual edits may break erk tooling. -->";

/// Keys whose blocks hold text and are never read as YAML.
pub const TEXT_KEYS: &[&str] = &[
    "plan-body",
    "objective-body",
    "planning-session-prompts",
    "session-content",
    PLAN_CONTENT,
    ORIGINAL_PLAN,
];

/// Keys whose blocks hold a plan. Where a text has several, erk reads the first of these and no other.
pub const PLAN_KEYS: &[&str] = &["plan-body", ORIGINAL_PLAN, PLAN_CONTENT];

/// Key of a plan between the markers `<!-- erk:plan-content -->` and `<!-- /erk:plan-content -->`, erk's form before
/// there were blocks.
const PLAN_CONTENT: &str = "plan-content";

/// Key of a plan in the description of a pull request: `<details>` with the summary `original-plan`, no markers.
const ORIGINAL_PLAN: &str = "original-plan";

/// A block in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Its key, such as `plan-header`.
    pub key: String,
    /// Byte range from the first of its warning lines to the end of its closing marker.
    pub span: Range<usize>,
    /// Byte range of its content, without markers and frame: the lines in the YAML fence, or the text. Of what cannot
    /// be read: all between the markers, trimmed.
    pub inner: Range<usize>,
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
    /// What to do about it, for people.
    pub remedy: &'static str,
}

impl Diagnostic {
    /// It is a closing marker that no block belongs to: nothing of a block is lost.
    pub fn is_stray(&self) -> bool {
        self.message == parse::STRAY.0
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        if !self.key.is_empty() {
            write!(f, "block `{}`: ", self.key)?;
        }
        write!(f, "{}; {}", self.message, self.remedy)
    }
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

/// The plans in a text's blocks, as they were before they were framed: those of the first of [`PLAN_KEYS`] that has
/// one with text in it, in order.
pub fn plans(text: &str) -> Vec<String> {
    let mut blocks = parse(text).blocks;
    let has_text =
        |block: &Block| matches!(&block.content, Content::Text(text) if !text.trim().is_empty());
    let key = PLAN_KEYS.iter().find(|key| {
        blocks
            .iter()
            .any(|block| block.key == **key && has_text(block))
    });
    blocks.retain(|block| key.is_some_and(|key| block.key == *key) && has_text(block));
    blocks
        .into_iter()
        .filter_map(|block| match block.content {
            Content::Text(plan) => Some(plan),
            Content::Yaml(_) | Content::Raw(_) => None,
        })
        .collect()
}
