//! A conversation in a text file, for trying things out and for tests.
//!
//! ```text
//! title: Export reports as CSV
//! --- @alice 2026-01-02T10:00:00Z
//! The opening text, Markdown.
//! --- @bob
//! A comment.
//! ```
//!
//! A line `--- @login`, optionally with a time, begins a post. Blank lines next to such a line are layout; all else is
//! the post's text as it stands. A post's line that looks like a separator is written `\--- @…`. A file without
//! separators is one post, byte for byte, by nobody in particular.

use chrono::DateTime;
use thiserror::Error;

use super::plan::title::title_of;

/// Who wrote the post of a file without separators.
pub const NOBODY: &str = "someone";

/// A conversation as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadFile {
    /// The line `title:`; without it the title of the first post, or `Untitled conversation`.
    pub title: String,
    /// The opening text, then comments; never empty.
    pub posts: Vec<FilePost>,
}

/// One post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePost {
    /// Login without `@`; an App's ends in `[bot]`.
    pub author: String,
    /// RFC 3339 time as written.
    pub created: Option<String>,
    /// Markdown source.
    pub body: String,
}

/// What is wrong with a conversation file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ThreadFileError {
    /// Nothing but white space.
    #[error(
        "the file is empty; write a comment, or posts that each begin with a line like `--- @alice`"
    )]
    Empty,
    /// Text above the first separator.
    #[error(
        "line {line}: only `title: …` may stand above the first `--- @login` line; move this text below a line like \
         `--- @alice`"
    )]
    TextBeforeFirstPost {
        /// 1-based line.
        line: usize,
    },
    /// Something else behind the login.
    #[error(
        "line {line}: `{found}` is not a time; write it like `2026-01-02T10:00:00Z` or leave it out"
    )]
    Time {
        /// 1-based line.
        line: usize,
        /// What stands there.
        found: String,
    },
}

/// Reads a conversation file.
pub fn parse(text: &str) -> Result<ThreadFile, ThreadFileError> {
    if text.trim().is_empty() {
        return Err(ThreadFileError::Empty);
    }
    let mut title = None;
    let mut stray = None;
    let mut posts: Vec<(FilePost, Vec<&str>)> = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let bare = line.trim_end_matches(['\n', '\r']);
        if let Some((author, time)) = separator(bare) {
            if let Some(found) = time.filter(|time| DateTime::parse_from_rfc3339(time).is_err()) {
                return Err(ThreadFileError::Time {
                    line: index + 1,
                    found: found.to_owned(),
                });
            }
            let post = FilePost {
                author: author.to_owned(),
                created: time.map(str::to_owned),
                body: String::new(),
            };
            posts.push((post, Vec::new()));
        } else if let Some((_, lines)) = posts.last_mut() {
            lines.push(line);
        } else if let Some(value) = title_line(bare).filter(|_| title.is_none() && stray.is_none())
        {
            title = Some(value.to_owned());
        } else if !bare.trim().is_empty() && stray.is_none() {
            stray = Some(index + 1);
        }
    }
    if posts.is_empty() {
        // A comment may well begin with the words "Title: …".
        return Ok(ThreadFile {
            title: title_for(text),
            posts: vec![FilePost {
                author: NOBODY.to_owned(),
                created: None,
                body: text.to_owned(),
            }],
        });
    }
    if let Some(line) = stray {
        return Err(ThreadFileError::TextBeforeFirstPost { line });
    }
    let posts: Vec<FilePost> = posts
        .into_iter()
        .map(|(post, lines)| FilePost {
            body: body(&lines),
            ..post
        })
        .collect();
    Ok(ThreadFile {
        title: title
            .or_else(|| posts.first().map(|post| title_for(&post.body)))
            .unwrap_or_default(),
        posts,
    })
}

fn title_for(body: &str) -> String {
    title_of(body).unwrap_or_else(|| "Untitled conversation".to_owned())
}

fn title_line(line: &str) -> Option<&str> {
    let (key, value) = line.split_once(':')?;
    let value = value.trim();
    (key.trim().eq_ignore_ascii_case("title") && !value.is_empty()).then_some(value)
}

/// Login and the rest of a line `--- @login …`.
fn separator(line: &str) -> Option<(&str, Option<&str>)> {
    let rest = line.strip_prefix("--- @")?;
    let (login, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let name = login.strip_suffix("[bot]").unwrap_or(login);
    let valid = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let rest = rest.trim();
    valid.then_some((login, (!rest.is_empty()).then_some(rest)))
}

fn body(lines: &[&str]) -> String {
    let blank = |line: &&str| line.trim().is_empty();
    let from = lines.iter().position(|line| !blank(line)).unwrap_or(0);
    let to = lines
        .iter()
        .rposition(|line| !blank(line))
        .map_or(from, |at| at + 1);
    let mut text = String::new();
    for line in &lines[from..to] {
        let escaped = line.strip_prefix('\\').filter(|rest| {
            separator(rest.trim_start_matches('\\').trim_end_matches(['\n', '\r'])).is_some()
        });
        text.push_str(escaped.unwrap_or(line));
    }
    let end = text.trim_end_matches(['\n', '\r']).len();
    text.truncate(end);
    text
}

#[cfg(test)]
mod tests;
