//! The accept loop.
//!
//! `axum::serve` sets no limit on connections and no time for the headers, so hyper's connection is driven here:
//! a connection that has not sent its headers in time, or idles, is closed; one over the limit waits in the backlog.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Time for the headers of a request, and how long a kept-alive connection may idle.
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);

/// Read buffer of a connection: GitHub's headers are about 1 kB, most bodies under 32 kB.
const CONNECTION_BUFFER: usize = 64 * 1024;

/// How long requests in flight may take once the server is told to stop: GitHub waits no longer than 10 seconds.
const DRAIN: Duration = Duration::from_secs(10);

/// Pause after a failed accept (out of file descriptors): trying at once would only burn the processor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves `app` until `stop`, then takes no more connections, finishes the requests in flight and returns.
///
/// At most `max_connections` connections are open at once.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    max_connections: usize,
    stop: CancellationToken,
) {
    let slots = Arc::new(Semaphore::new(max_connections));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(CONNECTION_BUFFER);
    let service = TowerToHyperService::new(app);
    while let Some((slot, stream)) = next(&listener, &slots, &stop).await {
        // An acknowledgement is one small segment: it must not wait for more to send. A socket that refuses is dead
        // and says so at the first read.
        let _ = stream.set_nodelay(true);
        let connection = http.serve_connection(TokioIo::new(stream), service.clone());
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = watched.await {
                tracing::trace!(error = %error, "connection ended");
            }
            drop(slot);
        });
    }
    drop(listener);
    let open = graceful.count();
    if tokio::time::timeout(DRAIN, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!(open, "connections did not end in time");
    }
}

/// The next connection with its slot; `None` once told to stop.
async fn next(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
    stop: &CancellationToken,
) -> Option<(tokio::sync::OwnedSemaphorePermit, TcpStream)> {
    let accept = async {
        // Nobody closes the semaphore.
        let slot = Arc::clone(slots).acquire_owned().await.ok()?;
        loop {
            match listener.accept().await {
                Ok((stream, _)) => return Some((slot, stream)),
                Err(error) if is_connections_own(&error) => {}
                Err(error) => {
                    tracing::error!(error = %error, "cannot accept connections");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    };
    tokio::select! {
        biased;
        () = stop.cancelled() => None,
        accepted = accept => accepted,
    }
}

/// The connection broke before it was accepted: no fault of the listener.
fn is_connections_own(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}
