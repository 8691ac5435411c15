//! Questions: no words of an agent forge anything, and an answer is made of the options and of the
//! text.
#![no_main]

use comrak::nodes::NodeValue;
use libfuzzer_sys::fuzz_target;
use planwright_formats::question::boxes::{self, Round, Ticks};
use planwright_formats::question::{Choice, Question, answer, marker};
use planwright_formats::{block, command, markdown};

fuzz_target!(|text: &str| {
    marks(text);
    comment(text);
    answers(text);
    if let Some(read) = boxes::read(text) {
        assert!(!read.run.is_empty());
        let _ = boxes::answers(&read, &[question(text, true)]);
    }
    assert!(!boxes::sent(text, text));
});

fn question(text: &str, choice: bool) -> Question {
    let option = |label: &str, description: &str| Choice {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    Question {
        question: text.to_owned(),
        header: text.to_owned(),
        choice,
        multi: false,
        options: vec![option(text, ""), option("label", text)],
    }
}

fn marks(text: &str) {
    let found = marker::detect(text);
    assert!(found.questions.len() <= marker::MAX_QUESTIONS);
    for question in &found.questions {
        assert!(!question.question.is_empty() && question.options.len() <= marker::MAX_OPTIONS);
        assert!(question.question.chars().count() <= marker::MAX_QUESTION_CHARS);
        assert!(!question.header.contains(['\n', '\r']));
    }
    let _ = marker::signals(text);
    assert!(marker::without_markers(text).len() <= text.len());
}

fn comment(text: &str) {
    let mut questions = vec![question(text, true), question(text, false)];
    questions[1].options.clear();
    let body = boxes::render(&Round {
        run: "R",
        number: 7,
        questions: &questions,
        own_words: true,
    });
    let read = boxes::parse(&body).expect("the marker stands at the end");
    assert_eq!((read.run.as_str(), read.round, read.send), ("R", 7, false));
    assert_eq!(read.questions, [Ticks::default(), Ticks::default()]);
    assert!(command::parse(&body).is_empty());
    assert!(block::parse(&body).blocks.is_empty());
    let arena = comrak::Arena::new();
    let tree = comrak::parse_document(&arena, &body, &markdown::options());
    let boxes = tree
        .descendants()
        .filter(|node| matches!(node.data().value, NodeValue::TaskItem(_)))
        .count();
    assert_eq!(boxes, 4, "{body:?}");
}

fn answers(text: &str) {
    let questions = [
        question("a", true),
        question("b", false),
        question("c", true),
    ];
    for questions in [&questions[..1], &questions[1..2], &questions] {
        let Ok(answered) = answer::read(text, questions) else {
            continue;
        };
        assert_eq!(answered.answers.len(), questions.len());
        for (answer, question) in answered.answers.iter().zip(questions) {
            let Some(answer) = answer else { continue };
            assert!(!answer.words(question).is_empty());
            assert!(answer.chosen.iter().all(|at| *at < question.options.len()));
            assert!(!question.choice || answer.chosen.len() < 2);
            assert!(
                answer
                    .text
                    .as_ref()
                    .is_none_or(|own| text.contains(own.as_str()))
            );
        }
    }
}
