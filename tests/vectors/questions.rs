//! The agent's test vectors for questions: marks, answers, and what follows from a turn.

use planwright::formats::agent_stream::{Stream, StreamOutcome, Summary, outcome};
use planwright::formats::question::turn::{self, NextStep, TurnEnd};
use planwright::formats::question::{Question, answer, marker, typed};
use serde_json::{Value, json};

use crate::harness::{Tests, bytes};

crate::harness::tests!(
    question_detect,
    marker_detect,
    answer_format_at_a_terminal,
    answer_format,
    question_loop,
    the_recorded_question_is_asked,
);

/// Rounds of questions that a run has.
const ROUNDS: u32 = 3;

fn as_recorded(question: &Question) -> Value {
    json!({
        "question": question.question,
        "header": question.header,
        "type": if question.choice { "choice" } else { "text" },
        "options": question.options,
    })
}

fn question_detect(tests: &mut Tests) {
    tests.hold_agent("question_detect", &[], |case| {
        let found = marker::detect(case["input"]["text"].as_str().unwrap());
        let questions: Vec<Value> = found.questions.iter().map(as_recorded).collect();
        let ours = json!({ "questions": questions, "malformed": found.malformed });
        (ours, case["expect"].clone())
    });
}

fn marker_detect(tests: &mut Tests) {
    tests.hold_agent("marker_detect", &[], |case| {
        let text = case["input"]["text"].as_str().unwrap();
        let signals = marker::signals(text);
        let questions = marker::detect(text).questions;
        let mut ours = json!({
            "finished": signals.finished,
            "goto": signals.goto,
            "question_count": questions.len(),
            "display_text": marker::without_markers(text),
        });
        if case["expect"].get("action").is_some() {
            let next = turn::next_step(TurnEnd::Text(text), questions, ROUNDS);
            ours["action"] = json!(matches!(next, NextStep::Ask(_)).then_some("ask"));
        }
        (ours, case["expect"].clone())
    });
}

/// What is typed at a terminal, question by question.
fn answer_format_at_a_terminal(tests: &mut Tests) {
    const DEPARTURES: &[(&str, &str)] = &[(
        "AF-04",
        "0 asks for words of one's own: as an answer it says nothing",
    )];
    tests.hold_agent("answer_format", DEPARTURES, |case| {
        let input = &case["input"];
        let questions = input["questions"].as_array().unwrap().iter();
        let words = questions
            .zip(input["typed"].as_array().unwrap())
            .map(|(question, typed)| {
                let mut question = question.clone();
                question["question"] = json!("?");
                let question: Question = serde_json::from_value(question).unwrap();
                match typed::parse(typed.as_str().unwrap(), &question, 1) {
                    Ok(typed::TypedInput::Answer(one)) => one.answer.unwrap().words(&question),
                    other => format!("{other:?}"),
                }
            });
        let words: Vec<String> = words.collect();
        (json!(words.join("; ")), case["expect"]["prompt"].clone())
    });
}

fn answer_format(tests: &mut Tests) {
    tests.hold_agent("answer_format", &[], |case| {
        let questions: Vec<Question> = case["input"]["questions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|question| {
                let mut question = question.clone();
                question["question"] = json!("?");
                serde_json::from_value(question).unwrap()
            })
            .collect();
        let typed = case["input"]["typed"].as_array().unwrap().iter();
        let mut typed: Vec<String> = typed
            .map(|answer| answer.as_str().unwrap().to_owned())
            .collect();
        if let [_, _, ..] = typed.as_slice() {
            for (number, answer) in (1..).zip(&mut typed) {
                *answer = format!("{number}: {answer}");
            }
        }
        let answered = answer::parse(&typed.join(" "), &questions).unwrap();
        let words: Vec<String> = answered
            .answers
            .iter()
            .zip(&questions)
            .map(|(answer, question)| answer.as_ref().unwrap().words(question))
            .collect();
        (json!(words.join("; ")), case["expect"]["prompt"].clone())
    });
}

/// What one turn printed, with its end as the decision wants it.
fn turn_of(lines: &Value) -> (Summary, StreamOutcome) {
    let lines: Vec<&str> = lines
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line.as_str().unwrap())
        .collect();
    let mut stream = Stream::new();
    stream.push(lines.join("\n").as_bytes(), &mut |_| {});
    let summary = stream.finish(&mut |_| {});
    let outcome = outcome(&summary, Some(0));
    (summary, outcome)
}

/// Answers as the data gives them: the first option's label, else `free`.
fn answers(questions: &[Question]) -> String {
    let answers = questions
        .iter()
        .map(|question| match question.options.first() {
            Some(option) => option.label.clone(),
            None => "free".to_owned(),
        });
    answers.collect::<Vec<_>>().join("; ")
}

/// Runs the turns. A turn more than recorded repeats the last one where `repeats`, else the run
/// goes on unrecorded.
fn run(turns: &[Value], repeats: bool) -> Value {
    let (mut asked, mut prompts, mut sessions) = (Vec::new(), Vec::new(), Vec::new());
    let end = loop {
        let Some(lines) = turns.get(asked.len()).or(turns.last().filter(|_| repeats)) else {
            break json!({ "outcome": "continue" });
        };
        let (summary, outcome) = turn_of(lines);
        let said = summary.first.clone().unwrap_or_default();
        let text = said.text.clone().unwrap_or_default();
        let end = match outcome {
            StreamOutcome::Success => TurnEnd::Text(&text),
            StreamOutcome::NoResult => TurnEnd::NoResult,
            StreamOutcome::AgentError | StreamOutcome::ProcessError => TurnEnd::Failed,
        };
        let found = turn::collect_questions(&summary.texts, said.structured.as_ref());
        let left = ROUNDS - u32::try_from(asked.len()).unwrap();
        match turn::next_step(end, found.questions, left) {
            NextStep::Ask(questions) => {
                asked.push(questions.len());
                prompts.push(answers(&questions));
                sessions.push(summary.session.unwrap());
            }
            NextStep::TooManyRounds(_) => {
                break json!({ "outcome": "error", "error_kind": "too_many_question_rounds" });
            }
            NextStep::Done(result) => break json!({ "outcome": "success", "result": result }),
            // The words are the data's; ours are the engine's.
            NextStep::Nothing => {
                break json!({ "outcome": "error", "error": "Agent completed without producing a result" });
            }
            NextStep::Failed => {
                break json!({ "outcome": "error", "error": format!("Agent error: {}", said.message()) });
            }
        }
    };
    let mut all = json!({
        "rounds": asked.len(),
        "asked": asked,
        "resume_prompts": prompts,
        "resume_sessions": sessions,
    });
    all.as_object_mut()
        .unwrap()
        .extend(end.as_object().unwrap().clone());
    all
}

fn question_loop(tests: &mut Tests) {
    tests.hold_agent("question_loop", &[], |case| {
        let turns = case["input"]["turns_stdout_lines"].as_array().unwrap();
        let mut want = case["expect"].clone();
        // A remark, not a value.
        want.as_object_mut().unwrap().shift_remove("max_rounds");
        let mut ours = run(turns, want.get("error_kind").is_some());
        // The data says only what a case is about.
        ours.as_object_mut()
            .unwrap()
            .retain(|name, _| want.get(name).is_some());
        (ours, want)
    });
}

fn the_recorded_question_is_asked(tests: &mut Tests) {
    tests.whole(|| {
        let bytes = bytes("../claude-streams/08-question.stdout.jsonl");
        let mut stream = Stream::new();
        stream.push(&bytes, &mut |_| {});
        let summary = stream.finish(&mut |_| {});
        let found = turn::collect_questions(&summary.texts, None);
        assert_eq!(found.malformed, 0);
        let labels: Vec<&str> = found.questions[0]
            .options
            .iter()
            .map(|option| option.label.as_str())
            .collect();
        assert_eq!(found.questions[0].question, "Which \"DB\"?\nsecond line");
        assert_eq!(labels, ["pg", "sqlite"]);
    });
}
