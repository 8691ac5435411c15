//! Tests of the command `planwright store`, with the real program.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use planwright::adapters::http::Client;
use planwright::adapters::store::{SCHEMA, SqlStore, TABLES};
use planwright::engine::model::run::State;
use planwright::engine::store::{Accepted, RunOutcome, Store};
use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::watch;
use tokio::time::timeout;
use url::Url;

use crate::cli_serve::{PATIENCE, Running, SECRET, program, refusal};
use crate::receiver_support::{CREATED, Delivery};
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

/// Sends deliveries, one after another, until it is told to stop; adds the ids of those that were
/// acknowledged.
async fn sender(
    number: u64,
    address: String,
    acknowledged: &watch::Sender<Vec<String>>,
    stop: &AtomicBool,
) {
    let client = Client::new();
    let url = format!("http://{address}/webhook");
    let mut payload: Value = serde_json::from_str(CREATED).unwrap();
    for count in 0..5_000_u64 {
        if stop.load(Ordering::SeqCst) {
            return;
        }
        payload["comment"]["id"] = (number * 1_000_000 + count + 1).into();
        payload["comment"]["body"] = "/save-plan".into();
        let sent = Delivery::new("issue_comment", payload.to_string())
            .signed_with(SECRET)
            .with("x-github-hook-installation-target-id", "4711");
        let mut headers = http::HeaderMap::new();
        for (name, value) in &sent.headers {
            headers.insert(*name, value.parse().unwrap());
        }
        let guid = headers["x-github-delivery"].to_str().unwrap().to_owned();
        let answer = client
            .post(&url, headers, sent.body, PATIENCE)
            .await
            .unwrap();
        assert_eq!(answer.status, 202, "{:?}", answer.body);
        acknowledged.send_modify(|all| all.push(guid));
    }
}

/// Waits until so many deliveries have been acknowledged, and returns them.
async fn acknowledged_by_now(
    acknowledged: &watch::Sender<Vec<String>>,
    count: usize,
) -> Vec<String> {
    let mut all = acknowledged.subscribe();
    let now = timeout(PATIENCE, all.wait_for(|all| all.len() >= count)).await;
    now.unwrap().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_load_has_what_was_acknowledged_before_it_began() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path(), NO_GITHUB);
    // Nobody reads the log, and a pipe that is full would stop the bot.
    program.env("PLANWRIGHT_LOG_LEVEL", "error,planwright::cli=info");
    let mut bot = Running::start(&mut program);
    let address = bot.listening().await;
    let (acknowledged, stop) = (watch::Sender::new(Vec::new()), AtomicBool::new(false));
    let senders = (0..4).map(|number| sender(number, address.clone(), &acknowledged, &stop));
    let backups = async {
        let mut before = Vec::new();
        for number in 0..3 {
            let now = acknowledged_by_now(&acknowledged, 100 * (number + 1)).await;
            let file = format!("backup{number}.db");
            let (code, out, err) = run(&mut store(folder.path(), &["backup", &file])).await;
            assert_eq!(code, Some(0), "{err}");
            assert!(
                out.starts_with(&format!("backed up planwright.db to {file}: ")),
                "{out}"
            );
            before.push((file, now));
        }
        // The bot goes on.
        let count = acknowledged.borrow().len();
        acknowledged_by_now(&acknowledged, count + 50).await;
        stop.store(true, Ordering::SeqCst);
        before
    };
    let (before, _) = tokio::join!(backups, futures_util::future::join_all(senders));
    bot.child.kill().await.unwrap();

    for (file, before) in before {
        let other = tempfile::tempdir().unwrap();
        let file = folder.path().join(file);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = file.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        let (code, out, err) = run(&mut store(
            other.path(),
            &["restore", file.to_str().unwrap()],
        ))
        .await;
        assert_eq!(code, Some(0), "{err}");
        let shown = format!(
            "restored planwright.db from {} (schema {SCHEMA})\n",
            file.display()
        );
        assert_eq!(out, shown);
        let (code, out, _) = run(&mut store(other.path(), &["check"])).await;
        assert_eq!(code, Some(0), "{out}");
        let store = open(&other.path().join("planwright.db")).await.unwrap();
        for guid in &before {
            let again = store.accept(delivery(guid, 0, Vec::new())).await.unwrap();
            assert_eq!(
                again,
                Accepted::Duplicate,
                "{guid} was acknowledged before the backup"
            );
        }
        let counts = store.counts().await.unwrap().by_state;
        let runs: u64 = counts.iter().map(|(_, runs)| runs).sum();
        assert!(runs >= before.len() as u64, "each with its run");
        store.close().await;
    }
}

/// The error of a command, with the folder taken out.
async fn refused(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let (code, error) = refusal(&mut store(folder, arguments)).await;
    let real = folder.canonicalize().unwrap();
    (code, error.replace(real.to_str().unwrap(), "DIR"))
}

/// Every file of a folder and its content.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let entries = entries.map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        (name, std::fs::read(entry.path()).unwrap())
    });
    entries.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_takes_the_place_of_a_database_only_when_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("planwright.db");
    filled(&path).await.close().await;
    let (code, _, err) = run(&mut store(folder.path(), &["backup", "b.db"])).await;
    assert_eq!(code, Some(0), "{err}");
    let later = open(&path).await.unwrap();
    add(&later, "later", 5, new_run(2, 1)).await;
    later.close().await;

    let mut bot = Running::start(&mut program(folder.path(), NO_GITHUB));
    bot.listening().await;
    assert_eq!(
        refused(folder.path(), &["restore", "b.db", "--replace"]).await,
        (
            Some(1),
            "error: the store failed: another planwright process uses the database DIR/planwright.db: stop that process \
             first, or give this one its own store.path (lock file DIR/planwright.db.lock)"
                .to_owned()
        )
    );
    bot.child.kill().await.unwrap();
    let before = files(folder.path());
    assert_eq!(
        refused(folder.path(), &["restore", "b.db"]).await,
        (
            Some(1),
            "error: the store failed: there is a database at DIR/planwright.db: give --replace to put the backup in its \
             place; the database is kept under another name"
                .to_owned()
        )
    );
    assert_eq!(files(folder.path()), before);

    let (code, out, err) = run(&mut store(folder.path(), &["restore", "b.db", "--replace"])).await;
    assert_eq!(code, Some(0), "{err}");
    let (_, old) = out.split_once("what was there is now ").unwrap();
    let restored = open(&path).await.unwrap();
    assert_eq!(must_claim(&restored, 10).await.guid, "g4");
    let again = restored.accept(delivery("later", 11, Vec::new())).await;
    assert_eq!(again.unwrap(), Accepted::New, "it came after the backup");
    restored.close().await;
    // The other one is complete under its new name, with its WAL and its record.
    let old = open(Path::new(old.trim_end())).await.unwrap();
    let again = old.accept(delivery("later", 11, Vec::new())).await;
    assert_eq!(again.unwrap(), Accepted::Duplicate);
    old.close().await;
}

/// `serve` refuses to begin with a new database; a backup ends that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_is_put_in_the_place_of_a_database_that_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("planwright.db");
    filled(&path).await.close().await;
    let (code, _, err) = run(&mut store(folder.path(), &["backup", "b.db"])).await;
    assert_eq!(code, Some(0), "{err}");
    let later = open(&path).await.unwrap();
    add(&later, "later", 5, new_run(2, 1)).await;
    later.close().await;
    std::fs::remove_file(&path).unwrap();
    let (code, _) = refusal(program(folder.path(), NO_GITHUB).arg("serve")).await;
    assert_eq!(code, Some(2), "changes are lost");
    let (code, out, err) = run(&mut store(folder.path(), &["restore", "b.db"])).await;
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("what was there is now "), "{out}");
    let mut bot = Running::start(&mut program(folder.path(), NO_GITHUB));
    bot.listening().await;
}

/// Overwrites part of the table `texts` in a database that nobody uses.
async fn damage(path: &Path) {
    let options = SqliteConnectOptions::new().filename(path);
    let mut connection = options.connect().await.unwrap();
    let page: i64 = sqlx::query_scalar("SELECT rootpage FROM sqlite_schema WHERE name = 'texts'")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    let start = (usize::try_from(page).unwrap() - 1) * 4096;
    let mut bytes = std::fs::read(path).unwrap();
    bytes[start..start + 64].fill(0xaa);
    std::fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn what_cannot_be_backed_up_or_restored_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let no_database = "error: the store failed: there is no file planwright.db: store.path must be that of the bot";
    assert_eq!(
        refused(folder.path(), &["backup", "b.db"]).await,
        (Some(1), no_database.to_owned())
    );
    assert_eq!(files(folder.path()).len(), 0);
    filled(&path("planwright.db")).await.close().await;
    let (code, _, err) = run(&mut store(folder.path(), &["backup", "b.db"])).await;
    assert_eq!(code, Some(0), "{err}");
    let other = SqliteConnectOptions::new().filename(path("other.db"));
    let mut other = other.create_if_missing(true).connect().await.unwrap();
    sqlx::raw_sql("CREATE TABLE theirs (x)")
        .execute(&mut other)
        .await
        .unwrap();
    for name in ["damaged.db", "newer.db"] {
        std::fs::copy(path("b.db"), path(name)).unwrap();
    }
    damage(&path("damaged.db")).await;
    let newer = SqliteConnectOptions::new().filename(path("newer.db"));
    let sql =
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
               VALUES (99, 'newer', true, x'00', 0)";
    sqlx::raw_sql(sql)
        .execute(&mut newer.connect().await.unwrap())
        .await
        .unwrap();
    std::fs::write(
        path("notes.txt"),
        "no database, but more than a hundred bytes of notes\n".repeat(9),
    )
    .unwrap();
    let before = files(folder.path());

    let newer = format!(
        "newer.db was written by a newer planwright (its schema is 99, this program knows {SCHEMA}): install the newer version"
    );
    for (arguments, error) in [
        (
            &["backup", "b.db"][..],
            "b.db exists already: name a new file",
        ),
        (
            &["backup", "nowhere/b.db"],
            "nowhere/b.db cannot be written: No such file or directory (os error 2) at path \"DIR/nowhere/TEMPORARY\": make the \
             directory first",
        ),
        (
            &["restore", "missing.db", "--replace"],
            "there is no file missing.db: name a file that `planwright store backup` has written",
        ),
        (
            &["restore", "other.db", "--replace"],
            "other.db is not a database of planwright: name a file that `planwright store backup` has written",
        ),
        (
            &["restore", "notes.txt", "--replace"],
            "notes.txt cannot be read: file is not a database: the path names another kind of file; choose another path",
        ),
        (&["restore", "newer.db", "--replace"], &newer),
        (
            &["restore", "planwright.db", "--replace"],
            "planwright.db is the database itself: name a backup",
        ),
    ] {
        let (code, said) = refused(folder.path(), arguments).await;
        let said = match said.split_once("/.tmp") {
            Some((before, rest)) => {
                let (_, rest) = rest.split_once('"').unwrap();
                format!("{before}/TEMPORARY\"{rest}")
            }
            None => said,
        };
        assert_eq!(code, Some(1));
        assert_eq!(said, format!("error: the store failed: {error}"));
    }
    let (code, said) = refused(folder.path(), &["restore", "damaged.db", "--replace"]).await;
    assert_eq!(code, Some(1));
    assert!(
        said.starts_with("error: the store failed: damaged.db is damaged (")
            && said.ends_with("): use another backup"),
        "{said}"
    );
    assert_eq!(files(folder.path()), before, "nothing was changed");
}

#[tokio::test]
async fn a_postgres_database_is_backed_up_with_its_own_tools() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, error) in [
        (
            ["backup", "b.dump"],
            "error: the store is a PostgreSQL database (store.url): back it up with pg_dump --format=custom, also while bots \
             are running",
        ),
        (
            ["restore", "b.dump"],
            "error: the store is a PostgreSQL database (store.url): stop every bot and restore it with pg_restore into an \
             empty database",
        ),
    ] {
        let mut command = store(folder.path(), &arguments);
        command.env("PLANWRIGHT_STORE_URL", "postgres://u@127.0.0.1:9/db");
        assert_eq!(refusal(&mut command).await, (Some(2), error.to_owned()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_reads_everything_and_finds_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("planwright.db");
    filled(&path).await.close().await;
    let mut bot = Running::start(&mut program(folder.path(), NO_GITHUB));
    bot.listening().await;
    let (code, out, err) = run(&mut store(folder.path(), &["check"])).await;
    assert_eq!(code, Some(0), "{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], format!("schema {SCHEMA}"));
    assert_eq!(lines[1], "table               rows");
    assert_eq!(lines[2], "deliveries             4");
    assert_eq!(lines[3], "runs                   5");
    assert_eq!(
        (lines.len(), lines[lines.len() - 1]),
        (TABLES.len() + 3, "nothing is wrong")
    );
    bot.child.kill().await.unwrap();
    // The next start puts the WAL into the file.
    open(&path).await.unwrap().close().await;

    let mut connection = SqliteConnectOptions::new()
        .filename(&path)
        .foreign_keys(false)
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql("DELETE FROM deliveries WHERE id = 2")
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    let (code, out, err) = run(&mut store(folder.path(), &["check", "--json"])).await;
    assert_eq!((code, &*err), (Some(1), "error: a problem was found\n"));
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["ok"], false);
    assert_eq!(json["schema"], SCHEMA);
    assert_eq!(
        json["problems"],
        serde_json::json!(["the row 2 of runs refers to a row of deliveries that does not exist"])
    );
    assert_eq!(json["tables"][0]["table"], "deliveries");
    assert_eq!(json["tables"][0]["rows"], 3);
    assert_eq!(json["tables"][0]["digest"].as_str().unwrap().len(), 64);

    damage(&path).await;
    let (code, out, err) = run(&mut store(folder.path(), &["check"])).await;
    assert_eq!(code, Some(1), "{out}");
    assert!(err.ends_with(" were found\n"), "{err}");
    let unreadable = "\nproblem: the table texts cannot be read: database disk image is malformed: restore the file from a \
                      backup\n";
    assert!(out.contains(unreadable), "{out}");
    assert!(!out.contains("nothing is wrong"), "{out}");

    std::fs::remove_file(&path).unwrap();
    let record = folder.path().join("planwright.db.changes");
    std::fs::remove_file(record).unwrap();
    let (code, said) = refused(folder.path(), &["check"]).await;
    assert_eq!(code, Some(1));
    assert_eq!(
        said,
        "error: the store failed: there is no database at planwright.db; store.path must be that of the running bot"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_of_postgres_finds_what_is_not_valid() {
    let Some(places) = Places::new().await else {
        return;
    };
    let check = || {
        let mut command = store(places.folder.path(), &["check"]);
        command.env("PLANWRIGHT_STORE_URL", places.url.as_str());
        command
    };
    let (code, said) = refusal(&mut check()).await;
    assert_eq!(code, Some(1));
    assert_eq!(
        shown(&places, &said),
        "error: the store failed: the database at HOST/DATABASE is not one of planwright; store.url must be that of the \
         running bot"
    );
    let bot = postgres::open(&places.url).await;
    add(&bot, "g", 0, new_run(1, 1)).await;
    let (code, out, err) = run(&mut check()).await;
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.contains("\nruns                   1\n") && out.ends_with("nothing is wrong\n"),
        "{out}"
    );
    let mut connection = raw(&places.url).await;
    let spoil = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'runs_ready'::regclass;
                 ALTER TABLE scans ADD CONSTRAINT positive CHECK (repo > 0) NOT VALID;
                 UPDATE texts SET trigger = '\\xff'";
    sqlx::raw_sql(spoil).execute(&mut connection).await.unwrap();
    let (code, out, err) = run(&mut check()).await;
    assert_eq!(code, Some(1));
    assert_eq!(err, "error: 3 problems were found\n");
    for problem in [
        "problem: the index runs_ready is not valid: REINDEX it\n",
        "problem: the constraint positive of scans is not validated: VALIDATE it\n",
        "problem: the store contains an unreadable column `trigger` of the table texts: invalid utf-8 sequence",
    ] {
        assert!(out.contains(problem), "{out}");
    }
    bot.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_past_its_retention_is_deleted_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("planwright.db");
    let missing =
        "error: there is no database at planwright.db; store.path must be that of the bot";
    assert_eq!(
        refused(folder.path(), &["prune"]).await,
        (Some(1), missing.to_owned())
    );
    std::fs::write(&path, "").unwrap();
    let empty =
        "error: planwright.db is not a database: it is empty; store.path must be that of the bot";
    assert_eq!(
        refused(folder.path(), &["prune"]).await,
        (Some(1), empty.to_owned())
    );
    filled(&path).await.close().await;
    let (code, out, err) = run(&mut store(folder.path(), &["prune", "--before", "3650"])).await;
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(
        out,
        "deliveries deleted with their runs: 0 (older than 3650 days)\n"
    );
    let (code, out, err) = run(&mut store(folder.path(), &["prune"])).await;
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(
        out,
        "deliveries deleted with their runs: 3 (older than 30 days)\n"
    );
    let left = open(&path).await.unwrap();
    let runs = left.recent_runs(10).await.unwrap();
    assert_eq!(runs.len(), 2, "those that have not ended");
    left.close().await;
    let (code, _, err) = run(&mut store(folder.path(), &["prune", "--before", "0"])).await;
    assert_eq!(code, Some(2));
    assert!(err.contains("0 is not in 1..=3650"), "{err}");

    let mut bot = Running::start(&mut program(folder.path(), NO_GITHUB));
    bot.listening().await;
    let (code, said) = refused(folder.path(), &["prune"]).await;
    assert_eq!(code, Some(1));
    assert!(
        said.starts_with(
            "error: the store failed: another planwright process uses the database DIR/"
        ),
        "{said}"
    );

    // PostgreSQL is pruned beside the bots.
    let Some(places) = Places::new().await else {
        return;
    };
    let bot = postgres::open(&places.url).await;
    add(&bot, "g", 0, new_run(1, 1)).await;
    let claimed = must_claim(&bot, 1).await;
    let done = bot.finish(&claimed.lease, &RunOutcome::Succeeded, at(2));
    done.await.unwrap();
    let mut command = store(places.folder.path(), &["prune", "--before", "7"]);
    command.env("PLANWRIGHT_STORE_URL", places.url.as_str());
    let (code, out, err) = run(&mut command).await;
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(
        out,
        "deliveries deleted with their runs: 1 (older than 7 days)\n"
    );
    bot.close().await;
}
