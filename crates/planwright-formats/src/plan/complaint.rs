//! What is wrong, said so that the reader can mend it: one layout for people, one for models.

use super::inline;
use super::title::cut;

/// Longest piece of the refused text that is shown to a model, in Unicode code points.
const SHOWN: usize = 200;

/// An error for people in erk's layout (`format_error`): what happened, details, numbered actions. No line end at its
/// end. Without actions it says to read the details and try again.
///
/// ```
/// assert_eq!(
///     planwright_formats::plan::complaint::error("No plan", "The file is empty", &["Write one"]),
///     "❌ Error: No plan\n\nDetails: The file is empty\n\nSuggested action:\n  1. Write one"
/// );
/// ```
pub fn error(brief: &str, details: &str, actions: &[&str]) -> String {
    let actions = match actions {
        [] => &["Review the error details and try again"],
        some => some,
    };
    let several = if actions.len() > 1 { "s" } else { "" };
    let mut text = format!("❌ Error: {brief}\n\nDetails: {details}\n\nSuggested action{several}:");
    for (index, action) in actions.iter().enumerate() {
        text.push_str(&format!("\n  {}. {action}", index + 1));
    }
    text
}

/// What a gate wants, for a model that has to write the text again.
pub(super) struct Lesson {
    /// What is checked: `title`, `content`.
    pub(super) what: &'static str,
    /// The rules, one line each.
    pub(super) rules: &'static [&'static str],
    /// Texts that pass.
    pub(super) valid: &'static [&'static str],
    /// Texts that do not pass.
    pub(super) invalid: &'static [&'static str],
}

impl Lesson {
    /// Reason, the refused text (on one line, cut), rules, examples of both kinds.
    pub(super) fn tell(&self, reason: &str, refused: &str) -> String {
        let mut text = format!(
            "Plan {} validation failed: {reason}\nActual value: {:?}\n\nRules:\n",
            self.what,
            cut(&inline::one_line(refused), SHOWN)
        );
        for rule in self.rules {
            text.push_str(&format!("- {rule}\n"));
        }
        for (head, examples) in [("Valid", self.valid), ("Invalid", self.invalid)] {
            text.push_str(&format!("\n{head}:\n"));
            for example in examples {
                text.push_str(&format!("- {example:?}\n"));
            }
        }
        text.push_str("\nWrite it again by these rules; change nothing else.");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::error;

    #[test]
    fn layout() {
        assert_eq!(
            error("No plan", "Nothing was found", &["Look again", "Ask"]),
            "❌ Error: No plan\n\nDetails: Nothing was found\n\nSuggested actions:\n  1. Look again\n  2. Ask"
        );
        assert!(
            error("a", "b", &[])
                .ends_with("\n\nSuggested action:\n  1. Review the error details and try again")
        );
    }
}
