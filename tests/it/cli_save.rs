//! Tests of the command `planwright save` against the GitHub simulator.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use github_simulator::model::Role;
use github_simulator::{Simulator, SimulatorOptions};
use planwright::formats::block::{self, Content};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use crate::simulator_support::KEYS;
use crate::support::openapi::Client;
use crate::support::openapi::tap::Tap;
use crate::support::rig::PLAN;

const REPOSITORY: &str = "acme/search";
const SESSION: &str = "11111111-2222-4333-8444-555555555555";

/// A simulated GitHub, and a computer with a session in a clone of its repository.
struct Desk {
    simulator: Simulator,
    tap: Tap,
    folder: tempfile::TempDir,
}

impl Desk {
    async fn new() -> Self {
        let options = SimulatorOptions::new(
            "planwright",
            Arc::new(github_simulator::SystemClock),
            KEYS.public_pem.clone(),
            SecretString::from("not used"),
        );
        let tap = Tap::new(Client::Person);
        let outer = tap.clone();
        let simulator = Simulator::start_wrapped(options, |router| outer.wrap(router))
            .await
            .unwrap();
        simulator.add_repository(REPOSITORY, false).unwrap();
        simulator.grant(REPOSITORY, "ada", Role::Write).unwrap();
        let desk = Self {
            simulator,
            tap,
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(desk.path("clone")).unwrap();
        desk.git(&["init", "--quiet"]);
        let remote = format!("{}/{REPOSITORY}.git", desk.simulator.url());
        desk.git(&["remote", "add", "origin", &remote]);
        desk.session(PLAN);
        desk
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        // The session's folder is named after the real path.
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn git(&self, arguments: &[&str]) {
        let clone = self.path("clone");
        let done = Command::new("git")
            .arg("-C")
            .arg(clone)
            .args(arguments)
            .status();
        assert!(done.unwrap().success());
    }

    /// The only session of the clone ends with this plan.
    fn session(&self, plan: &str) {
        let clone = self.path("clone").display().to_string();
        let folder = self
            .path("claude/projects")
            .join(clone.replace(['/', '.'], "-"));
        std::fs::create_dir_all(&folder).unwrap();
        let entry = json!({
            "type": "assistant", "sessionId": SESSION, "timestamp": "2026-01-02T03:04:06.000Z", "cwd": clone,
            "message": {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t1", "name": "ExitPlanMode", "input": {"plan": plan}},
            ]},
        });
        std::fs::write(
            folder.join(format!("{SESSION}.jsonl")),
            format!("{entry}\n"),
        )
        .unwrap();
    }

    fn program(&self, token: Option<&SecretString>, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("CLAUDE_CONFIG_DIR", self.path("claude"))
            .current_dir(self.path("clone"))
            .arg(format!("--set=github.api_url={}", self.simulator.api_url()))
            .args([
                "--set=github.write_gap_ms=0",
                "--set=github.notify_gap_ms=0",
            ])
            .args(arguments);
        if let Some(token) = token {
            command.env("PLANWRIGHT_TOKEN", token.expose_secret());
        }
        command.output().unwrap()
    }

    /// Runs it, as ada, beside the simulator.
    async fn save(self: &Arc<Self>, arguments: &[&str]) -> Ended {
        let token = self.simulator.writing_token("ada");
        self.run(Some(token), arguments).await
    }

    async fn run(self: &Arc<Self>, token: Option<SecretString>, arguments: &[&str]) -> Ended {
        let desk = Arc::clone(self);
        let arguments: Vec<String> = ["save"]
            .iter()
            .chain(arguments)
            .map(|argument| (*argument).to_owned())
            .collect();
        let output = tokio::task::spawn_blocking(move || {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            desk.program(token.as_ref(), &arguments)
        })
        .await
        .unwrap();
        Ended {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ended {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

fn write(path: &Path, text: &str) -> String {
    std::fs::write(path, text).unwrap();
    path.display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_session_s_plan_is_saved_once_as_the_user() {
    let desk = Arc::new(Desk::new().await);
    let saved = desk.save(&[]).await;
    assert_eq!(saved.code, Some(0), "{saved:?}");
    let issues = desk.simulator.issues(REPOSITORY).unwrap();
    let [issue] = issues.as_slice() else {
        panic!("{issues:?}")
    };
    assert_eq!(issue.title, "Cache the search index");
    assert_eq!(issue.labels, ["erk-plan"]);
    assert_eq!((issue.author.login.as_str(), issue.via_app), ("ada", false));
    let url = format!(
        "{}/{REPOSITORY}/issues/{}",
        desk.simulator.url(),
        issue.number
    );
    assert!(
        saved.out.starts_with(&format!(
            "✅ Plan saved to GitHub issue: {url}\n\nCache the search index\n"
        )),
        "{}",
        saved.out
    );
    let next = format!("    planwright plan get {REPOSITORY}#1 | erk pr create\n");
    assert!(saved.out.contains(&next), "{}", saved.out);
    let comments = desk.simulator.comments(REPOSITORY, issue.number).unwrap();
    let parsed = block::parse(&comments[0].body);
    let Some(Content::Text(document)) = block::find(&parsed, "plan-body").map(|b| &b.content)
    else {
        panic!("{}", comments[0].body)
    };
    assert!(document.ends_with(PLAN), "{document}");
    assert!(
        issue.body.as_deref().unwrap_or_default().contains(&format!(
            "From the local session `{SESSION}`, saved by ada with `planwright save`."
        )),
        "{:?}",
        issue.body
    );

    let again = desk.save(&["--json"]).await;
    assert_eq!(again.code, Some(0), "{again:?}");
    let shown = again.json();
    assert_eq!(shown["skipped_duplicate"], true, "{shown}");
    assert_eq!(shown["issue_number"], issue.number, "{shown}");
    desk.session(&format!("{PLAN}\nAnd more.\n"));
    let changed = desk.save(&["--json"]).await;
    assert_eq!(changed.code, Some(1), "{changed:?}");
    assert_eq!(changed.json()["success"], false, "{changed:?}");
    assert_eq!(changed.json()["error_type"], "already_saved", "{changed:?}");
    assert_eq!(
        changed.err,
        format!(
            "error: a plan of this session with the same title but different text was already \
             saved as {url}; use --again to save this one too\n"
        )
    );
    assert_eq!(desk.simulator.issues(REPOSITORY).unwrap().len(), 1);
    let anew = desk.save(&["--again", "--json"]).await.json();
    assert_eq!(anew["issue_number"], 2, "{anew}");
    assert_eq!(anew["success"], true, "{anew}");
    desk.tap.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_was_saved_without_a_link_is_not_called_saved_when_one_is_asked_for() {
    let desk = Arc::new(Desk::new().await);
    let number = desk
        .simulator
        .open_issue(REPOSITORY, "bob", "Slow start", "It is slow.")
        .unwrap();
    let first = desk.save(&["--json"]).await.json();
    let url = first["issue_url"].as_str().unwrap().to_owned();
    let issue = number.to_string();
    let linked = ["--issue", issue.as_str()];
    let said = format!(
        "error: the plan was already saved as {url}, which is not linked to this issue; use \
         --again to save it again with the link\n"
    );
    for arguments in [&linked[..], &[linked[0], linked[1], "--dry-run"]] {
        let refused = desk.save(arguments).await;
        assert_eq!((refused.code, refused.err), (Some(1), said.clone()));
    }
    let saved = desk.save(&["--issue", &issue, "--again", "--json"]).await;
    assert_eq!(saved.code, Some(0), "{saved:?}");
    let again = desk
        .save(&["--issue", &issue, "--again", "--dry-run"])
        .await;
    assert_eq!(again.code, Some(0), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_saved_beside_the_issue_it_is_for_and_a_dry_run_writes_nothing() {
    let desk = Arc::new(Desk::new().await);
    desk.simulator.add_repository("acme/other", false).unwrap();
    desk.simulator
        .grant("acme/other", "ada", Role::Write)
        .unwrap();
    let number = desk
        .simulator
        .open_issue("acme/other", "bob", "Slow start", "It is slow.")
        .unwrap();
    let file = write(&desk.path("plan.md"), PLAN);
    let issue = format!("acme/other#{number}");
    let writes = desk.simulator.writes();
    let dry = desk
        .save(&["--plan", &file, "--issue", &issue, "--dry-run"])
        .await;
    assert_eq!(dry.code, Some(0), "{dry:?}");
    assert!(
        dry.out
            .starts_with("Would save to acme/other, in one comment:\n\nCache the search index\n"),
        "{}",
        dry.out
    );
    assert_eq!(desk.simulator.writes(), writes);
    // A byte order mark is left out, and the user is told.
    let marked = write(&desk.path("marked.md"), &format!("\u{feff}{PLAN}"));
    let told = desk
        .save(&["--plan", &marked, "--issue", &issue, "--dry-run"])
        .await;
    assert_eq!(told.out, dry.out);
    assert!(
        told.err
            .starts_with("note: the byte order mark at the start of ")
            && told.err.contains("is not saved"),
        "{}",
        told.err
    );
    let title = ["--title", "Start faster"];
    let saved = desk
        .save(&[
            "--plan", &file, "--issue", &issue, "--json", title[0], title[1],
        ])
        .await;
    let shown = saved.json();
    assert_eq!(shown["title"], "Start faster", "{shown}");
    let issues = desk.simulator.issues("acme/other").unwrap();
    let plan = issues.iter().find(|issue| issue.number != number).unwrap();
    assert!(
        plan.body.as_deref().unwrap_or_default().contains(&format!(
            "From a local file for acme/other#{number}, saved by ada with `planwright save`."
        )),
        "{:?}",
        plan.body
    );
    desk.tap.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_saved_says_why_and_what_to_do() {
    let desk = Arc::new(Desk::new().await);
    let file = write(&desk.path("short.md"), "# Too short\n\n- one\n");
    let error = |ended: &Ended, code: i32, text: &str| {
        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert_eq!(ended.err, format!("error: {text}\n"));
    };
    error(
        &desk.run(None, &[]).await,
        2,
        "saving needs a token with write access to issues; set PLANWRIGHT_TOKEN, or for github.com GITHUB_TOKEN or GH_TOKEN",
    );
    error(
        &desk
            .save(&["--repo", "acme/search", "--issue", "a/b#1"])
            .await,
        2,
        "--issue is in a/b, not in --repo acme/search; a plan is saved in the repository of its issue",
    );
    error(
        &desk
            .save(&["--plan", &desk.path("none.md").display().to_string()])
            .await,
        2,
        &format!(
            "cannot read {}: No such file or directory (os error 2); give a file, or `-` for standard input",
            desk.path("none.md").display()
        ),
    );
    let short = desk.save(&["--plan", &file, "--json"]).await;
    assert_eq!(short.code, Some(1), "{short:?}");
    assert_eq!(short.json()["error_type"], "validation_failed", "{short:?}");
    assert!(short.err.contains("minimum 100"), "{short:?}");
    let titled = write(
        &desk.path("titled.md"),
        &PLAN.replace("Cache the search index", "12345"),
    );
    error(
        &desk.save(&["--plan", &titled]).await,
        1,
        "The plan was found, but cannot be saved as it is: its title `12345` was rejected (Must \
         contain at least one alphabetic character). Start the plan with a heading that says what \
         it will do, for example `# Plan: Add user authentication`.",
    );
    let stranger = desk.simulator.writing_token("eve");
    let refused = desk.run(Some(stranger), &[]).await;
    error(
        &refused,
        1,
        "GitHub refuses saving plans in acme/search to the token in PLANWRIGHT_TOKEN: the account \
         cannot push to the repository; it needs write access to issues, from a user who can push",
    );
    desk.simulator
        .set_issues_enabled(REPOSITORY, false)
        .unwrap();
    error(
        &desk.save(&[]).await,
        1,
        "the issue tracker of acme/search is gone: issues are disabled in the repository's settings; enable issues in the \
         repository's settings, or name another one",
    );
    desk.simulator.set_archived(REPOSITORY, true).unwrap();
    error(
        &desk.save(&[]).await,
        1,
        "GitHub refuses the issue tracker of acme/search: the repository is archived; unarchive the repository in its settings",
    );
    desk.git(&["remote", "remove", "origin"]);
    error(
        &desk.save(&[]).await,
        2,
        &format!(
            "{} has no git remote `origin`; name the repository with --repo OWNER/REPO",
            desk.path("clone").display()
        ),
    );
}

/// Its log was found by id from somewhere else.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_another_folder_is_saved_to_that_folder_s_repository() {
    let desk = Arc::new(Desk::new().await);
    let elsewhere = desk.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let project = elsewhere.display().to_string();
    let saved = desk
        .save(&["--session-id", SESSION, "--project", &project, "--json"])
        .await;
    assert_eq!(saved.code, Some(0), "{saved:?}");
    let url = saved.json()["issue_url"].as_str().unwrap().to_owned();
    assert!(url.contains("/acme/search/issues/"), "{url}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_file_of_nobody_knows_which_session_is_not_saved() {
    let desk = Arc::new(Desk::new().await);
    std::fs::remove_dir_all(desk.path("claude/projects")).unwrap();
    std::fs::create_dir_all(desk.path("claude/plans")).unwrap();
    std::fs::create_dir_all(desk.path("claude/projects")).unwrap();
    write(&desk.path("claude/plans/strange.md"), PLAN);
    let refused = desk.save(&["--newest"]).await;
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.err.contains(
            "strange.md belongs to no known session, perhaps to another project; check it, then save it with --plan"
        ),
        "{refused:?}"
    );
    assert!(desk.simulator.issues(REPOSITORY).unwrap().is_empty());
}
