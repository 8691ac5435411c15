//! A paragraph, heading or table row as text in which placeholders stand for paths and code.

use std::ops::Range;

use comrak::arena_tree::NodeEdge;
use comrak::nodes::{AstNode, NodeValue};

use super::Mention;
use super::path::{self, Found, Place, recognise};

/// Stands for a path.
pub(super) const PATH: char = '\u{e000}';
/// Stands for a code span.
pub(super) const CODE: char = '\u{e001}';
/// Separates the cells of a table.
pub(super) const CELL: char = '\u{e002}';
/// Stands for markup, so that a word that contains some is not taken for a path.
const MARKUP: char = '\u{fffc}';

/// A paragraph, heading or table row.
#[derive(Default)]
pub(super) struct Unit {
    /// The text with placeholders.
    pub(super) text: String,
    /// The paths, in the order of their placeholders.
    pub(super) paths: Vec<Mention>,
    /// The code spans, in the order of their placeholders.
    pub(super) codes: Vec<String>,
}

impl Unit {
    /// Appends the inline content of `leaf`, which is at `near` in the source.
    pub(super) fn push<'a>(
        &mut self,
        leaf: &'a AstNode<'a>,
        near: &Range<usize>,
        repository: &str,
    ) {
        let mut words = String::new();
        // Depth of links and struck text, whose content is not read.
        let mut skipped = 0_usize;
        for edge in leaf.traverse() {
            let (node, starts) = match edge {
                NodeEdge::Start(node) => (node, true),
                NodeEdge::End(node) => (node, false),
            };
            let value = &node.data().value;
            let opaque = match value {
                NodeValue::Link(link) => !link.url.starts_with('#'),
                NodeValue::Strikethrough | NodeValue::Image(_) => true,
                _ => false,
            };
            if opaque && !starts {
                skipped -= 1;
                continue;
            }
            if opaque {
                skipped += 1;
            }
            if skipped > usize::from(opaque) {
                continue;
            }
            match value {
                NodeValue::Strong | NodeValue::Emph => words.push(MARKUP),
                _ if !starts => {}
                NodeValue::Text(literal) => words.push_str(literal),
                NodeValue::SoftBreak | NodeValue::HtmlInline(_) => words.push(' '),
                NodeValue::LineBreak => words.push('\n'),
                NodeValue::Code(code) => {
                    self.prose(&std::mem::take(&mut words), near);
                    self.code(code.literal.trim(), near);
                }
                NodeValue::Link(link) | NodeValue::Image(link) if opaque => {
                    self.prose(&std::mem::take(&mut words), near);
                    if let Some(found) = linked(&link.url, repository) {
                        self.path(found, true, near);
                    }
                }
                _ => {}
            }
        }
        self.prose(&words, near);
    }

    /// Marks the end of a table cell.
    pub(super) fn end_cell(&mut self) {
        self.text.push(CELL);
    }

    fn path(&mut self, found: Found, marked: bool, near: &Range<usize>) {
        self.text.push(PATH);
        self.paths.push(Mention {
            found,
            marked,
            near: near.clone(),
        });
    }

    fn prose(&mut self, text: &str, near: &Range<usize>) {
        self.words(text, Place::Prose, near);
    }

    fn code(&mut self, code: &str, near: &Range<usize>) {
        if !code.contains(char::is_whitespace) {
            let word = code.trim_matches(['"', '\'']);
            if let Some(found) = recognise(word, Place::Code) {
                self.path(found, true, near);
                return;
            }
        } else if self.words(code, Place::Command, near) {
            return;
        }
        self.text.push(CODE);
        self.codes.push(code.to_owned());
    }

    /// Appends text, in which paths are words. That of a code span without paths is not appended.
    /// Returns whether there are paths.
    fn words(&mut self, text: &str, place: Place, near: &Range<usize>) -> bool {
        let before = (self.text.len(), self.paths.len());
        for piece in text.split_inclusive(apart) {
            let word = piece.trim_end_matches(apart);
            let found = if word.contains(['/', '.', '\\']) {
                recognise(word, place)
            } else {
                None
            };
            match found {
                Some(found) => {
                    let at = word.find(&found.written).unwrap_or(0);
                    self.plain(&word[..at]);
                    let end = word.len().min(at + found.written.len());
                    self.path(found, place == Place::Command, near);
                    self.plain(&word[end..]);
                }
                None => self.plain(word),
            }
            self.plain(&piece[word.len()..]);
        }
        let found = self.paths.len() > before.1;
        if place == Place::Command && !found {
            self.text.truncate(before.0);
        }
        found
    }

    /// Appends text without paths.
    fn plain(&mut self, text: &str) {
        let text = text.chars();
        self.text
            .extend(text.filter(|c| ![PATH, CODE, CELL, MARKUP].contains(c)));
    }
}

/// Whether a character separates words: white space, and any of scripts without spaces.
fn apart(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}')
}

/// Returns the path that the target of a link names.
fn linked(target: &str, repository: &str) -> Option<Found> {
    if let Some((path, directory)) = path::of_repository(target, repository) {
        let mut found = recognise(&path, Place::Link)?;
        found.directory |= directory;
        found.certain = true;
        return Some(found);
    }
    if target.starts_with('#') || target.starts_with("//") {
        return None;
    }
    recognise(target, Place::Link)
}
