//! The RSA key pair of a simulated GitHub App.

use rsa::pkcs1::EncodeRsaPrivateKey;
use rsa::pkcs8::{EncodePublicKey, LineEnding};
use rsa::rand_core::OsRng;
use rsa::{RsaPrivateKey, RsaPublicKey};
use secrecy::SecretString;

use crate::SimulatorError;

/// Key length, in bits, of the keys that GitHub generates for Apps.
const KEY_BITS: usize = 2048;

/// The key pair of a GitHub App: the App signs its JWTs with the private key, GitHub verifies them
/// with the public key.
#[derive(Debug, Clone)]
pub struct AppKeys {
    /// Private key as PKCS#1 PEM, the form in which GitHub hands it out.
    pub private_pem: SecretString,
    /// Public key as SubjectPublicKeyInfo PEM.
    pub public_pem: String,
}

impl AppKeys {
    /// Generates a key pair.
    pub fn generate() -> Result<Self, SimulatorError> {
        let failed = |message: String| SimulatorError::Keys { message };
        let private =
            RsaPrivateKey::new(&mut OsRng, KEY_BITS).map_err(|error| failed(error.to_string()))?;
        let public_pem = RsaPublicKey::from(&private)
            .to_public_key_pem(LineEnding::LF)
            .map_err(|error| failed(error.to_string()))?;
        let private_pem = private
            .to_pkcs1_pem(LineEnding::LF)
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            private_pem: SecretString::from(private_pem.as_str().to_owned()),
            public_pem,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn keys_have_the_pem_form_that_github_uses() {
        let keys = AppKeys::generate().unwrap();
        let private = keys.private_pem.expose_secret();
        assert!(private.starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
        assert!(keys.public_pem.starts_with("-----BEGIN PUBLIC KEY-----\n"));
        assert!(!format!("{keys:?}").contains("RSA PRIVATE"));
    }
}
