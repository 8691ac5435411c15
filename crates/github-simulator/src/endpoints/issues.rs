//! Endpoints for issues.

use std::cmp::Reverse;

use serde_json::{Map, Value, json};

use super::labels::parse_names;
use crate::actions::IssueChange;
use crate::model::Issue;
use crate::repository_call::RepositoryCall;
use crate::request::optional_text;
use crate::response::{ApiResponse, ApiResult};

/// Maximum length of a title, in characters. From public issue threads.
const MAX_TITLE: usize = 256;

/// Maximum length of a body, in characters. From public issue threads ("Body is too long (maximum
/// is 65536 characters)").
const MAX_BODY: usize = 65_536;

/// Maximum length of a body, in bytes: 65,536 characters of four bytes.
const MAX_BODY_BYTES: usize = 262_144;

/// Returns whether GitHub accepts a body of this length.
pub(super) fn is_body_short_enough(body: &str) -> bool {
    body.len() <= MAX_BODY_BYTES && body.chars().count() <= MAX_BODY
}

fn check_title(title: &str) -> ApiResult<&str> {
    if title.trim().is_empty() {
        let error = ApiResponse::validation_failed("Issue", "title", "missing_field");
        return Err(error);
    }
    if title.chars().count() > MAX_TITLE {
        let message = "title is too long (maximum is 256 characters)";
        let error = ApiResponse::validation_message("Issue", "title", "custom", message);
        return Err(error);
    }
    Ok(title)
}

fn body_of(members: &Map<String, Value>) -> ApiResult<Option<&str>> {
    let body = optional_text(members, "body")?;
    if body.is_some_and(|body| !is_body_short_enough(body)) {
        let message = "body is too long (maximum is 65536 characters)";
        let error = ApiResponse::validation_message("Issue", "body", "custom", message);
        return Err(error);
    }
    Ok(body)
}

fn render(call: &RepositoryCall<'_>, number: u64) -> ApiResult<Value> {
    let issue = call.state.issue(call.repository_id, number)?;
    Ok(call.renderer().issue(call.repository()?, issue))
}

/// `GET …/issues/{number}`.
pub(super) fn get(call: &RepositoryCall<'_>, number: u64) -> ApiResult {
    render(call, number).map(ApiResponse::ok)
}

/// `POST …/issues`.
pub(super) fn create(call: &mut RepositoryCall<'_>) -> ApiResult {
    call.require_permission(&["issues"])?;
    call.require_issues_enabled()?;
    let members = call.request.members()?;
    let title = match members.get("title") {
        None | Some(Value::Null) => return Err(ApiResponse::missing("title")),
        Some(Value::Number(number)) => number.to_string(),
        Some(_) => optional_text(&members, "title")?
            .unwrap_or_default()
            .to_owned(),
    };
    let title = check_title(&title)?;
    let body = body_of(&members)?;
    let labels = members.get("labels").map_or(Ok(Vec::new()), parse_names)?;
    let actor = call.actor();
    let id = call.repository_id;
    let number = call
        .state
        .open_issue(&actor, id, None, title, body, &labels)?;
    render(call, number).map(ApiResponse::created)
}

/// `PATCH …/issues/{number}`.
pub(super) fn update(call: &mut RepositoryCall<'_>, number: u64) -> ApiResult {
    let members = call.request.members()?;
    let body = body_of(&members)?.unwrap_or_default().to_owned();
    let title = optional_text(&members, "title")?;
    let change = IssueChange {
        title: title.map(check_title).transpose()?.map(str::to_owned),
        body: members.contains_key("body").then_some(body),
        closed: match optional_text(&members, "state")? {
            None => None,
            Some("open") => Some(false),
            Some("closed") => Some(true),
            Some(_) => return Err(ApiResponse::validation_failed("Issue", "state", "invalid")),
        },
        state_reason: optional_text(&members, "state_reason")?.map(str::to_owned),
        labels: members.get("labels").map(parse_names).transpose()?,
    };
    let actor = call.actor();
    call.state
        .edit_issue(&actor, call.repository_id, number, change)?;
    render(call, number).map(ApiResponse::ok)
}

/// `GET …/issues/{number}/events`, the oldest first. Only changes of labels are recorded.
pub(super) fn events(call: &RepositoryCall<'_>, number: u64) -> ApiResult {
    let issue = call.state.issue(call.repository_id, number)?;
    let repository = call.repository()?;
    let renderer = call.renderer();
    let events: Vec<_> = issue.events.iter().collect();
    Ok(call.page(&events, |event| renderer.label_event(repository, event)))
}

/// `GET …/issues/{number}/timeline`: comments and changes of labels, the oldest first.
pub(super) fn timeline(call: &RepositoryCall<'_>, number: u64) -> ApiResult {
    let issue = call.state.issue(call.repository_id, number)?;
    let repository = call.repository()?;
    let renderer = call.renderer();
    let events = issue
        .events
        .iter()
        .map(|event| (event.id, renderer.label_event(repository, event)));
    let comments = issue.comments.iter();
    let comments = comments
        .filter_map(|id| call.state.comments.get(id))
        .filter(|comment| call.state.is_listed(comment.created))
        .map(|comment| {
            let mut value = renderer.comment(repository, issue, comment);
            value["event"] = json!("commented");
            value["actor"] = value["user"].clone();
            (comment.id, value)
        });
    let mut items: Vec<_> = events.chain(comments).collect();
    // Ids grow with time.
    items.sort_by_key(|(id, _)| *id);
    Ok(call.page(&items, |(_, value)| value.clone()))
}

/// `PUT` and `DELETE …/issues/{number}/lock`.
pub(super) fn lock(call: &mut RepositoryCall<'_>, number: u64, locked: bool) -> ApiResult {
    let members = call.request.members()?;
    let reason = optional_text(&members, "lock_reason")?;
    let known = ["off-topic", "too heated", "resolved", "spam"];
    if reason.is_some_and(|reason| !known.contains(&reason)) {
        let error = ApiResponse::validation_failed("Issue", "lock_reason", "invalid");
        return Err(error);
    }
    let actor = call.actor();
    call.state
        .set_locked(&actor, call.repository_id, number, locked)?;
    Ok(ApiResponse::no_content())
}

/// `GET …/issues`, which includes pull requests.
pub(super) fn list(call: &RepositoryCall<'_>) -> ApiResult {
    call.require_permission(&["issues"])?;
    call.require_issues_enabled()?;
    let request = call.request;
    let repository = call.repository()?;
    let since = request.query_time("since")?;
    let closed = match request.query("state").unwrap_or("open") {
        "open" => Some(false),
        "closed" => Some(true),
        "all" => None,
        _ => return Err(ApiResponse::validation_failed("Issue", "state", "invalid")),
    };
    let labels = request.query("labels").map(|list| list.split(','));
    let labels: Vec<&str> = labels.into_iter().flatten().map(str::trim).collect();
    // Issues of an App are found by `slug[bot]` and by `app/slug` (public issue threads).
    let creator = request.query("creator");
    let creator = creator.map(|name| match name.strip_prefix("app/") {
        Some(slug) => format!("{slug}[bot]"),
        None => name.to_owned(),
    });
    let has_label = |issue: &Issue, name: &str| {
        let mut labels = issue.labels.iter();
        labels.any(|label| label.eq_ignore_ascii_case(name))
    };
    let is_match = |issue: &&Issue| {
        let author = &issue.author.login;
        call.state.is_listed(issue.created)
            && closed.is_none_or(|closed| issue.closed.is_some() == closed)
            && since.is_none_or(|since| issue.updated.timestamp() >= since.timestamp())
            && creator
                .as_ref()
                .is_none_or(|name| author.eq_ignore_ascii_case(name))
            && labels.iter().all(|name| has_label(issue, name))
    };
    let mut found: Vec<&Issue> = repository.issues.values().filter(is_match).collect();
    let sort = request.query("sort").unwrap_or("created");
    let sort_key = |issue: &Issue| {
        let key = match sort {
            "updated" => issue.updated.timestamp_millis(),
            "comments" => i64::try_from(issue.comments.len()).unwrap_or(i64::MAX),
            _ => issue.created.timestamp_millis(),
        };
        (key, issue.number)
    };
    if request.query("direction") == Some("asc") {
        found.sort_by_key(|issue| sort_key(issue));
    } else {
        found.sort_by_key(|issue| Reverse(sort_key(issue)));
    }
    let renderer = call.renderer();
    Ok(call.page(&found, |issue| renderer.issue(repository, issue)))
}
