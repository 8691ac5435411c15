//! Paths inside the project and web addresses.

use std::fmt;

use percent_encoding::percent_decode_str;
use serde::{Serialize, Serializer};

use crate::hidden;

/// A path relative to the root of the project: components joined by `/`, none of them empty, `.` or
/// `..`, without a drive letter, control characters or invisible characters. The path may not
/// exist, and a symbolic link may lead out of the project; whoever opens it must check that.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectPath(String);

/// Error of a text that is not a valid path or address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The path has no components.
    #[error("the path is empty")]
    Empty,
    /// A component is `..`.
    #[error("`..` leads out of its folder")]
    Parent,
    /// The path has a drive letter such as `C:`.
    #[error("a drive letter names a place outside of the project")]
    Drive,
    /// An address where only paths are allowed.
    #[error("it is an address, and only a path in the project is allowed here")]
    Url,
    /// An address with a scheme other than `http` and `https`.
    #[error("its scheme is neither `http` nor `https`")]
    Scheme,
    /// An address without a host, or with white space.
    #[error("the address is incomplete")]
    BadUrl,
    /// NUL or another control character.
    #[error("it contains a control character")]
    Control,
    /// A character that is invisible or changes the writing direction.
    #[error("it contains an invisible character, {}", code_point(*.0))]
    Invisible(char),
    /// The percent-encoding does not decode to UTF-8.
    #[error("its percent-encoding does not decode to UTF-8")]
    Encoding,
    /// A backslash before punctuation in a link, which Markdown would drop.
    #[error("Markdown drops a backslash before punctuation, so the path is ambiguous")]
    Escape,
    /// A leading slash where an absolute path could be meant.
    #[error("it is absolute")]
    Absolute,
}

impl PathError {
    /// Returns what to write instead.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Empty => "Name a file or a folder of the project, such as `src/main.rs`.",
            Self::Parent => "Write the path from the project's root, without `..`.",
            Self::Drive | Self::Absolute => {
                "Write the path from the project's root, such as `src/main.rs`."
            }
            Self::Url => "Name a file of the project here; use `READ` to look at an address.",
            Self::Scheme => "Use an address that starts with `https://`, or a path in the project.",
            Self::BadUrl => "Write the whole address, such as `https://example.com/docs`.",
            Self::Control => "Remove the control characters.",
            Self::Invisible(_) => "Remove the character: the path must be what a reader sees.",
            Self::Encoding => "Write the path as it is, without `%`, in `backticks`.",
            Self::Escape => "Write `/` between the parts of the path.",
        }
    }
}

impl ProjectPath {
    /// Parses a path. Backslashes count as slashes; leading, trailing and repeated slashes and `.`
    /// are dropped.
    ///
    /// ```
    /// use planwright_formats::action_plan::ProjectPath;
    ///
    /// assert_eq!(ProjectPath::parse(r"/docs\.\a.md").unwrap().as_str(), "docs/a.md");
    /// assert!(ProjectPath::parse("docs/../../etc").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if is_normalized(text) {
            return Ok(Self(text.to_owned()));
        }
        if text.chars().any(char::is_control) {
            return Err(PathError::Control);
        }
        check_visible(text)?;
        if has_scheme(text) {
            return Err(PathError::Url);
        }
        let mut path = String::with_capacity(text.len());
        for part in text.split(['/', '\\']) {
            let bare = part.trim();
            if bare == ".." {
                return Err(PathError::Parent);
            }
            if bare.is_empty() || bare == "." {
                continue;
            }
            if path.is_empty() && is_drive(bare) {
                return Err(PathError::Drive);
            }
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(part);
        }
        if path.is_empty() {
            return Err(PathError::Empty);
        }
        // No notation of a plan can express blanks at the ends of a path.
        let path = path.trim();
        if has_scheme(path) {
            return Err(PathError::Url);
        }
        Ok(Self(path.to_owned()))
    }

    /// Parses the target of a link: decodes percent-encoding once, then like
    /// [`ProjectPath::parse`].
    pub fn from_link(target: &str) -> Result<Self, PathError> {
        let path = target.strip_prefix('/').unwrap_or(target);
        if is_normalized(path) {
            return Ok(Self(path.to_owned()));
        }
        if has_scheme(target) {
            return Err(if is_drive(target) {
                PathError::Drive
            } else {
                PathError::Url
            });
        }
        let decoded = percent_decode_str(target)
            .decode_utf8()
            .map_err(|_| PathError::Encoding)?;
        Self::parse(&decoded)
    }

    /// Returns the path with `/` between its components and none at its ends.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the parent folders from the nearest to the outermost, without the root of the
    /// project.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> {
        let slashes = self.0.rmatch_indices('/');
        slashes.map(|(at, _)| Self(self.0[..at].to_owned()))
    }
}

impl fmt::Display for ProjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for ProjectPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Something that an action reads or hands on. Serialized as its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Resource {
    /// A file or a folder.
    Path(ProjectPath),
    /// An `http` or `https` address, unchanged.
    Url(String),
}

impl Resource {
    /// Parses a path or an address.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        match parse_url(text)? {
            Some(url) => Ok(Self::Url(url)),
            None => ProjectPath::parse(text).map(Self::Path),
        }
    }

    /// Parses the target of a link. Only a path is percent-decoded.
    pub fn from_link(target: &str) -> Result<Self, PathError> {
        match parse_url(target)? {
            Some(url) => Ok(Self::Url(url)),
            None => ProjectPath::from_link(target).map(Self::Path),
        }
    }

    /// Returns the path or the address.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Path(path) => path.as_str(),
            Self::Url(url) => url,
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns a valid address, or `None` if `text` is not an address.
fn parse_url(text: &str) -> Result<Option<String>, PathError> {
    if !has_scheme(text) || is_drive(text) {
        return Ok(None);
    }
    let scheme = text.split(':').next().unwrap_or_default();
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return Err(PathError::Scheme);
    }
    let odd = |c: char| c.is_whitespace() || c.is_control() || c == '<' || c == '>' || c == '\\';
    let parsed = url::Url::parse(text).map_err(|_| PathError::BadUrl)?;
    if parsed.host_str().is_none_or(str::is_empty) {
        return Err(PathError::BadUrl);
    }
    check_visible(text)?;
    if text.contains(odd) || !text[scheme.len()..].starts_with("://") {
        return Err(PathError::BadUrl);
    }
    Ok(Some(text.to_owned()))
}

/// Rejects invisible characters: a reader who approves a path must see all of it.
fn check_visible(text: &str) -> Result<(), PathError> {
    let invisible = text.chars().find(|c| hidden::is_invisible(*c));
    invisible.map_or(Ok(()), |c| Err(PathError::Invisible(c)))
}

fn code_point(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// Whether a path consists of ASCII letters, digits, `_` and `-`, with single dots inside and
/// single slashes between its components. Most paths do, and they need no further parsing.
fn is_normalized(path: &str) -> bool {
    let mut before = b'/';
    for byte in path.bytes() {
        let inside = before != b'/' && before != b'.';
        let fine = match byte {
            b'/' | b'.' => inside,
            byte => byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-',
        };
        if !fine {
            return false;
        }
        before = byte;
    }
    before != b'/'
}

/// Whether `text` starts with a URI scheme of two or more characters (RFC 3986, 3.1).
fn has_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        let valid = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(valid)
    })
}

fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests;
