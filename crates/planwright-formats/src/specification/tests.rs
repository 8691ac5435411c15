//! What counts as written in a specification, what does not, and that nothing written is lost.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;

/// What the program before this one wrote, with one requirement filled in.
const SEED: &str = "\
# Feature: Export

## Overview
Add description for Export here.

## Requirements
- [ ] Add first requirement
- [ ] One file for each report
- [ ] add SECOND requirement.

## Constraints
- Add first constraint

## Acceptance Criteria
- [ ] Add first acceptance criterion

## Technical Approach
Add technical approach details

## Success Metrics
- Add success metrics

## Non-Goals
- Add non-goals
";

#[test]
fn the_template_counts_as_nothing_until_something_is_written() {
    let template = template("CSV export");
    let empty = parse("CSV export", &template);
    assert!(empty.is_empty());
    assert_eq!(empty.text(), "");
    assert_eq!(
        empty.empty_sections(),
        [
            "Feature: CSV export",
            "Overview",
            "Requirements",
            "Constraints",
            "Acceptance Criteria",
            "Technical Approach",
            "Success Metrics",
            "Non-Goals"
        ]
    );
    assert_eq!(empty.placeholders.len(), 11, "{:?}", empty.placeholders);
    assert!((complexity(&empty) - 0.0).abs() < f64::EPSILON);
    let filled = template.replace("Add first constraint", "No new dependencies");
    assert_eq!(
        parse("CSV export", &filled).text(),
        "# Feature: CSV export\n\n## Constraints\n\n- No new dependencies"
    );
}

#[test]
fn what_people_filled_in_is_left_and_placeholders_go() {
    let read = parse("Export", SEED);
    assert!(!read.is_empty());
    assert_eq!(
        read.text(),
        "# Feature: Export\n\n## Requirements\n- [ ] One file for each report"
    );
    assert_eq!(
        read.placeholders[1..3],
        ["Add first requirement", "add SECOND requirement."]
    );
    assert_eq!(
        read.empty_sections(),
        [
            "Overview",
            "Constraints",
            "Acceptance Criteria",
            "Technical Approach",
            "Success Metrics",
            "Non-Goals"
        ]
    );
    let requirements = &read.sections[3];
    assert_eq!((requirements.level, requirements.items), (2, 1));
    assert_eq!(requirements.title, "Requirements");
    assert!(
        requirements
            .text
            .starts_with("- [ ] Add first requirement\n")
    );
}

#[test]
fn an_empty_body_is_empty_whatever_the_title_says() {
    for body in [
        "",
        " \n\t\r\n",
        "---",
        "<!-- Please describe\n\nthe feature -->",
        "### What happened?\n\n_No response_\n\n### Version\n\n*no response*\n",
        "## Overview\n\n## Requirements\n",
        "- [ ] \n- [ ]\n- \n",
        "&nbsp;",
        "* Add first requirement\n  * add second requirement\n",
        "**Add first requirement**",
        "[ ] Add first requirement\n[ ] Add second requirement",
        "\u{feff}<!-- x --> <!-- y -->",
    ] {
        assert!(parse("Export reports as CSV", body).is_empty(), "{body:?}");
    }
}

#[test]
fn real_words_are_never_taken_for_placeholders() {
    for body in [
        "Export reports as CSV.",
        "Add success metrics",
        "## Requirements\n- Add success metrics\n- Add non-goals\n- Add description for users here",
        "## Requirements\n- Add first requirement to the page",
        "No response",
        "_No response_",
        "## Result\n\nNo response",
        "## Log\n\n```\nAdd first requirement\n```",
        "> Add first requirement",
        "Add first requirement\nand then the second",
        "- Add first requirement\n  - of the law",
        "- Add first requirement\nlazily continued",
        "![Add first requirement](mock.png)",
        "`Add first requirement`",
        "<!-- never closed\n\nwords",
        "<!-- closed --> words",
        "<details>\n\nwords\n\n</details>",
        "| Add |\n|---|\n| first |",
        "Words.\n\n---\n\nMore.",
        "Title\n=====\n\n1. one\n2. two",
        "    Add first requirement",
        "[^1]\n\n[^1]: Add first requirement",
        "- [a]: b",
        "- Add first requirement\n\n  [a]: b",
        "# Only\n## headings\n### here",
    ] {
        let read = parse("T", body);
        assert_eq!(read.text(), body, "{body:?}");
        assert_eq!(read.is_empty(), body.starts_with("# Only"), "{body:?}");
        assert_eq!(read.placeholders, [""; 0], "{body:?}");
    }
}

#[test]
fn what_is_left_out_changes_nothing_beside_it() {
    for (body, left) in [
        ("above\n<!-- c -->\n---\nbelow", "above\n\n---\nbelow"),
        (
            "above\r\n\r\n<!-- c -->\r\n\r\nbelow\r\n",
            "above\r\n\r\nbelow",
        ),
        ("- one\n- Add first requirement\n- two", "- one\n- two"),
        (
            "- one\n\n- Add first requirement\n\n- two",
            "- one\n\n- two",
        ),
        (
            "## Metrics\n\n_No response_\n\n[csv]: https://example.com/csv\n\n## Why\n\nSee [csv].",
            "[csv]: https://example.com/csv\n\n## Why\n\nSee [csv].",
        ),
        ("\n\n    code\n", "    code"),
        (
            "# T\n\n## A\n\n### B\n\n_No response_\n\n## C\n\nc",
            "# T\n\n## A\n\n## C\n\nc",
        ),
        (
            "## Requirements\n\n### Constraints:\n\n- Add first constraint\n\n## Why\n\nx",
            "## Why\n\nx",
        ),
        (
            "## Support the dark mode\n\n- Add first requirement",
            "## Support the dark mode",
        ),
        (
            "# T\n\n## A\n\n### B\n\n_No response_\n\n### Bare\n\n## C\n\nc",
            "# T\n\n## A\n\n### Bare\n\n## C\n\nc",
        ),
        ("# T\n\nAdd description for t here.\n\ntext", "# T\n\ntext"),
    ] {
        assert_eq!(parse("T", body).text(), left, "{body:?}");
    }
}

#[test]
fn sections_hold_their_own_text_in_order() {
    let read = parse("T", "intro\n\n## A\n\na\n\n### B\n- one\n- two\n\n## C");
    let found: Vec<_> = read
        .sections
        .iter()
        .map(|it| {
            (
                it.level,
                it.title.as_str(),
                it.text.as_str(),
                it.items,
                it.empty,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (0, "", "intro", 0, false),
            (2, "A", "a", 0, false),
            (3, "B", "- one\n- two", 2, false),
            (2, "C", "", 0, true),
        ]
    );
}

#[test]
fn complexity_is_a_point_for_each_item_and_each_600_characters() {
    let close = |body: &str, want: f64| {
        let found = complexity(&parse("T", body));
        assert!((found - want).abs() < 0.005, "{found} {want} {body:.60}");
    };
    close("", 0.0);
    close(&"x".repeat(3_000), 0.2);
    close(&"- x\n".repeat(5), 0.2);
    close(&format!("## Non-Goals\n\n{}", "- x\n".repeat(5)), 0.0);
    close(&format!("## Out of scope:\n\n{}", "- x\n".repeat(5)), 0.0);
    close(&"- x\n".repeat(100), 1.0);
    close(&"word ".repeat(12_000), 1.0);
}

#[test]
fn long_bodies_take_no_longer_than_they_are() {
    for part in [
        "- [ ] Add first requirement\n",
        "## A\n\n_No response_\n\n",
        "<!-- c -->\n",
        "> - ",
        "*a ",
        "# a\n",
    ] {
        let body = part.repeat(60_000 / part.len());
        let started = std::time::Instant::now();
        let _ = parse("T", &body);
        assert!(started.elapsed().as_secs() < 5, "{part:?}");
    }
}

#[test]
fn titles_come_from_names() {
    for (name, title) in [
        ("csv-export_v2", "Csv Export V2"),
        ("a", "A"),
        ("--", ""),
        ("x__y", "X Y"),
    ] {
        assert_eq!(title_from_name(name), title);
    }
}

/// Pieces of real and of odd texts, none of them a placeholder or hidden.
fn bodies() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "word",
        "Add requirement",
        "# ",
        "## Overview",
        "- ",
        "  - ",
        "1. ",
        "- [x] ",
        "> ",
        "```",
        "~~~",
        "\n",
        "\n\n",
        "\r\n",
        "    ",
        "\t",
        "---",
        "===",
        "| a |",
        "|---|",
        "*",
        "_No",
        "<b>",
        "[a]: b",
        "`",
        "é",
        "&amp;",
        "\\",
    ]);
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

#[test]
fn our_own_folders_come_before_those_of_old() {
    let shown = |arg: &str, kind: DocumentKind| -> Vec<String> {
        let found = candidates(arg, kind, Path::new(kind.folder()));
        found
            .iter()
            .map(|path| path.display().to_string())
            .collect()
    };
    assert_eq!(
        shown("x", DocumentKind::Specification),
        [
            "x",
            ".planwright/specs/x",
            ".planwright/specs/x.md",
            ".spektacular/specs/x",
            ".spektacular/specs/x.md"
        ]
    );
    assert_eq!(
        shown("x.md", DocumentKind::Specification),
        ["x.md", ".planwright/specs/x.md", ".spektacular/specs/x.md"]
    );
    assert_eq!(
        shown("x", DocumentKind::Plan),
        ["x", ".planwright/plans/x", ".spektacular/plans/x"]
    );
    for arg in ["../x", "/etc/x", "a/../../x", ""] {
        assert_eq!(shown(arg, DocumentKind::Specification), [arg]);
    }
}

#[test]
fn what_is_not_found_says_where_it_was_looked_for() {
    let none = |_: &Path| false;
    let folder = Path::new("docs");
    assert_eq!(
        resolve("x.md", DocumentKind::Specification, folder, &none)
            .unwrap_err()
            .to_string(),
        "specification not found: tried x.md, docs/x.md, .spektacular/specs/x.md; give the path of a file, or create one with `planwright new NAME`"
    );
    assert_eq!(
        resolve("x", DocumentKind::Plan, folder, &none)
            .unwrap_err()
            .to_string(),
        "plan.md not found: tried x, docs/x, .spektacular/plans/x; give the folder that contains it"
    );
    let there = |path: &Path| path == Path::new("docs/x/plan.md");
    assert_eq!(
        resolve("x", DocumentKind::Plan, folder, &there),
        Ok(PathBuf::from("docs/x"))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_text_without_placeholders_keeps_every_word(body in bodies()) {
        let read = parse("T", &body);
        let words = |text: &str| -> Vec<String> {
            // Marks of items without words go with the items.
            let marks = ["-", "*", "1.", "[x]", "\\", "#"];
            text.split_whitespace().filter(|word| !marks.contains(word)).map(str::to_owned).collect()
        };
        prop_assert_eq!(words(read.text()), words(&body));
        prop_assert_eq!(read.placeholders.len(), 0);
    }

    #[test]
    fn the_template_of_any_title_counts_as_nothing(title in "[ -~é]{0,20}") {
        let title = format!("A{title}");
        let template = template(&title);
        prop_assert!(parse(&title, &template).is_empty());
        let other = parse("other", &template);
        prop_assert_eq!(other.text(), "");
    }

    #[test]
    fn placeholders_go_and_what_is_around_them_stays(before in bodies(), after in bodies()) {
        let body = format!("{before}\n\n\u{2063}\n\n## Constraints\n\n- Add first constraint\n\n## Why\n\n{after}");
        let read = parse("T", &body);
        for word in before.split_whitespace().chain(after.split_whitespace()).filter(|word| word.chars().all(char::is_alphanumeric)) {
            prop_assert!(read.text().contains(word), "{}", word);
        }
    }

    #[test]
    fn no_word_beside_a_placeholder_is_lost(parts in prop::collection::vec(prop::sample::select(vec![
        "word", "word", "Add first requirement", " ", "\nAdd description for T here.\n", "\n# ", "\n## Overview\n",
        "\n## Non-Goals\n", "Add non-goals", "\n- ", "\n  - ", "\n1. ", "\n- [x] ", "[ ] ", "\n> ", "\n```\n", "\n",
        "\r\n", "    ", "\t", "\n---\n", "\n===\n", "*", "<b>", "\n<div>", "[a]: b", "\n[^1]: ", "`",
    ]), 0..25)) {
        let body = parts.concat();
        let found = parse("T", &body);
        prop_assert_eq!(found.text().matches("word").count(), body.matches("word").count());
        let again = parse("T", found.text());
        prop_assert_eq!(again.is_empty(), found.is_empty());
    }

    #[test]
    fn every_line_that_is_left_is_a_line_of_the_source(body in "(?s)(- Add first requirement\n|<!-- c -->\n|.{0,20}){0,8}") {
        let read = parse("T", &body);
        for line in read.text().lines() {
            prop_assert!(body.contains(line), "{:?}", line);
        }
    }
}
