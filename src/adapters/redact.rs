//! Takes credentials out of text before it leaves the process: posts to GitHub, error messages, logs.
//!
//! [`redact`] knows the published shapes of common credentials; [`Redactor`] also knows this process's own
//! secrets and replaces them literally. A found secret becomes `***REDACTED:<kind>***`; the text around it stays byte
//! for byte. Secrets that overlap get one mark. One pass from left to right with bounded
//! look-ahead, so the time is linear in the length of the text.
//!
//! What has no shape of its own (bare 40-digit hex strings, UUIDs, base64 images) stays: a plan is full of those.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use secrecy::{ExposeSecret, SecretString};

mod class;
mod shapes;
#[cfg(test)]
mod tests;

use shapes::Found;

/// Shorter configured secrets are not replaced: they would eat ordinary words.
const MIN_KNOWN: usize = 8;

/// What a configured secret is called in its mark.
const CONFIGURED: &str = "configured-secret";

/// A line of a private key this long is a piece of it worth knowing; PEM lines have 64 characters.
const KEY_LINE: usize = 32;

/// Start and end of the text that replaces a removed secret.
const MARK: (&str, &str) = ("***REDACTED:", "***");

/// Replaces everything that has the shape of a credential. Borrowed when there was nothing to do; applying it twice
/// is the same as once.
pub fn redact(text: &str) -> Cow<'_, str> {
    shaped(text).0
}

/// The text without shaped secrets, and how many there were.
///
/// Marks that are already in the text divide it: no secret goes across one. So a second pass sees
/// the pieces that the first one left, and finds nothing more in them.
fn shaped(text: &str) -> (Cow<'_, str>, u32) {
    let mut found = Vec::new();
    let mut start = 0;
    for mark in marks(text) {
        found.extend(shapes::secrets(text, start..mark.start, true));
        start = mark.end;
    }
    found.extend(shapes::secrets(text, start..text.len(), false));
    replaced(text, &found)
}

/// Where the text has marks of removed secrets.
fn marks(text: &str) -> impl Iterator<Item = Range<usize>> {
    let (begin, end) = MARK;
    text.match_indices(begin).filter_map(move |(start, _)| {
        let kind = &text[start + begin.len()..];
        let length = kind
            .bytes()
            .take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-')
            .count();
        let whole = length > 0 && kind[length..].starts_with(end);
        whole.then(|| start..start + begin.len() + length + end.len())
    })
}

/// `text` with a mark for each of `secrets`, which are in order and apart.
fn replaced<'t>(text: &'t str, secrets: &[Found]) -> (Cow<'t, str>, u32) {
    if secrets.is_empty() {
        return (Cow::Borrowed(text), 0);
    }
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for secret in secrets {
        out.push_str(text.get(kept..secret.start).unwrap_or_default());
        out.push_str(&mark(secret.kind));
        kept = secret.end;
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    let count = u32::try_from(secrets.len()).unwrap_or(u32::MAX);
    (Cow::Owned(out), count)
}

/// The text that stands for a removed secret.
fn mark(kind: &str) -> String {
    format!("{}{kind}{}", MARK.0, MARK.1)
}

/// [`redact`] plus the secrets this process was configured with.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Vec<SecretString>,
}

impl Redactor {
    /// Replaces these secrets literally wherever they occur. Empty ones and ones under eight bytes are left out.
    pub fn new(known: Vec<SecretString>) -> Self {
        let known = known
            .into_iter()
            .filter(|secret| secret.expose_secret().trim().len() >= MIN_KNOWN)
            .collect();
        Self { known }
    }

    /// The text without configured secrets and without anything that looks like a credential.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_counted(text).0
    }

    /// [`Self::redact`], and how many secrets were taken out.
    pub fn redact_counted<'t>(&self, text: &'t str) -> (Cow<'t, str>, u32) {
        let (text, known) = replaced(text, &self.known_in(text));
        let (clean, shapes) = shaped(&text);
        let clean = match clean {
            Cow::Borrowed(_) => None,
            Cow::Owned(clean) => Some(clean),
        };
        (clean.map_or(text, Cow::Owned), known.saturating_add(shapes))
    }

    /// Where the text holds configured secrets; those that overlap count as one.
    fn known_in(&self, text: &str) -> Vec<Found> {
        let marks: Vec<Range<usize>> = marks(text).collect();
        let mut found = Vec::new();
        for secret in &self.known {
            let secret = secret.expose_secret().trim();
            for (start, _) in text.match_indices(secret) {
                let end = start + secret.len();
                // A secret such as `REDACTED` is part of every mark.
                let next = marks.partition_point(|mark| mark.end <= start);
                if marks.get(next).is_none_or(|mark| end <= mark.start) {
                    let kind = CONFIGURED;
                    found.push(Found { start, end, kind });
                }
            }
        }
        shapes::apart(found)
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
