//! Names of specifications: what a file may be called, and the numbers and times before it.

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

#[cfg(test)]
mod tests;

/// Longest name, in characters.
pub const MAX_NAME: usize = 64;

/// Highest number before a name: six digits.
const MOST_NUMBER: u32 = 999_999;

/// The name of a specification, without `.md`: ASCII letters in lower case, digits, `-` and `_`, at most [`MAX_NAME`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is no name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing, or no letter and no digit.
    #[error("name is required; give one with letters or digits, e.g. csv-export")]
    Required,
    /// Longer than [`MAX_NAME`].
    #[error(
        "name must be at most {MAX_NAME} characters; shorten it, and give the rest as the title"
    )]
    TooLong,
    /// White space at an end.
    #[error("name must not have leading or trailing whitespace; take it off")]
    Whitespace,
    /// `/` or `\`.
    #[error("name must not contain path separators; give the name alone, the folder is known")]
    Separator,
    /// A line end, tab, or other control character.
    #[error("name must not contain control characters; write it on one line, e.g. {0}")]
    Control(String),
    /// A letter that is not ASCII: file systems do not agree on these.
    #[error("name contains unsupported character {0:?}; use a to z and digits, e.g. {1}")]
    Unsupported(char, String),
    /// All numbers are taken.
    #[error(
        "the number {MOST_NUMBER:06} is taken and there is none after it; use --id timestamp or none"
    )]
    NoNumber,
}

/// The name in `raw`: capitals become small, a run of blanks and other signs one `-`, a `.md` at the end goes.
///
/// # Errors
/// [`NameError`], with the remedy. Names must be the same on every computer and must not lead to another folder.
pub fn name(raw: &str) -> Result<Name, NameError> {
    if raw.is_empty() {
        return Err(NameError::Required);
    }
    if raw.trim() != raw {
        return Err(NameError::Whitespace);
    }
    if raw.contains(['/', '\\']) {
        return Err(NameError::Separator);
    }
    let stem = match raw
        .len()
        .checked_sub(3)
        .and_then(|at| raw.split_at_checked(at))
    {
        Some((stem, end)) if end.eq_ignore_ascii_case(".md") => stem,
        _ => raw,
    };
    if stem.chars().count() > MAX_NAME {
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
        Ok(Name(name.to_owned()))
    } else {
        Err(NameError::Required)
    }
}

/// A name from any text: small letters without their accents, what is not `a` to `z`, a digit, `-`
/// or `_` becomes one `-`, none at the ends; `otherwise` when nothing is left. Never an error; may
/// be long.
pub fn slug(text: &str, otherwise: &str) -> String {
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
        "" => otherwise.to_owned(),
        slug => slug.to_owned(),
    }
}

/// `YYYYMMDDHHMMSS-name` in UTC; a second later, as often as it takes, when that is `taken`.
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

/// `NNNNNN_name` with the number after the highest of `existing` (names without `.md`), from `000001`.
///
/// # Errors
/// [`NameError::NoNumber`].
pub fn counted<'a>(
    name: &Name,
    existing: impl IntoIterator<Item = &'a str>,
) -> Result<String, NameError> {
    let highest = existing.into_iter().filter_map(number).max().unwrap_or(0);
    if highest >= MOST_NUMBER {
        return Err(NameError::NoNumber);
    }
    Ok(format!("{:06}_{name}", highest + 1))
}

/// The number before a name: exactly six digits and `_`.
pub fn number(name: &str) -> Option<u32> {
    let (digits, rest) = name.split_once('_')?;
    let six = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    (six && !rest.is_empty()).then(|| digits.parse().ok())?
}
