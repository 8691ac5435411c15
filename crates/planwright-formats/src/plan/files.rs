//! The files of a repository that a text names, and what it says about them.
//!
//! The text is parsed as Markdown. Paths are read from code spans, prose, links, tables, headings,
//! the info strings and first comments of code blocks, and drawings of directory trees. Whether a
//! file exists is unknown here: a word that may be a path (`and/or`, `scripts/backfill`) is
//! returned with [`NamedFile::certain`] unset, and the caller drops it unless there is such a file.

use std::collections::HashMap;
use std::ops::Range;

use crate::markdown::Lines;

mod intent;
mod path;
mod symbol;
#[cfg(test)]
mod tests;
mod tree;
mod unit;
mod walk;
mod words;

pub(crate) use path::HOST_SUFFIXES;

/// Maximum number of different files that are certainly meant; mentions of further ones are
/// ignored.
pub const MAX_FILES: usize = 500;

/// Maximum number of different words that may be paths.
pub const MAX_UNCERTAIN: usize = 2_000;

/// Maximum number of symbols.
pub const MAX_SYMBOLS: usize = 200;

/// What a text says will happen to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Intent {
    /// It is created: “create `a.rs`”, “`a.rs` (new)”.
    Create,
    /// It is perhaps created: “add `a.rs`”, “extract the parser into `a.rs`”.
    MayCreate,
    /// Another file is renamed to it, or moved there.
    RenameTarget,
    /// It is renamed or moved.
    Rename,
    /// It is deleted.
    Delete,
    /// It does not exist: “there is no `a.rs`”.
    Absent,
    /// Anything else is done with it: “update `a.rs`”.
    Change,
}

/// A file or a directory that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// The path with `/` between its components, without a leading `./` and a trailing `/`.
    pub path: String,
    /// Whether it is written as a directory, with a slash at its end.
    pub directory: bool,
    /// Whether a file is certainly meant. Otherwise the text names a file only if there is one with
    /// exactly this path.
    pub certain: bool,
    /// Whether it occurs as code or as the target of a link, not only in prose.
    pub marked: bool,
    /// Byte range of the first mention, or of the block that contains it.
    pub span: Range<usize>,
    /// Line of the first mention, 1-based.
    pub line: usize,
    /// Number of mentions, at least 1.
    pub mentions: usize,
    /// The first line number that is given for the file, as in `src/lib.rs:42`.
    pub at_line: Option<u32>,
    /// What happens to it; the strongest of all mentions.
    pub intent: Option<Intent>,
}

/// A symbol that is named beside files, and that the text does not introduce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSymbol {
    /// The identifier, without its path, parameters and keywords: `next` for `Queue::next()`.
    pub name: String,
    /// The symbol as written, at most 80 characters.
    pub written: String,
    /// The files beside which it is named, as indices in [`Named::files`].
    pub files: Vec<usize>,
    /// Line of the first mention, 1-based.
    pub line: usize,
}

/// The files and symbols that a text names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// The files in the order of their first mention.
    pub files: Vec<NamedFile>,
    /// The symbols in the order of their first mention.
    pub symbols: Vec<NamedSymbol>,
}

/// Returns the files and symbols that `markdown` names. `repository` is the address of the
/// repository's page, `https://github.com/owner/name`; links to files of others are ignored.
///
/// ```
/// use planwright_formats::plan::files::{Intent, named_files};
///
/// let named = named_files("Create `src/csv.rs` and use it in `src/lib.rs:42`.", "");
/// assert_eq!(named.files[0].path, "src/csv.rs");
/// assert_eq!(named.files[0].intent, Some(Intent::Create));
/// assert_eq!(named.files[1].at_line, Some(42));
/// ```
pub fn named_files(markdown: &str, repository: &str) -> Named {
    walk::read(markdown, repository)
}

/// Collects the mentions of files and symbols.
struct Collector<'a> {
    lines: Lines<'a>,
    source: &'a str,
    named: Named,
    files: HashMap<String, usize>,
    uncertain: usize,
    symbols: HashMap<String, usize>,
    introduced: std::collections::HashSet<String>,
}

/// A mention of a file, and the place where to look for it in the source.
struct Mention {
    found: path::Found,
    marked: bool,
    near: Range<usize>,
}

impl<'a> Collector<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            lines: Lines::new(source),
            source,
            named: Named::default(),
            files: HashMap::new(),
            uncertain: 0,
            symbols: HashMap::new(),
            introduced: std::collections::HashSet::new(),
        }
    }

    /// Adds a mention, and returns the index of its file unless there are too many.
    fn add(&mut self, mention: &Mention, intent: Option<Intent>) -> Option<usize> {
        let found = &mention.found;
        if let Some(index) = self.files.get(&found.path) {
            let file = &mut self.named.files[*index];
            file.mentions += 1;
            if found.certain && !file.certain {
                file.certain = true;
                self.uncertain -= 1;
            }
            file.marked |= mention.marked;
            file.directory |= found.directory;
            file.at_line = file.at_line.or(found.line);
            if strength(intent) > strength(file.intent) {
                file.intent = intent;
            }
            return Some(*index);
        }
        let certain = self.named.files.len() - self.uncertain;
        if found.certain && certain >= MAX_FILES
            || !found.certain && self.uncertain >= MAX_UNCERTAIN
        {
            return None;
        }
        self.uncertain += usize::from(!found.certain);
        let span = self.place(mention);
        let index = self.named.files.len();
        self.named.files.push(NamedFile {
            path: found.path.clone(),
            directory: found.directory,
            certain: found.certain,
            marked: mention.marked,
            line: self.lines.at(span.start),
            span,
            mentions: 1,
            at_line: found.line,
            intent,
        });
        self.files.insert(found.path.clone(), index);
        Some(index)
    }

    /// Returns the byte range of a mention; that of its block if it is written with escapes.
    fn place(&self, mention: &Mention) -> Range<usize> {
        let length = self.source.len();
        let start = self
            .source
            .floor_char_boundary(mention.near.start.min(length));
        let end = self
            .source
            .ceil_char_boundary(mention.near.end.clamp(start, length));
        let written = mention.found.written.as_bytes();
        match memchr::memmem::find(&self.source.as_bytes()[start..end], written) {
            Some(at) => start + at..start + at + written.len(),
            None => start..end,
        }
    }

    /// Adds a symbol that is named beside `files`.
    fn symbol(&mut self, symbol: &symbol::Symbol, files: &[usize], line: usize) {
        if let Some(index) = self.symbols.get(&symbol.name) {
            let known = &mut self.named.symbols[*index].files;
            for file in files.iter().take(symbol::MAX_FILES) {
                if known.len() < symbol::MAX_FILES && !known.contains(file) {
                    known.push(*file);
                }
            }
            return;
        }
        if files.is_empty() || self.named.symbols.len() >= MAX_SYMBOLS {
            return;
        }
        self.symbols
            .insert(symbol.name.clone(), self.named.symbols.len());
        self.named.symbols.push(NamedSymbol {
            name: symbol.name.clone(),
            written: symbol.written.clone(),
            files: files.iter().copied().take(symbol::MAX_FILES).collect(),
            line,
        });
    }

    /// Returns what was collected, without the symbols that the text introduces anywhere.
    fn finish(mut self) -> Named {
        let introduced = self.introduced;
        self.named
            .symbols
            .retain(|symbol| !introduced.contains(&symbol.name));
        self.named
    }
}

/// Orders intents: what a text says in one place decides, if it says less elsewhere.
fn strength(intent: Option<Intent>) -> u8 {
    match intent {
        None => 0,
        Some(Intent::Change) => 1,
        Some(Intent::Absent) => 2,
        Some(Intent::Rename | Intent::Delete) => 3,
        Some(Intent::MayCreate) => 4,
        Some(Intent::RenameTarget) => 5,
        Some(Intent::Create) => 6,
    }
}
