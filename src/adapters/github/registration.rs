//! The exchange of the code of a new App for its credentials.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

use super::auth::Credentials;
use super::client::ApiClient;
use super::limit::WriteGaps;
use super::transport::{Format, Request, Transport};
use super::wire::{optional_secret, secret};
use super::{GitHubError, USER_AGENT, link};
use crate::engine::clock::Clock;
use crate::engine::forge::ForgeError;

/// Time limit for the exchange: GitHub generates a key for it.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A new App and its credentials, which GitHub shows once. No `Debug`: it holds secrets.
#[derive(Deserialize)]
pub struct NewApp {
    /// App id.
    pub id: u64,
    /// Slug, as in `https://github.com/apps/<slug>`.
    pub slug: String,
    /// The page of the App, below which it is installed.
    pub html_url: Url,
    /// The private key.
    #[serde(deserialize_with = "secret")]
    pub pem: SecretString,
    /// The secret that GitHub signs webhooks with, if it made one.
    #[serde(default, deserialize_with = "optional_secret")]
    pub webhook_secret: Option<SecretString>,
}

/// Exchanges the `code` of a new App for its credentials: `POST /app-manifests/{code}/conversions`.
/// A code can be used once, within an hour. Must be called inside a Tokio runtime.
///
/// # Errors
/// The address cannot be used, or GitHub did not return the App. The code is in no message.
pub async fn exchange_code(
    api_url: &Url,
    code: &str,
    clock: Arc<dyn Clock>,
) -> Result<NewApp, RegistrationError> {
    let transport = Transport::new(api_url, TIMEOUT, USER_AGENT)?;
    let gaps = WriteGaps {
        write: Duration::ZERO,
        notify: Duration::ZERO,
    };
    let credentials = Credentials::Anonymous;
    let api = ApiClient::new(api_url.clone(), transport, credentials, gaps, clock);
    let code = link::encode(code);
    let request = Request {
        method: Method::POST,
        path: api.path(&format!("/app-manifests/{code}/conversions")),
        body: None,
        unless: None,
        format: Format::Json,
        what: "the credentials of the new App".to_owned(),
    };
    let response = api.call(0, &request).await?;
    if matches!(
        response.status,
        StatusCode::NOT_FOUND | StatusCode::UNPROCESSABLE_ENTITY
    ) {
        return Err(RegistrationError::Code);
    }
    Ok(response.error_for_status()?.json()?)
}

/// The reason why the credentials of a new App were not received.
#[derive(Debug, thiserror::Error)]
pub enum RegistrationError {
    /// The code is unknown, too old, or was used before.
    #[error(
        "GitHub does not know the code: it is more than an hour old, or was used before; if the App exists, delete it on \
         its settings page (or generate a private key there), and begin again"
    )]
    Code,
    /// The address of the API cannot be used.
    #[error(transparent)]
    Settings(#[from] GitHubError),
    /// The request failed.
    #[error(transparent)]
    Request(#[from] ForgeError),
}
