//! A tap in a router: every exchange that passes is judged by GitHub's description.

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

/// Where GitHub's pages have attachments, which are no part of the API.
const ATTACHMENTS: [&str; 2] = ["/user-attachments/", "/attachment-store/"];

/// Records and judges the exchanges of the routers it was put into. Clones share the record.
///
/// Without an installed description it lets everything pass and says `skipped`.
#[derive(Clone)]
pub(crate) struct Tap {
    inner: Arc<Inner>,
}

struct Inner {
    description: Option<&'static Description>,
    client: Client,
    seen: Mutex<Vec<Exchange>>,
}

/// One request and what became of it.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    /// Method and path with query.
    pub(crate) request: String,
    /// Name of the operation, if GitHub has one.
    pub(crate) operation: Option<String>,
    /// Status, or `None` when the answer was cut off.
    pub(crate) status: Option<u16>,
    /// What GitHub's description says against it.
    pub(crate) violations: Vec<String>,
}

/// How often each operation gave each status; `Display` is a table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Coverage(pub(crate) BTreeMap<String, BTreeMap<u16, usize>>);

impl Tap {
    /// A tap for the requests of `client`.
    pub(crate) fn new(client: Client) -> Self {
        Self::with(github(), client)
    }

    /// A tap that judges by `description`.
    pub(crate) fn with(description: Option<&'static Description>, client: Client) -> Self {
        Self {
            inner: Arc::new(Inner {
                description,
                client,
                seen: Mutex::default(),
            }),
        }
    }

    /// Puts the tap before every route of `router`, its fallback included.
    pub(crate) fn wrap(&self, router: Router) -> Router {
        router.layer(from_fn_with_state(self.clone(), pass))
    }

    /// Everything seen so far, in the order in which answers were complete.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.inner.seen.lock().unwrap().clone()
    }

    /// Operations and statuses seen so far.
    pub(crate) fn coverage(&self) -> Coverage {
        let mut all = Coverage::default();
        for exchange in self.exchanges() {
            if let (Some(name), Some(status)) = (exchange.operation, exchange.status) {
                *all.0.entry(name).or_default().entry(status).or_default() += 1;
            }
        }
        all
    }

    /// What GitHub's description says against the answers alone, for tests whose requests are odd on purpose.
    /// Exchanges for which `exempt` says true of method and path are left out.
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

    /// Fails the test with a list when anything seen contradicts GitHub's description, and when
    /// nothing was seen at all.
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
    let pages = ATTACHMENTS.iter().any(|start| path.starts_with(start));
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
            // A file as it is has no schema; pages have none either.
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
