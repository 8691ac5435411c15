//! Tests of the command `planwright metadata`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const REPORT: &str = "\
# How exports are written

## Executive Summary

Exports are written row by row in `src/export.rs:10-40`. Quotes are not escaped.

## Findings

### Quotes

See `src/csv/quote.rs` and `src/export.rs`.

```
src/not/this.rs
```

## Recommendations

1. Escape quotes
2. Add a test with line ends
";

const PLAN: &str = "\
# Plan: Escape quotes

**Date**: 2026-01-02
**Complexity**: Low

## Phase 1: Write the test [COMPLETE]

- [x] In `tests/csv.rs`

## Phase 2: Escape

- [ ] In `src/csv/quote.rs`
";

fn run_in(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_planwright"))
        .arg("metadata")
        .args(arguments)
        .env_clear()
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may end without reading it all.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// A folder with one report and one plan.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("001-exports.md"), REPORT).unwrap();
    std::fs::write(folder.path().join("plan.md"), PLAN).unwrap();
    folder
}

fn good(output: &Output) -> String {
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned()
        ),
        (Some(0), String::new())
    );
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn files_for_people() {
    let shown = good(&run_in(
        folder().path(),
        &["001-exports.md", "plan.md"],
        b"",
    ));
    let want = "\
001-exports.md: report
  title            How exports are written
  summary          Exports are written row by row in `src/export.rs:10-40`. Quotes are not escaped.
  recommendations  2
                   - Escape quotes
                   - Add a test with line ends
  files            2
                   - src/export.rs
                   - src/csv/quote.rs
  sections         3
  findings         1
  words            33
  size             292 bytes, about 73 tokens
  to fix           the document has 291 bytes without its comments and needs 500; say more, with places and reasons

plan.md: plan
  title            Escape quotes
  date             2026-01-02
  complexity       Low
  phases           2, 1 done
  milestones       none
  boxes            2, 1 done
  size             177 bytes, about 44 tokens
  to fix           the document has 176 bytes without its comments and needs 500; say more, with places and reasons
";
    assert_eq!(shown, want);
}

#[test]
fn one_file_is_an_object_and_more_are_an_array() {
    let folder = folder();
    let one = good(&run_in(folder.path(), &["001-exports.md", "--json"], b""));
    let one: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(
        one,
        json!({
            "file": "001-exports.md",
            "kind": "report",
            "tokens": 73,
            "to_mend": ["the document has 291 bytes without its comments and needs 500; say more, with places and reasons"],
            "title": "How exports are written",
            "summary": "Exports are written row by row in `src/export.rs:10-40`. Quotes are not escaped.",
            "recommendations": ["Escape quotes", "Add a test with line ends"],
            "recommendations_total": 2,
            "file_paths": ["src/export.rs", "src/csv/quote.rs"],
            "file_paths_total": 2,
            "size": 292,
            "words": 33,
            "sections": 3,
            "findings": 1,
            "degraded": false,
        })
    );
    let both = good(&run_in(
        folder.path(),
        &["001-exports.md", "plan.md", "--json"],
        b"",
    ));
    let both: Value = serde_json::from_str(&both).unwrap();
    assert_eq!(both[0], one);
    assert_eq!(
        (&both[1]["kind"], &both[1]["phases"], &both[1]["complexity"]),
        (
            &json!("plan"),
            &json!({"total": 2, "done": 1}),
            &json!("Low")
        )
    );
}

#[test]
fn standard_input_and_a_kind_that_is_said() {
    let folder = folder();
    let read = |arguments: &[&str]| -> Value {
        serde_json::from_str(&good(&run_in(folder.path(), arguments, PLAN.as_bytes()))).unwrap()
    };
    assert_eq!(read(&["-", "--json"])["kind"], "plan");
    let as_report = read(&["-", "--json", "--report"]);
    assert_eq!(
        (&as_report["kind"], &as_report["file_paths"]),
        (
            &json!("report"),
            &json!(["tests/csv.rs", "src/csv/quote.rs"])
        )
    );
    let report = run_in(folder.path(), &["-", "--json", "--plan"], REPORT.as_bytes());
    let report: Value = serde_json::from_str(&good(&report)).unwrap();
    assert_eq!(
        (&report["kind"], &report["date"]),
        (&json!("plan"), &json!("Unknown"))
    );
}

#[test]
fn a_file_that_is_not_there_is_2_and_nothing_is_printed() {
    let folder = folder();
    for (arguments, want) in [
        (
            &["plan.md", "missing.md"][..],
            "error: File not found: missing.md; give an existing file, or `-` for standard input\n",
        ),
        (
            &["-", "-"],
            "error: standard input can be read only once; give `-` only once\n",
        ),
    ] {
        let output = run_in(folder.path(), arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), want);
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    let both = run_in(folder.path(), &["plan.md", "--plan", "--report"], b"");
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn nothing_in_a_document_steers_the_terminal() {
    let evil = "# a\u{1b}[31m\u{202e}b\n\n## Findings\n\nx\u{9b}y\n";
    let folder = folder();
    for arguments in [&["-"][..], &["-", "--json"]] {
        let shown = good(&run_in(folder.path(), arguments, evil.as_bytes()));
        let steers = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!shown.contains(steers), "{shown:?}");
    }
}
