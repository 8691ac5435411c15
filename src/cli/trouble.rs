//! Messages for failed GitHub requests, each with a remedy.

use url::Url;

use crate::engine::forge::ForgeError;

/// Remedy if there is no token. `GITHUB_TOKEN` and `GH_TOKEN` are only sent to github.com or to the
/// server that `GITHUB_API_URL` names.
pub(super) const SET_TOKEN: &str =
    "set PLANWRIGHT_TOKEN, or for github.com GITHUB_TOKEN or GH_TOKEN";

/// Returns the error and its remedy as one sentence. `variable` is the environment variable that
/// holds the token, if there is one; `needs` names the permissions the token needs.
pub(super) fn sentence(error: &ForgeError, variable: Option<&str>, needs: &str) -> String {
    use ForgeError as E;
    match (error, variable) {
        (E::NotFound { what }, None) => format!(
            "{what} does not exist, or it is private, or github.api_url is wrong: check the name; if it is private, {SET_TOKEN}"
        ),
        (E::NotFound { what }, Some(name)) => format!(
            "{what} does not exist, or the token in {name} cannot see it, or github.api_url is wrong: check the name and which repositories the token is for"
        ),
        (E::Unauthorized { what, message }, None) => {
            format!("GitHub requires a token for {what}: {message}; {SET_TOKEN}")
        }
        (E::Unauthorized { message, .. }, Some(name)) => format!(
            "GitHub does not accept the token in {name}: {message}; it may have expired: create a new one with {needs}"
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
        (E::Gone { what, message }, _) => {
            format!(
                "{what} is gone: {message}; enable issues in the repository's settings, or name another one"
            )
        }
        (E::Locked { what, message }, _) => {
            format!("GitHub refuses {what}: {message}; unlock the conversation")
        }
        (E::Archived { what, message }, _) => {
            format!("GitHub refuses {what}: {message}; unarchive the repository in its settings")
        }
        (E::IpAllowList { what, message }, _) => format!(
            "GitHub refuses {what}: {message}; ask an owner of the organization to allow this computer's address"
        ),
        (E::Deleted { what, message }, _) => format!("{what} no longer exists: {message}"),
        (E::Unreachable { what, message }, _) => format!(
            "GitHub cannot be reached for {what}: {message}; check the network and github.api_url"
        ),
        (E::Unknown { what, message }, _) => {
            format!("GitHub sent no usable response for {what}: {message}; try again")
        }
        (E::Unreadable { .. }, _) => {
            format!("{error}; is github.api_url the address of GitHub's REST API?")
        }
        (E::Rejected { .. }, _) => format!("{error}; check the name"),
    }
}

/// Returns whether another try at the start cannot help: the App id or the private key is wrong.
pub(super) fn is_final(error: &ForgeError) -> bool {
    matches!(
        error,
        ForgeError::Unauthorized { .. } | ForgeError::NotFound { .. }
    )
}

/// Returns why GitHub has not confirmed the App at the start, with a remedy.
pub(super) fn at_start(error: &ForgeError, api_url: &Url, app_id: u64) -> String {
    use ForgeError as E;
    match error {
        E::Unreachable { message, .. } => format!(
            "GitHub cannot be reached at {api_url}: {message}; check the network, the firewall and github.api_url"
        ),
        E::Unknown { message, .. } => {
            format!("GitHub at {api_url} sent no usable response: {message}")
        }
        E::Limited { until, .. } => format!(
            "GitHub's rate limit for the App is reached until {}",
            until.iso()
        ),
        E::Unauthorized { message, .. } => format!(
            "GitHub refuses the App's credentials: {message}; the private key is not one of App {app_id}, or was deleted: \
             compare github.app_id and the key with the App's settings page"
        ),
        E::NotFound { .. } => format!(
            "there is no App with the id {app_id} at {api_url}; set github.app_id to the App ID on \
             the App's settings page (not the Client ID, nor the id of an installation), and check \
             github.api_url"
        ),
        E::Unreadable { .. } => {
            format!("{error}; is github.api_url the address of GitHub's REST API?")
        }
        E::IpAllowList { .. } => {
            format!("{error}; add this host's IP address to the organization's allow list")
        }
        E::Forbidden { .. }
        | E::Locked { .. }
        | E::Archived { .. }
        | E::Gone { .. }
        | E::Deleted { .. }
        | E::Rejected { .. } => {
            format!("{error}; check github.api_url and the App's settings page")
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::cli::access::READING;
    use crate::engine::model::time::Millis;

    #[test]
    fn what_delays_or_ends_a_start_is_named_with_its_remedy() {
        let url = Url::parse("https://github.example/api/v3").unwrap();
        let what = || "the App itself".to_owned();
        let message = || "Nope".to_owned();
        let cases = [
            (
                ForgeError::Unreachable {
                    what: what(),
                    message: message(),
                },
                "GitHub cannot be reached at https://github.example/api/v3: Nope; check the network, the firewall and \
                 github.api_url"
                    .to_owned(),
            ),
            (
                ForgeError::Unknown {
                    what: what(),
                    message: message(),
                },
                "GitHub at https://github.example/api/v3 sent no usable response: Nope".to_owned(),
            ),
            (
                ForgeError::Limited {
                    what: what(),
                    until: Millis(1_767_225_600_000),
                },
                "GitHub's rate limit for the App is reached until 2026-01-01T00:00:00Z".to_owned(),
            ),
            (
                ForgeError::Unauthorized {
                    what: what(),
                    message: message(),
                },
                "GitHub refuses the App's credentials: Nope; the private key is not one of App 7, or was deleted: compare \
                 github.app_id and the key with the App's settings page"
                    .to_owned(),
            ),
            (
                ForgeError::NotFound { what: what() },
                "there is no App with the id 7 at https://github.example/api/v3; set github.app_id \
                 to the App ID on the App's settings page (not the Client ID, nor the id of an \
                 installation), and check github.api_url"
                    .to_owned(),
            ),
            (
                ForgeError::Unreadable {
                    what: what(),
                    message: message(),
                },
                "GitHub's answer to the App itself cannot be read: Nope; is github.api_url the address of GitHub's REST \
                 API?"
                    .to_owned(),
            ),
            (
                ForgeError::Forbidden {
                    what: what(),
                    message: message(),
                },
                "GitHub refuses the App itself: Nope; check github.api_url and the App's settings page".to_owned(),
            ),
        ];
        for (error, text) in cases {
            assert_eq!(at_start(&error, &url, 7), text);
            assert_eq!(is_final(&error), text.contains("github.app_id"), "{text}");
        }
    }

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
                "issue #7 of o/r does not exist, or the token in GH_TOKEN cannot see it, or github.api_url is wrong: check the name and which repositories the token is for",
            ),
            (
                ForgeError::Unauthorized {
                    what: what(),
                    message: message(),
                },
                None,
                "GitHub requires a token for issue #7 of o/r: Nope; set PLANWRIGHT_TOKEN, or for github.com GITHUB_TOKEN or GH_TOKEN",
            ),
            (
                ForgeError::Unauthorized {
                    what: what(),
                    message: message(),
                },
                token,
                "GitHub does not accept the token in GH_TOKEN: Nope; it may have expired: create a new one with read access to issues and pull requests",
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
                "issue #7 of o/r is gone: Nope; enable issues in the repository's settings, or name another one",
            ),
            (
                ForgeError::Deleted {
                    what: what(),
                    message: message(),
                },
                None,
                "issue #7 of o/r no longer exists: Nope",
            ),
            (
                ForgeError::Locked {
                    what: what(),
                    message: message(),
                },
                None,
                "GitHub refuses issue #7 of o/r: Nope; unlock the conversation",
            ),
            (
                ForgeError::Archived {
                    what: what(),
                    message: message(),
                },
                None,
                "GitHub refuses issue #7 of o/r: Nope; unarchive the repository in its settings",
            ),
            (
                ForgeError::IpAllowList {
                    what: what(),
                    message: message(),
                },
                None,
                "GitHub refuses issue #7 of o/r: Nope; ask an owner of the organization to allow this computer's address",
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
                "GitHub sent no usable response for issue #7 of o/r: Nope; try again",
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
