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
            "Says how it is tested and what can go wrong; 2 boxes to tick",
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
            "No section on tests or risks",
        ]
    );
    assert_eq!(
        lines("", ""),
        [
            "Plan with 0 steps in 1 section.",
            "Steps are described in prose",
            "No files are named",
            "No section on tests or risks",
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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn always_short_and_on_one_line(title in ".{0,60}", plan in "(?s).{0,400}") {
        for line in lines(&title, &plan) {
            prop_assert!(!line.is_empty() && line.chars().count() <= MAX_CHARS && !line.contains('\n'), "{}", line);
        }
    }
}
