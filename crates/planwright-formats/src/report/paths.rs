//! File paths in the text of a document.

use std::collections::HashSet;

use comrak::arena_tree::NodeEdge;
use comrak::nodes::{AstNode, NodeValue};

use crate::plan::files::HOST_SUFFIXES;
use crate::plan::summary::as_path;

/// Replaces markup, so that a word that contains some is not taken for a path.
const MARKUP: char = '\u{fffc}';

/// Collects distinct paths in the order of their first occurrence.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// The first paths.
    pub(super) listed: Vec<String>,
    seen: HashSet<String>,
}

impl Paths {
    /// Returns the number of distinct paths.
    pub(super) fn total(&self) -> usize {
        self.seen.len()
    }

    /// Adds the paths in a paragraph, heading or cell; at max `max` paths are listed.
    ///
    /// In a code span of one word, a name without a directory counts if its extension is well
    /// known. Elsewhere a path needs a directory.
    pub(super) fn collect<'a>(&mut self, leaf: &'a AstNode<'a>, max: usize) {
        let mut words = String::new();
        for edge in leaf.traverse() {
            let (node, starts) = match edge {
                NodeEdge::Start(node) => (node, true),
                NodeEdge::End(node) => (node, false),
            };
            match &node.data().value {
                // In `__init__/a.rs` the underscores are part of a name.
                NodeValue::Strong | NodeValue::Emph => words.push(MARKUP),
                _ if !starts => {}
                NodeValue::Text(literal) => words.push_str(literal),
                NodeValue::SoftBreak | NodeValue::LineBreak | NodeValue::HtmlInline(_) => {
                    words.push(' ');
                }
                NodeValue::Code(code) => {
                    self.words(&std::mem::take(&mut words), max);
                    let code = code.literal.trim();
                    if code.contains(char::is_whitespace) {
                        self.words(code, max);
                    } else {
                        self.add(path(code, true), max);
                    }
                }
                NodeValue::Link(link) => {
                    self.words(&std::mem::take(&mut words), max);
                    self.add(path(&link.url, true), max);
                }
                _ => {}
            }
        }
        self.words(&words, max);
    }

    fn words(&mut self, text: &str, max: usize) {
        for word in text.split_whitespace().filter(|word| word.contains('/')) {
            let word =
                word.trim_start_matches(['(', '[', '{', '<', '"', '\'', '“', '‘', '*', MARKUP]);
            let word = word.trim_end_matches(|c: char| ".,;:!?)]}>\"'”’*\u{fffc}".contains(c));
            let word = ["'s", "’s"]
                .into_iter()
                .find_map(|end| word.strip_suffix(end))
                .unwrap_or(word);
            self.add(path(word, false), max);
        }
    }

    fn add(&mut self, path: Option<&str>, max: usize) {
        if let Some(path) = path
            && !self.seen.contains(path)
        {
            self.seen.insert(path.to_owned());
            if self.listed.len() < max {
                self.listed.push(path.to_owned());
            }
        }
    }
}

/// Returns `word` without a position in the file (`:12`, `:1-66`, `#L12`, `::test`) if it is a
/// path. A name without a directory counts only if `bare` is set.
fn path(word: &str, bare: bool) -> Option<&str> {
    if word.contains("://") {
        return None;
    }
    let word = word.split_once('#').map_or(word, |(path, _)| path);
    let word = word.split_once("::").map_or(word, |(path, _)| path);
    // `as_path` accepts relative paths only.
    let relative = word.strip_prefix('/').unwrap_or(word);
    let found = as_path(relative)?;
    let whole = &word[..word.len() - relative.len() + found.len()];
    let (folder, file) = whole.rsplit_once('/').unwrap_or(("", whole));
    let (stem, extension) = file.rsplit_once('.')?;
    let known_letter = extension.len() > 1 || "cdhrsvmyl".contains(extension);
    let word_like = extension.len() > 2
        || stem.is_empty()
        || stem.contains(|c: char| c.is_alphabetic() || c == '_');
    let host = folder
        .split('/')
        .next()
        .filter(|first| !first.starts_with('.'))
        .and_then(|first| first.rsplit_once('.'))
        .is_some_and(|(_, end)| HOST_SUFFIXES.contains(&end));
    let good = (bare || whole.contains('/')) && known_letter && word_like && !host;
    good.then_some(whole)
}
