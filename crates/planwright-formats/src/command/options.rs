//! Parses options: the `name=value` words between a command and its guidance.
//!
//! ```text
//! /save-plan session=logs/search.jsonl@plans keep the old endpoint
//! /save-plan session="my logs/search.jsonl" session-id=0b2f…
//! ```
//!
//! A word is an option if its name is one of the command's, or differs from one in a single letter.
//! The latter is an error, because the bot might otherwise save another plan than the one that was
//! meant. The first other word begins the guidance, whatever it contains. Options are kept as typed
//! and checked later by [`read_options`], so that the bot can reply to a comment with an invalid
//! one.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Command;

/// Maximum length of a path, in characters. File systems accept no longer ones.
const MAX_PATH: usize = 1_000;
/// Maximum length of the name of a branch, tag or commit, in characters. Git stores refs in files,
/// whose names have at most 255 bytes.
const MAX_REFERENCE: usize = 250;
/// Maximum length of a session id, in bytes. They are UUIDs.
const MAX_ID: usize = 100;
/// Maximum length of a login, in bytes: GitHub's 39, and room for the suffix of a managed account.
const MAX_LOGIN: usize = 60;

/// Quotation marks around a value with blanks. Phones replace straight ones by curly ones.
const QUOTES: [(char, char); 5] = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('„', '“')];

/// The setting of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionName {
    /// The session log to read.
    Session,
    /// The session of the log to use.
    SessionId,
    /// Topics to research before the plan is written.
    Research,
    /// The account whose posts contain the plan.
    Author,
    /// Whether the plan's hidden text is kept or removed.
    Hidden,
    /// The post that contains the plan.
    From,
    /// Whether to save a plan that is already saved.
    Again,
}

/// The definition of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionSpec {
    /// What the option sets.
    pub option: OptionName,
    /// The name before the `=`; ASCII case does not matter.
    pub name: &'static str,
    /// Form of the value, for help and errors.
    pub value: &'static str,
    /// One sentence for help.
    pub summary: &'static str,
}

/// Options of the commands that save a plan.
pub(super) const SOURCES: &[OptionSpec] = &[
    OptionSpec {
        option: OptionName::Session,
        name: "session",
        value: "PATH[@REF]",
        summary: "Take the plan from the Claude Code session log at this path of this repository, \
                  at this branch, tag or commit (the default branch when left out). Quote a path \
                  that contains spaces.",
    },
    OptionSpec {
        option: OptionName::SessionId,
        name: "session-id",
        value: "ID",
        summary: "Use only this session of a log with several.",
    },
    OptionSpec {
        option: OptionName::Author,
        name: "author",
        value: "LOGIN",
        summary: "Take the plan from the posts of this account. Needed if the author has no write access.",
    },
    OptionSpec {
        option: OptionName::Hidden,
        name: "hidden",
        value: "keep",
        summary: "Also save text of the plan that is invisible on GitHub, such as HTML comments. \
                  `hidden=remove` leaves it out.",
    },
    OptionSpec {
        option: OptionName::From,
        name: "from",
        value: "POST",
        summary: "Take the plan from this post: the address of a comment here, its id, or \
                  `opening` for the text that opens the conversation. The address alone after the \
                  command means the same.",
    },
    OptionSpec {
        option: OptionName::Again,
        name: "again",
        value: "yes",
        summary: "Save the plan again, even if an open issue already contains it.",
    },
];

/// Options of the command that writes a plan.
pub(super) const RESEARCH: &[OptionSpec] = &[OptionSpec {
    option: OptionName::Research,
    name: "research",
    value: "\"TOPIC; TOPIC\"",
    summary: "Research these topics first; the plan is based on the reports.",
}];

impl fmt::Display for OptionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

/// An option as it was typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawOption {
    /// The name before the `=`.
    pub name: String,
    /// The value after the `=`, without quotes. A value whose quote is not closed keeps the opening
    /// one.
    pub value: String,
}

/// A file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFile {
    /// Path from the repository's root, separated by `/`; no segment is empty, `.` or `..`.
    pub path: String,
    /// Branch, tag or commit; `None` for the default branch.
    pub reference: Option<String>,
}

/// The parsed options of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// `session=`
    pub session: Option<RepositoryFile>,
    /// `session-id=`
    pub session_id: Option<String>,
    /// `research=`, as typed
    pub research: Option<String>,
    /// `author=`, without `@`
    pub author: Option<String>,
    /// `hidden=`
    pub hidden: Option<Hidden>,
    /// `from=`
    pub from: Option<Pointer>,
    /// `again=yes`
    pub again: bool,
}

/// A reference to a post of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pointer {
    /// The text that opens the conversation.
    Opening,
    /// The comment with this id.
    Comment(u64),
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opening => f.write_str("the opening text"),
            Self::Comment(id) => write!(f, "comment {id}"),
        }
    }
}

/// The text before the id in the URL of a comment on an issue or pull request.
const COMMENT_ANCHOR: &str = "issuecomment-";

/// Parses the URL or the id of a post: `https://…#issuecomment-42`, `#issuecomment-42`, `42`,
/// `opening`.
///
/// # Errors
/// Returns what is wrong with it, as the end of a sentence.
fn pointer(text: &str) -> Result<Pointer, &'static str> {
    let text = text.trim().trim_matches(['<', '>']);
    if text.eq_ignore_ascii_case("opening") {
        return Ok(Pointer::Opening);
    }
    if text.contains("#discussion_r") || text.contains("#pullrequestreview-") {
        return Err(
            "it is the address of a review, and plans are read from the comments of the conversation only",
        );
    }
    let id = match text.rsplit_once(COMMENT_ANCHOR) {
        Some((_, id)) => id,
        None => text.strip_prefix('#').unwrap_or(text),
    };
    match id.parse() {
        Ok(id) if id > 0 => Ok(Pointer::Comment(id)),
        _ => Err("its value must be the address of a comment here, the id of one, or `opening`"),
    }
}

/// What happens to text in a plan that people do not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// It is saved with the plan.
    Keep,
    /// It is removed.
    Remove,
}

/// An option that cannot be used. `Display` yields a sentence for the person who typed it, without
/// a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the option `{}` cannot be used: {why}", given.name)]
pub struct OptionError {
    /// The option as typed.
    pub given: RawOption,
    /// What is wrong with it.
    pub why: String,
    /// The definition of the option.
    pub spec: &'static OptionSpec,
}

/// Splits the options off the start of `text`, which follows a command with the options `specs`.
pub(super) fn split_options<'a>(
    specs: &'static [OptionSpec],
    text: &'a str,
) -> (Vec<RawOption>, &'a str) {
    let mut given = Vec::new();
    let mut rest = text.trim_start();
    while let Some((name, after)) = name(rest)
        && find_spec(specs, name).is_some()
    {
        let (value, after) = value(after);
        given.push(RawOption {
            name: name.to_owned(),
            value,
        });
        rest = after.trim_start();
    }
    // The URL of a comment alone refers to the plan.
    let url = rest.trim();
    let from = specs.iter().find(|spec| spec.option == OptionName::From);
    if let Some(spec) = from
        && url.contains(COMMENT_ANCHOR)
        && !url.contains(char::is_whitespace)
    {
        given.push(RawOption {
            name: spec.name.to_owned(),
            value: url.to_owned(),
        });
        rest = &rest[rest.len()..];
    }
    (given, rest)
}

/// Checks and converts the options that [`super::parse`] found after `command`.
///
/// # Errors
/// Returns the first option that cannot be used.
pub fn read_options(command: Command, given: &[RawOption]) -> Result<Options, OptionError> {
    let mut options = Options::default();
    for one in given {
        // A stored command may have an option that this version does not know.
        let Some(spec) = find_spec(command.spec().options, &one.name) else {
            continue;
        };
        let wrong = |why: &str| OptionError {
            given: one.clone(),
            why: why.to_owned(),
            spec,
        };
        if !spec.name.eq_ignore_ascii_case(&one.name) {
            return Err(wrong(&format!(
                "there is no such option; the closest is `{}`",
                spec.name
            )));
        }
        // A quoted value may begin with another quotation mark, which is closed then.
        let unclosed = |(open, close): &(char, char)| {
            let rest = one.value.strip_prefix(*open);
            rest.is_some_and(|rest| !rest.contains(*close))
        };
        if QUOTES.iter().any(unclosed) {
            return Err(wrong("its quotation mark is not closed"));
        }
        if one.value.chars().any(char::is_control) {
            return Err(wrong("its value contains a control character"));
        }
        let twice = match spec.option {
            OptionName::Session => {
                let file = file(&one.value).map_err(wrong)?;
                options.session.replace(file).is_some()
            }
            OptionName::SessionId => {
                let id = id(&one.value).map_err(wrong)?;
                options.session_id.replace(id.to_owned()).is_some()
            }
            OptionName::Research if one.value.trim().is_empty() => {
                return Err(wrong("it names no topic"));
            }
            OptionName::Research => options.research.replace(one.value.clone()).is_some(),
            OptionName::Author => {
                let login = login(&one.value).map_err(wrong)?;
                options.author.replace(login.to_owned()).is_some()
            }
            OptionName::Hidden => {
                let hidden = match one.value.to_ascii_lowercase().as_str() {
                    "keep" => Hidden::Keep,
                    "remove" => Hidden::Remove,
                    _ => return Err(wrong("its value must be `keep` or `remove`")),
                };
                options.hidden.replace(hidden).is_some()
            }
            OptionName::From => {
                let pointer = pointer(&one.value).map_err(wrong)?;
                options.from.replace(pointer).is_some()
            }
            OptionName::Again if !one.value.eq_ignore_ascii_case("yes") => {
                return Err(wrong("its value must be `yes`"));
            }
            OptionName::Again => std::mem::replace(&mut options.again, true),
        };
        if twice {
            return Err(wrong("it is given twice"));
        }
    }
    Ok(options)
}

/// Splits the name off `name=` at the start of `text`, and returns it with the rest.
fn name(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))?;
    let after = text[end..].strip_prefix('=')?;
    (end > 0).then_some((&text[..end], after))
}

/// Returns the option called `typed`, up to one missing, additional, wrong or transposed letter.
fn find_spec(specs: &'static [OptionSpec], typed: &str) -> Option<&'static OptionSpec> {
    let typed = typed.to_ascii_lowercase();
    let exact = specs.iter().find(|spec| spec.name == typed);
    exact.or_else(|| {
        specs
            .iter()
            // Longer words are not near and need not be compared.
            .filter(|spec| typed.len() <= spec.name.len() + 1)
            .find(|spec| strsim::osa_distance(spec.name, &typed) <= 1)
    })
}

/// Splits the value, a word or a quotation, off the start of `text`, and returns it with the rest.
fn value(text: &str) -> (String, &str) {
    let quote = QUOTES
        .iter()
        .find(|(open, _)| text.starts_with(*open))
        .map(|(open, close)| (open.len_utf8(), *close));
    let (quoted, rest) = match quote {
        None => ("", text),
        Some((from, close)) => {
            // Searches no further than needed: there may be thousands of values on one line.
            let to = text[from..]
                .find([close, '\n', '\r'])
                .map_or(text.len(), |length| from + length);
            if !text[to..].starts_with(close) {
                return (text[..to].trim_end().to_owned(), &text[to..]);
            }
            (&text[from..to], &text[to + close.len_utf8()..])
        }
    };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    (format!("{quoted}{}", &rest[..end]), &rest[end..])
}

/// Parses `PATH[@REF]`.
fn file(value: &str) -> Result<RepositoryFile, &'static str> {
    let (path, reference) = match value.rsplit_once('@') {
        Some((path, reference)) => (path, Some(reference)),
        None => (value, None),
    };
    let path = path.strip_prefix("./").unwrap_or(path);
    let drive = path.as_bytes().get(1) == Some(&b':');
    if path.is_empty() {
        return Err("it names no file");
    }
    if path.contains("://") {
        return Err("a URL is not a path; give the file's path inside this repository");
    }
    if path.starts_with(['/', '~']) || drive {
        return Err("the path must begin inside this repository, not on your computer");
    }
    if path.contains('\\') {
        return Err("its path contains a backslash; separate segments with `/`");
    }
    if path.chars().count() > MAX_PATH {
        return Err("its path is longer than 1,000 characters");
    }
    if path.ends_with('/') {
        return Err("it names a directory, not a file");
    }
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err("its path has an empty segment, `.` or `..`");
    }
    if let Some(reference) = reference {
        self::reference(reference)?;
    }
    Ok(RepositoryFile {
        path: path.to_owned(),
        reference: reference.map(str::to_owned),
    })
}

/// Checks the part of git's rules for refs (`git help check-ref-format`) that keeps a ref from
/// being parsed as something else.
fn reference(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("no branch, tag or commit follows its `@`");
    }
    if name.chars().count() > MAX_REFERENCE {
        return Err("the text after its `@` is longer than 250 characters");
    }
    let odd = |c: char| c.is_whitespace() || "~^:?*[\\".contains(c);
    if name.contains(odd)
        || name.contains("..")
        || name.contains("//")
        || name.contains("/.")
        || name.starts_with(['-', '/', '.'])
        || name.ends_with(['/', '.'])
    {
        return Err("the text after its last `@` is not a valid branch, tag or commit");
    }
    // The refs of a pull request may come from a fork, where anybody can write. Git also finds
    // `refs/NAME` as `NAME`.
    let full = name.strip_prefix("refs/");
    let pull = full.unwrap_or(name).split('/').next() == Some("pull") && name.contains('/');
    let other = full.is_some_and(|rest| !rest.starts_with("heads/") && !rest.starts_with("tags/"));
    if pull || other {
        return Err(
            "the text after its last `@` is a pull request ref or an internal ref of GitHub; name \
             a branch, tag or commit of this repository",
        );
    }
    Ok(())
}

/// Parses the login of an account, with or without a leading `@`. The login of an App ends in
/// `[bot]`.
fn login(value: &str) -> Result<&str, &'static str> {
    let login = value.strip_prefix('@').unwrap_or(value);
    let name = login.strip_suffix("[bot]").unwrap_or(login);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > MAX_LOGIN || !name.chars().all(plain) {
        return Err("its value must be the login of a GitHub account");
    }
    Ok(login)
}

/// Checks a session id.
fn id(value: &str) -> Result<&str, &'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if value.is_empty() {
        return Err("it names no session");
    }
    if value.len() > MAX_ID || !value.chars().all(plain) {
        return Err("a session id has letters, digits and hyphens, at most 100 of them");
    }
    Ok(value)
}

#[cfg(test)]
mod tests;
