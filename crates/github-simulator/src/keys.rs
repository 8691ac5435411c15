//! The RSA key pair of a simulated GitHub App.

use rsa::pkcs1::EncodeRsaPrivateKey;
use rsa::pkcs8::{EncodePublicKey, LineEnding};
use rsa::rand_core::OsRng;
use rsa::{RsaPrivateKey, RsaPublicKey};
use secrecy::SecretString;

use crate::SimulatorError;

/// Bits of a key as GitHub generates them.
const BITS: usize = 2048;

/// A GitHub App's keys: the App signs with one, GitHub checks with the other.
#[derive(Debug, Clone)]
pub struct AppKeys {
    /// PKCS#1 PEM, the form in which GitHub hands out private keys.
    pub private_pem: SecretString,
    /// SubjectPublicKeyInfo PEM.
    pub public_pem: String,
}

impl AppKeys {
    /// A fresh pair.
    pub fn generate() -> Result<Self, SimulatorError> {
        let failed = |message: String| SimulatorError::Keys { message };
        let private =
            RsaPrivateKey::new(&mut OsRng, BITS).map_err(|error| failed(error.to_string()))?;
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
