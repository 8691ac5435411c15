//! Log lines on standard error: text for people, JSON for machines. Standard output is for results.
//! Builds with the feature `otel` also export traces of runs.

use std::io::IsTerminal;

use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::{FilterExt as _, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};
use url::Url;

use crate::engine::trace;

#[cfg(feature = "otel")]
mod traces;

/// Form of the log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFormat {
    /// Text for people, in colour on a terminal.
    Text,
    /// One JSON object per line.
    Json,
}

/// Exports the last spans when it is dropped.
#[must_use = "traces are exported until it is dropped"]
pub struct Telemetry {
    #[cfg(feature = "otel")]
    _traces: Option<traces::Exporter>,
}

/// Starts logging for the whole process, filtered by `level`, a filter in the syntax of
/// [`EnvFilter`]. Traces of runs are sent to the OpenTelemetry collector at the base URL
/// `collector` by builds with the feature `otel`. Further calls have no effect.
///
/// # Errors
/// Returns the reason why traces cannot be exported.
pub fn init(level: &str, format: LineFormat, collector: Option<&Url>) -> Result<Telemetry, String> {
    // The configuration has been checked; an invalid filter from elsewhere must not silence the
    // log.
    let filter = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("info"));
    let logged = filter_fn(|metadata| !is_trace(metadata));
    let filter = filter.and(logged.with_max_level_hint(LevelFilter::TRACE));
    let lines = fmt::layer().with_writer(std::io::stderr);
    let lines = match format {
        LineFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).boxed(),
        LineFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    let subscriber = Registry::default().with(lines.with_filter(filter));
    #[cfg(feature = "otel")]
    let (subscriber, traces) = {
        let traces = collector.map(traces::Exporter::start).transpose()?;
        let layer = |traces: &traces::Exporter| traces.layer().with_filter(filter_fn(is_trace));
        let layer = traces.as_ref().map(layer);
        (subscriber.with(layer), traces)
    };
    #[cfg(not(feature = "otel"))]
    let _ = collector;
    if subscriber.try_init().is_err() {
        tracing::debug!("logging was already started");
    }
    Ok(Telemetry {
        #[cfg(feature = "otel")]
        _traces: traces,
    })
}

/// Returns whether it is a span for traces.
fn is_trace(metadata: &Metadata<'_>) -> bool {
    metadata.target() == trace::TARGET
}
