//! YAML front matter: fields between two lines `---` at the start of a document.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::yaml;

/// Error of [`parse`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FrontMatterError {
    /// The closing line `---` is missing.
    #[error("the front matter of line 1 is not closed; add a line `---` after its last field")]
    Unterminated,
    /// The closing `---` is followed by text on the same line.
    #[error(
        "line {line}: the line that ends the front matter contains more than `---`; move the rest to its own line"
    )]
    Closer {
        /// 1-based line number.
        line: usize,
    },
    /// The content is not valid YAML.
    #[error(
        "the front matter of line 1 is not YAML: {message}; write one `name: value` on each line"
    )]
    Yaml {
        /// Message of the YAML parser, on one line.
        message: String,
    },
    /// The content is valid YAML but not a mapping.
    #[error("the front matter of line 1 has no fields; write one `name: value` on each line")]
    NoFields,
}

/// Fields of the front matter, if there is one, and the text behind it.
pub type FrontMatter<'a> = (Option<Map<String, Value>>, &'a str);

/// Parses the front matter of `text` strictly.
///
/// Returns its fields and the text behind it, without the blank line that may separate the two. A
/// text that does not begin with a line `---` has no front matter and is returned unchanged, except
/// for a byte-order mark. Empty front matter yields an empty map.
///
/// # Errors
/// The text begins with a line `---` that does not open valid front matter.
pub fn parse(text: &str) -> Result<FrontMatter<'_>, FrontMatterError> {
    let text = without_bom(text);
    match delimit(text)? {
        Some((source, body)) => Ok((Some(fields(source)?), body)),
        None => Ok((None, text)),
    }
}

/// Splits `text` into the fields of its front matter and the text behind it, for readers that must
/// not lose text.
///
/// An opening `---` that is followed by a blank line is a thematic break, as in Pandoc. Without at
/// least one field there is no front matter, and the text is returned whole. Where the YAML is
/// invalid, but every line looks like a field (`title: Fix: the parser`), the fields are read line
/// by line.
pub fn split(text: &str) -> (Map<String, Value>, &str) {
    let text = without_bom(text);
    if let Ok(Some((source, body))) = delimit(text)
        && source
            .lines()
            .next()
            .is_some_and(|line| !line.trim().is_empty())
    {
        let fields = match fields(source) {
            Err(FrontMatterError::Yaml { .. }) => fields_by_line(source),
            fields => fields.ok(),
        };
        if let Some(fields) = fields.filter(|fields| !fields.is_empty()) {
            return (fields, body);
        }
    }
    (Map::new(), text)
}

/// Returns the text behind the front matter as [`split`] finds it.
pub fn body(text: &str) -> &str {
    split(text).1
}

fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Returns the source between the two delimiters and the text behind them; `None` if `text` does
/// not begin with `---`.
fn delimit(text: &str) -> Result<Option<(&str, &str)>, FrontMatterError> {
    let mut lines = text.split_inclusive('\n').enumerate();
    let mut end = match lines.next() {
        Some((_, first)) if first.trim_end_matches(['\n', '\r']) == "---" => first.len(),
        _ => return Ok(None),
    };
    let start = end;
    for (index, line) in lines {
        if line.trim_end() == "---" {
            let body = &text[end + line.len()..];
            let blank = ["\r\n", "\n"]
                .iter()
                .find_map(|line_end| body.strip_prefix(line_end));
            return Ok(Some((&text[start..end], blank.unwrap_or(body))));
        }
        if line.starts_with("---") {
            return Err(FrontMatterError::Closer { line: index + 1 });
        }
        end += line.len();
    }
    Err(FrontMatterError::Unterminated)
}

fn fields(source: &str) -> Result<Map<String, Value>, FrontMatterError> {
    if source.trim().is_empty() {
        return Ok(Map::new());
    }
    match yaml::read(&source.replace("\r\n", "\n")) {
        Ok(Value::Object(fields)) => Ok(fields),
        // Only comments.
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err(FrontMatterError::NoFields),
        Err(message) => Err(FrontMatterError::Yaml { message }),
    }
}

/// Reads `key: value` lines as strings; nested lines and comments are skipped. `None` if any other
/// line is found.
fn fields_by_line(source: &str) -> Option<Map<String, Value>> {
    let top_level = |line: &&str| !line.starts_with([' ', '#', '-']);
    source
        .lines()
        .filter(top_level)
        .map(|line| {
            let (key, value) = line.split_once(':')?;
            let value = value.trim().trim_matches(['"', '\'']);
            (!key.contains(' ')).then(|| (key.to_owned(), value.into()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn fields_and_body_are_separated() {
        let read = |text| parse(text).map(|(fields, body)| (fields.map(|all| all.len()), body));
        for (text, fields, body) in [
            ("", None, ""),
            ("# T\n", None, "# T\n"),
            ("----\ntext", None, "----\ntext"),
            (" ---\na: b\n---\n", None, " ---\na: b\n---\n"),
            ("---\na: b\nc: 1\n---\ntext", Some(2), "text"),
            ("---\na: b\n---\n\n\ntext", Some(1), "\ntext"),
            ("---\r\na: b\r\n---\r\n\r\ntext\r\n", Some(1), "text\r\n"),
            ("---\n---\nbody\n", Some(0), "body\n"),
            ("---\n# remark\n---\nbody\n", Some(0), "body\n"),
            ("\u{feff}---\na: b\n---", Some(1), ""),
        ] {
            assert_eq!(read(text), Ok((fields, body)), "{text:?}");
        }
    }

    #[test]
    fn errors_say_what_to_do() {
        for (text, want) in [
            (
                "---\na: b\n",
                "the front matter of line 1 is not closed; add a line `---` after its last field",
            ),
            (
                "---\na: b\n--- more\ntext",
                "line 3: the line that ends the front matter contains more than `---`; move the rest to its own line",
            ),
            (
                "---\njust words\n---\n",
                "the front matter of line 1 has no fields; write one `name: value` on each line",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), want);
        }
        let broken = parse("---\na: [b\n---\n").unwrap_err().to_string();
        assert!(
            broken.starts_with("the front matter of line 1 is not YAML: ")
                && broken.ends_with("; write one `name: value` on each line")
                && !broken.contains('\n'),
            "{broken}"
        );
    }

    #[test]
    fn tolerant_reading_loses_no_text() {
        for text in [
            "# T\n",
            "---\n\n# T\n\nwords\n---\n",
            "---\n\nNote: words\n\n---\n# T\n",
            "---\n---\nbody\n",
            "---\na: b\n",
            "---\njust words\n---\n",
            "---\nwords: more: words\nand more\n---\n",
        ] {
            assert_eq!(split(text), (Map::new(), text), "{text:?}");
        }
        assert_eq!(body("---\ntitle: x\n---\n\n# T\n"), "# T\n");
    }

    #[test]
    fn an_unquoted_colon_does_not_make_front_matter_text() {
        let (fields, body) = split("---\ntitle: Fix: the parser\ntags:\n  - a\n---\n# T\n");
        assert_eq!(body, "# T\n");
        assert_eq!(fields["title"], "Fix: the parser");
    }
}
