//! Parses what somebody types in a terminal as the answer to one question: the same as after
//! `/answer`, and additionally
//!
//! | typed | means |
//! |---|---|
//! | nothing | the question is left to the agent |
//! | `0` | free text follows |

use super::answer::{self, AnswerError, SingleAnswer};
use super::{Answer, Question, letter};

/// A line of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypedInput {
    /// The question is left to the agent.
    Empty,
    /// The free text is to be asked for.
    OwnWords,
    /// The answer.
    Answer(SingleAnswer),
}

/// Parses `text` as the answer to `question`, which has this number.
///
/// # Errors
/// The answer is invalid, as for [`answer::parse`].
pub fn parse(text: &str, question: &Question, number: usize) -> Result<TypedInput, AnswerError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(TypedInput::Empty);
    }
    let is_label = |label: &str| question.options.iter().any(|it| it.label.trim() == label);
    if matches!(text, "0" | "０") && !question.options.is_empty() && !is_label(text) {
        return Ok(TypedInput::OwnWords);
    }
    answer::parse_single(text, question, number).map(TypedInput::Answer)
}

/// Returns free text as an answer; `None` if it is blank.
pub fn own_words(text: &str) -> Option<Answer> {
    let text = text.trim();
    (!text.is_empty()).then(|| Answer {
        chosen: Vec::new(),
        text: Some(text.to_owned()),
    })
}

/// Whether the label of an option looks like the number of another one. Labels take precedence over
/// numbers, so such options are shown with letters.
pub fn labels_are_numbers(question: &Question) -> bool {
    question.options.iter().any(|option| {
        let label = option.label.trim();
        !label.is_empty() && label.chars().all(|c| c.is_ascii_digit())
    })
}

/// Returns the marker that is shown before the option at `position`, from 0: `1.` or `a)`.
pub fn mark(question: &Question, position: usize) -> String {
    if labels_are_numbers(question) {
        format!("{})", letter(position))
    } else {
        format!("{}.", position + 1)
    }
}

#[cfg(test)]
mod tests;
