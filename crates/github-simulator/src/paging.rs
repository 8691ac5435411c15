//! Pages of a list and their `Link` header.

use serde_json::Value;
use url::form_urlencoded;

use crate::api::Call;
use crate::json::segment;
use crate::reply::Answer;

/// Items on a page when the request does not say.
const DEFAULT_PER_PAGE: usize = 30;

/// Most items on a page.
const MAX_PER_PAGE: usize = 100;

/// Items per page as asked for; nonsense means the default.
pub(crate) fn per_page(call: &Call) -> usize {
    call.query("per_page")
        .and_then(|text| text.parse().ok())
        .filter(|count| *count > 0)
        .map_or(DEFAULT_PER_PAGE, |count: usize| count.min(MAX_PER_PAGE))
}

/// The address of this request with other query parameters.
///
/// Links name a repository by its id, `/repositories/{id}/…`, as GitHub's own do (recorded in `@octokit/fixtures`,
/// scenario `paginate-issues`); a client that builds addresses instead of following links is found out.
pub(crate) fn link(call: &Call, repository: Option<u64>, replace: &[(&str, String)]) -> String {
    let mut path = String::new();
    let skip = match repository {
        Some(id) => {
            path.push_str("/repositories/");
            path.push_str(&id.to_string());
            3
        }
        None => 0,
    };
    for part in call.path.iter().skip(skip) {
        path.push('/');
        path.push_str(&segment(part));
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in &call.query {
        if !replace.iter().any(|(other, _)| other == name) {
            query.append_pair(name, value);
        }
    }
    for (name, value) in replace {
        query.append_pair(name, value);
    }
    format!("{}{path}?{}", call.base.api, query.finish())
}

/// The page of `items` that was asked for, with links in GitHub's order: prev, next, last, first.
pub(crate) fn page<T>(
    call: &Call,
    repository: Option<u64>,
    items: &[T],
    render: impl FnMut(&T) -> Value,
) -> Answer {
    let size = per_page(call);
    let page: usize = call
        .query("page")
        .and_then(|text| text.parse().ok())
        .filter(|page| *page > 0)
        .unwrap_or(1);
    let last = items.len().div_ceil(size).max(1);
    let body: Vec<Value> = items
        .iter()
        .skip((page - 1).saturating_mul(size))
        .take(size)
        .map(render)
        .collect();
    let mut links = Vec::new();
    let mut add = |page: usize, relation: &str| {
        let url = link(call, repository, &[("page", page.to_string())]);
        links.push(format!("<{url}>; rel=\"{relation}\""));
    };
    if page > 1 {
        add((page - 1).min(last), "prev");
    }
    if page < last {
        add(page + 1, "next");
        add(last, "last");
    }
    if page > 1 {
        add(1, "first");
    }
    let answer = Answer::ok(Value::Array(body));
    if links.is_empty() {
        answer
    } else {
        answer.header("link", links.join(", "))
    }
}
