//! Tests of the command `planwright store`, with the real program.

use std::path::Path;
use std::process::Stdio;

use planwright::adapters::store::SqlStore;
use planwright::engine::model::run::State;
use planwright::engine::store::{RunOutcome, Store};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;
use url::Url;

use crate::cli_serve::{PATIENCE, Running, program, refusal};
use crate::store_contract::{add, at, delivery, must_claim, new_run, state};
use crate::store_copy::{CORRUPT_POSTGRES, Places};
use crate::store_sqlite::open;
use crate::support::postgres::{self, raw};

/// Where nothing answers: the bot accepts webhooks, and waits for GitHub.
const NO_GITHUB: &str = "http://127.0.0.1:1/";

fn store(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = program(folder, NO_GITHUB);
    command.arg("store").args(arguments);
    command
}

/// Runs the command; exit code, standard output and standard error.
async fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let output = timeout(PATIENCE, command.output()).await.unwrap().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// A database in the folder with runs that have ended, one that is ready, and one that is blocked.
async fn filled(path: &Path) -> SqlStore {
    let store = open(path).await.unwrap();
    for number in 1..=3 {
        add(&store, &format!("g{number}"), 0, new_run(1, number)).await;
        let claimed = must_claim(&store, 1).await;
        let done = store.finish(&claimed.lease, &RunOutcome::Succeeded, at(2));
        done.await.unwrap();
    }
    let both = vec![new_run(1, 1), new_run(1, 1)];
    store.accept(delivery("g4", 3, both)).await.unwrap();
    store
}

/// The password is taken as a variable, as that of the bot. Trusted connections ignore it.
fn with_password(mut command: Command) -> Command {
    command.env("PLANWRIGHT_STORE_PASSWORD", "s3cret");
    command
}

fn from_sqlite(places: &Places, more: &[&str]) -> Command {
    let mut arguments = vec![
        "copy",
        "--from",
        "sqlite:planwright.db",
        "--to",
        places.url.as_str(),
    ];
    arguments.extend(more);
    with_password(store(places.folder.path(), &arguments))
}

fn to_sqlite(places: &Places, path: &str) -> Command {
    let path = format!("sqlite:{path}");
    let arguments = ["copy", "--from", places.url.as_str(), "--to", &path];
    with_password(store(places.folder.path(), &arguments))
}

fn serve_on(places: &Places) -> Command {
    let mut command = program(places.folder.path(), NO_GITHUB);
    command.env("PLANWRIGHT_STORE_URL", places.url.as_str());
    command
}

/// A text without what differs between tests.
fn shown(places: &Places, text: &str) -> String {
    let folder = places.folder.path().canonicalize().unwrap();
    let place = place(&places.url);
    text.replace(folder.to_str().unwrap(), "DIR")
        .replace(&place, "HOST/DATABASE")
}

fn place(url: &Url) -> String {
    format!(
        "{}:{}{}",
        url.host_str().unwrap(),
        url.port().unwrap_or(5432),
        url.path()
    )
}

/// Every table with its number of rows, and what the comparison says.
fn rows(table: &str) -> Vec<(String, u64, String)> {
    let lines = table.lines().skip(1).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[2].len(), 16, "{line}");
        (
            words[0].to_owned(),
            words[1].parse().unwrap(),
            words[3..].join(" "),
        )
    });
    lines.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_moves_to_postgres_and_back() {
    let Some(places) = Places::new().await else {
        return;
    };
    filled(&places.path("planwright.db")).await.close().await;
    let (code, out, err) = run(&mut from_sqlite(&places, &[])).await;
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.starts_with("table               rows  digest            compared\n"),
        "{out}"
    );
    let there = rows(&out);
    let some: Vec<_> = there
        .iter()
        .filter(|(_, rows, _)| *rows > 0)
        .cloned()
        .collect();
    let equal = |table: &str, rows| (table.to_owned(), rows, "equal".to_owned());
    assert_eq!(
        some,
        [equal("deliveries", 4), equal("runs", 5), equal("texts", 5)]
    );
    assert!(
        there.iter().all(|(_, _, compared)| compared == "equal"),
        "{out}"
    );
    assert!(err.contains("copied runs: 5 rows\n"), "{err}");
    assert!(
        err.ends_with("copied effects: 0 rows\ncomparing\n"),
        "{err}"
    );
    // Again, before a bot has used it: nothing to do.
    let (code, again, _) = run(&mut from_sqlite(&places, &[])).await;
    assert_eq!((code, again), (Some(0), out));

    let mut bot = Running::start(&mut serve_on(&places));
    bot.listening().await;
    let (code, refused) = refusal(&mut to_sqlite(&places, "back.db")).await;
    assert_eq!(code, Some(1));
    assert_eq!(
        shown(&places, &refused),
        "error: the store failed: a bot uses the database at HOST/DATABASE: stop every bot on it and try again; one \
         that was killed counts for 30 seconds"
    );
    bot.child.kill().await.unwrap();
    let mut connection = raw(&places.url).await;
    let later = "UPDATE tasks SET until_ms = until_ms - 30000";
    sqlx::raw_sql(later).execute(&mut connection).await.unwrap();

    let (code, out, err) = run(to_sqlite(&places, "back.db").arg("--json")).await;
    assert_eq!(code, Some(0), "{err}");
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["equal"], true);
    assert_eq!(
        shown(&places, json["from"].as_str().unwrap()),
        "postgres:HOST/DATABASE"
    );
    assert_eq!(
        shown(&places, json["to"].as_str().unwrap()),
        "sqlite:DIR/back.db"
    );
    let runs = json["tables"].as_array().unwrap().iter();
    let runs = runs.clone().find(|one| one["table"] == "runs").unwrap();
    assert_eq!(
        (&runs["equal"], &runs["source"]),
        (&true.into(), &runs["target"])
    );
    assert_eq!(runs["source"]["rows"], 5);
    assert_eq!(runs["source"]["digest"].as_str().unwrap().len(), 64);
    let store = open(&places.path("back.db")).await.unwrap();
    assert_eq!(must_claim(&store, 10).await.guid, "g4");
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_that_runs_prevents_a_copy_of_its_file() {
    let Some(places) = Places::new().await else {
        return;
    };
    filled(&places.path("planwright.db")).await.close().await;
    let mut bot = Running::start(&mut program(places.folder.path(), NO_GITHUB));
    bot.listening().await;
    let (code, refused) = refusal(&mut from_sqlite(&places, &[])).await;
    assert_eq!(code, Some(1));
    assert_eq!(
        shown(&places, &refused),
        "error: the store failed: another planwright process uses the database DIR/planwright.db: stop that process \
         first, or give this one its own store.path (lock file DIR/planwright.db.lock)"
    );
}

#[tokio::test]
async fn addresses_that_are_wrong_are_refused_and_passwords_are_not_printed() {
    let folder = tempfile::tempdir().unwrap();
    let postgres = "postgres://u@127.0.0.1:9/db";
    let no_password = "it must be a URL without password such as postgres://planwright@db.example.com:5432/planwright; the \
                       password belongs in PLANWRIGHT_STORE_PASSWORD or the file that `store.password_file` names";
    for (from, to, error) in [
        (
            "planwright.db",
            postgres,
            "error: --from must be sqlite:PATH or postgres://USER@HOST:PORT/DATABASE".to_owned(),
        ),
        (
            "sqlite:",
            postgres,
            "error: --from names no file; write sqlite:PATH".to_owned(),
        ),
        (
            "sqlite:a.db",
            "postgres://u:hunter2@h/db",
            format!("error: --to is \"postgres://***@h/db\"; {no_password}"),
        ),
        (
            "sqlite:a.db",
            "postgres://u@h/db?password=hunter2",
            format!("error: --to is \"postgres://***@h/db?***\"; {no_password}"),
        ),
        (
            "sqlite:a.db",
            "mysql://u:hunter2@h/db",
            "error: --to must be sqlite:PATH or postgres://USER@HOST:PORT/DATABASE".to_owned(),
        ),
    ] {
        let mut command = store(folder.path(), &["copy", "--from", from, "--to", to]);
        let (code, out, err) = run(&mut command).await;
        assert_eq!((code, &*out), (Some(2), ""));
        assert_eq!(err, format!("{error}\n"));
        assert!(!err.contains("hunter2"));
    }
    let mut command = store(
        folder.path(),
        &["copy", "--from", "sqlite:a.db", "--to", postgres],
    );
    let (code, error) = refusal(&mut command).await;
    assert_eq!(code, Some(1));
    assert_eq!(
        error,
        "error: the store failed: there is no database at a.db: name that of the bot"
    );
    let mut command = with_password(store(
        folder.path(),
        &["copy", "--from", postgres, "--to", "sqlite:a.db"],
    ));
    let (code, error) = refusal(&mut command).await;
    assert_eq!(code, Some(1));
    assert!(
        error.starts_with(
            "error: the store failed: cannot connect to the database at 127.0.0.1:9/db: "
        ) && error.ends_with(
            ": check host and port in the address, and that the server accepts connections"
        ),
        "{error}"
    );
    assert!(!error.contains("s3cret"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The program is killed between two transactions, and the same command completes the copy.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_was_killed_is_completed_by_the_same_command() {
    let Some(places) = Places::new().await else {
        return;
    };
    let sqlite = filled(&places.path("planwright.db")).await;
    for number in 0..3_000_u64 {
        let runs = vec![new_run(number, 1)];
        let new = delivery(&format!("n{number}"), 4, runs);
        sqlite.accept(new).await.unwrap();
    }
    sqlite.close().await;
    let mut child = from_sqlite(&places, &[])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
    assert_eq!(line.as_deref(), Some("copied deliveries: 3004 rows"));
    child.kill().await.unwrap();

    let (code, refused) = refusal(serve_on(&places).arg("serve")).await;
    assert_eq!(code, Some(1));
    let refused = shown(&places, &refused);
    // The server may take a moment to notice that the process has ended.
    assert!(
        refused.contains("the database at HOST/DATABASE holds an unfinished copy of sqlite:DIR/planwright.db: run the same")
            || refused.contains("the database at HOST/DATABASE is being copied by `planwright store copy`"),
        "{refused}"
    );
    let (code, out, err) = run(&mut from_sqlite(&places, &[])).await;
    assert_eq!(code, Some(0), "{err}");
    assert!(
        rows(&out)
            .iter()
            .all(|(_, _, compared)| compared == "equal"),
        "{out}"
    );
    let store = postgres::open(&places.url).await;
    let counts = store.counts().await.unwrap().by_state;
    let total: u64 = counts.iter().map(|(_, runs)| runs).sum();
    assert_eq!(total, 3_005);
    let claimed = must_claim(&store, 10).await;
    assert_eq!(state(&store, &claimed.lease.run).await, State::Running);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_difference_is_an_error_and_keeps_bots_out() {
    let Some(places) = Places::new().await else {
        return;
    };
    filled(&places.path("planwright.db")).await.close().await;
    postgres::open(&places.url).await.close().await;
    let mut connection = raw(&places.url).await;
    sqlx::raw_sql(CORRUPT_POSTGRES)
        .execute(&mut connection)
        .await
        .unwrap();
    let (code, out, err) = run(&mut from_sqlite(&places, &[])).await;
    assert_eq!(code, Some(1));
    let differing: Vec<_> = rows(&out)
        .into_iter()
        .filter(|(_, _, compared)| compared != "equal")
        .collect();
    assert_eq!(differing.len(), 1, "{out}");
    assert!(
        differing[0].0 == "runs" && differing[0].2.starts_with("differs: 5 rows, "),
        "{out}"
    );
    assert_eq!(
        shown(&places, err.lines().last().unwrap()),
        "error: postgres:HOST/DATABASE differs from sqlite:DIR/planwright.db in runs: no bot can use it; the same \
         command copies what differs again"
    );
    let (_, json, _) = run(&mut from_sqlite(&places, &["--json"])).await;
    assert_eq!(
        serde_json::from_str::<Value>(&json).unwrap()["equal"],
        false
    );
    let (code, refused) = refusal(serve_on(&places).arg("serve")).await;
    assert_eq!(code, Some(1));
    assert_eq!(
        shown(&places, &refused),
        "error: the store failed: the database at HOST/DATABASE holds an unfinished copy of sqlite:DIR/planwright.db: \
         run the same `planwright store copy` again until it succeeds, or use another database"
    );
}
