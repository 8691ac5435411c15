//! The `[agent]` section of the configuration: its meaning, and the exact error messages.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use planwright::adapters::agent::{OutputFormat, SandboxMode};
use planwright::config::Loaded;
use planwright::config::agent::AgentKind;
use planwright::engine::settings::{AgentSettings, ResourceLimits};
use planwright::engine::store::Budget;
use secrecy::ExposeSecret;
use tempfile::TempDir;

use crate::config_errors::{Case, error, loaded};

/// Everything but the agent that serving needs.
const REST: [(&str, &str); 3] = [
    ("PLANWRIGHT_WEBHOOK_SECRETS", "a secret that is long enough"),
    ("PLANWRIGHT_GITHUB_APP_ID", "7"),
    (
        "PLANWRIGHT_GITHUB_PRIVATE_KEY",
        "-----BEGIN RSA PRIVATE KEY-----",
    ),
];

/// The configuration with the rest that serving needs.
fn served(file: &str, environment: &[(&str, &str)]) -> Loaded {
    let environment: Vec<_> = REST.iter().chain(environment).copied().collect();
    loaded(file, &environment, &[])
}

/// What is missing, without the folder's name.
fn missing(loaded: &Loaded, folder: &TempDir) -> String {
    let text = loaded.ready_to_serve().unwrap_err().to_string();
    text.replace(&folder.path().display().to_string(), "DIR")
}

fn program(path: &Path, mode: u32) {
    fs::write(path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn by_default_there_is_no_agent_and_the_limits_are_those_of_the_documentation() {
    let loaded = served("", &[]);
    loaded.ready_to_serve().unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let agent = &loaded.config.agent;
    assert_eq!((agent.kind, &agent.program), (AgentKind::None, &None));
    assert_eq!(agent.resources, ResourceLimits::default());
    assert_eq!(ResourceLimits::default().memory, Some(4 << 30));
    let engine = &loaded.config.engine.agent;
    assert_eq!(*engine, AgentSettings::default());
    assert!(engine.prompts.own.is_empty());
    assert_eq!(
        engine.budget(),
        Budget {
            actor_hour_runs: Some(20),
            repo_day_runs: Some(100),
            repo_day_cost: Some(50_000_000),
            day_runs: Some(500),
            day_cost: Some(200_000_000),
        }
    );
}

#[test]
fn every_key_reaches_the_runner_or_the_engine() {
    let file = r#"
        [agent]
        kind = "command"
        path = "./agents/codex"
        args = ["exec", "a, b", ""]
        output = "stream-json"
        environment = ["HTTPS_PROXY", "NOT_SET"]
        model = "opus"
        api_url = "http://127.0.0.1:9/api"
        structured = true
        folder = "/var/lib/agents"
        sandbox = "required"
        concurrency = 5
        deadline_seconds = 60
        silence_seconds = 7
        max_turns = 9
        max_cost_usd = 2
        tries = 1
        max_prompt_chars = 10000
        ask = false
        question_rounds = 0
        remind_hours = 0
        answer_hours = 1
        runs_per_actor_hour = 0
        runs_per_repository_day = 0
        cost_per_repository_day_usd = 0
        runs_per_day = 3
        cost_per_day_usd = 0.1234567
        max_memory_mb = 300
        max_processes = 0
        max_open_files = 64
        max_file_mb = 0
        max_disk_mb = 7
    "#;
    let loaded = loaded(file, &[("HTTPS_PROXY", "http://proxy")], &[]);
    let agent = &loaded.config.agent;
    assert_eq!(
        (agent.kind, agent.output),
        (AgentKind::Command, OutputFormat::StreamJson)
    );
    assert_eq!(agent.args, ["exec", "a, b", ""]);
    let here = std::env::current_dir().unwrap();
    assert_eq!(agent.program, Some(here.join("agents/codex")));
    assert_eq!(agent.model.as_deref(), Some("opus"));
    assert_eq!(
        agent.api_url.as_ref().unwrap().as_str(),
        "http://127.0.0.1:9/api"
    );
    assert!(agent.structured);
    assert_eq!(agent.folder, Path::new("/var/lib/agents"));
    assert_eq!(
        (agent.sandbox, agent.concurrency),
        (SandboxMode::Required, 5)
    );
    let given: Vec<_> = loaded
        .secrets
        .agent_environment
        .iter()
        .map(|(name, value)| (name.as_str(), value.expose_secret()))
        .collect();
    assert_eq!(given, [("HTTPS_PROXY", "http://proxy")]);
    let resources = ResourceLimits {
        memory: Some(300 << 20),
        processes: None,
        open_files: Some(64),
        file_size: None,
        disk: Some(7 << 20),
    };
    assert_eq!(agent.resources, resources);
    let engine = loaded.config.engine.agent;
    assert_eq!(engine.deadline, Duration::from_mins(1));
    assert_eq!(engine.silence, Duration::from_secs(7));
    assert_eq!(engine.max_turns, 9);
    assert_eq!(engine.run_cost, Some(2_000_000));
    assert_eq!((engine.tries, engine.max_prompt), (1, 10_000));
    assert_eq!((engine.ask, engine.rounds), (false, 0));
    assert_eq!(engine.remind_after, Duration::ZERO);
    assert_eq!(engine.answer_within, Duration::from_hours(1));
    let limits = Budget {
        day_runs: Some(3),
        day_cost: Some(123_457),
        ..Budget::default()
    };
    assert_eq!(engine.budget(), limits, "zero is no limit");
}

#[test]
fn lists_and_dollars_come_from_the_environment_too() {
    let environment = [
        ("PLANWRIGHT_AGENT_KIND", "command"),
        ("PLANWRIGHT_AGENT_ARGS", "[\"one, two\", 'three']"),
        ("PLANWRIGHT_AGENT_ENVIRONMENT", "HTTPS_PROXY, NO_PROXY,"),
        ("PLANWRIGHT_AGENT_MAX_COST_USD", " 0.5 "),
    ];
    let config = loaded("", &environment, &["agent.cost_per_day_usd=3"]).config;
    let (agent, limits) = (config.agent, config.engine.agent);
    assert_eq!(agent.args, ["one, two", "three"]);
    assert_eq!(agent.environment, ["HTTPS_PROXY", "NO_PROXY"]);
    assert_eq!(
        (limits.run_cost, limits.cost_per_day),
        (Some(500_000), Some(3_000_000))
    );
    let commas = ["agent.kind=command", "agent.args=run, --quiet"];
    assert_eq!(
        loaded("", &[], &commas).config.agent.args,
        ["run", "--quiet"]
    );
}

#[test]
fn an_agent_reaches_the_hosts_that_are_named_or_those_of_its_model() {
    let anthropic = Some("api.anthropic.com:443");
    for (flags, environment, expected) in [
        (&["kind=claude"][..], None, anthropic),
        (&["kind=claude", "network=model"], None, anthropic),
        (&["kind=claude", "network=open"], None, None),
        (&["kind=command"], None, None),
        (
            &["kind=command", "hosts=a.example,*.b.example:8443"],
            None,
            Some("a.example:443 *.b.example:8443"),
        ),
        (
            &["kind=command", "hosts=[\"[::1]:80\"]", "network=model"],
            None,
            Some("[::1]:80"),
        ),
        (
            &["kind=claude", "api_url=http://127.0.0.1:8080/api"],
            None,
            Some("127.0.0.1:8080"),
        ),
        (
            &[
                "kind=claude",
                "api_url=https://a.example",
                "hosts=b.example",
            ],
            None,
            Some("b.example:443"),
        ),
        (
            &["kind=claude", "api_url=https://a.example"],
            Some("https://gateway.example:8443/v1"),
            Some("gateway.example:8443"),
        ),
        (&["kind=claude"], Some("no address"), anthropic),
    ] {
        let mut flags: Vec<_> = flags.iter().map(|flag| format!("agent.{flag}")).collect();
        flags.push("agent.environment=ANTHROPIC_BASE_URL".to_owned());
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let set: Vec<_> = environment
            .iter()
            .map(|value| ("ANTHROPIC_BASE_URL", *value))
            .collect();
        let loaded = loaded("", &set, &flags);
        let hosts = loaded
            .config
            .agent
            .reachable(&loaded.secrets.agent_environment);
        let hosts = hosts.map(|hosts| {
            let hosts: Vec<_> = hosts.iter().map(ToString::to_string).collect();
            hosts.join(" ")
        });
        assert_eq!(hosts.as_deref(), expected, "{flags:?}");
    }
}

#[test]
fn errors_name_the_place_the_key_and_the_remedy() {
    let cases: &[Case] = &[
        (
            "[agent]\nkind = \"codex\"\n",
            &[],
            &[],
            "planwright.toml:2: `agent.kind` is \"codex\"; it must be none, claude or command",
        ),
        (
            "[agent]\nprogram = \"x\"\n",
            &[],
            &[],
            "planwright.toml:2: unknown key `agent.program` (did you mean `agent.prompts`?); `planwright config` prints every key",
        ),
        (
            "[agent]\nkind = \"claude\"\nargs = [\"-p\"]\n",
            &[],
            &[],
            "planwright.toml:3: `agent.args` is [\"-p\"]; it must be empty unless `agent.kind` is \"command\"",
        ),
        (
            "[agent]\nargs = [1]\n",
            &[],
            &[],
            "planwright.toml:2: `agent.args` is [1]; it must be a list of strings, e.g. [\"run\", \"--quiet\"]",
        ),
        (
            "",
            &[("PLANWRIGHT_AGENT_ARGS", "[\"run\"")],
            &[],
            "PLANWRIGHT_AGENT_ARGS: `agent.args` must be a list of quoted strings, not \"[\\\"run\\\"\"",
        ),
        (
            "[agent]\nenvironment = [1]\n",
            &[],
            &[],
            "planwright.toml:2: `agent.environment` is [1]; it must be a list of names of environment variables, e.g. [\"HTTPS_PROXY\"]",
        ),
        (
            "",
            &[],
            &["agent.environment=ANTHROPIC_API_KEY=hush"],
            "--set: `agent.environment` is [\"ANTHROPIC_API_KEY=***\"]; it must be a list of names of environment variables, e.g. [\"HTTPS_PROXY\"]",
        ),
        (
            "",
            &[],
            &["agent.environment=A,PLANWRIGHT_GITHUB_PRIVATE_KEY"],
            "--set: `agent.environment` is [\"A\", \"PLANWRIGHT_GITHUB_PRIVATE_KEY\"]; PLANWRIGHT_GITHUB_PRIVATE_KEY can hold a secret of Planwright and cannot be passed to agents; remove it",
        ),
        (
            "[agent]\nenvironment = [\"GITHUB_TOKEN\"]\n",
            &[],
            &[],
            "planwright.toml:2: `agent.environment` is [\"GITHUB_TOKEN\"]; GITHUB_TOKEN can hold a secret of Planwright and cannot be passed to agents; remove it",
        ),
        (
            "",
            &[("PLANWRIGHT_AGENT_ENVIRONMENT", "HOME")],
            &[],
            "PLANWRIGHT_AGENT_ENVIRONMENT: `agent.environment` is [\"HOME\"]; HOME is set by Planwright for each agent; remove it",
        ),
        (
            "",
            &[],
            &["agent.model=--dangerously-skip-permissions"],
            "--set: `agent.model` is \"--dangerously-skip-permissions\"; it must not begin with -, or it would be taken for an option",
        ),
        (
            "",
            &[],
            &["agent.api_url=http://models.example"],
            "--set: `agent.api_url` is \"http://models.example\"; it must be an https URL without user name and query, or an http URL on this computer, e.g. http://127.0.0.1:8080",
        ),
        (
            "",
            &[],
            &["agent.api_url=https://u:pw@models.example"],
            "--set: `agent.api_url` is \"https://***@models.example\"; it must be an https URL without user name and query, or an http URL on this computer, e.g. http://127.0.0.1:8080",
        ),
        (
            "[agent]\nhosts = [\"https://u:hush@models.example\"]\n",
            &[],
            &[],
            "planwright.toml:2: `agent.hosts` is [\"https://***@models.example\"]; it must be a list of hosts, optionally with a port or a leading *., e.g. [\"api.anthropic.com\", \"*.example.com:8443\"]",
        ),
        (
            "[agent]\nkind = \"command\"\nnetwork = \"model\"\n",
            &[],
            &[],
            "planwright.toml:3: `agent.network` is \"model\"; `agent.hosts` must name the hosts that the agent may reach",
        ),
        (
            "[agent]\nhosts = [\"models.example\"]\nnetwork = \"open\"\n",
            &[],
            &[],
            "planwright.toml:2: `agent.hosts` is [\"models.example\"]; it must be empty if `agent.network` is \"open\"",
        ),
        (
            "[agent]\nmax_cost_usd = \"five\"\n",
            &[],
            &[],
            "planwright.toml:2: `agent.max_cost_usd` must be a number, not a string \"five\"",
        ),
        (
            "[agent]\nmax_cost_usd = -1\n",
            &[],
            &[],
            "planwright.toml:2: `agent.max_cost_usd` is -1.0; it must be 0 to 10000 US dollars",
        ),
        (
            "",
            &[],
            &["agent.cost_per_day_usd=NaN"],
            "--set: `agent.cost_per_day_usd` is nan; it must be 0 to 1000000 US dollars",
        ),
        (
            "",
            &[],
            &["agent.question_rounds=4"],
            "--set: `agent.question_rounds` is 4; it must be 0 to 3 rounds",
        ),
        (
            "",
            &[],
            &["agent.sandbox=yes"],
            "--set: `agent.sandbox` is \"yes\"; it must be auto, required or off",
        ),
        (
            "",
            &[("PLANWRIGHT_AGENT_API_KEY", "")],
            &[],
            "PLANWRIGHT_AGENT_API_KEY: holds no key for the model's API; it is one word, e.g. sk-ant-…",
        ),
        (
            "",
            &[("PLANWRIGHT_AGENT_API_KEY", "export KEY=hush")],
            &[],
            "PLANWRIGHT_AGENT_API_KEY: holds no key for the model's API; it is one word, e.g. sk-ant-…",
        ),
    ];
    for (file, environment, flags, expected) in cases {
        assert_eq!(error(file, environment, flags), *expected);
    }
    for name in [
        "GH_TOKEN",
        "GH_ENTERPRISE_TOKEN",
        "PLANWRIGHT_TOKEN",
        "TMPDIR",
    ] {
        let flag = format!("agent.environment={name}");
        assert!(error("", &[], &[&flag]).ends_with("; remove it"), "{name}");
    }
}

#[test]
fn the_key_for_the_model_is_a_secret_like_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    fs::write(&path, "sk-ant-hush\n").unwrap();
    let path = path.display().to_string();
    let from_file = [("PLANWRIGHT_AGENT_API_KEY_FILE", path.as_str())];
    let found = loaded("", &from_file, &[]);
    let shown = format!("{found:?}{}", found.show());
    assert_eq!(
        found.secrets.agent_key.unwrap().expose_secret(),
        "sk-ant-hush"
    );
    assert!(!shown.contains("hush"), "{shown}");
    let line = format!("#   PLANWRIGHT_AGENT_API_KEY = \"***\" (set, from {path})");
    assert!(shown.contains(&line), "{shown}");

    let environment = ("PLANWRIGHT_AGENT_API_KEY", "sk-ant-hush");
    assert_eq!(
        error("", &[from_file[0], environment], &[]),
        "PLANWRIGHT_AGENT_API_KEY: is set, and so is `agent.api_key_file`; leave one of them out"
    );
    let visible = [("OTHER_KEY", "hush hush"), environment];
    let found = loaded("[agent]\nenvironment = [\"OTHER_KEY\"]\n", &visible, &[]);
    assert_eq!(found.secrets.agent_environment.len(), 1);
    assert!(!format!("{found:?}{}", found.show()).contains("hush"));
}

#[test]
fn serving_with_an_agent_needs_a_program_that_can_be_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let file = |kind: &str, path: &Path| format!("[agent]\nkind = {kind:?}\npath = {path:?}\n");
    let start = "`planwright serve` cannot start; it still needs:\n  - the agent's program: ";
    let command = served("[agent]\nkind = \"command\"\n", &[]);
    assert_eq!(
        missing(&command, &folder),
        format!("{start}set agent.path or PLANWRIGHT_AGENT_PATH")
    );
    let tool = at("tool");
    assert_eq!(
        missing(&served(&file("command", &tool), &[]), &folder),
        format!("{start}DIR/tool does not exist; install it, or set agent.path to its path")
    );
    program(&tool, 0o600);
    let not_runnable = format!(
        "{start}DIR/tool cannot be run; make it executable (chmod +x), or set agent.path to a program"
    );
    assert_eq!(
        missing(&served(&file("claude", &tool), &[]), &folder),
        not_runnable
    );
    program(&tool, 0o700);
    served(&file("command", &tool), &[])
        .ready_to_serve()
        .unwrap();
    let a_folder = missing(&served(&file("command", folder.path()), &[]), &folder);
    assert!(a_folder.contains("DIR cannot be run"), "{a_folder}");

    // Found in PATH, in the first folder where it can be run.
    let search = format!(
        "relative:{}:{}",
        at("empty").display(),
        folder.path().display()
    );
    let search = [("PATH", search.as_str())];
    let claude = "[agent]\nkind = \"claude\"\n";
    for environment in [&[][..], &search] {
        assert_eq!(
            missing(&served(claude, environment), &folder),
            format!("{start}`claude` is not in PATH; install it, or set agent.path to its path")
        );
    }
    program(&at("claude"), 0o755);
    let found = served(claude, &search);
    found.ready_to_serve().unwrap();
    assert_eq!(found.config.agent.program, Some(at("claude")));
    let named = served(&file("command", Path::new("tool")), &search);
    assert_eq!(named.config.agent.program, Some(tool));
}

#[test]
fn an_agent_that_nothing_lets_in_is_warned_of() {
    let claude = "[agent]\nkind = \"claude\"\n";
    assert_eq!(
        loaded(claude, &[], &[]).warnings,
        [
            "agent.kind is \"claude\", but it has no credentials for the model's API; set PLANWRIGHT_AGENT_API_KEY or \
             PLANWRIGHT_AGENT_API_KEY_FILE, or add ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN to agent.environment; \
             agents have their own HOME, so your login is not used"
        ]
    );
    let key = [("PLANWRIGHT_AGENT_API_KEY", "sk-ant-1")];
    assert!(loaded(claude, &key, &[]).warnings.is_empty());
    for name in ["ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"] {
        let flag = format!("agent.environment={name}");
        assert!(loaded(claude, &[(name, "x")], &[&flag]).warnings.is_empty());
        assert_eq!(
            loaded(claude, &[], &[&flag]).warnings,
            [format!(
                "agent.environment names {name}, which is not set; set it, or remove it"
            )]
        );
    }
    let cloud = [key[0], ("CLAUDE_CODE_USE_BEDROCK", "1")];
    let flag = "agent.environment=CLAUDE_CODE_USE_BEDROCK";
    assert_eq!(
        loaded(claude, &cloud, &[flag]).warnings,
        [
            "agent.environment names CLAUDE_CODE_USE_BEDROCK, but agents can reach Anthropic's API only: name the hosts \
             of the provider in agent.hosts, or set agent.network to \"open\""
        ]
    );
    for way in ["agent.network=open", "agent.hosts=*.amazonaws.com"] {
        assert!(loaded(claude, &cloud, &[flag, way]).warnings.is_empty());
    }
    let command = ["agent.kind=command", "agent.path=/bin/true"];
    assert!(loaded("", &[], &command).warnings.is_empty());
    assert!(
        loaded("", &[], &["agent.environment=NOT_SET"])
            .warnings
            .is_empty()
    );
}
