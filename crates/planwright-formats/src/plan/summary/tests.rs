//! Tests of `formats::plan::summary`: the sentence and the steps of plans in every form.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::plan::document::{Enrichment, wrap};

fn steps(plan: &str) -> Vec<String> {
    summarise(plan).steps
}

fn sentence(plan: &str) -> String {
    summarise(plan).sentence
}

#[test]
fn steps_are_found_in_every_form() {
    let two = ["Write the index", "Read it at start"];
    for plan in [
        "# Cache\n\n1. Write the index\n2. Read it at start\n",
        "# Cache\n\n- [ ] Write the index\n- [x] Read it at start\n",
        "# Cache\n\n## Steps\n\n- Write the index\n- Read it at start\n",
        "# Cache\n\n- Write the index\n- Read it at start\n",
        "# Cache\n\n1. **Write the index**: under a temporary name\n2. **Read it at start.** When it is newer.\n",
        "# Cache\n\n1. Write the index. Rename it then.\n\n   ```sh\n   mv a b\n   ```\n\n2. Read it at start\n",
        "# Cache\n\n1. Write the index\n\n```sh\nmv a b\n```\n\n2. Read it at start\n",
        "# Cache\n\n| # | What | Who |\n|---|---|---|\n| 1 | Write the index | ada |\n| 2 | Read it at start | bob |\n",
        "# Cache\n\n| Who | Step |\n|---|---|\n| ada | Write the index |\n| bob | Read it at start |\n",
        "# Cache\n\n## 1. Write the index\n\nx\n\n## 2. Read it at start\n\ny\n",
        "# Cache\n\n**1. Write the index**\n\nx\n\n**2. Read it at start**\n\ny\n",
        "# Cache\n\n1️⃣ Write the index\n2️⃣ Read it at start\n",
        "# Fix the file tests\n\n1. Write the index\n2. Read it at start\n\n## Test plan\n\n1. Start\n2. Stop\n3. Look\n",
        "# Cache\n\n## Steps\n\n- Write the index\n- Read it at start\n\n## Success criteria\n\n- [ ] a\n- [ ] b\n- [ ] c\n",
        "# Cache\n\n## Steps\n\n1. ~~Wait~~ Write the index\n2. Read it at start\n   - deep\n",
    ] {
        assert_eq!(steps(plan), two, "{plan}");
    }
}

#[test]
fn headings_and_bold_words_in_a_series_are_steps() {
    for (plan, want) in [
        (
            "# Cache\n\n## Overview\n\n## Phase 1: Writer\n\n1. a\n2. b\n3. c\n\n## Phase 2: Reader\n\n1. d\n\n## Testing\n",
            vec!["Phase 1: Writer", "Phase 2: Reader"],
        ),
        (
            "# Cache\n\n## Add a writer\n\nx\n\n## Replace the reader\n\ny\n\n## Remove the flag\n\nz\n\n## Testing\n",
            vec!["Add a writer", "Replace the reader", "Remove the flag"],
        ),
        (
            "# Cache\n\n**Writer.** It writes.\n\n**Reader.** It reads.\n\n**Flag.** It goes.\n",
            vec!["Writer", "Reader", "Flag"],
        ),
        (
            "# Cache\n\n**Step 1:** write it\n\n**Step 2:** read it\n",
            vec!["Step 1: write it", "Step 2: read it"],
        ),
        (
            "# 缓存\n\n## 步骤\n\n1. 写入索引\n2. 读取索引\n",
            vec!["写入索引", "读取索引"],
        ),
        (
            "# Cache\n\n## 1. Overview\n\nx\n\n## 2. Steps\n\n1. Write\n2. Read\n\n## 3. Testing\n\ny\n",
            vec!["Write", "Read"],
        ),
        (
            "# Cache\n\n## Backend\n\n1. Write\n2. Rename\n\n## Frontend\n\n1. Show\n",
            vec!["Write", "Rename", "Show"],
        ),
    ] {
        assert_eq!(steps(plan), want, "{plan}");
    }
}

#[test]
fn what_is_no_series_of_steps_is_none() {
    for plan in [
        "",
        "# Cache\n\nWrite it.\n",
        "# Cache\n\n**Goal:** fast\n\n**Files:** a\n\n**Risks:** none\n",
        "# Cache\n\n## Risks\n\n- slow\n- large\n\n## Files\n\n- `a`\n- `b`\n",
        "1.\n2.\n",
    ] {
        assert_eq!(steps(plan), [""; 0], "{plan}");
    }
}

#[test]
fn seven_steps_are_named_and_the_others_counted() {
    let plan = |many: usize| -> String {
        let steps = (1..=many).map(|at| format!("{at}. Do part {at} of it\n"));
        format!("# T\n\n{}", steps.collect::<String>())
    };
    assert_eq!(steps(&plan(7)).len(), 7);
    let many = steps(&plan(10));
    assert_eq!(many.len(), 8);
    assert_eq!(many[6], "Do part 7 of it");
    assert_eq!(many[7], "… and 3 more");
}

#[test]
fn whole_titles_are_shown_and_only_very_long_ones_cut() {
    let long = "word ".repeat(23) + "ends";
    let plan = format!("# T\n\n1. {long}\n2. {long} far behind that limit\n");
    let found = steps(&plan);
    assert_eq!(found[0], long);
    assert!(found[1].ends_with('…'), "{}", found[1]);
    assert!(
        found[1].chars().count() <= MAX_STEP_TITLE_CHARS,
        "{}",
        found[1]
    );
}

#[test]
fn the_sentence_says_what_the_plan_does() {
    for (plan, want) in [
        (
            "# Plan: CSV\n\nSee #4.\n\n## Goal\n\nUsers can *export* every [report](x) as v1.2 CSV. More text.\n",
            "Users can export every report as v1.2 CSV.",
        ),
        (
            "# CSV\n\nReports are locked in.\n\n### Objective\n\nReports leave the tool as files.\n",
            "Reports leave the tool as files.",
        ),
        (
            "# CSV\n\n**Goal:** Export every report as CSV.\n",
            "Export every report as CSV.",
        ),
        (
            "# CSV\n\n**Ziel**: Berichte als CSV ausgeben.\n",
            "Berichte als CSV ausgeben.",
        ),
        (
            "# CSV\n\nThis plan adds an export of reports. It takes a day.\n\n1. a\n2. b\n",
            "This plan adds an export of reports.",
        ),
        (
            "# CSV\n\nReports become files that a spreadsheet opens.\n\n## Steps\n",
            "Reports become files that a spreadsheet opens.",
        ),
        (
            "# Cache\n\n## Overview\n\nThe index is rebuilt on every start, which takes a minute. Keep it on disk between starts.\n",
            "Keep it on disk between starts.",
        ),
        (
            "# 缓存\n\n## 目标\n\n把索引保存在磁盘上。\n",
            "把索引保存在磁盘上。",
        ),
    ] {
        assert_eq!(sentence(plan), want, "{plan}");
    }
}

#[test]
fn the_problem_chat_and_steps_are_no_sentence_about_the_plan() {
    for plan in [
        "",
        "# Cache\n\nThe index is rebuilt on every start, which takes a minute.\n\n1. a\n2. b\n",
        "# Cache\n\n## Problem\n\nSearching needs a whole minute after each start.\n",
        "# Cache\n\nCurrently the index is kept in memory.\n",
        "# Cache\n\nHere's what I'd do:\n\n1. a\n2. b\n",
        "# Cache\n\nSure, I've looked at the code now.\n\n1. a\n2. b\n",
        "# Cache\n\nShould the index be kept on disk?\n",
        "# Cache\n\n**Write the index.** x\n\n**Read the index.** y\n\n**Remove the flag.** z\n",
        "Sounds good to me, and here it is\n\n1. a\n2. b\n",
    ] {
        assert_eq!(sentence(plan), "", "{plan}");
    }
}

#[test]
fn an_executable_plan_is_told_by_its_actions() {
    let plan = "# Export reports\n\n- **Status:** Green\n- **Agent:** Claude\n\n## Rationale\n\n```text\nLet customers open \
        reports in a spreadsheet. More.\n```\n\n## Action Plan\n\n### `READ`\n\n- **Resource:** [README.md](/README.md)\n\n\
        ### `CREATE`\n\n- **File Path:** [docs/csv.md](/docs/csv.md)\n\n````markdown\n# CSV\n````\n\n\
        ### `EXECUTE`\n\n- **Description:** Test.\n\n````shell\ncargo test\n````\n";
    assert_eq!(
        steps(plan),
        ["READ README.md", "CREATE docs/csv.md", "EXECUTE cargo test"]
    );
}

#[test]
fn only_the_plan_is_read() {
    let plan = "## Steps\n\n1. Write `src/csv.rs`\n2. Try it out";
    let own = summarise(plan);
    assert_eq!(own.steps, ["Write src/csv.rs", "Try it out"]);
    let noted = Enrichment {
        notes: vec!["Add nothing to this.".to_owned(), "Or this.".to_owned()],
        ..Enrichment::raw()
    };
    let saved = wrap("Add CSV export", &noted, plan);
    assert_ne!(saved, plan);
    assert_eq!(summarise(&saved), own);
    let matter = format!("---\ntitle: An essay about comma separated values.\n---\n\n{plan}");
    assert_eq!(summarise(&matter), own);
}

#[test]
fn text_that_looks_like_markup_is_shown_as_text() {
    let plan = "# T\n\nClose the tag `<details>` \\*everywhere\\*.\n\n1. `</summary>`\n2. see [x] and \\<img\\>\n";
    assert_eq!(
        sentence(plan),
        "Close the tag \\<details\\> \\*everywhere\\*."
    );
    assert_eq!(steps(plan), ["\\</summary\\>", "see \\[x\\] and \\<img\\>"]);
}

#[test]
fn many_full_stops_take_no_longer() {
    let plan = format!("## Goal\n\n{}", "a.".repeat(200_000));
    assert_eq!(sentence(&plan).chars().count(), MAX_SENTENCE_CHARS);
}

/// Paragraphs, items and headings full of escaped markup.
const MARKED: &str = r"(\n\n|- |1\. |## |word |\\<b\\>|\\\*x\\\*|\\# |\\`|\\[x\\]|`<details>`|`-->`|&lt;|1\\\. |\\- ){0,40}";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn always_short_and_one_line_without_markup(plan in "(?s).{0,400}", marked in MARKED) {
        for Summary { sentence, steps } in [summarise(&plan), summarise(&marked)] {
            prop_assert!(steps.len() <= MAX_STEPS + 1);
            prop_assert!(steps.iter().all(|step| !step.is_empty()));
            for line in steps.into_iter().chain([sentence]) {
                let seen = inline::plain(&line);
                prop_assert!(seen.chars().count() <= MAX_SENTENCE_CHARS, "{}", line);
                prop_assert!(!line.contains(['\n', '\r']) && inline::pieces(&line).is_empty(), "{}", line);
                prop_assert_eq!(inline::shown(&seen), line);
            }
        }
    }
}
