//! GitHub behind [`Forge`](crate::engine::forge::Forge): a REST client for a GitHub App with many
//! installations, or for a person.
//!
//! Every request is sent once (`transport`). The rest is ours rather than octocrab's: tokens minted
//! in single flight (`auth`), one write lane and one rate limit per installation (`limit`), pages
//! and redirects that never leave the configured host (`client`, `link`), and errors that tell
//! whether anything can have happened (`response`). [`Reader`] reads with a person's token or
//! anonymously.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use self::auth::{AppKey, Credentials};
use self::client::ApiClient;
use self::downloads::Downloads;
use self::limit::WriteGaps;
use self::transport::{Request, Transport};
use super::redact::Redactor;
use crate::engine::clock::Clock;
use crate::engine::forge::ForgeError;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Actor, Repo};
use crate::engine::replicas::Replicas;

mod activity;
mod app;
mod archive;
mod auth;
mod checks;
mod client;
mod deliveries;
mod downloads;
mod files;
mod inspect;
mod limit;
mod link;
mod operations;
mod reader;
mod registration;
mod response;
#[cfg(test)]
mod tests;
mod thread;
mod transport;
mod trees;
mod wire;

pub use activity::FoundEvent;
pub use app::{Attempt, HookConfig, InstalledApp, RegisteredApp, RequestsLeft};
pub use deliveries::LoggedDelivery;
pub use reader::{IssueFilter, IssueSummary, ListEntry, Reader, ReaderConfig};
pub use registration::{NewApp, RegistrationError, exchange_code};

/// Default `User-Agent`, which GitHub requires.
const USER_AGENT: &str = concat!("planwright/", env!("CARGO_PKG_VERSION"));

/// Settings of an App's client.
#[derive(Debug, Clone)]
pub struct GitHubConfig {
    /// Base of the REST API: `https://api.github.com`, or `https://HOST/api/v3` on GitHub
    /// Enterprise Server.
    pub api_url: Url,
    /// The App's numeric id.
    pub app_id: u64,
    /// The App's private key: RSA, PEM.
    pub private_key: SecretString,
    /// Minimum time from the start of one write to the start of the next, per installation; zero
    /// turns it off.
    pub write_gap: Duration,
    /// Minimum time between writes that notify people (new issues, new comments).
    pub notify_gap: Duration,
    /// Time limit for one request; half of it for the connection.
    pub request_timeout: Duration,
    /// Time limit for one file, redirects included.
    pub download_timeout: Duration,
    /// Hosts to which downloads of attachments may be redirected, besides that of GitHub's pages:
    /// names, or `*.` and the end of names. On GitHub Enterprise Server, also downloads of archives.
    pub redirect_hosts: Vec<String>,
    /// `User-Agent`, which GitHub requires.
    pub user_agent: String,
    /// Redacts every title and body before it is posted.
    pub redactor: Redactor,
}

impl GitHubConfig {
    /// Creates the settings with the defaults for github.com. GitHub itself gives up on a request
    /// after ten seconds.
    pub fn new(api_url: Url, app_id: u64, private_key: SecretString) -> Self {
        Self {
            api_url,
            app_id,
            private_key,
            write_gap: limit::DEFAULT_WRITE_GAP,
            notify_gap: limit::DEFAULT_NOTIFY_GAP,
            request_timeout: Duration::from_secs(10),
            download_timeout: downloads::DEFAULT_TIMEOUT,
            redirect_hosts: downloads::DEFAULT_REDIRECT_HOSTS.map(str::to_owned).into(),
            user_agent: USER_AGENT.to_owned(),
            redactor: Redactor::default(),
        }
    }
}

/// An error in the settings of a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitHubError {
    /// The private key cannot be parsed or does not sign.
    #[error(
        "the App's private key (github.private_key) is not an RSA private key in PEM form, \
         whose first line is -----BEGIN RSA PRIVATE KEY----- and which has real line breaks"
    )]
    PrivateKey,
    /// The address of the API cannot be used.
    #[error(
        "the API address {url} (github.api_url) cannot be used: {why}; it looks like https://api.github.com or https://HOST/api/v3"
    )]
    ApiUrl {
        /// The address.
        url: String,
        /// Why.
        why: String,
    },
    /// The user agent is not a valid header.
    #[error("the user agent (github.user_agent) may only hold printable ASCII characters")]
    UserAgent,
    /// A person's token is not a valid header.
    #[error(
        "the token contains characters that are not allowed in a GitHub token; check it for a line break or quotes"
    )]
    Token,
    /// TLS cannot be set up.
    #[error("no TLS connection can be made: {0}; are the system's CA certificates installed?")]
    Tls(String),
}

/// Maximum number of conversations that are read at a time. A page of 100 comments can be 26 MB of
/// JSON, and as much again once it is parsed.
const MAX_CONVERSATIONS: usize = 1;

/// Settings of a person's client.
#[derive(Debug, Clone)]
pub struct PersonConfig {
    /// Base of the REST API: `https://api.github.com`, or `https://HOST/api/v3` on GitHub
    /// Enterprise Server.
    pub api_url: Url,
    /// The person's token.
    pub token: SecretString,
    /// Minimum time from the start of one write to the start of the next; zero turns it off.
    pub write_gap: Duration,
    /// Minimum time between writes that notify people (new issues, new comments).
    pub notify_gap: Duration,
    /// Time limit for one request; half of it for the connection.
    pub request_timeout: Duration,
}

/// The account that a client writes as.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Account {
    /// The App.
    App {
        /// Numeric App id.
        id: u64,
        /// Slug, as in `https://github.com/apps/<slug>`.
        slug: String,
        /// Login of its bot account: `<slug>[bot]`.
        login: String,
    },
    /// A person.
    Person(Actor),
    /// A job of GitHub Actions.
    Job {
        /// Login of the account as which jobs write.
        login: String,
    },
}

impl Account {
    fn login(&self) -> &str {
        match self {
            Self::App { login, .. } | Self::Job { login } => login,
            Self::Person(actor) => &actor.login,
        }
    }

    /// Whether the account wrote `post`. Posts that a person wrote with another program count too:
    /// markers decide.
    fn wrote(&self, post: &wire::Post) -> bool {
        match self {
            Self::App { id, login, .. } => post.is_own(*id, login),
            Self::Person(actor) => post.author_id() == Some(actor.id),
            Self::Job { login } => post.is_by_bot(login),
        }
    }
}

/// The client. Share it in an `Arc`: tokens, lanes and rate limits are kept inside.
pub struct GitHub {
    api: ApiClient,
    redactor: Redactor,
    attachments: Downloads,
    archives: Downloads,
    download_timeout: Duration,
    /// Commits that were looked up by their full ids, which never change. See [`files`].
    commits: Mutex<HashMap<(String, String), files::Commit>>,
    account: tokio::sync::OnceCell<Account>,
    /// Limits the number of conversations that are read at a time.
    conversations: tokio::sync::Semaphore,
}

impl GitHub {
    /// Creates an App's client. Validates the settings without sending a request. Must be called
    /// inside a Tokio runtime.
    pub fn new(config: GitHubConfig, clock: Arc<dyn Clock>) -> Result<Self, GitHubError> {
        let transport =
            Transport::new(&config.api_url, config.request_timeout, &config.user_agent)?;
        let credentials = Credentials::App(Box::new(AppKey::new(&config)?));
        let gaps = WriteGaps {
            write: config.write_gap,
            notify: config.notify_gap,
        };
        Ok(Self {
            download_timeout: config.download_timeout,
            ..Self::with(
                ApiClient::new(config.api_url, transport, credentials, gaps, clock),
                &config.redirect_hosts,
                config.redactor,
            )
        })
    }

    /// Agrees on the times of writes and on rate limits with the other processes that write for the
    /// same installations.
    #[must_use]
    pub fn with_replicas(mut self, replicas: Option<Arc<dyn Replicas>>) -> Self {
        self.api.replicas = replicas;
        self
    }

    /// Creates a person's client. Validates the settings without sending a request. Must be called
    /// inside a Tokio runtime.
    ///
    /// Repositories are used with installation 0. The token is redacted from everything the client
    /// posts.
    ///
    /// # Errors
    /// The address or the token cannot be used.
    pub fn person(config: PersonConfig, clock: Arc<dyn Clock>) -> Result<Self, GitHubError> {
        let transport = Transport::new(&config.api_url, config.request_timeout, USER_AGENT)?;
        let client = transport.with_person_token(&config.token)?;
        let credentials = Credentials::Person(Box::new(client));
        let gaps = WriteGaps {
            write: config.write_gap,
            notify: config.notify_gap,
        };
        Ok(Self::with(
            ApiClient::new(config.api_url, transport, credentials, gaps, clock),
            &downloads::DEFAULT_REDIRECT_HOSTS.map(str::to_owned),
            Redactor::new(vec![config.token]),
        ))
    }

    /// Creates the client of a job of GitHub Actions, whose token writes as the account `login`.
    /// Such tokens cannot ask for their account.
    ///
    /// # Errors
    /// The address or the token cannot be used.
    pub fn job(
        config: PersonConfig,
        login: String,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, GitHubError> {
        let account = tokio::sync::OnceCell::new_with(Some(Account::Job { login }));
        Ok(Self {
            account,
            ..Self::person(config, clock)?
        })
    }

    fn with(api: ApiClient, redirect_hosts: &[String], redactor: Redactor) -> Self {
        let (transport, api_url) = (&api.transport, &api.api_url);
        Self {
            attachments: Downloads::attachments(transport, api_url, redirect_hosts),
            archives: Downloads::archives(transport, api_url, redirect_hosts),
            api,
            redactor,
            download_timeout: downloads::DEFAULT_TIMEOUT,
            commits: Mutex::default(),
            account: tokio::sync::OnceCell::new(),
            conversations: tokio::sync::Semaphore::new(MAX_CONVERSATIONS),
        }
    }

    /// Returns how many requests GitHub accepts until its rate limit resets, of the installation
    /// with the fewest left; `None` if no limit is known.
    pub fn lowest_budget(&self) -> Option<u64> {
        self.api.lowest_budget(self.api.clock.now())
    }

    /// Returns the App's slug. GitHub is asked (`GET /app`) until it has confirmed the App once.
    ///
    /// # Errors
    /// GitHub did not return the App, or not the one with the configured id.
    pub async fn slug(&self) -> Result<String, ForgeError> {
        match self.account().await? {
            Account::App { slug, .. } => Ok(slug),
            Account::Person(actor) => Ok(actor.login),
            Account::Job { login } => Ok(login),
        }
    }

    /// Returns the account that the client writes as. Asked once (`GET /user`).
    ///
    /// # Errors
    /// GitHub did not return it, or the client is an App's.
    pub async fn me(&self) -> Result<Actor, ForgeError> {
        match self.account().await? {
            Account::Person(actor) => Ok(actor),
            Account::App { login, .. } | Account::Job { login } => Err(ForgeError::Unreadable {
                what: "the account of the token".to_owned(),
                message: format!("{login} is no person"),
            }),
        }
    }

    /// Returns the account that the client writes as. Asked once.
    async fn account(&self) -> Result<Account, ForgeError> {
        self.account
            .get_or_try_init(|| async {
                let Credentials::App(key) = &self.api.credentials else {
                    return self.request_user().await.map(Account::Person);
                };
                let path = self.api.path("/app");
                let request = Request::get(path, "the App itself".to_owned());
                let response = self.api.call_as_app(key, &request).await?;
                let response = response.error_for_status()?;
                let wire::App { id, slug } = response.json()?;
                if id != key.id {
                    return Err(response.unreadable(format!("it is about App {id}")));
                }
                let login = format!("{slug}[bot]");
                Ok(Account::App { id, slug, login })
            })
            .await
            .cloned()
    }

    async fn request_user(&self) -> Result<Actor, ForgeError> {
        let what = "the account of the token".to_owned();
        let request = Request::get(self.api.path("/user"), what);
        let response = self.api.call(0, &request).await?.error_for_status()?;
        let user: wire::User = response.json()?;
        user.actor()
            .ok_or_else(|| response.unreadable("the account was deleted".to_owned()))
    }

    /// Returns the time by GitHub's clock as of the last response, or by this machine's clock
    /// before the first.
    pub fn time(&self) -> Millis {
        self.api.github_time()
    }

    /// Returns the repository `owner/name` under its current name.
    ///
    /// # Errors
    /// GitHub did not return it, or plans cannot be saved there: issues are disabled, it is
    /// archived, or the account may not push.
    pub async fn repository(&self, owner: &str, name: &str) -> Result<Repo, ForgeError> {
        let asked = unlisted_repo(owner, name);
        let what = format!("the repository {}", asked.full_name());
        let found: wire::Repository = self.api.get_json(&asked, "", what).await?;
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
                message: "the account cannot push to the repository".to_owned(),
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

/// A repository of which only the name is known, for a client without installations.
fn unlisted_repo(owner: &str, name: &str) -> Repo {
    Repo {
        installation: 0,
        id: 0,
        owner: owner.to_owned(),
        name: name.to_owned(),
    }
}

impl fmt::Debug for ApiClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiClient")
            .field("api_url", &self.api_url.as_str())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for GitHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitHub")
            .field("api", &self.api)
            .finish_non_exhaustive()
    }
}
