//! Tests of `formats::question::turn`.

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
    let found = collect_questions(&texts, Some(&structured));
    assert_eq!(words(&found.questions), ["c?", "b?", "a?"]);
    assert_eq!((found.malformed, found.left_out), (1, 0));
    let many: Vec<String> = (0..7).map(|at| asks(&format!("{at}?"))).collect();
    let found = collect_questions(&many, None);
    assert_eq!(words(&found.questions), ["0?", "1?", "2?", "3?"]);
    assert_eq!(found.left_out, 3);
}

#[test]
fn failures_win_then_questions_then_the_text() {
    let asked = || collect_questions(&[asks("q?")], None).questions;
    for (end, questions, left, want) in [
        (TurnEnd::Failed, asked(), 3, NextStep::Failed),
        (TurnEnd::Failed, vec![], 3, NextStep::Failed),
        (
            TurnEnd::Text("<!-- FINISHED -->"),
            asked(),
            1,
            NextStep::Ask(asked()),
        ),
        (TurnEnd::NoResult, asked(), 1, NextStep::Ask(asked())),
        (
            TurnEnd::Text("x"),
            asked(),
            0,
            NextStep::TooManyRounds(asked()),
        ),
        (TurnEnd::NoResult, vec![], 3, NextStep::Nothing),
        (TurnEnd::Text(" \n"), vec![], 3, NextStep::Nothing),
        (
            TurnEnd::Text("<!-- FINISHED -->"),
            vec![],
            3,
            NextStep::Nothing,
        ),
        // A marker in the result alone asks nothing, and is no plan.
        (TurnEnd::Text(&asks("q?")), vec![], 3, NextStep::Nothing),
        (
            TurnEnd::Text("# Plan: T\n<!-- FINISHED -->\n"),
            vec![],
            0,
            NextStep::Done("# Plan: T".to_owned()),
        ),
    ] {
        assert_eq!(next_step(end, questions, left), want, "{end:?}");
    }
}
