//! Credentials: the App's JWT, and one installation's access token, minted in single flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use http::{Method, StatusCode};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use octocrab::Octocrab;
use secrecy::ExposeSecret;

use super::answer::{self, Complaint, tidy};
use super::limit::{self, Budget, Lane};
use super::transport::{Answer, Form, Request};
use super::{GitHub, GitHubConfig, GitHubError, wire};
use crate::engine::forge::ForgeError;
use crate::engine::model::time::Millis;

/// GitHub's clock may be a little behind ours.
const BACKDATED: Duration = Duration::from_mins(1);

/// GitHub takes at most ten minutes; one is left for clocks that differ.
const JWT_LIFE: Duration = Duration::from_mins(9);

/// A token is replaced this long before it expires, so that no request starts with one that ends on the way.
const REFRESH_EARLY: Duration = Duration::from_mins(5);

/// A token younger than this may not be known everywhere at GitHub yet: its 401 is worth another try.
const YOUNG: Duration = Duration::from_mins(1);

/// Pauses before those tries.
const PATIENCE: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(3),
];

/// The App's key.
pub(super) struct AppKey {
    /// App id.
    pub(super) id: u64,
    key: EncodingKey,
    /// GitHub's time minus ours, in milliseconds, once GitHub complained.
    skew: AtomicI64,
    pub(super) budget: Budget,
}

#[derive(serde::Serialize)]
struct Claims {
    iat: i64,
    exp: i64,
    iss: String,
}

impl AppKey {
    /// Signs once, so that a bad key is an error at the start and not at the first command.
    pub(super) fn new(config: &GitHubConfig) -> Result<Self, GitHubError> {
        let pem = config.private_key.expose_secret();
        let app = Self {
            id: config.app_id,
            key: EncodingKey::from_rsa_pem(pem.as_bytes()).map_err(|_| GitHubError::PrivateKey)?,
            skew: AtomicI64::new(0),
            budget: Budget::default(),
        };
        app.jwt(Millis::default())
            .map_err(|_| GitHubError::PrivateKey)?;
        Ok(app)
    }

    /// GitHub's time, as far as it is known, when our clock says `now`.
    fn github_time(&self, now: Millis) -> Millis {
        Millis(now.0.saturating_add(self.skew.load(Ordering::Relaxed)))
    }

    fn jwt(&self, now: Millis) -> Result<String, jsonwebtoken::errors::Error> {
        let issued = self.github_time(now).minus(BACKDATED);
        let claims = Claims {
            iat: issued.0 / 1000,
            exp: issued.plus(JWT_LIFE).0 / 1000,
            iss: self.id.to_string(),
        };
        jsonwebtoken::encode(&Header::new(Algorithm::RS256), &claims, &self.key)
    }

    /// Takes GitHub's time from the `Date` header of a refusal. False when there is none.
    fn learn_skew(&self, answer: &Answer, now: Millis) -> bool {
        let Some(date) = limit::date(answer) else {
            return false;
        };
        let skew = date.0.saturating_sub(now.0);
        tracing::warn!(
            skew_ms = skew,
            "GitHub's clock differs from this machine's; going by GitHub's"
        );
        self.skew.store(skew, Ordering::Relaxed);
        true
    }
}

/// As whom requests are sent.
pub(super) enum Credentials {
    /// The App, which mints a token for each installation.
    App {
        key: Box<AppKey>,
        /// Its slug, where it is known.
        slug: Option<String>,
    },
    /// A person, whose token the client carries.
    Person(Box<Octocrab>),
}

/// What is kept for one installation.
#[derive(Default)]
pub(super) struct Installation {
    /// Installation id.
    pub(super) id: u64,
    token: tokio::sync::Mutex<Slot>,
    /// Mints that have ended, well or not.
    mints: AtomicU64,
    pub(super) lane: Lane,
    pub(super) budget: Budget,
}

#[derive(Default)]
struct Slot {
    token: Option<Token>,
    /// How the last mint failed, for those who waited for it.
    failed: Option<ForgeError>,
}

/// A token in use: the client that carries it.
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

impl GitHub {
    /// Sends a request with the installation's (or the person's) token and gives its answer, whatever that is. A 401 means that nothing
    /// was done, so it is safe to ask again: a few times with a young token, once with a new token after an old one.
    pub(super) async fn authorised(
        &self,
        installation: &Installation,
        request: &Request,
        path: &str,
    ) -> Result<Answer, ForgeError> {
        let key = match &self.credentials {
            Credentials::App { key, .. } => key,
            Credentials::Person(client) => {
                installation.budget.check(&request.what, self.clock.now())?;
                let answer = self
                    .transport
                    .send(client, request, path)
                    .await
                    .map_err(|lost| answer::lost(lost, request))?;
                let now = self.clock.now();
                if let Some(date) = limit::date(&answer) {
                    self.skew
                        .store(date.0.saturating_sub(now.0), Ordering::Relaxed);
                }
                return Ok(answer);
            }
        };
        let mut patience = PATIENCE.iter();
        let mut renewed = false;
        loop {
            installation.budget.check(&request.what, self.clock.now())?;
            let token = self.token(key, installation).await?;
            let answer = self
                .transport
                .send(&token.client, request, path)
                .await
                .map_err(|lost| answer::lost(lost, request))?;
            if answer.status != StatusCode::UNAUTHORIZED {
                return Ok(answer);
            }
            if self.clock.now().since(token.minted) < YOUNG {
                match patience.next() {
                    Some(pause) => self.clock.sleep(*pause).await,
                    None => return Ok(answer),
                }
            } else if renewed {
                return Ok(answer);
            } else {
                renewed = true;
                let mut slot = installation.token.lock().await;
                if slot
                    .token
                    .as_ref()
                    .is_some_and(|held| held.number == token.number)
                {
                    slot.token = None;
                }
            }
        }
    }

    async fn token(&self, key: &AppKey, installation: &Installation) -> Result<Token, ForgeError> {
        let seen = installation.mints.load(Ordering::Acquire);
        // Held across the mint: whoever comes meanwhile waits here and finds the result.
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
            form: Form::Json,
            what: format!("an access token of installation {installation}"),
        };
        let answer = self.as_app(key, &request).await?;
        if matches!(
            answer.status,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND
        ) {
            return Err(ForgeError::Unauthorized {
                what: request.what,
                message: format!(
                    "{} {}; is the App still installed and not suspended, and do app id and private key belong together?",
                    answer.status.as_u16(),
                    tidy(&Complaint::of(&answer).message)
                ),
            });
        }
        answer::judge(&answer, &request).map_err(before_the_request)?;
        let token: wire::AccessToken =
            answer::read(&answer, &request).map_err(before_the_request)?;
        let client = self
            .transport
            .client(token.token.expose_secret())
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

    /// Sends a request as the App itself (JWT). When GitHub says that our clock is off, its `Date` is taken, once.
    ///
    /// An error here comes before the operation's own request: nothing was done, whatever became of this one.
    pub(super) async fn as_app(
        &self,
        key: &AppKey,
        request: &Request,
    ) -> Result<Answer, ForgeError> {
        let mut corrected = false;
        loop {
            let now = self.clock.now();
            key.budget.check(&request.what, now)?;
            let unsigned = || ForgeError::Unauthorized {
                what: request.what.clone(),
                message: "the private key does not sign".to_owned(),
            };
            let jwt = key.jwt(now).map_err(|_| unsigned())?;
            let client = self.transport.client(&jwt).map_err(|_| unsigned())?;
            let answer = self
                .transport
                .send(&client, request, &request.path)
                .await
                .map_err(|lost| before_the_request(answer::lost(lost, request)))?;
            if let Some(until) = self.limit(&key.budget, &answer) {
                return Err(ForgeError::Limited {
                    what: request.what.clone(),
                    until,
                });
            }
            if answer.status == StatusCode::UNAUTHORIZED && !corrected {
                corrected = true;
                let message = Complaint::of(&answer).message;
                let about_time = message.contains("'exp'") || message.contains("'iat'");
                if about_time && key.learn_skew(&answer, self.clock.now()) {
                    continue;
                }
            }
            return Ok(answer);
        }
    }
}

/// A lost or broken answer to a preparing request leaves the operation itself undone.
fn before_the_request(error: ForgeError) -> ForgeError {
    match error {
        ForgeError::Unknown { what, message } => ForgeError::Unreachable { what, message },
        other => other,
    }
}
