//! Evaluates what people say about the plans in a conversation: approval, decision, rejection,
//! withdrawal, revision and amendment.
//!
//! Each sentence is evaluated separately. It refers to a plan by a link, a quote, a label (`option
//! B`, "the second"), the name of an author, or words of a title that no other plan contains.
//! Otherwise it refers to the preceding plan.

use super::element::{Element, ElementKind};
use super::reference::{
    Subject, by_name, from_quote, named, ordinals, telling_words, unquoted, whole_word,
};
use super::sentences::split_sentences;
use crate::engine::model::conversation::Post;
use crate::formats::vocabulary::{Class, Match, Phrases, fold};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

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
) -> Heard {
    let mut talk = Talk {
        opener,
        subjects,
        standing: vec![Standing::default(); subjects.len()],
        exclusive: exclusive(subjects),
        undecided: None,
        command,
        quotes: 0,
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
        standing: talk.standing,
        undecided: talk.undecided,
    }
}

/// People's statements about all plans.
pub(super) struct Heard {
    /// Statements about each plan.
    pub(super) standing: Vec<Standing>,
    /// The last post that says that nothing has been decided.
    pub(super) undecided: Option<usize>,
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

/// The effect of a phrase on the plan it refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Approve,
    Choose,
    Reject,
    Withdraw,
    Contrast,
}

impl Verb {
    fn of(class: Class) -> Option<Self> {
        match class {
            Class::Approve => Some(Self::Approve),
            Class::Choose => Some(Self::Choose),
            Class::Reject => Some(Self::Reject),
            Class::Withdraw => Some(Self::Withdraw),
            Class::Contrast => Some(Self::Contrast),
            _ => None,
        }
    }
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
    undecided: Option<usize>,
    /// Position of the command's own comment.
    command: usize,
    /// Account of the author of the conversation.
    opener: Option<u64>,
    /// Number of quotes looked up so far.
    quotes: usize,
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
    }

    /// Returns the offset of a plan's label if a short sentence consists of it or ends with it:
    /// "B", "for this issue: B".
    fn vote(&self, position: usize, sentence: &str) -> Option<usize> {
        let said = sentence.trim_matches(|c: char| !c.is_alphanumeric());
        let labelled = self
            .subjects
            .iter()
            .filter(|it| it.post < position)
            .filter_map(|it| it.label.as_deref());
        let mut votes = labelled.filter(|label| {
            let before = said.strip_suffix(*label);
            before.is_some_and(|before| {
                let short = before.chars().count() <= 24;
                short && (before.is_empty() || before.trim_end().ends_with([':', ',']))
            })
        });
        let label = votes.next()?;
        (!label.is_empty()).then(|| sentence.rfind(label).unwrap_or(0))
    }

    /// Returns the offset of the author's name in a sentence that begins with it: "So: Ruthie's for
    /// June", "Oleg's latch."
    fn owned(&self, position: usize, sentence: &str) -> Option<usize> {
        // A cheap test first: most sentences name nobody.
        if sentence.find("'s ").is_none_or(|at| at > 40) {
            return None;
        }
        let [(place, subject)] = by_name(sentence, self.subjects, position)[..] else {
            return None;
        };
        let (_, behind) = sentence[place..].split_once("'s ")?;
        let noun = behind.trim_end_matches(['.', '!']);
        let has = |at: &usize| self.subjects[*at].words.contains(noun);
        let mut with = (0..self.subjects.len()).filter(has);
        let own = noun.len() >= 4 && with.next() == Some(subject) && with.next().is_none();
        let ends = ["for ", "it is", "please", "then"];
        let is_vote = own || ends.iter().any(|word| behind.starts_with(word));
        (place <= 8 && is_vote).then_some(place)
    }

    /// Returns the quoted plan, and whether only a part of it is quoted.
    fn quoted(&self, source: &str, position: usize) -> Option<(usize, bool)> {
        from_quote(&fold(&unquoted(source)), self.subjects, position)
    }

    /// Returns the newest plan of the only author of a plan who is addressed with `@login`.
    fn mentioned(&self, statement: &Statement<'_>) -> Option<usize> {
        let paragraphs = statement
            .elements
            .iter()
            .filter(|it| it.kind == ElementKind::Paragraph);
        let logins: HashSet<&str> = paragraphs.flat_map(|it| mentions(&it.text)).collect();
        if logins.is_empty() {
            return None;
        }
        let addressed = |at: &usize| {
            let subject = &self.subjects[*at];
            subject.post < statement.position && logins.contains(subject.login.as_str())
        };
        let mut found = (0..self.subjects.len()).rev().filter(addressed);
        let newest = found.next()?;
        let same = |at: usize| self.subjects[at].author == self.subjects[newest].author;
        found.all(same).then_some(newest)
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
        let steps = phrases.has(Class::Amend)
            || phrases.all(Class::Step).any(|step| {
                sentence[step.end..]
                    .trim_start()
                    .starts_with(|c: char| c.is_ascii_digit())
            });
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
            self.undecided = Some(position);
        }
        if asks {
            return;
        }
        if phrases.has(Class::DropAll) && targets.is_empty() && position != self.command {
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
            self.implied(&phrases, &verbs, context, last);
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

    /// Returns the plans named in a sentence, with the offset of each name.
    fn targets(
        &self,
        position: usize,
        author: Option<u64>,
        sentence: &str,
        phrases: &Phrases,
        verbs: &[(Verb, Match, bool)],
    ) -> Vec<(usize, usize)> {
        let mut found = named(
            sentence,
            phrases,
            self.subjects,
            position,
            !verbs.is_empty(),
        );
        if found.is_empty() {
            found = self.by_owner(position, author, sentence, phrases);
        }
        if found.is_empty() {
            found = self.by_words(position, sentence);
        }
        if found.is_empty() {
            found = self.by_content(position, sentence, phrases, verbs);
        }
        found
    }

    /// Returns the plan that contains words near a decision that no other plan contains: "we'll go
    /// with the queue".
    fn by_content(
        &self,
        position: usize,
        sentence: &str,
        phrases: &Phrases,
        verbs: &[(Verb, Match, bool)],
    ) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        // Short verbs such as "use" and "we do" occur in many sentences that decide nothing.
        let decides = |(verb, at, _): &&(Verb, Match, bool)| {
            *verb == Verb::Choose
                && (at.end - at.start > 5 || !sentence[at.start..at.end].is_ascii())
        };
        for (_, verb, _) in verbs.iter().filter(decides) {
            let end = sentence.ceil_char_boundary((verb.end + OBJECT).min(sentence.len()));
            let start = sentence.floor_char_boundary(verb.start.saturating_sub(OBJECT));
            let ends = |c: char| matches!(c, ',' | ';' | '.' | '，' | '；' | '。' | '(' | '\n');
            let behind = &sentence[verb.end..end];
            let behind = &behind[..behind.find(ends).unwrap_or(behind.len())];
            let before = &sentence[start..verb.start];
            let before = &before[before.rfind(ends).unwrap_or(0)..];
            for part in [behind, before] {
                for word in telling_words(part) {
                    if word.is_ascii() && word.len() < 4
                        || phrases
                            .iter()
                            .any(|it| sentence[it.start..it.end].contains(&word))
                    {
                        continue;
                    }
                    let mut with = (0..self.subjects.len()).filter(|at| {
                        self.subjects[*at].post < position
                            && self.subjects[*at].words.contains(&word)
                    });
                    if let (Some(one), None) = (with.next(), with.next()) {
                        found.push((verb.end, one));
                    }
                }
            }
        }
        let first = found.first().map(|(_, one)| *one);
        if found.iter().any(|(_, one)| Some(*one) != first) || self.subjects.len() < 2 {
            return Vec::new();
        }
        found.truncate(1);
        found
    }

    /// Returns the plans named by their owners: "my plan", "your proposal", or the name of an
    /// author.
    fn by_owner(
        &self,
        position: usize,
        author: Option<u64>,
        sentence: &str,
        phrases: &Phrases,
    ) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let noun = |at: usize| {
            phrases.iter().any(|it| {
                matches!(it.class, Class::Plan | Class::Proposal)
                    && it.start >= at
                    && it.start <= at + 24
            })
        };
        let earlier = |mine: bool| {
            (0..self.subjects.len()).rev().find(|at| {
                let subject = &self.subjects[*at];
                subject.post <= position
                    && (subject.author == author) == mine
                    && (mine || subject.post < position)
            })
        };
        for (class, mine) in [(Class::Mine, true), (Class::Theirs, false)] {
            for phrase in phrases.all(class) {
                if noun(phrase.start)
                    && let Some(subject) = earlier(mine)
                {
                    found.push((phrase.start, subject));
                }
            }
        }
        found.extend(by_name(sentence, self.subjects, position));
        found
    }

    /// Returns the plans named by words of their titles that no other plan contains.
    fn by_words(&self, position: usize, sentence: &str) -> Vec<(usize, usize)> {
        if self.subjects.len() < 2 {
            return Vec::new();
        }
        let mut hits: HashMap<usize, usize> = HashMap::new();
        for word in telling_words(sentence) {
            if let Some(subject) = self.exclusive.get(&word)
                && self.subjects[*subject].post < position
                && let Some(at) = whole_word(sentence, &word)
            {
                let first = hits.entry(*subject).or_insert(at);
                *first = at.min(*first);
            }
        }
        let mut found: Vec<(usize, usize)> = hits
            .into_iter()
            .map(|(subject, at)| (at, subject))
            .collect();
        found.sort_unstable();
        found
    }
}

/// Returns the logins that normalised text mentions with `@`.
fn mentions(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('@').map(|(at, _)| {
        let rest = &text[at + 1..];
        let is_login = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '[' | ']');
        &rest[..rest.find(|c: char| !is_login(c)).unwrap_or(rest.len())]
    })
}

/// Returns the offset of the ordinal in a sentence that consists of little else: "The second one
/// please."
fn ordered(sentence: &str, phrases: &Phrases) -> Option<usize> {
    let (place, _) = ordinals(sentence, phrases).into_iter().next()?;
    let ordinal = phrases.iter().find(|it| it.start == place)?;
    let end = sentence.trim_end();
    let others = end.chars().count() - end[..ordinal.end.min(end.len())].chars().count();
    let before = sentence[..place].chars().count();
    (before + others <= 16 && !end.ends_with(['?', '？', ':', '：'])).then_some(place)
}

fn verbs(sentence: &str, phrases: &Phrases) -> Vec<(Verb, Match, bool)> {
    let mut found: Vec<(Verb, Match, bool)> = Vec::new();
    for phrase in phrases.iter() {
        let Some(verb) = Verb::of(phrase.class) else {
            continue;
        };
        let from = sentence.floor_char_boundary(phrase.start.saturating_sub(24));
        let negated = phrases.all(Class::Negation).any(|negation| {
            negation.start >= from
                && negation.end <= phrase.start
                && !sentence[negation.end..phrase.start].contains([',', ';', ':', '，', '、'])
        });
        found.push((verb, *phrase, negated));
    }
    // "Not going with" is a single phrase; ignore the decision inside it.
    let spans: Vec<(Verb, Range<usize>)> = found
        .iter()
        .map(|(verb, it, _)| (*verb, it.start..it.end))
        .collect();
    found.retain(|(verb, it, _)| {
        !spans.iter().any(|(other, span)| {
            other != verb
                && span.start <= it.start
                && span.end >= it.end
                && span.len() > it.end - it.start
        })
    });
    found.sort_by_key(|(_, it, _)| it.start);
    found
}

/// Whether `element` states that the plan in the same post replaces an earlier one.
pub(super) fn replaces(element: &Element) -> bool {
    element.text.len() <= 800 && element.phrases.has(Class::Replace)
}
