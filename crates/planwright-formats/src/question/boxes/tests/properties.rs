//! Properties for any text of an agent and any ticks.

use proptest::prelude::*;

use super::*;

/// Texts that resemble Markdown and the syntax of the comment.
fn words() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "\n",
            "\r\n",
            " ",
            "- [x] ",
            "- [ ] a) x",
            "**",
            "*",
            "_",
            "`",
            "``",
            "~~~",
            "```",
            "<!-- ",
            "-->",
            "<details>",
            "<pre>",
            "other: y",
            "Send these answers",
            "1. ",
            "# ",
            "> ",
            "|",
            "---",
            "\\",
            "[x]",
            "](",
            "&#64;",
            "@octocat",
            "fixes #1",
            "/cancel",
            "<!-- planwright:questions R 1 -->",
            "planwright:effect",
            "\u{200b}",
            "\u{0}",
            "\t",
            "\u{2028}",
        ])
        .prop_map(str::to_owned),
        ".{0,5}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn any_question() -> impl Strategy<Value = Question> {
    let option = (words(), words()).prop_map(|(label, description)| Choice { label, description });
    let options = prop::collection::vec(option, 0..4);
    (words(), words(), options, any::<bool>(), any::<bool>()).prop_map(
        |(question, header, options, choice, multi)| Question {
            question,
            header,
            choice,
            multi,
            options,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3_000) })]

    #[test]
    fn any_questions_read_back_unticked(questions in prop::collection::vec(any_question(), 0..5), crlf in any::<bool>()) {
        let mut body = shown(&questions);
        if crlf {
            body = body.replace('\n', "\r\n");
        }
        let read = parse(&body);
        let expected = Boxes {
            run: RUN.to_owned(),
            round: 2,
            questions: vec![Ticks::default(); questions.len()],
            send: false,
        };
        prop_assert_eq!(read, Some(expected), "{}", body);
        prop_assert_eq!(boxes_of(&body), want(&questions), "{}", body);
        prop_assert_eq!(command::parse(&body), []);
        prop_assert!(!plain(&body).contains(" @octocat"), "{}", body);
    }

    #[test]
    fn each_tick_is_read_at_its_place(questions in prop::collection::vec(any_question(), 1..5), nth in 0..20_usize, own in "[a-z]{1,9}( [a-z]{1,9})?") {
        let body = shown(&questions);
        let boxes: Vec<usize> = body
            .match_indices("- [ ] ")
            .map(|(at, _)| at)
            .filter(|at| *at == 0 || body[..*at].ends_with('\n'))
            .collect();
        let nth = nth % boxes.len();
        let mut ticked = body.clone();
        ticked.replace_range(boxes[nth] + 3..boxes[nth] + 4, "x");
        let line = ticked[boxes[nth]..].lines().next().unwrap().len();
        let other = ticked[boxes[nth]..].starts_with("- [x] other: ");
        if other {
            ticked.insert_str(boxes[nth] + line, &own);
        }
        let found = parse(&ticked).unwrap();
        let mut at = nth;
        for (question, ticks) in questions.iter().zip(&found.questions) {
            let count = if question.options.is_empty() { 0 } else { question.options.len() + 1 };
            if at < count {
                if other {
                    prop_assert_eq!(ticks.other.as_deref(), Some(own.as_str()));
                } else {
                    prop_assert_eq!(&ticks.chosen, &vec![at]);
                }
            } else {
                prop_assert_eq!(ticks, &Ticks::default());
            }
            at = at.checked_sub(count).unwrap_or(usize::MAX / 2);
        }
        prop_assert_eq!(found.send, nth == boxes.len() - 1);
        prop_assert_eq!(sent(&body, &ticked), found.send);
    }
}
