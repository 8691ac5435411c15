//! Pull requests and the files they change in JSON.

use crate::clock::iso;
use serde_json::{Value, json};

use super::issue::{association, label, page, root};
use super::{extend, node_id, repository, segment, user};
use crate::model::{Changed, Issue, MAIN, Pull, Repository};
use crate::state::{Base, State};

/// A side of a pull request; `null` in the place of a repository that is gone.
fn side(base: &Base, owner: Option<&Repository>, branch: &str, sha: &str) -> Value {
    let account = owner.map(|owner| &owner.owner);
    json!({
        "label": format!("{}:{branch}", account.map_or("unknown", |owner| owner.login.as_str())),
        "ref": branch,
        "sha": sha,
        "user": account.map(|owner| user(base, owner)),
        "repo": owner.map(|owner| repository(base, owner)),
    })
}

/// `pull-request`, also that of webhooks.
pub(crate) fn pull_request(
    state: &State,
    base: &Base,
    repository: &Repository,
    issue: &Issue,
    pull: &Pull,
) -> Value {
    let changed = repository.changed(pull);
    let counts = changed.iter().map(Changed::lines);
    let (additions, deletions) = counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let head = state.repositories.get(&pull.head_repository);
    let api = format!("{}/pulls/{}", root(base, repository), issue.number);
    let as_issue = format!("{}/issues/{}", root(base, repository), issue.number);
    let html = page(base, repository, issue);
    let statuses = format!("{}/statuses/{}", root(base, repository), pull.head);
    let labels: Vec<Value> = repository
        .labels_of(issue)
        .into_iter()
        .map(|one| label(base, repository, one))
        .collect();
    let links = json!({
        "self": {"href": api},
        "html": {"href": html},
        "issue": {"href": as_issue},
        "comments": {"href": format!("{as_issue}/comments")},
        "review_comments": {"href": format!("{api}/comments")},
        "review_comment": {
            "href": format!("{}/pulls/comments{{/number}}", root(base, repository)),
        },
        "commits": {"href": format!("{api}/commits")},
        "statuses": {"href": statuses},
    });
    let mut value = json!({
        "url": api,
        "id": issue.id,
        "node_id": node_id("PR", issue.id),
        "html_url": html,
        "diff_url": format!("{html}.diff"),
        "patch_url": format!("{html}.patch"),
        "issue_url": as_issue,
        "number": issue.number,
        "state": if issue.closed.is_some() { "closed" } else { "open" },
        "locked": false,
        "title": issue.title,
        "user": user(base, &issue.author),
        "body": issue.body,
        "created_at": iso(issue.created),
        "updated_at": iso(issue.updated),
        "closed_at": issue.closed.map(iso),
        "merged_at": null,
        "merge_commit_sha": null,
        "assignee": null,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "labels": labels,
        "milestone": null,
        "draft": pull.draft,
        "commits_url": format!("{api}/commits"),
        "review_comments_url": format!("{api}/comments"),
        "review_comment_url": format!("{}/pulls/comments{{/number}}", root(base, repository)),
        "comments_url": format!("{as_issue}/comments"),
        "statuses_url": statuses,
    });
    let rest = json!({
        "head": side(base, head, &pull.branch, &pull.head),
        "base": side(base, Some(repository), MAIN, &pull.base),
        "_links": links,
        "author_association": association(repository, &issue.author),
        "auto_merge": null,
        "active_lock_reason": null,
        "merged": false,
        "mergeable": null,
        "rebaseable": null,
        "mergeable_state": "unknown",
        "merged_by": null,
        "comments": issue.comments.len(),
        "review_comments": 0,
        "maintainer_can_modify": false,
        "commits": repository.commits_of(pull),
        "additions": additions,
        "deletions": deletions,
        "changed_files": changed.len(),
    });
    extend(&mut value, rest);
    value
}

/// `diff-entry`. Without `patch`, which GitHub leaves out too where it is too long.
pub(crate) fn changed_file(
    base: &Base,
    repository: &Repository,
    pull: &Pull,
    changed: &Changed<'_>,
) -> Value {
    let path: Vec<String> = changed.path.split('/').map(segment).collect();
    let path = path.join("/");
    let (status, at) = match (changed.old, changed.new) {
        (_, None) => ("removed", &pull.base),
        (None, _) => ("added", &pull.head),
        _ if changed.previous.is_some() => ("renamed", &pull.head),
        _ => ("modified", &pull.head),
    };
    let pages = format!(
        "{}/{}/{}",
        base.web,
        segment(&repository.owner.login),
        segment(&repository.name)
    );
    let (additions, deletions) = changed.lines();
    let mut value = json!({
        "sha": changed.new.or(changed.old).map(super::super::model::Entry::sha),
        "filename": changed.path,
        "status": status,
        "additions": additions,
        "deletions": deletions,
        "changes": additions + deletions,
        "blob_url": format!("{pages}/blob/{at}/{path}"),
        "raw_url": format!("{pages}/raw/{at}/{path}"),
        "contents_url": format!("{}/contents/{path}?ref={at}", root(base, repository)),
    });
    if let Some(previous) = changed.previous {
        value["previous_filename"] = json!(previous);
    }
    value
}

/// `pull-request-minimal`.
pub(crate) fn minimal_pull(
    base: &Base,
    repository: &Repository,
    issue: &Issue,
    pull: &Pull,
) -> Value {
    let side = |branch: &str, sha: &str| {
        json!({
            "ref": branch,
            "sha": sha,
            "repo": {
                "id": repository.id,
                "url": root(base, repository),
                "name": repository.name,
            },
        })
    };
    json!({
        "id": issue.id,
        "number": issue.number,
        "url": format!("{}/pulls/{}", root(base, repository), issue.number),
        "head": side(&pull.branch, &pull.head),
        "base": side(MAIN, &pull.base),
    })
}
