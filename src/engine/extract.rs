//! Selects the plan in a conversation without an agent and without I/O.
//!
//! 1. [`scan`] reads the posts and finds the parts of each post that could be a plan
//!    (`extract/found.rs`, `region.rs`, `bounds.rs`). It rates the structure of a text independently of its
//!    language (`series.rs`, `score.rs`) and joins multi-part plans (`multipart.rs`).
//! 2. [`Scan::authors`] returns the accounts whose role has to be queried, and [`Trust`] defines
//!    whose plans are considered.
//! 3. [`Scan::search`] rates the context of each plan (`extract/context.rs`), evaluates what people
//!    said about it (`reference.rs`, `talk.rs`) and decides (`choice.rs`): rules (`decision.rs`) and
//!    a trained model (`likelihood.rs`) give one plan, none, or several if it is unclear which one
//!    is meant.
//!
//! A plan in the command's own comment is used without a search.
//!
//! In a long conversation only the opening text and the newest posts are searched, up to
//! [`MAX_SEARCHED_BYTES`].
//!
//! The search ignores posts of the bot, posts with its status or error markers, posts written after
//! the command, comments edited after the command, an opening text that differs from the payload,
//! and hidden comments.
//!
//! Candidates are taken from posts of the requester, of people with write permission and of Apps.
//! Plans of other authors are ignored and listed in [`Search::unconfirmed`], unless the command
//! names the author.

mod bounds;
mod choice;
mod context;
mod decision;
mod details;
mod element;
mod extent;
mod features;
mod found;
mod heading;
mod likelihood;
pub(crate) mod models;
mod multipart;
mod numbering;
mod plausibility;
mod posts;
mod reference;
mod region;
mod score;
mod sentences;
mod series;
mod talk;
#[cfg(test)]
pub(crate) mod tests;
mod trust;

use std::cmp::Reverse;
use std::collections::HashSet;

use thiserror::Error;

use crate::engine::model::candidate::{Candidate, Source, Unconfirmed};
use crate::engine::model::conversation::Conversation;
use crate::engine::model::trigger::{Actor, Origin, Trigger};
use crate::formats::command::{Pointer, read_options, without_commands};
use element::{Element, elements};
use found::{Found, Part, add, candidate, in_post, titled, whole_post};

pub use bounds::remark_below;
pub use posts::{Ignored, LeftOut, unsearched};
pub(in crate::engine) use posts::{late, unfit};
pub use score::MIN_SCORE;
pub use trust::Trust;

/// Maximum total size of the posts to search, in bytes; about two hundred long comments. The limit
/// bounds the running time, as each post is parsed several times.
pub const MAX_SEARCHED_BYTES: usize = 1024 * 1024;
/// Maximum number of accounts whose role one run queries. More authors of plans in one conversation
/// are most likely an attempt to cause requests.
pub const MAX_AUTHORS: usize = 20;

/// Login that GitHub shows for posts of deleted accounts.
pub const GHOST: &str = "ghost";

/// Returns the candidate for a plan from a session log.
pub fn from_log(text: &str) -> Candidate {
    titled(Source::Log, text.to_owned())
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// Candidates, best first.
    pub candidates: Vec<Candidate>,
    /// Decision between the candidates.
    pub verdict: Verdict,
    /// Ignored posts with the reason.
    pub left_out: Vec<LeftOut>,
    /// Posts with a plan whose authors are not trusted.
    pub unconfirmed: Vec<Unconfirmed>,
    /// Permalinks of later posts that may change the best candidate.
    pub amended: Vec<String>,
    /// Why the post that the command refers to cannot be read: "comment 7 is hidden on GitHub".
    pub unreadable: Option<String>,
}

/// The decision between the candidates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Verdict {
    /// The first candidate is the plan.
    Plan,
    /// It is unclear which of the first candidates is meant.
    Unclear {
        /// Number of candidates in question.
        among: usize,
        /// The reason, as a sentence for people.
        why: String,
    },
    /// No candidate is a plan.
    #[default]
    None,
}

/// All candidates in a conversation, regardless of their authors.
#[derive(Debug, Clone)]
pub struct Scan {
    found: Vec<Found>,
    /// Blocks of the posts that are read, with the position of each post.
    parsed: Vec<(usize, Vec<Element>)>,
    /// Plan in the command's own comment.
    inline: Option<Candidate>,
    left_out: Vec<LeftOut>,
    requester: u64,
    /// The post that the command refers to, and why it cannot be read, if so.
    pointer: Option<(Pointer, Option<&'static str>)>,
}

impl Scan {
    /// Returns the accounts whose role decides whether their plans are considered, at most
    /// [`MAX_AUTHORS`]. Accounts whose association suggests that they belong to the repository come
    /// first, so that outsiders cannot crowd them out.
    pub fn authors(&self, thread: &Conversation) -> Vec<Actor> {
        if self.inline.is_some() || self.pointer.is_some() {
            return Vec::new();
        }
        let member = |id: u64| {
            thread.posts.iter().any(|post| {
                posts::belongs(post) && post.author.as_ref().is_some_and(|author| author.id == id)
            })
        };
        let mut seen = HashSet::new();
        let mut authors: Vec<(bool, i32, &Actor)> = self
            .found
            .iter()
            .filter(|found| found.good())
            .filter_map(|found| Some((found.author.as_ref()?, found.candidate.score)))
            .filter(|(author, _)| !author.bot && author.id != self.requester)
            .filter(|(author, _)| seen.insert(author.id))
            .map(|(author, score)| (member(author.id), score, author))
            .collect();
        authors.sort_by_key(|(member, score, _)| Reverse((*member, *score)));
        authors.truncate(MAX_AUTHORS);
        authors
            .into_iter()
            .map(|(.., author)| author.clone())
            .collect()
    }

    /// Returns the candidates of trusted authors, best first, and the decision between them.
    pub fn search(mut self, thread: &Conversation, trigger: &Trigger, trust: &Trust) -> Search {
        let (found, unconfirmed) = self.trusted(trust);
        let rated = choice::rate(found, &self.parsed, thread, trigger, trust);
        let mut search = choice::decide(rated, thread, self.pointer.is_some());
        if let Some(inline) = self.inline {
            search.candidates.insert(0, inline);
            search.verdict = Verdict::Plan;
            search.amended.clear();
        }
        if let Some((pointer, why)) = self.pointer {
            if let Some(why) = why.or_else(|| search.candidates.is_empty().then_some("has no text"))
            {
                search.unreadable = Some(format!("{pointer} {why}"));
                search.verdict = Verdict::None;
            } else if search.verdict == Verdict::None {
                // A text that the command refers to is the plan, whatever its score.
                search.verdict = Verdict::Plan;
            }
        }
        search.left_out = self.left_out;
        search.unconfirmed = unconfirmed;
        search
    }

    /// Returns the candidates of trusted authors, and the posts of others that contain a plan.
    fn trusted(&mut self, trust: &Trust) -> (Vec<Found>, Vec<Unconfirmed>) {
        let mut unconfirmed: Vec<Unconfirmed> = Vec::new();
        let mut found = Vec::with_capacity(self.found.len());
        for one in std::mem::take(&mut self.found) {
            // A user who refers to a post has read it, so its author does not matter.
            if self.pointer.is_some() || trust.allows(one.author.as_ref(), self.requester) {
                found.push(one);
                continue;
            }
            let ignored = Unconfirmed {
                post: post_of(&one.candidate.source),
                author: trust::login_of(one.author.as_ref()).to_owned(),
            };
            if one.good()
                && matches!(trust, Trust::Writers(_))
                && unconfirmed.last() != Some(&ignored)
            {
                unconfirmed.push(ignored);
            }
        }
        (found, unconfirmed)
    }
}

/// Returns the id of the comment that contains a candidate; `None` for the opening text and for
/// candidates outside of posts.
fn post_of(source: &Source) -> Option<u64> {
    match source {
        Source::Block { post } | Source::Section { post, .. } | Source::Whole { post } => *post,
        Source::Parts { posts } => posts.first().copied().flatten(),
        Source::Inline | Source::Log => None,
    }
}

/// The error returned if no candidate is good enough.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{code}: {}", explain(best.as_deref()))]
pub struct NoPlan {
    /// `no_plan_found`, `guidance_without_plan` or `invalid_input`.
    pub code: &'static str,
    /// The likeliest candidate, which is not likely enough or has too few points.
    pub best: Option<Box<Candidate>>,
    /// Ignored posts with the reason.
    pub left_out: Vec<LeftOut>,
    /// Posts with a plan whose authors are not trusted.
    pub unconfirmed: Vec<Unconfirmed>,
    /// Why the post that the command refers to cannot be read.
    pub unreadable: Option<String>,
}

fn explain(best: Option<&Candidate>) -> String {
    match best {
        None => "nothing in the conversation looks like a plan".to_owned(),
        Some(best) => format!(
            "the best candidate in the conversation, with {} points, is not likely enough to be the plan",
            best.score
        ),
    }
}

/// Finds all candidates in `thread`.
pub fn scan(thread: &Conversation, trigger: &Trigger) -> Scan {
    let mut left_out = Vec::new();
    let mut found: Vec<Found> = Vec::new();
    let mut parsed = Vec::new();
    let own_comment = match &trigger.origin {
        Origin::Comment { id, text, url } => Some((*id, text, url)),
        Origin::Label { .. }
        | Origin::Push { .. }
        | Origin::Boxes { .. }
        | Origin::Local { .. } => None,
    };
    let inline = trigger
        .inline
        .as_ref()
        .filter(|text| !text.trim().is_empty());
    let options = read_options(trigger.command, &trigger.options).unwrap_or_default();
    let pointer = options.from;
    let is_named = |post: Option<u64>| match pointer {
        None => true,
        Some(Pointer::Opening) => post.is_none(),
        Some(Pointer::Comment(id)) => post == Some(id),
    };
    for (index, post) in posts::searched(thread, trigger, &mut left_out).0 {
        if let Some(why) = unfit(post, trigger) {
            left_out.push(LeftOut::new(post, why));
            continue;
        }
        let elements = elements(&post.body);
        if is_named(post.id) {
            let author = post.author.as_ref();
            let mut plans = in_post(&post.body, &elements, post.id);
            // Whoever refers to a post has a plan in mind that is long enough to be saved.
            if pointer.is_some() && !plans.is_empty() && plans.iter().all(Found::is_short_section) {
                plans = vec![whole_post(&post.body, post.id)];
            }
            found.extend(
                plans
                    .into_iter()
                    .map(|one| one.at(index, author, &post.url)),
            );
        }
        parsed.push((index, elements));
    }
    if !thread.hidden.is_empty() {
        left_out.push(LeftOut::Hidden(thread.hidden.len()));
    }
    let own_counts = inline.is_none() && pointer.is_none();
    if let Some((id, text, url)) = own_comment.filter(|_| own_counts) {
        let text = without_commands(text);
        let plans = in_post(&text, &elements(&text), Some(id)).into_iter();
        let (position, author) = (thread.posts.len(), Some(&trigger.actor));
        found.extend(plans.map(|one| one.at(position, author, url)));
    }
    let inline = inline.map(|text| {
        let mut candidate = titled(Source::Inline, text.clone());
        add(&mut candidate, 0, "is in the command's own comment");
        candidate.author = Some(trigger.actor.login.clone());
        candidate.url = own_comment.map(|(_, _, url)| url.clone());
        candidate
    });
    let mut found = multipart::joined(found);
    for it in &mut found {
        it.plausibility = plausibility::plausibility(it, thread);
    }
    Scan {
        found,
        parsed,
        inline,
        left_out,
        requester: trigger.actor.id,
        pointer: pointer.map(|pointer| (pointer, posts::unreadable(thread, trigger, pointer))),
    }
}

/// The result of [`choose`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The plan.
    Plan(Box<Candidate>),
    /// The candidates in question, best first, and the reason why it is unclear which one is meant.
    Unclear(Vec<Candidate>, String),
}

/// Returns the plan, or the candidates in question if it is unclear which one is meant.
///
/// # Errors
/// Fails if no candidate is a plan.
pub fn choose(search: Search, trigger: &Trigger) -> Result<Choice, NoPlan> {
    let mut candidates = search.candidates;
    match search.verdict {
        Verdict::Plan if !candidates.is_empty() => {
            let mut best = candidates.swap_remove(0);
            for left_out in search.left_out {
                add(&mut best, 0, format!("not searched: {left_out}"));
            }
            Ok(Choice::Plan(Box::new(best)))
        }
        Verdict::Unclear { among, why } => {
            candidates.truncate(among);
            Ok(Choice::Unclear(candidates, why))
        }
        Verdict::Plan | Verdict::None => Err(NoPlan {
            code: if search.unreadable.is_some() {
                "invalid_input"
            } else if trigger.guidance.is_none() {
                "no_plan_found"
            } else {
                "guidance_without_plan"
            },
            best: candidates.into_iter().next().map(Box::new),
            left_out: search.left_out,
            unconfirmed: search.unconfirmed,
            unreadable: search.unreadable,
        }),
    }
}
