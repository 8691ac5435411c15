//! Is a session worth reading? Neither an empty one nor a warm-up is.

use super::entry::{Block, Entry, Role};

/// A session of fewer entries says nothing (erk's rule).
const FEWEST_ENTRIES: u64 = 3;

/// What is thought of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is worth reading.
    Worth,
    /// Fewer than three entries, or no text of the user, or none of the assistant.
    Empty,
    /// It only loads instructions: the first prompt says `warmup`, and no tool is used. (erk goes by the word alone and
    /// so loses every session about a warm-up.)
    WarmUp,
}

/// Gathers what the verdict depends on.
#[derive(Debug, Default)]
pub(super) struct Judge {
    entries: u64,
    user_spoke: bool,
    assistant_spoke: bool,
    tool_used: bool,
    /// Whether the first entry of the user says `warmup`.
    warm_up: Option<bool>,
}

impl Judge {
    pub(super) fn note(&mut self, entry: &Entry) {
        self.entries += 1;
        let text = entry.text(" ");
        let speaks = !text.trim().is_empty();
        match entry.role {
            Role::User => {
                self.user_spoke |= speaks;
                self.warm_up
                    .get_or_insert_with(|| text.to_lowercase().contains("warmup"));
            }
            Role::Assistant => {
                self.assistant_spoke |= speaks;
                self.tool_used |= entry
                    .blocks
                    .iter()
                    .any(|block| matches!(block, Block::ToolUse { .. }));
            }
            Role::Summary | Role::System { .. } => {}
        }
    }

    /// The verdict on what has been seen. Once it is [`Verdict::Worth`] it stays so.
    pub(super) fn verdict(&self) -> Verdict {
        if self.entries < FEWEST_ENTRIES || !self.user_spoke || !self.assistant_spoke {
            Verdict::Empty
        } else if self.warm_up == Some(true) && !self.tool_used {
            Verdict::WarmUp
        } else {
            Verdict::Worth
        }
    }
}
