//! Tests of `formats::plan::summary`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

fn lines(title: &str, plan: &str) -> [String; 4] {
    let Summary {
        sentence,
        bullets: [a, b, c],
    } = summarise(title, plan);
    [sentence, a, b, c]
}

#[test]
fn from_the_plan_s_own_words() {
    let plan = "# Plan: CSV\n\nSee #4.\n\n## Overview\n\nUsers can *export* every [report](x) as v1.2 CSV. More text.\n\n\
        ## Phase 1: Writer\n\nIn `src/csv.rs:1-20` and `src/csv.rs`.\n\n## Phase 2: Button\n\n`web/app.ts`, `Cargo.toml`, \
        `config.load`, `a/b.md`\n\n## Testing\n\n- [ ] unit\n- [ ] by hand\n\n## Risks\n";
    assert_eq!(
        lines("CSV", plan),
        [
            "Users can export every report as v1.2 CSV.",
            "2 phases: Phase 1: Writer; Phase 2: Button",
            "4 files: src/csv.rs, web/app.ts, Cargo.toml and 1 more",
            "Has sections on tests and on risks; 2 boxes to tick",
        ]
    );
}

#[test]
fn without_a_sentence_it_counts() {
    assert_eq!(
        lines(
            "Add CSV export",
            "## Do\n\n1. **Write** `x`\n2. Test\n   - deep\n\n## Done\n\n- ok"
        ),
        [
            "Plan with 2 steps in 2 sections: Add CSV export.",
            "2 steps: Write x; Test",
            "No files are named",
            "Has no section on tests or risks",
        ]
    );
    assert_eq!(
        lines("", ""),
        [
            "Plan with 0 steps.",
            "No steps are listed",
            "No files are named",
            "Has no section on tests or risks",
        ]
    );
}

#[test]
fn an_executable_plan_is_summarised_by_its_actions_and_not_by_its_list_of_status_and_agent() {
    let plan = "# Export reports\n\n- **Status:** Green\n- **Agent:** Claude\n\n## Rationale\n\n```text\nCustomers open \
        reports in a spreadsheet. More.\n```\n\n## Action Plan\n\n### `READ`\n\n- **Resource:** [README.md](/README.md)\n\n\
        ### `CREATE`\n\n- **File Path:** [docs/csv.md](/docs/csv.md)\n\n````markdown\n# CSV\n````\n\n\
        ### `EXECUTE`\n\n- **Description:** Test.\n\n````shell\ncargo test\n````\n";
    assert_eq!(
        lines("Export reports", plan),
        [
            "Customers open reports in a spreadsheet.",
            "3 actions: READ README.md; CREATE docs/csv.md; EXECUTE cargo test",
            "Changes 1 file: docs/csv.md",
            "Runs 1 command",
        ]
    );
}

#[test]
fn long_things_are_cut() {
    let plan = format!(
        "# T\n\n{}\n\n1. {}\n2. b\n3. c\n4. d\n",
        "very ".repeat(60),
        "long ".repeat(60)
    );
    let [sentence, steps, ..] = lines("T", &plan);
    assert!(sentence.ends_with('…') && sentence.chars().count() <= MAX_CHARS);
    assert!(steps.ends_with("…; b; c and 1 more"), "{steps}");
}

#[test]
fn only_the_plan_is_read() {
    let plan = "## Steps\n\n1. Write `src/csv.rs`\n2. Try it out";
    let own = summarise("Add CSV export", plan);
    let framed = document::wrap("Add CSV export", &document::Enrichment::raw(), plan);
    assert_eq!(summarise("Add CSV export", &framed), own);
    let matter = format!("---\ntitle: An essay about comma separated values.\n---\n\n{plan}");
    assert_eq!(summarise("Add CSV export", &matter), own);
}

#[test]
fn nothing_is_made_up() {
    for (plan, third) in [
        (
            "## Latest changes\n\n## Data migration\n",
            "Has no section on tests or risks",
        ),
        (
            "## Phase 1: Testing\n",
            "Has a section on tests, none on risks",
        ),
        (
            "### Known pitfalls\n",
            "Has a section on risks, none on tests",
        ),
    ] {
        assert_eq!(lines("T", plan)[3], third);
    }
    assert_eq!(
        lines("T", "- apples\n- pears\n"),
        [
            "Plan with 2 points: T.",
            "2 points: apples; pears",
            "No files are named",
            "Has no section on tests or risks",
        ]
    );
}

#[test]
fn items_without_words_are_only_counted() {
    assert_eq!(lines("T", "1.\n2.\n")[1], "2 steps");
}

#[test]
fn text_that_looks_like_markup_is_shown_as_text() {
    let plan = "The tag `<details>` has to be closed \\*everywhere\\*.\n\n1. `</summary>`\n2. see [x] and \\<img\\>\n";
    assert_eq!(
        lines("T", plan)[..2],
        [
            "The tag \\<details\\> has to be closed \\*everywhere\\*.",
            "2 steps: \\</summary\\>; see \\[x\\] and \\<img\\>",
        ]
    );
}

#[test]
fn many_full_stops_take_no_longer() {
    let plan = "a.".repeat(200_000);
    assert_eq!(lines("T", &plan)[0].chars().count(), MAX_CHARS);
}

#[test]
fn the_seeds() {
    for (name, sentence, steps) in [
        (
            "002_ef6477581d4ebaa4.txt",
            "The /orchestrate command has a fully implemented mechanism",
            "3 phases: Phase 1: Strengthen Agent Directive",
        ),
        (
            "003_ddef16d97171d1ea.txt",
            "Plan with ",
            "4 phases: Phase 1: Configuration & Dependencies",
        ),
    ] {
        let Some(text) = crate::formats::plan::seed(name) else {
            continue;
        };
        let [found, first, ..] = lines("Plan mode", &text);
        assert!(first.starts_with(steps), "{first}");
        assert!(
            name.starts_with("003") || found.starts_with(sentence),
            "{found}"
        );
    }
}

/// Paragraphs, items and headings full of escaped markup.
const MARKED: &str = r"(\n\n|- |1\. |## |word |\\<b\\>|\\\*x\\\*|\\# |\\`|\\[x\\]|`<details>`|`-->`|&lt;|1\\\. |\\- ){0,40}";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn always_short_and_one_line_without_markup(title in ".{0,60}", plan in "(?s).{0,400}", marked in MARKED) {
        for line in lines(&title, &plan).into_iter().chain(lines(&title, &marked)) {
            let seen = inline::plain(&line);
            prop_assert!(!seen.is_empty() && seen.chars().count() <= MAX_CHARS, "{}", line);
            prop_assert!(!line.contains(['\n', '\r']) && inline::pieces(&line).is_empty(), "{}", line);
            prop_assert_eq!(inline::shown(&seen), line);
        }
    }
}
