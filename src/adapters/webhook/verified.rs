//! A delivery whose signature was verified; only the check creates one.

use bytes::Bytes;
use secrecy::SecretString;

use super::body::Buffered;
use super::headers::Head;
use crate::adapters::signature::{self, SignatureError};

/// A delivery that was signed with one of our secrets.
#[derive(Debug)]
pub struct Verified {
    head: Head,
    body: Buffered,
}

impl Verified {
    /// Verifies the signature of the raw bytes.
    pub(super) fn check(
        secrets: &[SecretString],
        head: Head,
        body: Buffered,
    ) -> Result<Self, SignatureError> {
        signature::verify(secrets, &body.bytes, &head.signature)?;
        Ok(Self { head, body })
    }

    /// `X-GitHub-Event`.
    pub fn event(&self) -> &str {
        &self.head.event
    }

    /// `X-GitHub-Delivery`.
    pub fn guid(&self) -> &str {
        &self.head.guid
    }

    /// Returns the raw body.
    pub fn body(&self) -> &[u8] {
        &self.body.bytes
    }

    /// Returns the raw body without copying it.
    pub(super) fn shared_body(&self) -> Bytes {
        self.body.bytes.clone()
    }
}
