//! YAML as far as metadata blocks need it: read tolerantly into JSON values, written the way erk's emitter writes.

use serde_json::Value;
use serde_saphyr::DuplicateKeyPolicy;

mod flat;
mod scalar;
mod write;

#[cfg(test)]
mod tests;

pub use write::write;

/// Reads one YAML document. Aliases and nesting are limited, so a small text cannot become a large value; the last of
/// equal keys wins, as in erk. Times without quotes stay strings. The error is one line, for people.
pub fn read(text: &str) -> Result<Value, String> {
    match flat::read(text) {
        Some(fields) => Ok(Value::Object(fields)),
        None => read_any(text),
    }
}

fn read_any(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        error
            .to_string()
            .lines()
            .next()
            .unwrap_or("unreadable")
            .to_owned()
    })
}
