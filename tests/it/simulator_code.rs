//! Commits, pull requests and check runs of the simulator, over HTTP and through the bot's GitHub
//! client.

use std::sync::Arc;
use std::time::Duration;

use github_simulator::model::{FileEdits, TreeEntry};
use github_simulator::{Fault, FaultKind, NewPullRequest, Simulator, SimulatorOptions};
use http::{Method, StatusCode};
use planwright::adapters::clock::SystemClock;
use planwright::adapters::github::{GitHub, GitHubConfig};
use planwright::adapters::store::{SqlStore, SqliteOptions};
use planwright::engine::clock::Clock;
use planwright::engine::effects::Effects;
use planwright::engine::forge::{
    Annotation, Change, CheckReport, CheckState, Conclusion, Content, Forge, Level, NewCheckRun,
    NotAFile, content,
};
use planwright::engine::model::time::Millis;
use planwright::engine::model::trigger::{IssueRef, Repo};
use planwright::engine::store::{ClaimLimits, NewDelivery, NewRun, Store};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use crate::simulator_support::{KEYS, REPO, Receiver, SECRET, World};
use crate::support::openapi::Client;
use crate::support::openapi::tap::Tap;

const RUNS: &str = "/repos/acme/widgets/check-runs";

fn file(path: &str, text: &str) -> (String, Option<TreeEntry>) {
    (path.to_owned(), Some(TreeEntry::file(text.to_owned())))
}

fn gone(path: &str) -> (String, Option<TreeEntry>) {
    (path.to_owned(), None)
}

fn proposal(edits: &FileEdits) -> NewPullRequest {
    NewPullRequest {
        title: "Plans".into(),
        body: "See the files.".into(),
        edits: edits.to_vec(),
        ..NewPullRequest::default()
    }
}

/// A pull request with one plan; its number and head.
async fn plan_proposed(world: &World) -> (u64, String) {
    let simulator = &world.simulator;
    let edits = [file("plans/a.md", "one\ntwo\n")];
    let number = simulator
        .create_pull_request(REPO, "ada", &proposal(&edits))
        .unwrap();
    let pull = world.get(&format!("/repos/{REPO}/pulls/{number}")).await;
    assert_eq!(pull.status, StatusCode::OK, "{}", pull.text());
    let head = pull.json()["head"]["sha"].as_str().unwrap().to_owned();
    (number, head)
}

#[tokio::test]
async fn a_push_makes_a_new_head_and_is_announced() {
    let world = World::new().await;
    world.simulator.put_file(REPO, "README.md", "hi").unwrap();
    let receiver = Receiver::start(StatusCode::ACCEPTED).await;
    world.simulator.settle().await;
    world.simulator.set_targets(vec![receiver.url.clone()]);
    let (number, first) = plan_proposed(&world).await;
    let second = world.simulator.push(
        REPO,
        number,
        "ada",
        &[file("plans/a.md", "one\n2\n"), file("b.md", "b")],
    );
    let second = second.unwrap();
    assert_ne!(first, second);
    world.simulator.settle().await;
    let payloads = receiver.payloads();
    let told: Vec<_> = payloads
        .iter()
        .map(|(event, payload)| {
            let head = &payload["pull_request"]["head"]["sha"];
            (
                event.as_str(),
                payload["action"].as_str().unwrap(),
                head.as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("pull_request", "opened", first.as_str()),
            ("pull_request", "synchronize", second.as_str()),
        ]
    );
    assert_eq!(
        (&payloads[1].1["before"], &payloads[1].1["after"]),
        (&json!(first), &json!(second))
    );
    let pull = world
        .get(&format!("/repos/{REPO}/pulls/{number}"))
        .await
        .json();
    assert_eq!(pull["head"]["sha"], second);
    let counts = ["commits", "changed_files", "additions", "deletions"].map(|name| &pull[name]);
    assert_eq!(counts, [&json!(2), &json!(2), &json!(3), &json!(0)]);
    // The files belong to commits: the first one is as it was, and the base knows nothing of them.
    for (reference, expected) in [
        (first.as_str(), Some(8)),
        (&second, Some(6)),
        ("main", None),
    ] {
        let path = format!("/repos/{REPO}/contents/plans/a.md?ref={reference}");
        let size = world.get(&path).await.json()["size"].as_u64();
        assert_eq!(size, expected, "{reference}");
    }
    let path = format!("/repos/{REPO}/contents/README.md?ref={second}");
    assert_eq!(world.get(&path).await.status, StatusCode::OK);
}

#[tokio::test]
async fn changed_files_are_told_as_git_tells_them() {
    let world = World::new().await;
    let simulator = &world.simulator;
    let base = [
        file("kept.md", "same"),
        file("changed.md", "a\nb\n"),
        file("removed.md", "gone"),
        file("old/name.md", "moved as it was"),
    ];
    simulator.commit(REPO, "main", &base).unwrap();
    let edits = [
        file("changed.md", "a\nc\nd\n"),
        gone("removed.md"),
        gone("old/name.md"),
        file("new/name.md", "moved as it was"),
        file("a b/ü.md", "new\n"),
        file("kept.md", "same"),
    ];
    let number = simulator
        .create_pull_request(REPO, "ada", &proposal(&edits))
        .unwrap();
    let path = format!("/repos/{REPO}/pulls/{number}/files");
    let list = world.get(&path).await.json();
    let seen: Vec<Value> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let parts = [
                "filename",
                "status",
                "previous_filename",
                "additions",
                "deletions",
            ];
            parts.map(|name| one[name].clone()).to_vec().into()
        })
        .collect();
    assert_eq!(
        seen,
        [
            json!(["a b/ü.md", "added", null, 1, 0]),
            json!(["changed.md", "modified", null, 2, 1]),
            json!(["new/name.md", "renamed", "old/name.md", 0, 0]),
            json!(["removed.md", "removed", null, 0, 1]),
        ]
    );
    let first = world.get(&format!("{path}?per_page=3")).await;
    assert_eq!(first.json().as_array().unwrap().len(), 3);
    let rest = world.get(&first.link("next").unwrap()).await;
    assert_eq!(rest.json()[0]["filename"], "removed.md");
    // An issue is no pull request.
    let issue = simulator.open_issue(REPO, "ada", "t", "").unwrap();
    let path = format!("/repos/{REPO}/pulls/{issue}");
    assert_eq!(world.get(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn three_thousand_files_are_listed_and_no_more() {
    let world = World::new().await;
    let edits: Vec<_> = (0..3_001)
        .map(|at| file(&format!("f{at:04}"), "x"))
        .collect();
    let number = world
        .simulator
        .create_pull_request(REPO, "ada", &proposal(&edits));
    let path = format!("/repos/{REPO}/pulls/{}", number.unwrap());
    assert_eq!(world.get(&path).await.json()["changed_files"], 3_001);
    let page = |page: usize| format!("{path}/files?per_page=100&page={page}");
    let last = world.get(&page(30)).await;
    assert_eq!(last.json().as_array().unwrap().len(), 100);
    assert_eq!(last.link("next"), None);
    assert_eq!(world.get(&page(31)).await.json(), json!([]));
}

#[tokio::test]
async fn links_and_submodules_are_no_files() {
    let world = World::new().await;
    let entries = [
        file("docs/a.md", "text"),
        ("link".to_owned(), Some(TreeEntry::Link("docs/a.md".into()))),
        (
            "dangling".to_owned(),
            Some(TreeEntry::Link("nowhere".into())),
        ),
        (
            "module".to_owned(),
            Some(TreeEntry::Submodule("c0ffee".into())),
        ),
    ];
    world.simulator.commit(REPO, "main", &entries).unwrap();
    for (path, kind) in [
        ("link", "file"),
        ("dangling", "symlink"),
        ("module", "submodule"),
    ] {
        let got = world.get(&format!("/repos/{REPO}/contents/{path}")).await;
        assert_eq!(got.json()["type"], kind, "{path}");
    }
    let list = world.get(&format!("/repos/{REPO}/contents")).await.json();
    let kinds: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["type"])
        .collect();
    assert_eq!(kinds, ["symlink", "dir", "symlink", "file"]);
}

#[tokio::test]
async fn trees_and_contents_are_named_by_what_is_in_them() {
    let world = World::new().await;
    let entries = [
        file("docs/a.md", "text"),
        file("docs/deep/b.md", "ü"),
        file("docs.md", "beside"),
        file("copy/a.md", "text"),
        file("copy/deep/b.md", "ü"),
        ("docs/link".to_owned(), Some(TreeEntry::Link("a.md".into()))),
        (
            "docs/module".to_owned(),
            Some(TreeEntry::Submodule("c0ffee".into())),
        ),
    ];
    let first = world.simulator.commit(REPO, "main", &entries).unwrap();
    let shas = async |reference: &str| {
        let path = format!("/repos/{REPO}/contents?ref={reference}");
        let list = world.get(&path).await.json();
        ["copy", "docs"].map(|name| {
            let all = list.as_array().unwrap();
            let one = all.iter().find(|one| one["name"] == name);
            one.unwrap()["sha"].as_str().unwrap().to_owned()
        })
    };
    let [copy, docs] = shas(&first).await;
    assert_ne!(copy, docs);
    let seen = async |query: &str| {
        let got = world.get(&format!("/repos/{REPO}/git/trees/{query}")).await;
        assert_eq!(got.status, StatusCode::OK, "{}", got.text());
        let tree = got.json();
        assert_eq!(tree["truncated"], false);
        let objects = tree["tree"].as_array().unwrap().iter();
        let objects = objects.map(|one| {
            let parts = ["path", "mode", "type", "size"];
            Value::from(parts.map(|name| one[name].clone()).to_vec())
        });
        objects.collect::<Vec<Value>>()
    };
    let flat = [
        json!(["a.md", "100644", "blob", 4]),
        json!(["deep", "040000", "tree", null]),
        json!(["link", "120000", "blob", 4]),
        json!(["module", "160000", "commit", null]),
    ];
    assert_eq!(seen(&docs).await, flat);
    let mut deep = flat.to_vec();
    deep.insert(2, json!(["deep/b.md", "100644", "blob", 2]));
    // "Setting this parameter to any value".
    for value in ["1", "false"] {
        assert_eq!(seen(&format!("{docs}?recursive={value}")).await, deep);
    }
    let commit = world.get(&format!("/repos/{REPO}/commits/main")).await;
    let root = commit.json()["commit"]["tree"]["sha"].clone();
    for (name, sha) in [
        (first.as_str(), first.as_str()),
        ("main", first.as_str()),
        ("HEAD", first.as_str()),
        (root.as_str().unwrap(), root.as_str().unwrap()),
    ] {
        let got = world.get(&format!("/repos/{REPO}/git/trees/{name}")).await;
        assert_eq!(got.json()["sha"], sha, "{name}");
        let root = seen(name).await;
        let paths: Vec<_> = root.iter().map(|one| &one[0]).collect();
        assert_eq!(paths, ["copy", "docs", "docs.md"], "{name}");
    }
    // The same content has the same name, and another content another one; the first is still
    // there.
    let edits = [
        gone("docs/link"),
        gone("docs/module"),
        file("copy/c.md", "c"),
    ];
    let second = world.simulator.commit(REPO, "main", &edits).unwrap();
    let [other, same] = shas(&second).await;
    assert_eq!(same, copy);
    assert_ne!(other, copy);
    assert_eq!(seen(&docs).await, flat);
    let got = world
        .get(&format!("/repos/{REPO}/contents/docs/deep/b.md"))
        .await;
    let sha = got.json()["sha"].clone();
    let path = format!("/repos/{REPO}/git/blobs/{}", sha.as_str().unwrap());
    let blob = world.get(&path).await.json();
    assert_eq!((&blob["sha"], &blob["size"]), (&sha, &json!(2)));
    assert_eq!(
        (&blob["content"], &blob["encoding"]),
        (&json!("w7w=\n"), &json!("base64"))
    );
    for path in ["trees/c0ffee", "blobs/c0ffee", "blobs/main"] {
        let got = world.get(&format!("/repos/{REPO}/git/{path}")).await;
        assert_eq!(got.status, StatusCode::NOT_FOUND, "{path}");
    }
}

fn annotations(count: usize) -> Vec<Value> {
    (1..=count)
        .map(|line| {
            json!({
                "path": "plans/a.md", "start_line": line, "end_line": line,
                "annotation_level": "warning", "message": format!("remark {line}"),
            })
        })
        .collect()
}

fn output(annotations: &[Value]) -> Value {
    json!({"title": "t", "summary": "s", "annotations": annotations})
}

#[tokio::test]
async fn annotations_of_further_requests_are_added() {
    let world = World::new().await;
    let (number, head) = plan_proposed(&world).await;
    let body = json!({
        "name": "Plan check", "head_sha": head, "external_id": "run/key", "status": "in_progress",
        "output": output(&annotations(50)),
    });
    let got = world.post(RUNS, body).await;
    assert_eq!(got.status, StatusCode::CREATED, "{}", got.text());
    let run = got.json();
    assert_eq!(got.header("location"), run["url"].as_str());
    assert_eq!(
        (&run["status"], &run["conclusion"]),
        (&json!("in_progress"), &Value::Null)
    );
    assert_eq!(run["output"]["annotations_count"], 50);
    assert_eq!(run["pull_requests"][0]["number"], number);
    assert_eq!(run["app"]["slug"], "planwright");
    let path = format!("{RUNS}/{}", run["id"]);
    let body = json!({"conclusion": "failure", "output": output(&annotations(20))});
    let got = world.call(Method::PATCH, &path, body).await;
    assert_eq!(got.status, StatusCode::OK, "{}", got.text());
    let run = got.json();
    assert_eq!(
        (&run["status"], &run["conclusion"]),
        (&json!("completed"), &json!("failure"))
    );
    assert_eq!(run["output"]["annotations_count"], 70);
    assert_eq!(world.get(&path).await.json(), run);
    let page = world.get(&format!("{path}/annotations?per_page=60")).await;
    assert_eq!(page.json().as_array().unwrap().len(), 60);
    let rest = world.get(&page.link("next").unwrap()).await.json();
    assert_eq!(rest.as_array().unwrap().len(), 10);
    assert_eq!(rest[9]["message"], "remark 20");
}

#[tokio::test]
async fn check_runs_of_a_commit_are_listed() {
    let world = World::new().await;
    let (_, head) = plan_proposed(&world).await;
    let mut ids = Vec::new();
    for name in ["Plan check", "Plan check", "Other"] {
        let body = json!({"name": name, "head_sha": head});
        ids.push(world.post(RUNS, body).await.json()["id"].clone());
    }
    let list = format!("/repos/{REPO}/commits/{head}/check-runs");
    for (query, expected) in [
        ("", vec![&ids[2], &ids[1]]),
        ("?filter=all", vec![&ids[2], &ids[1], &ids[0]]),
        (
            "?filter=all&check_name=Plan%20check",
            vec![&ids[1], &ids[0]],
        ),
        ("?status=completed", vec![]),
        ("?app_id=4711&filter=all&per_page=1&page=3", vec![&ids[0]]),
        ("?app_id=1", vec![]),
    ] {
        let got = world.get(&format!("{list}{query}")).await.json();
        let found: Vec<_> = got["check_runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| &run["id"])
            .collect();
        assert_eq!(found, expected, "{query}");
    }
    let got = world
        .get(&format!("/repos/{REPO}/commits/nothing/check-runs"))
        .await;
    assert_eq!(got.json()["message"], "No commit found for SHA: nothing");
}

#[tokio::test]
async fn what_github_refuses_of_a_check_run_is_refused() {
    let world = World::new().await;
    let (_, head) = plan_proposed(&world).await;
    let with = |more: Value| {
        let mut body = json!({"name": "Plan check", "head_sha": head});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        body
    };
    let one = |more: Value| {
        let mut remark = annotations(1).remove(0);
        remark
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        with(json!({"output": output(&[remark])}))
    };
    let table = [
        (json!({"head_sha": head}), "\"name\" wasn't supplied."),
        (json!({"name": "n"}), "\"head_sha\" wasn't supplied."),
        (
            json!({"name": "n", "head_sha": "c0ffee"}),
            "No commit found for SHA: c0ffee",
        ),
        (
            with(json!({"status": "completed"})),
            "\"conclusion\" wasn't supplied.",
        ),
        (
            with(json!({"completed_at": "2026-01-01T00:00:00Z"})),
            "\"conclusion\" wasn't supplied.",
        ),
        (
            with(json!({"conclusion": "stale"})),
            "stale is not a member of",
        ),
        (
            with(json!({"status": "waiting"})),
            "waiting is not a member of",
        ),
        (
            with(json!({"output": {"title": "t"}})),
            "\"summary\" wasn't supplied.",
        ),
        (
            with(json!({"output": {"summary": "s"}})),
            "\"title\" wasn't supplied.",
        ),
        (
            with(json!({"output": output(&annotations(51))})),
            "No more than 50 items are allowed; 51 were supplied.",
        ),
        (
            with(json!({"output": {"title": "t", "summary": "s".repeat(65_536)}})),
            "Only 65535 characters are allowed; 65536 were supplied.",
        ),
        (
            with(json!({"output": {"title": "t", "summary": "", "text": "ü".repeat(32_768)}})),
            "Only 65535 characters are allowed; 65536 were supplied.",
        ),
        (
            one(json!({"message": "m".repeat(65_537)})),
            "Only 65536 characters are allowed",
        ),
        (
            one(json!({"message": null})),
            "\"message\" wasn't supplied.",
        ),
        (
            one(json!({"start_line": 0})),
            "0 is not a positive integer.",
        ),
        (one(json!({"start_line": 2})), "Validation Failed"),
        (
            one(json!({"end_line": 2, "start_column": 1})),
            "Validation Failed",
        ),
        (
            one(json!({"annotation_level": "error"})),
            "Validation Failed",
        ),
        (one(json!({"title": "t".repeat(256)})), "Validation Failed"),
    ];
    for (body, expected) in table {
        let got = world.post(RUNS, body).await;
        assert_eq!(
            got.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{expected}: {}",
            got.text()
        );
        let message = got.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(expected), "{expected}: {message}");
    }
    assert!(world.simulator.check_runs(REPO).unwrap().is_empty());
    let got = world
        .call(Method::PATCH, &format!("{RUNS}/1"), json!({}))
        .await;
    assert_eq!(got.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn without_the_permission_check_runs_are_forbidden() {
    let mut world = World::new().await;
    let (_, head) = plan_proposed(&world).await;
    let body = json!({"name": "Plan check", "head_sha": head});
    for (level, needed) in [(Some("read"), "checks=write"), (None, "checks=write")] {
        let simulator = &world.simulator;
        simulator
            .set_permission(world.installation, "checks", level)
            .unwrap();
        world.token = world.mint().await;
        let got = world.post(RUNS, body.clone()).await;
        assert_eq!(got.status, StatusCode::FORBIDDEN);
        assert_eq!(
            got.json()["message"],
            "Resource not accessible by integration"
        );
        assert_eq!(got.header("x-accepted-github-permissions"), Some(needed));
        let list = world
            .get(&format!("/repos/{REPO}/commits/{head}/check-runs"))
            .await;
        let may_read = level.is_some();
        assert_eq!(list.status == StatusCode::OK, may_read, "{}", list.text());
    }
    // Nor does a person make any.
    world.token = world
        .simulator
        .writing_token("ada")
        .expose_secret()
        .to_owned();
    let got = world.post(RUNS, body).await;
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert_eq!(
        got.json()["message"],
        "You must authenticate via a GitHub App."
    );
}

#[tokio::test]
async fn the_page_of_a_pull_request_shows_the_checks_of_its_head() {
    let world = World::new().await;
    let (number, head) = plan_proposed(&world).await;
    let mut remark = annotations(2).remove(1);
    remark["title"] = json!("<Step 3>");
    remark["raw_details"] = json!("a < b");
    let body = json!({
        "name": "Plan <check>", "head_sha": head, "conclusion": "failure",
        "output": {
            "title": "1 remark & more", "summary": "**bad**<script>alert(1)</script>", "annotations": [remark],
        },
    });
    let run = world.post(RUNS, body).await.json();
    let page = world.get(&format!("/{REPO}/pull/{number}")).await.text();
    let alone = world.get(run["html_url"].as_str().unwrap()).await.text();
    for page in [&page, &alone] {
        for part in [
            "❌ <b>Plan &lt;check&gt;</b> failure",
            "<h3>1 remark &amp; more</h3>",
            "<strong>bad</strong>",
            "<h4>1 annotations</h4>",
            "<code>plans/a.md</code> line 2 <b>&lt;Step 3&gt;</b>",
            "remark 2",
            "a &lt; b",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("alert(1)"), "{page}");
    }
    // The next commit has none yet.
    let edits = [file("plans/a.md", "better")];
    world.simulator.push(REPO, number, "ada", &edits).unwrap();
    let page = world.get(&format!("/{REPO}/pull/{number}")).await.text();
    assert!(!page.contains("Plan &lt;check&gt;"), "{page}");
}

/// The bot's own client against the simulator, every exchange judged by GitHub's description.
pub(crate) struct Judged {
    pub(crate) simulator: Simulator,
    pub(crate) tap: Tap,
    pub(crate) github: Arc<GitHub>,
    installation: u64,
}

impl Judged {
    pub(crate) async fn new() -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let secret = SecretString::from(SECRET);
        let options = SimulatorOptions::new(
            "planwright",
            Arc::new(github_simulator::SystemClock),
            KEYS.public_pem.clone(),
            secret,
        );
        let tap = Tap::new(Client::Planwright);
        let wrapped = tap.clone();
        let simulator = Simulator::start_wrapped(options, move |router| wrapped.wrap(router));
        let simulator = simulator.await.unwrap();
        simulator.add_repository(REPO, false).unwrap();
        let installation = simulator.install(&[REPO]).unwrap();
        let key = SecretString::from(KEYS.private_pem.expose_secret().to_owned());
        let mut config = GitHubConfig::new(simulator.url().parse().unwrap(), 4711, key);
        config.write_gap = Duration::ZERO;
        config.notify_gap = Duration::ZERO;
        Self {
            github: Arc::new(GitHub::new(config, clock).unwrap()),
            simulator,
            tap,
            installation,
        }
    }

    pub(crate) fn place(&self, number: u64) -> IssueRef {
        let (owner, name) = REPO.split_once('/').unwrap();
        let repo = Repo {
            installation: self.installation,
            id: 1,
            owner: owner.into(),
            name: name.into(),
        };
        IssueRef {
            repo,
            number,
            pull_request: true,
        }
    }
}

#[tokio::test]
async fn the_client_reads_a_pull_request_from_a_fork() {
    let judged = Judged::new().await;
    let (simulator, github) = (&judged.simulator, judged.github.as_ref());
    let base = [file("plans/old.md", "as it was"), file("docs/x.md", "x")];
    simulator.commit(REPO, "main", &base).unwrap();
    let mut edits: Vec<_> = (0..150)
        .map(|at| file(&format!("f{at:03}"), &format!("{at}")))
        .collect();
    edits.extend([
        gone("plans/old.md"),
        file("plans/new.md", "as it was"),
        (
            "picture".to_owned(),
            Some(TreeEntry::file(vec![0xff, 0xd8, 0])),
        ),
        (
            "module".to_owned(),
            Some(TreeEntry::Submodule("c0ffee".into())),
        ),
        (
            "dangling".to_owned(),
            Some(TreeEntry::Link("nowhere".into())),
        ),
        ("link".to_owned(), Some(TreeEntry::Link("docs/x.md".into()))),
    ]);
    let mut proposal = proposal(&edits);
    proposal.fork = true;
    proposal.draft = true;
    let number = simulator
        .create_pull_request(REPO, "bob", &proposal)
        .unwrap();
    let place = judged.place(number);
    let pull = github.pull_request(&place).await.unwrap();
    let own = simulator.add_repository("acme/probe", false).unwrap();
    assert!(pull.head_repo.is_some_and(|id| id < own), "{pull:?}");
    assert!(pull.open && pull.draft, "{pull:?}");
    assert_eq!(
        (pull.base_branch.as_str(), pull.changed_files),
        ("main", 155)
    );
    let files = github.changed_files(&place).await.unwrap();
    assert_eq!(files.len(), pull.changed_files);
    let renamed = files
        .iter()
        .find(|one| one.change == Change::Renamed)
        .unwrap();
    assert_eq!(
        (renamed.path.as_str(), renamed.previous.as_deref()),
        ("plans/new.md", Some("plans/old.md"))
    );
    // The head of a fork is read in the repository that it is proposed to.
    for (path, expected) in [
        ("plans/new.md", Content::Text("as it was".into())),
        ("plans/old.md", Content::Missing),
        ("link", Content::Text("x".into())),
        ("picture", Content::Binary),
        ("docs", Content::NotAFile(NotAFile::Directory)),
        ("module", Content::NotAFile(NotAFile::Submodule)),
        ("dangling", Content::NotAFile(NotAFile::Link)),
        ("f149", Content::TooLarge { most: 2 }),
    ] {
        let most = if path == "f149" { 2 } else { 1_000 };
        let found = content(github, &place.repo, path, &pull.head_sha, most).await;
        assert_eq!(found, Ok(expected), "{path}");
    }
    judged.tap.assert_clean();
}

/// Effects of a run in a store of its own; the folder is the store's.
async fn effects(judged: &Judged, folder: &tempfile::TempDir) -> Effects {
    let file = folder.path().join("checks.sqlite");
    let store = SqlStore::open_sqlite(&file, SqliteOptions::default(), Millis(0))
        .await
        .unwrap();
    let run = NewRun {
        serial: None,
        installation: judged.installation,
        ..crate::store_contract::new_run(1, 1)
    };
    let delivery = NewDelivery {
        source: planwright::engine::model::intake::Source::Webhook,
        guid: "guid".into(),
        event: "issue_comment".into(),
        action: None,
        installation: judged.installation,
        dedup_key: None,
        received: Millis(0),
        payload: None,
        runs: vec![run],
        installation_gone: false,
    };
    store.accept(delivery).await.unwrap();
    let now = SystemClock.now();
    let claimed = store
        .claim(
            "tests",
            now,
            Duration::from_hours(1),
            &ClaimLimits::default(),
        )
        .await;
    Effects {
        store: Arc::new(store),
        forge: judged.github.clone(),
        clock: Arc::new(SystemClock),
        lease: claimed.unwrap().unwrap().lease,
        adopt_delay: Duration::ZERO,
        since: Millis(0),
        search_first: false,
    }
}

#[tokio::test]
async fn lost_answers_over_http_add_no_annotation_twice() {
    let judged = Judged::new().await;
    let edits = [file("plans/a.md", "one\n")];
    let number = judged
        .simulator
        .create_pull_request(REPO, "bob", &proposal(&edits))
        .unwrap();
    let place = judged.place(number);
    let pull = judged.github.pull_request(&place).await.unwrap();
    let new = NewCheckRun {
        name: "Plan check".into(),
        head_sha: pull.head_sha,
        details_url: Some("https://plans.example/run".into()),
        report: CheckReport {
            state: CheckState::Completed(Conclusion::Failure),
            title: "120 remarks".into(),
            summary: "Look at the lines.".into(),
            text: Some("More.".into()),
            annotations: (1..=120)
                .map(|line| Annotation {
                    path: "plans/a.md".into(),
                    start_line: line,
                    end_line: line,
                    level: Level::Failure,
                    title: Some(format!("Remark {line}")),
                    message: format!("remark {line}"),
                    raw_details: None,
                })
                .collect(),
        },
    };
    let folder = tempfile::tempdir().unwrap();
    let effects = effects(&judged, &folder).await;
    let faults = judged.simulator.faults();
    faults.push(Fault::on(
        "POST",
        "/repos/*/*/check-runs",
        FaultKind::LostResponse,
    ));
    faults.push(Fault::on(
        "PATCH",
        "/repos/*/*/check-runs/*",
        FaultKind::BadGatewayAfter,
    ));
    faults.push(Fault::on(
        "PATCH",
        "/repos/*/*/check-runs/*",
        FaultKind::BadGatewayBefore,
    ));
    faults.push(Fault::on(
        "PATCH",
        "/repos/*/*/check-runs/*",
        FaultKind::LostResponse,
    ));
    let mut failures = 0;
    let posted = loop {
        match effects.create_check("check", &place.repo, &new).await {
            Ok(posted) => break posted,
            Err(error) => {
                failures += 1;
                assert!(failures < 10, "{error}");
            }
        }
    };
    assert_eq!((failures, faults.injected()), (4, 4));
    let runs = judged.simulator.check_runs(REPO).unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].id, posted.id());
    assert_eq!(runs[0].conclusion.as_deref(), Some("failure"));
    let lines: Vec<u64> = runs[0]
        .annotations
        .iter()
        .map(|one| one.start_line)
        .collect();
    assert_eq!(lines, (1..=120).collect::<Vec<u64>>());
    judged.tap.assert_clean();
}
