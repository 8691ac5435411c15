//! Options: the `name=value` words between a command and its guidance.
//!
//! ```text
//! /save-plan session=logs/search.jsonl@plans keep the old endpoint
//! /save-plan session="my logs/search.jsonl" session-id=0b2f…
//! ```
//!
//! A word counts as an option when its name is one of the command's, or is off by one letter (that is an error, because
//! the bot would otherwise save another plan than the one that was meant). The first other word begins the guidance,
//! whatever it holds. Options are kept as typed and judged by [`read`], so that a comment with a wrong one is answered.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Command;

/// Longest path, in characters. Longer than what file systems take is a mistake.
const PATH_MAX: usize = 1_000;
/// Longest name of a branch, tag or commit, in characters. Git keeps refs in files, whose names end at 255 bytes.
const REFERENCE_MAX: usize = 250;
/// Longest session id, in characters. They are UUIDs.
const ID_MAX: usize = 100;
/// Longest login, in characters: GitHub's 39, and room for the suffix of a managed account.
const LOGIN_MAX: usize = 60;

/// Marks that hold a value with blanks together; telephones write the curly ones by themselves.
const QUOTES: [(char, char); 5] = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('„', '“')];

/// What an option sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// The session log to read.
    Session,
    /// Which session of the log counts.
    SessionId,
    /// Topics to be looked into before the plan is written.
    Research,
    /// Whose posts hold the plan.
    Author,
    /// What becomes of the plan's hidden text.
    Hidden,
    /// Which post holds the plan.
    From,
    /// A plan that is saved already is saved once more.
    Again,
}

/// Everything there is to know about one option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionSpec {
    /// What it sets.
    pub option: Name,
    /// What is typed before the `=`; ASCII case does not matter.
    pub name: &'static str,
    /// Form of the value, for help and errors.
    pub value: &'static str,
    /// One sentence for help.
    pub summary: &'static str,
}

/// For the commands that save a plan: where it comes from, and what becomes of it.
pub(super) const SOURCES: &[OptionSpec] = &[
    OptionSpec {
        option: Name::Session,
        name: "session",
        value: "PATH[@REF]",
        summary: "Take the plan from the Claude Code session log at this path of this repository, at this branch, tag or \
                  commit (the default branch when left out). Quotes hold a path with blanks together.",
    },
    OptionSpec {
        option: Name::SessionId,
        name: "session-id",
        value: "ID",
        summary: "Of a log that holds several sessions, only this one counts.",
    },
    OptionSpec {
        option: Name::Author,
        name: "author",
        value: "LOGIN",
        summary: "Take the plan from the posts of this account. Needed where the author has no write access.",
    },
    OptionSpec {
        option: Name::Hidden,
        name: "hidden",
        value: "keep",
        summary: "Save text of the plan that people do not see on GitHub, such as HTML comments, too. `hidden=remove` leaves \
                  it out.",
    },
    OptionSpec {
        option: Name::From,
        name: "from",
        value: "POST",
        summary: "Take the plan from this post: the address of a comment here, its id, or `opening` for the text that \
                  opens the conversation. The address alone behind the command means the same.",
    },
    OptionSpec {
        option: Name::Again,
        name: "again",
        value: "yes",
        summary: "Save the plan once more, although an open issue holds it already.",
    },
];

/// What is done before a plan is written.
pub(super) const RESEARCH: &[OptionSpec] = &[OptionSpec {
    option: Name::Research,
    name: "research",
    value: "\"TOPIC; TOPIC\"",
    summary: "Let research agents look into these topics first; the plan is written with their reports.",
}];

impl fmt::Display for OptionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

/// An option as it was typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// What stands before the `=`.
    pub name: String,
    /// What stands behind it, without quotes. A value whose quote is not closed keeps the opening one.
    pub value: String,
}

/// A file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFile {
    /// Path from the repository's root, segments divided by `/`, none of them empty, `.` or `..`.
    pub path: String,
    /// Branch, tag or commit; `None` for the default branch.
    pub reference: Option<String>,
}

/// A command's options, read.
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

/// A post that a command points to.
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

/// What is before the id in the address of a comment on an issue or pull request.
const COMMENT_ANCHOR: &str = "issuecomment-";

/// The post that `text` is the address or the id of: `https://…#issuecomment-42`, `#issuecomment-42`, `42`,
/// `opening`.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
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

/// What becomes of text in a plan that people do not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// It is saved with the plan.
    Keep,
    /// It is left out.
    Remove,
}

/// An option that cannot be used. `Display` is a sentence for the person who typed it, without its full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the option `{}` cannot be used: {why}", given.name)]
pub struct OptionError {
    /// The option as typed.
    pub given: Given,
    /// What is wrong with it.
    pub why: String,
    /// What it should look like.
    pub spec: &'static OptionSpec,
}

/// Takes the options off the start of `text`, which stands behind a command that has the options `specs`.
pub(super) fn take<'a>(specs: &'static [OptionSpec], text: &'a str) -> (Vec<Given>, &'a str) {
    let mut given = Vec::new();
    let mut rest = text.trim_start();
    while let Some((name, behind)) = name(rest)
        && meant(specs, name).is_some()
    {
        let (value, behind) = value(behind);
        given.push(Given {
            name: name.to_owned(),
            value,
        });
        rest = behind.trim_start();
    }
    // The address of a comment alone points to the plan.
    let address = rest.trim();
    let points = specs.iter().find(|spec| spec.option == Name::From);
    if let Some(spec) = points
        && address.contains(COMMENT_ANCHOR)
        && !address.contains(char::is_whitespace)
    {
        given.push(Given {
            name: spec.name.to_owned(),
            value: address.to_owned(),
        });
        rest = &rest[rest.len()..];
    }
    (given, rest)
}

/// Judges options that [`super::parse`] found behind `command`.
///
/// # Errors
/// The first one that cannot be used.
pub fn read(command: Command, given: &[Given]) -> Result<Options, OptionError> {
    let mut options = Options::default();
    for one in given {
        // A name that a later version took is not known to this one.
        let Some(spec) = meant(command.spec().options, &one.name) else {
            continue;
        };
        let wrong = |why: &str| OptionError {
            given: one.clone(),
            why: why.to_owned(),
            spec,
        };
        if !spec.name.eq_ignore_ascii_case(&one.name) {
            return Err(wrong(&format!(
                "there is no such option; `{}` is probably meant",
                spec.name
            )));
        }
        // A value that was in quotes may begin with other ones, and closes those.
        let unclosed = |(open, close): &(char, char)| {
            let rest = one.value.strip_prefix(*open);
            rest.is_some_and(|rest| !rest.contains(*close))
        };
        if QUOTES.iter().any(unclosed) {
            return Err(wrong("its quote is not closed"));
        }
        if one.value.chars().any(char::is_control) {
            return Err(wrong("its value holds a control character"));
        }
        let twice = match spec.option {
            Name::Session => {
                let file = file(&one.value).map_err(wrong)?;
                options.session.replace(file).is_some()
            }
            Name::SessionId => {
                let id = id(&one.value).map_err(wrong)?;
                options.session_id.replace(id.to_owned()).is_some()
            }
            Name::Research if one.value.trim().is_empty() => {
                return Err(wrong("it names no topic"));
            }
            Name::Research => options.research.replace(one.value.clone()).is_some(),
            Name::Author => {
                let login = login(&one.value).map_err(wrong)?;
                options.author.replace(login.to_owned()).is_some()
            }
            Name::Hidden => {
                let hidden = match one.value.to_ascii_lowercase().as_str() {
                    "keep" => Hidden::Keep,
                    "remove" => Hidden::Remove,
                    _ => return Err(wrong("its value must be `keep` or `remove`")),
                };
                options.hidden.replace(hidden).is_some()
            }
            Name::From => {
                let pointer = pointer(&one.value).map_err(wrong)?;
                options.from.replace(pointer).is_some()
            }
            Name::Again if !one.value.eq_ignore_ascii_case("yes") => {
                return Err(wrong("its value must be `yes`"));
            }
            Name::Again => std::mem::replace(&mut options.again, true),
        };
        if twice {
            return Err(wrong("it is given twice"));
        }
    }
    Ok(options)
}

/// `name=` at the start of `text`, and what stands behind it.
fn name(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))?;
    let behind = text[end..].strip_prefix('=')?;
    (end > 0).then_some((&text[..end], behind))
}

/// The option called `typed`, or nearly so: one letter more, less, other or changed with its neighbour.
fn meant(specs: &'static [OptionSpec], typed: &str) -> Option<&'static OptionSpec> {
    let typed = typed.to_ascii_lowercase();
    let exact = specs.iter().find(|spec| spec.name == typed);
    exact.or_else(|| {
        specs
            .iter()
            // Far longer words are not near, and need not be compared.
            .filter(|spec| typed.len() <= spec.name.len() + 1)
            .find(|spec| strsim::osa_distance(spec.name, &typed) <= 1)
    })
}

/// The value at the start of `text`, a word or something in quotes, and what stands behind it.
fn value(text: &str) -> (String, &str) {
    let quote = QUOTES
        .iter()
        .find(|(open, _)| text.starts_with(*open))
        .map(|(open, close)| (open.len_utf8(), *close));
    let (quoted, rest) = match quote {
        None => ("", text),
        Some((from, close)) => {
            // Not beyond what is needed: there may be thousands of values on one line.
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
        return Err("an address is no path; give the file's path inside this repository");
    }
    if path.starts_with(['/', '~']) || drive {
        return Err("the path must begin inside this repository, not on somebody's machine");
    }
    if path.contains('\\') {
        return Err("its path holds a backslash; segments are divided by `/`");
    }
    if path.chars().count() > PATH_MAX {
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

/// The part of git's rules for refs (`git help check-ref-format`) that keeps a ref from meaning something else.
fn reference(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("behind its `@` there is no branch, tag or commit");
    }
    if name.chars().count() > REFERENCE_MAX {
        return Err("what stands behind its `@` is longer than 250 characters");
    }
    let odd = |c: char| c.is_whitespace() || "~^:?*[\\".contains(c);
    if name.contains(odd)
        || name.contains("..")
        || name.contains("//")
        || name.contains("/.")
        || name.starts_with(['-', '/', '.'])
        || name.ends_with(['/', '.'])
    {
        return Err("what stands behind its last `@` cannot be a branch, tag or commit");
    }
    // What a pull request brings may come from a fork, where anybody may write. Git finds `refs/NAME` under `NAME`, too.
    let full = name.strip_prefix("refs/");
    let pull = full.unwrap_or(name).split('/').next() == Some("pull") && name.contains('/');
    let other = full.is_some_and(|rest| !rest.starts_with("heads/") && !rest.starts_with("tags/"));
    if pull || other {
        return Err(
            "what stands behind its last `@` is a ref of a pull request or of GitHub's own; \
             a branch, a tag or a commit of this repository is read",
        );
    }
    Ok(())
}

/// An account's login, with or without `@` in front; an App's ends in `[bot]`.
fn login(value: &str) -> Result<&str, &'static str> {
    let login = value.strip_prefix('@').unwrap_or(value);
    let name = login.strip_suffix("[bot]").unwrap_or(login);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > LOGIN_MAX || !name.chars().all(plain) {
        return Err("its value must be the login of a GitHub account");
    }
    Ok(login)
}

fn id(value: &str) -> Result<&str, &'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if value.is_empty() {
        return Err("it names no session");
    }
    if value.len() > ID_MAX || !value.chars().all(plain) {
        return Err("a session id has letters, digits and hyphens, at most 100 of them");
    }
    Ok(value)
}

#[cfg(test)]
mod tests;
