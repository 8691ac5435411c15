//! What GitHub has registered about the App: its settings, its webhook and its installations.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use http::StatusCode;
use serde::Deserialize;
use serde_json::Value;

use super::client::PER_PAGE;
use super::transport::Request;
use super::{GitHub, wire};
use crate::engine::forge::ForgeError;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Repo;

/// The App as registered.
#[derive(Debug, Clone, Deserialize)]
pub struct RegisteredApp {
    /// Id.
    pub id: u64,
    /// Slug, as in `https://github.com/apps/<slug>`.
    pub slug: String,
    /// Public page, below which it can be installed.
    pub html_url: String,
    /// Permissions that it asks for: name and access.
    #[serde(default)]
    pub permissions: BTreeMap<String, String>,
    /// Events that it is subscribed to.
    #[serde(default)]
    pub events: Vec<String>,
}

/// An installation of the App.
#[derive(Debug, Clone, Deserialize)]
pub struct InstalledApp {
    /// Id.
    pub id: u64,
    account: Option<Account>,
    /// Page where its owner manages it.
    #[serde(default)]
    pub html_url: String,
    /// Permissions that its owner has accepted: name and access.
    #[serde(default)]
    pub permissions: BTreeMap<String, String>,
    /// Events that its owner has accepted.
    #[serde(default)]
    pub events: Vec<String>,
    /// Time of the installation.
    pub created_at: Option<DateTime<Utc>>,
    #[serde(default)]
    suspended_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Deserialize)]
struct Account {
    #[serde(default)]
    login: Option<String>,
    /// Enterprises have no login.
    #[serde(default)]
    slug: Option<String>,
}

impl InstalledApp {
    /// Returns the login or slug of the account that it belongs to.
    pub fn account(&self) -> &str {
        let account = self.account.as_ref();
        let name = account.and_then(|account| account.login.as_ref().or(account.slug.as_ref()));
        name.map_or("a deleted account", String::as_str)
    }

    /// Returns whether it is suspended.
    pub fn is_suspended(&self) -> bool {
        self.suspended_at.is_some()
    }
}

/// Number of requests that an installation may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestsLeft {
    /// Maximum number within an hour.
    pub limit: u64,
    /// Number that is left.
    pub remaining: u64,
    /// End of the hour.
    pub reset: Millis,
}

/// The App's webhook as configured on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct HookConfig {
    /// Where deliveries are sent.
    #[serde(default)]
    pub url: Option<String>,
    /// `json` or `form`.
    #[serde(default)]
    pub content_type: Option<String>,
    /// `"1"` or 1 if certificates are not verified.
    #[serde(default)]
    insecure_ssl: Value,
    /// Masked.
    #[serde(default)]
    secret: Option<String>,
}

impl HookConfig {
    /// Returns whether GitHub verifies the certificate of the URL.
    pub fn verifies_certificate(&self) -> bool {
        !(self.insecure_ssl == "1" || self.insecure_ssl == 1)
    }

    /// Returns whether deliveries are signed.
    pub fn has_secret(&self) -> bool {
        self.secret
            .as_ref()
            .is_some_and(|secret| !secret.is_empty())
    }
}

/// An attempt at a delivery, from GitHub's log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Attempt {
    /// GUID of the delivery, the same for all its attempts.
    pub guid: String,
    /// Time of the attempt.
    pub delivered_at: DateTime<Utc>,
    /// Status with which it was answered; GitHub's own 502 or 504 if it was not.
    #[serde(default)]
    pub status_code: i64,
    /// The status in words, such as `OK` or `failed to connect to host`.
    #[serde(default)]
    pub status: String,
}

#[derive(Debug, Deserialize)]
struct Count {
    total_count: u64,
}

#[derive(Debug, Deserialize)]
struct RateLimits {
    rate: Rate,
}

#[derive(Debug, Deserialize)]
struct Rate {
    limit: u64,
    remaining: u64,
    reset: i64,
}

impl GitHub {
    /// Returns the App as registered (`GET /app`).
    ///
    /// # Errors
    /// GitHub did not return the App, or not the one with the configured id.
    pub async fn registered_app(&self) -> Result<RegisteredApp, ForgeError> {
        let key = self.app_key()?;
        let request = Request::get(self.api.path("/app"), "the App itself".to_owned());
        let response = self.api.call_as_app(key, &request).await?;
        let response = response.error_for_status()?;
        let app: RegisteredApp = response.json()?;
        if app.id != key.id {
            return Err(response.unreadable(format!("it is about App {}", app.id)));
        }
        Ok(app)
    }

    /// Returns all installations of the App, including those that are suspended.
    ///
    /// # Errors
    /// GitHub did not return them.
    pub async fn installations(&self) -> Result<Vec<InstalledApp>, ForgeError> {
        let mut found = Vec::new();
        let mut page = Some(
            self.api
                .path(&format!("/app/installations?per_page={PER_PAGE}")),
        );
        while let Some(path) = page {
            let request = Request::get(path, "the App's installations".to_owned());
            let response = self.api.call_as_app(self.app_key()?, &request).await?;
            let response = response.error_for_status()?;
            found.extend(response.json::<Vec<InstalledApp>>()?);
            page = self.next_page(&request.path, &response)?;
        }
        Ok(found)
    }

    /// Returns the number of repositories of an installation.
    ///
    /// # Errors
    /// GitHub did not return it.
    pub async fn repository_count(&self, installation: u64) -> Result<u64, ForgeError> {
        let path = self.api.path("/installation/repositories?per_page=1");
        let what = format!("the repositories of installation {installation}");
        let response = self.api.call(installation, &Request::get(path, what)).await;
        let count: Count = response?.error_for_status()?.json()?;
        Ok(count.total_count)
    }

    /// Returns how many requests an installation may still send; `None` if their number is not
    /// limited, which is possible on GitHub Enterprise Server. This request itself does not count.
    ///
    /// # Errors
    /// GitHub did not return it.
    pub async fn requests_left(
        &self,
        installation: u64,
    ) -> Result<Option<RequestsLeft>, ForgeError> {
        let what = format!("the rate limit of installation {installation}");
        let request = Request::get(self.api.path("/rate_limit"), what);
        let response = self.api.call(installation, &request).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let RateLimits { rate } = response.error_for_status()?.json()?;
        Ok(Some(RequestsLeft {
            limit: rate.limit,
            remaining: rate.remaining,
            reset: Millis(rate.reset.saturating_mul(1000)),
        }))
    }

    /// Returns the configuration of the App's webhook; `None` if it has none.
    ///
    /// # Errors
    /// GitHub did not return it.
    pub async fn hook_config(&self) -> Result<Option<HookConfig>, ForgeError> {
        let what = "the configuration of the App's webhook".to_owned();
        let request = Request::get(self.api.path("/app/hook/config"), what);
        let response = self.api.call_as_app(self.app_key()?, &request).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        response.error_for_status()?.json().map(Some)
    }

    /// Returns the last attempts at deliveries, at most 100, the newest first.
    ///
    /// # Errors
    /// GitHub did not return its log.
    pub async fn last_attempts(&self) -> Result<Vec<Attempt>, ForgeError> {
        let path = format!("/app/hook/deliveries?per_page={PER_PAGE}");
        let what = "the App's delivery log".to_owned();
        let request = Request::get(self.api.path(&path), what);
        let response = self.api.call_as_app(self.app_key()?, &request).await?;
        response.error_for_status()?.json()
    }

    /// Returns why the App cannot write in a repository where it is installed; `None` if it can.
    ///
    /// # Errors
    /// GitHub did not return the repository.
    pub async fn unwritable(&self, repo: &Repo) -> Result<Option<&'static str>, ForgeError> {
        let what = format!("the repository {}", repo.full_name());
        let found: wire::Repository = self.api.get_json(repo, "", what).await?;
        Ok(if found.archived {
            Some("it is archived")
        } else if !found.has_issues {
            Some("issues are disabled in its settings")
        } else {
            None
        })
    }
}
