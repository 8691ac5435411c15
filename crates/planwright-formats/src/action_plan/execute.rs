//! The command of an `EXECUTE`: the plain `cd` and `export` lines at its top become folder and environment. No shell is
//! imitated: a line there that is not plain is an error, and below the first other line nothing is looked at. Blank lines
//! between them do not count.

use super::path::{PathError, ProjectPath};

/// What stands at the top of a command, and the rest.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) cwd: Option<ProjectPath>,
    pub(super) env: Vec<(String, String)>,
    /// Trimmed; may be empty.
    pub(super) command: String,
}

/// A line at the top that cannot be taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadLine {
    /// From 0.
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) why: Why,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Not the plain form.
    Form,
    Path(PathError),
    /// No name of a variable.
    Name,
    /// Set before.
    Twice,
}

/// Splits the text of a command block. All bad lines of the top come together.
pub(super) fn split(block: &str) -> Result<Header, Vec<BadLine>> {
    let mut header = Header::default();
    let mut bad = Vec::new();
    let skipped = block.len() - block.trim_start().len();
    let mut number = block[..skipped].matches('\n').count();
    let mut rest = block.trim();
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let trimmed = line.trim();
        if !trimmed.is_empty() && !trimmed.starts_with("cd") && !trimmed.starts_with("export") {
            break;
        }
        let word = trimmed
            .split(char::is_whitespace)
            .next()
            .unwrap_or_default();
        // `cd;`, `cd&&` and the like are the same command with something behind it.
        let word = word.split([';', '&', '|', '#']).next().unwrap_or_default();
        let taken = match word {
            "cd" => folder(line, &mut header),
            "export" => variable(line, &mut header),
            "" if trimmed.is_empty() => Ok(()),
            _ => break,
        };
        if let Err(why) = taken {
            bad.push(BadLine {
                line: number,
                text: trimmed.to_owned(),
                why,
            });
        }
        number += 1;
        rest = after;
    }
    rest.trim().clone_into(&mut header.command);
    if bad.is_empty() { Ok(header) } else { Err(bad) }
}

fn folder(line: &str, header: &mut Header) -> Result<(), Why> {
    let argument = line.strip_prefix("cd ").ok_or(Why::Form)?;
    let argument = word(argument.trim_end()).ok_or(Why::Form)?;
    if argument.starts_with('-') || argument.is_empty() {
        return Err(Why::Form);
    }
    let path = cwd(argument).map_err(Why::Path)?;
    if header.cwd.replace(path).is_some() {
        return Err(Why::Twice);
    }
    Ok(())
}

fn variable(line: &str, header: &mut Header) -> Result<(), Why> {
    let argument = line.strip_prefix("export ").ok_or(Why::Form)?;
    let (name, value) = argument.trim_end().split_once('=').ok_or(Why::Form)?;
    let value = if value.is_empty() {
        value
    } else {
        word(value).ok_or(Why::Form)?
    };
    if !is_name(name) {
        return Err(Why::Name);
    }
    if header.env.iter().any(|(known, _)| known == name) {
        return Err(Why::Twice);
    }
    header.env.push((name.to_owned(), value.to_owned()));
    Ok(())
}

/// A folder as it is written in a command or behind `cwd`: one that would be absolute to a shell is refused instead of
/// being moved into the project.
pub(super) fn cwd(text: &str) -> Result<ProjectPath, PathError> {
    if text.starts_with(['/', '\\', '~']) {
        return Err(PathError::Absolute);
    }
    ProjectPath::parse(text)
}

/// The name of an environment variable (POSIX.1-2017, 3.235, and lower case).
pub(super) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// One word that every shell takes as it is: plain characters, or a matching pair of quotes around characters that mean
/// nothing inside of them.
fn word(text: &str) -> Option<&str> {
    for (quote, special) in [('\'', "'"), ('"', "\"$`\\!")] {
        if let Some(inner) = text.strip_prefix(quote) {
            let inner = inner.strip_suffix(quote)?;
            return (!inner.contains(|c: char| special.contains(c) || c.is_control()))
                .then_some(inner);
        }
    }
    let plain = |c: char| {
        c.is_ascii_alphanumeric()
            || "_@%+=:,./-".contains(c)
            || (!c.is_ascii() && c.is_alphanumeric())
    };
    (!text.is_empty() && text.chars().all(plain)).then_some(text)
}

#[cfg(test)]
mod tests;
