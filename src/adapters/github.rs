//! GitHub behind [`Forge`](crate::engine::forge::Forge): a GitHub App's REST client for many installations.
//!
//! Every request is sent once. What happens around it is ours, not octocrab's: tokens minted in single flight
//! (`auth`), one write lane and one budget per installation (`limit`), pages and redirects that never leave the
//! configured host (`call`, `link`), and an error that says whether anything can have happened (`answer`). A person who
//! only wants to read comes the same way, with a token of their own or without ([`Reader`]).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use super::redact::Redactor;
use crate::engine::clock::Clock;

mod answer;
mod attachments;
mod auth;
mod call;
mod checks;
mod files;
mod limit;
mod link;
mod operations;
mod own;
mod person;
mod pulls;
mod reader;
#[cfg(test)]
mod tests;
mod thread;
mod transport;
mod trees;
mod wire;
mod writes;

pub use person::PersonConfig;
pub use reader::{Entry, Listed, Reader, ReaderConfig, Wanted};

/// `User-Agent`, which GitHub requires, where the caller does not name another.
const USER_AGENT: &str = concat!("planwright/", env!("CARGO_PKG_VERSION"));

/// How to reach GitHub, and as whom.
#[derive(Debug, Clone)]
pub struct GitHubConfig {
    /// Base of the REST API: `https://api.github.com`, or `https://HOST/api/v3` on GitHub Enterprise Server.
    pub api_url: Url,
    /// The App's numeric id.
    pub app_id: u64,
    /// The App's private key: RSA, PEM.
    pub private_key: SecretString,
    /// The App's slug where it is known; else GitHub is asked once.
    pub app_slug: Option<String>,
    /// Least time from the start of one write to the start of the next, per installation. Zero turns it off.
    pub write_gap: Duration,
    /// The same between writes that notify people (new issues, new comments).
    pub notify_gap: Duration,
    /// Longest time for one request; half of it for making the connection.
    pub request_timeout: Duration,
    /// Longest time for one file: all of it, redirects included.
    pub download_timeout: Duration,
    /// Where the download of an attachment may be sent on to, besides the host of GitHub's pages: names, or `*.` and the
    /// end of names.
    pub redirect_hosts: Vec<String>,
    /// `User-Agent`, which GitHub requires.
    pub user_agent: String,
    /// Cleans every title and body before it is posted.
    pub redactor: Redactor,
}

impl GitHubConfig {
    /// The defaults for github.com: one second between writes, three between notifying ones, ten seconds for a request
    /// (GitHub itself gives up after ten).
    pub fn new(api_url: Url, app_id: u64, private_key: SecretString) -> Self {
        Self {
            api_url,
            app_id,
            private_key,
            app_slug: None,
            write_gap: limit::WRITE_GAP,
            notify_gap: limit::NOTIFY_GAP,
            request_timeout: Duration::from_secs(10),
            download_timeout: attachments::TIMEOUT,
            redirect_hosts: attachments::REDIRECT_HOSTS.map(str::to_owned).into(),
            user_agent: USER_AGENT.to_owned(),
            redactor: Redactor::default(),
        }
    }
}

/// Why there can be no client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitHubError {
    /// The key cannot be read or does not sign.
    #[error(
        "the App's private key (github.private_key) is not an RSA private key in PEM form, \
         whose first line is -----BEGIN RSA PRIVATE KEY----- and which has real line breaks"
    )]
    PrivateKey,
    /// The address cannot be a base.
    #[error(
        "the API address {url} (github.api_url) cannot be used: {why}; it looks like https://api.github.com or https://HOST/api/v3"
    )]
    ApiUrl {
        /// The address.
        url: String,
        /// Why.
        why: String,
    },
    /// The user agent cannot be a header.
    #[error("the user agent (github.user_agent) may only hold printable ASCII characters")]
    UserAgent,
    /// A person's token cannot be a header.
    #[error(
        "the token holds characters that no GitHub token has; is there a line end or a quote in it?"
    )]
    Token,
    /// TLS cannot start.
    #[error("no TLS connection can be made: {0}; are the system's CA certificates installed?")]
    Tls(String),
}

/// The client. Share it in an `Arc`: tokens, lanes and budgets are kept inside.
pub struct GitHub {
    api_url: Url,
    gaps: limit::Gaps,
    redactor: Redactor,
    clock: Arc<dyn Clock>,
    credentials: auth::Credentials,
    transport: transport::Transport,
    attachments: attachments::Attachments,
    download_timeout: Duration,
    own: tokio::sync::OnceCell<own::Own>,
    installations: Mutex<HashMap<u64, Arc<auth::Installation>>>,
}

impl GitHub {
    /// Checks the settings; asks GitHub nothing. Must be called inside a Tokio runtime.
    pub fn new(config: GitHubConfig, clock: Arc<dyn Clock>) -> Result<Self, GitHubError> {
        let transport =
            transport::Transport::new(&config.api_url, config.request_timeout, &config.user_agent)?;
        Ok(Self {
            attachments: attachments::Attachments::new(
                &transport,
                &config.api_url,
                &config.redirect_hosts,
            ),
            download_timeout: config.download_timeout,
            transport,
            credentials: auth::Credentials::App {
                key: Box::new(auth::AppKey::new(&config)?),
                slug: config.app_slug,
            },
            api_url: config.api_url,
            gaps: limit::Gaps {
                write: config.write_gap,
                notify: config.notify_gap,
            },
            redactor: config.redactor,
            clock,
            own: tokio::sync::OnceCell::new(),
            installations: Mutex::default(),
        })
    }

    fn installation(&self, id: u64) -> Arc<auth::Installation> {
        let mut installations = self
            .installations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Arc::clone(
            installations
                .entry(id)
                .or_insert_with(|| Arc::new(auth::Installation::new(id))),
        )
    }
}

impl fmt::Debug for GitHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitHub")
            .field("api_url", &self.api_url.as_str())
            .finish_non_exhaustive()
    }
}
