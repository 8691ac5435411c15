//! Removes credentials from text before it leaves the process: posts to GitHub, error messages,
//! logs.
//!
//! [`redact`] recognises the published shapes of common credentials; [`Redactor`] also knows this
//! process's own secrets and replaces them literally. A secret is replaced by
//! `***REDACTED:<kind>***`, and the text around it stays unchanged. Secrets that overlap get one
//! mark. The time is linear in the length of the text.
//!
//! Values without a shape of their own (40-digit hex strings, UUIDs, base64 images) stay: plans are
//! full of them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use secrecy::{ExposeSecret, SecretString};

mod shapes;
#[cfg(test)]
mod tests;

use shapes::Secret;

/// Minimum length of a configured secret, in bytes. Shorter ones would match ordinary words.
const MIN_KNOWN_BYTES: usize = 8;

/// Kind of a configured secret, for its mark.
const CONFIGURED: &str = "configured-secret";

/// Minimum length of a line of a private key that is recognised on its own, in bytes. PEM lines
/// have 64.
const MIN_KEY_LINE_BYTES: usize = 32;

/// Start and end of the mark that replaces a secret.
const MARK: (&str, &str) = ("***REDACTED:", "***");

/// Replaces everything that has the shape of a credential. Borrows the text if there is nothing to
/// replace. Redacting a text twice is the same as once.
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_shapes(text).0
}

/// Replaces everything that has the shape of a credential, and returns the number of replacements.
///
/// Marks that are already in the text divide it, and no secret extends across one. So a second pass
/// sees the pieces that the first one left, and finds nothing in them.
fn redact_shapes(text: &str) -> (Cow<'_, str>, u32) {
    let mut found = Vec::new();
    let mut start = 0;
    for mark in marks(text) {
        found.extend(shapes::secrets(text, start..mark.start, true));
        start = mark.end;
    }
    found.extend(shapes::secrets(text, start..text.len(), false));
    replace(text, &found)
}

/// Finds the marks of removed secrets.
fn marks(text: &str) -> impl Iterator<Item = Range<usize>> {
    let (begin, end) = MARK;
    text.match_indices(begin).filter_map(move |(start, _)| {
        let kind = &text[start + begin.len()..];
        let length = kind
            .bytes()
            .take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-')
            .count();
        let is_mark = length > 0 && kind[length..].starts_with(end);
        is_mark.then(|| start..start + begin.len() + length + end.len())
    })
}

/// Replaces `secrets`, which are in order and do not overlap, by their marks. Returns their number,
/// too.
fn replace<'t>(text: &'t str, secrets: &[Secret]) -> (Cow<'t, str>, u32) {
    if secrets.is_empty() {
        return (Cow::Borrowed(text), 0);
    }
    let (begin, end) = MARK;
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for secret in secrets {
        out.push_str(text.get(at..secret.start).unwrap_or_default());
        out.extend([begin, secret.kind, end]);
        at = secret.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    let count = u32::try_from(secrets.len()).unwrap_or(u32::MAX);
    (Cow::Owned(out), count)
}

/// Replaces credentials as [`redact`] does, and also the secrets that this process is configured
/// with.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Vec<SecretString>,
}

impl Redactor {
    /// Creates a redactor that replaces these secrets literally. Those under eight bytes are
    /// ignored.
    pub fn new(known: Vec<SecretString>) -> Self {
        let known = known
            .into_iter()
            .filter(|secret| secret.expose_secret().trim().len() >= MIN_KNOWN_BYTES)
            .collect();
        Self { known }
    }

    /// Replaces configured secrets and everything that has the shape of a credential.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_counted(text).0
    }

    /// Does the same as [`Self::redact`], and returns the number of secrets replaced.
    pub fn redact_counted<'t>(&self, text: &'t str) -> (Cow<'t, str>, u32) {
        let (text, known) = replace(text, &self.find_known(text));
        let (clean, shapes) = redact_shapes(&text);
        if shapes == 0 {
            return (text, known);
        }
        let clean = clean.into_owned();
        (Cow::Owned(clean), known.saturating_add(shapes))
    }

    /// Finds configured secrets in the text. Those that overlap count as one.
    fn find_known(&self, text: &str) -> Vec<Secret> {
        let marks: Vec<Range<usize>> = marks(text).collect();
        let mut found = Vec::new();
        for secret in &self.known {
            let secret = secret.expose_secret().trim();
            for (start, _) in text.match_indices(secret) {
                let end = start + secret.len();
                // A configured secret such as `REDACTED` is part of every mark.
                let next = marks.partition_point(|mark| mark.end <= start);
                if marks.get(next).is_none_or(|mark| end <= mark.start) {
                    let kind = CONFIGURED;
                    found.push(Secret { start, end, kind });
                }
            }
        }
        shapes::merge_overlapping(found)
    }

    /// Returns a kind if the text contains a configured secret, or a line of key material of one.
    pub fn holds_known(&self, text: &str) -> Option<&'static str> {
        let is_held = self.known.iter().any(|secret| {
            let secret = secret.expose_secret().trim();
            let is_key_line =
                |line: &&str| line.len() >= MIN_KEY_LINE_BYTES && !line.starts_with("-----");
            let mut lines = secret.lines().map(str::trim).filter(is_key_line);
            text.contains(secret) || secret.contains('\n') && lines.any(|line| text.contains(line))
        });
        is_held.then_some(CONFIGURED)
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} known secrets)", self.known.len())
    }
}
