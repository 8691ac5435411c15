//! Router middleware that checks every exchange against GitHub's API description.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use http_body_util::BodyExt;

use super::{Client, Description, github};

/// Paths of attachments and archives, which GitHub serves outside of its API.
const FILES: [&str; 3] = ["/user-attachments/", "/attachment-store/", "/codeload/"];

/// Records and checks the exchanges of the routers that it wraps. Clones share the record.
///
/// If the description is not installed, nothing is checked and `skipped` is printed.
#[derive(Clone)]
pub(crate) struct Tap {
    inner: Arc<Inner>,
}

struct Inner {
    description: Option<&'static Description>,
    client: Client,
    seen: Mutex<Vec<Exchange>>,
}

/// A request and its response.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    /// Method and path with query.
    pub(crate) request: String,
    /// Name of the operation; `None` if GitHub describes none.
    pub(crate) operation: Option<String>,
    /// Status; `None` if the response was cut off.
    pub(crate) status: Option<u16>,
    /// Differences from GitHub's description.
    pub(crate) violations: Vec<String>,
}

/// Number of responses by operation and status. `Display` prints a table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Coverage(pub(crate) BTreeMap<String, BTreeMap<u16, usize>>);

impl Tap {
    /// Creates a tap for the requests of `client`.
    pub(crate) fn new(client: Client) -> Self {
        Self::with(github(), client)
    }

    /// Creates a tap that checks against `description`.
    pub(crate) fn with(description: Option<&'static Description>, client: Client) -> Self {
        Self {
            inner: Arc::new(Inner {
                description,
                client,
                seen: Mutex::default(),
            }),
        }
    }

    /// Wraps every route of `router`, including its fallback.
    pub(crate) fn wrap(&self, router: Router) -> Router {
        router.layer(from_fn_with_state(self.clone(), pass))
    }

    /// Returns all exchanges so far, in the order in which the responses were complete.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.inner.seen.lock().unwrap().clone()
    }

    /// Returns the operations and statuses seen so far.
    pub(crate) fn coverage(&self) -> Coverage {
        let mut all = Coverage::default();
        for exchange in self.exchanges() {
            if let (Some(name), Some(status)) = (exchange.operation, exchange.status) {
                *all.0.entry(name).or_default().entry(status).or_default() += 1;
            }
        }
        all
    }

    /// Returns violations of responses only, for tests that send invalid requests on purpose.
    /// Exchanges are left out if `exempt` returns true for their method and path.
    pub(crate) fn wrong_answers(&self, exempt: impl Fn(&str) -> bool) -> Vec<String> {
        let mut wrong = Vec::new();
        for mut exchange in self.exchanges() {
            if exempt(&exchange.request) {
                continue;
            }
            exchange
                .violations
                .retain(|text| text.starts_with("answer: "));
            if !exchange.violations.is_empty() {
                wrong.push(exchange.to_string());
            }
        }
        wrong
    }

    /// Fails the test if any exchange violates GitHub's description or if there was no exchange.
    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        if self.inner.description.is_none() {
            println!("skipped: the exchanges were not judged");
            return;
        }
        let seen = self.exchanges();
        assert!(!seen.is_empty(), "the tap saw no request");
        let bad = seen
            .iter()
            .filter(|exchange| !exchange.violations.is_empty());
        let list: Vec<String> = bad.map(ToString::to_string).collect();
        assert!(
            list.is_empty(),
            "{} of {} exchanges contradict GitHub's description:\n{}",
            list.len(),
            seen.len(),
            list.join("\n")
        );
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self
            .status
            .map_or("no answer".to_owned(), |code| code.to_string());
        write!(out, "{} -> {status}", self.request)?;
        for violation in &self.violations {
            write!(out, "\n    {violation}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (operation, statuses) in &self.0 {
            let counts: Vec<String> = statuses
                .iter()
                .map(|(status, count)| format!("{status}×{count}"))
                .collect();
            writeln!(out, "{operation:<72} {}", counts.join("  "))?;
        }
        Ok(())
    }
}

async fn pass(State(tap): State<Tap>, request: Request, next: Next) -> Response {
    let Some(description) = tap.inner.description else {
        return next.run(request).await;
    };
    let (parts, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes);
    let body = body.unwrap_or_default();
    let method = parts.method.as_str().to_owned();
    let target = parts
        .uri
        .path_and_query()
        .map_or_else(|| parts.uri.path().to_owned(), ToString::to_string);
    let path = parts.uri.path().to_owned();
    let pages = FILES.iter().any(|start| path.starts_with(start));
    let file = ["/contents/", "/git/blobs/"];
    let raw = file.iter().any(|part| path.contains(part))
        && parts
            .headers
            .get("accept")
            .is_some_and(|accept| accept.to_str().is_ok_and(|accept| accept.contains(".raw")));
    let found = if pages {
        let credentials = parts.headers.contains_key("authorization");
        let found = credentials.then(|| "credentials are sent to GitHub's pages".to_owned());
        found.into_iter().collect()
    } else {
        description.check_request(tap.inner.client, &method, &target, &parts.headers, &body)
    };
    let mut violations: Vec<String> = found
        .into_iter()
        .map(|text| format!("request: {text}"))
        .collect();

    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    let (parts, body) = response.into_parts();
    let (status, body) = match body.collect().await {
        Ok(whole) => {
            let bytes = whole.to_bytes();
            let status = parts.status.as_u16();
            // Raw files and attachments have no schema.
            let found = if pages || (raw && status == 200) {
                Vec::new()
            } else {
                description.check_response(&method, &path, status, &bytes)
            };
            violations.extend(found.into_iter().map(|text| format!("answer: {text}")));
            (Some(status), Body::from(bytes))
        }
        Err(error) => {
            let lost = futures_util::stream::once(async { Err::<Vec<u8>, _>(error) });
            (None, Body::from_stream(lost))
        }
    };
    tap.inner.seen.lock().unwrap().push(Exchange {
        request: format!("{method} {target}"),
        operation: description
            .operation(&method, &path)
            .map(|found| found.name()),
        status,
        violations,
    });
    Response::from_parts(parts, body)
}
