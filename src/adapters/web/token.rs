//! The operator's token, which opens what is not meant for everybody.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The operator's token: whoever has it sees everything and may act everywhere.
#[derive(Debug, Clone)]
pub struct OperatorToken(SecretString);

impl OperatorToken {
    /// Creates the token. The configuration guarantees its length.
    pub fn new(token: SecretString) -> Self {
        Self(token)
    }

    /// Returns whether the headers of a request contain `Authorization: Bearer` with this token. The
    /// time it takes does not depend on how much of the token is right.
    pub fn matches(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return false;
        };
        let Some((scheme, given)) = value.to_str().ok().and_then(|value| value.split_once(' '))
        else {
            return false;
        };
        let [token, given] = [self.0.expose_secret(), given].map(Sha256::digest);
        scheme.eq_ignore_ascii_case("Bearer") && token[..].ct_eq(&given[..]).into()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn only_the_token_as_bearer_matches() {
        let secret = "0123456789abcdef0123456789abcdef";
        let token = OperatorToken::new(SecretString::from(secret));
        for (values, expected) in [
            (&[][..], false),
            (&["Bearer 0123456789abcdef0123456789abcdef"][..], true),
            (&["bearer 0123456789abcdef0123456789abcdef"][..], true),
            (&["Bearer  0123456789abcdef0123456789abcdef"][..], false),
            (&["Bearer 0123456789abcdef0123456789abcdeF"][..], false),
            (&["Bearer 0123456789abcdef0123456789abcde"][..], false),
            (&["Bearer "][..], false),
            (&["Bearer"][..], false),
            (&["0123456789abcdef0123456789abcdef"][..], false),
            (&["Basic 0123456789abcdef0123456789abcdef"][..], false),
            (
                &[
                    "Bearer 0123456789abcdef0123456789abcdef",
                    "Bearer 0123456789abcdef0123456789abcdef",
                ][..],
                false,
            ),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            assert_eq!(token.matches(&headers), expected, "{values:?}");
        }
    }
}
