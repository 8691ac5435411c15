//! Waits for the signals that end a command.

/// Waits for SIGINT or SIGTERM.
pub(super) async fn stop_requested() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    // If no handler can be installed, the signal ends the process at once, which the store
    // survives.
    let _ = tokio::signal::ctrl_c().await;
}
