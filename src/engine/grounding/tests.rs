//! Tests of the judgement of named files.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;

use super::*;
use crate::formats::plan::files::named_files;

mod labelled;

const FILES: &[&str] = &[
    "Cargo.toml",
    "README.md",
    "server/src/jobs/queue.rs",
    "server/src/lib.rs",
    "server/src/mail.rs",
    "web/src/App.tsx",
    "web/src/lib.rs",
];

fn all() -> Vec<String> {
    FILES.iter().map(|&path| path.to_owned()).collect()
}

/// Returns the verdict on each file that `plan` names.
fn judged(plan: &str) -> Vec<(String, Verdict)> {
    let files = all();
    let files = CommitFiles::new(&files, &["vendor/zlib", "CLAUDE.md"]);
    let grounding = judge(&named_files(plan, ""), &files, "abc");
    let files = grounding.files.into_iter();
    files.map(|file| (file.path, file.verdict)).collect()
}

fn verdict_on(plan: &str) -> Option<Verdict> {
    let mut judged = judged(plan);
    assert!(judged.len() < 2, "{judged:?}");
    judged.pop().map(|(_, verdict)| verdict)
}

fn exists(path: &str) -> Verdict {
    Verdict::Exists { path: path.into() }
}

fn not_found(nearest: &[&str]) -> Verdict {
    let nearest = nearest.iter().map(|&path| path.to_owned()).collect();
    Verdict::NotFound { nearest }
}

#[test]
fn each_path_gets_its_verdict() {
    let directory = |path: &str| Some(Verdict::Directory { path: path.into() });
    for (plan, want) in [
        (
            "Fix `server/src/lib.rs`.",
            Some(exists("server/src/lib.rs")),
        ),
        (
            "Fix `jobs/queue.rs`.",
            Some(exists("server/src/jobs/queue.rs")),
        ),
        ("Fix `queue.rs`.", Some(exists("server/src/jobs/queue.rs"))),
        (
            "Fix `obs/queue.rs`.",
            Some(not_found(&["server/src/jobs/queue.rs"])),
        ),
        ("Fix `lib.rs`.", Some(Verdict::Ambiguous { count: 2 })),
        ("Fix `server/src`.", directory("server/src")),
        ("Fix `src/jobs/`.", directory("server/src/jobs")),
        (
            "Fix `web/src/app.tsx`.",
            Some(not_found(&["web/src/App.tsx"])),
        ),
        (
            "Fix `server/src/quue.rs`.",
            Some(not_found(&["server/src/jobs/queue.rs"])),
        ),
        (
            "Fix `a/lib.rs`.",
            Some(not_found(&["web/src/lib.rs", "server/src/lib.rs"])),
        ),
        (
            "Fix `server/src/job/`.",
            Some(not_found(&["server/src/jobs"])),
        ),
        ("Fix `readme.md`.", Some(not_found(&["README.md"]))),
        ("Fix `readyou.md` and `stats.json`.", None),
        ("Fix `vendor/zlib/inflate.c`.", Some(Verdict::Unknown)),
        ("Fix `CLAUDE.md`.", Some(Verdict::Unknown)),
        ("Fix `vendor/zlib-2/inflate.c`.", Some(not_found(&[]))),
        ("Create `server/src/csv.rs`.", Some(Verdict::ToBeCreated)),
        (
            "Create `lib.rs` of a new crate.",
            Some(Verdict::ToBeCreated),
        ),
        (
            "Create `server/src/lib.rs`.",
            Some(Verdict::AlreadyExists {
                path: "server/src/lib.rs".into(),
            }),
        ),
        (
            "Add `server/src/lib.rs` to it.",
            Some(exists("server/src/lib.rs")),
        ),
        ("Add a field to `server/src/csv.rs`.", Some(not_found(&[]))),
        ("There is no `server/src/csv.rs`.", None),
        ("Delete `server/src/csv.rs`.", Some(not_found(&[]))),
        ("Read/write and `text/html`, and `server`.", None),
    ] {
        assert_eq!(verdict_on(plan), want, "{plan}");
    }
}

#[test]
fn what_is_in_a_created_directory_or_the_end_of_a_created_path_is_to_be_created() {
    for plan in [
        "Create the directory `server/src/export/`. Then fill `server/src/export/csv.rs`.",
        "Create `server/src/export/csv.rs`. Test `csv.rs` well.",
        "Create `server/src/export/csv.rs`. Test `server/src/export/`.",
        "Update `server/src/csv.rs`.\n\n## New files\n\n- `server/src/csv.rs`",
    ] {
        let judged = judged(plan);
        assert!(!judged.is_empty());
        for (path, verdict) in judged {
            assert_eq!(verdict, Verdict::ToBeCreated, "{path} in {plan}");
        }
    }
}

#[test]
fn a_file_named_in_two_ways_counts_once() {
    let files = all();
    let files = CommitFiles::new(&files, &[]);
    let plan = "Fix `server/src/jobs/queue.rs`: `queue.rs` blocks. Create `b/c.rs`; read `d/e.rs`. \
                Create `Cargo.toml`.";
    let counts = judge(&named_files(plan, ""), &files, "abc").counts();
    let want = Counts {
        exist: 2,
        already_exist: 1,
        to_be_created: 1,
        not_found: 1,
    };
    assert_eq!(counts, want);
    assert_eq!(counts.all(), 4);
}

#[test]
fn a_result_survives_the_progress_of_a_run() {
    let files = all();
    let files = CommitFiles::new(&files, &["x"]);
    let plan =
        "`Cargo.toml`, `lib.rs`, `web/`, `a/b.rs`, `x/y.rs`, `README.md` (new), `n/m.rs` (new)";
    let grounding = judge(&named_files(plan, ""), &files, "abc");
    assert_eq!(grounding.files.len(), 7);
    let json = serde_json::to_string(&grounding).unwrap();
    assert_eq!(serde_json::from_str::<Grounding>(&json).unwrap(), grounding);
}

/// Returns the symbols that are missing if `queue.rs` contains `text`.
fn missing(plan: &str, text: Option<&str>) -> Vec<String> {
    let files = all();
    let files = CommitFiles::new(&files, &[]);
    let named = named_files(plan, "");
    let grounding = judge(&named, &files, "abc");
    let mut contents = BTreeMap::new();
    for path in grounding.readable(&named) {
        if let Some(text) = text {
            contents.insert(path.to_owned(), text.to_owned());
        }
    }
    let missing = missing_symbols(&named, &grounding, &contents);
    missing.into_iter().map(|one| one.symbol).collect()
}

#[test]
fn a_symbol_is_missing_if_no_file_beside_it_has_it_as_an_identifier() {
    let text = Some("impl Queue { fn next_job(&self) {} fn take_all() {} }");
    for (plan, want) in [
        ("Fix `Queue::next_job` in `queue.rs`.", vec![]),
        (
            "Fix `Queue::next_jo` in `queue.rs`.",
            vec!["Queue::next_jo"],
        ),
        ("Fix `queue.rs::take_some`.", vec!["take_some()"]),
        ("Fix `queue.rs::take_all`.", vec![]),
        (
            "Fix `drop_all()` in `queue.rs` and `mail.rs`.",
            vec!["drop_all()"],
        ),
        ("Fix `drop_all()` in `queue.rs` and `lib.rs`.", vec![]),
        (
            "Add `drop_all()` to `queue.rs`. Call `drop_all()` in `mail.rs`.",
            vec![],
        ),
        (
            "Call `drop_all()` in the new file `server/src/x.rs` and in `queue.rs`.",
            vec![],
        ),
        (
            "Fix `drop_all()` in `queue.rs` and `server/src/quue.rs`.",
            vec![],
        ),
        ("Fix `cargo test` and `JSON` in `queue.rs`.", vec![]),
    ] {
        assert_eq!(missing(plan, text), want, "{plan}");
    }
    assert!(missing("Fix `drop_all()` in `queue.rs`.", None).is_empty());
}

#[test]
fn many_missing_files_in_a_large_repository_are_all_found_missing() {
    let mut files: Vec<String> = (0..20_000)
        .map(|n| {
            format!(
                "packages/p{}/src/module_{n}/component_{}.rs",
                n % 300,
                n % 2_000
            )
        })
        .collect();
    files.sort();
    let plan: Vec<String> = (0..500)
        .map(|n| format!("- `packages/src/component_{n}x.rs`"))
        .collect();
    let named = named_files(&plan.join("\n"), "");
    let grounding = judge(&named, &CommitFiles::new(&files, &[]), "abc");
    assert_eq!(grounding.not_found().count(), 500);
    let suggested = grounding
        .not_found()
        .filter(|(_, nearest)| !nearest.is_empty());
    assert_eq!(suggested.count(), super::MAX_SEARCHED);
}
