//! The snapshot of the conversation that a run works on.

use serde::{Deserialize, Serialize};

use super::time::Millis;
use super::trigger::{Actor, IssueRef};

/// The opening text or a comment of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// Comment id; `None` for the opening text of the issue or pull request.
    pub id: Option<u64>,
    /// Author of the post; `None` for a deleted account.
    pub author: Option<Actor>,
    /// Whether the post was written by this App.
    pub own: bool,
    /// GitHub's `author_association`. It does not imply any permission.
    pub association: String,
    /// Time of creation.
    pub created: Millis,
    /// Time of the last change.
    pub updated: Millis,
    /// Markdown source.
    pub body: String,
    /// Permalink of the post.
    pub url: String,
    /// Reactions to the post.
    #[serde(default)]
    pub reactions: Reactions,
}

/// The number of approving and rejecting reactions to a post. Finding out who reacted would take
/// one request to GitHub per post.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reactions {
    /// Number of 👍, ❤️, 🎉 and 🚀 reactions.
    pub approving: u32,
    /// Number of 👎 and 😕 reactions.
    pub rejecting: u32,
}

impl Reactions {
    /// Sums up counts by GitHub's reaction names (`+1`, `heart`, …), ignoring all other names.
    pub fn from_counts<'a>(counts: impl IntoIterator<Item = (&'a str, u32)>) -> Self {
        let mut found = Self::default();
        for (name, count) in counts {
            match name {
                "+1" | "heart" | "hooray" | "rocket" => {
                    found.approving = found.approving.saturating_add(count);
                }
                "-1" | "confused" => found.rejecting = found.rejecting.saturating_add(count),
                _ => {}
            }
        }
        found
    }
}

/// A comment hidden on GitHub (as spam, off-topic, outdated, …). Hidden comments are not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hidden {
    /// Comment id.
    pub id: u64,
    /// Login of the author; `None` for a deleted account.
    pub author: Option<String>,
    /// GitHub's reason, e.g. `spam`; empty if GitHub gives none.
    pub reason: String,
}

/// The title, the opening text and all comments of an issue or pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// The issue or pull request.
    pub place: IssueRef,
    /// Title of the issue or pull request.
    pub title: String,
    /// Permalink of the issue or pull request.
    pub url: String,
    /// `open` or `closed`.
    pub state: String,
    /// Opening text followed by the comments in ascending order, without hidden and dropped
    /// comments.
    pub posts: Vec<Post>,
    /// Comments that are left out because they are hidden on GitHub.
    #[serde(default)]
    pub hidden: Vec<Hidden>,
    /// Number of comments missing from GitHub's comment list compared with the issue's comment
    /// count. The list may lag behind.
    #[serde(default)]
    pub unlisted: usize,
    /// Number of comments that are left out because the conversation exceeds [`MAX_THREAD_BYTES`].
    #[serde(default)]
    pub dropped: usize,
}

/// Maximum size of a conversation's text, in bytes; about a hundred long plans fit. Several runs
/// hold a conversation in memory at a time, and the service is deployed with 256 MiB by default.
pub const MAX_THREAD_BYTES: usize = 4 * 1024 * 1024;
