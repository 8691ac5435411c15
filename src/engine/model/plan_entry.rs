//! The entry of a saved plan in the list of plans.

use std::collections::BTreeSet;

/// Maximum size of the words of a plan, in bytes (64 KiB). Further ones cannot be searched for.
const MAX_WORDS_BYTES: usize = 64 * 1024;

/// Maximum length of a word, in characters. Longer ones are encoded data.
const MAX_WORD: usize = 64;

/// What is shown of a saved plan in a list, and the words by which it is found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanEntry {
    /// The login of the person who asked for it.
    pub actor: String,
    /// The title.
    pub title: String,
    /// The words, separated by spaces.
    pub words: String,
}

impl PlanEntry {
    /// Creates the entry of a plan.
    pub fn new(actor: &str, title: &str, text: &str) -> Self {
        let mut all = String::new();
        for word in words(title).into_iter().chain(words(text)) {
            if all.len() + word.len() >= MAX_WORDS_BYTES {
                break;
            }
            if !all.is_empty() {
                all.push(' ');
            }
            all.push_str(&word);
        }
        Self {
            actor: actor.to_owned(),
            title: title.to_owned(),
            words: all,
        }
    }
}

/// Returns the different words of a text: letters and digits between other characters, in lower
/// case, sorted.
pub fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && word.chars().count() <= MAX_WORD)
        .map(str::to_lowercase)
        .collect()
}
