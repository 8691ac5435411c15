//! The login for the pages below `/ui`: with GitHub, as a user of the App, or with the operator's
//! token.
//!
//! | request | response |
//! |---|---|
//! | `GET /ui/login` | the page that offers what is configured |
//! | `GET /ui/login/github?next=…` | redirect to GitHub, with `state` and PKCE |
//! | `GET /ui/login/github/callback` | GitHub's answer: a new session, redirect to `next` |
//! | `POST /ui/login/token` | the operator's token in a form: a new session, redirect to `next` |
//! | `POST /ui/logout` | the end of the session |
//! | any other page without a session | 404, as for a path that does not exist |
//!
//! Sessions are signed cookies; nothing is stored on the server. A program sends the
//! operator's token with every request instead: `Authorization: Bearer`. Cookies of such a request
//! are ignored.
//!
//! Whether a person may see or do something is decided by GitHub, for every repository
//! ([`Login::permission`]). The user's token that GitHub issues at the login is only used to ask who
//! the user is.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use tower::Layer as _;
use url::Url;

use super::assets;
use super::nothing_here;
use super::secure::secure;
use super::token::{OperatorToken, bearer};
use crate::engine::clock::Clock;
use crate::engine::forge::Forge;
use crate::engine::model::trigger::Repo;
use crate::formats::command::Permission;

mod cookie;
mod github;
mod next;
mod origin;
mod page;
mod permissions;
mod refusal;
mod routes;
mod seal;
mod session;

use cookie::{Cookie, Cookies};
pub use github::GitHubLogin;
use origin::Origin;
use permissions::Permissions;
pub use refusal::Refusal;
use seal::{Purpose, Seal};
pub use session::Session;

/// Path of the first page.
pub const PATH: &str = "/ui";

/// Path of the login page.
pub const LOGIN_PATH: &str = "/ui/login";

/// Path to which the form that ends a session is posted, with the field [`FORM_TOKEN`].
pub const LOGOUT_PATH: &str = "/ui/logout";

/// Name of the form field with the value of [`Login::form_token`].
pub const FORM_TOKEN: &str = "form_token";

/// Time within which a login with GitHub must be finished. GitHub's codes are valid for as long.
const MAX_LOGIN_TIME: Duration = Duration::from_mins(10);

/// Who makes a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Viewer {
    /// The operator, who sees everything and may act everywhere.
    Operator,
    /// A user of GitHub.
    Person {
        /// Numeric id of the account. Unlike the login, it never changes.
        id: u64,
        /// Login at the time of the login.
        login: String,
    },
}

/// Authenticates requests for pages and authorises their viewers.
pub struct Login {
    token: Option<OperatorToken>,
    github: Option<GitHubLogin>,
    origin: Origin,
    cookies: Cookies,
    seal: Seal,
    permissions: Permissions,
    forge: Arc<dyn Forge>,
    clock: Arc<dyn Clock>,
}

impl Login {
    /// Creates the login; `None` if neither a token nor a login with GitHub is configured, because
    /// there are no pages then. `public_url` is the address at which browsers reach the pages.
    pub fn new(
        public_url: Option<&Url>,
        token: Option<OperatorToken>,
        github: Option<GitHubLogin>,
        forge: Arc<dyn Forge>,
        clock: Arc<dyn Clock>,
    ) -> Option<Self> {
        if token.is_none() && github.is_none() {
            return None;
        }
        let secrets = [
            token.as_ref().map(OperatorToken::secret),
            github.as_ref().map(GitHubLogin::secret),
        ];
        Some(Self {
            seal: Seal::new(secrets),
            origin: Origin::new(public_url),
            cookies: Cookies {
                https: public_url.is_some_and(|url| url.scheme() == "https"),
            },
            token,
            github,
            permissions: Permissions::default(),
            forge,
            clock,
        })
    }

    /// Adds the routes of the login to `app`, and `pages`, which are served to those who are logged in
    /// only. Every other request is answered with 404. The handlers of `pages` find the [`Session`]
    /// in the request's extensions. All responses have the headers of [`secure`], except that to a
    /// path that does not exist, and to a page without a login.
    pub fn add_to(self: &Arc<Self>, app: Router, pages: Router) -> Router {
        let closed = secure(pages.merge(routes::closed(self))).fallback(nothing_here);
        // A layer of the router itself would leave the header `Allow` of a wrong method.
        let guarded = from_fn_with_state(Arc::clone(self), guard).layer(closed);
        let open = routes::open(self).merge(assets::router());
        app.fallback_service(secure(open).fallback_service(guarded))
    }

    /// Returns who makes a request; `None` if nobody is logged in.
    pub fn viewer(&self, headers: &HeaderMap) -> Option<Viewer> {
        self.session(headers)
            .map(|session| session.viewer().clone())
    }

    /// Returns the session of a request; `None` if nobody is logged in.
    pub fn session(&self, headers: &HeaderMap) -> Option<Session> {
        if bearer(headers).is_some() {
            let token = self.token.as_ref();
            let is_operator = token.is_some_and(|token| token.matches(headers));
            return is_operator.then(Session::of_program);
        }
        let now = self.clock.now();
        self.cookies.read(Cookie::Session, headers, |value| {
            Session::open(&self.seal, value, now)
        })
    }

    /// Returns the permission of a viewer in a repository; `None` if they must not know that it
    /// exists. Everybody can read public repositories.
    ///
    /// GitHub's answers are remembered for five minutes. If GitHub does not answer, there is no
    /// permission.
    pub async fn permission(&self, viewer: &Viewer, repo: &Repo) -> Option<Permission> {
        match viewer {
            Viewer::Operator => Some(Permission::Admin),
            Viewer::Person { id, login } => {
                let (forge, now) = (self.forge.as_ref(), self.clock.now());
                self.permissions.of(forge, now, (*id, login), repo).await
            }
        }
    }

    /// Returns the value of the field [`FORM_TOKEN`] in the forms of a session.
    pub fn form_token(&self, session: &Session) -> String {
        match session.id() {
            Some(id) => self.seal.sign(Purpose::Form, id),
            None => String::new(),
        }
    }

    /// Checks that a form was sent from a page of this session. `token` is the value of its field
    /// [`FORM_TOKEN`]. Requests with the operator's token in a header need none, because no browser
    /// sends that by itself.
    ///
    /// # Errors
    /// Another site sent the form, or it belongs to another session.
    pub fn check_form(
        &self,
        session: &Session,
        headers: &HeaderMap,
        token: &str,
    ) -> Result<(), Refusal> {
        let Some(id) = session.id() else {
            return Ok(());
        };
        self.origin.check(headers)?;
        if self.seal.verify(Purpose::Form, id, token) {
            Ok(())
        } else {
            Err(Refusal::OldForm)
        }
    }
}

/// Answers requests without a session as if the page did not exist.
async fn guard(State(login): State<Arc<Login>>, mut request: Request, next: Next) -> Response {
    let Some(session) = login.session(request.headers()) else {
        return nothing_here().await.into_response();
    };
    request.extensions_mut().insert(session);
    next.run(request).await
}
