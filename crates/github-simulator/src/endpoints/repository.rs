//! Endpoints for a repository itself and for the permissions of its collaborators.

use crate::json::role_permissions;
use crate::model::TokenOwner;
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
