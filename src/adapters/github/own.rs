//! Which posts are our own: those of the account that the client writes as.

use super::auth::{AppKey, Credentials};
use super::transport::{Form, Request};
use super::{GitHub, answer, wire};
use crate::engine::forge::ForgeError;
use crate::engine::model::trigger::Actor;

/// The account that the client writes as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Own {
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
}

impl Own {
    /// The account's login.
    pub(super) fn login(&self) -> &str {
        match self {
            Self::App { login, .. } => login,
            Self::Person(actor) => &actor.login,
        }
    }

    /// Whether the account wrote `text`. What a person wrote with another program counts too: markers decide.
    pub(super) fn wrote(&self, text: &wire::Text) -> bool {
        match self {
            Self::App { id, login, .. } => text.is_own(*id, login),
            Self::Person(actor) => text.author_id() == Some(actor.id),
        }
    }
}

impl GitHub {
    /// The App's slug. GitHub is asked (`GET /app`), unless it is configured.
    ///
    /// # Errors
    /// GitHub did not say.
    pub async fn slug(&self) -> Result<String, ForgeError> {
        match self.own().await? {
            Own::App { slug, .. } => Ok(slug),
            Own::Person(actor) => Ok(actor.login),
        }
    }

    /// Who we are. Asked once.
    pub(super) async fn own(&self) -> Result<Own, ForgeError> {
        self.own
            .get_or_try_init(|| async {
                match &self.credentials {
                    Credentials::Person(_) => self.ask_for_user().await.map(Own::Person),
                    Credentials::App { key, slug } => {
                        let (id, slug) = if let Some(slug) = slug {
                            (key.id, slug.clone())
                        } else {
                            let app = self.ask_for_app(key).await?;
                            (app.id, app.slug)
                        };
                        let login = format!("{slug}[bot]");
                        Ok(Own::App { id, slug, login })
                    }
                }
            })
            .await
            .cloned()
    }

    async fn ask_for_app(&self, key: &AppKey) -> Result<wire::App, ForgeError> {
        let request = Request {
            method: http::Method::GET,
            path: self.path("/app"),
            body: None,
            form: Form::Json,
            what: "the App itself".to_owned(),
        };
        let answer = self.as_app(key, &request).await?;
        answer::judge(&answer, &request)?;
        answer::read(&answer, &request)
    }

    async fn ask_for_user(&self) -> Result<Actor, ForgeError> {
        let what = "the account of the token".to_owned();
        let (request, answer) = self.get(0, self.path("/user"), what).await?;
        let user: wire::User = answer::read(&answer, &request)?;
        user.actor().ok_or_else(|| ForgeError::Unreadable {
            what: request.what,
            message: "the account was deleted".to_owned(),
        })
    }
}
