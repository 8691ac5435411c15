//! Texts of a conversation that may be the plan.

use serde::{Deserialize, Serialize};

/// Where a candidate stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// In the command's own comment.
    Inline,
    /// In a plan block (`plan-body` or older forms) of a post.
    Block {
        /// Comment id; `None` for the opening text.
        post: Option<u64>,
    },
    /// A part of a post.
    Section {
        /// Comment id; `None` for the opening text.
        post: Option<u64>,
        /// Heading it begins with.
        heading: Option<String>,
    },
    /// In a session log that the command named.
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

/// Text that may be the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Where it stands.
    pub source: Source,
    /// Verbatim.
    pub text: String,
    /// Its own title; looked for in the best candidates only.
    pub title: Option<String>,
    /// Sum of the points.
    pub score: i32,
    /// Points and what they are for.
    pub reasons: Vec<(i32, String)>,
    /// Login of the author.
    pub author: Option<String>,
    /// Permalink of the post.
    pub url: Option<String>,
}

/// A post with a plan that was not considered, because its author has no write permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unconfirmed {
    /// Comment id; `None` for the opening text.
    pub post: Option<u64>,
    /// Login of its author.
    pub author: String,
}
