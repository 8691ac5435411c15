//! Endpoints for a repository itself and for the permissions of its collaborators.

use serde_json::json;

use crate::json::role_permissions;
use crate::model::{Role, TokenOwner, User};
use crate::repository_call::RepositoryCall;
use crate::response::{ApiResponse, ApiResult};

/// `GET /repos/{owner}/{repo}`.
pub(super) fn get(call: &RepositoryCall<'_>) -> ApiResult {
    let repository = call.repository()?;
    let mut body = call.renderer().repository(repository);
    if let TokenOwner::Person(id) = call.token.owner {
        body["permissions"] = role_permissions(&repository.role(id));
    }
    Ok(ApiResponse::ok(body))
}

/// `GET …/collaborators/{username}/permission`. Every existing account has a permission, which may
/// be `none`.
pub(super) fn permission(call: &RepositoryCall<'_>, login: &str) -> ApiResult {
    if !call.has_access {
        return Err(ApiResponse::not_accessible_by_app());
    }
    let user = call.state.user(login).ok_or_else(ApiResponse::not_found)?;
    let role = call.repository()?.role(user.id);
    Ok(ApiResponse::ok(call.renderer().permission(user, &role)))
}

/// `GET …/collaborators`: everybody with a role, by login.
pub(super) fn collaborators(call: &RepositoryCall<'_>) -> ApiResult {
    require_push(call)?;
    let repository = call.repository()?;
    let mut people: Vec<(&User, Role)> = call
        .state
        .users
        .iter()
        .map(|user| (user, repository.role(user.id)))
        .filter(|(_, role)| *role != Role::None)
        .collect();
    people.sort_by(|(one, _), (other, _)| one.login.cmp(&other.login));
    let renderer = call.renderer();
    Ok(call.page(&people, |(user, role)| {
        let mut value = renderer.user(user);
        value["permissions"] = role_permissions(role);
        value["role_name"] = json!(role.role_name());
        value
    }))
}

/// `GET …/collaborators/{username}`: 204 or 404.
pub(super) fn check_collaborator(call: &RepositoryCall<'_>, login: &str) -> ApiResult {
    require_push(call)?;
    let user = call.state.user(login);
    let user = user.ok_or_else(ApiResponse::not_found_without_body)?;
    match call.repository()?.role(user.id) {
        Role::None => Err(ApiResponse::not_found_without_body()),
        _ => Ok(ApiResponse::no_content()),
    }
}

/// Collaborators are shown to those who may push, and to Apps.
fn require_push(call: &RepositoryCall<'_>) -> ApiResult<()> {
    if call.has_access {
        return Ok(());
    }
    let message = "Must have push access to view repository collaborators.";
    Err(ApiResponse::forbidden(message))
}
