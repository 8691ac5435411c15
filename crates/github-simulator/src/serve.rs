//! The HTTP side: every request goes through faults, the API or the pages, and the log.

use std::sync::{Arc, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State as Extract};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::request::Parts;
use http::{Method, StatusCode};
use http_body_util::{BodyExt, Limited};

use crate::api::{self, Call};
use crate::faults::Trouble;
use crate::look::LoggedRequest;
use crate::reply::Answer;
use crate::state::{Base, State};
use crate::{Shared, app, attachments, pages};
use chrono::{DateTime, Utc};

/// Longest request body, in bytes; nothing that GitHub takes here comes near it.
const MAX_REQUEST: usize = 8 * 1024 * 1024;

/// Everything in one handler: paths of the API and of the pages are told apart by their first segment.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new().fallback(handle).with_state(shared)
}

async fn handle(Extract(shared): Extract<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_REQUEST).collect().await else {
        return Answer::refuse(StatusCode::PAYLOAD_TOO_LARGE, "Payload too large").into_response();
    };
    let call = shared.with(|state| take_apart(state, parts, body.to_bytes()));
    let attachment = attachments::is_one(&call.path);
    if !Call::is_api(&call.path) && !attachment {
        return shared.with(|state| pages::answer(state, &call));
    }
    let path = format!("/{}", call.path.join("/"));
    let trouble = shared
        .faults
        .strike(&call.method, &path, shared.clock.now());
    if let Some(Trouble::Delay(delay)) = trouble {
        shared.clock.sleep(delay).await;
    }
    let answer = shared.with(|state| {
        let limit = || {
            let reset = app::exhausted_until(state, call.header("authorization"))?;
            (!is_rate_limit(&call)).then_some(Trouble::PrimaryLimit { reset })
        };
        match trouble.clone().or_else(limit).as_ref().and_then(refusal) {
            Some(refusal) => refusal,
            None if attachment => attachments::answer(state, &call),
            None => api::answer(state, &call).unwrap_or_else(|refusal| refusal),
        }
    });
    let changed = call.method != Method::GET
        && answer.status.is_success()
        && call.path.first().is_some_and(|first| first == "repos");
    let lost = trouble == Some(Trouble::LostAnswer);
    let answer = match trouble {
        Some(Trouble::BadGatewayAfter) => bad_gateway(),
        _ => finish(&shared, &call, answer),
    };
    shared
        .log
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(LoggedRequest {
            method: call.method,
            path,
            query: call.query,
            headers: call.headers,
            body: call.body,
            status: (!lost).then_some(answer.status.as_u16()),
            answer: answer.body.clone(),
            changed,
        });
    if lost {
        return broken();
    }
    answer.into_response()
}

/// A response whose body fails at once: the server drops the connection before a byte has gone out.
fn broken() -> Response {
    let lost = std::io::Error::new(std::io::ErrorKind::ConnectionAborted, "the answer is lost");
    Response::new(Body::from_stream(stream::iter([Err::<Bytes, _>(lost)])))
}

fn take_apart(state: &State, parts: Parts, body: Bytes) -> Call {
    let mut path = api::segments(parts.uri.path());
    // Addresses in the answer follow the host that was asked, so a proxy in front of the simulator stays in front.
    let web = parts
        .headers
        .get(http::header::HOST)
        .and_then(|host| host.to_str().ok())
        .map_or_else(|| state.base.web.clone(), |host| format!("http://{host}"));
    let mut api = web.clone();
    if let [first, second, rest @ ..] = path.as_slice()
        && first == "api"
        && second == "v3"
    {
        api.push_str("/api/v3");
        path = rest.to_vec();
    }
    if let [first, id, rest @ ..] = path.as_slice()
        && first == "repositories"
        && let Some(repository) = id
            .parse()
            .ok()
            .and_then(|id: u64| state.repositories.get(&id))
    {
        let mut named = vec![
            "repos".to_owned(),
            repository.owner.login.clone(),
            repository.name.clone(),
        ];
        named.extend_from_slice(rest);
        path = named;
    }
    Call {
        method: parts.method,
        path,
        query: api::parameters(parts.uri.query()),
        headers: parts.headers,
        body,
        base: Base { api, web },
    }
}

/// Headers of every answer: request id, version, and the limits of whoever asked.
fn finish(shared: &Shared, call: &Call, answer: Answer) -> Answer {
    let mut answer = answer
        // Else the server adds one by the machine's clock, which is not the simulator's.
        .header("date", http_date(shared.clock.now()))
        .header("x-github-request-id", request_id())
        .header("x-github-media-type", "github.v3; format=json")
        .header(
            "x-github-api-version-selected",
            call.header("x-github-api-version").unwrap_or("2022-11-28"),
        );
    let limits = shared.with(|state| {
        let token = state.check_token(call.header("authorization")).ok()?;
        if !is_rate_limit(call) {
            app::count(state, token.holder.id());
        }
        Some(app::rate_headers(state, token.holder.id()))
    });
    for (name, value) in limits.into_iter().flatten() {
        if !answer.headers.iter().any(|(other, _)| *other == name) {
            answer = answer.header(name, value);
        }
    }
    answer
}

/// Requests for the rate limit itself are not counted and never refused.
fn is_rate_limit(call: &Call) -> bool {
    call.path.first().is_some_and(|first| first == "rate_limit")
}

/// A time as HTTP headers have it (RFC 9110, 5.6.7).
fn http_date(time: DateTime<Utc>) -> String {
    let format = "%a, %d %b %Y %H:%M:%S GMT";
    time.format(format).to_string()
}

/// In GitHub's form: groups of hexadecimal digits.
fn request_id() -> String {
    let id = uuid::Uuid::new_v4().simple().to_string().to_uppercase();
    let (first, rest) = id.split_at(4);
    let (second, third) = rest.split_at(6);
    format!("{first}:{second}:{third}")
}

fn bad_gateway() -> Answer {
    Answer::refuse(StatusCode::BAD_GATEWAY, "Server Error")
}

/// What is answered instead of doing anything.
fn refusal(trouble: &Trouble) -> Option<Answer> {
    match trouble {
        Trouble::Delay(_) | Trouble::BadGatewayAfter | Trouble::LostAnswer => None,
        Trouble::BadGatewayBefore => Some(bad_gateway()),
        Trouble::BadCredentials => Some(Answer::bad_credentials()),
        Trouble::Unavailable => Some(Answer::refuse(
            StatusCode::SERVICE_UNAVAILABLE,
            "Service unavailable",
        )),
        Trouble::Answer { status, body } => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_GATEWAY);
            Some(Answer::new(status, body.clone()))
        }
        Trouble::SecondaryLimit { retry_after } => {
            // Words from public issue threads (EnricoMi/publish-unit-test-result-action#419); often without retry-after.
            let answer = Answer::refuse(
                StatusCode::FORBIDDEN,
                "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
            );
            Some(match retry_after {
                Some(seconds) => answer.header("retry-after", seconds.to_string()),
                None => answer,
            })
        }
        Trouble::PrimaryLimit { reset } => {
            // Words from "Rate limits for the REST API".
            let answer = Answer::refuse(
                StatusCode::FORBIDDEN,
                "API rate limit exceeded for installation.",
            );
            Some(
                answer
                    .header("x-ratelimit-limit", "5000")
                    .header("x-ratelimit-used", "5000")
                    .header("x-ratelimit-remaining", "0")
                    .header("x-ratelimit-reset", (reset.timestamp()).to_string()),
            )
        }
    }
}
