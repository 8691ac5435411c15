//! Extracts the examples that GitHub publishes beside its schemas.

use serde_json::Value;

use super::{Description, Operation, json_content};

impl Description {
    /// Returns the published request examples of an operation as `(name, body)`.
    pub(crate) fn request_examples(&self, operation: &Operation<'_>) -> Vec<(String, Value)> {
        let pointer = format!("{}/requestBody", operation.pointer());
        self.resolve(&pointer)
            .map_or_else(Vec::new, |(_, body)| self.examples(body))
    }

    /// Returns the published response examples of an operation as `(name, status, body)`.
    pub(crate) fn response_examples(&self, operation: &Operation<'_>) -> Vec<(String, u16, Value)> {
        let pointer = format!("{}/responses", operation.pointer());
        let statuses = self.doc.pointer(&pointer[1..]).and_then(Value::as_object);
        let mut all = Vec::new();
        for status in statuses.into_iter().flat_map(|map| map.keys()) {
            let response = self.resolve(&format!("{pointer}/{status}"));
            if let (Ok(code), Some((_, response))) = (status.parse(), response) {
                let examples = self.examples(response).into_iter();
                all.extend(examples.map(|(name, value)| (name, code, value)));
            }
        }
        all
    }

    fn examples(&self, holder: &Value) -> Vec<(String, Value)> {
        let Some(content) = json_content(holder) else {
            return Vec::new();
        };
        let content = content.trim_end_matches("/schema");
        let Some(media) = holder.pointer(&format!("/{content}")) else {
            return Vec::new();
        };
        let named = media.get("examples").and_then(Value::as_object);
        let named = named
            .into_iter()
            .flatten()
            .map(|(name, example)| (name.clone(), self.dereferenced(example)["value"].clone()));
        let single = media
            .get("example")
            .map(|example| ("example".to_owned(), example.clone()));
        // Some example values are themselves references to examples, which OpenAPI does not allow.
        named
            .chain(single)
            .map(|(name, value)| match self.dereferenced(&value) {
                inner if std::ptr::eq(inner, &raw const value) => (name, value),
                inner => (name, inner.get("value").unwrap_or(inner).clone()),
            })
            .collect()
    }

    fn dereferenced<'a>(&'a self, value: &'a Value) -> &'a Value {
        let target = value.get("$ref").and_then(Value::as_str);
        target
            .and_then(|target| self.resolve(target))
            .map_or(value, |(_, target)| target)
    }
}
