//! Parsed requests, and pages of lists as they ask for them.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use http::request::Parts;
use http::{HeaderMap, Method};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::response::{ApiResponse, ApiResult};
use crate::state::State;
use crate::urls::{BaseUrls, encode_segment};

/// First path segments of the API; every other path is a page.
const API_ROOTS: [&str; 8] = [
    "app",
    "app-manifests",
    "installation",
    "rate_limit",
    "user",
    "repos",
    "repositories",
    "search",
];

/// Items on a page if the request does not say.
const DEFAULT_PER_PAGE: usize = 30;

/// Maximum number of items on a page.
const MAX_PER_PAGE: usize = 100;

/// A parsed request.
#[derive(Debug)]
pub(crate) struct ApiRequest {
    pub(crate) method: Method,
    /// Decoded segments without `api/v3`, with `repos/{owner}/{name}` for `repositories/{id}`.
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) urls: BaseUrls,
}

impl ApiRequest {
    pub(crate) fn parse(state: &State, parts: Parts, body: Bytes) -> Self {
        let mut path: Vec<String> = parts
            .uri
            .path()
            .split('/')
            .filter(|segment| !segment.is_empty())
            .map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned())
            .collect();
        // URLs in the response follow the requested host, so that clients stay behind a proxy.
        let host = parts.headers.get(http::header::HOST);
        let web = host
            .and_then(|host| host.to_str().ok())
            .map_or_else(|| state.urls.web.clone(), |host| format!("http://{host}"));
        let mut api = web.clone();
        if path.starts_with(&["api".to_owned(), "v3".to_owned()]) {
            api.push_str("/api/v3");
            path.drain(..2);
        }
        if let [first, id, ..] = path.as_slice()
            && first == "repositories"
            && let Ok(id) = id.parse()
            && let Some(repository) = state.repositories.get(&id)
        {
            let (owner, name) = (repository.owner.login.clone(), repository.name.clone());
            path.splice(..2, ["repos".to_owned(), owner, name]);
        }
        let query = parts.uri.query().unwrap_or_default();
        Self {
            method: parts.method,
            path,
            query: form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
            headers: parts.headers,
            body,
            urls: BaseUrls { api, web },
        }
    }

    /// Returns whether a program makes the request, rather than a browser for a page: by its path,
    /// or because it asks for JSON.
    pub(crate) fn is_api(&self) -> bool {
        let first = self.path.first();
        first.is_some_and(|first| API_ROOTS.contains(&first.as_str()))
            || self.path == ["login", "oauth", "access_token"]
            || self.urls.api != self.urls.web
            || self
                .header("accept")
                .is_some_and(|accept| accept.contains("json"))
    }

    /// Returns whether the method changes something.
    pub(crate) fn is_write(&self) -> bool {
        self.method != Method::GET
    }

    pub(crate) fn segments(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn authorization(&self) -> Option<&str> {
        self.header("authorization")
    }

    /// Returns whether the client asks for the raw content of a file.
    pub(crate) fn accepts_raw(&self) -> bool {
        self.header("accept")
            .is_some_and(|accept| accept.contains(".raw"))
    }

    /// Returns a query parameter that is not empty.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// Parses a query parameter as a time.
    pub(crate) fn query_time(&self, name: &str) -> ApiResult<Option<DateTime<Utc>>> {
        let parse = |text| DateTime::parse_from_rfc3339(text).map(|time| time.with_timezone(&Utc));
        let time = self.query(name).map(parse).transpose();
        time.map_err(|_| ApiResponse::validation_failed("Query", name, "invalid"))
    }

    /// Parses the body as JSON; an empty body is an empty object.
    pub(crate) fn json(&self) -> ApiResult<Value> {
        if self.body.is_empty() {
            return Ok(Value::Object(Map::new()));
        }
        serde_json::from_slice(&self.body)
            .map_err(|_| ApiResponse::bad_request("Problems parsing JSON"))
    }

    /// Parses the body as a JSON object.
    pub(crate) fn members(&self) -> ApiResult<Map<String, Value>> {
        match self.json()? {
            Value::Object(members) => Ok(members),
            _ => Err(ApiResponse::bad_request("Body should be a JSON object")),
        }
    }

    /// Returns the number of items per page. A parameter that is not a positive number is ignored.
    pub(crate) fn per_page(&self) -> usize {
        self.positive_number("per_page")
            .map_or(DEFAULT_PER_PAGE, |count| count.min(MAX_PER_PAGE))
    }

    fn positive_number(&self, name: &str) -> Option<usize> {
        let number = self.query(name)?.parse().ok()?;
        (number > 0).then_some(number)
    }

    /// Returns the URL of this request with one query parameter replaced.
    ///
    /// URLs name a repository by its id, `/repositories/{id}/…`, as GitHub's links do (recorded in
    /// `@octokit/fixtures`, scenario `paginate-issues`), so that clients that build URLs instead of
    /// following links fail in tests.
    pub(crate) fn link(&self, repository: Option<u64>, name: &str, value: &str) -> String {
        let (mut url, skipped) = match repository {
            Some(id) => (format!("{}/repositories/{id}", self.urls.api), 3),
            None => (self.urls.api.clone(), 0),
        };
        for segment in self.path.iter().skip(skipped) {
            url.push('/');
            url.push_str(&encode_segment(segment));
        }
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(self.query.iter().filter(|(other, _)| other != name))
            .append_pair(name, value)
            .finish();
        format!("{url}?{query}")
    }

    /// Returns the requested page of `items` with links in GitHub's order: prev, next, last, first.
    pub(crate) fn page<T>(
        &self,
        repository: Option<u64>,
        items: &[T],
        render: impl FnMut(&T) -> Value,
    ) -> ApiResponse {
        let size = self.per_page();
        let page = self.positive_number("page").unwrap_or(1);
        let last = items.len().div_ceil(size).max(1);
        let on_page = items.iter().skip((page - 1).saturating_mul(size));
        let response = ApiResponse::ok(on_page.take(size).map(render).collect());
        let links = [
            ("prev", (page - 1).min(last), page > 1),
            ("next", page + 1, page < last),
            ("last", last, page < last),
            ("first", 1, page > 1),
        ];
        let links: Vec<String> = links
            .into_iter()
            .filter(|(_, _, exists)| *exists)
            .map(|(relation, page, _)| {
                let url = self.link(repository, "page", &page.to_string());
                format!("<{url}>; rel=\"{relation}\"")
            })
            .collect();
        if links.is_empty() {
            response
        } else {
            response.header("link", links.join(", "))
        }
    }
}

/// Returns a member that must be a string if it is present; `null` counts as absent.
pub(crate) fn optional_text<'a>(
    members: &'a Map<String, Value>,
    name: &str,
) -> ApiResult<Option<&'a str>> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(ApiResponse::invalid_request(&format!(
            "For 'properties/{name}', {other} is not a string."
        ))),
    }
}

/// Returns a member that must be present and a string.
pub(crate) fn required_text<'a>(members: &'a Map<String, Value>, name: &str) -> ApiResult<&'a str> {
    optional_text(members, name)?.ok_or_else(|| ApiResponse::missing(name))
}
