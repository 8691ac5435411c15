//! Writes the comment with boxes.

use super::super::answer::letter;
use super::super::marker::{MOST_OPTIONS, cut, one_line};
use super::{Answer, MARKER, OTHER, Question, Round, SEND};
use crate::block;

/// The questions of `round` as Markdown with boxes and the marker; what to say above it is the caller's.
///
/// Every line with words of the agent is made quiet: it mentions nobody, closes nothing, commands nothing.
pub fn render(round: &Round<'_>) -> String {
    let mut text = String::new();
    for (question, number) in round.questions.iter().zip(1_usize..) {
        ask(&mut text, question, number, round.own_words);
    }
    text.push_str(&format!("---\n\n- [ ] **{SEND}**\n\n"));
    text.push_str(&format!("{MARKER}{} {} -->", round.run, round.number));
    text
}

/// The questions of a round that has ended, each with its answer and who gave it; `open` is what became of the others.
pub fn answered(
    questions: &[Question],
    answers: &[Option<Answer>],
    whose: &[Option<String>],
    open: &str,
) -> String {
    let mut text = String::new();
    for (at, question) in questions.iter().enumerate() {
        heading(&mut text, question, at + 1);
        let given = answers.get(at).and_then(Option::as_ref);
        let line = match given {
            Some(answer) => {
                let words = shown(&cut(&answer.words(question), MAX_ANSWER_CHARS));
                let by = whose.get(at).and_then(Option::as_deref);
                let by = by.map(|login| format!(" ({login})")).unwrap_or_default();
                format!("Answer: {words}{by}")
            }
            None => format!("*{open}*"),
        };
        text.push_str(&format!("> {}\n\n", block::quiet(&line)));
    }
    text
}

/// Most characters of an answer that are repeated; the plan has all of it.
const MAX_ANSWER_CHARS: usize = 1_000;

fn heading(text: &mut String, question: &Question, number: usize) {
    let header = shown(&question.header);
    let asked = shown(&question.question);
    let line = if header.is_empty() {
        format!("**{number}.** {asked}")
    } else {
        format!("**{number}. {header}** – {asked}")
    };
    text.push_str(&block::quiet(&line));
    text.push_str("\n\n");
}

fn ask(text: &mut String, question: &Question, number: usize, own_words: bool) {
    heading(text, question, number);
    if question.options.is_empty() {
        text.push_str(&format!(
            "Answer in your own words: comment `/answer {number}: …`.\n\n"
        ));
        return;
    }
    text.push_str(if question.multi {
        "Choose one or more options."
    } else {
        "Choose one option."
    });
    if own_words {
        text.push_str(&format!(
            " For another answer, comment `/answer {number}: your own words`, or edit this comment: write it behind \
             *other* and tick that."
        ));
    }
    text.push_str("\n\n");
    for (at, option) in question.options.iter().take(MOST_OPTIONS).enumerate() {
        let mut line = format!("- [ ] {}) {}", letter(at), shown(&option.label));
        if !option.description.is_empty() {
            line.push_str(" — ");
            line.push_str(&shown(&option.description));
        }
        text.push_str(&block::quiet(&line));
        text.push('\n');
    }
    if own_words {
        text.push_str(&format!("- [ ] {OTHER} \n"));
    }
    text.push('\n');
}

/// `text` of an agent in one line that shows as it is written, behind other words on the line; what stands between two
/// single backticks is code.
pub fn shown(text: &str) -> String {
    let line = one_line(text);
    let mut shown = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while let Some(at) = rest.find('`') {
        shown.push_str(&escaped(&rest[..at]));
        let code = &rest[at + 1..];
        match code.find('`') {
            Some(end) if is_code(&code[..end]) && !code[end + 1..].starts_with('`') => {
                shown.push_str(&rest[at..at + end + 2]);
                rest = &code[end + 1..];
            }
            _ => {
                let run = rest.len() - rest[at..].trim_start_matches('`').len() - at;
                shown.push_str(&"\\`".repeat(run));
                rest = &rest[at + run..];
            }
        }
    }
    shown.push_str(&escaped(rest));
    shown
}

/// Worth showing as code: not empty, no blanks at its ends.
fn is_code(text: &str) -> bool {
    !text.is_empty() && text.trim() == text
}

/// `text`, which has no backticks, with a backslash before everything that Markdown would take for markup. Addresses
/// stay as they are, as far as they can, to be links.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let markup = match c {
            '\\' | '*' | '[' | ']' | '<' | '>' | '~' | '|' => true,
            '_' => !(before.is_alphanumeric() && rest.starts_with(char::is_alphanumeric)),
            '&' => {
                let name = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '#');
                name.len() < rest.len() && name.starts_with(';')
            }
            _ => false,
        };
        if markup {
            escaped.push('\\');
        }
        escaped.push(c);
        before = c;
    }
    escaped
}
