//! The handlers of the login's routes.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use bytes::Bytes;
use http::header::{LOCATION, SET_COOKIE};
use http::{HeaderMap, StatusCode};
use sha2::{Digest as _, Sha256};
use url::form_urlencoded;

use super::cookie::Cookie;
use super::github::{Begun, GitHubLogin};
use super::next::page_path;
use super::seal::Purpose;
use super::{
    FORM_TOKEN, LOGIN_PATH, LOGOUT_PATH, Login, MAX_LOGIN_TIME, Refusal, Session, Viewer, page,
};
use crate::engine::app_manifest::LOGIN_CALLBACK;

/// Path that begins a login with GitHub.
pub(super) const GITHUB_PATH: &str = "/ui/login/github";

/// Path to which the form with the operator's token is posted.
pub(super) const TOKEN_PATH: &str = "/ui/login/token";

/// The fields of a query or a form.
struct Fields(Vec<(String, String)>);

impl Fields {
    fn parse(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().collect())
    }

    fn of_query(query: Option<&str>) -> Self {
        Self::parse(query.unwrap_or_default().as_bytes())
    }

    /// Returns a field, the first of several.
    fn get(&self, name: &str) -> Option<&str> {
        let mut fields = self.0.iter();
        let (_, value) = fields.find(|(other, _)| other == name)?;
        Some(value)
    }
}

/// Returns the routes that need no session.
pub(super) fn open(login: &Arc<Login>) -> Router {
    let mut router = Router::new().route(LOGIN_PATH, get(show));
    if login.token.is_some() {
        router = router.route(TOKEN_PATH, post(enter));
    }
    if login.github.is_some() {
        router = router
            .route(GITHUB_PATH, get(begin))
            .route(LOGIN_CALLBACK, get(finish));
    }
    router.with_state(Arc::clone(login))
}

/// Returns the routes that need a session.
pub(super) fn closed(login: &Arc<Login>) -> Router {
    Router::new()
        .route(LOGOUT_PATH, post(end))
        .with_state(Arc::clone(login))
}

fn see_other<const N: usize>(path: &str, cookies: [String; N]) -> Response {
    let cookies = AppendHeaders(cookies.map(|cookie| (SET_COOKIE, cookie)));
    (StatusCode::SEE_OTHER, [(LOCATION, path)], cookies).into_response()
}

/// `GET /ui/login`.
async fn show(State(login): State<Arc<Login>>, RawQuery(query): RawQuery) -> Response {
    let fields = Fields::of_query(query.as_deref());
    page::login(&login, page_path(fields.get("next")), None)
}

/// `POST /ui/login/token`. Tries are not limited: the token has at least 32 characters.
async fn enter(State(login): State<Arc<Login>>, headers: HeaderMap, body: Bytes) -> Response {
    if let Err(refusal) = login.origin.check(&headers) {
        return refusal.into_response();
    }
    let form = Fields::parse(&body);
    let next = page_path(form.get("next"));
    let given = form.get("token").unwrap_or_default().trim();
    if !login.token.as_ref().is_some_and(|token| token.is(given)) {
        tracing::warn!("a login with a wrong operator's token was refused");
        return page::login(&login, next, Some(Refusal::Token));
    }
    tracing::info!("the operator logged in to the pages");
    see_other(next, [login.begin_session(Viewer::Operator)])
}

/// `GET /ui/login/github`.
async fn begin(State(login): State<Arc<Login>>, RawQuery(query): RawQuery) -> Response {
    let Some(github) = &login.github else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let fields = Fields::of_query(query.as_deref());
    let begun = Begun::new(page_path(fields.get("next")), login.clock.now());
    let value = login.seal.seal(Purpose::Begun, &begun);
    let cookie = login.cookies.set(Cookie::Begun, &value);
    see_other(&github.authorize_url(&begun), [cookie])
}

/// `GET /ui/login/github/callback`. Whatever the answer is, it counts once.
async fn finish(
    State(login): State<Arc<Login>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let Some(github) = &login.github else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let answer = Fields::of_query(query.as_deref());
    let delete = login.cookies.delete(Cookie::Begun);
    match login.check_answer(github, &headers, &answer).await {
        Ok((viewer, next)) => {
            // The path was checked when it was put into the cookie.
            see_other(&next, [login.begin_session(viewer), delete])
        }
        Err(refusal) => (AppendHeaders([(SET_COOKIE, delete)]), refusal).into_response(),
    }
}

/// `POST /ui/logout`.
async fn end(
    State(login): State<Arc<Login>>,
    Extension(session): Extension<Session>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let form = Fields::parse(&body);
    let token = form.get(FORM_TOKEN).unwrap_or_default();
    if let Err(refusal) = login.check_form(&session, &headers, token) {
        return refusal.into_response();
    }
    see_other(LOGIN_PATH, [login.cookies.delete(Cookie::Session)])
}

impl Login {
    /// Returns the header that sets the cookie of a new session.
    fn begin_session(&self, viewer: Viewer) -> String {
        let value = Session::begin(&self.seal, viewer, self.clock.now());
        self.cookies.set(Cookie::Session, &value)
    }

    /// Checks GitHub's answer to a login, and returns who logged in and the path of the next page.
    async fn check_answer(
        &self,
        github: &GitHubLogin,
        headers: &HeaderMap,
        answer: &Fields,
    ) -> Result<(Viewer, String), Refusal> {
        let state = answer.get("state").ok_or(Refusal::NoAnswer)?;
        let open = |value: &str| self.seal.open::<Begun>(Purpose::Begun, value);
        let begun = self.cookies.read(Cookie::Begun, headers, open);
        let begun = begun.ok_or(Refusal::NotBegun)?;
        // The time does not depend on where they differ, because digests are compared.
        if Sha256::digest(state) != Sha256::digest(&begun.state) {
            return Err(Refusal::OtherLogin);
        }
        if self.clock.now().since(begun.at) >= MAX_LOGIN_TIME {
            return Err(Refusal::Late);
        }
        if let Some(error) = answer.get("error") {
            let description = answer.get("error_description");
            return Err(GitHubLogin::refusal(error, description));
        }
        let code = answer.get("code").ok_or(Refusal::NoAnswer)?;
        let viewer = github.user(code, &begun.verifier).await?;
        if let Viewer::Person { id, login } = &viewer {
            tracing::info!(id, login, "a user logged in to the pages");
        }
        Ok((viewer, begun.next))
    }
}
