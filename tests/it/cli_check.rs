//! Tests of the command `planwright check` on valid plans, refused plans, and input that cannot be
//! checked.

mod documented;
mod sarif;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const GOOD: &str = "\
# Export reports as CSV

- **Status:** Green 🟢

## Rationale

~~~~~~
Customers open reports in a spreadsheet.
~~~~~~

## Action Plan

### `CREATE`

- **File Path:** [docs/csv.md](/docs/csv.md)

~~~~~~markdown
# CSV
~~~~~~

### `EDIT`

- **File Path:** [src/report.rs](/src/report.rs)

#### `FIND:`

~~~~~~rust
enum Format { Text }
~~~~~~

#### `REPLACE:`

~~~~~~rust
enum Format { Text, Csv }
~~~~~~

### `EXECUTE`

- **Description:** Run the tests.

~~~~~~shell
cargo test
~~~~~~
";

/// A fence of the content is as long as the one around it; longer ones alone make a plan of it.
const SHORT_FENCES: &str = "\
# Describe the export

- **Status:** Green 🟢

## Rationale

~~~~~~
Nobody knows how.
~~~~~~

## Action Plan

### `CREATE`

- **File Path:** [docs/csv.md](/docs/csv.md)

````markdown
# CSV

````sh
report --format csv
````
````
";

/// A folder to run in.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
    command
        .env_clear()
        .env("TERM", "xterm-256color")
        .current_dir(folder)
        .arg("check");
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    program(folder).args(arguments).output().unwrap()
}

/// Checks `plan` as `plan.md` in an empty folder.
fn check(plan: &str, arguments: &[&str]) -> Output {
    let folder = folder(&[("plan.md", plan)]);
    run(folder.path(), &[&["plan.md"], arguments].concat())
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
fn a_good_plan_is_0_with_its_actions() {
    let done = check(GOOD, &[]);
    assert_eq!((done.status.code(), err(&done)), (Some(0), ""));
    insta::assert_snapshot!(out(&done), @r"
    plan.md: good: Export reports as CSV

      #  line  action          target
      1    13  CREATE          docs/csv.md
      2    21  EDIT            src/report.rs
      3    37  EXECUTE         cargo test
    ");
}

#[test]
fn a_line_between_actions_is_refused_with_the_structure() {
    let plan = GOOD.replace("### `EDIT`", "---\n\n### `EDIT`");
    let done = check(&plan, &[]);
    assert_eq!(
        (done.status.code(), err(&done)),
        (Some(1), "error: plan.md: the plan is refused\n")
    );
    insta::assert_snapshot!(out(&done), @r##"
    plan.md:21: Plan structure is invalid. Expected a Level 3 Action Heading, but found ThematicBreak.
      Hint: Remove the line; actions need nothing between them.

    --- Expected Document Structure ---
    [000] Heading (Level 1)
    [001] List (Metadata)
    [002] Heading (Level 2: Rationale)
    [003] CodeFence or BlockCode (Rationale Content)
    [004] [Optional] Heading (Level 2: Memos)
    [005] [Optional] CodeFence or BlockCode (Memos Content)
    [006] Heading (Level 2: Action Plan)
    [007...] Heading (Level 3: Action Type)
    [008...] (the list, code and text of the action)

    --- Actual Document Structure ---
    [000] Heading (Level 1): "Export reports as CSV"  (line 1)
    [001] List: "- **Status:** Green 🟢"  (line 3)
    [002] Heading (Level 2): "Rationale"  (line 5)
    [003] CodeFence (6 tildes): "Customers open reports in a spreadsheet."  (line 7)
    [004] Heading (Level 2): "Action Plan"  (line 11)
    [005] Heading (Level 3): "CREATE"  (line 13)
    [006] List: "- **File Path:** [docs/csv.md](/docs/csv.md)"  (line 15)
    [007] CodeFence (6 tildes): "# CSV"  (line 17)
    [008] ThematicBreak  <-- MISMATCH (line 21): expected a Level 3 Action Heading
    [009] Heading (Level 3): "EDIT"  (line 23, not checked)
    [010] List: "- **File Path:** [src/report.rs](/src/report.rs)"  (line 25, not checked)
    [011] Heading (Level 4): "FIND:"  (line 27, not checked)
    [012] CodeFence (6 tildes): "enum Format { Text }"  (line 29, not checked)
    [013] Heading (Level 4): "REPLACE:"  (line 33, not checked)
    [014] CodeFence (6 tildes): "enum Format { Text, Csv }"  (line 35, not checked)
    ... 3 more blocks
    "##);
}

#[test]
fn wrong_keys_are_told_all_at_once() {
    let plan = GOOD
        .replacen("**File Path:**", "**file path:**", 1)
        .replacen("[src/report.rs](/src/report.rs)", "`../report.rs`", 1);
    let done = check(&plan, &[]);
    assert_eq!(done.status.code(), Some(1));
    insta::assert_snapshot!(out(&done), @r##"
    plan.md:15: Action 1 (CREATE): expected the key `File Path`, but found `file path`.
      Hint: Write it as `File Path`: capitals count.
    plan.md:23: Action 2 (EDIT): expected a valid path or address as the value of `File Path`, but found "`../report.rs`": `..` leads out of its folder.
      Hint: Write the path from the project's root, without `..`.

    --- Actual Document Structure ---
    [000] Heading (Level 1): "Export reports as CSV"  (line 1)
    [001] List: "- **Status:** Green 🟢"  (line 3)
    [002] Heading (Level 2): "Rationale"  (line 5)
    [003] CodeFence (6 tildes): "Customers open reports in a spreadsheet."  (line 7)
    [004] Heading (Level 2): "Action Plan"  (line 11)
    [005] Heading (Level 3): "CREATE"  (line 13)
    [006] List: "- **file path:** [docs/csv.md](/docs/csv.md)"  <-- ERROR (line 15): expected the key `File Path`
    [007] CodeFence (6 tildes): "# CSV"  (line 17)
    [008] Heading (Level 3): "EDIT"  (line 21)
    [009] List: "- **File Path:** `../report.rs`"  <-- ERROR (line 23): expected a valid path or address as the value of `File Path`
    [010] Heading (Level 4): "FIND:"  (line 25)
    [011] CodeFence (6 tildes): "enum Format { Text }"  (line 27)
    [012] Heading (Level 4): "REPLACE:"  (line 31)
    [013] CodeFence (6 tildes): "enum Format { Text, Csv }"  (line 33)
    [014] Heading (Level 3): "EXECUTE"  (line 37)
    [015] List: "- **Description:** Run the tests."  (line 39)
    ... 1 more block
    "##);
}

#[test]
fn nothing_at_all_is_refused_without_a_structure() {
    let done = check(" \n", &[]);
    assert_eq!(done.status.code(), Some(1));
    insta::assert_snapshot!(out(&done), @r"
    plan.md:1: Expected a plan, but found no text.
      Hint: Write the plan, beginning with its title: `# …`.
    ");
}

#[test]
fn files_of_the_project_are_looked_at_with_root_alone() {
    let folder = folder(&[
        ("plan.md", GOOD),
        ("good/src/report.rs", "enum Format { Text }\n"),
        ("other/src/report.rs", "enum Format { Text, Html }\n"),
        ("other/docs/csv.md", "# CSV\n"),
    ]);
    let good = run(folder.path(), &["plan.md", "--root", "good"]);
    assert_eq!((good.status.code(), err(&good)), (Some(0), ""));
    assert_eq!(out(&good), out(&run(folder.path(), &["plan.md"])));
    let other = run(folder.path(), &["--root", "other", "plan.md"]);
    assert_eq!(other.status.code(), Some(1));
    insta::assert_snapshot!(out(&other), @r"
    plan.md: would not work on these files: Export reports as CSV

    plan.md:13: Action 1 (CREATE): `docs/csv.md` already exists.
      - Change it with `EDIT`, or name a file that does not exist.

    plan.md:27: Action 2 (EDIT), pair 1: `FIND` is not in `src/report.rs`.
      Closest match, similarity 0.87: line 1 of the file (`-` is `FIND`, `+` is the file):

      ```diff
      - enum Format { Text }
      + enum Format { Text, Html }
      ```

      - Copy the lines to be replaced from the file exactly, white space included.
    ");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_root_is_not_followed() {
    let plan = GOOD.replace("[src/report.rs](/src/report.rs)", "`link/report.rs`");
    let folder = folder(&[
        ("plan.md", &plan),
        ("outside/report.rs", "enum Format { Text }\n"),
        ("project/inside/report.rs", "enum Format { Text }\n"),
    ]);
    let link = folder.path().join("project/link");
    std::os::unix::fs::symlink("../outside", &link).unwrap();
    let out_of = run(folder.path(), &["plan.md", "--root", "project"]);
    assert_eq!(out_of.status.code(), Some(1));
    insta::assert_snapshot!(out(&out_of), @r"
    plan.md: would not work on these files: Export reports as CSV

    plan.md:21: Action 2 (EDIT): `link/report.rs` cannot be read (`a symbolic link in its path leads out of the project's folder`).
      - Name another file, or make sure that this one can be read.
    ");
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("inside", &link).unwrap();
    let inside = run(folder.path(), &["plan.md", "--root", "project"]);
    assert_eq!((inside.status.code(), err(&inside)), (Some(0), ""));
}

#[test]
fn several_files_are_checked_in_order_and_one_bad_one_is_1() {
    let bad = GOOD.replace("## Rationale", "## Why");
    let folder = folder(&[("a.md", GOOD), ("b.md", &bad), ("c.md", &bad)]);
    let done = run(folder.path(), &["a.md", "b.md"]);
    assert_eq!(
        (done.status.code(), err(&done)),
        (Some(1), "error: 1 of 2 plans is refused\n")
    );
    let (a, b) = (
        out(&done).find("a.md: good: "),
        out(&done).find("\n\nb.md:5: "),
    );
    assert!(a == Some(0) && b.is_some(), "{}", out(&done));
    let done = run(folder.path(), &["c.md", "b.md", "a.md"]);
    assert_eq!(err(&done), "error: 2 of 3 plans are refused\n");
}

#[test]
fn what_cannot_be_used_is_2_and_nothing_is_checked() {
    let folder = folder(&[("plan.md", GOOD)]);
    fs::write(folder.path().join("latin.md"), b"# caf\xe9").unwrap();
    for (arguments, said) in [
        (
            &["plan.md", "none.md"][..],
            "error: cannot read none.md: No such file or directory (os error 2); give a file, or `-` for standard \
             input\n",
        ),
        (
            &["plan.md", "latin.md", "--json"],
            "error: latin.md is not UTF-8 text: byte 6 is invalid; save it as UTF-8\n",
        ),
        (
            &["plan.md", "--root", "none"],
            "error: cannot use --root none: No such file or directory (os error 2); give the folder of a working \
             copy\n",
        ),
        (
            &["plan.md", "--root", "plan.md"],
            "error: cannot use --root plan.md: Not a directory (os error 20); give the folder of a working copy\n",
        ),
        (
            &["-", "plan.md", "-"],
            "error: standard input can be read only once; give `-` only once\n",
        ),
    ] {
        let done = run(folder.path(), arguments);
        assert_eq!(
            (done.status.code(), err(&done), out(&done)),
            (Some(2), said, "")
        );
    }
    for arguments in [
        &[][..],
        &["plan.md", "--json", "--sarif"],
        &["plan.md", "--json", "--fix"],
        &["plan.md", "--sarif", "--fix"],
    ] {
        let done = run(folder.path(), arguments);
        assert_eq!((done.status.code(), out(&done)), (Some(2), ""));
    }
}

#[test]
fn standard_input_is_read() {
    let folder = folder(&[]);
    let mut child = program(folder.path())
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let dos = format!("\u{feff}{}", GOOD.replace('\n', "\r\n"));
    input.write_all(dos.as_bytes()).unwrap();
    drop(input);
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert!(out(&done).starts_with("-: good: Export reports as CSV\n"));
}

#[test]
fn in_a_pipe_there_are_neither_colours_nor_the_plans_own_sequences() {
    let steering = "\u{1b}[31m\u{9b}0m\u{202e}";
    let good = GOOD
        .replace("# Export", &format!("# {steering}Export"))
        .replace("cargo test", &format!("cargo{steering} test"));
    let bad = good.replace("## Rationale", &format!("## {steering}Why"));
    let missing = good.replace(
        "enum Format { Text }",
        &format!("{steering}enum Format {{ Text }}"),
    );
    let folder = folder(&[
        ("good.md", &good),
        ("bad.md", &bad),
        ("missing.md", &missing),
        ("src/report.rs", "enum Format { Text }\n"),
    ]);
    let obeyed = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    for arguments in [
        &["good.md", "bad.md"][..],
        &["missing.md", "--root", "."],
        &["good.md", "bad.md", "missing.md", "--json"],
        &["good.md", "bad.md", "missing.md", "--sarif", "--root", "."],
        &["bad.md", "--fix"],
    ] {
        let done = run(folder.path(), arguments);
        for text in [out(&done), err(&done)] {
            assert!(!text.contains(obeyed), "{arguments:?}: {text:?}");
        }
        assert!(!out(&done).is_empty() || arguments.contains(&"--fix"));
    }
    let exact = json_of(&run(folder.path(), &["good.md", "--json"]));
    let command = &exact["files"][0]["actions"][2]["command"];
    assert_eq!(command, &format!("cargo{steering} test"));
}

#[test]
fn every_field_of_the_json_is_explained_and_there() {
    let bad = GOOD.replace("## Rationale", "## Why");
    let folder = folder(&[
        ("good.md", GOOD),
        ("bad.md", &bad),
        ("src/report.rs", "other\n"),
    ]);
    let help = run(folder.path(), &["--help"]);
    let plain = json_of(&run(folder.path(), &["good.md", "bad.md", "--json"]));
    let rooted = json_of(&run(folder.path(), &["good.md", "--root", ".", "--json"]));
    assert_eq!(plain.as_object().unwrap().len(), 1);
    let [good, bad] = plain["files"].as_array().unwrap().as_slice() else {
        panic!("{plain:#}")
    };
    let wrong = &rooted["files"][0];
    let fields: Vec<&String> = good.as_object().unwrap().keys().collect();
    assert_eq!(
        fields,
        [
            "file", "ok", "title", "actions", "error", "diff", "fix", "findings"
        ]
    );
    for file in [bad, wrong] {
        assert_eq!(fields, file.as_object().unwrap().keys().collect::<Vec<_>>());
    }
    for field in fields {
        assert!(out(&help).contains(&format!("\n  {field}  ")), "{field}");
    }
    let parts = [&bad["error"], &wrong["findings"][0], &bad["diff"]];
    for part in parts {
        for field in part.as_object().unwrap().keys() {
            assert!(out(&help).contains(field.as_str()), "{field}");
        }
    }
    assert_eq!(
        json!([
            good["file"],
            good["ok"],
            good["title"],
            good["error"],
            good["diff"],
            good["findings"]
        ]),
        json!(["good.md", true, "Export reports as CSV", null, null, null])
    );
    let actions = good["actions"].as_array().unwrap();
    assert_eq!(actions.len(), 3);
    assert_eq!(
        (
            &actions[0]["number"],
            &actions[0]["type"],
            &actions[0]["path"],
            &actions[0]["span"]["start"]
        ),
        (
            &json!(1),
            &json!("CREATE"),
            &json!("docs/csv.md"),
            &json!(13)
        )
    );
    assert_eq!(
        json!([
            bad["ok"],
            bad["title"],
            bad["actions"],
            bad["fix"],
            bad["findings"]
        ]),
        json!([false, null, [], null, null])
    );
    assert_eq!(bad["error"]["kind"], "no-rationale");
    assert_eq!(bad["error"]["line"], 5);
    assert_eq!(bad["error"], bad["diff"]["errors"][0]);
    assert_eq!(bad["diff"]["actual"][2]["mark"], "mismatch");
    assert_eq!(
        json!([
            wrong["ok"],
            wrong["error"],
            wrong["findings"][0]["kind"],
            wrong["findings"][0]["pair"]
        ]),
        json!([false, null, "find-missing", 1])
    );
    let clean = folder.path().join("src/report.rs");
    fs::write(clean, "enum Format { Text }\n").unwrap();
    let rooted = json_of(&run(folder.path(), &["good.md", "--root", ".", "--json"]));
    assert_eq!(rooted["files"][0]["findings"], json!([]));
    let fixed = json_of(&check(SHORT_FENCES, &["--json"]));
    let fix = fixed["files"][0]["fix"].as_str().unwrap();
    assert_eq!(fix, out(&check(SHORT_FENCES, &["--fix"])));
}

#[test]
fn a_plan_that_is_not_executable_is_sent_to_the_command_that_checks_such_plans() {
    let refused = check(crate::support::rig::PLAN, &[]);
    assert_eq!(refused.status.code(), Some(1));
    let hint = "\nHint: This command checks executable plans. `planwright check-content plan.md` checks whether a plan such as \
                this one can be saved.\n";
    assert!(out(&refused).ends_with(hint), "{}", out(&refused));
    // Text that could not be saved either, and a broken executable plan, have no such hint.
    for text in ["# Notes\n\nThings.\n", &GOOD.replace("`EDIT`", "`EDITS`")] {
        let refused = check(text, &[]);
        assert_eq!(refused.status.code(), Some(1), "{text}");
        assert!(
            !out(&refused).contains("check-content"),
            "{}",
            out(&refused)
        );
    }
}

#[test]
fn a_fix_is_printed_as_a_diff_and_not_written() {
    let folder = folder(&[("plan.md", SHORT_FENCES), ("good.md", GOOD)]);
    let hinted = run(folder.path(), &["plan.md"]);
    assert!(
        out(&hinted).ends_with(
            "\nLonger fences would make it a valid plan; `planwright check --fix plan.md` shows them.\n"
        ),
        "{}",
        out(&hinted)
    );
    let done = run(folder.path(), &["plan.md", "good.md", "--fix"]);
    assert_eq!(done.status.code(), Some(1));
    let diff = "\
--- a/plan.md
+++ b/plan.md
@@ -14,10 +14,10 @@
\x20
 - **File Path:** [docs/csv.md](/docs/csv.md)
\x20
-````markdown
+`````markdown
 # CSV
\x20
 ````sh
 report --format csv
 ````
-````
+`````
";
    assert_eq!(out(&done), diff);
    insta::assert_snapshot!(err(&done), @r##"
    plan.md:20: Action 1 (CREATE): expected content that cannot end the fence of line 17 (````), but found "````sh" on line 20, which looks like the start of another fence.
      Hint: Make the fence of line 17 and the one that closes it at least ````` long, or use six tildes (~~~~~~), so that no line inside can close it.

    --- Actual Document Structure ---
    [000] Heading (Level 1): "Describe the export"  (line 1)
    [001] List: "- **Status:** Green 🟢"  (line 3)
    [002] Heading (Level 2): "Rationale"  (line 5)
    [003] CodeFence (6 tildes): "Nobody knows how."  (line 7)
    [004] Heading (Level 2): "Action Plan"  (line 11)
    [005] Heading (Level 3): "CREATE"  (line 13)
    [006] List: "- **File Path:** [docs/csv.md](/docs/csv.md)"  (line 15)
    [007] CodeFence (4 backticks): "# CSV"  <-- ERROR (line 17): expected content that cannot end the fence of line 17 (````)
    [008] CodeFence (4 backticks)  (line 23, not checked)

    plan.md: longer fences make it the valid plan below. Check in the diff what becomes content before you apply it.

      #  line  action          target
      1    13  CREATE          docs/csv.md

    good.md: good: Export reports as CSV

      #  line  action          target
      1    13  CREATE          docs/csv.md
      2    21  EDIT            src/report.rs
      3    37  EXECUTE         cargo test
    error: 1 of 2 plans is refused
    "##);
    let kept = fs::read_to_string(folder.path().join("plan.md")).unwrap();
    assert_eq!(kept, SHORT_FENCES);
}

#[test]
fn no_fix_is_said_so() {
    let done = check(&GOOD.replace("## Rationale", "## Why"), &["--fix"]);
    assert_eq!((done.status.code(), out(&done)), (Some(1), ""));
    assert!(
        err(&done).ends_with(
            "\nplan.md: no fix available: longer fences alone do not make it a valid plan.\nerror: plan.md: the plan is refused\n"
        ),
        "{}",
        err(&done)
    );
}

/// A plan is read without carriage returns and byte-order mark; a file must not lose them.
#[test]
fn a_fix_applies_to_files_with_other_line_ends() {
    let dos = format!("\u{feff}{}", SHORT_FENCES.replace('\n', "\r\n"));
    for text in [SHORT_FENCES, &dos, SHORT_FENCES.trim_end()] {
        let folder = folder(&[("plan.md", text)]);
        let fix = run(folder.path(), &["./plan.md", "--fix"]).stdout;
        let mut child = Command::new("git")
            .args(["apply", "--whitespace=nowarn", "-"])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("GIT_CEILING_DIRECTORIES", folder.path().parent().unwrap())
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&fix).unwrap();
        assert!(child.wait().unwrap().success());
        let fixed = fs::read_to_string(folder.path().join("plan.md")).unwrap();
        let expected = text
            .replace("````markdown", "`````markdown")
            .replace("````\n````", "````\n`````")
            .replace("````\r\n````", "````\r\n`````");
        assert_eq!(fixed, expected);
        let done = run(folder.path(), &["plan.md"]);
        assert_eq!(done.status.code(), Some(0), "{}", out(&done));
    }
}
