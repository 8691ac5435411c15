//! Deliveries that wait together are written with one commit: one flush costs hardly more for many rows than for one.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::errors::{self, Trouble};
use super::{Core, accept};
use crate::engine::store::{Accepted, NewDelivery, StoreError};

/// Deliveries per commit at most: beyond this a commit gains nothing and others wait longer.
const BATCH: usize = 256;

/// Bytes of payloads and triggers per commit at most (a single delivery may exceed it): bounds the memory of a batch.
const BATCH_BYTES: usize = 1 << 20;

/// A delivery that waits to be written, and who waits for it.
#[derive(Debug)]
pub(super) struct Pending {
    /// What to write.
    pub(super) delivery: NewDelivery,
    /// Gets the answer after the commit.
    pub(super) answer: oneshot::Sender<Result<Accepted, StoreError>>,
}

/// Writes until the store is dropped, or stopped and everything queued has been answered.
pub(super) async fn run(
    core: Arc<Core>,
    mut queue: mpsc::Receiver<Pending>,
    stop: CancellationToken,
) {
    let mut batch = Vec::new();
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled(), if !queue.is_closed() => queue.close(),
            taken = queue.recv_many(&mut batch, BATCH) => {
                if taken == 0 {
                    return;
                }
                while !batch.is_empty() {
                    let rest = batch.split_off(portion(&batch));
                    write(&core, std::mem::replace(&mut batch, rest)).await;
                }
            }
        }
    }
}

/// How many deliveries from the front go into one commit; at least one.
fn portion(batch: &[Pending]) -> usize {
    // It changes runs that others in the batch add: it goes alone, so that order decides.
    let alone = |pending: &Pending| pending.delivery.installation_gone;
    let mut bytes = 0;
    let fitting = batch
        .iter()
        .take_while(|pending| {
            let delivery = &pending.delivery;
            bytes += delivery.payload.as_ref().map_or(0, Vec::len)
                + delivery.runs.iter().map(|r| r.trigger.len()).sum::<usize>();
            bytes <= BATCH_BYTES && !alone(pending)
        })
        .count();
    fitting.max(1)
}

/// Writes a portion; when a row of it is refused, each delivery by itself, so that only the culprit fails.
async fn write(core: &Core, portion: Vec<Pending>) {
    let (deliveries, answers): (Vec<_>, Vec<_>) = portion
        .into_iter()
        .map(|pending| (pending.delivery, pending.answer))
        .unzip();
    let outcomes = match write_together(core, &deliveries).await {
        Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
        Err(Failure::Row(_)) if deliveries.len() > 1 => {
            let mut outcomes = Vec::with_capacity(deliveries.len());
            for delivery in &deliveries {
                let alone = write_together(core, std::slice::from_ref(delivery)).await;
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
    core.work.notify_one();
    for (answer, outcome) in answers.into_iter().zip(outcomes) {
        // The caller may have gone; its delivery is stored all the same.
        drop(answer.send(outcome));
    }
}

enum Failure {
    /// One of the rows was refused.
    Row(String),
    /// The database failed.
    Database(String),
}

/// One transaction; one outcome for each delivery, in order.
async fn write_together(core: &Core, deliveries: &[NewDelivery]) -> Result<Vec<Accepted>, Failure> {
    let mut turn = core
        .writer
        .turn()
        .await
        .map_err(|error| Failure::Database(text(error)))?;
    let mut result = accept::accept(&mut turn.connection, deliveries).await;
    if result.is_ok()
        && let Err(error) = turn.record_changes().await
    {
        // They are stored, but nobody is told so: a redelivery is a duplicate.
        result = Err(error.into());
    }
    let about_the_row =
        matches!(&result, Err(Trouble::Sql(error)) if errors::is_about_the_row(error));
    turn.end(result).map_err(|error| {
        if about_the_row {
            Failure::Row(text(error))
        } else {
            Failure::Database(text(error))
        }
    })
}

/// The text without the prefix that the answers get again.
fn text(error: StoreError) -> String {
    match error {
        StoreError::Failed(text) => text,
        other => other.to_string(),
    }
}
