//! The RSA key pair of a simulated GitHub App.

use rsa::pkcs1::{DecodeRsaPrivateKey, EncodeRsaPrivateKey};
use rsa::pkcs8::{DecodePrivateKey, EncodePublicKey, LineEnding};
use rsa::rand_core::OsRng;
use rsa::{RsaPrivateKey, RsaPublicKey};
use secrecy::{ExposeSecret as _, SecretString};

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

    /// Reads a private key: RSA as PKCS#1 or PKCS#8, in PEM form.
    pub fn read(private_pem: SecretString) -> Result<Self, SimulatorError> {
        let pem = private_pem.expose_secret().trim();
        let private = RsaPrivateKey::from_pkcs1_pem(pem)
            .or_else(|_| RsaPrivateKey::from_pkcs8_pem(pem))
            .map_err(|_| SimulatorError::NoKey)?;
        let public_pem = RsaPublicKey::from(&private)
            .to_public_key_pem(LineEnding::LF)
            .map_err(|error| SimulatorError::Keys {
                message: error.to_string(),
            })?;
        Ok(Self {
            private_pem,
            public_pem,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn keys_have_the_pem_form_that_github_uses() {
        let keys = AppKeys::generate().unwrap();
        let private = keys.private_pem.expose_secret();
        assert!(private.starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
        assert!(keys.public_pem.starts_with("-----BEGIN PUBLIC KEY-----\n"));
        assert!(!format!("{keys:?}").contains("RSA PRIVATE"));
        let read = AppKeys::read(keys.private_pem.clone()).unwrap();
        assert_eq!(read.public_pem, keys.public_pem);
        let error = AppKeys::read(keys.public_pem.into()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "it is no RSA private key in PEM form, whose first line is -----BEGIN RSA PRIVATE KEY-----"
        );
    }
}
