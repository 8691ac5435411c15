//! Endpoints for comments on issues and pull requests.

use serde_json::Value;

use super::issues::is_body_short_enough;
use crate::model::{Actor, Comment};
use crate::repository_call::RepositoryCall;
use crate::request::required_text;
use crate::response::{ApiResponse, ApiResult};

fn render(call: &RepositoryCall<'_>, id: u64) -> ApiResult<Value> {
    let comment = call.state.comment(id)?;
    let repository = call.state.repository(comment.repository)?;
    let issue = call.state.issue(comment.repository, comment.number)?;
    Ok(call.renderer().comment(repository, issue, comment))
}

/// Returns the comment's body in a request.
fn requested_body(call: &RepositoryCall<'_>) -> ApiResult<String> {
    let members = call.request.members()?;
    let body = required_text(&members, "body")?;
    let message = if body.trim().is_empty() {
        "Body cannot be blank"
    } else if !is_body_short_enough(body) {
        // Limit and message are from a public issue thread (jmikedupont2/ai-ticket#51).
        "Body is too long (maximum is 65536 characters)"
    } else {
        return Ok(body.to_owned());
    };
    let error = ApiResponse::validation_message("IssueComment", "data", "unprocessable", message);
    Err(error)
}

/// Returns the actor of the request, who must be allowed to edit the comment.
fn editor(call: &RepositoryCall<'_>, id: u64) -> ApiResult<Actor> {
    let actor = call.actor();
    if call.state.can_edit_comment(&actor, id)? {
        Ok(actor)
    } else {
        // The message is from a public issue thread (graalvm/mandrel#945).
        let message = "Must have admin rights to Repository.";
        Err(ApiResponse::forbidden(message))
    }
}

/// `GET …/issues/comments/{id}`.
pub(super) fn get(call: &RepositoryCall<'_>, id: u64) -> ApiResult {
    render(call, id).map(ApiResponse::ok)
}

/// `POST …/issues/{number}/comments`.
pub(super) fn create(call: &mut RepositoryCall<'_>, number: u64) -> ApiResult {
    let body = requested_body(call)?;
    let actor = call.actor();
    let repository = call.repository_id;
    if call.state.is_locked_for(&actor, repository, number)? {
        // The message is from a public issue thread (renovatebot/renovate#6215).
        let message = "Unable to create comment because issue is locked.";
        return Err(ApiResponse::forbidden(message));
    }
    let id = call.state.add_comment(&actor, repository, number, &body)?;
    render(call, id).map(ApiResponse::created)
}

/// `PATCH …/issues/comments/{id}`.
pub(super) fn update(call: &mut RepositoryCall<'_>, id: u64) -> ApiResult {
    let actor = editor(call, id)?;
    let body = requested_body(call)?;
    call.state.edit_comment(&actor, id, &body)?;
    render(call, id).map(ApiResponse::ok)
}

/// `DELETE …/issues/comments/{id}`.
pub(super) fn delete(call: &mut RepositoryCall<'_>, id: u64) -> ApiResult {
    let actor = editor(call, id)?;
    call.state.delete_comment(&actor, id)?;
    Ok(ApiResponse::no_content())
}

/// `GET …/issues/{number}/comments`, in ascending order of ids.
pub(super) fn list(call: &RepositoryCall<'_>, number: u64) -> ApiResult {
    let ids = &call.state.issue(call.repository_id, number)?.comments;
    let comments = ids.iter().filter_map(|id| call.state.comments.get(id));
    page(call, comments.collect())
}

/// `GET …/issues/comments`: all comments of the repository.
pub(super) fn list_all(call: &RepositoryCall<'_>) -> ApiResult {
    call.require_permission(&["issues", "pull_requests"])?;
    let comments = call.state.comments.values();
    let mut found: Vec<&Comment> = comments
        .filter(|comment| comment.repository == call.repository_id)
        .collect();
    let sort = call.request.query("sort");
    if sort == Some("updated") {
        found.sort_by_key(|comment| (comment.updated, comment.id));
    }
    if sort.is_some() && call.request.query("direction") != Some("asc") {
        found.reverse();
    }
    page(call, found)
}

fn page(call: &RepositoryCall<'_>, mut comments: Vec<&Comment>) -> ApiResult {
    comments.retain(|comment| call.state.is_listed(comment.created));
    if let Some(since) = call.request.query_time("since")? {
        // Times in JSON have whole seconds.
        comments.retain(|comment| comment.updated.timestamp() >= since.timestamp());
    }
    Ok(call.page(&comments, |comment| {
        render(call, comment.id).unwrap_or(Value::Null)
    }))
}
