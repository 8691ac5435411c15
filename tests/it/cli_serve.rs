//! Tests of the command `planwright serve`: error messages if it cannot start, and its log while it
//! runs.

use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use github_simulator::model::Role;
use github_simulator::{Simulator, SimulatorOptions};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

use crate::simulator_support::{KEYS, REPO};

pub(crate) const SECRET: &str = "a webhook secret of good length";

/// Longest that anything here may take; far more than it needs.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// The program with all that serving needs, for the App of [`simulator`].
pub(crate) fn program(folder: &Path, api_url: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
    command
        .env_clear()
        .env("PLANWRIGHT_SERVER_LISTEN", "127.0.0.1:0")
        .env("PLANWRIGHT_WEBHOOK_SECRETS", SECRET)
        .env(
            "PLANWRIGHT_GITHUB_PRIVATE_KEY",
            KEYS.private_pem.expose_secret(),
        )
        .env("PLANWRIGHT_GITHUB_APP_ID", "4711")
        .env("PLANWRIGHT_GITHUB_API_URL", api_url)
        .env("PLANWRIGHT_LOG_FORMAT", "json")
        .current_dir(folder)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

pub(crate) async fn simulator() -> Simulator {
    let options = SimulatorOptions::new(
        "planwright",
        Arc::new(github_simulator::SystemClock),
        KEYS.public_pem.clone(),
        SecretString::from(SECRET),
    );
    let simulator = Simulator::start(options).await.unwrap();
    simulator.add_repository(REPO, false).unwrap();
    simulator.grant(REPO, "ada", Role::Write).unwrap();
    simulator.install(&[REPO]).unwrap();
    simulator
}

/// The exit code, and the error that standard error ends with.
pub(crate) async fn refusal(command: &mut Command) -> (Option<i32>, String) {
    let output: Output = timeout(PATIENCE, command.output()).await.unwrap().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let error = said.lines().last().unwrap_or_default().to_owned();
    (output.status.code(), error)
}

/// A program that runs, and what it logs.
pub(crate) struct Running {
    pub(crate) child: Child,
    lines: Lines<BufReader<ChildStderr>>,
    pub(crate) seen: Vec<String>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.arg("serve").stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let seen = Vec::new();
        Self { child, lines, seen }
    }

    /// The next line with each of these messages, in whatever order they come.
    pub(crate) async fn lines(&mut self, messages: &[&str]) -> Vec<Value> {
        let mut left = messages.to_vec();
        let mut found = Vec::new();
        while !left.is_empty() {
            let next = timeout(PATIENCE, self.lines.next_line()).await;
            let Ok(Ok(Some(line))) = next else {
                panic!("no {left:?} in:\n{}", self.seen.join("\n"));
            };
            let value: Value = serde_json::from_str(&line).unwrap();
            self.seen.push(line);
            let wanted = left.iter().position(|message| value["message"] == *message);
            if let Some(at) = wanted {
                left.remove(at);
                found.push(value);
            }
        }
        found
    }

    pub(crate) async fn line(&mut self, message: &str) -> Value {
        self.lines(&[message]).await.remove(0)
    }

    pub(crate) async fn listening(&mut self) -> String {
        let line = self.line("listening").await;
        line["address"].as_str().unwrap().to_owned()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_about_a_run_name_repository_issue_command_and_actor() {
    let simulator = simulator().await;
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(&mut program(folder.path(), &simulator.api_url()));
    let address = running.listening().await;
    let issue = simulator
        .open_issue(REPO, "ada", "Search is slow", "It takes a minute.")
        .unwrap();
    simulator.settle().await;
    simulator.set_targets(vec![format!("http://{address}/webhook")]);
    simulator.comment(REPO, issue, "ada", "/save-plan").unwrap();
    let messages = ["delivery accepted", "run started", "run failed"];
    for line in running.lines(&messages).await {
        let about = &line["span"];
        assert_eq!(about["repository"], REPO, "{line}");
        assert_eq!(about["number"], issue, "{line}");
        assert_eq!(about["command"], "save-plan", "{line}");
        assert_eq!(about["actor"], "ada", "{line}");
    }
}

#[tokio::test]
async fn a_database_that_has_lost_data_ends_serve_and_is_not_restarted() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("planwright.db.changes");
    std::fs::write(&record, "00000000000000000007\n").unwrap();
    let (code, error) = refusal(program(folder.path(), "http://127.0.0.1:1/").arg("serve")).await;
    assert_eq!(code, Some(2));
    let real = folder.path().canonicalize().unwrap();
    assert_eq!(
        error.replace(real.to_str().unwrap(), "DIR"),
        "error: the database has lost changes: DIR/planwright.db is missing, and DIR/planwright.db.changes records 7 \
         changes in it: put the database back with its -wal file, or restore a backup in place of both; to begin with a new \
         database, delete DIR/planwright.db.changes first"
    );
    std::fs::remove_file(record).unwrap();
    let mut running = Running::start(&mut program(folder.path(), "http://127.0.0.1:1/"));
    running.listening().await;
}

#[tokio::test]
async fn a_database_that_cannot_be_opened_is_found_by_config_check() {
    let folder = tempfile::tempdir().unwrap();
    let check = async |path: &str| {
        let mut command = program(folder.path(), "http://127.0.0.1:1/");
        command.env("PLANWRIGHT_STORE_PATH", path);
        let (code, error) = refusal(command.args(["config", "--check"])).await;
        let real = folder.path().canonicalize().unwrap();
        (code, error.replace(real.to_str().unwrap(), "DIR"))
    };
    std::fs::write(folder.path().join("file"), "").unwrap();
    for (path, error) in [
        (
            "/nope/x.db",
            "error: the store failed: cannot open /nope/x.db for writing: No such file or directory (os error 2): make \
             the directory first, or name another database path",
        ),
        (
            "file/x.db",
            "error: the store failed: cannot open DIR/file/x.db for writing: Not a directory (os error 20): name \
             another database path",
        ),
        (
            "/dev/null",
            "error: the store failed: cannot open /dev/null for writing: it is not a regular file: name another \
             database path",
        ),
    ] {
        assert_eq!(check(path).await, (Some(2), error.to_owned()));
    }
    assert_eq!(check("x.db").await, (Some(0), String::new()));
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 1, "the check makes nothing");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_process_leaves_no_core_dump_whatever_the_limit_was() {
    let simulator = simulator().await;
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(&mut program(folder.path(), &simulator.api_url()));
    running.listening().await;
    let id = running.child.id().unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{id}/limits")).unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"))
        .unwrap();
    let fields: Vec<&str> = core.split_whitespace().skip(4).take(2).collect();
    assert_eq!(fields, ["0", "0"], "{core}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_prints_to_standard_error_is_in_the_log_and_in_no_comment() {
    use std::os::unix::fs::PermissionsExt as _;
    let simulator = simulator().await;
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("agent.sh");
    let script = "#!/bin/sh\ncat > /dev/null\necho 'cannot read /srv/models/x' >&2\nexit 3\n";
    std::fs::write(&agent, script).unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = program(folder.path(), &simulator.api_url());
    command
        .env("PLANWRIGHT_AGENT_KIND", "command")
        .env("PLANWRIGHT_AGENT_PATH", &agent)
        .env("PLANWRIGHT_AGENT_TRIES", "1")
        .env("PLANWRIGHT_GITHUB_WRITE_GAP_MS", "0")
        .env("PLANWRIGHT_GITHUB_NOTIFY_GAP_MS", "0");
    let mut running = Running::start(&mut command);
    let address = running.listening().await;
    let issue = simulator
        .open_issue(REPO, "ada", "Search is slow", "It takes a minute.")
        .unwrap();
    simulator.settle().await;
    simulator.set_targets(vec![format!("http://{address}/webhook")]);
    simulator.comment(REPO, issue, "ada", "/save-plan").unwrap();
    let line = running.line("an agent's turn failed").await;
    assert_eq!(line["stderr"], "cannot read /srv/models/x", "{line}");
    running.line("run failed").await;
    let comments = simulator.comments(REPO, issue).unwrap();
    let said: String = comments.iter().map(|one| one.body.as_str()).collect();
    assert!(
        said.contains("The agent's process ended with code 3 and without a result."),
        "{said}"
    );
    assert!(!said.contains("/srv/models"), "{said}");
}
