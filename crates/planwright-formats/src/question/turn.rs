//! Decides how to continue after an agent's turn: ask, take its text, or give up.

use serde_json::Value;

use super::Question;
use super::marker::{self, DetectedQuestions};

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnd<'a> {
    /// It succeeded with this final text.
    Text(&'a str),
    /// It ended without a failure and without a result.
    NoResult,
    /// It failed or was stopped.
    Failed,
}

/// The next step after a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStep {
    /// Ask people, then resume the session that the turn reported last.
    Ask(Vec<Question>),
    /// The agent asks again, but no round of questions is left.
    TooManyRounds(Vec<Question>),
    /// Take this text: the result without markers and surrounding white space.
    Done(String),
    /// The turn succeeded without a text.
    Nothing,
    /// The turn failed.
    Failed,
}

/// Collects the questions of one turn: those of the structured output, then those in the top-level
/// `texts`, without duplicates.
pub fn collect_questions(texts: &[String], structured: Option<&Value>) -> DetectedQuestions {
    let mut all = structured.map(marker::from_structured).unwrap_or_default();
    for text in texts {
        all.merge(marker::detect(text));
    }
    all
}

/// Returns sentences as in [`DetectedQuestions::lost`] for questions that came when no round was
/// left.
pub fn too_late_notices(questions: &[Question]) -> impl Iterator<Item = String> {
    questions.iter().map(|question| {
        let question = marker::quoted(&question.question);
        format!("The question {question} was not asked: no round of questions was left.")
    })
}

/// Returns the next step after a turn that ended with `end` and asked `questions`.
///
/// A failure takes precedence over questions; unanswered questions take precedence over a result
/// and over "finished".
pub fn next_step(end: TurnEnd<'_>, questions: Vec<Question>, rounds_left: u32) -> NextStep {
    match end {
        TurnEnd::Failed => NextStep::Failed,
        _ if !questions.is_empty() && rounds_left == 0 => NextStep::TooManyRounds(questions),
        _ if !questions.is_empty() => NextStep::Ask(questions),
        TurnEnd::NoResult => NextStep::Nothing,
        TurnEnd::Text(text) => match marker::without_markers(text) {
            text if text.is_empty() => NextStep::Nothing,
            text => NextStep::Done(text),
        },
    }
}

#[cfg(test)]
mod tests;
