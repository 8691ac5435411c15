//! Takes credentials out of text before it leaves the process: posts to GitHub, error messages, logs.
//!
//! [`redact`] knows the published shapes of common credentials; [`Redactor`] also knows this process's own
//! secrets and replaces them literally. A found secret becomes `***REDACTED:<kind>***`; the text around it stays byte
//! for byte. One pass from left to right with bounded look-ahead, so the time is linear in the length of the text.
//!
//! What has no shape of its own (bare 40-digit hex strings, UUIDs, base64 images) stays: a plan is full of those.

use std::borrow::Cow;
use std::fmt;

use secrecy::{ExposeSecret, SecretString};

mod class;
mod shapes;
#[cfg(test)]
mod tests;

/// Shorter configured secrets are not replaced: they would eat ordinary words.
const MIN_KNOWN: usize = 8;

/// Replaces everything that has the shape of a credential. Borrowed when there was nothing to do; applying it twice
/// is the same as once.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    let scan = shapes::Scan::new(text);
    while at < text.len() {
        if let Some(found) = scan.secret_at(at) {
            out.push_str(text.get(kept..found.start).unwrap_or_default());
            out.push_str(&mark(found.kind));
            kept = found.end;
            at = found.end;
        } else {
            at += 1;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

/// The text that stands for a removed secret.
fn mark(kind: &str) -> String {
    format!("***REDACTED:{kind}***")
}

/// [`redact`] plus the secrets this process was configured with.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Vec<SecretString>,
}

impl Redactor {
    /// Replaces these secrets literally wherever they occur. Empty ones and ones under eight bytes are left out.
    pub fn new(known: Vec<SecretString>) -> Self {
        let mut known: Vec<_> = known
            .into_iter()
            .filter(|secret| secret.expose_secret().trim().len() >= MIN_KNOWN)
            .collect();
        // A secret that contains another must go first, or its rest would stay.
        known.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
        Self { known }
    }

    /// The text without configured secrets and without anything that looks like a credential.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.known {
            let secret = secret.expose_secret().trim();
            if text.contains(secret) {
                text = Cow::Owned(text.replace(secret, &mark("configured-secret")));
            }
        }
        match redact(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => Cow::Owned(clean),
        }
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} known secrets)", self.known.len())
    }
}
