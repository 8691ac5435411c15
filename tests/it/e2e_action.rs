//! The GitHub Action: its steps are run as a runner would, with the program, against the simulator.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use github_simulator::model::Role;
use github_simulator::{Simulator, SimulatorOptions, SystemClock};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio::process::Command;

use crate::simulator_support::KEYS;
use crate::support::rig::PLAN;

/// Timeout of every wait, far longer than needed.
const PATIENCE: std::time::Duration = std::time::Duration::from_mins(1);
const REPO: &str = "acme/search";
const PROGRAM: &str = env!("CARGO_BIN_EXE_planwright");
const PERMISSIONS: [(&str, &str); 4] = [
    ("contents", "read"),
    ("issues", "write"),
    ("pull_requests", "write"),
    ("checks", "write"),
];

/// What a job printed and left behind.
#[derive(Debug)]
struct Job {
    succeeded: bool,
    log: String,
    outputs: BTreeMap<String, String>,
    summary: String,
}

struct World {
    github: Simulator,
    token: SecretString,
    folder: TempDir,
    action: Value,
}

impl World {
    async fn new() -> Self {
        let secret = SecretString::from("of another App");
        let clock = Arc::new(SystemClock);
        let options = SimulatorOptions::new("another", clock, KEYS.public_pem.clone(), secret);
        let github = Simulator::start(options).await.unwrap();
        github.add_repository(REPO, false).unwrap();
        github.grant(REPO, "ada", Role::Write).unwrap();
        // Its deliveries have the payloads that workflows get.
        github.install(&[REPO]).unwrap();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/action/action.yml");
        let text = std::fs::read_to_string(file).unwrap();
        Self {
            token: github.job_token(REPO, &PERMISSIONS).unwrap(),
            github,
            folder: tempfile::tempdir().unwrap(),
            action: serde_saphyr::from_str(&text).unwrap(),
        }
    }

    /// Comments on a new issue that has a plan. Returns the issue's number.
    fn commented(&self, comments: &[&str]) -> u64 {
        let issue = self.github.open_issue(REPO, "ada", "Slow start", "Why?");
        let issue = issue.unwrap();
        for comment in comments {
            self.github.comment(REPO, issue, "ada", comment).unwrap();
        }
        issue
    }

    /// Stores a person's last event of this name, as GitHub Actions does, and returns the path.
    fn event(&self, name: &str) -> String {
        let deliveries = self.github.deliveries().into_iter().rev();
        let mut payload = deliveries
            .filter(|one| one.event == name)
            .map(|one| serde_json::from_slice::<Value>(&one.payload).unwrap())
            .find(|payload| payload["sender"]["type"] == "User")
            .unwrap();
        payload.as_object_mut().unwrap().remove("installation");
        let file = self.folder.path().join("event.json");
        std::fs::write(&file, payload.to_string()).unwrap();
        file.display().to_string()
    }

    async fn job(&self, inputs: &[(&str, &str)]) -> Job {
        let event = self.event("issue_comment");
        let environment = [
            ("GITHUB_EVENT_NAME", "issue_comment"),
            ("GITHUB_EVENT_PATH", &*event),
        ];
        self.job_with(inputs, &environment).await
    }

    /// Runs the steps of the action one after another until one fails.
    async fn job_with(&self, inputs: &[(&str, &str)], environment: &[(&str, &str)]) -> Job {
        let folder = tempfile::tempdir_in(self.folder.path()).unwrap();
        let summary = folder.path().join("summary");
        let mut job = Job {
            succeeded: true,
            log: String::new(),
            outputs: BTreeMap::new(),
            summary: String::new(),
        };
        let mut values = BTreeMap::new();
        for (name, input) in self.action["inputs"].as_object().unwrap() {
            let default = input["default"].as_str().unwrap();
            values.insert(format!("inputs.{name}"), default.to_owned());
        }
        let token = self.token.expose_secret().to_owned();
        values.insert("inputs.token".to_owned(), token);
        for (name, value) in inputs {
            values.insert(format!("inputs.{name}"), (*value).to_owned());
        }
        for step in self.action["runs"]["steps"].as_array().unwrap() {
            let id = step["id"].as_str().unwrap();
            let output = folder.path().join(id);
            let script = step["run"].as_str().unwrap();
            assert!(
                !script.contains("${{"),
                "{id} builds its script from inputs"
            );
            let mut command = Command::new("bash");
            command
                .args(["-e", "-c", script])
                .env_clear()
                .env("PATH", std::env::var_os("PATH").unwrap())
                .env("GITHUB_API_URL", self.github.api_url())
                .env("GITHUB_OUTPUT", &output)
                .env("GITHUB_STEP_SUMMARY", &summary)
                .envs(environment.iter().copied())
                .current_dir(folder.path());
            for (name, value) in step["env"].as_object().unwrap() {
                let value = value.as_str().unwrap();
                let key = value.trim_start_matches("${{ ").trim_end_matches(" }}");
                let key = key.trim_start_matches("steps.").replace(".outputs.", ".");
                command.env(name, values.get(&key).unwrap_or_else(|| panic!("{key}")));
            }
            let done = command.output().await.unwrap();
            job.log.push_str(&String::from_utf8(done.stdout).unwrap());
            job.log.push_str(&String::from_utf8(done.stderr).unwrap());
            for line in std::fs::read_to_string(&output).unwrap_or_default().lines() {
                let (name, value) = line.split_once('=').unwrap();
                values.insert(format!("{id}.{name}"), value.to_owned());
            }
            if !done.status.success() {
                job.succeeded = false;
                break;
            }
        }
        for (name, output) in self.action["outputs"].as_object().unwrap() {
            let key = output["value"]
                .as_str()
                .unwrap()
                .trim_start_matches("${{ steps.");
            let key = key.trim_end_matches(" }}").replace(".outputs.", ".");
            let value = values.get(&key).cloned().unwrap_or_default();
            job.outputs.insert(name.clone(), value);
        }
        job.summary = std::fs::read_to_string(&summary).unwrap_or_default();
        assert!(!job.log.contains(self.token.expose_secret()), "{}", job.log);
        job
    }

    /// Returns the comments of jobs on an issue.
    fn said(&self, issue: u64) -> Vec<String> {
        let comments = self.github.comments(REPO, issue).unwrap().into_iter();
        comments
            .filter(|one| one.author.login == "github-actions[bot]")
            .map(|one| one.body)
            .collect()
    }

    /// Returns the addresses of the plan issues.
    fn plans(&self) -> Vec<String> {
        let issues = self.github.issues(REPO).unwrap().into_iter();
        issues
            .filter(|one| one.author.login == "github-actions[bot]")
            .map(|one| format!("{}/{REPO}/issues/{}", self.github.url(), one.number))
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_saved_once_however_often_the_job_runs() {
    let world = World::new().await;
    let issue = world.commented(&[PLAN, "/save-plan"]);
    let mut states = Vec::new();
    for _ in 0..2 {
        let job = world.job(&[("binary", PROGRAM)]).await;
        assert!(job.succeeded, "{}", job.log);
        let plans = world.plans();
        let [plan] = plans.as_slice() else {
            panic!("{plans:?}")
        };
        assert_eq!(job.outputs["plan"], *plan);
        assert_eq!(job.outputs["state"], "succeeded");
        assert_eq!(job.outputs["code"], "");
        assert_eq!(job.summary, format!("* /save-plan: {plan}\n"));
        let said = world.said(issue);
        assert_eq!(said.len(), 1, "{said:#?}");
        assert!(said[0].contains("Plan saved"), "{said:#?}");
        let issue = world.github.issues(REPO).unwrap().pop().unwrap();
        let comments = world.github.comments(REPO, issue.number).unwrap();
        let texts: Vec<String> = comments.into_iter().map(|one| one.body).collect();
        states.push((issue.number, issue.title, issue.labels, texts));
    }
    assert_eq!(states[0], states[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_label_is_a_command_too() {
    let world = World::new().await;
    let issue = world.commented(&[PLAN]);
    world.github.label(REPO, issue, "ada", "save-plan").unwrap();
    let event = world.event("issues");
    let environment = [
        ("GITHUB_EVENT_NAME", "issues"),
        ("GITHUB_EVENT_PATH", &*event),
    ];
    for _ in 0..2 {
        let job = world.job_with(&[("binary", PROGRAM)], &environment).await;
        assert!(job.succeeded, "{}", job.log);
        assert_eq!(world.plans(), [job.outputs["plan"].as_str()]);
        assert_eq!(world.said(issue).len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_was_killed_is_continued_by_the_next_one() {
    let world = World::new().await;
    let issue = world.commented(&[PLAN, "/save-plan"]);
    // The issue is created, and the answer is lost; the job ends before it can look for it.
    world.github.faults().push(github_simulator::Fault::on(
        "POST",
        "/repos/*/*/issues",
        github_simulator::FaultKind::Delay(std::time::Duration::from_hours(1)),
    ));
    let event = world.event("issue_comment");
    let mut first = Command::new(PROGRAM)
        .arg("action")
        .env_clear()
        .env("GITHUB_API_URL", world.github.api_url())
        .env("GITHUB_EVENT_NAME", "issue_comment")
        .env("GITHUB_EVENT_PATH", &event)
        .env("PLANWRIGHT_TOKEN", world.token.expose_secret())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    // The status comment is there, and the plan issue is being written.
    let injected = async {
        while world.github.faults().injected() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, injected).await.unwrap();
    first.kill().await.unwrap();
    let job = world.job(&[("binary", PROGRAM)]).await;
    assert!(job.succeeded, "{}", job.log);
    assert_eq!(world.plans().len(), 1);
    let said = world.said(issue);
    assert_eq!(said.len(), 1, "{said:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_job_cannot_do_is_said() {
    let world = World::new().await;
    let binary = [("binary", PROGRAM)];
    world.commented(&["/plan-help"]);
    for _ in 0..2 {
        let job = world.job(&binary).await;
        assert!(job.succeeded, "{}", job.log);
        assert!(job.log.contains("/plan-help: succeeded"), "{}", job.log);
        assert_eq!(world.said(1).len(), 1);
    }

    let issue = world.commented(&["nothing here", "/save-plan"]);
    let job = world.job(&binary).await;
    assert!(!job.succeeded);
    assert_eq!(job.outputs["code"], "no_plan_found");
    let expected = "error: /save-plan: no_plan_found; the comment of the bot says what to do";
    assert!(job.log.contains(expected), "{}", job.log);
    assert_eq!(world.said(issue).len(), 1);

    // Two plans of equal standing: nobody could take the answer to a question.
    let other = PLAN.replace("Cache the search index", "Drop the search index");
    world.commented(&[PLAN, &other, "/save-plan"]);
    let job = world.job(&binary).await;
    assert_ne!(job.outputs["state"], "waiting", "{}", job.log);

    for (comment, expected) in [
        (
            "/plan",
            "error: /plan needs the bot as a server (https://github.com/planwright/planwright); a workflow carries out \
             /save-plan, /save-raw-plan, /check-plan, /plan-help",
        ),
        ("/retry", "error: /retry needs the bot as a server"),
    ] {
        let issue = world.commented(&[comment]);
        let job = world.job(&binary).await;
        assert!(!job.succeeded);
        assert!(job.log.contains(expected), "{}", job.log);
        assert_eq!(world.said(issue), Vec::<String>::new());
    }
    world.commented(&["thanks"]);
    let job = world.job(&binary).await;
    assert!(job.succeeded);
    assert!(
        job.log
            .contains("nothing to do: no command in this comment"),
        "{}",
        job.log
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_environment_is_named() {
    let world = World::new().await;
    world.commented(&["/plan-help"]);
    let event = world.event("issue_comment");
    let binary = ("binary", PROGRAM);
    let path = ("GITHUB_EVENT_PATH", &*event);
    let name = ("GITHUB_EVENT_NAME", "issue_comment");
    let text = world.folder.path().join("text");
    std::fs::write(&text, "text").unwrap();
    let text = text.display().to_string();
    let no_token = "PLANWRIGHT_TOKEN is not set: pass the workflow's token, ${{ github.token }}";
    for (inputs, environment, expected) in [
        (
            vec![binary],
            vec![path],
            "GITHUB_EVENT_NAME is not set: this command is a step of a GitHub Actions workflow, see docs/action.md",
        ),
        (vec![binary], vec![name], "GITHUB_EVENT_PATH is not set"),
        (vec![binary, ("token", "")], vec![name, path], no_token),
        (
            vec![binary],
            vec![name, ("GITHUB_EVENT_PATH", "/none/event.json")],
            "/none/event.json",
        ),
        (
            vec![binary],
            vec![name, ("GITHUB_EVENT_PATH", &*text)],
            "the event is not JSON: expected",
        ),
        (
            vec![("binary", "/none/planwright")],
            vec![name, path],
            "::error::binary: /none/planwright is not a program",
        ),
    ] {
        let job = world.job_with(&inputs, &environment).await;
        assert!(!job.succeeded, "{expected}");
        assert!(job.log.contains(expected), "{}", job.log);
    }
    let job = world
        .job_with(&[binary], &[("GITHUB_EVENT_NAME", "push"), path])
        .await;
    assert!(job.succeeded, "{}", job.log);
    assert!(job.log.contains("nothing to do: "), "{}", job.log);

    // Without the permission to write.
    let read = [("contents", "read"), ("issues", "read")];
    let token = world.github.job_token(REPO, &read).unwrap();
    let inputs = [binary, ("token", token.expose_secret())];
    let job = world.job_with(&inputs, &[name, path]).await;
    assert!(!job.succeeded, "{}", job.log);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_is_used_only_with_its_checksum() {
    let world = World::new().await;
    let issue = world.commented(&["/plan-help"]);
    let releases = world.folder.path().join("releases");
    let release = releases.join("v9");
    std::fs::create_dir_all(&release).unwrap();
    std::os::unix::fs::symlink(PROGRAM, world.folder.path().join("planwright")).unwrap();
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let name = format!("planwright-v9-{target}.tar.gz");
    let packed = Command::new("tar")
        .args(["--create", "--gzip", "--dereference", "--file"])
        .arg(release.join(&name))
        .arg("planwright")
        .current_dir(world.folder.path())
        .status();
    assert!(packed.await.unwrap().success());
    let digest = hex::encode(Sha256::digest(std::fs::read(release.join(&name)).unwrap()));
    let address = format!("file://{}", releases.display());
    let inputs = [("version", "v9"), ("releases", &*address)];
    for (sum, good) in [(digest, true), ("0".repeat(64), false)] {
        std::fs::write(release.join("SHA256SUMS"), format!("{sum}  {name}\n")).unwrap();
        let job = world.job(&inputs).await;
        assert_eq!(job.succeeded, good, "{}", job.log);
        if !good {
            let expected = format!("::error::{name} does not have the checksum in SHA256SUMS");
            assert!(job.log.contains(&expected), "{}", job.log);
        }
    }
    assert_eq!(world.said(issue).len(), 1);
    let job = world
        .job(&[("version", "v8"), ("releases", &*address)])
        .await;
    assert!(!job.succeeded);
    assert!(
        job.log.contains("cannot be downloaded: check the version"),
        "{}",
        job.log
    );
}
