//! Stand-in until the signature module is merged: the same two functions, nothing more.

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// Why a signature is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// Not `sha256=` and 64 hex digits.
    #[error("the signature is not of the form sha256=<64 hex digits>")]
    Malformed,
    /// No secret made it.
    #[error("the signature does not match the body under any configured secret")]
    Mismatch,
}

fn mac(secret: &SecretString, body: &[u8]) -> Result<Hmac<Sha256>, SignatureError> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes())
        .map_err(|_| SignatureError::Mismatch)?;
    mac.update(body);
    Ok(mac)
}

/// Checks `X-Hub-Signature-256` in constant time.
pub fn verify(secrets: &[SecretString], body: &[u8], header: &str) -> Result<(), SignatureError> {
    let digits = header
        .strip_prefix("sha256=")
        .ok_or(SignatureError::Malformed)?;
    let claimed = hex::decode(digits).map_err(|_| SignatureError::Malformed)?;
    for secret in secrets {
        if mac(secret, body)?.verify_slice(&claimed).is_ok() {
            return Ok(());
        }
    }
    Err(SignatureError::Mismatch)
}

/// The header for `body`.
pub fn sign(secret: &SecretString, body: &[u8]) -> String {
    mac(secret, body).map_or_else(
        |_| String::new(),
        |mac| format!("sha256={}", hex::encode(mac.finalize().into_bytes())),
    )
}
