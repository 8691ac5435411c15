//! Endpoints for the labels of a repository and of an issue.

use http::StatusCode;
use serde_json::{Map, Value};

use crate::model::{Role, TokenOwner};
use crate::repository_call::RepositoryCall;
use crate::request::{optional_text, required_text};
use crate::response::{ApiResponse, ApiResult};

/// Maximum length of a name, in characters. From GitHub's error messages.
const MAX_NAME: usize = 50;

/// Maximum length of a description, in characters (the description of `issues/create-label`).
const MAX_DESCRIPTION: usize = 100;

/// Parses a list of label names, given as strings or as objects with a member `name`.
pub(super) fn parse_names(list: &Value) -> ApiResult<Vec<String>> {
    let invalid = || ApiResponse::validation_failed("Label", "name", "invalid");
    let parse = |label: &Value| {
        label
            .as_str()
            .or_else(|| label.get("name").and_then(Value::as_str))
            .filter(|name| !name.is_empty() && name.chars().count() <= MAX_NAME)
            .map(str::to_owned)
            .ok_or_else(invalid)
    };
    let list = list.as_array().ok_or_else(invalid)?;
    list.iter().map(parse).collect()
}

/// Handles the paths below `…/labels`.
pub(super) fn handle_repository(call: &mut RepositoryCall<'_>, path: &[&str]) -> ApiResult {
    call.require_permission(&["issues", "pull_requests"])?;
    match (call.request.method.as_str(), path) {
        ("GET", []) => {
            let repository = call.repository()?;
            let renderer = call.renderer();
            Ok(call.page(&repository.labels, |one| renderer.label(repository, one)))
        }
        ("GET", [name]) => {
            let repository = call.repository()?;
            let label = repository.label(name).ok_or_else(ApiResponse::not_found)?;
            Ok(ApiResponse::ok(call.renderer().label(repository, label)))
        }
        ("POST", []) => create(call),
        _ => Err(ApiResponse::not_found()),
    }
}

fn colour_of(members: &Map<String, Value>) -> ApiResult<&str> {
    let colour = optional_text(members, "color")?.unwrap_or("ededed");
    if colour.len() == 6 && colour.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(colour)
    } else {
        Err(ApiResponse::validation_failed("Label", "color", "invalid"))
    }
}

fn create(call: &mut RepositoryCall<'_>) -> ApiResult {
    // Read permission allows people to open issues, but not to create labels.
    if let TokenOwner::Person(id) = call.token.owner
        && matches!(
            call.repository()?.role(id),
            Role::None | Role::Read | Role::Triage
        )
    {
        return Err(ApiResponse::not_accessible_by_person());
    }
    let too_long = |field, message| {
        let error = ApiResponse::validation_message("Label", field, "custom", message);
        Err(error)
    };
    let members = call.request.members()?;
    let name = required_text(&members, "name")?;
    if name.is_empty() {
        let error = ApiResponse::validation_failed("Label", "name", "missing_field");
        return Err(error);
    }
    if name.chars().count() > MAX_NAME {
        return too_long("name", "name is too long (maximum is 50 characters)");
    }
    let colour = colour_of(&members)?;
    let description = optional_text(&members, "description")?;
    if description.is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
        let message = "description is too long (maximum is 100 characters)";
        return too_long("description", message);
    }
    if call.repository()?.label(name).is_some() {
        let error = ApiResponse::validation_failed("Label", "name", "already_exists");
        return Err(error);
    }
    let actor = call.actor();
    let label = call
        .state
        .create_label(&actor, call.repository_id, name, colour, description)?;
    let body = call.renderer().label(call.repository()?, &label);
    Ok(ApiResponse::created(body))
}

/// Handles the paths below `…/issues/{number}/labels`.
pub(super) fn handle_issue(call: &mut RepositoryCall<'_>, number: u64, path: &[&str]) -> ApiResult {
    let actor = call.actor();
    let id = call.repository_id;
    match (call.request.method.as_str(), path) {
        ("GET", []) => {
            let repository = call.repository()?;
            let labels = repository.labels_of(call.state.issue(id, number)?);
            let renderer = call.renderer();
            Ok(call.page(&labels, |label| renderer.label(repository, label)))
        }
        ("POST", []) => {
            // A bare array is accepted too (description of `issues/add-labels`).
            let body = call.request.json()?;
            let list = body.get("labels").unwrap_or(&body);
            if list.as_array().is_none_or(Vec::is_empty) {
                return Err(ApiResponse::missing("labels"));
            }
            let names = parse_names(list)?;
            call.state.add_labels(&actor, id, number, &names)?;
            all_labels(call, number)
        }
        ("DELETE", [name]) => {
            if call.state.remove_label(&actor, id, number, name)? {
                all_labels(call, number)
            } else {
                // The message is from public issue threads.
                let message = "Label does not exist";
                Err(ApiResponse::error(StatusCode::NOT_FOUND, message))
            }
        }
        _ => Err(ApiResponse::not_found()),
    }
}

/// Returns all labels of an issue without paging, the response to a change of them.
fn all_labels(call: &RepositoryCall<'_>, number: u64) -> ApiResult {
    let repository = call.repository()?;
    let labels = repository.labels_of(call.state.issue(call.repository_id, number)?);
    let renderer = call.renderer();
    let list = labels
        .into_iter()
        .map(|one| renderer.label(repository, one));
    Ok(ApiResponse::ok(list.collect()))
}
