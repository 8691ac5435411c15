//! Parser for text files that contain a conversation, for experiments and tests.
//!
//! ```text
//! title: Export reports as CSV
//! --- @alice 2026-01-02T10:00:00Z
//! The opening text, Markdown.
//! --- @bob
//! A comment.
//! ```
//!
//! A line `--- @login`, optionally with a time and attributes, begins a post. Blank lines next to
//! such a line are ignored; all other text belongs to the post unchanged. A line of a post that
//! looks like a separator is written `\--- @…`. A file without separators is a single post, byte
//! for byte, by [`UNKNOWN_AUTHOR`].
//!
//! | attribute | meaning |
//! |---|---|
//! | `association=MEMBER` | GitHub's `author_association` |
//! | `id=1042` | id of the comment |
//! | `edited=2026-01-02T11:00:00Z` | time of the last change |
//! | `hidden=spam` | reason why the comment is hidden on GitHub |
//! | `+1=3`, `-1=1`, `heart=2`, … | numbers of reactions, by GitHub's names |
//!
//! The first post may be preceded by lines `title: …`, `kind: issue` or `kind: pull request`, and
//! the labels of a test corpus: `language: …`, `situation: …`, `expect: …`, `expect-…: …`.

use std::collections::BTreeMap;

use chrono::DateTime;
use thiserror::Error;

use crate::plan::title::title_of;

/// Author of the post in a file without separators.
pub const UNKNOWN_AUTHOR: &str = "someone";

/// A parsed conversation file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadFile {
    /// Value of `title:`, else the title of the first post, else `Untitled conversation`.
    pub title: String,
    /// Whether the conversation is about a pull request.
    pub pull_request: bool,
    /// The other lines of the head, such as `language`, `situation` and `expect`.
    pub labels: BTreeMap<String, String>,
    /// Opening text and comments; never empty.
    pub posts: Vec<FilePost>,
}

/// A post in a conversation file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilePost {
    /// Login without `@`; that of an App ends in `[bot]`.
    pub author: String,
    /// RFC 3339 time as written.
    pub created: Option<String>,
    /// Id of the comment.
    pub id: Option<u64>,
    /// GitHub's `author_association`.
    pub association: Option<String>,
    /// RFC 3339 time of the last change, as written.
    pub edited: Option<String>,
    /// Reason why it is hidden on GitHub.
    pub hidden: Option<String>,
    /// Numbers of reactions, by GitHub's names.
    pub reactions: BTreeMap<String, u32>,
    /// Markdown source.
    pub body: String,
}

/// GitHub's names of reactions.
pub const REACTIONS: [&str; 8] = [
    "+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes",
];

/// Keys of the lines above the first post, besides those that begin with `expect-`.
const HEAD: [&str; 5] = ["title", "kind", "language", "situation", "expect"];

/// Error in a conversation file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ThreadFileError {
    /// The file contains only white space.
    #[error(
        "the file is empty; write a comment, or posts that each begin with a line like `--- @alice`"
    )]
    Empty,
    /// There is text above the first separator.
    #[error(
        "line {line}: above the first `--- @login` line there may only be lines like `title: …`; move this text below \
         a line like `--- @alice`"
    )]
    TextBeforeFirstPost {
        /// 1-based line number.
        line: usize,
    },
    /// The word after the login is not a time.
    #[error(
        "line {line}: `{found}` is not a time; write it like `2026-01-02T10:00:00Z` or leave it out"
    )]
    Time {
        /// 1-based line number.
        line: usize,
        /// Text in the file.
        found: String,
    },
    /// An attribute is unknown or has an invalid value.
    #[error(
        "line {line}: `{found}` is not an attribute of a post; use `association=NAME`, \
         `id=NUMBER`, `edited=TIME`, `hidden=REASON` and reactions like `+1=2`"
    )]
    Attribute {
        /// 1-based line number.
        line: usize,
        /// Text in the file.
        found: String,
    },
    /// The value of `kind` is invalid.
    #[error("line {line}: `kind` is `issue` or `pull request`")]
    KindOfThread {
        /// 1-based line number.
        line: usize,
    },
}

/// Parses a conversation file.
pub fn parse(text: &str) -> Result<ThreadFile, ThreadFileError> {
    if text.trim().is_empty() {
        return Err(ThreadFileError::Empty);
    }
    let mut head: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut stray = None;
    let mut posts: Vec<(FilePost, Vec<&str>)> = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let bare = line.trim_end_matches(['\n', '\r']);
        if let Some((author, attributes)) = separator(bare) {
            posts.push((post(author, attributes, index + 1)?, Vec::new()));
        } else if let Some((_, lines)) = posts.last_mut() {
            lines.push(line);
        } else if let Some((key, value)) =
            head_line(bare).filter(|(key, _)| stray.is_none() && !head.contains_key(key))
        {
            head.insert(key, (index + 1, value));
        } else if !bare.trim().is_empty() && stray.is_none() {
            stray = Some(index + 1);
        }
    }
    if posts.is_empty() {
        // `title: …` belongs to the text here.
        return Ok(ThreadFile {
            title: title_for(text),
            pull_request: false,
            labels: BTreeMap::new(),
            posts: vec![FilePost {
                author: UNKNOWN_AUTHOR.to_owned(),
                body: text.to_owned(),
                ..FilePost::default()
            }],
        });
    }
    if let Some(line) = stray {
        return Err(ThreadFileError::TextBeforeFirstPost { line });
    }
    let pull_request = match head.remove("kind") {
        None => false,
        Some((_, kind)) if kind == "issue" => false,
        Some((_, kind)) if kind == "pull request" => true,
        Some((line, _)) => return Err(ThreadFileError::KindOfThread { line }),
    };
    let posts: Vec<FilePost> = posts
        .into_iter()
        .map(|(post, lines)| FilePost {
            body: body(&lines),
            ..post
        })
        .collect();
    Ok(ThreadFile {
        title: head
            .remove("title")
            .map(|(_, title)| title)
            .or_else(|| posts.first().map(|post| title_for(&post.body)))
            .unwrap_or_default(),
        pull_request,
        labels: head
            .into_iter()
            .map(|(key, (_, value))| (key, value))
            .collect(),
        posts,
    })
}

/// Parses the separator line of a post.
fn post(author: &str, attributes: &str, line: usize) -> Result<FilePost, ThreadFileError> {
    let mut post = FilePost {
        author: author.to_owned(),
        ..FilePost::default()
    };
    for (index, word) in attributes.split_whitespace().enumerate() {
        let is_time = |time: &str| DateTime::parse_from_rfc3339(time).is_ok();
        let unknown = || ThreadFileError::Attribute {
            line,
            found: word.to_owned(),
        };
        let Some((key, value)) = word.split_once('=').filter(|(_, value)| !value.is_empty()) else {
            if index > 0 {
                return Err(unknown());
            }
            if !is_time(word) {
                return Err(ThreadFileError::Time {
                    line,
                    found: attributes.to_owned(),
                });
            }
            post.created = Some(word.to_owned());
            continue;
        };
        match key {
            "association" => post.association = Some(value.to_owned()),
            "id" => post.id = Some(value.parse().map_err(|_| unknown())?),
            "edited" if is_time(value) => post.edited = Some(value.to_owned()),
            "hidden" => post.hidden = Some(value.to_owned()),
            key if REACTIONS.contains(&key) => {
                let count = value.parse().map_err(|_| unknown())?;
                post.reactions.insert(key.to_owned(), count);
            }
            _ => return Err(unknown()),
        }
    }
    Ok(post)
}

fn title_for(body: &str) -> String {
    title_of(body).unwrap_or_else(|| "Untitled conversation".to_owned())
}

fn head_line(line: &str) -> Option<(String, String)> {
    let (key, value) = line.split_once(':')?;
    let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
    let known = HEAD.contains(&key.as_str()) || key.starts_with("expect-");
    (known && !value.is_empty()).then(|| (key, value.to_owned()))
}

/// Returns the login and the rest of a line `--- @login …`.
fn separator(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("--- @")?;
    let (login, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let name = login.strip_suffix("[bot]").unwrap_or(login);
    let valid = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    valid.then_some((login, rest.trim()))
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
    text.trim_end_matches(['\n', '\r']).to_owned()
}

#[cfg(test)]
mod tests;
