//! Names of specifications, and the numbers and times before them.

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

#[cfg(test)]
mod tests;

/// Maximum length of a name, in characters.
pub const MAX_NAME_CHARS: usize = 64;

/// Maximum number before a name, which has six digits.
const MAX_NUMBER: u32 = 999_999;

/// The name of a specification, without `.md`: ASCII letters in lower case, digits, `-` and `_`, at
/// most [`MAX_NAME_CHARS`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// Parses a name: upper case becomes lower case, a run of blanks and punctuation one `-`, and
    /// `.md` at the end is dropped.
    ///
    /// # Errors
    /// [`NameError`], with the remedy. Names must be the same on every computer and must not lead
    /// to another folder.
    pub fn parse(raw: &str) -> Result<Self, NameError> {
        if raw.is_empty() {
            return Err(NameError::Required);
        }
        if raw.trim() != raw {
            return Err(NameError::Whitespace);
        }
        if raw.contains(['/', '\\']) {
            return Err(NameError::Separator);
        }
        let split = raw
            .len()
            .checked_sub(3)
            .and_then(|at| raw.split_at_checked(at));
        let stem = match split {
            Some((stem, end)) if end.eq_ignore_ascii_case(".md") => stem,
            _ => raw,
        };
        if stem.chars().count() > MAX_NAME_CHARS {
            return Err(NameError::TooLong);
        }
        if stem.chars().any(char::is_control) {
            return Err(NameError::Control(slug(stem, "my-feature")));
        }
        let mut name = String::new();
        for c in stem.chars() {
            match c {
                'a'..='z' | '0'..='9' | '_' => name.push(c),
                'A'..='Z' => name.push(c.to_ascii_lowercase()),
                c if c.is_alphanumeric() => {
                    return Err(NameError::Unsupported(c, slug(stem, "my-feature")));
                }
                _ if name.ends_with('-') => {}
                _ => name.push('-'),
            }
        }
        let name = name.trim_matches('-');
        if name.chars().any(|c| c.is_ascii_alphanumeric()) {
            Ok(Self(name.to_owned()))
        } else {
            Err(NameError::Required)
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error of a text that is not a valid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text has no letter and no digit.
    #[error("name is required; give one with letters or digits, e.g. csv-export")]
    Required,
    /// The text is longer than [`MAX_NAME_CHARS`].
    #[error(
        "name must be at most {MAX_NAME_CHARS} characters; shorten it, and give the rest as the title"
    )]
    TooLong,
    /// The text has white space at an end.
    #[error("name must not have leading or trailing whitespace; remove it")]
    Whitespace,
    /// The text has a `/` or `\`.
    #[error("name must not contain path separators; give the name alone, the folder is known")]
    Separator,
    /// The text has a line break, tab, or other control character.
    #[error("name must not contain control characters; write it on one line, e.g. {0}")]
    Control(String),
    /// The text has a letter that is not ASCII, which file systems treat differently.
    #[error("name contains unsupported character {0:?}; use a to z and digits, e.g. {1}")]
    Unsupported(char, String),
    /// No number is left.
    #[error(
        "the number {MAX_NUMBER:06} is taken and there is none after it; use --id timestamp or none"
    )]
    NoNumber,
}

/// Creates a name from any text: lower case without accents, other characters than `a` to `z`,
/// digits, `-` and `_` replaced by one `-`, none at the ends. Returns `default` if nothing is left.
/// The result may be longer than [`MAX_NAME_CHARS`].
pub fn slug(text: &str, default: &str) -> String {
    let mut slug = String::new();
    let mut gap = false;
    let letters = text.nfd().filter(|c| !is_combining_mark(*c));
    let lower: String = letters.flat_map(char::to_lowercase).collect();
    for c in lower.replace('ß', "ss").chars() {
        if matches!(c, 'a'..='z' | '0'..='9' | '-' | '_') {
            if gap {
                slug.push('-');
            }
            slug.push(c);
            gap = false;
        } else {
            gap = true;
        }
    }
    match slug.trim_matches(['-', '_']) {
        "" => default.to_owned(),
        slug => slug.to_owned(),
    }
}

/// Returns `YYYYMMDDHHMMSS-name` in UTC, with the first second from `now` on that is not `taken`.
pub fn timestamped(name: &Name, now: DateTime<Utc>, taken: &dyn Fn(&str) -> bool) -> String {
    let mut time = now;
    loop {
        let id = format!("{}-{name}", time.format("%Y%m%d%H%M%S"));
        if !taken(&id) {
            return id;
        }
        match time.checked_add_signed(TimeDelta::seconds(1)) {
            Some(later) => time = later,
            None => return id,
        }
    }
}

/// Returns `NNNNNN_name` with the number after the highest of `existing` (names without `.md`),
/// from `000001`.
///
/// # Errors
/// [`NameError::NoNumber`] after 999,999.
pub fn numbered<'a>(
    name: &Name,
    existing: impl IntoIterator<Item = &'a str>,
) -> Result<String, NameError> {
    let highest = existing
        .into_iter()
        .filter_map(number_prefix)
        .max()
        .unwrap_or(0);
    if highest >= MAX_NUMBER {
        return Err(NameError::NoNumber);
    }
    Ok(format!("{:06}_{name}", highest + 1))
}

/// Returns the number before a name: exactly six digits and `_`.
pub fn number_prefix(name: &str) -> Option<u32> {
    let (digits, rest) = name.split_once('_')?;
    let six = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    (six && !rest.is_empty()).then(|| digits.parse().ok())?
}
