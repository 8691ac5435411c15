//! Tests of `formats::question::typed`.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

fn question(labels: &[&str], multi: bool) -> Question {
    let options = labels.iter().map(|label| super::super::Choice {
        label: (*label).to_owned(),
        description: String::new(),
    });
    Question {
        question: "Where?".to_owned(),
        header: "Place".to_owned(),
        choice: !labels.is_empty(),
        multi,
        options: options.collect(),
    }
}

#[test]
fn a_terminal_means_what_a_comment_means() {
    let one = question(&["Cache", "Disk", "Both"], false);
    let several = question(&["Cache", "Disk", "Both"], true);
    let open = question(&[], false);
    let numbers = question(&["1", "3", "5"], false);
    for question in [&one, &several, &open, &numbers] {
        for text in [
            "2",
            "２",
            " both",
            "b",
            "B)",
            "1 2",
            "1, c",
            "1 and 3",
            "a; other: and a log",
            "other: words",
            "Other:",
            "4",
            "z",
            "-1",
            "99999999999999999999",
            "2 or so",
            ",",
            "3;1;3",
            "1 0",
            "skip",
            "a, skip the rest",
            "3",
            "so\nso",
        ] {
            let questions = std::slice::from_ref(question);
            let typed = parse(text, question, 1).map(|typed| match typed {
                TypedInput::Answer(one) => one.answer,
                other => panic!("{text:?}: {other:?}"),
            });
            // After `/answer`, the number of the question makes clear what is answered.
            let said = answer::parse(&format!("1: {text}"), questions);
            assert_eq!(typed, said.map(|said| said.answers[0].clone()), "{text:?}");
        }
    }
}

#[test]
fn nothing_and_zero_are_the_terminals_own() {
    let one = question(&["Cache", "Disk"], false);
    assert_eq!(parse(" \t", &one, 1), Ok(TypedInput::Empty));
    assert_eq!(parse("0", &one, 1), Ok(TypedInput::OwnWords));
    assert_eq!(parse("０", &one, 1), Ok(TypedInput::OwnWords));
    let open = question(&[], false);
    assert!(matches!(parse("0", &open, 1), Ok(TypedInput::Answer(_))));
    let retries = question(&["0", "3"], false);
    let Ok(TypedInput::Answer(zero)) = parse("0", &retries, 1) else {
        panic!("a label")
    };
    assert_eq!(zero.answer.unwrap().chosen, [0]);
    assert_eq!(
        (mark(&retries, 1), mark(&one, 1)),
        ("b)".into(), "2.".into())
    );
    assert_eq!(own_words(" x ").unwrap().text.as_deref(), Some("x"));
    assert_eq!(own_words(" "), None);
}
