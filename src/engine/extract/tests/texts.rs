//! Candidates in one text.

use super::candidates_in_text;
use proptest::prelude::*;

use crate::engine::extract::*;
use crate::formats::block;

#[test]
fn points_are_explained() {
    let plan = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/plans/csv-export.md"
    ))
    .unwrap();
    let found = candidates_in_text(&plan).remove(0);
    let reasons: Vec<String> = found
        .reasons
        .iter()
        .map(|(points, why)| format!("{points:+} {why}"))
        .collect();
    assert_eq!(
        reasons,
        [
            "+22 is titled \"Plan: Export monthly reports as CSV\"",
            "+18 3 sections of a plan",
            "+24 3 numbered steps",
            "+4 3 of 3 say what to do",
            "+8 the steps name code",
            "+4 the steps are sentences",
            "+4 1 file named",
            "+8 316 characters",
        ]
    );
    assert_eq!(found.score, 92);
    assert_eq!(
        found.title.as_deref(),
        Some("Export monthly reports as CSV")
    );
}

#[test]
fn fixture_plans_come_out_whole() {
    for name in ["csv-export", "session-store", "saved-before"] {
        let path = format!("{}/fixtures/plans/{name}.md", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let found = candidates_in_text(&text).remove(0);
        assert_eq!(
            (found.source, found.text),
            (Source::Whole { post: None }, text),
            "{name}"
        );
        assert!(found.score >= MIN_SCORE, "{name}");
    }
}

/// Posts of every era of erk hold their plan in a block, whatever the block looks like.
#[test]
fn plans_in_old_forms_are_plan_blocks() {
    let plan = "# Plan: Export reports\n\n## Steps\n\n1. Change `src/a.rs`\n2. Test it";
    for text in [
        format!("<!-- erk:plan-content -->\n\n{plan}\n\n<!-- /erk:plan-content -->"),
        format!(
            "Saved.\n\n<details>\n<summary>original-plan</summary>\n\n{plan}\n\n</details>\n\n---\n\nCheck it out."
        ),
        format!("<details>\n<summary><code>original-plan</code></summary>\n\n{plan}\n\n</details>"),
        block::plan_body(plan),
    ] {
        let found = candidates_in_text(&text);
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].source, Source::Block { post: None }, "{text}");
        assert_eq!(found[0].text, plan, "{text}");
        assert!(found[0].score >= MIN_SCORE, "{text}");
    }
}

/// Plans about erk quote its blocks, not all of them in fences.
#[test]
fn a_plan_block_that_a_plan_quotes_is_not_taken_for_the_plan() {
    let example = "# Plan: An example\n\n## Steps\n\n1. Change `src/x.rs`\n2. Test it\n3. Ship it";
    for quoted in [
        block::plan_body(example),
        format!("<!-- erk:plan-content -->\n\n{example}\n\n<!-- /erk:plan-content -->"),
        format!("<details>\n<summary>original-plan</summary>\n\n{example}\n\n</details>"),
    ] {
        for (title, rest) in [
            ("# Store plans in blocks", ""),
            ("## Plan: Store plans in blocks", ""),
            ("## Overview", "\n\n## Testing\n\n- Read one back\n"),
        ] {
            let text = format!(
                "{title}\n\nA plan is stored like this:\n\n{quoted}\n\n### Implementation steps\n\n1. Write the block in \
                 `src/block.rs`\n2. Read it in `src/read.rs`\n3. Test both in `tests/it.rs`\n{rest}"
            );
            let found = candidates_in_text(&text).remove(0);
            assert_eq!(found.source, Source::Whole { post: None }, "{text}");
            assert_eq!(found.text, text);
        }
        // The description of a pull request is no plan around its plan.
        let described = format!(
            "## Summary\n\nStores plans in blocks.\n\n## Files changed\n\n- `src/block.rs`\n- `src/read.rs`\n- \
             `tests/it.rs`\n\n{quoted}\n\n---\n\nTo replicate this PR locally, run:\n"
        );
        let found = candidates_in_text(&described).remove(0);
        assert_eq!(found.text, example, "{described}");
    }
}

#[test]
fn large_texts_take_no_long_time() {
    let headings = "## Plan for n\n\n1. a\n\n".repeat(20_000);
    let lines = "- `src/a.rs`\n".repeat(20_000);
    let one = "*a `b [c](".repeat(20_000);
    for text in [headings, lines, one] {
        let started = std::time::Instant::now();
        let found = candidates_in_text(&text);
        assert!(!found.is_empty());
        // Quadratic work would take minutes.
        assert!(started.elapsed().as_secs() < 15, "{:?}", started.elapsed());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn candidates_are_slices(parts in prop::collection::vec(prop::sample::select(vec![
        "# Plan\n", "## Steps\n", "text\n", "\n", "Shall I?\n", "---\n", "```md\n", "```\n", "</details>\n", "- a\n",
        "> q\n", "Here is the plan:\n", "1. x\n", "\r\n", "<details>\n", "a\n===\n", "    code\n", "[^1]: note\n",
    ]), 0..30)) {
        let text = parts.concat();
        for found in candidates_in_text(&text) {
            prop_assert!(text.contains(&found.text));
        }
    }
}

#[test]
fn what_follows_a_plan_is_a_remark_unless_it_is_addressed_to_the_reader_or_headed() {
    let plan = "1. Key the cache by harbour\n2. Add a test";
    for (below, expected) in [
        ("", None),
        ("Shall I start?", None),
        ("/save-plan", None),
        ("## Log\n\nThe table is late.", None),
        ("**B: a table from the feed**\n\n1. Read the feed", None),
        ("The old table stays.", Some("The old table stays.")),
        (
            "Shall I start?\n\nThe old table stays.\n\nMore.",
            Some("The old table stays."),
        ),
    ] {
        let post = format!("Well.\n\n{plan}\n\n{below}");
        assert_eq!(remark_below(&post, plan), expected, "{below}");
    }
    assert_eq!(remark_below("another text", plan), None);
}

#[test]
fn a_plan_does_not_end_with_the_heading_of_what_was_left_out() {
    let steps = "## Export in the background\n\n1. Add a table `exports` with owner, state and expiry\n\
                 2. Write the file in a job and store it in the bucket\n\
                 3. Send a link that is valid for a day";
    for (heading, rest) in [
        (
            "**Questions**",
            "1. Does legal need a copy of what was exported?\n2. Are employees' accounts to be excluded?",
        ),
        (
            "Before you ask:",
            "- *Why not at once?* Too slow.\n- *Why a day?* No idea.",
        ),
    ] {
        let text = format!("{steps}\n\n{heading}\n\n{rest}");
        let found = candidates_in_text(&text).remove(0).text;
        assert!(found.contains(rest) || !found.contains(heading), "{found}");
        assert!(found.contains("valid for a day"), "{found}");
    }
}
