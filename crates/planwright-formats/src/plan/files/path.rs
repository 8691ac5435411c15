//! Recognises paths of repository files in words, code spans and the targets of links.

use percent_encoding::percent_decode_str;

use super::words::WORDS;
use crate::hidden;

/// Where a word is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A code span of one word, or a heading of a code block.
    Code,
    /// A word of a longer code span, such as a command.
    Command,
    /// Plain text.
    Prose,
    /// The target of a link.
    Link,
}

/// A path, and what is written with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: String,
    /// The path as it is in the source, unless that has escapes.
    pub(super) written: String,
    pub(super) directory: bool,
    pub(super) certain: bool,
    pub(super) line: Option<u32>,
    /// The symbol of `src/a.rs::Symbol`.
    pub(super) symbol: Option<String>,
}

/// Maximum length of a path, in bytes.
const MAX_LENGTH: usize = 300;

/// Ends of host names: in `docs.rs/serde/a.html` the first component is no directory, nor is it in
/// `Node.js/Express.js`.
pub(crate) const HOST_SUFFIXES: [&str; 16] = [
    "ai", "app", "co", "com", "dev", "edu", "gov", "info", "io", "js", "me", "net", "org", "rs",
    "test", "uk",
];

/// Recognises a path in `word`, which has no white space.
pub(super) fn recognise(word: &str, place: Place) -> Option<Found> {
    if place == Place::Link {
        let decoded = percent_decode_str(word).decode_utf8().ok()?;
        let path = decoded.split(['?', '#']).next()?;
        let fragment = word.split_once('#').map_or("", |(_, fragment)| fragment);
        let absolute = path.starts_with('/');
        let mut found = plain(path.strip_prefix('/').unwrap_or(path), place)?;
        // A site-relative link to a page has no extension.
        found.certain &= !absolute || has_known_name(&found.path) || found.directory;
        found.line = found.line.or_else(|| line_number(fragment));
        return Some(found);
    }
    let word = if place == Place::Code {
        word
    } else {
        option_value(trimmed(word))?
    };
    let absolute = word.strip_prefix('/').filter(|rest| !rest.is_empty());
    let mut found = plain(absolute.unwrap_or(word), place)?;
    if absolute.is_some() {
        // More often a route or a file of the system than one of the repository.
        if !has_known_name(&found.path) {
            return None;
        }
        found.certain = false;
    }
    Some(found)
}

/// Removes punctuation around a word.
fn trimmed(word: &str) -> &str {
    let word = word.trim_start_matches(|c: char| "([{<\"'`“‘«„（「『*→•\u{fffc}".contains(c));
    let word = word
        .trim_end_matches(|c: char| ".,;:!?)]}>\"'`”’»…）」』，。、；：！？*\u{fffc}".contains(c));
    ["'s", "’s"]
        .iter()
        .find_map(|end| word.strip_suffix(end))
        .unwrap_or(word)
}

/// Returns the value of `--config=a.toml`, or a word that is no option.
fn option_value(word: &str) -> Option<&str> {
    match word.rsplit_once('=') {
        Some((_, value)) => Some(trimmed(value)),
        None => (!word.starts_with('-')).then_some(word),
    }
}

fn plain(word: &str, place: Place) -> Option<Found> {
    let foreign = |c: char| {
        c.is_whitespace() && !(c == ' ' && place == Place::Link)
            || c.is_control()
            || hidden::is_invisible(c)
            || "*?{}<>|\"'`,;&!^".contains(c)
    };
    if word.is_empty()
        || word.len() > MAX_LENGTH
        || word.contains(foreign)
        || word.contains("://")
        || word.starts_with(['-', '@', '~', '$', '%', '#', ':', '=', '+'])
    {
        return None;
    }
    let (word, fragment) = word.split_once('#').unwrap_or((word, ""));
    let (word, mut line, symbol) = position(word)?;
    line = line.or_else(|| line_number(fragment));
    let written = word.to_owned();
    let unix = if word.contains('\\') {
        backslashes(word)?
    } else {
        word.to_owned()
    };
    let mut path = unix.as_str();
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    let (path, directory) = match path.strip_suffix('/') {
        Some(path) => (path, true),
        None => (path, false),
    };
    let parts: Vec<&str> = path.split('/').collect();
    let (name, folders) = parts.split_last()?;
    if parts.iter().any(|part| is_no_component(part))
        || !path.contains(char::is_alphabetic)
        || path.contains("path/to")
        || folders.first().is_some_and(|first| is_host(first))
    {
        return None;
    }
    let kind = kind(name);
    let relative = unix.starts_with("./");
    let certain = match (folders.is_empty(), &kind) {
        (true, Kind::Plain) => place == Place::Code && directory,
        (true, Kind::Other) => {
            if place == Place::Prose || directory {
                return None;
            }
            false
        }
        (true, Kind::Known) => place == Place::Link || place == Place::Code && is_source(name),
        (false, Kind::Known) => true,
        (false, Kind::Other) => matches!(place, Place::Code | Place::Link),
        (false, Kind::Plain) => {
            directory && matches!(place, Place::Code | Place::Link) || place == Place::Link
        }
    };
    if folders.is_empty() && kind == Kind::Plain && !directory && !relative && place != Place::Link
    {
        return None;
    }
    let odd = |c: char| "$()[]=~%".contains(c);
    let version = name.rsplit_once('@').is_some_and(|(_, end)| {
        end.trim_start_matches('v')
            .starts_with(|c: char| c.is_ascii_digit())
    });
    let alternatives = folders.iter().any(|part| has_known_extension(part));
    if version {
        return None;
    }
    let generated = WORDS.names().generated.contains(parts[0]);
    Some(Found {
        path: path.to_owned(),
        written,
        directory,
        certain: certain && !path.contains(odd) && !alternatives && !generated,
        line,
        symbol,
    })
}

/// Splits `a.rs:12:3`, `a.rs:3-9`, `a.rs:parse` and `a.rs::Symbol`.
fn position(word: &str) -> Option<(&str, Option<u32>, Option<String>)> {
    let Some((path, rest)) = word.split_once(':') else {
        return Some((word, None, None));
    };
    let numbers = |c: char| c.is_ascii_digit() || "-,:L–".contains(c);
    if !rest.is_empty() && rest.chars().all(numbers) {
        return Some((path, line_number(rest), None));
    }
    let named = has_known_name(path);
    let symbol = rest.trim_start_matches(':');
    let is_symbol = |c: char| c.is_alphanumeric() || "_:.()".contains(c);
    if !named || symbol.is_empty() || !symbol.chars().all(is_symbol) {
        return None;
    }
    Some((path, None, Some(symbol.to_owned())))
}

/// Returns the first number of `L10-L30` or `42:7`.
fn line_number(text: &str) -> Option<u32> {
    let text = text.strip_prefix('L').unwrap_or(text);
    let digits = text.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|line| *line > 0)
}

/// Returns a Windows path with slashes; `None` for regular expressions and drives.
fn backslashes(word: &str) -> Option<String> {
    let parts: Vec<&str> = word.split('\\').collect();
    let plain = |c: char| c.is_alphanumeric() || "._-+@".contains(c);
    let good = parts.len() > 1
        && !word.contains('/')
        && parts
            .iter()
            .all(|part| !part.is_empty() && part.chars().all(plain))
        && parts[..parts.len() - 1]
            .iter()
            .all(|part| *part == "." || part.contains(char::is_alphabetic))
        && has_known_name(parts[parts.len() - 1]);
    good.then(|| parts.join("/"))
}

/// Returns whether a component is empty, a placeholder, or leads elsewhere.
fn is_no_component(part: &str) -> bool {
    let mut run = 1;
    let mut before = '\0';
    let placeholder = part.chars().any(|c| {
        run = if c == before { run + 1 } else { 1 };
        before = c;
        run >= 3 && c.is_uppercase()
    });
    placeholder
        || part.chars().all(|c| c == '.')
        || part.contains("..") && !part.contains('[')
        || part.contains('…')
}

fn is_host(first: &str) -> bool {
    first.rsplit_once('.').is_some_and(|(name, end)| {
        !name.is_empty() && HOST_SUFFIXES.contains(&end) || first == "localhost"
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The name of a file.
    Known,
    /// A name with another extension.
    Other,
    /// A name without extension: perhaps a directory.
    Plain,
}

fn kind(name: &str) -> Kind {
    if WORDS.names().files.contains(name) {
        return Kind::Known;
    }
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return Kind::Plain;
    };
    if stem.is_empty() {
        // `.github` is a directory, and `.rs` an extension.
        return Kind::Plain;
    }
    if is_extension(extension) {
        return Kind::Known;
    }
    let word = extension.len() <= 10
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.chars().all(|c| c.is_ascii_alphanumeric());
    if word && name.starts_with(".env.") {
        Kind::Known
    } else if word && extension.len() > 1 {
        Kind::Other
    } else {
        Kind::Plain
    }
}

fn is_extension(extension: &str) -> bool {
    WORDS.names().extensions.contains(extension)
}

/// Returns whether a component of a path ends with a known file extension.
fn has_known_extension(part: &str) -> bool {
    part.rsplit_once('.')
        .is_some_and(|(stem, extension)| !stem.is_empty() && is_extension(extension))
}

/// Returns whether the last component of `path` is a file's name by its extension or as a whole.
pub(super) fn has_known_name(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    kind(name) == Kind::Known
}

/// Returns whether a name without a directory is certainly that of a file of the repository, and
/// neither a field (`self.c`) nor data.
fn is_source(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return true;
    };
    let field = stem.len() == 1 || WORDS.names().variables.contains(stem);
    !(WORDS.names().data.contains(extension) || field && extension.len() == 1)
}

/// Returns the path in the address of a file or directory of `repository`, and whether it is a
/// directory.
pub(super) fn of_repository(address: &str, repository: &str) -> Option<(String, bool)> {
    let base = repository.trim_end_matches('/');
    let start = address.get(..base.len())?;
    if base.is_empty() || !start.eq_ignore_ascii_case(base) {
        return None;
    }
    let rest = address[base.len()..].strip_prefix('/')?;
    let (view, rest) = rest.split_once('/')?;
    let (_, path) = rest.split_once('/')?;
    match view {
        "blob" | "blame" | "edit" | "raw" => Some((path.to_owned(), false)),
        "tree" => Some((path.to_owned(), true)),
        _ => None,
    }
}
