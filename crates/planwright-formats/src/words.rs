//! Word lists of the readers of plans and reports, from `words.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

/// The lists of `words.toml`, which documents each of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    pub(crate) title_prefixes: WordList,
    pub(crate) section_names: WordList,
    pub(crate) goal_headings: WordList,
    pub(crate) overview_headings: WordList,
    pub(crate) goal_openings: WordList,
    pub(crate) present_state: WordList,
    pub(crate) problems: WordList,
    pub(crate) step_headings: WordList,
    pub(crate) other_headings: WordList,
    pub(crate) step_sections: WordList,
    pub(crate) placeholders: WordList,
    pub(crate) unwritten: WordList,
    pub(crate) empty_sections: WordList,
    pub(crate) closing_questions: WordList,
    pub(crate) document_step_sections: WordList,
    pub(crate) template_lines: WordList,
    pub(crate) template_instructions: WordList,
    pub(crate) boolean_attributes: WordList,
}

/// A list of words or phrases.
#[derive(Debug, Deserialize)]
pub(crate) struct WordList(Vec<String>);

impl WordList {
    /// Returns true if `text` is one of the words.
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.iter().any(|word| word == text)
    }

    /// Returns true if `text` begins with one of the words.
    pub(crate) fn begins(&self, text: &str) -> bool {
        self.iter().any(|word| text.starts_with(word))
    }

    /// Returns true if one of the words occurs in `text`.
    pub(crate) fn occurs_in(&self, text: &str) -> bool {
        self.iter().any(|word| text.contains(word))
    }

    /// Returns the words in the order of the file.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// The word lists of `words.toml`.
// Cannot fail at run time: the file is compiled in, and the test below parses it.
#[expect(
    clippy::expect_used,
    reason = "the file is compiled in, and a test parses it"
)]
pub(crate) static WORDS: LazyLock<Words> =
    LazyLock::new(|| toml::from_str(include_str!("words.toml")).expect("words.toml is valid"));

#[cfg(test)]
mod tests {
    use super::WORDS;

    #[test]
    fn the_file_is_valid() {
        assert!(WORDS.section_names.contains("overview"));
        assert!(WORDS.goal_openings.begins("this plan adds a cache"));
        assert!(!WORDS.problems.occurs_in("fine"));
    }
}
