//! Splits a text into the answers to several questions.

use super::{AnswerError, choice};
use crate::question::Question;

/// The answers of a text.
#[derive(Debug)]
pub(super) struct SplitAnswers<'a> {
    /// Position of the question and text of each answer, in the order of the text.
    pub(super) parts: Vec<(usize, &'a str)>,
    /// Whether the last line says that the rest stays open.
    pub(super) rest: bool,
}

/// Maximum length of an answer that consists of options alone, in bytes. Keeps the work linear.
const MAX_OPTIONS_BYTES: usize = 400;

/// The number of a question in the text.
struct NumberMark {
    number: usize,
    /// The sign after the number: `:`, `.` or `)`.
    sign: char,
    /// Length of number and sign, in bytes.
    len: usize,
}

/// Splits `text`, which is trimmed and not empty.
///
/// A number begins an answer at the start of the text or after white space if it is followed by
/// `:`, `.` or `)` and then by white space or the end, and if it is the number of a question that
/// has no answer yet. After a colon, the letter of an option may follow directly (`1:a`), and any
/// word if the text begins this way (`1:a 2:yes`) or if the number follows an answer of options
/// alone, a comma, a semicolon or a line end. The number of a single question counts only at the
/// start, and may be omitted.
pub(super) fn split<'a>(
    text: &'a str,
    questions: &[Question],
) -> Result<SplitAnswers<'a>, AnswerError> {
    let count = questions.len();
    let (text, rest) = strip_skip_line(text);
    // Number, start of the mark and start of the answer.
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    let begins_glued = begins_glued(text);
    let mut before = '\n';
    for (at, c) in text.char_indices() {
        let follows_space = before.is_whitespace();
        let begins_line = matches!(before, '\n' | '\r');
        before = c;
        if !follows_space {
            continue;
        }
        // Whether the answer so far consists of options alone, and so is complete.
        let is_complete = || {
            let (number, _, from) = found.last().copied().unwrap_or((1, 0, 0));
            let question = number.checked_sub(1).and_then(|at| questions.get(at));
            let answer = text[from..at].trim();
            let is_short = !answer.is_empty() && answer.len() <= MAX_OPTIONS_BYTES;
            is_short && question.is_some_and(|it| choice::parse_options(answer, it).is_some())
        };
        // After a separator, a word directly after a number's colon is not part of a sentence.
        let follows_separator =
            || at > 0 && (begins_line || text[..at].trim_end().ends_with([',', ';']));
        let allows_glued = || begins_glued || follows_separator() || is_complete();
        let Some(mark) = parse_mark(&text[at..], questions, &allows_glued, &is_complete) else {
            continue;
        };
        let is_known = (1..=count).contains(&mark.number);
        if is_known && (count > 1 || at == 0) {
            if !found.iter().any(|(number, ..)| *number == mark.number) {
                found.push((mark.number, at, at + mark.len));
            }
        } else if !is_known
            && mark.sign == ':'
            && mark.number < 100
            && (begins_line && count > 1 || at == 0 || is_complete())
        {
            return Err(AnswerError::NoSuchQuestion {
                number: mark.number,
                count,
            });
        }
    }
    match found.first() {
        Some((_, 0, _)) => {}
        None if count == 1 => found.push((1, 0, 0)),
        _ => return Err(AnswerError::Unnumbered { count }),
    }
    let mut parts = Vec::new();
    for (index, (number, _, from)) in found.iter().enumerate() {
        let part = match found.get(index + 1) {
            Some((_, end, _)) => text[*from..*end].trim().trim_end_matches([',', ';']),
            None => &text[*from..],
        };
        parts.push((number - 1, part.trim()));
    }
    Ok(SplitAnswers { parts, rest })
}

/// Removes a last line that says that the rest stays open, and returns whether there was one.
fn strip_skip_line(text: &str) -> (&str, bool) {
    match text.rsplit_once(['\n', '\r']) {
        Some((above, last)) if choice::parse_skip(last).is_some() => (above.trim(), true),
        _ => (text, false),
    }
}

/// Whether `text` begins with a number, a colon and directly a word.
fn begins_glued(text: &str) -> bool {
    let rest = text.trim_start_matches(|c| choice::digit(c).is_some());
    let word = rest.strip_prefix([':', '：']);
    rest.len() < text.len() && word.is_some_and(|word| word.starts_with(char::is_alphanumeric))
}

/// Parses the number of a question at the beginning of `text`. If `allows_glued`, a word may follow
/// its colon directly, and a number if the answer before it `is_complete`.
fn parse_mark(
    text: &str,
    questions: &[Question],
    allows_glued: &dyn Fn() -> bool,
    is_complete: &dyn Fn() -> bool,
) -> Option<NumberMark> {
    let mut number = 0;
    let mut digits = 0;
    let mut chars = text.chars();
    let sign = loop {
        let c = chars.next()?;
        let Some(digit) = choice::digit(c) else {
            break c;
        };
        number = number * 10 + digit;
        digits += 1;
        // More digits are a year, a port, an amount.
        if digits > 3 {
            return None;
        }
    };
    let sign = match sign {
        ':' | '：' => ':',
        '.' => '.',
        ')' | '）' => ')',
        _ => return None,
    };
    let rest = chars.as_str();
    let is_separate = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let is_glued = || {
        let question = number.checked_sub(1).and_then(|at| questions.get(at));
        question.is_some_and(|question| choice::begins_with_letter(rest, question))
            || allows_glued()
                && (rest.starts_with(char::is_alphabetic)
                    || question.is_some_and(|question| choice::begins_with_number(rest, question))
                    || rest.starts_with(char::is_numeric) && is_complete())
    };
    (digits > 0 && (is_separate || sign == ':' && is_glued())).then_some(NumberMark {
        number,
        sign,
        len: text.len() - rest.len(),
    })
}
