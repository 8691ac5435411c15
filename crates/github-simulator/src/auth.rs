//! Authentication: App JWTs and access tokens.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Method, StatusCode};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use rand::RngExt as _;
use rand::distr::Alphanumeric;
use serde_json::Value;

use crate::model::{Token, TokenFormat, TokenOwner};
use crate::request::ApiRequest;
use crate::response::{ApiResponse, ApiResult};
use crate::state::State;

/// Maximum time until an App JWT expires, in seconds
/// (<https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app>).
const MAX_JWT_LIFETIME: f64 = 600.0;

/// Tolerated clock difference, in seconds. GitHub does not document one, so it is small.
const CLOCK_SKEW: f64 = 5.0;

/// Returns `length` random letters and digits.
pub(crate) fn random_text(length: usize) -> String {
    rand::rng()
        .sample_iter(Alphanumeric)
        .take(length)
        .map(char::from)
        .collect()
}

/// Generates an installation token.
pub(crate) fn installation_token(format: TokenFormat, app: u64) -> String {
    let mut token = "ghs_".to_owned();
    match format {
        TokenFormat::Classic => token.push_str(&random_text(36)),
        TokenFormat::Stateless => {
            let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256","typ":"JWT"}"#);
            let claims = URL_SAFE_NO_PAD.encode(format!(r#"{{"sub":"{}"}}"#, random_text(80)));
            // Writing to a String does not fail.
            let _ = write!(token, "{app}_{header}.{claims}.{}", random_text(342));
        }
    }
    token
}

/// Generates a person's fine-grained token.
pub(crate) fn personal_token() -> String {
    format!("github_pat_{}", random_text(82))
}

/// Generates the token of a person who has logged in through the App.
pub(crate) fn user_token() -> String {
    format!("ghu_{}", random_text(36))
}

/// Generates a token with which a user's token could be renewed.
pub(crate) fn refresh_token() -> String {
    format!("ghr_{}", random_text(76))
}

/// Returns the 403 for a suspended installation.
pub(crate) fn suspended() -> ApiResponse {
    ApiResponse::forbidden("This installation has been suspended")
}

/// Returns the credentials of an `Authorization` header with the scheme `Bearer` or `token`.
fn credentials(header: Option<&str>) -> Option<&str> {
    let (scheme, rest) = header?.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("token"))
        .then(|| rest.trim())
}

impl State {
    /// Verifies an App JWT: signature, issuer, validity period. The messages come from public issue
    /// threads.
    pub(crate) fn check_jwt(&self, authorization: Option<&str>) -> ApiResult<()> {
        let undecodable = || ApiResponse::unauthorized("A JSON web token could not be decoded");
        let token = credentials(authorization).ok_or_else(undecodable)?;
        let key =
            DecodingKey::from_rsa_pem(self.app.public_pem.as_bytes()).map_err(|_| undecodable())?;
        // The times are checked below, against the simulator's clock.
        let mut validation = Validation::new(Algorithm::RS256);
        validation.validate_exp = false;
        validation.validate_aud = false;
        validation.required_spec_claims.clear();
        let claims = decode::<Value>(token, &key, &validation)
            .map_err(|_| undecodable())?
            .claims;
        #[expect(
            clippy::cast_precision_loss,
            reason = "a double represents the seconds since 1970 exactly"
        )]
        let now = self.now().timestamp() as f64;
        let time = |name: &str| claims.get(name).and_then(Value::as_f64);
        let refusal = match (time("exp"), time("iat")) {
            (None, _) => Some("Missing 'Expiration time' claim ('exp') in assertion"),
            (Some(exp), _) if exp + CLOCK_SKEW < now => Some(
                "'Expiration time' claim ('exp') must be a numeric value representing the future \
                 time at which the assertion expires",
            ),
            (Some(exp), _) if exp > now + MAX_JWT_LIFETIME + CLOCK_SKEW => {
                Some("'Expiration time' claim ('exp') is too far in the future")
            }
            (_, Some(iat)) if iat <= now + CLOCK_SKEW => None,
            _ => Some(
                "'Issued at' claim ('iat') must be an Integer representing the time that the \
                 assertion was issued",
            ),
        };
        if let Some(message) = refusal {
            return Err(ApiResponse::unauthorized(message));
        }
        let issuer = match claims.get("iss") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => {
                let message = "Missing 'issuer' claim ('iss') in assertion";
                return Err(ApiResponse::unauthorized(message));
            }
        };
        if issuer == self.app.id.to_string() || issuer == self.app.client_id() {
            Ok(())
        } else {
            let message = "Integration not found";
            Err(ApiResponse::error(StatusCode::NOT_FOUND, message))
        }
    }

    /// Returns the valid token of a request.
    pub(crate) fn check_token(&self, authorization: Option<&str>) -> ApiResult<Token> {
        if authorization.is_none() {
            return Err(ApiResponse::unauthorized("Requires authentication"));
        }
        let token = credentials(authorization)
            .and_then(|token| self.tokens.get(token))
            .filter(|token| self.now() < token.expires)
            .ok_or_else(ApiResponse::bad_credentials)?;
        if let TokenOwner::Installation(id) = token.owner {
            let installation = self.installations.get(&id);
            let installation = installation.ok_or_else(ApiResponse::bad_credentials)?;
            if installation.suspended.is_some() {
                return Err(suspended());
            }
        }
        Ok(token.clone())
    }

    /// Returns the valid token of a request, or anonymous access for a GET request without one.
    pub(crate) fn check_token_or_anonymous(&self, request: &ApiRequest) -> ApiResult<Token> {
        match request.authorization() {
            None if request.method == Method::GET => Ok(Token::anonymous()),
            authorization => self.check_token(authorization),
        }
    }
}
