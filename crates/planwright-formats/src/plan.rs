//! Plans: their documents, titles and names, the gates they must pass, summaries, references to
//! their issues, and parts that fit into comments.

pub mod check;
pub mod document;
pub mod enriched;
pub mod gate;
pub(crate) mod inline;
pub mod names;
pub mod reference;
mod sentence;
pub mod split;
pub mod steps;
pub mod stored;
pub mod summary;
pub mod title;

/// Reads a seed document next to the test vectors, if `PLANWRIGHT_VECTORS` is set to their
/// directory.
#[cfg(test)]
pub(crate) fn seed(name: &str) -> Option<String> {
    let Ok(folder) = std::env::var("PLANWRIGHT_VECTORS") else {
        eprintln!("skipped: PLANWRIGHT_VECTORS is not set, {name} is not read");
        return None;
    };
    let path = std::path::Path::new(&folder).join("../seeds").join(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) => {
            eprintln!("skipped: {}: {error}", path.display());
            None
        }
    }
}

/// Returns the text in the first block of a seed document.
#[cfg(test)]
pub(crate) fn seed_block(text: &str) -> &str {
    let start = text.find("</summary>\n\n").map_or(0, |at| at + 12);
    let end = text.rfind("\n\n</details>").unwrap_or(text.len());
    &text[start..end]
}
