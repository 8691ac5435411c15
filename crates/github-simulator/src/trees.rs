//! `GET …/git/trees/{tree_sha}` and `GET …/git/blobs/{file_sha}`. Trees here are never so large that GitHub would cut them.

use serde_json::{Value, json};

use crate::api::{Call, Scope};
use crate::contents::encoded;
use crate::json::segment;
use crate::model::{Entry, Repository, Tree, children, tree_sha};
use crate::reply::Answer;
use crate::state::State;

fn home(call: &Call, repository: &Repository) -> String {
    format!(
        "{}/repos/{}/{}/git",
        call.base.api,
        segment(&repository.owner.login),
        segment(&repository.name)
    )
}

/// What is directly in a folder, or with `recursive`, whatever its value, all that is below it ("Get a tree").
pub(crate) fn tree(
    state: &State,
    call: &Call,
    scope: &Scope,
    name: &str,
) -> Result<Answer, Answer> {
    scope.need(&["contents"], false)?;
    let repository = state.repository(scope.repository)?;
    let (tree, folder) = repository.tree(name).ok_or_else(Answer::not_found)?;
    let home = home(call, repository);
    let deep = call.query.iter().any(|(name, _)| name == "recursive");
    let mut objects = Vec::new();
    list(&home, tree, &folder, "", deep, &mut objects);
    let sha = tree_sha(tree, &folder);
    Ok(Answer::ok(json!({
        "sha": sha,
        "url": format!("{home}/trees/{sha}"),
        "tree": objects,
        "truncated": false,
    })))
}

/// Adds what is in `folder`; `above` is its path in the answer.
fn list(home: &str, tree: &Tree, folder: &str, above: &str, deep: bool, objects: &mut Vec<Value>) {
    let within = |folder: &str, name: &str| match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    };
    for (name, found) in children(tree, folder) {
        let path = within(above, name);
        let Some(entry) = found else {
            let inner = within(folder, name);
            let sha = tree_sha(tree, &inner);
            let url = format!("{home}/trees/{sha}");
            objects.push(json!({
                "path": path, "mode": "040000", "type": "tree", "sha": sha, "url": url,
            }));
            if deep {
                list(home, tree, &inner, &path, deep, objects);
            }
            continue;
        };
        let sha = entry.sha();
        objects.push(match entry {
            Entry::Submodule(commit) => json!({
                "path": path, "mode": entry.mode(), "type": "commit", "sha": commit,
            }),
            Entry::File(_) | Entry::Link(_) => json!({
                "path": path, "mode": entry.mode(), "type": "blob", "sha": sha,
                "size": entry.bytes().len(), "url": format!("{home}/blobs/{sha}"),
            }),
        });
    }
}

/// The content of a file or a link ("Get a blob").
pub(crate) fn blob(state: &State, call: &Call, scope: &Scope, sha: &str) -> Result<Answer, Answer> {
    scope.need(&["contents"], false)?;
    let repository = state.repository(scope.repository)?;
    let content = repository.blob(sha).ok_or_else(Answer::not_found)?.bytes();
    if call
        .header("accept")
        .is_some_and(|accept| accept.contains(".raw"))
    {
        return Ok(Answer::bytes(
            "application/vnd.github.raw+json; charset=utf-8",
            content.to_vec().into(),
        ));
    }
    Ok(Answer::ok(json!({
        "sha": sha,
        "node_id": format!("B_{sha}"),
        "size": content.len(),
        "url": format!("{}/blobs/{sha}", home(call, repository)),
        "content": encoded(content),
        "encoding": "base64",
    })))
}
