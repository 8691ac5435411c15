//! Values that only this bot can have made, in cookies and forms: signed, not encrypted.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

/// Maximum length of a sealed value, in bytes. Browsers keep cookies of 4,096 bytes.
const MAX_SEALED: usize = 2048;

/// First input of the hash from which the key is made. A new version ends all sessions.
const KEY_LABEL: &str = "planwright: key of the pages, version 1";

/// What a signature is for: a value that was signed for one purpose is of no use for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The cookie of a session.
    Session,
    /// The cookie of a login that has begun.
    Begun,
    /// The token in the forms of a session.
    Form,
}

impl Purpose {
    fn label(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Begun => "begun",
            Self::Form => "form",
        }
    }
}

/// Signs and checks values with a key that is made from the bot's secrets, so that sessions survive
/// a restart, are valid for every replica, and end when a secret is replaced.
pub(super) struct Seal(Hmac<Sha256>);

impl Seal {
    /// Creates the key. At least one of the secrets must be set.
    pub(super) fn new(secrets: [Option<&SecretString>; 2]) -> Self {
        let mut digest = Sha256::new_with_prefix(KEY_LABEL);
        for secret in secrets {
            let secret = secret.map_or("", |secret| secret.expose_secret());
            digest.update(secret.len().to_be_bytes());
            digest.update(secret);
        }
        // A shorter key than the block of the hash is padded with zeros (RFC 2104).
        let mut key = [0; 64];
        key[..32].copy_from_slice(&digest.finalize());
        Self(Hmac::new(&key.into()))
    }

    fn mac(&self, purpose: Purpose, text: &str) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(purpose.label().as_bytes());
        mac.update(b"\0");
        mac.update(text.as_bytes());
        mac
    }

    /// Returns the signature of `text`.
    pub(super) fn sign(&self, purpose: Purpose, text: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.mac(purpose, text).finalize().into_bytes())
    }

    /// Returns whether `signature` is that of `text`, in constant time.
    pub(super) fn verify(&self, purpose: Purpose, text: &str, signature: &str) -> bool {
        let signature = URL_SAFE_NO_PAD.decode(signature);
        signature.is_ok_and(|signature| self.mac(purpose, text).verify_slice(&signature).is_ok())
    }

    /// Returns a value as text with its signature.
    pub(super) fn seal(&self, purpose: Purpose, value: &impl Serialize) -> String {
        // The values have neither maps nor implementations of `Serialize` that fail.
        let json = serde_json::to_vec(value).unwrap_or_default();
        let text = URL_SAFE_NO_PAD.encode(json);
        let signature = self.sign(purpose, &text);
        format!("{text}.{signature}")
    }

    /// Returns the value of [`Self::seal`], if the signature is right.
    pub(super) fn open<T: DeserializeOwned>(&self, purpose: Purpose, sealed: &str) -> Option<T> {
        if sealed.len() > MAX_SEALED {
            return None;
        }
        let (text, signature) = sealed.split_once('.')?;
        if !self.verify(purpose, text, signature) {
            return None;
        }
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
    }
}

/// Returns 256 random bits as text.
pub(super) fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn seal(token: Option<&str>, client: Option<&str>) -> Seal {
        let [token, client] = [token, client].map(|text| text.map(SecretString::from));
        Seal::new([token.as_ref(), client.as_ref()])
    }

    #[test]
    fn only_the_same_secrets_open_a_value_for_its_purpose() {
        let one = seal(Some("token"), Some("client"));
        let sealed = one.seal(Purpose::Session, &(7, "ada"));
        let open = |seal: &Seal, purpose| seal.open::<(u64, String)>(purpose, &sealed);
        let value = Some((7, "ada".to_owned()));
        assert_eq!(open(&one, Purpose::Session), value);
        let again = seal(Some("token"), Some("client"));
        assert_eq!(open(&again, Purpose::Session), value);
        for other in [
            seal(Some("token"), Some("rotated")),
            seal(Some("rotated"), Some("client")),
            seal(Some("client"), Some("token")),
            seal(Some("tokenclient"), None),
            seal(None, Some("tokenclient")),
            seal(Some("token"), None),
        ] {
            assert_eq!(open(&other, Purpose::Session), None);
        }
        assert_eq!(open(&one, Purpose::Begun), None);
        assert_eq!(open(&one, Purpose::Form), None);
    }

    #[test]
    fn changed_values_are_refused() {
        let seal = seal(Some("token"), None);
        let sealed = seal.seal(Purpose::Session, &"value");
        let (text, signature) = sealed.split_once('.').unwrap();
        let other = seal.seal(Purpose::Session, &"other");
        let (other, _) = other.split_once('.').unwrap();
        for changed in [
            String::new(),
            ".".to_owned(),
            text.to_owned(),
            format!("{text}."),
            format!(".{signature}"),
            format!("{other}.{signature}"),
            format!("{text}.{}", &signature[1..]),
            format!("{text}.{signature}="),
            format!("{text}.{signature}.{signature}"),
            format!("{text} .{signature}"),
            format!("{sealed}A"),
        ] {
            assert_eq!(
                seal.open::<String>(Purpose::Session, &changed),
                None,
                "{changed}"
            );
        }
        let sealed = seal.seal(Purpose::Session, &"a".repeat(MAX_SEALED));
        assert_eq!(seal.open::<String>(Purpose::Session, &sealed), None);
        let sealed = seal.seal(Purpose::Session, &7);
        assert_eq!(seal.open::<String>(Purpose::Session, &sealed), None);
    }

    #[test]
    fn random_values_differ() {
        assert_eq!(random().len(), 43);
        assert_ne!(random(), random());
    }
}
