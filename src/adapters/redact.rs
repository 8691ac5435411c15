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

/// What a configured secret is called in its mark.
const CONFIGURED: &str = "configured-secret";

/// A line of a private key this long is a piece of it worth knowing; PEM lines have 64 characters.
const KEY_LINE: usize = 32;

/// Replaces everything that has the shape of a credential. Borrowed when there was nothing to do; applying it twice
/// is the same as once.
pub fn redact(text: &str) -> Cow<'_, str> {
    shaped(text).0
}

/// The text without shaped secrets, and how many there were.
fn shaped(text: &str) -> (Cow<'_, str>, u32) {
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    let mut count = 0;
    let scan = shapes::Scan::new(text);
    while at < text.len() {
        if let Some(found) = scan.secret_at(at) {
            out.push_str(text.get(kept..found.start).unwrap_or_default());
            out.push_str(&mark(found.kind));
            kept = found.end;
            at = found.end;
            count += 1;
        } else {
            at += 1;
        }
    }
    if count == 0 {
        return (Cow::Borrowed(text), 0);
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    (Cow::Owned(out), count)
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
        self.redact_counted(text).0
    }

    /// [`Self::redact`], and how many secrets were taken out.
    pub fn redact_counted<'t>(&self, text: &'t str) -> (Cow<'t, str>, u32) {
        let mut text = Cow::Borrowed(text);
        let mut count = 0;
        for secret in &self.known {
            let secret = secret.expose_secret().trim();
            let found = text.matches(secret).count();
            if found > 0 {
                count += u32::try_from(found).unwrap_or(u32::MAX);
                text = Cow::Owned(text.replace(secret, &mark(CONFIGURED)));
            }
        }
        let (clean, shapes) = shaped(&text);
        let clean = match clean {
            Cow::Borrowed(_) => None,
            Cow::Owned(clean) => Some(clean),
        };
        (clean.map_or(text, Cow::Owned), count.saturating_add(shapes))
    }

    /// The kind of configured secret that the text holds: a whole one, or a line of key material of one.
    pub fn holds_known(&self, text: &str) -> Option<&'static str> {
        let held = self.known.iter().any(|secret| {
            let secret = secret.expose_secret().trim();
            let of_key = |line: &str| line.len() >= KEY_LINE && !line.starts_with("-----");
            text.contains(secret)
                || secret.contains('\n')
                    && secret
                        .lines()
                        .map(str::trim)
                        .any(|line| of_key(line) && text.contains(line))
        });
        held.then_some(CONFIGURED)
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} known secrets)", self.known.len())
    }
}
