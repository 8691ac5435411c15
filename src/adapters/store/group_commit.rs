//! Group commit: deliveries that wait together are written with one commit, because one flush costs
//! hardly more for many rows than for one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::database::Database;
use super::errors;
use super::queries::accept::EncodedDelivery;
use crate::engine::store::{Accepted, StoreError};

/// Maximum number of deliveries per commit: more gain nothing and make others wait longer.
const MAX_BATCH: usize = 256;

/// Maximum size of payloads and triggers per commit, in bytes: a batch is copied several times on
/// its way into the database, and larger batches are not written faster. A single delivery may
/// exceed it.
const MAX_BATCH_BYTES: usize = 96 << 10;

/// Time without a new delivery after which a part of the accepted ones is stored in the background:
/// enough for deliveries that come one after another to go first.
const IDLE: Duration = Duration::from_millis(5);

/// Pause before that is tried again after a failure of the database.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// A delivery that waits to be written.
#[derive(Debug)]
pub(super) struct Pending {
    /// The delivery.
    pub(super) delivery: EncodedDelivery,
    /// Receives the result after the commit.
    pub(super) result: oneshot::Sender<Result<Accepted, StoreError>>,
}

/// Writes until the store is dropped, or stopped and everything queued has been answered.
pub(super) async fn run(
    database: Arc<Database>,
    mut queue: mpsc::Receiver<Pending>,
    stop: CancellationToken,
) {
    let mut batch = Vec::new();
    let mut pause = IDLE;
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled(), if !queue.is_closed() => queue.close(),
            taken = queue.recv_many(&mut batch, MAX_BATCH) => {
                if taken == 0 {
                    return;
                }
                gather(&mut queue, &mut batch).await;
                while !batch.is_empty() {
                    let rest = batch.split_off(portion(&batch));
                    write(&database, std::mem::replace(&mut batch, rest)).await;
                }
            }
            // Last, because both are ready where this task was not executed for a while.
            () = tokio::time::sleep(pause), if database.has_inbox() => {
                pause = match database.store_some_accepted().await {
                    Ok(()) => IDLE,
                    Err(error) => {
                        tracing::error!(%error, "accepted deliveries cannot be stored yet");
                        PAUSE_AFTER_FAILURE
                    }
                };
            }
        }
    }
}

/// Adds what comes while requests that have arrived are read, so that fewer commits are needed. Ends
/// when nothing has come between two looks at the connections.
async fn gather(queue: &mut mpsc::Receiver<Pending>, batch: &mut Vec<Pending>) {
    let mut fruitless = 0;
    while fruitless < 2 && batch.len() < MAX_BATCH {
        tokio::task::yield_now().await;
        let before = batch.len();
        while batch.len() < MAX_BATCH
            && let Ok(pending) = queue.try_recv()
        {
            batch.push(pending);
        }
        fruitless = if batch.len() == before {
            fruitless + 1
        } else {
            0
        };
    }
}

/// Returns how many deliveries from the front go into one commit; at least one.
fn portion(batch: &[Pending]) -> usize {
    let mut bytes = 0;
    let fitting = batch
        .iter()
        .take_while(|pending| {
            bytes += pending.delivery.len();
            // A removal is written alone, because it changes runs that others in the batch add.
            bytes <= MAX_BATCH_BYTES && !pending.delivery.is_removal()
        })
        .count();
    fitting.max(1)
}

/// Writes a portion. If a row of it is refused, each delivery is written by itself, so that only
/// the refused one fails.
async fn write(database: &Database, portion: Vec<Pending>) {
    let (deliveries, results): (Vec<_>, Vec<_>) = portion
        .into_iter()
        .map(|pending| (pending.delivery, pending.result))
        .unzip();
    let outcomes = match database.accept(&deliveries).await {
        Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
        Err(Failure::Row(_)) if deliveries.len() > 1 => {
            let mut outcomes = Vec::with_capacity(deliveries.len());
            for delivery in &deliveries {
                let alone = database.accept(std::slice::from_ref(delivery)).await;
                outcomes.push(match alone {
                    Ok(mut outcome) => outcome.pop().ok_or_else(errors::closed),
                    Err(Failure::Row(text) | Failure::Database(text)) => {
                        Err(StoreError::Failed(text))
                    }
                });
            }
            outcomes
        }
        Err(Failure::Row(text) | Failure::Database(text)) => deliveries
            .iter()
            .map(|_| Err(StoreError::Failed(text.clone())))
            .collect::<Vec<_>>(),
    };
    database.wake();
    for (result, outcome) in results.into_iter().zip(outcomes) {
        // The delivery is stored even if its caller no longer waits.
        drop(result.send(outcome));
    }
}

/// Why a portion was not written.
pub(super) enum Failure {
    /// One of the rows was refused.
    Row(String),
    /// The database failed.
    Database(String),
}

impl Failure {
    pub(super) fn new(error: StoreError, about_the_row: bool) -> Self {
        let text = match error {
            // Without the prefix, which the results add again.
            StoreError::Failed(text) => text,
            other => other.to_string(),
        };
        if about_the_row {
            Self::Row(text)
        } else {
            Self::Database(text)
        }
    }

    pub(super) fn database(error: StoreError) -> Self {
        Self::new(error, false)
    }
}
