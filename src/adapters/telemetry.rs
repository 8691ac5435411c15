//! Log lines on standard error: text for people, JSON for machines. Standard output is for results.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Form of the log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFormat {
    /// Text for people, in colour on a terminal.
    Text,
    /// One JSON object per line.
    Json,
}

/// Starts logging for the whole process, filtered by `level`, a filter in the syntax of
/// [`EnvFilter`]. Further calls have no effect.
pub fn init(level: &str, format: LineFormat) {
    // The configuration has been checked; an invalid filter from elsewhere must not silence the
    // log.
    let filter = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let started = match format {
        LineFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).try_init(),
        LineFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        tracing::debug!("logging was already started");
    }
}
