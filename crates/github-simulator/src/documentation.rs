//! The pages of GitHub's documentation that errors refer to.

use http::Method;

use crate::faults::path_matches;

/// Start of all addresses, and the page of everything that is not in [`OPERATIONS`].
const ROOT: &str = "https://docs.github.com/rest";

/// The operations of the API that are simulated: method, pattern of the path (`*` is one segment, a
/// final `**` any number), and the page of GitHub's documentation below
/// `https://docs.github.com/rest/`.
pub const OPERATIONS: [(&str, &str, &str); 58] = [
    ("GET", "/app", "apps/apps#get-the-authenticated-app"),
    (
        "GET",
        "/app/installations",
        "apps/apps#list-installations-for-the-authenticated-app",
    ),
    (
        "GET",
        "/app/installations/*",
        "apps/apps#get-an-installation-for-the-authenticated-app",
    ),
    (
        "POST",
        "/app/installations/*/access_tokens",
        "apps/apps#create-an-installation-access-token-for-an-app",
    ),
    (
        "GET",
        "/app/hook/deliveries",
        "apps/webhooks#list-deliveries-for-an-app-webhook",
    ),
    (
        "GET",
        "/app/hook/deliveries/*",
        "apps/webhooks#get-a-delivery-for-an-app-webhook",
    ),
    (
        "POST",
        "/app/hook/deliveries/*/attempts",
        "apps/webhooks#redeliver-a-delivery-for-an-app-webhook",
    ),
    (
        "POST",
        "/app-manifests/*/conversions",
        "apps/apps#create-a-github-app-from-a-manifest",
    ),
    (
        "GET",
        "/installation/repositories",
        "apps/installations#list-repositories-accessible-to-the-app-installation",
    ),
    (
        "GET",
        "/rate_limit",
        "rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user",
    ),
    (
        "GET",
        "/search/issues",
        "search/search#search-issues-and-pull-requests",
    ),
    ("GET", "/user", "users/users#get-the-authenticated-user"),
    ("GET", "/repos/*/*", "repos/repos#get-a-repository"),
    (
        "GET",
        "/repos/*/*/installation",
        "apps/apps#get-a-repository-installation-for-the-authenticated-app",
    ),
    (
        "GET",
        "/repos/*/*/branches",
        "branches/branches#list-branches",
    ),
    (
        "GET",
        "/repos/*/*/branches/*",
        "branches/branches#get-a-branch",
    ),
    (
        "GET",
        "/repos/*/*/collaborators",
        "collaborators/collaborators#list-repository-collaborators",
    ),
    (
        "GET",
        "/repos/*/*/collaborators/*",
        "collaborators/collaborators#check-if-a-user-is-a-repository-collaborator",
    ),
    (
        "GET",
        "/repos/*/*/collaborators/*/permission",
        "collaborators/collaborators#get-repository-permissions-for-a-user",
    ),
    (
        "GET",
        "/repos/*/*/contents/**",
        "repos/contents#get-repository-content",
    ),
    ("GET", "/repos/*/*/git/trees/*", "git/trees#get-a-tree"),
    ("GET", "/repos/*/*/git/blobs/*", "git/blobs#get-a-blob"),
    (
        "GET",
        "/repos/*/*/tarball/*",
        "repos/contents#download-a-repository-archive-tar",
    ),
    (
        "GET",
        "/repos/*/*/commits/*",
        "commits/commits#get-a-commit",
    ),
    (
        "GET",
        "/repos/*/*/commits/*/check-runs",
        "checks/runs#list-check-runs-for-a-git-reference",
    ),
    (
        "POST",
        "/repos/*/*/check-runs",
        "checks/runs#create-a-check-run",
    ),
    (
        "GET",
        "/repos/*/*/check-runs/*",
        "checks/runs#get-a-check-run",
    ),
    (
        "PATCH",
        "/repos/*/*/check-runs/*",
        "checks/runs#update-a-check-run",
    ),
    (
        "GET",
        "/repos/*/*/check-runs/*/annotations",
        "checks/runs#list-check-run-annotations",
    ),
    (
        "GET",
        "/repos/*/*/pulls/*",
        "pulls/pulls#get-a-pull-request",
    ),
    (
        "GET",
        "/repos/*/*/pulls/*/files",
        "pulls/pulls#list-pull-requests-files",
    ),
    (
        "GET",
        "/repos/*/*/issues",
        "issues/issues#list-repository-issues",
    ),
    ("POST", "/repos/*/*/issues", "issues/issues#create-an-issue"),
    (
        "GET",
        "/repos/*/*/issues/comments",
        "issues/comments#list-issue-comments-for-a-repository",
    ),
    (
        "GET",
        "/repos/*/*/issues/comments/*",
        "issues/comments#get-an-issue-comment",
    ),
    (
        "PATCH",
        "/repos/*/*/issues/comments/*",
        "issues/comments#update-an-issue-comment",
    ),
    (
        "DELETE",
        "/repos/*/*/issues/comments/*",
        "issues/comments#delete-an-issue-comment",
    ),
    (
        "GET",
        "/repos/*/*/issues/comments/*/reactions",
        "reactions/reactions#list-reactions-for-an-issue-comment",
    ),
    (
        "POST",
        "/repos/*/*/issues/comments/*/reactions",
        "reactions/reactions#create-reaction-for-an-issue-comment",
    ),
    (
        "DELETE",
        "/repos/*/*/issues/comments/*/reactions/*",
        "reactions/reactions#delete-an-issue-comment-reaction",
    ),
    ("GET", "/repos/*/*/issues/*", "issues/issues#get-an-issue"),
    (
        "PATCH",
        "/repos/*/*/issues/*",
        "issues/issues#update-an-issue",
    ),
    (
        "PUT",
        "/repos/*/*/issues/*/lock",
        "issues/issues#lock-an-issue",
    ),
    (
        "DELETE",
        "/repos/*/*/issues/*/lock",
        "issues/issues#unlock-an-issue",
    ),
    (
        "GET",
        "/repos/*/*/issues/*/comments",
        "issues/comments#list-issue-comments",
    ),
    (
        "POST",
        "/repos/*/*/issues/*/comments",
        "issues/comments#create-an-issue-comment",
    ),
    (
        "GET",
        "/repos/*/*/issues/*/events",
        "issues/events#list-issue-events",
    ),
    (
        "GET",
        "/repos/*/*/issues/*/timeline",
        "issues/timeline#list-timeline-events-for-an-issue",
    ),
    (
        "GET",
        "/repos/*/*/issues/*/reactions",
        "reactions/reactions#list-reactions-for-an-issue",
    ),
    (
        "POST",
        "/repos/*/*/issues/*/reactions",
        "reactions/reactions#create-reaction-for-an-issue",
    ),
    (
        "DELETE",
        "/repos/*/*/issues/*/reactions/*",
        "reactions/reactions#delete-an-issue-reaction",
    ),
    (
        "GET",
        "/repos/*/*/issues/*/labels",
        "issues/labels#list-labels-for-an-issue",
    ),
    (
        "POST",
        "/repos/*/*/issues/*/labels",
        "issues/labels#add-labels-to-an-issue",
    ),
    (
        "DELETE",
        "/repos/*/*/issues/*/labels/*",
        "issues/labels#remove-a-label-from-an-issue",
    ),
    (
        "GET",
        "/repos/*/*/labels",
        "issues/labels#list-labels-for-a-repository",
    ),
    ("POST", "/repos/*/*/labels", "issues/labels#create-a-label"),
    ("GET", "/repos/*/*/labels/*", "issues/labels#get-a-label"),
    (
        "PATCH",
        "/repos/*/*/labels/*",
        "issues/labels#update-a-label",
    ),
];

/// Returns the page about an operation.
pub(crate) fn page(method: &Method, path: &str) -> String {
    let mut pages = OPERATIONS.iter();
    let found =
        pages.find(|(name, pattern, _)| *name == method.as_str() && path_matches(pattern, path));
    match found {
        Some((.., page)) => format!("{ROOT}/{page}"),
        None => ROOT.to_owned(),
    }
}
