//! Rates the candidates by what people said about them, and decides between them.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::context::score_context;
use super::decision::{Case, FULL, UNSUPPORTED};
use super::element::{Element, ElementKind, elements};
use super::heading;
use super::plausibility::CONSIDERED;
use super::reference::{
    Subject, by_name, from_quote, named, overlap, telling_lines, telling_words, unquoted,
};
use super::score::{MIN_SCORE, POSSIBLE};
use super::sentences::split_sentences;
use super::talk::stance::Estimated;
use super::talk::{Heard, Standing, Statement, listen};
use super::trust::Trust;
use super::{Found, Search, Verdict, add, likelihood, posts};
use crate::engine::model::candidate::Candidate;
use crate::engine::model::conversation::{Conversation, Post, Reactions};
use crate::engine::model::trigger::{Origin, Trigger};
use crate::formats::vocabulary::{Class, Phrases, fold};

/// Maximum number of candidates compared with each other. The running time grows with its square.
const MAX_WEIGHED: usize = 50;
/// Points per person other than the author who approves of a plan.
const APPROVED: i32 = 10;
/// Maximum number of points for approval.
const MAX_APPROVED: i32 = 30;
/// Points for a plan that somebody decided for.
const CHOSEN: i32 = 30;
/// Minimum overlap of words between two versions of one plan, in percent.
const SAME_PLAN: usize = 55;

/// The candidates of trusted authors with what is known about them, before the decision.
pub(super) struct Rated {
    good: Vec<Found>,
    /// Candidates that cannot be the plan.
    rest: Vec<Found>,
    subjects: Vec<Subject>,
    standing: Vec<Standing>,
    strengths: Vec<i32>,
    reactions: Vec<Reactions>,
    doubts: HashMap<Option<u64>, usize>,
    estimated: Vec<Vec<Estimated>>,
    requester: u64,
    read: Vec<usize>,
    pointed: Option<usize>,
}

impl Rated {
    fn case(&self) -> Case<'_> {
        Case {
            good: &self.good,
            subjects: &self.subjects,
            standing: &self.standing,
            strengths: &self.strengths,
            reactions: &self.reactions,
            undecided: self.doubts.values().max().copied(),
            doubts: &self.doubts,
            requester: self.requester,
            estimated: &self.estimated,
            read: &self.read,
        }
    }

    /// Returns the best text according to the rules, and their decision.
    #[cfg(test)]
    pub(super) fn by_rules(&self) -> (Option<&str>, Verdict) {
        let (order, verdict) = self.case().verdict();
        let best = order.first();
        let text = best.map(|best| self.good[*best].candidate.text.as_str());
        (text, verdict)
    }

    /// Returns the candidates with their features, unless the command refers to one of them.
    #[cfg(test)]
    pub(super) fn compared(&self) -> Vec<(Candidate, Vec<f32>)> {
        if self.pointed.is_some() {
            return Vec::new();
        }
        let case = self.case();
        let (rules, verdict) = case.verdict();
        let candidates = self.good.iter().map(|it| it.candidate.clone());
        candidates
            .zip(likelihood::features(&case, (&rules, &verdict)))
            .collect()
    }
}

/// Rates the candidates of trusted authors.
pub(super) fn rate(
    mut found: Vec<Found>,
    parsed: &[(usize, Vec<Element>)],
    thread: &Conversation,
    trigger: &Trigger,
    trust: &Trust,
) -> Rated {
    score_context(&mut found, thread);
    let linked = linked(thread);
    found.retain(|it| !it.candidate.text.trim().is_empty());
    let (mut good, mut rest): (Vec<Found>, Vec<Found>) = found.into_iter().partition(|it| {
        let post = thread.posts.get(it.position()).and_then(|post| post.id);
        it.candidate.score >= POSSIBLE
            || it.plausibility >= CONSIDERED
            || post.is_some_and(|id| linked.contains(&id))
    });
    if good.len() > MAX_WEIGHED {
        good.sort_by_key(|it| Reverse((it.candidate.score, it.position())));
        rest.extend(good.split_off(MAX_WEIGHED));
    }
    good.sort_by_key(|it| (it.position(), it.parts.first().map(|(_, span)| span.start)));
    label(&mut good);
    let subjects: Vec<Subject> = good.iter().map(|it| subject(it, thread)).collect();
    let own = own_comment(trigger).map(|post| (elements(&post.body), post));
    let successors = successors(&good, &subjects);
    let heard = heard(
        &good,
        &subjects,
        (thread, parsed),
        own.as_ref(),
        trigger,
        trust,
        &successors,
    );
    let mut standing = heard.standing;
    revisions(&successors, &mut standing);
    let strengths = good
        .iter()
        .zip(&standing)
        .map(|(it, standing)| strength(it, standing, thread))
        .collect();
    let reactions = good
        .iter()
        .map(|it| {
            thread
                .posts
                .get(it.position())
                .map_or_else(Reactions::default, |post| post.reactions)
        })
        .collect();
    Rated {
        pointed: pointed(trigger, own.as_ref(), &subjects, thread.posts.len()),
        good,
        rest,
        subjects,
        standing,
        strengths,
        reactions,
        doubts: heard.doubts,
        estimated: heard.estimated,
        requester: trigger.actor.id,
        read: heard.read,
    }
}

/// Decides between the candidates. If the command names their post (`is_named`), the rules suffice.
pub(super) fn decide(rated: Rated, thread: &Conversation, is_named: bool) -> Search {
    let case = rated.case();
    let (rules, verdict) = case.verdict();
    let likelihoods = if is_named || rated.pointed.is_some() {
        None
    } else {
        likelihood::likelihoods(&case, (&rules, &verdict))
    };
    let (order, verdict) = match (rated.pointed, &likelihoods) {
        (Some(one), _) => (vec![one], Verdict::Plan),
        (None, Some(likelihoods)) => likelihood::decide(&case, likelihoods, (&rules, verdict)),
        (None, None) => (rules, verdict),
    };
    let unsupported = match (&verdict, order.first()) {
        (Verdict::None, Some(best)) if case.is_unsupported(*best) => Some(*best),
        _ => None,
    };
    let Rated {
        mut good,
        rest,
        standing,
        strengths,
        ..
    } = rated;
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
        if let Some(likelihoods) = &likelihoods {
            let percent = likelihoods[at] * 100.0;
            add(
                &mut it.candidate,
                0,
                format!("{percent:.0} % likely to be the plan"),
            );
        }
    }
    let mut slots: Vec<Option<Candidate>> = good.into_iter().map(|it| Some(it.candidate)).collect();
    let mut candidates: Vec<Candidate> = order.iter().filter_map(|at| slots[*at].take()).collect();
    let mut others: Vec<Candidate> = slots
        .into_iter()
        .flatten()
        .chain(rest.into_iter().map(|it| it.candidate))
        .collect();
    others.sort_by_key(|candidate| Reverse(candidate.score));
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
    const ANCHOR: &str = "issuecomment-";
    let ids = |body: &str| -> Vec<u64> {
        body.match_indices(ANCHOR)
            .filter_map(|(at, _)| {
                let rest = &body[at + ANCHOR.len()..];
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

/// Labels plans in separate posts that begin with different labels: `A – priority numbers`,
/// `Option 2: one queue`.
fn label(good: &mut [Found]) {
    let label = |it: &Found| {
        let announced = it.announced_text();
        let line = announced.lines().next()?;
        let first = elements(line).into_iter().next()?;
        if !it.replaces
            && let Some(label) = heading::label(&first.text, &first)
        {
            return Some(label);
        }
        let folded = fold(line);
        let text = folded.trim_start_matches(|c: char| !c.is_alphanumeric());
        let first = text.chars().next().filter(|c| c.is_alphabetic())?;
        let behind = text[first.len_utf8()..].trim_start();
        behind
            .starts_with(['–', '—', '-', '.', ')', ':', '：'])
            .then(|| first.to_string())
    };
    let found: Vec<Option<String>> = good.iter().map(label).collect();
    let different: HashSet<&String> = found.iter().flatten().collect();
    if different.len() < 2 {
        return;
    }
    for (it, label) in good.iter_mut().zip(found) {
        it.label = it.label.take().or(label);
    }
}

fn subject(found: &Found, thread: &Conversation) -> Subject {
    let text = fold(&found.announced_text());
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
    (thread, parsed): (&Conversation, &[(usize, Vec<Element>)]),
    own: Option<&(Vec<Element>, Post)>,
    trigger: &Trigger,
    trust: &Trust,
    successors: &[Vec<usize>],
) -> Heard {
    let end = thread.posts.len();
    let parts_of = |position: usize| -> Vec<Range<usize>> {
        // Sentences that hardly look like a plan may be a statement about plans.
        let elements = parsed.iter().find(|(at, _)| *at == position);
        let is_talk = |score: i32, span: &Range<usize>| {
            let inside = |it: &&Element| span.start <= it.span.start && it.span.end <= span.end;
            let mut inside = elements.iter().flat_map(|(_, all)| all).filter(inside);
            score < MIN_SCORE && inside.all(|it| it.kind == ElementKind::Paragraph)
        };
        good.iter()
            .flat_map(|it| it.parts.iter().map(|part| (it.candidate.score, part)))
            .filter(|(score, (at, span))| *at == position && !is_talk(*score, span))
            .map(|(_, (_, span))| span.clone())
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
    let read = parsed.iter().filter_map(|(position, elements)| {
        let post = thread.posts.get(*position).filter(|post| counts(post))?;
        Some((*position, elements, post))
    });
    let own = own.map(|(elements, post)| (end, elements, post));
    let statements: Vec<Statement<'_>> = read
        .chain(own)
        .map(|(position, elements, post)| Statement {
            position,
            post,
            elements,
            plans: parts_of(position),
        })
        .collect();
    let opener = thread.posts.first().and_then(|post| post.author.as_ref());
    listen(
        &statements,
        subjects,
        end,
        opener.map(|author| author.id),
        successors,
    )
}

/// Returns the later versions of each plan, in order.
fn successors(good: &[Found], subjects: &[Subject]) -> Vec<Vec<usize>> {
    let mut successors = vec![Vec::new(); subjects.len()];
    for later in 1..subjects.len() {
        for earlier in (0..later).rev() {
            let (one, other) = (&subjects[earlier], &subjects[later]);
            if one.post >= other.first_post {
                continue;
            }
            let same_author = one.author == other.author && one.author.is_some();
            let alike = overlap(&one.words, &other.words);
            let size = (one.words.len().min(other.words.len()) * 100)
                / one.words.len().max(other.words.len()).max(1);
            let says = good[later].replaces && same_author;
            let again = alike >= SAME_PLAN && size >= 40;
            let copied = alike >= 75 && size >= 60;
            let labelled = one.label.is_some() && other.label.is_some() && one.label != other.label;
            let revised = good[later].replaces && alike >= 30;
            if !labelled && (says || same_author && again || copied || revised) {
                successors[earlier].push(later);
            }
        }
    }
    successors
}

/// Marks plans as replaced if there is a later version that was neither withdrawn nor rejected.
fn revisions(successors: &[Vec<usize>], standing: &mut [Standing]) {
    for (earlier, later) in successors.iter().enumerate() {
        let holds =
            |at: &&usize| standing[**at].withdrawn.is_none() && standing[**at].rejected.is_none();
        if let Some(one) = later.iter().find(holds).copied() {
            standing[earlier].replaced = Some(one);
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
    own: Option<&(Vec<Element>, Post)>,
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
    let (elements, own) = own?;
    elements
        .iter()
        .rev()
        .filter(|element| element.kind == ElementKind::Quote)
        .find_map(|element| {
            let quote = unquoted(&own.body[element.span.clone()]);
            from_quote(&fold(&quote), subjects, end)
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
        add(candidate, said, whys.join("; "));
    }
    if let Some(position) = standing.withdrawn {
        add(candidate, 0, format!("withdrawn by {}", who(position)));
    } else if let Some((position, _)) = standing.rejected {
        add(candidate, 0, format!("rejected by {}", who(position)));
    } else if standing.replaced.is_some() {
        add(candidate, 0, "replaced by a later version");
    } else if let [_, .., position] = standing.finished[..] {
        add(candidate, 0, format!("carried out, says {}", who(position)));
    }
    if let Some(position) = standing.solved {
        add(
            candidate,
            0,
            format!("solved the problem, says {}", who(position)),
        );
    }
    if !standing.amended.is_empty() {
        let names: Vec<String> = standing.amended.iter().map(|at| who(*at)).collect();
        add(
            candidate,
            0,
            format!("later comments may change it: {}", names.join(", ")),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_whose_second_version_was_withdrawn_is_replaced_by_the_third() {
        let mut standing = vec![Standing::default(); 3];
        standing[1].withdrawn = Some(4);
        revisions(&[vec![1, 2], vec![2], Vec::new()], &mut standing);
        assert_eq!(standing[0].replaced, Some(2));
        assert_eq!(standing[2].replaced, None);
    }
}
