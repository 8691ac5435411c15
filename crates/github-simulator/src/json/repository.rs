//! JSON of repositories.

use serde_json::{Value, json};

use super::{Renderer, extend, iso, node_id};
use crate::model::{DEFAULT_BRANCH, Repository};

/// Members that are the repository's URL with a suffix.
const URL_SUFFIXES: &[(&str, &str)] = &[
    ("archive_url", "/{archive_format}{/ref}"),
    ("assignees_url", "/assignees{/user}"),
    ("blobs_url", "/git/blobs{/sha}"),
    ("branches_url", "/branches{/branch}"),
    ("collaborators_url", "/collaborators{/collaborator}"),
    ("comments_url", "/comments{/number}"),
    ("commits_url", "/commits{/sha}"),
    ("compare_url", "/compare/{base}...{head}"),
    ("contents_url", "/contents/{+path}"),
    ("contributors_url", "/contributors"),
    ("deployments_url", "/deployments"),
    ("downloads_url", "/downloads"),
    ("events_url", "/events"),
    ("forks_url", "/forks"),
    ("git_commits_url", "/git/commits{/sha}"),
    ("git_refs_url", "/git/refs{/sha}"),
    ("git_tags_url", "/git/tags{/sha}"),
    ("hooks_url", "/hooks"),
    ("issue_comment_url", "/issues/comments{/number}"),
    ("issue_events_url", "/issues/events{/number}"),
    ("issues_url", "/issues{/number}"),
    ("keys_url", "/keys{/key_id}"),
    ("labels_url", "/labels{/name}"),
    ("languages_url", "/languages"),
    ("merges_url", "/merges"),
    ("milestones_url", "/milestones{/number}"),
    (
        "notifications_url",
        "/notifications{?since,all,participating}",
    ),
    ("pulls_url", "/pulls{/number}"),
    ("releases_url", "/releases{/id}"),
    ("stargazers_url", "/stargazers"),
    ("statuses_url", "/statuses/{sha}"),
    ("subscribers_url", "/subscribers"),
    ("subscription_url", "/subscription"),
    ("tags_url", "/tags"),
    ("teams_url", "/teams"),
    ("trees_url", "/git/trees{/sha}"),
];

impl Renderer<'_> {
    /// Renders `full-repository`, which is valid as `repository` and as the repository of webhooks
    /// too.
    pub(crate) fn repository(&self, repository: &Repository) -> Value {
        let full_name = repository.full_name();
        let api = self.urls.repository(repository);
        let page = self.urls.repository_page(repository);
        let open = repository.open_issue_count();
        let created = iso(repository.created);
        let mut value = json!({
            "id": repository.id,
            "node_id": node_id("R", repository.id),
            "name": repository.name,
            "full_name": full_name,
            "private": repository.private,
            "owner": self.user(&repository.owner),
            "html_url": page,
            "description": null,
            "fork": repository.fork,
            "url": api,
        });
        for (name, suffix) in URL_SUFFIXES {
            value[*name] = json!(format!("{api}{suffix}"));
        }
        let rest = json!({
            "created_at": created,
            "updated_at": created,
            "pushed_at": created,
            "git_url": format!("git://localhost/{full_name}.git"),
            "ssh_url": format!("git@localhost:{full_name}.git"),
            "clone_url": format!("{page}.git"),
            "svn_url": page,
            "homepage": null,
            "size": 108,
            "stargazers_count": 0,
            "watchers_count": 0,
            "language": null,
            "has_issues": repository.has_issues,
            "has_projects": true,
            "has_downloads": true,
            "has_wiki": true,
            "has_pages": false,
            "has_discussions": false,
            "forks_count": 0,
            "mirror_url": null,
            "archived": repository.archived,
            "disabled": false,
            "open_issues_count": open,
            "license": null,
            "allow_forking": true,
            "is_template": false,
            "web_commit_signoff_required": false,
            "topics": [],
            "visibility": if repository.private { "private" } else { "public" },
            "forks": 0,
            "open_issues": open,
            "watchers": 0,
            "default_branch": DEFAULT_BRANCH,
            "network_count": 0,
            "subscribers_count": 1,
            "custom_properties": {},
        });
        extend(&mut value, rest);
        value
    }
}

/// Renders the members of a repository that installation webhooks have.
pub(crate) fn minimal_repository(repository: &Repository) -> Value {
    json!({
        "id": repository.id,
        "node_id": node_id("R", repository.id),
        "name": repository.name,
        "full_name": repository.full_name(),
        "private": repository.private,
    })
}
