//! Determines which posts of a conversation are read, and why others are ignored.

use std::fmt;

use super::MAX_SEARCHED_BYTES;
use crate::engine::model::conversation::{Conversation, Post};
use crate::engine::model::trigger::{Actor, Origin, Trigger, digest};
use crate::formats::command::Pointer;
use crate::formats::markdown::{self, BlockKind};

/// Why a post is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// The bot itself wrote the post.
    Own,
    /// The post was written after the command.
    Late,
    /// The post was edited after the command.
    Edited,
    /// The post is a status or error message of the bot, or a copy of one.
    Marker,
    /// The Markdown of the post is too complex to be rendered completely.
    TooComplex,
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "written by the bot itself",
            Self::Late => "written after the command",
            Self::Edited => "edited after the command",
            Self::Marker => "carries a status or error marker of the bot",
            Self::TooComplex => {
                "nests quotes or lists too deeply, or its tables omit too many cells"
            }
        })
    }
}

/// What a search leaves out, displayed with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftOut {
    /// A post, described for people, that is ignored.
    Post(String, Ignored),
    /// This number of comments that are hidden on GitHub.
    Hidden(usize),
}

impl LeftOut {
    pub(super) fn new(post: &Post, why: Ignored) -> Self {
        Self::Post(name(post), why)
    }

    /// Returns whether this is a post of the bot itself.
    pub fn is_own(&self) -> bool {
        matches!(self, Self::Post(_, Ignored::Own))
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Post(name, why) => write!(f, "{name}: {why}"),
            Self::Hidden(1) => f.write_str("one comment: hidden on GitHub"),
            Self::Hidden(many) => write!(f, "{many} comments: hidden on GitHub"),
        }
    }
}

/// Returns the posts to search with their positions, and the number of older posts left out because
/// the total exceeds [`MAX_SEARCHED_BYTES`]. Posts of outsiders are left out first, so that they
/// cannot crowd out the plan. No text is parsed here.
pub(super) fn searched<'t>(
    thread: &'t Conversation,
    trigger: &Trigger,
    left_out: &mut Vec<LeftOut>,
) -> (Vec<(usize, &'t Post)>, usize) {
    let own_comment = match &trigger.origin {
        Origin::Comment { id, .. } => Some(*id),
        _ => None,
    };
    let mut posts: Vec<(usize, &Post)> = Vec::new();
    for (index, post) in thread.posts.iter().enumerate() {
        let why = if post.own {
            Some(Ignored::Own)
        } else {
            late(post, trigger)
        };
        match why {
            _ if own_comment.is_some() && post.id == own_comment => {}
            Some(why) => left_out.push(LeftOut::new(post, why)),
            None => posts.push((index, post)),
        }
    }
    let before = posts.len();
    let mut bytes: usize = posts.iter().map(|(_, post)| post.body.len()).sum();
    for outsiders_only in [true, false] {
        posts.retain(|(_, post)| {
            let keep = bytes <= MAX_SEARCHED_BYTES
                || post.id.is_none()
                || (outsiders_only && !by_outsider(post, trigger));
            if !keep {
                bytes -= post.body.len();
            }
            keep
        });
    }
    let unsearched = before - posts.len();
    (posts, unsearched)
}

/// Whether the author is neither the requester nor an App, and seems not to belong to the
/// repository. The association is only a hint; the author's role decides whether a plan is
/// considered.
fn by_outsider(post: &Post, trigger: &Trigger) -> bool {
    let asks = |author: &Actor| author.bot || author.id == trigger.actor.id;
    !belongs(post) && !post.author.as_ref().is_some_and(asks)
}

pub(super) fn belongs(post: &Post) -> bool {
    matches!(&*post.association, "OWNER" | "MEMBER" | "COLLABORATOR")
}

/// Returns the number of older posts left out because the conversation is too long.
pub fn unsearched(thread: &Conversation, trigger: &Trigger) -> usize {
    thread.dropped + searched(thread, trigger, &mut Vec::new()).1
}

/// Returns the reason why a post is ignored, if any.
pub(in crate::engine) fn unfit(post: &Post, trigger: &Trigger) -> Option<Ignored> {
    if post.own {
        Some(Ignored::Own)
    } else if let Some(why) = late(post, trigger) {
        Some(why)
    } else if carries_marker(post) {
        Some(Ignored::Marker)
    } else if markdown::too_complex(&post.body) {
        Some(Ignored::TooComplex)
    } else {
        None
    }
}

/// Returns the reason why a post does not show what the sender of the command saw, if any.
pub(in crate::engine) fn late(post: &Post, trigger: &Trigger) -> Option<Ignored> {
    if post.created > trigger.at {
        Some(Ignored::Late)
    } else if edited_since(post, trigger) {
        Some(Ignored::Edited)
    } else {
        None
    }
}

/// Whether the post was edited after the command. GitHub reports no edit time for the opening text,
/// so its digest is compared instead.
fn edited_since(post: &Post, trigger: &Trigger) -> bool {
    match (post.id, &trigger.opening) {
        (Some(_), _) => post.updated > trigger.at,
        (None, Some(opening)) => digest(&post.body) != *opening,
        (None, None) => false,
    }
}

/// Whether the post is a status or error message of a bot, or a copy of one. A person's post counts
/// only if it begins with the marker: a marker further down is a quotation.
fn carries_marker(post: &Post) -> bool {
    let text = post.body.as_str();
    if !text.contains("planwright") {
        return false;
    }
    let bot = post.author.as_ref().is_some_and(|author| author.bot);
    let blocks = markdown::blocks(text);
    let looked_at = if bot {
        blocks.len()
    } else {
        1.min(blocks.len())
    };
    blocks[..looked_at].iter().any(|block| {
        let html = &text[block.span.clone()];
        block.kind == BlockKind::Html
            && [
                "<!-- planwright:status",
                "<!-- planwright:error",
                "<!-- planwright:run",
                "metadata-block:planwright-",
            ]
            .iter()
            .any(|marker| html.contains(marker))
    })
}

fn name(post: &Post) -> String {
    let author = post.author.as_ref().map_or_else(
        || "a deleted account".to_owned(),
        |author| author.login.clone(),
    );
    match post.id {
        Some(id) => format!("comment {id} by {author}"),
        None => format!("the opening text by {author}"),
    }
}

/// Returns the reason why the post that a command refers to cannot be read, as the end of a
/// sentence.
pub(super) fn unreadable(
    thread: &Conversation,
    trigger: &Trigger,
    pointer: Pointer,
) -> Option<&'static str> {
    let wanted = match pointer {
        Pointer::Opening => None,
        Pointer::Comment(id) => Some(id),
    };
    if wanted.is_some_and(|id| thread.hidden.iter().any(|hidden| hidden.id == id)) {
        return Some("is hidden on GitHub");
    }
    match thread.posts.iter().find(|post| post.id == wanted) {
        None if thread.dropped > 0 => {
            Some("is not among the posts that were read: the conversation is too long")
        }
        None => Some("is not in this conversation"),
        Some(post) => unfit(post, trigger).map(|why| match why {
            Ignored::Own => "was written by the bot itself",
            Ignored::Late => "was written after the command",
            Ignored::Edited => "was edited after the command",
            Ignored::Marker | Ignored::TooComplex => "cannot be read as a plan",
        }),
    }
}
