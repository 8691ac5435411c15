//! SIGKILL in the middle of the load, once with the usual queue and once past saturation: every delivery that was
//! acknowledged is in the database afterwards, with its run and its text.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use crate::child::{DATABASE, Server};
use crate::payload::{Comment, mix};
use crate::rounds::folder;
use crate::server::Mode;
use crate::{Outcome, Plan, load};

/// Past saturation: more connections than there is room in line and in a batch.
const TINY_QUEUE: usize = 4;
const MANY: usize = 128;

/// What one kill left.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Loss {
    pub(crate) queue_depth: usize,
    pub(crate) connections: usize,
    /// Answered with 2xx.
    pub(crate) acknowledged: usize,
    /// Acknowledged and not in the database.
    pub(crate) missing: usize,
    /// Answered with 503.
    pub(crate) busy: u64,
    /// By how much the server grew, in MiB.
    pub(crate) growth: f64,
}

/// Both kills.
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

/// The deliveries that have a run with a text.
fn stored(folder: &Path) -> Outcome<HashSet<String>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(folder.join(DATABASE));
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
