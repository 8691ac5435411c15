//! JSON of issues, comments, labels and reactions.

use serde_json::{Value, json};

use super::{Renderer, iso, node_id};
use crate::model::{
    Comment, Issue, Label, LabelEvent, REACTION_CONTENTS, Reaction, Repository, Role, User,
};
use crate::urls::encode_segment;

/// Returns the `author-association` as far as roles determine it.
pub(super) fn author_association(repository: &Repository, user: &User) -> &'static str {
    if repository.owner.id == user.id {
        return "OWNER";
    }
    match repository.roles.get(&user.id) {
        None | Some(Role::None | Role::Read) => "NONE",
        Some(_) => "COLLABORATOR",
    }
}

/// Renders the `reaction-rollup` of the object with this URL.
fn reaction_rollup(url: &str, reactions: &[Reaction]) -> Value {
    let mut value = json!({
        "url": format!("{url}/reactions"),
        "total_count": reactions.len(),
    });
    for content in REACTION_CONTENTS {
        let same = reactions.iter().filter(|one| one.content == content);
        value[content] = json!(same.count());
    }
    value
}

impl Renderer<'_> {
    /// Renders `label`.
    pub(crate) fn label(&self, repository: &Repository, label: &Label) -> Value {
        let labels = format!("{}/labels", self.urls.repository(repository));
        json!({
            "id": label.id,
            "node_id": node_id("LA", label.id),
            "url": format!("{labels}/{}", encode_segment(&label.name)),
            "name": label.name,
            "color": label.colour,
            "default": false,
            "description": label.description,
        })
    }

    /// Renders `event`.
    pub(crate) fn label_event(&self, repository: &Repository, event: &LabelEvent) -> Value {
        let app = if event.via_app {
            self.app()
        } else {
            Value::Null
        };
        let events = format!("{}/issues/events", self.urls.repository(repository));
        json!({
            "id": event.id,
            "node_id": node_id("LE", event.id),
            "url": format!("{events}/{}", event.id),
            "actor": self.user(&event.actor),
            "event": event.event,
            "commit_id": null,
            "commit_url": null,
            "created_at": iso(event.created),
            "label": {"name": event.label, "color": event.colour},
            "performed_via_github_app": app,
        })
    }

    /// Renders the labels of an issue.
    pub(super) fn labels(&self, repository: &Repository, issue: &Issue) -> Value {
        let labels = repository.labels_of(issue).into_iter();
        labels.map(|label| self.label(repository, label)).collect()
    }

    /// Renders `reaction`.
    pub(crate) fn reaction(&self, reaction: &Reaction) -> Value {
        json!({
            "id": reaction.id,
            "node_id": node_id("REA", reaction.id),
            "user": self.user(&reaction.user),
            "content": reaction.content,
            "created_at": iso(reaction.created),
        })
    }

    /// Renders `issue`. Pull requests are issues too, with a member `pull_request`.
    pub(crate) fn issue(&self, repository: &Repository, issue: &Issue) -> Value {
        let repository_url = self.urls.repository(repository);
        let url = format!("{repository_url}/issues/{}", issue.number);
        let html = self.urls.issue_page(repository, issue);
        let mut value = json!({
            "url": url,
            "repository_url": repository_url,
            "labels_url": format!("{url}/labels{{/name}}"),
            "comments_url": format!("{url}/comments"),
            "events_url": format!("{url}/events"),
            "html_url": html,
            "id": issue.id,
            "node_id": node_id(if issue.pull.is_some() { "PR" } else { "I" }, issue.id),
            "number": issue.number,
            "title": issue.title,
            "user": self.user(&issue.author),
            "labels": self.labels(repository, issue),
            "state": if issue.closed.is_some() { "closed" } else { "open" },
            "locked": issue.locked,
            "assignee": null,
            "assignees": [],
            "milestone": null,
            "comments": issue.comments.len(),
            "created_at": iso(issue.created),
            "updated_at": iso(issue.updated),
            "closed_at": issue.closed.map(iso),
            "author_association": author_association(repository, &issue.author),
            "active_lock_reason": null,
            "sub_issues_summary": {"total": 0, "completed": 0, "percent_completed": 0},
            "issue_dependencies_summary": {
                "blocked_by": 0, "total_blocked_by": 0, "blocking": 0, "total_blocking": 0,
            },
            "body": issue.body,
            "closed_by": issue.closed_by.as_ref().map(|user| self.user(user)),
            "reactions": reaction_rollup(&url, &issue.reactions),
            "timeline_url": format!("{url}/timeline"),
            "performed_via_github_app": issue.via_app.then(|| self.app()),
            "state_reason": issue.state_reason,
        });
        if let Some(pull) = &issue.pull {
            value["draft"] = json!(pull.draft);
            value["pull_request"] = json!({
                "url": format!("{repository_url}/pulls/{}", issue.number),
                "html_url": html,
                "diff_url": format!("{html}.diff"),
                "patch_url": format!("{html}.patch"),
                "merged_at": null,
            });
        }
        value
    }

    /// Renders `issue-comment`.
    pub(crate) fn comment(
        &self,
        repository: &Repository,
        issue: &Issue,
        comment: &Comment,
    ) -> Value {
        let issues = format!("{}/issues", self.urls.repository(repository));
        let url = format!("{issues}/comments/{}", comment.id);
        let page = self.urls.issue_page(repository, issue);
        let mut value = json!({
            "url": url,
            "html_url": format!("{page}#issuecomment-{}", comment.id),
            "issue_url": format!("{issues}/{}", issue.number),
            "id": comment.id,
            "node_id": node_id("IC", comment.id),
            "user": self.user(&comment.author),
            "created_at": iso(comment.created),
            "updated_at": iso(comment.updated),
            "body": comment.body,
            "author_association": author_association(repository, &comment.author),
            "reactions": reaction_rollup(&url, &comment.reactions),
            "performed_via_github_app": comment.via_app.then(|| self.app()),
        });
        if let Some(reason) = &comment.hidden {
            value["minimized"] = json!({"reason": reason});
        }
        value
    }
}
