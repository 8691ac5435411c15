//! Reading as a person: with a token of their own, or as anybody. Only `GET`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use octocrab::Octocrab;
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

use super::call::{Asker, PER_PAGE, Way};
use super::limit::Budget;
use super::transport::{Answer, Request, Transport};
use super::{GitHubError, USER_AGENT, answer, link, thread, wire};
use crate::engine::clock::Clock;
use crate::engine::forge::ForgeError;
use crate::engine::model::conversation::Thread;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Place, Repo};

/// How to reach GitHub, and as whom.
#[derive(Debug, Clone)]
pub struct ReaderConfig {
    /// Base of the REST API: `https://api.github.com`, or `https://HOST/api/v3` on GitHub Enterprise Server.
    pub api_url: Url,
    /// A person's token; `None` reads what everybody may read.
    pub token: Option<SecretString>,
    /// Longest time for one request; half of it for making the connection.
    pub request_timeout: Duration,
}

/// Which issues are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// A label they have.
    pub label: &'a str,
    /// `open`, `closed` or `all`.
    pub state: &'a str,
    /// How many, newest first.
    pub most: usize,
}

/// An issue or a pull request of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
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
pub enum Entry {
    /// A readable one.
    Issue(Box<Listed>),
    /// One that cannot be read; the others can.
    Unreadable {
        /// Its number, where that much is there.
        number: Option<u64>,
        /// Why, naming the field.
        why: String,
    },
}

/// A client that only reads.
pub struct Reader {
    api_url: Url,
    clock: Arc<dyn Clock>,
    transport: Transport,
    client: Octocrab,
    budget: Budget,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("api_url", &self.api_url.as_str())
            .finish_non_exhaustive()
    }
}

impl Asker for Reader {
    fn budget(&self) -> &Budget {
        &self.budget
    }

    async fn send(&self, request: &Request, path: &str) -> Result<Answer, ForgeError> {
        self.budget.check(&request.what, self.clock.now())?;
        self.transport
            .send(&self.client, request, path)
            .await
            .map_err(|lost| answer::lost(lost, request))
    }
}

impl Reader {
    /// Checks the settings; asks GitHub nothing. Must be called inside a Tokio runtime.
    ///
    /// # Errors
    /// The address or the token cannot be used.
    pub fn new(config: ReaderConfig, clock: Arc<dyn Clock>) -> Result<Self, GitHubError> {
        let transport = Transport::new(&config.api_url, config.request_timeout, USER_AGENT)?;
        let client = match &config.token {
            None => transport.bare(),
            Some(token) => transport.person(token)?,
        };
        Ok(Self {
            api_url: config.api_url,
            clock,
            transport,
            client,
            budget: Budget::default(),
        })
    }

    fn way(&self) -> Way<'_> {
        Way {
            api_url: &self.api_url,
            clock: self.clock.as_ref(),
        }
    }

    /// The issue or pull request `number` of `owner/name` with every comment. No post of it is marked as our own.
    ///
    /// # Errors
    /// GitHub refused, could not be reached, or gave an unreadable answer.
    pub async fn thread(&self, owner: &str, name: &str, number: u64) -> Result<Thread, ForgeError> {
        let place = Place {
            repo: repository(owner, name),
            number,
            pull_request: false,
        };
        let texts = thread::texts(self.way(), self, &place).await?;
        Ok(thread::thread(texts, |_| false))
    }

    /// Issues and pull requests of `owner/name` with a label, newest first. An item that cannot be read does not keep
    /// the others from being listed.
    ///
    /// # Errors
    /// GitHub refused, could not be reached, or gave an unreadable answer.
    pub async fn issues(
        &self,
        owner: &str,
        name: &str,
        wanted: Wanted<'_>,
    ) -> Result<Vec<Entry>, ForgeError> {
        let repo = repository(owner, name);
        let Wanted { label, state, most } = wanted;
        let path = format!(
            "/issues?labels={}&state={}&sort=created&direction=desc&per_page={}",
            link::encode(label),
            link::encode(state),
            most.clamp(1, PER_PAGE)
        );
        let path = self.way().repo_path(&repo, &path);
        let what = format!("the list of issues of {}", repo.full_name());
        let mut seen = 0;
        let items: Vec<Value> = self
            .way()
            .pages(self, path, &what, |page: &[Value]| {
                seen += page.len();
                seen < most
            })
            .await?;
        Ok(items.into_iter().take(most).map(entry).collect())
    }
}

fn repository(owner: &str, name: &str) -> Repo {
    Repo {
        installation: 0,
        id: 0,
        owner: owner.to_owned(),
        name: name.to_owned(),
    }
}

fn entry(item: Value) -> Entry {
    let number = item.get("number").and_then(Value::as_u64);
    match serde_json::from_value::<wire::Issue>(item) {
        Err(error) => Entry::Unreadable {
            number,
            why: answer::tidy(&error.to_string()),
        },
        Ok(issue) => Entry::Issue(Box::new(Listed {
            number: issue.number,
            title: issue.title,
            state: issue.state,
            author: issue
                .text
                .user
                .and_then(wire::User::actor)
                .map(|actor| actor.login),
            created: issue.text.created_at.into(),
            updated: issue.text.updated_at.into(),
            url: issue.text.html_url,
            pull_request: issue.pull_request.is_some(),
            body: issue.text.body.unwrap_or_default(),
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
            Entry::Unreadable {
                number: Some(7),
                ..
            }
        ));
        assert_eq!(
            entry(json!({"id": 1})),
            Entry::Unreadable {
                number: None,
                why: "missing field `number`".to_owned()
            }
        );
        let Entry::Issue(read) = entry(whole) else {
            panic!("readable")
        };
        assert_eq!(
            (read.number, read.author, read.body.as_str()),
            (7, None, "")
        );
        assert!(!read.pull_request);
    }
}
