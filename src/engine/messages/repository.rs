//! Texts about the copy of the repository that agents read.

use super::one_line;
use crate::engine::checkout::CheckoutError;
use crate::engine::forge::ForgeError;

/// The step in which the copy is made.
pub const COPYING: &str = "getting a copy of the repository for the agent";

/// Why an empty repository cannot be read.
pub const NO_COMMITS: &str = "it has no commits";

/// Says that the agents worked without the repository's files, and `why`.
pub fn unseen(why: &str) -> String {
    format!("The agent worked without a copy of the repository: {why}.")
}

/// Returns the reason for [`unseen`] if GitHub refuses access.
pub fn refused(error: &ForgeError) -> String {
    match error {
        ForgeError::Forbidden { .. } | ForgeError::NotFound { .. } => {
            "the App lacks the permission `contents: read`".to_owned()
        }
        error => one_line(&error.to_string()),
    }
}

/// Returns the reason for [`unseen`] if there is no copy. Details of this computer are in the log
/// only.
pub fn not_copied(error: &CheckoutError) -> String {
    match error {
        CheckoutError::Forge(error) => refused(error),
        CheckoutError::Disk(_) => {
            "the copy cannot be stored; the operator finds the reason in the log".to_owned()
        }
        error => one_line(&error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_for_a_missing_copy_names_the_limit_or_the_remedy() {
        let what = "the archive of o/r".to_owned();
        let message = "Resource not accessible by integration".to_owned();
        for (error, said) in [
            (
                CheckoutError::Forge(ForgeError::Forbidden { what, message }),
                "the App lacks the permission `contents: read`",
            ),
            (
                CheckoutError::TooManyFiles { max: 5 },
                "it has more than 5 files (`agent.repository.max_files`)",
            ),
            (
                CheckoutError::TooLarge { max: 2_000_000 },
                "its files have more than 2 MB (`agent.repository.max_bytes`)",
            ),
            (
                CheckoutError::Disk("/var/lib: No space left on device".to_owned()),
                "the copy cannot be stored; the operator finds the reason in the log",
            ),
            (
                CheckoutError::Archive("unexpected\nend".to_owned()),
                "its archive cannot be read: unexpected end",
            ),
        ] {
            assert_eq!(not_copied(&error), said);
        }
        assert_eq!(
            unseen(NO_COMMITS),
            "The agent worked without a copy of the repository: it has no commits."
        );
    }
}
