//! Lists folders of a repository recursively.
//!
//! The id of a folder's tree is only in the listing of its parent folder. With it, one request
//! lists everything below (<https://docs.github.com/rest/git/trees#get-a-tree>). Contents are then
//! read by their ids: one request each instead of two, always the version that was listed, and no
//! link is followed.
//!
//! The endpoint also takes the name of a commit or branch for its root tree, although only the id of
//! a tree is documented (github/docs#25084). Its response then has the id of the commit as `sha`,
//! not that of the tree (cscheid/rgithub#43), so one request is enough for the whole repository.

use serde::Deserialize;

use super::files::is_missing_commit;
use super::response::clean_message;
use super::{GitHub, link};
use crate::engine::forge::{EntryKind, ForgeError, Tree, TreeEntry};
use crate::engine::model::trigger::Repo;

/// Maximum number of entries that GitHub lists for a folder
/// (<https://docs.github.com/rest/repos/contents#get-repository-content>).
const MAX_LISTED: usize = 1_000;

/// Git's mode of a symbolic link.
const SYMLINK_MODE: &str = "120000";

/// The response of the contents endpoint.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Listing {
    Folder(Vec<Item>),
    Other(Item),
}

#[derive(Debug, Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    name: String,
    sha: String,
    size: u64,
}

#[derive(Debug, Deserialize)]
struct TreeListing {
    sha: String,
    tree: Vec<Object>,
    truncated: bool,
}

#[derive(Debug, Deserialize)]
struct Object {
    path: String,
    mode: String,
    #[serde(rename = "type")]
    kind: String,
    sha: String,
    #[serde(default)]
    size: Option<u64>,
}

impl GitHub {
    /// Returns the id of the folder's tree. Anything else with that path is added to `tree`.
    pub(super) async fn find_folder(
        &self,
        repo: &Repo,
        folder: &str,
        tree: &mut Tree,
    ) -> Result<Option<String>, ForgeError> {
        let (parent, name) = folder.rsplit_once('/').unwrap_or(("", folder));
        let mut path = "/contents".to_owned();
        for segment in parent.split('/').filter(|segment| !segment.is_empty()) {
            path.push('/');
            path.push_str(&link::encode(segment));
        }
        path.push_str("?ref=");
        path.push_str(&link::encode(&tree.commit));
        let what = format!("the folder {folder} of {}", repo.full_name());
        let listing = match self.api.get_json(repo, &path, what).await {
            Err(ForgeError::NotFound { .. }) => return Ok(None),
            other => other?,
        };
        let (found, at) = match listing {
            Listing::Other(item) => (Some(item), parent),
            Listing::Folder(items) => {
                let whole = items.len() < MAX_LISTED;
                let found = items.into_iter().find(|item| item.name == name);
                if found.is_none() && !whole {
                    tree.cut.push(folder.to_owned());
                }
                (found, folder)
            }
        };
        let Some(found) = found else {
            return Ok(None);
        };
        let kind = match found.kind.as_str() {
            "dir" => return Ok(Some(found.sha)),
            "symlink" => EntryKind::Link,
            "submodule" => EntryKind::Submodule,
            _ => EntryKind::File,
        };
        tree.entries.push(TreeEntry {
            path: at.to_owned(),
            size: found.size,
            id: found.sha,
            kind,
        });
        Ok(None)
    }

    /// Lists all files of the repository at a branch, tag or commit (`None` for the default branch).
    /// Returns `None` if there is no such commit.
    pub(super) async fn root_tree(
        &self,
        repo: &Repo,
        reference: Option<&str>,
    ) -> Result<Option<Tree>, ForgeError> {
        let mut tree = Tree::default();
        let name = reference.unwrap_or("HEAD");
        match self.list_tree(repo, "", name, &mut tree).await {
            Ok(commit) => {
                tree.commit = commit;
                Ok(Some(tree))
            }
            Err(error) if is_missing_commit(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Adds everything below the folder to `tree`. Returns the `sha` of the response.
    pub(super) async fn list_tree(
        &self,
        repo: &Repo,
        folder: &str,
        sha: &str,
        tree: &mut Tree,
    ) -> Result<String, ForgeError> {
        let path = format!("/git/trees/{}?recursive=1", link::encode(sha));
        let what = format!("the files below {folder} of {}", repo.full_name());
        let response = self.api.get(repo, &path, what).await?;
        let listing: TreeListing = response.json()?;
        if listing.truncated {
            tree.cut.push(folder.to_owned());
        }
        for object in listing.tree {
            let kind = match object.kind.as_str() {
                "blob" if object.mode == SYMLINK_MODE => EntryKind::Link,
                "blob" => EntryKind::File,
                "commit" => EntryKind::Submodule,
                _ => continue,
            };
            let size = match (object.size, kind) {
                (Some(size), _) => size,
                (None, EntryKind::Submodule | EntryKind::Link) => 0,
                (None, EntryKind::File) => {
                    let message = format!("no `size` of the file {}", object.path);
                    return Err(response.unreadable(clean_message(&message)));
                }
            };
            tree.entries.push(TreeEntry {
                path: match folder {
                    "" => object.path,
                    folder => format!("{folder}/{}", object.path),
                },
                size,
                id: object.sha,
                kind,
            });
        }
        Ok(listing.sha)
    }
}
