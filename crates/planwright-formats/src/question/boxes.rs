//! The comment that asks: every option is a box to tick, and one box sends the answers.
//!
//! ```markdown
//! **1. Cache** – Where does the cache live?
//!
//! Choose one option. For another answer, comment `/answer 1: your own words`, or edit …
//!
//! - [ ] a) In memory — lost at a restart
//! - [ ] b) Redis
//! - [ ] other:
//!
//! **2.** What is it called?
//!
//! Answer in your own words: comment `/answer 2: …`.
//!
//! ---
//!
//! - [ ] **Send these answers**
//!
//! <!-- planwright:questions RUN ROUND -->
//! ```
//!
//! What agents write stands behind our own words on a line, shown as it is: it begins no line, no item, no box, no
//! marker. Only a pair of backticks still makes code. Ticks are read from the Markdown tree; people may have edited the
//! comment by hand, so options go by their letter and questions by their number.

mod read;
mod render;
#[cfg(test)]
mod tests;

pub use read::{read, unsent};
pub use render::{answered, render, shown};

use super::answer::AnswerError;
use super::{Answer, Question};

/// What the box that sends says.
const SEND: &str = "Send these answers";
/// What the box for one's own words says.
const OTHER: &str = "other:";
/// What the marker begins with.
const MARKER: &str = "<!-- planwright:questions ";

/// Questions that are asked together.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// Run id; without white space.
    pub run: &'a str,
    /// Which round of the run, from 1.
    pub number: u32,
    /// What is asked.
    pub questions: &'a [Question],
    /// Whoever answers may say something else than the options.
    pub own_words: bool,
}

/// What is ticked in a comment with boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boxes {
    /// Run id.
    pub run: String,
    /// Which round of the run, from 1.
    pub round: u32,
    /// One for each question, in the order of their numbers.
    pub questions: Vec<Ticks>,
    /// "Send these answers" is ticked.
    pub send: bool,
}

/// What is ticked for one question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ticks {
    /// Positions of the ticked options, from 0, ascending.
    pub chosen: Vec<usize>,
    /// What stands behind `other:`, when that is ticked; may be empty.
    pub other: Option<String>,
}

/// Somebody ticked "Send these answers" between `before` and `after`, in one and the same round.
pub fn sent(before: &str, after: &str) -> bool {
    match (read(before), read(after)) {
        (Some(before), Some(after)) => {
            before.run == after.run && before.round == after.round && !before.send && after.send
        }
        _ => false,
    }
}

/// The ticks as answers to `questions`; `None` where nothing is ticked, as always for questions without options.
pub fn answers(boxes: &Boxes, questions: &[Question]) -> Result<Vec<Option<Answer>>, AnswerError> {
    let none = Ticks::default();
    questions
        .iter()
        .enumerate()
        .map(|(at, question)| {
            let ticks = boxes.questions.get(at).unwrap_or(&none);
            answer(ticks, question, at + 1)
        })
        .collect()
}

fn answer(
    ticks: &Ticks,
    question: &Question,
    number: usize,
) -> Result<Option<Answer>, AnswerError> {
    let chosen: Vec<usize> = ticks
        .chosen
        .iter()
        .copied()
        .filter(|at| *at < question.options.len())
        .collect();
    if !question.multi && chosen.len() > 1 {
        return Err(AnswerError::Several { question: number });
    }
    if ticks.other.as_deref() == Some("") {
        return Err(AnswerError::EmptyOther { question: number });
    }
    let text = ticks.other.clone();
    Ok((!chosen.is_empty() || text.is_some()).then_some(Answer { chosen, text }))
}
