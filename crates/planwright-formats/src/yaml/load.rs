//! Builds JSON values from the events of a YAML parser, resolving scalars as PyYAML does.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Tag};
use serde_json::{Map, Value};

use super::resolve;

/// Maximum nesting depth of lists and maps. Metadata has three levels at most.
const MAX_DEPTH: usize = 64;

/// Maximum size that all aliases together may add, in values plus bytes of text. Far more than
/// metadata needs.
const MAX_ALIASED: usize = 1 << 20;

/// Parses one document. The error is a single line.
pub(super) fn parse(text: &str) -> Result<Value, String> {
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
            .handle(event)
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

/// Whether `c` is a line separator that YAML 1.1 keeps in the scalar and YAML 1.2 does not know.
fn separator(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// Rewrites the line breaks that only YAML 1.1 has for a YAML 1.2 parser: U+0085 becomes an
/// ordinary line break; U+2028 and U+2029 stay in the scalar without the blanks around them.
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
            // Line breaks after it are kept as well; a YAML 1.2 parser folds the first one.
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

/// A list or map whose end event has not been seen yet.
enum Collection {
    List(Vec<Value>),
    Map {
        fields: Map<String, Value>,
        key: Option<Key>,
        /// Values of `<<` keys, in order.
        merged: Vec<Map<String, Value>>,
    },
}

#[derive(Clone)]
struct Key {
    text: String,
    /// Whether this is an unquoted `<<`.
    merge: bool,
}

/// A complete node.
#[derive(Clone)]
struct Node {
    value: Value,
    /// What the node is as a key; `None` for lists and maps.
    key: Option<Key>,
}

#[derive(Default)]
struct Loader {
    /// Enclosing collections, each with its anchor (0 for none).
    open: Vec<(Collection, usize)>,
    anchors: HashMap<usize, Node>,
    aliased: usize,
    document: Option<Value>,
}

impl Loader {
    fn handle(&mut self, event: Event<'_>) -> Result<(), &'static str> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let merge = style == ScalarStyle::Plain && tag.is_none() && text == "<<";
                let value = scalar(&text, style, tag.as_deref());
                let text = text.into_owned();
                let key = Some(Key { text, merge });
                self.finish(Node { value, key }, anchor)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open.push((Collection::List(Vec::new()), anchor));
                Ok(())
            }
            Event::MappingStart(_, anchor, _) => {
                let map = Collection::Map {
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
                    Collection::List(items) => Value::Array(items),
                    Collection::Map { fields, merged, .. } => Value::Object(merge(fields, merged)),
                };
                self.finish(Node { value, key: None }, anchor)
            }
            Event::Alias(anchor) => {
                let node = self
                    .anchors
                    .get(&anchor)
                    .ok_or("an alias is inside the value it refers to")?;
                self.aliased += weight(&node.value);
                if self.aliased > MAX_ALIASED {
                    return Err("aliases make the value too large");
                }
                let node = node.clone();
                self.finish(node, 0)
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self, node: Node, anchor: usize) -> Result<(), &'static str> {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|(open, _)| open) {
            None => self.document = Some(node.value),
            Some(Collection::List(items)) => items.push(node.value),
            Some(Collection::Map {
                fields,
                key,
                merged,
            }) => match key.take() {
                None => *key = Some(node.key.ok_or("a list or map cannot be a key")?),
                Some(key) => match node.value {
                    Value::Object(map) if key.merge => merged.push(map),
                    Value::Array(items) if key.merge && items.iter().all(Value::is_object) => {
                        merged.extend(items.into_iter().filter_map(|item| match item {
                            Value::Object(map) => Some(map),
                            _ => None,
                        }));
                    }
                    value => {
                        fields.insert(key.text, value);
                    }
                },
            },
        }
        Ok(())
    }
}

/// Adds merged maps to `fields`. Merged fields come first; a map's own fields override them, and
/// earlier merged maps override later ones.
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

/// Resolves a scalar by its style and tag.
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
        // The non-specific tag `!` resolves like a plain scalar.
        _ => tag.original() == "!",
    };
    match tag.core_suffix() {
        Some("null") => Value::Null,
        _ if fits => resolved,
        _ => Value::from(text),
    }
}

/// Returns the number of values in `value` plus the bytes of their strings and keys.
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
