//! Pull requests: what one proposes, and the files that it changes.

use serde::Deserialize;

use super::call::PER_PAGE;
use super::{GitHub, answer};
use crate::engine::forge::{Change, ChangedFile, ForgeError, PullRequest};
use crate::engine::model::trigger::Place;

#[derive(Debug, Deserialize)]
struct Pull {
    state: String,
    #[serde(default)]
    draft: Option<bool>,
    head: Side,
    base: Side,
    changed_files: usize,
}

#[derive(Debug, Deserialize)]
struct Side {
    sha: String,
    #[serde(rename = "ref")]
    branch: String,
    /// `null` when the repository is gone.
    #[serde(default)]
    repo: Option<Home>,
}

#[derive(Debug, Deserialize)]
struct Home {
    id: u64,
}

#[derive(Debug, Deserialize)]
struct DiffEntry {
    filename: String,
    status: Status,
    #[serde(default)]
    previous_filename: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Added,
    Removed,
    Modified,
    Renamed,
    Copied,
    Unchanged,
    #[serde(other)]
    Changed,
}

impl GitHub {
    /// See [`crate::engine::forge::Forge::pull_request`].
    pub(super) async fn read_pull_request(&self, place: &Place) -> Result<PullRequest, ForgeError> {
        let path = self.repo_path(&place.repo, &format!("/pulls/{}", place.number));
        let (request, answer) = self
            .get(place.repo.installation, path, pull_of(place))
            .await?;
        let pull: Pull = answer::read(&answer, &request)?;
        Ok(PullRequest {
            head_sha: pull.head.sha,
            head_repo: pull.head.repo.map(|home| home.id),
            base_sha: pull.base.sha,
            base_branch: pull.base.branch,
            open: pull.state == "open",
            draft: pull.draft.unwrap_or_default(),
            changed_files: pull.changed_files,
        })
    }

    /// See [`crate::engine::forge::Forge::changed_files`].
    pub(super) async fn list_changed_files(
        &self,
        place: &Place,
    ) -> Result<Vec<ChangedFile>, ForgeError> {
        let path = format!("/pulls/{}/files?per_page={PER_PAGE}", place.number);
        let path = self.repo_path(&place.repo, &path);
        let what = format!("the changed files of {}", pull_of(place));
        let entries: Vec<DiffEntry> = self.pages(&place.repo, path, &what, |_| true).await?;
        Ok(entries
            .into_iter()
            .map(|entry| ChangedFile {
                path: entry.filename,
                change: match entry.status {
                    Status::Added => Change::Added,
                    Status::Removed => Change::Removed,
                    Status::Modified => Change::Modified,
                    Status::Renamed => Change::Renamed,
                    Status::Copied => Change::Copied,
                    Status::Changed => Change::Changed,
                    Status::Unchanged => Change::Unchanged,
                },
                previous: entry.previous_filename,
            })
            .collect())
    }
}

fn pull_of(place: &Place) -> String {
    format!(
        "pull request #{} of {}",
        place.number,
        place.repo.full_name()
    )
}
