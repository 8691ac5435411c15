//! Issues, pull requests, comments, labels and reactions in JSON.

use crate::clock::iso;
use serde_json::{Value, json};

use super::{integration, node_id, segment, user};
use crate::model::{Comment, Issue, Label, Reaction, Repository, Role, User};
use crate::state::{Base, State};

pub(super) fn root(base: &Base, repository: &Repository) -> String {
    format!(
        "{}/repos/{}/{}",
        base.api,
        segment(&repository.owner.login),
        segment(&repository.name)
    )
}

pub(super) fn page(base: &Base, repository: &Repository, issue: &Issue) -> String {
    let kind = if issue.pull.is_some() {
        "pull"
    } else {
        "issues"
    };
    format!(
        "{}/{}/{}/{kind}/{}",
        base.web,
        segment(&repository.owner.login),
        segment(&repository.name),
        issue.number
    )
}

/// `author-association` as far as roles tell it.
pub(super) fn association(repository: &Repository, account: &User) -> &'static str {
    if repository.owner.id == account.id {
        return "OWNER";
    }
    match repository.roles.get(&account.id) {
        None | Some(Role::None | Role::Read) => "NONE",
        Some(_) => "COLLABORATOR",
    }
}

/// `reaction-rollup`; `url` is what the reactions hang on.
fn rollup(url: &str, reactions: &[Reaction]) -> Value {
    let count = |content: &str| {
        reactions
            .iter()
            .filter(|reaction| reaction.content == content)
            .count()
    };
    json!({
        "url": format!("{url}/reactions"),
        "total_count": reactions.len(),
        "+1": count("+1"),
        "-1": count("-1"),
        "laugh": count("laugh"),
        "hooray": count("hooray"),
        "confused": count("confused"),
        "heart": count("heart"),
        "rocket": count("rocket"),
        "eyes": count("eyes"),
    })
}

/// `label`.
pub(crate) fn label(base: &Base, repository: &Repository, label: &Label) -> Value {
    json!({
        "id": label.id,
        "node_id": node_id("LA", label.id),
        "url": format!("{}/labels/{}", root(base, repository), segment(&label.name)),
        "name": label.name,
        "color": label.colour,
        "default": false,
        "description": label.description,
    })
}

/// `reaction`.
pub(crate) fn reaction(base: &Base, reaction: &Reaction) -> Value {
    json!({
        "id": reaction.id,
        "node_id": node_id("REA", reaction.id),
        "user": user(base, &reaction.user),
        "content": reaction.content,
        "created_at": iso(reaction.created),
    })
}

fn via(state: &State, base: &Base, via_app: bool) -> Value {
    if via_app {
        integration(state, base)
    } else {
        Value::Null
    }
}

/// `issue`; a pull request is one too, with a `pull_request` member.
pub(crate) fn issue(state: &State, base: &Base, repository: &Repository, issue: &Issue) -> Value {
    let url = format!("{}/issues/{}", root(base, repository), issue.number);
    let html = page(base, repository, issue);
    let labels: Vec<Value> = repository
        .labels_of(issue)
        .into_iter()
        .map(|one| label(base, repository, one))
        .collect();
    let mut value = json!({
        "url": url,
        "repository_url": root(base, repository),
        "labels_url": format!("{url}/labels{{/name}}"),
        "comments_url": format!("{url}/comments"),
        "events_url": format!("{url}/events"),
        "html_url": html,
        "id": issue.id,
        "node_id": node_id(if issue.pull.is_some() { "PR" } else { "I" }, issue.id),
        "number": issue.number,
        "title": issue.title,
        "user": user(base, &issue.author),
        "labels": labels,
        "state": if issue.closed.is_some() { "closed" } else { "open" },
        "locked": issue.locked,
        "assignee": null,
        "assignees": [],
        "milestone": null,
        "comments": issue.comments.len(),
        "created_at": iso(issue.created),
        "updated_at": iso(issue.updated),
        "closed_at": issue.closed.map(iso),
        "author_association": association(repository, &issue.author),
        "active_lock_reason": null,
        "sub_issues_summary": {"total": 0, "completed": 0, "percent_completed": 0},
        "issue_dependencies_summary": {
            "blocked_by": 0, "total_blocked_by": 0, "blocking": 0, "total_blocking": 0,
        },
        "body": issue.body,
        "closed_by": issue.closed_by.as_ref().map(|account| user(base, account)),
        "reactions": rollup(&url, &issue.reactions),
        "timeline_url": format!("{url}/timeline"),
        "performed_via_github_app": via(state, base, issue.via_app),
        "state_reason": issue.state_reason,
    });
    if let Some(proposed) = &issue.pull
        && let Some(members) = value.as_object_mut()
    {
        let pull = format!("{}/pulls/{}", root(base, repository), issue.number);
        members.insert("draft".to_owned(), json!(proposed.draft));
        members.insert(
            "pull_request".to_owned(),
            json!({
                "url": pull,
                "html_url": html,
                "diff_url": format!("{html}.diff"),
                "patch_url": format!("{html}.patch"),
                "merged_at": null,
            }),
        );
    }
    value
}

/// `issue-comment`.
pub(crate) fn comment(
    state: &State,
    base: &Base,
    repository: &Repository,
    issue: &Issue,
    comment: &Comment,
) -> Value {
    let url = format!("{}/issues/comments/{}", root(base, repository), comment.id);
    let mut value = json!({
        "url": url,
        "html_url": format!("{}#issuecomment-{}", page(base, repository, issue), comment.id),
        "issue_url": format!("{}/issues/{}", root(base, repository), issue.number),
        "id": comment.id,
        "node_id": node_id("IC", comment.id),
        "user": user(base, &comment.author),
        "created_at": iso(comment.created),
        "updated_at": iso(comment.updated),
        "body": comment.body,
        "author_association": association(repository, &comment.author),
        "reactions": rollup(&url, &comment.reactions),
        "performed_via_github_app": via(state, base, comment.via_app),
    });
    if let (Some(reason), Some(members)) = (&comment.hidden, value.as_object_mut()) {
        members.insert("minimized".to_owned(), json!({"reason": reason}));
    }
    value
}
