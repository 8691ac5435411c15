//! The pages of a running bot: who sees what, hostile texts, actions, output while it is printed, and
//! all of it in a browser.

use std::io::Write as _;

use bytes::Bytes;
use github_simulator::model::Role;
use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use planwright::engine::model::run::State;
use serde_json::json;

use crate::e2e_login::world::{Browser, answer_at};
use crate::support::peers;
use crate::support::postgres;
use crate::support::program::between;
use crate::support::rig::PLAN;
use crate::support::system::{Options, RunRow, System};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const PUBLIC: &str = "https://bot.example.com";
const OPEN: &str = "acme/search";
const SECRET: &str = "acme/secret";
const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u{202e}";
const PAGES: [&str; 5] = [
    "/ui",
    "/ui/plans",
    "/ui/costs",
    "/ui/deliveries",
    "/ui/audit",
];

/// The databases on which every test runs: SQLite, and PostgreSQL where there is one.
async fn databases() -> Vec<Option<(url::Url, usize)>> {
    let mut all = vec![None];
    all.extend(postgres::database().await.map(|url| Some((url, 1))));
    all
}

fn web() -> Vec<(&'static str, String)> {
    vec![("PLANWRIGHT_WEB_TOKEN", TOKEN.to_owned())]
}

fn with_github() -> Vec<(&'static str, String)> {
    let client = [
        ("PLANWRIGHT_WEB_URL", PUBLIC),
        ("PLANWRIGHT_WEB_CLIENT_ID", "Iv23li00000000004711"),
        ("PLANWRIGHT_WEB_CLIENT_SECRET", "a-client-secret-of-the-app"),
    ];
    let mut all = web();
    all.extend(client.map(|(name, value)| (name, value.to_owned())));
    all
}

/// What has happened: a plan was saved in a public repository, a command failed in a private one,
/// and a plan with hostile texts was saved there.
struct Stage {
    system: System,
    saved: RunRow,
    failed: RunRow,
    hostile: RunRow,
}

impl Stage {
    async fn new(
        environment: Vec<(&'static str, String)>,
        postgres: Option<(url::Url, usize)>,
    ) -> Self {
        let system = System::with(Options {
            environment,
            postgres,
            client_secret: Some("a-client-secret-of-the-app".to_owned()),
            ..Options::default()
        })
        .await;
        system.repository(OPEN, false);
        system.repository(SECRET, true);
        system.sim.grant(SECRET, "rita", Role::Read).unwrap();
        system.sim.grant(SECRET, "mia", Role::Maintain).unwrap();
        let ask = async |repo: &str, title: &str, plan: Option<&str>, command: &str| {
            let issue = system.sim.open_issue(repo, "bob", title, "It is.").unwrap();
            if let Some(plan) = plan {
                system.sim.comment(repo, issue, "bob", plan).unwrap();
            }
            system.sim.comment(repo, issue, "ada", command).unwrap();
            let runs = system.run_to_rest().await;
            runs.last().unwrap().clone()
        };
        let saved = ask(OPEN, "Search is slow", Some(PLAN), "/save-plan").await;
        let failed = ask(SECRET, "Nothing here", None, "/save-plan").await;
        // In code, so that the title has it as text.
        let plan = PLAN.replacen("# ", &format!("# `{HOSTILE}` "), 1);
        let guidance = format!("/save-plan {HOSTILE}");
        let hostile = ask(SECRET, HOSTILE, Some(&plan), &guidance).await;
        assert_eq!(saved.state, State::Succeeded);
        assert_eq!(failed.state, State::Failed);
        Self {
            system,
            saved,
            failed,
            hostile,
        }
    }

    /// Returns the operator's program.
    fn operator(&self) -> Browser {
        let mut browser = Browser::new(&self.system.url(""));
        browser.headers = vec![("authorization", format!("Bearer {TOKEN}"))];
        browser
    }

    fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = PAGES.map(str::to_owned).to_vec();
        for run in [&self.saved, &self.failed, &self.hostile] {
            paths.push(format!("/ui/runs/{}", run.id));
        }
        paths.push(format!("/ui/deliveries?repository={SECRET}&number=1"));
        paths
    }
}

/// Logs in with GitHub.
async fn log_in(system: &System, person: &str) -> Browser {
    let callback = format!("{PUBLIC}/ui/login/github/callback");
    system.sim.set_callback_urls(vec![callback]);
    let mut browser = Browser::new(&system.url(""));
    let address = browser.begin().await;
    let answer = answer_at(&system.sim, person, &address, "1").await;
    let got = browser.get(answer.strip_prefix(PUBLIC).unwrap()).await;
    assert_eq!(got.status, 303, "{}", got.text);
    browser
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_sees_everything_and_nobody_else_anything() {
    for database in databases().await {
        let stage = Stage::new(web(), database).await;
        let mut operator = stage.operator();
        let mut nobody = Browser::new(&stage.system.url(""));
        let mut wrong = Browser::new(&stage.system.url(""));
        wrong.headers = vec![("authorization", format!("Bearer {TOKEN}0"))];
        for path in stage.paths() {
            let page = operator.get(&path).await;
            page.says(200, "</html>");
            // Hostile texts are shown as text, and cannot change the direction of writing.
            for live in ["<script>alert", "<img", "\u{202e}"] {
                assert!(!page.text.contains(live), "{path}: {}", page.text);
            }
            if path.contains(&stage.hostile.id) || path == "/ui/plans" {
                page.says(200, "&lt;script&gt;alert(1)&lt;/script&gt;");
            }
            nobody.get(&path).await.assert_not_found();
            wrong.get(&path).await.assert_not_found();
        }
        let output = format!("/ui/runs/{}/output", stage.saved.id);
        nobody.get(&output).await.assert_not_found();
        let (saved, failed) = (&stage.saved, &stage.failed);

        let page = operator.get("/ui").await;
        page.says(200, "No command is waiting or running.");
        page.says(200, "acme/search#1");
        page.says(200, "no_plan_found");
        let page = operator.get("/ui?state=failed").await;
        page.says(200, &failed.id);
        assert!(!page.text.contains(&saved.id), "{}", page.text);
        let page = operator
            .get("/ui?repository=ACME/secret&command=/Save-Plan")
            .await;
        page.says(200, r#"<option value="save-plan" selected>/save-plan<"#);
        page.says(200, &failed.id);
        assert!(!page.text.contains(&saved.id), "{}", page.text);
        operator
            .get("/ui?repository=acme/none")
            .await
            .says(200, "There are no such runs.");
        operator
            .get("/ui?state=odd")
            .await
            .says(400, "`state` must be one of unfinished, blocked, ready,");
        operator.get("/ui?command=odd").await.says(
            400,
            "`command` must be one of save-plan, save-raw-plan, plan,",
        );
        operator
            .get("/ui?before=x")
            .await
            .says(400, "`before` is \"x\"; it must be a whole number");
        operator.get("/ui?before=99999999999999999999").await.says(
            400,
            "`before` is \"99999999999999999999\"; it must be a smaller whole number",
        );

        let page = operator.get(&format!("/ui/runs/{}", saved.id)).await;
        for text in ["What happened", "saved by ada", "issue #2"] {
            page.says(200, text);
        }
        let page = operator.get(&format!("/ui/runs/{}", failed.id)).await;
        page.says(200, "What to do: ");
        operator
            .get("/ui/runs/01KAQ3ZJ0V5N6Y8T2W4X6Z8B0D")
            .await
            .assert_not_found();
        operator.get("/ui/runs/%00").await.assert_not_found();

        let page = operator.get("/ui/plans?text=cache+index&person=@ADA").await;
        page.says(200, "Cache the search index");
        for nothing in [
            "text=nowhere",
            "text=%22%27*",
            "person=bob",
            "to=2020-01-01",
            "from=2999-01-01",
            "repository=acme/none",
        ] {
            operator
                .get(&format!("/ui/plans?{nothing}"))
                .await
                .says(200, "There are no such plans.");
        }
        operator
            .get("/ui/plans?from=yesterday")
            .await
            .says(400, "`from` must be a date such as 2026-11-24");
        operator
            .get("/ui/costs?days=9999")
            .await
            .says(400, "`days` must be 1 to 400");
        operator.get("/ui/deliveries").await.says(200, "accepted");
        operator
            .get("/ui/deliveries?repository=acme/secret")
            .await
            .says(400, "give both the repository and the number");
        operator
            .get(&format!("/ui/audit?run={}", failed.id))
            .await
            .says(200, "no_plan_found");
        operator
            .get("/ui/audit?decision=nothing")
            .await
            .says(200, "There are no such entries.");
        operator
            .get("/ui/assets/style.css")
            .await
            .says(200, "color-scheme");
        operator
            .get("/ui/assets/live.js")
            .await
            .says(200, "EventSource");
        operator.get("/ui/nothing").await.assert_not_found();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn people_see_what_they_can_read_and_maintainers_act() {
    let agent = ShellAgent::new(PRICED);
    let mut environment = with_github();
    environment.extend(agent.environment());
    let stage = Stage::new(environment, None).await;
    let code = stage.failed.code.clone().unwrap();
    let (saved, failed) = (&stage.saved, &stage.failed);
    let origin = [("origin", PUBLIC)];
    let cancel = format!("/ui/runs/{}/cancel", failed.id);
    let retry = format!("/ui/runs/{}/retry", failed.id);

    // A stranger reads the public repository only.
    let mut stranger = log_in(&stage.system, "eve").await;
    let page = stranger.get("/ui").await;
    page.says(200, &saved.id);
    assert!(!page.text.contains("secret"), "{}", page.text);
    for path in ["/ui/audit".to_owned(), format!("/ui/runs/{}", failed.id)] {
        stranger.get(&path).await.assert_not_found();
    }
    stranger
        .get(&format!("/ui/runs/{}/output", failed.id))
        .await
        .assert_not_found();
    let page = stranger.get("/ui/plans").await;
    page.says(200, "Cache the search index");
    assert!(!page.text.contains("alert"), "{}", page.text);
    stranger
        .get(&format!("/ui?repository={SECRET}"))
        .await
        .says(200, "There are no such runs.");
    stranger
        .get(&format!("/ui/deliveries?repository={SECRET}&number=1"))
        .await
        .says(200, "Nothing was received.");
    let page = stranger.get("/ui/deliveries").await;
    assert!(!page.text.contains("accepted"), "{}", page.text);
    let page = stranger.get("/ui/costs").await;
    page.says(200, "acme/search");
    page.says(200, "$1.26");
    assert!(!page.text.contains("secret"), "{}", page.text);
    let token = stranger.form_token().await;
    let got = stranger
        .post_from(&origin, &retry, &[("form_token", &token)])
        .await;
    got.assert_not_found();

    // A reader sees the private one, and cannot act.
    let mut reader = log_in(&stage.system, "rita").await;
    let page = reader.get(&format!("/ui/runs/{}", failed.id)).await;
    page.says(200, &code);
    assert!(!page.text.contains("Retry"), "{}", page.text);
    let token = reader.form_token().await;
    let got = reader
        .post_from(&origin, &retry, &[("form_token", &token)])
        .await;
    got.says(
        403,
        "the role maintain in the repository is needed to do this",
    );

    reader.get("/ui/costs").await.says(200, "acme/secret");

    // A maintainer acts, from the bot's own pages only.
    let mut maintainer = log_in(&stage.system, "mia").await;
    let page = maintainer.get(&format!("/ui/runs/{}", failed.id)).await;
    page.says(200, "Retry from the step that failed");
    let token = maintainer.form_token().await;
    let got = maintainer.post_from(&origin, &retry, &[]).await;
    got.says(403, "The form belongs to an earlier session.");
    let evil = [("origin", "https://evil.example")];
    let got = maintainer
        .post_from(&evil, &retry, &[("form_token", &token)])
        .await;
    got.says(403, "The form was not sent from a page of this bot.");
    let got = maintainer
        .post_from(&origin, &cancel, &[("form_token", &token)])
        .await;
    got.says(409, "is failed, so cancel is not possible");
    let got = maintainer
        .post_from(
            &origin,
            &retry.replace("retry", "delete"),
            &[("form_token", &token)],
        )
        .await;
    got.assert_not_found();
    let got = maintainer
        .post_from(&origin, &retry, &[("form_token", &token)])
        .await;
    assert_eq!(got.location(), Some(format!("/ui/runs/{}", failed.id)));
    stage.system.run_to_rest().await;
    let page = maintainer.get(&format!("/ui/runs/{}", failed.id)).await;
    page.says(200, "retry by mia: requested by an operator or maintainer");

    // Two clicks lead to the same new run.
    let again = retry.replace("retry", "run-again");
    let mut places = Vec::new();
    for _ in 0..2 {
        let got = maintainer
            .post_from(&origin, &again, &[("form_token", &token)])
            .await;
        places.push(got.location().unwrap());
    }
    assert_eq!(places[0], places[1]);
    assert_ne!(places[0], format!("/ui/runs/{}", failed.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_run_again_reads_the_conversation_as_it_is_now() {
    let stage = Stage::new(web(), None).await;
    let system = &stage.system;
    assert_eq!(stage.failed.code.as_deref(), Some("no_plan_found"));
    let edited = system.sim.edit_issue(SECRET, 1, "bob", None, Some(PLAN));
    edited.unwrap();
    let path = format!("/ui/runs/{}/run-again", stage.failed.id);
    stage
        .operator()
        .post_from(&[], &path, &[])
        .await
        .says(200, " executes the command again");
    let runs = system.run_to_rest().await;
    assert_eq!(runs.last().unwrap().state, State::Succeeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_person_watches_at_most_ten_runs() {
    let agent = ShellAgent::new(SHELL);
    let mut environment = with_github();
    environment.extend(agent.environment());
    let system = System::with(Options {
        environment,
        client_secret: Some("a-client-secret-of-the-app".to_owned()),
        ..Options::default()
    })
    .await;
    system.repository(OPEN, false);
    let issue = system.sim.open_issue(OPEN, "bob", "Slow", PLAN).unwrap();
    system
        .sim
        .comment(OPEN, issue, "ada", "/save-plan")
        .unwrap();
    let is_running = |runs: &[RunRow]| runs.iter().any(|run| run.state == State::Running);
    let runs = system.until("it runs", is_running).await;
    let path = format!("/ui/runs/{}/output", runs.last().unwrap().id);
    let mut person = log_in(&system, "eve").await;
    let (name, value) = person.cookies.first_key_value().unwrap();
    let session = ("cookie", format!("{name}={value}"));
    let mut watching = Vec::new();
    for _ in 0..10 {
        watching.push(watch_as(&session, &system.url(&path), None).await);
    }
    let refused = "too many pages watch runs now; close some, or reload this one later";
    person.get(&path).await.says(503, refused);
    // Others are not concerned.
    watching.push(watch(&system.url(&path), None).await);
    agent.release();
    // They end with the run.
    for mut one in watching {
        until(&mut one, "event: state").await;
    }
    person.get(&path).await.says(200, "event: state");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_run_again_as_a_new_run() {
    for database in databases().await {
        let stage = Stage::new(web(), database).await;
        let mut operator = stage.operator();
        let path = format!("/ui/runs/{}/run-again", stage.saved.id);
        let got = operator.post_from(&[], &path, &[]).await;
        got.says(200, " executes the command again");
        let got = operator.post_from(&[], &path, &[]).await;
        got.says(409, " again and has not ended");
        let runs = stage.system.run_to_rest().await;
        let again = runs.last().unwrap();
        assert_eq!(
            (again.command.as_str(), again.state),
            ("save-plan", State::Succeeded)
        );
        assert_ne!(again.id, stage.saved.id);
        assert_eq!(stage.system.plans(OPEN).len(), 1);
        let page = operator.get(&format!("/ui/runs/{}", again.id)).await;
        page.says(200, "Already saved as");
        operator
            .get("/ui/audit?decision=run-again")
            .await
            .says(200, "the operator");
    }
}

/// An agent of the shell that prints a line and waits until something is written to its pipe.
const SHELL: &str = r#"echo '{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"reading <b>the plan</b>"}]}}'
read go < "$0.pipe"
echo '{"type":"result","subtype":"success","is_error":false,"result":"no plan","session_id":"s-1","num_turns":1}'
"#;

/// A script in place of an agent, and its pipe.
struct ShellAgent {
    folder: tempfile::TempDir,
    pipe: std::fs::File,
}

impl ShellAgent {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("agent.sh"), script).unwrap();
        let pipe = folder.path().join("agent.sh.pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
        // Open in both directions, so that neither side waits for the other.
        let pipe = std::fs::File::options().read(true).write(true).open(&pipe);
        Self {
            folder,
            pipe: pipe.unwrap(),
        }
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let script = self.folder.path().join("agent.sh").display().to_string();
        vec![
            ("PLANWRIGHT_AGENT_KIND", "command".to_owned()),
            ("PLANWRIGHT_AGENT_PATH", "/bin/sh".to_owned()),
            ("PLANWRIGHT_AGENT_ARGS", script),
            ("PLANWRIGHT_AGENT_OUTPUT", "stream-json".to_owned()),
            // It reads its pipe.
            ("PLANWRIGHT_AGENT_SANDBOX", "off".to_owned()),
        ]
    }

    /// Lets the present turn and the next ones of a run continue.
    fn release(&self) {
        (&self.pipe).write_all(&b"go\n".repeat(8)).unwrap();
    }
}

/// Opens the output of a run as the operator, after the event with this number.
async fn watch(url: &str, last: Option<i64>) -> Incoming {
    let operator = ("authorization", format!("Bearer {TOKEN}"));
    watch_as(&operator, url, last).await
}

/// Opens the output of a run as a browser does, with the header of a login.
async fn watch_as((name, value): &(&str, String), url: &str, last: Option<i64>) -> Incoming {
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let mut request = Request::get(url).header(*name, value);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let response = client.request(request.body(Empty::new()).unwrap());
    let response = response.await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    response.into_body()
}

/// Reads events until `text` was among them. Returns what was read.
async fn until(body: &mut Incoming, text: &str) -> String {
    let mut read = String::new();
    while !read.contains(text) {
        let frame = body
            .frame()
            .await
            .unwrap_or_else(|| panic!("the end: {read}"));
        if let Ok(data) = frame.unwrap().into_data() {
            read.push_str(std::str::from_utf8(&data).unwrap());
        }
    }
    read
}

#[tokio::test(flavor = "multi_thread")]
async fn output_is_shown_while_it_is_printed_by_every_replica_and_after_a_restart() {
    for database in databases().await {
        let agent = ShellAgent::new(SHELL);
        let mut environment = web();
        environment.extend(agent.environment());
        let is_shared = database.is_some();
        let mut system = System::with(Options {
            environment,
            postgres: database.map(|(url, _)| (url, 2)),
            ..Options::default()
        })
        .await;
        system.repository(OPEN, false);
        let issue = system
            .sim
            .open_issue(OPEN, "bob", "Search is slow", "It is.");
        let issue = issue.unwrap();
        system.sim.comment(OPEN, issue, "bob", PLAN).unwrap();
        system
            .sim
            .comment(OPEN, issue, "ada", "/save-plan")
            .unwrap();
        let runs = system.until("it runs", |runs| {
            runs.iter().any(|run| run.state == State::Running)
        });
        let id = runs.await.last().unwrap().id.clone();
        let path = format!("/ui/runs/{id}/output");
        let read = until(&mut watch(&system.url(&path), None).await, "\n\n").await;
        assert!(read.contains("data: reading <b>the plan</b>"), "{read}");
        let last: i64 = between(&read, "id: ", "\n").parse().unwrap();
        if is_shared {
            let other = watch(&system.url_of(1, &path), None).await;
            let same = until(&mut { other }, "\n\n").await;
            assert!(same.contains("data: reading <b>the plan</b>"), "{same}");
        }

        // What was printed before is there, and is not repeated to a browser that has it. The turn
        // begins again.
        for number in 0..if is_shared { 2 } else { 1 } {
            system.kill_one(number).await;
            system.start_one(number).await;
        }
        let mut watching = watch(&system.url(&path), Some(last)).await;
        let again = until(&mut watching, "\n\n").await;
        assert!(again.contains("data: reading"), "{again}");
        let next: i64 = between(&again, "id: ", "\n").parse().unwrap();
        assert!(next > last, "{next} {last}");
        let mut all = watch(&system.url(&path), None).await;
        until(&mut all, &format!("id: {next}")).await;

        agent.release();
        let end = until(&mut watching, "event: state").await;
        assert!(end.contains("data: succeeded"), "{end}");
        assert!(watching.frame().await.is_none_or(|frame| frame.is_err()));
    }
}

/// An agent of the shell that costs something, and that waits for its pipe if the prompt says so.
const PRICED: &str = r#"echo '{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Reading <b>src/search.rs</b>"}]}}'
if grep -q 'HOLD'; then read go < "$0.pipe"; fi
echo '{"type":"result","subtype":"success","is_error":false,"result":"no plan","session_id":"s-1","num_turns":3,"total_cost_usd":0.42}'
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_person_finds_a_stuck_run_and_its_reason_in_two_clicks() {
    let Some(chromium) = peers::chromium() else {
        return;
    };
    for (number, database) in databases().await.into_iter().enumerate() {
        let agent = ShellAgent::new(PRICED);
        let mut environment = web();
        environment.extend(agent.environment());
        let mut stage = Stage::new(environment, database).await;
        let system = &stage.system;
        let issue = system
            .sim
            .open_issue(OPEN, "bob", "Export is slow", "It is.");
        let issue = issue.unwrap();
        system.sim.comment(OPEN, issue, "bob", PLAN).unwrap();
        for command in ["/save-plan HOLD", "/save-plan"] {
            system.sim.comment(OPEN, issue, "ada", command).unwrap();
        }
        let of = |runs: &[RunRow], state| {
            let run = runs.iter().find(|run| run.state == state);
            run.map(|run| run.id.clone())
        };
        let runs = system.until("one waits for the other", |runs| {
            of(runs, State::Running).is_some() && of(runs, State::Blocked).is_some()
        });
        let runs = runs.await;
        // Pictures for the documentation, from one of the databases.
        let shots = std::env::var("PLANWRIGHT_SHOTS").unwrap_or_default();
        let shots = if number == 0 { shots } else { String::new() };
        let env = [
            ("CHROMIUM", &*chromium.display().to_string()),
            ("URL", &system.url("")),
            ("TOKEN", TOKEN),
            ("RUNNING", &of(&runs, State::Running).unwrap()),
            ("BLOCKED", &of(&runs, State::Blocked).unwrap()),
            ("FAILED", &stage.failed.id),
            ("CODE", stage.failed.code.as_deref().unwrap()),
            ("SAVED", &stage.saved.id),
            ("HOSTILE", &stage.hostile.id),
            ("SHOTS", &shots),
        ];
        let Some(mut person) = peers::start("pages.mjs", &env) else {
            return;
        };
        for step in ["found", "looked", "watching"] {
            assert_eq!(person.next().await, Some(json!({ "step": step })));
        }
        stage.system.kill().await;
        stage.system.start_bot().await;
        person.send(&json!({ "url": stage.system.url("") })).await;
        for step in ["watched", "acted"] {
            assert_eq!(person.next().await, Some(json!({ "step": step })));
        }
        agent.release();
        stage.system.run_to_rest().await;
        person.send(&json!({ "look": true })).await;
        assert_eq!(person.next().await, Some(json!({ "step": "ended" })));
        assert_eq!(person.next().await, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_served_where_deliveries_are_pulled() {
    let mut environment = web();
    environment.push(("PLANWRIGHT_SERVER_LISTEN", "127.0.0.1:0".to_owned()));
    let system = System::with(Options {
        environment,
        pull: true,
        ..Options::default()
    })
    .await;
    let mut operator = Browser::new(&system.url(""));
    operator
        .get("/ui/login")
        .await
        .says(200, "Operator's token");
    operator.get("/webhook").await.assert_not_found();
    operator.headers = vec![("authorization", format!("Bearer {TOKEN}"))];
    operator
        .get("/ui")
        .await
        .says(200, "There are no such runs.");
    operator
        .get("/metrics")
        .await
        .says(200, "planwright_build_info");
}
