//! `GET …/commits/{ref}`: one commit for each branch, named by what the branch holds.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::StatusCode;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::api::{Call, Scope};
use super::json::segment;
use super::model::Repository;
use super::reply::Answer;
use super::state::State;

/// The default branch of every repository here.
const MAIN: &str = "main";

type Files = BTreeMap<String, Bytes>;

/// Forty hex digits that change with the branch's files.
fn sha(branch: &str, files: &Files) -> String {
    let mut hash = Sha256::new();
    hash.update(branch);
    for (path, content) in files {
        hash.update(path);
        hash.update(Sha256::digest(content));
    }
    hex::encode(hash.finalize()).chars().take(40).collect()
}

/// Branch and files for a branch's name, its commit, `HEAD` or nothing.
pub(super) fn tree<'a>(
    repository: &'a Repository,
    name: Option<&str>,
) -> Option<(&'a str, &'a Files)> {
    let name = name.unwrap_or("HEAD");
    let name = name.strip_prefix("refs/").unwrap_or(name);
    let name = name.strip_prefix("heads/").unwrap_or(name);
    if matches!(name, "HEAD" | MAIN) {
        return Some((MAIN, &repository.files));
    }
    let others = repository.branches.iter();
    std::iter::once((MAIN, &repository.files))
        .chain(others.map(|(branch, files)| (branch.as_str(), files)))
        .find(|(branch, files)| *branch == name || sha(branch, files) == name)
}

/// The commit at the tip of a branch.
pub(super) fn commit(
    state: &State,
    call: &Call,
    scope: &Scope,
    name: &str,
) -> Result<Answer, Answer> {
    scope.need(&["contents"], false)?;
    let repository = state.repository(scope.repository)?;
    let Some((branch, files)) = tree(repository, Some(name)) else {
        // The words for a name that is no commit, from public issue threads.
        return Err(Answer::refuse(
            StatusCode::UNPROCESSABLE_ENTITY,
            &format!("No commit found for SHA: {name}"),
        ));
    };
    let sha = sha(branch, files);
    let home = format!(
        "{}/{}",
        segment(&repository.owner.login),
        segment(&repository.name)
    );
    let api = format!("{}/repos/{home}", call.base.api);
    let at = repository.created.iso();
    let person = json!({
        "name": repository.owner.login, "email": "somebody@users.noreply.example", "date": at,
    });
    Ok(Answer::ok(json!({
        "url": format!("{api}/commits/{sha}"),
        "sha": sha,
        "node_id": format!("C_{sha}"),
        "html_url": format!("{}/{home}/commit/{sha}", call.base.web),
        "comments_url": format!("{api}/commits/{sha}/comments"),
        "commit": {
            "url": format!("{api}/git/commits/{sha}"),
            "author": person,
            "committer": person,
            "message": "Files",
            "comment_count": 0,
            "tree": {"sha": sha, "url": format!("{api}/git/trees/{sha}")},
        },
        "author": null,
        "committer": null,
        "parents": [],
        "stats": {"additions": 0, "deletions": 0, "total": 0},
        "files": [],
    })))
}
