//! Identifiers in code spans.

/// Maximum number of files beside which a symbol is looked for.
pub(super) const MAX_FILES: usize = 20;

/// An identifier that is more than an ordinary word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Symbol {
    /// The last identifier.
    pub(super) name: String,
    /// The code span.
    pub(super) written: String,
}

/// Words in front of the name in a declaration.
const KEYWORDS: &[&str] = &[
    "abstract",
    "async",
    "class",
    "const",
    "def",
    "enum",
    "export",
    "fn",
    "func",
    "fun",
    "function",
    "impl",
    "interface",
    "let",
    "mod",
    "private",
    "protected",
    "pub",
    "public",
    "record",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "unsafe",
    "var",
    "void",
];

/// Returns the identifier that the code span `code` names; `None` for words, commands, paths and
/// expressions.
pub(super) fn symbol(code: &str) -> Option<Symbol> {
    let written = code.trim();
    if written.is_empty() || written.len() > 80 {
        return None;
    }
    let mut rest = written;
    let mut declared = false;
    while let Some((word, after)) = rest.split_once(char::is_whitespace)
        && (KEYWORDS.contains(&word) || word.starts_with("pub("))
    {
        declared = true;
        rest = after.trim_start();
    }
    let end = rest.find(['(', '<', '{']).unwrap_or(rest.len());
    let (path, arguments) = rest.split_at(end);
    // An expression continues behind its arguments, and a declaration may have a result.
    let called = arguments.starts_with('(') && (arguments.ends_with(')') || declared);
    let closed = arguments.is_empty() || called || arguments.ends_with('>') || declared;
    let plain = |c: char| c.is_alphanumeric() || "_:.".contains(c);
    let path = path.trim_end_matches('!').trim();
    if !closed || path.is_empty() || !path.chars().all(plain) {
        return None;
    }
    let name = path.rsplit([':', '.']).next()?;
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().count() >= 3
        && name.contains(char::is_alphabetic);
    let hump = name
        .chars()
        .zip(name.chars().skip(1))
        .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    // Names in capitals are often variables of the environment.
    let inner = name.trim_matches('_').contains('_') && name.contains(char::is_lowercase);
    // `config.toml.key` and `Node.js` are no symbols, nor is `std::fs`.
    let scoped = path.contains("::") && name.starts_with(char::is_uppercase);
    let special = inner || hump || called || declared || scoped;
    let foreign = ["std::", "core::", "tokio::"]
        .iter()
        .any(|start| path.starts_with(start));
    (is_name && special && !foreign).then(|| Symbol {
        name: name.to_owned(),
        written: written.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_told_from_words_and_expressions() {
        for (code, name) in [
            ("decide_comment", "decide_comment"),
            ("Queue::next", ""),
            ("Queue::next()", "next"),
            ("queue::Queue", "Queue"),
            ("fn parse(..) -> Result<Plan, Error>", "parse"),
            ("pub(crate) fn parse(text: &str)", "parse"),
            ("useBooking", "useBooking"),
            ("parse(..)", "parse"),
            ("class Booking(Base)", "Booking"),
            ("Vec<u8>", ""),
            ("GITHUB_TOKEN", ""),
            ("Limits::MAX_RETRIES", "MAX_RETRIES"),
            ("const MAX_RETRIES", "MAX_RETRIES"),
            ("self.next_attempt_at", "next_attempt_at"),
            ("queue", ""),
            ("JSON", ""),
            ("a + b_c", ""),
            ("foo_bar = 3", ""),
            ("state == Cancelled", ""),
            ("std::fs::read_to_string", ""),
            ("cargo test", ""),
            ("--no-default-features", ""),
            ("", ""),
        ] {
            let found = symbol(code).map(|found| found.name);
            assert_eq!(found.unwrap_or_default(), name, "{code}");
        }
    }
}
