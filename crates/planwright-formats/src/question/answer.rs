//! Reads what stands behind `/answer`.
//!
//! ```text
//! /answer 1: a  2: keep the old endpoint        numbered, on one line or on several
//! /answer 1: a, c; other: and the lock file     several options, and own words
//! /answer the second one                        a single question needs no number
//! /answer 1: b skip                             the rest stays open; so does question 2 with `2: skip`
//! ```
//!
//! An option is named by its letter, its number or its label. Where an answer is not made of options alone it is free
//! text, every word of it: "a bigger cache is fine" chooses nothing. What is typed in a terminal is read by the same
//! rules ([`one`]).

mod choice;
mod parts;
#[cfg(test)]
mod tests;

use thiserror::Error;

use super::{Answer, Question};

/// Answers to the questions of one round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answered {
    /// One for each question; `None` where nothing was said.
    pub answers: Vec<Option<Answer>>,
    /// Positions of questions, from 0, ascending, that are to stay open: `2: skip`, or `skip` for all the rest.
    pub skipped: Vec<usize>,
}

impl Answered {
    /// Every question has its answer or is to stay open, so there is nothing to wait for.
    pub fn complete(&self) -> bool {
        self.answers
            .iter()
            .enumerate()
            .all(|(at, answer)| answer.is_some() || self.skipped.contains(&at))
    }
}

/// Why answers cannot be taken. Numbers of questions count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AnswerError {
    /// There is no answer.
    #[error(
        "There is no answer behind `/answer`. Write the number of each question and what you choose, such as \
         `/answer 1: a 2: your own words`, or `/answer skip` to leave them open."
    )]
    Nothing,
    /// Answers were sent, and nothing is ticked.
    #[error(
        "No option is ticked. Tick what you choose and then “Send these answers”, or comment `/answer skip` to leave the \
         questions open."
    )]
    Unticked,
    /// There are several questions, and the text does not begin with a number.
    #[error(
        "It is not clear which of the {count} questions is answered. Begin each answer with the number of its question \
         and a colon, such as `/answer 1: a 2: b`."
    )]
    Unnumbered {
        /// How many questions there are.
        count: usize,
    },
    /// A number that no question has.
    #[error("There is no question {number}: {}", there_are(*.count))]
    NoSuchQuestion {
        /// The number as given.
        number: usize,
        /// How many questions there are.
        count: usize,
    },
    /// More than one option where only one can be chosen.
    #[error(
        "Question {question} takes one option, but several are chosen. Choose one of them, or say it in your own words \
         behind `other:`."
    )]
    Several {
        /// Number of the question.
        question: usize,
    },
    /// A letter or a number that no option has.
    #[error(
        "Question {question} has no option `{given}`: {}. Choose one of these, or say it in your own words behind \
         `other:`.",
        options_are(*.count)
    )]
    NoSuchOption {
        /// Number of the question.
        question: usize,
        /// A single letter or a number, as given.
        given: String,
        /// How many options the question has; at least one.
        count: usize,
    },
    /// `other` is chosen without words.
    #[error(
        "Question {question} is answered with `other`, but nothing stands behind it. Write your answer behind `other:`, or \
         comment `/answer {question}: your own words`."
    )]
    EmptyOther {
        /// Number of the question.
        question: usize,
    },
}

fn there_are(count: usize) -> String {
    match count {
        0 => "nothing is asked here at present.".to_owned(),
        1 => "there is only one. Begin the answer with `1:`, or leave the number out.".to_owned(),
        _ => format!(
            "there are {count}. Begin each answer with a number from 1 to {count} and a colon, such as `1: a`."
        ),
    }
}

fn options_are(count: usize) -> String {
    match count {
        1 => "its only option is a".to_owned(),
        _ => format!("its options are a to {}", letter(count.saturating_sub(1))),
    }
}

/// The letter of the option at position `at`, from 0. There are never so many options that letters run out; if there
/// were, the rest would be called `?`.
pub(super) fn letter(at: usize) -> char {
    u8::try_from(at)
        .ok()
        .filter(|at| *at < 26)
        .map_or('?', |at| char::from(b'a' + at))
}

/// What somebody said to a single question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct One {
    /// The answer; `None` where the question is to stay open.
    pub answer: Option<Answer>,
    /// So are all others that are not answered.
    pub rest: bool,
}

/// Reads `text` as the answer to one question, which has this number.
pub fn one(text: &str, question: &Question, number: usize) -> Result<One, AnswerError> {
    let (answer, skip) = choice::read(text, question, number)?;
    Ok(One {
        answer,
        rest: skip == Some(choice::Skip::Rest),
    })
}

/// Reads the answers in `text` to `questions`.
pub fn read(text: &str, questions: &[Question]) -> Result<Answered, AnswerError> {
    let text = text.trim();
    let count = questions.len();
    if count == 0 {
        return Err(AnswerError::NoSuchQuestion { number: 1, count });
    }
    if text.is_empty() {
        return Err(AnswerError::Nothing);
    }
    let mut answered = Answered {
        answers: vec![None; count],
        skipped: Vec::new(),
    };
    let mut rest = true;
    // With a single question "skip" may be the label of an option.
    if count == 1 || choice::skips(text).is_none() {
        let divided = parts::divide(text, questions)?;
        rest = divided.rest;
        for (at, text) in divided.parts {
            let (answer, skip) = choice::read(text, &questions[at], at + 1)?;
            answered.answers[at] = answer;
            match skip {
                Some(choice::Skip::This) => answered.skipped.push(at),
                Some(choice::Skip::Rest) => rest = true,
                None => {}
            }
        }
    }
    if rest {
        answered.skipped = (0..count)
            .filter(|at| answered.answers[*at].is_none())
            .collect();
    }
    answered.skipped.sort_unstable();
    if answered.skipped.is_empty() && answered.answers.iter().all(Option::is_none) {
        return Err(AnswerError::Nothing);
    }
    Ok(answered)
}
