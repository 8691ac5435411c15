//! The YAML of metadata blocks: parsed into JSON values as PyYAML parses it, written as erk's
//! emitter writes it.

use serde_json::Value;

mod flat;
mod load;
mod resolve;
mod scalar;
mod write;

#[cfg(test)]
mod tests;

pub use write::write;

/// Parses one YAML document as PyYAML's `safe_load` does, which is what erk uses.
///
/// It differs in three ways, so that a block stays readable where PyYAML fails: unquoted
/// timestamps, numbers that JSON cannot represent and scalars with an unknown tag become strings.
/// Aliases and nesting are limited, so a small text cannot expand to a large value. The last of
/// several equal keys wins. The error is a single line for people.
pub fn read(text: &str) -> Result<Value, String> {
    match flat::parse(text) {
        Some(fields) => Ok(Value::Object(fields)),
        None => load::parse(text),
    }
}
