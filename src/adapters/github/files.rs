//! Files of a repository, and how a file is read: piece by piece, never longer than it may be, never longer than it may
//! take.
//!
//! The commit is looked up first: so a wrong branch and a wrong path are told apart, what is read is one state of the
//! repository, and the plan can link to it.

use std::error::Error;
use std::sync::PoisonError;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Body;
use serde::Deserialize;
use serde_json::Value;

use super::answer::{self, Complaint};
use super::transport::{Form, Request, chain};
use super::{GitHub, link};
use crate::engine::forge::{FileAt, ForgeError, Kind, ReadError, Take};
use crate::engine::model::trigger::Repo;

/// The largest file that GitHub's endpoints for contents and blobs give, in bytes.
pub(super) const GITHUB_MOST: u64 = 100 * 1024 * 1024;

/// A listing of a directory (at most 1,000 entries) stays under this; JSON that is longer is a file.
const LISTING_MOST: usize = 4 * 1024 * 1024;

/// Most commits that are remembered: a check of a pull request asks for one and the same before each of its files.
const MOST_COMMITS: usize = 64;

/// What is read of a commit.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Commit {
    pub(super) sha: String,
    html_url: String,
}

impl GitHub {
    /// See [`crate::engine::forge::Forge::file`].
    pub(super) async fn read_file(
        &self,
        repo: &Repo,
        path: &str,
        reference: Option<&str>,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<FileAt, ReadError> {
        let commit = self.commit(repo, reference).await?;
        let commit = commit.ok_or(ReadError::NoReference)?;
        let encoded: Vec<String> = path.split('/').map(link::encode).collect();
        let encoded = encoded.join("/");
        let place = format!("/contents/{encoded}?ref={}", link::encode(&commit.sha));
        let request = Request {
            method: Method::GET,
            path: self.repo_path(repo, &place),
            body: None,
            form: Form::Raw,
            what: format!("the file {path} of {}", repo.full_name()),
        };
        let reading = self.read_contents(repo.installation, &request, most, take);
        within(self.download_timeout, &request.what, reading).await?;
        let pages = commit
            .html_url
            .rsplit_once("/commit/")
            .map_or(commit.html_url.as_str(), |(repository, _)| repository);
        Ok(FileAt {
            url: format!("{pages}/blob/{}/{encoded}", commit.sha),
            commit: commit.sha,
        })
    }

    /// The commit that a name stands for, if any.
    pub(super) async fn commit(
        &self,
        repo: &Repo,
        reference: Option<&str>,
    ) -> Result<Option<Commit>, ForgeError> {
        let name = reference.unwrap_or("HEAD");
        let key = (repo.full_name(), name.to_owned());
        let known = |github: &Self| {
            let commits = github.commits.lock();
            let commits = commits.unwrap_or_else(PoisonError::into_inner);
            commits.get(&key).cloned()
        };
        if let Some(commit) = known(self) {
            return Ok(Some(commit));
        }
        // One file of the commit's own at most: they are not looked at.
        let path = format!("/commits/{}?per_page=1", link::encode(name));
        let what = format!("the commit {name} of {}", repo.full_name());
        let path = self.repo_path(repo, &path);
        match self.get(repo.installation, path, what).await {
            Ok((request, answer)) => {
                let commit: Commit = answer::read(&answer, &request)?;
                // A branch can move; a full id always names the same commit.
                if commit.sha == name {
                    let commits = self.commits.lock();
                    let mut commits = commits.unwrap_or_else(PoisonError::into_inner);
                    if commits.len() >= MOST_COMMITS {
                        commits.clear();
                    }
                    commits.insert(key, commit.clone());
                }
                Ok(Some(commit))
            }
            // 409: the repository is empty; 422: there is no such commit.
            Err(
                ForgeError::NotFound { .. }
                | ForgeError::Rejected {
                    status: 409 | 422, ..
                },
            ) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn read_contents(
        &self,
        installation: u64,
        request: &Request,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        let answer = self.way().call(&self.asker(installation), request).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Err(ReadError::NoFile);
        }
        if answer.status == StatusCode::FORBIDDEN && Complaint::of(&answer).too_large {
            return Err(ReadError::TooLarge {
                most: GITHUB_MOST.min(most),
            });
        }
        answer::judge(&answer, request)?;
        let Some(rest) = answer.rest else {
            return Ok(());
        };
        let idle = self.transport.timeout;
        if !is_type(&answer.headers, "application/json") {
            return pour(rest, &answer.headers, most, idle, &request.what, take).await;
        }
        // Only what is no file comes as JSON. A server that calls a file so gives it all the same.
        let mut held = Some(Vec::new());
        let mut judging = |piece: &[u8]| match &mut held {
            None => take(piece),
            Some(start) => {
                start.extend_from_slice(piece);
                if start.len() <= LISTING_MOST {
                    return true;
                }
                let start = held.take().unwrap_or_default();
                take(&start)
            }
        };
        // A listing may be longer than a log may be.
        let limit = most.max(LISTING_MOST as u64);
        let headers = &answer.headers;
        match pour(rest, headers, limit, idle, &request.what, &mut judging).await {
            Err(ReadError::TooLarge { .. }) => return Err(ReadError::TooLarge { most }),
            other => other?,
        }
        let Some(whole) = held else {
            return Ok(());
        };
        match no_file(&whole) {
            Some(kind) => Err(ReadError::NotAFile { kind }),
            None if whole.len() as u64 > most => Err(ReadError::TooLarge { most }),
            None => {
                take(&whole);
                Ok(())
            }
        }
    }
}

/// What an answer of the contents endpoint describes instead of a file.
fn no_file(json: &[u8]) -> Option<Kind> {
    let value: Value = serde_json::from_slice(json).ok()?;
    let entry = |value: &Value| value.get("git_url").is_some() && value.get("type").is_some();
    match &value {
        Value::Array(entries) if entries.iter().all(entry) => Some(Kind::Directory),
        Value::Object(_) if entry(&value) => match value["type"].as_str()? {
            "dir" => Some(Kind::Directory),
            "submodule" => Some(Kind::Submodule),
            "symlink" => Some(Kind::Link),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the answer says that its body has this media type.
pub(super) fn is_type(headers: &HeaderMap, name: &str) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case(name))
}

/// Does `work` in `most` time.
pub(super) async fn within<T>(
    most: Duration,
    what: &str,
    work: impl Future<Output = Result<T, ReadError>> + Send,
) -> Result<T, ReadError> {
    tokio::time::timeout(most, work).await.unwrap_or_else(|_| {
        Err(lost(
            what,
            &format!("not complete within {} s", most.as_secs()),
        ))
    })
}

/// An answer that broke off, or did not come.
pub(super) fn lost(what: &str, why: &str) -> ReadError {
    ReadError::Forge(ForgeError::Unknown {
        what: what.to_owned(),
        message: answer::tidy(why),
    })
}

/// Hands the body on in pieces, up to `most` bytes, until `take` has enough; no piece may be `idle` in coming.
pub(super) async fn pour<B>(
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
            return Err(lost(
                what,
                &format!("nothing came for {} s", idle.as_secs()),
            ));
        };
        let frame = match frame {
            None => return Ok(()),
            Some(Ok(frame)) => frame,
            Some(Err(why)) => return Err(lost(what, &chain(&why))),
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
    fn what_is_no_file_is_told_from_files_that_are_json() {
        for (json, kind) in [
            (
                r#"[{"type":"file","git_url":"x","name":"a"}]"#,
                Some(Kind::Directory),
            ),
            ("[]", Some(Kind::Directory)),
            (
                r#"{"type":"submodule","git_url":null}"#,
                Some(Kind::Submodule),
            ),
            (
                r#"{"type":"symlink","git_url":"x","target":"b"}"#,
                Some(Kind::Link),
            ),
            (r#"{"type":"user","sessionId":"s"}"#, None),
            (r#"{"type":"file","git_url":"x"}"#, None),
            (r#"[{"type":"user"}]"#, None),
            ("{\"type\":\"user\"}\n{\"type\":\"user\"}", None),
            ("", None),
        ] {
            assert_eq!(no_file(json.as_bytes()), kind, "{json}");
        }
    }
}
