//! What is said of documents that are no reports or plans.

use super::*;

/// A report with nothing to say against it; `extra` is in it.
fn report(extra: &str) -> String {
    let words = "The queue keeps one row for each delivery, and a worker leases it. ".repeat(9);
    format!("# How deliveries are leased\n\n## Findings\n\n{words}\n\n{extra}\n")
}

fn plan(extra: &str) -> String {
    let words = "The lease is taken in one statement, so two workers never hold it. ".repeat(9);
    format!("# Plan: Lease deliveries\n\n## Phase 1: Table\n\n{words}\n\n{extra}\n")
}

fn said(complaints: &[DocumentProblem]) -> Vec<String> {
    complaints.iter().map(ToString::to_string).collect()
}

#[test]
fn every_complaint_names_the_place_and_what_to_do() {
    assert_eq!(check_report(&report("")), []);
    assert_eq!(check_plan(&plan("")), []);
    for empty in ["", " \n\t\n", "<!-- only\na comment -->\n"] {
        assert_eq!(
            said(&check_report(empty)),
            ["the document is empty; write all of it into the file"],
            "{empty:?}"
        );
        assert_eq!(check_plan(empty), [DocumentProblem::Empty]);
    }
    assert_eq!(
        said(&check_report("Here is a summary.")),
        [
            "the document has 18 bytes without its comments and needs 500; say more, with places and reasons",
            "the document has no heading of level 1; begin it with a line `# Title`, outside of code",
            "the document has no findings section; write it below `## Findings`, `## Executive Summary` or `## \
             Analysis`, outside of code",
        ]
    );
    assert_eq!(
        said(&check_plan("# T\n\nWould you like me to proceed?")),
        [
            "the document has 34 bytes without its comments and needs 500; say more, with places and reasons",
            "the document has no steps; write phases (`## Phase 1: …`), a numbered list or a section `## Implementation \
             Steps`, outside of code",
        ]
    );
    let large = report(&"x".repeat(50_000));
    assert_eq!(
        said(&check_report(&large)),
        [format!(
            "the document has {} characters and may have 50000; leave out long listings and name their places",
            large.chars().count()
        )]
    );
    let lines = report("").lines().count();
    assert_eq!(
        said(&check_report(&report("<short title>"))),
        [format!(
            "line {lines}: `<short title>` is left over from a template; replace it with content, or remove it"
        )]
    );
}

#[test]
fn comments_do_not_count_as_text() {
    let text = format!(
        "# T\n\n## Findings\n\n<!-- {} -->\n\nfound\n",
        "x ".repeat(600)
    );
    let complaints = check_report(&text);
    assert!(
        matches!(
            complaints[..],
            [DocumentProblem::TooSmall {
                bytes: 25,
                min: 500
            }]
        ),
        "{complaints:?}"
    );
}

#[test]
fn headings_in_code_are_none() {
    let words = "words and more words. ".repeat(40);
    for text in [
        format!("```\n# T\n\n## Findings\n```\n\n{words}"),
        format!("<!--\n# T\n\n## Findings\n-->\n\n{words}"),
    ] {
        assert_eq!(
            check_report(&text),
            [DocumentProblem::NoTitle, DocumentProblem::NoFindings]
        );
    }
    let fenced = format!("# T\n\n```\n## Phase 1: x\n1. a\n2. b\n```\n\n{words}");
    assert_eq!(check_plan(&fenced), [DocumentProblem::NoSteps]);
}

#[test]
fn steps_of_every_form_are_steps() {
    let words = "words and more words. ".repeat(40);
    for (steps, want) in [
        ("### Milestone 1: x", true),
        ("### Step 1: x", true),
        ("1. a\n2. b", true),
        ("- [ ] a\n- [ ] b", true),
        ("## Implementation Steps\n\nFirst this.", true),
        ("## 3. Proposed changes\n\n### a\n\nb", true),
        ("- a\n- b", false),
        ("1. a", false),
        ("## Steps\n\n## Risks\n\nnone", false),
    ] {
        let text = format!("# T\n\n{words}\n\n{steps}\n");
        assert_eq!(check_plan(&text).is_empty(), want, "{steps:?}");
    }
}

#[test]
fn leftovers_of_templates_are_found() {
    for (text, want) in [
        ("<short title>", "<short title>"),
        ("Look at <file:line> first", "<file:line>"),
        (
            "- <what was found, in one sentence>",
            "<what was found, in one sentence>",
        ),
        ("| a |\n|---|\n| <the risk> |", "<the risk>"),
        ("### [Add a heading]", "[Add a heading]"),
        ("x [Your text here].", "[Your text here]"),
        ("[PROJECT_NAME] is written", "[PROJECT_NAME]"),
        ("<REPORT_PATH>", "<REPORT_PATH>"),
        ("Dear {{ user name }}", "{{ user name }}"),
        ("TODO", "TODO"),
        ("- TBD.", "TBD."),
        ("- [ ] Add first requirement", "Add first requirement"),
        (
            "Add description for Session store here.",
            "Add description for Session store here.",
        ),
        ("<details>\n<short title>\n</details>", "<short title>"),
        (
            "<details>\n<!-- c\nd -->\n<short title>\n</details>",
            "<short title>",
        ),
    ] {
        let complaints = check_report(&report(text));
        let found: Vec<&str> = complaints
            .iter()
            .map(|one| match one {
                DocumentProblem::Placeholder { text, .. } => text.as_str(),
                other => panic!("{text:?}: {other}"),
            })
            .collect();
        assert_eq!(found, [want], "{text:?}");
    }
}

#[test]
fn real_text_is_no_leftover() {
    for text in [
        "`<short title>` and `[Add x]`",
        "```\n<short title>\n[Add x]\nTODO\n```",
        "    <short title>",
        "<!-- <short title> -->",
        "> <short title>",
        "A Vec<String>, Map<String, Value>, Option<T> and <T as Trait>::Output",
        "if a < b and c > d, or x<y and z>w",
        "<details open>\n<summary>More of it</summary>\n\ntext\n</details>",
        "<br>, <kbd>Enter</kbd>, <img src=\"a.png\" alt=\"b c\">",
        "<pre>\n<short title>\n</pre>",
        "## Phase 1: T [IN PROGRESS]",
        "WHERE A_B IS NOT NULL, DO NOT SHOUT",
        "- [x] Add first requirement to the list of the API",
        "TODO: none of the handlers checks this, see above",
        "[Add CSV export](https://x.test/issues/1) and [Add it][1]\n\n[1]: https://x.test",
        "| a | b |\n|---|---|\n| TBD | x |",
        "${{ secrets.TOKEN }} and {{1}} and {a}",
        "<https://x.test/a> and <me@x.test>, http://x.test/b",
        "The state is [RFC] or [x] or [ ]",
    ] {
        assert_eq!(check_report(&report(text)), [], "{text:?}");
    }
}

#[test]
fn the_line_of_a_leftover_counts_the_front_matter_and_the_lines_of_a_paragraph() {
    let words = "words and more words. ".repeat(40);
    let text =
        format!("---\na: b\n---\n# T\n\n## Findings\n\n{words}\nsecond\n<file:line>\n\n[Add x]\n");
    let lines: Vec<usize> = check_report(&text)
        .iter()
        .map(|one| match one {
            DocumentProblem::Placeholder { line, .. } => *line,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(lines, [10, 12]);
    let many = report(&"- [Add x]\n".repeat(50));
    assert_eq!(check_report(&many).len(), 10);
}

#[test]
fn plans_and_reports_are_told_apart() {
    for (text, want) in [
        ("# T\n\n## Phase 1: a\n", true),
        ("# T\n\n## Executive Summary\n\nx\n\n### Phase 1: a\n", true),
        ("# Plan: x\n", true),
        ("# Plan\n", true),
        ("# Plan Mode - Implementation Plan\n", true),
        ("# T\n\n- [ ] a\n", true),
        ("# T\n\n## Findings\n\n- [ ] a\n", false),
        ("# A floor plan of the office\n", false),
        ("# T\n\ntext\n", false),
        ("", false),
    ] {
        assert_eq!(looks_like_plan(text), want, "{text:?}");
    }
}
