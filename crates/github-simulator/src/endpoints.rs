//! The REST API: checks every request as GitHub does, and dispatches it to an endpoint.

mod app;
mod checks;
mod code;
mod comments;
mod issues;
mod labels;
mod manifest;
mod oauth;
mod reactions;
mod repository;
mod search;

use http::StatusCode;
use serde_json::json;

use crate::actions::ReactionTarget;
use crate::model::{RemovedIssue, Token, TokenOwner};
use crate::repository_call::RepositoryCall;
use crate::request::ApiRequest;
use crate::response::{ApiResponse, ApiResult, DOCUMENTATION_URL};
use crate::state::State;

/// Supported API versions (<https://docs.github.com/en/rest/about-the-rest-api/api-versions>).
const VERSIONS: [&str; 2] = ["2022-11-28", "2026-03-10"];

/// Handles a request to the API.
pub(crate) fn handle(state: &mut State, request: &ApiRequest) -> ApiResult {
    check_headers(request)?;
    let authorization = request.authorization();
    let path = request.segments();
    match (request.method.as_str(), path.as_slice()) {
        (_, ["app", rest @ ..]) => {
            state.check_jwt(authorization)?;
            app::handle(state, request, rest)
        }
        ("POST", ["app-manifests", code, "conversions"]) => manifest::convert(state, request, code),
        ("POST", ["login", "oauth", "access_token"]) => Ok(oauth::access_token(state, request)),
        ("GET", ["repos", owner, name, "installation"]) => {
            state.check_jwt(authorization)?;
            app::installation_for(state, request, owner, name)
        }
        ("GET", ["rate_limit"]) => {
            let token = state.check_token(authorization)?;
            Ok(ApiResponse::ok(state.rate_limit(&token)))
        }
        ("GET", ["search", "issues"]) => {
            let token = state.check_token_or_anonymous(request)?;
            search::issues(state, request, &token)
        }
        ("GET", ["user"]) => {
            let token = state.check_token(authorization)?;
            authenticated_user(state, request, &token)
        }
        ("GET", ["installation", "repositories"]) => {
            let token = state.check_token(authorization)?;
            Ok(app::accessible_repositories(state, request, &token))
        }
        (_, ["repos", owner, name, rest @ ..]) => {
            let token = state.check_token_or_anonymous(request)?;
            let mut call = RepositoryCall::new(state, request, token, owner, name)?;
            handle_repository(&mut call, rest)
        }
        _ => Err(ApiResponse::not_found()),
    }
}

/// Checks the rules "User agent required" and "API versions" of the REST documentation, which are
/// not in the OpenAPI description.
fn check_headers(request: &ApiRequest) -> ApiResult<()> {
    if request.header("user-agent").is_none() {
        return Err(ApiResponse::forbidden(
            "Request forbidden by administrative rules. Please make sure your request has a \
             User-Agent header (https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#user-agent). \
             Check https://developer.github.com for other possible causes.",
        ));
    }
    match request.header("x-github-api-version") {
        Some(version) if !VERSIONS.contains(&version) => Err(ApiResponse::bad_request(&format!(
            "API version {version} is not a supported version."
        ))),
        _ => Ok(()),
    }
}

/// `GET /user`. Installations have no account of their own.
fn authenticated_user(state: &State, request: &ApiRequest, token: &Token) -> ApiResult {
    let actor = state.actor(token);
    if actor.via_app || matches!(token.owner, TokenOwner::Job(_)) {
        return Err(ApiResponse::not_accessible_by_app());
    }
    let renderer = state.renderer(&request.urls);
    Ok(ApiResponse::ok(renderer.public_user(&actor.user)))
}

fn handle_repository(call: &mut RepositoryCall<'_>, path: &[&str]) -> ApiResult {
    if call.request.is_write() && call.repository()?.archived {
        // The message is from public issue threads (renovatebot/renovate#42992).
        let message = "Repository was archived so is read-only.";
        return Err(ApiResponse::forbidden(message));
    }
    match (call.request.method.as_str(), path) {
        ("GET", []) => repository::get(call),
        ("GET", ["collaborators"]) => repository::collaborators(call),
        ("GET", ["collaborators", login]) => repository::check_collaborator(call, login),
        ("GET", ["branches"]) => code::branches(call),
        ("GET", ["branches", name]) => code::branch(call, name),
        ("GET", ["collaborators", login, "permission"]) => repository::permission(call, login),
        ("GET", ["contents", path @ ..]) => code::contents(call, path),
        ("GET", ["git", "trees", name]) => code::tree(call, name),
        ("GET", ["git", "blobs", sha]) => code::blob(call, sha),
        ("GET", ["tarball", name @ ..]) => code::tarball(call, name),
        ("GET", ["commits", name]) => code::commit(call, name),
        ("GET", ["commits", name, "check-runs"]) => checks::list_for_commit(call, name),
        (_, ["check-runs", path @ ..]) => checks::handle(call, path),
        ("GET", ["pulls", number]) => code::pull_request(call, number),
        ("GET", ["pulls", number, "files"]) => code::changed_files(call, number),
        ("GET", ["issues"]) => issues::list(call),
        ("POST", ["issues"]) => issues::create(call),
        ("GET", ["issues", "comments"]) => comments::list_all(call),
        (_, ["issues", "comments", id, path @ ..]) => {
            let id = call.comment_id(id)?;
            match (call.request.method.as_str(), path) {
                ("GET", []) => comments::get(call, id),
                ("PATCH", []) => comments::update(call, id),
                ("DELETE", []) => comments::delete(call, id),
                (_, ["reactions", path @ ..]) => {
                    reactions::handle(call, ReactionTarget::Comment(id), path)
                }
                _ => Err(ApiResponse::not_found()),
            }
        }
        (_, ["issues", number, path @ ..]) => {
            if path.is_empty()
                && let Some(redirect) = transferred_issue(call, number)
            {
                return Err(redirect);
            }
            let number = call.issue_number(number)?;
            match (call.request.method.as_str(), path) {
                ("GET", []) => issues::get(call, number),
                ("PATCH", []) => issues::update(call, number),
                ("GET", ["comments"]) => comments::list(call, number),
                ("GET", ["events"]) => issues::events(call, number),
                ("GET", ["timeline"]) => issues::timeline(call, number),
                ("PUT", ["lock"]) => issues::lock(call, number, true),
                ("DELETE", ["lock"]) => issues::lock(call, number, false),
                ("POST", ["comments"]) => comments::create(call, number),
                (_, ["labels", path @ ..]) => labels::handle_issue(call, number, path),
                (_, ["reactions", path @ ..]) => {
                    reactions::handle(call, ReactionTarget::Issue(number), path)
                }
                _ => Err(ApiResponse::not_found()),
            }
        }
        (_, ["labels", path @ ..]) => labels::handle_repository(call, path),
        _ => Err(ApiResponse::not_found()),
    }
}

/// Returns the redirect to a transferred issue. Only the issue itself is redirected, no path below
/// it (Systemorph/MeshWeaver#4629).
fn transferred_issue(call: &RepositoryCall<'_>, number: &str) -> Option<ApiResponse> {
    let removed = &call.repository().ok()?.removed_issues;
    let RemovedIssue::Transferred { repository, number } = removed.get(&number.parse().ok()?)?
    else {
        return None;
    };
    let api = &call.request.urls.api;
    let url = format!("{api}/repositories/{repository}/issues/{number}");
    let body = json!({
        "message": "Moved Permanently", "url": url, "documentation_url": DOCUMENTATION_URL,
    });
    let redirect = ApiResponse::new(StatusCode::MOVED_PERMANENTLY, body);
    Some(redirect.header("location", url))
}
