//! Endpoints for labels, in a repository and on an issue.

use http::StatusCode;
use serde_json::{Map, Value};

use crate::api::{Call, Scope, text};
use crate::issues::names;
use crate::json;
use crate::model::{Label, Role};
use crate::paging;
use crate::reply::Answer;
use crate::state::State;
use crate::tokens::Holder;

/// Longest name, in characters. From GitHub's error messages; not in the OpenAPI description.
pub(crate) const MAX_NAME: usize = 50;

/// Longest description, in characters (the description of `issues/create-label`).
const MAX_DESCRIPTION: usize = 100;

/// Everything below `…/labels`.
pub(crate) fn in_repository(
    state: &mut State,
    call: &Call,
    scope: &Scope,
    rest: &[&str],
) -> Result<Answer, Answer> {
    match (call.method.as_str(), rest) {
        ("GET", []) => {
            let repository = state.repository(scope.repository)?;
            Ok(paging::page(
                call,
                Some(repository.id),
                &repository.labels,
                |label| json::label(&call.base, repository, label),
            ))
        }
        ("GET", [name]) => {
            let repository = state.repository(scope.repository)?;
            let label = repository.label(name).ok_or_else(Answer::not_found)?;
            Ok(Answer::ok(json::label(&call.base, repository, label)))
        }
        ("POST", []) => create(state, call, scope),
        _ => Err(Answer::not_found()),
    }
}

fn colour(members: &Map<String, Value>) -> Result<String, Answer> {
    let colour = text(members, "color")?.unwrap_or("ededed");
    if colour.len() == 6 && colour.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(colour.to_owned())
    } else {
        Err(Answer::invalid("Label", "color", "invalid", None))
    }
}

fn create(state: &mut State, call: &Call, scope: &Scope) -> Result<Answer, Answer> {
    // Whoever may read may open issues, but not make labels.
    if let Holder::Person(id) = scope.token.holder
        && matches!(
            state.repository(scope.repository)?.role(id),
            Role::None | Role::Read | Role::Triage
        )
    {
        return Err(Answer::refuse(
            StatusCode::FORBIDDEN,
            "Resource not accessible by personal access token",
        ));
    }
    let members = call.members()?;
    let name = text(&members, "name")?.ok_or_else(|| Answer::missing("name"))?;
    if name.is_empty() {
        return Err(Answer::invalid("Label", "name", "missing_field", None));
    }
    if name.chars().count() > MAX_NAME {
        return Err(Answer::invalid(
            "Label",
            "name",
            "custom",
            Some("name is too long (maximum is 50 characters)"),
        ));
    }
    let colour = colour(&members)?;
    let description = text(&members, "description")?;
    if description.is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
        return Err(Answer::invalid(
            "Label",
            "description",
            "custom",
            Some("description is too long (maximum is 100 characters)"),
        ));
    }
    if state.repository(scope.repository)?.label(name).is_some() {
        return Err(Answer::invalid("Label", "name", "already_exists", None));
    }
    let by = state.doer(&scope.token);
    let label = state.create_label(&by, scope.repository, name, &colour, description)?;
    let repository = state.repository(scope.repository)?;
    Ok(Answer::created(json::label(&call.base, repository, &label)))
}

/// Everything below `…/issues/{number}/labels`.
pub(crate) fn on_issue(
    state: &mut State,
    call: &Call,
    scope: &Scope,
    number: u64,
    rest: &[&str],
) -> Result<Answer, Answer> {
    let by = state.doer(&scope.token);
    match (call.method.as_str(), rest) {
        ("GET", []) => {
            let repository = state.repository(scope.repository)?;
            let labels = repository.labels_of(state.issue(scope.repository, number)?);
            Ok(paging::page(call, Some(repository.id), &labels, |label| {
                json::label(&call.base, repository, label)
            }))
        }
        ("POST", []) => {
            // A bare array is taken as well (description of `issues/add-labels`).
            let body = call.json()?;
            let list = body.get("labels").unwrap_or(&body);
            if list.as_array().is_none_or(Vec::is_empty) {
                return Err(Answer::missing("labels"));
            }
            state.add_labels(&by, scope.repository, number, &names(list)?)?;
            remaining(state, call, scope, number)
        }
        ("DELETE", [name]) => {
            if state.remove_label(&by, scope.repository, number, name)? {
                remaining(state, call, scope, number)
            } else {
                // "Label does not exist" is in public issue threads; the OpenAPI description has the shape only.
                Err(Answer::refuse(
                    http::StatusCode::NOT_FOUND,
                    "Label does not exist",
                ))
            }
        }
        _ => Err(Answer::not_found()),
    }
}

/// All labels of an issue, not in pages: the answer to a change.
fn remaining(state: &State, call: &Call, scope: &Scope, number: u64) -> Result<Answer, Answer> {
    let repository = state.repository(scope.repository)?;
    let labels: Vec<&Label> = repository.labels_of(state.issue(scope.repository, number)?);
    let list = labels
        .into_iter()
        .map(|label| json::label(&call.base, repository, label))
        .collect();
    Ok(Answer::ok(Value::Array(list)))
}
