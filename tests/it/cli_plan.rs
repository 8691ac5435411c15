//! Tests of the command `planwright plan` against the GitHub simulator: a saved plan is returned
//! byte for byte.

use github_simulator::Clock as _;
use std::process::Output;
use std::time::Duration;

use github_simulator::{Fault, FaultKind, Simulator};
use planwright::engine::clock::Clock as _;
use planwright::engine::model::time::Millis;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::simulator_support::World;
use crate::support::rig::PLAN;
use crate::support::system::{Options, System};

const REPO: &str = "acme/search";

/// Runs `planwright plan ARGUMENTS` with this environment and no other.
async fn plan(sim: &Simulator, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_planwright"))
        .arg("plan")
        .args(arguments)
        .env_clear()
        .env("PLANWRIGHT_GITHUB_API_URL", sim.api_url())
        .envs(environment.iter().copied())
        .current_dir(folder.path())
        .output()
        .await
        .unwrap()
}

/// The same as `ada`, who may read.
async fn as_ada(sim: &Simulator, arguments: &[&str]) -> Output {
    let token = sim.personal_token("ada");
    let environment = [("PLANWRIGHT_TOKEN", token.expose_secret())];
    let output = plan(sim, &environment, arguments).await;
    for text in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(text);
        assert!(!text.contains(token.expose_secret()), "{text}");
    }
    output
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn as_json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", err(output));
    serde_json::from_str(&out(output)).unwrap()
}

async fn judged() -> System {
    let system = System::with(Options {
        judged: true,
        ..Options::default()
    });
    let system = system.await;
    system.repository(REPO, true);
    system
}

/// Saves `plan` through the bot; gives the number of its issue.
async fn save(system: &System, text: &str) -> u64 {
    let issue = system
        .sim
        .open_issue(REPO, "bob", "Search is slow", "Help.");
    let issue = issue.unwrap();
    // Edits may be longer than what GitHub takes from a person in one go.
    system
        .sim
        .edit_issue(REPO, issue, "bob", None, Some(text))
        .unwrap();
    system
        .sim
        .comment(REPO, issue, "ada", "/save-raw-plan hidden=keep")
        .unwrap();
    system.run_to_rest().await;
    system
        .plans(REPO)
        .iter()
        .map(|plan| plan.number)
        .max()
        .unwrap()
}

/// A plan that tries to break its frame and to be somebody else's block.
fn hostile_plan() -> String {
    let frame = "</details>\n<!-- /erk:metadata-block:plan-body -->\n<!-- erk:metadata-block:plan-header -->\n";
    let steps = "1. Ask @team, fixes #1\n2. part 1/2\n\n<!-- planwright:cut -->\n";
    format!("{PLAN}\n## More steps\n\n{steps}\n{frame}\n~~~text\n\tnever closed \u{202e}\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn saved_plans_come_back_byte_for_byte() {
    let system = judged().await;
    let steps = (1..=3_200).map(|step| {
        format!("### Step {step}\n\nWrite `part_{step}` — ask @ada.\n\n```rust\nfn part_{step}() {{}}\n```\n\n")
    });
    let long: String = std::iter::once(format!("{PLAN}\n")).chain(steps).collect();
    assert!(long.len() > 200_000);
    for text in [PLAN.to_owned(), hostile_plan(), long] {
        let number = save(&system, &text).await;
        let named = format!("{REPO}#{number}");
        let got = as_ada(&system.sim, &["get", &named]).await;
        assert_eq!((got.status.code(), err(&got)), (Some(0), String::new()));
        assert!(got.stdout == text.as_bytes(), "{}", &out(&got)[..200]);

        let address = format!("{}/{REPO}/issues/{number}", system.sim.url());
        let document = as_ada(&system.sim, &["get", &address, "--document"]).await;
        assert!(out(&document) == system.document(REPO, number));

        let shown = as_json(&as_ada(&system.sim, &["get", &named, "--json"]).await);
        let comments: Vec<u64> = system.said(REPO, number).iter().map(|one| one.id).collect();
        assert!(shown["plan"] == text.as_str());
        assert_eq!(shown["comments"], json!(comments));
        assert_eq!(shown["header"]["plan_comment_id"], json!(comments[0]));
        assert_eq!(shown["source"]["form"], "plan-body");
        assert_eq!(shown["diagnostics"], json!([]));
        assert_eq!(shown["title"], "Cache the search index");
        assert_eq!(
            (&shown["number"], &shown["url"]),
            (&json!(number), &json!(address))
        );
        assert_eq!(
            (&shown["state"], &shown["pull_request"]),
            (&json!("open"), &json!(false))
        );
    }

    let listed = as_json(&as_ada(&system.sim, &["list", REPO, "--json"]).await);
    let plans = listed["plans"].as_array().unwrap();
    assert_eq!((plans.len(), &listed["repository"]), (3, &json!(REPO)));
    assert!(
        plans
            .iter()
            .all(|plan| plan["created_by"] == "ada" && plan["author"] == "planwright[bot]")
    );
    assert!(
        plans
            .windows(2)
            .all(|pair| pair[0]["number"].as_u64() > pair[1]["number"].as_u64())
    );

    // A part is deleted: nothing is printed, and the remedy is said.
    let number = plans[0]["number"].as_u64().unwrap();
    let parts = system.said(REPO, number);
    assert!(parts.len() > 2);
    system.sim.delete_comment(parts[1].id, "ada").unwrap();
    let lost = as_ada(&system.sim, &["get", &format!("{REPO}#{number}")]).await;
    assert_eq!((lost.status.code(), out(&lost)), (Some(1), String::new()));
    assert_eq!(
        err(&lost),
        format!(
            "error: {REPO}#{number}: the plan has {} parts, and part 2 is missing: restore the comments from their edit history, or save the plan again\n",
            parts.len()
        )
    );
    system.tap.assert_clean();
}

/// A simulator with a public and a private repository that `ada` may read, without a bot.
async fn world() -> World {
    let world = World::new().await;
    world.simulator.add_repository("acme/open", false).unwrap();
    world.simulator.add_repository("acme/closed", true).unwrap();
    world
}

#[tokio::test]
async fn a_plan_edited_by_hand_is_printed_with_warnings() {
    let world = world().await;
    let sim = &world.simulator;
    let number = sim
        .open_issue("acme/open", "bob", "Search faster", PLAN)
        .unwrap();
    let got = plan(sim, &[], &["get", &format!("acme/open#{number}")]).await;
    assert_eq!((got.status.code(), out(&got)), (Some(0), PLAN.to_owned()));
    assert_eq!(
        err(&got),
        "warning: the body: there is no plan-header\n\
         warning: the body: there is no plan block: the whole body was used as the plan, as the \
         first erk releases stored it\n"
    );
    let talk = sim
        .open_issue("acme/open", "bob", "Hello", "How are you?")
        .unwrap();
    let none = plan(sim, &[], &["get", &format!("acme/open#{talk}")]).await;
    assert_eq!(none.status.code(), Some(1));
    let start = format!("error: acme/open#{talk}: there is no plan here: ");
    assert!(err(&none).starts_with(&start), "{}", err(&none));
}

#[tokio::test]
async fn what_github_refuses_is_one_sentence_with_its_remedy() {
    let world = world().await;
    let sim = &world.simulator;
    let number = sim
        .open_issue("acme/closed", "bob", "Secret", PLAN)
        .unwrap();
    let named = format!("acme/closed#{number}");
    let read = github_simulator::model::Role::Read;
    sim.grant("acme/closed", "ada", read).unwrap();
    assert_eq!(as_ada(sim, &["get", &named]).await.status.code(), Some(0));

    let anybody = plan(sim, &[], &["get", &named]).await;
    assert_eq!(
        (anybody.status.code(), out(&anybody)),
        (Some(1), String::new())
    );
    assert_eq!(
        err(&anybody),
        format!(
            "error: issue #{number} of acme/closed does not exist, or it is private, or github.api_url is wrong: check the name; if it is private, set PLANWRIGHT_TOKEN, or for github.com GITHUB_TOKEN or GH_TOKEN\n"
        )
    );
    let token = sim.personal_token("carl");
    let carl = plan(
        sim,
        &[("PLANWRIGHT_TOKEN", token.expose_secret())],
        &["get", &named],
    )
    .await;
    assert_eq!(
        err(&carl),
        format!(
            "error: issue #{number} of acme/closed does not exist, or the token in PLANWRIGHT_TOKEN cannot see it, or github.api_url is wrong: check the name and which repositories the token is for\n"
        )
    );
    let old = plan(
        sim,
        &[("PLANWRIGHT_TOKEN", "github_pat_old")],
        &["get", &named],
    )
    .await;
    assert_eq!(old.status.code(), Some(1));
    assert_eq!(
        err(&old),
        "error: GitHub does not accept the token in PLANWRIGHT_TOKEN: Bad credentials; it may have expired: create a new one with read access to issues and pull requests\n"
    );
    let limit = |trouble| sim.faults().push(Fault::on("GET", "/repos/**", trouble));
    // The wait is told by GitHub's clock, the time when it ends by this machine's.
    let before = now();
    let reset = world.clock.now() + Duration::from_mins(10);
    limit(FaultKind::PrimaryLimit { reset });
    let limited = err(&as_ada(sim, &["get", &named]).await);
    let until = limited
        .strip_prefix(
            "error: GitHub's rate limit for the token in PLANWRIGHT_TOKEN is reached until ",
        )
        .and_then(|rest| rest.strip_suffix(": try again then\n"))
        .unwrap_or_else(|| panic!("{limited}"));
    let until = Millis::from(until.parse::<chrono::DateTime<chrono::Utc>>().unwrap());
    let ten_minutes = |from: Millis| from.plus(Duration::from_mins(10));
    let second = Duration::from_secs(1);
    assert!(until.plus(second) >= ten_minutes(before), "{limited}");
    assert!(until <= ten_minutes(now()).plus(second), "{limited}");
    limit(FaultKind::Unavailable);
    let away = as_ada(sim, &["list", "acme/closed"]).await;
    assert_eq!(away.status.code(), Some(1));
    assert!(
        err(&away).starts_with("error: GitHub sent no usable response for the list of issues of acme/closed: GitHub answered 503: Service unavailable"),
        "{}",
        err(&away)
    );
}

fn now() -> Millis {
    planwright::adapters::clock::SystemClock.now()
}

#[tokio::test]
async fn a_token_for_github_is_not_sent_to_another_server() {
    let world = world().await;
    let sim = &world.simulator;
    let number = sim
        .open_issue("acme/open", "bob", "Search faster", PLAN)
        .unwrap();
    let secret = [("GITHUB_TOKEN", "ghp_secret")];
    let got = plan(
        sim,
        &secret,
        &["get", &format!("acme/open#{number}"), "--json"],
    )
    .await;
    assert_eq!(got.status.code(), Some(0), "read as anybody");
    assert!(
        err(&got).starts_with("warning: GITHUB_TOKEN is not sent to http://127.0.0.1:"),
        "{}",
        err(&got)
    );
    let named = [
        ("GITHUB_TOKEN", "ghp_secret"),
        ("GITHUB_API_URL", &sim.api_url()),
    ];
    let got = plan(sim, &named, &["get", &format!("acme/open#{number}")]).await;
    assert!(
        err(&got).starts_with("error: GitHub does not accept the token in GITHUB_TOKEN: "),
        "{}",
        err(&got)
    );
    assert!(!err(&got).contains("secret"));
    let broken = plan(
        sim,
        &[("PLANWRIGHT_TOKEN", "a\u{fc} b")],
        &["get", "acme/open#1"],
    )
    .await;
    assert_eq!(broken.status.code(), Some(2));
    assert_eq!(
        err(&broken),
        "error: PLANWRIGHT_TOKEN: the token contains characters that are not allowed in a GitHub token; check it for a line break or quotes\n"
    );
}

#[tokio::test]
async fn one_bad_record_does_not_sink_the_list() {
    let world = world().await;
    let sim = &world.simulator;
    let page = |name: &str| {
        let path = format!("{}/fixtures/stored/{name}", env!("CARGO_MANIFEST_DIR"));
        let file = planwright::formats::thread_file::parse(&std::fs::read_to_string(path).unwrap());
        file.unwrap().posts[0].body.clone()
    };
    let good = page("plan-body.md");
    let open = |title: &str, body: &str| {
        let number = sim.open_issue("acme/open", "bob", title, body).unwrap();
        sim.label("acme/open", number, "bob", "erk-plan").unwrap();
        number
    };
    let first = open("Good", &good);
    open("No header\u{1b}[31m \u{202e}", "Tidied up.");
    open(
        "Broken",
        &good.replace("created_by: nadia-p", "created_by: [nadia-p"),
    );
    let done = open("Done", &good);
    sim.set_closed("acme/open", done, "bob", true).unwrap();
    let pull = sim.open_pull_request(
        "acme/open",
        "bob",
        "[erk-pr] Newer",
        &page("pull-original-plan.md"),
    );
    sim.label("acme/open", pull.unwrap(), "bob", "erk-pr")
        .unwrap();
    sim.open_issue("acme/open", "bob", "No plan", "Hello.")
        .unwrap();

    let address = format!("{}/acme/open", sim.url());
    let table = plan(sim, &[], &["list", &address]).await;
    assert_eq!((table.status.code(), err(&table)), (Some(0), String::new()));
    let text = out(&table);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|row| {
            row.split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty())
                .collect()
        })
        .collect();
    assert_eq!(rows.len(), 4, "{text}");
    let odd = |row: usize| rows[row].last().copied().unwrap();
    assert_eq!(rows[0][1..4], ["open", "[erk-pr] Newer", "nadia-p"]);
    assert_eq!(odd(0), "PR");
    assert!(
        odd(1).starts_with("the plan-header cannot be read: Failed to parse YAML content: "),
        "{text}"
    );
    assert_eq!(rows[2][2..4], ["No header\u{fffd}[31m \u{fffd}", "bob"]);
    assert_eq!(odd(2), "there is no plan-header");
    assert_eq!(
        rows[3][..4],
        [&format!("#{first}"), "open", "Good", "nadia-p"]
    );
    assert_eq!(rows[3].len(), 5, "the date comes last: {text}");

    let all = as_json(&plan(sim, &[], &["list", "acme/open", "--state", "all", "--json"]).await);
    assert_eq!(all["plans"].as_array().unwrap().len(), 5);
    let closed = as_json(
        &plan(
            sim,
            &[],
            &["list", "acme/open", "--state", "closed", "--json"],
        )
        .await,
    );
    assert_eq!(closed["plans"][0]["number"], json!(done));
    assert_eq!(closed["plans"][0]["header"]["plan_comment_id"], 102);
    let two = as_json(&plan(sim, &[], &["list", "acme/open", "--limit", "2", "--json"]).await);
    let two = two["plans"].as_array().unwrap();
    assert_eq!(two.len(), 2);
    assert_eq!(two[1]["header"], Value::Null);
    assert_eq!(two[1]["diagnostics"][0]["line"], 2);
    let none = plan(sim, &[], &["list", "acme/closed"]).await;
    assert_eq!(none.status.code(), Some(1), "private");
}

#[tokio::test]
async fn every_page_is_listed() {
    let world = world().await;
    let sim = &world.simulator;
    for number in 1..=130 {
        let number = sim
            .open_issue("acme/open", "bob", &format!("Plan {number}"), "")
            .unwrap();
        sim.label("acme/open", number, "bob", "erk-plan").unwrap();
    }
    for (limit, count) in [(None, 130), (Some("120"), 120), (Some("7"), 7)] {
        let mut arguments = vec!["list", "acme/open", "--json"];
        arguments.extend(limit.into_iter().flat_map(|limit| ["--limit", limit]));
        let listed = as_json(&plan(sim, &[], &arguments).await);
        let plans = listed["plans"].as_array().unwrap();
        assert_eq!(plans.len(), count);
        assert_eq!(plans[0]["title"], "Plan 130");
    }
}

#[tokio::test]
async fn a_number_alone_is_one_of_the_repository_that_origin_names() {
    let system = judged().await;
    let number = save(&system, PLAN).await;
    let sim = &system.sim;
    let token = sim.personal_token("ada");
    let clone = tempfile::tempdir().unwrap();
    let remote = format!("{}/{REPO}.git", sim.url());
    let git = |arguments: &[&str]| {
        let done = std::process::Command::new("git")
            .arg("-C")
            .arg(clone.path())
            .args(arguments)
            .status();
        assert!(done.unwrap().success(), "{arguments:?}");
    };
    let run = async |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_planwright"))
            .arg("plan")
            .args(arguments)
            .env_clear()
            .env("PLANWRIGHT_GITHUB_API_URL", sim.api_url())
            .env("PLANWRIGHT_TOKEN", token.expose_secret())
            .current_dir(clone.path())
            .output()
            .await
            .unwrap()
    };
    let number = number.to_string();
    let nowhere = run(&["get", &number]).await;
    let url = sim.url();
    let host = url.strip_prefix("http://").unwrap();
    assert_eq!(
        (nowhere.status.code(), err(&nowhere)),
        (
            Some(2),
            format!(
                "error: the working directory has no git remote `origin`; write OWNER/REPO#{number} or \
                 https://{host}/OWNER/REPO/issues/{number}\n"
            )
        )
    );
    git(&["init", "--quiet"]);
    git(&["remote", "add", "origin", &remote]);
    for given in [number.clone(), format!("#{number}")] {
        let got = run(&["get", &given]).await;
        assert_eq!((out(&got), err(&got)), (PLAN.to_owned(), String::new()));
    }
    let listed = as_json(&run(&["list", "--json"]).await);
    assert_eq!(listed["repository"], REPO);
    assert_eq!(listed["plans"][0]["number"].to_string(), number);
}

#[tokio::test]
async fn wrong_arguments_try_nothing() {
    let world = world().await;
    let sim = &world.simulator;
    let before = sim.requests().len();
    let url = sim.url();
    let host = url.strip_prefix("http://").unwrap();
    let issues = format!("write OWNER/REPO#12 or https://{host}/OWNER/REPO/issues/12");
    let repositories =
        format!("write OWNER/REPO, https://{host}/OWNER/REPO or git@{host}:OWNER/REPO.git");
    let zero = "contains no issue number; issue numbers start at 1";
    for (subcommand, given, why, forms) in [
        ("get", "acme/open", "does not name an issue", &issues),
        ("get", "acme/open#0", zero, &issues),
        ("list", "acme", "does not name a repository", &repositories),
        (
            "list",
            "acme/open/x",
            "does not name a repository",
            &repositories,
        ),
    ] {
        let wrong = plan(sim, &[], &[subcommand, given, "--json"]).await;
        assert_eq!((wrong.status.code(), out(&wrong)), (Some(2), String::new()));
        assert_eq!(err(&wrong), format!("error: `{given}` {why}; {forms}\n"));
    }
    let elsewhere = plan(sim, &[], &["get", "https://github.com/a/b/issues/1"]).await;
    assert_eq!(elsewhere.status.code(), Some(2));
    assert!(
        err(&elsewhere).starts_with("error: the address is on `github.com`, not on `127.0.0.1:"),
        "{}",
        err(&elsewhere)
    );
    assert_eq!(
        plan(sim, &[], &["list", "a/b", "--limit", "0"])
            .await
            .status
            .code(),
        Some(2)
    );
    assert_eq!(sim.requests().len(), before);
    for subcommand in ["get", "list"] {
        let help = plan(sim, &[], &[subcommand, "--help"]).await;
        for part in [
            "JSON fields:",
            "Exit codes:",
            "Examples:",
            "PLANWRIGHT_TOKEN",
        ] {
            assert!(out(&help).contains(part), "{subcommand}: {part}");
        }
    }
}

#[tokio::test]
async fn people_read_and_do_not_write_with_such_a_token() {
    let world = world().await;
    let sim = &world.simulator;
    let token = sim.personal_token("ada");
    let send = |method: http::Method, path: &str, token: Option<&str>| {
        let mut request = world.request(method, path, token.unwrap_or_default(), None);
        if token.is_none() {
            request.headers_mut().remove("authorization");
        }
        world.send(request)
    };
    let token = token.expose_secret();
    let number = sim.open_issue("acme/open", "bob", "Hi", "").unwrap();
    let issue = format!("/repos/acme/open/issues/{number}");
    let read = send(http::Method::GET, &issue, Some(token)).await.unwrap();
    assert_eq!(read.status, 200);
    assert!(read.header("x-ratelimit-remaining").is_some());
    let written = send(http::Method::PATCH, &issue, Some(token))
        .await
        .unwrap();
    assert_eq!(written.status, 403);
    assert_eq!(
        written.json()["message"],
        "Resource not accessible by personal access token"
    );
    assert_eq!(
        send(http::Method::GET, &issue, None).await.unwrap().status,
        200
    );
    assert_eq!(
        send(http::Method::PATCH, &issue, None)
            .await
            .unwrap()
            .status,
        401
    );
    let hidden = send(http::Method::GET, "/repos/acme/closed/issues", None).await;
    assert_eq!(hidden.unwrap().status, 404);
}

#[tokio::test]
async fn a_failure_is_json_where_a_program_reads() {
    let world = world().await;
    let sim = &world.simulator;
    for arguments in [
        ["get", "acme/nope#1", "--json"],
        ["list", "acme/nope", "--json"],
    ] {
        let failed = plan(sim, &[], &arguments).await;
        assert_eq!(failed.status.code(), Some(1));
        let shown: Value = serde_json::from_str(&out(&failed)).unwrap();
        let said = format!("error: {}\n", shown["error"].as_str().unwrap());
        assert_eq!(err(&failed), said);
        assert!(
            said.contains(
                " of acme/nope does not exist, or it is private, or github.api_url is wrong: "
            ),
            "{said}"
        );
    }
}
