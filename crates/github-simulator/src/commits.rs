//! `GET …/commits/{ref}`.

use crate::clock::iso;
use http::StatusCode;
use serde_json::{Value, json};

use crate::api::{Call, Scope};
use crate::json::segment;
use crate::model::tree_sha;
use crate::reply::Answer;
use crate::state::State;

/// The commit that a name stands for.
pub(crate) fn commit(
    state: &State,
    call: &Call,
    scope: &Scope,
    name: &str,
) -> Result<Answer, Answer> {
    scope.need(&["contents"], false)?;
    let repository = state.repository(scope.repository)?;
    let commit = repository.commit(Some(name)).ok_or_else(|| unknown(name))?;
    let sha = &commit.sha;
    let tree = tree_sha(&commit.tree, "");
    let home = format!(
        "{}/{}",
        segment(&repository.owner.login),
        segment(&repository.name)
    );
    let api = format!("{}/repos/{home}", call.base.api);
    let pages = format!("{}/{home}/commit", call.base.web);
    let at = iso(commit.created);
    let person = json!({
        "name": repository.owner.login, "email": "somebody@users.noreply.example", "date": at,
    });
    let parents: Vec<Value> = commit
        .parent
        .iter()
        .map(|sha| {
            json!({
                "sha": sha,
                "url": format!("{api}/commits/{sha}"),
                "html_url": format!("{pages}/{sha}"),
            })
        })
        .collect();
    Ok(Answer::ok(json!({
        "url": format!("{api}/commits/{sha}"),
        "sha": sha,
        "node_id": format!("C_{sha}"),
        "html_url": format!("{pages}/{sha}"),
        "comments_url": format!("{api}/commits/{sha}/comments"),
        "commit": {
            "url": format!("{api}/git/commits/{sha}"),
            "author": person,
            "committer": person,
            "message": "Files",
            "comment_count": 0,
            "tree": {"sha": tree, "url": format!("{api}/git/trees/{tree}")},
        },
        "author": null,
        "committer": null,
        "parents": parents,
        "stats": {"additions": 0, "deletions": 0, "total": 0},
        "files": [],
    })))
}

/// The words for a name that is no commit, from public issue threads.
pub(crate) fn unknown(name: &str) -> Answer {
    Answer::refuse(
        StatusCode::UNPROCESSABLE_ENTITY,
        &format!("No commit found for SHA: {name}"),
    )
}
