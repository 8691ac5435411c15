//! `planwright setup` from the first click to the first saved plan, with a real browser, and what
//! goes wrong on the way.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use github_simulator::model::Role;
use github_simulator::{Fault, FaultKind, Simulator, SimulatorOptions, SystemClock};
use secrecy::SecretString;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::timeout;

use crate::simulator_support::KEYS;
use crate::support::peers;
use crate::support::rig::PLAN;

/// Timeout of every wait, far longer than needed.
const PATIENCE: Duration = Duration::from_mins(1);

const REPO: &str = "ada/search";

/// A GitHub on which nobody has registered the bot yet: the App that it has belongs to others.
async fn github() -> Simulator {
    let secret = SecretString::from("of another App");
    let clock = Arc::new(SystemClock);
    let options = SimulatorOptions::new("another", clock, KEYS.public_pem.clone(), secret);
    let github = Simulator::start(options).await.unwrap();
    github.add_repository(REPO, false).unwrap();
    github.grant(REPO, "ada", Role::Admin).unwrap();
    github.set_visitor("ada");
    github
}

/// The program, in a folder of its own.
struct Program {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
    errors: Lines<BufReader<ChildStderr>>,
}

async fn line<R: AsyncRead + Unpin>(lines: &mut Lines<BufReader<R>>) -> Option<String> {
    let line = timeout(PATIENCE, lines.next_line()).await;
    line.expect("the program prints its next line in time").unwrap()
}

impl Program {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_planwright"))
            .args(arguments)
            .env_clear()
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        Self {
            out: BufReader::new(child.stdout.take().unwrap()).lines(),
            errors: BufReader::new(child.stderr.take().unwrap()).lines(),
            child,
        }
    }

    /// Returns the first line of the output that contains `text`.
    async fn says(&mut self, text: &str) -> String {
        let mut seen = Vec::new();
        while let Some(line) = line(&mut self.out).await {
            if line.contains(text) {
                return line;
            }
            seen.push(line);
        }
        let error = line(&mut self.errors).await;
        panic!("`{text}` was not printed: {seen:#?} {error:?}");
    }

    /// Returns the first line of the log that contains `text`.
    async fn logs(&mut self, text: &str) -> String {
        let mut seen = Vec::new();
        while let Some(line) = line(&mut self.errors).await {
            if line.contains(text) {
                return line;
            }
            seen.push(line);
        }
        panic!("`{text}` was not logged: {seen:#?}");
    }

    /// Waits for the end. Returns the exit code and what remained on standard error.
    async fn ended(mut self) -> (i32, String) {
        while line(&mut self.out).await.is_some() {}
        let mut rest = String::new();
        while let Some(line) = line(&mut self.errors).await {
            rest.push_str(&line);
        }
        let status = timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap();
        (status.code().unwrap(), rest)
    }
}

fn api(github: &Simulator) -> String {
    format!("github.api_url={}", github.api_url())
}

fn files(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}


#[tokio::test(flavor = "multi_thread")]
async fn a_person_gets_from_nothing_to_a_saved_plan_without_typing() {
    let Some(chromium) = peers::chromium() else {
        return;
    };
    let chromium = chromium.display().to_string();
    let github = github().await;
    let issue = github
        .open_issue(REPO, "ada", "Slow start", "Why is it slow?")
        .unwrap();
    github.comment(REPO, issue, "ada", PLAN).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut setup = Program::start(
        folder.path(),
        &["setup", "--no-browser", "--set", &api(&github)],
    );
    let link = setup.says("http://127.0.0.1:").await;
    let shots = std::env::var("PLANWRIGHT_SHOTS").unwrap_or_default();
    let env = [
        ("CHROMIUM", &*chromium),
        ("LINK", link.trim()),
        ("SHOTS", &shots),
    ];
    let Some(mut person) = peers::start("setup.mjs", &env) else {
        return;
    };
    assert_eq!(person.next().await, Some(json!({ "step": "created" })));
    assert_eq!(person.next().await, Some(json!({ "step": "installed" })));
    setup.says("The App is installed.").await;
    let start = setup.says("planwright serve").await;
    let (code, errors) = setup.ended().await;
    assert_eq!((code, &*errors), (0, ""));

    let app = folder.path().join("planwright-app").canonicalize().unwrap();
    let written = ["github-private-key.pem", "planwright.toml", "webhook-secrets"];
    assert_eq!(files(&app), written.map(str::to_owned).into());
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&app), 0o700);
    for name in written {
        assert_eq!(mode(&app.join(name)), 0o600, "{name}");
    }
    let config = app.join("planwright.toml").display().to_string();
    assert_eq!(start.trim(), format!("planwright serve --config {config}"));

    // The command that was printed, with a bot that does not wait between its requests.
    let quick = [
        "github.write_gap_ms=0",
        "github.notify_gap_ms=0",
        "worker.settle_seconds=0",
        "sweep.pull_every_seconds=5",
    ];
    let mut arguments = vec!["serve", "--config", &config];
    arguments.extend(quick.iter().flat_map(|one| ["--set", one]));
    let mut bot = Program::start(folder.path(), &arguments);
    bot.logs("GitHub has confirmed the App").await;
    let page = format!("{}/{REPO}/issues/{issue}", github.url());
    let comment = json!({ "issue": page, "comment": "/save-plan" });
    person.send(&comment).await;
    assert_eq!(person.next().await, Some(json!({ "step": "commented" })));
    bot.logs("run ended").await;
    person.send(&json!({ "expected": "Plan saved" })).await;
    assert_eq!(person.next().await, Some(json!({ "step": "saved" })));
    // The comment with the command; nothing was typed for the setup.
    assert_eq!(person.next().await, Some(json!({ "typed": 1 })));
    let (rest, succeeded) = person.finish().await;
    assert_eq!((rest, succeeded), (Vec::<Value>::new(), true));
    let issues = github.issues(REPO).unwrap();
    assert_eq!(issues.iter().filter(|issue| issue.via_app).count(), 1);
    github.shutdown().await;
}
