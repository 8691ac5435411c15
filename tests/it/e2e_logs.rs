//! Every log line about a run says which run it is, and where: as JSON from the bot's process, and
//! as text from the engine.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};

use planwright::formats::command::Command;
use serde_json::Value;

use crate::support::fake_forge::Fault;
use crate::support::rig::{PLAN, Rig};
use crate::support::system::{Options, System};

const REPO: &str = "acme/search";

/// The fields of every line about a run.
const FIELDS: [&str; 6] = [
    "run.id",
    "delivery.guid",
    "repository",
    "number",
    "command",
    "actor",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_lines_about_a_run_carry_its_fields() {
    // An agent that prints no result, so that its turn fails and is logged by the adapter.
    let system = System::with(Options {
        environment: vec![
            ("PLANWRIGHT_LOG_LEVEL", "info,planwright=debug".to_owned()),
            ("PLANWRIGHT_AGENT_KIND", "command".to_owned()),
            ("PLANWRIGHT_AGENT_PATH", "/bin/false".to_owned()),
        ],
        ..Options::default()
    })
    .await;
    system.repository(REPO, false);
    let opened = system.sim.open_issue(REPO, "bob", "Search is slow", PLAN);
    let issue = opened.unwrap();
    // The second and third wait for the first, and are acknowledged meanwhile.
    for command in [
        "/save-plan",
        "/save-raw-plan",
        "/research one; two",
        "/plan-status",
    ] {
        system.sim.comment(REPO, issue, "ada", command).unwrap();
    }
    let runs = system.run_to_rest().await;
    assert_eq!(runs.len(), 4);
    system.logged_times("run ended", 2).await;
    let mut messages = BTreeSet::new();
    for line in system.log() {
        let Some(run) = runs.iter().find(|run| line.contains(&run.id)) else {
            continue;
        };
        let line: Value = serde_json::from_str(&line).unwrap();
        // The only span: those for traces are not logged.
        let Some([span]) = line["spans"].as_array().map(Vec::as_slice) else {
            panic!("not one span: {line}");
        };
        assert_eq!(span["name"], "run", "{line}");
        for field in FIELDS {
            assert!(!span[field].is_null(), "{field} is missing: {line}");
        }
        assert_eq!(span["run.id"], run.id.as_str(), "{line}");
        assert_eq!(span["repository"], REPO);
        assert_eq!(span["number"], issue);
        assert_eq!(span["command"], run.command.as_str());
        assert_eq!(span["actor"], "ada");
        messages.insert(line["message"].as_str().unwrap().to_owned());
    }
    for expected in [
        "run started",
        "run ended",
        "asked GitHub",
        "an agent's turn failed",
    ] {
        assert!(messages.contains(expected), "{expected}: {messages:#?}");
    }
}

/// Collects what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn text_lines_about_a_run_carry_its_fields() {
    let log = Log::default();
    let writer = log.clone();
    let lines = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(move || writer.clone())
        .finish();
    let rig = Rig::new().await;
    let mut runs = Vec::new();
    {
        let _here = tracing::subscriber::set_default(lines);
        for command in [Command::SaveRawPlan, Command::SavePlan, Command::Status] {
            runs.push(rig.say(command).await);
        }
        // The second is blocked, and is acknowledged ahead of its start, with a failure to log.
        rig.forge.fail(1, Fault::LostBefore);
        rig.worker("acknowledger").acknowledge_step().await.unwrap();
        rig.settle().await;
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let failed = log.lines().find(|line| line.contains("no reaction yet"));
    assert!(failed.unwrap().contains(&runs[1].0), "{log}");
    for run in runs {
        let mut about = 0;
        for line in log.lines().filter(|line| line.contains(&run.0)) {
            for field in FIELDS {
                assert!(line.contains(&format!("{field}=")), "{field}: {line}");
            }
            about += 1;
        }
        assert!(about >= 2, "{run}: {log}");
    }
}
