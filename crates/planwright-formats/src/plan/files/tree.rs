//! Drawings of directory trees in code blocks.

use super::Intent;
use super::intent;
use super::path::{Found, Place, recognise};
use super::words::WORDS;
use crate::vocabulary::fold;

/// Maximum number of lines that are read.
const MAX_LINES: usize = 1_000;

/// Maximum depth.
const MAX_DEPTH: usize = 30;

/// A file or directory of a tree.
pub(super) struct Entry {
    pub(super) found: Found,
    pub(super) intent: Option<Intent>,
}

/// Whether `code` draws a tree.
pub(super) fn is_tree(code: &str) -> bool {
    code.lines()
        .take(MAX_LINES)
        .any(|line| line.contains("├─") || line.contains("└─"))
}

/// Returns the entries of a tree. A directory that contains only files to create is not said to be
/// created.
pub(super) fn entries(code: &str) -> Vec<Entry> {
    // Column and path of the directories above.
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut found = Vec::new();
    for line in code.lines().take(MAX_LINES) {
        let drawn = |c: char| c.is_whitespace() || "│├└─|`+-~".contains(c);
        let content = line.trim_start_matches(drawn);
        let mark = &line[..line.len() - content.len()];
        let added = mark.contains('+');
        let column = mark.chars().count();
        let (name, remark) = content
            .split_once(char::is_whitespace)
            .unwrap_or((content, ""));
        let name = name.trim_end_matches(',');
        if name.is_empty() {
            continue;
        }
        while above.last().is_some_and(|(other, _)| *other >= column) {
            above.pop();
        }
        let folder = above.last().map_or("", |(_, path)| path);
        let path = if name.trim_matches(['.', '/']).is_empty() {
            String::new()
        } else {
            format!("{folder}{name}")
        };
        let remark = fold(crate::text::truncate_bytes(remark, 100));
        let verb = remark
            .split(|c: char| "()[]#,;:—–←<".contains(c))
            .filter(|piece| !piece.trim().is_empty())
            .take(1)
            .find_map(|piece| WORDS.whole(piece));
        let intent = verb.map(intent::alone).or(added.then_some(Intent::Create));
        if let Some(mut entry) = recognise(&path, Place::Code) {
            name.trim_end_matches('/').clone_into(&mut entry.written);
            found.push(Entry {
                found: entry,
                intent,
            });
        }
        if above.len() < MAX_DEPTH && path.len() < 1_000 {
            let slash = if path.is_empty() || path.ends_with('/') {
                ""
            } else {
                "/"
            };
            above.push((column, format!("{path}{slash}")));
        }
    }
    found
}
