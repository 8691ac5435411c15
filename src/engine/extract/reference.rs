//! Resolves references to plans in what people write: links, quotes, labels, ordinals and names of
//! authors.

use std::collections::HashSet;
use std::ops::Range;

use crate::formats::vocabulary::{Class, Phrases};

/// Maximum length of a sentence in which names in other scripts are looked for, in bytes.
const MAX_NAMING: usize = 1_000;
/// Maximum length of such a name, in bytes.
const MAX_NAME: usize = 48;
/// Maximum number of forms of address that are considered in a sentence, for each form.
const MAX_ADDRESSED: usize = 8;

/// A plan that people can refer to.
#[derive(Debug, Clone, Default)]
pub(super) struct Subject {
    /// Position of its post; for a multi-part plan, of the last one.
    pub(super) post: usize,
    /// Position of its first post.
    pub(super) first_post: usize,
    /// Comment id of its post.
    pub(super) id: Option<u64>,
    /// Account id of its author.
    pub(super) author: Option<u64>,
    /// Normalised login of its author.
    pub(super) login: String,
    /// Normalised label among several proposals.
    pub(super) label: Option<String>,
    /// Distinctive words of its title.
    pub(super) title: HashSet<String>,
    /// Distinctive words of its text.
    pub(super) words: HashSet<String>,
    /// Its normalised lines, without punctuation at the ends.
    pub(super) lines: HashSet<String>,
}

/// Returns the distinctive words of normalised text. For scripts without spaces, returns pairs of
/// characters.
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

/// Returns the lines of normalised text, without punctuation at the ends.
pub(super) fn telling_lines(folded: &str) -> HashSet<String> {
    folded
        .lines()
        .map(|line| line.trim_matches(|c: char| !c.is_alphanumeric()).to_owned())
        .filter(|line| line.chars().count() >= 8)
        .take(500)
        .collect()
}

/// Returns the share of the smaller set that is also in the larger one, in percent.
pub(super) fn overlap(one: &HashSet<String>, other: &HashSet<String>) -> usize {
    let (small, large) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    small.iter().filter(|word| large.contains(*word)).count() * 100 / small.len().max(1)
}

/// Returns the text of a block quote without its quote marks.
pub(super) fn unquoted(source: &str) -> String {
    let lines = source.lines();
    let bare: Vec<&str> = lines
        .map(|line| line.trim_start_matches(['>', ' ']))
        .collect();
    bare.join("\n")
}

/// Returns the plan quoted in normalised text without quote marks, and whether only a part of it is
/// quoted.
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

/// Whether the title of the plan is quoted.
fn is_head(lines: &HashSet<String>, subject: &Subject) -> bool {
    lines.iter().any(|line| {
        let words = telling_words(line);
        !words.is_empty() && overlap(&words, &subject.title) >= 80
    })
}

/// Returns the plans that normalised text names by link, label or ordinal, with the offset of each
/// name. `says`: the text makes a statement about a plan, so "the second" can mean one.
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

/// Whether a digit is a part of a longer number, or one of several: `3.2`, `7 – 3 – 2`.
fn is_figure(text: &str, digit: Range<usize>) -> bool {
    let goes_on = |edge: Option<char>, inner: Option<char>| {
        edge.is_some_and(|c| matches!(c, '.' | ',' | ':' | '-' | '–' | '/'))
            && inner.is_some_and(|c| c.is_ascii_digit())
    };
    let mut before = text[..digit.start].chars().rev().filter(|c| *c != ' ');
    // The dot may belong to an ordinal: `3.`
    let digits = text[digit.clone()].trim_end_matches('.');
    let behind = &text[digit.start + digits.len()..];
    let mut behind = behind.chars().filter(|c| *c != ' ');
    digits.bytes().all(|c| c.is_ascii_digit())
        && (goes_on(before.next(), before.next()) || goes_on(behind.next(), behind.next()))
}

/// Returns the offset of a label that is a separate word and not an article: `B it is`, `going with
/// a`.
fn lone_label(text: &str, label: &str) -> Option<usize> {
    let at = whole_word(text, label)?;
    let rest = text[at + label.len()..].trim_start();
    let digit = label.starts_with(|c: char| c.is_ascii_digit());
    if is_figure(text, at..at + label.len()) {
        return None;
    }
    let ends = rest.is_empty() || rest.starts_with(|c: char| !c.is_alphanumeric());
    let article = ["a", "i", "e", "o", "y", "u"].contains(&label);
    let decided = ["it is", "is it", "please", "for me", "wins", "then"]
        .iter()
        .any(|word| rest.starts_with(word));
    (ends || decided || !article && !digit).then_some(at)
}

/// Returns ordinals that refer to a plan, either alone or followed by a noun for a plan.
pub(super) fn ordinals(text: &str, phrases: &Phrases) -> Vec<(usize, u8)> {
    let mut found = Vec::new();
    for phrase in phrases.iter() {
        let Class::Ordinal(place) = phrase.class else {
            continue;
        };
        if is_figure(text, phrase.start..phrase.end) {
            continue;
        }
        let rest = text[phrase.end..].trim_start();
        let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
        let at = text.len() - rest.len();
        let noun = phrases
            .iter()
            .any(|it| matches!(it.class, Class::Plan | Class::Proposal) && it.start == at);
        let alone = word.is_empty() || word == "one" || !word.is_ascii();
        // "First" begins many sentences, and "first run" is not a plan.
        let decided = phrases
            .all(Class::Choose)
            .any(|verb| verb.end <= phrase.start && phrase.start - verb.end <= 12);
        if noun || alone || (place > 0 || decided) && word.len() <= 4 {
            found.push((phrase.start, place));
        }
    }
    found
}

/// Returns the plan with the 0-based index `place` among those of the newest post with several
/// plans, or otherwise among all plans.
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

/// Returns the newest plan of each author who is named by login or by a part of it.
pub(super) fn by_name(text: &str, subjects: &[Subject], position: usize) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut seen: HashSet<&str> = HashSet::new();
    if subjects.is_empty() {
        return found;
    }
    let latin = transliterated(text);
    for at in (0..subjects.len()).rev() {
        let subject = &subjects[at];
        if subject.post > position || !seen.insert(&subject.login) {
            continue;
        }
        let place =
            names(text, &subject.login).or_else(|| in_another_script(&latin, &subject.login));
        if let Some(place) = place {
            found.push((place, at));
        }
    }
    // In `@ann I prefer bob's`, the addressee is not the subject.
    if found.len() > 1 {
        found.retain(|(place, _)| *place > 1);
    }
    found.sort_unstable();
    found
}

/// Returns the offset of `login`, or of a name that is a part of it, in `text`.
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
        // Inflected forms: `Bjarnes`, `Amosem`.
        let inflected = |form: &&str| {
            let ending = if form.len() >= 4 { 3 } else { 1 };
            word.starts_with(*form) && word.len() <= form.len() + ending
        };
        // A nickname with a possessive: `Ruthie's` for `ruthkell`.
        let owns = || text[at + word.len()..].starts_with("'s ");
        let nickname = |form: &&str| {
            let common = form.bytes().zip(word.bytes()).take_while(|(a, b)| a == b);
            common.count() >= 4 && owns()
        };
        if word.len() >= 4 && login.starts_with(word)
            || forms.iter().any(inflected)
            || forms.iter().any(nickname)
        {
            return Some(at);
        }
        at += word.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
    }
    None
}

/// Returns the words of a sentence that can be names written in another script than the Latin one,
/// transliterated, with their offsets: `руслана` as `ruslana`, `もち` of `もちさん` as `mochi`.
fn transliterated(text: &str) -> Vec<(usize, String)> {
    if text.is_ascii() || text.len() > MAX_NAMING {
        return Vec::new();
    }
    let latin = |name: &str| {
        let name = deunicode::deunicode(name).to_lowercase();
        romanized(&name.replace(' ', ""))
    };
    let mut found = Vec::new();
    let mut start = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if !word.is_ascii() && word.len() <= MAX_NAME {
            found.push((start, latin(word)));
        }
        start += word.len();
        start += text[start..].chars().next().map_or(0, char::len_utf8);
    }
    // Scripts without blanks between the words: what is before a form of address can be a name.
    for address in ["さん", "くん", "氏", "님", "씨", "的"] {
        for (end, _) in text.match_indices(address).take(MAX_ADDRESSED) {
            let chars = text[..end].char_indices().rev();
            for (at, _) in chars.take(8).take_while(|(_, c)| c.is_alphanumeric()) {
                found.push((at, latin(&text[at..end])));
            }
        }
    }
    found
}

/// Spells Japanese syllables in one way, since there are several romanizations: `chi` as `ti`.
fn romanized(name: &str) -> String {
    let spellings = [
        ("shi", "si"),
        ("chi", "ti"),
        ("tsu", "tu"),
        ("fu", "hu"),
        ("ji", "zi"),
    ];
    let spell = |name: String, (from, to): &(&str, &str)| name.replace(from, to);
    spellings.iter().fold(name.to_owned(), spell)
}

/// Returns the offset of the name if one of the transliterated words is a part of `login`, with or
/// without an inflection.
fn in_another_script(words: &[(usize, String)], login: &str) -> Option<usize> {
    let forms = login.split(['-', '_', '.']).filter(|part| part.len() >= 3);
    forms.map(romanized).find_map(|form| {
        // The Cyrillic letters for G and H are used for each other, and endings differ.
        let same = |(a, b): &(u8, u8)| a == b || matches!((a, b), (b'h', b'g') | (b'g', b'h'));
        let is_name = |(_, word): &&(usize, String)| {
            let common = form.bytes().zip(word.bytes()).take_while(same).count();
            let ending = usize::from(form.len() > 3) + usize::from(form.len() > 6);
            common + ending.saturating_sub(1) >= form.len() && word.len() <= form.len() + 1 + ending
        };
        words.iter().find(is_name).map(|(at, _)| *at)
    })
}

/// Returns the offset of `word` in `text`, ignoring occurrences inside longer words.
pub(super) fn whole_word(text: &str, word: &str) -> Option<usize> {
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
