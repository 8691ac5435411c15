//! Decides between the candidates: one plan, none, or several if it is unclear which one is meant.

use crate::engine::model::candidate::{Candidate, Source};
use std::collections::HashSet;
use std::ops::Range;

use super::element::{Element, ElementKind, elements};
use super::region::Region;
use super::score;
use super::score::POSSIBLE;
use super::series::split_sentences;
use super::talk::{
    Heard, Standing, Subject, by_name, from_quote, listen, named, overlap, replaces, telling_lines,
    telling_words,
};
use super::trust::Trust;
use super::{Found, MIN_SCORE, Part, Search, Verdict, add, posts};
use crate::engine::model::conversation::{Conversation, Post, Reactions};
use crate::engine::model::trigger::{Actor, Origin, Trigger};
use crate::formats::plan::title::descriptive_title;
use crate::formats::vocabulary::{Class, Phrases, fold};

/// Maximum number of candidates compared with each other. The running time grows with its square.
const MAX_WEIGHED: usize = 50;
/// Maximum number of plans offered in one question.
const MAX_ASKED: usize = 5;
/// Points per person other than the author who approves of a plan.
const APPROVED: i32 = 10;
/// Maximum number of points for approval.
const MAX_APPROVED: i32 = 30;
/// Points for a plan that somebody decided for.
const CHOSEN: i32 = 30;
/// Maximum number of posts in a short conversation, in which the position of a post says little.
const FEW_POSTS: usize = 4;
/// Points for the opening text, which mostly describes a problem or a wish. Reduced to a quarter in
/// short conversations.
const OPENING: i32 = -24;
/// Points for the first answer, which is often advice. Not applied in short conversations.
const FIRST_ANSWER: i32 = -12;
/// Points for an author without a role in a repository whose members take part in the conversation.
const OUTSIDER: i32 = -6;
/// Points for a text in a conversation whose title is a question.
const QUESTION: i32 = -14;
/// Points for a text written by a bot.
const PROGRAM: i32 = -8;
/// Points for a text that is not called a plan, was not written by the requester, and has no
/// support in the conversation.
const UNSUPPORTED: i32 = -14;
/// Maximum number of posts that one plan is assembled from.
const MAX_PARTS: usize = 20;
/// Maximum score used in comparisons; higher scores do not make a text more of a plan.
const FULL: i32 = 76;
/// Minimum lead, in points, over a plan that is then no longer in question.
const CLEARLY_LESS: i32 = 30;
/// Number of points by which a proposal among several may fall short of [`MIN_SCORE`].
const RIVAL: i32 = 10;
/// Minimum overlap of words between two versions of one plan, in percent.
const SAME_PLAN: usize = 55;

/// Statements of a post about the plans in it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct About {
    /// Whether the post states that it replaces an earlier plan.
    pub(super) replaces: bool,
    /// The part of a multi-part plan that the post claims to be.
    pub(super) part: Option<Part>,
    /// Whether the post claims to be about a single step of a plan or about another topic.
    pub(super) detail: bool,
}

impl About {
    /// Reads the statements of the post `text`, which contains the plans `regions`.
    pub(super) fn of(text: &str, regions: &[Region]) -> Self {
        let mut about = Self::default();
        let Some(first) = regions.first() else {
            return about;
        };
        for element in elements(text) {
            let inside = regions.iter().any(|region| {
                region.span.start < element.span.start && element.span.end <= region.span.end
            });
            let head = !inside || element.level().is_some_and(|level| level <= 2);
            if !matches!(
                element.kind,
                ElementKind::Paragraph | ElementKind::Heading(_)
            ) || !head
            {
                continue;
            }
            about.replaces |= replaces(&element);
            if element.span.start <= first.span.start {
                about.detail |= element.text.len() <= 200
                    && super::series::step_number(&element.text).is_none()
                    && element.phrases.all(Class::Step).any(|step| {
                        let rest = element.text[step.end..].trim_start();
                        rest.starts_with(|c: char| c.is_ascii_digit())
                    });
                about.part = about.part.or_else(|| part(&element));
            }
            // The post announces another topic.
            about.detail |= !inside && element.phrases.has(Class::Aside);
        }
        about
    }
}

/// Returns the part that a short line claims to be: `(1/2)`, `part 2`, `continued`.
fn part(element: &Element) -> Option<Part> {
    let line = element.text.lines().next().unwrap_or_default();
    if line.chars().count() > 120 {
        return None;
    }
    for (at, _) in line.match_indices('/') {
        let before: String = line[..at]
            .chars()
            .rev()
            .take_while(char::is_ascii_digit)
            .collect();
        let after: String = line[at + 1..]
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let ends = line[at + 1 + after.len()..]
            .chars()
            .next()
            .is_none_or(|c| !c.is_alphanumeric() && c != '/');
        let starts = line[..at - before.len()]
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric() && c != '/');
        if let (Ok(number), Ok(total)) = (before.parse::<usize>(), after.parse::<usize>())
            && before.len() == 1
            && number >= 1
            && number <= total
            && (2..=9).contains(&total)
            && starts
            && ends
        {
            return Some(Part::Number(number));
        }
    }
    let phrases = Phrases::of(line);
    for found in phrases.all(Class::Part) {
        let rest = line[found.end..].trim_start_matches([' ', '#', ':']);
        if let Some(digit) = rest.chars().next().and_then(|c| c.to_digit(10)) {
            return Some(Part::Number(digit as usize));
        }
        let words = element.words();
        if found.start <= words.start + 12 && found.end - found.start >= 4 {
            return Some(Part::Continued);
        }
    }
    None
}

/// Joins the parts of multi-part plans by the same author.
pub(super) fn joined(found: Vec<Found>) -> Vec<Found> {
    let mut done: Vec<Found> = Vec::new();
    for next in found {
        let author = next.author.as_ref().map(|author| author.id);
        let before = done
            .iter_mut()
            .rev()
            .find(|it| it.author.as_ref().map(|author| author.id) == author && author.is_some());
        let Some(before) = before.filter(|before| continues(before, &next)) else {
            done.push(next);
            continue;
        };
        let ids = |source: &Source| match source {
            Source::Parts { posts } => posts.clone(),
            other => vec![super::post_of(other)],
        };
        let mut sources = ids(&before.candidate.source);
        sources.extend(ids(&next.candidate.source));
        let text = format!(
            "{}\n\n{}",
            before.candidate.text.trim_end(),
            without_part_line(&next.candidate.text)
        );
        let url = before.candidate.url.clone();
        let mut candidate = super::candidate(
            Source::Parts {
                posts: sources.clone(),
            },
            text,
        );
        add(&mut candidate, 0, &format!("is in {} posts", sources.len()));
        before.candidate = Candidate {
            author: before.candidate.author.clone(),
            url,
            ..candidate
        };
        before.part = next.part.or(before.part);
        before.parts.extend(next.parts);
    }
    done
}

fn continues(before: &Found, next: &Found) -> bool {
    if before.position() >= next.position() || before.parts.len() >= MAX_PARTS {
        return false;
    }
    match (before.part, next.part) {
        (Some(Part::Number(one)), Some(Part::Number(other))) => other == one + 1,
        (_, Some(Part::Number(number))) => number == 2 || number == before.parts.len() + 1,
        (_, Some(Part::Continued)) => before.good(),
        (_, None) => goes_on(&before.candidate.text, &next.candidate.text),
    }
}

/// Whether the numbered steps of `next` continue those of `before`.
fn goes_on(before: &str, next: &str) -> bool {
    let last = elements(before)
        .iter()
        .rev()
        .find_map(|element| match &element.kind {
            ElementKind::List {
                ordered: true,
                start,
                items,
            } => Some(start + items.len()),
            _ => None,
        });
    let first = elements(next)
        .iter()
        .find_map(|element| match &element.kind {
            ElementKind::List {
                ordered: true,
                start,
                ..
            } => Some(*start),
            _ => None,
        });
    first.is_some_and(|first| first > 1 && last == Some(first))
}

/// Returns the text without a first line that only states which part it is.
fn without_part_line(text: &str) -> &str {
    let elements = elements(text);
    let Some(first) = elements.first().filter(|first| part(first).is_some()) else {
        return text;
    };
    let short = first.text.lines().count() == 1 && first.text.chars().count() <= 60;
    let next = elements.get(1);
    match next {
        Some(next) if short && first.level().is_none() => &text[next.span.start..],
        _ => text,
    }
}

/// Rates the candidates of trusted authors and decides between them.
pub(super) fn decide(
    mut found: Vec<Found>,
    thread: &Conversation,
    trigger: &Trigger,
    trust: &Trust,
) -> Search {
    in_context(&mut found, thread);
    let linked = linked(thread);
    found.retain(|it| !it.candidate.text.trim().is_empty());
    let (mut good, mut rest): (Vec<Found>, Vec<Found>) = found.into_iter().partition(|it| {
        let post = thread.posts.get(it.position()).and_then(|post| post.id);
        it.candidate.score >= POSSIBLE || post.is_some_and(|id| linked.contains(&id))
    });
    if good.len() > MAX_WEIGHED {
        good.sort_by_key(|it| std::cmp::Reverse((it.candidate.score, it.position())));
        rest.extend(good.split_off(MAX_WEIGHED));
    }
    good.sort_by_key(|it| (it.position(), it.parts.first().map(|(_, span)| span.start)));
    letters(&mut good);
    let subjects: Vec<Subject> = good.iter().map(|it| subject(it, thread)).collect();
    let own = own_comment(trigger);
    let heard = heard(&good, &subjects, thread, own.as_ref(), trigger, trust);
    let mut standing = heard.standing;
    revisions(&good, &subjects, &mut standing);
    let strengths: Vec<i32> = good
        .iter()
        .zip(&standing)
        .map(|(it, standing)| strength(it, standing, thread))
        .collect();
    let counts: Vec<Reactions> = good
        .iter()
        .map(|it| {
            thread
                .posts
                .get(it.position())
                .map_or_else(Reactions::default, |post| post.reactions)
        })
        .collect();
    let pointed = pointed(trigger, own.as_ref(), &subjects, thread.posts.len());
    let case = Case {
        good: &good,
        subjects: &subjects,
        standing: &standing,
        strengths: &strengths,
        reactions: &counts,
        undecided: heard.undecided,
        requester: trigger.actor.id,
    };
    let (order, verdict) = case.verdict(pointed);
    let unsupported = match (&verdict, order.first()) {
        (Verdict::None, Some(best)) if case.is_unsupported(*best) => Some(*best),
        _ => None,
    };
    let amended = match (&verdict, order.first()) {
        (Verdict::Plan, Some(best)) => later(&standing[*best], thread),
        _ => Vec::new(),
    };
    for (at, it) in good.iter_mut().enumerate() {
        it.candidate.title = it.title();
        explain(&mut it.candidate, &standing[at], strengths[at], thread);
        if unsupported == Some(at) {
            add(&mut it.candidate, UNSUPPORTED, "nobody supports it");
        }
    }
    let mut slots: Vec<Option<Candidate>> = good.into_iter().map(|it| Some(it.candidate)).collect();
    let mut candidates: Vec<Candidate> = order.iter().filter_map(|at| slots[*at].take()).collect();
    let mut others: Vec<Candidate> = slots
        .into_iter()
        .flatten()
        .chain(rest.into_iter().map(|it| it.candidate))
        .collect();
    others.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
    candidates.extend(others);
    Search {
        candidates,
        verdict,
        amended,
        ..Search::default()
    }
}

/// Returns the ids of the comments that are linked in the conversation.
fn linked(thread: &Conversation) -> HashSet<u64> {
    const BEFORE: &str = "issuecomment-";
    let ids = |body: &str| -> Vec<u64> {
        body.match_indices(BEFORE)
            .filter_map(|(at, _)| {
                let rest = &body[at + BEFORE.len()..];
                let end = rest
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(rest.len());
                rest[..end].parse().ok()
            })
            .collect()
    };
    thread
        .posts
        .iter()
        .flat_map(|post| ids(&post.body))
        .collect()
}

/// Labels plans in separate posts that begin with different letters: `A – priority numbers`.
fn letters(good: &mut [Found]) {
    let letter = |it: &Found| {
        let folded = fold(it.candidate.text.lines().next()?);
        let text = folded.trim_start_matches(|c: char| !c.is_alphanumeric());
        let first = text.chars().next().filter(|c| c.is_alphabetic())?;
        let behind = text[first.len_utf8()..].trim_start();
        behind
            .starts_with(['–', '—', '-', '.', ')', ':', '：'])
            .then(|| first.to_string())
    };
    let found: Vec<Option<String>> = good.iter().map(letter).collect();
    let different: HashSet<&String> = found.iter().flatten().collect();
    if different.len() < 2 {
        return;
    }
    for (it, letter) in good.iter_mut().zip(found) {
        it.label = it.label.take().or(letter);
    }
}

/// Adds points for the position and the author of a text, and for the title of the conversation.
fn in_context(found: &mut [Found], thread: &Conversation) {
    let title = fold(&thread.title);
    let phrases = Phrases::of(&title);
    let says_plan = descriptive_title(&thread.title)
        .is_none_or(|said| fold(&said).len() < title.trim().len())
        && phrases.has(Class::Plan);
    let other = phrases.has(Class::Other);
    let asks = title.trim_end().ends_with(['?', '？']) && phrases.begins(Class::HowTo, 0).is_some();
    let question = title.trim_end().ends_with(['?', '？']);
    let about: HashSet<String> = telling_words(&title);
    let robots: HashSet<u64> = thread
        .posts
        .iter()
        .filter(|post| score::is_template(&post.body))
        .filter_map(|post| {
            post.author
                .as_ref()
                .filter(|author| author.bot)
                .map(|author| author.id)
        })
        .collect();
    let members = thread.posts.iter().any(posts::belongs);
    let talk = |post: &&Post| !post.own && !post.body.trim_start().starts_with('/');
    let few = thread.posts.iter().filter(talk).count() <= FEW_POSTS;
    for it in found.iter_mut() {
        let position = it.parts.first().map_or(0, |(position, _)| *position);
        let post = thread.posts.get(position);
        let opening = post.is_some_and(|post| post.id.is_none());
        let bot = it.author.as_ref().is_some_and(|author| author.bot);
        if it.candidate.score > 0 {
            let titled = it
                .candidate
                .reasons
                .iter()
                .any(|(_, why)| why.starts_with("is titled"));
            if opening && says_plan {
                add(&mut it.candidate, 8, "the conversation is called a plan");
            } else if opening && other {
                add(
                    &mut it.candidate,
                    -20,
                    "the conversation is called something else",
                );
            } else if opening && !titled {
                let points = if few { OPENING / 4 } else { OPENING };
                add(&mut it.candidate, points, "is the opening text");
            } else if position == 1 && !few {
                add(&mut it.candidate, FIRST_ANSWER, "is the first answer");
            }
            if members && post.is_some_and(|post| !bot && post.association == "NONE") {
                add(
                    &mut it.candidate,
                    OUTSIDER,
                    "its author has no role in the repository",
                );
            }
            if asks {
                add(&mut it.candidate, -40, "answers how something is done");
            } else if question {
                add(
                    &mut it.candidate,
                    QUESTION,
                    "the conversation is a question",
                );
            }
            if bot && opening && !titled {
                add(&mut it.candidate, -15, "is a program's opening text");
            }
            if bot {
                add(&mut it.candidate, PROGRAM, "was written by a program");
            }
            let comments = post.is_some_and(|post| post.body.contains("<!--"));
            if bot && comments {
                add(&mut it.candidate, -20, "has a program's marks");
            }
            if it
                .author
                .as_ref()
                .is_some_and(|author| robots.contains(&author.id))
            {
                add(&mut it.candidate, -40, "its author fills in templates");
            }
        }
        let shared = overlap(&about, &telling_words(&fold(&it.candidate.text)));
        if about.len() >= 2 && shared >= 30 && it.candidate.score > 0 {
            add(&mut it.candidate, 4, "is about what the title names");
        }
    }
}

fn subject(found: &Found, thread: &Conversation) -> Subject {
    let text = fold(&found.candidate.text);
    let title = found.title().map(|title| fold(&title)).unwrap_or_default();
    let common = telling_words(&fold(&thread.title));
    let plain: HashSet<String> = Phrases::of(&title)
        .iter()
        .map(|phrase| title[phrase.start..phrase.end].to_owned())
        .collect();
    let mut titled = telling_words(&title);
    titled.retain(|word| !common.contains(word) && !plain.contains(word));
    let position = found.position();
    Subject {
        post: position,
        first_post: found
            .parts
            .first()
            .map_or(position, |(position, _)| *position),
        id: thread.posts.get(position).and_then(|post| post.id),
        author: found.author.as_ref().map(|author| author.id),
        login: fold(found.candidate.author.as_deref().unwrap_or_default()),
        label: found.label.clone(),
        title: titled,
        words: telling_words(&text),
        lines: telling_lines(&text),
    }
}

/// Returns the command's own comment as contained in the payload.
fn own_comment(trigger: &Trigger) -> Option<Post> {
    let Origin::Comment { text, url, .. } = &trigger.origin else {
        return None;
    };
    Some(Post {
        id: None,
        author: Some(trigger.actor.clone()),
        own: false,
        association: "OWNER".to_owned(),
        created: trigger.at,
        updated: trigger.at,
        body: crate::formats::command::without_commands(text),
        url: url.clone(),
        reactions: Reactions::default(),
    })
}

/// Evaluates the posts of all people whose opinion counts.
fn heard(
    good: &[Found],
    subjects: &[Subject],
    thread: &Conversation,
    own: Option<&Post>,
    trigger: &Trigger,
    trust: &Trust,
) -> Heard {
    let end = thread.posts.len();
    let parts_of = |position: usize| -> Vec<Range<usize>> {
        good.iter()
            .flat_map(|it| &it.parts)
            .filter(|(at, _)| *at == position)
            .map(|(_, span)| span.clone())
            .collect()
    };
    let counts = |post: &Post| match trust {
        Trust::Everybody => true,
        _ => {
            posts::belongs(post)
                || post
                    .author
                    .as_ref()
                    .is_some_and(|author| author.id == trigger.actor.id)
                || trust.allows(post.author.as_ref(), trigger.actor.id)
        }
    };
    let mut left_out = Vec::new();
    let mut all: Vec<(usize, &Post, Vec<Range<usize>>)> =
        posts::searched(thread, trigger, &mut left_out)
            .0
            .into_iter()
            .filter(|(_, post)| counts(post) && posts::unfit(post, trigger).is_none())
            .map(|(position, post)| (position, post, parts_of(position)))
            .collect();
    if let Some(own) = own {
        all.push((end, own, parts_of(end)));
    }
    let all: Vec<(usize, &Post, &[Range<usize>])> = all
        .iter()
        .map(|(position, post, parts)| (*position, *post, parts.as_slice()))
        .collect();
    listen(&all, subjects, end)
}

/// Marks plans as replaced if there is a later version.
fn revisions(good: &[Found], subjects: &[Subject], standing: &mut [Standing]) {
    for later in 1..subjects.len() {
        for earlier in (0..later).rev() {
            let (one, other) = (&subjects[earlier], &subjects[later]);
            if one.post >= other.first_post || standing[earlier].replaced.is_some() {
                continue;
            }
            let same_author = one.author == other.author && one.author.is_some();
            let alike = overlap(&one.words, &other.words);
            let size = (one.words.len().min(other.words.len()) * 100)
                / one.words.len().max(other.words.len()).max(1);
            let says = good[later].replaces && same_author;
            let again = alike >= SAME_PLAN && size >= 40;
            let copied = alike >= 75 && size >= 60;
            let gone = standing[later].withdrawn.is_some() || standing[later].rejected.is_some();
            let labelled = one.label.is_some() && other.label.is_some() && one.label != other.label;
            let revised = good[later].replaces && alike >= 30;
            if !gone && !labelled && (says || same_author && again || copied || revised) {
                standing[earlier].replaced = Some(later);
            }
        }
    }
}

fn strength(found: &Found, standing: &Standing, thread: &Conversation) -> i32 {
    let approvals = i32::try_from(standing.approved.len()).unwrap_or(i32::MAX);
    let approved = approvals.saturating_mul(APPROVED).min(MAX_APPROVED);
    let chosen = if standing.chosen.is_empty() {
        0
    } else {
        CHOSEN
    };
    found.candidate.score.min(FULL) + approved + chosen + reactions(found, thread)
}

/// Whether the text is called a plan, was written by the requester, or is supported by somebody.
fn supported(found: &Found, strength: i32, requester: u64) -> bool {
    let own = |author: &Actor| author.id == requester;
    let named = |why: &str| SUPPORT.iter().any(|support| why.contains(support));
    strength > found.candidate.score.min(FULL)
        || found.author.as_ref().is_some_and(own)
        || found.candidate.reasons.iter().any(|(_, why)| named(why))
}

/// Beginnings or parts of reasons that make support unnecessary.
const SUPPORT: [&str; 8] = [
    "of a plan",
    "is titled",
    "a title with",
    "is a plan document",
    "is in a plan block",
    "begins with the words of a plan",
    "the conversation is called a plan",
    "is one of several proposals",
];

/// Returns the points for reactions to the post.
fn reactions(found: &Found, thread: &Conversation) -> i32 {
    let Some(post) = thread.posts.get(found.position()) else {
        return 0;
    };
    let count = |count: u32| i32::try_from(count.min(5)).unwrap_or(5);
    count(post.reactions.approving) * 4 - count(post.reactions.rejecting) * 6
}

/// Returns the candidate that the command refers to, in its guidance or by a quote above it.
fn pointed(
    trigger: &Trigger,
    own: Option<&Post>,
    subjects: &[Subject],
    end: usize,
) -> Option<usize> {
    let alone = |mut found: Vec<(usize, usize)>| {
        found.dedup_by_key(|(_, subject)| *subject);
        match found.as_slice() {
            [(_, one)] => Some(*one),
            _ => None,
        }
    };
    if subjects.len() < 2 {
        return None;
    }
    if let Some(guidance) = &trigger.guidance {
        let guidance = fold(guidance);
        let first = split_sentences(&guidance)
            .into_iter()
            .next()
            .unwrap_or_default();
        let phrases = Phrases::of(first);
        let by_label = alone(named(first, &phrases, subjects, end, true));
        let by_words = || {
            let words = telling_words(first);
            let has = |subject: &Subject| words.iter().any(|word| subject.words.contains(word));
            let only = |at: usize| {
                words.iter().any(|word| {
                    subjects[at].words.contains(word)
                        && subjects
                            .iter()
                            .enumerate()
                            .all(|(other, it)| other == at || !it.words.contains(word))
                })
            };
            let hits: Vec<usize> = (0..subjects.len()).filter(|at| only(*at)).collect();
            match hits.as_slice() {
                [one] if subjects.iter().any(has) && phrases.has(Class::Proposal) => Some(*one),
                _ => None,
            }
        };
        let by_name = alone(by_name(first, subjects, end));
        if let Some(one) = by_label.or(by_name).or_else(by_words) {
            return Some(one);
        }
    }
    let own = own?;
    elements(&own.body)
        .iter()
        .rev()
        .filter(|element| element.kind == ElementKind::Quote)
        .find_map(|element| {
            let bare: Vec<&str> = own.body[element.span.clone()]
                .lines()
                .map(|line| line.trim_start_matches(['>', ' ']))
                .collect();
            from_quote(&fold(&bare.join("\n")), subjects, end)
        })
        .map(|(subject, _)| subject)
}

/// Returns the permalinks of posts that may change the plan.
fn later(standing: &Standing, thread: &Conversation) -> Vec<String> {
    standing
        .amended
        .iter()
        .filter_map(|position| thread.posts.get(*position))
        .map(|post| post.url.clone())
        .collect()
}

/// Adds people's statements about a candidate to its reasons.
fn explain(candidate: &mut Candidate, standing: &Standing, strength: i32, thread: &Conversation) {
    let who = |position: usize| {
        thread
            .posts
            .get(position)
            .map_or("the command", |post| {
                post.author
                    .as_ref()
                    .map_or(super::GHOST, |author| author.login.as_str())
            })
            .to_owned()
    };
    let said = strength - candidate.score.min(FULL);
    let names = |many: &[(usize, Option<u64>)]| {
        let names: Vec<String> = many.iter().map(|(position, _)| who(*position)).collect();
        names.join(", ")
    };
    let mut whys = Vec::new();
    if !standing.approved.is_empty() {
        whys.push(format!("approved by {}", names(&standing.approved)));
    }
    if !standing.chosen.is_empty() {
        whys.push(format!("chosen by {}", names(&standing.chosen)));
    }
    if whys.is_empty() && said != 0 {
        whys.push("reactions".to_owned());
    }
    if !whys.is_empty() {
        add(candidate, said, &whys.join("; "));
    }
    if let Some(position) = standing.withdrawn {
        add(candidate, 0, &format!("withdrawn by {}", who(position)));
    } else if let Some(position) = standing.rejected {
        add(candidate, 0, &format!("rejected by {}", who(position)));
    } else if standing.replaced.is_some() {
        add(candidate, 0, "replaced by a later version");
    } else if let [_, .., position] = standing.finished[..] {
        add(
            candidate,
            0,
            &format!("carried out, says {}", who(position)),
        );
    }
    if !standing.amended.is_empty() {
        let names: Vec<String> = standing.amended.iter().map(|at| who(*at)).collect();
        add(
            candidate,
            0,
            &format!("later comments may change it: {}", names.join(", ")),
        );
    }
}

/// The data for a decision.
struct Case<'a> {
    good: &'a [Found],
    subjects: &'a [Subject],
    standing: &'a [Standing],
    strengths: &'a [i32],
    reactions: &'a [Reactions],
    undecided: Option<usize>,
    requester: u64,
}

impl Case<'_> {
    /// Returns the best candidates in order, and the decision.
    fn verdict(&self, pointed: Option<usize>) -> (Vec<usize>, Verdict) {
        if let Some(one) = pointed {
            return (vec![one], Verdict::Plan);
        }
        let live: Vec<usize> = (0..self.good.len())
            .filter(|at| !self.standing[*at].gone())
            .collect();
        if let Some(decided) = self.chosen(&live) {
            return decided;
        }
        let mut ranked = live;
        ranked.sort_by_key(|at| std::cmp::Reverse((self.strengths[*at], self.subjects[*at].post)));
        if ranked
            .first()
            .is_none_or(|best| self.strengths[*best] < MIN_SCORE)
            && !self.rivals(&ranked)
        {
            return (ranked, Verdict::None);
        }
        let (order, verdict) = match ranked.as_slice() {
            [] => (Vec::new(), Verdict::None),
            [one] => (vec![*one], Verdict::Plan),
            _ => self.compare(&ranked),
        };
        if verdict != Verdict::Plan || !order.first().is_some_and(|best| self.is_unsupported(*best))
        {
            return (order, verdict);
        }
        let among = ranked
            .iter()
            .filter(|at| self.strengths[**at] >= MIN_SCORE - RIVAL)
            .count();
        if among < 2 {
            return (order, Verdict::None);
        }
        let why = "nobody supports any of them".to_owned();
        let among = among.min(MAX_ASKED);
        (ranked, Verdict::Unclear { among, why })
    }

    /// Whether the two best candidates are by different authors and at most slightly below
    /// [`MIN_SCORE`].
    fn rivals(&self, ranked: &[usize]) -> bool {
        let [one, other, ..] = ranked else {
            return false;
        };
        self.subjects[*one].author != self.subjects[*other].author
            && self.strengths[*other] >= MIN_SCORE - RIVAL
    }

    /// Whether nobody supports the text and its form alone does not suffice.
    fn is_unsupported(&self, at: usize) -> bool {
        self.strengths[at] + UNSUPPORTED < MIN_SCORE
            && !supported(&self.good[at], self.strengths[at], self.requester)
    }

    /// Returns the result if somebody has decided for a plan.
    fn chosen(&self, live: &[usize]) -> Option<(Vec<usize>, Verdict)> {
        let chosen: Vec<usize> = live
            .iter()
            .copied()
            .filter(|at| {
                // Authors who prefer their own plan do not decide, unless they gave the command.
                let author = self.subjects[*at].author;
                let counts = |by: Option<u64>| by != author || by == Some(self.requester);
                self.standing[*at].chosen.iter().any(|(_, by)| counts(*by))
            })
            .collect();
        let by_requester: Vec<usize> = chosen
            .iter()
            .copied()
            .filter(|at| {
                self.standing[*at]
                    .chosen
                    .iter()
                    .any(|(_, by)| *by == Some(self.requester))
            })
            .collect();
        match (by_requester.as_slice(), chosen.as_slice()) {
            ([one], _) | ([], [one]) => Some((vec![*one], Verdict::Plan)),
            ([], []) => None,
            _ => {
                let mut many = if by_requester.len() > 1 {
                    by_requester
                } else {
                    chosen
                };
                many.sort_by_key(|at| std::cmp::Reverse(self.strengths[*at]));
                let votes = |at: usize| self.standing[at].chosen.len();
                if votes(many[0]) >= votes(many[1]) + 2 {
                    return Some((vec![many[0]], Verdict::Plan));
                }
                let among = many.len();
                let why = "people decided for different ones".to_owned();
                Some((many, Verdict::Unclear { among, why }))
            }
        }
    }

    /// Decides between several plans that nobody has decided between.
    fn compare(&self, ranked: &[usize]) -> (Vec<usize>, Verdict) {
        let best = ranked[0];
        let words = |at: usize| self.subjects[at].words.len();
        let is_opening = |at: usize| {
            self.subjects[at].post == 0
                && !self.good[at].candidate.reasons.iter().any(|(_, why)| {
                    why.starts_with("is titled")
                        || why.starts_with("the conversation is called a plan")
                })
        };
        let comments = ranked
            .iter()
            .any(|at| !is_opening(*at) && self.strengths[*at] >= MIN_SCORE);
        let close: Vec<usize> = ranked
            .iter()
            .copied()
            .filter(|at| {
                let score = |at: usize| self.good[at].candidate.score;
                let points = |at: usize| score(at).min(FULL);
                // Another candidate is much longer with a similar score, or has a much higher
                // score.
                let sketch = ranked.iter().any(|other| {
                    words(*at) * 5 < words(*other) * 2 && score(*other) >= score(*at) - 5
                        || points(*at) + CLEARLY_LESS <= points(*other)
                });
                let detail = self.good[*at].detail
                    && ranked
                        .iter()
                        .any(|other| self.subjects[*other].post < self.subjects[*at].post);
                // Comments are answers to the opening text and take precedence over it.
                let answered = comments
                    && is_opening(*at)
                    && self.standing[*at].approved.is_empty()
                    && points(*at) - OPENING / 2 + 5 < points(best);
                !(sketch || detail || answered)
            })
            .collect();
        let Some(best) = close.first().copied() else {
            return (vec![best], Verdict::Plan);
        };
        // Count only votes after the last of these plans was posted.
        let last = close
            .iter()
            .map(|at| self.subjects[*at].post)
            .max()
            .unwrap_or(0);
        let votes = |at: usize| {
            let standing = &self.standing[at];
            // General approval decides only if the requester gives it.
            let meant = |(_, by): &&(usize, Option<u64>)| {
                *by == Some(self.requester) || standing.named.iter().any(|(_, other)| other == by)
            };
            let late = standing
                .approved
                .iter()
                .filter(meant)
                .chain(&standing.named);
            let mut people: Vec<Option<u64>> = late
                .filter(|(position, _)| *position > last)
                .map(|(_, by)| *by)
                .collect();
            people.sort_unstable();
            people.dedup();
            people
                .iter()
                .map(|by| if *by == Some(self.requester) { 2 } else { 1 })
                .sum::<i64>()
        };
        // Several authors each insist on their own plan.
        let insists = |at: &&usize| {
            let standing = &self.standing[**at];
            let author = self.subjects[**at].author;
            standing
                .chosen
                .iter()
                .any(|(position, by)| *position > last && *by == author)
        };
        let contested = close.iter().filter(insists).count() > 1;
        let open = contested || self.undecided.is_some_and(|at| at > last);
        let rivals = |of: &dyn Fn(usize) -> i64, lead: i64| {
            let mut sorted = close.clone();
            sorted.sort_by_key(|at| std::cmp::Reverse(of(*at)));
            match sorted.as_slice() {
                [first, second, ..] if of(*first) >= of(*second) + lead => Some(*first),
                _ => None,
            }
        };
        let against = |one: usize| close.iter().any(|at| *at != one && votes(*at) > 0);
        let by_votes = rivals(&votes, if open { 2 } else { 1 })
            .filter(|one| !against(*one) || rivals(&votes, 2).is_some());
        let by_reactions = rivals(&|at| self.reactions(at), 3).filter(|one| {
            let others = close.iter().filter(|at| *at != one);
            !open
                && others
                    .clone()
                    .all(|at| self.reactions(*at) * 2 <= self.reactions(*one))
        });
        let by_approval = || {
            if open {
                None
            } else {
                self.approved_alone(&close)
            }
        };
        if let Some(one) = by_votes.or(by_reactions).or_else(by_approval) {
            return (vec![one], Verdict::Plan);
        }
        if let [one] = close.as_slice() {
            return (vec![*one], Verdict::Plan);
        }
        let same_author = close.iter().all(|at| {
            self.subjects[*at].author == self.subjects[best].author
                && self.subjects[*at].author.is_some()
        });
        let one_post = close
            .windows(2)
            .any(|pair| self.subjects[pair[0]].post == self.subjects[pair[1]].post);
        if same_author && !one_post {
            let newest = close
                .iter()
                .copied()
                .max_by_key(|at| self.subjects[*at].post);
            let largest = close.iter().copied().max_by_key(|at| words(*at));
            if let (Some(newest), Some(largest)) = (newest, largest)
                && words(newest) * 2 < words(largest)
            {
                return (vec![largest], Verdict::Plan);
            }
        }
        let among = close.len().min(MAX_ASKED);
        let why = "they are about equally likely, and nobody has decided".to_owned();
        (close, Verdict::Unclear { among, why })
    }

    /// Returns the only plan that was approved, if all others were posted later and have no
    /// support.
    fn approved_alone(&self, close: &[usize]) -> Option<usize> {
        let mut agreed = close
            .iter()
            .filter(|at| !self.standing[**at].approved.is_empty());
        let (one, None) = (*agreed.next()?, agreed.next()) else {
            return None;
        };
        let ignored = |at: usize| {
            let standing = &self.standing[at];
            standing.named.is_empty()
                && standing.chosen.is_empty()
                && self.reactions(at) <= 0
                && self.subjects[at].author != Some(self.requester)
                && self.subjects[at].post > self.subjects[one].post
        };
        close
            .iter()
            .all(|at| *at == one || ignored(*at))
            .then_some(one)
    }

    /// Returns the number of approving reactions minus the number of rejecting ones.
    fn reactions(&self, at: usize) -> i64 {
        let reactions = self.reactions[at];
        i64::from(reactions.approving) - i64::from(reactions.rejecting)
    }
}
