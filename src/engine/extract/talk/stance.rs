//! Estimates what a whole comment means for each plan before it, with a model that was trained on
//! the labelled comments of `fixtures/remarks`.
//!
//! The model sees the comment from the point of view of each plan: the name of the plan's author,
//! its number and words that only this plan contains are replaced by marks, and so are those of the
//! other plans. What remains are the words that approve, decide, reject or ask, in any language of
//! the labelled comments.

use std::collections::HashSet;

use text_classifier::{Builder, Features};

use crate::engine::extract::element::{Element, ElementKind};
use crate::engine::extract::models;
use crate::engine::extract::reference::{Subject, by_name, named};
use crate::formats::vocabulary::Phrases;

use super::verbs::Verb;
use super::{Statement, Talk};

/// Maximum length of a comment whose meaning is estimated, in bytes.
const MAX_COMMENT: usize = 1_500;
/// Maximum number of plans, the newest ones, that are considered.
const MAX_LIVE: usize = 8;
/// Number of characters by which words are compared.
const STEM: usize = 5;
/// Minimum length of a word that tells plans apart, in bytes.
const MIN_WORD: usize = 4;
/// Minimum probability of a preference among plans, or of a rejection: a wrong one saves another
/// plan or none.
const SURE: f32 = 0.9;
/// Minimum lead of the plan that is preferred.
const LEAD: f32 = 0.2;
/// Minimum probability of an approval of the only plan, or of an open decision.
const LIKELY: f32 = 0.8;
/// Number of words at the start and at the end of a comment that are considered separately.
const EDGE: usize = 5;
/// Maximum number of words that mean something else if the plan's author writes them.
const MAX_OWN: usize = 60;
/// Weight of the features that depend on the plan, beside those of the words.
const VIEW: f32 = 0.35;

/// What a comment means for a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine::extract) enum Stance {
    /// Approves of the plan, or decides for it if there are several.
    For,
    /// Decides for another plan.
    Other,
    /// Rejects or withdraws the plan.
    Against,
    /// Leaves the decision open.
    Open,
    /// Nothing.
    Neutral,
}

impl Stance {
    /// All values, in the order of the classes of the model.
    pub(in crate::engine::extract) const ALL: [Self; models::STANCES] = [
        Self::For,
        Self::Other,
        Self::Against,
        Self::Open,
        Self::Neutral,
    ];
}

/// The probabilities of [`Stance::ALL`].
pub(in crate::engine::extract) type Estimate = Vec<f32>;

/// A comment from the point of view of each plan.
pub(in crate::engine::extract) struct Views {
    /// Features of the words.
    words: Features,
    /// Features that depend on the plan, for each plan.
    plans: Vec<(usize, Features)>,
}

impl Views {
    /// Returns the features of the comment from the point of view of each plan.
    pub(in crate::engine::extract) fn features(&self) -> impl Iterator<Item = (usize, Features)> {
        let with = |(at, features): &(usize, Features)| (*at, self.words.with(features));
        self.plans.iter().map(with)
    }

    /// Returns what the comment means for each plan.
    pub(super) fn estimates(&self) -> Vec<(usize, Estimate)> {
        let estimate = |(at, features): (usize, Features)| {
            let found = models::probabilities(|it| &it.comments, &features)?;
            Some((at, found))
        };
        self.features().filter_map(estimate).collect()
    }
}

/// What a post probably means for a plan.
#[derive(Debug, Clone)]
pub(in crate::engine::extract) struct Estimated {
    /// Account of the post's author.
    pub(in crate::engine::extract) author: Option<u64>,
    /// The probabilities.
    pub(in crate::engine::extract) estimate: Estimate,
}

impl Talk<'_> {
    /// Returns the plans that are in question when the post at `position` is written.
    pub(super) fn live(&self, position: usize) -> Vec<usize> {
        let holds = |at: usize| self.subjects[at].post < position && !self.standing[at].gone();
        (0..self.subjects.len())
            .filter(|at| holds(*at) && !self.successors[*at].iter().any(|later| holds(*later)))
            .collect()
    }

    /// Estimates what a post means for each of the plans `live`. The estimate is applied only if no
    /// known phrase in the post says anything about a plan (`is_understood`), it quotes nothing, and
    /// it is not the command.
    pub(super) fn estimate(
        &mut self,
        statement: &Statement<'_>,
        live: &[usize],
        is_understood: bool,
    ) {
        let position = statement.position;
        let author = statement.post.author.as_ref().map(|author| author.id);
        let views = views(
            statement,
            (self.subjects, &self.stems),
            live,
            self.opener,
            Source::Conversation,
        );
        let estimates = views.map(|it| it.estimates()).unwrap_or_default();
        for (at, estimate) in &estimates {
            self.estimated[*at].push(Estimated {
                author,
                estimate: estimate.clone(),
            });
        }
        let quotes = |it: &Element| it.kind == ElementKind::Quote;
        let has_quote = statement.elements.iter().any(quotes);
        if is_understood || has_quote || position == self.command {
            return;
        }
        // Authors of one of several plans argue, and leave the decision to others.
        let own = |at: usize| author.is_some() && self.subjects[at].author == author;
        if live.len() > 1 && live.iter().any(|at| own(*at)) {
            return;
        }
        self.apply_estimates(position, author, &estimates);
    }

    fn apply_estimates(
        &mut self,
        position: usize,
        author: Option<u64>,
        estimates: &[(usize, Estimate)],
    ) {
        let mut best: Vec<(f32, usize)> = estimates
            .iter()
            .map(|(at, estimate)| (estimate[Stance::For as usize], *at))
            .collect();
        best.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mean = |stance: Stance| {
            let sum: f32 = estimates.iter().map(|(_, it)| it[stance as usize]).sum();
            #[expect(clippy::cast_precision_loss, reason = "at most MAX_LIVE")]
            let number = estimates.len() as f32;
            sum / number
        };
        match best[..] {
            [] => {}
            [(likely, one)] if likely >= LIKELY => {
                self.apply(position, author, Verb::Approve, false, one);
            }
            [(sure, one), (less, _), ..] if sure >= SURE && sure - less >= LEAD => {
                // A vote, since a leaning can look like a decision.
                self.name(position, author, one);
                self.apply(position, author, Verb::Approve, false, one);
            }
            _ if mean(Stance::Against) >= SURE => {
                for (at, _) in estimates {
                    let own = author.is_some() && self.subjects[*at].author == author;
                    let verb = if own { Verb::Withdraw } else { Verb::Reject };
                    self.apply(position, author, verb, false, *at);
                }
            }
            [_, _, ..] if mean(Stance::Open) >= LIKELY => {
                self.doubts.insert(author, position);
            }
            _ => {}
        }
    }
}

/// Returns the text of a comment that contains no plan and is not too long.
fn comment(statement: &Statement<'_>) -> Option<String> {
    if !statement.plans.is_empty() {
        return None;
    }
    let mut text = String::new();
    for element in statement.elements {
        match &element.kind {
            ElementKind::Paragraph | ElementKind::Heading(_) => {
                text.push_str(&element.text);
                text.push('\n');
            }
            ElementKind::List { items, .. } => {
                for item in items {
                    text.push_str(&item.text);
                    text.push('\n');
                }
            }
            _ => {}
        }
        if text.len() > MAX_COMMENT {
            return None;
        }
    }
    text.chars().any(|c| !c.is_whitespace()).then_some(text)
}

/// Returns a comment from the point of view of the plans `live` among `subjects`.
pub(in crate::engine::extract) fn views(
    statement: &Statement<'_>,
    (subjects, stems): (&[Subject], &[Stems]),
    live: &[usize],
    opener: Option<u64>,
    source: Source,
) -> Option<Views> {
    let live = &live[live.len().saturating_sub(MAX_LIVE)..];
    let text = comment(statement)?;
    let tokens = tokens(&text, (subjects, stems), live, statement.position);
    let mut words = Builder::default();
    let mut sequence: Vec<&str> = Vec::new();
    for token in &tokens {
        if let Some((mark, _)) = token.mention {
            sequence.push(mark.name());
        } else {
            words.add_chars(token.text);
            sequence.push(token.text);
        }
    }
    words.add_sequences(&sequence);
    add_edges(&mut words, &sequence);
    let facts = Comment {
        source,
        text: &text,
        position: statement.position,
        author: statement.post.author.as_ref().map(|author| author.id),
        opener,
        plans: live.len(),
        authors: live.iter().map(|at| subjects[*at].author).collect(),
        newest: live.iter().map(|at| subjects[*at].post).max()?,
    };
    let plans = live
        .iter()
        .map(|at| {
            let mut view = Builder::default();
            add_context(&mut view, &subjects[*at], &facts);
            if facts.wrote(subjects[*at].author) {
                for token in tokens.iter().take(MAX_OWN) {
                    view.add(&["own word", token.text]);
                }
            }
            if live.len() > 1 {
                add_mentions(&mut view, &tokens, *at);
            }
            (*at, view.uniform(VIEW))
        })
        .collect();
    Some(Views {
        words: words.normalized(),
        plans,
    })
}

/// How a word refers to a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// By the name of its author.
    Name,
    /// By its number, label or link.
    Number,
    /// By a word that only this plan contains.
    Word,
}

impl Mark {
    fn name(self) -> &'static str {
        match self {
            Self::Name => "<name>",
            Self::Number => "<number>",
            Self::Word => "<word>",
        }
    }
}

/// Where a comment comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine::extract) enum Source {
    /// A conversation, in which most comments decide nothing.
    Conversation,
    /// Comments written for the training, most of which decide something.
    #[cfg(test)]
    Sample,
}

impl Source {
    fn name(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            #[cfg(test)]
            Self::Sample => "sample",
        }
    }
}

/// Facts about a comment that do not depend on a plan.
struct Comment<'t> {
    source: Source,
    text: &'t str,
    position: usize,
    author: Option<u64>,
    /// Account that began the conversation.
    opener: Option<u64>,
    /// Number of the plans.
    plans: usize,
    /// Authors of the plans.
    authors: Vec<Option<u64>>,
    /// Position of the newest plan.
    newest: usize,
}

impl Comment<'_> {
    fn wrote(&self, account: Option<u64>) -> bool {
        account.is_some() && self.author == account
    }
}

/// A word or a punctuation mark.
struct Token<'t> {
    text: &'t str,
    /// The plan that the word refers to.
    mention: Option<(Mark, usize)>,
}

fn tokens<'t>(
    text: &'t str,
    (subjects, stems): (&[Subject], &[Stems]),
    live: &[usize],
    position: usize,
) -> Vec<Token<'t>> {
    let several = live.len() > 1;
    let mut places: Vec<(usize, Mark, usize)> = Vec::new();
    if several {
        let phrases = Phrases::of(text);
        let mut note = |mark: Mark, found: Vec<(usize, usize)>| {
            let found = found.into_iter().filter(|(_, at)| live.contains(at));
            places.extend(found.map(|(place, at)| (place, mark, at)));
        };
        note(
            Mark::Number,
            named(text, &phrases, subjects, position, true),
        );
        note(Mark::Name, by_name(text, subjects, position));
    }
    let only = |word: &str| {
        if !several || word.len() < MIN_WORD {
            return None;
        }
        let stem = stem(word);
        let mut with = live.iter().filter(|at| stems[**at].contains(stem));
        match (with.next(), with.next()) {
            (Some(at), None) => Some((Mark::Word, *at)),
            _ => None,
        }
    };
    pieces(text)
        .map(|(start, piece)| {
            let here =
                |place: &&(usize, Mark, usize)| start <= place.0 && place.0 < start + piece.len();
            let place = places.iter().find(here);
            Token {
                text: piece,
                mention: place
                    .map(|(_, mark, at)| (*mark, *at))
                    .or_else(|| only(piece)),
            }
        })
        .collect()
}

/// The stems of a plan's words.
pub(in crate::engine::extract) type Stems = HashSet<String>;

/// Returns the stems of the words of each plan.
pub(in crate::engine::extract) fn stems(subjects: &[Subject]) -> Vec<Stems> {
    let of = |subject: &Subject| {
        let words = subject.words.iter();
        words.map(|word| stem(word).to_owned()).collect()
    };
    subjects.iter().map(of).collect()
}

/// Returns the start of a word, by which its forms are compared.
pub(in crate::engine::extract) fn stem(word: &str) -> &str {
    let end = word.char_indices().nth(STEM);
    &word[..end.map_or(word.len(), |(at, _)| at)]
}

/// Splits text into words and single other characters, with their offsets. Words end between
/// scripts with and without spaces.
pub(in crate::engine::extract) fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    #[derive(PartialEq, Clone, Copy)]
    enum Kind {
        Space,
        Word,
        Wide,
        Other,
    }
    let kind = |c: char| match c {
        _ if c.is_whitespace() => Kind::Space,
        '\u{3040}'..'\u{fb00}' if c.is_alphanumeric() => Kind::Wide,
        _ if c.is_alphanumeric() || is_mark(c) => Kind::Word,
        _ => Kind::Other,
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &text[at..];
            let first = rest.chars().next()?;
            let begins = kind(first);
            let end = match begins {
                Kind::Other => first.len_utf8(),
                _ => rest.find(|c| kind(c) != begins).unwrap_or(rest.len()),
            };
            let start = at;
            at += end;
            if begins != Kind::Space {
                return Some((start, &text[start..at]));
            }
        }
    })
}

/// Whether a character is a combining mark of an Indic script, which belongs to a word.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}')
}

/// Adds the words with which a comment begins and ends.
fn add_edges(words: &mut Builder, sequence: &[&str]) {
    let first = &sequence[..sequence.len().min(EDGE)];
    let last = &sequence[sequence.len().saturating_sub(EDGE)..];
    for (place, part) in [("start", first), ("end", last)] {
        for word in part {
            words.add(&[place, word]);
        }
        for pair in part.windows(2) {
            words.add(&[place, pair[0], pair[1]]);
        }
    }
}

/// Adds where the comment is, who wrote it and how long it is.
fn add_context(view: &mut Builder, subject: &Subject, comment: &Comment<'_>) {
    let yes = |it: bool| if it { "yes" } else { "no" };
    let number = if comment.plans > 1 { "several" } else { "one" };
    let length = match comment.text.len() {
        0..40 => "short",
        40..200 => "medium",
        _ => "long",
    };
    let is_own = comment.wrote(subject.author);
    let is_rival = !is_own && comment.authors.iter().any(|it| comment.wrote(*it));
    view.add(&["plans", number]);
    // Several copies have more weight.
    for copy in ["1", "2", "3", "4", "5", "6"] {
        view.add(&["source", comment.source.name(), number, copy]);
    }
    view.add(&["own", yes(is_own), number]);
    view.add(&["rival", yes(is_rival), number]);
    view.add(&["opener", yes(comment.wrote(comment.opener)), number]);
    view.add(&["length", length, number]);
    view.add(&["newest", yes(subject.post == comment.newest), number]);
    view.add(&["next", yes(subject.post + 1 == comment.position), number]);
}

/// Adds how the plan `at` and the others are mentioned: whether, in which order, and next to which
/// words.
fn add_mentions(view: &mut Builder, tokens: &[Token<'_>], at: usize) {
    let mentions: Vec<(usize, Mark, &str)> = tokens
        .iter()
        .enumerate()
        .filter_map(|(place, token)| {
            let (mark, subject) = token.mention?;
            let side = if subject == at { "self" } else { "other" };
            Some((place, mark, side))
        })
        .collect();
    let has = |side: &str| mentions.iter().any(|(_, _, it)| *it == side);
    let yes = |it: bool| if it { "yes" } else { "no" };
    view.add(&["sides", yes(has("self")), yes(has("other"))]);
    let (Some(first), Some(last)) = (mentions.first(), mentions.last()) else {
        return;
    };
    view.add(&["first", first.1.name(), first.2]);
    view.add(&["last", last.1.name(), last.2]);
    view.add(&["both", first.2, last.2]);
    let count = |side: &str| mentions.iter().filter(|(_, _, it)| *it == side).count();
    view.add(&[
        "more",
        match count("self").cmp(&count("other")) {
            std::cmp::Ordering::Less => "other",
            std::cmp::Ordering::Equal => "same",
            std::cmp::Ordering::Greater => "self",
        },
    ]);
    for (place, mark, side) in &mentions {
        let mark = mark.name();
        view.add(&["has", mark, side]);
        if *place == 0 {
            view.add(&["starts", mark, side]);
        }
        if place + 2 >= tokens.len() {
            view.add(&["ends", mark, side]);
        }
        let text = |token: &Token<'_>| match token.mention {
            Some((mark, subject)) if subject == at => ["self", mark.name()].concat(),
            Some((mark, _)) => ["other", mark.name()].concat(),
            None => token.text.to_owned(),
        };
        for (distance, token) in tokens[..*place].iter().rev().take(3).enumerate() {
            view.add(&["before", mark, side, &text(token)]);
            if distance == 0 {
                view.add(&["just before", mark, side, &text(token)]);
            }
        }
        for (distance, token) in tokens[place + 1..].iter().take(3).enumerate() {
            view.add(&["behind", mark, side, &text(token)]);
            if distance == 0 {
                view.add(&["just behind", mark, side, &text(token)]);
            }
        }
    }
}
