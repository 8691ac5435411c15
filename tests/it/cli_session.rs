//! Tests of the command `planwright session`: output streams, exit codes, and JSON.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sessions");
const OLD: &str = "0d4f7a52-8a0e-4c6b-9a51-2f6f0c1b7e11";
const NEW: &str = "5c1b2e90-77d4-4f0e-8d3c-9e0a4b6d2c22";
const APPROVED: &str = "# Plan: warn before high water\n\n## Steps\n\n1. Read the gauge every ten minutes\n2. Send a mail \
    above 4.2 m, at most one an hour\n3. Show the level on the status page — in metres\n";
const EDITED: &str = "# Plan: colour the tide chart\n\n- [ ] Ebb in blue\n- [ ] Flood in orange\n";

/// A Claude home with the fixtures named, as the project `/srv/tidewatch`.
struct Home(TempDir);

impl Home {
    fn with(logs: &[(&str, &str)]) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        let project = home.0.path().join("projects/-srv-tidewatch");
        fs::create_dir_all(&project).unwrap();
        for (fixture, name) in logs {
            let from = Path::new(FIXTURES).join(format!("{fixture}.jsonl"));
            fs::copy(from, project.join(format!("{name}.jsonl"))).unwrap();
        }
        home
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
        command
            .env_clear()
            .env("CLAUDE_CONFIG_DIR", self.0.path())
            .current_dir(self.0.path());
        command
            .arg("session")
            .args(arguments)
            .args(["--project", "/srv/tidewatch"]);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        serde_json::from_str(&out(&output)).unwrap()
    }
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_plan_is_printed_byte_for_byte() {
    let home = Home::with(&[("exit-plan-mode", OLD)]);
    let plan = home.run(&["plan"]);
    assert_eq!(
        (plan.status.code(), out(&plan).as_str(), err(&plan).as_str()),
        (Some(0), APPROVED, "")
    );
    let home = Home::with(&[("damaged", "s-damaged")]);
    let plan = home.run(&["plan"]);
    assert_eq!(
        out(&plan),
        "# Plan: nightly backup\r\n\r\n1. Copy — verify ✅\r\n"
    );
    assert_eq!(
        err(&plan),
        "note: lines of the session's logs that cannot be read and were skipped: 3\n"
    );
}

#[test]
fn json_tells_where_the_plan_was() {
    let home = Home::with(&[("exit-plan-mode", OLD)]);
    let found = home.json(&["plan", "--json"]);
    assert_eq!(found["plan"], APPROVED);
    assert_eq!(found["title"], "warn before high water");
    assert_eq!(found["source"], "approved_plan");
    assert_eq!(found["session_id"], OLD);
    assert_eq!(found["line"], 9);
    assert_eq!(found["timestamp"], "2025-11-20T09:04:00.000Z");
    assert_eq!(found["approved"], true);
    assert_eq!(found["skipped_lines"], 0);
    assert!(
        found["file"]
            .as_str()
            .unwrap()
            .ends_with(&format!("/projects/-srv-tidewatch/{OLD}.jsonl"))
    );
}

#[test]
fn a_plan_file_is_read_and_rebuilt_when_it_is_gone() {
    let home = Home::with(&[("plan-file", NEW), ("agent-4f0c11aa", "agent-4f0c11aa")]);
    let found = home.json(&["plan", "--json"]);
    assert_eq!(
        (&found["plan"], &found["source"]),
        (&EDITED.into(), &"written_plan_file".into())
    );
    assert_eq!(
        (&found["line"], &found["approved"]),
        (&5.into(), &Value::Null)
    );
    let plans = home.0.path().join("plans");
    fs::create_dir_all(&plans).unwrap();
    fs::write(plans.join("tidy-harbour-lantern.md"), "# Edited by hand").unwrap();
    let plan = home.run(&["plan", "--session-id", NEW]);
    assert_eq!(out(&plan), "# Edited by hand");
    let agent = home.json(&["plan", "--json", "--session-id", "agent-4f0c11aa"]);
    assert_eq!(agent["plan"], "# Plan: a colour scale\n\n1. Take viridis\n");
}

#[test]
fn several_sessions_are_2_and_listed() {
    let home = Home::with(&[("exit-plan-mode", OLD), ("plan-file", NEW)]);
    let several = home.run(&["plan"]);
    assert_eq!(
        (several.status.code(), out(&several).as_str()),
        (Some(2), "")
    );
    assert_eq!(
        err(&several),
        format!(
            "error: 2 sessions have a plan; choose one with --session-id, or the newest with \
             --newest:\n  {NEW}  2026-02-03T14:03:10.000Z  colour the tide chart\n  {OLD}  \
             2025-11-20T09:04:00.000Z  warn before high water\n"
        )
    );
    assert_eq!(out(&home.run(&["plan", "--newest"])), EDITED);
    assert_eq!(out(&home.run(&["plan", "--session-id", OLD])), APPROVED);
    let both = home.run(&["plan", "--newest", "--session-id", OLD]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn the_running_session_is_taken_and_named_when_it_is_not_there() {
    let home = Home::with(&[("exit-plan-mode", OLD), ("plan-file", NEW)]);
    let of = |name: &str, value: &str| home.command(&["plan"]).env(name, value).output().unwrap();
    assert_eq!(
        out(&of("SESSION_CONTEXT", &format!("session_id={OLD}"))),
        APPROVED
    );
    assert_eq!(out(&of("CLAUDE_SESSION_ID", NEW)), EDITED);
    let gone = of("CLAUDE_SESSION_ID", "gone");
    assert_eq!(gone.status.code(), Some(1));
    assert!(
        err(&gone).starts_with("error: no log of session gone in ")
            && err(&gone)
                .ends_with(" (the id is from the environment variable CLAUDE_SESSION_ID)\n"),
        "{}",
        err(&gone)
    );
}

#[test]
fn nothing_found_is_1_and_a_wrong_id_2() {
    let home = Home::with(&[]);
    let none = home.run(&["plan"]);
    assert_eq!((none.status.code(), out(&none).as_str()), (Some(1), ""));
    assert!(
        err(&none).starts_with("error: none of the 0 sessions in "),
        "{}",
        err(&none)
    );
    assert_eq!(
        home.run(&["plan", "--session-id", "../x"]).status.code(),
        Some(2)
    );
    assert_eq!(
        home.run(&["plan", "--session-id", "x"]).status.code(),
        Some(1)
    );
    let elsewhere = home.run(&["list", "--claude-home", "/nonexistent"]);
    assert_eq!(elsewhere.status.code(), Some(1));
    assert_eq!(
        err(&elsewhere),
        "error: no Claude Code sessions of /srv/tidewatch or a folder above it in /nonexistent/projects; name the folder \
         the session ran in with --project, or the Claude home with --claude-home\n"
    );
}

#[test]
fn sessions_are_listed_the_latest_first() {
    let home = Home::with(&[
        ("exit-plan-mode", OLD),
        ("plan-file", NEW),
        ("agent-4f0c11aa", "agent-4f0c11aa"),
    ]);
    assert_eq!(
        out(&home.run(&["list"])),
        format!(
            "{NEW}  2026-02-03T15:01:00.000Z  colour the tide chart\n{OLD}  2025-11-20T09:04:00.000Z  warn before high \
             water\n"
        )
    );
    let list = home.json(&["list", "--json"]);
    assert_eq!(list[0]["session_id"], NEW);
    assert_eq!(list[0]["logs"].as_array().unwrap().len(), 2);
    assert_eq!(list[1]["plan"]["source"], "approved_plan");
}

#[test]
fn a_log_does_not_steer_the_terminal_through_lists_and_errors() {
    let home = Home::with(&[]);
    let put = |name: &str, time: &str, plan: &str| {
        let block = json!({ "type": "tool_use", "id": "t", "name": "ExitPlanMode", "input": { "plan": plan } });
        let entry = json!({ "timestamp": time, "message": { "content": [block] } });
        let path = home.0.path().join("projects/-srv-tidewatch");
        fs::write(path.join(format!("{name}.jsonl")), format!("{entry}\n")).unwrap();
    };
    put("s1", "2026\u{1b}]0;pwned\u{7}", "# A\u{9b}31m title\n");
    put("s2", "2025\n  s9  forged", "# B\u{202e}\n");
    let steers = |text: &str| {
        let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        text.contains(steers)
    };
    let list = out(&home.run(&["list"]));
    assert!(!steers(&list), "{list:?}");
    assert_eq!(list.lines().count(), 2, "{list}");
    let several = err(&home.run(&["plan"]));
    assert!(!steers(&several), "{several:?}");
    assert_eq!(several.lines().count(), 3, "{several}");
    assert!(
        several.contains("2026\u{fffd}]0;pwned\u{fffd}"),
        "{several}"
    );
    let wrong = err(&home.run(&["plan", "--session-id", "\u{1b}[2Jx"]));
    assert!(!steers(&wrong), "{wrong:?}");
    let piped = out(&home.run(&["plan", "--session-id", "s1"]));
    assert_eq!(piped, "# A\u{9b}31m title\n");
}

#[test]
fn a_plan_of_another_project_is_given_with_a_note() {
    let home = Home::with(&[("exit-plan-mode", OLD)]);
    let other = home.0.path().join("projects/-srv-other");
    fs::create_dir_all(&other).unwrap();
    let entry = json!({ "cwd": "/srv/other", "slug": "there" });
    fs::write(other.join("s9.jsonl"), format!("{entry}\n")).unwrap();
    fs::create_dir_all(home.0.path().join("plans")).unwrap();
    fs::write(home.0.path().join("plans/there.md"), "# There\n").unwrap();
    let plan = home.run(&["plan", "--session-id", "s9"]);
    assert_eq!(
        (out(&plan).as_str(), err(&plan).as_str()),
        (
            "# There\n",
            "note: this session belongs to another project: /srv/other\n"
        )
    );
    let json = home.json(&["plan", "--session-id", "s9", "--json"]);
    assert_eq!(
        (&json["cwd"], &json["other_project"]),
        (&"/srv/other".into(), &true.into())
    );
    assert_eq!(err(&home.run(&["plan", "--session-id", OLD])), "");
}

#[test]
fn help_tells_which_plan_and_the_exit_codes() {
    for (subcommand, parts) in [
        (
            "plan",
            &[
                "The session is",
                "The plan is",
                "Exit codes:",
                "--newest",
                "byte for byte",
            ][..],
        ),
        ("list", &["Examples:\n", "Exit codes:"][..]),
    ] {
        let help = Command::new(env!("CARGO_BIN_EXE_planwright"))
            .args(["session", subcommand, "--help"])
            .output()
            .unwrap();
        for part in parts {
            assert!(out(&help).contains(part), "{part}: {}", out(&help));
        }
    }
}

#[test]
fn the_beginning_of_an_id_is_enough_where_it_means_one_session() {
    let home = Home::with(&[("exit-plan-mode", OLD), ("exit-plan-mode", "0d4f-other")]);
    for start in [OLD, "0d4f7"] {
        let plan = home.run(&["plan", "--session-id", start]);
        assert_eq!(
            (out(&plan).as_str(), err(&plan).as_str()),
            (APPROVED, ""),
            "{start}"
        );
        let log = home.run(&["transcript", start]);
        assert!(out(&log).starts_with("<session>"), "{start}: {}", err(&log));
    }
    for arguments in [
        ["plan", "--session-id", "0d4f"].as_slice(),
        &["transcript", "0d4f"],
    ] {
        let several = home.run(arguments);
        assert_eq!(
            (several.status.code(), err(&several)),
            (
                Some(2),
                format!(
                    "error: 2 sessions have ids that begin with 0d4f; give more characters: 0d4f-other, {OLD}\n"
                )
            )
        );
    }
    let none = home.run(&["transcript", "77"]);
    assert_eq!(none.status.code(), Some(1), "{}", err(&none));
    assert!(
        err(&none).starts_with("error: no log of session 77 in "),
        "{}",
        err(&none)
    );
}
