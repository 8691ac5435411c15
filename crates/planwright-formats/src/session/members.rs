//! Members of a JSON object, looked at without building the rest.
//!
//! A session log is mostly text nobody asks for. [`members`] goes over a whole value once, checks that it is JSON, and
//! remembers where the named members stand; nothing is copied and nothing is nested in memory.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The JSON text of each of `names` in the object `json`; of a name that stands there twice the last, as every reader
/// in use does. `null` counts as absent. An error means: not JSON, or not an object.
pub(crate) fn members<'a, const N: usize>(
    json: &'a str,
    names: &[&str; N],
) -> Result<[Option<&'a str>; N], serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let found = reader.deserialize_map(Members { names })?;
    reader.end()?;
    Ok(found)
}

/// Gives `see` each element of the array `json`, one after the other; false for anything else. None is kept: an array of
/// a line's length has half as many elements as bytes.
pub(crate) fn elements<'a>(json: &'a str, see: impl FnMut(&'a str)) -> bool {
    let mut reader = serde_json::Deserializer::from_str(json);
    reader.deserialize_seq(Elements(see)).is_ok()
}

/// The string that `json` is; `None` for anything else. A half of a surrogate pair, which JavaScript writes and UTF-8
/// has no place for, becomes U+FFFD.
pub(crate) fn text(json: &str) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inside.as_bytes().contains(&b'\\') {
        return Some(Cow::Borrowed(inside));
    }
    if let Ok(text) = serde_json::from_str::<String>(json) {
        return Some(Cow::Owned(text));
    }
    // As bytes, serde_json lets half pairs through.
    let mut reader = serde_json::Deserializer::from_str(json);
    let bytes = reader.deserialize_bytes(Bytes).ok()?;
    Some(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
}

struct Members<'n, const N: usize> {
    names: &'n [&'n str; N],
}

impl<'a, const N: usize> Visitor<'a> for Members<'_, N> {
    type Value = [Option<&'a str>; N];

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        while let Some(place) = map.next_key_seed(Name(self.names))? {
            match place {
                Some(place) => {
                    let json = map.next_value::<&RawValue>()?.get();
                    found[place] = (json != "null").then_some(json);
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

/// Which of the names a key is.
#[derive(Clone, Copy)]
struct Name<'n>(&'n [&'n str]);

impl<'a> serde::de::DeserializeSeed<'a> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'a>>(self, key: D) -> Result<Self::Value, D::Error> {
        // As bytes: a key that is not valid Unicode is none of ours, and no reason to give up the line.
        key.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a key")
    }

    fn visit_bytes<E: Error>(self, key: &[u8]) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| name.as_bytes() == key))
    }
}

struct Elements<S>(S);

impl<'a, S: FnMut(&'a str)> Visitor<'a> for Elements<S> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element::<&RawValue>()? {
            (self.0)(element.get());
        }
        Ok(())
    }
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(bytes.to_vec())
    }
}

#[cfg(test)]
mod tests;
