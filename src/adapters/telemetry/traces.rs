//! Exports traces of runs to an OpenTelemetry collector, over OTLP with HTTP and protobuf.
//!
//! Finished spans are put into a bounded queue, which a thread of the OpenTelemetry SDK empties;
//! spans that do not fit are dropped. That thread has a runtime of its own, so that a slow
//! collector does not disturb the bot.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry::trace::{
    SpanBuilder, TraceContextExt as _, TraceId, Tracer, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue, SpanId};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{
    IdGenerator, RandomIdGenerator, SdkTracer, SdkTracerProvider, Span,
};
use tokio::runtime::{self, Runtime};
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;
use ulid::Ulid;
use url::Url;

use crate::adapters::http::Client;
use crate::engine::trace::RUN_ID;

/// Timeout of one request to the collector.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time for the export of the last spans when the process stops.
const FLUSH_TIME: Duration = Duration::from_secs(3);
/// Minimum time between two log lines about a collector that does not accept spans.
const LOG_EVERY: Duration = Duration::from_mins(10);

/// Exports spans until it is dropped.
pub(super) struct Exporter(SdkTracerProvider);

impl Exporter {
    /// Starts to export to the collector at the base URL `collector`.
    pub(super) fn start(collector: &Url) -> Result<Self, String> {
        let failed = |why: &dyn std::fmt::Display| format!("traces cannot be exported: {why}");
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let client = CollectorClient {
            client: Client::new(),
            runtime: runtime.map_err(|error| failed(&error))?,
            last_logged: Mutex::new(None),
        };
        let base = collector.as_str().trim_end_matches('/');
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_endpoint(format!("{base}/v1/traces"))
            .build()
            .map_err(|error| failed(&error))?;
        let resource = Resource::builder()
            .with_service_name(env!("CARGO_PKG_NAME"))
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let provider = SdkTracerProvider::builder()
            .with_id_generator(RunIds(RandomIdGenerator::default()))
            .with_resource(resource.build())
            .with_batch_exporter(exporter);
        Ok(Self(provider.build()))
    }

    /// Creates the layer that makes traces of spans.
    pub(super) fn layer<S>(&self) -> OpenTelemetryLayer<S, RunTracer>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        OpenTelemetryLayer::new(RunTracer(self.0.tracer(env!("CARGO_PKG_NAME"))))
            .with_context_activation(false)
            .with_location(false)
            .with_target(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown_with_timeout(FLUSH_TIME) {
            tracing::warn!(%error, "the last traces were not exported");
        }
    }
}

thread_local! {
    /// The trace id of the root span that this thread is starting.
    static TRACE_ID: Cell<TraceId> = const { Cell::new(TraceId::INVALID) };
}

/// Takes the trace id of a root span from [`TRACE_ID`].
#[derive(Debug)]
struct RunIds(RandomIdGenerator);

impl IdGenerator for RunIds {
    fn new_trace_id(&self) -> TraceId {
        TRACE_ID.get()
    }

    fn new_span_id(&self) -> SpanId {
        self.0.new_span_id()
    }
}

/// Starts spans of runs, whose trace ids are the ids of the runs, so that everything that any
/// process does for a run is one trace. Spans outside of runs are not recorded.
pub(super) struct RunTracer(SdkTracer);

impl Tracer for RunTracer {
    type Span = Span;

    fn build_with_context(&self, builder: SpanBuilder, parent: &Context) -> Span {
        if !parent.span().span_context().is_valid() {
            let Some(id) = trace_id(&builder) else {
                let suppressed = parent.with_telemetry_suppressed();
                return self.0.build_with_context(builder, &suppressed);
            };
            TRACE_ID.set(id);
        }
        self.0.build_with_context(builder, parent)
    }
}

/// Returns the trace id for a root span: the id of the run in its attributes.
fn trace_id(builder: &SpanBuilder) -> Option<TraceId> {
    let mut attributes = builder.attributes.iter().flatten();
    let run = attributes.find(|attribute| attribute.key.as_str() == RUN_ID)?;
    let id = Ulid::from_string(&run.value.as_str()).ok()?;
    Some(TraceId::from_bytes(id.to_bytes()))
}

/// Sends spans to the collector. Must not be used inside of a Tokio runtime.
#[derive(Debug)]
struct CollectorClient {
    client: Client,
    runtime: Runtime,
    /// Time of the last log line about a failure.
    last_logged: Mutex<Option<Instant>>,
}

impl CollectorClient {
    /// Logs a failure, unless one was logged recently.
    fn log(&self, why: &str) {
        let mut last = self
            .last_logged
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() >= LOG_EVERY) {
            *last = Some(Instant::now());
            tracing::warn!(
                why,
                "the OpenTelemetry collector accepts no traces; they are dropped"
            );
        }
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let url = parts.uri.to_string();
        let sending = self.client.post(&url, parts.headers, body, TIMEOUT);
        let response = self.runtime.block_on(sending).inspect_err(|error| {
            self.log(&error.to_string());
        })?;
        if !(200..300).contains(&response.status) {
            self.log(&format!("its answer is {}", response.status));
        }
        let mut answer = Response::new(response.body);
        *answer.status_mut() = response.status.try_into()?;
        *answer.headers_mut() = response.headers;
        Ok(answer)
    }
}
