//! Endpoints for the repository itself, its collaborators and its files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::api::{Call, Scope};
use crate::json::{self, segment};
use crate::model::{Entry, MAIN, Repository, Role, Tree, children, tree_sha};
use crate::reply::Answer;
use crate::state::State;
use crate::tokens::Holder;

/// GitHub breaks base64 after this many characters.
const LINE: usize = 60;

/// `GET /repos/{owner}/{repo}`.
pub(crate) fn repository(state: &State, call: &Call, scope: &Scope) -> Result<Answer, Answer> {
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
pub(crate) fn permission(
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

/// What an entry of a listing is.
fn kind(entry: Option<&Entry>) -> &'static str {
    match entry {
        None => "dir",
        Some(Entry::File(_)) => "file",
        Some(Entry::Link(_)) => "symlink",
        Some(Entry::Submodule(_)) => "submodule",
    }
}

/// The members that all kinds have; of a directory, `of` is the whole tree that it is in.
fn entry(
    call: &Call,
    repository: &Repository,
    reference: &str,
    path: &str,
    of: Result<&Entry, &Tree>,
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
        segment(reference)
    );
    let tree = if of.is_err() { "tree" } else { "blob" };
    let sha = of.map_or_else(|tree| tree_sha(tree, path), Entry::sha);
    let of = of.ok();
    let git = format!("{}/repos/{home}/git/{tree}s/{sha}", call.base.api);
    let html = format!("{}/{home}/{tree}/{reference}/{path_in_url}", call.base.web);
    let download = matches!(of, Some(Entry::File(_)))
        .then(|| format!("{}/{home}/raw/{reference}/{path_in_url}", call.base.web));
    json!({
        "name": path.rsplit('/').next().unwrap_or(path),
        "path": path,
        "sha": sha,
        "size": of.map_or(0, |entry| entry.bytes().len()),
        "url": url,
        "html_url": html,
        "git_url": git,
        "download_url": download,
        "type": kind(of),
        "_links": {"self": url, "git": git, "html": html},
    })
}

/// Base64 in lines.
pub(crate) fn encoded(content: &[u8]) -> String {
    let mut lines = String::new();
    for (index, character) in STANDARD.encode(content).chars().enumerate() {
        if index > 0 && index % LINE == 0 {
            lines.push('\n');
        }
        lines.push(character);
    }
    lines.push('\n');
    lines
}

/// `GET …/contents/{path}`: a file, or what is directly in a directory. A link is followed if it leads to a file of the
/// repository ("Get repository content").
pub(crate) fn file(
    state: &State,
    call: &Call,
    scope: &Scope,
    path: &[&str],
) -> Result<Answer, Answer> {
    scope.need(&["contents"], false)?;
    let repository = state.repository(scope.repository)?;
    let path = path.join("/");
    let reference = call.query("ref");
    let commit = repository.commit(reference).ok_or_else(Answer::not_found)?;
    let reference = reference.unwrap_or(MAIN);
    let Some(found) = commit.tree.get(&path) else {
        return directory(call, repository, reference, &path, &commit.tree);
    };
    let mut value = entry(call, repository, reference, &path, Ok(found));
    let content = match found {
        Entry::File(content) => content,
        Entry::Link(target) => {
            let Some(Entry::File(content)) = commit.tree.get(target) else {
                value["target"] = json!(target);
                return Ok(Answer::ok(value));
            };
            content
        }
        Entry::Submodule(_) => {
            value["submodule_git_url"] = json!(format!("{}/other/module.git", call.base.web));
            return Ok(Answer::ok(value));
        }
    };
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
    value["type"] = json!("file");
    value["size"] = json!(content.len());
    value["content"] = json!(encoded(content));
    value["encoding"] = json!("base64");
    Ok(Answer::ok(value))
}

fn directory(
    call: &Call,
    repository: &Repository,
    reference: &str,
    path: &str,
    tree: &Tree,
) -> Result<Answer, Answer> {
    let mut entries = Vec::new();
    for (name, found) in children(tree, path) {
        let path = if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}/{name}")
        };
        let mut value = entry(call, repository, reference, &path, found.ok_or(tree));
        if kind(found) == "submodule" {
            // "the value should be `submodule`, but this behavior exists in API v3 for backwards compatibility".
            value["type"] = json!("file");
        }
        entries.push(value);
    }
    if entries.is_empty() {
        return Err(Answer::not_found());
    }
    Ok(Answer::ok(Value::Array(entries)))
}
