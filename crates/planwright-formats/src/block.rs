//! Parses, renders and replaces erk's metadata blocks.
//!
//! A block is a pair of HTML comments around a `<details>` element with YAML or text inside. The
//! data is visible, so it survives readers that drop comments. The parser is tolerant (every era's
//! closing marker, `<code>` or not, open or not, CRLF, stacked warnings); rendered is the form that
//! the team's version of erk accepts ([`PlanForm`]). A block in code is text. A block proves
//! nothing about its author: the caller checks who wrote the text.

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
pub(crate) use frame::{leading_slash, leads_line};
pub use frame::{neutralise, restore};
pub use parse::parse;
pub use quiet::quiet;
pub use render::{PlanForm, plan_body, plan_comment, render_content, render_yaml};

/// The line that erk writes above every block.
pub const WARNING: &str =
    "<!-- WARNING: Machine-generated. Manual edits may break erk tooling. -->";

/// Keys of blocks that contain text and are never parsed as YAML.
pub const TEXT_KEYS: &[&str] = &[
    "plan-body",
    "objective-body",
    "planning-session-prompts",
    "session-content",
    PLAN_CONTENT,
    ORIGINAL_PLAN,
];

/// Keys of blocks that contain a plan, in erk's order of preference.
pub const PLAN_KEYS: &[&str] = &["plan-body", ORIGINAL_PLAN, PLAN_CONTENT];

/// Key of a plan between the markers `<!-- erk:plan-content -->` and `<!-- /erk:plan-content -->`,
/// which erk used before it had blocks.
const PLAN_CONTENT: &str = "plan-content";

/// Key of a plan in the description of a pull request: `<details>` with the summary `original-plan`
/// and no markers.
const ORIGINAL_PLAN: &str = "original-plan";

/// A block in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The key, such as `plan-header`.
    pub key: String,
    /// Byte range from the first of its warning lines to the end of its closing marker.
    pub span: Range<usize>,
    /// Byte range of its content without markers and frame: the lines in the YAML fence, or the
    /// text. If the content cannot be parsed: everything between the markers, trimmed.
    pub inner: Range<usize>,
    /// The content.
    pub content: Content,
}

/// The content of a block.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Fields, in the order of the source.
    Yaml(Map<String, Value>),
    /// Text as it was before it was framed ([`restore`] has been applied).
    Text(String),
    /// What is between the markers, verbatim, where it is neither. A [`Diagnostic`] says why.
    Raw(String),
}

/// A problem with something that looks like a block, or part of one, and cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The key in the marker; empty if there is none.
    pub key: String,
    /// Line of the marker, 1-based.
    pub line: usize,
    /// The problem, for people.
    pub message: String,
    /// The remedy, for people.
    pub remedy: &'static str,
}

impl Diagnostic {
    /// Returns whether it is about a closing marker without a block, so that no content is lost.
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

/// The blocks of a text and the problems found in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// The blocks, in order and not overlapping.
    pub blocks: Vec<Block>,
    /// The problems, in the order of their lines.
    pub diagnostics: Vec<Diagnostic>,
}

/// Returns the first block with `key`.
pub fn find<'a>(parsed: &'a Parsed, key: &str) -> Option<&'a Block> {
    parsed.blocks.iter().find(|block| block.key == key)
}

/// Returns the plans in a text's blocks, as they were before they were framed: in order, all those
/// with the first of [`PLAN_KEYS`] that has a block with text.
pub fn plans(text: &str) -> Vec<String> {
    let plan = |block: Block| match block.content {
        Content::Text(plan) if !plan.trim().is_empty() => Some((block.key, plan)),
        _ => None,
    };
    let plans: Vec<_> = parse(text).blocks.into_iter().filter_map(plan).collect();
    let has_plan = |wanted: &&&str| plans.iter().any(|(key, _)| key == **wanted);
    let Some(wanted) = PLAN_KEYS.iter().find(has_plan).copied() else {
        return Vec::new();
    };
    let plans = plans.into_iter().filter(|(key, _)| key == wanted);
    plans.map(|(_, plan)| plan).collect()
}
