//! Endpoints for check runs. Only Apps may create and update them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::code::{find_commit, no_such_commit};
use crate::model::{Annotation, CheckRun, Repository, TokenOwner};
use crate::repository_call::RepositoryCall;
use crate::request::{optional_text, required_text};
use crate::response::{ApiResponse, ApiResult};
use crate::state::State;

/// Maximum number of annotations in one request (the description of `checks/create`).
const MAX_ANNOTATIONS: usize = 50;

/// Maximum length of summary and text, in bytes. The description says characters, public issue
/// threads say bytes.
const MAX_TEXT: usize = 65_535;

/// Maximum length of message and raw details of an annotation, in bytes ("64 KB").
const MAX_MESSAGE: usize = 64 * 1024;

/// Maximum length of the title of an annotation, in characters.
const MAX_TITLE: usize = 255;

/// Values of `status`.
const STATUSES: [&str; 3] = ["queued", "in_progress", "completed"];

/// Values of `conclusion`.
const CONCLUSIONS: [&str; 7] = [
    "action_required",
    "cancelled",
    "failure",
    "neutral",
    "success",
    "skipped",
    "timed_out",
];

/// Handles the paths below `…/check-runs`.
pub(super) fn handle(call: &mut RepositoryCall<'_>, path: &[&str]) -> ApiResult {
    if call.request.is_write() && matches!(call.token.owner, TokenOwner::Person(_)) {
        // The message is from public issue threads.
        let message = "You must authenticate via a GitHub App.";
        return Err(ApiResponse::forbidden(message));
    }
    call.require_permission(&["checks"])?;
    match (call.request.method.as_str(), path) {
        ("POST", []) => create(call),
        ("GET", [id]) => {
            let run = find(call.repository()?, id)?;
            render(call, run).map(ApiResponse::ok)
        }
        ("PATCH", [id]) => update(call, id),
        ("GET", [id, "annotations"]) => {
            let repository = call.repository()?;
            let run = find(repository, id)?;
            let renderer = call.renderer();
            Ok(call.page(&run.annotations, |annotation| {
                renderer.annotation(repository, run, annotation)
            }))
        }
        _ => Err(ApiResponse::not_found()),
    }
}

/// `GET …/commits/{ref}/check-runs`.
pub(super) fn list_for_commit(call: &RepositoryCall<'_>, name: &str) -> ApiResult {
    call.require_permission(&["checks"])?;
    let repository = call.repository()?;
    let commit = find_commit(repository, name)?;
    let latest = match call.request.query("filter") {
        None | Some("latest") => true,
        Some("all") => false,
        Some(_) => {
            let error = ApiResponse::validation_failed("CheckRun", "filter", "invalid");
            return Err(error);
        }
    };
    let matches = |parameter: &str, value: &str| {
        let wanted = call.request.query(parameter);
        wanted.is_none_or(|wanted| wanted == value)
    };
    let app_id = call.state.app.id.to_string();
    let mut runs: Vec<&CheckRun> = repository
        .check_runs
        .values()
        .rev()
        .filter(|run| matches("app_id", &app_id) && run.head_sha == commit.sha)
        .filter(|run| matches("check_name", &run.name))
        .filter(|run| matches("status", &run.status))
        .collect();
    if latest {
        let mut seen = BTreeSet::new();
        runs.retain(|run| seen.insert(run.name.as_str()));
    }
    let renderer = call.renderer();
    let page = call.page(&runs, |run| renderer.check_run(repository, run));
    Ok(page.map_json(|list| json!({"total_count": runs.len(), "check_runs": list})))
}

fn find<'a>(repository: &'a Repository, id: &str) -> ApiResult<&'a CheckRun> {
    let run = id
        .parse()
        .ok()
        .and_then(|id| repository.check_runs.get(&id));
    run.ok_or_else(ApiResponse::not_found)
}

fn render(call: &RepositoryCall<'_>, run: &CheckRun) -> ApiResult<Value> {
    Ok(call.renderer().check_run(call.repository()?, run))
}

/// Returns a member of an enumeration.
fn optional_choice(
    members: &Map<String, Value>,
    name: &str,
    choices: &[&str],
) -> ApiResult<Option<String>> {
    match optional_text(members, name)? {
        Some(value) if !choices.contains(&value) => {
            let reason =
                format!("For 'properties/{name}', {value} is not a member of {choices:?}.");
            Err(ApiResponse::invalid_request(&reason))
        }
        value => Ok(value.map(str::to_owned)),
    }
}

/// Returns a member that must be a string of at most `max` bytes if it is present.
fn optional_limited(
    members: &Map<String, Value>,
    name: &str,
    max: usize,
) -> ApiResult<Option<String>> {
    let text = optional_text(members, name)?;
    match text.map(str::len).filter(|length| *length > max) {
        Some(length) => Err(ApiResponse::invalid_request(&format!(
            "Only {max} characters are allowed; {length} were supplied."
        ))),
        None => Ok(text.map(str::to_owned)),
    }
}

/// Returns a member that must be present and a string of at most `max` bytes.
fn required_limited(members: &Map<String, Value>, name: &str, max: usize) -> ApiResult<String> {
    optional_limited(members, name, max)?.ok_or_else(|| ApiResponse::missing(name))
}

/// Returns a member that must be a positive integer if it is present.
fn optional_positive(members: &Map<String, Value>, name: &str) -> ApiResult<Option<u64>> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(number) if number > 0 => Ok(Some(number)),
            _ => Err(ApiResponse::invalid_request(&format!(
                "{value} is not a positive integer."
            ))),
        },
    }
}

/// Output of a check run in a request.
struct CheckOutput {
    title: String,
    summary: String,
    text: Option<String>,
    annotations: Vec<Annotation>,
}

fn parse_output(members: &Map<String, Value>) -> ApiResult<Option<CheckOutput>> {
    let invalid = |reason: String| Err(ApiResponse::invalid_request(&reason));
    let output = match members.get("output") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(output)) => output,
        Some(other) => return invalid(format!("{other} is not an object.")),
    };
    let annotations = match output.get("annotations") {
        None | Some(Value::Null) => &[],
        Some(Value::Array(list)) => list.as_slice(),
        Some(other) => return invalid(format!("{other} is not an array.")),
    };
    if annotations.len() > MAX_ANNOTATIONS {
        return invalid(format!(
            "No more than {MAX_ANNOTATIONS} items are allowed; {} were supplied.",
            annotations.len()
        ));
    }
    Ok(Some(CheckOutput {
        title: required_text(output, "title")?.to_owned(),
        summary: required_limited(output, "summary", MAX_TEXT)?,
        text: optional_limited(output, "text", MAX_TEXT)?,
        annotations: annotations
            .iter()
            .map(parse_annotation)
            .collect::<ApiResult<_>>()?,
    }))
}

fn parse_annotation(value: &Value) -> ApiResult<Annotation> {
    let Value::Object(members) = value else {
        let reason = format!("{value} is not an object.");
        return Err(ApiResponse::invalid_request(&reason));
    };
    let required_line =
        |name| optional_positive(members, name)?.ok_or_else(|| ApiResponse::missing(name));
    let annotation = Annotation {
        path: required_text(members, "path")?.to_owned(),
        start_line: required_line("start_line")?,
        end_line: required_line("end_line")?,
        start_column: optional_positive(members, "start_column")?,
        end_column: optional_positive(members, "end_column")?,
        level: required_text(members, "annotation_level")?.to_owned(),
        title: optional_text(members, "title")?.map(str::to_owned),
        message: required_limited(members, "message", MAX_MESSAGE)?,
        raw_details: optional_limited(members, "raw_details", MAX_MESSAGE)?,
    };
    let has_columns = annotation.start_column.is_some() || annotation.end_column.is_some();
    let title = annotation.title.as_deref().unwrap_or_default();
    if annotation.end_line < annotation.start_line
        || has_columns && annotation.end_line != annotation.start_line
        || !matches!(annotation.level.as_str(), "notice" | "warning" | "failure")
        || title.chars().count() > MAX_TITLE
    {
        let error = ApiResponse::validation_failed("CheckAnnotation", "data", "invalid");
        return Err(error);
    }
    Ok(annotation)
}

fn create(call: &mut RepositoryCall<'_>) -> ApiResult {
    let members = call.request.members()?;
    let name = required_text(&members, "name")?;
    let sha = required_text(&members, "head_sha")?;
    if !call.repository()?.commits.contains_key(sha) {
        return Err(no_such_commit(sha));
    }
    let external_id = optional_text(&members, "external_id")?.unwrap_or_default();
    let state = &*call.state;
    let mut run = CheckRun {
        id: 0,
        name: name.to_owned(),
        head_sha: sha.to_owned(),
        external_id: external_id.to_owned(),
        // "If the integrator does not provide this, then the homepage of the GitHub app is used."
        details_url: format!("{}/apps/{}", state.urls.web, state.app.slug),
        status: "queued".to_owned(),
        conclusion: None,
        started: state.now(),
        completed: None,
        title: None,
        summary: None,
        text: None,
        annotations: Vec::new(),
    };
    apply(state, &mut run, &members)?;
    run.id = call.state.new_id();
    store(call, run).map(ApiResponse::created)
}

fn update(call: &mut RepositoryCall<'_>, id: &str) -> ApiResult {
    let members = call.request.members()?;
    let mut run = find(call.repository()?, id)?.clone();
    if let Some(name) = optional_text(&members, "name")? {
        name.clone_into(&mut run.name);
    }
    if let Some(external_id) = optional_text(&members, "external_id")? {
        external_id.clone_into(&mut run.external_id);
    }
    apply(call.state, &mut run, &members)?;
    store(call, run).map(ApiResponse::ok)
}

/// Applies the members that creation and update have in common. Annotations are appended.
fn apply(state: &State, run: &mut CheckRun, members: &Map<String, Value>) -> ApiResult<()> {
    let status = optional_choice(members, "status", &STATUSES)?;
    let conclusion = optional_choice(members, "conclusion", &CONCLUSIONS)?;
    let completed = status.as_deref() == Some("completed") || members.contains_key("completed_at");
    if completed && conclusion.is_none() {
        return Err(ApiResponse::missing("conclusion"));
    }
    let output = parse_output(members)?;
    if let Some(url) = optional_text(members, "details_url")? {
        url.clone_into(&mut run.details_url);
    }
    if conclusion.is_some() {
        // "Providing `conclusion` will automatically set the `status` parameter to `completed`."
        "completed".clone_into(&mut run.status);
        run.completed = Some(state.now());
        run.conclusion = conclusion;
    } else if let Some(status) = status {
        run.status = status;
        run.completed = None;
        run.conclusion = None;
    }
    if let Some(output) = output {
        run.title = Some(output.title);
        run.summary = Some(output.summary);
        run.text = output.text;
        run.annotations.extend(output.annotations);
    }
    Ok(())
}

/// Stores a check run and renders it.
fn store(call: &mut RepositoryCall<'_>, run: CheckRun) -> ApiResult<Value> {
    let body = render(call, &run)?;
    let repository = call.state.repository_mut(call.repository_id)?;
    repository.check_runs.insert(run.id, run);
    Ok(body)
}
