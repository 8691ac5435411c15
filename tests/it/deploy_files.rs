//! Tests of the files in `deploy/`: exactly the required permissions and events, only existing
//! settings, and least privilege.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use planwright::engine::app_needs;
use serde_json::{Value, json};

/// The secrets, which may come from the environment or, with `_FILE` appended, from a file.
const SECRETS: [&str; 5] = [
    "PLANWRIGHT_AGENT_API_KEY",
    "PLANWRIGHT_GITHUB_PRIVATE_KEY",
    "PLANWRIGHT_WEBHOOK_SECRETS",
    "PLANWRIGHT_WEB_CLIENT_SECRET",
    "PLANWRIGHT_WEB_TOKEN",
];

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn deploy(name: &str) -> String {
    let file = top().join("deploy").join(name);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn source(name: &str) -> String {
    let file = top().join("src").join(name);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn manifest() -> Value {
    serde_json::from_str(&deploy("app-manifest.json")).unwrap()
}

#[test]
fn the_manifest_asks_for_exactly_what_is_needed() {
    let manifest = manifest();
    let permissions = app_needs::PERMISSIONS.map(|one| (one.name.to_owned(), json!(one.access)));
    assert_eq!(
        manifest["default_permissions"],
        Value::Object(permissions.into_iter().collect())
    );
    assert_eq!(
        manifest["default_events"],
        json!(app_needs::EVENTS.map(|one| one.name))
    );
    assert_eq!(manifest["public"], false);
    assert_eq!(manifest["hook_attributes"]["active"], true);
    let url = url::Url::parse(manifest["hook_attributes"]["url"].as_str().unwrap()).unwrap();
    assert_eq!((url.scheme(), url.path()), ("https", "/webhook"));
    // The names that GitHub reads: "Registering a GitHub App from a manifest", docs.github.com.
    let known = [
        "name",
        "url",
        "description",
        "hook_attributes",
        "public",
        "request_oauth_on_install",
        "default_permissions",
        "default_events",
    ];
    for name in manifest.as_object().unwrap().keys() {
        assert!(known.contains(&name.as_str()), "{name}");
    }
}

#[test]
fn the_page_for_people_says_what_the_manifest_says() {
    let manifest = manifest();
    let page = deploy("install-by-hand.md");
    let rows: BTreeSet<String> = page
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains(" — "))
        .filter_map(|line| line.split('`').nth(1).map(str::to_owned))
        .collect();
    let permissions = manifest["default_permissions"].as_object().unwrap();
    let expected = permissions
        .iter()
        .map(|(name, access)| format!("{name}: {}", access.as_str().unwrap()));
    assert_eq!(rows, expected.collect());

    let events: BTreeSet<&str> = page
        .lines()
        .skip_while(|line| *line != "| event | what for |")
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| line.split('`').nth(1))
        .collect();
    let expected = manifest["default_events"].as_array().unwrap().iter();
    assert_eq!(
        events,
        expected.map(|event| event.as_str().unwrap()).collect()
    );
}

/// Variables that are no settings: for agents, for Compose with Caddy, and for the Action.
const OTHERS: [&str; 3] = [
    "PLANWRIGHT_REPOSITORY",
    "PLANWRIGHT_HOST",
    "PLANWRIGHT_TOKEN",
];

#[test]
fn every_variable_that_people_are_told_of_exists() {
    let known = variables(&planwright::config::schema::default_file());
    let mut texts: Vec<(PathBuf, String)> = files(&top().join("deploy"))
        .into_iter()
        .chain(files(&top().join("docs")))
        .chain([top().join("README.md")])
        .filter(|file| file.extension().is_none_or(|kind| kind != "png"))
        .map(|file| (file.clone(), fs::read_to_string(file).unwrap()))
        .collect();
    texts.retain(|(_, text)| text.contains("PLANWRIGHT_"));
    assert!(texts.len() >= 4, "{texts:?}");
    for (file, text) in texts {
        for name in variables(&text) {
            let plain = name.strip_suffix("_FILE").unwrap_or(&name);
            assert!(
                known.contains(&name) || SECRETS.contains(&plain) || OTHERS.contains(&&*name),
                "{} uses {name}, which is not the variable of a setting",
                file.display()
            );
        }
    }
}

/// A proxy that forwards to a port where nobody listens, or a probe of a path that does not exist,
/// looks like an outage.
#[test]
fn ports_and_paths_are_the_programs_own() {
    let defaults: toml::Value =
        toml::from_str(&planwright::config::schema::default_file()).unwrap();
    let listen: SocketAddr = defaults["server"]["listen"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let port = listen.port();
    let path = defaults["server"]["webhook_path"].as_str().unwrap();
    assert_eq!((port, path), (8300, "/webhook"));
    for name in ["Dockerfile", "compose.yaml", "planwright.service"] {
        let text = deploy(name);
        let told = text.lines().filter(|line| {
            let named =
                line.contains("LISTEN") || line.contains("EXPOSE") || line.contains("127.0.0.1");
            // The health check takes the address from the variable.
            named && !line.starts_with('#') && !line.contains("${PLANWRIGHT_SERVER_LISTEN")
        });
        let mut lines = 0;
        for line in told {
            assert!(line.contains(&port.to_string()), "{name}: {line}");
            lines += 1;
        }
        assert!(lines > 0, "{name}");
    }
    let page = deploy("install-by-hand.md");
    assert!(page.contains(&format!("http://127.0.0.1:{port}/readyz")));
    assert!(page.contains(&format!("https://planwright.example.com{path}")));
    let web = source("adapters/web/health.rs") + &source("adapters/web.rs");
    for probe in ["/livez", "/readyz"] {
        assert!(web.contains(&format!("\"{probe}\"")), "{probe}");
    }
    let dockerfile = deploy("Dockerfile");
    let command = dockerfile
        .lines()
        .find_map(|line| line.strip_prefix("CMD "));
    assert_eq!(command, Some(r#"["serve"]"#));
    assert!(source("cli.rs").contains("Serve"));
}

#[test]
fn the_container_has_no_privileges() {
    let compose: Value = serde_saphyr::from_str(&deploy("compose.yaml")).unwrap();
    let service = &compose["services"]["planwright"];
    assert_eq!(service["read_only"], true);
    assert_eq!(service["cap_drop"], json!(["ALL"]));
    assert_eq!(service["security_opt"], json!(["no-new-privileges:true"]));
    assert_eq!(service["volumes"], json!(["data:/data"]));
    for port in service["ports"].as_array().unwrap() {
        assert!(port.as_str().unwrap().starts_with("127.0.0.1:"), "{port}");
    }
    for name in service["secrets"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        assert!(compose["secrets"][name]["file"].is_string(), "{name}");
        let path = Value::from(format!("/run/secrets/{name}"));
        let environment = service["environment"].as_object().unwrap();
        let variable = environment.iter().find(|(_, value)| **value == path);
        assert!(variable.unwrap().0.ends_with("_FILE"), "{name}");
    }

    let image = deploy("Dockerfile");
    let user = image.lines().rfind(|line| line.starts_with("USER "));
    assert_eq!(user, Some("USER 65532:65532"));
    assert!(image.contains("\nVOLUME /data\n"));
}

#[test]
fn the_unit_is_hardened_and_keeps_secrets_in_files() {
    let unit = deploy("planwright.service");
    let lines: Vec<&str> = unit.lines().collect();
    for line in [
        "DynamicUser=yes",
        "ProtectSystem=strict",
        "StateDirectory=planwright",
        "NoNewPrivileges=yes",
        "CapabilityBoundingSet=",
        "SystemCallFilter=@system-service",
        "KillMode=mixed",
        "Environment=PLANWRIGHT_AGENT_FOLDER=%S/planwright/agents",
        "Environment=PLANWRIGHT_GITHUB_PRIVATE_KEY_FILE=%d/github-private-key",
        "Environment=PLANWRIGHT_WEBHOOK_SECRETS_FILE=%d/webhook-secrets",
    ] {
        assert!(lines.contains(&line), "{line}");
    }
    for name in ["github-private-key", "webhook-secrets"] {
        let start = format!("LoadCredential={name}:");
        assert!(lines.iter().any(|line| line.starts_with(&start)), "{name}");
    }
}

#[test]
fn a_configuration_that_is_wrong_is_not_tried_again_and_again() {
    let unit = deploy("planwright.service");
    let lines: Vec<&str> = unit.lines().collect();
    for line in ["Restart=on-failure", "RestartPreventExitStatus=2"] {
        assert!(lines.contains(&line), "{line}");
    }
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_planwright"))
        .arg("serve")
        .env_clear()
        .current_dir(tempfile::tempdir().unwrap().path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_crash_leaves_no_dump_with_secrets() {
    let unit = deploy("planwright.service");
    assert!(unit.lines().any(|line| line == "LimitCORE=0"));
}

#[test]
fn images_and_the_workflow_for_ci_name_a_version() {
    for line in deploy("Dockerfile").lines() {
        let Some(image) = line.strip_prefix("FROM ") else {
            continue;
        };
        let tag = image.split_whitespace().next().unwrap();
        let (_, version) = tag.split_once(':').expect("a tag");
        let number = version.split('-').next().unwrap();
        assert!(number.contains('.'), "{line}");
        assert!(
            number.split('.').all(|part| part.parse::<u32>().is_ok()),
            "{line}"
        );
    }
    let pages = ["README.md", "docs/action-plans.md"];
    let pages = pages.map(|page| fs::read_to_string(top().join(page)).unwrap());
    let installs: Vec<&str> = pages
        .iter()
        .flat_map(|page| page.lines())
        .filter(|line| line.contains("cargo install") && line.contains("--git"))
        .collect();
    assert!(!installs.is_empty());
    let tag = concat!("--tag v", env!("CARGO_PKG_VERSION"));
    for line in installs {
        assert!(line.ends_with(tag), "{line}");
    }
}

/// The program answers at the address that the variable names, whichever it is.
#[cfg(unix)]
#[test]
fn the_health_check_asks_at_the_configured_address() {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    let image = deploy("Dockerfile");
    let check = image
        .lines()
        .skip_while(|line| !line.starts_with("HEALTHCHECK "))
        .find_map(|line| line.trim_start().strip_prefix("CMD "))
        .unwrap();
    let command: Vec<String> = serde_json::from_str(check).unwrap();
    for (listens, given) in [
        ("127.0.0.1", "0.0.0.0"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.2", "127.0.0.2"),
        ("[::1]", "[::]"),
        ("[::1]", "[::1]"),
    ] {
        for (status, healthy) in [("200 OK", true), ("503 Service Unavailable", false)] {
            let Ok(listener) = TcpListener::bind(format!("{listens}:0")) else {
                eprintln!("skipped: {listens} is not there");
                continue;
            };
            let port = listener.local_addr().unwrap().port();
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut asked = Vec::new();
                while !asked.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    asked.extend(byte);
                }
                write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").unwrap();
                assert!(asked.starts_with(b"GET /livez HTTP/1.1\r\n"));
            });
            let done = std::process::Command::new(env!("CARGO_BIN_EXE_planwright"))
                .args(&command[1..])
                .env("PLANWRIGHT_SERVER_LISTEN", format!("{given}:{port}"))
                .status()
                .unwrap();
            assert_eq!(done.success(), healthy, "{given} {status}");
            server.join().unwrap();
        }
    }
    // Where nothing listens, there is nothing to ask.
    for (transport, healthy) in [("pull", true), ("webhook", false)] {
        let free = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_planwright"))
            .args(&command[1..])
            .env("PLANWRIGHT_SERVER_LISTEN", free.to_string())
            .env("PLANWRIGHT_SERVER_TRANSPORT", transport)
            .status()
            .unwrap();
        assert_eq!(done.success(), healthy, "{transport}");
    }
}

/// Agents drop their privileges and enter Landlock before they start; a filter that forbids the one
/// starts none, a filter that forbids the other leaves them without a sandbox.
#[test]
fn the_units_filter_lets_agents_give_up_what_they_have() {
    let unit = deploy("planwright.service");
    let filters: Vec<&str> = unit
        .lines()
        .filter_map(|line| line.strip_prefix("SystemCallFilter="))
        .collect();
    assert_eq!(
        filters,
        [
            "@system-service",
            "~@privileged @resources",
            "capset landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp",
        ],
        "what is named last counts"
    );
}

#[test]
fn the_agents_drop_in_needs_a_sandbox_and_keeps_the_key_in_a_file() {
    let drop_in = deploy("planwright-agent.conf");
    let lines: Vec<&str> = drop_in.lines().collect();
    for line in [
        "[Service]",
        "Environment=PLANWRIGHT_AGENT_KIND=claude",
        "Environment=PLANWRIGHT_AGENT_SANDBOX=required",
        "Environment=PLANWRIGHT_AGENT_API_KEY_FILE=%d/agent-api-key",
        "LoadCredential=agent-api-key:/etc/planwright/agent-api-key",
        "OOMPolicy=continue",
        "Delegate=memory pids",
        "ProtectControlGroups=no",
    ] {
        assert!(lines.contains(&line), "{line}");
    }
}

/// The client that people are told to install is the one that the tests run.
#[test]
fn the_client_that_is_named_is_the_one_that_is_tested() {
    let peers = top().join("tests/peers/claude/package.json");
    let peers: Value = serde_json::from_str(&fs::read_to_string(peers).unwrap()).unwrap();
    let packages = peers["dependencies"].as_object().unwrap();
    assert_eq!(packages.len(), 1);
    let (name, version) = packages.iter().next().unwrap();
    let tested = format!("{name}@{}", version.as_str().unwrap());
    let agents = fs::read_to_string(top().join("docs/agents.md")).unwrap();
    for (text, least) in [(agents, 2), (deploy("planwright-agent.conf"), 1)] {
        let told: Vec<&str> = text
            .split_whitespace()
            .filter(|word| word.starts_with("@anthropic-ai/"))
            .collect();
        assert!(told.len() >= least, "{told:?}");
        for word in told {
            assert_eq!(word, tested);
        }
    }
}

#[test]
fn the_documentation_explains_every_error_code_and_no_other() {
    let commands = fs::read_to_string(top().join("docs/commands.md")).unwrap();
    let told: BTreeSet<&str> = commands
        .lines()
        .skip_while(|line| *line != "| code | what happened |")
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| line.split('`').nth(1))
        .collect();
    let codes = planwright::engine::model::failure::Code::ALL
        .map(planwright::engine::model::failure::Code::name);
    assert_eq!(told, codes.into());
}

/// Every `PLANWRIGHT_…` name in a text.
fn variables(text: &str) -> BTreeSet<String> {
    let letters = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.split(|c: char| !letters(c))
        .filter(|word| word.starts_with("PLANWRIGHT_"))
        .map(str::to_owned)
        .collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    files.filter(|path| path.is_file()).collect()
}
