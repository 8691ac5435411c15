//! What GitHub did not do for a person, each with the remedy.

use crate::engine::forge::ForgeError;

/// What to do where there is no token; the last two variables are not sent to other servers.
pub(super) const SET_TOKEN: &str =
    "set PLANWRIGHT_TOKEN, or for github.com GITHUB_TOKEN or GH_TOKEN";

/// One sentence. `variable` is where the token came from, when there is one; `needs` is what it has to be allowed.
pub(super) fn sentence(error: &ForgeError, variable: Option<&str>, needs: &str) -> String {
    use ForgeError as E;
    match (error, variable) {
        (E::NotFound { what }, None) => format!(
            "{what} does not exist, or it is private, or github.api_url is wrong: check the name; if it is private, {SET_TOKEN}"
        ),
        (E::NotFound { what }, Some(name)) => format!(
            "{what} does not exist, or the token in {name} may not see it, or github.api_url is wrong: check the name and which repositories the token is for"
        ),
        (E::Unauthorized { what, message }, None) => {
            format!("GitHub wants a token for {what}: {message}; {SET_TOKEN}")
        }
        (E::Unauthorized { message, .. }, Some(name)) => format!(
            "GitHub does not accept the token in {name}: {message}; it may have expired: make a new one with {needs}"
        ),
        (E::Forbidden { what, message }, None) => {
            format!("GitHub refuses {what} without a token: {message}; {SET_TOKEN}")
        }
        (E::Forbidden { what, message }, Some(name)) => {
            format!("GitHub refuses {what} to the token in {name}: {message}; it needs {needs}")
        }
        (E::Limited { until, .. }, None) => format!(
            "GitHub's limit for requests without a token is reached until {}: try again then, or {SET_TOKEN}",
            until.iso()
        ),
        (E::Limited { until, .. }, Some(name)) => format!(
            "GitHub's rate limit for the token in {name} is reached until {}: try again then",
            until.iso()
        ),
        (E::Gone { what, message }, _) => format!(
            "{what} is gone: {message}; it was deleted, or issues are switched off in the repository"
        ),
        (E::Unreachable { what, message }, _) => format!(
            "GitHub cannot be reached for {what}: {message}; check the network and github.api_url"
        ),
        (E::Unknown { what, message }, _) => {
            format!("GitHub gave no answer for {what}: {message}; try again")
        }
        (E::Unreadable { .. }, _) => {
            format!("{error}; is github.api_url the address of GitHub's REST API?")
        }
        (E::Rejected { .. }, _) => format!("{error}; check the name"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::access::READING;
    use super::*;
    use crate::engine::clock::Millis;

    #[test]
    fn each_trouble_is_one_sentence_with_its_remedy() {
        let what = || "issue #7 of o/r".to_owned();
        let message = || "Nope".to_owned();
        let until = Millis(1_767_225_600_000);
        let token = Some("GH_TOKEN");
        let cases = [
            (
                ForgeError::NotFound { what: what() },
                None,
                "issue #7 of o/r does not exist, or it is private, or github.api_url is wrong: check the name; if it is private, set PLANWRIGHT_TOKEN, or for github.com GITHUB_TOKEN or GH_TOKEN",
            ),
            (
                ForgeError::NotFound { what: what() },
                token,
                "issue #7 of o/r does not exist, or the token in GH_TOKEN may not see it, or github.api_url is wrong: check the name and which repositories the token is for",
            ),
            (
                ForgeError::Unauthorized {
                    what: what(),
                    message: message(),
                },
                None,
                "GitHub wants a token for issue #7 of o/r: Nope; set PLANWRIGHT_TOKEN, or for github.com GITHUB_TOKEN or GH_TOKEN",
            ),
            (
                ForgeError::Unauthorized {
                    what: what(),
                    message: message(),
                },
                token,
                "GitHub does not accept the token in GH_TOKEN: Nope; it may have expired: make a new one with read access to issues and pull requests",
            ),
            (
                ForgeError::Forbidden {
                    what: what(),
                    message: message(),
                },
                None,
                "GitHub refuses issue #7 of o/r without a token: Nope; set PLANWRIGHT_TOKEN, or for github.com GITHUB_TOKEN or GH_TOKEN",
            ),
            (
                ForgeError::Forbidden {
                    what: what(),
                    message: message(),
                },
                token,
                "GitHub refuses issue #7 of o/r to the token in GH_TOKEN: Nope; it needs read access to issues and pull requests",
            ),
            (
                ForgeError::Limited {
                    what: what(),
                    until,
                },
                None,
                "GitHub's limit for requests without a token is reached until 2026-01-01T00:00:00Z: try again then, or set PLANWRIGHT_TOKEN, or for github.com GITHUB_TOKEN or GH_TOKEN",
            ),
            (
                ForgeError::Limited {
                    what: what(),
                    until,
                },
                token,
                "GitHub's rate limit for the token in GH_TOKEN is reached until 2026-01-01T00:00:00Z: try again then",
            ),
            (
                ForgeError::Gone {
                    what: what(),
                    message: message(),
                },
                None,
                "issue #7 of o/r is gone: Nope; it was deleted, or issues are switched off in the repository",
            ),
            (
                ForgeError::Unreachable {
                    what: what(),
                    message: message(),
                },
                None,
                "GitHub cannot be reached for issue #7 of o/r: Nope; check the network and github.api_url",
            ),
            (
                ForgeError::Unknown {
                    what: what(),
                    message: message(),
                },
                None,
                "GitHub gave no answer for issue #7 of o/r: Nope; try again",
            ),
            (
                ForgeError::Unreadable {
                    what: what(),
                    message: message(),
                },
                None,
                "GitHub's answer to issue #7 of o/r cannot be read: Nope; is github.api_url the address of GitHub's REST API?",
            ),
            (
                ForgeError::Rejected {
                    what: what(),
                    status: 422,
                    message: message(),
                },
                None,
                "GitHub answered 422 for issue #7 of o/r: Nope; check the name",
            ),
        ];
        for (error, variable, text) in cases {
            assert_eq!(sentence(&error, variable, READING), text);
        }
    }
}
