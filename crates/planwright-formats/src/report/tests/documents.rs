//! Documents that we make, their names and numbers, and the fixtures measured.

use super::*;

#[test]
fn a_report_made_of_an_agents_words() {
    let said = "I looked at the code.\n\nRetries are in `src/retry.rs`.\n\n## Recommendations\n\n- Add jitter\n";
    let document = degraded_report("Retry policy", "2026-01-02", "researcher", said);
    assert_eq!(
        document,
        "# Retry policy\n\n## Metadata\n\n- **Source**: made from the agent's text; the agent wrote no report\n- \
         **Date**: 2026-01-02\n- **Agent**: researcher\n\n## Executive Summary\n\n> I looked at the code.\n> Retries are \
         in `src/retry.rs`.\n> ## Recommendations\n> - Add jitter\n\n## Findings\n\nI looked at the code.\n\nRetries are \
         in `src/retry.rs`.\n\n## Recommendations\n\n- Add jitter\n"
    );
    assert!(is_degraded(&document));
    let read = metadata(&document);
    assert!(read.degraded);
    assert_eq!(read.title, "Retry policy");
    assert_eq!(
        read.summary,
        "I looked at the code. Retries are in `src/retry.rs`. Add jitter"
    );
    assert_eq!(read.recommendations, ["Add jitter"]);
    assert!(
        render_digest("a.md", &read)
            .contains("- **Note**: the agent wrote no report; this is made from its words\n")
    );
}

#[test]
fn only_the_first_section_marks_a_report_as_made_from_words() {
    let mark = "- **Source**: made from the agent's text; the agent wrote no report\n";
    for text in [
        format!("# T\n\n## Findings\n\n## Metadata\n\n{mark}"),
        format!("# T\n\n```\n## Metadata\n\n{mark}```\n"),
        format!("# T\n\n## Metadata\n\n- **Date**: 2026-01-02\n{mark}"),
        format!("## Metadata\n\n{mark}"),
        "# T\n\n## Metadata\n\n- **Source**: the code\n".to_owned(),
        String::new(),
    ] {
        assert!(!is_degraded(&text), "{text:?}");
    }
}

#[test]
fn an_open_fence_in_an_agents_words_swallows_no_section() {
    for said in [
        "```\nopen",
        "<!-- open",
        "<pre>\nopen",
        "a\r# b",
        "- a\n\n  ```",
    ] {
        let document = degraded_report("T", "d", "a", said);
        let titles: Vec<String> = crate::markdown::sections(&document)
            .into_iter()
            .map(|section| section.title)
            .take(4)
            .collect();
        assert_eq!(
            titles,
            ["T", "Metadata", "Executive Summary", "Findings"],
            "{said:?}"
        );
    }
}

#[test]
fn numbers_and_names() {
    for (names, want) in [
        (&[][..], "001"),
        (&["001-a.md", "003_b.md"], "004"),
        (
            &["010.md", "1-a.md", "0100-a.md", "02x-a.md", "005-a.txt"],
            "001",
        ),
        (&["é1-a.md", "00"], "001"),
        (&["999-a.md"], "1000"),
    ] {
        assert_eq!(next_number(names.iter().copied()), want, "{names:?}");
    }
    for (topic, want) in [
        ("Retry policy", "retry-policy"),
        ("  ../../etc/passwd\0", "etc-passwd"),
        ("Crème brûlée: 2nd try!", "creme-brulee-2nd-try"),
        ("計画", "report"),
        ("", "report"),
        ("---", "report"),
        ("a_b", "a-b"),
    ] {
        assert_eq!(slug(topic), want, "{topic:?}");
    }
    assert_eq!(slug(&"ab ".repeat(40)).len(), 50);
    assert_eq!(report_file("007", "Retry policy"), "007-retry-policy.md");
}

#[test]
fn half_of_the_reports_are_enough_and_none_never() {
    for (expected, ok, passes, needed) in [
        (3, 1, false, 2),
        (3, 2, true, 2),
        (2, 1, true, 1),
        (1, 0, false, 1),
        (1, 1, true, 1),
        (0, 0, false, 1),
        (4, 2, true, 2),
        (usize::MAX, usize::MAX, true, usize::MAX / 2 + 1),
    ] {
        let tally = ReportTally {
            expected,
            ok,
            degraded: 7,
            failed: 0,
        };
        assert_eq!(
            (tally.passes(), tally.needed()),
            (passes, needed),
            "{ok} of {expected}"
        );
    }
}

#[test]
fn a_reduction_is_honest_about_small_reports() {
    let of = |full: usize, kept: usize| Reduction::of(&"x".repeat(full), &"x".repeat(kept));
    for (full, kept, percent, keeps) in [
        (5000, 250, 95, false),
        (3469, 613, 83, false),
        (400, 613, -53, true),
        (100, 100, 0, true),
        (0, 10, 0, true),
        (10, 0, 100, false),
    ] {
        let reduction = of(full, kept);
        assert_eq!(
            (reduction.percent(), reduction.keeps_full()),
            (percent, keeps)
        );
    }
    assert_eq!(of(403, 7).full_tokens, 100);
    assert_eq!((estimate_tokens("é€😀x"), estimate_tokens("abc")), (1, 0));
}

#[test]
fn what_a_planner_is_handed() {
    let text = "# Retries\n\n## Executive Summary\n\nThere are none.\n\n## Findings\n\nSee `src/a.rs`.\n\n## \
                Recommendations\n\n1. a\n2. b\n3. c\n4. d\n5. e\n6. f\n";
    assert_eq!(
        render_digest("docs/001-retries.md", &metadata(text)),
        "- **Report**: `docs/001-retries.md`\n- **Title**: Retries\n- **Summary**: There are none.\n- \
         **Recommendations** (5 of 6):\n  - a\n  - b\n  - c\n  - d\n  - e\n- **Files** (1): `src/a.rs`\n- **Size**: 130 \
         bytes, 16 words\n"
    );
    assert_eq!(
        render_digest("a.md", &metadata("")),
        "- **Report**: `a.md`\n- **Title**: Unknown Report\n- **Size**: 0 bytes, 0 words\n"
    );
}

/// The reports in `fixtures/reports`, by name.
fn fixtures() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reports");
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    all.sort();
    assert_eq!(all.len(), 6);
    all
}

/// How much shorter real reports become; the numbers are printed as they are (`--nocapture`).
#[test]
fn context_that_metadata_save() {
    let (mut full, mut kept) = (String::new(), String::new());
    println!(
        "{:<36} {:>7} {:>7} {:>8} {:>8}",
        "report", "bytes", "tokens", "metadata", "percent"
    );
    let row = |name: &str, reduction: Reduction| {
        println!(
            "{name:<36} {:>7} {:>7} {:>8} {:>7}%",
            reduction.full_bytes,
            reduction.full_tokens,
            reduction.kept_bytes,
            reduction.percent()
        );
    };
    for (name, text) in fixtures() {
        let handed = render_digest(&format!("reports/{name}"), &metadata(&text));
        let reduction = Reduction::of(&text, &handed);
        row(&name, reduction);
        assert!(handed.len() <= 2_500, "{name}: {}", handed.len());
        assert!(!reduction.keeps_full(), "{name}");
        full.push_str(&text);
        kept.push_str(&handed);
    }
    let all = Reduction::of(&full, &kept);
    row("all", all);
    // Large reports gain more: by size, at the least what is measured today, rounded down to tens.
    assert!(all.percent() >= 90, "{}", all.percent());
}

#[test]
fn the_reports_of_the_fixtures_are_reports() {
    for (name, text) in fixtures() {
        assert_eq!(check_report(&text), [], "{name}");
        assert!(!looks_like_plan(&text), "{name}");
        let read = metadata(&text);
        assert!(!read.degraded, "{name}");
        assert!(
            read.summary.split(' ').count() >= 25,
            "{name}: {}",
            read.summary
        );
        assert!(read.recommendations_total >= 3, "{name}");
        assert!(read.file_paths_total >= 2, "{name}");
        assert!(read.findings >= 2, "{name}");
    }
}

#[test]
fn a_long_document_is_not_read_again_and_again() {
    // With work that grows with the square of the length this would take hours.
    for piece in [
        "# a\n",
        "## Findings\n",
        "#### - [ ] Phase 1: a\n",
        "- [x] b\n",
        "<a [Add {{ ",
        "`c/d.rs` ",
        "> ",
        "**Date**: x\n",
        "[e](f/g.rs) ",
        "<!-- ",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        assert_eq!(metadata(&text).size, text.len());
        assert_eq!(plan_metadata(&text).size, text.len());
        assert!(
            check_report(&text).len() + check_plan(&text).len() > 0,
            "{piece:?}"
        );
    }
}
