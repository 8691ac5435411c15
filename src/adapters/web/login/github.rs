//! The login with GitHub: the web application flow of a GitHub App, with PKCE
//! (<https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app>).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use url::{Url, form_urlencoded};

use super::seal::random;
use super::{Refusal, Viewer};
use crate::adapters::http::{Client, HttpError, Response};
use crate::adapters::redact::redact;
use crate::adapters::text::truncate_chars;
use crate::engine::app_manifest::LOGIN_CALLBACK;
use crate::engine::model::time::Millis;
use crate::engine::steps::source::attachment::web_root;

/// Time limit for one request to GitHub.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum length of what is logged of an error of GitHub's, in characters.
const MAX_LOGGED: usize = 300;

/// The login with GitHub.
pub struct GitHubLogin {
    client_id: String,
    client_secret: SecretString,
    callback_url: String,
    web_root: String,
    user_url: String,
    http: Client,
}

/// A login that has begun, in a cookie of the browser.
#[derive(Serialize, Deserialize)]
pub(super) struct Begun {
    /// What GitHub must send back.
    pub(super) state: String,
    /// The secret of PKCE, whose hash GitHub gets first.
    pub(super) verifier: String,
    /// When it began.
    pub(super) at: Millis,
    /// Path of the page that is shown afterwards.
    pub(super) next: String,
}

impl Begun {
    pub(super) fn new(next: &str, at: Millis) -> Self {
        Self {
            state: random(),
            verifier: random(),
            at,
            next: next.to_owned(),
        }
    }
}

/// GitHub's answer to a code; an error has the status 200, too. No `Debug`: it holds a secret.
#[derive(Deserialize)]
struct TokenAnswer {
    access_token: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

#[derive(Deserialize)]
struct User {
    id: u64,
    login: String,
}

impl GitHubLogin {
    /// Creates the login of the App with this client ID, whose settings contain the callback URL
    /// `<public_url>/ui/login/github/callback`.
    pub fn new(
        public_url: &Url,
        api_url: &Url,
        client_id: String,
        client_secret: SecretString,
    ) -> Self {
        let root = |url: &Url| url.as_str().trim_end_matches('/').to_owned();
        Self {
            client_id,
            client_secret,
            callback_url: format!("{}{LOGIN_CALLBACK}", root(public_url)),
            web_root: web_root(api_url),
            user_url: format!("{}/user", root(api_url)),
            http: Client::new(),
        }
    }

    /// Returns the client secret, from which keys are derived.
    pub(super) fn secret(&self) -> &SecretString {
        &self.client_secret
    }

    /// Returns GitHub's page on which a login is confirmed.
    pub(super) fn authorize_url(&self, begun: &Begun) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&begun.verifier));
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", &self.client_id)
            .append_pair("redirect_uri", &self.callback_url)
            .append_pair("state", &begun.state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .finish();
        format!("{}/login/oauth/authorize?{query}", self.web_root)
    }

    /// Returns the reason for which GitHub's page sent the browser back without a code.
    pub(super) fn refusal(error: &str, description: Option<&str>) -> Refusal {
        if error == "access_denied" {
            return Refusal::Cancelled;
        }
        log_error(error, description);
        match error {
            "redirect_uri_mismatch" => Refusal::Credentials,
            _ => Refusal::GitHub,
        }
    }

    /// Exchanges a code for a token of the user, and asks GitHub with it who the user is. Nothing
    /// else is done with the token.
    pub(super) async fn user(&self, code: &str, verifier: &str) -> Result<Viewer, Refusal> {
        let token = self.exchange(code, verifier).await?;
        let mut headers = headers();
        let value = format!("Bearer {}", token.expose_secret());
        let mut value = HeaderValue::try_from(value).map_err(|_| unusable("the user's token"))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
        let response = self.http.get(&self.user_url, headers, TIMEOUT).await;
        let User { id, login } = read(response, "GET /user")?;
        Ok(Viewer::Person { id, login })
    }

    async fn exchange(&self, code: &str, verifier: &str) -> Result<SecretString, Refusal> {
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", &self.client_id)
            .append_pair("client_secret", self.client_secret.expose_secret())
            .append_pair("code", code)
            .append_pair("redirect_uri", &self.callback_url)
            .append_pair("code_verifier", verifier)
            .finish();
        let mut headers = headers();
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, kind);
        let url = format!("{}/login/oauth/access_token", self.web_root);
        let sent = self.http.post(&url, headers, Bytes::from(form), TIMEOUT);
        let answer: TokenAnswer = read(sent.await, "the exchange of a code")?;
        if let Some(error) = answer.error {
            log_error(&error, answer.error_description.as_deref());
            return Err(match error.as_str() {
                "bad_verification_code" => Refusal::Code,
                "incorrect_client_credentials" | "redirect_uri_mismatch" => Refusal::Credentials,
                _ => Refusal::GitHub,
            });
        }
        let token = answer.access_token.map(SecretString::from);
        token.ok_or_else(|| unusable("the exchange of a code"))
    }
}

fn headers() -> HeaderMap {
    let agent = concat!("planwright/", env!("CARGO_PKG_VERSION"));
    HeaderMap::from_iter([
        (ACCEPT, HeaderValue::from_static("application/json")),
        (USER_AGENT, HeaderValue::from_static(agent)),
    ])
}

/// Reads the body of a successful response.
fn read<T: for<'de> Deserialize<'de>>(
    response: Result<Response, HttpError>,
    what: &str,
) -> Result<T, Refusal> {
    let response = response.map_err(|error| {
        tracing::warn!(%error, what, "a login failed");
        Refusal::GitHub
    })?;
    if response.status != 200 {
        tracing::warn!(status = response.status, what, "a login failed");
        return Err(Refusal::GitHub);
    }
    // The error could quote the body, which may hold a token.
    serde_json::from_slice(&response.body).map_err(|_| unusable(what))
}

fn unusable(what: &str) -> Refusal {
    tracing::warn!(what, "a login failed: GitHub's answer cannot be read");
    Refusal::GitHub
}

fn log_error(error: &str, description: Option<&str>) {
    let text = format!("{error}: {}", description.unwrap_or("no description"));
    let error = truncate_chars(&redact(&text), MAX_LOGGED);
    tracing::warn!(error, "GitHub refused a login");
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_addresses_are_those_of_the_installation() {
        let url = |text| Url::parse(text).unwrap();
        let public = url("https://bot.example.com/");
        let begun = Begun {
            state: "s&t".to_owned(),
            // The example of RFC 7636, appendix B.
            verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned(),
            at: Millis(0),
            next: "/ui".to_owned(),
        };
        for (api, web, user) in [
            (
                "https://api.github.com",
                "https://github.com",
                "https://api.github.com/user",
            ),
            (
                "https://ghe.example/api/v3/",
                "https://ghe.example",
                "https://ghe.example/api/v3/user",
            ),
        ] {
            let secret = SecretString::from("secret");
            let login = GitHubLogin::new(&public, &url(api), "Iv1.a b".to_owned(), secret);
            assert_eq!(
                login.authorize_url(&begun),
                format!(
                    "{web}/login/oauth/authorize?client_id=Iv1.a+b\
                     &redirect_uri=https%3A%2F%2Fbot.example.com%2Fui%2Flogin%2Fgithub%2Fcallback&state=s%26t\
                     &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
                )
            );
            assert_eq!(login.user_url, user);
        }
    }
}
