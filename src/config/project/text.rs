//! Texts of the settings in which `${NAME}` is replaced by an environment variable.

use std::fmt;

use serde::Deserialize;

/// A text in which `${NAME}` may stand for an environment variable. Because the variable may hold a
/// secret, `Debug` prints the text as written.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Text {
    written: String,
    /// The text with the variables expanded; `None` if there are none or they are not expanded yet.
    value: Option<String>,
}

impl Text {
    /// Returns the text with the variables expanded.
    pub fn as_str(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.written)
    }

    /// Returns the text as written in the file.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Returns whether the text contains a `${NAME}`.
    pub(super) fn expands(&self) -> bool {
        variable(&self.written).is_some()
    }

    /// Expands the variables. Their values are not expanded again.
    ///
    /// # Errors
    /// Returns the name of the first variable that is not set.
    pub(super) fn expand(&mut self, env: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
        let mut value = String::new();
        let mut rest = self.written.as_str();
        if !self.expands() {
            return Ok(());
        }
        while let Some((before, name, behind)) = variable(rest) {
            value.push_str(before);
            value.push_str(&env(name).ok_or_else(|| name.to_owned())?);
            rest = behind;
        }
        value.push_str(rest);
        self.value = Some(value);
        Ok(())
    }
}

/// Finds the first `${NAME}` and returns the text before it, the name and the text after it. `${}`
/// is not a variable.
fn variable(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find("${")?;
        let inside = &text[at + 2..];
        match inside.split_once('}')? {
            ("", _) => from = at + 2,
            (name, behind) => return Some((&text[..at], name, behind)),
        }
    }
}

impl From<String> for Text {
    fn from(written: String) -> Self {
        Self {
            written,
            value: None,
        }
    }
}

impl From<&str> for Text {
    fn from(written: &str) -> Self {
        written.to_owned().into()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.written.fmt(f)
    }
}
