//! Tests of `formats::plan::document`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use proptest::prelude::*;

use super::*;

fn document() -> PlanDocument {
    PlanDocument {
        title: "Export reports as CSV".to_owned(),
        enrichment: Enrichment {
            mode: Mode::Enriched,
            guidance: Some(Guidance {
                text: "use the \"csv\" crate\nand keep <b>Vec<Row></b>".to_owned(),
                applied: true,
            }),
            questions: 1,
            categories: [true, false, false, false, true, false, false, false],
            clarifications: vec![(
                "Line ends".to_owned(),
                "CRLF, as Excel wants *them*".to_owned(),
            )],
            notes: vec!["The agent ran for 3 minutes.".to_owned()],
        },
        body: "## Steps\n\n1. Write it\n\n---\n\n## Error: none\n".to_owned(),
    }
}

fn plan(text: &str) -> PlanDocument {
    match parse(text) {
        ParsedDocument::Plan(plan) => plan,
        other => panic!("{other:?}"),
    }
}

#[test]
fn enrichment_details_further_down_belong_to_the_plan() {
    let quoted = PlanDocument {
        title: "Quoted".to_owned(),
        ..document()
    };
    for above in [
        "The reader stops too early.\n\n",
        "## Steps\n\n1. a\n2. b\n\n",
        "---\n\n",
    ] {
        let frame = quoted.render().split_once("\n\n").unwrap().1.to_owned();
        let text = format!("# Plan: Read the frame\n\n{above}{frame}");
        assert_eq!(plan_text(&text), text);
        assert_eq!(plan_body(&text), text);
        assert!(!is_success_document(&text), "{text}");
        assert!(matches!(parse(&text), ParsedDocument::Neither(_)));
    }
    // An agent's sentence above the details is not lost.
    let text = document()
        .render()
        .replace("\n\n## Enrichment", "\n\nIn short.\n\n## Enrichment");
    let text = text.replace("<!-- planwright:plan -->\n\n", "");
    let found = plan(&text);
    assert_eq!(found.body, format!("In short.\n\n{}", document().body));
}

#[test]
fn the_whole_document() {
    let expected = "# Plan: Export reports as CSV

## Enrichment Details

### Process Summary

- **Mode**: enriched
- **Guidance applied**: yes
- **Guidance text**: \"use the \"csv\" crate&#10;and keep \\<b\\>Vec\\<Row\\>\\</b\\>\"
- **Questions asked**: 1
- **Context categories extracted**: 2 of 8

### Clarifications Made

1. **Line ends**: CRLF, as Excel wants \\*them\\*

### Context Categories Populated

- ✅ API/Tool Quirks
- ❌ Architectural Insights (none found)
- ❌ Domain Logic & Business Rules (none found)
- ❌ Complex Reasoning (none found)
- ✅ Known Pitfalls
- ❌ Raw Discoveries Log (none found)
- ❌ Planning Artifacts (none found)
- ❌ Implementation Risks (none found)

### Notes

- The agent ran for 3 minutes.

<!-- planwright:plan -->

---

## Steps

1. Write it

---

## Error: none
";
    assert_eq!(document().render(), expected);
    assert_eq!(
        parse(&document().render()),
        ParsedDocument::Plan(document())
    );
}

#[test]
fn a_plan_that_was_not_enriched_comes_first_and_has_no_second_title() {
    for plan in ["# Add CSV export\n\n1. Do it\n", "1. Do it", "1. Do it\r\n"] {
        assert_eq!(wrap("Add CSV export", &Enrichment::raw(), plan), plan);
        assert_eq!(plan_text(plan), plan);
    }
    let told = Enrichment {
        guidance: Some(Guidance {
            text: "use *it*\n---".to_owned(),
            applied: false,
        }),
        clarifications: document().enrichment.clarifications,
        notes: vec!["No agent is configured.".to_owned()],
        ..Enrichment::raw()
    };
    let plan = "# Add CSV export\n\n1. Do it\n";
    let saved = wrap("Add CSV export", &told, plan);
    let notes = "

<!-- planwright:notes -->

---

## Notes

- No agent is configured.
- **Guidance, not applied**: \"use \\*it\\*&#10;---\"

### Clarifications Made

1. **Line ends**: CRLF, as Excel wants \\*them\\*
";
    assert_eq!(saved, format!("{plan}{notes}"));
    assert_eq!((plan_text(&saved), plan_body(&saved)), (plan, plan));
    // Edited in the browser.
    assert_eq!(
        plan_text(&saved.replace('\n', "\r\n")),
        plan.replace('\n', "\r\n")
    );
    // Saved again, the notes of the first time are part of what was found.
    let again = wrap("Add CSV export", &told, &saved);
    assert_eq!(plan_text(&again), saved);
}

#[test]
fn a_plan_that_would_take_in_its_notes_or_holds_marks_is_framed() {
    let told = Enrichment {
        notes: vec!["No agent is configured.".to_owned()],
        ..Enrichment::raw()
    };
    for plan in ["1. Do it\n\n```\nopen", "1. Do it\n\n<!-- open"] {
        let saved = wrap("Add CSV export", &told, plan);
        assert!(saved.starts_with("# Plan: Add CSV export\n"), "{saved}");
        assert_eq!(plan_text(&saved), plan);
    }
    let marked = "1. Do it\n\n<!-- planwright:notes -->\n\n---\n\n## Notes\n\n- mine";
    for told in [told, Enrichment::raw()] {
        assert_eq!(plan_text(&wrap("Add CSV export", &told, marked)), marked);
    }
}

#[test]
fn errors_count_only_as_the_first_heading() {
    let error = |code: &str, message: &str, details: Option<&str>| {
        ParsedDocument::Error(ErrorDocument {
            code: code.to_owned(),
            message: message.to_owned(),
            details: details.map(str::to_owned),
        })
    };
    for (text, expected) in [
        (
            "## Error: no_plan_found\n\nNo plan.\n",
            error("no_plan_found", "No plan.", None),
        ),
        (
            "I looked everywhere.\n\n## Error: invalid_input\n\nExpected `mode`.\n\nTwice.\n\n### Details\n\n- a\n- b\n",
            error(
                "invalid_input",
                "Expected `mode`.\n\nTwice.",
                Some("- a\n- b"),
            ),
        ),
        (
            "## Error: `no_plan_found`",
            error("no_plan_found", "", None),
        ),
    ] {
        assert_eq!(parse(text), expected, "{text}");
    }
    for text in [
        "# Plan: X of Y\n\n## Enrichment Details\n\n---\n\n## Error: no_plan_found\n\ntext",
        "```\n## Error: no_plan_found\n```\n\n# Plan: X of Y\n\n## Enrichment Details\n\n---\n\ntext",
        "> ## Error: no_plan_found\n\n# Plan: X of Y\n\n## Enrichment Details\n\n---\n\ntext",
    ] {
        assert_eq!(plan(text).title, "X of Y", "{text}");
    }
}

#[test]
fn what_is_neither_says_why() {
    for (text, why) in [
        (
            "All done!",
            "The text has no heading; it must begin with `# Plan: <title>`.",
        ),
        (
            "```\n# Plan: X\n```",
            "The text has no heading; it must begin with `# Plan: <title>`.",
        ),
        (
            "# My plan\n\ntext",
            "The first heading is \"My plan\"; it must be `# Plan: <title>`.",
        ),
        (
            "## Plan: X\n\ntext",
            "The first heading is \"Plan: X\"; it must be `# Plan: <title>`.",
        ),
        (
            "## Error: handling is bad\n\ntext",
            "The first heading is \"Error: handling is bad\"; it must be `# Plan: <title>`.",
        ),
        (
            "## Error: handling\n\n1. Catch it",
            "The first heading is \"Error: handling\"; it must be `# Plan: <title>`.",
        ),
        (
            "# Plan:\n\ntext",
            "The heading `# Plan:` has no title after it.",
        ),
        (
            "# Plan: X\n\n## Overview\n\ntext",
            "The section `## Enrichment Details` is missing below the title.",
        ),
        (
            "# Plan: X\n\n## Enrichment Details\n\n- **Mode**: raw\n\n---\n\n",
            "There is no plan after `## Enrichment Details`.",
        ),
    ] {
        assert_eq!(
            parse(text),
            ParsedDocument::Neither(why.to_owned()),
            "{text}"
        );
    }
}

#[test]
fn other_writers_are_understood() {
    let text = "Here it is:\r\n\r\n# Plan: Move *fast*\r\n\r\n## Enrichment Details\r\n### Process Summary\r\n* **Mode**: enriched\r\n\
        * **Guidance applied**: yes\r\n* **Guidance text**: \"be brief\"\r\n* **Questions asked**: 2\r\n\
        ### Clarifications Made\r\n1. **A**: one\r\n2. B: two\r\n### Context Categories Populated\r\n- ✅ Known Pitfalls\r\n\
        - ❌ Planning Artifacts (none found)\r\n\r\n---\r\n\r\n## Steps\r\n\r\n---\r\n";
    let read = plan(text);
    assert_eq!(read.title, "Move fast");
    assert_eq!(read.body, "## Steps\r\n\r\n---\r\n");
    assert_eq!(read.enrichment.questions, 2);
    assert_eq!(
        read.enrichment.guidance,
        Some(Guidance {
            text: "be brief".to_owned(),
            applied: true
        })
    );
    let clarified = [("A", "one"), ("B", "two")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(read.enrichment.clarifications, clarified);
    assert_eq!(
        read.enrichment.categories,
        [false, false, false, false, true, false, false, false]
    );
    assert!(!is_success_document(text), "there is chat before it");
}

#[test]
fn a_forgotten_rule_loses_nothing() {
    let text = "# Plan: X of Y\n\n## Enrichment Details\n\n- **Mode**: raw\n\n## Steps\n\na\n\n---\n\n## Tests\n";
    assert_eq!(plan(text).body, "## Steps\n\na\n\n---\n\n## Tests\n");
}

#[test]
fn a_link_definition_in_the_plan_leaves_the_head_alone() {
    let mut document = document();
    document.title = "Support [foo] and [^1]".to_owned();
    document.body = "## Steps\n\n[foo]: https://example.org\n\n[^1]: note\n".to_owned();
    assert_eq!(parse(&document.render()), ParsedDocument::Plan(document));
}

#[test]
fn a_plan_document_is_saved_as_it_is() {
    let source = "# Plan: X of Y\n## Enrichment Details\n- **Mode**: enriched\n\n---\n## Steps\n";
    assert!(is_success_document(source));
    assert_eq!(wrap("Other", &Enrichment::raw(), source), source);
    assert_eq!(plan_text(source), source);
    let ours = wrap("Other title", &Enrichment::raw(), "## Steps\n\n- a\n");
    assert_eq!(plan_text(&ours), "## Steps\n\n- a\n");
    assert_eq!(wrap("Again", &Enrichment::raw(), &ours), ours);
    assert_eq!(plan_text("just text"), "just text");
}

/// Text full of what Markdown reads as something else.
fn nasty() -> impl Strategy<Value = String> {
    let atoms = prop::sample::select(vec![
        "a",
        "Z",
        "é",
        "表",
        " ",
        "  ",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "*",
        "**",
        "_",
        "`",
        "``",
        "```",
        "~~~",
        "<",
        ">",
        "<b>",
        "<!--",
        "-->",
        "[",
        "]",
        "(x)",
        "[x]",
        "!",
        "&",
        "&amp;",
        "&#10;",
        "\\",
        "\"",
        "'",
        "#",
        " #",
        "---",
        "\n---\n",
        "===",
        "- ",
        "1. ",
        ": ",
        ":",
        "|",
        "~",
        "~~",
        "@a",
        "https://e.org/a_b",
        "www.e.org",
        "a@b.org",
        "[^1]",
        "[ ] ",
        "\u{a0}",
        "\u{2028}",
        "\u{85}",
        "\u{7f}",
        "🚀",
        "Plan:",
        "## Error: x\n",
        "</details>",
        "# Plan: y\n",
        "## Enrichment Details\n",
        "<!-- planwright:plan -->\n",
        "\n\n<!-- planwright:notes -->\n\n---\n\n## Notes\n",
    ]);
    prop::collection::vec(atoms, 0..14).prop_map(|parts| parts.concat())
}

fn line() -> impl Strategy<Value = String> {
    nasty()
        .prop_map(|text| one_line(&text))
        .prop_filter("empty", |text| !text.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_inverts_rendering(
        title in line(),
        guidance in prop::option::of((nasty(), any::<bool>())),
        questions in any::<u32>(),
        categories in any::<[bool; 8]>(),
        clarifications in prop::collection::vec((line(), nasty()), 0..3),
        notes in prop::collection::vec(line(), 0..3),
        body in nasty().prop_filter("blank", |text| !text.trim().is_empty()),
    ) {
        let document = PlanDocument {
            title,
            enrichment: Enrichment {
                mode: if questions % 2 == 0 { Mode::Raw } else { Mode::Enriched },
                guidance: guidance.map(|(text, applied)| Guidance { text, applied }),
                questions,
                categories,
                clarifications,
                notes,
            },
            body,
        };
        let saved = wrap(&document.title, &document.enrichment, &document.body);
        if saved != document.body {
            prop_assert_eq!(plan_text(&saved), &document.body, "{}", saved);
        }
        let text = document.render();
        prop_assert!(is_success_document(&text), "{}", text);
        prop_assert_eq!(plan_text(&text), &document.body);
        prop_assert_eq!(parse(&text), ParsedDocument::Plan(document), "{}", text);
    }

    #[test]
    fn reading_never_panics(text in "\\PC{0,80}", nasty in nasty()) {
        parse(&text);
        parse(&nasty);
        plan_text(&nasty);
    }
}
