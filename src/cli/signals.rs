//! Waits for the signals that end a command.

/// Returns a future that waits for SIGINT or SIGTERM. From this call on, and not only once the future
/// is polled, the signals no longer end the process. Must be called within a tokio runtime.
#[cfg(unix)]
pub(super) fn stop_requested() -> impl Future<Output = ()> + Send + 'static {
    use tokio::signal::unix::{SignalKind, signal};
    // Where a handler cannot be installed, the signal ends the process at once, which the store
    // survives.
    let signals = [SignalKind::terminate(), SignalKind::interrupt()].map(signal);
    async move {
        let [terminate, interrupt] = signals.map(async |signal| match signal {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        });
        tokio::select! {
            () = terminate => {}
            () = interrupt => {}
        }
    }
}

/// Returns a future that waits for Ctrl-C.
#[cfg(not(unix))]
pub(super) async fn stop_requested() {
    let _ = tokio::signal::ctrl_c().await;
}
