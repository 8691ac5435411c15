//! Symbols that do not occur in the files beside which a plan names them.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{Grounding, Verdict};
use crate::formats::plan::files::Named;

/// A symbol that occurs in none of its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingSymbol {
    /// The symbol as written in the text, at most 80 characters.
    pub symbol: String,
    /// The complete paths of the files, at least one.
    pub files: Vec<String>,
}

/// Returns the symbols of `named` that occur in none of the files beside which they are named.
///
/// `contents` are the texts of files by their complete path, see [`Grounding::readable`]. A symbol
/// is missing only if all of its files exist and are in `contents`.
pub fn missing_symbols(
    named: &Named,
    grounding: &Grounding,
    contents: &BTreeMap<String, String>,
) -> Vec<MissingSymbol> {
    let verdicts: HashMap<&str, &Verdict> = grounding
        .files
        .iter()
        .map(|file| (file.path.as_str(), &file.verdict))
        .collect();
    let mut identifiers: HashMap<&str, HashSet<&str>> = HashMap::new();
    let mut missing = Vec::new();
    'symbols: for symbol in &named.symbols {
        let mut files: Vec<String> = Vec::new();
        for file in &symbol.files {
            let verdict = named.files.get(*file);
            let verdict = verdict.and_then(|file| verdicts.get(file.path.as_str()));
            let path = match verdict {
                Some(Verdict::Exists { path } | Verdict::AlreadyExists { path }) => path,
                // The symbol may be there.
                Some(
                    Verdict::Directory { .. }
                    | Verdict::Ambiguous { .. }
                    | Verdict::Unknown
                    | Verdict::ToBeCreated
                    | Verdict::NotFound { .. },
                ) => continue 'symbols,
                None => continue,
            };
            let Some(text) = contents.get(path) else {
                continue 'symbols;
            };
            let words = identifiers
                .entry(path)
                .or_insert_with(|| text.split(|c: char| !is_inner(c)).collect());
            if words.contains(symbol.name.as_str()) {
                continue 'symbols;
            }
            if !files.contains(path) {
                files.push(path.clone());
            }
        }
        if !files.is_empty() {
            missing.push(MissingSymbol {
                symbol: symbol.written.clone(),
                files,
            });
        }
    }
    missing
}

fn is_inner(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Grounding {
    /// Returns the complete paths of the files to read for [`missing_symbols`], in the order of
    /// their first mention, each once.
    pub fn readable<'a>(&'a self, named: &Named) -> Vec<&'a str> {
        let beside: HashSet<&str> = named
            .symbols
            .iter()
            .flat_map(|symbol| &symbol.files)
            .filter_map(|file| named.files.get(*file))
            .map(|file| file.path.as_str())
            .collect();
        let mut seen = HashSet::new();
        let files = self.files.iter();
        files
            .filter(|file| beside.contains(file.path.as_str()))
            .filter_map(|file| match &file.verdict {
                Verdict::Exists { path } | Verdict::AlreadyExists { path } => Some(path.as_str()),
                _ => None,
            })
            .filter(|path| seen.insert(*path))
            .collect()
    }
}
