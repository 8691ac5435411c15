//! `GET /search/issues`: the qualifiers that Apps search with. Others are refused rather than
//! ignored.

use std::cmp::Reverse;

use serde_json::{Value, json};

use crate::model::{Issue, Repository, Token};
use crate::request::ApiRequest;
use crate::response::{ApiResponse, ApiResult};
use crate::state::State;

/// Maximum length of a query, in characters
/// (<https://docs.github.com/en/rest/search/search#limitations-on-query-length>).
const MAX_QUERY: usize = 256;

/// A query.
#[derive(Debug, Default)]
struct Query {
    repository: Option<String>,
    labels: Vec<String>,
    author: Option<String>,
    is_closed: Option<bool>,
    is_pull: Option<bool>,
    in_title_only: bool,
    words: Vec<String>,
}

/// Splits a query at spaces outside quotation marks, which are removed.
fn terms(query: &str) -> Vec<String> {
    let mut terms = vec![String::new()];
    let mut quoted = false;
    for character in query.chars() {
        match character {
            '"' => quoted = !quoted,
            ' ' if !quoted => terms.push(String::new()),
            other => {
                if let Some(term) = terms.last_mut() {
                    term.push(other);
                }
            }
        }
    }
    terms.retain(|term| !term.is_empty());
    terms
}

impl Query {
    fn parse(text: &str) -> ApiResult<Self> {
        let mut query = Self::default();
        for term in terms(text) {
            match term.split_once(':') {
                Some(("repo", name)) => query.repository = Some(name.to_owned()),
                Some(("label", name)) => query.labels.push(name.to_owned()),
                Some(("author", login)) => query.author = Some(login.to_owned()),
                Some(("in", "title")) => query.in_title_only = true,
                Some(("is" | "state" | "type", value)) => match value {
                    "open" => query.is_closed = Some(false),
                    "closed" => query.is_closed = Some(true),
                    "issue" => query.is_pull = Some(false),
                    "pr" | "pull-request" => query.is_pull = Some(true),
                    _ => return Err(unsupported(&term)),
                },
                Some(_) => return Err(unsupported(&term)),
                None if term.starts_with('-') => return Err(unsupported(&term)),
                None => query.words.push(term.to_lowercase()),
            }
        }
        Ok(query)
    }

    fn matches(&self, issue: &Issue) -> bool {
        let same = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
        let mut text = issue.title.to_lowercase();
        if !self.in_title_only {
            text.push('\n');
            text.push_str(&issue.body.as_deref().unwrap_or_default().to_lowercase());
        }
        self.labels
            .iter()
            .all(|name| issue.labels.iter().any(|label| same(label, name)))
            && self
                .author
                .as_ref()
                .is_none_or(|login| same(&issue.author.login, login))
            && self
                .is_closed
                .is_none_or(|closed| issue.closed.is_some() == closed)
            && self.is_pull.is_none_or(|pull| issue.pull.is_some() == pull)
            && self.words.iter().all(|word| text.contains(word))
    }
}

fn unsupported(term: &str) -> ApiResponse {
    let message = format!("the simulator does not search for `{term}`");
    ApiResponse::validation_message("Search", "q", "invalid", &message)
}

/// Handles the request. The newest issues come first; nothing is scored.
pub(super) fn issues(state: &State, request: &ApiRequest, token: &Token) -> ApiResult {
    let text = request
        .query("q")
        .ok_or_else(|| ApiResponse::validation_failed("Search", "q", "missing"))?;
    if text.chars().count() > MAX_QUERY {
        let message = "The search is longer than 256 characters.";
        let error = ApiResponse::validation_message("Search", "q", "invalid", message);
        return Err(error);
    }
    let query = Query::parse(text)?;
    let is_visible = |one: &&Repository| !one.private || state.has_access(token, one);
    let is_named = |one: &&Repository| {
        let mut name = query.repository.iter();
        name.all(|name| one.full_name().eq_ignore_ascii_case(name))
    };
    let repositories = state.repositories.values();
    let repositories: Vec<_> = repositories
        .filter(is_visible)
        .filter(is_named)
        .filter(|one| one.has_issues)
        .collect();
    if repositories.is_empty() && query.repository.is_some() {
        let message = "The listed users and repositories cannot be searched either because the resources do not exist or \
                       you do not have permission to view them.";
        let error = ApiResponse::validation_message("Search", "q", "invalid", message);
        return Err(error);
    }
    let mut found: Vec<(&Repository, &Issue)> = repositories
        .into_iter()
        .flat_map(|one| one.issues.values().map(move |issue| (one, issue)))
        .filter(|(_, issue)| state.is_listed(issue.created) && query.matches(issue))
        .collect();
    found.sort_by_key(|(_, issue)| Reverse((issue.created, issue.id)));
    let renderer = state.renderer(&request.urls);
    let page = request.page(None, &found, |(repository, issue)| {
        let mut value = renderer.issue(repository, issue);
        value["score"] = json!(1.0);
        value
    });
    Ok(page.map_json(|items: Value| {
        json!({
            "total_count": found.len(),
            "incomplete_results": false,
            "items": items,
            "search_type": "lexical",
        })
    }))
}
