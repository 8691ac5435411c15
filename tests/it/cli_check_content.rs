//! Tests of the command `planwright check-content` on good plans, bad plans, and texts that are not
//! plans.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/plans");

/// Runs `check-content` in an empty folder that holds `plan.md` with `plan`.
fn check(plan: &[u8], arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plan.md"), plan).unwrap();
    Command::new(env!("CARGO_BIN_EXE_planwright"))
        .env_clear()
        .current_dir(folder.path())
        .arg("check-content")
        .args(arguments)
        .output()
        .unwrap()
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{FIXTURES}/{name}.md")).unwrap()
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(out(output)).unwrap()
}

#[test]
fn a_good_plan_is_accepted() {
    let done = check(&fixture("session-store"), &["plan.md"]);
    assert_eq!((done.status.code(), err(&done)), (Some(0), ""));
    insta::assert_snapshot!(out(&done), @r"
    accepted (raw plan)

      title      Move sessions to Redis
      length     714 characters, at least 100 are needed
      structure  6 headings, 4 lists
      file       move-sessions-to-redis-plan.md
      worktree   move-sessions-to-redis
    ");
}

#[test]
fn a_refused_plan_says_what_to_change() {
    let done = check(&fixture("too-thin"), &["plan.md"]);
    assert_eq!(
        (done.status.code(), err(&done)),
        (Some(1), "error: plan.md: the plan would be rejected\n")
    );
    insta::assert_snapshot!(out(&done), @r"
    rejected (raw plan)

      title      (none)
      length     40 characters, at least 100 are needed
      structure  1 heading, 1 list

    ❌ Error: The plan would be rejected

    Details: Plan too short (40 characters, minimum 100); Title is empty or whitespace-only

    Suggested actions:
      1. Say more: name the files to change, the steps in order, and how the result is tested.
      2. Start the plan with a heading that says what it will do, for example `# Plan: Add user authentication`.
    ");
}

#[test]
fn an_error_document_is_no_plan() {
    let done = check(&fixture("no-plan-found"), &["plan.md"]);
    assert_eq!(done.status.code(), Some(1));
    insta::assert_snapshot!(out(&done), @r"
    rejected (extractor's answer without a plan)

    ❌ Error: The plan would be rejected

    Details: The extractor found no plan (`no_plan_found`): No implementation plan found in the conversation. Write one first.

    Suggested action:
      1. Write the plan first, then check that text.
    ");
}

#[test]
fn every_field_of_the_json_is_explained_and_there() {
    let help = check(b"", &["--help"]);
    let good = json_of(&check(&fixture("session-store"), &["plan.md", "--json"]));
    let bad = json_of(&check(&fixture("too-thin"), &["plan.md", "--json"]));
    let fields: Vec<&String> = good.as_object().unwrap().keys().collect();
    assert_eq!(fields, bad.as_object().unwrap().keys().collect::<Vec<_>>());
    for field in fields {
        assert!(out(&help).contains(&format!("\n  {field}  ")), "{field}");
    }
    assert_eq!(
        (&good["valid"], &good["error"], &good["agent_guidance"]),
        (&json!(true), &json!(null), &json!(null))
    );
    assert_eq!(good["kind"], "plan");
    assert_eq!(good["file_name"], "move-sessions-to-redis-plan.md");
    assert_eq!(bad["valid"], false);
    assert_eq!(bad["error"], "Plan too short (40 characters, minimum 100)");
    assert_eq!(
        bad["details"],
        json!({ "length": 40, "has_headers": true, "has_lists": true })
    );
    let guidance = bad["agent_guidance"].as_str().unwrap();
    assert!(guidance.contains("\nRules:\n") && guidance.contains("\nInvalid:\n"));
}

#[test]
fn a_saved_document_is_known_and_its_plan_is_checked() {
    let saved = json_of(&check(&fixture("saved-before"), &["plan.md", "--json"]));
    assert_eq!(saved["kind"], "document");
    assert_eq!(saved["title"], "Export monthly reports as CSV");
    assert_eq!(saved["valid"], true, "{saved:#}");
}

#[test]
fn a_bad_title_alone_refuses_the_plan() {
    let given = ["plan.md", "--title", "Plan", "--json"];
    let done = check(&fixture("session-store"), &given);
    assert_eq!(done.status.code(), Some(1));
    let answer = json_of(&done);
    assert_eq!(answer["title_error"], "Too short (4 characters, minimum 5)");
    assert_eq!(
        answer["error"],
        "Plan title validation failed: Too short (4 characters, minimum 5)"
    );
    assert_eq!(answer["valid"], false);
}

#[test]
fn standard_input_is_read() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_planwright"))
        .env_clear()
        .args(["check-content", "-", "--title", "Move sessions"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    input.write_all("\u{feff}".as_bytes()).unwrap();
    input.write_all(&fixture("session-store")).unwrap();
    drop(input);
    let done = program.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert!(out(&done).contains("\n  title      Move sessions\n"));
}

#[test]
fn an_empty_file_is_an_empty_plan() {
    for empty in ["", " \n\t\r\n", "\u{feff}"] {
        let done = check(empty.as_bytes(), &["plan.md", "--json"]);
        assert_eq!(done.status.code(), Some(1));
        assert_eq!(
            json_of(&done)["error"],
            "Plan is empty or contains only whitespace"
        );
    }
}

#[test]
fn what_cannot_be_read_is_2_and_says_why() {
    for (plan, arguments, said) in [
        (
            &b"# Plan"[..],
            &["none.md"][..],
            "error: cannot read none.md: No such file or directory (os error 2); give a file, or `-` for standard \
             input\n",
        ),
        (
            b"# Plan: caf\xe9",
            &["plan.md"],
            "error: plan.md is not UTF-8 text: byte 12 is invalid; save it as UTF-8\n",
        ),
        (
            b"PK\x03\x04\x00\x00",
            &["plan.md", "--json"],
            "error: plan.md cannot be a plan: byte 5 is NUL; delete it\n",
        ),
    ] {
        let done = check(plan, arguments);
        assert_eq!(
            (done.status.code(), err(&done), out(&done)),
            (Some(2), said, "")
        );
    }
    let folder = check(b"", &["."]);
    assert_eq!(folder.status.code(), Some(2));
    assert!(err(&folder).starts_with("error: cannot read .: "));
    assert_eq!(check(b"", &[]).status.code(), Some(2));
}
