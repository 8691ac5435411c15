//! What people say about the plans of a conversation: approval, decision, rejection, withdrawal, revision,
//! amendment.
//!
//! Each sentence is read by itself. What it is about is told by a link, a quote, a label (`option B`,
//! "the second"), the name of an author, words of a plan's title that no other plan has, or else by its
//! place: it answers the plan before it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::element::{Element, Kind, elements};
use super::series::split_sentences;
use crate::engine::model::conversation::Post;
use crate::formats::vocabulary::{Class, Match, Phrases, fold};

/// Most quotes that are looked up in the plans.
const MAX_QUOTES: usize = 200;

/// Bytes on either side of a decision in which its object is looked for.
const OBJECT: usize = 48;

/// A plan that people can speak of.
#[derive(Debug, Clone, Default)]
pub(super) struct Subject {
    /// Position of its post; of a plan in parts the last.
    pub(super) post: usize,
    /// Position of its first post.
    pub(super) first_post: usize,
    /// Comment id of its post.
    pub(super) id: Option<u64>,
    /// Id of its author's account.
    pub(super) author: Option<u64>,
    /// Login of its author, folded.
    pub(super) login: String,
    /// Label among several, folded.
    pub(super) label: Option<String>,
    /// Words of its title.
    pub(super) title: HashSet<String>,
    /// Words of its text.
    pub(super) words: HashSet<String>,
    /// Its lines, folded, without signs.
    pub(super) lines: HashSet<String>,
}

/// What was said of a plan.
#[derive(Debug, Clone, Default)]
pub(super) struct Standing {
    /// Posts and accounts that approve of it, not its author.
    pub(super) approved: Vec<(usize, Option<u64>)>,
    /// Posts and accounts that decide for it.
    pub(super) chosen: Vec<(usize, Option<u64>)>,
    /// The last post that rejects it.
    pub(super) rejected: Option<usize>,
    /// The post in which its author takes it back.
    pub(super) withdrawn: Option<usize>,
    /// Posts that say that work has been done. One alone may speak of anything.
    pub(super) finished: Vec<usize>,
    /// The plan that replaces it.
    pub(super) replaced: Option<usize>,
    /// Posts that change it or add to it.
    pub(super) amended: Vec<usize>,
    /// Posts and accounts that name it and say nothing against it.
    pub(super) named: Vec<(usize, Option<u64>)>,
}

impl Standing {
    /// It was taken back, rejected, replaced or carried out, and nothing after that says otherwise.
    pub(super) fn gone(&self) -> bool {
        self.withdrawn.is_some()
            || self.rejected.is_some()
            || self.replaced.is_some()
            || self.finished.len() > 1
    }
}

/// The words of folded text that tell it from other texts. Of scripts without blanks, pairs of characters.
pub(super) fn telling_words(folded: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    for word in folded.split(|c: char| !c.is_alphanumeric()) {
        let chars: Vec<char> = word.chars().take(60).collect();
        if chars.iter().any(|c| ('\u{3040}'..'\u{fb00}').contains(c)) {
            found.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if chars.len() >= 3 {
            found.insert(word.to_owned());
        }
        if found.len() > 2_000 {
            break;
        }
    }
    found
}

/// The lines of folded text without signs at their ends.
pub(super) fn telling_lines(folded: &str) -> HashSet<String> {
    folded
        .lines()
        .map(|line| line.trim_matches(|c: char| !c.is_alphanumeric()).to_owned())
        .filter(|line| line.chars().count() >= 8)
        .take(500)
        .collect()
}

/// The share of the smaller set that is in the other too, in percent.
pub(super) fn overlap(one: &HashSet<String>, other: &HashSet<String>) -> usize {
    let (small, large) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    small.iter().filter(|word| large.contains(*word)).count() * 100 / small.len().max(1)
}

/// What the posts of `posts` say about `subjects`, which are in the order in which they were written.
/// `parts` are the bytes of each post that are plans: what is within is not talk.
pub(super) fn listen(
    posts: &[(usize, &Post, &[Range<usize>])],
    subjects: &[Subject],
    command: usize,
) -> Heard {
    let mut talk = Talk {
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
    for (position, post, parts) in posts {
        if *position >= first {
            talk.hear(*position, post, parts);
        }
    }
    Heard {
        standing: talk.standing,
        undecided: talk.undecided,
    }
}

/// What was said of all plans.
pub(super) struct Heard {
    /// Of each of them.
    pub(super) standing: Vec<Standing>,
    /// The last post that says that nobody has decided.
    pub(super) undecided: Option<usize>,
}

/// For each word of a title the subject that alone has it.
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

/// What a phrase does to the plan it is about.
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

struct Talk<'s> {
    subjects: &'s [Subject],
    standing: Vec<Standing>,
    exclusive: HashMap<String, usize>,
    undecided: Option<usize>,
    /// Position of the command's own comment.
    command: usize,
    /// Quotes that were looked up.
    quotes: usize,
}

impl Talk<'_> {
    fn hear(&mut self, position: usize, post: &Post, parts: &[Range<usize>]) {
        let author = post.author.as_ref().map(|author| author.id);
        // Approval by an App does not count.
        let program = post.author.as_ref().is_some_and(|author| author.bot);
        if program && !self.subjects.iter().any(|it| it.author == author) {
            return;
        }
        let mut quoted: Option<(usize, bool)> = None;
        for element in elements(&post.body) {
            let within = |part: &Range<usize>| {
                part.start <= element.span.start && element.span.end <= part.end
            };
            if parts.iter().any(within) {
                quoted = None;
                continue;
            }
            match &element.kind {
                Kind::Quote if self.quotes < MAX_QUOTES => {
                    self.quotes += 1;
                    quoted = self.quoted(&post.body[element.span.clone()], position);
                    if let Some((subject, false)) = quoted
                        && self.subjects[subject].author != author
                    {
                        self.name(position, author, subject);
                    }
                }
                Kind::Paragraph | Kind::Heading(_) => {
                    for sentence in split_sentences(&element.text) {
                        self.sentence(position, author, sentence, quoted);
                    }
                }
                Kind::List { items, .. } => {
                    for item in items {
                        self.sentence(position, author, &item.text, quoted);
                    }
                }
                _ => {}
            }
        }
    }

    /// Where a short sentence is nothing but the label of a plan, or ends with it: "B", "for this issue: B".
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

    /// The plan that a quote is from, and whether only a part of it is quoted.
    fn quoted(&self, source: &str, position: usize) -> Option<(usize, bool)> {
        let bare: String = source
            .lines()
            .map(|line| line.trim_start_matches(['>', ' ']))
            .collect::<Vec<_>>()
            .join("\n");
        from_quote(&fold(&bare), self.subjects, position)
    }

    fn sentence(
        &mut self,
        position: usize,
        author: Option<u64>,
        sentence: &str,
        quoted: Option<(usize, bool)>,
    ) {
        let phrases = Phrases::of(sentence);
        let asks = sentence.trim_end().ends_with(['?', '？']);
        let mut verbs = verbs(sentence, &phrases);
        if verbs.is_empty()
            && let Some(place) = self.vote(position, sentence)
        {
            let at = Match {
                class: Class::Choose,
                start: place,
                end: place,
            };
            verbs.push((Verb::Choose, at, false));
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
            // A sentence about a step is not about the plan, but for its author's own withdrawal.
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
            for at in 0..self.subjects.len() {
                if self.subjects[at].post < position {
                    self.apply(position, author, Verb::Reject, false, at);
                }
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
            self.implied(position, author, &phrases, &verbs, quoted, last);
            return;
        }
        // What somebody would like is no decision.
        let wish = phrases.has(Class::Me) || phrases.has(Class::Undecided);
        for (at, subject) in &targets {
            // The verb next to it; one that stands before it rather than one behind.
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
                Verb::Choose if wish && !negated => Verb::Approve,
                other => *other,
            };
            self.apply(position, author, verb, *negated, *subject);
        }
    }

    /// A sentence that names no plan is about the one that is quoted, else about the one before it.
    fn implied(
        &mut self,
        position: usize,
        author: Option<u64>,
        phrases: &Phrases,
        verbs: &[(Verb, Match, bool)],
        quoted: Option<(usize, bool)>,
        last: Option<usize>,
    ) {
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
        let (about, partly) = match (quoted, last) {
            (Some((about, partly)), _) => (about, partly),
            (None, Some(about)) => (about, false),
            (None, None) => return,
        };
        let praised = verbs
            .iter()
            .any(|(verb, _, negated)| *verb == Verb::Approve && !negated)
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
        let decides = has(Verb::Choose).is_some_and(|(_, _, negated)| !negated);
        if decides && phrases.has(Class::Above) && !sibling && own != Some(about) {
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
                // Who asks for a plan to be saved has not given it up.
                Verb::Reject
                    if !negated
                        && position != self.command
                        && (alone || next || quoted.is_some()) =>
                {
                    if sibling && quoted.is_none() {
                        continue;
                    }
                    self.apply(position, author, Verb::Reject, false, about);
                }
                _ => {}
            }
        }
    }

    /// Somebody names a plan; whom they named before does not count any more.
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
                // Who approves has not rejected it after all.
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
                standing.rejected = Some(position);
                standing.approved.retain(|(_, by)| *by != author);
                standing.chosen.retain(|(_, by)| *by != author);
            }
            (Verb::Contrast, _) => {
                standing.chosen.retain(|(_, by)| *by != author);
            }
            (Verb::Reject | Verb::Withdraw, true) => {}
        }
    }

    /// The plans that a sentence names, with the places where it does.
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

    /// Words next to a decision that only one plan has: "we'll go with the queue".
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

    /// "My plan", "your proposal", and authors by their names.
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

    /// Words of a title that no other plan has.
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
    // "Not going with" is one phrase, not a decision that is within it.
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

/// The plan that folded text without quote marks is from, and whether it is only a part of it.
pub(super) fn from_quote(
    folded: &str,
    subjects: &[Subject],
    position: usize,
) -> Option<(usize, bool)> {
    let lines: HashSet<String> = telling_lines(folded).into_iter().take(20).collect();
    if lines.is_empty() {
        return None;
    }
    let mut best: Option<(usize, usize)> = None;
    for (at, subject) in subjects.iter().enumerate() {
        if subject.post > position {
            continue;
        }
        let hits = lines
            .iter()
            .filter(|line| {
                subject.lines.contains(*line)
                    || line.chars().count() >= 16
                        && subject
                            .lines
                            .iter()
                            .any(|other| other.contains(line.as_str()))
            })
            .count();
        if hits > 0 && best.is_none_or(|(_, most)| hits >= most) {
            best = Some((at, hits));
        }
    }
    best.map(|(at, hits)| {
        (
            at,
            hits * 3 < subjects[at].lines.len() && !is_head(&lines, &subjects[at]),
        )
    })
}

/// The quote is of the title.
fn is_head(lines: &HashSet<String>, subject: &Subject) -> bool {
    lines.iter().any(|line| {
        let words = telling_words(line);
        !words.is_empty() && overlap(&words, &subject.title) >= 80
    })
}

/// Plans that folded text names by link, label or order, with the places where it does. `says`: the text
/// says something about a plan, so that "the second" can be one.
pub(super) fn named(
    text: &str,
    phrases: &Phrases,
    subjects: &[Subject],
    position: usize,
    says: bool,
) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, _) in text.match_indices("issuecomment-") {
        let digits: String = text[at + 13..]
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let id = digits.parse().ok();
        if let Some(subject) = subjects
            .iter()
            .position(|it| it.id.is_some() && it.id == id)
        {
            found.push((at, subject));
        }
    }
    let label_at = |label: &str| {
        subjects
            .iter()
            .enumerate()
            .rev()
            .find(|(_, it)| it.post <= position && it.label.as_deref() == Some(label))
            .map(|(at, _)| at)
    };
    for noun in phrases
        .iter()
        .filter(|it| matches!(it.class, Class::Plan | Class::Proposal))
    {
        let rest = text[noun.end..].trim_start_matches([' ', '#', '"', '\'', ':']);
        let label: String = rest
            .chars()
            .take_while(|c| c.is_alphanumeric())
            .take(3)
            .collect();
        let label = han_digit(&label).unwrap_or(label);
        if let Some(subject) = label_at(&label) {
            found.push((noun.start, subject));
        }
        // `B案`, `2番目の案`.
        if let Some(before) = text[..noun.start].trim_end().chars().next_back()
            && !before.is_ascii_punctuation()
            && let Some(subject) = label_at(&before.to_string())
            && text[..noun.start]
                .trim_end()
                .chars()
                .rev()
                .nth(1)
                .is_none_or(|c| !c.is_ascii_alphanumeric())
        {
            found.push((noun.start, subject));
        }
    }
    if says {
        for (at, subject) in subjects.iter().enumerate() {
            if let Some(label) = &subject.label
                && subject.post <= position
                && label_at(label) == Some(at)
                && let Some(place) = lone_label(text, label)
            {
                found.push((place, at));
            }
        }
        for (place, phrase) in ordinals(text, phrases) {
            if let Some(subject) = nth(subjects, position, phrase.into()) {
                found.push((place, subject));
            }
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|(_, subject)| *subject);
    found
}

fn han_digit(label: &str) -> Option<String> {
    let first = label.chars().next()?;
    let at = "一二三四五".chars().position(|c| c == first)?;
    Some((at + 1).to_string())
}

/// A label that is a word of its own, and no article: `B it is`, `going with a`.
fn lone_label(text: &str, label: &str) -> Option<usize> {
    let at = whole_word(text, label)?;
    let rest = text[at + label.len()..].trim_start();
    let ends = rest.is_empty() || rest.starts_with(|c: char| !c.is_alphanumeric());
    let digit = label.starts_with(|c: char| c.is_ascii_digit());
    let article = ["a", "i", "e", "o", "y", "u"].contains(&label);
    let decided = ["it is", "is it", "please", "for me", "wins"]
        .iter()
        .any(|word| rest.starts_with(word));
    (ends || decided || !article && !digit).then_some(at)
}

/// Words of order that stand for a plan: alone, or with a noun for one.
fn ordinals(text: &str, phrases: &Phrases) -> Vec<(usize, u8)> {
    let mut found = Vec::new();
    for phrase in phrases.iter() {
        let Class::Ordinal(place) = phrase.class else {
            continue;
        };
        let rest = text[phrase.end..].trim_start();
        let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
        let at = text.len() - rest.len();
        let noun = phrases
            .iter()
            .any(|it| matches!(it.class, Class::Plan | Class::Proposal) && it.start == at);
        let alone = word.is_empty() || word == "one" || !word.is_ascii();
        // "First" begins many sentences, and "first run" is no plan.
        let decided = phrases
            .all(Class::Choose)
            .any(|verb| verb.end <= phrase.start && phrase.start - verb.end <= 12);
        if noun || alone || (place > 0 || decided) && word.len() <= 4 {
            found.push((phrase.start, place));
        }
    }
    found
}

/// The plan at `place`, counted from 0: among those of the newest post with several, else among all.
fn nth(subjects: &[Subject], position: usize, place: usize) -> Option<usize> {
    let earlier: Vec<usize> = (0..subjects.len())
        .filter(|at| subjects[*at].post <= position)
        .collect();
    let several = earlier
        .iter()
        .rev()
        .map(|at| subjects[*at].post)
        .find(|post| {
            earlier
                .iter()
                .filter(|at| subjects[**at].post == *post)
                .count()
                > 1
        });
    let among: Vec<usize> = match several {
        Some(post) => earlier
            .into_iter()
            .filter(|at| subjects[*at].post == post)
            .collect(),
        None => earlier,
    };
    if among.len() < 2 {
        return None;
    }
    among.get(place).copied()
}

/// Authors by login or the name in it: the newest plan of each that is named.
pub(super) fn by_name(text: &str, subjects: &[Subject], position: usize) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut seen: HashSet<&str> = HashSet::new();
    for at in (0..subjects.len()).rev() {
        let subject = &subjects[at];
        if subject.post > position || !seen.insert(&subject.login) {
            continue;
        }
        if let Some(place) = names(text, &subject.login) {
            found.push((place, at));
        }
    }
    // `@ann I prefer bob's`: who is spoken to is not what is spoken of.
    if found.len() > 1 {
        found.retain(|(place, _)| *place > 1);
    }
    found.sort_unstable();
    found
}

/// Where `text` has `login` or a name that is a part of it.
fn names(text: &str, login: &str) -> Option<usize> {
    let login = login.strip_suffix("[bot]").unwrap_or(login);
    let mut forms: Vec<&str> = vec![login];
    forms.extend(login.split(['-', '_', '.']).filter(|part| part.len() >= 3));
    if let Some(at) = forms.iter().find_map(|form| whole_word(text, form)) {
        return Some(at);
    }
    // `maria` for `mariaflores`, `anja` for `anja85`.
    let mut at = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        // `Bjarnes`, `Amosem`.
        let inflected = |form: &&str| {
            form.len() >= 4 && word.starts_with(*form) && word.len() <= form.len() + 3
        };
        if word.len() >= 4 && login.starts_with(word) || forms.iter().any(inflected) {
            return Some(at);
        }
        at += word.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
    }
    None
}

/// Where `word` is in `text`, not within a longer word.
fn whole_word(text: &str, word: &str) -> Option<usize> {
    let wide = |c: char| ('\u{3040}'..'\u{fb00}').contains(&c);
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let apart = |c: Option<char>, edge: Option<char>| {
            c.is_none_or(|c| !c.is_alphanumeric() || wide(c)) || edge.is_some_and(wide)
        };
        apart(text[..*at].chars().next_back(), word.chars().next())
            && apart(
                text[at + word.len()..].chars().next(),
                word.chars().next_back(),
            )
    })
}

/// The text of `element` says that the plan with it replaces an earlier one.
pub(super) fn replaces(element: &Element) -> bool {
    element.text.len() <= 800 && element.phrases.has(Class::Replace)
}
