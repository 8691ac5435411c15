//! The members of a JSON object whose names nobody knows beforehand, in order.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Name and JSON text of each member; `None` where `json` is not an object.
pub(super) fn fields(json: &str) -> Option<Vec<(String, &str)>> {
    let mut reader = serde_json::Deserializer::from_str(json);
    reader.deserialize_map(Fields).ok()
}

struct Fields;

impl<'a> Visitor<'a> for Fields {
    type Value = Vec<(String, &'a str)>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(name) = map.next_key_seed(Name)? {
            all.push((name, map.next_value::<&RawValue>()?.get()));
        }
        Ok(all)
    }
}

/// A name that need not be valid Unicode.
struct Name;

impl<'a> DeserializeSeed<'a> for Name {
    type Value = String;

    fn deserialize<D: Deserializer<'a>>(self, key: D) -> Result<String, D::Error> {
        key.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Name {
    type Value = String;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_bytes<E: Error>(self, name: &[u8]) -> Result<String, E> {
        Ok(String::from_utf8_lossy(name).into_owned())
    }
}
