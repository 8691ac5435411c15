//! The store's process is killed (SIGKILL) while it accepts deliveries. Every acknowledged delivery
//! is stored afterwards.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use planwright::adapters::store::SqlStore;
use planwright::engine::store::{Accepted, Store};

use crate::store_contract::{delivery, new_run};
use crate::store_sqlite::open;

/// Names the database of the child process.
const DATABASE: &str = "PLANWRIGHT_TEST_KILL_DATABASE";

/// What the child prints once a delivery has been acknowledged.
const ACKNOWLEDGED: &str = "acknowledged ";

/// Acknowledgements that are awaited before the kill, per round.
const AWAITED: usize = 300;

#[test]
#[ignore = "the child process of acknowledged_deliveries_survive_kill_9"]
fn child() {
    let path = std::env::var(DATABASE).expect("started by its parent");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = reopen(&path).await;
        let start = std::process::id();
        let callers = (0..8_u64).map(|caller| {
            let store = &store;
            async move {
                for n in 0_u64.. {
                    let guid = format!("{start}-{caller}-{n}");
                    let run = new_run(caller, n % 3);
                    store.accept(delivery(&guid, 0, vec![run])).await.unwrap();
                    let mut out = std::io::stdout().lock();
                    writeln!(out, "\n{ACKNOWLEDGED}{guid}").unwrap();
                    out.flush().unwrap();
                }
            }
        });
        futures_util::future::join_all(callers).await;
    });
}

#[test]
fn acknowledged_deliveries_survive_kill_9() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("planwright.db");
    survive_kill_9(path.to_str().unwrap());
}

#[cfg(unix)]
#[test]
fn deliveries_acknowledged_with_postgres_survive_kill_9() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if let Some(url) = runtime.block_on(crate::support::postgres::database()) {
        survive_kill_9(url.as_str());
    }
}

/// Opens the database at a path or URL.
async fn reopen(database: &str) -> SqlStore {
    #[cfg(unix)]
    if let Ok(url) = url::Url::parse(database) {
        return crate::support::postgres::open(&url).await;
    }
    open(Path::new(database)).await.unwrap()
}

fn survive_kill_9(database: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut acknowledged = Vec::new();
    for _ in 0..3 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store_kill::child", "--ignored", "--nocapture"])
            .env(DATABASE, database)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut guids = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix(ACKNOWLEDGED).map(str::to_owned));
        acknowledged.extend(guids.by_ref().take(AWAITED));
        child.kill().unwrap();
        // What it said between the last line read and its end counts as well; the last line may be
        // cut off.
        let mut rest: Vec<_> = guids.collect();
        rest.pop();
        acknowledged.extend(rest);
        child.wait().unwrap();
    }
    assert!(
        acknowledged.len() >= 3 * AWAITED,
        "the child said too little"
    );

    runtime.block_on(async {
        let store = reopen(database).await;
        store.ping().await.unwrap();
        for guid in &acknowledged {
            let again = store.accept(delivery(guid, 1, vec![])).await.unwrap();
            assert_eq!(
                again,
                Accepted::Duplicate,
                "{guid} was acknowledged and is lost"
            );
        }
        let runs = store.counts().await.unwrap().by_state;
        let runs: u64 = runs.into_iter().map(|(_, runs)| runs).sum();
        assert!(runs >= acknowledged.len() as u64, "each with its run");
        store.close().await;
    });
}
