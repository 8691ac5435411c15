//! Converts OpenAPI 3.0.3 schemas to JSON Schema 2020-12. The only difference that GitHub's file
//! uses is `nullable`.

use serde_json::{Map, Value, json};

/// Keys whose values are data, not schemas.
const DATA: [&str; 5] = [
    "example",
    "examples",
    "default",
    "enum",
    "x-github-breaking-changes",
];

/// Converts every schema of the document in place.
pub(super) fn to_json_schema(doc: &mut Value) {
    convert(doc, false);
}

/// Converts a value. `names` means that the members of `value` have names chosen by the author,
/// such as those of `properties`; a property may be called `enum` or `nullable`.
fn convert(value: &mut Value, names: bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| convert(item, false)),
        Value::Object(map) => {
            for (key, member) in map.iter_mut() {
                if names || !DATA.contains(&key.as_str()) {
                    let inner = !names && matches!(key.as_str(), "properties" | "schemas");
                    convert(member, inner && member.is_object());
                }
            }
            if !names && map.get("nullable").is_some_and(Value::is_boolean) {
                let nullable = map.remove("nullable") == Some(Value::Bool(true));
                if nullable {
                    allow_null(map);
                }
            }
        }
        _ => {}
    }
}

fn allow_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = map.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    let in_place = ["$ref", "oneOf", "anyOf", "allOf", "not"];
    let composed = in_place.iter().any(|key| map.contains_key(*key));
    if let (Some(Value::String(kind)), false) = (map.get("type"), composed) {
        let kinds = json!([kind, "null"]);
        map.insert("type".to_owned(), kinds);
    } else if composed {
        // GitHub also writes `nullable` beside a union or a reference, where OpenAPI does not
        // define it.
        let rest = std::mem::take(map);
        map.insert("anyOf".to_owned(), json!([rest, { "type": "null" }]));
    }
}
