//! A text of the settings: as it was written, and what became of it.

use std::fmt;

use serde::Deserialize;

/// A text in which `${NAME}` may stand for an environment variable. What it stands for may be a secret: `Debug` shows
/// what was written.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Text {
    written: String,
    /// With the variables put in, where there are any.
    value: Option<String>,
}

impl Text {
    /// The text, with the variables put in.
    pub fn as_str(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.written)
    }

    /// The text as it stands in the file.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// It holds a `${NAME}`.
    pub(super) fn expands(&self) -> bool {
        variable(&self.written).is_some()
    }

    /// Puts the variables in. What they hold is not looked through again.
    ///
    /// # Errors
    /// The name of one that is not set.
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

/// The first `${NAME}`: what stands before it, the name, what stands behind. `${}` is none.
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
