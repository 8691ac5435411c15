//! The operator's token, which grants everything.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};

/// The operator's token: whoever has it sees everything and may act everywhere.
#[derive(Debug, Clone)]
pub struct OperatorToken(SecretString);

impl OperatorToken {
    /// Creates the token. The configuration guarantees its length.
    pub fn new(token: SecretString) -> Self {
        Self(token)
    }

    /// Returns whether a request carries the token: `Authorization: Bearer <token>`.
    pub fn matches(&self, headers: &HeaderMap) -> bool {
        bearer(headers).is_some_and(|given| self.is(given))
    }

    /// Returns whether `given` is the token. The time does not depend on where they differ, because
    /// digests are compared.
    pub fn is(&self, given: &str) -> bool {
        Sha256::digest(self.0.expose_secret()) == Sha256::digest(given)
    }

    /// Returns the token, from which keys are derived.
    pub(super) fn secret(&self) -> &SecretString {
        &self.0
    }
}

/// Returns the bearer token of a request; empty if the header cannot be read.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.as_bytes();
    let end = value.iter().position(|byte| *byte == b' ');
    let (scheme, token) = value.split_at(end.unwrap_or(value.len()));
    scheme
        .eq_ignore_ascii_case(b"Bearer")
        .then(|| str::from_utf8(token).unwrap_or_default().trim())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn only_the_whole_token_as_bearer_token_matches() {
        let token = OperatorToken::new(SecretString::from("a token of the operator"));
        for (header, matches) in [
            ("Bearer a token of the operator", true),
            ("bearer a token of the operator", true),
            ("Bearer  a token of the operator ", true),
            ("Bearer a token of the operato", false),
            ("Bearer a token of the operator2", false),
            ("Bearer ", false),
            ("Bearer", false),
            ("Basic a token of the operator", false),
            ("a token of the operator", false),
            ("", false),
            ("Bearer \u{e4}", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, header.parse().unwrap());
            assert_eq!(token.matches(&headers), matches, "{header}");
        }
        assert!(!token.matches(&HeaderMap::new()));
        assert!(!format!("{token:?}").contains("operator"), "{token:?}");
    }
}
