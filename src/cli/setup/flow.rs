//! The way from the first page to the installed App: what a browser may do in which order.
//!
//! Whoever opens the pages needs the one-time code, which a cookie then stands for. GitHub's
//! redirect must bring back the `state` that only the page with the form contained; it counts once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::extract::{Form, Query, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, LOCATION, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use maud::Markup;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use url::Url;

use super::pages;
use crate::engine::app_manifest::Manifest;

/// Path of the first page.
pub(super) const PATH: &str = "/setup";

/// Path of the page to which GitHub redirects.
pub(super) const CREATED_PATH: &str = "/setup/created";

const COOKIE_NAME: &str = "planwright_setup";

/// An App that exists, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AppFacts {
    /// App id.
    pub(super) id: u64,
    /// Slug.
    pub(super) slug: String,
    /// GitHub's page on which it is installed.
    pub(super) install_url: String,
}

/// Fetches the credentials of the App that a code stands for, and stores them.
#[async_trait]
pub(super) trait Register: Send + Sync + 'static {
    async fn register(&self, code: &str) -> Result<AppFacts, RegisterError>;
}

/// The reason why the credentials of an App are not stored, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RegisterError {
    /// The flow can begin again.
    Repeatable(String),
    /// The App exists, but its key is lost.
    Final(String),
}

/// How far the flow is.
#[derive(Debug, Clone)]
pub(super) enum Stage {
    /// The form is shown; GitHub must return this `state`.
    Form(Token),
    /// The credentials are being fetched.
    Exchanging,
    /// They are stored.
    Created(AppFacts),
    /// The App is installed.
    Installed,
    /// They are lost, for this reason.
    Lost(String),
}

/// A random value that cannot be guessed.
#[derive(Debug, Clone)]
pub(super) struct Token(SecretString);

impl Token {
    pub(super) fn new() -> Self {
        let random = uuid::Uuid::new_v4().simple().to_string();
        Self(SecretString::from(random))
    }

    pub(super) fn text(&self) -> &str {
        self.0.expose_secret()
    }

    /// Compares in constant time.
    fn is(&self, given: &str) -> bool {
        Sha256::digest(self.text()) == Sha256::digest(given)
    }
}

/// What does not change while the flow goes on.
pub(super) struct FlowOptions {
    /// Root of the address at which the browser reaches the pages.
    pub(super) root: Url,
    /// GitHub's page to which the manifest is posted.
    pub(super) github: Url,
    /// Owner of the App, for people.
    pub(super) owner: String,
    /// The App.
    pub(super) manifest: Manifest,
    /// The folder for the credentials.
    pub(super) folder: PathBuf,
    /// The configuration that is written to it.
    pub(super) config: PathBuf,
    /// Whether the bot starts by itself after the setup.
    pub(super) starts_bot: bool,
}

/// The state of the setup, shared by its pages and the command.
pub(super) struct Flow {
    options: FlowOptions,
    code: Token,
    session: Token,
    stage: watch::Sender<Stage>,
    /// Set once the last page was shown.
    seen: watch::Sender<bool>,
    register: Arc<dyn Register>,
}

impl Flow {
    pub(super) fn new(options: FlowOptions, register: Arc<dyn Register>) -> Self {
        Self {
            options,
            code: Token::new(),
            session: Token::new(),
            stage: watch::Sender::new(Stage::Form(Token::new())),
            seen: watch::Sender::new(false),
            register,
        }
    }

    /// Returns the address of the first page.
    pub(super) fn address(&self) -> String {
        let root = self.options.root.as_str().trim_end_matches('/');
        format!("{root}{PATH}")
    }

    /// Returns the code without which the pages show nothing.
    pub(super) fn code(&self) -> &str {
        self.code.text()
    }

    /// Returns the folder for the credentials.
    pub(super) fn folder(&self) -> &Path {
        &self.options.folder
    }

    /// Returns the configuration that is written to the folder.
    pub(super) fn config(&self) -> &Path {
        &self.options.config
    }

    /// Returns the stages as they come.
    pub(super) fn stages(&self) -> watch::Receiver<Stage> {
        self.stage.subscribe()
    }

    /// Ends the flow. Returns a signal that the last page was shown.
    pub(super) fn finish(&self) -> watch::Receiver<bool> {
        self.stage.send_replace(Stage::Installed);
        self.seen.subscribe()
    }

    fn has_session(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).iter();
        cookies
            .filter_map(|header| header.to_str().ok())
            .flat_map(|header| header.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(name, value)| name == COOKIE_NAME && self.session.is(value))
    }

    /// Returns the page of the current stage.
    fn show(&self) -> Response {
        let current = self.stage.borrow().clone();
        let page = match current {
            Stage::Form(state) => {
                let mut target = self.options.github.clone();
                target.query_pairs_mut().append_pair("state", state.text());
                let manifest = serde_json::to_string(&self.options.manifest).unwrap_or_default();
                let FlowOptions { owner, folder, .. } = &self.options;
                pages::create(&target, &manifest, owner, &folder.display().to_string())
            }
            Stage::Exchanging => pages::exchanging(),
            Stage::Created(app) => pages::install(&app.slug, &app.install_url),
            Stage::Installed => {
                self.seen.send_replace(true);
                let config = self.options.config.display().to_string();
                pages::installed((!self.options.starts_bot).then_some(&*config))
            }
            Stage::Lost(why) => pages::failed(&why, None),
        };
        self.page(StatusCode::OK, &page)
    }

    fn page(&self, status: StatusCode, page: &Markup) -> Response {
        let github = self.options.github.origin().ascii_serialization();
        let policy = format!(
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self' {github}; frame-ancestors 'none'"
        );
        let mut response = (status, page.0.clone()).into_response();
        let fixed: [(HeaderName, &str); 4] = [
            (CONTENT_TYPE, "text/html; charset=utf-8"),
            (CACHE_CONTROL, "no-store"),
            (REFERRER_POLICY, "no-referrer"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ];
        for (name, value) in fixed {
            let value = HeaderValue::from_static(value);
            response.headers_mut().insert(name, value);
        }
        if let Ok(policy) = HeaderValue::from_str(&policy) {
            let headers = response.headers_mut();
            headers.insert(CONTENT_SECURITY_POLICY, policy);
        }
        response
    }

    /// Redirects to the first page, with the session's cookie.
    fn enter(&self) -> Response {
        let secure = match self.options.root.scheme() {
            "https" => "; Secure",
            _ => "",
        };
        let cookie = format!(
            "{COOKIE_NAME}={}; Path=/; HttpOnly; SameSite=Lax{secure}",
            self.session.text()
        );
        self.redirect(Some(cookie))
    }

    fn redirect(&self, cookie: Option<String>) -> Response {
        let mut response = StatusCode::SEE_OTHER.into_response();
        let headers = [(LOCATION, Some(self.address())), (SET_COOKIE, cookie)];
        for (name, value) in headers {
            if let Some(Ok(value)) = value.map(|value| HeaderValue::from_str(&value)) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }

    fn refuse(&self, status: StatusCode, why: &str) -> Response {
        self.page(status, &pages::failed(why, Some(&self.address())))
    }

    /// Takes the `state` of the form, so that it counts once.
    fn take(&self, given: &str) -> Result<(), (StatusCode, &'static str)> {
        let mut taken = Err((StatusCode::CONFLICT, ALREADY_CREATED));
        self.stage.send_if_modified(|stage| {
            let Stage::Form(state) = stage else {
                return false;
            };
            if !state.is(given) {
                taken = Err((StatusCode::FORBIDDEN, WRONG_STATE));
                return false;
            }
            taken = Ok(());
            *stage = Stage::Exchanging;
            true
        });
        taken
    }

    /// Fetches the credentials. Runs to its end even if the browser goes away.
    async fn exchange(self: Arc<Self>, code: String) -> Result<(), String> {
        let registered = self.register.register(&code).await;
        let (stage, outcome) = match registered {
            Ok(app) => (Stage::Created(app), Ok(())),
            Err(RegisterError::Repeatable(why)) => (Stage::Form(Token::new()), Err(why)),
            Err(RegisterError::Final(why)) => (Stage::Lost(why.clone()), Err(why)),
        };
        self.stage.send_replace(stage);
        outcome
    }
}

const NO_STATE: &str =
    "The address has no `code` and `state` of GitHub's: begin at the first page of the setup.";

const WRONG_STATE: &str = "This answer of GitHub does not belong to the form that was shown last: another browser, or an older \
page of the setup, began it. Nothing was stored. If an App was created, delete it on GitHub, and begin again.";

const ALREADY_CREATED: &str = "The App was created already; this answer of GitHub was not used.";

#[derive(Deserialize)]
struct Entry {
    code: Option<String>,
}

#[derive(Deserialize)]
struct Answer {
    code: Option<String>,
    state: Option<String>,
}

/// Returns the pages.
pub(super) fn router(flow: Arc<Flow>) -> Router {
    Router::new()
        .route(PATH, get(first).post(enter))
        .route(CREATED_PATH, get(created))
        .with_state(flow)
}

/// The first page; with `?code=`, the link that the command prints.
async fn first(
    State(flow): State<Arc<Flow>>,
    Query(entry): Query<Entry>,
    headers: HeaderMap,
) -> Response {
    match entry.code {
        Some(code) if flow.code.is(&code) => flow.enter(),
        Some(_) => flow.page(StatusCode::FORBIDDEN, &pages::ask_code(true)),
        None if flow.has_session(&headers) => flow.show(),
        None => flow.page(StatusCode::OK, &pages::ask_code(false)),
    }
}

async fn enter(State(flow): State<Arc<Flow>>, Form(entry): Form<Entry>) -> Response {
    match entry.code {
        Some(code) if flow.code.is(code.trim()) => flow.enter(),
        _ => flow.page(StatusCode::FORBIDDEN, &pages::ask_code(true)),
    }
}

/// GitHub's redirect after it created the App.
async fn created(State(flow): State<Arc<Flow>>, Query(answer): Query<Answer>) -> Response {
    let (Some(code), Some(state)) = (answer.code, answer.state) else {
        return flow.refuse(StatusCode::BAD_REQUEST, NO_STATE);
    };
    if let Err((status, why)) = flow.take(&state) {
        return flow.refuse(status, why);
    }
    let exchange = tokio::spawn(Arc::clone(&flow).exchange(code));
    match exchange.await {
        Ok(Ok(())) => flow.redirect(None),
        Ok(Err(why)) => flow.refuse(StatusCode::BAD_GATEWAY, &why),
        // The task does not panic and is not aborted.
        Err(error) => flow.refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

#[cfg(test)]
mod tests;
