//! Spans for traces of runs: attempts, their steps, requests to GitHub and turns of agents.
//!
//! They are separate from the spans whose fields are logged. Their target is [`TARGET`], which the
//! log leaves out, and nothing else is exported as a trace. They are never entered, because the log
//! would lose its own span where a task is spawned with the current one; instead, each task holds
//! the span for traces that it is in. No field has text that people or agents have written.

use tracing::Span;
use tracing::field::Empty;

use super::effects::StepError;
use super::forge::ForgeError;
use super::metrics::RequestOutcome;
use super::store::Claimed;
use crate::engine::model::agent::Ending;
use crate::engine::model::failure::Code;
use crate::engine::model::run::State;

/// Target of all spans for traces.
pub const TARGET: &str = "planwright::trace";

/// Field with the run's id, from which the trace id is derived. Spans with this field are the roots
/// of traces.
pub const RUN_ID: &str = "run.id";

tokio::task_local! {
    /// The span that the task is in.
    static CURRENT: Span;
}

/// Returns the span that the current task is in; a disabled span outside of runs.
fn current() -> Span {
    CURRENT
        .try_with(Span::clone)
        .unwrap_or_else(|_| Span::none())
}

/// Makes `work`, which another task executes, a part of the current span.
pub(super) fn in_current_span<F: Future>(work: F) -> impl Future<Output = F::Output> {
    CURRENT.scope(current(), work)
}

/// Executes `work` in the root span `name` for an attempt at a run. The outcome is recorded with
/// [`ended`].
pub(super) fn attempt<F: Future>(
    name: &'static str,
    claimed: &Claimed,
    work: F,
) -> impl Future<Output = F::Output> {
    let trigger = &claimed.trigger;
    let span = tracing::info_span!(
        target: TARGET,
        parent: None,
        "attempt",
        otel.name = name,
        run.id = %claimed.lease.run,
        delivery.guid = %claimed.guid,
        repository = trigger.place.repo.full_name(),
        number = i64::try_from(trigger.place.number).unwrap_or(i64::MAX),
        command = trigger.command.name(),
        attempt = i64::from(claimed.attempt),
        state = Empty,
        "error.type" = Empty,
        otel.status_description = Empty,
    );
    CURRENT.scope(span, work)
}

/// Records the outcome of the current attempt: the run's new state, and why it failed.
pub(super) fn ended(state: State, code: Option<Code>) {
    let span = current();
    span.record("state", state.name());
    if let Some(code) = code.filter(|_| state == State::Failed) {
        failed(&span, code.name());
    }
}

/// Runs `work` in a span with the name of a step. An error that makes the run wait does not count
/// as an error of the step.
pub(super) async fn step<T>(
    name: &'static str,
    work: impl Future<Output = Result<T, StepError>>,
) -> Result<T, StepError> {
    let span = tracing::info_span!(
        target: TARGET,
        parent: &current(),
        "step",
        otel.name = name,
        "error.type" = Empty,
        otel.status_description = Empty,
    );
    let result = CURRENT.scope(span.clone(), work).await;
    match &result {
        Err(StepError::Failed(failure)) => failed(&span, failure.code.name()),
        Err(StepError::Forge(ForgeError::Limited { .. })) => failed(&span, "limited"),
        Err(StepError::Forge(_)) => failed(&span, "github"),
        Err(StepError::Store(_)) => failed(&span, "store"),
        Err(
            StepError::Settling { .. }
            | StepError::Wait { .. }
            | StepError::Cancelled(_)
            | StepError::Paused,
        )
        | Ok(_) => {}
    }
    result
}

/// Creates the span of one request to GitHub. The outcome is recorded with [`answered`].
pub fn request(method: &str, path: &str) -> Span {
    tracing::info_span!(
        target: TARGET,
        parent: &current(),
        "request",
        otel.name = format!("{method} {}", route(path)),
        otel.kind = "client",
        http.request.method = method,
        url.template = route(path),
        http.response.status_code = Empty,
        "error.type" = Empty,
        otel.status_description = Empty,
    )
}

/// Records the outcome of a request.
pub fn answered(span: &Span, outcome: RequestOutcome) {
    match outcome {
        RequestOutcome::Status(status) => {
            span.record("http.response.status_code", i64::from(status));
            if status >= 400 {
                failed(span, &status.to_string());
            }
        }
        _ => failed(span, outcome.name()),
    }
}

/// Creates the span of an agent's turn. The ending is recorded with [`turn_ended`].
pub(super) fn turn(agent: &str, part: u32) -> Span {
    tracing::info_span!(
        target: TARGET,
        parent: &current(),
        "turn",
        agent,
        part = i64::from(part),
        ending = Empty,
        "error.type" = Empty,
        otel.status_description = Empty,
    )
}

/// Records how a turn ended.
pub(super) fn turn_ended(span: &Span, ending: &Ending) {
    span.record("ending", ending.name());
    if !matches!(ending, Ending::Success { .. } | Ending::Cancelled) {
        failed(span, ending.name());
    }
}

/// Sets the status of a span to an error of this type.
fn failed(span: &Span, error: &str) {
    span.record("error.type", error);
    span.record("otel.status_description", error);
}

/// Names in paths of GitHub's API. All other segments are values, such as names of files.
const ROUTE_NAMES: [&str; 30] = [
    "access_tokens",
    "api",
    "app",
    "blobs",
    "check-runs",
    "collaborators",
    "comments",
    "commits",
    "config",
    "contents",
    "deliveries",
    "events",
    "files",
    "git",
    "hook",
    "installation",
    "installations",
    "issues",
    "labels",
    "permission",
    "pulls",
    "rate_limit",
    "reactions",
    "repos",
    "repositories",
    "tarball",
    "trees",
    "user",
    "users",
    "v3",
];

/// Returns the path of a request without query, and with `{}` for every value in it. A path within
/// a repository is one value.
fn route(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let mut segments = path.split('/').filter(|segment| !segment.is_empty());
    let mut route = String::new();
    while let Some(segment) = segments.next() {
        route.push('/');
        if !ROUTE_NAMES.contains(&segment) {
            route.push_str("{}");
            continue;
        }
        route.push_str(segment);
        let values = match segment {
            "repos" => 2,
            "collaborators" | "labels" | "users" => 1,
            "contents" => usize::MAX,
            _ => 0,
        };
        for _ in segments.by_ref().take(values) {
            if !route.ends_with("contents/{}") {
                route.push_str("/{}");
            }
        }
    }
    route
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_have_no_values() {
        for (path, expected) in [
            ("/app", "/app"),
            (
                "/repos/issues/labels/issues/7/comments?per_page=100",
                "/repos/{}/{}/issues/{}/comments",
            ),
            (
                "/api/v3/repos/acme/search/contents/issues/src/a.rs?ref=x",
                "/api/v3/repos/{}/{}/contents/{}",
            ),
            (
                "/repos/acme/search/issues/7/labels/git",
                "/repos/{}/{}/issues/{}/labels/{}",
            ),
            (
                "/repos/acme/search/git/trees/abc?recursive=1",
                "/repos/{}/{}/git/trees/{}",
            ),
            (
                "/app/installations/5/access_tokens",
                "/app/installations/{}/access_tokens",
            ),
            ("/secret/secret", "/{}/{}"),
            ("", ""),
        ] {
            assert_eq!(route(path), expected, "{path}");
        }
    }
}
