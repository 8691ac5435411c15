//! Which of the U+FFFD in a neutralised text were NUL: `0-2,7`, counted from 0.
//!
//! The text itself could not tell without another character beside each, and that would change how Markdown reads the
//! asterisks around it.

use std::fmt::Write as _;

use super::REPLACEMENT;

/// The places of NUL among the NUL and U+FFFD of `text`, as ascending ranges.
pub(super) fn places(text: &str) -> String {
    let mut written = String::new();
    let mut range: Option<(usize, usize)> = None;
    let mut write = |range: Option<(usize, usize)>| {
        let Some((first, last)) = range else { return };
        let comma = if written.is_empty() { "" } else { "," };
        // Writing to a String does not fail.
        let _ = match last - first {
            0 => write!(written, "{comma}{first}"),
            _ => write!(written, "{comma}{first}-{last}"),
        };
    };
    let shown = |c: &char| matches!(*c, '\0' | char::REPLACEMENT_CHARACTER);
    for (place, c) in text.chars().filter(shown).enumerate() {
        if c != '\0' {
            continue;
        }
        range = match range {
            Some((first, last)) if last + 1 == place => Some((first, place)),
            other => {
                write(other);
                Some((place, place))
            }
        };
    }
    write(range);
    written
}

/// `text` with NUL where the list says; `None` when it is no list.
pub(super) fn put_back(text: String, list: &str) -> Option<String> {
    if list.is_empty() {
        return Some(text);
    }
    let mut ranges = list
        .split(',')
        .map(range)
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .peekable();
    let mut copy = String::with_capacity(text.len());
    let mut copied = 0;
    for (place, (at, _)) in text.match_indices(REPLACEMENT).enumerate() {
        while ranges.next_if(|(_, last)| *last < place).is_some() {}
        let Some((first, _)) = ranges.peek() else {
            break;
        };
        if place >= *first {
            copy.push_str(&text[copied..at]);
            copy.push('\0');
            copied = at + REPLACEMENT.len();
        }
    }
    copy.push_str(&text[copied..]);
    Some(copy)
}

fn range(text: &str) -> Option<(usize, usize)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| digits)
    };
    Some((number(first)?, number(last)?)).filter(|(first, last)| first <= last)
}
