//! The shapes of credentials.
//!
//! Sources: GitHub's token formats (`ghs_[A-Za-z0-9._-]{36,}` since April 2026), and the prefixes that secret scanners
//! publish for Anthropic, OpenAI, AWS, Slack and Google keys.

use std::cell::Cell;
use std::cmp::Reverse;
use std::ops::Range;

use super::class::Class;

/// A stretch of text to replace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    /// First byte of the secret.
    pub(super) start: usize,
    /// First byte behind it.
    pub(super) end: usize,
    /// What it is, for the mark.
    pub(super) kind: &'static str,
}

/// A key with a fixed prefix.
struct Prefixed {
    prefix: &'static str,
    kind: &'static str,
    /// Bytes the rest is made of.
    class: Class,
    /// Least and most bytes of the rest; a longer run is no match.
    length: (usize, usize),
    /// Whether a letter, digit or base64 sign before the prefix makes it a part of something else.
    alone: bool,
    /// Whether the rest must hold both a digit and a capital, so that words with hyphens are no keys.
    mixed: bool,
}

const MANY: usize = usize::MAX;

/// How much of a value is looked at to tell a random string from words.
const HEAD: usize = 64;

/// Longer prefixes stand before the ones they begin with.
const PREFIXED: &[Prefixed] = &[
    key("github_pat_", "github-token", Class::Word, (22, MANY)),
    key("ghp_", "github-token", Class::Token, (36, MANY)),
    key("gho_", "github-token", Class::Token, (36, MANY)),
    key("ghu_", "github-token", Class::Token, (36, MANY)),
    key("ghs_", "github-token", Class::Token, (36, MANY)),
    key("ghr_", "github-token", Class::Token, (36, MANY)),
    key("sk-ant-", "anthropic-key", Class::WordOrHyphen, (16, MANY)),
    key("xoxa-", "slack-token", Class::WordOrHyphen, (10, MANY)),
    key("xoxb-", "slack-token", Class::WordOrHyphen, (10, MANY)),
    key("xoxe-", "slack-token", Class::WordOrHyphen, (10, MANY)),
    key("xoxp-", "slack-token", Class::WordOrHyphen, (10, MANY)),
    key("xoxr-", "slack-token", Class::WordOrHyphen, (10, MANY)),
    key("xoxs-", "slack-token", Class::WordOrHyphen, (10, MANY)),
    key("xapp-", "slack-token", Class::WordOrHyphen, (10, MANY)),
    Prefixed {
        alone: true,
        mixed: true,
        ..key("sk-", "openai-key", Class::WordOrHyphen, (20, MANY))
    },
    Prefixed {
        alone: true,
        ..key("AKIA", "aws-key-id", Class::CapitalOrDigit, (16, 16))
    },
    Prefixed {
        alone: true,
        ..key("ASIA", "aws-key-id", Class::CapitalOrDigit, (16, 16))
    },
    Prefixed {
        alone: true,
        ..key("AIza", "google-key", Class::WordOrHyphen, (35, 35))
    },
];

const fn key(
    prefix: &'static str,
    kind: &'static str,
    class: Class,
    length: (usize, usize),
) -> Prefixed {
    Prefixed {
        prefix,
        kind,
        class,
        length,
        alone: false,
        mixed: false,
    }
}

const PEM_BEGIN: &str = "-----BEGIN ";
const PEM_END: &str = "-----END ";
/// An RSA key of 16,384 bits is 12.7 kB in PEM form; a later end marker belongs to something else.
const PEM_LIMIT: usize = 16 * 1024;
/// A stretch of base64 this long between the markers is key material, not prose about keys.
const PEM_MATERIAL: usize = 32;

/// Passwords that documentation writes when it means "put yours here".
const PLACEHOLDERS: &[&str] = &[
    "password", "passwd", "pass", "pw", "pwd", "secret", "changeme", "postgres", "root", "token",
    "xxx",
];

/// The secrets in `text[range]`, in order and apart. `marked`: a mark follows, in place of a secret
/// that was removed.
pub(super) fn secrets(text: &str, range: Range<usize>, marked: bool) -> Vec<Found> {
    let offset = range.start;
    let text = text.get(range).unwrap_or_default();
    let scan = Scan::new(text, marked);
    let mut found: Vec<Found> = Vec::new();
    // Announced further to the left, as by `Authorization:`; what stands before them may be a
    // secret, too.
    let mut announced: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < text.len() || !announced.is_empty() {
        let here = announced.iter().position(|secret| secret.start <= at);
        let secret = match here {
            Some(index) => Some(announced.swap_remove(index)),
            None => scan.secret_at(at),
        };
        match secret {
            Some(secret) if secret.start > at => {
                announced.push(secret);
                at += 1;
            }
            Some(secret) => {
                at = at.max(secret.end);
                scan.floor.set(at);
                found.push(Found {
                    start: offset + secret.start,
                    end: offset + secret.end,
                    ..secret
                });
            }
            None => at += 1,
        }
    }
    apart(found)
}

/// `found` in order, those that overlap as one.
pub(super) fn apart(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|secret| (secret.start, Reverse(secret.end)));
    let mut apart: Vec<Found> = Vec::with_capacity(found.len());
    for secret in found {
        match apart.last_mut() {
            Some(last) if secret.start < last.end => last.end = last.end.max(secret.end),
            _ => apart.push(secret),
        }
    }
    apart
}

/// A text under examination.
struct Scan<'t> {
    text: &'t str,
    bytes: &'t [u8],
    /// The text ends where a removed secret began. Something of fixed length that ends there was
    /// longer before.
    marked: bool,
    /// End of the last secret: what follows it begins anew, as behind its mark.
    floor: Cell<usize>,
    /// The last run found for each class: a run entered again in its middle is not walked again.
    runs: [Cell<(usize, usize)>; Class::COUNT],
    /// The last PEM end marker found, or the end of the text: keeps repeated begin markers linear.
    pem_end: Cell<usize>,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str, marked: bool) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            marked,
            floor: Cell::new(0),
            runs: Default::default(),
            pem_end: Cell::new(0),
        }
    }

    /// The secret that is announced at byte `at` (it may start a little later, as behind `Authorization:`).
    fn secret_at(&self, at: usize) -> Option<Found> {
        match *self.bytes.get(at)? {
            b'g' | b's' | b'x' => self.prefixed(at),
            b'A' | b'a' => self
                .prefixed(at)
                .or_else(|| self.authorization(at))
                .or_else(|| self.aws_secret(at)),
            b'e' => self.jwt(at),
            b'-' => self.pem(at),
            b':' => self.url_password(at),
            _ => None,
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn before(&self, at: usize) -> Option<u8> {
        self.byte(
            at.checked_sub(1)
                .filter(|before| *before >= self.floor.get())?,
        )
    }

    /// Whether a run that ends here was cut off by the removal of a secret.
    fn cut_off(&self, end: usize) -> bool {
        self.marked && end == self.text.len()
    }

    fn starts(&self, at: usize, prefix: &str) -> bool {
        self.bytes
            .get(at..)
            .is_some_and(|rest| rest.starts_with(prefix.as_bytes()))
    }

    fn starts_ignoring_case(&self, at: usize, prefix: &str) -> bool {
        self.bytes
            .get(at..at + prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
    }

    /// End of the run of bytes of this class that starts at `at`.
    fn run(&self, at: usize, class: Class) -> usize {
        let memory = self.runs.get(class as usize);
        if let Some((start, end)) = memory.map(Cell::get)
            && (start..end).contains(&at)
        {
            return end;
        }
        let rest = self.bytes.get(at..).unwrap_or_default();
        let end = at + rest.iter().take_while(|byte| class.has(**byte)).count();
        if let Some(memory) = memory {
            memory.set((at, end));
        }
        end
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn prefixed(&self, at: usize) -> Option<Found> {
        let shape = PREFIXED
            .iter()
            .find(|shape| self.starts(at, shape.prefix))?;
        if shape.alone && self.before(at).is_some_and(|byte| Class::Base64.has(byte)) {
            return None;
        }
        let start = at + shape.prefix.len();
        let mut end = self.run(start, shape.class);
        let (least, most) = shape.length;
        if most != MANY && self.cut_off(end) {
            return None;
        }
        // A full stop or a hyphen at the end belongs to the sentence.
        while end > start && matches!(self.before(end), Some(b'.' | b'-')) {
            end -= 1;
        }
        let head = self.slice(start, end.min(start + HEAD)).as_bytes();
        let mixed = head.iter().any(u8::is_ascii_digit) && head.iter().any(u8::is_ascii_uppercase);
        let fits = (least..=most).contains(&(end - start)) && (mixed || !shape.mixed);
        fits.then_some(Found {
            start: at,
            end,
            kind: shape.kind,
        })
    }

    /// Three base64url parts of which the first two are JSON objects (`eyJ` is `{"`).
    fn jwt(&self, at: usize) -> Option<Found> {
        if !self.starts(at, "eyJ") || self.before(at).is_some_and(|byte| Class::Base64.has(byte)) {
            return None;
        }
        let header = self.run(at, Class::WordOrHyphen);
        if !self.starts(header, ".eyJ") {
            return None;
        }
        let claims = self.run(header + 1, Class::WordOrHyphen);
        let end = self.run(claims + 1, Class::WordOrHyphen);
        (self.byte(claims) == Some(b'.') && end > claims + 16).then_some(Found {
            start: at,
            end,
            kind: "jwt",
        })
    }

    /// The value of an `Authorization` header, in whatever notation: `Authorization: Bearer x`, `"authorization": "x"`.
    fn authorization(&self, at: usize) -> Option<Found> {
        const NAME: &str = "authorization";
        if !self.starts_ignoring_case(at, NAME) {
            return None;
        }
        let mut start = self.assigned(at + NAME.len())?;
        let mut least = 20;
        for scheme in ["bearer ", "basic ", "token "] {
            if self.starts_ignoring_case(start, scheme) {
                start = self.run(start + scheme.len(), Class::Blank);
                least = 12;
            }
        }
        let end = self.run(start, Class::Token68);
        let head = self.slice(start, end.min(start + HEAD)).as_bytes();
        // Prose such as "Authorization: administrators" is no credential.
        let random =
            head.iter().any(u8::is_ascii_digit) || head.iter().skip(1).any(u8::is_ascii_uppercase);
        (end - start >= least && random).then_some(Found {
            start,
            end,
            kind: "authorization",
        })
    }

    /// AWS secret keys have no prefix, only the name they are assigned to.
    fn aws_secret(&self, at: usize) -> Option<Found> {
        const NAME: &str = "aws_secret_access_key";
        if !self.starts_ignoring_case(at, NAME) {
            return None;
        }
        let start = self.assigned(at + NAME.len())?;
        let end = self.run(start, Class::Base64);
        (end - start == 40 && !self.cut_off(end)).then_some(Found {
            start,
            end,
            kind: "aws-secret",
        })
    }

    /// Start of the value behind a name: optional quote, `:` or `=`, optional quote, blanks in between.
    fn assigned(&self, at: usize) -> Option<usize> {
        let at = self.run(self.run(at, Class::Quote), Class::Blank);
        if !matches!(self.byte(at), Some(b':' | b'=')) {
            return None;
        }
        Some(self.run(self.run(at + 1, Class::Blank), Class::Quote))
    }

    fn pem(&self, at: usize) -> Option<Found> {
        if !self.starts(at, PEM_BEGIN) {
            return None;
        }
        let label = at + PEM_BEGIN.len();
        let label_end = self.run(label, Class::Label);
        if !self.slice(label, label_end).ends_with("PRIVATE KEY")
            || !self.starts(label_end, "-----")
        {
            return None;
        }
        let material = label_end + 5;
        let end = self
            .next_pem_end(material)
            .filter(|end| end - material <= PEM_LIMIT)
            .filter(|end| !self.slice(material, *end).contains(PEM_BEGIN))
            .unwrap_or_else(|| self.run(material, Class::PemMaterial));
        let between = self.slice(material, end);
        let longest = between
            .as_bytes()
            .split(|byte| !Class::Base64.has(*byte))
            .map(<[u8]>::len)
            .max()
            .unwrap_or(0);
        if longest < PEM_MATERIAL {
            return None;
        }
        let mut behind = end;
        if self.starts(end, PEM_END) {
            let label = self.run(end + PEM_END.len(), Class::Label);
            behind = self.run(label, Class::Hyphen);
        }
        Some(Found {
            start: at,
            end: behind,
            kind: "private-key",
        })
    }

    fn next_pem_end(&self, from: usize) -> Option<usize> {
        if self.pem_end.get() < from {
            let rest = self.text.get(from..).unwrap_or_default();
            let found = rest.find(PEM_END).map(|offset| from + offset);
            self.pem_end.set(found.unwrap_or(self.text.len()));
        }
        Some(self.pem_end.get()).filter(|end| *end < self.text.len())
    }

    /// The password in `scheme://user:password@host`.
    fn url_password(&self, at: usize) -> Option<Found> {
        if !self.starts(at, "://") {
            return None;
        }
        let authority = at + 3;
        let end = self.run(authority, Class::Authority);
        let at_sign = authority + self.slice(authority, end).rfind('@')?;
        let start = authority + self.slice(authority, at_sign).find(':')? + 1;
        let password = self.slice(start, at_sign);
        let placeholder = password.starts_with(['$', '{', '[', '%', '*'])
            || PLACEHOLDERS
                .iter()
                .any(|word| password.eq_ignore_ascii_case(word));
        (!password.is_empty() && !placeholder).then_some(Found {
            start,
            end: at_sign,
            kind: "url-password",
        })
    }
}
