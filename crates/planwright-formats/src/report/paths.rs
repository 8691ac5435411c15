//! Paths of files that a text names.

use std::collections::HashSet;

use comrak::arena_tree::NodeEdge;
use comrak::nodes::{AstNode, NodeValue};

use crate::plan::summary::as_path;

/// Ends of names that make the first part of something like a path a host or a program's name: `docs.rs/serde/a.html`,
/// `Node.js/Express.js`.
const NO_FOLDER: [&str; 16] = [
    "ai", "app", "co", "com", "dev", "edu", "gov", "info", "io", "js", "me", "net", "org", "rs",
    "test", "uk",
];

/// Stands where markup was: inside a word it makes it no path.
const MARKUP: char = '\u{fffc}';

/// Paths in the order in which they are named, each once.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// The first ones.
    pub(super) listed: Vec<String>,
    seen: HashSet<String>,
}

impl Paths {
    /// How many different ones there are.
    pub(super) fn total(&self) -> usize {
        self.seen.len()
    }

    /// Reads a paragraph, heading or cell; of the paths, `most` are listed.
    ///
    /// In a code span that is one word, a name without a folder is a file when its extension is well known; elsewhere
    /// a path needs a folder.
    pub(super) fn read<'a>(&mut self, leaf: &'a AstNode<'a>, most: usize) {
        let mut words = String::new();
        for edge in leaf.traverse() {
            let (node, starts) = match edge {
                NodeEdge::Start(node) => (node, true),
                NodeEdge::End(node) => (node, false),
            };
            match &node.data().value {
                // In `__init__/a.rs` they were part of a name.
                NodeValue::Strong | NodeValue::Emph => words.push(MARKUP),
                _ if !starts => {}
                NodeValue::Text(literal) => words.push_str(literal),
                NodeValue::SoftBreak | NodeValue::LineBreak | NodeValue::HtmlInline(_) => {
                    words.push(' ');
                }
                NodeValue::Code(code) => {
                    self.words(&std::mem::take(&mut words), most);
                    let code = code.literal.trim();
                    if code.contains(char::is_whitespace) {
                        self.words(code, most);
                    } else {
                        self.add(path(code, true), most);
                    }
                }
                NodeValue::Link(link) => {
                    self.words(&std::mem::take(&mut words), most);
                    self.add(path(&link.url, true), most);
                }
                _ => {}
            }
        }
        self.words(&words, most);
    }

    fn words(&mut self, text: &str, most: usize) {
        for word in text.split_whitespace().filter(|word| word.contains('/')) {
            let word =
                word.trim_start_matches(['(', '[', '{', '<', '"', '\'', '“', '‘', '*', MARKUP]);
            let word = word.trim_end_matches(|c: char| ".,;:!?)]}>\"'”’*\u{fffc}".contains(c));
            let word = ["'s", "’s"]
                .into_iter()
                .find_map(|end| word.strip_suffix(end))
                .unwrap_or(word);
            self.add(path(word, false), most);
        }
    }

    fn add(&mut self, path: Option<&str>, most: usize) {
        if let Some(path) = path
            && !self.seen.contains(path)
        {
            self.seen.insert(path.to_owned());
            if self.listed.len() < most {
                self.listed.push(path.to_owned());
            }
        }
    }
}

/// The path that `word` is, without the place in the file behind it (`:12`, `:1-66`, `#L12`, `::test`). `bare`: also a
/// name without a folder.
fn path(word: &str, bare: bool) -> Option<&str> {
    if word.contains("://") {
        return None;
    }
    let word = word.split_once('#').map_or(word, |(path, _)| path);
    let word = word.split_once("::").map_or(word, |(path, _)| path);
    // What `as_path` takes is relative.
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
        .is_some_and(|(_, end)| NO_FOLDER.contains(&end));
    let good = (bare || whole.contains('/')) && known_letter && word_like && !host;
    good.then_some(whole)
}
