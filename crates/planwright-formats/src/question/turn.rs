//! What follows from an agent's turn: ask, take its text, or give up.

use serde_json::Value;

use super::Question;
use super::marker::{self, Found};

/// How a turn ended, as far as this decision goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End<'a> {
    /// It succeeded with this final text.
    Said(&'a str),
    /// It ended well, but has no result.
    NoResult,
    /// It failed, or was ended.
    Failed,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Ask people, then go on with the session that the turn reported last.
    Ask(Vec<Question>),
    /// The agent wants to ask, but has asked as often as it may.
    TooManyRounds(Vec<Question>),
    /// Take this text: the result without marks and without white space around it.
    Done(String),
    /// It ended well and said nothing.
    Nothing,
    /// It failed.
    Failed,
}

/// Every question of one turn: the structured output's, then those in the top-level `texts`; one that is there twice
/// counts once.
pub fn gather(texts: &[String], structured: Option<&Value>) -> Found {
    let mut all = structured.map(marker::from_structured).unwrap_or_default();
    for text in texts {
        all.add(marker::detect(text));
    }
    all
}

/// The sentences of [`Found::lost`] for `questions` that came when no round was left.
pub fn too_late(questions: &[Question]) -> impl Iterator<Item = String> {
    questions.iter().map(|question| {
        let question = marker::quoted(&question.question);
        format!("The question {question} was not asked: no round of questions was left.")
    })
}

/// What follows when a turn ended with `end` and asked `questions`, with so many rounds of questions left.
///
/// A failure wins over questions; questions that nobody answered win over a result and over "finished".
pub fn next(end: End<'_>, questions: Vec<Question>, rounds_left: u32) -> Next {
    match end {
        End::Failed => Next::Failed,
        _ if !questions.is_empty() => {
            if rounds_left == 0 {
                Next::TooManyRounds(questions)
            } else {
                Next::Ask(questions)
            }
        }
        End::NoResult => Next::Nothing,
        End::Said(text) => match marker::without_markers(text) {
            text if text.is_empty() => Next::Nothing,
            text => Next::Done(text),
        },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    fn asks(question: &str) -> String {
        format!("<!--QUESTION:{{\"questions\":[{{\"question\":\"{question}\"}}]}}-->")
    }

    fn words(questions: &[Question]) -> Vec<&str> {
        questions
            .iter()
            .map(|question| question.question.as_str())
            .collect()
    }

    #[test]
    fn a_turn_asks_with_all_its_texts_and_its_structured_output() {
        let texts = [asks("a?"), "no".to_owned(), asks("b?") + &asks("a?")];
        let structured = json!({ "questions": [{ "question": "c?" }, { "question": "b?" }, 1] });
        let found = gather(&texts, Some(&structured));
        assert_eq!(words(&found.questions), ["c?", "b?", "a?"]);
        assert_eq!((found.malformed, found.left_out), (1, 0));
        let many: Vec<String> = (0..7).map(|at| asks(&format!("{at}?"))).collect();
        let found = gather(&many, None);
        assert_eq!(words(&found.questions), ["0?", "1?", "2?", "3?"]);
        assert_eq!(found.left_out, 3);
    }

    #[test]
    fn failures_win_then_questions_then_the_text() {
        let asked = || gather(&[asks("q?")], None).questions;
        for (end, questions, left, want) in [
            (End::Failed, asked(), 3, Next::Failed),
            (End::Failed, vec![], 3, Next::Failed),
            (
                End::Said("<!-- FINISHED -->"),
                asked(),
                1,
                Next::Ask(asked()),
            ),
            (End::NoResult, asked(), 1, Next::Ask(asked())),
            (End::Said("x"), asked(), 0, Next::TooManyRounds(asked())),
            (End::NoResult, vec![], 3, Next::Nothing),
            (End::Said(" \n"), vec![], 3, Next::Nothing),
            (End::Said("<!-- FINISHED -->"), vec![], 3, Next::Nothing),
            // A mark that stands in the result alone was never said: it asks nothing, and is no plan.
            (End::Said(&asks("q?")), vec![], 3, Next::Nothing),
            (
                End::Said("# Plan: T\n<!-- FINISHED -->\n"),
                vec![],
                0,
                Next::Done("# Plan: T".to_owned()),
            ),
        ] {
            assert_eq!(next(end, questions, left), want, "{end:?}");
        }
    }
}
