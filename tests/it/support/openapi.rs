//! Checks all requests and all simulated responses against GitHub's OpenAPI description.
//!
//! The file is `generated/api.github.com.json` of the npm package `@octokit/openapi` (OpenAPI
//! 3.0.3, API version 2022-11-28). Request bodies are checked against *closed* objects: a member
//! that the description does not name is an error, because GitHub ignores such members silently.
//! Responses are checked against open objects. Rules that the description states only in prose are
//! in [`prose`].

mod closed;
mod convert;
mod examples;
mod prose;
mod route;
pub(crate) mod tap;

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex, OnceLock};

use http::HeaderMap;
use jsonschema::{Registry, Validator};
use serde_json::{Value, json};

pub(crate) use prose::Client;
pub(crate) use route::Operation;
use route::Routes;

/// Name under which the description is registered with the schema validator.
const BASE: &str = "json-schema:///github.json";

/// Statuses that GitHub returns for any operation although the description rarely lists them. The
/// redirects are those of a renamed repository.
const ANYWHERE: [u16; 10] = [301, 307, 400, 401, 403, 404, 410, 422, 429, 451];

/// GitHub's description. Schemas are compiled when they are first needed.
pub(crate) struct Description {
    doc: Arc<Value>,
    registry: Registry<'static>,
    routes: Routes,
    compiled: Mutex<HashMap<String, Arc<Validator>>>,
}

/// Returns the installed description, or `None` after printing `skipped` if the peers cannot be
/// installed.
pub(crate) fn github() -> Option<&'static Description> {
    static LOADED: OnceLock<Option<Description>> = OnceLock::new();
    LOADED
        .get_or_init(|| {
            let file =
                super::peers::peers()?.join("@octokit/openapi/generated/api.github.com.json");
            let text = fs::read(&file)
                .unwrap_or_else(|error| panic!("{} cannot be read: {error}", file.display()));
            let doc = serde_json::from_slice(&text)
                .unwrap_or_else(|error| panic!("{} is not JSON: {error}", file.display()));
            Some(Description::new(doc))
        })
        .as_ref()
}

impl Description {
    /// Creates a description from an OpenAPI 3.0.3 document as GitHub publishes it.
    pub(crate) fn new(mut doc: Value) -> Self {
        if let Some(members) = doc.as_object_mut() {
            members
                .retain(|name, _| ["paths", "components", "x-webhooks"].contains(&name.as_str()));
        }
        convert::to_json_schema(&mut doc);
        let doc = Arc::new(doc);
        let registry = Registry::new()
            .add(BASE, Arc::clone(&doc))
            .and_then(jsonschema::RegistryBuilder::prepare)
            .expect("the description has only references into itself");
        Self {
            routes: Routes::of(&doc),
            doc,
            registry,
            compiled: Mutex::default(),
        }
    }

    /// Returns the operation of `method` and `path` (without query), with its path parameters.
    pub(crate) fn operation(&self, method: &str, path: &str) -> Option<Operation<'_>> {
        self.routes.find(method, path)
    }

    /// Returns all violations in a request; empty if GitHub would use every part of it.
    pub(crate) fn check_request(
        &self,
        client: Client,
        method: &str,
        path_and_query: &str,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Vec<String> {
        let (path, query) = path_and_query
            .split_once('?')
            .unwrap_or((path_and_query, ""));
        let Some(operation) = self.operation(method, path) else {
            return vec!["GitHub describes no such operation".to_owned()];
        };
        let mut found = prose::headers(client, operation.template(), headers);
        self.check_parameters(&operation, query, &mut found);
        self.check_request_body(&operation, headers, body, &mut found);
        found
    }

    /// Returns all violations in a response; empty if it matches GitHub's description.
    pub(crate) fn check_response(
        &self,
        method: &str,
        path: &str,
        status: u16,
        body: &[u8],
    ) -> Vec<String> {
        let path = path.split('?').next().unwrap_or(path);
        let Some(operation) = self.operation(method, path) else {
            return vec!["GitHub describes no such operation".to_owned()];
        };
        let listed = self.resolve(&format!("{}/responses/{status}", operation.pointer()));
        let Some((pointer, response)) = listed else {
            if status >= 500 || ANYWHERE.contains(&status) {
                return self.check_error(body);
            }
            // Conditional requests are described in prose, for every GET.
            if status == 304 && method == "GET" && body.is_empty() {
                return Vec::new();
            }
            return vec![format!("status {status} is not described")];
        };
        let Some(schema) = json_content(response).map(|content| format!("{pointer}/{content}"))
        else {
            return if body.is_empty() || (300..400).contains(&status) {
                Vec::new()
            } else {
                vec![format!("status {status} is described without a body")]
            };
        };
        let Ok(value) = serde_json::from_slice(body) else {
            return vec![format!("body of status {status} is not JSON")];
        };
        let found = self.errors(&self.open(&schema), &value);
        if found.is_empty() || status < 400 {
            return found;
        }
        // 422 has two shapes everywhere, whichever of them is listed.
        let other = "#/components/schemas/validation-error-simple";
        if status == 422 && self.errors(&self.open(other), &value).is_empty() {
            return Vec::new();
        }
        found
    }

    /// Returns all violations in a webhook payload; empty if it matches GitHub's description.
    pub(crate) fn check_delivery(&self, event: &str, payload: &Value) -> Vec<String> {
        let action = payload.get("action").and_then(Value::as_str);
        let name = [Some(event), action]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>();
        let name = name.join("-").replace('_', "-");
        let pointer =
            format!("#/x-webhooks/{name}/post/requestBody/content/application~1json/schema");
        if self.resolve(&pointer).is_none() {
            return vec![format!("GitHub describes no webhook `{name}`")];
        }
        self.errors(&self.open(&pointer), payload)
    }

    /// Checks that a response with an unlisted status has one of GitHub's error shapes.
    fn check_error(&self, body: &[u8]) -> Vec<String> {
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            return vec!["error body is not JSON".to_owned()];
        };
        if !value.get("message").is_some_and(Value::is_string) {
            return vec!["error body has no `message`".to_owned()];
        }
        let shapes = ["basic-error", "validation-error", "validation-error-simple"]
            .map(|name| self.open(&format!("#/components/schemas/{name}")));
        if shapes.iter().any(|shape| shape.is_valid(&value)) {
            return Vec::new();
        }
        vec![format!("error body has none of GitHub's shapes: {value}")]
    }

    fn check_parameters(&self, operation: &Operation<'_>, query: &str, found: &mut Vec<String>) {
        let declared = self.parameters(operation);
        for (name, value) in operation.parameters() {
            if let Some((_, schema)) = declared.get(&("path".to_owned(), name.to_owned())) {
                self.check_scalar(schema, name, value, found);
            }
        }
        let mut seen = Vec::new();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            if seen.contains(&name) {
                found.push(format!("query parameter `{name}` is given twice"));
            }
            match declared.get(&("query".to_owned(), name.to_string())) {
                Some((_, schema)) => self.check_scalar(schema, &name, &value, found),
                None => found.push(format!("query parameter `{name}` is not described")),
            }
            prose::query(&name, &value, found);
            seen.push(name);
        }
        for ((kind, name), (required, _)) in &declared {
            if kind == "query" && *required && !seen.iter().any(|given| given == name) {
                found.push(format!("query parameter `{name}` is missing"));
            }
        }
    }

    /// Checks a value in a path or query. It is valid if the text itself or its value as JSON is
    /// valid.
    fn check_scalar(&self, schema: &str, name: &str, value: &str, found: &mut Vec<String>) {
        let validator = self.open(schema);
        let text = Value::String(value.to_owned());
        let read = serde_json::from_str::<Value>(value).unwrap_or(Value::Null);
        if !validator.is_valid(&text) && !validator.is_valid(&read) {
            found.push(format!("parameter `{name}` cannot be `{value}`"));
        }
    }

    fn check_request_body(
        &self,
        operation: &Operation<'_>,
        headers: &HeaderMap,
        body: &[u8],
        found: &mut Vec<String>,
    ) {
        let described = self.resolve(&format!("{}/requestBody", operation.pointer()));
        let Some((pointer, request)) = described else {
            if !body.is_empty() {
                found.push("a body is sent where none is described".to_owned());
            }
            return;
        };
        if body.is_empty() {
            if request.get("required") == Some(&Value::Bool(true)) {
                found.push("the required body is missing".to_owned());
            }
            return;
        }
        prose::content_type(headers, found);
        let Ok(value) = serde_json::from_slice(body) else {
            found.push("the body is not JSON".to_owned());
            return;
        };
        if let Some(content) = json_content(request) {
            let validator = self.closed(&format!("{pointer}/{content}"));
            found.extend(self.errors(&validator, &value));
        }
        prose::body(operation.method(), operation.template(), &value, found);
    }

    /// Returns the declared parameters as a map from `(in, name)` to `(required, pointer of the
    /// schema)`.
    fn parameters(&self, operation: &Operation<'_>) -> HashMap<(String, String), (bool, String)> {
        let shared = operation.pointer().rsplit_once('/').map(|(path, _)| path);
        let mut all = HashMap::new();
        for owner in shared.into_iter().chain([operation.pointer()]) {
            let list = format!("{owner}/parameters");
            let count = self.doc.pointer(&list[1..]).and_then(Value::as_array);
            for index in 0..count.map_or(0, Vec::len) {
                if let Some((pointer, parameter)) = self.resolve(&format!("{list}/{index}")) {
                    let text = |key: &str| parameter[key].as_str().unwrap_or_default().to_owned();
                    let required = parameter["required"] == true;
                    let schema = format!("{pointer}/schema");
                    all.insert((text("in"), text("name")), (required, schema));
                }
            }
        }
        all
    }

    /// Follows references from `#/…` and returns the first value that is not a reference, with its
    /// pointer.
    fn resolve(&self, pointer: &str) -> Option<(String, &Value)> {
        let mut pointer = pointer.to_owned();
        for _ in 0..16 {
            let value = self.doc.pointer(&pointer[1..])?;
            match value.get("$ref").and_then(Value::as_str) {
                Some(next) => next.clone_into(&mut pointer),
                None => return Some((pointer, value)),
            }
        }
        None
    }

    fn open(&self, pointer: &str) -> Arc<Validator> {
        let fragment = pointer.replace('{', "%7B").replace('}', "%7D");
        self.compile(pointer, || json!({ "$ref": format!("{BASE}{fragment}") }))
    }

    fn closed(&self, pointer: &str) -> Arc<Validator> {
        self.compile(&format!("closed {pointer}"), || {
            closed::closed(&self.doc, BASE, pointer)
        })
    }

    fn compile(&self, key: &str, schema: impl FnOnce() -> Value) -> Arc<Validator> {
        let mut compiled = self.compiled.lock().unwrap();
        let made = compiled.entry(key.to_owned()).or_insert_with(|| {
            let validator = jsonschema::options()
                .with_registry(&self.registry)
                .should_validate_formats(true)
                .should_ignore_unknown_formats(true)
                .build(&schema());
            Arc::new(validator.unwrap_or_else(|error| panic!("{key} does not compile: {error}")))
        });
        Arc::clone(made)
    }

    #[expect(clippy::unused_self, reason = "reads as a question to the description")]
    fn errors(&self, validator: &Validator, value: &Value) -> Vec<String> {
        let all = validator.iter_errors(value).map(|error| {
            let mut text = error.to_string();
            if text.chars().count() > 300 {
                text = text.chars().take(300).chain(['…']).collect();
            }
            format!("at `{}`: {text}", error.instance_path())
        });
        all.collect()
    }
}

/// Returns the pointer to the JSON schema in a request body or response: `content/…/schema`.
fn json_content(holder: &Value) -> Option<String> {
    let content = holder.get("content")?.as_object()?;
    let plain = content.keys().find(|name| *name == "application/json");
    let name = plain.or_else(|| content.keys().find(|name| name.contains("json")))?;
    content[name].get("schema")?;
    let escaped = name.replace('~', "~0").replace('/', "~1");
    Some(format!("content/{escaped}/schema"))
}
