//! The operations of [`Forge`] in GitHub's REST API (version 2022-11-28).

use std::time::Duration;

use async_trait::async_trait;
use http::{Method, StatusCode};
use serde_json::json;

use super::answer::{self, Complaint};
use super::call::{Notifies, PER_PAGE};
use super::thread::{self, issue_of};
use super::writes::written;
use super::{GitHub, link, wire};
use crate::engine::forge::{
    Access, ChangedFile, CheckReport, CheckRun, FileAt, Forge, ForgeError, LabelSpec, NewCheckRun,
    PullRequest, ReactTo, Reaction, ReadError, Take, Tree, Written,
};
use crate::engine::model::conversation::Thread;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Place, Repo};

/// Lists of own posts begin this much earlier: GitHub's times are whole seconds, and its own clocks differ a little. Too many
/// are harmless, since markers decide.
const LOOK_BACK: Duration = Duration::from_mins(10);

#[async_trait]
impl Forge for GitHub {
    async fn access(&self, repo: &Repo, login: &str) -> Result<Access, ForgeError> {
        let path = self.repo_path(
            repo,
            &format!("/collaborators/{}/permission", link::encode(login)),
        );
        let what = format!("the permission of {login} in {}", repo.full_name());
        let (request, answer) = match self.get(repo.installation, path, what).await {
            // GitHub does not know such an account.
            Err(ForgeError::NotFound { .. }) => {
                return Ok(Access {
                    user_id: 0,
                    permission: None,
                });
            }
            other => other?,
        };
        let collaborator: wire::Collaborator = answer::read(&answer, &request)?;
        Ok(Access {
            user_id: collaborator.user_id(),
            permission: collaborator.role(),
        })
    }

    async fn thread(&self, place: &Place) -> Result<Thread, ForgeError> {
        let asker = self.asker(place.repo.installation);
        // Nobody closes the semaphore.
        let _turn = self.conversations.acquire().await.ok();
        let texts = thread::texts(self.way(), &asker, place).await?;
        let own = self.own().await?;
        Ok(thread::thread(texts, |text| own.wrote(text)))
    }

    async fn locate(&self, place: &Place) -> Result<Place, ForgeError> {
        let asker = self.asker(place.repo.installation);
        let (_, mut now) = thread::issue(self.way(), &asker, place).await?;
        if now.repo.full_name() != place.repo.full_name() {
            let what = format!("the repository {}", now.repo.full_name());
            let path = self.repo_path(&now.repo, "");
            let (request, answer) = self.get(place.repo.installation, path, what).await?;
            let repository: wire::Repository = answer::read(&answer, &request)?;
            now.repo.id = repository.id;
        }
        Ok(now)
    }

    async fn is_open(&self, place: &Place) -> Result<bool, ForgeError> {
        let asker = self.asker(place.repo.installation);
        let (issue, _) = thread::issue(self.way(), &asker, place).await?;
        Ok(issue.state == "open")
    }

    async fn comment_exists(&self, repo: &Repo, comment: u64) -> Result<bool, ForgeError> {
        let path = self.repo_path(repo, &format!("/issues/comments/{comment}"));
        let what = format!("comment {comment} in {}", repo.full_name());
        match self.get(repo.installation, path, what).await {
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
        self.read_file(repo, path, reference, most, take).await
    }

    async fn tree(
        &self,
        repo: &Repo,
        folders: &[&str],
        reference: Option<&str>,
    ) -> Result<Option<Tree>, ForgeError> {
        self.read_tree(repo, folders, reference).await
    }

    async fn blob(
        &self,
        repo: &Repo,
        id: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        self.read_blob(repo, id, most, take).await
    }

    async fn attachment(
        &self,
        address: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        self.read_attachment(address, most, take).await
    }

    async fn pull_request(&self, place: &Place) -> Result<PullRequest, ForgeError> {
        self.read_pull_request(place).await
    }

    async fn changed_files(&self, place: &Place) -> Result<Vec<ChangedFile>, ForgeError> {
        self.list_changed_files(place).await
    }

    async fn own_check_runs(
        &self,
        repo: &Repo,
        head_sha: &str,
        name: &str,
    ) -> Result<Vec<CheckRun>, ForgeError> {
        self.list_check_runs(repo, head_sha, name).await
    }

    async fn check_run(&self, repo: &Repo, id: u64) -> Result<CheckRun, ForgeError> {
        self.read_check_run(repo, id).await
    }

    async fn create_check_run(
        &self,
        repo: &Repo,
        new: &NewCheckRun,
        external_id: &str,
    ) -> Result<CheckRun, ForgeError> {
        self.send_check_run(repo, new, external_id).await
    }

    async fn update_check_run(
        &self,
        repo: &Repo,
        id: u64,
        report: &CheckReport,
    ) -> Result<(), ForgeError> {
        self.send_check_report(repo, id, report).await
    }

    async fn own_issues(&self, repo: &Repo, since: Millis) -> Result<Vec<Written>, ForgeError> {
        let own = self.own().await?;
        let since = since.minus(LOOK_BACK);
        let path = self.repo_path(
            repo,
            &format!(
                "/issues?creator={}&state=all&since={}&sort=created&direction=desc&per_page={PER_PAGE}",
                link::encode(own.login()),
                link::encode(&since.iso()),
            ),
        );
        let issues: Vec<wire::Issue> = self
            .pages(
                repo,
                path,
                &format!("the issues of {} in {}", own.login(), repo.full_name()),
                // `since` goes by the last change; behind the first older issue there are only older ones.
                |page: &[wire::Issue]| {
                    page.last()
                        .is_some_and(|issue| Millis::from(issue.text.created_at) >= since)
                },
            )
            .await?;
        Ok(issues
            .into_iter()
            .filter(|issue| {
                issue.pull_request.is_none()
                    && Millis::from(issue.text.created_at) >= since
                    && own.wrote(&issue.text)
            })
            .map(|issue| Written {
                id: issue.number,
                url: issue.text.html_url,
                body: issue.text.body.unwrap_or_default(),
            })
            .collect())
    }

    async fn own_comments(
        &self,
        repo: &Repo,
        number: u64,
        since: Millis,
    ) -> Result<Vec<Written>, ForgeError> {
        let own = self.own().await?;
        let since = link::encode(&since.minus(LOOK_BACK).iso());
        let comments: Vec<wire::Comment> = self
            .pages(
                repo,
                self.repo_path(
                    repo,
                    &format!("/issues/{number}/comments?since={since}&per_page={PER_PAGE}"),
                ),
                &format!("the comments of {}", issue_of(repo, number)),
                |_| true,
            )
            .await?;
        let mut own: Vec<_> = comments
            .into_iter()
            .filter(|comment| own.wrote(&comment.text))
            .map(|comment| Written {
                id: comment.id,
                url: comment.text.html_url,
                body: comment.text.body.unwrap_or_default(),
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
        let (request, echo) = self
            .post(
                repo,
                Notifies::People,
                Method::POST,
                "/issues",
                json!({"title": title, "body": body, "labels": labels}),
                format!("a new issue in {}", repo.full_name()),
            )
            .await?;
        let echo: wire::Echo = answer::read(&echo, &request)?;
        let number = echo.number.ok_or_else(|| ForgeError::Unknown {
            what: request.what.clone(),
            message: "the answer cannot be read: missing field `number`".to_owned(),
        })?;
        Ok(written(number, echo, &body))
    }

    async fn update_issue_body(
        &self,
        repo: &Repo,
        number: u64,
        body: &str,
    ) -> Result<(), ForgeError> {
        let path = format!("/issues/{number}");
        let what = format!("the new text of {}", issue_of(repo, number));
        self.replace_body(repo, &path, body, what).await
    }

    async fn retire_issue(&self, repo: &Repo, number: u64, body: &str) -> Result<(), ForgeError> {
        let body = self.redactor.redact(body);
        self.post(
            repo,
            Notifies::Nobody,
            Method::PATCH,
            &format!("/issues/{number}"),
            json!({"body": body, "state": "closed", "state_reason": "not_planned", "labels": []}),
            format!("closing {}", issue_of(repo, number)),
        )
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
        let (request, echo) = self
            .post(
                repo,
                Notifies::People,
                Method::POST,
                &format!("/issues/{number}/comments"),
                json!({"body": body}),
                format!("a new comment on {}", issue_of(repo, number)),
            )
            .await?;
        let echo: wire::Echo = answer::read(&echo, &request)?;
        Ok(written(echo.id, echo, &body))
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
        let path = self.repo_path(repo, &format!("/labels/{}", link::encode(label.name)));
        match self.get(repo.installation, path, what.clone()).await {
            Err(ForgeError::NotFound { .. }) => {}
            other => return other.map(|_| ()),
        }
        let (request, answer) = self
            .write(
                repo.installation,
                Notifies::Nobody,
                Method::POST,
                self.repo_path(repo, "/labels"),
                Some(json!({
                    "name": label.name, "color": label.colour, "description": label.description,
                })),
                what,
            )
            .await?;
        if answer.status == StatusCode::UNPROCESSABLE_ENTITY
            && Complaint::of(&answer).already_exists
        {
            return Ok(());
        }
        answer::judge(&answer, &request)
    }

    async fn remove_label(&self, place: &Place, name: &str) -> Result<(), ForgeError> {
        let path = format!("/issues/{}/labels/{}", place.number, link::encode(name));
        let what = format!(
            "taking the label {name} off {}",
            issue_of(&place.repo, place.number)
        );
        self.delete(&place.repo, &path, what).await
    }

    async fn react(
        &self,
        place: &Place,
        to: &ReactTo,
        reaction: Reaction,
    ) -> Result<u64, ForgeError> {
        let content = match reaction {
            Reaction::Eyes => "eyes",
            Reaction::Rocket => "rocket",
            Reaction::Confused => "confused",
        };
        let (request, echo) = self
            .post(
                &place.repo,
                Notifies::Nobody,
                Method::POST,
                &reactions(place, to),
                json!({"content": content}),
                format!(
                    "the reaction {content} on {}",
                    issue_of(&place.repo, place.number)
                ),
            )
            .await?;
        let echo: wire::Echo = answer::read(&echo, &request)?;
        Ok(echo.id)
    }

    async fn unreact(&self, place: &Place, to: &ReactTo, id: u64) -> Result<(), ForgeError> {
        let path = format!("{}/{id}", reactions(place, to));
        let what = format!(
            "taking reaction {id} off {}",
            issue_of(&place.repo, place.number)
        );
        self.delete(&place.repo, &path, what).await
    }
}

fn reactions(place: &Place, to: &ReactTo) -> String {
    match to {
        ReactTo::Comment(id) => format!("/issues/comments/{id}/reactions"),
        ReactTo::Place => format!("/issues/{}/reactions", place.number),
    }
}
