//! Comments and labels in the repositories with the App, as events with the payloads that their
//! deliveries would have had.

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use http::StatusCode;
use http::header::{ETAG, LINK};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::client::PER_PAGE;
use super::response::Response;
use super::thread::issue_name;
use super::transport::Request;
use super::{GitHub, link};
use crate::engine::forge::ForgeError;
use crate::engine::intake::Authentic;
use crate::engine::model::intake::{ScanPosition, Source};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Repo;
use crate::engine::scan::{Activity, FoundComment, FoundIssue, FoundLabel, ListPage};

/// An event that was found in a repository. Only [`Activity`] creates one: it is authentic because
/// GitHub's API returned what it is made of.
#[derive(Debug)]
pub struct FoundEvent {
    guid: String,
    event: &'static str,
    body: Bytes,
}

impl Authentic for FoundEvent {
    fn source(&self) -> Source {
        Source::Scan
    }

    fn guid(&self) -> &str {
        &self.guid
    }

    fn event(&self) -> &str {
        self.event
    }

    fn body(&self) -> &Bytes {
        &self.body
    }
}

/// `GET /installation/repositories`.
#[derive(Debug, Deserialize)]
struct Repositories {
    repositories: Vec<Repository>,
}

#[derive(Debug, Deserialize)]
struct Repository {
    id: u64,
    name: String,
    owner: Owner,
    #[serde(default)]
    archived: bool,
}

#[derive(Debug, Deserialize)]
struct Owner {
    login: String,
}

/// A comment, with the members that payloads need.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Comment {
    id: u64,
    html_url: String,
    #[serde(default)]
    issue_url: String,
    #[serde(default)]
    pub(super) body: String,
    #[serde(default)]
    user: Option<Value>,
    pub(super) created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    #[serde(default)]
    performed_via_github_app: Option<Value>,
}

impl Comment {
    /// Returns the number of its issue, with which `issue_url` ends.
    pub(super) fn number(&self) -> Option<u64> {
        self.issue_url.rsplit('/').next()?.parse().ok()
    }
}

/// An issue or pull request, with the members that payloads need.
#[derive(Debug, Deserialize, Serialize)]
struct Issue {
    number: u64,
    #[serde(default)]
    body: Option<String>,
    updated_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pull_request: Option<Value>,
    #[serde(default, skip_serializing)]
    labels: Vec<Label>,
}

#[derive(Debug, Deserialize)]
struct Label {
    name: String,
}

/// An item of `GET …/issues/{number}/events`.
#[derive(Debug, Deserialize)]
struct IssueEvent {
    id: u64,
    event: String,
    #[serde(default)]
    actor: Option<Value>,
    created_at: DateTime<Utc>,
    #[serde(default)]
    label: Option<Label>,
}

#[async_trait]
impl Activity for GitHub {
    type Event = FoundEvent;

    fn time(&self) -> Millis {
        self.api.github_time()
    }

    async fn repositories(&self, limit: usize) -> Result<Vec<Repo>, ForgeError> {
        let mut found = Vec::new();
        let installations = self.installations().await?;
        for installation in installations.iter().filter(|one| !one.is_suspended()) {
            let mut page = Some(
                self.api
                    .path(&format!("/installation/repositories?per_page={PER_PAGE}")),
            );
            while let Some(path) = page {
                let what = format!("the repositories of installation {}", installation.id);
                let request = Request::get(path, what);
                let response = match self.api.call(installation.id, &request).await {
                    // It was suspended or removed just now.
                    Err(ForgeError::Unauthorized { .. }) => break,
                    response => response?.error_for_status()?,
                };
                let list: Repositories = response.json()?;
                let usable = list.repositories.into_iter().filter(|one| !one.archived);
                found.extend(usable.map(|one| Repo {
                    installation: installation.id,
                    id: one.id,
                    owner: one.owner.login,
                    name: one.name,
                }));
                if found.len() >= limit {
                    found.truncate(limit);
                    return Ok(found);
                }
                page = self.next_page(&request.path, &response)?;
            }
        }
        Ok(found)
    }

    async fn comments(
        &self,
        repo: &Repo,
        position: &ScanPosition,
        next: Option<&str>,
    ) -> Result<Option<ListPage<FoundComment>>, ForgeError> {
        let what = format!("the comments of {}", repo.full_name());
        let list = "/issues/comments?";
        let page = self.changes::<Comment>(repo, list, position, next, what);
        Ok(page.await?.map(|page| ListPage {
            items: page.items.into_iter().filter_map(found_comment).collect(),
            next: page.next,
            etag: page.etag,
        }))
    }

    async fn issues(
        &self,
        repo: &Repo,
        position: &ScanPosition,
        next: Option<&str>,
    ) -> Result<Option<ListPage<FoundIssue>>, ForgeError> {
        let what = format!("the issues of {}", repo.full_name());
        let list = "/issues?state=open&";
        let page = self.changes::<Issue>(repo, list, position, next, what);
        let found = |issue: Issue| FoundIssue {
            number: issue.number,
            labels: issue.labels.into_iter().map(|label| label.name).collect(),
            updated: issue.updated_at.into(),
        };
        Ok(page.await?.map(|page| ListPage {
            items: page.items.into_iter().map(found).collect(),
            next: page.next,
            etag: page.etag,
        }))
    }

    async fn commented(&self, repo: &Repo, comment: u64) -> Result<Option<FoundEvent>, ForgeError> {
        let path = format!("/issues/comments/{comment}");
        let what = format!("comment {comment} in {}", repo.full_name());
        let comment: Comment = self.api.get_json(repo, &path, what).await?;
        if comment.updated_at != comment.created_at {
            return Ok(None);
        }
        let (Some(user), Some(number)) = (comment.user.clone(), comment.number()) else {
            return Ok(None);
        };
        let issue = self.issue(repo, number).await?;
        let payload = json!({
            "action": "created",
            "comment": comment,
            "issue": issue,
            "repository": repository(repo),
            "sender": user,
            "installation": {"id": repo.installation},
        });
        Ok(Some(FoundEvent {
            guid: format!("comment-{}", comment.id),
            event: "issue_comment",
            body: Bytes::from(payload.to_string()),
        }))
    }

    async fn labeled(
        &self,
        repo: &Repo,
        number: u64,
        label: &str,
    ) -> Result<Option<FoundLabel<FoundEvent>>, ForgeError> {
        let path = format!("/issues/{number}/events?per_page={PER_PAGE}");
        let what = format!("the events of {}", issue_name(repo, number));
        let mut last = None;
        self.api
            .each_page::<Vec<IssueEvent>>(repo, &path, &what, |page| {
                let mut changes = page.into_iter().filter(|one| {
                    let name = one.label.as_ref().map(|label| label.name.as_str());
                    name.is_some_and(|name| name.eq_ignore_ascii_case(label))
                });
                last = changes.next_back().or(last.take());
                true
            })
            .await?;
        let Some(set) = last.filter(|last| last.event == "labeled") else {
            return Ok(None);
        };
        let Some(actor) = set.actor else {
            return Ok(None);
        };
        let mut issue = self.issue(repo, number).await?;
        // The time of the label, as in the payload of its delivery.
        issue.updated_at = set.created_at;
        let event = if issue.pull_request.is_some() {
            "pull_request"
        } else {
            "issues"
        };
        let member = if event == "issues" { "issue" } else { event };
        let payload = json!({
            "action": "labeled",
            "label": {"name": label},
            member: issue,
            "repository": repository(repo),
            "sender": actor,
            "installation": {"id": repo.installation},
        });
        let event = FoundEvent {
            guid: format!("label-{}", set.id),
            event,
            body: Bytes::from(payload.to_string()),
        };
        Ok(Some(FoundLabel {
            event,
            at: set.created_at.into(),
        }))
    }
}

impl GitHub {
    /// Returns the number of installations of the App that are not suspended.
    ///
    /// # Errors
    /// GitHub did not list them.
    pub async fn count_installations(&self) -> Result<usize, ForgeError> {
        let installations = self.installations().await?;
        Ok(installations
            .iter()
            .filter(|one| !one.is_suspended())
            .count())
    }

    async fn issue(&self, repo: &Repo, number: u64) -> Result<Issue, ForgeError> {
        let path = format!("/issues/{number}");
        let what = issue_name(repo, number);
        self.api.get_json(repo, &path, what).await
    }

    /// Reads a page of a list that is ordered by the time of the last update; `None` if the first
    /// one has not changed.
    async fn changes<T: DeserializeOwned>(
        &self,
        repo: &Repo,
        list: &str,
        position: &ScanPosition,
        next: Option<&str>,
        what: String,
    ) -> Result<Option<ListPage<T>>, ForgeError> {
        let request = if let Some(next) = next {
            Request::get(next.to_owned(), what)
        } else {
            let since = link::encode(&position.since.iso());
            let query = format!("sort=updated&direction=asc&per_page={PER_PAGE}&since={since}");
            let path = self.api.repo_path(repo, &format!("{list}{query}"));
            Request {
                unless: position.etag.clone(),
                ..Request::get(path, what)
            }
        };
        let response = self.api.call(repo.installation, &request).await?;
        if response.status == StatusCode::NOT_MODIFIED {
            return Ok(None);
        }
        let response = response.error_for_status()?;
        Ok(Some(ListPage {
            items: response.json()?,
            next: self.next_page(&request.path, &response)?,
            etag: response.header(ETAG.as_str()).map(str::to_owned),
        }))
    }

    /// Returns path and query of the page after that of `response`.
    pub(super) fn next_page(
        &self,
        path: &str,
        response: &Response,
    ) -> Result<Option<String>, ForgeError> {
        let mut links = response.headers.get_all(LINK).iter();
        let next = links.find_map(|header| link::next_page(header.to_str().ok()?));
        next.map(|next| link::below(&self.api.api_url, path, next))
            .transpose()
            .map_err(|address| {
                response.unreadable(format!("the link to the next page is {address}"))
            })
    }
}

fn found_comment(comment: Comment) -> Option<FoundComment> {
    Some(FoundComment {
        id: comment.id,
        number: comment.number()?,
        app: comment
            .performed_via_github_app
            .and_then(|app| app.get("id")?.as_u64()),
        created: comment.created_at.into(),
        updated: comment.updated_at.into(),
        text: comment.body,
    })
}

/// Returns the member `repository` of a payload.
fn repository(repo: &Repo) -> Value {
    json!({"id": repo.id, "name": repo.name, "owner": {"login": repo.owner}})
}
