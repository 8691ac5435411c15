//! Tests of `formats::question::marker`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Returns a marker with these questions.
fn mark(questions: &Value) -> String {
    format!("<!--QUESTION:{}-->", json!({ "questions": questions }))
}

fn asked(text: &str) -> Vec<String> {
    let found = detect(text).questions.into_iter();
    found.map(|question| question.question).collect()
}

#[test]
fn an_end_of_a_comment_in_a_string_is_part_of_the_string() {
    let text = mark(&json!([{ "question": "Is `a --> b` right?" }])) + " and on";
    assert_eq!(asked(&text), ["Is `a --> b` right?"]);
    assert_eq!(without_markers(&text), "and on");
}

#[test]
fn what_cannot_be_read_is_counted_and_hides_nothing() {
    let good = mark(&json!([{ "question": "good?" }]));
    for (bad, malformed) in [
        ("<!--QUESTION:-->", 1),
        ("<!--QUESTION: nothing", 1),
        ("<!--QUESTION:{\"questions\":[]} more -->", 1),
        ("<!--QUESTION:{\"questions\":[{\"question\":\"x\"}]}", 1),
        ("<!--QUESTION:{\"questions\":\"x\"}-->", 1),
        ("<!--QUESTION:null-->", 1),
        ("<!--QUESTION:{}-->", 1),
        ("<!--QUESTION:{\"questions\":[]}-->", 0),
        ("<!--QUESTION:{\"questions\":[1,null,\"x\",[]]}-->", 4),
        (
            "<!--QUESTION:{\"questions\":[{\"question\":42},{\"question\":\" \"}]}-->",
            2,
        ),
        (
            "<!--QUESTION:{\"questions\":[{\"question\":\"\\ud800\"}]}-->",
            1,
        ),
        ("<!--QUESTIONS:{}-->", 0),
        ("<!--question:{}-->", 0),
        ("<!-QUESTION:{}-->", 0),
    ] {
        let found = detect(&format!("{bad} {good}"));
        assert_eq!(found.malformed, malformed, "{bad}");
        assert_eq!(asked(&format!("{bad} {good}")), ["good?"], "{bad}");
    }
    let deep = "<!--QUESTION:".to_owned() + &"[".repeat(10_000);
    assert_eq!(detect(&deep).malformed, 1);
}

#[test]
fn options_are_objects_or_labels() {
    let found = detect(&mark(&json!([{
        "question": "q", "type": "choice", "multiSelect": true,
        "options": ["A", { "label": "B", "description": "b" }, 3, true, null, { "description": "c" }, { "label": " " }],
    }])));
    let question = &found.questions[0];
    assert!(question.choice && question.multi);
    let labels: Vec<&str> = question.options.iter().map(|o| o.label.as_str()).collect();
    assert_eq!(labels, ["A", "B", "3", "true"]);
    assert_eq!(question.options[1].description, "b");
    assert_eq!(found.malformed, 3);
    let none = detect(&mark(
        &json!([{ "question": "q", "type": "choice", "multiSelect": true, "options": {} }]),
    ));
    assert_eq!(none.malformed, 1);
    assert!(!none.questions[0].choice && !none.questions[0].multi);
}

#[test]
fn a_single_question_needs_no_list() {
    let found =
        detect("<!--QUESTION:{\"id\":\"q1\",\"question\":\"Which?\",\"options\":[\"a\",\"b\"]}-->");
    assert_eq!(found.malformed, 0);
    assert_eq!(found.questions[0].question, "Which?");
    assert_eq!(found.questions[0].options.len(), 2);
}

#[test]
fn a_round_has_limits() {
    let many: Vec<Value> = (0..9)
        .map(|at| json!({ "question": format!("q{at}"), "options": vec!["o"; 40] }))
        .collect();
    let found = detect(&mark(&json!(many)));
    assert_eq!(found.questions.len(), MAX_QUESTIONS);
    assert_eq!(found.left_out, 5 + 9 * 34);
    assert_eq!(found.questions[0].options.len(), MAX_OPTIONS);
    let long = "wörd ".repeat(1_000);
    let found = detect(&mark(&json!([{
        "question": long, "header": long, "options": [{ "label": long, "description": long }],
    }])));
    let question = &found.questions[0];
    for (text, most) in [
        (&question.question, MAX_QUESTION_CHARS),
        (&question.header, MAX_HEADER_CHARS),
        (&question.options[0].label, MAX_LABEL_CHARS),
        (&question.options[0].description, MAX_DESCRIPTION_CHARS),
    ] {
        assert!(
            text.ends_with("d…") || text.ends_with("ö…") || text.ends_with("r…"),
            "{text}"
        );
        assert!((most - 5..=most).contains(&text.chars().count()), "{text}");
    }
    let twice =
        detect(&(mark(&json!([{ "question": "q" }])) + &mark(&json!([{ "question": "q" }]))));
    assert_eq!((twice.questions.len(), twice.left_out), (1, 0));
}

#[test]
fn what_cannot_be_seen_goes() {
    let found = detect(&mark(&json!([{
        "question": "a\u{0}b\r\n\r\n c\u{202e}d  e", "header": "two\nlines\u{7}", "options": ["x\n- [x] y", "\u{200b}"],
    }])));
    let question = &found.questions[0];
    assert_eq!(question.question, "a b\ncd e");
    assert_eq!(question.header, "two lines");
    assert_eq!(question.options.len(), 1);
    assert_eq!(question.options[0].label, "x - [x] y");
}

#[test]
fn structured_output_asks_the_same() {
    let value = json!({ "questions": [{ "question": "q", "options": ["A"] }, 1] });
    let found = from_structured(&value);
    assert_eq!(found.questions[0].question, "q");
    assert_eq!(found.malformed, 1);
    for nothing in [
        json!({}),
        json!({ "questions": null }),
        json!("x"),
        json!({ "plan": "x" }),
    ] {
        assert_eq!(
            from_structured(&nothing),
            DetectedQuestions::default(),
            "{nothing}"
        );
    }
    assert_eq!(from_structured(&json!({ "questions": "x" })).malformed, 1);
}

#[test]
fn signals_are_read_outside_questions() {
    for (text, finished, goto) in [
        ("<!-- FINISHED -->", true, None),
        ("```\n<!-- FINISHED -->\n```", true, None),
        ("<!-- <!--FINISHED-->", true, None),
        ("<!-- finished -->", false, None),
        ("<!-- FINISHED", false, None),
        ("<!-- GOTO: two words -->", false, Some("two words")),
        ("<!-- GOTO: a --><!-- GOTO: b -->", false, Some("a")),
        ("<!-- GOTO: a/b -->", false, None),
        ("<!-- GOTO: a.b -->", false, None),
        ("<!-- GOTO: -->", false, None),
        ("<!-- GOTO a -->", false, None),
        ("<!-- GOTO: a", false, None),
        ("<!-- GOTO: a\nb -->", false, None),
        ("Write `<!-- FINISHED -->` last.", false, None),
        ("# Plan: T\n\n```\n<!-- FINISHED -->\n```", false, None),
    ] {
        let want = Signals {
            finished,
            goto: goto.map(str::to_owned),
        };
        assert_eq!(signals(text), want, "{text}");
    }
    let quoted = mark(&json!([{ "question": "Is <!-- FINISHED --> the mark?" }]));
    assert_eq!(signals(&quoted), Signals::default());
    assert_eq!(asked(&quoted).len(), 1);
}

#[test]
fn marks_are_taken_out_for_people() {
    for (text, want) in [
        (" a <!--QUESTION:bad--> b ", "a  b"),
        ("a <!--QUESTION:{} x --> b", "a  b"),
        ("a <!--QUESTION:{\"questions\":[]}--> b", "a  b"),
        ("a <!--QUESTION: b", "a <!--QUESTION: b"),
        ("a <!-- note --> b", "a <!-- note --> b"),
        ("a <!--QUESTION:[<!-- FINISHED --> b", "a  b"),
        ("é<!-- GOTO: x -->é", "éé"),
    ] {
        assert_eq!(without_markers(text), want, "{text}");
    }
}

#[test]
fn a_mark_that_cannot_be_read_takes_no_text_of_the_plan_with_it() {
    for text in [
        "4. A mark begins with <!--QUESTION:\n5. Never forget the rollback\n6. A mark ends with -->",
        "4. A mark begins with `<!--QUESTION:`\n5. Never forget the rollback\n6. A mark ends with `-->`",
        "<!--QUESTION:{\"questions\":[{\"question\":\"x\",}]}\n\n5. Step\n\n-->",
        "<!--QUESTION:{\"questions\":[]}\n5. Step\n-->",
        "a `<!-- FINISHED -->` b `<!--QUESTION:{\"questions\":[{\"question\":\"x\"}]}-->` c",
        "# Plan: T\n\n```html\n<!--QUESTION:{\"questions\":[{\"question\":\"x\"}]}-->\n```",
        "```md\n# Plan: T\n\n<!-- FINISHED -->\n```",
    ] {
        assert_eq!(without_markers(text), text);
        assert_eq!(asked(text), [""; 0], "{text}");
    }
    // Pretty-printed JSON is removed completely.
    let text =
        "a <!--QUESTION:{\n  \"questions\": [\n    {\"question\": \"x\",}\n  ]\n}-->\n5. Step";
    assert_eq!(without_markers(text), "a \n5. Step");
}

#[test]
fn a_question_in_a_fence_of_its_own_is_asked() {
    let fenced = format!(
        "Which?\n\n```html\n{}\n```",
        mark(&json!([{ "question": "a?" }]))
    );
    assert_eq!(asked(&fenced), ["a?"]);
    let broken = "```html\n<!--QUESTION:{\"questions\":[{\"question\":\"a?\",}]}-->\n```";
    assert_eq!(detect(broken).malformed, 1);
    for quoted in [
        "```html\n<!--QUESTION:…-->\n```",
        "It looks like `<!--QUESTION:...-->`.",
    ] {
        let found = detect(quoted);
        assert_eq!((found.malformed, found.lost.len()), (1, 0), "{quoted}");
        assert_eq!(without_markers(quoted), quoted);
    }
    assert_eq!(
        detect("Ask with `<!--QUESTION:{}-->`."),
        DetectedQuestions::default()
    );
}

#[test]
fn whatever_is_not_asked_is_described() {
    let many: Vec<Value> = (1..6)
        .map(|at| json!({ "question": format!("q{at}?") }))
        .collect();
    let eight = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for (text, want) in [
        (
            "<!--QUESTION:{\"questions\":[{\"question\":\"Which DB?\",}]}-->".to_owned(),
            "A question marker could not be read: trailing comma at line 1 column 39.",
        ),
        (
            "<!--QUESTION:{\"questions\":\"x\"}-->".to_owned(),
            "A question marker could not be read: its JSON has no field `questions` with a list.",
        ),
        (
            "<!--QUESTION:{\"questions\":[]}".to_owned(),
            "A question marker could not be read: its JSON is not followed by `-->`.",
        ),
        (
            mark(&json!([{ "header": "x" }])),
            "A question has no text in its field `question`.",
        ),
        (
            mark(&json!(many)),
            "The question “q5?” was not asked: a round has at most 4 questions.",
        ),
        (
            mark(&json!([{ "question": "q?", "options": eight }])),
            "The question “q?” was asked with its first 6 options, which is the limit; left out: “g, h”.",
        ),
        (
            mark(&json!([{ "question": "q?", "options": [[]] }])),
            "An option of the question “q?” has no label.",
        ),
        (
            mark(&json!([{ "question": "q?", "options": "a" }])),
            "The options of the question “q?” are not a list.",
        ),
    ] {
        assert_eq!(detect(&text).lost, [want], "{text}");
    }
    let hundred = mark(&json!(vec![json!({}); 100]));
    assert_eq!(detect(&hundred).malformed, 100);
    assert_eq!(detect(&hundred).lost.len(), 1);
    // Losses beyond the limit are still mentioned.
    let each = |at: usize| json!({ "question": format!("{at}?") });
    let many = detect(&mark(&json!((0..40).map(each).collect::<Vec<_>>())));
    assert_eq!((many.left_out, many.lost.len()), (36, 13));
    assert_eq!(
        many.lost.last().unwrap(),
        "Further questions could not be read or were not asked."
    );
}

#[test]
fn many_unclosed_marks_take_linear_time() {
    // With each of these, every marker once scanned all the text after it.
    for unit in [
        "<!--GOTO: a",
        "<!--QUESTION:x",
        "<!--QUESTION:[\",\",0,\"",
        "<!-- ",
    ] {
        let text = unit.repeat(100_000);
        let _ = (detect(&text), signals(&text));
        assert!(without_markers(&text).len() <= text.len());
    }
}

/// Pieces of texts that resemble markers.
fn near() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<!--QUESTION:".to_owned()),
        Just("<!-- FINISHED -->".to_owned()),
        Just("<!-- GOTO: x -->".to_owned()),
        Just("-->".to_owned()),
        Just("{\"questions\":[{\"question\":\"q\"}]}".to_owned()),
        Just("{\"questions\":[{\"question\":\"a --> <!-- FINISHED -->\"}]}".to_owned()),
        Just("\"".to_owned()),
        Just("[{".to_owned()),
        ".{0,6}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn reading_keeps_its_limits(text in near()) {
        let found = detect(&text);
        prop_assert!(found.questions.len() <= MAX_QUESTIONS);
        for question in &found.questions {
            prop_assert!(!question.question.is_empty());
            prop_assert!(!question.header.contains('\n'));
        }
        prop_assert!(without_markers(&text).len() <= text.len());
        let _ = signals(&text);
    }

    #[test]
    fn any_question_reads_back(question in "\\PC{1,40}", label in "\\PC{1,20}", around in "[a-z \n]{0,9}") {
        prop_assume!(!one_line(&question).is_empty() && !one_line(&label).is_empty());
        let entry = json!([{ "question": question, "type": "choice", "options": [label] }]);
        let found = detect(&format!("{around}{}{around}", mark(&entry)));
        prop_assert_eq!(found.malformed, 0);
        prop_assert_eq!(&found.questions[0].question, &one_line(&question));
        prop_assert_eq!(&found.questions[0].options[0].label, &one_line(&label));
    }
}
