//! The lists of `words.toml`, and the search of words in a text.

use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::Deserialize;

use crate::vocabulary::boundary;

/// What is done with a file, as a verb says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Create,
    Add,
    Into,
    Rename,
    Delete,
    Change,
    Absent,
}

/// Position of a verb relative to the files that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// Before its files.
    Before,
    /// Directly after its files.
    After,
    /// Anywhere after its files, or else before them.
    Both,
    /// Directly after its files, or else before them.
    Label,
}

/// An occurrence of a verb, as a byte range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occurrence {
    pub(super) verb: Verb,
    pub(super) position: Position,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    before: Vec<String>,
    after: Vec<String>,
    both: Vec<String>,
    label: Vec<String>,
    whole: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prepositions {
    pub(super) at: Vec<String>,
    pub(super) from: Vec<String>,
    pub(super) behind: Vec<String>,
    pub(super) articles: Vec<String>,
    pub(super) conjunctions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nouns {
    files: Vec<String>,
    files_inside: Vec<String>,
    contents: Vec<String>,
}

/// Names of files and of what looks like one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    pub(super) extensions: HashSet<String>,
    pub(super) files: HashSet<String>,
    pub(super) data: HashSet<String>,
    pub(super) generated: HashSet<String>,
    pub(super) variables: HashSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    create: Lists,
    add: Lists,
    into: Lists,
    rename: Lists,
    delete: Lists,
    change: Lists,
    absent: Lists,
    prepositions: Prepositions,
    nouns: Nouns,
    names: Names,
}

/// The lists of `words.toml`, and the automaton that finds the verbs.
pub(super) struct Words {
    file: File,
    verbs: Vec<(Verb, Position, bool)>,
    automaton: Option<AhoCorasick>,
}

// Cannot fail at run time: the file is compiled in, and a test parses it.
#[expect(
    clippy::expect_used,
    reason = "the file is compiled in, and a test parses it"
)]
pub(super) static WORDS: LazyLock<Words> =
    LazyLock::new(|| Words::new(include_str!("words.toml")).expect("words.toml is valid"));

impl Words {
    fn new(source: &str) -> Result<Self, toml::de::Error> {
        let file: File = toml::from_str(source)?;
        let mut verbs = Vec::new();
        let mut patterns = Vec::new();
        for (verb, lists) in file.lists() {
            for (position, list) in [
                (Position::Before, &lists.before),
                (Position::After, &lists.after),
                (Position::Both, &lists.both),
                (Position::Label, &lists.label),
            ] {
                for word in list {
                    verbs.push((verb, position, word.ends_with('*')));
                    patterns.push(word.trim_end_matches('*').to_owned());
                }
            }
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(&patterns);
        Ok(Self {
            file,
            verbs,
            automaton: automaton.ok(),
        })
    }

    /// Returns the verbs of a folded text in order; of overlapping ones the longest.
    pub(super) fn verbs(&self, text: &str) -> Vec<Occurrence> {
        let hits = self.automaton.iter();
        let hits = hits.flat_map(|automaton| automaton.find_overlapping_iter(text));
        let mut found: Vec<Occurrence> = hits
            .filter_map(|hit| {
                let (verb, position, open) = self.verbs[hit.pattern().as_usize()];
                let whole = boundary(text, hit.start()) && (open || boundary(text, hit.end()));
                whole.then_some(Occurrence {
                    verb,
                    position,
                    start: hit.start(),
                    end: hit.end(),
                })
            })
            .collect();
        found.sort_by_key(|one| (one.start, std::cmp::Reverse(one.end)));
        let mut end = 0;
        found.retain(|one| {
            let keep = one.start >= end;
            if keep {
                end = one.end;
            }
            keep
        });
        found
    }

    /// Returns the verb that a folded text consists of, apart from nouns for files and punctuation.
    pub(super) fn whole(&self, text: &str) -> Option<Verb> {
        let text = text.trim();
        if text.len() > 60 {
            return None;
        }
        let mut text = text.to_owned();
        for noun in &self.file.nouns.files_inside {
            text = text.replace(noun.as_str(), " ");
        }
        let is_noise = |c: char| !c.is_alphanumeric() && !"+-~'".contains(c);
        let words: Vec<&str> = text
            .split(|c: char| c.is_whitespace() || is_noise(c))
            .filter(|word| !word.is_empty())
            .collect();
        let lists = self.file.lists();
        let verb = |text: &str| {
            let mut lists = lists.iter();
            lists.find_map(|(verb, lists)| lists.whole.iter().any(|w| w == text).then_some(*verb))
        };
        let nouns = &self.file.nouns.files;
        let rest = words
            .iter()
            .filter(|word| !nouns.iter().any(|n| n == *word));
        let rest: Vec<&str> = rest.copied().collect();
        verb(&words.join(" ")).or_else(|| verb(&rest.join(" ")))
    }

    pub(super) fn prepositions(&self) -> &Prepositions {
        &self.file.prepositions
    }

    pub(super) fn names(&self) -> &Names {
        &self.file.names
    }

    /// Returns whether a folded text names something that may fill a file of its own.
    pub(super) fn has_contents(&self, text: &str) -> bool {
        let nouns = &self.file.nouns.contents;
        let is_one = |word: &str| {
            nouns.iter().any(|noun| match noun.strip_suffix('*') {
                Some(start) => word.starts_with(start),
                None => word == noun,
            })
        };
        text.split(|c: char| !c.is_alphanumeric()).any(is_one)
    }
}

impl File {
    fn lists(&self) -> [(Verb, &Lists); 7] {
        [
            (Verb::Create, &self.create),
            (Verb::Add, &self.add),
            (Verb::Into, &self.into),
            (Verb::Rename, &self.rename),
            (Verb::Delete, &self.delete),
            (Verb::Change, &self.change),
            (Verb::Absent, &self.absent),
        ]
    }
}
