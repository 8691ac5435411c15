//! Credentials: the App's JWT, and the access tokens of its installations, each minted in single
//! flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use http::{Method, StatusCode};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use octocrab::Octocrab;
use secrecy::ExposeSecret;

use super::client::{ApiClient, class};
use super::limit::{self, RateLimit, WriteLane};
use super::response::{ErrorBody, Response, clean_message};
use super::transport::{Format, Request};
use super::{GitHubConfig, GitHubError, wire};
use crate::engine::forge::ForgeError;
use crate::engine::metrics::RequestClass;
use crate::engine::model::time::Millis;

/// How far JWTs are backdated: GitHub's clock may be a little behind ours.
const BACKDATING: Duration = Duration::from_mins(1);

/// Lifetime of a JWT. GitHub accepts at most ten minutes; one is left for clocks that differ.
const JWT_LIFETIME: Duration = Duration::from_mins(9);

/// A token is replaced this long before it expires, so that it does not expire during a request.
const REFRESH_EARLY: Duration = Duration::from_mins(5);

/// Age up to which a token may not be known everywhere at GitHub, so that a 401 is worth another
/// try.
const YOUNG_TOKEN: Duration = Duration::from_mins(1);

/// Pauses before these tries.
const YOUNG_TOKEN_RETRIES: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(3),
];

/// The App's key.
pub(super) struct AppKey {
    /// App id.
    pub(super) id: u64,
    key: EncodingKey,
    /// GitHub's time minus ours, in milliseconds, once GitHub has rejected a JWT for its times.
    skew: AtomicI64,
    rate_limit: RateLimit,
}

#[derive(serde::Serialize)]
struct Claims {
    iat: i64,
    exp: i64,
    iss: String,
}

impl AppKey {
    /// Signs once, so that a bad key is an error at the start rather than at the first command.
    pub(super) fn new(config: &GitHubConfig) -> Result<Self, GitHubError> {
        let pem = config.private_key.expose_secret();
        let app = Self {
            id: config.app_id,
            key: EncodingKey::from_rsa_pem(pem.as_bytes()).map_err(|_| GitHubError::PrivateKey)?,
            skew: AtomicI64::new(0),
            rate_limit: RateLimit::default(),
        };
        app.jwt(Millis::default())
            .map_err(|_| GitHubError::PrivateKey)?;
        Ok(app)
    }

    /// Returns GitHub's time, as far as known, when our clock shows `now`.
    fn github_time(&self, now: Millis) -> Millis {
        Millis(now.0.saturating_add(self.skew.load(Ordering::Relaxed)))
    }

    fn jwt(&self, now: Millis) -> Result<String, jsonwebtoken::errors::Error> {
        let issued = self.github_time(now).minus(BACKDATING);
        let claims = Claims {
            iat: issued.0 / 1000,
            exp: issued.plus(JWT_LIFETIME).0 / 1000,
            iss: self.id.to_string(),
        };
        jsonwebtoken::encode(&Header::new(Algorithm::RS256), &claims, &self.key)
    }

    /// Takes GitHub's time from the `Date` header. Returns false if there is none.
    fn learn_skew(&self, response: &Response, now: Millis) -> bool {
        let Some(date) = limit::date(response) else {
            return false;
        };
        let skew = date.0.saturating_sub(now.0);
        tracing::warn!(
            skew_ms = skew,
            "GitHub's clock differs from this machine's; using GitHub's"
        );
        self.skew.store(skew, Ordering::Relaxed);
        true
    }
}

/// The credentials that requests are sent with.
pub(super) enum Credentials {
    /// The App, which mints a token for each installation.
    App(Box<AppKey>),
    /// A person's token, as a client that sends it.
    Person(Box<Octocrab>),
    /// None: public data only.
    Anonymous,
}

/// The state of one installation.
#[derive(Default)]
pub(super) struct Installation {
    /// Installation id.
    pub(super) id: u64,
    token: tokio::sync::Mutex<TokenSlot>,
    /// Number of finished mints, successful or not.
    mints: AtomicU64,
    pub(super) lane: WriteLane,
    pub(super) rate_limit: RateLimit,
}

#[derive(Default)]
struct TokenSlot {
    token: Option<Token>,
    /// The error of the last mint, for callers that waited for it.
    failed: Option<ForgeError>,
}

/// A token, as a client that sends it.
#[derive(Clone)]
struct Token {
    client: Arc<Octocrab>,
    number: u64,
    minted: Millis,
    expires: Millis,
}

impl Installation {
    pub(super) fn new(id: u64) -> Self {
        Self {
            id,
            ..Self::default()
        }
    }
}

impl ApiClient {
    /// Sends a request with the installation's token. A 401 means that nothing was done, so it is
    /// safe to try again: a few times with a young token, once with a new token after an old one.
    pub(super) async fn send_as_app(
        &self,
        key: &AppKey,
        installation: &Installation,
        request: &Request,
        path: &str,
    ) -> Result<Response, ForgeError> {
        let mut retries = YOUNG_TOKEN_RETRIES.iter();
        let mut renewed = false;
        loop {
            let now = self.clock.now();
            installation.rate_limit.check(&request.what, now)?;
            let token = self.token(key, installation).await?;
            let response = self
                .send_with(&token.client, request, path, class(request))
                .await?;
            if response.status != StatusCode::UNAUTHORIZED {
                return Ok(response);
            }
            if self.clock.now().since(token.minted) < YOUNG_TOKEN {
                match retries.next() {
                    Some(pause) => self.clock.sleep(*pause).await,
                    None => return Ok(response),
                }
            } else if renewed {
                return Ok(response);
            } else {
                renewed = true;
                let mut slot = installation.token.lock().await;
                slot.token.take_if(|held| held.number == token.number);
            }
        }
    }

    async fn token(&self, key: &AppKey, installation: &Installation) -> Result<Token, ForgeError> {
        let seen = installation.mints.load(Ordering::Acquire);
        // Held across the mint: other callers wait here and find the result.
        let mut slot = installation.token.lock().await;
        let now = key.github_time(self.clock.now());
        if let Some(token) = &slot.token
            && now.plus(REFRESH_EARLY) < token.expires
        {
            return Ok(token.clone());
        }
        let ended = installation.mints.load(Ordering::Acquire);
        if let Some(failed) = slot.failed.as_ref().filter(|_| ended != seen) {
            return Err(failed.clone());
        }
        let outcome = self.mint(key, installation.id, ended).await;
        installation.mints.fetch_add(1, Ordering::Release);
        slot.failed = outcome.as_ref().err().cloned();
        slot.token = outcome.as_ref().ok().cloned();
        outcome
    }

    async fn mint(
        &self,
        key: &AppKey,
        installation: u64,
        number: u64,
    ) -> Result<Token, ForgeError> {
        let request = Request {
            method: Method::POST,
            path: self.path(&format!("/app/installations/{installation}/access_tokens")),
            body: None,
            unless: None,
            format: Format::Json,
            what: format!("an access token of installation {installation}"),
        };
        let response = self.call_as_app(key, &request).await?;
        if matches!(
            response.status,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND
        ) {
            return Err(ForgeError::Unauthorized {
                what: request.what,
                message: format!(
                    "{} {}; is the App still installed and not suspended, and do app id and private key belong together?",
                    response.status.as_u16(),
                    clean_message(&ErrorBody::of(&response).message)
                ),
            });
        }
        let token: wire::AccessToken = response
            .error_for_status()
            .and_then(|response| response.json())
            .map_err(not_done)?;
        let client = self
            .transport
            .with_token(token.token.expose_secret())
            .map_err(|_| ForgeError::Unreadable {
                what: request.what,
                message: "field `token` is not usable".to_owned(),
            })?;
        Ok(Token {
            client: Arc::new(client),
            number,
            minted: self.clock.now(),
            expires: token.expires_at.into(),
        })
    }

    /// Sends a request as the App itself (JWT). If GitHub rejects the JWT for its times, GitHub's
    /// `Date` is adopted, once.
    ///
    /// The request precedes the operation's own request, so that an error means that nothing was
    /// done.
    pub(super) async fn call_as_app(
        &self,
        key: &AppKey,
        request: &Request,
    ) -> Result<Response, ForgeError> {
        let mut corrected = false;
        loop {
            let now = self.clock.now();
            key.rate_limit.check(&request.what, now)?;
            let unsigned = || ForgeError::Unauthorized {
                what: request.what.clone(),
                message: "the private key cannot sign".to_owned(),
            };
            let jwt = key.jwt(now).map_err(|_| unsigned())?;
            let client = self.transport.with_token(&jwt).map_err(|_| unsigned())?;
            let response = self
                .send_with(&client, request, &request.path, RequestClass::App)
                .await
                .map_err(not_done)?;
            self.check_rate_limit(&key.rate_limit, &response)?;
            if response.status == StatusCode::UNAUTHORIZED && !corrected {
                corrected = true;
                let message = ErrorBody::of(&response).message;
                let about_time = message.contains("'exp'") || message.contains("'iat'");
                if about_time && key.learn_skew(&response, self.clock.now()) {
                    continue;
                }
            }
            return Ok(response);
        }
    }
}

/// Converts the unknown outcome of a preparing request: the operation itself was not done.
fn not_done(error: ForgeError) -> ForgeError {
    match error {
        ForgeError::Unknown { what, message } => ForgeError::Unreachable { what, message },
        other => other,
    }
}
