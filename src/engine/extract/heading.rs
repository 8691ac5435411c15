//! Determines the role of a heading and the label of a proposal that it contains.

use super::element::Element;
use super::numbering::step_number;
use crate::formats::vocabulary::Class;

/// The role of a heading in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The title of a plan.
    Title,
    /// The title of a section of a plan.
    Section,
    /// A numbered phase or step.
    Phase,
    /// A part of another kind of document.
    Other,
    /// The role cannot be determined.
    Unknown,
}

/// Returns the role of a heading, or of a bold line that serves as one.
pub(super) fn role(element: &Element) -> Role {
    let level = element.level().unwrap_or(3);
    let (text, mut words) = (&element.text, element.words());
    // `Measurements (last week)`
    if let Some(open) = text[words.clone()].find(" (").filter(|open| *open > 0) {
        words.end = words.start + open;
    }
    if words.is_empty() {
        return Role::Unknown;
    }
    let phrases = &element.phrases;
    let covered = |class: Class, least: usize| {
        phrases
            .all(class)
            .any(|found| (found.end - found.start) * 100 >= words.len() * least)
    };
    let asks = text.trim_end().ends_with(['?', '？']) && !covered(Class::Empty, 75);
    let other = covered(Class::Other, 75)
        || phrases
            .begins(Class::Other, words.start)
            .is_some_and(|end| {
                let rest = text[end..].trim_start();
                end >= words.start + 10 || rest.starts_with(|c: char| c.is_ascii_digit())
            });
    if asks || other && !covered(Class::Plan, 60) {
        return Role::Other;
    }
    let digits = text[words.start..].starts_with(|c: char| c.is_ascii_digit());
    if step_number(text).is_some() && !digits {
        return Role::Phase;
    }
    let proposal = phrases.is(Class::Proposal, words.clone())
        || phrases.is(Class::Empty, words.clone())
            && (phrases.has(Class::Plan) || phrases.has(Class::Proposal));
    if level <= 3 && (names_plan(element) || proposal) {
        return Role::Title;
    }
    let short = text[words.clone()].split_whitespace().count() <= 3;
    if covered(Class::Section, 60) || short && phrases.begins(Class::Section, words.start).is_some()
    {
        return Role::Section;
    }
    if step_number(text).is_some() {
        return Role::Phase;
    }
    Role::Unknown
}

/// Whether the heading is the title of a plan: `Plan: X`, `X plan`, `Plan for X`, but neither
/// `Pricing plan limits` nor `Test plan`.
fn names_plan(element: &Element) -> bool {
    let words = element.words();
    let part = |class: Class, start: usize, end: usize| {
        element
            .phrases
            .all(class)
            .any(|found| found.start < start && found.end >= end)
    };
    element.phrases.all(Class::Plan).any(|plan| {
        let rest = element.text[plan.end..].trim_start();
        let joined = rest.starts_with([':', '-', '–', '—', '(', '：', '（'])
            || ["for ", "to ", "of ", "v2", "v3"]
                .iter()
                .any(|word| rest.starts_with(word));
        !part(Class::Section, plan.start, plan.end)
            && !part(Class::Other, plan.start, plan.end)
            && (plan.start == words.start || plan.end >= words.end || joined)
    })
}

/// Returns the label of a proposal among several: `Option A: …`, `Plan 2`, `案B`.
pub(super) fn label(text: &str, element: &Element) -> Option<String> {
    let words = element.words();
    let begins = |class| element.phrases.begins(class, words.start);
    let end = begins(Class::Proposal)
        .into_iter()
        .chain(begins(Class::Plan))
        .max();
    if let Some(end) = end {
        return short_label(text[end..].trim_start_matches([' ', '#', ':', '"', '\u{a0}']));
    }
    // The noun may follow the letter, as in `A案`.
    let rest = &text[words.start..];
    let first = rest.chars().next()?;
    let behind = rest[first.len_utf8()..].trim_start();
    let at = text.len() - behind.len();
    let named = element.phrases.begins(Class::Proposal, at).is_some();
    (named && first.is_alphanumeric()).then(|| first.to_string())
}

pub(super) fn short_label(rest: &str) -> Option<String> {
    let label: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
    let han = ["一", "二", "三", "四", "五"];
    let letter = label.chars().count() == 1;
    let numeral = han
        .iter()
        .position(|numeral| label.starts_with(numeral))
        .map(|at| (at + 1).to_string());
    let words = ["one", "two", "three", "four"];
    let word = words
        .iter()
        .position(|word| *word == label)
        .map(|at| (at + 1).to_string());
    letter.then_some(label).or(numeral).or(word)
}
