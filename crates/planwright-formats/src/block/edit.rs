//! Changes one block of a text and leaves every other byte as it is.

use serde_json::{Map, Value};
use thiserror::Error;

use super::{Block, Content, Parsed, find, marker, parse, render_yaml};

/// Why a block was not changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// There is no such block.
    #[error("Metadata block '{key}' not found in body: add one first")]
    Missing {
        /// The key looked for.
        key: String,
    },
    /// The block cannot be parsed, so rewriting it would lose what is in it.
    #[error("Metadata block '{key}' cannot be read and was left as it is: {why}")]
    Unreadable {
        /// Its key.
        key: String,
        /// The line, what is wrong there, and what to do.
        why: String,
    },
    /// The block contains text, not fields.
    #[error("Metadata block '{key}' contains text and has no fields: replace it as a whole")]
    NoFields {
        /// Its key.
        key: String,
    },
}

/// Replaces the first block of `key` in `text`, including its warning lines, by `rendered`; `None`
/// when there is no such block. No other byte changes. The new block gets the line ends of the old
/// one.
pub fn replace(text: &str, key: &str, rendered: &str) -> Option<String> {
    let parsed = parse(text);
    Some(replace_block(text, find(&parsed, key)?, rendered))
}

fn replace_block(text: &str, block: &Block, rendered: &str) -> String {
    let span = block.span.clone();
    let old = &text[span.clone()];
    let sample = if old.contains('\n') { old } else { text };
    let rendered = with_line_ends(sample, rendered);
    [&text[..span.start], &rendered, &text[span.end..]].concat()
}

/// Inserts the block `rendered` into `text` where erk does: before the last line `---` (the
/// separator of the footer), else at the end, with one blank line above. The block gets the line
/// ends of the text.
///
/// A separator in code or in another block does not count. If a fence is open at the end of `text`,
/// the block goes to the start instead, because it could not be found below the fence.
pub fn add(text: &str, rendered: &str) -> String {
    let rendered = with_line_ends(text, rendered);
    let gap = with_line_ends(text, "\n\n");
    let (place, open) = marker::footer(text, &parse(text).blocks);
    match place {
        Some(at) => [&text[..at], &gap, &rendered, &text[at..]].concat(),
        None if open => [&rendered, gap.as_str(), text].concat(),
        None => [text, &gap, &rendered].concat(),
    }
}

/// Applies `change` to the fields of the first block of `key` in `text`. Fields that `change`
/// leaves alone, known or not, keep their value and their position. If nothing changes, `text` is
/// returned as it is.
///
/// # Errors
/// Fails if there is no such block, or it cannot be parsed or has no fields.
pub fn update(
    text: &str,
    key: &str,
    change: impl FnOnce(&mut Map<String, Value>),
) -> Result<String, EditError> {
    let parsed = parse(text);
    let block = find(&parsed, key).ok_or_else(|| missing(&parsed, key))?;
    let fields = match &block.content {
        Content::Yaml(fields) => fields,
        Content::Text(_) => {
            return Err(EditError::NoFields {
                key: key.to_owned(),
            });
        }
        Content::Raw(_) => return Err(missing(&parsed, key)),
    };
    let mut changed = fields.clone();
    change(&mut changed);
    if changed == *fields && changed.keys().eq(fields.keys()) {
        return Ok(text.to_owned());
    }
    Ok(replace_block(text, block, &render_yaml(key, &changed)))
}

fn missing(parsed: &Parsed, key: &str) -> EditError {
    let key = key.to_owned();
    // A closing marker alone is not a block.
    let mut found = parsed.diagnostics.iter();
    match found.find(|found| found.key == key && !found.is_stray()) {
        Some(found) => EditError::Unreadable {
            why: format!("line {}: {}; {}", found.line, found.message, found.remedy),
            key,
        },
        None => EditError::Missing { key },
    }
}

/// Returns `rendered` with the line ends that the first line of `sample` has.
fn with_line_ends(sample: &str, rendered: &str) -> String {
    let crlf = sample
        .find('\n')
        .is_some_and(|end| sample[..end].ends_with('\r'));
    if crlf {
        rendered.replace("\r\n", "\n").replace('\n', "\r\n")
    } else {
        rendered.to_owned()
    }
}
