//! Builds JSON values from the events of a YAML parser, resolving scalars as PyYAML does.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Tag};
use serde_json::{Map, Value};

use super::resolve;

/// How deep lists and maps may be nested. Metadata has three levels at most.
const MAX_DEPTH: usize = 64;

/// What all aliases together may add, in values plus bytes of text: far more than metadata needs.
const MAX_ALIASED: usize = 1 << 20;

/// Reads one document; the error is one line.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let text = line_breaks(text.strip_prefix('\u{feff}').unwrap_or(text));
    let options = granit_parser::options! {
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut loader = Loader::default();
    let mut documents = 0;
    for next in Parser::new_from_str_with_options(&text, options) {
        let (event, span) = next.map_err(|error| describe(&error))?;
        if matches!(event, Event::DocumentStart(..)) {
            documents += 1;
        }
        if documents > 1 {
            return Err("expected a single document, found `---` between two".to_owned());
        }
        let line = span.start.line();
        loader
            .take(event)
            .map_err(|problem| format!("{problem} at line {line}"))?;
    }
    Ok(loader.document.unwrap_or(Value::Null))
}

fn describe(error: &ScanError) -> String {
    let mark = error.marker();
    let (line, column) = (mark.line(), mark.col() + 1);
    let info = error.info();
    let info = info.lines().next().unwrap_or("unreadable");
    format!("{info} at line {line} column {column}")
}

/// Whether YAML 1.1, unlike YAML 1.2, ends a line at `c` and keeps `c`.
fn separator(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// `text` with the line breaks that only YAML 1.1 knows made readable for a parser of YAML 1.2:
/// U+0085 is a line break like any other; U+2028 and U+2029 stay in the scalar, the blanks around
/// them belong to the layout.
fn line_breaks(text: &str) -> Cow<'_, str> {
    if !text.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\u{85}', '\u{2028}', '\u{2029}']) {
        let (before, after) = rest.split_at(at);
        let Some(c) = after.chars().next() else { break };
        rest = &after[c.len_utf8()..];
        if separator(c) {
            out.push_str(before.trim_end_matches([' ', '\t']));
            out.push(c);
            rest = rest.trim_start_matches([' ', '\t']);
            // Line ends behind it are kept as well; a parser of YAML 1.2 folds the first one.
            if rest.starts_with(['\n', '\r']) {
                out.push('\n');
            }
        } else {
            out.push_str(before);
            out.push('\n');
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A list or map that has not ended.
enum Open {
    List(Vec<Value>),
    Map {
        fields: Map<String, Value>,
        key: Option<Key>,
        /// Values of `<<`, in order.
        merged: Vec<Map<String, Value>>,
    },
}

struct Key {
    text: String,
    /// `<<` without quotes.
    merge: bool,
}

/// A finished node, and its text as written if it is a scalar.
struct Node {
    value: Value,
    key: Option<Key>,
}

#[derive(Default)]
struct Loader {
    /// Each with its anchor, 0 for none.
    open: Vec<(Open, usize)>,
    anchors: HashMap<usize, Node>,
    aliased: usize,
    document: Option<Value>,
}

impl Loader {
    fn take(&mut self, event: Event<'_>) -> Result<(), &'static str> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let merge = style == ScalarStyle::Plain && tag.is_none() && text == "<<";
                let value = scalar(&text, style, tag.as_deref());
                let text = text.into_owned();
                let key = Some(Key { text, merge });
                self.finish(Node { value, key }, anchor)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open.push((Open::List(Vec::new()), anchor));
                Ok(())
            }
            Event::MappingStart(_, anchor, _) => {
                let map = Open::Map {
                    fields: Map::new(),
                    key: None,
                    merged: Vec::new(),
                };
                self.open.push((map, anchor));
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some((open, anchor)) = self.open.pop() else {
                    return Ok(());
                };
                let value = match open {
                    Open::List(items) => Value::Array(items),
                    Open::Map { fields, merged, .. } => Value::Object(merge(fields, merged)),
                };
                self.finish(Node { value, key: None }, anchor)
            }
            Event::Alias(anchor) => {
                let node = self
                    .anchors
                    .get(&anchor)
                    .ok_or("an alias stands inside of what it refers to")?;
                self.aliased += weight(&node.value);
                if self.aliased > MAX_ALIASED {
                    return Err("aliases make the value too large");
                }
                let node = node.copy();
                self.finish(node, 0)
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self, node: Node, anchor: usize) -> Result<(), &'static str> {
        if anchor != 0 {
            self.anchors.insert(anchor, node.copy());
        }
        match self.open.last_mut().map(|(open, _)| open) {
            None => self.document = Some(node.value),
            Some(Open::List(items)) => items.push(node.value),
            Some(Open::Map {
                fields,
                key,
                merged,
            }) => match key.take() {
                None => *key = Some(node.key.ok_or("a list or map cannot be a key")?),
                Some(name) => match maps(node.value, name.merge) {
                    Ok(mut maps) => merged.append(&mut maps),
                    Err(value) => {
                        fields.insert(name.text, value);
                    }
                },
            },
        }
        Ok(())
    }
}

impl Node {
    fn copy(&self) -> Self {
        let key = self.key.as_ref().map(|key| Key {
            text: key.text.clone(),
            merge: key.merge,
        });
        let value = self.value.clone();
        Self { value, key }
    }
}

/// The maps that `<<: value` merges; the value itself where it is something else.
fn maps(value: Value, merge: bool) -> Result<Vec<Map<String, Value>>, Value> {
    match value {
        Value::Object(map) if merge => Ok(vec![map]),
        Value::Array(items) if merge && items.iter().all(Value::is_object) => {
            let map = |item| match item {
                Value::Object(map) => Some(map),
                _ => None,
            };
            Ok(items.into_iter().filter_map(map).collect())
        }
        other => Err(other),
    }
}

/// Merged fields come first; a map's own fields win over them, and earlier merged maps over later
/// ones.
fn merge(fields: Map<String, Value>, merged: Vec<Map<String, Value>>) -> Map<String, Value> {
    if merged.is_empty() {
        return fields;
    }
    let mut all = Map::new();
    for map in merged.into_iter().rev() {
        all.extend(map);
    }
    all.extend(fields);
    all
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let Some(tag) = tag else {
        return match style {
            ScalarStyle::Plain => resolve::plain(text.trim_matches(separator)),
            _ => Value::from(text),
        };
    };
    let resolved = resolve::plain(text);
    let fits = match tag.core_suffix() {
        Some("int") => resolved.is_i64() || resolved.is_u64(),
        Some("float") => resolved.is_number(),
        Some("bool") => resolved.is_boolean(),
        Some("null") => true,
        // The tag `!` alone asks for what a plain scalar would be.
        _ => tag.original() == "!",
    };
    match tag.core_suffix() {
        Some("null") => Value::Null,
        _ if fits => resolved,
        _ => Value::from(text),
    }
}

/// Number of values in `value` plus the bytes of their texts.
fn weight(value: &Value) -> usize {
    1 + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| key.len() + weight(value))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
