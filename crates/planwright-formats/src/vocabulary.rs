//! Words and phrases of conversations about plans, in the languages of `vocabulary/*.toml`.
//!
//! A phrase is evidence, not proof, and must be combined with the structure of the text. Phrases
//! are searched in text that was normalised by [`fold`]. A phrase matches whole words, but not
//! parts of words unless it has `*` at that end. ` ~ ` inside a phrase matches up to 48 bytes within
//! one sentence. No word boundary is needed next to a character of a script without spaces between
//! words.
//!
//! To add a language, write a file with the keys of `en.toml` and add it to `FILES`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;

/// Separates the two parts of a phrase with a gap.
const GAP: &str = " ~ ";

/// Maximum distance between the two parts of a phrase such as `take ~ back`, in bytes.
const MAX_GAP: usize = 48;

/// Meaning of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A noun for a plan.
    Plan,
    /// A noun for one of several proposals: "option", "variant".
    Proposal,
    /// A noun that numbers steps: "step", "phase".
    Step,
    /// Announces the steps: "here's what I'd do".
    Lead,
    /// Heading of a section in a plan.
    Section,
    /// Heading in another kind of document: bug report, minutes, release notes.
    Other,
    /// Begins a sequence of sentences: "first".
    First,
    /// Continues a sequence: "then".
    Next,
    /// Ends a sequence: "finally".
    Last,
    /// Verb of an instruction, as in task lists: "add".
    Action,
    /// Verb of completed work, as in changelogs and reports: "added".
    Done,
    /// Approval.
    Approve,
    /// Decision for one of several proposals, next to the chosen one.
    Choose,
    /// Rejection.
    Reject,
    /// Withdrawal of a proposal by its author.
    Withdraw,
    /// A new version of a plan.
    Replace,
    /// A change or addition to an existing plan.
    Amend,
    /// Introduces the alternative that is not chosen: "instead of".
    Contrast,
    /// Negates an approval or a decision.
    Negation,
    /// States that nothing is decided.
    Undecided,
    /// Possessive of the writer: "my".
    Mine,
    /// Possessive of the reader: "your".
    Theirs,
    /// Refers to something earlier.
    Above,
    /// "First", "second", … of several; 0-based.
    #[serde(skip)]
    Ordinal(u8),
    /// Begins a sentence that precedes a plan without being part of it: a greeting, an
    /// announcement.
    Before,
    /// Begins a sentence that follows a plan without being part of it: a sign-off, a question to
    /// the reader.
    After,
    /// Part of a long plan: "part", "continued".
    Part,
    /// Words before the colon in a title that do not describe the plan.
    Marker,
    /// A title that does not describe the plan.
    Empty,
    /// A word that does not describe a plan in a title: "the", "do", "version". It is found by
    /// [`fillers`] only, because these words are too frequent in texts.
    Filler,
    /// Begins a question about how something is done.
    HowTo,
    /// The writer: "I".
    Me,
    /// Ends a discussion without a result.
    DropAll,
    /// States a wish without a solution.
    Want,
    /// Announces another topic than that of the conversation.
    Aside,
    /// Advice to the reader: "you can", "as a workaround".
    Advice,
    /// States that the work is done.
    Finished,
    /// More than one of something: "two".
    Several,
    /// States that a problem is gone: "works now".
    Solved,
    /// Verb of an instruction to a user of a program: "click".
    Operate,
    /// Head of a table's column with the person who does a task: "who".
    Owner,
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
    "ar", "cs", "da", "de", "el", "en", "es", "fi", "fr", "he", "hi", "hu", "id", "it", "ja", "ko",
    "nb", "nl", "pl", "pt", "ro", "ru", "sv", "tr", "uk", "vi", "zh"
];

/// An occurrence of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// Meaning of the phrase.
    pub class: Class,
    /// Start offset in the folded text.
    pub start: usize,
    /// End offset.
    pub end: usize,
}

struct Phrase {
    classes: Vec<Class>,
    open_start: bool,
    open_end: bool,
    /// Second part of a phrase with a gap.
    second: Option<String>,
}

struct Vocabulary {
    /// `None` if the automaton could not be built, which only happens for more phrases than fit
    /// into the files.
    automaton: Option<AhoCorasick>,
    phrases: Vec<Phrase>,
}

impl Vocabulary {
    /// Builds the vocabulary of the classes that are `wanted`.
    fn of(wanted: impl Fn(Class) -> bool) -> Self {
        let mut phrases: BTreeMap<String, Vec<Class>> = BTreeMap::new();
        for (_, source) in FILES {
            // The files are compiled in, and a test parses each of them.
            let Ok(language) = toml::from_str::<Language>(source) else {
                continue;
            };
            let ordinals = language.ordinal.into_iter().zip(0..);
            let ordinals = ordinals.map(|(words, place)| (Class::Ordinal(place), words));
            let words = language.words.into_iter().chain(ordinals);
            for (class, words) in words.filter(|(class, _)| wanted(*class)) {
                for word in words {
                    let classes = phrases.entry(word).or_default();
                    if !classes.contains(&class) {
                        classes.push(class);
                    }
                }
            }
        }
        let parts = |phrase: &'_ str| match phrase.split_once(GAP) {
            Some((first, second)) => (first.to_owned(), Some(second.to_owned())),
            None => (phrase.to_owned(), None),
        };
        let first = phrases.keys().map(|phrase| parts(phrase).0);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(first.map(|first| first.trim_matches('*').to_owned()));
        let phrase = |(phrase, classes): (&String, &Vec<Class>)| {
            let (first, second) = parts(phrase);
            Phrase {
                classes: classes.clone(),
                open_start: first.starts_with('*'),
                open_end: first.ends_with('*'),
                second,
            }
        };
        Self {
            automaton: automaton.ok(),
            phrases: phrases.iter().map(phrase).collect(),
        }
    }

    fn find(&self, folded: &str) -> Vec<Match> {
        let mut found = Vec::new();
        let hits = self
            .automaton
            .iter()
            .flat_map(|it| it.find_overlapping_iter(folded));
        for hit in hits {
            let phrase = &self.phrases[hit.pattern().as_usize()];
            let (start, end) = (hit.start(), hit.end());
            let starts_word = phrase.open_start || boundary(folded, start);
            let ends_word = phrase.open_end || boundary(folded, end);
            let end = match &phrase.second {
                Some(second) => second_end(folded, end, second),
                None => Some(end),
            };
            if starts_word
                && ends_word
                && let Some(end) = end
            {
                found.extend(phrase.classes.iter().map(|class| Match {
                    class: *class,
                    start,
                    end,
                }));
            }
        }
        found
    }
}

/// All phrases but those of [`Class::Filler`].
static VOCABULARY: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::of(|class| class != Class::Filler));

static FILLERS: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::of(|class| class == Class::Filler));

/// Normalises `text` for the comparison with phrases: NFKC, lower case, straight apostrophes, ASCII
/// digits, ASCII instead of Arabic and Devanagari punctuation, one spelling of Arabic letters.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars()
        .flat_map(spelled)
        .nfkc()
        .flat_map(char::to_lowercase)
        .filter_map(|c| match c {
            '\u{2018}' | '\u{2019}' | '\u{02bc}' => Some('\''),
            // Arabic and Devanagari punctuation.
            '\u{60c}' => Some(','),
            '\u{61b}' => Some(';'),
            '\u{61f}' => Some('?'),
            '\u{964}' | '\u{965}' => Some('.'),
            // Arabic letters that people write in several ways, and vowel marks: the rules of
            // Lucene's ArabicNormalizer.
            'آ' | 'أ' | 'إ' => Some('ا'),
            'ى' => Some('ي'),
            'ة' => Some('ه'),
            '\u{640}' | '\u{64b}'..='\u{652}' => None,
            other => Some(other),
        })
        .collect()
}

/// Splits `text` at the place whose offset in `folded`, the result of [`fold`] for it, is `offset`.
/// Returns `None` if folding changes the length of what precedes that place.
pub fn split_folded<'t>(text: &'t str, folded: &str, offset: usize) -> Option<(&'t str, &'t str)> {
    let (head, rest) = text.split_at_checked(offset)?;
    (fold(head) == folded.get(..offset)?).then_some((head, rest))
}

/// Converts Arabic and Devanagari digits to ASCII, and appends a full stop to circled numbers.
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

/// Finds all phrases in text normalised by [`fold`], in the order of their ends.
pub fn find(folded: &str) -> Vec<Match> {
    VOCABULARY.find(folded)
}

/// Finds the words of [`Class::Filler`] in text normalised by [`fold`].
pub fn fillers(folded: &str) -> Vec<Match> {
    FILLERS.find(folded)
}

/// Returns the end of the second part of a phrase whose first part ends at byte `from`.
fn second_end(folded: &str, from: usize, second: &str) -> Option<usize> {
    let most = folded.floor_char_boundary(from + MAX_GAP + second.len());
    let ends_sentence = ['.', '!', '?', '\n', '。', '！', '？'];
    let near = folded[from..most].split(ends_sentence).next()?;
    near.match_indices(second).find_map(|(at, _)| {
        let (start, end) = (from + at, from + at + second.len());
        (boundary(folded, start) && boundary(folded, end)).then_some(end)
    })
}

/// Returns true if byte `at` is not inside a word of `text`.
pub(crate) fn boundary(text: &str, at: usize) -> bool {
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

/// Returns true for characters of scripts without spaces between words.
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
    /// Finds the phrases in text normalised by [`fold`].
    pub fn of(folded: &str) -> Self {
        Self {
            length: folded.len(),
            matches: find(folded),
        }
    }

    /// Returns all phrases of `class`, in order.
    pub fn all(&self, class: Class) -> impl Iterator<Item = Match> + '_ {
        self.matches
            .iter()
            .copied()
            .filter(move |found| found.class == class)
    }

    /// Returns true if the text contains a phrase of `class`.
    pub fn has(&self, class: Class) -> bool {
        self.all(class).next().is_some()
    }

    /// Returns the end of the longest phrase of `class` that begins at `from`, the start of the
    /// first word.
    pub fn begins(&self, class: Class, from: usize) -> Option<usize> {
        self.all(class)
            .filter(|found| found.start == from)
            .map(|found| found.end)
            .max()
    }

    /// Returns true if a phrase of `class` covers the range of `words`; see [`words`].
    pub fn is(&self, class: Class, words: std::ops::Range<usize>) -> bool {
        self.all(class).any(|found| {
            found.start == words.start && found.end >= words.end && found.end <= self.length
        })
    }

    /// Returns all phrases, in the order of their ends.
    pub fn iter(&self) -> impl Iterator<Item = &Match> {
        self.matches.iter()
    }
}

/// Returns the range of `text` from its first to its last letter or digit; empty if it has none.
pub fn words(text: &str) -> std::ops::Range<usize> {
    let start = text.find(char::is_alphanumeric).unwrap_or(text.len());
    let end = text.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
    start..end.max(start)
}

#[cfg(test)]
mod tests;
