//! Endpoints for the App: its data, installations, installation tokens and webhook deliveries.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::auth;
use crate::json::{self, iso};
use crate::model::{Delivery, Installation, Repository, Token, TokenFormat, TokenOwner};
use crate::request::ApiRequest;
use crate::response::{ApiResponse, ApiResult};
use crate::state::State;

/// Lifetime of an installation token.
const TOKEN_LIFETIME: Duration = Duration::from_hours(1);

/// Handles the paths below `/app`. The JWT has been verified.
pub(super) fn handle(state: &mut State, request: &ApiRequest, path: &[&str]) -> ApiResult {
    let parse_id = |text: &str| text.parse::<u64>().map_err(|_| ApiResponse::not_found());
    match (request.method.as_str(), path) {
        ("GET", []) => Ok(ApiResponse::ok(state.renderer(&request.urls).app())),
        ("GET", ["installations"]) => Ok(installations(state, request)),
        ("GET", ["installations", id]) => {
            let installation = state.installation(parse_id(id)?)?;
            let renderer = state.renderer(&request.urls);
            Ok(ApiResponse::ok(renderer.installation(installation)))
        }
        ("POST", ["installations", id, "access_tokens"]) => {
            create_token(state, request, parse_id(id)?)
        }
        ("GET", ["hook", "config"]) => Ok(ApiResponse::ok(json::hook_config(&state.webhook))),
        ("GET", ["hook", "deliveries"]) => deliveries(state, request),
        ("GET", ["hook", "deliveries", id]) => {
            let delivery = state.delivery(parse_id(id)?)?;
            Ok(ApiResponse::ok(json::delivery(delivery)))
        }
        ("POST", ["hook", "deliveries", id, "attempts"]) => {
            state.redeliver(parse_id(id)?)?;
            Ok(ApiResponse::new(StatusCode::ACCEPTED, json!({})))
        }
        _ => Err(ApiResponse::not_found()),
    }
}

/// `GET /app/installations`.
fn installations(state: &State, request: &ApiRequest) -> ApiResponse {
    let installations: Vec<&Installation> = state.installations.values().collect();
    request.page(None, &installations, |installation| {
        let mut value = state.renderer(&request.urls).installation(installation);
        // The description of this operation alone requires the members of a user and of an
        // enterprise at once.
        let account = &mut value["account"];
        account["name"] = json!(installation.account.login);
        account["slug"] = json!(installation.account.login);
        account["created_at"] = json!(iso(installation.created));
        account["updated_at"] = json!(iso(installation.created));
        value
    })
}

/// `GET /repos/{owner}/{repo}/installation`.
pub(super) fn installation_for(
    state: &State,
    request: &ApiRequest,
    owner: &str,
    name: &str,
) -> ApiResult {
    let installation = state
        .repository_named(owner, name)
        .and_then(|repository| state.installation_for(repository.id))
        .ok_or_else(ApiResponse::not_found)?;
    let renderer = state.renderer(&request.urls);
    Ok(ApiResponse::ok(renderer.installation(installation)))
}

/// `GET /installation/repositories`.
pub(super) fn accessible_repositories(
    state: &State,
    request: &ApiRequest,
    token: &Token,
) -> ApiResponse {
    let limit = token.repositories.as_ref();
    let repositories: Vec<&Repository> = state
        .installations
        .get(&token.owner.id())
        .into_iter()
        .flat_map(|installation| &installation.repositories)
        .filter(|id| limit.is_none_or(|limit| limit.contains(id)))
        .filter_map(|id| state.repositories.get(id))
        .collect();
    let renderer = state.renderer(&request.urls);
    let page = request.page(None, &repositories, |one| renderer.repository(one));
    page.map_json(|list| {
        json!({
            "total_count": repositories.len(),
            "repository_selection": "selected",
            "repositories": list,
        })
    })
}

/// `POST /app/installations/{id}/access_tokens`.
fn create_token(state: &mut State, request: &ApiRequest, id: u64) -> ApiResult {
    let installation = state.installation(id)?;
    if installation.suspended.is_some() {
        return Err(auth::suspended());
    }
    let members = request.members()?;
    let permissions = requested_permissions(installation, &members)?;
    let repositories = requested_repositories(state, installation, &members)?;
    let format = match request.header("x-github-stateless-s2s-token") {
        Some("enabled") => TokenFormat::Stateless,
        Some("disabled") => TokenFormat::Classic,
        _ => state.token_format,
    };
    let token = auth::installation_token(format, state.app.id);
    let expires = state.now() + TOKEN_LIFETIME;
    let mut body = json!({
        "token": token,
        "expires_at": iso(expires),
        "permissions": permissions,
        "repository_selection": "selected",
    });
    if let Some(ids) = &repositories {
        let renderer = state.renderer(&request.urls);
        let repositories = ids.iter().filter_map(|id| state.repositories.get(id));
        body["repositories"] = repositories.map(|one| renderer.repository(one)).collect();
    }
    let access = Token {
        owner: TokenOwner::Installation(id),
        expires,
        permissions,
        repositories,
    };
    state.tokens.insert(token, access);
    Ok(ApiResponse::new(StatusCode::CREATED, body))
}

/// Returns the permissions that a token request asks for, or all that the installation has.
fn requested_permissions(
    installation: &Installation,
    members: &Map<String, Value>,
) -> ApiResult<BTreeMap<String, String>> {
    let Some(requested) = members.get("permissions").and_then(Value::as_object) else {
        return Ok(installation.permissions.clone());
    };
    let mut permissions = BTreeMap::new();
    for (name, level) in requested {
        let level = level.as_str().unwrap_or_default();
        let held = installation.permissions.get(name);
        let held = held.map_or("", String::as_str);
        if held != level && (held, level) != ("write", "read") {
            let message = "The permissions requested are not granted to this installation.";
            return Err(ApiResponse::unprocessable(message));
        }
        permissions.insert(name.clone(), level.to_owned());
    }
    permissions.insert("metadata".to_owned(), "read".to_owned());
    Ok(permissions)
}

/// Returns the ids of the repositories that a token request names, if it names any.
fn requested_repositories(
    state: &State,
    installation: &Installation,
    members: &Map<String, Value>,
) -> ApiResult<Option<BTreeSet<u64>>> {
    let names = members.get("repositories").and_then(Value::as_array);
    let ids = members.get("repository_ids").and_then(Value::as_array);
    if names.is_none() && ids.is_none() {
        return Ok(None);
    }
    let requested = names.into_iter().chain(ids).flatten();
    let resolve = |requested: &Value| {
        let mut accessible = installation
            .repositories
            .iter()
            .filter_map(|id| state.repositories.get(id));
        accessible
            .find(|one| *requested == json!(one.name) || *requested == json!(one.id))
            .map(|one| one.id)
    };
    let ids = requested.map(resolve).collect::<Option<_>>();
    ids.map(Some).ok_or_else(|| {
        ApiResponse::unprocessable(
            "There is at least one repository that does not exist or is not accessible to the \
             parent installation.",
        )
    })
}

/// `GET /app/hook/deliveries`: newest first, paged by a cursor.
fn deliveries(state: &State, request: &ApiRequest) -> ApiResult {
    let before = match request.query("cursor") {
        None => u64::MAX,
        Some(cursor) => cursor
            .strip_prefix("v1_")
            .and_then(|id| id.parse().ok())
            .ok_or_else(|| ApiResponse::bad_request("Invalid cursor"))?,
    };
    let status = request.query("status");
    let matches_status = |delivery: &&Delivery| match (delivery.status_code, status) {
        // Pending attempts are not in the log yet.
        (None, _) => false,
        (Some(code), Some("success")) => (200..400).contains(&code),
        (Some(code), Some("failure")) => code >= 400,
        (Some(_), _) => true,
    };
    let lag = state.log_lag;
    let is_listed = |delivery: &&Delivery| {
        state.is_retained(delivery) && (lag.is_zero() || delivery.delivered + lag <= state.now())
    };
    let size = request.per_page();
    let mut found: Vec<&Delivery> = state
        .deliveries
        .range(..before)
        .rev()
        .map(|(_, delivery)| delivery)
        .filter(matches_status)
        .filter(is_listed)
        .take(size + 1)
        .collect();
    let more = found.len() > size;
    found.truncate(size);
    let list = found.iter().map(|one| json::delivery_item(one));
    let response = ApiResponse::ok(list.collect());
    Ok(match found.last() {
        Some(oldest) if more => {
            let next = request.link(None, "cursor", &format!("v1_{}", oldest.id));
            response.header("link", format!("<{next}>; rel=\"next\""))
        }
        _ => response,
    })
}
