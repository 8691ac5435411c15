//! Words and phrases of conversations about plans, in the languages of `src/formats/vocabulary/*.toml`.
//!
//! A phrase is evidence, never proof: whoever uses it combines it with the structure of the text. Texts
//! are compared in the form that [`fold`] gives them. A phrase matches whole words; `*` at its start or
//! end lets the word go on there, and next to a character of a script without blanks between words no
//! boundary is needed.
//!
//! To add a language, write its file with the keys of `en.toml` and add it to `FILES`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;

/// What a phrase means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A noun for a plan.
    Plan,
    /// A noun for one of several proposals: "option", "variant".
    Proposal,
    /// A noun that is counted in a series of steps: "step", "phase".
    Step,
    /// Announces the steps: "here's what I'd do".
    Lead,
    /// Heading of a part of a plan.
    Section,
    /// Heading of another kind of document: bug report, minutes, release notes.
    Other,
    /// Begins a sequence of sentences: "first".
    First,
    /// Goes on in a sequence: "then".
    Next,
    /// Ends a sequence: "finally".
    Last,
    /// What a step does, as written in lists of things to do.
    Action,
    /// What was done, as in changelogs and reports.
    Done,
    /// Approval.
    Approve,
    /// Decision for one of several: stands with what is chosen.
    Choose,
    /// Rejection.
    Reject,
    /// An author takes back what they proposed.
    Withdraw,
    /// A new version of a plan.
    Replace,
    /// A change or an addition to a plan that stands.
    Amend,
    /// What follows is the alternative that is not chosen: "instead of".
    Contrast,
    /// Turns an approval or a decision around.
    Negation,
    /// Nobody has decided.
    Undecided,
    /// Belongs to who writes.
    Mine,
    /// Belongs to who is written to.
    Theirs,
    /// Refers to something earlier.
    Above,
    /// "First", "second", … of several; counted from 0.
    #[serde(skip)]
    Ordinal(u8),
    /// Begins a sentence that leads to a plan and is not part of it: a greeting, an announcement.
    Before,
    /// Begins a sentence behind a plan that is not part of it: a sign-off, a question to the reader.
    After,
    /// A plan in parts: "part", "continued".
    Part,
    /// Stands before the colon in a title and says nothing about the plan.
    Marker,
    /// A title that says nothing.
    Empty,
    /// Begins a question about how something is done.
    HowTo,
    /// Who writes: "I".
    Me,
    /// Ends a discussion with nothing.
    DropAll,
    /// Says what is wanted, not what to do about it.
    Want,
    /// Says that a text is about another matter than the conversation's.
    Aside,
    /// Tells the reader what to do or to try: "you can", "as a workaround".
    Advice,
    /// Says that the work has been done.
    Finished,
    /// More than one of something: "two".
    Several,
}

#[derive(Deserialize)]
struct Language {
    ordinal: Vec<Vec<String>>,
    #[serde(flatten)]
    words: BTreeMap<Class, Vec<String>>,
}

macro_rules! files {
    ($($code:literal),* $(,)?) => {
        /// Language and source of each data file.
        const FILES: &[(&str, &str)] = &[
            $(($code, include_str!(concat!("vocabulary/", $code, ".toml")))),*
        ];
    };
}

files![
    "cs", "de", "en", "es", "fr", "hi", "id", "it", "ja", "ko", "nl", "pl", "pt", "ru", "sv", "tr",
    "uk", "vi", "zh"
];

/// A phrase that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// What it means.
    pub class: Class,
    /// First byte in the folded text.
    pub start: usize,
    /// Behind its last byte.
    pub end: usize,
}

struct Phrase {
    classes: Vec<Class>,
    open_start: bool,
    open_end: bool,
}

struct Vocabulary {
    /// `None` where there are no files; an automaton of a size that cannot be built does not fit into them.
    automaton: Option<AhoCorasick>,
    phrases: Vec<Phrase>,
}

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let mut phrases: BTreeMap<String, Vec<Class>> = BTreeMap::new();
    for (_, source) in FILES {
        // The files are part of the program, and a test reads each of them.
        let Ok(language) = toml::from_str::<Language>(source) else {
            continue;
        };
        let ordinals = language.ordinal.into_iter().zip(0..);
        let ordinals = ordinals.map(|(words, place)| (Class::Ordinal(place), words));
        for (class, words) in language.words.into_iter().chain(ordinals) {
            for word in words {
                let classes = phrases.entry(word).or_default();
                if !classes.contains(&class) {
                    classes.push(class);
                }
            }
        }
    }
    let bare: Vec<&str> = phrases
        .keys()
        .map(|phrase| phrase.trim_matches('*'))
        .collect();
    let automaton = AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .build(&bare);
    Vocabulary {
        automaton: automaton.ok(),
        phrases: phrases
            .iter()
            .map(|(phrase, classes)| Phrase {
                classes: classes.clone(),
                open_start: phrase.starts_with('*'),
                open_end: phrase.ends_with('*'),
            })
            .collect(),
    }
});

/// `text` in the form in which phrases are compared: compatibility forms replaced (NFKC), lower case,
/// straight apostrophes.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars()
        .flat_map(spelled)
        .nfkc()
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            '\u{2018}' | '\u{2019}' | '\u{02bc}' => '\'',
            other => other,
        })
        .collect()
}

/// A digit of any script as an ASCII one, and a circled number with a full stop behind it; else `c`.
fn spelled(c: char) -> impl Iterator<Item = char> {
    let digit = |zero: char| char::from_digit(u32::from(c) - u32::from(zero), 10);
    let (first, second) = match c {
        '\u{660}'..='\u{669}' => (digit('\u{660}'), None),
        '\u{6f0}'..='\u{6f9}' => (digit('\u{6f0}'), None),
        '\u{966}'..='\u{96f}' => (digit('\u{966}'), None),
        '①'..='⑳' => (Some(c), Some('.')),
        _ => (None, None),
    };
    [Some(first.unwrap_or(c)), second].into_iter().flatten()
}

/// Every phrase in a text that [`fold`] has made, by where it ends.
pub fn find(folded: &str) -> Vec<Match> {
    let vocabulary = &*VOCABULARY;
    let mut found = Vec::new();
    let hits = vocabulary
        .automaton
        .iter()
        .flat_map(|it| it.find_overlapping_iter(folded));
    for hit in hits {
        let phrase = &vocabulary.phrases[hit.pattern().as_usize()];
        let (start, end) = (hit.start(), hit.end());
        let apart_before = phrase.open_start || boundary(folded, start);
        let apart_after = phrase.open_end || boundary(folded, end);
        if apart_before && apart_after {
            found.extend(phrase.classes.iter().map(|class| Match {
                class: *class,
                start,
                end,
            }));
        }
    }
    found
}

/// True when no word of `text` goes on across byte `at`.
fn boundary(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at..].chars().next();
    match (before, after) {
        (Some(before), Some(after)) => {
            let inside = |c: char| c.is_alphanumeric();
            !inside(before) || !inside(after) || unspaced(before) || unspaced(after)
        }
        _ => true,
    }
}

/// A character of a script that puts no blanks between words.
fn unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Myanmar
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3005}'..='\u{30ff}' // Kana
        | '\u{3400}'..='\u{9fff}' // Han
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// The phrases of one text.
#[derive(Debug, Clone, Default)]
pub struct Phrases {
    length: usize,
    matches: Vec<Match>,
}

impl Phrases {
    /// Of a text that [`fold`] has made.
    pub fn of(folded: &str) -> Self {
        Self {
            length: folded.len(),
            matches: find(folded),
        }
    }

    /// Every phrase of `class`, in order.
    pub fn all(&self, class: Class) -> impl Iterator<Item = Match> + '_ {
        self.matches
            .iter()
            .copied()
            .filter(move |found| found.class == class)
    }

    /// A phrase of `class` is in the text.
    pub fn has(&self, class: Class) -> bool {
        self.all(class).next().is_some()
    }

    /// Where a phrase of `class` that begins the text ends; the longest one. `from` is the first byte
    /// of the text's first word.
    pub fn begins(&self, class: Class, from: usize) -> Option<usize> {
        self.all(class)
            .filter(|found| found.start == from)
            .map(|found| found.end)
            .max()
    }

    /// A phrase of `class` is the whole text, but for `around` bytes that are no words.
    pub fn is(&self, class: Class, words: std::ops::Range<usize>) -> bool {
        self.all(class).any(|found| {
            found.start == words.start && found.end >= words.end && found.end <= self.length
        })
    }

    /// Every phrase, in the order of their ends.
    pub fn iter(&self) -> impl Iterator<Item = &Match> {
        self.matches.iter()
    }
}

/// The bytes of `text` from its first to its last letter or digit; empty where it has none.
pub fn words(text: &str) -> std::ops::Range<usize> {
    let start = text.find(char::is_alphanumeric).unwrap_or(text.len());
    let end = text
        .char_indices()
        .rev()
        .find(|(_, c)| c.is_alphanumeric())
        .map_or(start, |(at, c)| at + c.len_utf8());
    start..end.max(start)
}

#[cfg(test)]
mod tests;
