//! Reads the archive of a repository's files at a commit.
//!
//! The API redirects to the archive server (302). That request is made without the installation's
//! token ([`super::downloads`]).

use std::time::Duration;

use http::StatusCode;
use http::header::LOCATION;
use url::Url;

use super::downloads::unreadable;
use super::files::read_within;
use super::transport::Request;
use super::{GitHub, link};
use crate::engine::forge::{ReadError, Take};
use crate::engine::model::trigger::Repo;

/// Time limit for one archive. A connection that delivers nothing is given up much earlier.
const MAX_TIME: Duration = Duration::from_mins(30);

impl GitHub {
    /// Reads the archive of all files of `repo` at `commit` in pieces until `take` returns false.
    pub(super) async fn read_archive(
        &self,
        repo: &Repo,
        commit: &str,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        let path = format!("/tarball/{}", link::encode(commit));
        let what = format!("the files of {} at {commit}", repo.full_name());
        let request = Request::redirect(self.api.repo_path(repo, &path), what);
        let what = &request.what;
        let reading = async {
            let response = self.api.call(repo.installation, &request).await?;
            if response.status != StatusCode::FOUND {
                response.error_for_status()?;
                return Err(unreadable(what, "it does not redirect to an archive"));
            }
            let target = response.header(LOCATION.as_str());
            let target = target.and_then(|address| Url::parse(address).ok());
            let target = target.ok_or_else(|| unreadable(what, "a redirect has no target"))?;
            self.archives.read(target, what, u64::MAX, take).await
        };
        read_within(MAX_TIME, what, reading).await
    }
}
