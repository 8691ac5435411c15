//! Webhook signatures: HMAC-SHA256 over the raw body, as GitHub puts them in `X-Hub-Signature-256`.
//!
//! Source: <https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries>.

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// Prefix of the hexadecimal digits in the header.
const PREFIX: &str = "sha256=";

/// An error of a signature check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The header is not `sha256=` and 64 hex digits.
    #[error(
        "X-Hub-Signature-256 is malformed: expected `sha256=` followed by 64 hexadecimal digits"
    )]
    Malformed,
    /// The signature matches none of the configured secrets.
    #[error(
        "X-Hub-Signature-256 does not match the body: check that the webhook secret is the one of the GitHub App"
    )]
    Mismatch,
    /// No secret is configured.
    #[error("no webhook secret is configured, so no delivery can be accepted: set one")]
    NoSecret,
}

fn mac(secret: &SecretString, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()).ok()?;
    mac.update(body);
    Some(mac)
}

/// Returns the header value for `body`: `sha256=<hex>`.
pub fn sign(secret: &SecretString, body: &[u8]) -> String {
    // HMAC takes keys of any length, so there is always a digest.
    let digest = mac(secret, body)
        .map(|mac| hex::encode(mac.finalize().into_bytes()))
        .unwrap_or_default();
    format!("{PREFIX}{digest}")
}

/// Verifies `header` against `body` with each secret (rotation) in constant time.
///
/// Empty secrets are ignored.
pub fn verify(secrets: &[SecretString], body: &[u8], header: &str) -> Result<(), SignatureError> {
    let mut given = [0_u8; 32];
    header
        .strip_prefix(PREFIX)
        .and_then(|digits| hex::decode_to_slice(digits, &mut given).ok())
        .ok_or(SignatureError::Malformed)?;
    let mut tried = false;
    for secret in secrets {
        if secret.expose_secret().is_empty() {
            continue;
        }
        tried = true;
        if mac(secret, body).is_some_and(|mac| mac.verify_slice(&given).is_ok()) {
            return Ok(());
        }
    }
    Err(if tried {
        SignatureError::Mismatch
    } else {
        SignatureError::NoSecret
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // GitHub's documented test vector ("Testing the webhook payload validation").
    const SECRET: &str = "It's a Secret to Everybody";
    const BODY: &[u8] = b"Hello, World!";
    const HEADER: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    fn secret(text: &str) -> SecretString {
        SecretString::from(text.to_owned())
    }

    #[test]
    fn signs_and_verifies_githubs_vector() {
        assert_eq!(sign(&secret(SECRET), BODY), HEADER);
        assert_eq!(verify(&[secret(SECRET)], BODY, HEADER), Ok(()));
    }

    #[test]
    fn any_secret_of_a_rotation_will_do() {
        let secrets = [secret("new"), secret(SECRET)];
        assert_eq!(verify(&secrets, BODY, HEADER), Ok(()));
    }

    #[test]
    fn refuses_other_bodies_and_other_secrets() {
        assert_eq!(
            verify(&[secret(SECRET)], b"Hello, World", HEADER),
            Err(SignatureError::Mismatch)
        );
        assert_eq!(
            verify(&[secret("other")], BODY, HEADER),
            Err(SignatureError::Mismatch)
        );
    }

    #[test]
    fn an_empty_secret_opens_nothing() {
        let forged = sign(&secret(""), BODY);
        assert_eq!(
            verify(&[secret("")], BODY, &forged),
            Err(SignatureError::NoSecret)
        );
        assert_eq!(verify(&[], BODY, HEADER), Err(SignatureError::NoSecret));
    }

    #[test]
    fn refuses_malformed_headers() {
        for header in ["", "sha256=", "sha1=00", "sha256=zz", &HEADER[..70]] {
            assert_eq!(
                verify(&[secret(SECRET)], BODY, header),
                Err(SignatureError::Malformed),
                "{header}"
            );
        }
        let longer = format!("{HEADER}00");
        assert_eq!(
            verify(&[secret(SECRET)], BODY, &longer),
            Err(SignatureError::Malformed)
        );
    }

    #[test]
    fn messages_say_what_to_do() {
        assert!(
            SignatureError::Malformed
                .to_string()
                .contains("64 hexadecimal digits")
        );
        assert!(
            SignatureError::Mismatch
                .to_string()
                .contains("check that the webhook secret")
        );
        assert!(SignatureError::NoSecret.to_string().contains("set one"));
    }
}
