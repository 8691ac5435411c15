//! Sentences, and the words that put them in order.

use super::element::Element;
use crate::formats::vocabulary::Class;

/// Returns the sentences of normalised text.
pub(super) fn split_sentences(text: &str) -> Vec<&str> {
    let says = |part: &str| {
        part.chars()
            .any(|c| c.is_alphanumeric() || "👍👎".contains(c))
    };
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = match c {
            '。' | '！' | '？' | '\n' | '…' => true,
            '.' | '!' | '?' | ';' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            if says(&text[start..end]) {
                found.push(text[start..end].trim());
            }
            start = end;
        }
    }
    if says(&text[start..]) {
        found.push(text[start..].trim());
    }
    found
}

/// Returns the classes of the ordering words that begin sentences or clauses of a paragraph.
pub(super) fn ordering(element: &Element) -> Vec<Class> {
    let mut found = Vec::new();
    for class in [Class::First, Class::Next, Class::Last] {
        let begins = |start: usize| {
            let before = element.text[..start].trim_end();
            before.is_empty()
                || before.ends_with([
                    '.', ',', ';', ':', '!', '。', '、', '，', '；', '：', '\n', '—', '–', '-',
                    '(', '(',
                ])
                || [
                    "and", "und", "et", "y", "e", "en", "и", "a", "och", "ve", "i", "та", "і",
                ]
                .iter()
                .any(|word| before.ends_with(word))
                || before.ends_with(|c: char| !c.is_ascii() && !c.is_alphabetic())
        };
        // Long ordering words are unambiguous anywhere in a sentence, except for "second".
        let many = element.phrases.all(class).filter(|found| {
            // "The first one" is a plan.
            let pointing = element.text[..found.start].ends_with("the ")
                && element.text[found.end..].starts_with(" one");
            !pointing && begins(found.start)
                || found.end - found.start >= 6
                    && !["second", "secondly"].contains(&&element.text[found.start..found.end])
        });
        // Overlapping phrases are a single ordering word.
        let mut end = 0;
        for phrase in many {
            if phrase.start >= end {
                found.push(class);
                end = phrase.end;
            }
        }
    }
    found
}
