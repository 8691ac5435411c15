//! A delivery whose signature was verified; only the check creates one.

use bytes::Bytes;
use secrecy::SecretString;

use super::body::Buffered;
use super::headers::Head;
use crate::adapters::signature::{self, SignatureError};
use crate::engine::intake::Authentic;
use crate::engine::model::intake::Source;

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
}

impl Authentic for Verified {
    fn source(&self) -> Source {
        Source::Webhook
    }

    /// `X-GitHub-Delivery`.
    fn guid(&self) -> &str {
        &self.head.guid
    }

    /// `X-GitHub-Event`.
    fn event(&self) -> &str {
        &self.head.event
    }

    /// The raw body.
    fn body(&self) -> &Bytes {
        &self.body.bytes
    }
}
