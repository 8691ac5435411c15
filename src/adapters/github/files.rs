//! Reads files of a repository in pieces, with limits on size and time.
//!
//! The commit is looked up first, so that a wrong branch is told from a wrong path, everything read
//! belongs to one state of the repository, and the plan can link to it.

use std::error::Error;
use std::sync::PoisonError;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Body;
use serde::Deserialize;
use serde_json::Value;

use super::response::{ErrorBody, Response, clean_message};
use super::transport::Request;
use super::{GitHub, link};
use crate::adapters::text::error_chain;
use crate::engine::forge::{ForgeError, NotAFile, ReadError, Take};
use crate::engine::model::trigger::Repo;

/// Maximum size of a file that GitHub's endpoints for contents and blobs return, in bytes.
const MAX_GITHUB_FILE: u64 = 100 * 1024 * 1024;

/// Maximum size of the listing of a directory (at most 1,000 entries), in bytes. Longer JSON is a
/// file.
const MAX_LISTING: usize = 4 * 1024 * 1024;

/// Maximum number of cached commits. A check of a pull request looks up the same commit before each
/// file.
const MAX_CACHED_COMMITS: usize = 64;

/// A commit.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Commit {
    pub(super) sha: String,
    html_url: String,
}

impl Commit {
    /// Returns the address of the page of a file, whose path is percent-encoded.
    pub(super) fn page_of(&self, path: &str) -> String {
        let repository = match self.html_url.rsplit_once("/commit/") {
            Some((repository, _)) => repository,
            None => &self.html_url,
        };
        format!("{repository}/blob/{}/{path}", self.sha)
    }
}

/// Returns whether the error of a request for a commit means that there is no such commit: 409 if
/// the repository is empty, 404 or 422 otherwise.
pub(super) fn is_missing_commit(error: &ForgeError) -> bool {
    matches!(
        error,
        ForgeError::NotFound { .. }
            | ForgeError::Rejected {
                status: 409 | 422,
                ..
            }
    )
}

impl GitHub {
    /// Resolves a branch, tag or commit id, if it exists.
    pub(super) async fn commit(
        &self,
        repo: &Repo,
        reference: Option<&str>,
    ) -> Result<Option<Commit>, ForgeError> {
        let name = reference.unwrap_or("HEAD");
        let key = (repo.full_name(), name.to_owned());
        let commits = || self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(commit) = commits().get(&key) {
            return Ok(Some(commit.clone()));
        }
        // The commit's own files are not used: one per page.
        let path = format!("/commits/{}?per_page=1", link::encode(name));
        let what = format!("the commit {name} of {}", repo.full_name());
        match self.api.get_json::<Commit>(repo, &path, what).await {
            Ok(commit) => {
                // A branch can move; a full id always names the same commit.
                if commit.sha == name {
                    let mut commits = commits();
                    if commits.len() >= MAX_CACHED_COMMITS {
                        commits.clear();
                    }
                    commits.insert(key, commit.clone());
                }
                Ok(Some(commit))
            }
            Err(error) if is_missing_commit(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Requests the content of a file.
    pub(super) async fn request_file(
        &self,
        installation: u64,
        request: &Request,
        most: u64,
    ) -> Result<Response, ReadError> {
        let response = self.api.call(installation, request).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Err(ReadError::NoFile);
        }
        if response.status == StatusCode::FORBIDDEN && ErrorBody::of(&response).too_large {
            return Err(ReadError::TooLarge {
                most: MAX_GITHUB_FILE.min(most),
            });
        }
        Ok(response.error_for_status()?)
    }

    /// Reads a file through the endpoint for contents.
    pub(super) async fn read_contents(
        &self,
        installation: u64,
        request: &Request,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        let response = self.request_file(installation, request, most).await?;
        let Response {
            stream, headers, ..
        } = response;
        let Some(body) = stream else {
            return Ok(());
        };
        let idle = self.api.transport.timeout;
        if !has_content_type(&headers, "application/json") {
            return stream_body(body, &headers, most, idle, &request.what, take).await;
        }
        // Only directories, submodules and links are described as JSON, but a server may also label
        // the content of a file so.
        let mut held = Some(Vec::new());
        let mut buffer = |piece: &[u8]| match &mut held {
            None => take(piece),
            Some(start) => {
                start.extend_from_slice(piece);
                if start.len() <= MAX_LISTING {
                    return true;
                }
                let start = held.take().unwrap_or_default();
                take(&start)
            }
        };
        // A listing may be longer than `most`.
        let limit = most.max(MAX_LISTING as u64);
        match stream_body(body, &headers, limit, idle, &request.what, &mut buffer).await {
            Err(ReadError::TooLarge { .. }) => return Err(ReadError::TooLarge { most }),
            other => other?,
        }
        let Some(whole) = held else {
            return Ok(());
        };
        match described_kind(&whole) {
            Some(kind) => Err(ReadError::NotAFile { kind }),
            None if whole.len() as u64 > most => Err(ReadError::TooLarge { most }),
            None => {
                take(&whole);
                Ok(())
            }
        }
    }
}

/// Returns the kind of object that JSON of the contents endpoint describes instead of a file.
fn described_kind(json: &[u8]) -> Option<NotAFile> {
    let value: Value = serde_json::from_slice(json).ok()?;
    let entry = |value: &Value| value.get("git_url").is_some() && value.get("type").is_some();
    match &value {
        Value::Array(entries) if entries.iter().all(entry) => Some(NotAFile::Directory),
        Value::Object(_) if entry(&value) => match value["type"].as_str()? {
            "dir" => Some(NotAFile::Directory),
            "submodule" => Some(NotAFile::Submodule),
            "symlink" => Some(NotAFile::Link),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the body has this media type.
pub(super) fn has_content_type(headers: &HeaderMap, name: &str) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case(name))
}

/// Limits the time of reading a file.
pub(super) async fn read_within<T>(
    limit: Duration,
    what: &str,
    work: impl Future<Output = Result<T, ReadError>> + Send,
) -> Result<T, ReadError> {
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        Err(interrupted(
            what,
            &format!("not complete within {} s", limit.as_secs()),
        ))
    })
}

/// The error of a response that is missing or incomplete.
pub(super) fn interrupted(what: &str, why: &str) -> ReadError {
    ReadError::Forge(ForgeError::Unknown {
        what: what.to_owned(),
        message: clean_message(why),
    })
}

/// Passes the body on in pieces, up to `most` bytes, until `take` returns false. Fails if no piece
/// arrives within `idle`.
pub(super) async fn stream_body<B>(
    mut body: B,
    headers: &HeaderMap,
    most: u64,
    idle: Duration,
    what: &str,
    take: &mut Take<'_>,
) -> Result<(), ReadError>
where
    B: Body<Data = Bytes> + Unpin + Send,
    B::Error: Error + Send + 'static,
{
    let announced = headers
        .get(http::header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > most) {
        return Err(ReadError::TooLarge { most });
    }
    let mut read = 0_u64;
    loop {
        let Ok(frame) = tokio::time::timeout(idle, body.frame()).await else {
            return Err(interrupted(
                what,
                &format!("nothing came for {} s", idle.as_secs()),
            ));
        };
        let frame = match frame {
            None => return Ok(()),
            Some(Ok(frame)) => frame,
            Some(Err(why)) => return Err(interrupted(what, &error_chain(&why))),
        };
        let Ok(piece) = frame.into_data() else {
            continue;
        };
        read = read.saturating_add(piece.len() as u64);
        if read > most {
            return Err(ReadError::TooLarge { most });
        }
        if !take(&piece) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_objects_are_distinguished_from_files_that_are_json() {
        for (json, kind) in [
            (
                r#"[{"type":"file","git_url":"x","name":"a"}]"#,
                Some(NotAFile::Directory),
            ),
            ("[]", Some(NotAFile::Directory)),
            (
                r#"{"type":"submodule","git_url":null}"#,
                Some(NotAFile::Submodule),
            ),
            (
                r#"{"type":"symlink","git_url":"x","target":"b"}"#,
                Some(NotAFile::Link),
            ),
            (r#"{"type":"user","sessionId":"s"}"#, None),
            (r#"{"type":"file","git_url":"x"}"#, None),
            (r#"[{"type":"user"}]"#, None),
            ("{\"type\":\"user\"}\n{\"type\":\"user\"}", None),
            ("", None),
        ] {
            assert_eq!(described_kind(json.as_bytes()), kind, "{json}");
        }
    }
}
