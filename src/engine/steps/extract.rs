//! Choosing the plan from a conversation without an agent. Pure.
//!
//! A plan that stands in the command's own comment wins. Otherwise every post gives candidates: plan blocks in it, the
//! whole post, sections of it. Each gets points for what its tree shows (file `extract/score.rs`); the best wins,
//! and of plans that are about equal the newest.
//!
//! Of a long conversation only the newest posts are searched, up to [`MAX_SEARCHED_BYTES`], and the opening text.
//!
//! Not looked at: posts of the bot itself and posts that carry its status or error markers; posts written after the
//! command; comments edited after it; an opening text that is not the one the payload had.
//!
//! Candidates are the posts of the requester, of people with write permission and of Apps. A plan
//! by anybody else is ignored, and named in [`Search::unconfirmed`], unless the command names its
//! author. [`scan`] finds the candidates, [`Scan::authors`] says whose role has to be known, and
//! [`Scan::search`] ranks those that count.

mod region;
mod score;
#[cfg(test)]
mod tests;
mod words;

use std::cmp::Reverse;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::engine::thread::{Post, Thread};
use crate::engine::trigger::{Actor, Origin, Trigger, digest};
use crate::formats::block;
use crate::formats::markdown::{self, Kind};
use crate::formats::plan::title::title_of;
use region::Region;

/// Fewer points than this and a text is no plan. A title with "plan" alone is worth as much, and so are three typical
/// sections with numbered steps; a pull request's summary with a test list, or a bug report, stays below.
pub const MIN_SCORE: i32 = 30;
/// Points for standing in a plan block: somebody already said that it is one.
const BLOCK: i32 = 40;
/// Points that a plan gains for each plan before it, so that of about equal plans the newest wins.
const NEWER: i32 = 8;
/// The most that being newer brings: a short sketch must not beat a full plan.
const NEWER_MAX: i32 = 24;

/// Most bytes of posts that are searched; the parser is run over each of them several times. Two hundred long comments.
pub const MAX_SEARCHED_BYTES: usize = 1024 * 1024;
/// How many candidates get a title: those that can be chosen or shown.
const MAX_TITLED: usize = 5;
/// Most accounts whose role one run asks GitHub for. Conversations with more authors of plans were
/// made to cost requests.
pub const MAX_AUTHORS: usize = 20;

/// Login that GitHub shows for posts of deleted accounts.
pub const GHOST: &str = "ghost";

/// Why the bot's own posts are not looked at.
pub const OWN: &str = "written by the bot itself";

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

/// The plan of a session log.
pub fn from_log(text: &str) -> Candidate {
    titled(Source::Log, text.to_owned())
}

/// Whose posts may hold the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Everybody's: the authors of a conversation in a file have no roles.
    Everybody,
    /// Those of the requester, of Apps, and of the accounts with these ids, who have write
    /// permission.
    Writers(HashSet<u64>),
    /// Only those of the account with this login, which the command names.
    Named(String),
}

impl Trust {
    fn allows(&self, author: Option<&Actor>, requester: u64) -> bool {
        match self {
            Self::Everybody => true,
            // An App writes in a repository only where it is installed, and only an admin can
            // install it.
            Self::Writers(ids) => {
                author.is_some_and(|it| it.bot || it.id == requester || ids.contains(&it.id))
            }
            Self::Named(login) => login_of(author).eq_ignore_ascii_case(login),
        }
    }
}

/// A post with a plan that was not considered, because its author has no write permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unconfirmed {
    /// Comment id; `None` for the opening text.
    pub post: Option<u64>,
    /// Login of its author.
    pub author: String,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// Best first.
    pub candidates: Vec<Candidate>,
    /// Posts that were not looked at and why, one sentence each.
    pub left_out: Vec<String>,
    /// Posts with a plan whose authors do not count.
    pub unconfirmed: Vec<Unconfirmed>,
}

/// Every candidate of a conversation, whoever wrote it.
#[derive(Debug, Clone)]
pub struct Scan {
    /// Position of the post and its author, and the candidate.
    found: Vec<(usize, Option<Actor>, Candidate)>,
    /// A plan in the command's own comment.
    inline: Option<Candidate>,
    left_out: Vec<String>,
    requester: u64,
}

impl Scan {
    /// Accounts whose role decides whether their plans count, at most [`MAX_AUTHORS`]. First those
    /// whose association suggests that they belong to the repository, so that strangers cannot keep
    /// them from being asked for.
    pub fn authors(&self, thread: &Thread) -> Vec<Actor> {
        if self.inline.is_some() {
            return Vec::new();
        }
        let member = |id: u64| {
            thread.posts.iter().any(|post| {
                belongs(post) && post.author.as_ref().is_some_and(|author| author.id == id)
            })
        };
        let mut seen = HashSet::new();
        let mut authors: Vec<(bool, i32, &Actor)> = self
            .found
            .iter()
            .filter(|(.., candidate)| candidate.score >= MIN_SCORE)
            .filter_map(|(_, author, candidate)| Some((author.as_ref()?, candidate.score)))
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

    /// The candidates whose authors count, best first.
    pub fn search(self, trust: &Trust) -> Search {
        let mut unconfirmed: Vec<Unconfirmed> = Vec::new();
        let mut found = Vec::with_capacity(self.found.len());
        for (position, author, candidate) in self.found {
            if trust.allows(author.as_ref(), self.requester) {
                found.push((position, candidate));
                continue;
            }
            let ignored = Unconfirmed {
                post: post_of(&candidate.source),
                author: login_of(author.as_ref()).to_owned(),
            };
            if candidate.score >= MIN_SCORE
                && matches!(trust, Trust::Writers(_))
                && unconfirmed.last() != Some(&ignored)
            {
                unconfirmed.push(ignored);
            }
        }
        let mut candidates = ranked(found);
        if let Some(inline) = self.inline {
            candidates.insert(0, inline);
        }
        Search {
            candidates,
            left_out: self.left_out,
            unconfirmed,
        }
    }
}

/// The comment that a candidate stands in; `None` for the opening text, and where it stands in no
/// post.
fn post_of(source: &Source) -> Option<u64> {
    match source {
        Source::Block { post } | Source::Section { post, .. } | Source::Whole { post } => *post,
        Source::Inline | Source::Log => None,
    }
}

fn login_of(author: Option<&Actor>) -> &str {
    author.map_or(GHOST, |author| &author.login)
}

/// Nothing good enough was found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{code}: {}", explain(best.as_deref()))]
pub struct NoPlan {
    /// `no_plan_found` or `guidance_without_plan`.
    pub code: &'static str,
    /// The best of what there was, below [`MIN_SCORE`].
    pub best: Option<Box<Candidate>>,
    /// Posts that were not looked at and why.
    pub left_out: Vec<String>,
    /// Posts with a plan whose authors do not count.
    pub unconfirmed: Vec<Unconfirmed>,
}

fn explain(best: Option<&Candidate>) -> String {
    match best {
        None => "nothing in the conversation looks like a plan".to_owned(),
        Some(best) => format!(
            "the best text in the conversation has {} points of the {MIN_SCORE} that a plan needs",
            best.score
        ),
    }
}

/// What the search needs from the formats of comments.
#[derive(Clone, Copy)]
pub struct Readers<'a> {
    /// A comment's text without command lines and their guidance.
    pub without_commands: &'a dyn Fn(&str) -> String,
    /// The plans in a post's plan blocks, verbatim.
    pub plans_in_blocks: &'a dyn Fn(&str) -> Vec<String>,
}

/// Every candidate in `thread`, whoever wrote it, best first.
pub fn candidates(thread: &Thread, trigger: &Trigger, readers: Readers<'_>) -> Search {
    scan(thread, trigger, readers).search(&Trust::Everybody)
}

/// Finds every candidate in `thread`.
pub fn scan(thread: &Thread, trigger: &Trigger, readers: Readers<'_>) -> Scan {
    let mut left_out = Vec::new();
    let mut found: Vec<(usize, Option<Actor>, Candidate)> = Vec::new();
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
    for (index, post) in searched(thread, trigger, &mut left_out).0 {
        match unfit(post, trigger) {
            Some(why) => left_out.push(format!("{}: {why}", name(post))),
            None => found.extend(
                in_post(&post.body, post.id, readers.plans_in_blocks)
                    .into_iter()
                    .map(|candidate| (index, post.author.clone(), by(candidate, post))),
            ),
        }
    }
    match thread.hidden.len() {
        0 => {}
        1 => left_out.push("one comment: hidden on GitHub".to_owned()),
        many => left_out.push(format!("{many} comments: hidden on GitHub")),
    }
    if let Some((id, text, url)) = own_comment.filter(|_| inline.is_none()) {
        let text = (readers.without_commands)(text);
        let author = Some(trigger.actor.login.clone());
        found.extend(
            in_post(&text, Some(id), readers.plans_in_blocks)
                .into_iter()
                .map(|candidate| Candidate {
                    author: author.clone(),
                    url: Some(url.clone()),
                    ..candidate
                })
                .map(|candidate| {
                    let requester = Some(trigger.actor.clone());
                    (thread.posts.len(), requester, candidate)
                }),
        );
    }
    let inline = inline.map(|text| {
        let mut candidate = titled(Source::Inline, text.clone());
        candidate
            .reasons
            .push((0, "stands in the command's own comment".to_owned()));
        candidate.author = Some(trigger.actor.login.clone());
        candidate.url = own_comment.map(|(_, _, url)| url.clone());
        candidate
    });
    Scan {
        found,
        inline,
        left_out,
        requester: trigger.actor.id,
    }
}

/// The posts to search, each with its position, and how many older ones are not searched because
/// all together are longer than [`MAX_SEARCHED_BYTES`]. Those of outsiders go first, so that a flood
/// of theirs does not push the plan out. No text is parsed here.
fn searched<'t>(
    thread: &'t Thread,
    trigger: &Trigger,
    left_out: &mut Vec<String>,
) -> (Vec<(usize, &'t Post)>, usize) {
    let own_comment = match &trigger.origin {
        Origin::Comment { id, .. } => Some(*id),
        _ => None,
    };
    let mut posts: Vec<(usize, &Post)> = Vec::new();
    for (index, post) in thread.posts.iter().enumerate() {
        let why = if post.own {
            Some(OWN)
        } else {
            late(post, trigger)
        };
        match why {
            _ if own_comment.is_some() && post.id == own_comment => {}
            Some(why) => left_out.push(format!("{}: {why}", name(post))),
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

/// The author neither asked for the plan nor seems to belong to the repository. The association is
/// only a hint; whether a plan counts is decided by the role.
fn by_outsider(post: &Post, trigger: &Trigger) -> bool {
    let asks = |author: &Actor| author.bot || author.id == trigger.actor.id;
    !belongs(post) && !post.author.as_ref().is_some_and(asks)
}

fn belongs(post: &Post) -> bool {
    matches!(&*post.association, "OWNER" | "MEMBER" | "COLLABORATOR")
}

/// How many older comments are not searched because the conversation is too long.
pub fn unsearched(thread: &Thread, trigger: &Trigger) -> usize {
    thread.dropped + searched(thread, trigger, &mut Vec::new()).1
}

/// Every candidate in one text, best first.
pub fn candidates_in_text(
    text: &str,
    plans_in_blocks: &dyn Fn(&str) -> Vec<String>,
) -> Vec<Candidate> {
    let found = in_post(text, None, plans_in_blocks);
    ranked(found.into_iter().map(|candidate| (0, candidate)).collect())
}

/// The plan: an inline one, else the best candidate with at least [`MIN_SCORE`] points.
///
/// # Errors
/// No candidate is good enough.
pub fn choose(search: Search, trigger: &Trigger) -> Result<Candidate, NoPlan> {
    let best = search.candidates.into_iter().next();
    match best {
        Some(mut best) if best.source == Source::Inline || best.score >= MIN_SCORE => {
            best.reasons.extend(
                search
                    .left_out
                    .into_iter()
                    .map(|why| (0, format!("not looked at: {why}"))),
            );
            Ok(best)
        }
        best => Err(NoPlan {
            code: if trigger.guidance.trim().is_empty() {
                "no_plan_found"
            } else {
                "guidance_without_plan"
            },
            best: best.map(Box::new),
            left_out: search.left_out,
            unconfirmed: search.unconfirmed,
        }),
    }
}

/// Why a post is not looked at.
pub(in crate::engine) fn unfit(post: &Post, trigger: &Trigger) -> Option<&'static str> {
    if post.own {
        Some(OWN)
    } else if let Some(why) = late(post, trigger) {
        Some(why)
    } else if carries_marker(post) {
        Some("carries a status or error marker of the bot")
    } else if markdown::too_complex(&post.body) {
        Some("nests quotes or lists too deeply, or leaves too many cells of a table out")
    } else {
        None
    }
}

/// Why a post, whoever wrote it, is not what the command was about.
pub(in crate::engine) fn late(post: &Post, trigger: &Trigger) -> Option<&'static str> {
    if post.created > trigger.at {
        Some("written after the command")
    } else if edited_since(post, trigger) {
        Some("edited after the command")
    } else {
        None
    }
}

/// A comment's own time tells; the opening text has none, so its digest does.
fn edited_since(post: &Post, trigger: &Trigger) -> bool {
    match (post.id, &trigger.opening) {
        (Some(_), _) => post.updated > trigger.at,
        (None, Some(opening)) => digest(&post.body) != *opening,
        (None, None) => false,
    }
}

/// True when the post is a status or error message of a bot, or a copy of one: it begins with our
/// marker. People who quote a marker further down write about it.
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
        block.kind == Kind::Html
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

fn in_post(
    text: &str,
    post: Option<u64>,
    plans_in_blocks: &dyn Fn(&str) -> Vec<String>,
) -> Vec<Candidate> {
    let mut plans = plans_in_blocks(text);
    plans.retain(|plan| !plan.trim().is_empty());
    if !plans.is_empty() && !quotes_blocks(text) {
        return plans
            .into_iter()
            .map(|plan| {
                let mut found = candidate(Source::Block { post }, plan);
                add(&mut found, BLOCK, "stands in a plan block");
                found
            })
            .collect();
    }
    region::regions(text)
        .into_iter()
        .map(
            |Region {
                 span,
                 heading,
                 whole,
             }| {
                let source = if whole {
                    Source::Whole { post }
                } else {
                    Source::Section { post, heading }
                };
                candidate(source, text[span].to_owned())
            },
        )
        .collect()
}

/// True when the plan blocks of `text` are examples in a plan that stands around them. A
/// description of a pull request around a plan block is no such plan: it has no title of its own
/// above the block and no sections below it.
fn quotes_blocks(text: &str) -> bool {
    let blocks = block::parse(text).blocks;
    let is_plan = |block: &&block::Block| block::PLAN_KEYS.contains(&block.key.as_str());
    let (Some(first), Some(last)) = (blocks.iter().find(is_plan), blocks.iter().rfind(is_plan))
    else {
        return false;
    };
    let mut around = String::with_capacity(text.len());
    let mut at = 0;
    for block in &blocks {
        around.push_str(&text[at..block.span.start]);
        at = block.span.end;
    }
    around.push_str(&text[at..]);
    let has_heading = |text: &str, wanted: fn(u8, &str) -> bool| {
        markdown::blocks(text).iter().any(|block| {
            matches!(&block.kind, Kind::Heading { level, text, .. } if wanted(*level, text))
        })
    };
    let (above, below) = (&text[..first.span.start], &text[last.span.end..]);
    let titled = |level, text: &str| level == 1 || words::role(level, text) == words::Role::Title;
    let surrounded = has_heading(above, titled)
        || has_heading(above, |level, _| level <= 2) && has_heading(below, |level, _| level <= 2);
    surrounded
        && region::regions(&around).into_iter().any(|region| {
            let score: i32 = score::score(&around[region.span])
                .iter()
                .map(|(points, _)| points)
                .sum();
            score >= MIN_SCORE
        })
}

fn candidate(source: Source, text: String) -> Candidate {
    let reasons = score::score(&text);
    Candidate {
        source,
        title: None,
        score: reasons.iter().map(|(points, _)| points).sum(),
        reasons,
        author: None,
        url: None,
        text,
    }
}

fn titled(source: Source, text: String) -> Candidate {
    Candidate {
        title: title_of(&text),
        ..candidate(source, text)
    }
}

fn by(candidate: Candidate, post: &Post) -> Candidate {
    Candidate {
        author: post.author.as_ref().map(|author| author.login.clone()),
        url: Some(post.url.clone()),
        ..candidate
    }
}

fn add(candidate: &mut Candidate, points: i32, why: &str) {
    candidate.score = candidate.score.saturating_add(points);
    candidate.reasons.push((points, why.to_owned()));
}

/// Best first; of equals the newer, then the longer. The number is the position of the post.
fn ranked(mut found: Vec<(usize, Candidate)>) -> Vec<Candidate> {
    let mut posts: Vec<usize> = found
        .iter()
        .filter(|(_, candidate)| candidate.score >= MIN_SCORE)
        .map(|(post, _)| *post)
        .collect();
    posts.dedup();
    for (post, candidate) in &mut found {
        let before = posts.iter().take_while(|other| *other < post).count();
        let points = i32::try_from(before)
            .unwrap_or(NEWER_MAX)
            .saturating_mul(NEWER)
            .min(NEWER_MAX);
        if points > 0 && candidate.score >= MIN_SCORE {
            add(candidate, points, "newer than other plans here");
        }
    }
    found.sort_by_key(|(post, candidate)| {
        (
            Reverse(candidate.score),
            Reverse(*post),
            Reverse(candidate.text.len()),
        )
    });
    let mut candidates: Vec<Candidate> =
        found.into_iter().map(|(_, candidate)| candidate).collect();
    for candidate in candidates.iter_mut().take(MAX_TITLED) {
        candidate.title = title_of(&candidate.text);
    }
    candidates
}
