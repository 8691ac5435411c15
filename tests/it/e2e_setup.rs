//! `planwright setup` from the first click to the first saved plan, with a real browser, and what
//! goes wrong on the way.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use github_simulator::model::Role;
use github_simulator::{Simulator, SimulatorOptions, SystemClock};
use secrecy::SecretString;
use serde_json::{Value, json};
use url::Url;

use crate::simulator_support::KEYS;
use crate::support::peers;
use crate::support::program::{Program, Visitor, between, files};
use crate::support::rig::PLAN;

const REPO: &str = "ada/search";

/// A GitHub on which nobody has registered the bot yet: the App that it has belongs to others.
async fn github() -> Simulator {
    let secret = SecretString::from("of another App");
    let clock = Arc::new(SystemClock);
    let options = SimulatorOptions::new("another", clock, KEYS.public_pem.clone(), secret);
    let github = Simulator::start(options).await.unwrap();
    github.add_repository(REPO, false).unwrap();
    github.grant(REPO, "ada", Role::Admin).unwrap();
    github.set_visitor("ada");
    github
}

impl Visitor {
    /// Submits the form of the first page, and GitHub's. Returns the address to which GitHub
    /// redirects.
    async fn create_app(&mut self, first: &str) -> Url {
        let page = self.get(first).await.text;
        let target = between(&page, "action=\"", "\"");
        let manifest = between(&page, "name=\"manifest\" value=\"", "\"").replace("&quot;", "\"");
        let page = self.post(&target, &[("manifest", &manifest)]).await;
        assert_eq!(page.status, 200, "{}", page.text);
        let state = between(&page.text, "name=\"state\" value=\"", "\"");
        let fields = [
            ("manifest", &*manifest),
            ("state", &state),
            ("owner", "ada"),
            ("name", "Plans of Ada"),
        ];
        let github = Url::parse(&target).unwrap();
        let create = github.join("/settings/apps/manifest").unwrap();
        let page = self.post(create.as_str(), &fields).await;
        assert_eq!(page.status, 303, "{}", page.text);
        page.location.unwrap().parse().unwrap()
    }
}

fn api(github: &Simulator) -> String {
    format!("github.api_url={}", github.api_url())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_gets_from_nothing_to_a_saved_plan_without_typing() {
    let Some(chromium) = peers::chromium() else {
        return;
    };
    let chromium = chromium.display().to_string();
    let github = github().await;
    let issue = github
        .open_issue(REPO, "ada", "Slow start", "Why is it slow?")
        .unwrap();
    github.comment(REPO, issue, "ada", PLAN).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut setup = Program::start(
        folder.path(),
        &["setup", "--no-browser", "--set", &api(&github)],
    );
    let link = setup.says("http://127.0.0.1:").await;
    let shots = std::env::var("PLANWRIGHT_SHOTS").unwrap_or_default();
    let env = [
        ("CHROMIUM", &*chromium),
        ("LINK", link.trim()),
        ("SHOTS", &shots),
    ];
    let Some(mut person) = peers::start("setup.mjs", &env) else {
        return;
    };
    assert_eq!(person.next().await, Some(json!({ "step": "created" })));
    assert_eq!(person.next().await, Some(json!({ "step": "installed" })));
    setup.says("The App is installed.").await;
    let start = setup.says("planwright serve").await;
    let (code, errors) = setup.ended().await;
    assert_eq!((code, &*errors), (0, ""));

    let app = folder.path().join("planwright-app").canonicalize().unwrap();
    let written = [
        "github-private-key.pem",
        "planwright.toml",
        "webhook-secrets",
    ];
    assert_eq!(files(&app), written.map(str::to_owned).into());
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&app), 0o700);
    for name in written {
        assert_eq!(mode(&app.join(name)), 0o600, "{name}");
    }
    let config = app.join("planwright.toml").display().to_string();
    assert_eq!(start.trim(), format!("planwright serve --config {config}"));

    // The command that was printed, with a bot that does not wait between its requests.
    let quick = [
        "github.write_gap_ms=0",
        "github.notify_gap_ms=0",
        "worker.settle_seconds=0",
        "sweep.pull_every_seconds=5",
    ];
    let mut arguments = vec!["serve", "--config", &config];
    arguments.extend(quick.iter().flat_map(|one| ["--set", one]));
    let mut bot = Program::start(folder.path(), &arguments);
    bot.logs("GitHub has confirmed the App").await;
    let page = format!("{}/{REPO}/issues/{issue}", github.url());
    let comment = json!({ "issue": page, "comment": "/save-plan" });
    person.send(&comment).await;
    assert_eq!(person.next().await, Some(json!({ "step": "commented" })));
    bot.logs("run ended").await;
    person.send(&json!({ "expected": "Plan saved" })).await;
    assert_eq!(person.next().await, Some(json!({ "step": "saved" })));
    // The comment with the command; nothing was typed for the setup.
    assert_eq!(person.next().await, Some(json!({ "typed": 1 })));
    let (rest, succeeded) = person.finish().await;
    assert_eq!((rest, succeeded), (Vec::<Value>::new(), true));
    let issues = github.issues(REPO).unwrap();
    assert_eq!(issues.iter().filter(|issue| issue.via_app).count(), 1);
    github.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_creates_its_own_app_and_starts() {
    let github = github().await;
    let folder = tempfile::tempdir().unwrap();
    let api = api(&github);
    let arguments = [
        "serve",
        "--setup",
        "app",
        "--url",
        "https://bot.example.com",
        "--listen",
        "127.0.0.1:0",
        "--set",
        &api,
        "--set",
        "store.path=bot.db",
    ];
    let mut bot = Program::start(folder.path(), &arguments);
    let log = bot.logs("set up the GitHub App").await;
    let address = format!("http://{}", between(&log, "address=", " "));
    let code = between(&log, "code=\"", "\"");
    let setup = format!("{address}/setup");
    let mut visitor = Visitor { cookie: None };

    assert_eq!(visitor.get(&format!("{address}/livez")).await.status, 200);
    let ready = visitor.get(&format!("{address}/readyz")).await;
    assert_eq!(ready.status, 503);
    assert!(
        ready.text.contains("open the page /setup"),
        "{}",
        ready.text
    );
    assert_eq!(visitor.post(&setup, &[("code", "x")]).await.status, 403);
    let entered = visitor.post(&setup, &[("code", &code)]).await;
    let public = "https://bot.example.com/setup";
    assert_eq!(entered.location.as_deref(), Some(public));

    let answer = visitor.create_app(&setup).await;
    assert!(
        answer
            .as_str()
            .starts_with("https://bot.example.com/setup/created?code=")
    );
    // The reverse proxy leads it to the bot.
    let answer = format!("{address}{}?{}", answer.path(), answer.query().unwrap());
    let page = visitor.get(&answer).await;
    assert_eq!((page.status, page.location.as_deref()), (303, Some(public)));
    assert_eq!(
        visitor.get(&answer).await.status,
        409,
        "the code counts once"
    );
    bot.logs("Created the App plans-of-ada").await;
    let page = visitor.get(&setup).await;
    let install = between(&page.text, "href=\"", "\"");
    let page = visitor.get(&install).await;
    let repository = between(&page.text, "name=\"repository\" value=\"", "\"");
    visitor.post(&install, &[("repository", &repository)]).await;
    bot.logs("The App is installed").await;
    let page = visitor.get(&setup).await;
    assert!(page.text.contains("The bot starts now."), "{}", page.text);
    let log = bot.logs("listening").await;
    let address = format!("http://{}", between(&log, "address=", " "));
    bot.logs("GitHub has confirmed the App").await;
    assert_eq!(visitor.get(&format!("{address}/readyz")).await.status, 200);
    assert_eq!(visitor.get(&format!("{address}/setup")).await.status, 404);
    let written = [
        "github-private-key.pem",
        "planwright.toml",
        "webhook-secrets",
    ];
    let app = folder.path().join("app");
    assert_eq!(files(&app), written.map(str::to_owned).into());
    bot.kill().await;

    // The second start needs no setup.
    let mut bot = Program::start(folder.path(), &arguments);
    bot.logs("GitHub has confirmed the App").await;
    github.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_github_does_not_take_is_explained_and_the_setup_goes_on() {
    let github = github().await;
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["setup", "--no-browser", "--set", &api(&github)];
    let mut setup = Program::start(folder.path(), &arguments);
    let link = setup.says("http://127.0.0.1:").await;
    let mut visitor = Visitor { cookie: None };
    let first = visitor.get(link.trim()).await.location.unwrap();
    let answer = visitor.create_app(&first).await;
    let code = answer.query_pairs().next().unwrap().1.into_owned();
    let exchange = format!("{}/app-manifests/{code}/conversions", github.api_url());
    let request = http::Request::post(exchange).header("user-agent", "somebody else");
    assert_eq!(visitor.send(request, String::new()).await.status, 201);

    let page = visitor.get(answer.as_str()).await;
    assert_eq!(page.status, 502);
    let why = "GitHub does not know the code: it is more than an hour old, or was used before";
    assert!(page.text.contains(why), "{}", page.text);
    assert!(!page.text.contains(&code));
    let app = folder.path().join("planwright-app");
    assert_eq!(files(&app), BTreeSet::new());
    // The next try works, under another name.
    let page = visitor.get(&first).await;
    assert!(
        page.text.contains("Create the App on GitHub"),
        "{}",
        page.text
    );
    github.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_work_is_refused_before_anything_is_created() {
    let long = "n".repeat(35);
    let cases: [(&[&str], &str); 8] = [
        (
            &["--transport", "webhook"],
            "webhook requests need an address that GitHub can reach: give it with --url, or choose --transport pull",
        ),
        (
            &["--url", "http://bot.example.com"],
            "GitHub refuses http://bot.example.com/ for the webhook, because it is not encrypted; give an https address that \
             GitHub can reach with --url, or omit it for the transport `pull`",
        ),
        (
            &["--url", "https://localhost"],
            "GitHub refuses https://localhost/ for the webhook, because it is an address of this computer or of a private network; \
             give an https address that GitHub can reach with --url, or omit it for the transport `pull`",
        ),
        (
            &["--name", &long],
            "35 characters; GitHub takes 1 to 34: choose another with --name",
        ),
        (
            &["--org", "the acme"],
            "--org: `the acme` is not the login of an organisation, such as the ACME of https://github.com/ACME",
        ),
        (
            &["--set", "github.app_id=7"],
            "this configuration has an App already: github.app_id is 7 (--set); run setup without it to create another",
        ),
        (&["--host", "a b"], "github.api_url"),
        (&["--url", "bot"], "relative URL without a base"),
    ];
    for (arguments, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        let arguments = [&["setup", "--no-browser"], arguments].concat();
        let (code, error) = Program::start(folder.path(), &arguments).ended().await;
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
        assert_eq!(files(folder.path()), BTreeSet::new(), "{arguments:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let app = folder.path().join("app");
    std::fs::create_dir(&app).unwrap();
    std::fs::set_permissions(&app, std::fs::Permissions::from_mode(0o755)).unwrap();
    let arguments = ["setup", "--no-browser", "--folder", "app"];
    let (code, error) = Program::start(folder.path(), &arguments).ended().await;
    assert_eq!(code, 2);
    assert!(error.contains("(mode 755): run `chmod 700 app`"), "{error}");
    let arguments = [
        "serve",
        "--setup",
        "app",
        "--url",
        "https://bot.example.com",
        "--config",
        "x.toml",
    ];
    let (code, error) = Program::start(folder.path(), &arguments).ended().await;
    assert_eq!(code, 2);
    let expected =
        "error: --setup reads its configuration from app/planwright.toml: omit --config x.toml";
    assert_eq!(error, expected);
}
