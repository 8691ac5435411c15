//! The snapshot of the conversation a run works on.

use serde::{Deserialize, Serialize};

use super::time::Millis;
use super::trigger::{Actor, Place};

/// One piece of the conversation: the opening text or a comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// Comment id; `None` for the opening text of the issue or pull request.
    pub id: Option<u64>,
    /// Who wrote it; `None` for a deleted account.
    pub author: Option<Actor>,
    /// Written by this App itself.
    pub own: bool,
    /// GitHub's `author_association` (a social label, never a permission).
    pub association: String,
    /// When it was written.
    pub created: Millis,
    /// When it was last changed.
    pub updated: Millis,
    /// Markdown source.
    pub body: String,
    /// Permalink.
    pub url: String,
    /// How people reacted to it.
    #[serde(default)]
    pub reactions: Reactions,
}

/// Reactions to a post, by what they say. GitHub does not tell whose they are without a request for each post.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reactions {
    /// 👍 ❤️ 🎉 🚀
    pub approving: u32,
    /// 👎 😕
    pub rejecting: u32,
}

impl Reactions {
    /// From counts by GitHub's names (`+1`, `heart`, …); others count for nothing.
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

/// A comment that somebody hid on GitHub (as spam, off-topic, outdated, …): it is not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hidden {
    /// Comment id.
    pub id: u64,
    /// Login of the author; `None` for a deleted account.
    pub author: Option<String>,
    /// GitHub's reason, e.g. `spam`; empty where GitHub names none.
    pub reason: String,
}

/// Title, opening text and all comments in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Where.
    pub place: Place,
    /// Issue or pull-request title.
    pub title: String,
    /// Permalink of the issue or pull request.
    pub url: String,
    /// `open` or `closed`.
    pub state: String,
    /// Opening text first, then the comments of every page, without the hidden and dropped ones.
    pub posts: Vec<Post>,
    /// Comments that are left out because somebody hid them.
    #[serde(default)]
    pub hidden: Vec<Hidden>,
    /// How many comments the issue has that the list of comments does not: GitHub's list may lag behind.
    #[serde(default)]
    pub unlisted: usize,
    /// Comments that are left out because the conversation is longer than [`MAX_THREAD_BYTES`].
    #[serde(default)]
    pub dropped: usize,
}

/// Most bytes of text that are kept of a conversation. Several runs hold one at a time, and the service as it is shipped
/// has 256 MiB. A hundred long plans fit.
pub const MAX_THREAD_BYTES: usize = 4 * 1024 * 1024;
