//! Which repository a person or a git remote names: `OWNER/REPO`, or one of the addresses that `git remote` shows.
//!
//! Forms of addresses: <https://git-scm.com/docs/git-clone#_git_urls>.

use url::Url;

use super::{ReferenceError, cut, inline, repository};

/// Owner and name of the repository that `text` names. `host` is the host of the pages, as in [`super::parse`].
///
/// Accepted: `OWNER/REPO`, `https://HOST/OWNER/REPO`, `ssh://git@HOST/OWNER/REPO`, `git@HOST:OWNER/REPO`, each with or
/// without `.git` and a final slash. A user name or password in the address is not looked at and not repeated.
pub fn repository_of(text: &str, host: &str) -> Result<(String, String), ReferenceError> {
    let text = text.trim();
    let (found, path) = match (text.split_once("://"), text.split_once(':')) {
        (Some(_), _) => {
            let url = Url::parse(text).map_err(|_| named(text, host))?;
            if !["https", "http", "ssh", "git"].contains(&url.scheme()) {
                return Err(named(text, host));
            }
            let port = url.port().filter(|_| url.scheme().starts_with("http"));
            let bare = url.host_str().unwrap_or_default();
            let found = port.map_or_else(|| bare.to_owned(), |port| format!("{bare}:{port}"));
            (found, url.path().trim_start_matches('/').to_owned())
        }
        (None, Some((place, path))) => {
            let found = place.rsplit_once('@').map_or(place, |(_, host)| host);
            (found.to_owned(), path.trim_start_matches('/').to_owned())
        }
        (None, None) => (host.to_owned(), text.to_owned()),
    };
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let names = path.split_once('/').and_then(repository);
    let names = names.ok_or_else(|| named(text, host))?;
    // The address for ssh names no port of the pages, and GitHub has an extra name for ssh over the port of https.
    let bare = host.split(':').next().unwrap_or(host);
    let known = [host, bare]
        .iter()
        .any(|own| found.eq_ignore_ascii_case(own))
        || found.eq_ignore_ascii_case(&format!("ssh.{bare}"));
    if known {
        Ok(names)
    } else {
        Err(ReferenceError::Host {
            given: cut(&found, 80),
            host: host.to_owned(),
        })
    }
}

fn named(text: &str, host: &str) -> ReferenceError {
    // The part before `@` may be a password.
    let shown = match text.rsplit_once('@') {
        Some((_, rest)) => rest,
        None => text,
    };
    ReferenceError::Repository {
        given: cut(&inline::one_line(shown), 80),
        host: host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::repository_of;

    #[test]
    fn every_form_of_a_remote_names_the_repository() {
        for text in [
            "acme/search",
            " acme/search\n",
            "https://github.com/acme/search",
            "https://github.com/acme/search.git",
            "https://github.com/acme/search/",
            "https://ada:hunter2@github.com/acme/search.git",
            "ssh://git@github.com/acme/search.git",
            "ssh://git@github.com:22/acme/search",
            "ssh://git@ssh.github.com:443/acme/search.git",
            "git@github.com:acme/search.git",
            "github.com:acme/search",
            "git@GITHUB.com:/acme/search.git",
            "git://github.com/acme/search.git",
        ] {
            let found = repository_of(text, "github.com");
            assert_eq!(found, Ok(("acme".into(), "search".into())), "{text}");
        }
        let found = repository_of("http://127.0.0.1:8400/acme/search", "127.0.0.1:8400");
        assert_eq!(found, Ok(("acme".into(), "search".into())));
    }

    #[test]
    fn what_names_no_repository_here_says_what_would() {
        for (text, message) in [
            (
                "search",
                "`search` does not name a repository; write OWNER/REPO, https://github.com/OWNER/REPO or git@github.com:OWNER/REPO.git",
            ),
            (
                "https://u:secret@github.com/acme",
                "`github.com/acme` does not name a repository; write OWNER/REPO, https://github.com/OWNER/REPO or git@github.com:OWNER/REPO.git",
            ),
            (
                "file:///srv/git/search.git",
                "`file:///srv/git/search.git` does not name a repository; write OWNER/REPO, https://github.com/OWNER/REPO or git@github.com:OWNER/REPO.git",
            ),
            (
                "git@gitlab.com:acme/search.git",
                "the address is on `gitlab.com`, not on `github.com`; github.api_url says which GitHub is asked",
            ),
            (
                "https://github.com@evil.example/acme/search",
                "the address is on `evil.example`, not on `github.com`; github.api_url says which GitHub is asked",
            ),
        ] {
            let error = repository_of(text, "github.com").unwrap_err();
            assert_eq!(error.to_string(), message, "{text}");
        }
        for text in ["", "a/b/c", "../..", "https://github.com/a/b/c", "C:\\x"] {
            assert!(repository_of(text, "github.com").is_err(), "{text}");
        }
    }
}
