//! Writing as a person, with a token of their own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use super::attachments::{self, Attachments};
use super::auth::Credentials;
use super::own::Own;
use super::transport::Transport;
use super::{GitHub, GitHubError, USER_AGENT, answer, limit, wire};
use crate::adapters::redact::Redactor;
use crate::engine::clock::Clock;
use crate::engine::forge::ForgeError;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Actor, Repo};

/// How to reach GitHub, and as whom.
#[derive(Debug, Clone)]
pub struct PersonConfig {
    /// Base of the REST API: `https://api.github.com`, or `https://HOST/api/v3` on GitHub Enterprise Server.
    pub api_url: Url,
    /// The person's token.
    pub token: SecretString,
    /// Least time from the start of one write to the start of the next. Zero turns it off.
    pub write_gap: Duration,
    /// The same between writes that notify people (new issues, new comments).
    pub notify_gap: Duration,
    /// Longest time for one request; half of it for making the connection.
    pub request_timeout: Duration,
}

impl GitHub {
    /// Checks the settings; asks GitHub nothing. Must be called inside a Tokio runtime.
    ///
    /// Repositories are used with installation 0. What the client posts never holds the token.
    ///
    /// # Errors
    /// The address or the token cannot be used.
    pub fn person(config: PersonConfig, clock: Arc<dyn Clock>) -> Result<Self, GitHubError> {
        let transport = Transport::new(&config.api_url, config.request_timeout, USER_AGENT)?;
        let client = transport.person(&config.token)?;
        Ok(Self {
            attachments: Attachments::new(
                &transport,
                &config.api_url,
                &attachments::REDIRECT_HOSTS.map(str::to_owned),
            ),
            download_timeout: attachments::TIMEOUT,
            credentials: Credentials::Person(Box::new(client)),
            transport,
            api_url: config.api_url,
            gaps: limit::Gaps {
                write: config.write_gap,
                notify: config.notify_gap,
            },
            redactor: Redactor::new(vec![config.token]),
            clock,
            skew: std::sync::atomic::AtomicI64::new(0),
            commits: Mutex::default(),
            own: tokio::sync::OnceCell::new(),
            conversations: tokio::sync::Semaphore::new(super::MAX_CONVERSATIONS),
            installations: Mutex::new(HashMap::new()),
        })
    }

    /// The account that the client writes as. Asked once (`GET /user`).
    ///
    /// # Errors
    /// GitHub did not say, or the client is an App's.
    pub async fn me(&self) -> Result<Actor, ForgeError> {
        match self.own().await? {
            Own::Person(actor) => Ok(actor),
            Own::App { login, .. } => Err(ForgeError::Unreadable {
                what: "the account of the token".to_owned(),
                message: format!("{login} is an App"),
            }),
        }
    }

    /// The time by GitHub's clock, as the last answer told it; by this machine's before the first answer.
    pub fn time(&self) -> Millis {
        let skew = self.skew.load(std::sync::atomic::Ordering::Relaxed);
        Millis(self.clock.now().0.saturating_add(skew))
    }

    /// The repository `owner/name` under the names it has now.
    ///
    /// # Errors
    /// GitHub did not say, or plans cannot be saved there: issues are disabled, it is archived, or the account may not push.
    pub async fn repository(&self, owner: &str, name: &str) -> Result<Repo, ForgeError> {
        let asked = Repo {
            installation: 0,
            id: 0,
            owner: owner.to_owned(),
            name: name.to_owned(),
        };
        let what = format!("the repository {}", asked.full_name());
        let (request, answer) = self.get(0, self.repo_path(&asked, ""), what).await?;
        let found: wire::Repository = answer::read(&answer, &request)?;
        let what = || format!("the issue tracker of {}", asked.full_name());
        if found.archived {
            let message = "the repository is archived".to_owned();
            return Err(ForgeError::Archived {
                what: what(),
                message,
            });
        }
        if !found.has_issues {
            let message = "issues are disabled in the repository's settings".to_owned();
            return Err(ForgeError::Gone {
                what: what(),
                message,
            });
        }
        if found.permissions.is_some_and(|may| !may.push) {
            return Err(ForgeError::Forbidden {
                what: format!("saving plans in {}", found.full_name),
                message: "the account may not push to the repository".to_owned(),
            });
        }
        let (owner, name) = found
            .full_name
            .split_once('/')
            .map_or((asked.owner, asked.name), |(owner, name)| {
                (owner.to_owned(), name.to_owned())
            });
        Ok(Repo {
            installation: 0,
            id: found.id,
            owner,
            name,
        })
    }
}
