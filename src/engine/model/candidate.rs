//! Texts in a conversation that may be the plan.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The origin of a candidate's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The comment that contains the command.
    Inline,
    /// A plan block (`plan-body` or an older form) in a post.
    Block {
        /// Comment id; `None` for the opening text.
        post: Option<u64>,
    },
    /// A part of a post.
    Section {
        /// Comment id; `None` for the opening text.
        post: Option<u64>,
        /// Heading at the start of the part.
        heading: Option<String>,
    },
    /// A session log named in the command.
    Log,
    /// Parts of several posts, joined in order.
    Parts {
        /// Comment ids in order; `None` for the opening text.
        posts: Vec<Option<u64>>,
    },
    /// A whole post.
    Whole {
        /// Comment id; `None` for the opening text.
        post: Option<u64>,
    },
}

/// A text that may be the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Origin of the text.
    pub source: Source,
    /// The text, verbatim.
    pub text: String,
    /// Title found in the text; set only for the best candidates.
    pub title: Option<String>,
    /// Sum of all points.
    pub score: i32,
    /// Points and the reason for each.
    pub reasons: Vec<(i32, Reason)>,
    /// Login of the author.
    pub author: Option<String>,
    /// Permalink of the post.
    pub url: Option<String>,
}

/// A property of a text that adds or deducts points, displayed as the end of a sentence. Properties
/// that the decision between candidates depends on have variants of their own. Stored as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Reason {
    /// The text is a plan document.
    Document,
    /// The text is in a plan block.
    Block,
    /// The text has a title that calls it a plan.
    Title(String),
    /// The text has a title and this number of sections.
    TitledSections(usize),
    /// The text has this number of sections that plans have.
    PlanSections(usize),
    /// The text begins with a sentence that introduces a plan.
    Introduction,
    /// The text is one of several proposals in a post.
    Proposal,
    /// The title of the conversation calls it a plan.
    Conversation,
    /// The text is mostly code or quoted, or is a template.
    Foreign(String),
    /// Any other property.
    Other(String),
}

impl Reason {
    /// Returns whether the property identifies the text as a plan, so that it needs no support by
    /// people.
    pub fn identifies_plan(&self) -> bool {
        !matches!(self, Self::Foreign(_) | Self::Other(_))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document => f.write_str("is a plan document"),
            Self::Block => f.write_str("is in a plan block"),
            Self::Title(title) => write!(f, "is titled \"{title}\""),
            Self::TitledSections(count) => write!(f, "a title with {count} sections"),
            Self::PlanSections(1) => f.write_str("1 section of a plan"),
            Self::PlanSections(count) => write!(f, "{count} sections of a plan"),
            Self::Introduction => f.write_str("begins with the words of a plan"),
            Self::Proposal => f.write_str("is one of several proposals"),
            Self::Conversation => f.write_str("the conversation is called a plan"),
            Self::Foreign(text) | Self::Other(text) => f.write_str(text),
        }
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self::Other(text)
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        Self::Other(text.to_owned())
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        reason.to_string()
    }
}

/// A post that contains a plan but was ignored because its author has no write permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unconfirmed {
    /// Comment id; `None` for the opening text.
    pub post: Option<u64>,
    /// Login of the author.
    pub author: String,
}
