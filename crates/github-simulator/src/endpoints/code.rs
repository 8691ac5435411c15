//! Endpoints for files, trees, commits, and the code of pull requests.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::archives;
use crate::json::iso;
use crate::model::{
    Commit, DEFAULT_BRANCH, Issue, PullRequest, Repository, Tree, TreeEntry, children, join_path,
    tree_sha,
};
use crate::repository_call::RepositoryCall;
use crate::response::{ApiResponse, ApiResult};
use crate::urls::{encode_path, encode_segment};

/// Length of the lines into which GitHub breaks base64.
const BASE64_LINE: usize = 60;

/// Maximum number of files that are listed ("List pull requests files": "a maximum of 3000 files").
const MAX_FILES: usize = 3_000;

/// Encodes `content` as base64 with line breaks.
fn encode_base64(content: &[u8]) -> String {
    let mut lines = String::new();
    for (index, character) in STANDARD.encode(content).chars().enumerate() {
        if index > 0 && index % BASE64_LINE == 0 {
            lines.push('\n');
        }
        lines.push(character);
    }
    lines.push('\n');
    lines
}

/// Returns the type of an entry in a listing; `None` is a directory.
fn entry_type(entry: Option<&TreeEntry>) -> &'static str {
    match entry {
        None => "dir",
        Some(TreeEntry::File(_)) => "file",
        Some(TreeEntry::Link(_)) => "symlink",
        Some(TreeEntry::Submodule(_)) => "submodule",
    }
}

/// Renders the members that all types of entries have; `entry` is `None` for a directory.
fn render_entry(
    call: &RepositoryCall<'_>,
    repository: &Repository,
    (reference, tree): (&str, &Tree),
    path: &str,
    entry: Option<&TreeEntry>,
) -> Value {
    let escaped = encode_path(path);
    let api = call.request.urls.repository(repository);
    let page = call.request.urls.repository_page(repository);
    let url = format!("{api}/contents/{escaped}?ref={}", encode_segment(reference));
    let (object, sha) = match entry {
        None => ("tree", tree_sha(tree, path)),
        Some(entry) => ("blob", entry.sha()),
    };
    let git = format!("{api}/git/{object}s/{sha}");
    let html = format!("{page}/{object}/{reference}/{escaped}");
    let download = matches!(entry, Some(TreeEntry::File(_)))
        .then(|| format!("{page}/raw/{reference}/{escaped}"));
    json!({
        "name": path.rsplit('/').next().unwrap_or(path),
        "path": path,
        "sha": sha,
        "size": entry.map_or(0, |entry| entry.bytes().len()),
        "url": url,
        "html_url": html,
        "git_url": git,
        "download_url": download,
        "type": entry_type(entry),
        "_links": {"self": url, "git": git, "html": html},
    })
}

/// `GET …/contents/{path}`: a file, or the direct children of a directory. A link to a file of the
/// repository is followed ("Get repository content").
pub(super) fn contents(call: &RepositoryCall<'_>, path: &[&str]) -> ApiResult {
    call.require_permission(&["contents"])?;
    let repository = call.repository()?;
    let path = path.join("/");
    let reference = call.request.query("ref");
    let commit = repository
        .commit(reference)
        .ok_or_else(ApiResponse::not_found)?;
    let reference = (reference.unwrap_or(DEFAULT_BRANCH), &commit.tree);
    let Some(entry) = commit.tree.get(&path) else {
        return directory(call, repository, reference, &path);
    };
    let mut value = render_entry(call, repository, reference, &path, Some(entry));
    let content = match entry {
        TreeEntry::File(content) => content,
        TreeEntry::Link(target) => {
            let Some(TreeEntry::File(content)) = commit.tree.get(target) else {
                value["target"] = json!(target);
                return Ok(ApiResponse::ok(value));
            };
            content
        }
        TreeEntry::Submodule(_) => {
            let url = format!("{}/other/module.git", call.request.urls.web);
            value["submodule_git_url"] = json!(url);
            return Ok(ApiResponse::ok(value));
        }
    };
    // "Returns the raw file contents for files and symlinks", and only for those.
    if call.request.accepts_raw() {
        return Ok(ApiResponse::raw_content(content.clone()));
    }
    value["type"] = json!("file");
    value["size"] = json!(content.len());
    value["content"] = json!(encode_base64(content));
    value["encoding"] = json!("base64");
    Ok(ApiResponse::ok(value))
}

fn directory(
    call: &RepositoryCall<'_>,
    repository: &Repository,
    reference: (&str, &Tree),
    path: &str,
) -> ApiResult {
    let mut entries = Vec::new();
    for (name, entry) in children(reference.1, path) {
        let path = join_path(path, name);
        let mut value = render_entry(call, repository, reference, &path, entry);
        if let Some(TreeEntry::Submodule(_)) = entry {
            // "the value should be `submodule`, but this behavior exists in API v3 for backwards
            // compatibility".
            value["type"] = json!("file");
        }
        entries.push(value);
    }
    if entries.is_empty() {
        return Err(ApiResponse::not_found());
    }
    Ok(ApiResponse::ok(Value::Array(entries)))
}

/// `GET …/git/trees/{tree_sha}`: the direct children of a folder or, with any value of `recursive`,
/// everything below it ("Get a tree"). Trees are never truncated. For the name of a commit or
/// branch, `sha` is the id of the commit.
pub(super) fn tree(call: &RepositoryCall<'_>, name: &str) -> ApiResult {
    call.require_permission(&["contents"])?;
    let repository = call.repository()?;
    let (tree, folder) = repository.tree(name).ok_or_else(ApiResponse::not_found)?;
    let git_url = format!("{}/git", call.request.urls.repository(repository));
    let mut query = call.request.query.iter();
    let recursive = query.any(|(name, _)| name == "recursive");
    let mut objects = Vec::new();
    collect_objects(&git_url, (tree, &folder), "", recursive, &mut objects);
    let commit = repository.commit(Some(name));
    let sha = commit.map_or_else(|| tree_sha(tree, &folder), |commit| commit.sha.clone());
    Ok(ApiResponse::ok(json!({
        "sha": sha,
        "url": format!("{git_url}/trees/{sha}"),
        "tree": objects,
        "truncated": false,
    })))
}

/// Adds the children of `folder` to `objects`, with `parent` as the start of their paths.
fn collect_objects(
    git_url: &str,
    (tree, folder): (&Tree, &str),
    parent: &str,
    recursive: bool,
    objects: &mut Vec<Value>,
) {
    for (name, entry) in children(tree, folder) {
        let path = join_path(parent, name);
        let Some(entry) = entry else {
            let inner = join_path(folder, name);
            let sha = tree_sha(tree, &inner);
            let url = format!("{git_url}/trees/{sha}");
            objects.push(json!({
                "path": path, "mode": "040000", "type": "tree", "sha": sha, "url": url,
            }));
            if recursive {
                collect_objects(git_url, (tree, &inner), &path, recursive, objects);
            }
            continue;
        };
        let sha = entry.sha();
        objects.push(match entry {
            TreeEntry::Submodule(commit) => json!({
                "path": path, "mode": entry.mode(), "type": "commit", "sha": commit,
            }),
            TreeEntry::File(_) | TreeEntry::Link(_) => json!({
                "path": path, "mode": entry.mode(), "type": "blob", "sha": sha,
                "size": entry.bytes().len(), "url": format!("{git_url}/blobs/{sha}"),
            }),
        });
    }
}

/// `GET …/git/blobs/{file_sha}`: the content of a file or a link ("Get a blob").
pub(super) fn blob(call: &RepositoryCall<'_>, sha: &str) -> ApiResult {
    call.require_permission(&["contents"])?;
    let repository = call.repository()?;
    let entry = repository.blob(sha).ok_or_else(ApiResponse::not_found)?;
    let content = entry.bytes();
    if call.request.accepts_raw() {
        return Ok(ApiResponse::raw_content(content.to_vec().into()));
    }
    let api = call.request.urls.repository(repository);
    Ok(ApiResponse::ok(json!({
        "sha": sha,
        "node_id": format!("B_{sha}"),
        "size": content.len(),
        "url": format!("{api}/git/blobs/{sha}"),
        "content": encode_base64(content),
        "encoding": "base64",
    })))
}

/// `GET …/tarball/{ref}`: a redirect to the archive ("Download a repository archive (tar)").
pub(super) fn tarball(call: &mut RepositoryCall<'_>, name: &[&str]) -> ApiResult {
    call.require_permission(&["contents"])?;
    let name = name.join("/");
    let name = Some(name.as_str()).filter(|name| !name.is_empty());
    let commit = call.repository()?.commit(name);
    let commit = commit.ok_or_else(ApiResponse::not_found)?.sha.clone();
    archives::redirect(call.state, call.request, call.repository_id, &commit)
}

/// Resolves a branch or SHA to a commit.
pub(super) fn find_commit<'a>(repository: &'a Repository, name: &str) -> ApiResult<&'a Commit> {
    let commit = repository.commit(Some(name));
    commit.ok_or_else(|| no_such_commit(name))
}

/// Returns the 422 for an unknown commit. The message is from public issue threads.
pub(super) fn no_such_commit(name: &str) -> ApiResponse {
    ApiResponse::unprocessable(&format!("No commit found for SHA: {name}"))
}

/// `GET …/branches`, by name.
pub(super) fn branches(call: &RepositoryCall<'_>) -> ApiResult {
    call.require_permission(&["contents"])?;
    let repository = call.repository()?;
    let api = call.request.urls.repository(repository);
    let branches: Vec<_> = repository.branches.iter().collect();
    Ok(call.page(&branches, |(name, sha)| {
        json!({
            "name": name,
            "commit": { "sha": sha, "url": format!("{api}/commits/{sha}") },
            "protected": false,
        })
    }))
}

/// `GET …/branches/{branch}`.
pub(super) fn branch(call: &RepositoryCall<'_>, name: &str) -> ApiResult {
    let repository = call.repository()?;
    let sha = repository.branches.get(name);
    let sha = sha.ok_or_else(ApiResponse::not_found)?.clone();
    let api = call.request.urls.repository(repository);
    let page = call.request.urls.repository_page(repository);
    let name_in_path = encode_path(name);
    let links = json!({
        "self": format!("{api}/branches/{name_in_path}"),
        "html": format!("{page}/tree/{name_in_path}"),
    });
    Ok(commit(call, &sha)?.map_json(|commit| {
        json!({
            "name": name,
            "commit": commit,
            "_links": links,
            "protected": false,
            "protection": { "enabled": false },
            "protection_url": format!("{api}/branches/{name_in_path}/protection"),
        })
    }))
}

/// `GET …/commits/{ref}`.
pub(super) fn commit(call: &RepositoryCall<'_>, name: &str) -> ApiResult {
    call.require_permission(&["contents"])?;
    let repository = call.repository()?;
    let commit = find_commit(repository, name)?;
    let sha = &commit.sha;
    let tree = tree_sha(&commit.tree, "");
    let api = call.request.urls.repository(repository);
    let page = call.request.urls.repository_page(repository);
    let person = json!({
        "name": repository.owner.login,
        "email": "somebody@users.noreply.example",
        "date": iso(commit.created),
    });
    let parents = commit.parent.iter().map(|sha| {
        json!({
            "sha": sha,
            "url": format!("{api}/commits/{sha}"),
            "html_url": format!("{page}/commit/{sha}"),
        })
    });
    Ok(ApiResponse::ok(json!({
        "url": format!("{api}/commits/{sha}"),
        "sha": sha,
        "node_id": format!("C_{sha}"),
        "html_url": format!("{page}/commit/{sha}"),
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
        "parents": parents.collect::<Value>(),
        "stats": {"additions": 0, "deletions": 0, "total": 0},
        "files": [],
    })))
}

fn find_pull_request<'a>(
    call: &'a RepositoryCall<'_>,
    number: &str,
) -> ApiResult<(&'a Repository, &'a Issue, &'a PullRequest)> {
    call.require_permission(&["pull_requests"])?;
    let repository = call.repository()?;
    let issue = repository.parse_issue(number);
    issue
        .and_then(|issue| Some((repository, issue, issue.pull.as_ref()?)))
        .ok_or_else(ApiResponse::not_found)
}

/// `GET …/pulls/{number}`.
pub(super) fn pull_request(call: &RepositoryCall<'_>, number: &str) -> ApiResult {
    let (repository, issue, pull) = find_pull_request(call, number)?;
    let body = call.renderer().pull_request(repository, issue, pull);
    Ok(ApiResponse::ok(body))
}

/// `GET …/pulls/{number}/files`.
pub(super) fn changed_files(call: &RepositoryCall<'_>, number: &str) -> ApiResult {
    let (repository, _, pull) = find_pull_request(call, number)?;
    let mut files = repository.changed_files(pull);
    files.truncate(MAX_FILES);
    let renderer = call.renderer();
    Ok(call.page(&files, |file| renderer.changed_file(repository, pull, file)))
}
