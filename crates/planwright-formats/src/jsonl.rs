//! Reads JSON Lines from a stream without building a tree of each value.
//!
//! Session logs and agent streams are mostly text that no caller asks for. [`Lines`] splits chunks
//! of bytes into lines. [`members`] checks a whole value in one pass and returns the JSON text of
//! the requested members, borrowed from the line.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Maximum length of a line, in bytes: 64 MiB. Longer lines are skipped. Real lines reach some 50
/// MB, because a line holds the result of a tool, such as a file, twice.
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// Maximum capacity of the line buffer that is kept after a long line, in bytes.
const MAX_KEPT_BUFFER_BYTES: usize = 1024 * 1024;

/// One line of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// The line without its `\n`; a `\r` before it is kept.
    Bytes(&'a [u8]),
    /// A line over the limit; its bytes were dropped.
    TooLong,
}

/// Splits a stream of chunks into lines.
///
/// A line that lies within one chunk is not copied. At most one line is held in memory.
#[derive(Debug)]
pub(crate) struct Lines {
    /// The beginning of a line whose end has not been read yet.
    partial: Vec<u8>,
    /// Whether the partial line is over the limit.
    too_long: bool,
    limit: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::with_limit(MAX_LINE_BYTES)
    }
}

impl Lines {
    /// Creates a splitter that reports lines over `limit` bytes as [`Line::TooLong`].
    pub(crate) fn with_limit(limit: usize) -> Self {
        Self {
            partial: Vec::new(),
            too_long: false,
            limit,
        }
    }

    /// Reads the next bytes and calls `on_line` for every line that ends in them.
    pub(crate) fn push(&mut self, mut chunk: &[u8], mut on_line: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (head, rest) = (&chunk[..end], &chunk[end + 1..]);
            chunk = rest;
            if self.too_long || self.partial.len() + head.len() > self.limit {
                on_line(Line::TooLong);
            } else if self.partial.is_empty() {
                on_line(Line::Bytes(head));
            } else {
                self.partial.extend_from_slice(head);
                on_line(Line::Bytes(&self.partial));
            }
            self.too_long = false;
            self.partial.clear();
            self.partial.shrink_to(MAX_KEPT_BUFFER_BYTES);
        }
        if self.too_long || self.partial.len() + chunk.len() > self.limit {
            self.too_long = true;
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(chunk);
        }
    }

    /// Ends the stream and calls `on_line` for a last line without a line end.
    pub(crate) fn finish(self, mut on_line: impl FnMut(Line<'_>)) {
        if self.too_long {
            on_line(Line::TooLong);
        } else if !self.partial.is_empty() {
            on_line(Line::Bytes(&self.partial));
        }
    }
}

/// Returns the line with this number (from 1) without a byte order mark; `None` if it is blank.
pub(crate) fn non_blank(line: &[u8], number: u64) -> Option<&[u8]> {
    let line = match line.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) if number == 1 => rest,
        _ => line,
    };
    (!line.trim_ascii().is_empty()).then_some(line)
}

/// Defines a struct of the JSON texts of an object's members, with a `parse` function; see
/// [`members`].
macro_rules! json_members {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $key:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        struct $name<'a> { $($field: Option<&'a str>),* }

        impl<'a> $name<'a> {
            fn parse(json: &'a str) -> Result<Self, serde_json::Error> {
                let [$($field),*] = $crate::jsonl::members(json, &[$($key),*])?;
                Ok(Self { $($field),* })
            }
        }
    };
}
pub(crate) use json_members;

/// Returns the JSON text of each of `names` in the object `json`. An error means that `json` is not
/// an object.
///
/// Of a name that occurs twice the last one counts, as for every reader in use. `null` counts as
/// absent.
pub(crate) fn members<'a, const N: usize>(
    json: &'a str,
    names: &[&str; N],
) -> Result<[Option<&'a str>; N], serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let found = reader.deserialize_map(Members { names })?;
    reader.end()?;
    Ok(found)
}

/// Returns the name and the JSON text of every member of the object `json`, in order; `None` if it
/// is not an object.
pub(crate) fn all_members(json: &str) -> Option<Vec<(String, &str)>> {
    let mut reader = serde_json::Deserializer::from_str(json);
    reader.deserialize_map(AllMembers).ok()
}

/// Calls `visit` for each element of the array `json`; returns false if it is not an array.
///
/// The elements are not collected: an array can have half as many elements as it has bytes.
pub(crate) fn elements<'a>(json: &'a str, visit: impl FnMut(&'a str)) -> bool {
    let mut reader = serde_json::Deserializer::from_str(json);
    reader.deserialize_seq(Elements(visit)).is_ok()
}

/// Decodes the JSON string `json`; `None` if it is not a string.
///
/// A lone surrogate, which JavaScript writes and UTF-8 cannot represent, becomes U+FFFD.
pub(crate) fn string(json: &str) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inside.as_bytes().contains(&b'\\') {
        return Some(Cow::Borrowed(inside));
    }
    if let Ok(text) = serde_json::from_str::<String>(json) {
        return Some(Cow::Owned(text));
    }
    // As bytes, serde_json accepts lone surrogates.
    let mut reader = serde_json::Deserializer::from_str(json);
    reader
        .deserialize_bytes(MapBytes(lossy))
        .ok()
        .map(Cow::Owned)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
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
        let position = |key: &[u8]| self.names.iter().position(|name| name.as_bytes() == key);
        while let Some(position) = map.next_key_seed(MapBytes(position))? {
            match position {
                Some(position) => {
                    let json = map.next_value::<&RawValue>()?.get();
                    found[position] = (json != "null").then_some(json);
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

struct AllMembers;

impl<'a> Visitor<'a> for AllMembers {
    type Value = Vec<(String, &'a str)>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(name) = map.next_key_seed(MapBytes(lossy))? {
            all.push((name, map.next_value::<&RawValue>()?.get()));
        }
        Ok(all)
    }
}

struct Elements<V>(V);

impl<'a, V: FnMut(&'a str)> Visitor<'a> for Elements<V> {
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

/// Applies a function to a JSON string as bytes: a string that is not valid Unicode is no reason to
/// give up the line.
struct MapBytes<F>(F);

impl<'a, T, F: Fn(&[u8]) -> T> DeserializeSeed<'a> for MapBytes<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'a>>(self, string: D) -> Result<T, D::Error> {
        string.deserialize_bytes(self)
    }
}

impl<T, F: Fn(&[u8]) -> T> Visitor<'_> for MapBytes<F> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<T, E> {
        Ok((self.0)(bytes))
    }
}

#[cfg(test)]
mod tests;
