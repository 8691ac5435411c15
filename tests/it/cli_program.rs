//! Tests of the program as a whole: help, exit codes, and the use of standard output and standard
//! error.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::path::Path;
use std::process::{Command, Output};

use crate::receiver_support::{APP_ID, SECRET, asking, edited, start};

const PAYLOAD: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/fixtures/payloads/issue_comment.created.json"
);

/// The program in an empty folder with an empty environment.
fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
    command.env_clear().current_dir(folder);
    command
}

fn run(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path()).args(arguments).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn help_tells_of_exit_codes_and_shows_examples() {
    let help = run(&["--help"]);
    assert_eq!(help.status.code(), Some(0));
    for part in [
        "serve",
        "replay",
        "config",
        "completions",
        "Exit codes:",
        "nothing was done",
    ] {
        assert!(out(&help).contains(part), "{part}: {}", out(&help));
    }
    for subcommand in ["serve", "replay", "config", "completions"] {
        let help = run(&[subcommand, "--help"]);
        assert_eq!(help.status.code(), Some(0));
        assert!(out(&help).contains("Examples:\n"), "{subcommand}");
    }
}

/// What a help prints below its options, in a terminal of so many columns.
fn below_options(command: &[&str], columns: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let help = program(folder.path())
        .args(command)
        .arg("--help")
        .env("COLUMNS", columns)
        .output()
        .unwrap();
    let text = out(&help);
    let (_, below) = text.split_once("Print help").unwrap();
    below.to_owned()
}

#[test]
fn helps_fit_a_terminal_of_100_columns_as_they_are_written() {
    for command in [
        &["extract"][..],
        &["try"],
        &["blocks"],
        &["check"],
        &["check-content"],
        &["metadata"],
        &["session", "transcript"],
        &["plan", "get"],
        &["plan", "list"],
    ] {
        let below = below_options(command, "100");
        assert!(below.contains("Exit codes:\n"), "{command:?}: {below}");
        assert_eq!(below, below_options(command, "1000"), "{command:?}");
    }
}

#[test]
fn a_configuration_that_is_not_read_is_refused() {
    for command in [
        &["extract", "-"][..],
        &["blocks", "-"],
        &["check", "-"],
        &["check-content", "-"],
        &["metadata", "-"],
        &["session", "list"],
        &["completions", "bash"],
    ] {
        for (given, option) in [
            (&["--config", "nope.toml"][..], "--config"),
            (&["--set", "bogus=1"], "--set"),
        ] {
            let refused = run(&[command, given].concat());
            assert_eq!(refused.status.code(), Some(2), "{command:?}");
            assert_eq!(
                err(&refused),
                format!("error: this command reads no configuration; omit {option}\n")
            );
            assert_eq!(out(&refused), "");
        }
    }
}

#[test]
fn a_variable_that_is_not_utf_8_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    let broken = std::ffi::OsStr::from_bytes(b"4\xff");
    let refused = program(folder.path())
        .arg("config")
        .env("OTHER", broken)
        .env("PLANWRIGHT_WORKER_CONCURRENCY", broken)
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(
        err(&refused),
        "error: the environment variable PLANWRIGHT_WORKER_CONCURRENCY: the value is not UTF-8\n"
    );
}

#[test]
fn wrong_arguments_and_wrong_configuration_are_2() {
    assert_eq!(run(&[]).status.code(), Some(2));
    assert_eq!(run(&["conjure"]).status.code(), Some(2));
    let unknown = run(&["config", "--set", "worker.concurency=2"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert_eq!(
        err(&unknown),
        "error: --set: unknown key `worker.concurency` (did you mean `worker.concurrency`?); `planwright config` prints every key\n"
    );
    assert_eq!(out(&unknown), "");
}

#[test]
fn serve_refuses_to_start_on_what_is_missing() {
    let refused = run(&["serve"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(err(&refused).starts_with(
        "error: `planwright serve` cannot start; it still needs:\n  - a webhook secret"
    ));
    let folder = tempfile::tempdir().unwrap();
    let empty = program(folder.path())
        .arg("serve")
        .env("PLANWRIGHT_WEBHOOK_SECRETS", ",")
        .output()
        .unwrap();
    assert_eq!(empty.status.code(), Some(2));
    assert!(err(&empty).contains("holds no webhook secret"));
}

#[test]
fn config_prints_what_a_file_in_the_folder_says() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("planwright.toml"),
        "[worker]\nconcurrency = 3\n",
    )
    .unwrap();
    let shown = program(folder.path())
        .args(["config"])
        .env("PLANWRIGHT_WEBHOOK_SECRETS", SECRET)
        .output()
        .unwrap();
    assert_eq!(shown.status.code(), Some(0));
    assert!(out(&shown).contains("concurrency = 3"));
    assert!(!out(&shown).contains(SECRET) && !err(&shown).contains(SECRET));
    let default = program(folder.path())
        .args(["config", "--default"])
        .output()
        .unwrap();
    assert_eq!(out(&default), planwright::config::schema::default_file());
    let check = program(folder.path())
        .args(["config", "--check"])
        .output()
        .unwrap();
    assert_eq!(check.status.code(), Some(2));
}

/// Said as a comment: what is printed is a configuration file.
#[test]
fn config_says_which_sandbox_agents_have_and_can_be_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let shown = program(folder.path())
        .args(["config", "--set", "agent.sandbox=off"])
        .output()
        .unwrap();
    let text = out(&shown);
    let line = "# Sandbox for agents on this computer: none (agent.sandbox is \"off\")";
    assert_eq!(text.lines().last(), Some(line));
    std::fs::write(folder.path().join("planwright.toml"), text).unwrap();
    let again = program(folder.path()).args(["config"]).output().unwrap();
    assert_eq!(again.status.code(), Some(0), "{}", err(&again));
    assert_eq!(out(&again).lines().last(), Some(line));
    let auto = program(folder.path())
        .args(["config", "--set", "agent.sandbox=auto"])
        .output()
        .unwrap();
    let here = planwright::adapters::agent::sandbox::active(
        planwright::adapters::agent::SandboxMode::Auto,
    );
    let line = format!("# Sandbox for agents on this computer: {here}");
    assert_eq!(out(&auto).lines().last(), Some(line.as_str()));
    for (set, said) in [
        (
            "agent.sandbox=off",
            "api.anthropic.com:443 only, which is not fully enforced: agent.sandbox is \"off\"",
        ),
        ("agent.network=open", "open"),
    ] {
        let claude = program(folder.path())
            .args(["config", "--set", "agent.kind=claude", "--set", set])
            .output()
            .unwrap();
        let line = format!("# Network of agents: {said}");
        assert!(
            out(&claude).lines().any(|known| known == line),
            "{}",
            out(&claude)
        );
    }
    let proxy = program(folder.path())
        .args(["config", "--set", "agent.kind=claude"])
        .args(["--set", "agent.environment=HTTPS_PROXY"])
        .env("HTTPS_PROXY", "socks5://u:hush@h:1")
        .output()
        .unwrap();
    let start =
        "# Network of agents: HTTPS_PROXY, which agent.environment passes on, does not name";
    assert!(out(&proxy).contains(start), "{}", out(&proxy));
    assert!(!out(&proxy).contains("hush") && !err(&proxy).contains("hush"));
    let limits = planwright::adapters::agent::limits::enforcement();
    let line = format!("# Limits for agents on this computer: {limits}");
    assert_eq!(out(&auto).lines().rev().nth(1), Some(line.as_str()));
}

#[test]
fn completions_are_scripts() {
    let bash = run(&["completions", "bash"]);
    assert_eq!(bash.status.code(), Some(0));
    assert!(out(&bash).contains("complete -F _planwright"));
}

#[test]
fn a_dry_run_decides_and_prints() {
    let text = run(&["replay", PAYLOAD, "--event", "issue_comment", "--dry-run"]);
    assert_eq!(text.status.code(), Some(0), "{}", err(&text));
    assert!(out(&text).starts_with("run save-plan\n  for       mira-solano (id 70110311)\n  at        harbour-works/tidewatch#42\n"));
    let json = run(&[
        "replay",
        PAYLOAD,
        "--event",
        "issue_comment",
        "--dry-run",
        "--json",
    ]);
    let json: serde_json::Value = serde_json::from_str(&out(&json)).unwrap();
    assert_eq!(json["decision"], "run");
    assert_eq!(json["runs"][0]["command"], "save-plan");
    let other = run(&["replay", PAYLOAD, "--event", "gollum", "--dry-run"]);
    assert_eq!(
        out(&other),
        "ignore: this App does not handle `gollum` events\n"
    );
    let wrong = run(&["replay", PAYLOAD, "--event", "installation", "--dry-run"]);
    assert_eq!(
        wrong.status.code(),
        Some(0),
        "an action that does not concern us may look as it likes"
    );
    let missing = run(&["replay", "none.json", "--event", "issues", "--dry-run"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(err(&missing).starts_with("error: cannot read none.json: "));
    let no_json = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    for more in [&["--dry-run"][..], &[]] {
        let arguments = [&["replay", no_json, "--event", "issues"], more].concat();
        let refused = run(&arguments);
        assert_eq!(refused.status.code(), Some(2), "nothing was done");
        let said = format!("error: {no_json} is not JSON: expected value at line 1 column 1\n");
        assert_eq!(err(&refused), said);
    }
}

#[test]
fn a_dry_run_tells_of_boxes_that_were_ticked() {
    let folder = tempfile::tempdir().unwrap();
    let asked = asking();
    let sent = asked.replace("- [ ] **Send", "- [x] **Send");
    let decided = |before: &str, after: &str| {
        std::fs::write(folder.path().join("edited.json"), edited(before, after)).unwrap();
        let mut program = program(folder.path());
        program
            .args(["replay", "edited.json", "--event", "issue_comment"])
            .args(["--dry-run", "--set", &format!("github.app_id={APP_ID}")]);
        let output = program.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        out(&output)
    };
    assert_eq!(
        decided(&asked, &sent),
        "run answer\n  for       mira-solano (id 70110311)\n  at        \
         harbour-works/tidewatch#42\n  because   checkboxes ticked in \
         https://github.com/harbour-works/tidewatch/issues/42#issuecomment-3310000004\n"
    );
    let ticked = asked.replacen("[ ]", "[x]", 1);
    assert_eq!(
        decided(&asked, &ticked),
        "ignore: checkboxes were ticked; the answers count once *Send these answers* is ticked\n"
    );
}

#[test]
fn replay_needs_a_secret_to_sign_with() {
    let unsigned = run(&["replay", PAYLOAD, "--event", "issue_comment"]);
    assert_eq!(unsigned.status.code(), Some(2));
    assert_eq!(
        err(&unsigned),
        "error: there is no webhook secret to sign with: set PLANWRIGHT_WEBHOOK_SECRETS or webhook.secrets_file\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn replay_signs_and_sends() {
    let rig = start().await;
    let folder = tempfile::tempdir().unwrap();
    let send = |secret: &str| {
        let mut command = program(folder.path());
        let address = format!("server.listen={}", rig.address);
        let app = format!("github.app_id={APP_ID}");
        command
            .args([
                "replay",
                PAYLOAD,
                "--event",
                "issue_comment",
                "--delivery",
                "replay-1",
                "--json",
            ])
            .args(["--set", &address, "--set", &app])
            .env("PLANWRIGHT_WEBHOOK_SECRETS", secret);
        tokio::task::spawn_blocking(move || command.output().unwrap())
    };
    let taken = send(SECRET).await.unwrap();
    assert_eq!(taken.status.code(), Some(0), "{}", err(&taken));
    let answer: serde_json::Value = serde_json::from_str(&out(&taken)).unwrap();
    assert_eq!(answer["delivery"], "replay-1");
    assert_eq!(answer["status"], 202);
    assert_eq!(answer["answer"]["status"], "accepted");
    assert_eq!(rig.store.deliveries.lock().unwrap()[0].guid, "replay-1");
    let refused = send("another secret").await.unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(err(&refused).contains("error: the delivery was rejected with status 401\n"));
}
