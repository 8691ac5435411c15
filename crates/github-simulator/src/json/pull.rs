//! JSON of pull requests and the files that they change.

use serde_json::{Value, json};

use super::issue::author_association;
use super::{Renderer, extend, iso, node_id};
use crate::model::{ChangedFile, DEFAULT_BRANCH, Issue, PullRequest, Repository, TreeEntry};
use crate::urls::encode_path;

impl Renderer<'_> {
    /// Renders the head or the base of a pull request, with `null` for a missing repository.
    fn pull_request_side(&self, repository: Option<&Repository>, branch: &str, sha: &str) -> Value {
        let owner = repository.map(|repository| &repository.owner);
        let login = owner.map_or("unknown", |owner| owner.login.as_str());
        json!({
            "label": format!("{login}:{branch}"),
            "ref": branch,
            "sha": sha,
            "user": owner.map(|owner| self.user(owner)),
            "repo": repository.map(|repository| self.repository(repository)),
        })
    }

    /// Renders `pull-request`, which webhooks have too.
    pub(crate) fn pull_request(
        &self,
        repository: &Repository,
        issue: &Issue,
        pull: &PullRequest,
    ) -> Value {
        let files = repository.changed_files(pull);
        let counts = files.iter().map(ChangedFile::line_counts);
        let (additions, deletions) = counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let head = self.state.repositories.get(&pull.head_repository);
        let repository_url = self.urls.repository(repository);
        let api = format!("{repository_url}/pulls/{}", issue.number);
        let as_issue = format!("{repository_url}/issues/{}", issue.number);
        let html = self.urls.issue_page(repository, issue);
        let statuses = format!("{repository_url}/statuses/{}", pull.head);
        let review_comment = format!("{repository_url}/pulls/comments{{/number}}");
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
            "user": self.user(&issue.author),
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
            "labels": self.labels(repository, issue),
            "milestone": null,
            "draft": pull.draft,
            "commits_url": format!("{api}/commits"),
            "review_comments_url": format!("{api}/comments"),
            "review_comment_url": review_comment,
            "comments_url": format!("{as_issue}/comments"),
            "statuses_url": statuses,
        });
        // A single macro call would exceed the recursion limit.
        let rest = json!({
            "head": self.pull_request_side(head, &pull.branch, &pull.head),
            "base": self.pull_request_side(Some(repository), DEFAULT_BRANCH, &pull.base),
            "_links": {
                "self": {"href": api},
                "html": {"href": html},
                "issue": {"href": as_issue},
                "comments": {"href": format!("{as_issue}/comments")},
                "review_comments": {"href": format!("{api}/comments")},
                "review_comment": {"href": review_comment},
                "commits": {"href": format!("{api}/commits")},
                "statuses": {"href": statuses},
            },
            "author_association": author_association(repository, &issue.author),
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
            "commits": repository.commit_count(pull),
            "additions": additions,
            "deletions": deletions,
            "changed_files": files.len(),
        });
        extend(&mut value, rest);
        value
    }

    /// Renders `diff-entry`, without `patch`, which GitHub omits too if it is too long.
    pub(crate) fn changed_file(
        &self,
        repository: &Repository,
        pull: &PullRequest,
        file: &ChangedFile<'_>,
    ) -> Value {
        let path = encode_path(file.path);
        let (status, sha) = match (file.old, file.new) {
            (_, None) => ("removed", &pull.base),
            (None, _) => ("added", &pull.head),
            _ if file.previous.is_some() => ("renamed", &pull.head),
            _ => ("modified", &pull.head),
        };
        let page = self.urls.repository_page(repository);
        let api = self.urls.repository(repository);
        let (additions, deletions) = file.line_counts();
        let mut value = json!({
            "sha": file.new.or(file.old).map(TreeEntry::sha),
            "filename": file.path,
            "status": status,
            "additions": additions,
            "deletions": deletions,
            "changes": additions + deletions,
            "blob_url": format!("{page}/blob/{sha}/{path}"),
            "raw_url": format!("{page}/raw/{sha}/{path}"),
            "contents_url": format!("{api}/contents/{path}?ref={sha}"),
        });
        if let Some(previous) = file.previous {
            value["previous_filename"] = json!(previous);
        }
        value
    }

    /// Renders `pull-request-minimal`.
    pub(super) fn minimal_pull_request(
        &self,
        repository: &Repository,
        issue: &Issue,
        pull: &PullRequest,
    ) -> Value {
        let url = self.urls.repository(repository);
        let side = |branch: &str, sha: &str| {
            json!({
                "ref": branch,
                "sha": sha,
                "repo": {"id": repository.id, "url": url, "name": repository.name},
            })
        };
        json!({
            "id": issue.id,
            "number": issue.number,
            "url": format!("{url}/pulls/{}", issue.number),
            "head": side(&pull.branch, &pull.head),
            "base": side(DEFAULT_BRANCH, &pull.base),
        })
    }
}
