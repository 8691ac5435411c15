//! Paths inside the project and addresses, as actions name them.

use std::fmt;

use percent_encoding::percent_decode_str;
use serde::{Serialize, Serializer};

use crate::hidden;

/// A path relative to the project's root: components joined by `/`, none of them empty, `.` or `..`; no drive letter, no
/// control character, no invisible character. Whether something is there, and whether a symbolic
/// link leads out, is for whoever opens it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectPath(String);

/// Why a text is no [`ProjectPath`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Nothing is left of it.
    #[error("it names nothing below the project's root")]
    Empty,
    /// A component is `..`.
    #[error("`..` leads out of where it stands")]
    Parent,
    /// `C:` and the like.
    #[error("a drive letter names a place outside of the project")]
    Drive,
    /// `scheme:` where only paths are allowed, or another scheme than `http` and `https`.
    #[error("it is an address, and only a path in the project is allowed here")]
    Url,
    /// Another scheme than `http` and `https` where addresses are allowed.
    #[error("its scheme is neither `http` nor `https`")]
    Scheme,
    /// An address without a host, or with white space.
    #[error("it is no complete address")]
    BadUrl,
    /// NUL or another control character.
    #[error("it contains a control character")]
    Control,
    /// A character that is not shown, or that turns the direction of the text around it.
    #[error("it contains a character that cannot be seen, {}", code_point(*.0))]
    Invisible(char),
    /// Percent-decoding gives no UTF-8.
    #[error("its percent-encoding does not decode to UTF-8")]
    Encoding,
    /// A backslash before punctuation in a link: Markdown would drop it.
    #[error("Markdown drops a backslash before punctuation, so the path is ambiguous")]
    Escape,
    /// It starts with a slash where a path of the whole machine could be meant.
    #[error("it is absolute")]
    Absolute,
}

impl PathError {
    /// What to write instead.
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
            Self::Encoding => "Write the path as it is, without `%`, in `back-ticks`.",
            Self::Escape => "Write `/` between the parts of the path.",
        }
    }
}

impl ProjectPath {
    /// Reads a path as it was written. Backslashes count as slashes; slashes at the start, `.` and doubled or trailing
    /// slashes are dropped.
    ///
    /// ```
    /// use planwright_formats::action_plan::ProjectPath;
    ///
    /// assert_eq!(ProjectPath::parse(r"/docs\.\a.md").unwrap().as_str(), "docs/a.md");
    /// assert!(ProjectPath::parse("docs/../../etc").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if is_settled(text) {
            return Ok(Self(text.to_owned()));
        }
        if text.chars().any(char::is_control) {
            return Err(PathError::Control);
        }
        visible(text)?;
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
        // Blanks at the ends cannot be written in any of the forms that a path has in a plan.
        let path = path.trim();
        if has_scheme(path) {
            return Err(PathError::Url);
        }
        Ok(Self(path.to_owned()))
    }

    /// Reads the target of a link: percent-decoded once, then as [`ProjectPath::parse`] does.
    pub fn from_link(target: &str) -> Result<Self, PathError> {
        let path = target.strip_prefix('/').unwrap_or(target);
        if is_settled(path) {
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

    /// The path, with `/` between its components and none at its ends.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last component.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The folders it is in, from the nearest to the outermost; the project's root is not among them.
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

impl AsRef<str> for ProjectPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Serialize for ProjectPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// What an action reads or hands on: something of the project, or a page of the web. As JSON: its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Resource {
    /// A file or a folder.
    Path(ProjectPath),
    /// An `http` or `https` address, as it was written.
    Url(String),
}

impl Resource {
    /// Reads a path or an address as it was written.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        match url(text)? {
            Some(url) => Ok(Self::Url(url)),
            None => ProjectPath::parse(text).map(Self::Path),
        }
    }

    /// Reads the target of a link; only a path is percent-decoded.
    pub fn from_link(target: &str) -> Result<Self, PathError> {
        match url(target)? {
            Some(url) => Ok(Self::Url(url)),
            None => ProjectPath::from_link(target).map(Self::Path),
        }
    }

    /// The path or the address.
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

/// `Some` for a usable address, `None` for what is none at all.
fn url(text: &str) -> Result<Option<String>, PathError> {
    if !has_scheme(text) || is_drive(text) {
        return Ok(None);
    }
    let scheme = text.split(':').next().unwrap_or_default();
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return Err(PathError::Scheme);
    }
    let odd = |c: char| c.is_whitespace() || c.is_control() || c == '<' || c == '>' || c == '\\';
    match url::Url::parse(text) {
        Ok(parsed) if parsed.host_str().is_some_and(|host| !host.is_empty()) => {
            visible(text)?;
            if text.contains(odd) || !text[scheme.len()..].starts_with("://") {
                return Err(PathError::BadUrl);
            }
            Ok(Some(text.to_owned()))
        }
        _ => Err(PathError::BadUrl),
    }
}

/// What is approved must be what is done, so nothing may stand in a path that a reader does not
/// see.
fn visible(text: &str) -> Result<(), PathError> {
    match text.chars().find(|c| hidden::is_invisible(*c)) {
        Some(c) => Err(PathError::Invisible(c)),
        None => Ok(()),
    }
}

fn code_point(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// Most paths: parts of ASCII letters, digits, `_` and `-`, with single dots inside, between single slashes. Nothing has to
/// be done to them.
fn is_settled(path: &str) -> bool {
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

/// It starts like an address (RFC 3986, 3.1): letter, letters, digits, `+`, `-`, `.`, then a colon.
fn has_scheme(text: &str) -> bool {
    match text.split_once(':') {
        Some((scheme, _)) => {
            scheme.len() > 1
                && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        }
        None => false,
    }
}

fn is_drive(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':'
}

#[cfg(test)]
mod tests;
