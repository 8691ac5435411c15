//! The project's files with the changes of the actions so far, which are kept in memory only.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{PathState, ProjectFiles};
use crate::action_plan::ProjectPath;

/// The given files and their changes.
pub(super) struct Overlay<'a> {
    files: &'a dyn ProjectFiles,
    /// New texts with `\n` as line break.
    texts: HashMap<ProjectPath, String>,
    /// Files that the plan creates, and their new folders, with the number of the action.
    created: HashMap<ProjectPath, usize>,
    /// Number of the first action whose change of this path was invalid.
    refused: HashMap<ProjectPath, usize>,
}

impl<'a> Overlay<'a> {
    pub(super) fn new(files: &'a dyn ProjectFiles) -> Self {
        Self {
            files,
            texts: HashMap::new(),
            created: HashMap::new(),
            refused: HashMap::new(),
        }
    }

    /// Returns the current state of `path`.
    pub(super) fn get(&self, path: &ProjectPath) -> PathState<'_> {
        if let Some(text) = self.texts.get(path) {
            return PathState::File(text);
        }
        match self.files.get(path) {
            PathState::Missing if self.created.contains_key(path) => PathState::Folder,
            state => state,
        }
    }

    /// Returns the action that created `path`.
    pub(super) fn creator(&self, path: &ProjectPath) -> Option<usize> {
        self.created.get(path).copied()
    }

    /// Returns the first action whose change of `path` was invalid.
    pub(super) fn refused(&self, path: &ProjectPath) -> Option<usize> {
        self.refused.get(path).copied()
    }

    /// Records that an action creates a file and its folders.
    pub(super) fn create(&mut self, path: &ProjectPath, content: &str, action: usize) {
        for folder in path.ancestors() {
            if self.files.get(&folder) == PathState::Missing {
                self.created.entry(folder).or_insert(action);
            }
        }
        self.created.insert(path.clone(), action);
        self.texts
            .insert(path.clone(), normalize_line_breaks(content).into_owned());
    }

    /// Records that the change of `path` by an action was invalid and has not been applied.
    pub(super) fn refuse(&mut self, path: &ProjectPath, action: usize) {
        self.refused.entry(path.clone()).or_insert(action);
    }

    /// Returns the text of a file for changing it; `None` if there is no text.
    pub(super) fn text_mut(&mut self, path: &ProjectPath) -> Option<&mut String> {
        if !self.texts.contains_key(path) {
            let PathState::File(text) = self.files.get(path) else {
                return None;
            };
            self.texts
                .insert(path.clone(), normalize_line_breaks(text).into_owned());
        }
        self.texts.get_mut(path)
    }
}

/// Replaces every `\r\n` by `\n`.
pub(super) fn normalize_line_breaks(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n"))
}
