//! Tests of the command `planwright extract`.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const STEPS: &str = "## Steps\n\n1. Change `src/export.rs` to stream the rows.\n\
    2. Add a test in `tests/export.rs`.\n3. Measure the memory it needs with a table of a million rows.\n";

fn extract(folder: &Path, text: &str, arguments: &[&str]) -> Output {
    std::fs::write(folder.join("plan.md"), text).unwrap();
    program(folder, "extract").args(arguments).output().unwrap()
}

fn program(folder: &Path, subcommand: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
    command
        .env_clear()
        .current_dir(folder)
        .args([subcommand, "plan.md"]);
    command
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn candidates_and_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let plan = format!("# Plan: Stream the export\n\n{STEPS}");
    let shown = extract(folder.path(), &plan, &[]);
    assert_eq!((shown.status.code(), text(&shown.stderr)), (Some(0), ""));
    assert!(text(&shown.stdout).ends_with("\n\nwould save: Stream the export\n"));
    let document = extract(folder.path(), &plan, &["--document"]);
    assert!(text(&document.stdout).contains("1. Change `src/export.rs`"));
    let all = extract(folder.path(), &plan, &["--json"]);
    let all: Value = serde_json::from_str(text(&all.stdout)).unwrap();
    assert_eq!(all["document"], text(&document.stdout));
    assert_eq!(all["would_save"], true);
    assert_eq!(
        (&all["error"], &all["error_type"]),
        (&json!(null), &json!(null))
    );
}

#[test]
fn nothing_to_save_has_an_error_code() {
    let folder = tempfile::tempdir().unwrap();
    let none = extract(folder.path(), "Good morning.\n", &["--json"]);
    assert_eq!(none.status.code(), Some(1));
    let none: Value = serde_json::from_str(text(&none.stdout)).unwrap();
    assert_eq!(none["error_type"], "no_plan_found");
    let document = extract(folder.path(), "Good morning.\n", &["--document"]);
    assert_eq!(text(&document.stdout), "");
}

#[test]
fn a_text_without_a_title_is_refused_as_by_the_check() {
    const WHY: &str = "Title is empty or whitespace-only";
    let folder = tempfile::tempdir().unwrap();
    let plan = format!("# Implementation Plan\n\n{STEPS}");
    let refused = extract(folder.path(), &plan, &["--json"]);
    assert_eq!(refused.status.code(), Some(1));
    let shown: Value = serde_json::from_str(text(&refused.stdout)).unwrap();
    assert_eq!(
        (&shown["would_save"], &shown["error_type"]),
        (&json!(false), &json!("validation_failed"))
    );
    let start = format!(
        "error: plan.md: nothing would be saved: The plan was found, but cannot be saved as it is: {WHY}. "
    );
    assert!(text(&refused.stderr).starts_with(&start));
    let checked = program(folder.path(), "check-content").output().unwrap();
    assert_eq!(checked.status.code(), Some(1));
    assert!(text(&checked.stdout).contains(&format!("Details: {WHY}\n")));

    // A conversation lends its title.
    let conversation = format!("title: Stream the export\n--- @ann\n{plan}");
    let lent = extract(folder.path(), &conversation, &[]);
    assert_eq!(lent.status.code(), Some(0), "{}", text(&lent.stderr));
    assert!(text(&lent.stdout).ends_with("\nwould save: Stream the export\n"));
}

#[test]
fn a_reader_that_left_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let plan = format!("# Plan: Stream the export\n\n{}", STEPS.repeat(2_000));
    std::fs::write(folder.path().join("plan.md"), plan).unwrap();
    for arguments in [&[][..], &["--document"], &["--json"]] {
        let mut child = program(folder.path(), "extract")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let done = child.wait_with_output().unwrap();
        assert_eq!(
            (done.status.code(), text(&done.stderr)),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn hidden_text_of_a_plan_is_shown_and_what_becomes_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let plan = format!("# Plan: Stream the export\n\n<!-- run x -->\n\n{STEPS}");
    let shown = extract(folder.path(), &plan, &[]);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    assert!(
        text(&shown.stdout).ends_with(
            "hidden text: <!-- run x -->\nthe hidden text would be left out\n\nwould save: Stream the export\n"
        ),
        "{}",
        text(&shown.stdout)
    );
    let json = extract(folder.path(), &plan, &["--json"]);
    let json: Value = serde_json::from_str(text(&json.stdout)).unwrap();
    assert_eq!(json["hidden"], json!(["<!-- run x -->"]));
    let raw = format!("title: Export\n--- @ann\n{plan}\n--- @ann\n/save-raw-plan");
    let refused = extract(folder.path(), &raw, &[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("The plan contains text that is invisible on GitHub"),
        "{}",
        text(&refused.stderr)
    );
}

#[test]
fn the_author_that_the_command_names_decides_whose_plan_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let plan = |title: &str| format!("# Plan: {title}\n\n{STEPS}");
    let conversation = format!(
        "title: Export\n--- @ann\n{}\n--- @bob\n{}\n--- @ann\n/save-plan author=@ann",
        plan("Stream the export"),
        plan("Do something else")
    );
    let shown = extract(folder.path(), &conversation, &[]);
    assert!(
        text(&shown.stdout).ends_with("\nwould save: Stream the export\n"),
        "{}",
        text(&shown.stdout)
    );
}

#[test]
fn a_plan_above_the_command_in_the_opening_text_is_found_once() {
    let folder = tempfile::tempdir().unwrap();
    let conversation = format!(
        "title: The export needs too much memory\n\n\
         --- @ada 2026-03-02T09:00:00Z\n# Stream the export\n\n{STEPS}\n/save-plan\n"
    );
    let found = extract(folder.path(), &conversation, &["--json"]);
    let found: Value = serde_json::from_str(text(&found.stdout)).unwrap();
    assert_eq!(found["title"], "Stream the export");
    let places: Vec<&Value> = found["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|candidate| &candidate["where"])
        .collect();
    assert_eq!(places, ["found in the opening text by ada, post 1"]);
}

#[test]
fn an_unclear_choice_is_shown_with_its_candidates() {
    let folder = tempfile::tempdir().unwrap();
    let conversation = format!(
        "title: Export\n--- @ann\n# Stream the rows\n\n{STEPS}\n--- @bob\n# Write a file\n\n\
         1. Write `out.csv` beside the data\n2. Upload it every night to the share\n3. Mail a link to whoever asked\n\
         --- @cat\n/save-plan"
    );
    let shown = extract(folder.path(), &conversation, &[]);
    assert_eq!(shown.status.code(), Some(1));
    assert!(
        text(&shown.stdout).ends_with(
            "\nwould ask which of the first 2 is meant: they are about equally likely, and nobody has decided\n"
        ),
        "{}",
        text(&shown.stdout)
    );
    assert!(
        text(&shown.stdout).contains("found in a comment by bob, post 2"),
        "{}",
        text(&shown.stdout)
    );
    assert!(
        text(&shown.stderr).contains("nothing would be saved: it is not clear which plan is meant"),
        "{}",
        text(&shown.stderr)
    );
    let json = extract(folder.path(), &conversation, &["--json"]);
    let json: Value = serde_json::from_str(text(&json.stdout)).unwrap();
    assert_eq!(
        (&json["unclear"], &json["would_save"]),
        (&json!(true), &json!(false))
    );
}

#[test]
fn a_folder_without_labelled_conversations_cannot_be_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    let evaluate = |path: &Path| {
        Command::new(env!("CARGO_BIN_EXE_planwright"))
            .env_clear()
            .args(["extract", "--evaluate"])
            .arg(path)
            .output()
            .unwrap()
    };
    let none = evaluate(folder.path());
    assert_eq!(none.status.code(), Some(2));
    assert!(
        text(&none.stderr).contains("contains no conversations"),
        "{}",
        text(&none.stderr)
    );
    std::fs::write(folder.path().join("x.md"), "--- @ann\nhello\n").unwrap();
    let none = evaluate(folder.path());
    assert_eq!(none.status.code(), Some(2));
    assert!(
        text(&none.stderr).contains("the header has no complete `expect: …`"),
        "{}",
        text(&none.stderr)
    );
}
