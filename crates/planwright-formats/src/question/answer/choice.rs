//! Reads the answer to one question.

use unicode_normalization::UnicodeNormalization as _;

use super::AnswerError;
use crate::question::{Answer, Question};

/// What an answer leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Skip {
    /// Its own question.
    This,
    /// Whatever else is not answered.
    Rest,
}

/// What `text` leaves open when it says nothing else.
pub(super) fn skips(text: &str) -> Option<Skip> {
    let text = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["skip"] => Some(Skip::This),
        ["skip", "rest" | "all"] | ["skip", "the", "rest"] => Some(Skip::Rest),
        _ => None,
    }
}

/// The answer that `text` gives to `question`, which has this number, and what it leaves open.
pub(super) fn read(
    text: &str,
    question: &Question,
    number: usize,
) -> Result<(Option<Answer>, Option<Skip>), AnswerError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok((None, None));
    }
    if let Some(chosen) = options(text, question) {
        return Ok((Some(judged(chosen, None, question, number)?), None));
    }
    if let Some(skip) = skips(text) {
        return Ok((None, Some(skip)));
    }
    // `a skip`, `a, skip the rest`: only behind options, as "let them skip" is free text.
    let behind = text
        .char_indices()
        .filter(|(at, c)| c.is_whitespace() && text.len() - at <= LONGEST_SKIP)
        .filter(|(at, _)| skips(&text[*at..]).is_some())
        .find_map(|(at, _)| options(&text[..at], question));
    if let Some(chosen) = behind {
        return Ok((
            Some(judged(chosen, None, question, number)?),
            Some(Skip::Rest),
        ));
    }
    if let Some((before, own)) = other(text) {
        let chosen = if before.is_empty() {
            Some(Vec::new())
        } else {
            options(before, question)
        };
        if let Some(chosen) = chosen {
            if own.is_empty() {
                return Err(AnswerError::EmptyOther { question: number });
            }
            return Ok((Some(judged(chosen, Some(own), question, number)?), None));
        }
    }
    if question.choice
        && let Some(given) = missing(text, question)
    {
        return Err(AnswerError::NoSuchOption {
            question: number,
            given,
            count: question.options.len(),
        });
    }
    Ok((
        Some(judged(Vec::new(), Some(text), question, number)?),
        None,
    ))
}

/// An answer of these options and words, where the question allows as many.
fn judged(
    mut chosen: Vec<usize>,
    text: Option<&str>,
    question: &Question,
    number: usize,
) -> Result<Answer, AnswerError> {
    chosen.sort_unstable();
    chosen.dedup();
    if !question.multi && chosen.len() > 1 {
        return Err(AnswerError::Several { question: number });
    }
    Ok(Answer {
        chosen,
        text: text.map(str::to_owned),
    })
}

/// What stands before and behind `other:`, which begins the text or follows a comma, a semicolon or a line end.
fn other(text: &str) -> Option<(&str, &str)> {
    const WORD: &str = "other:";
    let mut at = 0;
    loop {
        let rest = text[at..].trim_start();
        if rest
            .get(..WORD.len())
            .is_some_and(|word| word.eq_ignore_ascii_case(WORD))
        {
            let start = text.len() - rest.len();
            let before = text[..start].trim_end().trim_end_matches([',', ';']).trim();
            return Some((before, rest[WORD.len()..].trim()));
        }
        at += text[at..].find([',', ';', '\n', '\r'])? + 1;
    }
}

/// Positions of the options that `text` names; `None` when it is not made of options alone.
pub(super) fn options(text: &str, question: &Question) -> Option<Vec<usize>> {
    if let Some(at) = option(text, question) {
        return Some(vec![at]);
    }
    named(text, |piece| option(piece, question))
        .or_else(|| spaced(text, |piece| lettered(piece, question)))
}

/// What every piece of `text` between commas, semicolons, line ends, `+`, `&` and "and" stands for.
fn named<T>(text: &str, one: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let pieces: Vec<T> = text
        .split([',', ';', '\n', '\r', '+', '&'])
        .flat_map(|piece| piece.split(" and "))
        .map(str::trim)
        .filter(|piece| !piece.is_empty())
        .map(one)
        .collect::<Option<_>>()?;
    (!pieces.is_empty()).then_some(pieces)
}

/// What every word of `text` stands for.
fn spaced<T>(text: &str, one: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    text.split_whitespace().map(one).collect()
}

/// Position of the option that `text` names with its label, its letter, its number, or letter and label.
fn option(text: &str, question: &Question) -> Option<usize> {
    labelled(text, question)
        .or_else(|| lettered(text, question))
        .or_else(|| {
            let (mark, label) = text.trim().split_once([')', '.', ':'])?;
            let at = lettered(mark, question)?;
            (labelled(label, question) == Some(at)).then_some(at)
        })
}

fn labelled(text: &str, question: &Question) -> Option<usize> {
    let text = plain(text);
    question
        .options
        .iter()
        .position(|option| plain(&option.label) == text)
        .filter(|_| !text.is_empty())
}

fn lettered(text: &str, question: &Question) -> Option<usize> {
    position(text).filter(|at| *at < question.options.len())
}

/// Position that a letter or a number standing alone means, from 0: `b`, `B)`, `(b)`, `2.`, `２`.
fn position(text: &str) -> Option<usize> {
    let text = plain(text);
    let text = text.strip_prefix('(').unwrap_or(&text);
    let text = text.strip_suffix([')', '.', ':']).unwrap_or(text);
    let mut chars = text.chars();
    match (chars.next()?, chars.next()) {
        (letter @ 'a'..='z', None) => Some(usize::from(letter as u8 - b'a')),
        _ if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            // Zero and what is too large for a number are positions that no option has.
            let number = text.parse::<usize>().unwrap_or(usize::MAX);
            Some(number.wrapping_sub(1))
        }
        _ => None,
    }
}

/// The first letter or number in `text` that no option has, when `text` is made of letters and numbers alone.
fn missing(text: &str, question: &Question) -> Option<String> {
    let one = |piece: &str| Some((piece.to_owned(), position(piece)?));
    let pieces = named(text, one).or_else(|| spaced(text, one))?;
    let (given, _) = pieces
        .into_iter()
        .find(|(_, at)| *at >= question.options.len())?;
    let given = plain(&given);
    let shown = given.chars().filter(char::is_ascii_alphanumeric);
    Some(shown.take(MOST_SHOWN).collect())
}

/// Bytes of the longest form of "skip" behind options, with room for blanks.
const LONGEST_SKIP: usize = 24;

/// Most characters of a number that an error repeats.
const MOST_SHOWN: usize = 12;

/// `text` for comparison: compatible forms made alike, in lower case, without quotes and marks of emphasis around it.
fn plain(text: &str) -> String {
    let alike: String = text.nfkc().collect::<String>().to_lowercase();
    let words: Vec<&str> = alike.split_whitespace().collect();
    words
        .join(" ")
        .trim_matches(['"', '\'', '`', '*'])
        .trim()
        .to_owned()
}

/// Value of a decimal digit; telephones and input methods type full-width ones.
pub(super) fn digit(c: char) -> Option<usize> {
    let value = match c {
        '0'..='9' => c as u32 - '0' as u32,
        '０'..='９' => c as u32 - '０' as u32,
        _ => return None,
    };
    usize::try_from(value).ok()
}

/// `text` begins with the number of an option, alone.
pub(super) fn begins_with_number(text: &str, question: &Question) -> bool {
    let word = first_word(text);
    word.chars().all(|c| digit(c).is_some()) && lettered(word, question).is_some()
}

fn first_word(text: &str) -> &str {
    let end = text
        .find(|c: char| c.is_whitespace() || matches!(c, ',' | ';'))
        .unwrap_or(text.len());
    &text[..end]
}

/// `text` begins with the letter of an option, alone.
pub(super) fn begins_with_letter(text: &str, question: &Question) -> bool {
    let word = first_word(text);
    word.chars().count() == 1
        && word.starts_with(char::is_alphabetic)
        && lettered(word, question).is_some()
}
