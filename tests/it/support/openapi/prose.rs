//! Checks rules that GitHub documents only in prose, not in its schemas.
//!
//! Sources: docs.github.com, "Getting started with the REST API" (headers), "API versions", the
//! descriptions of the single operations (`per_page`, label colour and description), and responses
//! of the live service for the maximum lengths of titles and bodies.

use http::{HeaderMap, header};
use serde_json::Value;

/// API versions that GitHub supports.
const VERSIONS: [&str; 2] = ["2022-11-28", "2026-03-10"];
/// Maximum length of an issue or comment body, in characters.
const BODY_CHARS: usize = 65_536;
/// Maximum length of an issue title, in characters.
const TITLE_CHARS: usize = 256;
/// Maximum size of an annotation's message and of its raw details, in bytes.
const ANNOTATION_BYTES: usize = 64 * 1024;
/// Maximum length of an annotation's title, in characters.
const ANNOTATION_TITLE_CHARS: usize = 255;
/// Maximum length of a label description, in characters.
const LABEL_DESCRIPTION_CHARS: usize = 100;
/// Maximum number of items per page.
const PER_PAGE: u64 = 100;

/// The client that sends the requests. It determines how strictly headers are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    /// Planwright: media type and API version on every request, `Bearer`, and the right kind of
    /// token.
    Planwright,
    /// Planwright with a person's token.
    Person,
    /// Any client that GitHub would serve.
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
    let strict = client != Client::Other;
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
        found.extend(authorisation(client, template, get("authorization")));
    }
    found
}

/// Operations that Planwright also uses with a person's token, to read plans.
const READABLE: [&str; 3] = [
    "/repos/{owner}/{repo}/issues",
    "/repos/{owner}/{repo}/issues/{issue_number}",
    "/repos/{owner}/{repo}/issues/{issue_number}/comments",
];

/// Checks only the kind of the credential, and never prints it.
fn authorisation(client: Client, template: &str, value: Option<&str>) -> Option<String> {
    let strict = client != Client::Other;
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
        (false, false) if client == Client::Person => (!token.starts_with("github_pat_"))
            .then(|| "the credential is not a person's token (github_pat_…)".to_owned()),
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
    if template.contains("/check-runs") {
        check_run(value, found);
    }
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

/// Checks the rules in the descriptions of `checks/create` and `checks/update`.
fn check_run(value: &Value, found: &mut Vec<String>) {
    let ended = value["status"] == "completed" || value.get("completed_at").is_some();
    if ended && value.get("conclusion").is_none() {
        found.push("`conclusion` is required for a check run that is completed".to_owned());
    }
    if value["conclusion"] == "stale" {
        found.push("only GitHub sets the conclusion `stale`".to_owned());
    }
    for one in value["output"]["annotations"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let text = |name: &str| one[name].as_str().unwrap_or_default();
        if text("title").chars().count() > ANNOTATION_TITLE_CHARS {
            found.push("the title of an annotation is too long".to_owned());
        }
        for name in ["message", "raw_details"] {
            if text(name).len() > ANNOTATION_BYTES {
                found.push(format!("`{name}` of an annotation is too long"));
            }
        }
        let columns = one.get("start_column").or(one.get("end_column")).is_some();
        if columns && one["start_line"] != one["end_line"] {
            found.push("columns are for annotations of one line".to_owned());
        }
    }
}
