//! Phrases that say something about a plan.

use std::ops::Range;

use crate::formats::vocabulary::{Class, Match, Phrases};

/// The effect of a phrase on the plan it refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
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

/// Returns the phrases of a sentence that say something about a plan, in order, and whether each is
/// negated.
pub(super) fn verbs(sentence: &str, phrases: &Phrases) -> Vec<(Verb, Match, bool)> {
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
