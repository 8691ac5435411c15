//! YAML between two lines `---` at the start of a document.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::yaml;

/// What is wrong with a front matter. Readers of documents read such a text without one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FrontMatterError {
    /// The line `---` behind it is not there.
    #[error("the front matter of line 1 has no end; write a line `---` behind its last field")]
    Unterminated,
    /// Something stands behind the closing `---`.
    #[error(
        "line {line}: more than `---` stands on the line that ends the front matter; move the rest to a line of its own"
    )]
    Closer {
        /// 1-based line.
        line: usize,
    },
    /// It is not YAML.
    #[error(
        "the front matter of line 1 is not YAML: {message}; write one `name: value` on each line"
    )]
    Yaml {
        /// The parser's words, one line.
        message: String,
    },
    /// It is YAML and holds no fields.
    #[error("the front matter of line 1 holds no fields; write one `name: value` on each line")]
    NoFields,
}

/// The fields of a front matter, where there is one, and the text behind it.
pub type FrontMatter<'a> = (Option<Map<String, Value>>, &'a str);

/// The fields of the front matter and the text behind it, without the one blank line that may stand between them. A text
/// that does not begin with a line `---` has none, and is returned as it is; a byte-order mark is no part of it. An
/// empty block has no fields, and is one.
///
/// # Errors
/// The text begins with `---`, and what follows is no front matter.
pub fn front_matter(text: &str) -> Result<FrontMatter<'_>, FrontMatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut at = 0;
    let mut begin = 0;
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let start = at;
        at += whole.len();
        let line = whole.trim_end_matches(['\n', '\r']);
        if index == 0 {
            if line != "---" {
                return Ok((None, text));
            }
            begin = at;
        } else if line.trim_end() == "---" {
            let fields = fields(&text[begin..start])?;
            let body = &text[at..];
            let body = body
                .strip_prefix("\r\n")
                .or_else(|| body.strip_prefix('\n'))
                .unwrap_or(body);
            return Ok((Some(fields), body));
        } else if line.starts_with("---") {
            return Err(FrontMatterError::Closer { line: index + 1 });
        }
    }
    if text.is_empty() {
        return Ok((None, text));
    }
    Err(FrontMatterError::Unterminated)
}

/// The same for readers that must not lose a document: one that cannot be read has no fields and is all text.
pub(super) fn tolerant(text: &str) -> (Map<String, Value>, &str) {
    match front_matter(text) {
        Ok((fields, body)) => (fields.unwrap_or_default(), body),
        Err(_) => (Map::new(), text.strip_prefix('\u{feff}').unwrap_or(text)),
    }
}

fn fields(block: &str) -> Result<Map<String, Value>, FrontMatterError> {
    if block.trim().is_empty() {
        return Ok(Map::new());
    }
    let block = block.replace("\r\n", "\n");
    match yaml::read(&block) {
        Ok(Value::Object(fields)) => Ok(fields),
        // Only comments.
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err(FrontMatterError::NoFields),
        Err(message) => Err(FrontMatterError::Yaml { message }),
    }
}
