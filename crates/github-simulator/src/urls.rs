//! URLs of the REST API and of the pages.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::model::{Issue, Repository};

/// Characters that are escaped in a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Percent-encodes `text` as one path segment.
pub(crate) fn encode_segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

/// Percent-encodes the segments of a path.
pub(crate) fn encode_path(path: &str) -> String {
    let segments: Vec<String> = path.split('/').map(encode_segment).collect();
    segments.join("/")
}

/// Returns `owner/name` of a repository, percent-encoded.
pub(crate) fn repository_path(repository: &Repository) -> String {
    encode_path(&repository.full_name())
}

/// Returns the path of an issue or pull request on the pages, without a leading slash.
pub(crate) fn issue_path(repository: &Repository, issue: &Issue) -> String {
    let kind = if issue.pull.is_some() {
        "pull"
    } else {
        "issues"
    };
    format!("{}/{kind}/{}", repository_path(repository), issue.number)
}

/// Roots of the URLs in a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BaseUrls {
    /// Root of the REST API, e.g. `http://127.0.0.1:4000/api/v3`.
    pub(crate) api: String,
    /// Root of the pages, e.g. `http://127.0.0.1:4000`.
    pub(crate) web: String,
}

impl BaseUrls {
    /// Returns the API URL of a repository.
    pub(crate) fn repository(&self, repository: &Repository) -> String {
        format!("{}/repos/{}", self.api, repository_path(repository))
    }

    /// Returns the URL of a repository's pages.
    pub(crate) fn repository_page(&self, repository: &Repository) -> String {
        format!("{}/{}", self.web, repository_path(repository))
    }

    /// Returns the URL of the page of an issue or pull request.
    pub(crate) fn issue_page(&self, repository: &Repository, issue: &Issue) -> String {
        format!("{}/{}", self.web, issue_path(repository, issue))
    }
}
