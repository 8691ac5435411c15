//! Task list items of a comment: where their boxes stand, and what a click on one does to the source.

use comrak::Arena;
use comrak::nodes::NodeValue;

use crate::model::UserKind;
use crate::state::Doer;
use crate::{Simulator, SimulatorError};
use planwright_formats::markdown::{self, Lines};

/// A box of a task list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task {
    /// Byte offset of what stands between the brackets: one byte.
    at: usize,
    /// It is ticked.
    pub(crate) ticked: bool,
}

/// The boxes of `source` in order, nested ones too. What looks like one in code is none.
pub(crate) fn tasks(source: &str) -> Vec<Task> {
    let arena = Arena::new();
    let root = markdown::parse(&arena, source);
    let lines = Lines::new(source);
    root.descendants()
        .filter_map(|node| match &node.data().value {
            NodeValue::TaskItem(item) => {
                let symbol = item.symbol.unwrap_or(' ');
                let line = lines.span(item.symbol_sourcepos.start.line);
                // Only markers of containers can stand before the box, and none of them looks like one.
                let before = source.get(line.clone())?.find(&format!("[{symbol}]"))?;
                Some(Task {
                    at: line.start + before + 1,
                    ticked: item.symbol.is_some(),
                })
            }
            _ => None,
        })
        .collect()
}

/// `source` after a click on its box `nth`, from 0: as on GitHub one character changes and everything else stays. `None`
/// where there is no such box.
pub(crate) fn click(source: &str, nth: usize) -> Option<String> {
    let task = *tasks(source).get(nth)?;
    let mut clicked = source.to_owned();
    let mark = if task.ticked { " " } else { "x" };
    clicked.replace_range(task.at..=task.at, mark);
    Some(clicked)
}

impl Simulator {
    /// Whose hands a browser on the pages has: this person may tick boxes there. Before it is set, nobody may.
    pub fn set_visitor(&self, login: &str) {
        self.shared.with(|state| {
            let user = state.user_or_new(login, UserKind::User);
            state.visitor = Some(Doer {
                user,
                via_app: false,
            });
        });
    }

    /// Comments as the App does, without a request to the API; gives the comment's id.
    pub fn comment_as_app(
        &self,
        repository: &str,
        number: u64,
        body: &str,
    ) -> Result<u64, SimulatorError> {
        self.shared.with(|state| {
            let repository = state.repository_id(repository)?;
            let by = Doer {
                user: state.app.bot.clone(),
                via_app: true,
            };
            state.comment_on(&by, repository, number, body)
        })
    }

    /// The boxes of a comment in order: whether each is ticked.
    pub fn boxes(&self, comment: u64) -> Result<Vec<bool>, SimulatorError> {
        self.shared.with(|state| {
            let boxes = tasks(&state.comment(comment)?.body);
            Ok(boxes.iter().map(|task| task.ticked).collect())
        })
    }

    /// Clicks box `nth` of a comment, from 0: it is ticked, or no longer.
    pub fn click(&self, comment: u64, login: &str, nth: usize) -> Result<(), SimulatorError> {
        self.shared.with(|state| {
            let clicked = click(&state.comment(comment)?.body, nth);
            let body = clicked.ok_or_else(|| {
                SimulatorError::missing(format!("box {nth} in comment {comment}"))
            })?;
            let by = Doer {
                user: state.user_or_new(login, UserKind::User),
                via_app: false,
            };
            state.edit_comment(&by, comment, &body)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticked(source: &str) -> Vec<bool> {
        tasks(source).iter().map(|task| task.ticked).collect()
    }

    #[test]
    fn a_click_changes_one_character_of_the_box_that_was_meant() {
        let cases = [
            ("- [ ] a\n- [ ] b\n", 1, "- [ ] a\n- [x] b\n"),
            ("- [x] a\n- [X] b\n", 1, "- [x] a\n- [ ] b\n"),
            ("* [ ] a\r\n+ [x] b\r\n", 0, "* [x] a\r\n+ [x] b\r\n"),
            ("1. [ ] a\r2. [ ] b\r", 1, "1. [ ] a\r2. [x] b\r"),
            ("- a\n  - [ ] [ ] b\n", 0, "- a\n  - [x] [ ] b\n"),
            ("- [ ] a\n    - [ ] b", 1, "- [ ] a\n    - [x] b"),
            ("> 🚀\n> - [ ] ä [x]\n", 0, "> 🚀\n> - [x] ä [x]\n"),
            ("[^1]: - [ ] a\n\n[^1]\n", 0, "[^1]: - [x] a\n\n[^1]\n"),
            ("-\t[ ] a\n", 0, "-\t[x] a\n"),
            ("\u{feff}- [ ] a\n", 0, "\u{feff}- [x] a\n"),
            ("a\0b\n\n- \0\n- [ ] c\n", 0, "a\0b\n\n- \0\n- [x] c\n"),
            (
                "<details>\n\n- [ ] a\n\n</details>\n",
                0,
                "<details>\n\n- [x] a\n\n</details>\n",
            ),
            ("- [ ] a\n\n  [x] b\n", 0, "- [x] a\n\n  [x] b\n"),
        ];
        for (source, nth, expected) in cases {
            assert_eq!(click(source, nth).as_deref(), Some(expected), "{source:?}");
            let mut changed = ticked(source);
            changed[nth] = !changed[nth];
            assert_eq!(ticked(expected), changed, "{source:?}");
        }
    }

    #[test]
    fn what_only_looks_like_a_box_is_none() {
        let source = "[ ] a\n\n```\n- [ ] b\n```\n\n    - [ ] c\n\n`- [ ] d`\n\n- [y] e\n- \\[ ] f\n- [ ]g\n\n\
                      <!--\n- [ ] h\n-->\n\n- one\n\n  [ ] i\n\n| [ ] j |\n|-|\n| [ ] k |\n";
        assert_eq!(ticked(source), [false; 0]);
        assert_eq!(click(source, 0), None);
        let behind = format!("{source}\n- [ ] l\n");
        assert_eq!(click(&behind, 0), Some(format!("{source}\n- [x] l\n")));
        assert_eq!(click(&behind, 1), None);
    }
}
