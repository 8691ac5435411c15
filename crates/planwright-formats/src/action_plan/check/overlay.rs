//! The files as the actions so far leave them, without touching them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Files, Found};
use crate::action_plan::ProjectPath;

/// The given files and what was changed since.
pub(super) struct Overlay<'a> {
    files: &'a dyn Files,
    /// New texts; their line ends are `\n`.
    texts: HashMap<ProjectPath, String>,
    /// Files that the plan creates, folders that come with them: number of the action.
    created: HashMap<ProjectPath, usize>,
    /// Number of the first action whose change of this path was refused.
    refused: HashMap<ProjectPath, usize>,
}

impl<'a> Overlay<'a> {
    pub(super) fn new(files: &'a dyn Files) -> Self {
        Self {
            files,
            texts: HashMap::new(),
            created: HashMap::new(),
            refused: HashMap::new(),
        }
    }

    /// What is at `path` by now.
    pub(super) fn look(&self, path: &ProjectPath) -> Found<'_> {
        if let Some(text) = self.texts.get(path) {
            return Found::File(text);
        }
        match self.files.look(path) {
            Found::Missing if self.created.contains_key(path) => Found::Folder,
            found => found,
        }
    }

    /// The action that created what is at `path`.
    pub(super) fn creator(&self, path: &ProjectPath) -> Option<usize> {
        self.created.get(path).copied()
    }

    /// The first action that was to change `path` and was refused.
    pub(super) fn refused(&self, path: &ProjectPath) -> Option<usize> {
        self.refused.get(path).copied()
    }

    /// An action made the file, and the folders it is in.
    pub(super) fn create(&mut self, path: &ProjectPath, content: &str, action: usize) {
        for folder in path.ancestors() {
            if self.files.look(&folder) == Found::Missing {
                self.created.entry(folder).or_insert(action);
            }
        }
        self.created.insert(path.clone(), action);
        self.texts.insert(path.clone(), unix(content).into_owned());
    }

    /// An action was refused, so its change of `path` is not there.
    pub(super) fn refuse(&mut self, path: &ProjectPath, action: usize) {
        self.refused.entry(path.clone()).or_insert(action);
    }

    /// The text of the file at `path`, to be changed; `None` when there is no text.
    pub(super) fn text(&mut self, path: &ProjectPath) -> Option<&mut String> {
        if !self.texts.contains_key(path) {
            let Found::File(text) = self.files.look(path) else {
                return None;
            };
            self.texts.insert(path.clone(), unix(text).into_owned());
        }
        self.texts.get_mut(path)
    }
}

/// The text with `\n` for every `\r\n`.
pub(super) fn unix(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n"))
}
