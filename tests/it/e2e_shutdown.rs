//! A deploy end to end: SIGTERM while an agent works. The agent is a shell script that tells when
//! it has begun, and waits for permission to go on, through named pipes.

#![cfg(unix)]

use std::path::{Path, PathBuf};

use planwright::engine::model::run::State;
use tempfile::TempDir;
use tokio::process::Command;

use crate::engine_agent::GOOD;
use crate::peer_claude::processes;
use crate::support::rig::PLAN;
use crate::support::system::{Options, System};

const REPO: &str = "acme/search";
const PAUSED: &str = "⏸️ Paused while the bot restarts; it continues by itself.\n\n";

/// The agent: notes that it was asked, and prints the plan once it may.
const AGENT: &str = r#"#!/bin/sh
cat > /dev/null
echo asked >> "$0.asked"
echo begun > "$0.begun"
read -r go < "$0.go"
cat "$0.plan"
"#;

struct Deployed {
    system: System,
    issue: u64,
    folder: TempDir,
}

impl Deployed {
    /// Starts the bot with this grace period and gives `/save-plan`.
    async fn new(grace: &str) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let agent = folder.path().join("agent.sh");
        std::fs::write(&agent, AGENT).unwrap();
        std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(folder.path().join("agent.sh.plan"), GOOD).unwrap();
        for pipe in ["agent.sh.begun", "agent.sh.go"] {
            let path = folder.path().join(pipe);
            let made = Command::new("mkfifo").arg(path).status().await;
            assert!(made.unwrap().success());
        }
        let environment = vec![
            ("PLANWRIGHT_AGENT_KIND", "command".to_owned()),
            ("PLANWRIGHT_AGENT_PATH", agent.display().to_string()),
            // It uses the files beside it.
            ("PLANWRIGHT_AGENT_SANDBOX", "off".to_owned()),
            ("PLANWRIGHT_AGENT_TRIES", "1".to_owned()),
            ("PLANWRIGHT_SERVER_SHUTDOWN_GRACE_SECONDS", grace.to_owned()),
        ];
        let options = Options {
            environment,
            ..Options::default()
        };
        let system = System::with(options).await;
        system.repository(REPO, false);
        let opened = system.sim.open_issue(REPO, "bob", "Search is slow", PLAN);
        let issue = opened.unwrap();
        system
            .sim
            .comment(REPO, issue, "ada", "/save-plan")
            .unwrap();
        Self {
            system,
            issue,
            folder,
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("agent.sh.{name}"))
    }

    /// Waits until the agent has begun.
    async fn begun(&self) {
        piped(self.file("begun"), None).await;
    }

    /// Lets the agent finish.
    async fn go(&self) {
        piped(self.file("go"), Some("go\n")).await;
    }

    fn asked(&self) -> usize {
        let noted = std::fs::read_to_string(self.file("asked")).unwrap();
        noted.lines().count()
    }

    fn status(&self) -> String {
        self.system.said(REPO, self.issue).remove(0).body
    }

    async fn saved(&self) {
        let runs = self.system.run_to_rest().await;
        assert_eq!(runs.len(), 1);
        assert_eq!(runs[0].state, State::Succeeded, "{}", self.status());
        let said = self.system.said(REPO, self.issue);
        assert_eq!(said.len(), 1, "{said:#?}");
        assert!(said[0].body.starts_with("✅ Plan saved:"), "{said:#?}");
        assert_eq!(self.system.plans(REPO).len(), 1);
    }
}

/// Reads a named pipe to its end, or writes to it. Both wait for the other side.
async fn piped(pipe: PathBuf, write: Option<&'static str>) {
    let done = tokio::task::spawn_blocking(move || match write {
        Some(text) => std::fs::write(pipe, text),
        None => std::fs::read(pipe).map(|_| ()),
    });
    done.await.unwrap().unwrap();
}

fn no_process_left(folder: &Path) {
    let left = processes::with(&[&folder.display().to_string()]);
    assert!(left.is_empty(), "{left:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_ends_within_the_grace_period_is_not_repeated_after_the_restart() {
    let mut deployed = Deployed::new("120").await;
    deployed.begun().await;
    deployed.system.ask_to_stop().await;
    deployed.go().await;
    deployed.system.stopped().await;
    assert!(
        deployed.status().starts_with(PAUSED),
        "{}",
        deployed.status()
    );
    assert!(deployed.system.plans(REPO).is_empty());
    deployed.system.start_bot().await;
    deployed.saved().await;
    assert_eq!(deployed.asked(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_is_ended_by_a_deploy_begins_again_and_costs_no_try() {
    let mut deployed = Deployed::new("0").await;
    deployed.begun().await;
    deployed.system.ask_to_stop().await;
    deployed.system.stopped().await;
    no_process_left(deployed.folder.path());
    assert!(
        deployed.status().starts_with(PAUSED),
        "{}",
        deployed.status()
    );
    deployed.system.start_bot().await;
    deployed.begun().await;
    let working = deployed.status();
    assert!(
        working.starts_with("👀 Working on `/save-plan`"),
        "{working}"
    );
    deployed.go().await;
    deployed.saved().await;
    assert_eq!(deployed.asked(), 2);
}
