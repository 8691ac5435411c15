//! Tests of the command `planwright try`.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::engine_agent::ASKS;

fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
    command.env_clear().current_dir(folder);
    command
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn thread(command: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let conversation = format!("title: Help\n--- @ann\nWhat is there?\n--- @ann\n{command}\n");
    std::fs::write(folder.path().join("thread.md"), conversation).unwrap();
    program(folder.path())
        .args(["try", "--thread", "thread.md"])
        .args(arguments)
        .output()
        .unwrap()
}

/// A program that ends with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_command_that_saves_nothing_succeeds_with_its_reply() {
    let help = thread("/plan-help", &[]);
    assert_eq!((help.status.code(), text(&help.stderr)), (Some(0), ""));
    let shown = text(&help.stdout);
    assert!(shown.contains("(1 post)\n"), "{shown}");
    assert!(shown.contains("    | `/plan-status` |"), "{shown}");
    assert!(!shown.contains("<!--"), "{shown}");
    let end = "\nThe pages above are closed; `planwright try --keep` keeps them open.\n";
    assert!(shown.ends_with(end), "{shown}");
    for command in ["/plan-status", "/cancel"] {
        let done = thread(command, &["--json"]);
        assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), ""));
        let shown: Value = serde_json::from_str(text(&done.stdout)).unwrap();
        assert_eq!(shown["run"]["state"], "succeeded");
        assert!(shown["plan_issue"].is_null());
    }
}

#[test]
fn a_failed_research_does_not_speak_of_a_plan() {
    let failed = thread("/research how it works", &[]);
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(
        text(&failed.stderr),
        "error: the command failed: agent_unavailable\n"
    );
}

#[test]
fn a_command_that_fails_is_1() {
    let none = thread("/save-plan", &[]);
    assert_eq!(none.status.code(), Some(1));
    assert_eq!(
        text(&none.stderr),
        "error: no plan was saved: no_plan_found\n"
    );
    assert!(text(&none.stdout).contains("## Error: no_plan_found"));
    let unchecked = thread("/check-plan\n\n# Do\n\nSomething.", &[]);
    assert_eq!(
        text(&unchecked.stderr),
        "error: not all plans can be executed: validation_failed\n"
    );
}

#[test]
fn what_stays_up_can_be_worked_with() {
    let folder = tempfile::tempdir().unwrap();
    let child = program(folder.path())
        .args(["try", "--keep"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = Ended(child.unwrap());
    let said: Vec<String> = BufReader::new(child.0.stderr.take().unwrap())
        .lines()
        .map(|line| line.unwrap().trim().to_owned())
        .filter(|line| !line.is_empty())
        .take(4)
        .collect();
    let [stay, export, list, save] = said.as_slice() else {
        panic!("{said:?}")
    };
    assert!(
        stay.starts_with("The pages stay open at http://127.0.0.1:"),
        "{stay}"
    );
    let token = export.strip_prefix("export PLANWRIGHT_TOKEN=").unwrap();
    let run = |line: &str, more: &[&str]| {
        let words = line.split(' ').skip(1);
        let mut command = program(folder.path());
        command
            .args(words)
            .args(more)
            .env("PLANWRIGHT_TOKEN", token)
            .env("HOME", folder.path());
        command.output().unwrap()
    };
    let listed = run(list, &["--json"]);
    assert_eq!(listed.status.code(), Some(0), "{}", text(&listed.stderr));
    let listed: Value = serde_json::from_str(text(&listed.stdout)).unwrap();
    assert_eq!(listed["plans"].as_array().unwrap().len(), 1);
    std::fs::copy(
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/fixtures/plans/session-store.md"
        ),
        folder.path().join("FILE"),
    )
    .unwrap();
    let saved = run(
        save,
        &[
            "--set",
            "github.write_gap_ms=0",
            "--set",
            "github.notify_gap_ms=0",
        ],
    );
    assert_eq!(saved.status.code(), Some(0), "{}", text(&saved.stderr));
}

/// An agent that prints `answer` in every turn.
fn with_agent(answer: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("answer.md"), answer).unwrap();
    let answer = folder.path().join("answer.md").display().to_string();
    program(folder.path())
        .args([
            "try",
            "--set",
            "agent.kind=command",
            "--set",
            "agent.path=/bin/cat",
        ])
        .args(["--set", &format!("agent.args=[\"{answer}\"]")])
        .args(["--set", &format!("agent.reads=[\"{answer}\"]")])
        .output()
        .unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn an_agent_can_be_tried() {
    let sample = include_str!("../../fixtures/threads/try.md");
    let (_, plan) = sample.split_once("\n## Overview\n").unwrap();
    let (plan, _) = plan.split_once("\n--- @ada").unwrap();
    let done = with_agent(&format!(
        "# Plan: Keep the index\n\n## Enrichment Details\n\n### Process Summary\n\n- **Mode**: enriched\n\n\
         ### Context Categories Populated\n\n- ✅ Known Pitfalls\n\n---\n\n## Overview\n{plan}\n\
         ## Context & Understanding\n\n### Known Pitfalls\n\n- DO NOT trust the time of a file\n"
    ));
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), ""));
    let shown = text(&done.stdout);
    assert!(shown.contains("#2 Keep the index\n"), "{shown}");
    assert!(!shown.contains("Fallback"), "{shown}");
    let asked = with_agent(ASKS);
    assert_eq!(asked.status.code(), Some(1));
    assert_eq!(
        text(&asked.stderr),
        "error: no plan was saved: the run is waiting for answers; use --keep to answer on the page\n"
    );
    assert!(
        text(&asked.stdout).contains("- [ ] "),
        "{}",
        text(&asked.stdout)
    );
}

#[test]
fn what_try_makes_itself_cannot_be_set() {
    for (arguments, want) in [
        (
            ["--config", "x.toml"],
            "error: `try` reads no configuration file; omit --config, and configure the agent with --set agent.KEY=VALUE\n",
        ),
        (
            ["--set", "store.path=x.db"],
            "error: `try` sets everything except the agent; omit --set store.path, only keys that begin with agent. can be set\n",
        ),
    ] {
        let done = thread("/save-plan", &arguments);
        assert_eq!((done.status.code(), text(&done.stderr)), (Some(2), want));
    }
    let gone = thread(
        "/save-plan",
        &[
            "--set",
            "agent.kind=command",
            "--set",
            "agent.path=/nowhere/agent",
        ],
    );
    assert_eq!(gone.status.code(), Some(2));
    let said = text(&gone.stderr);
    assert!(said.contains("/nowhere/agent"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_report_of_research_is_its_summary_and_not_the_comment_of_its_last_topic() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("agent.sh");
    let report = crate::support::research::report("Retries");
    std::fs::write(&script, format!("cat <<'END'\n{report}\nEND\n")).unwrap();
    let script = format!("agent.args={}", script.display());
    let reads = format!("agent.reads={}", folder.path().display());
    let arguments = ["agent.kind=command", "agent.path=/bin/sh", &script, &reads];
    let mut all = vec!["--json"];
    all.extend(arguments.iter().flat_map(|set| ["--set", set]));
    let done = thread("/research retries; queues", &all);
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), ""));
    let shown: Value = serde_json::from_str(text(&done.stdout)).unwrap();
    let report = shown["report"].as_str().unwrap();
    assert!(
        report.starts_with("✅ Research finished: 2 of 2 topics"),
        "{report}"
    );
}

#[test]
fn the_dates_of_a_conversation_and_its_bots_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let conversation = "title: Help\n--- @ann 2025-03-04T05:06:00Z\nWhat is there?\n--- @assistant[bot] 2025-03-05T07:08:00Z\n\
                        A command.\n--- @ann\n/plan-help\n";
    std::fs::write(folder.path().join("thread.md"), conversation).unwrap();
    let child = program(folder.path())
        .args(["try", "--keep", "--json", "--thread", "thread.md"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = Ended(child.unwrap());
    let mut lines = BufReader::new(child.0.stderr.take().unwrap()).lines();
    let up = lines.find(|line| line.as_ref().unwrap().contains("The pages stay open at "));
    let up = up.unwrap().unwrap();
    let address = up.split_whitespace().nth(5).unwrap();
    let address = address.strip_prefix("http://").unwrap();
    let mut connection = std::net::TcpStream::connect(address).unwrap();
    let request = format!(
        "GET /acme/search/issues/1 HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    );
    std::io::Write::write_all(&mut connection, request.as_bytes()).unwrap();
    let mut page = String::new();
    std::io::Read::read_to_string(&mut connection, &mut page).unwrap();
    for part in [
        "4 Mar 2025, 05:06 UTC",
        "5 Mar 2025, 07:08 UTC",
        "<b>assistant</b> <span class=\"bot\">bot</span>",
        "Comment as <b>you</b>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
