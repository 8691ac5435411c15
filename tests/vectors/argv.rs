//! How older runners called their agents, and the maximum length of an argument.

use std::process::{Command, Stdio};
use std::time::Duration;

use planwright::adapters::agent::claude::{Claude, ClaudeSettings};
use planwright::adapters::agent::{Client, Program, RunDirs};
use planwright::engine::agent::Task;
use planwright::engine::model::agent::{Limits, Session};
use planwright::engine::model::run::RunId;
use serde_json::{Value, json};

use crate::harness::{Departures, Tests};

crate::harness::tests!(arguments_of_older_runners,);

/// All arguments of old runners differ, for the same reasons.
const ARGUMENTS: Departures = &[
    (
        "A-01",
        "the prompt is on standard input; no tool runs or writes; settings of repositories, MCP servers and commands are off",
    ),
    (
        "A-03",
        "an empty list means no tool, not the client's own choice; permissions are never skipped",
    ),
    (
        "A-04",
        "permissions are never skipped; the session goes on with every flag of its first turn",
    ),
    (
        "A-05",
        "instructions are a private file; --tools says what exists, so there is nothing to take away",
    ),
    (
        "A-07",
        "there is no client for that agent; a command of the operator's own is called as the operator says",
    ),
];

fn program(input: &Value) -> Program {
    let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
    let tools = input["allowed_tools"].as_array().into_iter().flatten();
    let session = match input["session_id"].as_str() {
        Some(id) => Session::Resume(id.to_owned()),
        None => Session::New("5f0c7a34-3f0e-4c8c-9a44-6d1a3a1f4c11".to_owned()),
    };
    let task = Task {
        part: 0,
        wanted: Vec::new(),
        files: Vec::new(),
        model: None,
        repository: None,
        run: RunId::new(),
        system: text("system"),
        prompt: match input["prompt_bytes"].as_u64() {
            Some(length) => "p".repeat(usize::try_from(length).unwrap()),
            None => text("prompt"),
        },
        session,
        cost_before: 0,
        limits: Limits {
            deadline: Duration::from_mins(1),
            silence: Duration::from_mins(1),
            turns: 10,
            cost: None,
        },
    };
    let settings = ClaudeSettings {
        path: text("command").into(),
        tools: tools
            .map(|tool| tool.as_str().unwrap().to_owned())
            .collect(),
        ..ClaudeSettings::default()
    };
    let dirs = RunDirs {
        home: "/run/home".into(),
        work: "/run/work".into(),
        scratch: "/run/scratch".into(),
    };
    Claude(settings).program(&task, &dirs)
}

/// What comes of a prompt of that length as an argument; where ours is instead, if that fails.
fn transport(input: &Value) -> Value {
    let length = usize::try_from(input["prompt_bytes"].as_u64().unwrap()).unwrap();
    let tried = Command::new("true")
        .arg("p".repeat(length))
        .stdin(Stdio::null())
        .status();
    match tried {
        Ok(_) => json!({ "spawn": "ok" }),
        Err(error) if error.kind() == std::io::ErrorKind::ArgumentListTooLong => {
            let ours = program(input);
            let prompt = "p".repeat(length);
            assert!(ours.input.ends_with(prompt.as_bytes()));
            assert!(ours.args.iter().all(|arg| arg.len() < 1_000));
            json!({ "spawn": "E2BIG", "use_instead": "stdin" })
        }
        Err(error) => panic!("{error}"),
    }
}

fn arguments_of_older_runners(tests: &mut Tests) {
    tests.hold_agent("argv_build", ARGUMENTS, |case| {
        let input = &case["input"];
        if input.get("transport").is_some() {
            return (transport(input), case["expect"].clone());
        }
        let program = program(input);
        let args = program.args.iter().map(|arg| arg.to_str().unwrap());
        let path = program.path.to_str().unwrap();
        let line: Vec<_> = std::iter::once(path).chain(args).collect();
        (json!({ "argv": line }), case["expect"].clone())
    });
}
