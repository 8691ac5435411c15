//! Parses the answer to one question.

use unicode_normalization::UnicodeNormalization as _;

use super::AnswerError;
use crate::question::{Answer, Question};

/// Maximum length of "skip" after options, in bytes, with room for spaces.
const MAX_SKIP_BYTES: usize = 24;

/// Maximum length of an unknown option that an error repeats, in characters.
const MAX_SHOWN_CHARS: usize = 12;

/// The questions that an answer leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Skip {
    /// Its own question.
    This,
    /// Every question without an answer.
    Rest,
}

/// Parses a text that leaves questions open and says nothing else.
pub(super) fn parse_skip(text: &str) -> Option<Skip> {
    let text = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["skip"] => Some(Skip::This),
        ["skip", "rest" | "all"] | ["skip", "the", "rest"] => Some(Skip::Rest),
        _ => None,
    }
}

/// Parses the answer that `text` gives to `question`, which has this number, and what it leaves
/// open.
pub(super) fn parse(
    text: &str,
    question: &Question,
    number: usize,
) -> Result<(Option<Answer>, Option<Skip>), AnswerError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok((None, None));
    }
    let answer = |chosen, text: Option<&str>| {
        Answer::new(chosen, text.map(str::to_owned), question, number).map(Some)
    };
    if let Some(chosen) = parse_options(text, question) {
        return Ok((answer(chosen, None)?, None));
    }
    if let Some(skip) = parse_skip(text) {
        return Ok((None, Some(skip)));
    }
    // `a skip`, `a, skip the rest`: only after options, because "let them skip" is free text.
    let before_skip = text
        .char_indices()
        .filter(|(at, c)| c.is_whitespace() && text.len() - at <= MAX_SKIP_BYTES)
        .filter(|(at, _)| parse_skip(&text[*at..]).is_some())
        .find_map(|(at, _)| parse_options(&text[..at], question));
    if let Some(chosen) = before_skip {
        return Ok((answer(chosen, None)?, Some(Skip::Rest)));
    }
    if let Some((before, own)) = split_other(text) {
        let chosen = if before.is_empty() {
            Some(Vec::new())
        } else {
            parse_options(before, question)
        };
        if let Some(chosen) = chosen {
            if own.is_empty() {
                return Err(AnswerError::EmptyOther { question: number });
            }
            return Ok((answer(chosen, Some(own))?, None));
        }
    }
    if question.choice
        && let Some(given) = unknown_option(text, question)
    {
        return Err(AnswerError::NoSuchOption {
            question: number,
            given,
            count: question.options.len(),
        });
    }
    Ok((answer(Vec::new(), Some(text))?, None))
}

/// Splits a text at `other:`, which begins it or follows a comma, a semicolon or a line end.
fn split_other(text: &str) -> Option<(&str, &str)> {
    const OTHER: &str = "other:";
    let mut at = 0;
    loop {
        let rest = text[at..].trim_start();
        if rest
            .get(..OTHER.len())
            .is_some_and(|word| word.eq_ignore_ascii_case(OTHER))
        {
            let before = text[..text.len() - rest.len()].trim_end();
            let before = before.trim_end_matches([',', ';']).trim();
            return Some((before, rest[OTHER.len()..].trim()));
        }
        at += text[at..].find([',', ';', '\n', '\r'])? + 1;
    }
}

/// Parses a text that consists of options alone and returns their positions.
pub(super) fn parse_options(text: &str, question: &Question) -> Option<Vec<usize>> {
    if let Some(position) = parse_option(text, question) {
        return Some(vec![position]);
    }
    parse_list(text, |piece| parse_option(piece, question))
        .or_else(|| parse_words(text, |word| by_letter_or_number(word, question)))
}

/// Parses every piece between commas, semicolons, line ends, `+`, `&` and "and"; `None` if one
/// fails.
fn parse_list<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let pieces: Vec<T> = text
        .split([',', ';', '\n', '\r', '+', '&'])
        .flat_map(|piece| piece.split(" and "))
        .map(str::trim)
        .filter(|piece| !piece.is_empty())
        .map(parse)
        .collect::<Option<_>>()?;
    (!pieces.is_empty()).then_some(pieces)
}

/// Parses every word; `None` if one fails.
fn parse_words<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    text.split_whitespace().map(parse).collect()
}

/// Returns the position of the option with this label, letter or number, or with this letter and
/// label.
fn parse_option(text: &str, question: &Question) -> Option<usize> {
    by_label(text, question)
        .or_else(|| by_letter_or_number(text, question))
        .or_else(|| {
            let (mark, label) = text.trim().split_once([')', '.', ':'])?;
            let position = by_letter_or_number(mark, question)?;
            (by_label(label, question) == Some(position)).then_some(position)
        })
}

fn by_label(text: &str, question: &Question) -> Option<usize> {
    let text = normalized(text);
    let mut options = question.options.iter();
    options
        .position(|option| normalized(&option.label) == text)
        .filter(|_| !text.is_empty())
}

fn by_letter_or_number(text: &str, question: &Question) -> Option<usize> {
    parse_position(text).filter(|position| *position < question.options.len())
}

/// Parses the position, from 0, that a single letter or number means: `b`, `B)`, `(b)`, `2.`, `２`.
fn parse_position(text: &str) -> Option<usize> {
    let text = normalized(text);
    let text = text.strip_prefix('(').unwrap_or(&text);
    let text = text.strip_suffix([')', '.', ':']).unwrap_or(text);
    match text.as_bytes() {
        [letter @ b'a'..=b'z'] => Some(usize::from(letter - b'a')),
        digits if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            // Zero and numbers that are too large become positions that no option has.
            let number = text.parse::<usize>().unwrap_or(usize::MAX);
            Some(number.wrapping_sub(1))
        }
        _ => None,
    }
}

/// Returns the first letter or number that no option has, if `text` consists of letters and numbers
/// alone.
fn unknown_option(text: &str, question: &Question) -> Option<String> {
    let parse = |piece: &str| Some((piece.to_owned(), parse_position(piece)?));
    let pieces = parse_list(text, parse).or_else(|| parse_words(text, parse))?;
    let (given, _) = pieces
        .into_iter()
        .find(|(_, position)| *position >= question.options.len())?;
    let given = normalized(&given);
    let shown = given.chars().filter(char::is_ascii_alphanumeric);
    Some(shown.take(MAX_SHOWN_CHARS).collect())
}

/// Normalizes text for comparison: NFKC, lower case, single spaces, without surrounding quotes and
/// emphasis.
fn normalized(text: &str) -> String {
    let lower: String = text.nfkc().collect::<String>().to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    words
        .join(" ")
        .trim_matches(['"', '\'', '`', '*'])
        .trim()
        .to_owned()
}

/// Returns the value of a decimal digit, ASCII or full-width, which phones and input methods
/// produce.
pub(super) fn digit(c: char) -> Option<usize> {
    let value = match c {
        '0'..='9' => c as u32 - '0' as u32,
        '０'..='９' => c as u32 - '０' as u32,
        _ => return None,
    };
    usize::try_from(value).ok()
}

/// Whether `text` begins with the number of an option as a word of its own.
pub(super) fn begins_with_number(text: &str, question: &Question) -> bool {
    let word = first_word(text);
    word.chars().all(|c| digit(c).is_some()) && by_letter_or_number(word, question).is_some()
}

/// Whether `text` begins with the letter of an option as a word of its own.
pub(super) fn begins_with_letter(text: &str, question: &Question) -> bool {
    let word = first_word(text);
    word.chars().count() == 1
        && word.starts_with(char::is_alphabetic)
        && by_letter_or_number(word, question).is_some()
}

fn first_word(text: &str) -> &str {
    let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    text.split(is_end).next().unwrap_or_default()
}
