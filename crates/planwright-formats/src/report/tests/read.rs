//! What is read from reports and plans.

use super::*;

#[test]
fn titles() {
    for (text, want) in [
        ("# A *b* `c`\n", "A b c"),
        ("A\n=\n", "A"),
        ("```\n# no\n```\n# yes\n", "yes"),
        ("<!--\n# no\n-->\n\n# yes", "yes"),
        ("#\n\n# second", "second"),
        ("## only two\n", "Unknown Report"),
        ("---\ntitle: From fields\n---\ntext", "From fields"),
        ("---\ntitle: From fields\n---\n# Heading\n", "Heading"),
        ("---\ntitle: [\n---\n# Kept\n", "Kept"),
        ("\u{feff}# With a mark\n", "With a mark"),
        ("> # quoted\n", "Unknown Report"),
    ] {
        assert_eq!(metadata(text).title, want, "{text:?}");
    }
    let long = metadata(&format!("# {}\n", "é".repeat(300))).title;
    assert_eq!(long.chars().count(), 150);
}

#[test]
fn summaries() {
    for (text, want) in [
        ("## EXECUTIVE SUMMARY:\n\nshort\n", "short"),
        ("#### 1.2 Executive  Summary\nshort\n", "short"),
        ("1) x\n\n## 3) Executive Summary\nshort\n", "short"),
        ("first\n\n# Executive Summary\nlevel 1\n", "first level 1"),
        (
            "opening\n\n## Executive Summary\n\n```\ncode\n```\n<!-- c -->\n",
            "opening",
        ),
        (
            "opening\n\n## Executive Summary\n\n- one\n  - two\n- three\n\n## Next\nno\n",
            "one two three",
        ),
        (
            "## Executive Summary\n\n### Part\n\nin a part\n\n## Next\nno",
            "in a part",
        ),
        (
            "## Executive Summary\n\na <!-- no --> **b** [c](d) `e`\n",
            "a b c `e`",
        ),
        (
            "## Executive Summary\nfirst\n\n## Findings\n\n### Executive Summary\nsecond\n",
            "first",
        ),
        (
            "```md\n## Executive Summary\nan example\n```\n\n## Executive Summary\nthe real one\n",
            "the real one",
        ),
        (
            "# T\n\n## Metadata\n\n**Date**: 2026-01-02\n\n## Findings\n\nfound\n",
            "found",
        ),
        ("# T\n\n- only\n- a list\n", ""),
    ] {
        assert_eq!(metadata(text).summary, want, "{text:?}");
    }
    let long = metadata(&format!("## Executive Summary\n\n{}\n", "é".repeat(900))).summary;
    assert_eq!(long.chars().count(), 400);
    assert!(long.ends_with('…'));
}

#[test]
fn recommendations() {
    for (text, want, total) in [
        ("## Recommendations\n+ a\n+ b\n", &["a", "b"][..], 2),
        ("## Recommendations\n1) a\n2) b\n", &["a", "b"], 2),
        ("### 4. recommendations:\n* a\n", &["a"], 1),
        (
            "## Recommendations\n\n- **Do** `x`\n  - not this\n\n  nor this\n- [ ] box\n",
            &["Do `x`", "box"],
            2,
        ),
        (
            "## Recommendations\n\n### Now\n- a\n\n### Later\n- b\n\n## Other\n- c\n",
            &["a", "b"],
            2,
        ),
        (
            "## A\n### Recommendations\n- a\n## B\n### Recommendations\n- b\n",
            &["a", "b"],
            2,
        ),
        ("## Recommendations\n```\n- no\n```\n", &[], 0),
        ("## Recommendations of others\n- no\n", &[], 0),
        ("##### Recommendations\n- too deep\n", &[], 0),
        (
            "## Recommendations\n1. a\n1. b\n1. c\n1. d\n1. e\n1. f\n1. g\n",
            &["a", "b", "c", "d", "e"],
            7,
        ),
    ] {
        let read = metadata(text);
        assert_eq!(read.recommendations, want, "{text:?}");
        assert_eq!(read.recommendations_total, total, "{text:?}");
    }
}

#[test]
fn file_paths() {
    for (text, want) in [
        ("`src/a.rs:1-66` and `src/a.rs`", &["src/a.rs"][..]),
        (
            "`a/b.tsx:3:7` `c/d.py::test_x` `e/f.go#L1-L5` `/etc/app/g.conf`",
            &["a/b.tsx", "c/d.py", "e/f.go", "/etc/app/g.conf"],
        ),
        ("`Cargo.toml` `config.load` `Vec::new`", &["Cargo.toml"]),
        ("`git add src/a.rs -- b.rs`", &["src/a.rs"]),
        (
            "In src/a.rs, (lib/b.py), “c/d.md” and e/f.yml's end.",
            &["src/a.rs", "lib/b.py", "c/d.md", "e/f.yml"],
        ),
        ("Cargo.toml in prose, and/or e.g./i.e. 1.5/2.0", &[]),
        (
            "src/a_b.rs and __x__/c.rs, but **d/e.rs**.",
            &["src/a_b.rs", "d/e.rs"],
        ),
        (
            "- x `a/b.rs`\n  - y `c/d.rs`\n\n| z |\n|---|\n| `e/f.rs` |\n\n> g/h.rs\n",
            &["a/b.rs", "c/d.rs", "e/f.rs", "g/h.rs"],
        ),
        (
            "https://x.test/a/b.html <https://x.test/c.html> `http://x.test/d.rs` docs.rs/e/f.html github.com/g/h.git \
             Node.js/Express.js",
            &[],
        ),
        (
            "[the client](../src/client.rs) [site](https://x.test/a.html)",
            &["../src/client.rs"],
        ),
        ("```\nsrc/a.rs\n```\n\n    src/b.rs\n", &[]),
        ("<!-- src/a.rs -->\n", &[]),
        (
            "`./x/y.go:12` `.github/workflows/ci.yml` `app/.env`",
            &["./x/y.go", ".github/workflows/ci.yml", "app/.env"],
        ),
        ("`src/**/*.rs` `<dir>/a.rs` `${X}/b.md`", &[]),
        ("## In `src/a.rs`\n", &["src/a.rs"]),
        ("src/data/0001.sql", &["src/data/0001.sql"]),
    ] {
        assert_eq!(metadata(text).file_paths, want, "{text:?}");
    }
    let many: Vec<String> = (0..23).map(|n| format!("`src/f{n}.rs`")).collect();
    let read = metadata(&many.join(" "));
    assert_eq!((read.file_paths.len(), read.file_paths_total), (10, 23));
    assert_eq!(read.file_paths[9], "src/f9.rs");
}

#[test]
fn counts() {
    let read = metadata(
        "# T\n\none two\n\n## Findings\n\n### A\nthree\n\n### B\n\n#### deeper\n\n## Recommendations\n- x\n",
    );
    assert_eq!((read.sections, read.findings, read.words), (2, 2, 10));
    let read = metadata("## Key findings\n\n- a\n- b\n\n1. c\n\n```\nnot these words\n```\n");
    assert_eq!((read.sections, read.findings, read.words), (1, 3, 5));
}

#[test]
fn phases_in_every_form() {
    for (level, text, number, title, done) in [
        (2, "Phase 1: Setup", "1", "Setup", None),
        (3, "Phase 2 — Reader", "2", "Reader", None),
        (3, "Phase 2 -- Reader", "2", "Reader", None),
        (2, "PHASE 3 - Writer", "3", "Writer", None),
        (2, "Phase 4. Tests", "4", "Tests", None),
        (2, "Phase 5", "5", "", None),
        (2, "Phase 6 (optional)", "6", "(optional)", None),
        (
            4,
            "- [x] Phase 1.2: Store [writer]",
            "1.2",
            "Store [writer]",
            Some(true),
        ),
        (4, "* [ ] Phase 1.3: T", "1.3", "T", Some(false)),
        (4, "[X] Phase 1.4: T", "1.4", "T", Some(true)),
        (3, "Phase 1: T [NOT STARTED]", "1", "T", Some(false)),
        (3, "Phase 1: T [Blocked]", "1", "T", Some(false)),
        (3, "Phase 1 [COMPLETE]", "1", "", Some(true)),
    ] {
        let found = phase_heading(level, text).unwrap_or_else(|| panic!("{text}"));
        let want = PlanHeading {
            kind: PlanHeadingKind::Phase,
            number: number.to_owned(),
            title: title.to_owned(),
            done,
        };
        assert_eq!(found, want, "{text}");
    }
    for (text, named) in [
        ("Milestone 3 — Ship", PlanHeadingKind::Milestone),
        ("Step 2: Wire it", PlanHeadingKind::Step),
    ] {
        assert_eq!(phase_heading(3, text).unwrap().kind, named);
    }
    for (level, text) in [
        (1, "Phase 1: T"),
        (3, "2026-07-10 — Phase 1.1: T"),
        (3, "Success Criteria — Phase 2"),
        (2, "Phases"),
        (2, "Phase: T"),
        (2, "Phase one: T"),
        (2, "Phase1: T"),
        (2, "Phase 2 results"),
        (2, "Phase 2nd: T"),
        (2, "- Phase"),
        (2, "é"),
        (2, ""),
    ] {
        assert_eq!(phase_heading(level, text), None, "{text}");
    }
}

#[test]
fn phases_are_done_by_their_word_or_their_boxes() {
    let plan = "\
# Plan: P

### Milestone 1: M

#### - [x] Phase 1.1: said
- [ ] open

#### Phase 1.2: ticked
- [x] a
* [X] b
  1. [x] c

### Milestone 2: N

#### Phase 2.1: half
- [x] a
- [ ] b

#### Phase 2.2: without boxes

```
#### Phase 9: no
- [ ] no
```

## Changelog

### 2026-01-02 — Phase 1.1: said
";
    let read = plan_metadata(plan);
    let all = |total, done| Progress { total, done };
    assert_eq!(read.phases, all(4, 2));
    assert_eq!(read.milestones, all(2, 0));
    assert_eq!(read.checkboxes, all(6, 4));
    assert_eq!(read.title, "P");
}

#[test]
fn a_plan_without_boxes_or_phases_has_none() {
    let read = plan_metadata("# P\n\ntext\n");
    assert_eq!(read.checkboxes, Progress::default());
    assert_eq!(read.phases, Progress::default());
    assert_eq!(
        (read.date.as_str(), read.complexity.as_str()),
        ("Unknown", "Unknown")
    );
    let empty = plan_metadata("");
    assert_eq!((empty.title.as_str(), empty.size), ("Unknown Plan", 0));
}

#[test]
fn headings_with_pictures_are_read_as_without_them() {
    let read = plan_metadata(
        "# 📋 Plan: T\n\n## 🚀 Phase 1: A\n\n- [ ] a\n\n## ✅ Phase 2 — B\n\n## 3️⃣ Later\n\n## 🚧 Phase 3\n\n- [x] c\n",
    );
    assert_eq!((read.phases.total, read.phases.done), (3, 2));
    for heading in [
        "Findings",
        "📋 Findings",
        "🔍 Findings:",
        "1️⃣ Findings",
        "2. 📋 Findings",
        "Findings 🎉",
        "✨ **Findings**",
    ] {
        let report = format!(
            "# Research\n\n## {heading}\n\n{}\n",
            "The index is kept in `src/a.rs`. ".repeat(20)
        );
        let complaints = crate::report::check_report(&report);
        assert!(
            !complaints
                .iter()
                .any(|one| one.to_string().contains("Findings")),
            "{heading}: {complaints:?}"
        );
    }
}

#[test]
fn dates_and_complexity_are_those_of_the_plan() {
    for (text, date, complexity) in [
        ("**Complexity**: High\n", "Unknown", "High"),
        ("- **Complexity:** Low, mostly\n", "Unknown", "Low"),
        (
            "**Risk**: Low\n**Complexity**: High\n**Date**: 2026-01-02 (draft)\n",
            "2026-01-02",
            "High",
        ),
        ("**Risk**: Medium (touches auth)\n", "Unknown", "Medium"),
        ("**Risk**: very high\n", "Unknown", "very high"),
        (
            "**Complexity**: Very-High, see below\n",
            "Unknown",
            "Very-High",
        ),
        ("**Risk**: 🔴 High\n", "Unknown", "High"),
        ("**Risk**: very much so\n", "Unknown", "Unknown"),
        ("**Risk**: The migration may lock\n", "Unknown", "Unknown"),
        ("Complexity: High\n", "Unknown", "Unknown"),
        (
            "## Phase 1: T\n**Complexity**: High\n**Date**: 2026-01-02\n",
            "Unknown",
            "Unknown",
        ),
        ("```\n**Complexity**: High\n```\n", "Unknown", "Unknown"),
        (
            "---\ndate: '2026-01-02'\n---\n**Complexity** High\n",
            "2026-01-02",
            "Unknown",
        ),
        (
            "---\ncreated_date: 2026-01-03\n---\n",
            "2026-01-03",
            "Unknown",
        ),
    ] {
        let read = plan_metadata(text);
        assert_eq!(
            (read.date.as_str(), read.complexity.as_str()),
            (date, complexity),
            "{text:?}"
        );
    }
}

#[test]
fn a_rule_at_the_start_of_a_document_loses_nothing() {
    let text = "---\n\n# T\n\nwords\n";
    assert_eq!(metadata(text).title, "T");
    assert_eq!(plan_metadata(text).title, "T");
    assert_eq!(metadata(text).summary, "words");
}
