//! Closes the objects in request schemas, so that a member that is not described is an error.

use serde_json::{Map, Value, json};

/// Maximum nesting of references that are inlined. Deeper ones stay references and their objects
/// open; request bodies are never nested that deeply.
const DEPTH: usize = 12;

/// Returns the schema at `pointer` (`#/…`) of `doc` in closed form. References are inlined, except
/// deep ones, which refer to `base`.
pub(super) fn closed(doc: &Value, base: &str, pointer: &str) -> Value {
    let schema = doc.pointer(&pointer[1..]).unwrap_or(&Value::Null);
    Closing { doc, base }.close(schema, false, 0)
}

struct Closing<'a> {
    doc: &'a Value,
    base: &'a str,
}

impl Closing<'_> {
    /// Closes a schema. `part` means that it is one part of a composition that is closed as a
    /// whole.
    fn close(&self, schema: &Value, part: bool, depth: usize) -> Value {
        let Value::Object(map) = schema else {
            return schema.clone();
        };
        if let Some(target) = map.get("$ref").and_then(Value::as_str) {
            return match self.doc.pointer(&target[1..]) {
                Some(inner) if depth < DEPTH => self.close(inner, part, depth + 1),
                _ => json!({ "$ref": format!("{}{target}", self.base) }),
            };
        }
        let whole = composed(map);
        let mut out = Map::new();
        for (key, value) in map {
            let closed = match key.as_str() {
                "properties" => each_member(value, |inner| self.close(inner, false, depth)),
                "items" | "additionalProperties" => self.close(value, false, depth),
                "allOf" | "anyOf" | "oneOf" => {
                    each_item(value, |inner| self.close(inner, part || whole, depth))
                }
                _ => value.clone(),
            };
            out.insert(key.clone(), closed);
        }
        if part || whole {
            // In a part, `true` only means that the members of the other parts are allowed.
            out.shift_remove("additionalProperties");
        }
        if part {
            return out.into();
        }
        if whole {
            out.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
        } else if out.contains_key("properties") && !out.contains_key("additionalProperties") {
            out.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
        out.into()
    }
}

/// Returns whether several parts of the schema describe members of the same object.
fn composed(map: &Map<String, Value>) -> bool {
    let branches = |key: &str| map.get(key).and_then(Value::as_array);
    let describes = |schema: &Value| schema.get("properties").is_some();
    let unions = ["anyOf", "oneOf"].into_iter().filter_map(branches);
    branches("allOf").is_some()
        || (map.contains_key("properties") && unions.flatten().any(describes))
}

fn each_member(value: &Value, close: impl Fn(&Value) -> Value) -> Value {
    let members = value.as_object().into_iter().flatten();
    members
        .map(|(name, inner)| (name.clone(), close(inner)))
        .collect::<Map<_, _>>()
        .into()
}

fn each_item(value: &Value, close: impl Fn(&Value) -> Value) -> Value {
    let items = value.as_array().into_iter().flatten();
    items.map(close).collect::<Vec<_>>().into()
}
