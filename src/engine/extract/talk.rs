//! Evaluates what people say about the plans in a conversation: approval, decision, rejection,
//! withdrawal, revision and amendment.
//!
//! Each sentence is evaluated separately. It refers to a plan by a link, a quote, a label (`option
//! B`, "the second"), the name of an author, or words of a title that no other plan contains.
//! Otherwise it refers to the preceding plan.

pub(super) mod stance;
mod targets;
mod verbs;

use super::element::{Element, ElementKind};
use super::numbering::mentions_step;
use super::reference::{Subject, from_quote, named, unquoted};
use super::sentences::split_sentences;
use crate::engine::model::conversation::Post;
use crate::formats::vocabulary::{Class, Match, Phrases, fold};
use stance::Estimated;
use std::collections::HashMap;
use std::ops::Range;
use targets::ordered;
use verbs::{Verb, verbs};

/// Maximum number of quotes that are looked up in the plans.
const MAX_QUOTES: usize = 200;
/// Maximum distance between a decision and its object, in bytes.
const OBJECT: usize = 48;

/// People's statements about a plan.
#[derive(Debug, Clone, Default)]
pub(super) struct Standing {
    /// Posts and accounts of people other than the author who approve of the plan.
    pub(super) approved: Vec<(usize, Option<u64>)>,
    /// Posts and accounts of people who decide for the plan.
    pub(super) chosen: Vec<(usize, Option<u64>)>,
    /// The last post that rejects the plan, and its author's account.
    pub(super) rejected: Option<(usize, Option<u64>)>,
    /// The post in which the author withdraws the plan.
    pub(super) withdrawn: Option<usize>,
    /// Posts that report finished work. A single one may be about something else.
    pub(super) finished: Vec<usize>,
    /// The plan that replaces this one.
    pub(super) replaced: Option<usize>,
    /// Posts that change or extend the plan.
    pub(super) amended: Vec<usize>,
    /// Posts and accounts of people who would decide for the plan.
    pub(super) preferred: Vec<(usize, Option<u64>)>,
    /// The post in which the author of the conversation says that the problem is solved.
    pub(super) solved: Option<usize>,
    /// Posts and accounts of people who name the plan without objecting to it.
    pub(super) named: Vec<(usize, Option<u64>)>,
}

impl Standing {
    /// Whether the plan was withdrawn, rejected, replaced or carried out, and not supported again
    /// later.
    pub(super) fn gone(&self) -> bool {
        self.withdrawn.is_some()
            || self.rejected.is_some()
            || self.replaced.is_some()
            || self.finished.len() > 1
    }
}

/// A post that may say something about plans.
pub(super) struct Statement<'a> {
    /// Position of the post in the conversation.
    pub(super) position: usize,
    /// The post.
    pub(super) post: &'a Post,
    /// Blocks of the post.
    pub(super) elements: &'a [Element],
    /// Byte ranges of the plans in the post, which are skipped.
    pub(super) plans: Vec<Range<usize>>,
}

/// Evaluates what `statements` say about `subjects`, which are in chronological order. `command` is
/// the position of the command's own comment, and `opener` the account that began the conversation.
pub(super) fn listen(
    statements: &[Statement<'_>],
    subjects: &[Subject],
    command: usize,
    opener: Option<u64>,
    successors: &[Vec<usize>],
) -> Heard {
    let mut talk = Talk {
        opener,
        successors,
        subjects,
        standing: vec![Standing::default(); subjects.len()],
        exclusive: exclusive(subjects),
        doubts: HashMap::new(),
        estimated: vec![Vec::new(); subjects.len()],
        command,
        quotes: 0,
        applied: 0,
        stems: stance::stems(subjects),
    };
    let first = subjects
        .iter()
        .map(|subject| subject.first_post)
        .min()
        .unwrap_or(usize::MAX);
    for statement in statements.iter().filter(|it| it.position >= first) {
        talk.hear(statement);
    }
    Heard {
        read: statements
            .iter()
            .map(|it| it.position)
            .filter(|at| *at < command)
            .collect(),
        standing: talk.standing,
        doubts: talk.doubts,
        estimated: talk.estimated,
    }
}

/// People's statements about all plans.
pub(super) struct Heard {
    /// Statements about each plan.
    pub(super) standing: Vec<Standing>,
    /// The last post of each account that says that nothing has been decided.
    pub(super) doubts: HashMap<Option<u64>, usize>,
    /// For each plan, what later posts probably mean for it, oldest first. Long posts and posts with a
    /// plan are left out.
    pub(super) estimated: Vec<Vec<Estimated>>,
    /// Positions of the posts that count, without the command.
    pub(super) read: Vec<usize>,
}

/// Returns the words of titles that occur in only one subject, with that subject.
fn exclusive(subjects: &[Subject]) -> HashMap<String, usize> {
    let mut owners: HashMap<String, Option<usize>> = HashMap::new();
    for (at, subject) in subjects.iter().enumerate() {
        for word in &subject.title {
            let others = subjects
                .iter()
                .enumerate()
                .any(|(other, it)| other != at && it.words.contains(word));
            let owner = if others { None } else { Some(at) };
            owners.entry(word.clone()).or_insert(owner);
        }
    }
    owners
        .into_iter()
        .filter_map(|(word, owner)| Some((word, owner?)))
        .filter(|(word, _)| word.chars().count() >= 3 || !word.is_ascii())
        .collect()
}

/// The post that a sentence is in.
#[derive(Clone, Copy)]
struct Context {
    /// Position of the post.
    position: usize,
    /// Account of its author.
    author: Option<u64>,
    /// The plan quoted above the sentence, and whether only a part of it is quoted.
    quoted: Option<(usize, bool)>,
    /// The plan whose author the post addresses.
    mentioned: Option<usize>,
}

struct Talk<'s> {
    subjects: &'s [Subject],
    standing: Vec<Standing>,
    exclusive: HashMap<String, usize>,
    doubts: HashMap<Option<u64>, usize>,
    estimated: Vec<Vec<Estimated>>,
    /// Position of the command's own comment.
    command: usize,
    /// Account of the author of the conversation.
    opener: Option<u64>,
    /// The later versions of each plan.
    successors: &'s [Vec<usize>],
    /// Number of quotes looked up so far.
    quotes: usize,
    /// Number of statements applied so far.
    applied: usize,
    /// Stems of the words of each plan.
    stems: Vec<stance::Stems>,
}

impl Talk<'_> {
    fn hear(&mut self, statement: &Statement<'_>) {
        let (position, post) = (statement.position, statement.post);
        let author = post.author.as_ref().map(|author| author.id);
        // Apps have no say, except for authors of plans.
        let program = post.author.as_ref().is_some_and(|author| author.bot);
        if program && !self.subjects.iter().any(|it| it.author == author) {
            return;
        }
        let mut quoted: Option<(usize, bool)> = None;
        let mentioned = self.mentioned(statement);
        let before = self.applied;
        let live = self.live(position);
        let context = |quoted| Context {
            position,
            author,
            quoted,
            mentioned,
        };
        for element in statement.elements {
            let within = |part: &Range<usize>| {
                part.start <= element.span.start && element.span.end <= part.end
            };
            if statement.plans.iter().any(within) {
                quoted = None;
                continue;
            }
            match &element.kind {
                ElementKind::Quote if self.quotes < MAX_QUOTES => {
                    self.quotes += 1;
                    quoted = self.quoted(&post.body[element.span.clone()], position);
                    if let Some((subject, false)) = quoted
                        && self.subjects[subject].author != author
                    {
                        self.name(position, author, subject);
                    }
                }
                ElementKind::Paragraph | ElementKind::Heading(_) => {
                    for sentence in split_sentences(&element.text) {
                        self.sentence(sentence, context(quoted));
                    }
                }
                ElementKind::List { items, .. } => {
                    for item in items {
                        self.sentence(&item.text, context(quoted));
                    }
                }
                _ => {}
            }
        }
        let is_understood = self.applied > before;
        self.estimate(statement, &live, is_understood);
    }

    /// Returns the quoted plan, and whether only a part of it is quoted.
    fn quoted(&self, source: &str, position: usize) -> Option<(usize, bool)> {
        from_quote(&fold(&unquoted(source)), self.subjects, position)
    }

    fn sentence(&mut self, sentence: &str, context: Context) {
        let Context {
            position, author, ..
        } = context;
        let phrases = Phrases::of(sentence);
        let asks = sentence.trim_end().ends_with(['?', '？']);
        let mut verbs = verbs(sentence, &phrases);
        if verbs.is_empty()
            && let Some(place) = self
                .vote(position, sentence)
                .or_else(|| ordered(sentence, &phrases))
                .or_else(|| self.owned(position, sentence))
        {
            let at = Match {
                class: Class::Choose,
                start: place,
                end: place,
            };
            verbs.push((Verb::Choose, at, false));
        }
        if phrases.has(Class::Solved)
            && !phrases.has(Class::Negation)
            && !asks
            && author.is_some()
            && author == self.opener
        {
            for (standing, subject) in self.standing.iter_mut().zip(self.subjects) {
                if subject.post < position && subject.author != author {
                    standing.solved = Some(position);
                }
            }
        }
        let targets = self.targets(position, author, sentence, &phrases, &verbs);
        let before = |at: &usize| self.subjects[*at].post < position;
        let last = (0..self.subjects.len()).rev().find(before);
        let steps = phrases.has(Class::Amend) || mentions_step(sentence, &phrases);
        if steps && let Some(about) = targets.first().map(|(_, at)| *at).or(last) {
            let author_of = self.subjects[about].author;
            if !self.standing[about].amended.contains(&position)
                && self.subjects[about].post < position
            {
                self.standing[about].amended.push(position);
            }
            // A sentence about a step is not about the whole plan, unless the author withdraws the
            // plan or somebody decides for a plan.
            let says = |wanted: Verb| verbs.iter().any(|(verb, ..)| *verb == wanted);
            let own = says(Verb::Withdraw) && author == author_of;
            let decides = says(Verb::Choose) && !targets.is_empty();
            if !own && !decides {
                return;
            }
        }
        if phrases.has(Class::Undecided) {
            self.applied += 1;
            self.doubts.insert(author, position);
        }
        if asks {
            return;
        }
        // "Neither the first nor the second" names both.
        let among = |(place, _): &(usize, usize)| {
            let mut drops = phrases.all(Class::DropAll);
            drops.any(|it| it.start <= place + 8 && *place <= it.end + 8)
        };
        if phrases.has(Class::DropAll)
            && targets.iter().all(among)
            && position != self.command
            && !mentions_issue(sentence)
        {
            let earlier = |at: &usize| self.subjects[*at].post < position;
            let earlier: Vec<usize> = (0..self.subjects.len()).filter(earlier).collect();
            let own = |at: &usize| author.is_some() && self.subjects[*at].author == author;
            // Authors who compare their plan with others do not withdraw it.
            let all_own = earlier.iter().all(own);
            let verb = if all_own {
                Verb::Withdraw
            } else {
                Verb::Reject
            };
            for at in earlier {
                self.apply(position, author, verb, false, at);
            }
            return;
        }
        if phrases.has(Class::Finished) && targets.is_empty() && position != self.command {
            for (standing, subject) in self.standing.iter_mut().zip(self.subjects) {
                if subject.post < position && standing.finished.last() != Some(&position) {
                    standing.finished.push(position);
                }
            }
        }
        let against = verbs
            .iter()
            .any(|(verb, _, negated)| *negated || !matches!(verb, Verb::Approve | Verb::Choose));
        if let [(_, one)] = targets.as_slice()
            && !against
            && !phrases.has(Class::Undecided)
            && !phrases.has(Class::Negation)
            && self.subjects[*one].author != author
            && !named(sentence, &phrases, self.subjects, position, true).is_empty()
        {
            self.name(position, author, *one);
        }
        if targets.is_empty() {
            if !mentions_issue(sentence) {
                self.implied(&phrases, &verbs, context, last);
            }
            return;
        }
        // A wish is not a decision.
        let wish = phrases.has(Class::Me) || phrases.has(Class::Undecided);
        for (at, subject) in &targets {
            // Prefer the nearest verb, and verbs before the name to verbs after it.
            let distance = |(_, verb, _): &&(Verb, Match, bool)| {
                if verb.end <= *at {
                    at - verb.end
                } else {
                    8 + verb.start.saturating_sub(*at)
                }
            };
            let fits =
                |found: &&(Verb, Match, bool)| found.0 != Verb::Contrast || found.1.end <= *at;
            let Some((verb, _, negated)) = verbs.iter().filter(fits).min_by_key(distance) else {
                continue;
            };
            if *verb == Verb::Approve && !negated && self.subjects[*subject].author != author {
                self.standing[*subject].preferred.push((position, author));
            }
            let verb = match verb {
                Verb::Choose if wish && !negated => {
                    if self.subjects[*subject].author != author {
                        self.standing[*subject].preferred.push((position, author));
                    }
                    Verb::Approve
                }
                other => *other,
            };
            self.apply(position, author, verb, *negated, *subject);
        }
    }

    /// Evaluates a sentence that names no plan. It refers to the quoted plan, or otherwise to the
    /// preceding one.
    fn implied(
        &mut self,
        phrases: &Phrases,
        verbs: &[(Verb, Match, bool)],
        context: Context,
        last: Option<usize>,
    ) {
        let Context {
            position,
            author,
            quoted,
            mentioned,
        } = context;
        let has = |wanted: Verb| verbs.iter().find(|(verb, ..)| *verb == wanted);
        let own = (0..self.subjects.len()).rev().find(|at| {
            let subject = &self.subjects[*at];
            subject.author == author
                && author.is_some()
                && subject.first_post < position
                && !self.standing[*at].gone()
        });
        if let (Some(_), Some(own)) = (has(Verb::Withdraw), own) {
            self.apply(position, author, Verb::Withdraw, false, own);
            return;
        }
        // Short verbs such as "use" occur in many sentences that decide nothing.
        let decides = verbs
            .iter()
            .any(|(verb, at, negated)| *verb == Verb::Choose && !negated && at.end - at.start > 5);
        let about_plans = phrases.has(Class::Plan) || phrases.has(Class::Proposal);
        if decides
            && about_plans
            && !phrases.has(Class::Undecided)
            && quoted.is_none()
            && let Some(one) = mentioned
            && self.subjects[one].author != author
        {
            self.apply(position, author, Verb::Choose, false, one);
            return;
        }
        let (about, partly) = match (quoted, last) {
            (Some((about, partly)), _) => (about, partly),
            (None, Some(about)) => (about, false),
            (None, None) => return,
        };
        let praised = verbs
            .iter()
            .any(|(verb, _, negated)| *verb == Verb::Approve && !negated || decides)
            && !verbs.iter().any(|(verb, ..)| *verb == Verb::Reject);
        if partly && !praised {
            self.standing[about].amended.push(position);
            return;
        }
        if partly {
            self.name(position, author, about);
        }
        let alone = self
            .standing
            .iter()
            .zip(self.subjects)
            .filter(|(standing, subject)| !standing.gone() && subject.post < position)
            .count()
            <= 1;
        let next = position <= self.subjects[about].post + 2;
        let sibling = self
            .subjects
            .iter()
            .filter(|it| it.post == self.subjects[about].post)
            .count()
            > 1;
        let pointing = phrases.has(Class::Above) || quoted.is_some();
        let chooses = has(Verb::Choose).is_some_and(|(_, _, negated)| !negated);
        if chooses && phrases.has(Class::Above) && !sibling && own != Some(about) {
            self.name(position, author, about);
        }
        for (verb, _, negated) in verbs {
            match verb {
                Verb::Approve
                    if !negated
                        && (!sibling || quoted.is_some())
                        && !phrases.has(Class::Undecided) =>
                {
                    if pointing && next {
                        self.name(position, author, about);
                    }
                    self.apply(position, author, Verb::Approve, false, about);
                }
                // A command to save a plan does not reject it.
                Verb::Reject
                    if !negated
                        && position != self.command
                        && (alone || next || quoted.is_some()) =>
                {
                    // Who is for a plan and names none now is against something else.
                    let standing = &self.standing[about];
                    let mut people = standing.approved.iter().chain(&standing.chosen);
                    let supports = people.any(|(_, by)| *by == author);
                    if (sibling || supports) && quoted.is_none() {
                        continue;
                    }
                    self.apply(position, author, Verb::Reject, false, about);
                }
                _ => {}
            }
        }
    }

    /// Records that somebody named a plan. Only the last plan that a person named counts.
    fn name(&mut self, position: usize, author: Option<u64>, subject: usize) {
        for standing in &mut self.standing {
            standing.named.retain(|(_, by)| *by != author);
        }
        self.standing[subject].named.push((position, author));
    }

    fn apply(
        &mut self,
        position: usize,
        author: Option<u64>,
        verb: Verb,
        negated: bool,
        subject: usize,
    ) {
        self.applied += 1;
        let own = author.is_some() && self.subjects[subject].author == author;
        let standing = &mut self.standing[subject];
        match (verb, negated) {
            (Verb::Approve, false) => {
                if !own && !standing.approved.iter().any(|(_, by)| *by == author) {
                    standing.approved.push((position, author));
                }
                // Approval by another person revokes an earlier rejection.
                standing.rejected = standing.rejected.filter(|_| own);
            }
            (Verb::Choose, false) => {
                for other in &mut self.standing {
                    other.chosen.retain(|(_, by)| *by != author);
                }
                let standing = &mut self.standing[subject];
                standing.chosen.push((position, author));
                standing.rejected = None;
                standing.withdrawn = standing.withdrawn.filter(|_| !own);
            }
            (Verb::Withdraw, _) if own => standing.withdrawn = Some(position),
            // Authors withdraw a plan explicitly; doubts about one's own plan do not reject it.
            (Verb::Reject, false) if own => {}
            (Verb::Reject | Verb::Withdraw, false) | (Verb::Approve | Verb::Choose, true) => {
                standing.rejected = Some((position, author));
                standing.approved.retain(|(_, by)| *by != author);
                standing.chosen.retain(|(_, by)| *by != author);
            }
            (Verb::Contrast, _) => {
                standing.chosen.retain(|(_, by)| *by != author);
            }
            (Verb::Reject | Verb::Withdraw, true) => {}
        }
    }
}

/// Whether a sentence is about another issue: "#212 is closed, nobody needs it".
fn mentions_issue(sentence: &str) -> bool {
    sentence.match_indices('#').any(|(at, _)| {
        let rest = &sentence[at + 1..];
        rest.bytes().take_while(u8::is_ascii_digit).count() >= 2
    })
}

/// Whether `element` states that the plan in the same post replaces an earlier one.
pub(super) fn replaces(element: &Element) -> bool {
    element.text.len() <= 800 && element.phrases.has(Class::Replace)
}
