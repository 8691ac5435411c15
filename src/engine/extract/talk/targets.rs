//! Finds the plan that a sentence or a post names.

use std::collections::{HashMap, HashSet};

use super::verbs::Verb;
use super::{OBJECT, Statement, Talk};
use crate::engine::extract::element::ElementKind;
use crate::engine::extract::reference::{by_name, named, ordinals, telling_words, whole_word};
use crate::formats::vocabulary::{Class, Match, Phrases};

impl Talk<'_> {
    /// Returns the plans named in a sentence, with the offset of each name.
    pub(super) fn targets(
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
        // "The way Ann had it to begin with" is her first plan.
        let oldest = |at: usize| {
            let login = &self.subjects[at].login;
            let first = self.subjects.iter().position(|it| it.login == *login);
            first.unwrap_or(at)
        };
        found.extend(
            by_name(sentence, self.subjects, position)
                .into_iter()
                .map(|(place, at)| {
                    let begins = phrases.all(Class::First).any(|it| it.start > place);
                    (place, if begins { oldest(at) } else { at })
                }),
        );
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

    /// Returns the plan that contains words near a decision or a rejection that no other plan
    /// contains: "we'll go with the queue".
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
            matches!(verb, Verb::Choose | Verb::Reject)
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

    /// Returns the offset of a plan's label if a short sentence consists of it, begins with it or
    /// ends with it: "B", "2 then", "for this issue: B".
    pub(super) fn vote(&self, position: usize, sentence: &str) -> Option<usize> {
        let said = sentence.trim_matches(|c: char| !c.is_alphanumeric());
        let labelled = self
            .subjects
            .iter()
            .filter(|it| it.post < position)
            .filter_map(|it| it.label.as_deref());
        let mut votes = labelled.filter_map(|label| {
            if said.strip_prefix(label) == Some(" then") {
                return sentence.find(label);
            }
            let before = said.strip_suffix(label)?;
            let short = before.chars().count() <= 24;
            let ends = short && (before.is_empty() || before.trim_end().ends_with([':', ',']));
            (ends && !label.is_empty()).then(|| sentence.rfind(label).unwrap_or(0))
        });
        votes.next()
    }

    /// Returns the offset of the author's name in a sentence that begins with it: "So: Ruthie's for
    /// June", "Oleg's latch."
    pub(super) fn owned(&self, position: usize, sentence: &str) -> Option<usize> {
        // A cheap test first: most sentences name nobody.
        let short = sentence.len() <= 40;
        if !short && sentence.find("'s ").is_none_or(|at| at > 40) {
            return None;
        }
        let [(place, subject)] = by_name(sentence, self.subjects, position)[..] else {
            return None;
        };
        // Nothing but the name: "Bob's.", "Bob, please".
        let mut words = sentence[place..].split(|c: char| !c.is_alphanumeric());
        let polite = [
            "", "s", "m", "please", "pls", "then", "for", "me", "us", "it", "is",
        ];
        words.next();
        if short && place == 0 && words.all(|word| polite.contains(&word)) {
            return Some(place);
        }
        let (_, behind) = sentence[place..].split_once("'s ")?;
        let noun = behind.trim_end_matches(['.', '!']);
        let has = |at: &usize| self.subjects[*at].words.contains(noun);
        let mut with = (0..self.subjects.len()).filter(has);
        let own = noun.len() >= 4 && with.next() == Some(subject) && with.next().is_none();
        let ends = ["for ", "it is", "please", "then"];
        let is_vote = own || ends.iter().any(|word| behind.starts_with(word));
        (place <= 8 && is_vote).then_some(place)
    }

    /// Returns the newest plan of the only author of a plan who is addressed with `@login`.
    pub(super) fn mentioned(&self, statement: &Statement<'_>) -> Option<usize> {
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
pub(super) fn ordered(sentence: &str, phrases: &Phrases) -> Option<usize> {
    let (place, _) = ordinals(sentence, phrases).into_iter().next()?;
    let ordinal = phrases.iter().find(|it| it.start == place)?;
    let end = sentence.trim_end();
    let others = end.chars().count() - end[..ordinal.end.min(end.len())].chars().count();
    let before = sentence[..place].chars().count();
    (before + others <= 16 && !end.ends_with(['?', '？', ':', '：'])).then_some(place)
}
