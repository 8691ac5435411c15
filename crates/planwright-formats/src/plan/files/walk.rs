//! Walks through the Markdown tree of a text.

use comrak::Arena;
use comrak::arena_tree::NodeEdge;
use comrak::nodes::{AstNode, NodeCodeBlock, NodeValue};

use super::intent::{self, Item};
use super::path::{Found, Place, recognise};
use super::unit::Unit;
use super::words::Verb;
use super::{Collector, Intent, Mention, Named, symbol, tree};
use crate::markdown;

/// What is said about all files of a list or of what is below a heading.
#[derive(Debug, Clone, Copy, Default)]
struct Context {
    /// Said by what contains this container.
    outer: Option<Intent>,
    /// Said by the last paragraph in this container.
    current: Option<Intent>,
}

/// Reads the files and symbols that `source` names.
pub(super) fn read(source: &str, repository: &str) -> Named {
    let arena = Arena::new();
    let root = markdown::parse(&arena, source);
    let mut walk = Walk {
        collector: Collector::new(source),
        repository,
        contexts: vec![Context::default()],
        headings: Vec::new(),
        items: 0,
    };
    for edge in root.traverse() {
        match edge {
            NodeEdge::Start(node) => walk.enter(node),
            NodeEdge::End(node) => walk.leave(node),
        }
    }
    walk.collector.finish()
}

struct Walk<'a> {
    collector: Collector<'a>,
    repository: &'a str,
    contexts: Vec<Context>,
    /// Level and label of the headings above.
    headings: Vec<(u8, Option<Intent>)>,
    /// Depth of list items.
    items: usize,
}

impl Walk<'_> {
    fn enter<'n>(&mut self, node: &'n AstNode<'n>) {
        let data = node.data();
        match &data.value {
            NodeValue::List(_)
            | NodeValue::Item(_)
            | NodeValue::TaskItem(_)
            | NodeValue::BlockQuote
            | NodeValue::FootnoteDefinition(_) => {
                let current = self.context().current;
                self.contexts.push(Context {
                    outer: current,
                    current,
                });
                self.items += usize::from(is_item(&data.value));
            }
            NodeValue::Heading(heading) => {
                self.headings.retain(|(level, _)| *level < heading.level);
                let said = intent::label(&markdown::plain_text(node));
                self.headings.push((heading.level, said));
                let said = self.headings.iter().rev().find_map(|(_, said)| *said);
                if let Some(context) = self.contexts.last_mut() {
                    *context = Context {
                        outer: said,
                        current: said,
                    };
                }
                self.unit(node);
            }
            NodeValue::Paragraph => self.paragraph(node),
            NodeValue::TableRow(_) => {
                self.unit(node);
            }
            NodeValue::CodeBlock(code) => self.code_block(node, code),
            _ => {}
        }
    }

    fn leave<'n>(&mut self, node: &'n AstNode<'n>) {
        let value = &node.data().value;
        let container = matches!(
            value,
            NodeValue::List(_) | NodeValue::BlockQuote | NodeValue::FootnoteDefinition(_)
        );
        if container || is_item(value) {
            self.contexts.pop();
            self.items -= usize::from(is_item(value));
        }
    }

    /// Reads a paragraph. One without paths may be the label of what follows: “Files to create:”.
    fn paragraph<'n>(&mut self, node: &'n AstNode<'n>) {
        if self.unit(node) > 0 {
            return;
        }
        let said = intent::label(&markdown::plain_text(node));
        if let Some(context) = self.contexts.last_mut() {
            context.current = said.or(context.outer);
        }
    }

    fn context(&self) -> Context {
        self.contexts.last().copied().unwrap_or_default()
    }

    /// Reads a paragraph, heading or table row. Returns the number of paths in it.
    fn unit<'n>(&mut self, node: &'n AstNode<'n>) -> usize {
        let data = node.data();
        let near = self.collector.lines.whole(data.sourcepos);
        let mut unit = Unit::default();
        let row = matches!(data.value, NodeValue::TableRow(_));
        if row {
            for cell in node.children() {
                unit.push(cell, &near, self.repository);
                unit.end_cell();
            }
        } else {
            unit.push(node, &near, self.repository);
        }
        let whole = row || self.items > 0 || matches!(data.value, NodeValue::Heading(_));
        self.record(&unit, data.sourcepos.start.line, whole);
        unit.paths.len()
    }

    /// Records the files and symbols of a unit. `whole`: a symbol belongs to the only file of the
    /// unit even if that is in another sentence.
    fn record(&mut self, unit: &Unit, line: usize, whole: bool) {
        let items = intent::items(&unit.text);
        let context = self.context().current;
        let mut clauses: Vec<(usize, usize)> = Vec::new();
        let paths = items.iter().filter(|item| item.is_path);
        for (item, mention) in paths.zip(&unit.paths) {
            let intent = item.said.and_then(|said| said.intent).or(context);
            let Some(file) = self.collector.add(mention, intent) else {
                continue;
            };
            clauses.push((item.clause, file));
            let named = mention.found.symbol.as_deref();
            if let Some(named) = named.and_then(|name| symbol::symbol(&format!("{name}()"))) {
                self.symbol(&named, item, &[file], line);
            }
        }
        let only = match clauses.as_slice() {
            [(_, file)] if whole => Some([*file]),
            _ => None,
        };
        let codes = items.iter().filter(|item| !item.is_path);
        for (item, code) in codes.zip(&unit.codes) {
            let Some(symbol) = symbol::symbol(code) else {
                continue;
            };
            if let Some(only) = only {
                self.symbol(&symbol, item, &only, line);
                continue;
            }
            let first = clauses.partition_point(|(clause, _)| *clause < item.clause);
            let files = clauses[first..].iter();
            let files = files.take_while(|(clause, _)| *clause == item.clause);
            let files: Vec<usize> = files
                .take(symbol::MAX_FILES)
                .map(|(_, file)| *file)
                .collect();
            self.symbol(&symbol, item, &files, line);
        }
    }

    /// Records a symbol, unless the text introduces it.
    fn symbol(&mut self, symbol: &symbol::Symbol, item: &Item, files: &[usize], line: usize) {
        match item.said.map(|said| said.verb) {
            Some(Verb::Change | Verb::Delete | Verb::Rename) => {
                self.collector.symbol(symbol, files, line);
            }
            // Without a verb it may be something to add.
            None if item.is_path => self.collector.symbol(symbol, files, line),
            None => {}
            Some(Verb::Create | Verb::Add | Verb::Into | Verb::Absent) => {
                self.collector.introduced.insert(symbol.name.clone());
            }
        }
    }

    /// Reads the info string, the first comment, or the tree that a code block shows.
    fn code_block<'n>(&mut self, node: &'n AstNode<'n>, code: &NodeCodeBlock) {
        let near = self.collector.lines.whole(node.data().sourcepos);
        let context = self.context().current;
        let mut add = |found: Option<Found>, certain: bool, intent: Option<Intent>| {
            if let Some(mut found) = found {
                found.certain &= certain;
                let mention = Mention {
                    found,
                    marked: true,
                    near: near.clone(),
                };
                self.collector.add(&mention, intent);
            }
        };
        if tree::is_tree(&code.literal) {
            for entry in tree::entries(&code.literal) {
                let intent = entry.intent;
                add(Some(entry.found), intent == Some(Intent::Create), intent);
            }
            return;
        }
        for (index, word) in code.info.split_whitespace().take(20).enumerate() {
            // `rust:src/a.rs`, `title="src/a.rs"`
            let word = word.trim_matches(['{', '}', ',']);
            let word = word.split_once('=').map_or(word, |(_, value)| value);
            let word = word.trim_matches(['"', '\'']);
            let word = match word.split_once(':') {
                Some((_, path)) if index == 0 => path,
                _ => word,
            };
            add(recognise(word, Place::Code), true, context);
        }
        // What follows may as well be the content of a new file.
        add(commented(&code.literal), false, None);
    }
}

fn is_item(value: &NodeValue) -> bool {
    matches!(value, NodeValue::Item(_) | NodeValue::TaskItem(_))
}

/// Returns the path that the comment in the first line of a code block consists of.
fn commented(code: &str) -> Option<Found> {
    let line = crate::text::truncate_bytes(code, 400)
        .lines()
        .next()?
        .trim();
    let comment = ["//", "#", "--", "<!--", "/*", ";", "%"]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))?;
    let comment = comment.trim_start_matches(['/', '#', '!', '*', '-']);
    let comment = comment
        .trim_end_matches("-->")
        .trim_end_matches("*/")
        .trim();
    let word = comment
        .split_once(char::is_whitespace)
        .map_or(
            comment,
            |(word, rest)| if rest.starts_with('(') { word } else { "" },
        );
    recognise(word, Place::Code)
}
