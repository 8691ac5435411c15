//! Tests of the forms that have no markers of a block, and of cases that can be read in two ways.

use super::super::*;
use super::{messages, text_of, yaml_block};

fn keys(text: &str) -> Vec<String> {
    parse(text)
        .blocks
        .into_iter()
        .map(|block| block.key)
        .collect()
}

#[test]
fn plans_from_before_there_were_blocks_are_read() {
    for (end, plan) in [
        ("\n", "# A\n\n- b"),
        ("\r\n", "# A\r\n\r\n- b"),
        ("\n", "\n# A\n\n"),
    ] {
        let text = format!(
            "x{end}{end}<!-- erk:plan-content -->{end}{end}{plan}{end}{end}<!-- /erk:plan-content -->{end}y"
        );
        let parsed = parse(&text);
        assert_eq!(parsed.diagnostics, [], "{text:?}");
        assert_eq!(parsed.blocks[0].key, "plan-content");
        assert_eq!(text_of(&parsed.blocks[0]), plan);
        assert_eq!(&text[parsed.blocks[0].inner.clone()], plan);
        assert!(text[parsed.blocks[0].span.clone()].ends_with("<!-- /erk:plan-content -->"));
    }
    let quoted = "```\n<!-- erk:plan-content -->\nx\n<!-- /erk:plan-content -->\n```\n";
    assert_eq!(parse(quoted), Parsed::default());
    assert_eq!(
        messages("<!-- erk:plan-content -->\nx"),
        [(
            "plan-content".to_owned(),
            1,
            "the block has no closing marker".to_owned()
        )]
    );
}

#[test]
fn plans_in_the_description_of_a_pull_request_are_read() {
    let header = yaml_block("plan-header", "a: 1");
    for summary in ["original-plan", "<code>original-plan</code>"] {
        for plan in [
            "# A\n\n- b",
            "# A\n\n<details>\n<summary>more</summary>\n\nx\n\n</details>\n\nrest",
            "# A\n\n```html\n</details>\n```\n\nrest",
            "# A\n\n</details>\n\nnot matched",
            "# A\n\n<details>\nnot closed",
            "# A\n\n```\nopen fence",
            "# A\n\n```html\n</details>\n\nopen fence with a tag\n</details>\n\nand more",
            "# A\n\n<!-- erk:plan-content -->\nquoted\n<!-- /erk:plan-content -->",
        ] {
            for end in ["\n", "\r\n"] {
                let text = format!("Summary.\n\n<details>\n<summary>{summary}</summary>\n\n{plan}\n\n</details>\n\n{header}\n---\n\nfoot")
                    .replace('\n', end);
                let parsed = parse(&text);
                assert_eq!(parsed.diagnostics, [], "{text}");
                assert_eq!(keys(&text), ["original-plan", "plan-header"], "{text}");
                assert_eq!(
                    text_of(&parsed.blocks[0]),
                    plan.replace('\n', end),
                    "{text}"
                );
                assert!(text[parsed.blocks[0].span.clone()].starts_with("<details>"));
                assert!(text[parsed.blocks[0].span.clone()].ends_with("</details>"));
            }
        }
    }
    for no_plan in [
        "```\n<details>\n<summary>original-plan</summary>\n\nx\n\n</details>\n```",
        "<details>\n<summary>my original-plan</summary>\n\nx\n\n</details>",
        "<summary>original-plan</summary>\n\nx\n\n</details>",
    ] {
        assert_eq!(parse(no_plan), Parsed::default(), "{no_plan}");
    }
    assert_eq!(
        messages("<details>\n<summary>original-plan</summary>\n\nx"),
        [(
            "original-plan".to_owned(),
            1,
            "the plan's `<details>` is not closed".to_owned()
        )]
    );
    // Inside another block it is part of that block's text.
    assert_eq!(
        keys(&format!(
            "{}\n",
            plan_body("<details><summary>original-plan</summary>\n\nx")
        )),
        ["plan-body"]
    );
}

#[test]
fn the_newest_form_of_the_plan_counts() {
    let old = "<!-- erk:plan-content -->\nold\n<!-- /erk:plan-content -->\n\n";
    let pull = "<details>\n<summary>original-plan</summary>\n\npull\n\n</details>\n\n";
    let new = plan_body("new");
    assert_eq!(plans(&format!("{old}{pull}{new}\n\n{new}")), ["new", "new"]);
    assert_eq!(plans(&format!("{old}{pull}")), ["pull"]);
    assert_eq!(plans(old), ["old"]);
    assert_eq!(plans(&format!("{old}{}", plan_body("  "))), ["old"]);
    assert_eq!(plans("# A\n"), Vec::<String>::new());
}

#[test]
fn texts_that_can_be_read_in_two_ways() {
    let good = yaml_block("k", "a: 1");
    let close = "<!-- /erk:metadata-block:k -->";
    for (name, text, blocks, complaints) in [
        (
            "a quoted closer",
            good.replace("a: 1", &format!("a: '{close}'"))
                .replace("<!-- /erk:metadata-block -->", close),
            vec!["k"],
            vec![],
        ),
        (
            "a closer in code",
            format!("`{close}`\n\n{good}"),
            vec!["k"],
            vec![],
        ),
        (
            "two of one key",
            format!("{good}\n{good}"),
            vec!["k", "k"],
            vec![],
        ),
        (
            "half an opener",
            format!("<!-- erk:metadata-block:k\n\n{good}"),
            vec!["k"],
            vec![":1"],
        ),
        (
            "half a closer",
            format!(
                "{}\n<!-- /erk:metadata-block:k\n\n{good}",
                good.replace("<!-- /erk:metadata-block -->", "")
            ),
            vec!["k"],
            vec!["k:1"],
        ),
        (
            "no closer, then another block",
            format!("<!-- erk:metadata-block:j -->\n{good}"),
            vec!["k"],
            vec!["j:1"],
        ),
        (
            "no closer, then the same",
            format!("<!-- erk:metadata-block:k -->\n{good}"),
            vec!["k"],
            vec!["k:1"],
        ),
        (
            "a closer of another key",
            format!("<!-- erk:metadata-block:k -->\n<!-- /erk:metadata-block:j -->\n{good}"),
            vec!["k"],
            vec!["k:1", "j:2"],
        ),
        (
            "a closer alone",
            format!("{close}\n{good}"),
            vec!["k"],
            vec!["k:1"],
        ),
        (
            "an empty key",
            format!("<!-- erk:metadata-block: -->\n{good}"),
            vec!["k"],
            vec![":1"],
        ),
        (
            "two on one line",
            format!("{} {}", good.replace('\n', " "), ""),
            vec!["k"],
            vec!["k:1"],
        ),
    ] {
        let parsed = parse(&text);
        assert_eq!(keys(&text), blocks, "{name}: {parsed:?}");
        let said: Vec<String> = parsed
            .diagnostics
            .iter()
            .map(|found| format!("{}:{}", found.key, found.line))
            .collect();
        assert_eq!(said, complaints, "{name}: {parsed:?}");
        assert!(
            parsed
                .diagnostics
                .iter()
                .all(|found| !found.remedy.is_empty())
        );
    }
}

#[test]
fn a_diagnostic_names_the_place_and_the_remedy() {
    let parsed = parse("\n<!-- erk:metadata-block:a -->\nx\n\n<!-- erk:metadata-block:\n");
    let said: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "line 2: block `a`: the block has no closing marker; write `<!-- /erk:metadata-block:KEY -->` with its key on \
             a line of its own below the block",
            "line 5: the opening marker is not complete; write `<!-- erk:metadata-block:KEY -->` on one line",
        ]
    );
}

#[test]
fn every_one_of_many_open_plans_is_named() {
    let text = "<details>\n<summary>original-plan</summary>\n".repeat(50_000);
    assert_eq!(parse(&text).diagnostics.len(), 50_000);
}
