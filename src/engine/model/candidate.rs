//! Texts in a conversation that may be the plan.

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
    pub reasons: Vec<(i32, String)>,
    /// Login of the author.
    pub author: Option<String>,
    /// Permalink of the post.
    pub url: Option<String>,
}

/// A post that contains a plan but was ignored because its author has no write permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unconfirmed {
    /// Comment id; `None` for the opening text.
    pub post: Option<u64>,
    /// Login of the author.
    pub author: String,
}
