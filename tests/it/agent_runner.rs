//! Tests of the process runner with shell scripts as agents: how turns end, and that no process of
//! a turn survives.
#![cfg(target_os = "linux")]

mod endings;
mod files;
mod limits;
mod network;
mod opening;
mod processes;
mod sandbox;
mod secrets;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ::secrecy::SecretString;
use planwright::adapters::agent::command::{Command, CommandSettings};
use planwright::adapters::agent::{
    LocalAgent, OpenError, OutputFormat, ResourceLimits, RunnerSettings, SandboxMode,
};
use planwright::adapters::clock::SystemClock;
use planwright::adapters::redact::Redactor;
use planwright::engine::agent::TurnObserver;
use planwright::engine::agent::{Agent, Task};
use planwright::engine::model::agent::{Ending, Limits, Report, Session};
use planwright::engine::model::run::RunId;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A result that says success.
const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"the plan","session_id":"s-1","total_cost_usd":0.25,"num_turns":1,"permission_denials":[{}]}"#;

/// Shell lines that print an assistant's message with this text and id.
fn says(id: &str, text: &str) -> String {
    format!(
        r#"echo '{{"type":"assistant","session_id":"s-1","message":{{"id":"{id}","content":[{{"type":"text","text":"{text}"}}]}}}}'"#
    )
}

/// A shell line that prints the result.
fn result() -> String {
    format!("echo '{RESULT}'")
}

/// A place with one script as the agent.
struct Rig {
    place: TempDir,
    settings: RunnerSettings,
    command: CommandSettings,
    limits: Limits,
}

impl Rig {
    /// An agent that runs these shell lines.
    fn new(script: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let scripts = place.path().join("scripts");
        fs::create_dir(&scripts).unwrap();
        let path = scripts.join("agent.sh");
        fs::write(&path, script).unwrap();
        Self {
            settings: RunnerSettings {
                folder: place.path().join("agents"),
                sandbox: SandboxMode::Auto,
                network: None,
                helper: PathBuf::from(env!("CARGO_BIN_EXE_planwright")),
                resources: ResourceLimits::default(),
                secrets: Vec::new(),
                concurrency: 2,
                grace: Duration::from_millis(500),
                max_line_bytes: 1 << 20,
                max_output_bytes: 256 << 20,
                redactor: Redactor::default(),
            },
            // The shell reads the script: a script that is executed may still be open for writing
            // in a process that another test is just starting.
            command: CommandSettings {
                path: PathBuf::from("/bin/sh"),
                args: vec![path.into()],
                environment: Vec::new(),
                reads: vec![scripts],
                output: OutputFormat::StreamJson,
            },
            limits: Limits {
                deadline: Duration::from_mins(1),
                silence: Duration::from_mins(1),
                turns: 5,
                cost: None,
            },
            place,
        }
    }

    fn path(&self) -> &Path {
        self.place.path()
    }

    fn open(&self) -> Result<LocalAgent, OpenError> {
        let client = Arc::new(Command(self.command.clone()));
        LocalAgent::open(self.settings.clone(), client, Arc::new(SystemClock))
    }

    fn task(&self, prompt: &str) -> Task {
        Task {
            part: 0,
            wanted: Vec::new(),
            files: Vec::new(),
            model: None,
            repository: None,
            run: RunId::new(),
            system: "the instructions".to_owned(),
            prompt: prompt.to_owned(),
            session: Session::New("s-1".to_owned()),
            cost_before: 0,
            limits: self.limits,
        }
    }

    /// One turn from start to end.
    async fn turn(&self) -> Report {
        // A program that another test is starting has a copy of the lock of the last turn until it is
        // executed.
        let mut opened = self.open();
        for _ in 0..100_000 {
            if !matches!(opened, Err(OpenError::InUse(_))) {
                break;
            }
            tokio::task::yield_now().await;
            opened = self.open();
        }
        let agent = opened.unwrap();
        turn(&agent, &self.task("the prompt")).await
    }
}

async fn turn(agent: &LocalAgent, task: &Task) -> Report {
    let (seen, _) = TurnObserver::new();
    agent.work(task, &seen, CancellationToken::new()).await
}

/// The text of a success.
fn text(report: &Report) -> &str {
    match &report.ending {
        Ending::Success { text, .. } => text,
        other => panic!("{other:?}: {}", report.stderr),
    }
}

/// A number of seconds that no other process sleeps.
fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("1000.{}00{next}", std::process::id())
}

/// How many processes have this among their arguments.
fn running(argument: &str) -> usize {
    let commands = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    commands
        .filter(|command| memchr::memmem::find(command, argument.as_bytes()).is_some())
        .count()
}
