//! Wakes the workers of processes that share a database, and keeps the clock right.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgListener;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::super::errors::sentence;
use super::super::idle::IdleWorkers;
use super::DatabaseClock;

/// The channel of notifications; the payload is the name of the process that sends it.
const CHANNEL: &str = "planwright_work";

/// Pause between two notifications of a process.
const NOTIFY_GAP: Duration = Duration::from_millis(20);

/// How often a process notifies itself, to find out whether notifications arrive.
const TEST_EVERY: Duration = Duration::from_secs(15);

/// Maximum time for a notification to arrive.
const MAX_DELIVERY_TIME: Duration = Duration::from_secs(5);

/// Whether the server knows the statement by the name that sqlx has given it. A pooler that shares
/// connections to the server among its clients gives names of its own.
const OWN_CONNECTION: &str =
    "SELECT EXISTS (SELECT 1 FROM pg_prepared_statements WHERE name LIKE 'sqlx\\_s\\_%')";

/// How often the clock of the database is read.
const CLOCK_EVERY: Duration = Duration::from_secs(10);

/// Sends a notification after every change, but not more often than every [`NOTIFY_GAP`].
pub(super) async fn notify(pool: PgPool, changed: Arc<Notify>, name: String) {
    loop {
        changed.notified().await;
        if let Err(error) = send(&pool, &name).await {
            // The others poll.
            tracing::debug!(error = %sentence(&error), "other processes were not notified");
        }
        sleep(NOTIFY_GAP).await;
    }
}

async fn send(pool: &PgPool, name: &str) -> sqlx::Result<()> {
    sqlx::query("SELECT pg_notify($1, $2)")
        .bind(CHANNEL)
        .bind(name)
        .execute(pool)
        .await?;
    Ok(())
}

/// Wakes a worker for every notification of another process. Connects again when notifications stop
/// arriving, also where the connection only looks alive.
///
/// `listening` makes a pool of one connection. Each connection has one of its own, because one that
/// only looks alive is never given back.
pub(super) async fn listen(
    listening: impl Fn() -> PgPool,
    pool: PgPool,
    idle: Arc<IdleWorkers>,
    name: String,
) {
    let mut is_deaf = false;
    loop {
        match connect(&listening()).await {
            Ok(None) => {
                tracing::warn!(
                    "store.url leads to a pooler in transaction mode, through which no notifications arrive; workers \
                     poll for runs every second"
                );
                return;
            }
            Ok(Some(mut listener)) => {
                // What was missed in the meantime.
                idle.wake();
                let heard = receive_until_lost(&mut listener, &pool, &idle, &name).await;
                if heard && is_deaf {
                    is_deaf = false;
                    tracing::info!("notifications of the database arrive again");
                } else if !heard && !is_deaf {
                    is_deaf = true;
                    tracing::warn!(
                        "notifications of the database do not arrive; workers poll for runs every second"
                    );
                }
            }
            Err(error) => {
                tracing::debug!(error = %sentence(&error), "cannot listen for notifications");
            }
        }
        sleep(MAX_DELIVERY_TIME).await;
    }
}

/// Begins to listen; `None` behind a pooler. To listen there would be worse than useless: the
/// notifications would reach whoever uses the connection to the server next.
async fn connect(listening: &PgPool) -> sqlx::Result<Option<PgListener>> {
    let mut listener = PgListener::connect_with(listening).await?;
    let own: bool = sqlx::query_scalar(OWN_CONNECTION)
        .fetch_one(&mut listener)
        .await?;
    if !own {
        return Ok(None);
    }
    // A new connection is made here, so that a worker is woken for what was missed.
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    Ok(Some(listener))
}

/// Listens until the connection is lost or a notification to itself does not arrive. Returns whether
/// any arrived.
async fn receive_until_lost(
    listener: &mut PgListener,
    pool: &PgPool,
    idle: &IdleWorkers,
    name: &str,
) -> bool {
    let mut heard = false;
    let mut next_test = Instant::now();
    // When a notification to itself must have arrived.
    let mut due = None;
    loop {
        tokio::select! {
            notification = listener.try_recv() => match notification {
                Ok(Some(notification)) => {
                    heard = true;
                    due = None;
                    if notification.payload() != name {
                        idle.wake();
                    }
                }
                Ok(None) | Err(_) => return heard,
            },
            () = sleep_until(due.unwrap_or(next_test)) => {
                if due.is_some() {
                    return heard;
                }
                next_test = Instant::now() + TEST_EVERY;
                if let Ok(Ok(())) = timeout(MAX_DELIVERY_TIME, send(pool, name)).await {
                    due = Some(Instant::now() + MAX_DELIVERY_TIME);
                }
            }
        }
    }
}

/// Reads the clock of the database from time to time.
pub(super) async fn correct(pool: PgPool, clock: Arc<DatabaseClock>) {
    loop {
        sleep(CLOCK_EVERY).await;
        if let Err(error) = clock.correct(&pool).await {
            tracing::debug!(error = %sentence(&error), "the clock of the database cannot be read");
        }
    }
}
