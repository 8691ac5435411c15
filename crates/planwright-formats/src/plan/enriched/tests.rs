//! Tests of `enriched`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;

mod saved;

const CANDIDATE: &str = "# Plan: Cache the index\n\nThe index is read from the network at every search.\n\n## Implementation Steps\n\n1. Write `src/cache.rs`\n2. Read it in `src/search.rs`\n3. Test both\n\n```rust\nfn read() {}\n```\n";

const STEPS: &str = "The index is read from the network at every search.\n\n## Implementation Steps\n\n1. Write `src/cache.rs` with SQLite\n2. Read it in `src/search.rs`\n3. Test both\n\n```rust\nfn read() {}\n```";

const CONTEXT: &str = "## Context & Understanding\n\n### API/Tool Quirks\n\nThe server closes connections after 5 s.\n\n### Known Pitfalls\n\n- DO NOT cache errors\n";

fn details(extra: &str) -> String {
    format!(
        "## Enrichment Details\n\n### Process Summary\n\n- **Mode**: enriched\n- **Guidance applied**: no\n- **Questions asked**: 0\n\
         - **Context categories extracted**: 2 of 8\n{extra}\n### Context Categories Populated\n\n- ✅ API/Tool Quirks\n- ✅ Known Pitfalls\n"
    )
}

fn answer(plan: &str, context: &str) -> String {
    format!(
        "# Plan: Cache the index\n\n{}\n---\n\n{plan}\n\n{context}",
        details("")
    )
}

fn facts() -> EnrichmentFacts<'static> {
    EnrichmentFacts {
        candidate: Some(CANDIDATE),
        ..EnrichmentFacts::default()
    }
}

fn guided() -> EnrichmentFacts<'static> {
    EnrichmentFacts {
        guidance: Some("Use SQLite"),
        ..facts()
    }
}

fn plan(text: &str, facts: &EnrichmentFacts<'_>) -> EnrichedPlan {
    match check_answer(text, facts) {
        CheckedAnswer::Plan(plan) => plan,
        other => panic!("{other:?}\n{text}"),
    }
}

fn wrong(text: &str, facts: &EnrichmentFacts<'_>) -> Vec<AnswerProblem> {
    match check_answer(text, facts) {
        CheckedAnswer::Rejected(complaints) => complaints,
        other => panic!("{other:?}\n{text}"),
    }
}

#[test]
fn a_good_answer_passes() {
    let found = plan(&answer(STEPS, CONTEXT), &facts());
    assert_eq!(found.title, "Cache the index");
    assert_eq!(found.body, format!("{STEPS}\n\n{CONTEXT}"));
    assert_eq!(
        found.categories,
        [true, false, false, false, true, false, false, false]
    );
    assert_eq!(found.corrections, [""; 0]);
    assert!(!found.guidance_applied);
    let yes = answer(STEPS, CONTEXT).replace("applied**: no", "applied**: yes");
    assert!(plan(&yes, &guided()).guidance_applied);
}

#[test]
fn chat_around_an_answer_is_taken_off() {
    let good = answer(STEPS, CONTEXT);
    let want = plan(&good, &facts());
    for text in [
        format!("Great choice. Here is the plan.\n\n{good}"),
        format!("```markdown\n{good}\n```"),
        format!("Here it is:\n\n````md\n{good}\n````\n\nDone."),
        format!("```\n{good}\n```"),
        format!("{good}\nWould you like me to proceed?"),
        format!("{good}\n---\n\nLet me know if you want changes."),
    ] {
        let found = plan(&text, &facts());
        assert_eq!(found.body.trim_end(), want.body.trim_end(), "{text}");
        assert_eq!(found.title, want.title);
    }
    // These are part of the plan.
    for own in [
        "## Open Questions\n\nWould you like me to proceed?",
        "Do we want a cache for errors?",
        "- Shall I proceed?",
    ] {
        let text = format!("{good}\n{own}\n");
        assert!(plan(&text, &facts()).body.contains(own), "{own}");
    }
}

#[test]
fn errors_count_as_the_first_heading_only() {
    for text in [
        "## Error: no_plan_found\n\nNothing here.",
        "I looked.\n\n## Error: no_plan_found\n\nNothing here.",
        "```markdown\n## Error: no_plan_found\n\nNothing here.\n```",
    ] {
        match check_answer(text, &facts()) {
            CheckedAnswer::Error(error) => assert_eq!(error.code, "no_plan_found"),
            other => panic!("{other:?}"),
        }
    }
    let inside = answer(
        &format!("{STEPS}\n\n## Error: no_plan_found\n\nis shown"),
        CONTEXT,
    );
    assert!(
        plan(&inside, &facts())
            .body
            .contains("## Error: no_plan_found")
    );
    let code = format!(
        "```sh\n## Error: no_plan_found\n```\n\n{}",
        answer(STEPS, CONTEXT)
    );
    plan(&code, &facts());
}

#[test]
fn every_complaint_is_made_for_its_reason() {
    let good = answer(STEPS, CONTEXT);
    let long = format!(
        "# Plan: Long\n\n{}\n\n1. a\n2. b",
        "Much is said here. ".repeat(100)
    );
    let cases: Vec<(&str, String, EnrichmentFacts<'_>, Vec<AnswerProblem>)> = vec![
        (
            "no title",
            good.replace("# Plan: Cache the index\n\n", ""),
            facts(),
            vec![AnswerProblem::NoTitle],
        ),
        (
            "other title",
            good.replace("# Plan: Cache", "# Cache"),
            facts(),
            vec![AnswerProblem::NoTitle],
        ),
        (
            "empty title",
            good.replace("# Plan: Cache the index", "# Plan:"),
            facts(),
            vec![AnswerProblem::NoTitle],
        ),
        (
            "details missing",
            format!("# Plan: Cache the index\n\n{STEPS}\n\n{CONTEXT}"),
            facts(),
            vec![AnswerProblem::NoDetails],
        ),
        (
            "nothing behind",
            format!("# Plan: Cache the index\n\n{}\n---\n", details("")),
            facts(),
            vec![AnswerProblem::NoBody],
        ),
        (
            "no steps",
            answer(
                &format!(
                    "It is read.\n\n{}\n\n```rust\nfn read() {{}}\n```",
                    "Words. ".repeat(20)
                ),
                CONTEXT,
            ),
            facts(),
            vec![AnswerProblem::NoSteps],
        ),
        (
            "no context",
            answer(STEPS, ""),
            facts(),
            vec![AnswerProblem::NoContext],
        ),
        (
            "empty context",
            answer(
                STEPS,
                "## Context & Understanding\n\n### Known Pitfalls\n\nNone found.\n",
            ),
            facts(),
            vec![AnswerProblem::EmptyContext],
        ),
        (
            "placeholder",
            answer(&format!("{STEPS}\n\n- <short title>"), CONTEXT),
            facts(),
            vec![AnswerProblem::Placeholder("<short title>".into())],
        ),
        (
            "todo",
            answer(&format!("{STEPS}\n\n4. TODO"), CONTEXT),
            facts(),
            vec![AnswerProblem::Placeholder("todo".into())],
        ),
        (
            "question",
            answer(&format!("{STEPS}\n\n<!--QUESTION:{{}}-->"), CONTEXT),
            facts(),
            vec![AnswerProblem::QuestionLeft],
        ),
        (
            "second details",
            answer(
                &format!("{STEPS}\n\n## Enrichment Details\n\n- **Questions asked**: 9"),
                CONTEXT,
            ),
            facts(),
            vec![AnswerProblem::SecondDetails],
        ),
        (
            "unchanged",
            answer(CANDIDATE, CONTEXT).replace("applied**: no", "applied**: yes"),
            guided(),
            vec![AnswerProblem::GuidanceWithoutEffect],
        ),
        (
            "says no",
            good.clone(),
            guided(),
            vec![AnswerProblem::GuidanceNotApplied],
        ),
        (
            "code lost",
            answer(&STEPS.replace("fn read", "fn other"), CONTEXT),
            facts(),
            vec![AnswerProblem::CodeLost("fn read() {}".into())],
        ),
        (
            "lost",
            good.clone(),
            EnrichmentFacts {
                candidate: Some(&long),
                ..EnrichmentFacts::default()
            },
            vec![AnswerProblem::Shrunk { percent: 9 }],
        ),
    ];
    for (name, text, facts, want) in &cases {
        assert_eq!(&wrong(text, facts), want, "{name}:\n{text}");
    }
    let all = wrong(
        "I have written the plan to plan.md.",
        &EnrichmentFacts::default(),
    );
    assert_eq!(all.len(), 5, "{all:?}");
    assert!(matches!(
        wrong(
            &good.replace("# Plan: Cache the index", "# Plan: Plan"),
            &facts()
        )[..],
        [AnswerProblem::Title(_)]
    ));
}

#[test]
fn complaints_say_what_to_write() {
    use crate::plan::gate::ContentError;
    use crate::plan::gate::{Length, TitleError};
    let all = [
        AnswerProblem::NoTitle,
        AnswerProblem::Title(TitleError::TooShort(Length::of("Plan"))),
        AnswerProblem::NoDetails,
        AnswerProblem::SecondDetails,
        AnswerProblem::NoBody,
        AnswerProblem::Content(ContentError::NoStructure),
        AnswerProblem::NoSteps,
        AnswerProblem::NoContext,
        AnswerProblem::EmptyContext,
        AnswerProblem::Placeholder("[title]".into()),
        AnswerProblem::QuestionLeft,
        AnswerProblem::GuidanceWithoutEffect,
        AnswerProblem::GuidanceNotApplied,
        AnswerProblem::Shrunk { percent: 12 },
        AnswerProblem::CodeLost("fn a() {}".into()),
    ];
    insta::assert_snapshot!(all.map(|it| it.to_string()).join("\n"));
}

#[test]
fn what_is_code_or_known_is_no_placeholder_and_no_question() {
    for plan_text in [
        format!("{STEPS}\n\n`[title]` and `<!--QUESTION:{{}}-->`"),
        format!("{STEPS}\n\n```\nTODO\n<!--QUESTION:x-->\n<short title>\n```"),
        format!("{STEPS}\n\nRemove the TODO in `a.rs`."),
        format!("{STEPS}\n\nReturn Option<Title> and see [the guide](x)."),
    ] {
        plan(&answer(&plan_text, CONTEXT), &facts());
    }
    let known = format!("{CANDIDATE}\n\nTBD\n");
    let text = answer(&format!("{STEPS}\n\nTBD"), CONTEXT);
    plan(
        &text,
        &EnrichmentFacts {
            candidate: Some(&known),
            ..EnrichmentFacts::default()
        },
    );
}

#[test]
fn steps_of_real_plans_are_found() {
    let words = "Words about it. ".repeat(10);
    for steps in [
        "## Implementation Steps\n\n- a\n- b",
        "## Phase 1: a\n\nb",
        "### Phase 2 — a\n\nb",
        "#### - [x] Phase 1.1: a\n\nb",
        "#### - [ ] Phase 1.1: a\n\nb",
        "### Milestone 1: a\n\nb",
        "## Step 3\n\nb",
        "## 1. a\n\nb\n\n## 2. c\n\nd",
        "1. a\n2. b",
        "1) a\n2) b",
        "- [ ] a\n- [x] b",
        "## Tasks\n\n- a",
        "## Milestones & Phases\n\n### a\n\nb",
        "## 🛠 Implementation Plan\n\n| a | b |\n|---|---|\n| c | d |",
        "## Proposed Changes\n\n* a",
        "**Steps**\n\n1. a\n2. b",
    ] {
        let text = answer(&format!("{words}\n\n{steps}"), CONTEXT);
        plan(&text, &EnrichmentFacts::default());
    }
    for none in [
        "### 2026-01-02 — Phase 1.1: a\n\nb",
        "### Success Criteria — Phase 1\n\nb",
        "- a\n- b",
        "```\n1. a\n2. b\n```",
        "## Steps\n\nNone.",
    ] {
        let text = answer(&format!("{words}\n\n{none}"), CONTEXT);
        assert_eq!(
            wrong(&text, &EnrichmentFacts::default()),
            [AnswerProblem::NoSteps],
            "{none}"
        );
    }
}

#[test]
fn a_plan_that_quotes_marks_keeps_every_step() {
    for quoting in [
        "4. A mark begins with `<!--QUESTION:`\n5. Never forget the rollback\n6. A mark ends with `-->`",
        "4. It is `<!-- planwright:run`\n5. Never forget the rollback\n6. It ends with `-->`",
        "4. Write this:\n\n   ```html\n   <!-- FINISHED -->\n   ```",
    ] {
        let steps = STEPS.replace("3. Test both\n", &format!("3. Test both\n{quoting}\n"));
        let found = plan(&answer(&steps, CONTEXT), &facts());
        assert_eq!(found.body, format!("{steps}\n\n{CONTEXT}"));
    }
    // Without its end a mark of ours takes no step with it.
    let steps = STEPS.replace(
        "3. Test both\n",
        "3. Test both <!-- planwright:x\n5. Never forget the rollback\n6. --> the end\n",
    );
    let found = plan(&answer(&steps, CONTEXT), &facts());
    assert!(
        found
            .body
            .contains("5. Never forget the rollback\n6. --> the end"),
        "{}",
        found.body
    );
}
