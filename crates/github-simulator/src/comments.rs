//! Endpoints for comments on issues and pull requests.

use http::StatusCode;
use serde_json::Value;

use crate::api::{Call, Scope, text};
use crate::issues::fits;
use crate::json;
use crate::model::Comment;
use crate::paging;
use crate::reply::Answer;
use crate::state::{Doer, State};

fn render(state: &State, call: &Call, id: u64) -> Result<Value, Answer> {
    let comment = state.comment(id)?;
    let repository = state.repository(comment.repository)?;
    let issue = state.issue(comment.repository, comment.number)?;
    Ok(json::comment(state, &call.base, repository, issue, comment))
}

/// The body of a request that writes a comment.
fn body(call: &Call) -> Result<String, Answer> {
    let members = call.members()?;
    let body = text(&members, "body")?.ok_or_else(|| Answer::missing("body"))?;
    if body.trim().is_empty() {
        return Err(Answer::invalid(
            "IssueComment",
            "data",
            "unprocessable",
            Some("Body cannot be blank"),
        ));
    }
    // Limit and words are from a public issue thread (jmikedupont2/ai-ticket#51), not from the OpenAPI description.
    if !fits(body) {
        return Err(Answer::invalid(
            "IssueComment",
            "data",
            "unprocessable",
            Some("Body is too long (maximum is 65536 characters)"),
        ));
    }
    Ok(body.to_owned())
}

/// Who writes, where that may change this comment.
fn editor(state: &State, scope: &Scope, id: u64) -> Result<Doer, Answer> {
    let by = state.doer(&scope.token);
    if state.may_edit(&by, id)? {
        Ok(by)
    } else {
        // Words from a public issue thread (graalvm/mandrel#945), not from the OpenAPI description.
        Err(Answer::refuse(
            StatusCode::FORBIDDEN,
            "Must have admin rights to Repository.",
        ))
    }
}

/// `GET …/issues/comments/{id}`.
pub(crate) fn get(state: &State, call: &Call, id: u64) -> Result<Answer, Answer> {
    render(state, call, id).map(Answer::ok)
}

/// `POST …/issues/{number}/comments`.
pub(crate) fn create(
    state: &mut State,
    call: &Call,
    scope: &Scope,
    number: u64,
) -> Result<Answer, Answer> {
    let body = body(call)?;
    let by = state.doer(&scope.token);
    if state.is_locked_for(&by, scope.repository, number)? {
        // Words from a public issue thread (renovatebot/renovate#6215), not from the OpenAPI description.
        return Err(Answer::refuse(
            StatusCode::FORBIDDEN,
            "Unable to create comment because issue is locked.",
        ));
    }
    let id = state.comment_on(&by, scope.repository, number, &body)?;
    render(state, call, id).map(Answer::created)
}

/// `PATCH …/issues/comments/{id}`.
pub(crate) fn update(
    state: &mut State,
    call: &Call,
    scope: &Scope,
    id: u64,
) -> Result<Answer, Answer> {
    let by = editor(state, scope, id)?;
    let body = body(call)?;
    state.edit_comment(&by, id, &body)?;
    render(state, call, id).map(Answer::ok)
}

/// `DELETE …/issues/comments/{id}`.
pub(crate) fn delete(state: &mut State, scope: &Scope, id: u64) -> Result<Answer, Answer> {
    let by = editor(state, scope, id)?;
    state.delete_comment(&by, id)?;
    Ok(Answer::empty())
}

/// `GET …/issues/{number}/comments`, ascending by id.
pub(crate) fn list(
    state: &State,
    call: &Call,
    scope: &Scope,
    number: u64,
) -> Result<Answer, Answer> {
    let ids = &state.issue(scope.repository, number)?.comments;
    let found: Vec<&Comment> = ids
        .iter()
        .filter_map(|id| state.comments.get(id))
        .filter(|comment| state.is_listed(comment.created))
        .collect();
    listed(state, call, scope, found)
}

/// `GET …/issues/comments`: every comment in the repository.
pub(crate) fn list_all(state: &State, call: &Call, scope: &Scope) -> Result<Answer, Answer> {
    scope.need(&["issues", "pull_requests"], false)?;
    let mut found: Vec<&Comment> = state
        .comments
        .values()
        .filter(|comment| comment.repository == scope.repository)
        .filter(|comment| state.is_listed(comment.created))
        .collect();
    if call.query("sort") == Some("updated") {
        found.sort_by_key(|comment| (comment.updated, comment.id));
    }
    if call.query("sort").is_some() && call.query("direction") != Some("asc") {
        found.reverse();
    }
    listed(state, call, scope, found)
}

fn listed(
    state: &State,
    call: &Call,
    scope: &Scope,
    mut found: Vec<&Comment>,
) -> Result<Answer, Answer> {
    if let Some(since) = call.query_time("since")? {
        // Times have whole seconds on the wire.
        found.retain(|comment| comment.updated.timestamp() >= since.timestamp());
    }
    Ok(paging::page(
        call,
        Some(scope.repository),
        &found,
        |comment| render(state, call, comment.id).unwrap_or(Value::Null),
    ))
}
