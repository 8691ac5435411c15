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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_digits_in_lower_case() {
        for (text, expected) in [
            ("", &[][..]),
            (" \n\"'*-:()&|!\\\0", &[]),
            ("One two one", &["one", "two"]),
            (
                "foo_bar, it's OAuth2: v1.2",
                &["2", "bar", "foo", "it", "oauth2", "s", "v1"],
            ),
            ("ÜBER Größe ΣΟΦΟΣ", &["größe", "über", "σοφος"]),
            ("日本語、テキスト", &["テキスト", "日本語"]),
            ("cache* OR \"near\"", &["cache", "near", "or"]),
        ] {
            let found: Vec<String> = words(text).into_iter().collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn encoded_data_is_no_word() {
        for (letter, length, is_word) in [
            ("a", MAX_WORD, true),
            ("a", MAX_WORD + 1, false),
            ("日", MAX_WORD, true),
            ("日", 10_000, false),
        ] {
            let found = words(&letter.repeat(length));
            assert_eq!(!found.is_empty(), is_word, "{letter} {length}");
        }
    }

    #[test]
    fn an_entry_has_the_words_of_title_and_text() {
        let entry = PlanEntry::new("ada", "Cache: the results", "An LRU cache.");
        assert_eq!(
            (&*entry.actor, &*entry.title),
            ("ada", "Cache: the results")
        );
        let found: BTreeSet<&str> = entry.words.split(' ').collect();
        assert_eq!(found, ["an", "cache", "lru", "results", "the"].into());
        assert_eq!(PlanEntry::new("", "", "?"), PlanEntry::default());
    }

    #[test]
    fn words_of_a_huge_plan_are_cut_between_words_and_those_of_the_title_are_kept() {
        let text: Vec<String> = (10_000..30_000).map(|n| format!("é{n}")).collect();
        let entry = PlanEntry::new("ada", "The title", &text.join(" "));
        assert!(entry.words.len() <= MAX_WORDS_BYTES);
        assert!(entry.words.len() > MAX_WORDS_BYTES - 10);
        let found: Vec<&str> = entry.words.split(' ').collect();
        let is_whole = |word: &&str| matches!(*word, "the" | "title") || word.chars().count() == 6;
        assert!(found.iter().all(is_whole));
        assert_eq!(found[..3], ["the", "title", "é10000"]);
    }
}
