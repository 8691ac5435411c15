//! Tests of `formats::question::answer`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::question::Choice;

fn question(options: &[&str], choice: bool, multi: bool) -> Question {
    Question {
        question: "q?".to_owned(),
        header: String::new(),
        choice,
        multi,
        options: options
            .iter()
            .map(|label| Choice {
                label: (*label).to_owned(),
                description: String::new(),
            })
            .collect(),
    }
}

fn one() -> Question {
    question(&["JWT", "OAuth2", "Server sessions"], true, false)
}

fn several() -> Question {
    question(&["Logs", "Metrics", "Traces"], true, true)
}

fn suggested() -> Question {
    question(&["JWT", "OAuth2"], false, false)
}

fn free() -> Question {
    question(&[], false, false)
}

/// Formats the parsed answers briefly: `0,2 "text" | - | skip`.
fn say(text: &str, questions: &[Question]) -> String {
    let answered = match parse(text, questions) {
        Ok(answered) => answered,
        Err(error) => return format!("{error:?}"),
    };
    let each = answered
        .answers
        .iter()
        .enumerate()
        .map(|(at, answer)| match answer {
            Some(answer) => {
                let chosen: Vec<String> = answer.chosen.iter().map(ToString::to_string).collect();
                let text = answer.text.as_ref().map(|text| format!("{text:?}"));
                let parts = [chosen.join(","), text.unwrap_or_default()];
                parts.join(" ").trim().to_owned()
            }
            None if answered.skipped.contains(&at) => "skip".to_owned(),
            None => "-".to_owned(),
        });
    each.collect::<Vec<_>>().join(" | ")
}

#[test]
fn options_are_named_by_letter_number_or_label() {
    for (text, want) in [
        ("a", "0"),
        ("B", "1"),
        ("b)", "1"),
        ("(b)", "1"),
        ("b.", "1"),
        ("`b`", "1"),
        ("2", "1"),
        ("２", "1"),
        (" 3 ", "2"),
        ("jwt", "0"),
        ("**JWT**", "0"),
        ("server   sessions", "2"),
        ("b) OAuth2", "1"),
        ("2. oauth2", "1"),
        ("1: c", "2"),
        ("1:c", "2"),
        ("1) OAuth2", "1"),
        ("1.\nc", "2"),
        ("a, a", "0"),
        ("other: something else", "\"something else\""),
        ("a, other: but cached", "0 \"but cached\""),
        ("Other:x", "\"x\""),
    ] {
        assert_eq!(say(text, &[one()]), want, "{text:?}");
    }
}

#[test]
fn prose_stays_free_text() {
    for text in [
        "a bigger cache is fine",
        "A, for one, is wrong",
        "a but with caching",
        "b-tree",
        "neither",
        "use JWT",
        "let them skip",
        "let others: all of them, decide",
        "c) but not OAuth2",
        "-1",
        "日本",
    ] {
        assert_eq!(say(text, &[one()]), format!("{text:?}"), "{text:?}");
    }
    for text in ["0", "3", "z", "a, 7"] {
        assert_eq!(say(text, &[suggested()]), format!("{text:?}"), "{text:?}");
    }
}

#[test]
fn parts_begin_with_the_number_of_a_question() {
    let two = [free(), free()];
    for (text, want) in [
        ("1: x 2: y", "\"x\" | \"y\""),
        ("1. x\n2) y", "\"x\" | \"y\""),
        ("1: x\r\n2: y\r\n", "\"x\" | \"y\""),
        ("2: y 1: x", "\"x\" | \"y\""),
        ("１： x ２： y", "\"x\" | \"y\""),
        ("2: y", "- | \"y\""),
        ("1: 2: y", "- | \"y\""),
        ("1: x\n\nand more\n\n2: y", "\"x\\n\\nand more\" | \"y\""),
        (
            "1: use ratio 2:1 and port 8080: yes",
            "\"use ratio 2:1 and port 8080: yes\" | -",
        ),
        ("1: version 1.2 of x2: y", "\"version 1.2 of x2: y\" | -"),
        ("1: x 1: z 2: y", "\"x 1: z\" | \"y\""),
        ("1: at 3: no", "\"at 3: no\" | -"),
        ("1: in 2024: no", "\"in 2024: no\" | -"),
        ("1: https://a.b/c?d=2: e", "\"https://a.b/c?d=2: e\" | -"),
    ] {
        assert_eq!(say(text, &two), want, "{text:?}");
    }
    for (text, want) in [
        ("1: b 2: a, c", "1 | 0,2"),
        ("1:b 2:c", "1 | 2"),
        ("1:b 2:traces", "1 | 2"),
        ("1:2 2:3", "1 | 2"),
        ("1: b\n2:\n- a", "1 | \"- a\""),
        ("1: b 2: a c", "1 | 0,2"),
        ("1: b 2: c and 1", "1 | 0,2"),
        (
            "1: b 2: traces; Logs, other: alarms, too",
            "1 | 0,2 \"alarms, too\"",
        ),
        ("1: b 2: 3\n1", "1 | 0,2"),
    ] {
        assert_eq!(say(text, &[one(), several()]), want, "{text:?}");
    }
}

#[test]
fn a_word_may_stand_right_behind_the_colon() {
    for (text, want) in [
        ("1:a 2:yes", "0 | \"yes\""),
        ("１：a　２：yes", "0 | \"yes\""),
        ("1:a 2：はい", "0 | \"はい\""),
        ("1:a\n2:yes, at 2:30", "0 | \"yes, at 2:30\""),
        ("1:a 2:30", "0 | \"30\""),
        ("1:jwt 2:no", "0 | \"no\""),
        ("1: a 2:yes", "0 | \"yes\""),
        ("1: b, 2:no", "1 | \"no\""),
        ("1: in the cloud; 2:yes", "\"in the cloud\" | \"yes\""),
        (
            "1: mine, and yours,\n2:yes",
            "\"mine, and yours\" | \"yes\"",
        ),
        ("2:yes 1:a", "0 | \"yes\""),
        // A word in a sentence, a time of day: accepted only if the answers begin this way.
        ("1: my words 2:yes", "\"my words 2:yes\" | -"),
        ("1:meet at 2:30", "\"meet at 2:30\" | -"),
    ] {
        assert_eq!(say(text, &[one(), free()]), want, "{text:?}");
    }
}

#[test]
fn free_answers_are_taken_apart_too() {
    for (text, want) in [
        ("1:yes 2:no", "\"yes\" | \"no\""),
        ("1: yes, 2:no", "\"yes\" | \"no\""),
        ("1:a 2:yes", "\"a\" | \"yes\""),
        ("2:no; 1:yes", "\"yes\" | \"no\""),
        ("1: meet at 2:30", "\"meet at 2:30\" | -"),
        ("1: at five, 2:30 is late", "\"at five, 2:30 is late\" | -"),
    ] {
        assert_eq!(say(text, &[free(), free()]), want, "{text:?}");
    }
    for (text, want) in [
        ("1:a 2:yes", "0 | \"yes\""),
        ("1: a 2:yes", "0 | \"yes\""),
        ("1:yes 2:b", "\"yes\" | 1"),
    ] {
        assert_eq!(say(text, &[suggested(), suggested()]), want, "{text:?}");
    }
}

#[test]
fn one_option_is_chosen_unless_several_can_be() {
    assert_eq!(say("a, b", &[suggested()]), "Several { question: 1 }");
    assert_eq!(say("1: a 2: a, b", &[one(), several()]), "0 | 0,1");
    let many = question(&["JWT", "OAuth2"], false, true);
    assert_eq!(say("a and b", &[many]), "0,1");
}

#[test]
fn a_number_behind_an_option_that_no_question_has_is_named() {
    let none = |number| format!("NoSuchQuestion {{ number: {number}, count: 2 }}");
    for (text, number) in [
        ("1: a 3: b", 3),
        ("1:a 3:b", 3),
        ("1: a, b 7: c", 7),
        ("2: a 0: b", 0),
    ] {
        assert_eq!(say(text, &[one(), several()]), none(number), "{text:?}");
    }
    assert_eq!(
        say("1: a 2: b", &[one()]),
        "NoSuchQuestion { number: 2, count: 1 }"
    );
}

#[test]
fn a_single_question_needs_no_number() {
    for (text, want) in [
        ("use x 1: y", "\"use x 1: y\""),
        ("1: use x 1: y", "\"use x 1: y\""),
        ("24. December", "\"24. December\""),
        ("2) is not me", "\"2) is not me\""),
        ("skip", "skip"),
        ("1: skip", "skip"),
        ("so\nso", "\"so\\nso\""),
    ] {
        assert_eq!(say(text, &[free()]), want, "{text:?}");
    }
    let asks = question(&["Retry", "Skip"], true, false);
    assert_eq!(say("skip", &[asks]), "1");
}

#[test]
fn what_stays_open_is_said() {
    let three = [one(), several(), free()];
    for (text, want, complete) in [
        ("skip", "skip | skip | skip", true),
        ("Skip the rest.", "skip | skip | skip", true),
        ("1: a\nskip", "0 | skip | skip", true),
        ("1: a skip", "0 | skip | skip", true),
        ("1: a, skip the rest", "0 | skip | skip", true),
        ("1: a\nskip all", "0 | skip | skip", true),
        ("2: skip", "- | skip | -", false),
        ("1: a 2: skip 3: x", "0 | skip | \"x\"", true),
        ("1: a 3: let it skip", "0 | - | \"let it skip\"", false),
        ("3: x\nskip", "skip | skip | \"x\"", true),
        ("1: skip rest 3: x", "skip | skip | \"x\"", true),
    ] {
        assert_eq!(say(text, &three), want, "{text:?}");
        assert_eq!(
            parse(text, &three).unwrap().complete(),
            complete,
            "{text:?}"
        );
    }
}

#[test]
fn refusals_say_what_to_write() {
    let two = [one(), several()];
    let only = [question(&["Yes"], true, false)];
    for (text, questions, want) in [
        (
            " ",
            &two[..],
            "`/answer` is empty. Write the number of each question and your choice, such as \
             `/answer 1: a 2: your own words`, or `/answer skip` to leave them open.",
        ),
        (
            "1:\n2:",
            &two,
            "`/answer` is empty. Write the number of each question and your choice, such as \
             `/answer 1: a 2: your own words`, or `/answer skip` to leave them open.",
        ),
        (
            "thanks! 1: a 2: b",
            &two,
            "It is not clear which of the 2 questions is answered. Begin each answer with the number of its question and \
             a colon, such as `/answer 1: a 2: b`.",
        ),
        (
            "7: a",
            &two,
            "There is no question 7: there are 2. Begin each answer with a number from 1 to 2 and a colon, such as `1: a`.",
        ),
        (
            "1: a\n0: b",
            &two,
            "There is no question 0: there are 2. Begin each answer with a number from 1 to 2 and a colon, such as `1: a`.",
        ),
        (
            "2: a",
            &only,
            "There is no question 2: there is only one. Begin the answer with `1:`, or leave the number out.",
        ),
        (
            "1: a",
            &[],
            "There is no question 1: there are no open questions here.",
        ),
        (
            "1: a, c",
            &two,
            "Question 1 takes one option, but several are chosen. Choose one of them or, if *other* is \
             among the options, write your own answer after `other:`.",
        ),
        (
            "1: a 2: b, F.",
            &two,
            "Question 2 has no option `f`: its options are a to c. Choose one of these or, if *other* is \
             among the options, write your own answer after `other:`.",
        ),
        (
            "1: 99999999999999999999999999",
            &two,
            "Question 1 has no option `999999999999`: its options are a to c. Choose one of these or, \
             if *other* is among the options, write your own answer after `other:`.",
        ),
        (
            "0",
            &only,
            "Question 1 has no option `0`: its only option is a. Choose one of these or, if *other* is \
             among the options, write your own answer after `other:`.",
        ),
        (
            "1: a, other:",
            &two,
            "Question 1 is answered with `other`, but without text. Write your answer after \
             `other:`, or comment `/answer 1: your own words`.",
        ),
    ] {
        let error = parse(text, questions).unwrap_err();
        assert_eq!(error.to_string(), want, "{text:?}");
    }
}

#[test]
fn labels_win_over_letters_and_numbers() {
    let retries = question(&["1", "3", "5"], true, false);
    assert_eq!(say("3", std::slice::from_ref(&retries)), "1");
    assert_eq!(say("c", &[retries]), "2");
    let swapped = question(&["b", "a"], true, false);
    assert_eq!(say("a", &[swapped]), "1");
}

#[test]
fn a_long_answer_is_read_once() {
    // Searching "skip" after every space once took quadratic time.
    let text = "1: ".to_owned() + &"a b ".repeat(100_000) + "too";
    assert!(parse(&text, &[one(), free()]).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn no_word_is_lost(text in "[a-c1-4:.,) \nskipother]{0,40}") {
        let questions = [one(), several(), free()];
        if let Ok(answered) = parse(&text, &questions) {
            prop_assert_eq!(answered.answers.len(), 3);
            for (at, answer) in answered.answers.iter().enumerate() {
                if let Some(answer) = answer {
                    prop_assert!(!answered.skipped.contains(&at));
                    prop_assert!(!answer.chosen.is_empty() || answer.text.is_some());
                    prop_assert!(answer.chosen.iter().all(|chosen| *chosen < questions[at].options.len()));
                    prop_assert!(answer.chosen.is_sorted());
                    if let Some(own) = &answer.text {
                        prop_assert!(!own.trim().is_empty() && text.contains(own.as_str()));
                    }
                }
            }
        }
    }

    #[test]
    fn words_for_one_free_question_are_kept(text in "[a-zA-Z][a-z ,]{0,30}[a-z]") {
        prop_assume!(choice::parse_skip(&text).is_none());
        prop_assert_eq!(say(&text, &[free()]), format!("{text:?}"));
    }
}
