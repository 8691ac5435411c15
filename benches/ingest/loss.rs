//! Kills the server (SIGKILL) in the middle of the load, once with the default queue and once
//! beyond saturation. Every acknowledged delivery must be in the database afterwards, with its run
//! and its text.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use planwright::adapters::clock::SystemClock;
use planwright::adapters::store::{SqlStore, SqliteOptions};
use planwright::engine::clock::Clock as _;
use planwright::engine::store::Store as _;
use serde::Serialize;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use crate::child::{DATABASE, Server};
use crate::delivery::Comment;
use crate::payload::mix;
use crate::rounds::folder;
use crate::server::Mode;
use crate::{Outcome, Plan, load};

/// Queue depth for a load beyond saturation.
const TINY_QUEUE: usize = 4;
/// Number of connections beyond saturation: more than fit into the queue and a batch.
const MANY: usize = 128;

/// The result of one kill.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Loss {
    pub(crate) queue_depth: usize,
    pub(crate) connections: usize,
    /// Number of deliveries answered with 2xx.
    pub(crate) acknowledged: usize,
    /// Number of acknowledged deliveries that are not in the database.
    pub(crate) missing: usize,
    /// Number of deliveries answered with 503.
    pub(crate) busy: u64,
    /// Growth of the server's memory, in MiB.
    pub(crate) growth: f64,
}

/// Performs both kills.
pub(crate) fn run(plan: &Plan, pinned: bool) -> Outcome<Vec<Loss>> {
    Ok(vec![
        kill(plan, pinned, 1024, 64)?,
        kill(plan, pinned, TINY_QUEUE, MANY)?,
    ])
}

fn kill(plan: &Plan, pinned: bool, queue_depth: usize, connections: usize) -> Outcome<Loss> {
    let folder = folder()?;
    let mut server = Server::start(Mode::Bot { queue_depth }, folder.path(), pinned)?;
    let mix = Arc::new(mix(Comment::Command, false)?);
    let idle = server.memory()?.0;
    let address = server.address;
    let length = (Duration::ZERO, plan.time * 2);
    let middle = plan.time;
    let (answers, most) = std::thread::scope(|scope| {
        let killer = scope.spawn(|| {
            std::thread::sleep(middle);
            let most = server.memory();
            server.kill();
            most
        });
        let answers = load::run(address, &mix, connections, length, || ());
        let most = killer.join().map_err(|_| "the killing thread panicked")?;
        Outcome::Ok((answers?, most?.1))
    })?;
    let stored = stored(folder.path())?;
    let missing = answers
        .acknowledged
        .iter()
        .filter(|number| !stored.contains(&load::guid(**number)))
        .count();
    Ok(Loss {
        queue_depth,
        connections,
        acknowledged: answers.acknowledged.len(),
        missing,
        busy: answers.statuses.get(&503).copied().unwrap_or(0),
        growth: most - idle,
    })
}

/// Returns the IDs of the deliveries that have a run with a text when the next process has opened
/// the database.
fn stored(folder: &Path) -> Outcome<HashSet<String>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let database = folder.join(DATABASE);
        let now = SystemClock.now();
        let store = SqlStore::open_sqlite(&database, SqliteOptions::default(), now).await?;
        store.close().await;
        let options = SqliteConnectOptions::new().filename(database);
        let mut connection = options.connect().await?;
        let guids: Vec<String> = sqlx::query_scalar(
            "SELECT guid FROM deliveries JOIN runs ON runs.delivery = deliveries.id JOIN texts ON texts.run = runs.seq",
        )
        .fetch_all(&mut connection)
        .await?;
        connection.close().await?;
        Ok(guids.into_iter().collect())
    })
}
