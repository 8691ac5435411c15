//! Parses the text after `/answer`.
//!
//! ```text
//! /answer 1: a  2: keep the old endpoint        numbered, on one line or on several
//! /answer 1: a, c; other: and the lock file     several options, and free text
//! /answer the second one                        a single question needs no number
//! /answer 1: b skip                             the rest stays open; so does question 2 with `2: skip`
//! ```
//!
//! An option is named by its letter, its number or its label. An answer that does not consist of
//! options alone is free text in full: "a bigger cache is fine" chooses nothing. Input in a
//! terminal follows the same rules ([`parse_single`]).

mod choice;
mod split;
#[cfg(test)]
mod tests;

use thiserror::Error;

use super::{Answer, Question, letter};
use choice::Skip;

/// Answers to the questions of one round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedAnswers {
    /// One entry per question; `None` for a question without an answer.
    pub answers: Vec<Option<Answer>>,
    /// Positions of the questions that are to stay open (`2: skip`, or `skip` for the rest), from
    /// 0, ascending.
    pub skipped: Vec<usize>,
}

impl ParsedAnswers {
    /// Whether every question has an answer or is to stay open, so that there is nothing to wait
    /// for.
    pub fn complete(&self) -> bool {
        let mut answers = self.answers.iter().enumerate();
        answers.all(|(position, answer)| answer.is_some() || self.skipped.contains(&position))
    }
}

/// Why answers are rejected. Numbers of questions count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AnswerError {
    /// The text is empty.
    #[error(
        "`/answer` is empty. Write the number of each question and your choice, such as `/answer \
         1: a 2: your own words`, or `/answer skip` to leave them open."
    )]
    Nothing,
    /// The answers were sent without a tick.
    #[error(
        "No option is ticked. Tick your choices, then “Send these answers”. Questions of the agent can also be left open \
         with `/answer skip`."
    )]
    Unticked,
    /// There are several questions, and the text does not begin with the number of one.
    #[error(
        "It is not clear which of the {count} questions is answered. Begin each answer with the number of its question \
         and a colon, such as `/answer 1: a 2: b`."
    )]
    Unnumbered {
        /// Number of questions.
        count: usize,
    },
    /// No question has this number.
    #[error("There is no question {number}: {}", there_are(*.count))]
    NoSuchQuestion {
        /// The given number.
        number: usize,
        /// Number of questions.
        count: usize,
    },
    /// Several options are chosen for a question that allows one.
    #[error(
        "Question {question} takes one option, but several are chosen. Choose one of them or, if \
         *other* is among the options, write your own answer after `other:`."
    )]
    Several {
        /// Number of the question.
        question: usize,
    },
    /// No option has this letter or number.
    #[error(
        "Question {question} has no option `{given}`: {}. Choose one of these or, if *other* is among \
         the options, write your own answer after `other:`.",
        options_are(*.count)
    )]
    NoSuchOption {
        /// Number of the question.
        question: usize,
        /// The given letter or number.
        given: String,
        /// Number of options of the question; at least one.
        count: usize,
    },
    /// `other` is chosen without a text.
    #[error(
        "Question {question} is answered with `other`, but without text. Write your answer after \
         `other:`, or comment `/answer {question}: your own words`."
    )]
    EmptyOther {
        /// Number of the question.
        question: usize,
    },
}

fn there_are(count: usize) -> String {
    match count {
        0 => "there are no open questions here.".to_owned(),
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

impl Answer {
    /// Creates an answer from options in any order and free text; an error if the question allows
    /// only one option.
    pub(super) fn new(
        mut chosen: Vec<usize>,
        text: Option<String>,
        question: &Question,
        number: usize,
    ) -> Result<Self, AnswerError> {
        chosen.sort_unstable();
        chosen.dedup();
        if !question.multi && chosen.len() > 1 {
            return Err(AnswerError::Several { question: number });
        }
        Ok(Self { chosen, text })
    }
}

/// The answer to a single question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SingleAnswer {
    /// The answer; `None` if the question is to stay open.
    pub answer: Option<Answer>,
    /// Whether all other questions without an answer are to stay open too.
    pub rest: bool,
}

/// Parses `text` as the answer to one question, which has this number.
pub fn parse_single(
    text: &str,
    question: &Question,
    number: usize,
) -> Result<SingleAnswer, AnswerError> {
    let (answer, skip) = choice::parse(text, question, number)?;
    Ok(SingleAnswer {
        answer,
        rest: skip == Some(Skip::Rest),
    })
}

/// Parses the answers to `questions` in `text`.
pub fn parse(text: &str, questions: &[Question]) -> Result<ParsedAnswers, AnswerError> {
    let text = text.trim();
    let count = questions.len();
    if count == 0 {
        return Err(AnswerError::NoSuchQuestion { number: 1, count });
    }
    if text.is_empty() {
        return Err(AnswerError::Nothing);
    }
    let mut answers = vec![None; count];
    let mut skipped = Vec::new();
    let mut rest = true;
    // With a single question "skip" may be the label of an option.
    if count == 1 || choice::parse_skip(text).is_none() {
        let split = split::split(text, questions)?;
        rest = split.rest;
        for (position, text) in split.parts {
            let (answer, skip) = choice::parse(text, &questions[position], position + 1)?;
            answers[position] = answer;
            match skip {
                Some(Skip::This) => skipped.push(position),
                Some(Skip::Rest) => rest = true,
                None => {}
            }
        }
    }
    if rest {
        skipped = (0..count)
            .filter(|position| answers[*position].is_none())
            .collect();
    }
    skipped.sort_unstable();
    if skipped.is_empty() && answers.iter().all(Option::is_none) {
        return Err(AnswerError::Nothing);
    }
    Ok(ParsedAnswers { answers, skipped })
}
