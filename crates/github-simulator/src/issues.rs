//! Endpoints for issues.

use std::cmp::Reverse;

use http::StatusCode;
use serde_json::{Map, Value};

use crate::actions::IssueChange;
use crate::api::{Call, Scope, text};
use crate::json;
use crate::model::{Issue, Repository};
use crate::paging;
use crate::reply::Answer;
use crate::state::State;

/// Longest title, in characters. From issue threads; not in the OpenAPI description.
const MAX_TITLE: usize = 256;

/// Longest body, in characters. From issue threads ("Body is too long (maximum is 65536 characters)").
const MAX_BODY: usize = 65_536;

/// Longest body, in bytes: 65,536 characters of four bytes.
const MAX_BODY_BYTES: usize = 262_144;

/// True for a body that GitHub takes.
pub(crate) fn fits(body: &str) -> bool {
    body.len() <= MAX_BODY_BYTES && body.chars().count() <= MAX_BODY
}

/// Refuses when issues are disabled. The words are from a public issue thread (ossf/allstar#64).
pub(crate) fn enabled(repository: &Repository) -> Result<(), Answer> {
    if repository.has_issues {
        Ok(())
    } else {
        Err(Answer::refuse(
            StatusCode::GONE,
            "Issues are disabled for this repo",
        ))
    }
}

fn checked_title(title: &str) -> Result<&str, Answer> {
    if title.trim().is_empty() {
        return Err(Answer::invalid("Issue", "title", "missing_field", None));
    }
    if title.chars().count() > MAX_TITLE {
        return Err(Answer::invalid(
            "Issue",
            "title",
            "custom",
            Some("title is too long (maximum is 256 characters)"),
        ));
    }
    Ok(title)
}

fn checked_body(members: &Map<String, Value>) -> Result<Option<&str>, Answer> {
    let body = text(members, "body")?;
    if body.is_some_and(|body| !fits(body)) {
        return Err(Answer::invalid(
            "Issue",
            "body",
            "custom",
            Some("body is too long (maximum is 65536 characters)"),
        ));
    }
    Ok(body)
}

/// Label names from strings or `{name}` objects.
pub(crate) fn names(list: &Value) -> Result<Vec<String>, Answer> {
    let wrong = || Answer::invalid("Label", "name", "invalid", None);
    list.as_array()
        .ok_or_else(wrong)?
        .iter()
        .map(|one| {
            one.as_str()
                .or_else(|| one.get("name").and_then(Value::as_str))
                .filter(|name| !name.is_empty() && name.chars().count() <= super::labels::MAX_NAME)
                .map(str::to_owned)
                .ok_or_else(wrong)
        })
        .collect()
}

fn render(state: &State, call: &Call, scope: &Scope, number: u64) -> Result<Value, Answer> {
    let repository = state.repository(scope.repository)?;
    let issue = state.issue(scope.repository, number)?;
    Ok(json::issue(state, &call.base, repository, issue))
}

/// `GET …/issues/{number}`.
pub(crate) fn get(
    state: &State,
    call: &Call,
    scope: &Scope,
    number: u64,
) -> Result<Answer, Answer> {
    render(state, call, scope, number).map(Answer::ok)
}

/// `POST …/issues`.
pub(crate) fn create(state: &mut State, call: &Call, scope: &Scope) -> Result<Answer, Answer> {
    scope.need(&["issues"], true)?;
    enabled(state.repository(scope.repository)?)?;
    let members = call.members()?;
    let title = match members.get("title") {
        None | Some(Value::Null) => return Err(Answer::missing("title")),
        Some(Value::Number(number)) => number.to_string(),
        Some(_) => text(&members, "title")?.unwrap_or_default().to_owned(),
    };
    let title = checked_title(&title)?;
    let body = checked_body(&members)?;
    let labels = members.get("labels").map_or(Ok(Vec::new()), names)?;
    let by = state.doer(&scope.token);
    let number = state.open(&by, scope.repository, None, title, body, &labels)?;
    render(state, call, scope, number).map(Answer::created)
}

/// `PATCH …/issues/{number}`.
pub(crate) fn update(
    state: &mut State,
    call: &Call,
    scope: &Scope,
    number: u64,
) -> Result<Answer, Answer> {
    let members = call.members()?;
    let body = checked_body(&members)?.unwrap_or_default().to_owned();
    let change = IssueChange {
        title: text(&members, "title")?
            .map(checked_title)
            .transpose()?
            .map(str::to_owned),
        body: members.contains_key("body").then_some(body),
        closed: match text(&members, "state")? {
            None => None,
            Some("open") => Some(false),
            Some("closed") => Some(true),
            Some(_) => return Err(Answer::invalid("Issue", "state", "invalid", None)),
        },
        state_reason: text(&members, "state_reason")?.map(str::to_owned),
        labels: members.get("labels").map(names).transpose()?,
    };
    let by = state.doer(&scope.token);
    state.edit(&by, scope.repository, number, change)?;
    render(state, call, scope, number).map(Answer::ok)
}

/// `GET …/issues`: pull requests are in it too.
pub(crate) fn list(state: &State, call: &Call, scope: &Scope) -> Result<Answer, Answer> {
    scope.need(&["issues"], false)?;
    let repository = state.repository(scope.repository)?;
    enabled(repository)?;
    let since = call.query_time("since")?;
    let wanted = call.query("state").unwrap_or("open");
    if !matches!(wanted, "open" | "closed" | "all") {
        return Err(Answer::invalid("Issue", "state", "invalid", None));
    }
    let labels: Vec<&str> = call
        .query("labels")
        .map(|list| list.split(',').map(str::trim).collect())
        .unwrap_or_default();
    // An App's issues are found by `slug[bot]` and by `app/slug` (issue threads; not in the OpenAPI description).
    let creator = call
        .query("creator")
        .map(|name| match name.strip_prefix("app/") {
            Some(slug) => format!("{slug}[bot]"),
            None => name.to_owned(),
        });
    let mut found: Vec<&Issue> = repository
        .issues
        .values()
        .filter(|issue| state.is_listed(issue.created))
        .filter(|issue| match wanted {
            "open" => issue.closed.is_none(),
            "closed" => issue.closed.is_some(),
            _ => true,
        })
        .filter(|issue| since.is_none_or(|since| issue.updated.timestamp() >= since.timestamp()))
        .filter(|issue| {
            creator
                .as_ref()
                .is_none_or(|name| issue.author.login.eq_ignore_ascii_case(name))
        })
        .filter(|issue| {
            labels.iter().all(|name| {
                issue
                    .labels
                    .iter()
                    .any(|label| label.eq_ignore_ascii_case(name))
            })
        })
        .collect();
    let ascending = call.query("direction") == Some("asc");
    let sort = call.query("sort").unwrap_or("created");
    let key = |issue: &Issue| match sort {
        "updated" => (issue.updated.timestamp_millis(), issue.number),
        "comments" => (
            i64::try_from(issue.comments.len()).unwrap_or(i64::MAX),
            issue.number,
        ),
        _ => (issue.created.timestamp_millis(), issue.number),
    };
    if ascending {
        found.sort_by_key(|issue| key(issue));
    } else {
        found.sort_by_key(|issue| Reverse(key(issue)));
    }
    Ok(paging::page(call, Some(repository.id), &found, |issue| {
        json::issue(state, &call.base, repository, issue)
    }))
}
