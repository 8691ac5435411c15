//! Reads with a person's token or anonymously. Only `GET`.

use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use serde_json::Value;
use url::Url;

use super::auth::Credentials;
use super::client::{ApiClient, PER_PAGE};
use super::limit::WriteGaps;
use super::response::clean_message;
use super::transport::Transport;
use super::{GitHubError, USER_AGENT, link, thread, unlisted_repo, wire};
use crate::engine::clock::Clock;
use crate::engine::forge::ForgeError;
use crate::engine::model::conversation::Conversation;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::IssueRef;

/// Settings of a [`Reader`].
#[derive(Debug, Clone)]
pub struct ReaderConfig {
    /// Base of the REST API: `https://api.github.com`, or `https://HOST/api/v3` on GitHub
    /// Enterprise Server.
    pub api_url: Url,
    /// A person's token; `None` for public data only.
    pub token: Option<SecretString>,
    /// Time limit for one request; half of it for the connection.
    pub request_timeout: Duration,
}

/// Selects issues of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IssueFilter<'a> {
    /// A label.
    pub label: &'a str,
    /// `open`, `closed` or `all`.
    pub state: &'a str,
    /// Maximum number of issues, newest first.
    pub max: usize,
}

/// An issue or a pull request of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueSummary {
    /// Number.
    pub number: u64,
    /// Title.
    pub title: String,
    /// `open` or `closed`.
    pub state: String,
    /// Login of its author; `None` for a deleted account.
    pub author: Option<String>,
    /// When it was opened.
    pub created: Millis,
    /// When it was last changed.
    pub updated: Millis,
    /// Permalink.
    pub url: String,
    /// It is a pull request.
    pub pull_request: bool,
    /// Its opening text.
    pub body: String,
}

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListEntry {
    /// A readable item.
    Issue(Box<IssueSummary>),
    /// An item that cannot be read.
    Unreadable {
        /// Its number, if present.
        number: Option<u64>,
        /// Why, naming the field.
        why: String,
    },
}

/// A client that only reads.
#[derive(Debug)]
pub struct Reader {
    api: ApiClient,
}

impl Reader {
    /// Validates the settings without sending a request. Must be called inside a Tokio runtime.
    ///
    /// # Errors
    /// The address or the token cannot be used.
    pub fn new(config: ReaderConfig, clock: Arc<dyn Clock>) -> Result<Self, GitHubError> {
        let transport = Transport::new(&config.api_url, config.request_timeout, USER_AGENT)?;
        let credentials = match &config.token {
            None => Credentials::Anonymous,
            Some(token) => Credentials::Person(Box::new(transport.with_person_token(token)?)),
        };
        let gaps = WriteGaps {
            write: Duration::ZERO,
            notify: Duration::ZERO,
        };
        Ok(Self {
            api: ApiClient::new(config.api_url, transport, credentials, gaps, clock),
        })
    }

    /// Reads the issue or pull request `number` of `owner/name` with every comment. No post is
    /// marked as our own.
    ///
    /// # Errors
    /// GitHub refused, could not be reached, or gave an unreadable answer.
    pub async fn thread(
        &self,
        owner: &str,
        name: &str,
        number: u64,
    ) -> Result<Conversation, ForgeError> {
        let place = IssueRef {
            repo: unlisted_repo(owner, name),
            number,
            pull_request: false,
        };
        let posts = thread::read(&self.api, &place).await?;
        Ok(posts.into_thread(|_| false))
    }

    /// Lists issues and pull requests of `owner/name`, newest first. An item that cannot be read
    /// does not hide the others.
    ///
    /// # Errors
    /// GitHub refused, could not be reached, or gave an unreadable answer.
    pub async fn issues(
        &self,
        owner: &str,
        name: &str,
        filter: IssueFilter<'_>,
    ) -> Result<Vec<ListEntry>, ForgeError> {
        let repo = unlisted_repo(owner, name);
        let IssueFilter { label, state, max } = filter;
        let path = format!(
            "/issues?labels={}&state={}&sort=created&direction=desc&per_page={}",
            link::encode(label),
            link::encode(state),
            max.clamp(1, PER_PAGE)
        );
        let what = format!("the list of issues of {}", repo.full_name());
        let mut seen = 0;
        let items = self
            .api
            .pages::<Vec<Value>>(&repo, &path, &what, |page| {
                seen += page.len();
                seen < max
            })
            .await?;
        Ok(items.into_iter().take(max).map(entry).collect())
    }
}

fn entry(item: Value) -> ListEntry {
    let number = item.get("number").and_then(Value::as_u64);
    match serde_json::from_value::<wire::Issue>(item) {
        Err(error) => ListEntry::Unreadable {
            number,
            why: clean_message(&error.to_string()),
        },
        Ok(issue) => ListEntry::Issue(Box::new(IssueSummary {
            number: issue.number,
            title: issue.title,
            state: issue.state,
            author: issue
                .post
                .user
                .and_then(wire::User::actor)
                .map(|actor| actor.login),
            created: issue.post.created_at.into(),
            updated: issue.post.updated_at.into(),
            url: issue.post.html_url,
            pull_request: issue.pull_request.is_some(),
            body: issue.post.body.unwrap_or_default(),
        })),
    }
}

#[cfg(test)]
mod tests {

    use serde_json::json;

    use super::*;

    #[test]
    fn an_item_without_what_every_issue_has_is_named_and_nothing_more() {
        let whole = json!({
            "number": 7, "title": "T", "state": "open", "html_url": "https://github.com/o/r/issues/7", "user": null,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T00:00:00Z", "body": null,
        });
        let mut bad = whole.clone();
        bad["created_at"] = json!("soon");
        assert!(matches!(
            entry(bad),
            ListEntry::Unreadable {
                number: Some(7),
                ..
            }
        ));
        assert_eq!(
            entry(json!({"id": 1})),
            ListEntry::Unreadable {
                number: None,
                why: "missing field `number`".to_owned()
            }
        );
        let ListEntry::Issue(read) = entry(whole) else {
            panic!("readable")
        };
        assert_eq!(
            (read.number, read.author, read.body.as_str()),
            (7, None, "")
        );
        assert!(!read.pull_request);
    }
}
