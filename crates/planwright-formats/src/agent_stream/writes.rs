//! Files that an agent says it has written: calls of the tool `Write`, with what their results say.
//!
//! This is what was said, not what is there. The file on disk comes first; this tells apart an agent that wrote somewhere
//! else from one that never tried.

use super::event::{Said, Tool};
use super::{NAME_MAX, WRITES_MAX, WRITTEN_MAX};
use crate::session::members::{elements, members, text};

/// Name of the tool that writes a whole file.
const WRITE: &str = "Write";

/// What a call of `Write` was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteCall {
    /// The path, as the agent wrote it.
    pub path: String,
    /// The whole text.
    pub content: String,
}

/// A call of `Write` and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrote {
    /// Id of the call.
    pub(super) id: String,
    /// The path, as the agent wrote it.
    pub path: String,
    /// The whole text.
    pub content: String,
    /// Whether its result is no error; `None` where no result was seen.
    pub ok: Option<bool>,
}

/// The result of one call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answered {
    id: String,
    error: bool,
}

/// What the call of the tool `name` writes, from the JSON text of its `input`; `None` for other tools, and for what has
/// no room.
pub(super) fn call(name: &str, input: Option<&str>) -> Option<WriteCall> {
    if name != WRITE {
        return None;
    }
    let [path, content] = members(input?, &["file_path", "content"]).ok()?;
    let (path, content) = (text(path?)?, text(content?)?);
    let fits = path.len() <= 16 * NAME_MAX && content.len() <= WRITTEN_MAX;
    fits.then(|| WriteCall {
        path: path.into_owned(),
        content: content.into_owned(),
    })
}

/// The results of calls in the message of a `user` event.
pub(super) fn answers(message: &str) -> Vec<Answered> {
    let mut found = Vec::new();
    let Ok([Some(content)]) = members(message, &["content"]) else {
        return found;
    };
    elements(content, |json| {
        let Ok([kind, id, error]) = members(json, &["type", "tool_use_id", "is_error"]) else {
            return;
        };
        if kind.and_then(text).as_deref() != Some("tool_result") || found.len() >= WRITES_MAX {
            return;
        }
        if let Some(id) = id.and_then(text).filter(|id| id.len() <= NAME_MAX) {
            found.push(Answered {
                id: id.into_owned(),
                // Whatever is there and not `false` is no success.
                error: error.is_some_and(|error| error != "false"),
            });
        }
    });
    found
}

/// The writes of a stream: the latest [`WRITES_MAX`] with at most [`WRITTEN_MAX`] bytes in all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Writes(pub(super) Vec<Wrote>);

impl Writes {
    /// Takes the calls of an event; a sub-agent's are calls, too: the folder is the same.
    pub(super) fn called(&mut self, said: &mut Said) {
        for Tool { id, write, .. } in &mut said.tools {
            let Some(write) = write.take() else {
                continue;
            };
            self.0.push(Wrote {
                id: id.clone(),
                path: write.path,
                content: write.content,
                ok: None,
            });
        }
        let over = |all: &[Wrote]| {
            let bytes: usize = all.iter().map(|one| one.content.len()).sum();
            all.len() > WRITES_MAX || bytes > WRITTEN_MAX
        };
        while over(&self.0) {
            self.0.remove(0);
        }
    }

    /// Takes results of calls.
    pub(super) fn answered(&mut self, answers: &[Answered]) {
        for answer in answers {
            let known = self.0.iter_mut().rfind(|one| one.id == answer.id);
            if let Some(known) = known {
                known.ok = Some(!answer.error);
            }
        }
    }

    /// Whether results are waited for.
    pub(super) fn open(&self) -> bool {
        self.0.iter().any(|one| one.ok.is_none())
    }
}
