//! Arguments, environment and input of Claude Code.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::time::Duration;

use secrecy::ExposeSecret;

use super::*;
use crate::engine::model::agent::Limits;
use crate::engine::model::run::RunId;

const ID: &str = "5f0c7a34-3f0e-4c8c-9a44-6d1a3a1f4c11";

fn task(session: Session) -> Task {
    Task {
        run: RunId("01JD0000000000000000000000".to_owned()),
        system: "You write plans.".to_owned(),
        prompt: "/clear -x".to_owned(),
        session,
        cost_before: 0,
        limits: Limits {
            deadline: Duration::from_mins(1),
            silence: Duration::from_secs(10),
            turns: 7,
            cost: Some(1_250_000),
        },
        part: 0,
        wanted: Vec::new(),
        files: Vec::new(),
        model: None,
        repository: None,
    }
}

fn dirs() -> RunDirs {
    RunDirs {
        home: "/state/run/home".into(),
        work: "/state/run/work".into(),
        scratch: "/state/run/scratch".into(),
    }
}

fn settings() -> ClaudeSettings {
    ClaudeSettings {
        path: "/opt/claude".into(),
        ..ClaudeSettings::default()
    }
}

fn line(settings: ClaudeSettings, task: &Task) -> Vec<String> {
    let program = Claude(settings).program(task, &dirs());
    let args = program.args.into_iter();
    args.map(|arg| arg.into_string().unwrap()).collect()
}

#[test]
fn a_new_session_gets_every_flag() {
    let want = [
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--include-partial-messages",
        "--restricted",
        "--strict-mcp-config",
        "--setting-sources",
        "user",
        "--permission-prompts",
        "none",
        "--disable-slash-commands",
        "--system-prompt-snapshot",
        "off",
        "--system-prompt-file",
        "/state/run/scratch/system.md",
        "--tools",
        "",
        "--max-turns",
        "7",
        "--max-budget-usd",
        "1.250000",
        "--session-id",
        ID,
    ];
    assert_eq!(line(settings(), &task(Session::New(ID.to_owned()))), want);
}

#[test]
fn a_resumed_session_gets_the_same_flags() {
    let all = ClaudeSettings {
        model: Some("opus".to_owned()),
        tools: vec!["Read".to_owned(), "Grep".to_owned()],
        structured: true,
        ..settings()
    };
    let new = line(all.clone(), &task(Session::New(ID.to_owned())));
    let resumed = line(all, &task(Session::Resume(ID.to_owned())));
    let (last, rest) = resumed
        .split_last_chunk::<2>()
        .map(|(a, b)| (b, a))
        .unwrap();
    assert_eq!(last, &["--resume", ID]);
    assert_eq!(rest, &new[..new.len() - 2]);
}

#[test]
fn tools_are_both_enabled_and_allowed() {
    let some = ClaudeSettings {
        tools: vec!["Read".to_owned(), "Grep".to_owned()],
        ..settings()
    };
    let line = line(some, &task(Session::New(ID.to_owned())));
    let at = line.iter().position(|arg| arg == "--tools").unwrap();
    let want = ["--tools", "Read,Grep", "--allowedTools", "Read,Grep"];
    assert_eq!(line[at..at + 4], want);
}

#[test]
fn a_turn_that_produces_files_gets_the_file_tools_and_no_others() {
    let mut task = task(Session::New(ID.to_owned()));
    task.wanted = vec!["plan.md".to_owned()];
    for (own, want) in [
        (&[][..], "Read,Grep,Glob,Write,Edit"),
        (&["LS", "Glob"], "LS,Glob,Read,Grep,Write,Edit"),
    ] {
        let some = ClaudeSettings {
            tools: own.iter().map(|tool| (*tool).to_owned()).collect(),
            ..settings()
        };
        let line = line(some, &task);
        let at = line.iter().position(|arg| arg == "--tools").unwrap();
        assert_eq!(line[at..at + 4], ["--tools", want, "--allowedTools", want]);
    }
}

#[test]
fn the_model_of_a_task_overrides_the_operators() {
    let named = |own: Option<&str>, of_task: Option<&str>| {
        let mut task = task(Session::New(ID.to_owned()));
        task.model = of_task.map(str::to_owned);
        let some = ClaudeSettings {
            model: own.map(str::to_owned),
            ..settings()
        };
        let line = line(some, &task);
        let at = line.iter().position(|arg| arg == "--model")?;
        Some(line[at + 1].clone())
    };
    assert_eq!(named(None, None), None);
    assert_eq!(named(Some("opus"), None).as_deref(), Some("opus"));
    assert_eq!(
        named(Some("opus"), Some("sonnet")).as_deref(),
        Some("sonnet")
    );
    assert_eq!(named(None, Some("sonnet")).as_deref(), Some("sonnet"));
}

#[test]
fn with_a_project_only_the_working_directory_is_writable() {
    let mut task = task(Session::New(ID.to_owned()));
    task.wanted = vec!["plan.md".to_owned()];
    let settings = ClaudeSettings {
        project: Some("/home/ada/shop".into()),
        tools: vec!["Read".to_owned(), "TodoWrite".to_owned()],
        ..settings()
    };
    assert_eq!(
        Claude(settings.clone()).reads(),
        [PathBuf::from("/home/ada/shop")]
    );
    let line = line(settings, &task);
    let behind = |name: &str| {
        let at = line.iter().position(|arg| arg == name).unwrap();
        line[at + 1].as_str()
    };
    assert_eq!(behind("--add-dir"), "/home/ada/shop");
    assert_eq!(behind("--tools"), "Read,TodoWrite,Grep,Glob,Write,Edit");
    assert_eq!(
        behind("--allowedTools"),
        "Read,TodoWrite,Grep,Glob,Edit(./**)"
    );
}

#[test]
fn a_copy_of_the_repository_can_be_read_but_not_written() {
    let mut task = task(Session::New(ID.to_owned()));
    task.repository = Some("/srv/copies/42/abc".into());
    let behind = |task: &Task, name: &str| {
        let line = line(settings(), task);
        let at = line.iter().position(|arg| arg == name).unwrap();
        line[at + 1].clone()
    };
    assert_eq!(behind(&task, "--add-dir"), "/srv/copies/42/abc");
    assert_eq!(behind(&task, "--tools"), "Read,Grep,Glob");
    assert_eq!(behind(&task, "--allowedTools"), "Read,Grep,Glob");
    task.wanted = vec!["plan.md".to_owned()];
    assert_eq!(behind(&task, "--tools"), "Read,Grep,Glob,Write,Edit");
    assert_eq!(behind(&task, "--allowedTools"), "Read,Grep,Glob,Edit(./**)");
}

#[test]
fn without_a_cost_limit_there_is_no_budget() {
    let mut task = task(Session::New(ID.to_owned()));
    task.limits.cost = None;
    assert!(!line(settings(), &task).contains(&"--max-budget-usd".to_owned()));
}

#[test]
fn prompt_and_instructions_are_no_arguments() {
    let mut task = task(Session::New(ID.to_owned()));
    task.system = "s".repeat(200_000);
    task.prompt = "p".repeat(200_000);
    let program = Claude(settings()).program(&task, &dirs());
    assert!(program.args.iter().all(|arg| arg.len() < 1_000));
    assert_eq!(program.files.len(), 1);
    assert_eq!(program.files[0].1, task.system.as_bytes());
    assert!(program.input.ends_with(task.prompt.as_bytes()));
}

#[test]
fn the_prompt_never_comes_first() {
    for prompt in ["/clear", "!id", "-h", "@/etc/passwd", "#x", ""] {
        let mut task = task(Session::New(ID.to_owned()));
        prompt.clone_into(&mut task.prompt);
        let program = Claude(settings()).program(&task, &dirs());
        assert_eq!(program.input, format!("{FIRST_LINE}{prompt}").into_bytes());
        assert!(FIRST_LINE.starts_with(|first: char| first.is_ascii_alphabetic()));
        assert!(FIRST_LINE.ends_with('\n'));
    }
}

#[test]
fn the_environment_names_the_model_api_and_disables_other_traffic() {
    let all = ClaudeSettings {
        key: Some("sk-ant-1".into()),
        api_url: Some("http://127.0.0.1:9".to_owned()),
        environment: vec![("HTTPS_PROXY".to_owned(), "http://proxy".into())],
        ..settings()
    };
    let program = Claude(all).program(&task(Session::New(ID.to_owned())), &dirs());
    let have: Vec<_> = program
        .environment
        .iter()
        .map(|(name, value)| (name.as_str(), value.expose_secret()))
        .collect();
    let want = [
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "2"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"),
        ("ANTHROPIC_API_KEY", "sk-ant-1"),
        ("HTTPS_PROXY", "http://proxy"),
    ];
    assert_eq!(have, want);
}

#[test]
fn debug_output_contains_no_key() {
    let secret = ClaudeSettings {
        key: Some("sk-ant-1".into()),
        ..settings()
    };
    let program = Claude(secret.clone()).program(&task(Session::New(ID.to_owned())), &dirs());
    assert!(!format!("{secret:?}{program:?}").contains("sk-ant-1"));
}

#[test]
fn dollars_are_exact() {
    assert_eq!(dollars(0), "0.000000");
    assert_eq!(dollars(5), "0.000005");
    assert_eq!(dollars(12_345_678), "12.345678");
}

#[test]
fn the_schema_takes_one_of_three_forms_and_nothing_else() {
    let schema = jsonschema::validator_for(&schema()).unwrap();
    for good in [
        json!({ "plan": "# Plan: x" }),
        json!({ "error": "## Error: no_plan_found" }),
        json!({ "questions": [{ "question": "Which?", "header": "Which", "type": "choice", "multiSelect": false,
            "options": [{ "label": "A", "description": "a" }, { "label": "B" }] }] }),
    ] {
        assert!(schema.is_valid(&good), "{good}");
    }
    for bad in [
        json!([]),
        json!({ "plan": 1 }),
        json!({ "title": "x" }),
        json!({ "questions": [{ "header": "no question" }] }),
    ] {
        assert!(!schema.is_valid(&bad), "{bad}");
    }
}
