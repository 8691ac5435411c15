//! What a sentence says about the files and symbols in it.

use super::Intent;
use super::unit::{CELL, CODE, PATH};
use super::words::{Occurrence, Position, Verb, WORDS};
use crate::vocabulary::fold;

/// A path or a code span in a sentence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    /// Whether it is a path.
    pub(super) is_path: bool,
    /// Number of its sentence in the text.
    pub(super) clause: usize,
    /// What is said about it.
    pub(super) said: Option<Said>,
    /// Byte range in the folded text.
    start: usize,
    end: usize,
}

/// A verb that governs an item, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Said {
    /// The verb.
    pub(super) verb: Verb,
    /// What it means for a file.
    pub(super) intent: Option<Intent>,
}

/// Relation between a verb and a path behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Object,
    Place,
    Source,
}

/// Returns the items of a text with placeholders, in order.
pub(super) fn items(text: &str) -> Vec<Item> {
    let text = fold(text);
    let mut items: Vec<Item> = text
        .char_indices()
        .filter(|(_, c)| [PATH, CODE].contains(c))
        .map(|(start, c)| Item {
            is_path: c == PATH,
            clause: 0,
            said: None,
            start,
            end: start + c.len_utf8(),
        })
        .collect();
    if items.is_empty() {
        return items;
    }
    let verbs = WORDS.verbs(&text);
    let mut first_item = 0;
    let mut first_verb = 0;
    let mut start = 0;
    for (number, end) in clause_ends(&text).into_iter().enumerate() {
        let item_end = first_item + items[first_item..].partition_point(|item| item.start < end);
        let verb_end = first_verb + verbs[first_verb..].partition_point(|verb| verb.start < end);
        let within = &mut items[first_item..item_end];
        for item in within.iter_mut() {
            item.clause = number;
        }
        govern(&text, start, within, &verbs[first_verb..verb_end]);
        remarks(&text[..end], within);
        (first_item, first_verb, start) = (item_end, verb_end, end);
    }
    cells(&text, &mut items);
    items
}

/// Returns the offsets after each sentence and table cell.
fn clause_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let spaced = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        let ends_here = match c {
            '.' | '!' | '?' => spaced,
            ';' | '\u{37e}' | '。' | '\n' | CELL => true,
            _ => false,
        };
        if ends_here {
            ends.push(at + c.len_utf8());
        }
    }
    if ends.last() != Some(&text.len()) {
        ends.push(text.len());
    }
    ends
}

/// Assigns the verbs of a sentence, which begins at `start`, to its items.
fn govern(text: &str, start: usize, items: &mut [Item], verbs: &[Occurrence]) {
    let mut current: Option<Verb> = None;
    // Items between the last verb and here.
    let mut since = 0..0;
    // End of the last verb or item.
    let mut last = start;
    let mut next_verb = 0;
    for index in 0..=items.len() {
        let until = items.get(index).map_or(usize::MAX, |item| item.start);
        while let Some(verb) = verbs.get(next_verb).filter(|verb| verb.start < until) {
            next_verb += 1;
            if is_noun(text, start, verb) {
                continue;
            }
            let adjacent = !since.is_empty() && is_empty(&text[last..verb.start]);
            let leads = until != usize::MAX && is_empty(&text[verb.end..until]);
            let backward = !since.is_empty()
                && !leads
                && match verb.position {
                    Position::Before => false,
                    Position::After | Position::Label => adjacent,
                    Position::Both => true,
                };
            if backward {
                assign_back(text, start, &mut items[since.clone()], verb);
                current = None;
            } else if verb.position != Position::After {
                let adds = matches!(
                    current,
                    Some(Verb::Create | Verb::Add | Verb::Into | Verb::Absent)
                );
                let weaker = verb.verb == Verb::Add || verb.position == Position::Label;
                // “Create a new …”, “Register the new module in …”
                let keeps = since.is_empty() && weaker && (adds || current.is_some() && !leads);
                if !keeps {
                    current = Some(verb.verb);
                }
            } else {
                continue;
            }
            since = index..index;
            last = verb.end;
        }
        if index == items.len() {
            break;
        }
        let between = &text[last..items[index].start];
        let previous = index.checked_sub(1).and_then(|before| items[before].said);
        let joined = index > since.start && is_enumeration(between);
        if let Some(verb) = current {
            items[index].said = Some(match previous {
                Some(said) if joined && said.verb == verb => said,
                _ => {
                    let follows = index > since.start && between.trim().is_empty();
                    said(verb, between, follows)
                }
            });
        }
        since.end = index + 1;
        last = items[index].end;
    }
}

/// Whether a verb is used as a noun, behind an article: “a link to”.
fn is_noun(text: &str, start: usize, verb: &Occurrence) -> bool {
    if !matches!(verb.verb, Verb::Change | Verb::Into) || verb.position != Position::Before {
        return false;
    }
    let before = text[start..verb.start].trim_end();
    let articles = &WORDS.prepositions().articles;
    before
        .rsplit(char::is_whitespace)
        .take(2)
        .any(|word| articles.iter().any(|article| article == word))
}

/// Whether nothing but punctuation is between two words.
fn is_empty(between: &str) -> bool {
    !between.contains(|c: char| c.is_alphanumeric() || c == ',' || c == PATH || c == CODE)
}

/// Whether `between` separates the members of an enumeration.
fn is_enumeration(between: &str) -> bool {
    let conjunctions = &WORDS.prepositions().conjunctions;
    between.len() < 40
        && !between.trim().is_empty()
        && between
            .split(|c: char| c.is_whitespace() || ",、/()".contains(c))
            .filter(|word| !word.is_empty())
            .all(|word| conjunctions.iter().any(|known| known == word))
}

/// Returns what `verb` says about an item behind it.
fn said(verb: Verb, between: &str, follows: bool) -> Said {
    let relation = relation(between);
    let intent = match (verb, relation) {
        (Verb::Absent, Relation::Object | Relation::Place) => Some(Intent::Absent),
        (Verb::Change, _) => Some(Intent::Change),
        (Verb::Delete, Relation::Object) => Some(Intent::Delete),
        (Verb::Rename, Relation::Place) => Some(Intent::RenameTarget),
        (Verb::Rename, Relation::Object) if follows => Some(Intent::RenameTarget),
        (Verb::Rename, _) => Some(Intent::Rename),
        (Verb::Create, Relation::Object) => Some(Intent::Create),
        (Verb::Create | Verb::Into, Relation::Place) | (Verb::Add, Relation::Object) => {
            Some(Intent::MayCreate)
        }
        (Verb::Add, Relation::Place) if WORDS.has_contents(between) => Some(Intent::MayCreate),
        (Verb::Create | Verb::Add | Verb::Into | Verb::Delete | Verb::Absent, _) => None,
    };
    Said { verb, intent }
}

/// Returns the relation that the last words of `between` express.
fn relation(between: &str) -> Relation {
    let prepositions = WORDS.prepositions();
    let has = |list: &[String], word: &str| list.iter().any(|known| known == word);
    let words = between
        .rsplit(|c: char| c.is_whitespace() || ":(,*\"“„".contains(c))
        .filter(|word| !word.is_empty());
    for word in words.take(4) {
        if has(&prepositions.at, word) {
            return Relation::Place;
        }
        if has(&prepositions.from, word) {
            return Relation::Source;
        }
    }
    Relation::Object
}

/// Assigns a verb to items in front of it that no other verb governs.
fn assign_back(text: &str, start: usize, items: &mut [Item], verb: &Occurrence) {
    let mut before = start;
    let mut last: Option<Said> = None;
    for item in items {
        let between = &text[before..item.start];
        before = item.end;
        let behind = &text[item.end..verb.start];
        if item.said.is_some() {
            last = item.said;
            continue;
        }
        let one = match last {
            Some(said) if is_enumeration(between) => said,
            _ => {
                let mut one = said(verb.verb, between, false);
                let particles = &WORDS.prepositions().behind;
                let behind = behind.trim_start();
                let placed = particles
                    .iter()
                    .any(|particle| behind.starts_with(particle));
                if placed && verb.verb != Verb::Change {
                    let contents = WORDS.has_contents(crate::text::truncate_bytes(behind, 200));
                    one.intent = contents.then_some(Intent::MayCreate);
                }
                one
            }
        };
        item.said = Some(one);
        last = Some(one);
    }
}

/// Reads the remarks behind paths: “`a.rs` (new)”, “`a.rs` – deleted”.
fn remarks(text: &str, items: &mut [Item]) {
    for index in 0..items.len() {
        let next = items.get(index + 1).map(|item| item.start);
        let item = &mut items[index];
        if !item.is_path {
            continue;
        }
        let rest = &text[item.end..next.unwrap_or(text.len())];
        let rest = crate::text::truncate_bytes(rest, 200);
        let mut pieces: Vec<&str> = rest
            .split(|c: char| "()[]（）【】,;:：、—–|#=←<!。.".contains(c) || c == CELL)
            .flat_map(|piece| piece.split(" - "))
            .collect();
        // The last one may continue with the next item.
        if next.is_some() || item.end + rest.len() < text.len() {
            pieces.pop();
        }
        let mut remarks = pieces
            .into_iter()
            .filter(|piece| !piece.trim().is_empty())
            .take(2);
        if let Some(verb) = remarks.find_map(|piece| WORDS.whole(piece)) {
            item.said = Some(outright(verb));
        }
    }
}

/// In a table row, a cell that consists of a verb is about the first cell with paths.
fn cells(text: &str, items: &mut [Item]) {
    if !text.contains(CELL) {
        return;
    }
    let Some(clause) = items
        .iter()
        .find(|item| item.is_path)
        .map(|item| item.clause)
    else {
        return;
    };
    let verb = text.split(CELL).find_map(|cell| {
        let cell = crate::text::truncate_bytes(cell, 200);
        WORDS.whole(cell).or_else(|| {
            // “Create: the page”, “new, for integrators”
            let (first, _) = cell.split_once([':', ',', ';', '(', '–', '—', '.'])?;
            WORDS.whole(first)
        })
    });
    if let Some(verb) = verb {
        let about = items.iter_mut().filter(|item| item.clause == clause);
        for item in about {
            item.said = Some(outright(verb));
        }
    }
}

/// Returns what a verb that stands alone says.
fn outright(verb: Verb) -> Said {
    Said {
        verb,
        intent: Some(alone(verb)),
    }
}

/// Returns the intent of a verb that stands alone, such as “new” or “deleted”.
pub(super) fn alone(verb: Verb) -> Intent {
    match verb {
        Verb::Create | Verb::Add | Verb::Into => Intent::Create,
        Verb::Rename => Intent::Rename,
        Verb::Delete => Intent::Delete,
        Verb::Absent => Intent::Absent,
        Verb::Change => Intent::Change,
    }
}

/// Returns the intent of a heading or label that consists of a verb and nouns for files, such as
/// “Files to create”.
pub(super) fn label(text: &str) -> Option<Intent> {
    (text.len() <= 120)
        .then(|| WORDS.whole(&fold(text)))?
        .map(alone)
}
