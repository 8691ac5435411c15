//! `planwright simulator` as a process of its own, with the bot and with another App.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::peers;
use crate::support::program::{Page, Program, Visitor, between, files};

/// The running simulator.
struct Stand {
    program: Program,
    url: String,
    visitor: Visitor,
}

impl Stand {
    async fn start(folder: &Path, arguments: &[&str]) -> Self {
        let arguments = [&["simulator", "--listen", "127.0.0.1:0"], arguments].concat();
        let mut program = Program::start(folder, &arguments);
        let line = program.says("is at http://").await;
        let (_, url) = line.split_once("is at ").unwrap();
        // The last line: everything is in place.
        program.says("Ctrl-C ends the simulator").await;
        Self {
            url: url.to_owned(),
            program,
            visitor: Visitor { cookie: None },
        }
    }

    async fn send(&mut self, content_type: &str, body: String) -> Page {
        let url = format!("{}/_simulator/operations", self.url);
        let request = http::Request::post(url).header("content-type", content_type);
        self.visitor.send(request, body).await
    }

    async fn perform(&mut self, operation: Value) -> Value {
        let page = self.send("application/json", operation.to_string()).await;
        assert_eq!(page.status, 200, "{}", page.text);
        serde_json::from_str(&page.text).unwrap()
    }

    async fn refusal(&mut self, operation: Value) -> (u16, String) {
        let page = self.send("application/json", operation.to_string()).await;
        let body: Value = serde_json::from_str(&page.text).unwrap();
        (page.status, body["message"].as_str().unwrap().to_owned())
    }

    async fn api(&mut self, path: &str) -> Value {
        let request = http::Request::get(format!("{}{path}", self.url)).header("user-agent", "x");
        let page = self.visitor.send(request, String::new()).await;
        serde_json::from_str(&page.text).unwrap_or_else(|_| panic!("{path}: {}", page.text))
    }

    /// Returns the texts of the comments on an issue.
    async fn comments(&mut self, number: u64) -> Vec<String> {
        let path = format!("/repos/acme/search/issues/{number}/comments");
        let comments = self.api(&path).await;
        let text = |comment: &Value| comment["body"].as_str().unwrap().to_owned();
        comments.as_array().unwrap().iter().map(text).collect()
    }
}

fn comment(body: &str) -> Value {
    json!({ "do": "comment", "repository": "acme/search", "number": 1, "by": "you", "body": body })
}

const SERVE: [&str; 7] = [
    "serve",
    "--config",
    "planwright-simulator/planwright.toml",
    "--listen",
    "127.0.0.1:0",
    "--set",
    "worker.settle_seconds=0",
];

/// Starts the bot and lets it have the deliveries.
async fn bot(folder: &Path, stand: &mut Stand, others: &[String]) -> Program {
    let mut bot = Program::start(folder, &SERVE);
    let line = bot.logs("listening").await;
    let mut urls = vec![format!(
        "http://{}/webhook",
        between(&line, "address=", " ")
    )];
    urls.extend_from_slice(others);
    stand
        .perform(json!({ "do": "set_targets", "urls": urls }))
        .await;
    bot
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bot_and_a_probot_app_live_on_one_simulator() {
    let folder = tempfile::tempdir().unwrap();
    let mut stand = Stand::start(folder.path(), &[]).await;
    let read = |name: &str| {
        let path = folder.path().join("planwright-simulator").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    let (key, secret) = (read("github-private-key.pem"), read("webhook-secrets"));
    let env = [
        ("APP_ID", "4711"),
        ("PRIVATE_KEY", &*key),
        ("WEBHOOK_SECRET", secret.trim()),
        ("API_URL", &*stand.url),
    ];
    let Some(mut probot) = peers::start("probot-app.mjs", &env) else {
        return;
    };
    let port = probot.next().await.unwrap()["port"].clone();
    let hello = format!("http://127.0.0.1:{port}/webhooks");
    let mut bot = bot(folder.path(), &mut stand, &[hello]).await;
    stand.perform(comment("/hello")).await;
    assert_eq!(probot.next().await, Some(json!({ "answered": 1 })));
    stand.perform(comment("/save-plan")).await;
    bot.logs("run ended").await;
    let said = stand.comments(1).await;
    let count = |text: &str| said.iter().filter(|one| one.contains(text)).count();
    assert_eq!(count("Hello from Probot"), 1, "{said:#?}");
    assert_eq!(count("Plan saved"), 1, "{said:#?}");
    let (_, succeeded) = probot.finish().await;
    assert!(succeeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bot_that_is_killed_goes_on_after_its_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut stand = Stand::start(folder.path(), &[]).await;
    let mut first = bot(folder.path(), &mut stand, &[]).await;
    first.logs("GitHub has confirmed the App").await;
    // The issue is created, but the bot does not learn it.
    let lost = json!({
        "do": "add_fault", "method": "POST", "path": "/repos/*/*/issues", "fault": "lost_response",
    });
    stand.perform(lost).await;
    stand.perform(comment("/save-plan")).await;
    first.logs("delivery accepted").await;
    first.child.kill().await.unwrap();
    let mut second = bot(folder.path(), &mut stand, &[]).await;
    second.logs("run ended").await;
    let issues = stand.api("/repos/acme/search/issues?state=all").await;
    assert_eq!(issues.as_array().unwrap().len(), 2, "{issues:#}");
    let said = stand.comments(1).await;
    let saved = said.iter().filter(|one| one.contains("Plan saved"));
    assert_eq!(saved.count(), 1, "{said:#?}");
    assert!(!files(&folder.path().join("planwright-simulator")).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_are_performed_or_explained() {
    let folder = tempfile::tempdir().unwrap();
    let mut stand = Stand::start(folder.path(), &[]).await;
    let made = stand
        .perform(json!([
            { "do": "add_repository", "repository": "acme/other", "private": true },
            { "do": "open_issue", "repository": "acme/search", "by": "ada", "title": "Two" },
            { "do": "lock", "repository": "acme/search", "number": 2, "by": "you" },
            { "do": "archive", "repository": "acme/other" },
            { "do": "transfer_issue", "repository": "acme/search", "number": 2, "to": "acme/other" },
        ]))
        .await;
    assert_eq!(made[1], json!({ "number": 2 }));
    assert_eq!(made[4], json!({ "number": 1 }));
    for (fault, status) in [
        (json!("unavailable"), 503),
        (
            json!({ "response": { "status": 418, "body": { "message": "tea" } } }),
            418,
        ),
        (json!({ "primary_limit": { "seconds": 60 } }), 403),
        (json!({ "secondary_limit": { "retry_after": 1 } }), 403),
        (json!("bad_credentials"), 401),
        (json!("bad_gateway_after"), 502),
        (json!({ "delay": { "milliseconds": 1 } }), 200),
    ] {
        let fault =
            json!({ "do": "add_fault", "method": "*", "path": "/repos/**", "fault": fault });
        stand.perform(fault).await;
        let url = format!("{}/repos/acme/search", stand.url);
        let request = http::Request::get(url).header("user-agent", "x");
        let page = stand.visitor.send(request, String::new()).await;
        assert_eq!(page.status, status, "{}", page.text);
    }
    stand
        .perform(json!({ "do": "set_webhook_fault", "fault": { "proxy": { "status": 502 } } }))
        .await;
    stand.perform(comment("hello")).await;
    let deliveries = stand.api("/_simulator/deliveries").await;
    let last = deliveries.as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["event"], &last["status_code"]),
        (&json!("issue_comment"), &json!(502))
    );
    let requests = stand.api("/_simulator/requests").await;
    assert_eq!(requests[0]["path"], "/repos/acme/search");

    for (operation, status, expected) in [
        (json!({}), 400, "missing field `do`"),
        (json!({ "do": "dance" }), 400, "unknown variant `dance`"),
        (
            json!({ "do": "comment", "repository": "acme/search", "number": 1, "by": "you" }),
            400,
            "missing field `body`",
        ),
        (
            json!({ "do": "ping", "loud": true }),
            400,
            "unknown field `loud`",
        ),
        (
            json!([{ "do": "ping" }, { "do": "visit" }]),
            400,
            "operation 2: missing field `login`",
        ),
        (
            json!({ "do": "archive", "repository": "acme/none" }),
            422,
            "the simulator has no repository acme/none: add it first",
        ),
        (
            json!({ "do": "grant", "repository": "acme/search", "login": "x", "role": "owner" }),
            422,
            "`owner` is not a role: it is one of none, read, triage, write, maintain, admin",
        ),
    ] {
        let (code, message) = stand.refusal(operation).await;
        assert_eq!(code, status, "{message}");
        assert!(message.contains(expected), "{message}");
    }
    let page = stand.send("text/plain", "{}".to_owned()).await;
    assert_eq!(page.status, 415);
    assert!(
        page.text.contains("content type application/json"),
        "{}",
        page.text
    );
    let page = stand.send("application/json", "{".to_owned()).await;
    assert!(page.text.contains("the body is not JSON"), "{}", page.text);
    let unknown = stand.api("/_simulator/fault").await;
    assert!(
        unknown["message"]
            .as_str()
            .unwrap()
            .contains("POST /_simulator/operations")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_simulated_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("object.json", "{}");
    write("wrong.json", r#"[{"do":"ping"},{"do":"comment"}]"#);
    write(
        "missing.json",
        r#"[{"do":"ping"},{"do":"archive","repository":"a/b"}]"#,
    );
    write("empty", "\n");
    std::fs::create_dir(folder.path().join("other")).unwrap();
    write("other/planwright.toml", "[server]\n");
    for (arguments, expected) in [
        (
            ["--listen", "0.0.0.0:8400"],
            "--listen 0.0.0.0:8400: the simulator has no access control, so it listens on 127.0.0.1 only",
        ),
        (["--seed", "none.json"], "none.json"),
        (
            ["--seed", "object.json"],
            "object.json: it is not a JSON list of operations",
        ),
        (
            ["--seed", "wrong.json"],
            "wrong.json: operation 2: missing field `repository`",
        ),
        (
            ["--seed", "missing.json"],
            "missing.json: operation 2: the simulator has no repository a/b: add it first",
        ),
        (
            ["--app-key", "empty"],
            "empty: it is no RSA private key in PEM form, whose first line is -----BEGIN RSA PRIVATE KEY-----",
        ),
        (
            ["--webhook-secret", "empty"],
            "empty: its first line holds no webhook secret",
        ),
        (
            ["--folder", "other"],
            "planwright.toml was not written by `planwright simulator`, and nothing is overwritten: name another folder with \
             --folder",
        ),
    ] {
        let mut all = vec!["simulator"];
        if arguments[0] != "--listen" {
            all.extend(["--listen", "127.0.0.1:0"]);
        }
        all.extend(arguments);
        let (code, error) = Program::start(folder.path(), &all).ended().await;
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn key_and_secret_are_kept_and_ids_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| {
        let path = folder.path().join("planwright-simulator").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    let mut seen = Vec::new();
    for _ in 0..2 {
        let mut stand = Stand::start(folder.path(), &["--slug", "planner"]).await;
        let repository = stand.api("/repos/acme/search").await;
        seen.push((
            repository["id"].as_u64().unwrap(),
            read("github-private-key.pem"),
            read("webhook-secrets"),
        ));
        assert!(read("planwright.toml").contains(&stand.url));
        let id = stand.program.child.id().unwrap();
        let id = rustix::process::Pid::from_raw(id.cast_signed()).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        assert_eq!(stand.program.ended().await, (0, String::new()));
    }
    assert!(seen[0].0 < seen[1].0, "{} {}", seen[0].0, seen[1].0);
    assert_eq!((&seen[0].1, &seen[0].2), (&seen[1].1, &seen[1].2));
}
