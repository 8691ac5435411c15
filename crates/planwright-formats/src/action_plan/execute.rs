//! Parses the command of an `EXECUTE`: plain `cd` and `export` lines at its top become its folder
//! and environment.
//!
//! No shell syntax is interpreted. A `cd` or `export` line at the top that is not plain is an
//! error, and everything from the first other line on is the command. Blank lines before it are
//! skipped.

use super::path::{PathError, ProjectPath};

/// The folder and the variables set at the top of a command, and the rest of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) cwd: Option<ProjectPath>,
    pub(super) env: Vec<(String, String)>,
    /// The rest, trimmed; may be empty.
    pub(super) command: String,
}

/// An invalid line at the top.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadLine {
    /// Line within the block, 0-based.
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) problem: Problem,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// The line is not in the plain form.
    Form,
    Path(PathError),
    /// The variable has an invalid name.
    Name,
    /// The folder or variable is set already.
    Duplicate,
}

/// Splits the text of a command block. The error has all invalid lines of the top.
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
        // `cd;`, `cd&&` and the like are `cd` followed by something else.
        let word = word.split([';', '&', '|', '#']).next().unwrap_or_default();
        let result = match word {
            "cd" => parse_cd(line, &mut header),
            "export" => parse_export(line, &mut header),
            "" if trimmed.is_empty() => Ok(()),
            _ => break,
        };
        if let Err(problem) = result {
            bad.push(BadLine {
                line: number,
                text: trimmed.to_owned(),
                problem,
            });
        }
        number += 1;
        rest = after;
    }
    rest.trim().clone_into(&mut header.command);
    if bad.is_empty() { Ok(header) } else { Err(bad) }
}

fn parse_cd(line: &str, header: &mut Header) -> Result<(), Problem> {
    let argument = line.strip_prefix("cd ").ok_or(Problem::Form)?;
    let argument = word(argument.trim_end()).ok_or(Problem::Form)?;
    if argument.starts_with('-') || argument.is_empty() {
        return Err(Problem::Form);
    }
    let path = cwd(argument).map_err(Problem::Path)?;
    if header.cwd.replace(path).is_some() {
        return Err(Problem::Duplicate);
    }
    Ok(())
}

fn parse_export(line: &str, header: &mut Header) -> Result<(), Problem> {
    let argument = line.strip_prefix("export ").ok_or(Problem::Form)?;
    let (name, value) = argument.trim_end().split_once('=').ok_or(Problem::Form)?;
    let value = if value.is_empty() {
        value
    } else {
        word(value).ok_or(Problem::Form)?
    };
    if !is_variable_name(name) {
        return Err(Problem::Name);
    }
    if header.env.iter().any(|(known, _)| known == name) {
        return Err(Problem::Duplicate);
    }
    header.env.push((name.to_owned(), value.to_owned()));
    Ok(())
}

/// Parses the folder of a `cd` line or a `cwd` key. A path that a shell would take as absolute is
/// rejected, not made relative to the project.
pub(super) fn cwd(text: &str) -> Result<ProjectPath, PathError> {
    if text.starts_with(['/', '\\', '~']) {
        return Err(PathError::Absolute);
    }
    ProjectPath::parse(text)
}

/// Whether `name` is a valid name of an environment variable (POSIX.1-2017, 3.235, and lower case).
pub(super) fn is_variable_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the value of one word that every shell reads literally: plain characters, or matching
/// quotes around characters without a special meaning inside them.
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
