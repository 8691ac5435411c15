//! Records decisions in batches, so that a delivery that asks for nothing does not cost a commit.
//!
//! A decision is in memory for at most [`LINGER`] before it is written. If the process is killed
//! in that time, the delivery is found in GitHub's log and decided again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::engine::clock::Clock;
use crate::engine::model::intake::DecisionRecord;
use crate::engine::store::Store;

/// Time for which decisions are collected before they are written.
const LINGER: Duration = Duration::from_millis(200);

/// Maximum number of decisions that wait; further deliveries wait for the writer.
const MAX_WAITING: usize = 8192;

/// Maximum number of decisions per transaction: some milliseconds of the writer's time.
const MAX_BATCH: usize = 1024;

/// Collects decisions and writes them.
#[derive(Debug)]
pub(super) struct Journal {
    records: mpsc::Sender<DecisionRecord>,
    flushes: mpsc::Sender<oneshot::Sender<()>>,
    writing: Mutex<Option<JoinHandle<()>>>,
}

impl Journal {
    /// Starts the task that writes to `store`.
    pub(super) fn start(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        let (records, queue) = mpsc::channel(MAX_WAITING);
        let (flushes, requests) = mpsc::channel(1);
        let writing = tokio::spawn(run(store, clock, queue, requests));
        Self {
            records,
            flushes,
            writing: Mutex::new(Some(writing)),
        }
    }

    /// Adds a decision.
    pub(super) async fn add(&self, record: DecisionRecord) {
        // Fails only after `close`.
        let _ = self.records.send(record).await;
    }

    /// Waits until all decisions added before are written.
    pub(super) async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.flushes.send(done).await.is_ok() {
            let _ = written.await;
        }
    }

    /// Writes what waits and stops.
    pub(super) async fn close(&self) {
        self.flush().await;
        let writing = self
            .writing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(writing) = writing {
            writing.abort();
        }
    }
}

async fn run(
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    mut waiting: mpsc::Receiver<DecisionRecord>,
    mut requests: mpsc::Receiver<oneshot::Sender<()>>,
) {
    let mut batch = Vec::new();
    loop {
        let mut flushed = None;
        tokio::select! {
            biased;
            request = requests.recv() => match request {
                Some(request) => flushed = Some(request),
                None => return,
            },
            taken = waiting.recv_many(&mut batch, MAX_BATCH) => {
                if taken == 0 {
                    return;
                }
                tokio::select! {
                    biased;
                    request = requests.recv() => flushed = request,
                    () = clock.sleep(LINGER) => {}
                }
            }
        }
        loop {
            while batch.len() < MAX_BATCH
                && let Ok(record) = waiting.try_recv()
            {
                batch.push(record);
            }
            if batch.is_empty() {
                break;
            }
            if let Err(error) = store.record_decisions(&batch).await {
                tracing::error!(%error, decisions = batch.len(), "decisions could not be recorded");
            }
            // What came while a batch was written waits for the next time, or there would always be
            // a few decisions left to write.
            let is_last = batch.len() < MAX_BATCH;
            batch.clear();
            if is_last {
                break;
            }
        }
        if let Some(flushed) = flushed {
            // The caller may have stopped waiting.
            let _ = flushed.send(());
        }
    }
}
