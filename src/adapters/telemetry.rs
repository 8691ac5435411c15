//! Log lines on standard error: text for people, JSON for machines. Standard output belongs to results.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::{Log, LogFormat};

/// Starts logging for the whole process. A second call changes nothing.
pub fn init(log: &Log) {
    // The configuration was checked; whoever builds a `Log` by hand and gets it wrong still sees the lines.
    let filter = EnvFilter::try_new(&log.level).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let started = match log.format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        tracing::debug!("logging had been started before");
    }
}
