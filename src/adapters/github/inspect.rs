//! What the App can see of a place, for explanations.

use http::StatusCode;

use super::activity::Comment;
use super::app::InstalledApp;
use super::deliveries::commented_in;
use super::transport::Request;
use super::{GitHub, link, wire};
use crate::engine::forge::ForgeError;
use crate::engine::model::intake::LoggedAttempt;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Repo;
use crate::engine::sweep::DeliveryLog as _;
use crate::engine::why::{CommentNow, Installed};

/// Maximum number of payloads that are fetched to find the delivery of a comment.
const MAX_PAYLOADS: usize = 40;

/// Maximum number of pages of the log that are read.
const MAX_PAGES: usize = 300;

/// Time before a comment was written, by its own time, that its delivery cannot precede.
const MARGIN: std::time::Duration = std::time::Duration::from_mins(1);

impl GitHub {
    /// Returns whether the App is installed in the repository `owner/name`, and the repository if it
    /// is and the installation is not suspended.
    ///
    /// # Errors
    /// GitHub did not return it.
    pub async fn installed_in(
        &self,
        owner: &str,
        name: &str,
    ) -> Result<(Installed, Option<Repo>), ForgeError> {
        let names = format!("{}/{}", link::encode(owner), link::encode(name));
        let path = self.api.path(&format!("/repos/{names}/installation"));
        let what = format!("the App's installation in {owner}/{name}");
        let request = Request::get(path, what);
        let response = self.api.call_as_app(self.app_key()?, &request).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Ok((Installed::No, None));
        }
        let installation: InstalledApp = response.error_for_status()?.json()?;
        if installation.is_suspended() {
            return Ok((Installed::Suspended, None));
        }
        let asked = Repo {
            installation: installation.id,
            id: 0,
            owner: owner.to_owned(),
            name: name.to_owned(),
        };
        let what = format!("the repository {}", asked.full_name());
        let found: wire::Repository = self.api.get_json(&asked, "", what).await?;
        let repo = Repo {
            id: found.id,
            ..asked
        };
        Ok((Installed::Yes, Some(repo)))
    }

    /// Returns a comment; `None` if it does not exist.
    ///
    /// # Errors
    /// GitHub did not return it.
    pub async fn comment_now(
        &self,
        repo: &Repo,
        comment: u64,
    ) -> Result<Option<CommentNow>, ForgeError> {
        let path = format!("/issues/comments/{comment}");
        let what = format!("comment {comment} in {}", repo.full_name());
        let found: Result<Comment, ForgeError> = self.api.get_json(repo, &path, what).await;
        match found {
            Ok(comment) => Ok(comment.number().map(|number| CommentNow {
                number,
                created: comment.created_at.into(),
                text: comment.body,
            })),
            Err(error) if error.is_absence() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the attempts to deliver the creation of a comment that was written at `created`, the
    /// newest first.
    ///
    /// # Errors
    /// GitHub did not return its log.
    pub async fn attempts_of(
        &self,
        repo: &Repo,
        comment: u64,
        created: Millis,
    ) -> Result<Vec<LoggedAttempt>, ForgeError> {
        let begin = created.minus(MARGIN);
        let too_many = |message: &str| ForgeError::Unreadable {
            what: format!("the delivery log around {}", created.iso()),
            message: message.to_owned(),
        };
        let mut candidates: Vec<LoggedAttempt> = Vec::new();
        let mut cursor = None;
        let mut ended = false;
        for _ in 0..MAX_PAGES {
            let page = self.page(cursor.as_deref()).await?;
            let last = page.attempts.last();
            ended = page.next.is_none() || last.is_none_or(|last| last.delivered < begin);
            let fits = |one: &LoggedAttempt| {
                one.delivered >= begin
                    && one.repo == Some(repo.id)
                    && one.event == "issue_comment"
                    && one.action.as_deref() == Some("created")
            };
            candidates.extend(page.attempts.into_iter().filter(fits));
            cursor = page.next;
            if ended {
                break;
            }
        }
        if !ended {
            return Err(too_many("it has too many pages"));
        }
        // The delivery is usually the first after the comment was written.
        candidates.reverse();
        let mut guid = None;
        for attempt in candidates.iter().take(MAX_PAYLOADS) {
            match self.delivery(attempt).await {
                Ok(delivery) if commented_in(&delivery) == Some(comment) => {
                    guid = Some(attempt.guid.clone());
                    break;
                }
                Ok(_) => {}
                Err(error) if error.is_absence() => {}
                Err(error) => return Err(error),
            }
        }
        if guid.is_none() && candidates.len() > MAX_PAYLOADS {
            return Err(too_many(
                "too many comments of the repository were delivered at that time",
            ));
        }
        candidates.retain(|one| Some(&one.guid) == guid.as_ref());
        candidates.reverse();
        Ok(candidates)
    }
}
