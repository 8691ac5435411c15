//! YAML as far as metadata blocks need it: read into JSON values as PyYAML reads it, written as
//! erk's emitter writes it.

use serde_json::Value;

mod flat;
mod load;
mod resolve;
mod scalar;
mod write;

#[cfg(test)]
mod tests;

pub use write::write;

/// Reads one YAML document as PyYAML's `safe_load` does, which is what erk uses.
///
/// Three things differ, so that a block stays readable where PyYAML gives up: times without quotes,
/// numbers that JSON cannot hold and scalars under an unknown tag are read as text. Aliases and
/// nesting are limited, so a small text cannot become a large value; the last of equal keys wins.
/// The error is one line, for people.
pub fn read(text: &str) -> Result<Value, String> {
    match flat::read(text) {
        Some(fields) => Ok(Value::Object(fields)),
        None => load::read(text),
    }
}
