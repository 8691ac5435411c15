//! Tests of `formats::command`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

mod places;

/// `name:line|guidance|inline` of every command.
fn say(comment: &str) -> Vec<String> {
    parse(comment)
        .into_iter()
        .map(|found| {
            let inline = found
                .inline
                .map_or(String::new(), |inline| format!("|{inline}"));
            format!(
                "{}:{}|{}{inline}",
                found.command.name(),
                found.line,
                found.guidance.as_deref().unwrap_or_default()
            )
        })
        .collect()
}

#[test]
fn the_registry_is_complete_and_unambiguous() {
    let mut names: Vec<String> = Vec::new();
    for spec in REGISTRY {
        assert_eq!(spec.command.spec(), spec);
        assert_eq!(
            parse(spec.example)[0].command,
            spec.command,
            "{}",
            spec.example
        );
        assert!(spec.summary.ends_with('.') && !spec.summary.contains('\n'));
        for name in spec.aliases.iter().chain([&spec.name]) {
            assert!(!name.contains(char::is_whitespace) && !name.starts_with('/'));
            assert!(!names.contains(&name.to_ascii_lowercase()), "{name} twice");
            names.push(name.to_ascii_lowercase());
        }
    }
    for command in [
        Command::SavePlan,
        Command::SaveRawPlan,
        Command::Plan,
        Command::Research,
        Command::CheckPlan,
        Command::Answer,
        Command::Cancel,
        Command::Retry,
        Command::Status,
        Command::Help,
    ] {
        assert_eq!(Command::named(command.name()), Some(command));
    }
    assert_eq!(Command::named("plans"), None);
}

#[test]
fn labels_are_matched_by_their_configured_names() {
    let names = [
        (Command::SavePlan, "Save it".to_owned()),
        (Command::SaveRawPlan, "raw".to_owned()),
    ];
    assert_eq!(for_label("save IT", &names), Some(Command::SavePlan));
    assert_eq!(for_label("RAW", &names), Some(Command::SaveRawPlan));
    assert_eq!(for_label("save-plan", &names), None);
    assert_eq!(for_label("", &names), None);
}

#[test]
fn guidance_and_plan_are_divided() {
    for (comment, want) in [
        ("/save-plan  be *quick*  ", vec!["save-plan:1|be *quick*"]),
        (
            "/save-plan a\nb\n\nc\n/cancel\n",
            vec!["save-plan:1|a\nb\n\nc", "cancel:5|"],
        ),
        (
            "x\n\n/save-plan g\n\n# Plan: T\n\n- a\n\n\n",
            vec!["save-plan:3|g|# Plan: T\n\n- a"],
        ),
        (
            "/save-plan\n# T\n- a\n\n/retry",
            vec!["save-plan:1||# T\n- a\n\n/retry"],
        ),
        (
            "/save-plan\nPlan: T\n\n1. a",
            vec!["save-plan:1||Plan: T\n\n1. a"],
        ),
        (
            "/save-plan\n\n**Plan: T**\n\n1. a",
            vec!["save-plan:1||**Plan: T**\n\n1. a"],
        ),
        (
            "/save-plan\n\nImplementation Plan: T\nx",
            vec!["save-plan:1||Implementation Plan: T\nx"],
        ),
        (
            "/save-plan\n\nPlan: be careful",
            vec!["save-plan:1|Plan: be careful"],
        ),
        (
            "/save-plan\n\nplan: \n\n- a",
            vec!["save-plan:1||plan: \n\n- a"],
        ),
        ("/save-plan\n\n- a\n- b", vec!["save-plan:1||- a\n- b"]),
        (
            "/save-plan keep it short\n\na\n\nb",
            vec!["save-plan:1|keep it short|a\n\nb"],
        ),
        (
            "/save-plan\nWhat we agreed on:\n\n1. a\n2. b",
            vec!["save-plan:1||What we agreed on:\n\n1. a\n2. b"],
        ),
        (
            "/save-plan and mind:\n\n- a\n- b",
            vec!["save-plan:1|and mind:\n\n- a\n- b"],
        ),
        (
            "/save-plan g\n\n```md\n# T\n\n- a\n\n```\n\nmore",
            vec!["save-plan:1|g\n\nmore|# T\n\n- a"],
        ),
        (
            "/save-plan\r\n\r\n  ~~~ Plan x\r\n  # T\r\n    - a\r\n  ~~~",
            vec!["save-plan:1||# T\r\n  - a"],
        ),
        (
            "/save-plan\n\n```rust\nx\n```",
            vec!["save-plan:1|```rust\nx\n```"],
        ),
        (
            "/save-plan\n\n```markdown\n# open\n/cancel",
            vec!["save-plan:1||# open\n/cancel"],
        ),
        (
            "/save-plan g\n\n<!-- WARNING: Machine-generated. Manual edits may break erk tooling. -->\n<!-- erk:metadata-block:plan-body -->\n<details>\n\nx\n",
            vec![
                "save-plan:1|g|<!-- WARNING: Machine-generated. Manual edits may break erk tooling. -->\n<!-- erk:metadata-block:plan-body -->\n<details>\n\nx",
            ],
        ),
        (
            "/save-plan\n<!-- erk:plan-content -->\n\nx",
            vec!["save-plan:1||<!-- erk:plan-content -->\n\nx"],
        ),
        (
            "/save-raw-plan\nSteps:\n- a\n- b",
            vec!["save-raw-plan:1||Steps:\n- a\n- b"],
        ),
        (
            "/save-raw-plan please\n\nintro\n\n# H",
            vec!["save-raw-plan:1|please|intro\n\n# H"],
        ),
        ("/save-raw-plan\n\nthanks", vec!["save-raw-plan:1|thanks"]),
        (
            "/save-raw-plan\n\n```md\n- a\n```\n\n- b",
            vec!["save-raw-plan:1|- b|- a"],
        ),
        (
            "/erk:save-raw-plan\n\n    \n  - a",
            vec!["save-raw-plan:1||    \n  - a"],
        ),
        ("/cancel\n\n# Not a plan", vec!["cancel:1|# Not a plan"]),
        ("/save-plan\n\n# T  \n\t\n", vec!["save-plan:1||# T  "]),
    ] {
        assert_eq!(say(comment), want, "{comment:?}");
    }
}

#[test]
fn a_command_within_a_pasted_plan_is_a_line_of_the_plan() {
    let pasted = "# Plan: Document the bot\n\n1. Say what this does:\n\n/save-plan inner\n\n2. Then\n/research costs; money\n";
    for word in ["save-plan", "save-raw-plan", "check-plan"] {
        let comment = format!("/{word}\n\n{pasted}");
        assert_eq!(say(&comment), [format!("{word}:1||{}", pasted.trim_end())]);
    }
    for (comment, want) in [
        // Without structure there is no plan yet: both are commands.
        (
            "/save-plan one\n/save-raw-plan",
            vec!["save-plan:1|one", "save-raw-plan:2|"],
        ),
        (
            "/save-raw-plan\n\nthanks\n\n/cancel\n\n# T\n\n- a",
            vec!["save-raw-plan:1|thanks", "cancel:5|# T\n\n- a"],
        ),
        (
            "/cancel\n/save-plan\n# T\n- a\n\n/cancel",
            vec!["cancel:1|", "save-plan:2||# T\n- a\n\n/cancel"],
        ),
        (
            "/save-plan g\n\nPlan: T\n\nIntro\n\n/save-raw-plan\n- a",
            vec!["save-plan:1|g|Plan: T\n\nIntro\n\n/save-raw-plan\n- a"],
        ),
        (
            "/save-plan\n<!-- erk:plan-content -->\n\nx\n\n/retry\n",
            vec!["save-plan:1||<!-- erk:plan-content -->\n\nx\n\n/retry"],
        ),
        // A fence says where its plan ends.
        (
            "/save-plan\n\n```md\n# T\n/research x\n```\n\n/cancel",
            vec!["save-plan:1||# T\n/research x", "cancel:8|"],
        ),
        // A command that takes no plan has none.
        (
            "/plan g\n\n# T\n\n/cancel",
            vec!["plan:1|g\n\n# T", "cancel:5|"],
        ),
    ] {
        assert_eq!(say(comment), want, "{comment:?}");
    }
}

#[test]
fn answers_are_all_that_follows_the_command() {
    for (comment, want) in [
        ("/answer 1: a 2: x=y b", vec!["answer:1|1: a 2: x=y b"]),
        (
            "Thanks!\n\n/Answer\n1: a\n2: two\nlines\n\n3: more",
            vec!["answer:3|1: a\n2: two\nlines\n\n3: more"],
        ),
        (
            "/answer 1: # no heading\n\n# Plan: T\n\n```md\ncode\n```",
            vec!["answer:1|1: # no heading\n\n# Plan: T\n\n```md\ncode\n```"],
        ),
        (
            "/answer\r\n- [x] a) In memory\r\n- [ ] other: x",
            vec!["answer:1|- [x] a) In memory\r\n- [ ] other: x"],
        ),
        ("/answer 1: a\n/cancel", vec!["answer:1|1: a", "cancel:2|"]),
        ("/answer", vec!["answer:1|"]),
        ("/answers 1: a", vec![]),
        ("> /answer 1: a", vec![]),
    ] {
        assert_eq!(say(comment), want, "{comment:?}");
    }
    assert_eq!(without_commands("x\n\n/answer 1: a\n\nb"), "x\n\n");
}

#[test]
fn what_remains_is_the_conversation() {
    for (comment, want) in [
        ("hello\n\n/save-plan g\nmore", "hello\n\n"),
        (
            "hello\r\n\r\n/save-plan g\r\n\r\n# T\r\n\r\n- a\r\n",
            "hello\r\n\r\n# T\r\n\r\n- a\r\n",
        ),
        ("/save-plan g\n\n```md\nx\n```\nmore", "```md\nx\n```\n"),
        ("/cancel", ""),
        ("> /cancel\n", "> /cancel\n"),
        ("/save-plan\n# A\n/cancel x\ny", "# A\n/cancel x\ny"),
        (
            "/save-plan\n\n```md\n# A\n```\n/cancel x\ny",
            "```md\n# A\n```\n",
        ),
    ] {
        assert_eq!(without_commands(comment), want, "{comment:?}");
    }
}

#[test]
fn the_word_is_kept_as_typed() {
    let found = parse("/ERK:Save-Plan x");
    assert_eq!(
        (found[0].word.as_str(), found[0].command),
        ("/ERK:Save-Plan", Command::SavePlan)
    );
}

fn text() -> impl Strategy<Value = String> {
    let pieces: &[&'static str] = &[
        "/save-plan",
        "/save-raw-plan",
        "/cancel x",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        " ",
        "# h",
        "- a",
        "> ",
        "```",
        "```md\n",
        "~~~",
        "    ",
        "\t",
        "Plan: x",
        "<!-- erk:plan-content -->",
        "<!--",
        "-->",
        "<details>",
        "|a|\n|-|",
        "[a]: b",
        "[^1]: ",
        "`",
        "*",
        "é",
        "\u{feff}",
        "\0",
        "---",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn everything_said_is_part_of_the_comment(comment in text()) {
        let lines: Vec<usize> = parse(&comment).iter().map(|found| found.line).collect();
        prop_assert!(lines.is_sorted());
        for found in parse(&comment) {
            prop_assert!(comment.contains(&found.word));
            prop_assert!(found.inline.is_none() || found.command.spec().takes_plan);
        }
        let rest = without_commands(&comment);
        prop_assert!(rest.len() <= comment.len());
        prop_assert!(!lines.is_empty() || rest == comment);
    }
}
