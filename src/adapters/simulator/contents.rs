//! Endpoints for the repository itself, its collaborators and its files.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::api::{Call, Scope};
use super::commits;
use super::json::{self, segment};
use super::model::{Repository, Role};
use super::reply::Answer;
use super::state::State;
use super::tokens::Holder;

/// GitHub breaks base64 after this many characters.
const LINE: usize = 60;

/// `GET /repos/{owner}/{repo}`.
pub(super) fn repository(state: &State, call: &Call, scope: &Scope) -> Result<Answer, Answer> {
    let repository = state.repository(scope.repository)?;
    let mut shown = json::repository(&call.base, repository);
    if let Holder::Person(id) = scope.token.holder {
        let role = repository.role(id);
        let push = matches!(role, Role::Write | Role::Maintain | Role::Admin);
        let may = json!({"permissions": {
            "admin": role == Role::Admin,
            "maintain": matches!(role, Role::Maintain | Role::Admin),
            "push": push,
            "triage": push || role == Role::Triage,
            "pull": role != Role::None,
        }});
        json::extend(&mut shown, may);
    }
    Ok(Answer::ok(shown))
}

/// `GET …/collaborators/{username}/permission`: everybody who exists has an answer, maybe `none`.
pub(super) fn permission(
    state: &State,
    call: &Call,
    scope: &Scope,
    login: &str,
) -> Result<Answer, Answer> {
    if !scope.member {
        return Err(Answer::forbidden());
    }
    let repository = state.repository(scope.repository)?;
    let account = state.user(login).ok_or_else(Answer::not_found)?;
    let role = repository.role(account.id);
    Ok(Answer::ok(json::permission(&call.base, account, &role)))
}

/// A file's hash: stable for the same content, forty hex digits like git's, but not git's.
fn hash(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
        .chars()
        .take(40)
        .collect()
}

fn entry(
    call: &Call,
    repository: &Repository,
    branch: &str,
    path: &str,
    kind: &str,
    content: &[u8],
) -> Value {
    let path_in_url: Vec<String> = path.split('/').map(segment).collect();
    let path_in_url = path_in_url.join("/");
    let home = format!(
        "{}/{}",
        segment(&repository.owner.login),
        segment(&repository.name)
    );
    let url = format!(
        "{}/repos/{home}/contents/{path_in_url}?ref={}",
        call.base.api,
        segment(branch)
    );
    let tree = if kind == "dir" { "tree" } else { "blob" };
    let sha = hash(content);
    let git = format!("{}/repos/{home}/git/{tree}s/{sha}", call.base.api);
    let html = format!("{}/{home}/{tree}/{branch}/{path_in_url}", call.base.web);
    let download =
        (kind == "file").then(|| format!("{}/{home}/raw/{branch}/{path_in_url}", call.base.web));
    json!({
        "name": path.rsplit('/').next().unwrap_or(path),
        "path": path,
        "sha": sha,
        "size": content.len(),
        "url": url,
        "html_url": html,
        "git_url": git,
        "download_url": download,
        "type": kind,
        "_links": {"self": url, "git": git, "html": html},
    })
}

/// `GET …/contents/{path}`: a file, or what is directly in a directory.
pub(super) fn file(
    state: &State,
    call: &Call,
    scope: &Scope,
    path: &[&str],
) -> Result<Answer, Answer> {
    scope.need(&["contents"], false)?;
    let repository = state.repository(scope.repository)?;
    let path = path.join("/");
    let (branch, files) =
        commits::tree(repository, call.query("ref")).ok_or_else(Answer::not_found)?;
    if let Some(content) = files.get(&path) {
        // "Returns the raw file contents for files and symlinks", and only for those.
        if call
            .header("accept")
            .is_some_and(|accept| accept.contains(".raw"))
        {
            return Ok(Answer::bytes(
                "application/vnd.github.raw+json; charset=utf-8",
                content.clone(),
            ));
        }
        let mut value = entry(call, repository, branch, &path, "file", content);
        if let Some(members) = value.as_object_mut() {
            let mut lines = String::new();
            for (index, character) in STANDARD.encode(content).chars().enumerate() {
                if index > 0 && index % LINE == 0 {
                    lines.push('\n');
                }
                lines.push(character);
            }
            lines.push('\n');
            members.insert("content".to_owned(), json!(lines));
            members.insert("encoding".to_owned(), json!("base64"));
        }
        return Ok(Answer::ok(value));
    }
    let prefix = if path.is_empty() {
        String::new()
    } else {
        format!("{path}/")
    };
    let mut entries = BTreeMap::new();
    for (name, content) in files {
        let Some(rest) = name.strip_prefix(&prefix) else {
            continue;
        };
        let (first, kind, content) = match rest.split_once('/') {
            Some((directory, _)) => (directory, "dir", [].as_slice()),
            None => (rest, "file", content.as_ref()),
        };
        let path = format!("{prefix}{first}");
        let value = entry(call, repository, branch, &path, kind, content);
        entries.insert(path, value);
    }
    if entries.is_empty() {
        return Err(Answer::not_found());
    }
    Ok(Answer::ok(Value::Array(entries.into_values().collect())))
}
