//! The recorder of this process's metrics, which writes Prometheus' text format.

use std::time::Duration;

use metrics::{KeyName, Recorder as _, SharedString};
use metrics_exporter_prometheus::{
    BuildError, Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};

use crate::engine::metrics::{ALL, Kind, initialise};
use crate::engine::model::time::Millis;

/// Interval at which the values of histograms are added up. They take memory until then.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// Why metrics cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// The metrics are defined wrongly.
    #[error("the metrics cannot be recorded: {0}")]
    Definition(#[from] BuildError),
    /// The process has a recorder.
    #[error("the process records its metrics already")]
    Installed,
}

/// Creates a recorder of all metrics with their descriptions and buckets.
///
/// # Errors
/// A histogram has no buckets.
pub fn recorder() -> Result<PrometheusRecorder, BuildError> {
    let mut builder = PrometheusBuilder::new();
    for metric in ALL {
        if let Kind::Histogram(buckets) = metric.kind {
            let name = Matcher::Full(metric.name.to_owned());
            builder = builder.set_buckets_for_metric(name, buckets)?;
        }
    }
    let recorder = builder.build_recorder();
    for metric in ALL {
        let name = KeyName::from_const_str(metric.name);
        let help = SharedString::const_str(metric.help);
        match metric.kind {
            Kind::Counter => recorder.describe_counter(name, None, help),
            Kind::Gauge => recorder.describe_gauge(name, None, help),
            Kind::Histogram(_) => recorder.describe_histogram(name, None, help),
        }
    }
    Ok(recorder)
}

/// Writes the metrics of this process as text.
pub struct Exporter(PrometheusHandle);

impl Exporter {
    /// Starts recording for the whole process, whose start is `now`. What looks up metrics earlier
    /// is not recorded. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// The process records its metrics already.
    pub fn install(now: Millis) -> Result<Self, MetricsError> {
        let recorder = recorder()?;
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder).map_err(|_| MetricsError::Installed)?;
        initialise(now);
        let upkeep = handle.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(UPKEEP_EVERY).await;
                upkeep.run_upkeep();
            }
        });
        Ok(Self(handle))
    }

    /// Returns the metrics in Prometheus' text format.
    pub fn render(&self) -> String {
        self.0.render()
    }
}
