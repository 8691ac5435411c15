//! Tests of the commands `planwright runs` and `planwright audit`, with the real program: on databases
//! of both kinds, and beside a running bot.

use axum::Router;
use axum::response::Html;
use github_simulator::model::Role;
use planwright::adapters::store::SqlStore;
use planwright::engine::model::agent::{Spent, Tokens};
use planwright::engine::model::failure::{Code, Failure};
use planwright::engine::model::progress::{Progress, StepStart};
use planwright::engine::model::run::{RunId, State};
use planwright::engine::store::{AuditEntry, RunOutcome, Store};
use serde_json::{Value, json};
use sqlx::ConnectOptions as _;
use sqlx::sqlite::SqliteConnectOptions;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::time::timeout;
use url::Url;

use crate::cli_serve::{PATIENCE, program};
use crate::e2e_unclear::{BROWSER, SERVER};
use crate::store_contract::spending::{ANYTHING, scope};
use crate::store_contract::{add, at, finish, must_claim, new_run, park};
use crate::store_sqlite::open;
use crate::support::postgres;
use crate::support::rig::PLAN;
use crate::support::system::{Options, RunRow, System};

/// Where nothing answers.
const NO_GITHUB: &str = "http://127.0.0.1:1/";

const REPO: &str = "acme/search";

/// A text that would colour the terminal, clear it, set its title, and reverse the order of letters.
const HOSTILE: &str = "\u{1b}[31mred\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}1m\u{202e}order\r\nnext line";

/// A database with runs, and the names of its runs.
struct World {
    folder: TempDir,
    postgres: Option<Url>,
    runs: Vec<(&'static str, RunId)>,
}

/// Makes a database of each kind with the same runs.
async fn worlds() -> Vec<World> {
    let mut worlds = Vec::new();
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("planwright.db")).await.unwrap();
    worlds.push(World {
        folder,
        postgres: None,
        runs: Box::pin(fill(&store)).await,
    });
    if let Some(url) = postgres::database().await {
        let store = postgres::open(&url).await;
        worlds.push(World {
            folder: tempfile::tempdir().unwrap(),
            postgres: Some(url),
            runs: Box::pin(fill(&store)).await,
        });
    }
    worlds
}

async fn fill(store: &SqlStore) -> Vec<(&'static str, RunId)> {
    let mut runs = Vec::new();
    // Succeeded, with everything that a run leaves behind.
    let saved = add(store, "g1", 0, new_run(1, 1)).await;
    let claimed = must_claim(store, 100).await;
    let lease = &claimed.lease;
    store
        .record_repository(&claimed.trigger.place.repo)
        .await
        .unwrap();
    let step = |name: &str, ms| StepStart {
        name: name.to_owned(),
        at: at(ms),
    };
    let progress = Progress {
        steps: vec![
            step("reading the conversation", 100),
            step("saving the plan", 1_600),
        ],
        ..Progress::default()
    };
    store.save_progress(lease, &progress).await.unwrap();
    let begun = store.begin_turn(lease, "1", scope(1, 7), &ANYTHING, at(200));
    begun.await.unwrap().unwrap();
    let spent = Spent {
        turns: 2,
        tools: 3,
        cost: 1_254_999,
        tokens: Tokens {
            input: 10,
            cached: 4,
            output: 5,
        },
        ..Spent::default()
    };
    store.end_turn(lease, "1", &spent).await.unwrap();
    store.begin_effect(lease, "issue", at(1_700)).await.unwrap();
    store
        .end_effect(lease, "issue", "{}", at(1_900))
        .await
        .unwrap();
    store.begin_effect(lease, "body", at(1_950)).await.unwrap();
    for (ms, text) in [(300, "Reading src/search.rs\n"), (400, "Done.")] {
        store.append_output(&saved, text, at(ms)).await.unwrap();
    }
    audit(store, &saved, 2_000, "octocat", "saved", "as issue 9").await;
    finish(store, &claimed, RunOutcome::Succeeded, 2_000).await;
    runs.push(("saved", saved));

    // Failed, with hostile texts wherever somebody else can write them.
    let mut run = new_run(2, 7);
    run.trigger.actor.login = format!("eve{HOSTILE}");
    run.trigger.place.repo.name = format!("evil{HOSTILE}");
    let failed = add(store, "g2", 3_000, run).await;
    let claimed = must_claim(store, 3_100).await;
    let failure = Failure {
        code: Code::InvalidInput,
        message: format!("message {HOSTILE}"),
        details: vec![format!("detail {HOSTILE}")],
        remedy: format!("remedy {HOSTILE}"),
    };
    let progress = Progress {
        failure: Some((3_100, failure)),
        steps: vec![step(&format!("step {HOSTILE}"), 3_100)],
        ..Progress::default()
    };
    store
        .save_progress(&claimed.lease, &progress)
        .await
        .unwrap();
    store
        .append_output(&failed, &format!("output {HOSTILE}"), at(3_200))
        .await
        .unwrap();
    audit(
        store,
        &failed,
        3_300,
        &format!("eve{HOSTILE}"),
        &format!("failed{HOSTILE}"),
        HOSTILE,
    )
    .await;
    let how = RunOutcome::Failed {
        code: Code::InvalidInput,
        message: format!("note {HOSTILE}"),
    };
    finish(store, &claimed, how, 3_300).await;
    runs.push(("failed", failed));

    let waiting = add(store, "g3", 4_000, new_run(1, 2)).await;
    let claimed = must_claim(store, 4_100).await;
    finish(store, &claimed, park(60_000, true), 4_200).await;
    runs.push(("waiting", waiting));

    let mut run = new_run(1, 3);
    run.command = "plan".into();
    runs.push(("ready", add(store, "g4", 5_000, run).await));
    runs.push(("blocked", add(store, "g5", 6_000, new_run(1, 3)).await));
    audit_entry(store, None, 7_000, "bob", "refused", "no permission").await;
    store.close().await;
    runs
}

async fn audit(store: &dyn Store, run: &RunId, ms: i64, actor: &str, decision: &str, why: &str) {
    audit_entry(store, Some(run.clone()), ms, actor, decision, why).await;
}

async fn audit_entry(
    store: &dyn Store,
    run: Option<RunId>,
    ms: i64,
    actor: &str,
    decision: &str,
    why: &str,
) {
    let entry = AuditEntry {
        at: at(ms),
        run,
        guid: None,
        actor: actor.to_owned(),
        decision: decision.to_owned(),
        why: why.to_owned(),
    };
    store.audit(entry).await.unwrap();
}

impl World {
    fn id(&self, name: &str) -> &str {
        let (_, id) = self.runs.iter().find(|(one, _)| *one == name).unwrap();
        &id.0
    }

    /// Runs the program; exit code, standard output and standard error. An argument `@name` becomes
    /// the id of that run, and ids in what is printed become names in capital letters, as long as an
    /// id.
    async fn ask(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = program(self.folder.path(), NO_GITHUB);
        for argument in arguments {
            let name = argument.strip_prefix('@');
            command.arg(name.map_or(*argument, |name| self.id(name)));
        }
        if let Some(url) = &self.postgres {
            command.env("PLANWRIGHT_STORE_URL", url.as_str());
        }
        let output = timeout(PATIENCE, command.output()).await.unwrap().unwrap();
        let text = |bytes: Vec<u8>| {
            let mut text = String::from_utf8(bytes).unwrap();
            for (name, id) in &self.runs {
                text = text.replace(&id.0, &format!("{:-<26}", name.to_uppercase()));
            }
            text
        };
        (
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    /// Runs a command that must succeed and returns what it prints.
    async fn text(&self, arguments: &[&str]) -> String {
        let (code, out, error) = self.ask(arguments).await;
        assert_eq!((code, &*error), (0, ""), "{arguments:?}");
        out
    }

    async fn json(&self, arguments: &[&str]) -> Value {
        let out = self.text(arguments).await;
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    }
}

/// Returns the names of the runs that a list begins its lines with.
fn names(list: &str) -> Vec<String> {
    let name = |line: &str| line.split('-').next().unwrap_or_default().to_lowercase();
    list.lines().map(name).collect()
}

#[tokio::test]
async fn runs_are_listed_newest_first() {
    for world in worlds().await {
        let list = world.text(&["runs", "list"]).await;
        let lines: Vec<&str> = list.lines().collect();
        let fields = |line: &str| -> Vec<String> {
            line.split("  ")
                .map(str::trim)
                .filter(|field| !field.is_empty())
                .map(str::to_owned)
                .collect()
        };
        assert_eq!(
            fields(lines[2]),
            [
                "WAITING-------------------",
                "waiting",
                "/save-plan",
                "acme/search#2",
                "octocat",
                "2023-11-14T22:13:24Z",
                "not now",
            ]
        );
        assert_eq!(
            fields(lines[4]),
            [
                "SAVED---------------------",
                "succeeded",
                "/save-plan",
                "acme/search#1",
                "octocat",
                "2023-11-14T22:13:20Z",
            ]
        );
        for (filter, expected) in [
            (
                &[][..],
                &["blocked", "ready", "waiting", "failed", "saved"][..],
            ),
            (&["--limit", "2"], &["blocked", "ready"]),
            (&["--state", "unfinished"], &["blocked", "ready", "waiting"]),
            (&["--state", "failed"], &["failed"]),
            (
                &["--repository", "ACME/Search"],
                &["blocked", "ready", "waiting", "saved"],
            ),
            (&["--command", "plan"], &["ready"]),
            (&["--command", "/Plan"], &["ready"]),
            (
                &[
                    "--repository",
                    REPO,
                    "--state",
                    "succeeded",
                    "--command",
                    "save-plan",
                ],
                &["saved"],
            ),
        ] {
            let list = world.text(&[&["runs", "list"], filter].concat()).await;
            assert_eq!(names(&list), expected, "{filter:?}");
            let json = world
                .json(&[&["runs", "list", "--json"], filter].concat())
                .await;
            let ids = json["runs"]
                .as_array()
                .unwrap()
                .iter()
                .map(|run| run["id"].as_str().unwrap());
            assert_eq!(names(&ids.collect::<Vec<_>>().join("\n")), expected);
        }
        let nothing = world.ask(&["runs", "list", "--state", "cancelled"]).await;
        assert_eq!(
            nothing,
            (0, String::new(), "there are no such runs\n".to_owned())
        );
        let nothing = world
            .json(&["runs", "list", "--state", "cancelled", "--json"])
            .await;
        assert_eq!(nothing, json!({"runs": []}));
    }
}

#[tokio::test]
async fn exported_runs_are_those_of_the_list() {
    for world in worlds().await {
        for filter in [
            &[][..],
            &["--state", "unfinished"],
            &["--state", "cancelled"],
        ] {
            let list = world
                .json(&[&["runs", "list", "--json"], filter].concat())
                .await;
            let export = world.text(&[&["runs", "export"], filter].concat()).await;
            let runs: Vec<Value> = export
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            assert_eq!(list["runs"], json!(runs), "{filter:?}");
        }
        let export = world.text(&["runs", "export", "--command", "plan"]).await;
        let run: Value = serde_json::from_str(&export).unwrap();
        assert_eq!(
            run,
            json!({
                "id": "READY---------------------",
                "command": "plan",
                "state": "ready",
                "repository": REPO,
                "number": 3,
                "actor": "octocat",
                "attempts": 0,
                "code": null,
                "note": null,
                "accepted_at": "2023-11-14T22:13:25Z",
                "finished_at": null,
            })
        );
    }
}

#[tokio::test]
async fn a_run_is_shown_with_what_it_waits_for() {
    for world in worlds().await {
        assert_eq!(
            world.text(&["runs", "show", "@saved"]).await,
            "/save-plan (run SAVED---------------------) succeeded\n  issue      acme/search#1\n  by         octocat\n  \
             state      succeeded\n  accepted   2023-11-14T22:13:20Z\n  finished   2023-11-14T22:13:22Z\n  attempts   1\n"
        );
        for (name, now) in [
            (
                "waiting",
                "/save-plan (run WAITING-------------------) waits until 2023-11-14T22:14:20Z: not now\n",
            ),
            (
                "ready",
                "/plan (run READY---------------------) starts as soon as a worker is free\n",
            ),
            (
                "blocked",
                "/save-plan (run BLOCKED-------------------) is queued as number 1 behind run READY---------------------\n",
            ),
        ] {
            let run = format!("@{name}");
            let text = world.text(&["runs", "show", &run]).await;
            assert!(text.starts_with(now), "{text}");
            let json = world.json(&["runs", "show", &run, "--json"]).await;
            assert_eq!(json["now"], now.trim_end());
            assert_eq!(
                (&json["state"], &json["number"].is_u64()),
                (&json!(name), &true)
            );
        }
        // Ids are read in either case.
        let lower = world.id("saved").to_lowercase();
        world.text(&["runs", "show", &lower]).await;
        let json = world.json(&["runs", "show", "@failed", "--json"]).await;
        assert_eq!(json["failure"]["code"], "invalid_input");
        assert_eq!(json["failure"]["remedy"], format!("remedy {HOSTILE}"));
        assert_eq!(json["note"], format!("note {HOSTILE}"));
    }
}

#[tokio::test]
async fn the_log_of_a_run_is_in_the_order_of_time() {
    for world in worlds().await {
        let events = "\
2023-11-14T22:13:20Z  step    1.500 s  reading the conversation
2023-11-14T22:13:20Z  agent            1: model turns 2, tool calls 3, $1.25, tokens in 10 (4 cached), out 5
2023-11-14T22:13:21Z  step             saving the plan
2023-11-14T22:13:21Z  GitHub  0.200 s  issue
2023-11-14T22:13:21Z  GitHub           body (outcome unknown)
2023-11-14T22:13:22Z  audit            saved by octocat: as issue 9
";
        assert_eq!(world.text(&["runs", "log", "@saved"]).await, events);
        let with_output = world.text(&["runs", "log", "@saved", "--output"]).await;
        assert_eq!(
            with_output,
            format!("{events}Reading src/search.rs\nDone.\n")
        );
        let json = world.json(&["runs", "log", "@saved", "--json"]).await;
        let listed = json["events"].as_array().unwrap();
        assert_eq!(listed.len(), 6);
        let issue =
            json!({"at": "2023-11-14T22:13:21Z", "kind": "GitHub", "text": "issue", "millis": 200});
        assert_eq!(listed[3], issue);
        let portions = json!([
            {"at": "2023-11-14T22:13:20Z", "text": "Reading src/search.rs\n"},
            {"at": "2023-11-14T22:13:20Z", "text": "Done."},
        ]);
        assert_eq!(json["output"], portions);
    }
}

#[tokio::test]
async fn the_audit_log_is_listed_newest_first() {
    for world in worlds().await {
        for (filter, expected) in [
            (&[][..], &["refused", "failed", "saved"][..]),
            (&["--limit", "1"], &["refused"]),
            (&["--actor", "BOB"], &["refused"]),
            (&["--decision", "saved"], &["saved"]),
            (&["--run", "@failed"], &["failed"]),
            (
                &[
                    "--run",
                    "@saved",
                    "--actor",
                    "octocat",
                    "--decision",
                    "saved",
                ],
                &["saved"],
            ),
        ] {
            let json = world.json(&[&["audit", "--json"], filter].concat()).await;
            let entries = json["entries"].as_array().unwrap();
            let decisions: Vec<&str> = entries
                .iter()
                .map(|entry| {
                    entry["decision"]
                        .as_str()
                        .unwrap()
                        .split('\u{1b}')
                        .next()
                        .unwrap()
                })
                .collect();
            assert_eq!(decisions, expected, "{filter:?}");
            let text = world.text(&[&["audit"], filter].concat()).await;
            assert_eq!(text.lines().count(), expected.len());
        }
        assert_eq!(
            world.text(&["audit", "--run", "@saved"]).await,
            "2023-11-14T22:13:22Z  octocat  saved  SAVED---------------------  as issue 9\n"
        );
        let entry = &world.json(&["audit", "--json", "--actor", "bob"]).await["entries"][0];
        let expected = json!({
            "at": "2023-11-14T22:13:27Z",
            "run": null,
            "delivery": null,
            "actor": "bob",
            "decision": "refused",
            "why": "no permission",
        });
        assert_eq!(*entry, expected);
        let nothing = world.ask(&["audit", "--actor", "nobody"]).await;
        assert_eq!(
            nothing,
            (0, String::new(), "there are no such entries\n".to_owned())
        );
    }
}

/// A character that can move the cursor, change colours or the direction of writing.
fn steers(c: char) -> bool {
    (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c)
}

#[tokio::test]
async fn texts_of_other_people_do_not_steer_the_terminal() {
    for world in worlds().await {
        for arguments in [
            &["runs", "list"][..],
            &["runs", "list", "--json"],
            &["runs", "export"],
            &["runs", "show", "@failed"],
            &["runs", "show", "@failed", "--json"],
            &["runs", "log", "@failed", "--output"],
            &["runs", "log", "@failed", "--json"],
            &["audit"],
            &["audit", "--json"],
        ] {
            let out = world.text(arguments).await;
            assert!(out.contains("red"), "{arguments:?}: {out:?}");
            assert!(!out.contains(steers), "{arguments:?}: {out:?}");
            // Only what an agent has printed may fill several lines.
            let forged = out.lines().any(|line| line == "next line");
            assert_eq!(
                forged,
                arguments.contains(&"--output"),
                "{arguments:?}: {out:?}"
            );
        }
        let name = format!("acme/none{HOSTILE}");
        let arguments = ["runs", "list", "--repository", &name];
        let (code, out, error) = world.ask(&arguments).await;
        assert_eq!((code, &*out), (1, ""));
        assert!(!error.contains(steers), "{error:?}");
    }
}

#[tokio::test]
async fn errors_name_what_is_wrong() {
    const UNKNOWN: &str = "01KAQ3ZJ0V5N6Y8T2W4X6Z8B0D";
    let no_run = format!(
        "error: there is no run {UNKNOWN}; it may have been deleted after store.retention_days, or store.path or \
         store.url is not that of the bot\n"
    );
    let malformed = |argument: &str| {
        format!(
            "error: invalid value 'run_1' for '{argument}': a run's id has 26 letters and digits; it is in the last \
             line of the bot's status comments\n\nFor more information, try '--help'.\n"
        )
    };
    let no_token = "error: the operator's token is needed: set web.token_file or PLANWRIGHT_WEB_TOKEN as for the bot\n";
    for world in worlds().await {
        let unknown_repository = "error: the database has no runs of the repository acme/none\n";
        for (arguments, code, expected) in [
            (&["runs", "show", UNKNOWN][..], 1, &*no_run),
            (&["runs", "log", UNKNOWN, "--json"], 1, &no_run),
            (&["runs", "show", "run_1"], 2, &malformed("<RUN>")),
            (&["runs", "log", "run_1"], 2, &malformed("<RUN>")),
            (&["runs", "retry", "run_1"], 2, &malformed("<RUN>")),
            (&["audit", "--run", "run_1"], 2, &malformed("--run <RUN>")),
            (
                &["runs", "list", "--command", "ship-it"],
                2,
                "error: invalid value 'ship-it' for '--command <COMMAND>': must be one of save-plan, save-raw-plan, \
                 plan, research, check-plan, answer, cancel, retry, plan-status, plan-help\n\nFor more information, \
                 try '--help'.\n",
            ),
            (
                &["runs", "list", "--repository", "acme/none"],
                1,
                unknown_repository,
            ),
            (
                &["runs", "export", "--repository", "acme/none"],
                1,
                unknown_repository,
            ),
            (&["runs", "cancel", "@ready"], 2, no_token),
            (&["runs", "retry", "@failed"], 2, no_token),
            (&["runs", "run-again", "@saved"], 2, no_token),
        ] {
            let refused = world.ask(arguments).await;
            assert_eq!(
                refused,
                (code, String::new(), expected.to_owned()),
                "{arguments:?}"
            );
        }
        let (code, _, error) = world.ask(&["runs", "list", "--state", "done"]).await;
        assert_eq!(code, 2);
        let states = "[possible values: unfinished, blocked, ready, running, waiting, succeeded, failed, cancelled]";
        assert!(error.contains(states), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let world = World {
        folder,
        postgres: None,
        runs: Vec::new(),
    };
    for arguments in [
        &["runs", "list"][..],
        &["runs", "export"],
        &["runs", "show", UNKNOWN],
        &["audit"],
    ] {
        let (code, out, error) = world.ask(arguments).await;
        assert_eq!((code, &*out), (1, ""));
        assert_eq!(
            error,
            "error: the store failed: there is no database at planwright.db; store.path must be that of the running bot\n"
        );
    }
    // SQLite would wait for the other end of the pipe, or blame the disk.
    let path = world.folder.path().join("planwright.db");
    let pipe = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, pipe, 0).unwrap();
    let refused = |why: &str| {
        let text = format!(
            "error: the store failed: planwright.db cannot be read: {why}; store.path must be that of the running bot\n"
        );
        (1, String::new(), text)
    };
    let asked = world.ask(&["runs", "list"]).await;
    assert_eq!(asked, refused("it is not a regular file"));
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(world.ask(&["audit"]).await, refused("is a directory"));
    std::fs::remove_dir(&path).unwrap();
    open(&path).await.unwrap().close().await;
    let newer = SqliteConnectOptions::new().filename(&path);
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (99, 'newer', true, x'00', 0)",
    )
    .execute(&mut newer.connect().await.unwrap())
    .await
    .unwrap();
    let (code, _, error) = world.ask(&["runs", "list"]).await;
    assert_eq!(code, 1);
    let newer = "the database planwright.db was written by a newer planwright (its schema is 99, this program knows ";
    assert!(error.contains(newer), "{error}");
}

#[tokio::test]
async fn help_tells_actions_apart_and_names_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let world = World {
        folder,
        postgres: None,
        runs: Vec::new(),
    };
    for (action, about) in [
        ("cancel", "Stop a run that has not ended\n"),
        (
            "retry",
            "Continue a failed or cancelled run at the step that failed\n",
        ),
        (
            "run-again",
            "Give the command of an ended run again, as a new run\n",
        ),
    ] {
        let help = world.text(&["runs", action, "--help"]).await;
        assert!(help.starts_with(about), "{help}");
        assert!(
            help.contains(&format!("Usage: planwright runs {action} [OPTIONS] <RUN>")),
            "{help}"
        );
        assert!(help.contains("PLANWRIGHT_WEB_TOKEN"), "{help}");
        let list = world.text(&["runs", "--help"]).await;
        assert!(list.contains(about), "{list}");
    }
    for command in [
        &["runs", "list"][..],
        &["runs", "show"],
        &["runs", "log"],
        &["runs", "export"],
        &["runs", "cancel"],
        &["audit"],
    ] {
        let help = world.text(&[command, &["--help"]].concat()).await;
        assert!(help.contains("Exit codes:\n  0  "), "{help}");
    }
}

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A bot, the address at which it listens, and how its database is reached.
struct Bot {
    system: System,
    address: String,
    postgres: Option<Url>,
}

impl Bot {
    async fn start(postgres: Option<Url>) -> Self {
        let system = System::with(Options {
            environment: vec![("PLANWRIGHT_WEB_TOKEN", TOKEN.to_owned())],
            postgres: postgres.clone().map(|url| (url, 1)),
            ..Options::default()
        })
        .await;
        system.repository(REPO, false);
        let address = system.url("");
        let address = address.strip_prefix("http://").unwrap().to_owned();
        Self {
            system,
            address,
            postgres,
        }
    }

    /// Runs the program with the operator's token and other variables.
    async fn ask_with(&self, arguments: &[&str], more: &[(&str, &str)]) -> (i32, String, String) {
        let mut environment = vec![
            ("PLANWRIGHT_SERVER_LISTEN", &*self.address),
            ("PLANWRIGHT_WEB_TOKEN", TOKEN),
        ];
        environment.extend(
            self.postgres
                .as_ref()
                .map(|url| ("PLANWRIGHT_STORE_URL", url.as_str())),
        );
        environment.extend(more);
        let answer = self.system.ask_with(arguments, &environment).await;
        assert!(!answer.1.contains(TOKEN) && !answer.2.contains(TOKEN));
        answer
    }

    /// Runs a command that must succeed.
    async fn does(&self, arguments: &[&str]) -> String {
        let (code, out, error) = self.ask_with(arguments, &[]).await;
        assert_eq!((code, &*error), (0, ""), "{arguments:?}");
        out
    }

    /// Runs a command that must fail with this error.
    async fn refuses(&self, arguments: &[&str], error: &str) {
        let refused = self.ask_with(arguments, &[]).await;
        assert_eq!(
            refused,
            (1, String::new(), format!("error: {error}\n")),
            "{arguments:?}"
        );
    }

    /// Waits until a run is waiting; returns its id.
    async fn waiting(&self) -> String {
        let waits = |run: &RunRow| run.state == State::Waiting;
        let runs = self
            .system
            .until("run that waits", |runs| runs.iter().any(waits))
            .await;
        runs.into_iter().find(waits).unwrap().id
    }

    /// Waits until a run is cancelled.
    async fn cancelled(&self, id: &str) {
        let runs = self.system.run_to_rest().await;
        let run = runs.iter().find(|run| run.id == id).unwrap();
        assert_eq!(run.state, State::Cancelled);
    }
}

async fn the_operator_cancels_retries_and_runs_again(bot: &Bot) {
    let sim = &bot.system.sim;
    let issue = sim.open_issue(REPO, "bob", "Search", "How?").unwrap();
    // Which of the two plans is meant is asked, and the run waits for the answer.
    sim.comment(REPO, issue, "bob", BROWSER).unwrap();
    sim.comment(REPO, issue, "bob", SERVER).unwrap();
    sim.comment(REPO, issue, "ada", "/save-plan").unwrap();
    let id = bot.waiting().await;
    let list = bot.does(&["runs", "list", "--state", "waiting"]).await;
    assert!(
        list.starts_with(&format!("{id}  waiting  /save-plan  acme/search#1  ada  ")),
        "{list}"
    );

    let not_now =
        |action: &str, state: &str| format!("run {id} is {state}, so {action} is not possible");
    for action in ["retry", "run-again"] {
        bot.refuses(&["runs", action, &id], &not_now(action, "waiting"))
            .await;
    }
    let asked = bot.does(&["runs", "cancel", &id]).await;
    assert_eq!(asked, format!("run {id} is asked to stop\n"));
    bot.cancelled(&id).await;
    bot.refuses(&["runs", "cancel", &id], &not_now("cancel", "cancelled"))
        .await;
    let queued = bot.does(&["runs", "retry", &id.to_lowercase()]).await;
    assert_eq!(queued, format!("run {id} is queued again\n"));
    assert_eq!(bot.waiting().await, id);
    bot.does(&["runs", "cancel", &id]).await;
    bot.cancelled(&id).await;
    let started = bot.does(&["runs", "run-again", &id]).await;
    let new = bot.waiting().await;
    assert_eq!(started, format!("run {new} executes the command again\n"));
    assert_ne!(new, id);
    bot.does(&["runs", "cancel", &new]).await;
    bot.cancelled(&new).await;

    let audit = bot
        .does(&["audit", "--actor", "the operator", "--json"])
        .await;
    let audit: Value = serde_json::from_str(&audit).unwrap();
    let entries = audit["entries"].as_array().unwrap().iter();
    let entries: Vec<(&str, &str)> = entries
        .map(|entry| {
            (
                entry["decision"].as_str().unwrap(),
                entry["run"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("cancel", &*new),
        ("run-again", &id),
        ("cancel", &id),
        ("retry", &id),
        ("cancel", &id),
    ];
    assert_eq!(entries, expected);
    let log = bot.does(&["runs", "log", &id]).await;
    let again =
        format!("run-again by the operator: run {new} executes the command of this run again");
    assert!(log.contains(&again), "{log}");
    let address = format!("{}/{REPO}/issues/{issue}", sim.url());
    let why = bot.does(&["why", &address]).await;
    assert!(
        why.contains(&format!(
            "requested by an operator or maintainer: /save-plan (run {new})"
        )),
        "{why}"
    );
}

async fn actions_that_are_refused_say_why(bot: &Bot) {
    let sim = &bot.system.sim;
    let issue = sim.open_issue(REPO, "bob", "Search", PLAN).unwrap();
    sim.grant(REPO, "tess", Role::Triage).unwrap();
    sim.comment(REPO, issue, "tess", "/save-plan").unwrap();
    let runs = bot.system.run_to_rest().await;
    let refused = runs.last().unwrap();
    assert_eq!(refused.code.as_deref(), Some("permission_denied"));
    let id = &*refused.id;
    let text = format!("run {id} was refused for lack of permission; it can only be run again");
    bot.refuses(&["runs", "retry", id], &text).await;
    let unknown = "01KAQ3ZJ0V5N6Y8T2W4X6Z8B0D";
    for action in ["cancel", "retry", "run-again"] {
        let text = format!(
            "there is no run {unknown}; it may have been deleted after store.retention_days"
        );
        bot.refuses(&["runs", action, unknown], &text).await;
        let wrong = [("PLANWRIGHT_WEB_TOKEN", "fedcba9876543210fedcba9876543210")];
        let (code, out, error) = bot.ask_with(&["runs", action, id], &wrong).await;
        assert_eq!((code, &*out), (1, ""));
        let text = format!(
            "error: the bot at {} has another operator's token, or none\n",
            bot.address
        );
        assert_eq!(error, text);
        let page = Router::new().fallback(async || Html("<h1>another program</h1>"));
        let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let other_address = other.local_addr().unwrap().to_string();
        let serving = tokio::spawn(async move { axum::serve(other, page).await });
        let elsewhere = [("PLANWRIGHT_SERVER_LISTEN", &*other_address)];
        let (code, out, error) = bot.ask_with(&["runs", action, id], &elsewhere).await;
        serving.abort();
        assert_eq!((code, &*out), (1, ""));
        let text = format!(
            "error: what answers at {other_address} (200) is not the bot: check server.listen\n"
        );
        assert_eq!(error, text);
        let elsewhere = [("PLANWRIGHT_SERVER_LISTEN", "127.0.0.1:1")];
        let (code, out, error) = bot.ask_with(&["runs", action, id], &elsewhere).await;
        assert_eq!((code, &*out), (1, ""));
        assert!(
            error.ends_with("; is the bot running, and listening at 127.0.0.1:1?\n"),
            "{error}"
        );
    }
    let audit = bot
        .ask_with(&["audit", "--run", id, "--actor", "the operator"], &[])
        .await;
    assert_eq!(
        audit,
        (0, String::new(), "there are no such entries\n".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_operator_acts_on_the_runs_of_a_bot() {
    let bot = Bot::start(None).await;
    the_operator_cancels_retries_and_runs_again(&bot).await;
    actions_that_are_refused_say_why(&bot).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_operator_acts_on_the_runs_of_a_bot_with_postgres() {
    let Some(url) = postgres::database().await else {
        return;
    };
    let bot = Bot::start(Some(url)).await;
    the_operator_cancels_retries_and_runs_again(&bot).await;
    actions_that_are_refused_say_why(&bot).await;
}
