//! Divides answers into one part for each question.

use super::{AnswerError, choice};
use crate::question::Question;

/// What was answered to which question.
#[derive(Debug)]
pub(super) struct Divided<'a> {
    /// Positions of questions and the text of each, in the order of the text.
    pub(super) parts: Vec<(usize, &'a str)>,
    /// A line at the end says that the rest stays open.
    pub(super) rest: bool,
}

/// An answer that names options alone is shorter, in bytes. Keeps the work linear.
const MAX_CHOSEN: usize = 400;

/// A number of a question in the text.
struct Mark {
    /// As given.
    number: usize,
    /// What follows it: `:`, `.` or `)`.
    sign: char,
    /// Bytes of number and sign.
    len: usize,
}

/// Divides `text`, which is trimmed and not empty.
///
/// A number opens a part at the start, behind a line end or behind white space, when `:`, `.` or `)` follows, then white
/// space or the end, and it is the number of a question that has no part yet. Behind a colon the
/// letter of an option may follow at once (`1:a`), and any word where the text begins like that
/// (`1:a 2:yes`) or where options alone, a comma, a semicolon or a line end stand before it. A
/// single question's number counts at the start alone, and may be missing.
pub(super) fn divide<'a>(
    text: &'a str,
    questions: &[Question],
) -> Result<Divided<'a>, AnswerError> {
    let count = questions.len();
    let (text, rest) = without_last(text);
    let mut parts: Vec<(usize, usize, usize)> = Vec::new();
    let glued = is_glued(text);
    let mut before = '\n';
    for (at, c) in text.char_indices() {
        let opens = before.is_whitespace();
        let line = matches!(before, '\n' | '\r');
        before = c;
        if !opens {
            continue;
        }
        // What was answered so far is complete: options and nothing else.
        let options = || {
            let (number, _, from) = parts.last().copied().unwrap_or((1, 0, 0));
            let question = number.checked_sub(1).and_then(|at| questions.get(at));
            let answer = text[from..at].trim();
            let short = !answer.is_empty() && answer.len() <= MAX_CHOSEN;
            short && question.is_some_and(|question| choice::options(answer, question).is_some())
        };
        // Behind a mark that divides, a word right behind a number's colon is no part of a sentence.
        let divided = || at > 0 && (line || text[..at].trim_end().ends_with([',', ';']));
        let glued = || glued || divided() || options();
        let Some(mark) = mark(&text[at..], questions, &glued, &options) else {
            continue;
        };
        let known = (1..=count).contains(&mark.number);
        if known && (count > 1 || at == 0) {
            if !parts.iter().any(|(number, ..)| *number == mark.number) {
                parts.push((mark.number, at, at + mark.len));
            }
        } else if !known
            && mark.sign == ':'
            && mark.number < 100
            && (line && count > 1 || at == 0 || options())
        {
            return Err(AnswerError::NoSuchQuestion {
                number: mark.number,
                count,
            });
        }
    }
    match parts.first() {
        Some((_, 0, _)) => {}
        None if count == 1 => {
            return Ok(Divided {
                parts: vec![(0, text)],
                rest,
            });
        }
        _ => return Err(AnswerError::Unnumbered { count }),
    }
    let ends: Vec<usize> = parts
        .iter()
        .skip(1)
        .map(|(_, start, _)| *start)
        .chain([text.len()])
        .collect();
    let parts = parts
        .into_iter()
        .zip(ends)
        .map(|((number, _, from), to)| {
            let part = text[from..to].trim();
            let last = to == text.len();
            let part = if last {
                part
            } else {
                part.trim_end_matches([',', ';'])
            };
            (number - 1, part.trim_end())
        })
        .collect();
    Ok(Divided { parts, rest })
}

/// `text` without a last line that says that the rest stays open, and whether there was one.
fn without_last(text: &str) -> (&str, bool) {
    match text.rsplit_once(['\n', '\r']) {
        Some((above, last)) if choice::skips(last).is_some() => (above.trim(), true),
        _ => (text, false),
    }
}

/// `text` begins with a number, a colon and a word right behind it.
fn is_glued(text: &str) -> bool {
    let rest = text.trim_start_matches(|c| choice::digit(c).is_some());
    let word = rest.strip_prefix([':', '：']);
    rest.len() < text.len() && word.is_some_and(|word| word.starts_with(char::is_alphanumeric))
}

/// The number of a question that `text` begins with. `glued`: a word may stand right behind its
/// colon, or a number where `complete` says that the answer before it has ended.
fn mark(
    text: &str,
    questions: &[Question],
    glued: &dyn Fn() -> bool,
    complete: &dyn Fn() -> bool,
) -> Option<Mark> {
    let mut number = 0;
    let mut chars = text.char_indices().peekable();
    let mut digits = 0;
    while let Some(digit) = chars.peek().and_then(|(_, c)| choice::digit(*c)) {
        number = number * 10 + digit;
        digits += 1;
        // More digits are a year, a port, an amount.
        if digits > 3 {
            return None;
        }
        chars.next();
    }
    let (_, sign) = chars.next().filter(|_| digits > 0)?;
    let sign = match sign {
        ':' | '：' => ':',
        '.' => '.',
        ')' | '）' => ')',
        _ => return None,
    };
    let len = chars.peek().map_or(text.len(), |(next, _)| *next);
    let behind = &text[len..];
    let apart = behind.is_empty() || behind.starts_with(char::is_whitespace);
    let close = || {
        let question = number.checked_sub(1).and_then(|at| questions.get(at));
        let letter = question.is_some_and(|question| choice::begins_with_letter(behind, question));
        let word = || behind.starts_with(char::is_alphabetic);
        let number =
            || question.is_some_and(|question| choice::begins_with_number(behind, question));
        let figure = || behind.starts_with(char::is_numeric) && complete();
        letter || glued() && (word() || number() || figure())
    };
    (apart || sign == ':' && close()).then_some(Mark { number, sign, len })
}
