//! Task list items in Markdown: finding their checkboxes and toggling one in the source.

use std::iter;

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};

/// Returns the options for parsing GitHub Flavored Markdown.
pub(crate) fn markdown_options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    // Otherwise comrak moves used footnote definitions to the end and drops unused ones.
    options.parse.leave_footnote_definitions = true;
    options
}

/// A checkbox of a task list item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checkbox {
    /// Byte offset of the character between the brackets.
    offset: usize,
    pub(crate) checked: bool,
}

/// Returns the byte offsets at which lines start. Line endings are `\n`, `\r\n` and `\r`, as in
/// CommonMark.
fn line_starts(source: &str) -> Vec<usize> {
    let bytes = source.as_bytes();
    let ends_line = |at: &usize| match bytes[*at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    let ends = (0..bytes.len()).filter(ends_line);
    iter::once(0).chain(ends.map(|at| at + 1)).collect()
}

/// Returns the checkboxes of `source` in order, including those in nested lists.
pub(crate) fn checkboxes(source: &str) -> Vec<Checkbox> {
    let arena = Arena::new();
    let root = parse_document(&arena, source, &markdown_options());
    let starts = line_starts(source);
    root.descendants()
        .filter_map(|node| match &node.data().value {
            NodeValue::TaskItem(item) => {
                let symbol = item.symbol.unwrap_or(' ');
                let start = *starts.get(item.symbol_sourcepos.start.line.checked_sub(1)?)?;
                // Only container markers can precede the checkbox on its line, and none of them
                // contains brackets with this symbol.
                let position = source.get(start..)?.find(&format!("[{symbol}]"))?;
                Some(Checkbox {
                    offset: start + position + 1,
                    checked: item.symbol.is_some(),
                })
            }
            _ => None,
        })
        .collect()
}

/// Returns `source` with checkbox `index`, counted from 0, toggled. As on GitHub, only one
/// character changes. `None` if there is no such checkbox.
pub(crate) fn toggle_checkbox(source: &str, index: usize) -> Option<String> {
    let checkbox = *checkboxes(source).get(index)?;
    let mut toggled = source.to_owned();
    let symbol = if checkbox.checked { " " } else { "x" };
    toggled.replace_range(checkbox.offset..=checkbox.offset, symbol);
    Some(toggled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(source: &str) -> Vec<bool> {
        checkboxes(source)
            .iter()
            .map(|checkbox| checkbox.checked)
            .collect()
    }

    #[test]
    fn toggling_changes_one_character_of_the_right_checkbox() {
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
        for (source, index, expected) in cases {
            assert_eq!(
                toggle_checkbox(source, index).as_deref(),
                Some(expected),
                "{source:?}"
            );
            let mut changed = checked(source);
            changed[index] = !changed[index];
            assert_eq!(checked(expected), changed, "{source:?}");
        }
    }

    #[test]
    fn brackets_outside_task_list_items_are_no_checkboxes() {
        let source = "[ ] a\n\n```\n- [ ] b\n```\n\n    - [ ] c\n\n`- [ ] d`\n\n- [y] e\n- \\[ ] f\n- [ ]g\n\n\
                      <!--\n- [ ] h\n-->\n\n- one\n\n  [ ] i\n\n| [ ] j |\n|-|\n| [ ] k |\n";
        assert_eq!(checked(source), [false; 0]);
        assert_eq!(toggle_checkbox(source, 0), None);
        let behind = format!("{source}\n- [ ] l\n");
        assert_eq!(
            toggle_checkbox(&behind, 0),
            Some(format!("{source}\n- [x] l\n"))
        );
        assert_eq!(toggle_checkbox(&behind, 1), None);
    }
}
