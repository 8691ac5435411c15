//! GitHub behind [`Forge`](crate::engine::forge::Forge): a GitHub App's REST client for many installations.
//!
//! Every request is sent once. What happens around it is ours, not octocrab's: tokens minted in single flight
//! (`auth`), one write lane and one budget per installation (`limit`), pages and redirects that never leave the
//! configured host (`call`, `link`), and an error that says whether anything can have happened (`answer`).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use secrecy::SecretString;
use url::Url;

use super::redact::Redactor;
use crate::engine::clock::Clock;
use crate::engine::forge::ForgeError;

mod answer;
mod attachments;
mod auth;
mod call;
mod files;
mod limit;
mod link;
mod operations;
#[cfg(test)]
mod tests;
mod transport;
mod wire;
mod writes;

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
            download_timeout: Duration::from_mins(2),
            redirect_hosts: attachments::REDIRECT_HOSTS.map(str::to_owned).into(),
            user_agent: concat!("planwright/", env!("CARGO_PKG_VERSION")).to_owned(),
            redactor: Redactor::default(),
        }
    }
}

/// Why there can be no client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitHubError {
    /// The key cannot be read or does not sign.
    #[error(
        "the App's private key (github.private_key) is not an RSA private key in PEM form; \
         it begins with a line -----BEGIN RSA PRIVATE KEY----- and has real line breaks"
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
    /// TLS cannot start.
    #[error("no TLS connection can be made: {0}; are the system's CA certificates installed?")]
    Tls(String),
}

/// Who this App is on GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppIdentity {
    /// Numeric App id.
    pub app_id: u64,
    /// Slug, as in `https://github.com/apps/<slug>`.
    pub slug: String,
    /// Login of its bot account: `<slug>[bot]`.
    pub login: String,
}

/// The client. Share it in an `Arc`: tokens, lanes and budgets are kept inside.
pub struct GitHub {
    api_url: Url,
    app_slug: Option<String>,
    gaps: limit::Gaps,
    redactor: Redactor,
    clock: Arc<dyn Clock>,
    app: auth::AppKey,
    transport: transport::Transport,
    attachments: attachments::Attachments,
    download_timeout: Duration,
    identity: tokio::sync::OnceCell<AppIdentity>,
    installations: Mutex<HashMap<u64, Arc<auth::Installation>>>,
}

impl GitHub {
    /// Checks the settings; asks GitHub nothing. Must be called inside a Tokio runtime.
    pub fn new(config: GitHubConfig, clock: Arc<dyn Clock>) -> Result<Self, GitHubError> {
        let bad_url = |why: &str| GitHubError::ApiUrl {
            // Without a password that somebody may have put there.
            url: super::redact::redact(config.api_url.as_str()).into_owned(),
            why: why.to_owned(),
        };
        if !matches!(config.api_url.scheme(), "http" | "https") {
            return Err(bad_url("it is neither http nor https"));
        }
        if !config.api_url.username().is_empty() || config.api_url.password().is_some() {
            return Err(bad_url("it holds a user name or password"));
        }
        if config.api_url.query().is_some() || config.api_url.fragment().is_some() {
            return Err(bad_url("it holds a query or a fragment"));
        }
        if http::HeaderValue::from_str(&config.user_agent).is_err() {
            return Err(GitHubError::UserAgent);
        }
        Ok(Self {
            app: auth::AppKey::new(&config)?,
            transport: transport::Transport::new(&config)?,
            attachments: attachments::Attachments::new(&config)?,
            download_timeout: config.download_timeout,
            api_url: config.api_url,
            app_slug: config.app_slug,
            gaps: limit::Gaps {
                write: config.write_gap,
                notify: config.notify_gap,
            },
            redactor: config.redactor,
            clock,
            identity: tokio::sync::OnceCell::new(),
            installations: Mutex::default(),
        })
    }

    /// Who this App is. Asked once (`GET /app`), unless the slug is configured.
    pub async fn identity(&self) -> Result<AppIdentity, ForgeError> {
        self.identity
            .get_or_try_init(|| async {
                let (app_id, slug) = if let Some(slug) = &self.app_slug {
                    (self.app.id, slug.clone())
                } else {
                    let app = self.ask_for_app().await?;
                    (app.id, app.slug)
                };
                let login = format!("{slug}[bot]");
                Ok(AppIdentity {
                    app_id,
                    slug,
                    login,
                })
            })
            .await
            .cloned()
    }

    async fn ask_for_app(&self) -> Result<wire::App, ForgeError> {
        let request = transport::Request {
            method: http::Method::GET,
            path: self.path("/app"),
            body: None,
            form: transport::Form::Json,
            what: "the App itself".to_owned(),
        };
        let answer = self.as_app(&request).await?;
        answer::judge(&answer, &request)?;
        answer::read(&answer, &request)
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
            .field("app_id", &self.app.id)
            .finish_non_exhaustive()
    }
}
