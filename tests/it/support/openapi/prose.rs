//! Rules that GitHub states in prose only, so that no schema holds them.
//!
//! Sources: docs.github.com, "Getting started with the REST API" (headers), "API versions", the
//! descriptions of the single operations (`per_page`, label colour and description), and the answers
//! of the service itself for the lengths of titles and bodies.

use http::{HeaderMap, header};
use serde_json::Value;

/// API versions that GitHub serves.
const VERSIONS: [&str; 2] = ["2022-11-28", "2026-03-10"];
/// Characters of an issue or comment body.
const BODY_CHARS: usize = 65_536;
/// Characters of an issue title.
const TITLE_CHARS: usize = 256;
/// Characters of a label description.
const LABEL_DESCRIPTION_CHARS: usize = 100;
/// Items of one page.
const PER_PAGE: u64 = 100;

/// Who sends the requests, hence how much of the recommended headers is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    /// Planwright: media type and API version on every request, `Bearer`, the right kind of token.
    Planwright,
    /// Any client GitHub would serve.
    Other,
}

/// Operations that need no authorisation.
const ANONYMOUS: [&str; 4] = [
    "/",
    "/app-manifests/{code}/conversions",
    "/meta",
    "/rate_limit",
];

pub(super) fn headers(client: Client, template: &str, headers: &HeaderMap) -> Vec<String> {
    let get = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let strict = client == Client::Planwright;
    let mut found = Vec::new();
    if get("user-agent").is_none_or(str::is_empty) {
        found.push("header User-Agent is missing".to_owned());
    }
    match get("accept") {
        Some(accept) if accept.starts_with("application/vnd.github") && accept.contains("json") => {
        }
        None if !strict => {}
        Some(accept) if !strict && (accept == "*/*" || accept.contains("json")) => {}
        other => found.push(format!(
            "header Accept is {other:?}, not application/vnd.github+json"
        )),
    }
    match get("x-github-api-version") {
        Some(version) if VERSIONS.contains(&version) => {}
        None if !strict => {}
        other => found.push(format!(
            "header X-GitHub-Api-Version is {other:?}, not one of {VERSIONS:?}"
        )),
    }
    if !ANONYMOUS.contains(&template) {
        found.extend(authorisation(strict, template, get("authorization")));
    }
    found
}

/// Operations that planwright also uses as a person who reads plans back, with a token of their own.
const READABLE: [&str; 3] = [
    "/repos/{owner}/{repo}/issues",
    "/repos/{owner}/{repo}/issues/{issue_number}",
    "/repos/{owner}/{repo}/issues/{issue_number}/comments",
];

/// Looks at the kind of the credential only, and never prints it.
fn authorisation(strict: bool, template: &str, value: Option<&str>) -> Option<String> {
    let Some((scheme, token)) = value.and_then(|value| value.split_once(' ')) else {
        return Some("header Authorization is missing or has one word".to_owned());
    };
    let bearer = scheme.eq_ignore_ascii_case("bearer");
    if !bearer && (strict || !scheme.eq_ignore_ascii_case("token")) {
        return Some(format!("header Authorization has the scheme `{scheme}`"));
    }
    let app = template == "/app"
        || template.starts_with("/app/")
        || (template.ends_with("/installation") && template != "/installation");
    let jwt = token.starts_with("eyJ") && token.matches('.').count() == 2;
    match (app, jwt) {
        (true, false) => Some("the operation needs the App's JWT".to_owned()),
        (false, true) => Some("the operation needs an installation token, not the JWT".to_owned()),
        (false, false)
            if strict && READABLE.contains(&template) && token.starts_with("github_pat_") =>
        {
            None
        }
        (false, false) if strict && !token.starts_with("ghs_") => {
            Some("the credential is not an installation token (ghs_…)".to_owned())
        }
        _ => None,
    }
}

pub(super) fn content_type(headers: &HeaderMap, found: &mut Vec<String>) {
    let value = headers.get(header::CONTENT_TYPE);
    let text = value.and_then(|value| value.to_str().ok()).unwrap_or("");
    if text.split(';').next().map(str::trim) != Some("application/json") {
        found.push(format!("header Content-Type is `{text}`"));
    }
}

pub(super) fn query(name: &str, value: &str, found: &mut Vec<String>) {
    if name == "per_page"
        && !value
            .parse()
            .is_ok_and(|n: u64| (1..=PER_PAGE).contains(&n))
    {
        found.push(format!("per_page is {value}, not 1 to {PER_PAGE}"));
    }
}

pub(super) fn body(method: &str, template: &str, value: &Value, found: &mut Vec<String>) {
    let mut limit = |member: &str, most: usize| {
        let length = value[member]
            .as_str()
            .map_or(0, |text| text.chars().count());
        if length > most {
            found.push(format!("`{member}` has {length} characters, most {most}"));
        }
    };
    let comment = template.ends_with("/comments") || template.contains("/comments/");
    let issue = template.ends_with("/issues") || template.ends_with("/issues/{issue_number}");
    if issue {
        limit("title", TITLE_CHARS);
    }
    if issue || comment {
        limit("body", BODY_CHARS);
    }
    let label = template.ends_with("{repo}/labels") || template.ends_with("{repo}/labels/{name}");
    if label {
        limit("description", LABEL_DESCRIPTION_CHARS);
    }
    if label {
        let colour = value["color"].as_str();
        let hex = |text: &str| text.len() == 6 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if colour.is_some_and(|text| !hex(text)) {
            found.push("`color` is not six hexadecimal digits".to_owned());
        }
    }
    if (method, template) == ("post", "/app/installations/{installation_id}/access_tokens") {
        let many = |member: &str| value[member].as_array().is_some_and(|all| all.len() > 500);
        if many("repositories") || many("repository_ids") {
            found.push("a token can be narrowed to 500 repositories at most".to_owned());
        }
    }
}
