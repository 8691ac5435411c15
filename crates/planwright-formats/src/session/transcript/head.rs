//! The head of a document: where the entries come from.

use super::entry::Entry;
use super::xml::escape_attribute;

/// What is said once, before the entries of every part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    source: Option<String>,
    branch: Option<String>,
    model: Option<String>,
}

impl Head {
    /// A head for the log of the agent `source`; `None` for a main log.
    pub fn new(source: Option<String>) -> Self {
        Self {
            source,
            ..Self::default()
        }
    }

    /// Takes branch and model from the first entry that names them.
    pub(super) fn note(&mut self, entry: &Entry) {
        if self.branch.is_none() {
            self.branch.clone_from(&entry.branch);
        }
        if self.model.is_none() {
            self.model.clone_from(&entry.model);
        }
    }

    /// Nothing can be added any more.
    pub(super) fn is_complete(&self) -> bool {
        self.branch.is_some() && self.model.is_some()
    }

    /// The `<meta>` lines, each with its line end.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        [
            ("source", &self.source),
            ("branch", &self.branch),
            ("model", &self.model),
        ]
        .into_iter()
        .filter_map(|(name, value)| {
            let value = escape_attribute(value.as_ref()?);
            Some(format!("  <meta {name}=\"{value}\" />\n"))
        })
    }

    /// How a document begins: `<session>` and the `<meta>` lines.
    pub fn open(&self) -> String {
        let mut text = String::from("<session>\n");
        text.extend(self.lines());
        text
    }
}
