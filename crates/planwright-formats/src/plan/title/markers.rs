//! Words and labels around the title of a plan that say nothing about it, such as `Plan:`, `[RFC]`,
//! `Option B –` and `(v2)`, in any language.

use std::ops::Range;

use crate::vocabulary::{Class, Phrases, fillers, fold, split_folded, words};

/// Maximum length of a version after a marker, in characters.
const MAX_VERSION_CHARS: usize = 24;

/// Chinese and Japanese numbers of one character.
pub(super) const HAN_NUMBERS: &str = "一二三四五六七八九十";

/// Letters without case that label proposals as capital letters do.
const LABELS: &str = "가나다라마바사甲乙丙丁アイウエأبجدאבגד";

/// Removes `Plan:`, `[RFC]`, `Proposal B -` or `Implementation plan for` at the start, and `(v2)`
/// or `(1/2)` at the end.
pub(super) fn without_markers(title: &str) -> &str {
    let mut rest = in_lenticular_brackets(title).unwrap_or(title).trim();
    // Removes at most two markers, of which only the last one may be other than a tag in brackets.
    let mut removed = 0;
    while removed < 2 {
        if let Some(inner) = rest.strip_prefix(['[', '【'])
            && let Some(end) = inner.find([']', '】'])
            && is_marker(&inner[..end])
        {
            let close = inner[end..].chars().next().map_or(1, char::len_utf8);
            rest = inner[end + close..].trim_start_matches([':', '：', ' ']);
            removed += 1;
            continue;
        }
        rest = after_marker(rest)
            .or_else(|| quoted(rest))
            .or_else(|| after_preposition(rest))
            .unwrap_or(rest);
        break;
    }
    without_tag(rest)
}

/// Returns the text after a marker and a colon, a dash or a bar, or after a Chinese or Japanese word
/// for a proposal with its number.
fn after_marker(title: &str) -> Option<&str> {
    for (at, c) in title.char_indices().take(80) {
        let end = at + c.len_utf8();
        let dash = matches!(c, '-' | '–' | '—' | '|')
            && title[..at].ends_with(' ')
            && title[end..].starts_with([' ', '-']);
        let dot = c == '.' && title[end..].starts_with(' ') && at > 1;
        if c.is_whitespace() && is_labelled(&title[..at]) {
            return Some(title[end..].trim_start());
        }
        // `A|B` is no label.
        let bar = c == '｜' || c == '|' && !title[..at].is_ascii();
        if matches!(c, ':' | '：') || bar || dash || dot {
            let rest = title[end..].trim_start_matches(|c: char| c.is_whitespace() || c == '-');
            let head = title[..at].trim();
            let marks = |head: &str| is_marker(head) || is_letter(head);
            let is_marked =
                || marks(head) || marks(without_version(head)) || marks(without_parenthesis(head));
            if !rest.is_empty() && is_marked() {
                return Some(rest);
            }
            if !dot {
                return None;
            }
        }
    }
    None
}

/// Returns the text after a colon and words that only announce a plan: `What we'll do: X`,
/// `Our new proposal: X`.
pub(super) fn after_announcement(title: &str) -> Option<&str> {
    let (head, rest) = title.split_once([':', '：'])?;
    let folded = fold(head);
    let (phrases, content) = (Phrases::of(&folded), words(&folded));
    let announces = [Class::Lead, Class::Plan, Class::Proposal]
        .into_iter()
        .any(|class| phrases.all(class).any(|it| it.end >= content.end));
    let rest = rest.trim_start();
    (announces && !rest.is_empty() && is_generic(&folded, &phrases, content)).then_some(rest)
}

/// Returns a marker without the version that follows a comma: `Plan, Fassung 3`.
fn without_version(head: &str) -> &str {
    match head.split_once(',') {
        Some((marker, version)) if version.chars().count() <= MAX_VERSION_CHARS => marker,
        _ => head,
    }
}

/// Returns a marker without a date or number in parentheses after it: `Plan v3 (9 May)`.
fn without_parenthesis(head: &str) -> &str {
    let inner = head.strip_suffix([')', '）']);
    let split = inner.and_then(|it| it.split_once(" (").or_else(|| it.split_once('（')));
    match split {
        Some((marker, text))
            if text.chars().count() <= MAX_VERSION_CHARS
                && text.contains(|c: char| c.is_ascii_digit()) =>
        {
            marker
        }
        _ => head,
    }
}

/// Whether `head` is a Chinese or Japanese word for a plan or proposal and its number or letter:
/// `案②`, `方案二`.
fn is_labelled(head: &str) -> bool {
    let mut chars = head.chars();
    let is_label = chars.next_back().is_some_and(|c| {
        c.is_ascii_alphanumeric() || ('①'..='⑳').contains(&c) || HAN_NUMBERS.contains(c)
    });
    let noun = fold(chars.as_str());
    let phrases = Phrases::of(&noun);
    let is_noun = |class: &Class| phrases.is(*class, words(&noun));
    is_label
        && noun.ends_with(|c| ('\u{3040}'..='\u{9fff}').contains(&c))
        && [Class::Plan, Class::Proposal].iter().any(is_noun)
}

/// Returns true for a single letter that labels one of several proposals: `B`, `나`.
fn is_letter(head: &str) -> bool {
    let mut chars = head.chars();
    let is_label = |c: char| c.is_uppercase() || LABELS.contains(c);
    chars.next().is_some_and(is_label) && chars.next().is_none()
}

/// Returns the text after a letter or Chinese number that labels one of several proposals or
/// sections: `(b) X`, `B) X`, `B. X`, `二、X`.
pub(super) fn after_label(title: &str) -> Option<&str> {
    let end = title.find([')', '）', '.', '、'])?;
    let mut rest = title[end..].chars();
    let mut letter = title[..end].trim_start_matches(['(', '（']).chars();
    let label = letter.next().filter(|_| letter.next().is_none())?;
    let (is_label, is_apart) = match rest.next()? {
        '、' => (HAN_NUMBERS.contains(label), true),
        '.' => (label.is_uppercase(), rest.as_str().starts_with(' ')),
        _ => (label.is_alphabetic(), rest.as_str().starts_with(' ')),
    };
    (is_label && is_apart).then(|| rest.as_str().trim_start())
}

/// Returns the quoted name of a plan or proposal: `Proposal “Shadow index”`.
fn quoted(title: &str) -> Option<&str> {
    let (open, _) = title.char_indices().find(|(_, c)| is_quote(*c))?;
    let name = title[open..].trim_matches(is_quote);
    let head = fold(title[..open].trim());
    let phrases = Phrases::of(&head);
    let is_noun = [Class::Plan, Class::Proposal]
        .into_iter()
        .any(|class| phrases.is(class, words(&head)));
    let is_name = name.chars().count() > 2 && !name.contains(is_quote);
    (title.ends_with(is_quote) && is_noun && is_name).then_some(name)
}

fn is_quote(c: char) -> bool {
    "\"“”„«»「」『』".contains(c)
}

/// Returns the text after a marker that ends with a preposition, such as `Plan for`.
fn after_preposition(title: &str) -> Option<&str> {
    let line = &title[title.find(char::is_alphanumeric)?..];
    let folded = fold(line);
    let phrases = Phrases::of(&folded);
    let has_preposition = |end: &usize| {
        let phrase = &folded[..*end];
        phrase
            .rsplit_once(' ')
            .is_some_and(|(shorter, _)| Phrases::of(shorter).is(Class::Marker, 0..shorter.len()))
    };
    let end = phrases
        .all(Class::Marker)
        .filter(|found| found.start == 0)
        .map(|found| found.end)
        .filter(has_preposition)
        .max()?;
    let (_, rest) = split_folded(line, &folded, end)?;
    let rest = rest.trim_start();
    (rest.chars().count() >= 5).then_some(rest)
}

/// Returns true if `head` consists of markers only: `Plan`, `Proposal B`, `Vorschlag 2 (v2)`,
/// `Umsetzungsplan`.
pub(super) fn is_marker(head: &str) -> bool {
    let folded = fold(without_tag(head.trim()));
    let content = words(&folded);
    if content.is_empty() {
        return false;
    }
    let phrases = Phrases::of(&folded);
    let whole = |class: Class| phrases.is(class, content.clone());
    if folded.starts_with('第') && folded.ends_with('版') {
        return true;
    }
    if whole(Class::Marker) || whole(Class::Empty) || whole(Class::Plan) || whole(Class::Proposal) {
        return true;
    }
    // With a label or an author: `Plan B`, `Option 2`, `案A`, `Maria's plan`, `Proposta di Greta`.
    [Class::Plan, Class::Proposal, Class::Marker]
        .iter()
        .any(|class| {
            phrases.all(*class).any(|found| {
                let rest = folded[found.end..].trim_matches(|c: char| !c.is_alphanumeric());
                let before = folded[..found.start].trim_matches(|c: char| !c.is_alphanumeric());
                let label = |text: &str| text.chars().count() <= 2 && !text.is_empty();
                (found.start == content.start && (label(rest) || is_author(rest)))
                    || found.end >= content.end
                        && (label(before) || before.ends_with("'s") && !before.contains(' '))
            })
        })
}

/// Returns true for a preposition and a name.
fn is_author(rest: &str) -> bool {
    let mut words = rest.split_whitespace();
    let prepositions = ["by", "di", "de", "von", "van", "da", "do", "od", "af", "av"];
    words
        .next()
        .is_some_and(|word| prepositions.contains(&word))
        && words.next().is_some()
        && words.next().is_none()
}

/// Removes `(v2)`, `(1/2)` or `(revised)` at the end.
fn without_tag(title: &str) -> &str {
    let trimmed = title.trim_end_matches(|c: char| c.is_whitespace() || c == ':' || c == '：');
    let Some(head) = trimmed.strip_suffix([')', '）']) else {
        return title;
    };
    let Some(open) = head.rfind(['(', '（']) else {
        return title;
    };
    let width = head[open..].chars().next().map_or(1, char::len_utf8);
    let tag = fold(&head[open + width..]);
    let content = words(&tag);
    let phrases = Phrases::of(&tag);
    let version = tag.trim().strip_prefix('v').is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '.')
    });
    let counted = tag.split_once('/').is_some_and(|(one, all)| {
        [one, all]
            .iter()
            .all(|part| !part.trim().is_empty() && part.trim().chars().all(|c| c.is_ascii_digit()))
    });
    let known = [Class::Replace, Class::Marker, Class::Empty]
        .iter()
        .any(|class| phrases.is(*class, content.clone()))
        || phrases.begins(Class::Part, content.start).is_some();
    if version || counted || known {
        title[..open].trim_end()
    } else {
        title
    }
}

/// Returns the text of a line that is entirely in lenticular brackets, the usual form of headings in
/// Japanese e-mail.
pub(super) fn in_lenticular_brackets(line: &str) -> Option<&str> {
    let inner = line.trim().strip_prefix('【')?.strip_suffix('】')?;
    (!inner.contains(['【', '】'])).then_some(inner)
}

/// Whether the words in `content` are generic, taken together or one after another: `Plan, third
/// attempt`.
pub(super) fn is_generic(folded: &str, phrases: &Phrases, content: Range<usize>) -> bool {
    let generic = [
        Class::Empty,
        Class::Section,
        Class::Other,
        Class::Lead,
        Class::Plan,
        Class::Proposal,
    ];
    let mut found = fillers(folded);
    found.extend(generic.into_iter().flat_map(|class| phrases.all(class)));
    found.sort_unstable_by_key(|found| found.start);
    // The first word that is not covered yet.
    let mut at = content.start;
    for next in found {
        if next.start <= at && next.end > at {
            let rest = folded[next.end..].find(char::is_alphanumeric);
            at = rest.map_or(folded.len(), |rest| next.end + rest);
        }
    }
    at >= content.end
}
