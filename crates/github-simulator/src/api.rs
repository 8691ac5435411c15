//! The REST API: one request in, one answer out, through the checks GitHub makes before it looks at a path.

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::actions::Reacted;
use crate::model::Gone;
use crate::reply::{self, Answer};
use crate::state::{Base, Doer, State};
use crate::tokens::{Holder, Token};
use crate::{
    app, checks, comments, commits, contents, issues, json, labels, pulls, reactions, trees,
};
use chrono::{DateTime, Utc};

/// API versions that are served (<https://docs.github.com/en/rest/about-the-rest-api/api-versions>).
const VERSIONS: [&str; 2] = ["2022-11-28", "2026-03-10"];

/// First segments of API paths; everything else is a page.
const ROOTS: [&str; 6] = [
    "app",
    "installation",
    "rate_limit",
    "user",
    "repos",
    "repositories",
];

/// A request, taken apart.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    /// Decoded segments, without `api/v3`, and with `repos/{owner}/{name}` for `repositories/{id}`.
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) base: Base,
}

impl Call {
    /// True for the API, false for pages.
    pub(crate) fn is_api(path: &[String]) -> bool {
        path.first()
            .is_some_and(|first| ROOTS.contains(&first.as_str()))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// A time of the query.
    pub(crate) fn query_time(&self, name: &str) -> Result<Option<DateTime<Utc>>, Answer> {
        self.query(name)
            .map(|text| {
                DateTime::parse_from_rfc3339(text)
                    .map(|time| time.with_timezone(&Utc))
                    .map_err(|_| Answer::invalid("Query", name, "invalid", None))
            })
            .transpose()
    }

    /// The body as JSON; an empty one is an empty object.
    pub(crate) fn json(&self) -> Result<Value, Answer> {
        if self.body.is_empty() {
            return Ok(Value::Object(Map::new()));
        }
        serde_json::from_slice(&self.body)
            .map_err(|_| Answer::refuse(StatusCode::BAD_REQUEST, "Problems parsing JSON"))
    }

    /// The body's members.
    pub(crate) fn members(&self) -> Result<Map<String, Value>, Answer> {
        match self.json()? {
            Value::Object(members) => Ok(members),
            _ => Err(Answer::refuse(
                StatusCode::BAD_REQUEST,
                "Body should be a JSON object",
            )),
        }
    }
}

/// A member that must be a string when it is there; `null` counts as absent.
pub(crate) fn text<'a>(
    members: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a str>, Answer> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(Answer::refuse(
            StatusCode::UNPROCESSABLE_ENTITY,
            &format!("Invalid request.\n\nFor 'properties/{name}', {other} is not a string."),
        )),
    }
}

/// Splits a path into decoded segments.
pub(crate) fn segments(path: &str) -> Vec<String> {
    path.split('/')
        .filter(|segment| !segment.is_empty())
        .map(|segment| {
            percent_encoding::percent_decode_str(segment)
                .decode_utf8_lossy()
                .into_owned()
        })
        .collect()
}

/// Query parameters in order.
pub(crate) fn parameters(query: Option<&str>) -> Vec<(String, String)> {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .into_owned()
        .collect()
}

/// A token at work in a repository.
pub(crate) struct Scope {
    pub(crate) repository: u64,
    pub(crate) token: Token,
    /// The token reaches this repository; if not, it is public and may be read.
    pub(crate) member: bool,
}

impl Scope {
    /// Refuses what none of the named permissions gives.
    pub(crate) fn need(&self, names: &[&str], write: bool) -> Result<(), Answer> {
        let held = names
            .iter()
            .filter_map(|name| self.token.permissions.get(*name));
        let enough = if write {
            self.member && held.into_iter().any(|level| level == "write")
        } else {
            !self.member || held.count() > 0
        };
        if enough {
            Ok(())
        } else {
            Err(match self.token.holder {
                Holder::Person(_) => Answer::refuse(
                    StatusCode::FORBIDDEN,
                    "Resource not accessible by personal access token",
                ),
                Holder::Installation(_) | Holder::Anybody => {
                    // "Rate limits and permissions" of the REST documentation: `;` is "or".
                    let level = if write { "write" } else { "read" };
                    let enough = names.iter().map(|name| format!("{name}={level}"));
                    let enough: Vec<_> = enough.collect();
                    Answer::forbidden().header("x-accepted-github-permissions", enough.join("; "))
                }
            })
        }
    }

    /// Checks everything before issue `number` is touched: it exists, issues are enabled, the token may.
    pub(crate) fn at(&self, state: &State, number: &str, write: bool) -> Result<u64, Answer> {
        let number: u64 = number.parse().map_err(|_| Answer::not_found())?;
        let repository = state.repository(self.repository)?;
        if repository.gone.get(&number) == Some(&Gone::Deleted) {
            // Words as GitHub gives them for deleted issues; not in the OpenAPI description.
            return Err(Answer::refuse(StatusCode::GONE, "This issue was deleted"));
        }
        let pull_request = repository
            .issues
            .get(&number)
            .is_some_and(|issue| issue.pull.is_some());
        if pull_request {
            self.need(&["issues", "pull_requests"], write)?;
        } else {
            self.need(&["issues"], write)?;
            issues::enabled(repository)?;
        }
        state.issue(self.repository, number)?;
        Ok(number)
    }

    /// The same for a comment of this repository.
    pub(crate) fn comment(&self, state: &State, id: &str, write: bool) -> Result<u64, Answer> {
        let id: u64 = id.parse().map_err(|_| Answer::not_found())?;
        let comment = state.comment(id)?;
        if comment.repository != self.repository {
            return Err(Answer::not_found());
        }
        self.at(state, &comment.number.to_string(), write)?;
        Ok(id)
    }
}

impl State {
    /// The author of what a token does.
    pub(crate) fn doer(&self, token: &Token) -> Doer {
        let person = match token.holder {
            Holder::Person(id) => self.users.iter().find(|user| user.id == id),
            Holder::Installation(_) | Holder::Anybody => None,
        };
        match person {
            Some(user) => Doer {
                user: user.clone(),
                via_app: false,
            },
            None => Doer {
                user: self.app.bot.clone(),
                via_app: true,
            },
        }
    }
}

/// The answer to a request; `Err` is a refusal.
pub(crate) fn answer(state: &mut State, call: &Call) -> Result<Answer, Answer> {
    // Neither rule is in the OpenAPI description: "User agent required" and "API versions" of the REST documentation.
    if call.header("user-agent").is_none() {
        return Err(Answer::refuse(
            StatusCode::FORBIDDEN,
            "Request forbidden by administrative rules. Please make sure your request has a User-Agent header (https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#user-agent). Check https://developer.github.com for other possible causes.",
        ));
    }
    if let Some(version) = call.header("x-github-api-version")
        && !VERSIONS.contains(&version)
    {
        return Err(Answer::refuse(
            StatusCode::BAD_REQUEST,
            &format!("API version {version} is not a supported version."),
        ));
    }
    let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
    let authorisation = call.header("authorization");
    match path.as_slice() {
        ["app", rest @ ..] => {
            state.check_jwt(authorisation)?;
            app::answer(state, call, rest)
        }
        ["repos", owner, name, "installation"] if call.method == Method::GET => {
            state.check_jwt(authorisation)?;
            app::of_repository(state, call, owner, name)
        }
        ["rate_limit"] if call.method == Method::GET => {
            let token = state.check_token(authorisation)?;
            Ok(app::rate_limit(state, &token))
        }
        ["user"] if call.method == Method::GET => {
            let token = state.check_token(authorisation)?;
            account(state, call, &token)
        }
        ["installation", "repositories"] if call.method == Method::GET => {
            let token = state.check_token(authorisation)?;
            Ok(app::repositories(state, call, &token))
        }
        ["repos", owner, name, rest @ ..] => {
            let token = state.check_reader(call)?;
            let scope = scope(state, token, owner, name)?;
            in_repository(state, call, &scope, rest)
        }
        _ => Err(Answer::not_found()),
    }
}

/// `GET /user`: whose token it is. Installations have no account of their own here.
fn account(state: &State, call: &Call, token: &Token) -> Result<Answer, Answer> {
    let doer = state.doer(token);
    if doer.via_app {
        return Err(Answer::forbidden());
    }
    Ok(Answer::ok(json::account(&call.base, &doer.user)))
}

/// What a token may see: its repositories, and public ones.
fn scope(state: &State, token: Token, owner: &str, name: &str) -> Result<Scope, Answer> {
    let repository = state
        .repository_named(owner, name)
        .ok_or_else(Answer::not_found)?;
    let member = state.reaches(&token, repository);
    if !member && repository.private {
        return Err(Answer::not_found());
    }
    Ok(Scope {
        repository: repository.id,
        token,
        member,
    })
}

/// The redirect to a transferred issue. It covers the issue alone: what is below it is not found
/// (Systemorph/MeshWeaver#4629).
fn moved(state: &State, call: &Call, scope: &Scope, number: &str) -> Option<Answer> {
    let home = state.repository(scope.repository).ok()?;
    let Gone::Moved { repository, number } = home.gone.get(&number.parse().ok()?)? else {
        return None;
    };
    let url = format!(
        "{}/repositories/{repository}/issues/{number}",
        call.base.api
    );
    let body = serde_json::json!({
        "message": "Moved Permanently", "url": url, "documentation_url": reply::DOCUMENTATION,
    });
    Some(Answer::new(StatusCode::MOVED_PERMANENTLY, body).header("location", url))
}

fn in_repository(
    state: &mut State,
    call: &Call,
    scope: &Scope,
    rest: &[&str],
) -> Result<Answer, Answer> {
    let write = call.method != Method::GET;
    if write && state.repository(scope.repository)?.archived {
        // Words from public issue threads (renovatebot/renovate#42992), not from the OpenAPI description.
        return Err(Answer::refuse(
            StatusCode::FORBIDDEN,
            "Repository was archived so is read-only.",
        ));
    }
    match (call.method.as_str(), rest) {
        ("GET", []) => contents::repository(state, call, scope),
        ("GET", ["collaborators", login, "permission"]) => {
            contents::permission(state, call, scope, login)
        }
        ("GET", ["contents", path @ ..]) => contents::file(state, call, scope, path),
        ("GET", ["git", "trees", name]) => trees::tree(state, call, scope, name),
        ("GET", ["git", "blobs", sha]) => trees::blob(state, call, scope, sha),
        ("GET", ["commits", name]) => commits::commit(state, call, scope, name),
        ("GET", ["commits", name, "check-runs"]) => checks::of_commit(state, call, scope, name),
        (_, ["check-runs", rest @ ..]) => checks::answer(state, call, scope, rest),
        (_, ["pulls", number, rest @ ..]) => pulls::answer(state, call, scope, number, rest),
        ("GET", ["issues"]) => issues::list(state, call, scope),
        ("POST", ["issues"]) => issues::create(state, call, scope),
        ("GET", ["issues", "comments"]) => comments::list_all(state, call, scope),
        (_, ["issues", "comments", id, rest @ ..]) => {
            let id = scope.comment(state, id, write)?;
            match (call.method.as_str(), rest) {
                ("GET", []) => comments::get(state, call, id),
                ("PATCH", []) => comments::update(state, call, scope, id),
                ("DELETE", []) => comments::delete(state, scope, id),
                (_, ["reactions", rest @ ..]) => {
                    reactions::answer(state, call, scope, Reacted::Comment(id), rest)
                }
                _ => Err(Answer::not_found()),
            }
        }
        (_, ["issues", number, rest @ ..]) => {
            if rest.is_empty()
                && let Some(elsewhere) = moved(state, call, scope, number)
            {
                return Err(elsewhere);
            }
            let number = scope.at(state, number, write)?;
            match (call.method.as_str(), rest) {
                ("GET", []) => issues::get(state, call, scope, number),
                ("PATCH", []) => issues::update(state, call, scope, number),
                ("GET", ["comments"]) => comments::list(state, call, scope, number),
                ("POST", ["comments"]) => comments::create(state, call, scope, number),
                (_, ["labels", rest @ ..]) => labels::on_issue(state, call, scope, number, rest),
                (_, ["reactions", rest @ ..]) => {
                    reactions::answer(state, call, scope, Reacted::Issue(number), rest)
                }
                _ => Err(Answer::not_found()),
            }
        }
        (_, ["labels", rest @ ..]) => {
            scope.need(&["issues", "pull_requests"], write)?;
            labels::in_repository(state, call, scope, rest)
        }
        _ => Err(Answer::not_found()),
    }
}
