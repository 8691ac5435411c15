//! Changes one block of a text; every other byte stays as it is.

use serde_json::{Map, Value};
use thiserror::Error;

use super::{Block, Content, Parsed, find, marker, parse, render_yaml};

/// Why a block was not changed. Nothing has been written then.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// There is no such block.
    #[error("Metadata block '{key}' not found in body: add one first")]
    Missing {
        /// The key looked for.
        key: String,
    },
    /// The block is there and cannot be read, so writing it anew would lose what is in it.
    #[error("Metadata block '{key}' cannot be read and was left as it is: {why}")]
    Unreadable {
        /// Its key.
        key: String,
        /// The line, what is wrong there, and what to do.
        why: String,
    },
    /// The block holds text.
    #[error("Metadata block '{key}' holds text and has no fields: replace it as a whole")]
    NoFields {
        /// Its key.
        key: String,
    },
}

/// `text` with its first block of `key`, warning lines included, replaced by `rendered`; `None` when there is none.
/// No other byte changes. Where the block has CRLF line ends, so has the new one.
pub fn replace(text: &str, key: &str, rendered: &str) -> Option<String> {
    let parsed = parse(text);
    Some(put(text, find(&parsed, key)?, rendered))
}

fn put(text: &str, block: &Block, rendered: &str) -> String {
    let span = block.span.clone();
    let old = &text[span.clone()];
    let sample = if old.contains('\n') { old } else { text };
    let rendered = with_line_ends(sample, rendered);
    [&text[..span.start], &rendered, &text[span.end..]].concat()
}

/// `text` with the block `rendered` put in where erk puts one: before the last `---` that stands alone on its line (the
/// separator of the footer), else at the end; one blank line above. Where the text has CRLF line ends, so has the block.
///
/// A separator in code or in another block is text. Where a fence is open at the end of `text`, the block stands at the
/// start instead: below the fence nobody would find it.
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

/// `text` with `change` made to the fields of its first block of `key`. Fields that `change` leaves alone keep their
/// value and their place, known or not. Where nothing changes, `text` comes back as it is.
///
/// # Errors
/// The block is not there, cannot be read, or has no fields.
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
    Ok(put(text, block, &render_yaml(key, &changed)))
}

fn missing(parsed: &Parsed, key: &str) -> EditError {
    let key = key.to_owned();
    // A closing marker alone is no block.
    let mut found = parsed.diagnostics.iter();
    match found.find(|found| found.key == key && !found.is_stray()) {
        Some(found) => EditError::Unreadable {
            why: format!("line {}: {}; {}", found.line, found.message, found.remedy),
            key,
        },
        None => EditError::Missing { key },
    }
}

/// `rendered` with the line ends of `sample`, which are those of its first line.
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
