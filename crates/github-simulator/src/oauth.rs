//! Logins of people through the App: codes, and the tokens that they are exchanged for
//! (<https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app>).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::auth;
use crate::model::{Authorization, Token, TokenOwner};
use crate::state::State;

/// Time in which a code must be exchanged.
const CODE_LIFETIME: Duration = Duration::from_mins(10);

/// Lifetime of a user's token.
pub(crate) const TOKEN_LIFETIME: Duration = Duration::from_hours(8);

/// The reason why a code is not exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExchangeError {
    Code,
    RedirectUri,
}

impl State {
    /// Returns the code of a confirmed login.
    pub(crate) fn add_authorization(&mut self, authorization: Authorization) -> String {
        self.authorized.insert(authorization.person);
        let code = auth::random_text(20).to_lowercase();
        self.authorizations.insert(code.clone(), authorization);
        code
    }

    /// Exchanges a code for a token of the person. A code can be used once, with the verifier of its
    /// challenge.
    pub(crate) fn exchange_authorization(
        &mut self,
        code: &str,
        redirect_uri: Option<&str>,
        code_verifier: Option<&str>,
    ) -> Result<String, ExchangeError> {
        let authorization = self.authorizations.remove(code);
        let authorization = authorization.ok_or(ExchangeError::Code)?;
        let now = self.now();
        let challenge =
            code_verifier.map(|verifier| URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)));
        // GitHub does not document the error for a wrong verifier.
        if now >= authorization.created + CODE_LIFETIME
            || authorization.code_challenge.is_some() && authorization.code_challenge != challenge
        {
            return Err(ExchangeError::Code);
        }
        if redirect_uri.is_some_and(|uri| uri != authorization.redirect_uri) {
            return Err(ExchangeError::RedirectUri);
        }
        let token = auth::user_token();
        let access = Token {
            owner: TokenOwner::Person(authorization.person),
            expires: now + TOKEN_LIFETIME,
            permissions: self.app.permissions.clone(),
            repositories: None,
        };
        self.tokens.insert(token.clone(), access);
        Ok(token)
    }
}
