//! Endpoints for the App: itself, its installations, its webhook deliveries, its rate limit.

use crate::clock::iso;
use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};

use crate::api::Call;
use crate::json;
use crate::model::{Delivery, Installation};
use crate::paging;
use crate::reply::Answer;
use crate::state::State;
use crate::tokens::Token;
use chrono::{DateTime, Utc};

/// Requests per hour of an installation or a person
/// (<https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>).
const HOURLY: u32 = 5000;

/// The window of the primary limit.
const HOUR: Duration = Duration::from_hours(1);

/// Everything below `/app`; the JWT has been checked.
pub(crate) fn answer(state: &mut State, call: &Call, rest: &[&str]) -> Result<Answer, Answer> {
    let id = |text: &str| text.parse::<u64>().map_err(|_| Answer::not_found());
    match (call.method.as_str(), rest) {
        ("GET", []) => Ok(Answer::ok(json::integration(state, &call.base))),
        ("GET", ["installations"]) => {
            let all: Vec<&Installation> = state.installations.values().collect();
            Ok(paging::page(call, None, &all, |one| {
                let mut value = json::installation(state, &call.base, one);
                // The description of this one operation asks for a user's and an enterprise's members at once.
                let created = iso(one.created);
                if let Some(account) = value.get_mut("account") {
                    let more = json!({
                        "name": one.account.login,
                        "slug": one.account.login,
                        "created_at": created,
                        "updated_at": created,
                    });
                    json::extend(account, more);
                }
                value
            }))
        }
        ("GET", ["installations", one]) => {
            let one = state
                .installations
                .get(&id(one)?)
                .ok_or_else(Answer::not_found)?;
            Ok(Answer::ok(json::installation(state, &call.base, one)))
        }
        ("POST", ["installations", one, "access_tokens"]) => state.mint(call, id(one)?),
        ("GET", ["hook", "deliveries"]) => deliveries(state, call),
        ("GET", ["hook", "deliveries", one]) => {
            let one = state
                .deliveries
                .get(&id(one)?)
                .ok_or_else(Answer::not_found)?;
            Ok(Answer::ok(json::delivery(one)))
        }
        ("POST", ["hook", "deliveries", one, "attempts"]) => {
            state.redeliver(id(one)?)?;
            Ok(Answer::new(StatusCode::ACCEPTED, json!({})))
        }
        _ => Err(Answer::not_found()),
    }
}

/// `GET /repos/{owner}/{repo}/installation`.
pub(crate) fn of_repository(
    state: &State,
    call: &Call,
    owner: &str,
    name: &str,
) -> Result<Answer, Answer> {
    let installation = state
        .repository_named(owner, name)
        .and_then(|repository| state.installation_for(repository.id))
        .ok_or_else(Answer::not_found)?;
    Ok(Answer::ok(json::installation(
        state,
        &call.base,
        installation,
    )))
}

/// `GET /installation/repositories`.
pub(crate) fn repositories(state: &State, call: &Call, token: &Token) -> Answer {
    let all: Vec<_> = state
        .installations
        .get(&token.holder.id())
        .into_iter()
        .flat_map(|installation| &installation.repositories)
        .filter(|id| {
            token
                .repositories
                .as_ref()
                .is_none_or(|only| only.contains(id))
        })
        .filter_map(|id| state.repositories.get(id))
        .collect();
    let mut answer = paging::page(call, None, &all, |one| json::repository(&call.base, one));
    answer.body = answer.body.map(|list| {
        json!({
            "total_count": all.len(),
            "repository_selection": "selected",
            "repositories": list,
        })
    });
    answer
}

/// `GET /app/hook/deliveries`: newest first, by cursor.
fn deliveries(state: &State, call: &Call) -> Result<Answer, Answer> {
    let before = match call.query("cursor") {
        None => u64::MAX,
        Some(cursor) => cursor
            .strip_prefix("v1_")
            .and_then(|id| id.parse().ok())
            .ok_or_else(|| Answer::refuse(StatusCode::BAD_REQUEST, "Invalid cursor"))?,
    };
    let fits = |delivery: &&Delivery| match (delivery.status_code, call.query("status")) {
        // What is still on its way is not in the log yet.
        (None, _) => false,
        (Some(code), Some("success")) => (200..400).contains(&code),
        (Some(code), Some("failure")) => code >= 400,
        (Some(_), _) => true,
    };
    let size = paging::per_page(call);
    let found: Vec<&Delivery> = state
        .deliveries
        .range(..before)
        .rev()
        .map(|(_, delivery)| delivery)
        .filter(fits)
        .take(size + 1)
        .collect();
    let list: Vec<Value> = found
        .iter()
        .take(size)
        .map(|one| json::delivery_item(one))
        .collect();
    let answer = Answer::ok(Value::Array(list));
    Ok(match (found.len() > size, found.get(size - 1)) {
        (true, Some(oldest)) => {
            let next = paging::link(call, None, &[("cursor", format!("v1_{}", oldest.id))]);
            answer.header("link", format!("<{next}>; rel=\"next\""))
        }
        _ => answer,
    })
}

/// Requests used in this hour, and when the hour ends.
fn used(state: &State, holder: u64) -> (u32, DateTime<Utc>) {
    match state.used.get(&holder) {
        Some(&(start, used)) if state.now() < start + HOUR => (used, start + HOUR),
        _ => (0, state.now() + HOUR),
    }
}

/// The end of the hour for an installation or a person that has used up its requests; `None` while some are left.
pub(crate) fn exhausted_until(state: &State, authorization: Option<&str>) -> Option<DateTime<Utc>> {
    let token = state.check_token(authorization).ok()?;
    let (used, reset) = used(state, token.holder.id());
    (used >= HOURLY).then_some(reset)
}

/// Counts a request of an installation or a person.
pub(crate) fn count(state: &mut State, holder: u64) {
    let now = state.now();
    let entry = state.used.entry(holder).or_insert((now, 0));
    if now >= entry.0 + HOUR {
        *entry = (now, 0);
    }
    entry.1 = entry.1.saturating_add(1);
}

/// The rate headers of an answer.
pub(crate) fn rate_headers(state: &State, holder: u64) -> [(&'static str, String); 5] {
    let (used, reset) = used(state, holder);
    [
        ("x-ratelimit-limit", HOURLY.to_string()),
        (
            "x-ratelimit-remaining",
            HOURLY.saturating_sub(used).to_string(),
        ),
        ("x-ratelimit-used", used.to_string()),
        ("x-ratelimit-reset", (reset.timestamp()).to_string()),
        ("x-ratelimit-resource", "core".to_owned()),
    ]
}

/// `GET /rate_limit`.
pub(crate) fn rate_limit(state: &State, token: &Token) -> Answer {
    let (used, reset) = used(state, token.holder.id());
    let of = |limit: u32, used: u32| {
        json!({
            "limit": limit,
            "used": used,
            "remaining": limit.saturating_sub(used),
            "reset": reset.timestamp(),
        })
    };
    Answer::ok(json!({
        "resources": {"core": of(HOURLY, used), "search": of(30, 0), "graphql": of(5000, 0)},
        "rate": of(HOURLY, used),
    }))
}
