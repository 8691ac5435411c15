//! Paths that are similar to one that does not exist.

use std::collections::HashMap;

use strsim::osa_distance;

use super::MAX_NEAREST;

/// Maximum number of files with the same name that are compared.
const MAX_SAME_NAME: usize = 500;

/// Maximum number of files with similar names that are compared in full.
const MAX_SIMILAR: usize = 100;

/// Returns those of `by_name` (paths by their name in lower case) that are most similar to `path`:
/// first those with the same name in other directories, then those with similar names, each ordered
/// by the edit distance of the whole paths.
pub(super) fn nearest(path: &str, by_name: &HashMap<String, Vec<&str>>) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let lower = path.to_lowercase();
    let mut found: Vec<(usize, usize, &str)> = Vec::new();
    let same_name = by_name.get(&name).into_iter().flatten();
    for other in same_name.take(MAX_SAME_NAME) {
        found.push((0, distance(&lower, other), other));
    }
    if found.len() < MAX_NEAREST {
        let letters = letters(&name);
        let limit = limit(&name);
        let mut similar: Vec<(usize, &str)> = Vec::new();
        for (other, paths) in by_name {
            let lengths = other.len().abs_diff(name.len());
            let differ = (self::letters(other) ^ letters).count_ones() as usize;
            // Each edit changes at most two letters of the set.
            if *other == name || lengths > 2 * limit || differ > 2 * limit {
                continue;
            }
            let edits = edits(&name, other);
            if edits <= limit {
                similar.extend(paths.iter().map(|path| (edits, *path)));
            }
        }
        similar.sort_unstable();
        for (edits, other) in similar.into_iter().take(MAX_SIMILAR) {
            found.push((edits, distance(&lower, other), other));
        }
    }
    found.sort_unstable();
    let paths = found.into_iter().map(|(_, _, path)| path.to_owned());
    paths.take(MAX_NEAREST).collect()
}

/// Edit distance between two paths of limited length, ignoring case.
fn distance(lower: &str, other: &str) -> usize {
    if lower.len() > 300 || other.len() > 300 {
        return usize::MAX;
    }
    edits(lower, &other.to_lowercase())
}

/// Returns the edit distance. What both texts begin and end with is left out, because the time is
/// proportional to the product of their lengths.
fn edits(a: &str, b: &str) -> usize {
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
    let start: usize = same.map(|(c, _)| c.len_utf8()).sum();
    let (a, b) = (&a[start..], &b[start..]);
    let same = a.chars().rev().zip(b.chars().rev());
    let same = same.take_while(|(a, b)| a == b);
    let end: usize = same.map(|(c, _)| c.len_utf8()).sum();
    osa_distance(&a[..a.len() - end], &b[..b.len() - end])
}

/// Maximum number of edits between similar names.
fn limit(name: &str) -> usize {
    let stem = name.split('.').next().unwrap_or(name);
    match stem.chars().count() {
        0..=4 => 1,
        5..=9 => 2,
        _ => 3,
    }
}

/// Returns the set of letters in a name.
fn letters(name: &str) -> u64 {
    name.bytes().fold(0, |set, byte| set | 1 << (byte % 64))
}
