//! The plan: its document, its title, names from it, the gates it must pass, a short summary, how an issue is named,
//! and parts that fit into comments.

pub mod check;
pub mod complaint;
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

/// A seed document beside the vectors, when `PLANWRIGHT_VECTORS` names their folder.
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

/// The text inside the first block of a seed document.
#[cfg(test)]
pub(crate) fn seed_block(text: &str) -> &str {
    let start = text.find("</summary>\n\n").map_or(0, |at| at + 12);
    let end = text.rfind("\n\n</details>").unwrap_or(text.len());
    &text[start..end]
}
