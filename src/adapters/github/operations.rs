//! The operations of [`Forge`] in GitHub's REST API (version 2022-11-28).

use std::time::Duration;

use async_trait::async_trait;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::client::{Notifies, PER_PAGE};
use super::downloads::elsewhere;
use super::files::{read_within, stream_body};
use super::response::{ErrorBody, Response};
use super::thread::{self, issue_name};
use super::transport::Request;
use super::{Account, GitHub, checks, link, wire};
use crate::engine::forge::{
    Access, ChangedFile, CheckReport, CheckRun, FileAt, Forge, ForgeError, LabelSpec, NewCheckRun,
    PullRequest, ReactTo, Reaction, ReadError, Take, Tree, Written,
};
use crate::engine::model::conversation::Conversation;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{IssueRef, Repo};
use crate::engine::steps::source::attachment::{address_of, web_root};

/// How much earlier lists of own posts begin: GitHub's times are whole seconds, and its clocks
/// differ a little. Too many posts are harmless, since markers decide.
const LOOK_BACK: Duration = Duration::from_mins(10);

#[async_trait]
impl Forge for GitHub {
    async fn access(&self, repo: &Repo, login: &str) -> Result<Access, ForgeError> {
        let path = format!("/collaborators/{}/permission", link::encode(login));
        let what = format!("the permission of {login} in {}", repo.full_name());
        match self
            .api
            .get_json::<wire::Collaborator>(repo, &path, what)
            .await
        {
            Ok(collaborator) => Ok(Access {
                user_id: collaborator.user_id(),
                permission: collaborator.role(),
            }),
            // GitHub does not know such an account.
            Err(ForgeError::NotFound { .. }) => Ok(Access {
                user_id: 0,
                permission: None,
            }),
            Err(error) => Err(error),
        }
    }

    async fn repository_id(&self, repo: &Repo) -> Result<u64, ForgeError> {
        let what = format!("the repository {}", repo.full_name());
        let found: wire::Repository = self.api.get_json(repo, "", what).await?;
        Ok(found.id)
    }

    async fn thread(&self, place: &IssueRef) -> Result<Conversation, ForgeError> {
        // Nobody closes the semaphore.
        let _permit = self.conversations.acquire().await.ok();
        let posts = thread::read(&self.api, place).await?;
        let own = self.account().await?;
        Ok(posts.into_thread(|post| own.wrote(post)))
    }

    async fn locate(&self, place: &IssueRef) -> Result<IssueRef, ForgeError> {
        let (_, mut now) = thread::read_issue(&self.api, place).await?;
        if now.repo.full_name() != place.repo.full_name() {
            let what = format!("the repository {}", now.repo.full_name());
            let repository: wire::Repository = self.api.get_json(&now.repo, "", what).await?;
            now.repo.id = repository.id;
        }
        Ok(now)
    }

    async fn is_open(&self, place: &IssueRef) -> Result<bool, ForgeError> {
        let (issue, _) = thread::read_issue(&self.api, place).await?;
        Ok(issue.state == "open")
    }

    async fn comment_exists(&self, repo: &Repo, comment: u64) -> Result<bool, ForgeError> {
        let path = format!("/issues/comments/{comment}");
        let what = format!("comment {comment} in {}", repo.full_name());
        match self.api.get(repo, &path, what).await {
            Ok(_) => Ok(true),
            Err(ForgeError::NotFound { .. } | ForgeError::Deleted { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn file(
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
        let contents = format!("/contents/{encoded}?ref={}", link::encode(&commit.sha));
        let request = Request::raw(
            self.api.repo_path(repo, &contents),
            format!("the file {path} of {}", repo.full_name()),
        );
        let reading = self.read_contents(repo.installation, &request, most, take);
        read_within(self.download_timeout, &request.what, reading).await?;
        Ok(FileAt {
            url: commit.page_of(&encoded),
            commit: commit.sha,
        })
    }

    async fn tree(
        &self,
        repo: &Repo,
        folders: &[&str],
        reference: Option<&str>,
    ) -> Result<Option<Tree>, ForgeError> {
        if folders == [""] {
            return self.root_tree(repo, reference).await;
        }
        let Some(commit) = self.commit(repo, reference).await? else {
            return Ok(None);
        };
        let mut tree = Tree {
            commit: commit.sha,
            ..Tree::default()
        };
        for folder in folders {
            if let Some(sha) = self.find_folder(repo, folder, &mut tree).await? {
                self.list_tree(repo, folder, &sha, &mut tree).await?;
            }
        }
        Ok(Some(tree))
    }

    async fn blob(
        &self,
        repo: &Repo,
        id: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        let path = format!("/git/blobs/{}", link::encode(id));
        let what = format!("the content {id} of {}", repo.full_name());
        let request = Request::raw(self.api.repo_path(repo, &path), what);
        let reading = async {
            let response = self.request_file(repo.installation, &request, most).await?;
            let idle = self.api.transport.timeout;
            let Response {
                stream, headers, ..
            } = response;
            match stream {
                Some(body) => stream_body(body, &headers, most, idle, &request.what, take).await,
                None => Ok(()),
            }
        };
        read_within(self.download_timeout, &request.what, reading).await
    }

    async fn attachment(
        &self,
        address: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        let what = "an attachment";
        let web = web_root(&self.api.api_url);
        let url = address_of(&web, address).ok_or_else(|| elsewhere(address))?;
        let reading = self.attachments.read(url, what, most, take);
        read_within(self.download_timeout, what, reading).await
    }

    async fn archive(
        &self,
        repo: &Repo,
        commit: &str,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        self.read_archive(repo, commit, take).await
    }

    async fn pull_request(&self, place: &IssueRef) -> Result<PullRequest, ForgeError> {
        let path = format!("/pulls/{}", place.number);
        let what = pull_request_name(place);
        let pull: wire::PullRequest = self.api.get_json(&place.repo, &path, what).await?;
        Ok(PullRequest {
            head_sha: pull.head.sha,
            head_repo: pull.head.repo.map(|repository| repository.id),
            base_sha: pull.base.sha,
            base_branch: pull.base.branch,
            open: pull.state == "open",
            draft: pull.draft.unwrap_or_default(),
            changed_files: pull.changed_files,
        })
    }

    async fn changed_files(&self, place: &IssueRef) -> Result<Vec<ChangedFile>, ForgeError> {
        let path = format!("/pulls/{}/files?per_page={PER_PAGE}", place.number);
        let what = format!("the changed files of {}", pull_request_name(place));
        let entries = self
            .api
            .pages::<Vec<wire::DiffEntry>>(&place.repo, &path, &what, |_| true)
            .await?;
        Ok(entries.into_iter().map(ChangedFile::from).collect())
    }

    async fn own_check_runs(
        &self,
        repo: &Repo,
        head_sha: &str,
        name: &str,
    ) -> Result<Vec<CheckRun>, ForgeError> {
        let app = match self.account().await? {
            Account::App { id, .. } => Some(id),
            Account::Job { .. } => None,
            // People cannot create any.
            Account::Person(_) => return Ok(Vec::new()),
        };
        let by_app = app.map_or_else(String::new, |id| format!("&app_id={id}"));
        // `filter=latest` would omit all but one of the same name.
        let path = format!(
            "/commits/{}/check-runs?check_name={}{by_app}&filter=all&per_page={PER_PAGE}",
            link::encode(head_sha),
            link::encode(name),
        );
        let what = format!(
            "the check runs of commit {head_sha} in {}",
            repo.full_name()
        );
        let runs = self
            .api
            .pages::<wire::CheckRuns>(repo, &path, &what, |_| true)
            .await?;
        Ok(runs
            .into_iter()
            .filter(|run| run.name == name)
            .filter(|run| app.is_none_or(|id| run.app.as_ref().is_some_and(|app| app.is(id))))
            .map(CheckRun::from)
            .collect())
    }

    async fn check_run(&self, repo: &Repo, id: u64) -> Result<CheckRun, ForgeError> {
        let path = format!("/check-runs/{id}");
        let what = format!("check run {id} in {}", repo.full_name());
        let run: wire::CheckRun = self.api.get_json(repo, &path, what).await?;
        Ok(run.into())
    }

    async fn create_check_run(
        &self,
        repo: &Repo,
        new: &NewCheckRun,
        external_id: &str,
    ) -> Result<CheckRun, ForgeError> {
        let body = checks::new_check_run(new, external_id, &self.redactor);
        let what = format!(
            "a check run for commit {} in {}",
            new.head_sha,
            repo.full_name()
        );
        let response = self
            .write(
                repo,
                Notifies::Nobody,
                Method::POST,
                "/check-runs",
                body,
                what,
            )
            .await?;
        Ok(response.json::<wire::CheckRun>()?.into())
    }

    async fn update_check_run(
        &self,
        repo: &Repo,
        id: u64,
        report: &CheckReport,
    ) -> Result<(), ForgeError> {
        let body = checks::report(report, &self.redactor);
        let path = format!("/check-runs/{id}");
        let what = format!("the report of check run {id} in {}", repo.full_name());
        self.write(repo, Notifies::Nobody, Method::PATCH, &path, body, what)
            .await?;
        Ok(())
    }

    async fn own_issues(&self, repo: &Repo, since: Millis) -> Result<Vec<Written>, ForgeError> {
        let own = self.account().await?;
        let since = since.minus(LOOK_BACK);
        let path = format!(
            "/issues?creator={}&state=all&since={}&sort=created&direction=desc&per_page={PER_PAGE}",
            link::encode(own.login()),
            link::encode(&since.iso()),
        );
        let what = format!("the issues of {} in {}", own.login(), repo.full_name());
        let is_recent = |issue: &wire::Issue| Millis::from(issue.post.created_at) >= since;
        let issues = self
            .api
            // `since` filters by the last change; behind the first older issue there are only older
            // ones.
            .pages::<Vec<wire::Issue>>(repo, &path, &what, |page| {
                page.last().is_some_and(is_recent)
            })
            .await?;
        Ok(issues
            .into_iter()
            .filter(|issue| {
                issue.pull_request.is_none() && is_recent(issue) && own.wrote(&issue.post)
            })
            .map(|issue| Written {
                id: issue.number,
                url: issue.post.html_url,
                body: issue.post.body.unwrap_or_default(),
            })
            .collect())
    }

    async fn own_comments(
        &self,
        repo: &Repo,
        number: u64,
        since: Millis,
    ) -> Result<Vec<Written>, ForgeError> {
        let own = self.account().await?;
        let since = link::encode(&since.minus(LOOK_BACK).iso());
        let path = format!("/issues/{number}/comments?since={since}&per_page={PER_PAGE}");
        let what = format!("the comments of {}", issue_name(repo, number));
        let comments = self
            .api
            .pages::<Vec<wire::Comment>>(repo, &path, &what, |_| true)
            .await?;
        let mut own: Vec<_> = comments
            .into_iter()
            .filter(|comment| own.wrote(&comment.post))
            .map(|comment| Written {
                id: comment.id,
                url: comment.post.html_url,
                body: comment.post.body.unwrap_or_default(),
            })
            .collect();
        own.sort_by_key(|comment| comment.id);
        own.dedup_by_key(|comment| comment.id);
        Ok(own)
    }

    async fn create_issue(
        &self,
        repo: &Repo,
        title: &str,
        body: &str,
        labels: &[&str],
    ) -> Result<Written, ForgeError> {
        let title = self.redactor.redact(title);
        let body = self.redactor.redact(body);
        let fields = json!({"title": title, "body": body, "labels": labels});
        let what = format!("a new issue in {}", repo.full_name());
        let response = self
            .write(
                repo,
                Notifies::People,
                Method::POST,
                "/issues",
                fields,
                what,
            )
            .await?;
        let issue: wire::Written = response.json()?;
        let number = issue.number.ok_or_else(|| ForgeError::Unknown {
            what: response.what.clone(),
            message: "the answer cannot be read: missing field `number`".to_owned(),
        })?;
        Ok(written(number, issue, &body))
    }

    async fn update_issue_body(
        &self,
        repo: &Repo,
        number: u64,
        body: &str,
    ) -> Result<(), ForgeError> {
        let path = format!("/issues/{number}");
        let what = format!("the new text of {}", issue_name(repo, number));
        self.replace_body(repo, &path, body, what).await
    }

    async fn retire_issue(&self, repo: &Repo, number: u64, body: &str) -> Result<(), ForgeError> {
        let body = self.redactor.redact(body);
        let fields = json!({
            "body": body, "state": "closed", "state_reason": "not_planned", "labels": [],
        });
        let path = format!("/issues/{number}");
        let what = format!("closing {}", issue_name(repo, number));
        self.write(repo, Notifies::Nobody, Method::PATCH, &path, fields, what)
            .await?;
        Ok(())
    }

    async fn delete_comment(&self, repo: &Repo, comment: u64) -> Result<(), ForgeError> {
        let path = format!("/issues/comments/{comment}");
        let what = format!("deleting comment {comment} in {}", repo.full_name());
        self.delete(repo, &path, what).await
    }

    async fn create_comment(
        &self,
        repo: &Repo,
        number: u64,
        body: &str,
    ) -> Result<Written, ForgeError> {
        let body = self.redactor.redact(body);
        let path = format!("/issues/{number}/comments");
        let what = format!("a new comment on {}", issue_name(repo, number));
        let fields = json!({"body": body});
        let response = self
            .write(repo, Notifies::People, Method::POST, &path, fields, what)
            .await?;
        let comment: wire::Written = response.json()?;
        Ok(written(comment.id, comment, &body))
    }

    async fn update_comment(
        &self,
        repo: &Repo,
        comment: u64,
        body: &str,
    ) -> Result<(), ForgeError> {
        let path = format!("/issues/comments/{comment}");
        let what = format!("the new text of comment {comment} in {}", repo.full_name());
        self.replace_body(repo, &path, body, what).await
    }

    async fn ensure_label(&self, repo: &Repo, label: &LabelSpec) -> Result<(), ForgeError> {
        let what = format!("the label {} in {}", label.name, repo.full_name());
        let path = format!("/labels/{}", link::encode(label.name));
        match self.api.get(repo, &path, what.clone()).await {
            Err(ForgeError::NotFound { .. }) => {}
            other => return other.map(|_| ()),
        }
        let fields = json!({
            "name": label.name, "color": label.colour, "description": label.description,
        });
        let (notifies, method) = (Notifies::Nobody, Method::POST);
        let response = self
            .api
            .write(repo, notifies, method, "/labels", Some(fields), what)
            .await?;
        if response.status == StatusCode::UNPROCESSABLE_ENTITY
            && ErrorBody::of(&response).already_exists
        {
            return Ok(());
        }
        response.error_for_status().map(|_| ())
    }

    async fn remove_label(&self, place: &IssueRef, name: &str) -> Result<(), ForgeError> {
        let path = format!("/issues/{}/labels/{}", place.number, link::encode(name));
        let issue = issue_name(&place.repo, place.number);
        let what = format!("taking the label {name} off {issue}");
        self.delete(&place.repo, &path, what).await
    }

    async fn react(
        &self,
        place: &IssueRef,
        to: &ReactTo,
        reaction: Reaction,
    ) -> Result<u64, ForgeError> {
        let content = match reaction {
            Reaction::Eyes => "eyes",
            Reaction::Rocket => "rocket",
            Reaction::Confused => "confused",
        };
        let path = reactions_path(place, to);
        let fields = json!({"content": content});
        let issue = issue_name(&place.repo, place.number);
        let what = format!("the reaction {content} on {issue}");
        let (notifies, method) = (Notifies::Nobody, Method::POST);
        let response = self
            .write(&place.repo, notifies, method, &path, fields, what)
            .await?;
        Ok(response.json::<wire::Written>()?.id)
    }

    async fn unreact(&self, place: &IssueRef, to: &ReactTo, id: u64) -> Result<(), ForgeError> {
        let path = format!("{}/{id}", reactions_path(place, to));
        let issue = issue_name(&place.repo, place.number);
        let what = format!("taking reaction {id} off {issue}");
        self.delete(&place.repo, &path, what).await
    }
}

impl GitHub {
    /// Sends a write that must succeed.
    async fn write(
        &self,
        repo: &Repo,
        notifies: Notifies,
        method: Method,
        path: &str,
        body: Value,
        what: String,
    ) -> Result<Response, ForgeError> {
        self.api
            .write(repo, notifies, method, path, Some(body), what)
            .await?
            .error_for_status()
    }

    async fn replace_body(
        &self,
        repo: &Repo,
        path: &str,
        body: &str,
        what: String,
    ) -> Result<(), ForgeError> {
        let body = self.redactor.redact(body);
        let fields = json!({"body": body});
        let response = self
            .write(repo, Notifies::Nobody, Method::PATCH, path, fields, what)
            .await?;
        // The write succeeded whatever the response holds; it is only compared.
        if let Ok(stored) = response.json::<wire::Written>() {
            warn_if_altered(&body, stored.body.as_deref().unwrap_or_default());
        }
        Ok(())
    }

    /// Deletes something; already gone is fine.
    async fn delete(&self, repo: &Repo, path: &str, what: String) -> Result<(), ForgeError> {
        let response = self
            .api
            .write(repo, Notifies::Nobody, Method::DELETE, path, None, what)
            .await?;
        if response.status == StatusCode::NOT_FOUND {
            return Ok(());
        }
        response.error_for_status().map(|_| ())
    }
}

fn written(id: u64, post: wire::Written, sent: &str) -> Written {
    let body = post.body.unwrap_or_default();
    warn_if_altered(sent, &body);
    Written {
        id,
        url: post.html_url,
        body,
    }
}

/// Logs that GitHub altered a text, for anybody who reads it back by hash or byte for byte.
fn warn_if_altered(sent: &str, stored: &str) {
    if sent != stored {
        tracing::warn!(
            sent_bytes = sent.len(),
            stored_bytes = stored.len(),
            "GitHub stored a different text than the one sent"
        );
    }
}

fn reactions_path(place: &IssueRef, to: &ReactTo) -> String {
    match to {
        ReactTo::Comment(id) => format!("/issues/comments/{id}/reactions"),
        ReactTo::Issue => format!("/issues/{}/reactions", place.number),
    }
}

fn pull_request_name(place: &IssueRef) -> String {
    format!(
        "pull request #{} of {}",
        place.number,
        place.repo.full_name()
    )
}
