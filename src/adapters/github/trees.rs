//! Folders of a repository, listed whole, and the content of their files.
//!
//! A folder's tree is known by its name only through the listing of the folder above it; with that, one more request lists
//! all that is below (<https://docs.github.com/rest/git/trees#get-a-tree>). Contents are then asked for by their own names:
//! one request each instead of two, always what was listed, and no link is followed.

use http::{Method, StatusCode};
use serde::Deserialize;

use super::answer::{self, Complaint};
use super::files::{GITHUB_MOST, pour, within};
use super::transport::{Form, Request};
use super::{GitHub, link};
use crate::engine::forge::{EntryKind, ForgeError, ReadError, Take, Tree, TreeEntry};
use crate::engine::model::trigger::Repo;

/// GitHub lists no more of a folder's own entries
/// (<https://docs.github.com/rest/repos/contents#get-repository-content>).
const MOST_LISTED: usize = 1_000;

/// Git's mode of a symbolic link.
const LINK_MODE: &str = "120000";

/// What the contents endpoint says of a path.
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
struct Answered {
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
    /// See [`crate::engine::forge::Forge::tree`].
    pub(super) async fn read_tree(
        &self,
        repo: &Repo,
        folders: &[&str],
        reference: Option<&str>,
    ) -> Result<Option<Tree>, ForgeError> {
        let Some(commit) = self.commit(repo, reference).await? else {
            return Ok(None);
        };
        let mut tree = Tree {
            commit: commit.sha,
            ..Tree::default()
        };
        for folder in folders {
            if folder.is_empty() {
                // GitHub takes the id of a commit for its root tree.
                let root = tree.commit.clone();
                self.list(repo, "", &root, &mut tree).await?;
            } else if let Some(sha) = self.look_up(repo, folder, &mut tree).await? {
                self.list(repo, folder, &sha, &mut tree).await?;
            }
        }
        Ok(Some(tree))
    }

    /// The name of the folder's tree. What stands in its place goes into `tree`.
    async fn look_up(
        &self,
        repo: &Repo,
        folder: &str,
        tree: &mut Tree,
    ) -> Result<Option<String>, ForgeError> {
        let (parent, name) = folder.rsplit_once('/').unwrap_or(("", folder));
        let mut place = "/contents".to_owned();
        for step in parent.split('/').filter(|step| !step.is_empty()) {
            place.push('/');
            place.push_str(&link::encode(step));
        }
        place.push_str("?ref=");
        place.push_str(&link::encode(&tree.commit));
        let what = format!("the folder {folder} of {}", repo.full_name());
        let path = self.repo_path(repo, &place);
        let listing = match self.get(repo.installation, path, what).await {
            Err(ForgeError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
            Ok((request, answer)) => answer::read::<Listing>(&answer, &request)?,
        };
        let (found, at) = match listing {
            Listing::Other(item) => (Some(item), parent),
            Listing::Folder(items) => {
                let whole = items.len() < MOST_LISTED;
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

    /// Adds all that is below the folder.
    async fn list(
        &self,
        repo: &Repo,
        folder: &str,
        sha: &str,
        tree: &mut Tree,
    ) -> Result<(), ForgeError> {
        let place = format!("/git/trees/{}?recursive=1", link::encode(sha));
        let what = format!("the files below {folder} of {}", repo.full_name());
        let path = self.repo_path(repo, &place);
        let (request, answer) = self.get(repo.installation, path, what).await?;
        let answered: Answered = answer::read(&answer, &request)?;
        if answered.truncated {
            tree.cut.push(folder.to_owned());
        }
        for object in answered.tree {
            let kind = match object.kind.as_str() {
                "blob" if object.mode == LINK_MODE => EntryKind::Link,
                "blob" => EntryKind::File,
                "commit" => EntryKind::Submodule,
                _ => continue,
            };
            let size = match (object.size, kind) {
                (Some(size), _) => size,
                (None, EntryKind::Submodule | EntryKind::Link) => 0,
                (None, EntryKind::File) => {
                    return Err(ForgeError::Unreadable {
                        what: request.what,
                        message: answer::tidy(&format!("no `size` of the file {}", object.path)),
                    });
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
        Ok(())
    }

    /// See [`crate::engine::forge::Forge::blob`].
    pub(super) async fn read_blob(
        &self,
        repo: &Repo,
        id: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        let request = Request {
            method: Method::GET,
            path: self.repo_path(repo, &format!("/git/blobs/{}", link::encode(id))),
            body: None,
            form: Form::Raw,
            what: format!("the content {id} of {}", repo.full_name()),
        };
        let reading = async {
            let asker = self.asker(repo.installation);
            let answer = self.way().call(&asker, &request).await?;
            if answer.status == StatusCode::NOT_FOUND {
                return Err(ReadError::NoFile);
            }
            if answer.status == StatusCode::FORBIDDEN && Complaint::of(&answer).too_large {
                return Err(ReadError::TooLarge {
                    most: GITHUB_MOST.min(most),
                });
            }
            answer::judge(&answer, &request)?;
            let idle = self.transport.timeout;
            match answer.rest {
                Some(rest) => pour(rest, &answer.headers, most, idle, &request.what, take).await,
                None => Ok(()),
            }
        };
        within(self.download_timeout, &request.what, reading).await
    }
}
