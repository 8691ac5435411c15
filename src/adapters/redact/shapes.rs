//! The shapes of credentials.
//!
//! Sources: GitHub's token formats (`ghs_[A-Za-z0-9._-]{36,}` since April 2026), and the prefixes
//! that secret scanners publish for Anthropic, OpenAI, AWS, Slack and Google keys.
//!
//! This is a scanner and not a set of regular expressions because the `regex` crate, which
//! guarantees linear time, cannot express all of the rules: a key must not follow a base64
//! character unless the latter belongs to a removed secret (look-behind); a value must both have a
//! minimum length and contain a digit or capital near its start (intersection); a private key
//! extends to an end marker within 16 KiB without another begin marker; and secrets may overlap.

use std::cell::Cell;
use std::cmp::Reverse;
use std::ops::Range;

/// A part of a text that is to be replaced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Secret {
    /// Offset of the first byte.
    pub(super) start: usize,
    /// Offset after the last byte.
    pub(super) end: usize,
    /// Name of the kind of secret, for the mark.
    pub(super) kind: &'static str,
}

/// Classes of ASCII bytes. No byte of a multi-byte character is in any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Letters, digits, `_`.
    Word,
    /// [`Class::Word`] and `-`.
    WordOrHyphen,
    /// [`Class::WordOrHyphen`] and `.`.
    Token,
    /// Characters of `token68` of RFC 9110, the value of an `Authorization` header.
    Token68,
    /// Capital letters and digits.
    CapitalOrDigit,
    /// Letters, digits, `+`, `/`.
    Base64,
    /// Base64 with padding, line ends and escaped line ends.
    PemMaterial,
    /// Characters of the label in a PEM marker.
    Label,
    /// `-`.
    Hyphen,
    /// Characters between `://` and the end of `user:password@host`.
    Authority,
    /// Space and tab.
    Blank,
    /// Quotation marks, and the backslash that escapes them.
    Quote,
}

impl Class {
    const COUNT: usize = Self::Quote as usize + 1;

    fn contains(self, byte: u8) -> bool {
        match self {
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::WordOrHyphen => Self::Word.contains(byte) || byte == b'-',
            Self::Token => Self::WordOrHyphen.contains(byte) || byte == b'.',
            Self::Token68 => Self::Token.contains(byte) || b"~+/=".contains(&byte),
            Self::CapitalOrDigit => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Base64 => byte.is_ascii_alphanumeric() || b"+/".contains(&byte),
            Self::PemMaterial => Self::Base64.contains(byte) || b"=\r\n\\".contains(&byte),
            Self::Label => byte.is_ascii_uppercase() || byte == b' ',
            Self::Hyphen => byte == b'-',
            Self::Authority => byte.is_ascii_graphic() && !b"/?#\"'<>`()|\\,".contains(&byte),
            Self::Blank => b" \t".contains(&byte),
            Self::Quote => b"\"'\\".contains(&byte),
        }
    }
}

/// A key with a fixed prefix.
struct KeyShape {
    kind: &'static str,
    prefixes: &'static [&'static str],
    /// Class of the bytes after the prefix.
    class: Class,
    /// Minimum number of bytes after the prefix.
    min_length: usize,
    /// Whether `min_length` is also the maximum. A longer run does not match.
    is_exact: bool,
    /// Whether a base64 character before the prefix rules a match out.
    is_isolated: bool,
    /// Whether the rest must contain a digit and a capital, to rule out hyphenated words.
    is_mixed: bool,
}

const fn key(
    kind: &'static str,
    prefixes: &'static [&'static str],
    class: Class,
    min_length: usize,
) -> KeyShape {
    KeyShape {
        kind,
        prefixes,
        class,
        min_length,
        is_exact: false,
        is_isolated: false,
        is_mixed: false,
    }
}

const SLACK_PREFIXES: &[&str] = &[
    "xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-",
];

/// The first matching prefix counts, so `sk-ant-` comes before `sk-`.
const KEY_SHAPES: &[KeyShape] = &[
    key("github-token", &["github_pat_"], Class::Word, 22),
    key(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        Class::Token,
        36,
    ),
    key("anthropic-key", &["sk-ant-"], Class::WordOrHyphen, 16),
    key("slack-token", SLACK_PREFIXES, Class::WordOrHyphen, 10),
    KeyShape {
        is_isolated: true,
        is_mixed: true,
        ..key("openai-key", &["sk-"], Class::WordOrHyphen, 20)
    },
    KeyShape {
        is_exact: true,
        is_isolated: true,
        ..key("aws-key-id", &["AKIA", "ASIA"], Class::CapitalOrDigit, 16)
    },
    KeyShape {
        is_exact: true,
        is_isolated: true,
        ..key("google-key", &["AIza"], Class::WordOrHyphen, 35)
    },
];

/// Number of bytes of a value that are examined to tell a random string from words.
const HEAD_BYTES: usize = 64;

const PEM_BEGIN: &str = "-----BEGIN ";
const PEM_END: &str = "-----END ";
/// Maximum distance of the end marker of a private key, in bytes. An RSA key of 16,384 bits takes
/// 12.7 kB; a later end marker belongs to something else.
const MAX_PEM_BYTES: usize = 16 * 1024;
/// Minimum length of a run of base64 between the markers, in bytes, to tell key material from
/// prose.
const MIN_PEM_RUN_BYTES: usize = 32;

/// Placeholders for passwords in documentation.
const PLACEHOLDERS: &[&str] = &[
    "password", "passwd", "pass", "pw", "pwd", "secret", "changeme", "postgres", "root", "token",
    "xxx",
];

/// Finds the secrets in `text[range]`, in order and without overlaps. `is_cut` tells that the mark
/// of a removed secret follows the range.
pub(super) fn secrets(text: &str, range: Range<usize>, is_cut: bool) -> Vec<Secret> {
    let offset = range.start;
    let text = text.get(range).unwrap_or_default();
    let scanner = Scanner::new(text, is_cut);
    let mut found: Vec<Secret> = Vec::new();
    // Secrets that start later, such as the value after `Authorization:`. There may be other ones
    // before them.
    let mut pending: Vec<Secret> = Vec::new();
    let mut at = 0;
    while at < text.len() || !pending.is_empty() {
        let due = pending.iter().position(|secret| secret.start <= at);
        let secret = match due {
            Some(index) => Some(pending.swap_remove(index)),
            None => scanner.secret_at(at),
        };
        match secret {
            Some(secret) if secret.start <= at => {
                at = at.max(secret.end);
                scanner.last_end.set(at);
                found.push(Secret {
                    start: offset + secret.start,
                    end: offset + secret.end,
                    ..secret
                });
            }
            later => {
                pending.extend(later);
                at += 1;
            }
        }
    }
    merge_overlapping(found)
}

/// Sorts `secrets` and merges those that overlap.
pub(super) fn merge_overlapping(mut secrets: Vec<Secret>) -> Vec<Secret> {
    secrets.sort_by_key(|secret| (secret.start, Reverse(secret.end)));
    secrets.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    secrets
}

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    /// Whether a removed secret follows the text. A match of exact length at its end was longer
    /// before the removal.
    is_cut: bool,
    /// End of the last secret. What precedes it is not looked at, because its mark will be there.
    last_end: Cell<usize>,
    /// The last run of each class, so that a run entered in its middle is not walked again.
    runs: [Cell<(usize, usize)>; Class::COUNT],
    /// Offset of the last PEM end marker found, or the length of the text. Keeps the time linear
    /// for repeated begin markers.
    pem_end: Cell<usize>,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str, is_cut: bool) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            is_cut,
            last_end: Cell::new(0),
            runs: Default::default(),
            pem_end: Cell::new(0),
        }
    }

    /// Returns the secret recognised at `at`. It may start later, as after `Authorization:`.
    fn secret_at(&self, at: usize) -> Option<Secret> {
        match *self.bytes.get(at)? {
            b'g' | b's' | b'x' => self.key(at),
            b'A' | b'a' => self
                .key(at)
                .or_else(|| self.authorization(at))
                .or_else(|| self.aws_secret(at)),
            b'e' => self.jwt(at),
            b'-' => self.private_key(at),
            b':' => self.url_password(at),
            _ => None,
        }
    }

    /// Whether a base64 character precedes `at`, other than one of a removed secret.
    fn follows_base64(&self, at: usize) -> bool {
        at > self.last_end.get() && Class::Base64.contains(self.bytes[at - 1])
    }

    /// Whether a run that ends here was cut short by the removal of a secret.
    fn is_cut_at(&self, end: usize) -> bool {
        self.is_cut && end == self.text.len()
    }

    fn starts_with(&self, at: usize, prefix: &str) -> bool {
        self.bytes
            .get(at..)
            .is_some_and(|rest| rest.starts_with(prefix.as_bytes()))
    }

    fn starts_with_ignoring_case(&self, at: usize, prefix: &str) -> bool {
        self.bytes
            .get(at..at + prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the end of the run of bytes of this class that starts at `at`.
    fn run_end(&self, at: usize, class: Class) -> usize {
        let last = &self.runs[class as usize];
        let (start, end) = last.get();
        if (start..end).contains(&at) {
            return end;
        }
        let rest = self.bytes.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| class.contains(**byte));
        let end = at + length.count();
        last.set((at, end));
        end
    }

    fn key(&self, at: usize) -> Option<Secret> {
        let matches = |shape: &KeyShape| {
            let mut prefixes = shape.prefixes.iter();
            let prefix = prefixes.find(|prefix| self.starts_with(at, prefix))?;
            Some(at + prefix.len())
        };
        let (shape, start) = KEY_SHAPES
            .iter()
            .find_map(|shape| Some((shape, matches(shape)?)))?;
        if shape.is_isolated && self.follows_base64(at) {
            return None;
        }
        let end = self.run_end(start, shape.class);
        if shape.is_exact && self.is_cut_at(end) {
            return None;
        }
        // A full stop or hyphen at the end belongs to the sentence.
        let value = self.slice(start, end).trim_end_matches(['.', '-']);
        let head = &value.as_bytes()[..value.len().min(HEAD_BYTES)];
        let is_mixed =
            head.iter().any(u8::is_ascii_digit) && head.iter().any(u8::is_ascii_uppercase);
        let has_length = if shape.is_exact {
            value.len() == shape.min_length
        } else {
            value.len() >= shape.min_length
        };
        (has_length && (is_mixed || !shape.is_mixed)).then_some(Secret {
            start: at,
            end: start + value.len(),
            kind: shape.kind,
        })
    }

    /// Three base64url parts of which the first two are JSON objects (`eyJ` is `{"`).
    fn jwt(&self, at: usize) -> Option<Secret> {
        if !self.starts_with(at, "eyJ") || self.follows_base64(at) {
            return None;
        }
        let header_end = self.run_end(at, Class::WordOrHyphen);
        if !self.starts_with(header_end, ".eyJ") {
            return None;
        }
        let claims_end = self.run_end(header_end + 1, Class::WordOrHyphen);
        let end = self.run_end(claims_end + 1, Class::WordOrHyphen);
        (self.starts_with(claims_end, ".") && end > claims_end + 16).then_some(Secret {
            start: at,
            end,
            kind: "jwt",
        })
    }

    /// The value of an `Authorization` header in any notation: `Authorization: Bearer x`,
    /// `"authorization": "x"`.
    fn authorization(&self, at: usize) -> Option<Secret> {
        let mut start = self.assigned_value(at, "authorization")?;
        let mut min_length = 20;
        for scheme in ["bearer ", "basic ", "token "] {
            if self.starts_with_ignoring_case(start, scheme) {
                start = self.run_end(start + scheme.len(), Class::Blank);
                min_length = 12;
            }
        }
        let end = self.run_end(start, Class::Token68);
        let head = self.slice(start, end.min(start + HEAD_BYTES)).as_bytes();
        // Rules out prose such as "Authorization: administrators".
        let is_random =
            head.iter().any(u8::is_ascii_digit) || head.iter().skip(1).any(u8::is_ascii_uppercase);
        (end - start >= min_length && is_random).then_some(Secret {
            start,
            end,
            kind: "authorization",
        })
    }

    /// AWS secret keys have no prefix and are recognised by the name they are assigned to.
    fn aws_secret(&self, at: usize) -> Option<Secret> {
        let start = self.assigned_value(at, "aws_secret_access_key")?;
        let end = self.run_end(start, Class::Base64);
        (end - start == 40 && !self.is_cut_at(end)).then_some(Secret {
            start,
            end,
            kind: "aws-secret",
        })
    }

    /// Returns the start of the value that is assigned to `name` at `at`: after an optional quote,
    /// `:` or `=`, and another optional quote, with blanks in between.
    fn assigned_value(&self, at: usize, name: &str) -> Option<usize> {
        if !self.starts_with_ignoring_case(at, name) {
            return None;
        }
        let sign = self.run_end(self.run_end(at + name.len(), Class::Quote), Class::Blank);
        if !matches!(self.bytes.get(sign), Some(b':' | b'=')) {
            return None;
        }
        Some(self.run_end(self.run_end(sign + 1, Class::Blank), Class::Quote))
    }

    /// A private key in PEM form. Without an end marker it ends where the base64 does.
    fn private_key(&self, at: usize) -> Option<Secret> {
        if !self.starts_with(at, PEM_BEGIN) {
            return None;
        }
        let label = at + PEM_BEGIN.len();
        let label_end = self.run_end(label, Class::Label);
        if !self.slice(label, label_end).ends_with("PRIVATE KEY")
            || !self.starts_with(label_end, "-----")
        {
            return None;
        }
        let material = label_end + 5;
        let mut end = self
            .next_pem_end(material)
            .filter(|end| end - material <= MAX_PEM_BYTES)
            .filter(|end| !self.slice(material, *end).contains(PEM_BEGIN))
            .unwrap_or_else(|| self.run_end(material, Class::PemMaterial));
        let is_base64 = |byte: &u8| Class::Base64.contains(*byte);
        let mut runs = self
            .bytes
            .get(material..end)?
            .chunk_by(|a, b| is_base64(a) == is_base64(b));
        if !runs.any(|run| run.len() >= MIN_PEM_RUN_BYTES && is_base64(&run[0])) {
            return None;
        }
        if self.starts_with(end, PEM_END) {
            let label_end = self.run_end(end + PEM_END.len(), Class::Label);
            end = self.run_end(label_end, Class::Hyphen);
        }
        Some(Secret {
            start: at,
            end,
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
    fn url_password(&self, at: usize) -> Option<Secret> {
        if !self.starts_with(at, "://") {
            return None;
        }
        let authority = at + 3;
        let end = self.run_end(authority, Class::Authority);
        let (credentials, _) = self.slice(authority, end).rsplit_once('@')?;
        let (user, password) = credentials.split_once(':')?;
        let is_placeholder = password.starts_with(['$', '{', '[', '%', '*'])
            || PLACEHOLDERS
                .iter()
                .any(|word| password.eq_ignore_ascii_case(word));
        let start = authority + user.len() + 1;
        (!password.is_empty() && !is_placeholder).then_some(Secret {
            start,
            end: start + password.len(),
            kind: "url-password",
        })
    }
}
